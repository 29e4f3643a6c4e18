/* results.c - see results.h. */
#include "results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cjson.h"

#include "cells.h"

/* An integer from 0 on; -1 where there is none. */
static int whole_of(const cJSON *object, const char *key)
{
    const double number = orr_json_number(object, key);
    return number >= 0 && number < 1e9 ? (int)number : -1;
}

static double number_at(const cJSON *list, int i)
{
    return orr_json_item_number(cJSON_GetArrayItem(list, i));
}

static uint64_t seed_at(const cJSON *list, int i)
{
    uint64_t seed;
    return orr_json_item_u64(cJSON_GetArrayItem(list, i), &seed) ? seed : 0;
}

/* ------------------------------------------------------------------------------- verdict */

/* One row per seed of an attention, and one for random weights of its shape. */
static int read_verdict(const cJSON *json, struct orr_table *table)
{
    const cJSON *figure;
    char model[ORR_MODEL], untrained[ORR_MODEL];
    cJSON_ArrayForEach (figure, orr_json_get(json, "figures")) {
        const cJSON *values = orr_json_get(orr_json_get(figure, "value"), "values"),
                    *upper_bounds = orr_json_get(orr_json_get(figure, "upper_bound"), "values"),
                    *baselines = orr_json_get(orr_json_get(figure, "baseline"), "values");
        snprintf(model, sizeof model, "attention=%s", orr_json_text(figure, "attention"));
        snprintf(untrained, sizeof untrained, "attention=untrained (%s)",
                 orr_json_text(figure, "attention"));
        for (int i = 0; i < cJSON_GetArraySize(values); i++) {
            struct orr_row row = orr_row_none;
            row.model = model;
            row.quantity = orr_json_text(figure, "id");
            row.seed = (uint64_t)i;
            row.value = number_at(values, i);
            row.upper_bound = number_at(upper_bounds, i);
            row.baseline = number_at(baselines, i);
            TRY(orr_table_add(table, &row));
            row.model = untrained;
            row.value = row.baseline;
            TRY(orr_table_add(table, &row));
        }
    }
    return 0;
}

/* ---------------------------------------------------------------------------------- runs */

/* Finds a nested key: "exponents.r" is "r" in the object "exponents". */
static const cJSON *nested_item(const cJSON *object, const char *path)
{
    char key[64];
    const char *dot = strchr(path, '.');
    snprintf(key, sizeof key, "%.*s", dot ? (int)(dot - path) : (int)strlen(path), path);
    return dot ? nested_item(orr_json_get(object, key), dot + 1) : orr_json_get(object, key);
}

/* The value of another source (the truth, random weights) with equal settings and seed. */
static double number_of(const cJSON *rows, const cJSON *like, const char *source,
                        const char *quantity, uint64_t seed)
{
    const cJSON *row;
    cJSON_ArrayForEach (row, rows) {
        const cJSON *seeds = orr_json_get(row, "seeds");
        if (!orr_json_says(row, "source", source) ||
            !cJSON_Compare(orr_json_get(row, "settings"), orr_json_get(like, "settings"), true))
            continue;
        for (int i = 0; i < cJSON_GetArraySize(seeds); i++)
            if (seed_at(seeds, i) == seed)
                return number_at(orr_json_get(nested_item(row, quantity), "values"), i);
    }
    return NAN;
}

static int read_quantity(const cJSON *rows, const cJSON *from, const char *model,
                         const char *quantity, struct orr_table *table)
{
    char untrained[128];
    const cJSON *values = orr_json_get(nested_item(from, quantity), "values");
    snprintf(untrained, sizeof untrained, "untrained (%s)", orr_json_text(from, "source"));
    for (int i = 0; i < cJSON_GetArraySize(values); i++) {
        struct orr_row row = orr_row_none;
        row.model = model;
        row.quantity = quantity;
        row.seed = seed_at(orr_json_get(from, "seeds"), i);
        row.value = number_at(values, i);
        row.upper_bound = number_of(rows, from, "truth", quantity, row.seed);
        row.baseline = number_of(rows, from, untrained, quantity, row.seed);
        TRY(orr_table_add(table, &row));
    }
    return 0;
}

