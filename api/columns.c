/* columns.c - reads results of runs as columns: tables in CSV, training logs, and the long table
 * (base/table.h) read from files of results and run directories. */
#include "columns.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/cjson.h"
#include "compare/results.h"
#include "compare/cells.h"
#include "stage/rows.h"
#include "symreg/motion/motion.h"

enum { DEEPEST = 16 /* nested objects */, MOST_COLUMNS = 4096 /* in a list or log */ };

/* -------------------------------------------------------------------------------- columns */

/* Adds a column of NaN; with `words` also an array of texts. */
static int add_column(struct api_columns *columns, const char *name, bool words)
{
    struct api_column *more = realloc(columns->column, (columns->count + 1) * sizeof *more);
    if (!more)
        return ORR_FAIL(ORR_ENOMEM, "column \"%s\": out of memory", name);
    columns->column = more;
    more += columns->count++;
    *more = (struct api_column){.name = strdup(name)};
    more->number = orr_alloc(columns->rows + 1, sizeof *more->number);
    more->word = words ? orr_alloc(columns->rows + 1, sizeof *more->word) : NULL;
    if (!more->name || !more->number || (words && !more->word))
        return ORR_FAIL(ORR_ENOMEM, "column \"%s\": out of memory", name);
    for (size_t r = 0; r < columns->rows; r++)
        more->number[r] = NAN;
    return 0;
}

static int put_word(const struct api_columns *columns, size_t column, size_t row, const char *text)
{
    char **word = &columns->column[column].word[row];
    free(*word);
    *word = strdup(text);
    return *word
               ? 0
               : ORR_FAIL(ORR_ENOMEM, "column \"%s\": out of memory", columns->column[column].name);
}

/* Sets cells without text to "" in columns of words. */
static int fill_words(const struct api_columns *columns)
{
    for (size_t c = 0; c < columns->count; c++)
        for (size_t r = 0; columns->column[c].word && r < columns->rows; r++)
            if (!columns->column[c].word[r])
                TRY(put_word(columns, c, r, ""));
    return 0;
}

void api_columns_free(struct api_columns *columns)
{
    for (size_t c = 0; c < columns->count; c++) {
        struct api_column *column = &columns->column[c];
        for (size_t r = 0; column->word && r < columns->rows; r++)
            free(column->word[r]);
        free(column->word);
        free(column->number);
        free(column->name);
    }
    free(columns->column);
    *columns = (struct api_columns){0};
}

/* ------------------------------------------------------------------------------------ CSV */

/* Whether a cell is text: not a number, not empty, and not "nan", as %g prints NaN. */
static bool is_word(const char *cell, double value)
{
    const char *text = cell + strspn(cell, " \t+-");
    return isnan(value) && *text && strncasecmp(text, "nan", 3) != 0;
}

static int take_csv(const struct orr_csv *csv, struct api_columns *columns)
{
    columns->rows = csv->rows;
    for (size_t c = 0; c < csv->cols; c++) {
        bool words = false;
        for (size_t r = 0; r < csv->rows; r++)
            words |= is_word(csv->cells[r * csv->cols + c], csv->values[r * csv->cols + c]);
        TRY(add_column(columns, csv->names[c], words));
        for (size_t r = 0; r < csv->rows; r++) {
            columns->column[c].number[r] = csv->values[r * csv->cols + c];
            if (words)
                TRY(put_word(columns, c, r, csv->cells[r * csv->cols + c]));
        }
    }
    return 0;
}

static int read_csv(const char *path, struct api_columns *columns)
{
    struct orr_csv csv;
    int rc = orr_csv_read(path, ORR_CSV_KEEP_TEXT, &csv);
    rc = rc ? rc : take_csv(&csv, columns);
    orr_csv_free(&csv);
    return rc;
}

/* ------------------------------------------------------------------------------------ logs */

/* Whether both lines have a number under this key. */
static bool both_have(const cJSON *a, const cJSON *b, const char *key)
{
    return isfinite(orr_json_number(a, key)) && isfinite(orr_json_number(b, key));
}

