/* cells_record.c - writes and reads a run's results as one small file, for bin/compare runs and
 * bin/verdict on another machine (docs/formats.md, cell.json). */
#include "cells.h"

#include <math.h>
#include <string.h>

#include "base/cjson.h"

static const char format[] = "orrery-cell-1";

/* ------------------------------------------------------------------------------- writing */

static void add_source(const struct compare_cells *cells, const struct compare_cell *cell, int s,
                       cJSON *list)
{
    const struct orr_row *row = compare_cell_row(cells, cell, s, 0);
    double exponent[3];
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToArray(list, json);
    cJSON_AddStringToObject(json, "source", compare_cell_source(cells, cell, s));
    cJSON_AddBoolToObject(json, "is_model", compare_is_model(cells, cell, s));
    for (int c = 0; c < COMPARE_COLUMNS; c++) {
        if (c == COMPARE_R2) { /* the exponents precede it */
            for (int e = 0; e < 3; e++)
                exponent[e] = row[COMPARE_EXPONENT + e].value;
            orr_json_add_list(json, "exponents", exponent, 3);
        }
        if (compare_column_name[c].in_cell)
            orr_json_add_exact(json, compare_column_name[c].in_cell, row[c].value);
    }
}

cJSON *compare_cell_json(const struct compare_cells *cells, const struct compare_cell *cell)
{
    cJSON *json = orr_json_create(format), *settings = orr_settings_json(&cell->settings);
    cJSON_AddStringToObject(settings, "name", cell->settings.name);
    cJSON_AddItemToObject(json, "settings", settings);
    cJSON *law = cJSON_AddObjectToObject(json, "true_law");
    cJSON_AddBoolToObject(law, "newton", cell->true_law.newton);
    cJSON_AddStringToObject(law, "formula", cell->true_law.formula);
    cJSON_AddNumberToObject(law, "constants", cell->true_law.constants);
    orr_json_add_list(law, "k", cell->true_law.k, 2);
    orr_json_add_list(law, "exponents", cell->true_law.exponent, 3);
    cJSON_AddStringToObject(json, "rule", cell->rule);
    cJSON *list = cJSON_AddArrayToObject(json, "sources");
    for (int s = 0; s < cell->sources; s++)
        add_source(cells, cell, s, list);
    return json;
}

/* ------------------------------------------------------------------------------- reading */

static int take_text(const cJSON *json, const char *key, char *text, size_t bytes, const char *path)
{
    const char *value = cJSON_GetStringValue(orr_json_get(json, key));
    if (!value || strlen(value) >= bytes || !orr_is_label(value))
        return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": expected a line of at most %zu bytes, found %s",
                        path, key, bytes - 1, value ? value : "none");
    memcpy(text, value, strlen(value) + 1);
    return 0;
}

/* Reads an integer from 0 to most. */
static int take_count(const cJSON *json, const char *key, int most, int *count, const char *path)
{
    const double value = orr_json_number(json, key);
    if (!(value >= 0 && value <= most && value == floor(value)))
        return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": expected a whole number from 0 to %d, found %g",
                        path, key, most, value);
    *count = (int)value;
    return 0;
}

static int take_list(const cJSON *json, const char *key, double *x, int n, const char *path)
{
    return orr_json_list(json, key, x, n)
               ? 0
               : ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": expected %d numbers", path, key, n);
}

static int take_source(const cJSON *json, const char *path, struct compare_cells *cells,
                       struct compare_cell *cell)
{
    enum { MOST_SAMPLES = 1000000 };
    char name[2 * ORR_NAME + 8];
    double exponent[3];
    int samples = 0, selected = 0, count;
    TRY(take_text(json, "source", name, sizeof name, path));
    TRY(take_count(json, "samples", MOST_SAMPLES, &samples, path));
    TRY(take_count(json, "selected", samples, &selected, path));
    TRY(take_count(json, "k_close", selected, &count, path));
    TRY(take_count(json, "on_front", samples, &count, path));
    TRY(take_list(json, "exponents", exponent, 3, path));
    TRY(compare_add_source(cells, cell, name, cJSON_IsTrue(orr_json_get(json, "is_model"))));
    struct orr_row *row = compare_cell_row(cells, cell, cell->sources - 1, 0);
    for (int e = 0; e < 3; e++)
        row[COMPARE_EXPONENT + e].value = exponent[e];
    for (int c = 0; c < COMPARE_COLUMNS; c++)
        if (compare_column_name[c].in_cell)
            row[c].value = orr_json_number(json, compare_column_name[c].in_cell);
    return 0;
}

static int take_cell(const cJSON *json, const char *path, struct compare_cells *cells,
                     struct compare_cell *cell)
{
    const cJSON *law = orr_json_get(json, "true_law"), *source,
                *list = orr_json_get(json, "sources");
    struct report_true_law *true_law = &cell->true_law;
    if (!orr_json_says(json, "format", format))
        return ORR_FAIL(ORR_EFORMAT, "%s: expected a cell's results (\"format\": \"%s\")", path,
                        format);
    TRY(orr_settings_from_json(&cell->settings, orr_json_get(json, "settings"), path));
    TRY(take_text(json, "rule", cell->rule, sizeof cell->rule, path));
    TRY(take_text(law, "formula", true_law->formula, sizeof true_law->formula, path));
    TRY(take_count(law, "constants", 2, &true_law->constants, path));
    TRY(take_list(law, "k", true_law->k, 2, path));
    TRY(take_list(law, "exponents", true_law->exponent, 3, path));
    true_law->newton = cJSON_IsTrue(orr_json_get(law, "newton"));
    cJSON_ArrayForEach (source, list) {
        if (cell->sources == REPORT_SOURCES)
            return ORR_FAIL(ORR_EFORMAT, "%s: expected at most %d sources", path, REPORT_SOURCES);
        TRY(take_source(source, path, cells, cell));
    }
    return cell->sources ? 0
                         : ORR_FAIL(ORR_EFORMAT, "%s: \"sources\": expected at least one", path);
}

int compare_cell_take_record(struct compare_cells *cells, struct compare_cell *cell,
                             const char *path)
{
    cJSON *json = NULL;
    int rc = orr_json_read(path, &json);
    rc = rc ? rc : take_cell(json, path, cells, cell);
    if (rc)
        cJSON_Delete(json);
    else
        cell->record = json;
    return rc;
}