static int read_runs(const cJSON *json, struct orr_table *table)
{
    const cJSON *rows = orr_json_get(json, "rows"), *row;
    cJSON_ArrayForEach (row, rows) {
        const cJSON *group =
            cJSON_GetArrayItem(orr_json_get(json, "settings"), whole_of(row, "settings"));
        char model[ORR_MODEL];
        snprintf(model, sizeof model, "attention=%s %s", orr_json_text(row, "source"),
                 orr_json_text(group, "label"));
        for (int c = COMPARE_EXPONENT; c < COMPARE_COLUMNS; c++)
            TRY(read_quantity(rows, row, model, compare_column_name[c].key, table));
    }
    return 0;
}

/* ------------------------------------------------------------------------ seeds and grids */

static struct orr_row figure_of(const cJSON *json)
{
    struct orr_row row = orr_row_none;
    row.quantity = orr_json_text(json, "quantity");
    row.measure = orr_json_text(json, "measure");
    row.context = whole_of(json, "context");
    return row;
}

/* Files of earlier versions do not record the number of seeds, which was one. */
static int seeds_of(const cJSON *json, const char *key)
{
    const int n = whole_of(json, key);
    return n >= 1 ? n : 1;
}

static int read_seeds(const cJSON *json, struct orr_table *table)
{
    const cJSON *from;
    char model[ORR_MODEL], above[ORR_MODEL];
    cJSON_ArrayForEach (from, orr_json_get(json, "rows")) {
        struct orr_row row = figure_of(from);
        snprintf(model, sizeof model, "attention=%s", orr_json_text(from, "source"));
        snprintf(above, sizeof above, "above_baseline=%s", orr_json_text(from, "source"));
        row.model = model;
        row.seeds = seeds_of(from, "seeds");
        row.value = orr_json_number(from, "value");
        row.half = orr_json_number(from, "half_width");
        row.upper_bound = orr_json_number(from, "upper_bound");
        row.baseline = orr_json_number(from, "baseline");
        TRY(orr_table_add(table, &row));
        row.model = above;
        row.seeds = seeds_of(from, "above_baseline_seeds");
        row.value = orr_json_number(from, "above_baseline");
        row.half = orr_json_number(from, "above_baseline_half_width");
        row.upper_bound -= row.baseline;
        row.baseline = 0;
        TRY(orr_table_add(table, &row));
    }
    return 0;
}

/* Names the cell by its levels of all factors. */
static void name_cell(const cJSON *factors, const cJSON *cell, char model[ORR_MODEL])
{
    model[0] = '\0';
    for (int i = 0; i < cJSON_GetArraySize(factors); i++) {
        const char *level =
            cJSON_GetStringValue(cJSON_GetArrayItem(orr_json_get(cell, "levels"), i));
        orr_append(model, ORR_MODEL, "%s%s=%s", i ? " " : "",
                   orr_json_text(cJSON_GetArrayItem(factors, i), "name"), level ? level : "");
    }
}

static int read_grid(const cJSON *json, struct orr_table *table)
{
    const cJSON *factors = orr_json_get(json, "factors"), *factor, *from, *cell;
    const int seeds = whole_of(json, "seeds");
    char model[ORR_MODEL];
    int cells = seeds <= ORR_SEEDS ? 1 : 0;
    cJSON_ArrayForEach (factor, factors)
        cells *= cJSON_GetArraySize(orr_json_get(factor, "levels"));
    table->crossed = true;
    cJSON_ArrayForEach (from, orr_json_get(json, "rows"))
        cJSON_ArrayForEach (cell, orr_json_get(from, "cells")) {
            struct orr_row row = figure_of(from);
            if (cJSON_GetArraySize(orr_json_get(from, "cells")) != cells)
                continue;
            name_cell(factors, cell, model);
            row.model = model;
            for (int s = 0; s < seeds; s++) {
                row.seed = (uint64_t)s;
                row.value = number_at(orr_json_get(cell, "values"), s);
                const bool there = isfinite(row.value);
                row.upper_bound = there ? orr_json_number(cell, "upper_bound") : (double)NAN;
                row.baseline = there ? number_at(orr_json_get(cell, "baselines"), s) : (double)NAN;
                TRY(orr_table_add(table, &row));
            }
        }
    return 0;
}