/* Adds a line. A step has one line of training and one of evaluation; a repeated line replaces its
 * earlier copy and all lines after that. */
static int take_line(void *of, cJSON *line, double step, size_t number)
{
    struct report_lines *lines = of;
    size_t kept = lines->count;
    (void)number;
    for (size_t i = lines->count; i-- > 0;) {
        const double at = orr_json_number(lines->at[i], "step");
        if (at < step)
            break;
        if (at > step || both_have(lines->at[i], line, "loss") ||
            both_have(lines->at[i], line, "val_loss"))
            kept = i;
    }
    while (lines->count > kept)
        cJSON_Delete(lines->at[--lines->count]);
    lines->at[lines->count++] = line;
    return 0;
}

/* Finds or adds a column by name. A column with a text in any line is one of words. */
static int column_of(struct api_columns *columns, const struct report_lines *lines, const char *key,
                     size_t *column)
{
    bool words = false;
    for (*column = 0; *column < columns->count; ++*column)
        if (!strcmp(columns->column[*column].name, key))
            return 0;
    for (size_t r = 0; r < lines->count && !words; r++)
        words = cJSON_IsString(orr_json_get(lines->at[r], key));
    if (columns->count == MOST_COLUMNS)
        return ORR_FAIL(ORR_EFORMAT, "%s: expected at most %d different names, found more",
                        lines->path, MOST_COLUMNS);
    return add_column(columns, key, words);
}

static int take_lines(const struct report_lines *lines, struct api_columns *columns)
{
    const cJSON *item;
    columns->rows = lines->count;
    for (size_t r = 0; r < lines->count; r++)
        cJSON_ArrayForEach (item, lines->at[r]) {
            size_t c;
            if (!cJSON_IsNumber(item) && !cJSON_IsString(item))
                continue;
            TRY(column_of(columns, lines, item->string, &c));
            if (cJSON_IsNumber(item))
                columns->column[c].number[r] = item->valuedouble;
            else
                TRY(put_word(columns, c, r, item->valuestring));
        }
    return 0;
}

static int read_log(const char *path, struct api_columns *columns)
{
    struct report_lines lines;
    int rc = report_lines_read(path, take_line, &lines);
    rc = rc ? rc : take_lines(&lines, columns);
    report_lines_free(&lines);
    return rc;
}

/* ------------------------------------------------------------------------------- Horizons */

static int take_horizons(const char *name, struct sr_horizons *made, struct api_columns *columns)
{
    const char *const about[][2] = {
        {"unit", made->length}, {"centre", made->centre}, {"frame", made->frame}};
    struct orr_csv csv = {0};
    int rc = orr_csv_parse(name, made->text, strlen(made->text), ORR_CSV_KEEP_TEXT, &csv);
    rc = rc ? rc : take_csv(&csv, columns);
    orr_csv_free(&csv);
    for (size_t k = 0; k < sizeof about / sizeof *about && !rc; k++) {
        rc = add_column(columns, about[k][0], true);
        for (size_t row = 0; row < columns->rows && !rc; row++)
            rc = put_word(columns, columns->count - 1, row, about[k][1]);
    }
    return rc;
}

int api_columns_horizons(const char *const *file, int count, struct api_columns *columns)
{
    struct sr_horizons made;
    *columns = (struct api_columns){0};
    TRY(sr_horizons_join(file, count, &made));
    const int rc = take_horizons(file[0], &made, columns);
    sr_horizons_free(&made);
    return rc;
}

/* -------------------------------------------------------------------------- the long table */

enum { MODEL, QUANTITY, MEASURE, LAYER, CONTEXT, SEED, N, VALUE, HALF, UPPER_BOUND, BASELINE, RAW };

static bool says_nothing(const struct orr_row *row)
{
    return isnan(row->value) && isnan(row->upper_bound) && isnan(row->baseline) && isnan(row->raw);
}

