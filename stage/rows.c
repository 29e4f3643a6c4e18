/* rows.c - see rows.h. */
#include "rows.h"
#include "provenance.h"

#include <math.h>
#include <string.h>

#include "base/cjson.h"

/* The columns of the CSV and the keys of rows in JSON between what a row is of and n. */
static const struct column {
    const char *name;
    size_t offset;
} numbers[] = {
    {"value", offsetof(struct orr_row, value)},
    {"low", offsetof(struct orr_row, low)},
    {"high", offsetof(struct orr_row, high)},
    {"upper_bound", offsetof(struct orr_row, upper_bound)},
    {"baseline", offsetof(struct orr_row, baseline)},
    {"raw", offsetof(struct orr_row, raw)},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static double *number_of(struct orr_row *row, size_t k)
{
    return (double *)(void *)((char *)row + numbers[k].offset);
}

/* ----------------------------------------------------------------------------------- write */

int orr_rows_write_csv(const struct orr_table *table, const char *path)
{
    struct orr_file file = {0};
    TRY(orr_file_create(&file, path));
    orr_file_printf(&file, "quantity,measure,layer,context");
    for (size_t k = 0; k < NUMBERS; k++)
        orr_file_printf(&file, ",%s", numbers[k].name);
    orr_file_printf(&file, ",n\n");
    for (size_t i = 0; i < table->count; i++) {
        struct orr_row *row = &table->row[i];
        orr_csv_write_cell(&file, row->quantity);
        orr_file_printf(&file, ",");
        orr_csv_write_cell(&file, row->measure);
        orr_file_printf(&file, ",%d,%d", row->layer, row->context);
        for (size_t k = 0; k < NUMBERS; k++)
            orr_file_printf(&file, ",%.9g", *number_of(row, k));
        orr_file_printf(&file, ",%ld\n", row->n);
    }
    const int rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

void orr_row_json(const struct orr_row *row, cJSON *json)
{
    cJSON_AddStringToObject(json, "quantity", row->quantity);
    cJSON_AddStringToObject(json, "measure", row->measure);
    cJSON_AddNumberToObject(json, "layer", row->layer);
    cJSON_AddNumberToObject(json, "context", row->context);
}

void orr_rows_json(const struct orr_table *table, cJSON *json)
{
    cJSON *rows = cJSON_AddArrayToObject(json, "rows");
    for (size_t i = 0; i < table->count; i++) {
        cJSON *row = cJSON_CreateObject();
        orr_row_json(&table->row[i], row);
        for (size_t k = 0; k < NUMBERS; k++) /* cJSON prints NaN as null */
            cJSON_AddNumberToObject(row, numbers[k].name, *number_of(&table->row[i], k));
        cJSON_AddNumberToObject(row, "n", (double)table->row[i].n);
        cJSON_AddItemToArray(rows, row);
    }
}

/* ------------------------------------------------------------------------------------ read */

static int read_text(const char *path, const cJSON *row, const char *name, size_t bytes,
                     const char **text)
{
    *text = cJSON_GetStringValue(orr_json_get(row, name));
    if (*text && orr_is_label(*text) && strlen(*text) < bytes)
        return 0;
    return ORR_FAIL(ORR_EFORMAT, "%s: a row's \"%s\": expected a short text, found %s", path, name,
                    *text ? *text : "none");
}

/* Reads a number, or null as NaN. */
static int read_value(const char *path, const cJSON *row, const char *name, double *value)
{
    const cJSON *item = orr_json_get(row, name);
    *value = orr_json_item_number(item);
    if (!item || cJSON_IsNull(item) || isfinite(*value))
        return 0;
    return ORR_FAIL(ORR_EFORMAT, "%s: a row's \"%s\": expected a number or null", path, name);
}

/* Reads an integer from `least` to `most`. */
static int read_whole(const char *path, const cJSON *row, const char *name, double least,
                      double most, double *value)
{
    *value = orr_json_number(row, name);
    if (*value >= least && *value <= most && *value == floor(*value))
        return 0;
    return ORR_FAIL(ORR_EFORMAT,
                    "%s: a row's \"%s\": expected a whole number from %.0f to %.0f, found %g", path,
                    name, least, most, *value);
}

static int read_row(const char *path, const cJSON *json, struct orr_row *row)
{
    double layer, context, n;
    TRY(read_text(path, json, "quantity", ORR_QUANTITY, &row->quantity));
    TRY(read_text(path, json, "measure", ORR_MEASURE, &row->measure));
    TRY(read_whole(path, json, "layer", -1, 1e6, &layer));
    TRY(read_whole(path, json, "context", -1e9, 1e9, &context));
    TRY(read_whole(path, json, "n", 0, 1e15, &n));
    row->layer = (int)layer;
    row->context = (int)context;
    row->n = (long)n;
    for (size_t k = 0; k < NUMBERS; k++)
        TRY(read_value(path, json, numbers[k].name, number_of(row, k)));
    return 0;
}

/* Rejects a row whose quantity is among the rows from number `first` on. */
static int check_row(const char *path, const struct orr_table *table, size_t first,
                     const struct orr_row *row)
{
    for (size_t i = first; i < table->count; i++)
        if (orr_row_same(&table->row[i], row))
            return ORR_FAIL(ORR_EFORMAT, "%s: %s of \"%s\", layer %d, context %d, is there twice",
                            path, row->measure, row->quantity, row->layer, row->context);
    return 0;
}

int orr_rows_take(const char *path, const cJSON *json, struct orr_table *table)
{
    const char *format = cJSON_GetStringValue(orr_json_get(json, "format"));
    const cJSON *rows = orr_json_get(json, "rows"), *item;
    const size_t first = table->count;
    char model[2 * ORR_NAME + 32];
    struct orr_row row = orr_row_none;
    if (!format || strcmp(format, ORR_ROWS_FORMAT) != 0 || !cJSON_IsArray(rows))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: expected \"format\": \"" ORR_ROWS_FORMAT "\" with \"rows\", found %s",
                        path, format ? format : "none");
    snprintf(model, sizeof model, "attention=%s stage=%s", orr_json_text(json, "source"),
             orr_json_text(json, "stage"));
    row.model = model;
    (void)orr_json_u64(json, "seed", &row.seed);
    cJSON_ArrayForEach (item, rows) {
        TRY(read_row(path, item, &row));
        TRY(check_row(path, table, first, &row));
        TRY(orr_table_add(table, &row));
    }
    return 0;
}

int orr_rows_read(const char *path, struct orr_table *table, cJSON **json)
{
    TRY(orr_json_read(path, json));
    const int rc = orr_rows_take(path, *json, table);
    if (rc) {
        cJSON_Delete(*json);
        *json = NULL;
    }
    return rc;
}