/* -------------------------------------------------------------------------------- others */

static int read_bench(const cJSON *json, struct orr_table *table)
{
    const cJSON *from;
    char model[ORR_MODEL];
    cJSON_ArrayForEach (from, orr_json_get(json, "rows")) {
        struct orr_row row = orr_row_none;
        snprintf(model, sizeof model, "name=%s", orr_json_text(from, "name"));
        row.model = model;
        row.quantity = "value";
        row.value = orr_json_number(from, "value");
        TRY(orr_table_add(table, &row));
    }
    return 0;
}

static int read_curves(const char *path, struct orr_table *table)
{
    static const char *const name[] = {"setting", "seed", "step", "val_loss"};
    struct orr_csv csv;
    int column[4], rc = orr_csv_read(path, ORR_CSV_KEEP_TEXT, &csv);
    for (int k = 0; k < 4 && !rc; k++)
        if ((column[k] = orr_csv_column(&csv, name[k])) < 0)
            rc = ORR_FAIL(ORR_EFORMAT, "%s: expected columns setting, seed, step and val_loss",
                          path);
    for (size_t r = 0; r < csv.rows && !rc; r++) {
        const double *value = csv.values + r * csv.cols;
        struct orr_row row = orr_row_none;
        char model[ORR_MODEL];
        snprintf(model, sizeof model, "setting=%s", csv.cells[r * csv.cols + (size_t)column[0]]);
        row.model = model;
        row.quantity = "val_loss";
        row.seed = value[column[1]] >= 0 ? (uint64_t)value[column[1]] : 0;
        row.context = value[column[2]] >= 0 && value[column[2]] < 1e9 ? (int)value[column[2]] : -1;
        row.value = value[column[3]];
        rc = orr_table_add(table, &row);
    }
    orr_csv_free(&csv);
    return rc;
}

typedef int read_format(const cJSON *json, struct orr_table *table);

/* The reader of a file's format; NULL if it is none of these. */
static read_format *format_of(const cJSON *json)
{
    static const struct {
        const char *format;
        read_format *read;
    } formats[] = {{"orrery-verdict-1", read_verdict},
                   {"orrery-runs-1", read_runs},
                   {"orrery-probe-seeds-1", read_seeds},
                   {"orrery-probe-grid-1", read_grid}};
    const char *format = orr_json_text(json, "format");
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
        if (!strcmp(format, formats[k].format))
            return formats[k].read;
    /* benchmarks have no format */
    return !*format && cJSON_IsArray(orr_json_get(json, "rows")) ? read_bench : NULL;
}

int compare_results_take(const cJSON *json, struct orr_table *table, bool *known)
{
    read_format *const read = format_of(json);
    *known = read != NULL;
    return read ? read(json, table) : 0;
}

int compare_results_read(const char *path, struct orr_table *table)
{
    cJSON *json;
    bool known;
    if (orr_ends_in(path, ".csv"))
        return read_curves(path, table);
    TRY(orr_json_read(path, &json));
    int rc = compare_results_take(json, table, &known);
    if (!known)
        rc = ORR_FAIL(ORR_EFORMAT,
                      "%s: \"format\": expected that of a verdict, runs, seeds or a grid, found "
                      "\"%s\"",
                      path, orr_json_text(json, "format"));
    cJSON_Delete(json);
    return rc;
}