static int put_row(const struct api_columns *columns, size_t r, const struct orr_row *row)
{
    const double number[] = {[LAYER] = row->layer,
                             [CONTEXT] = row->context,
                             [SEED] = (double)row->seed,
                             [N] = row->seeds,
                             [VALUE] = row->value,
                             [HALF] = row->half,
                             [UPPER_BOUND] = row->upper_bound,
                             [BASELINE] = row->baseline,
                             [RAW] = row->raw};
    TRY(put_word(columns, MODEL, r, row->model));
    TRY(put_word(columns, QUANTITY, r, row->quantity));
    TRY(put_word(columns, MEASURE, r, row->measure));
    for (int c = LAYER; c <= RAW; c++)
        columns->column[c].number[r] = number[c];
    return 0;
}

static int take_table(const struct orr_table *table, struct api_columns *columns)
{
    static const char *const name[] = {"model",   "quantity",    "measure",  "layer",
                                       "context", "seed",        "n",        "value",
                                       "half",    "upper_bound", "baseline", "raw"};
    size_t r = 0;
    for (size_t i = 0; i < table->count; i++)
        columns->rows += !says_nothing(&table->row[i]);
    for (int c = MODEL; c <= RAW; c++)
        TRY(add_column(columns, name[c], c <= MEASURE));
    for (size_t i = 0; i < table->count; i++)
        if (!says_nothing(&table->row[i]))
            TRY(put_row(columns, r++, &table->row[i]));
    return 0;
}

/* Adds the rows of a model's figures in a file of results, {quantity: [value, upper bound,
 * baseline, raw]}. */
static int take_figures(const struct compare_cell *cell, const cJSON *of_model,
                        struct orr_table *table)
{
    char model[ORR_MODEL];
    const cJSON *item;
    snprintf(model, sizeof model, "attention=%s", orr_json_text(of_model, "attention"));
    cJSON_ArrayForEach (item, orr_json_get(of_model, "figures")) {
        struct orr_row row = orr_row_none;
        double x[4];
        if (!orr_json_list(orr_json_get(of_model, "figures"), item->string, x, 4))
            return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": expected value, upper bound, baseline, raw",
                            cell->path, item->string);
        row.model = model;
        row.seed = cell->settings.seed;
        row.quantity = item->string;
        row.value = x[0];
        row.upper_bound = x[1];
        row.baseline = x[2];
        row.raw = x[3];
        TRY(orr_table_add(table, &row));
    }
    return 0;
}

/* Adds what probes of a model found; results of another checkpoint and other files are left out. */
static int take_probes(const struct compare_cell *cell, const char *model, struct orr_table *table)
{
    char folder[REPORT_PATH], probe[ORR_NAME];
    struct orr_entries entries;
    int rc = 0;
    TRY(orr_path(folder, "%s/%s/probe", cell->path, model));
    if (!orr_exists(folder))
        return 0;
    TRY(orr_entries_read(folder, &entries));
    for (int i = 0; i < entries.count && rc != ORR_ENOMEM; i++) {
        const char *name = entries.at[i]->d_name;
        const size_t length = strlen(name);
        if (!orr_ends_in(name, ".json") || length - 5 >= sizeof probe)
            continue;
        snprintf(probe, sizeof probe, "%.*s", (int)(length - 5), name);
        const size_t before = table->count;
        rc = compare_probe_read(cell->path, &cell->settings, model, probe, table);
        table->count = rc ? before : table->count;
    }
    orr_entries_free(&entries);
    if (rc && rc != ORR_ENOMEM)
        orr_error_clear();
    return rc == ORR_ENOMEM ? rc : 0;
}

/* Adds the figures of a cell's models beyond those of the cell itself. */
static int take_models(const struct compare_cells *cells, struct orr_table *table)
{
    const struct compare_cell *cell = cells->cell;
    const cJSON *item;
    cJSON_ArrayForEach (item, orr_json_get(cell->record, "cells"))
        TRY(take_figures(cell, item, table));
    for (int s = 0; s < cell->sources && !cell->record; s++)
        if (compare_is_model(cells, cell, s))
            TRY(take_probes(cell, compare_cell_source(cells, cell, s), table));
    return 0;
}

/* Reads a run directory, or its file of results. */
static int read_run(const char *path, struct api_columns *columns)
{
    struct compare_cells cells;
    int rc = compare_cells_read_these(&cells, NULL, &path, 1);
    rc = rc ? rc : take_models(&cells, &cells.table);
    rc = rc ? rc : take_table(&cells.table, columns);
    compare_cells_free(&cells);
    return rc;
}

/* Adds the numbers of an object and of its nested objects as rows named by their path,
 * "as_trained.loss". The first `used` bytes of `name` are the parent's path. */
static int take_numbers(const cJSON *object, char name[ORR_MODEL], size_t used, int depth,
                        struct orr_table *table)
{
    const cJSON *item;
    cJSON_ArrayForEach (item, object) {
        struct orr_row row = orr_row_none;
        const int length = snprintf(name + used, ORR_MODEL - used, "%s%s", used ? "." : "",
                                    item->string ? item->string : "");
        if (length < 0 || (size_t)length >= ORR_MODEL - used)
            continue; /* too long for a name */
        row.quantity = name;
        row.value = orr_json_item_number(item);
        if (cJSON_IsNumber(item))
            TRY(orr_table_add(table, &row));
        if (cJSON_IsObject(item) && depth < DEEPEST)
            TRY(take_numbers(item, name, used + (size_t)length, depth + 1, table));
    }
    return 0;
}

/* Reads the objects of a list as rows. */
static int take_list(const cJSON *list, const char *path, struct api_columns *columns)
{
    const size_t count = (size_t)cJSON_GetArraySize(list);
    struct report_lines lines = {.path = path, .at = orr_alloc(count + 1, sizeof(cJSON *))};
    if (!lines.at)
        return ORR_ENOMEM;
    for (cJSON *item = list->child; item; item = item->next)
        if (cJSON_IsObject(item))
            lines.at[lines.count++] = item;
    const int rc = take_lines(&lines, columns);
    free(lines.at);
    return rc;
}

static int take_json(const cJSON *json, const char *path, struct api_columns *columns)
{
    const cJSON *laws = orr_json_get(json, "laws");
    struct orr_table table = {0};
    char name[ORR_MODEL];
    bool known;
    if (!strncmp(orr_json_text(json, "format"), "orrery-cell-", 12))
        return read_run(path, columns);
    if (cJSON_IsArray(laws))
        return take_list(laws, path, columns);
    int rc = compare_results_take(json, &table, &known);
    if (!known) {
        rc = orr_json_says(json, "format", ORR_ROWS_FORMAT)
                 ? orr_rows_take(path, json, &table)
                 : take_numbers(json, name, 0, 0, &table);
        if (!rc && !table.count)
            rc = ORR_FAIL(ORR_EFORMAT, "%s: expected results with numbers, found none", path);
    }
    rc = rc ? rc : take_table(&table, columns);
    orr_table_free(&table);
    return rc;
}

static int read_json(const char *path, struct api_columns *columns)
{
    cJSON *json = NULL;
    TRY(orr_json_read(path, &json));
    const int rc = take_json(json, path, columns);
    cJSON_Delete(json);
    return rc;
}

/* ------------------------------------------------------------------------------ everything */

int api_columns_read(const char *path, struct api_columns *columns)
{
    struct stat info;
    int rc;
    *columns = (struct api_columns){0};
    if (stat(path, &info))
        return ORR_FAIL(ORR_EMISSING, "%s: no such file or run directory", path);
    if (orr_ends_in(path, ".csv") && !S_ISDIR(info.st_mode)) {
        TRY(read_csv(path, columns));
        return fill_words(columns);
    }
    TRY(orr_cjson_open(path));
    if (S_ISDIR(info.st_mode))
        rc = read_run(path, columns);
    else if (orr_ends_in(path, ".jsonl"))
        rc = read_log(path, columns);
    else if (orr_ends_in(path, ".json"))
        rc = read_json(path, columns);
    else
        rc = ORR_FAIL(ORR_EUSAGE,
                      "%s: expected a run directory, or a file *.csv, *.jsonl or *.json", path);
    return rc ? rc : fill_words(columns);
}
