/* cells_write.c - writes means over seeds and paired differences between sources: Markdown, and
 * runs.json for programs. */
#include "cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* --------------------------------------------------------------------------------- lines */

/* One source over the cells of a group, or the paired difference of two sources by seed. */
struct line {
    const struct compare_cell *cell; /* the first cell of the group */
    struct orr_table view[COMPARE_COLUMNS];
    const char *of, *minus; /* models; minus: "" for no difference */
    int seeds;
    uint64_t *seed; /* (seeds) */
    double *value;  /* (seeds) filled by values() */
    cJSON *list;    /* JSON list to add to; NULL: print */
};

/* Collects the seeds that both sources have; returns how many. */
static int list_seeds(struct line *line)
{
    const struct orr_table *view = line->view;
    line->seeds = 0;
    for (size_t i = 0; i < view->count; i++) {
        bool has = !*line->minus;
        if (strcmp(view->row[i].model, line->of) != 0)
            continue;
        for (size_t k = 0; k < view->count && !has; k++)
            has =
                view->row[k].seed == view->row[i].seed && !strcmp(view->row[k].model, line->minus);
        if (has)
            line->seed[line->seeds++] = view->row[i].seed;
    }
    return line->seeds;
}

static const double *values_of(struct line *line, int column, enum orr_row_number number)
{
    orr_table_values(&line->view[column], line->seed, line->seeds, line->of, line->minus, number,
                     line->value);
    return line->value;
}

static struct orr_mean over_seeds(struct line *line, int column)
{
    return orr_mean_of(values_of(line, column, ORR_ROW_VALUE), line->seeds);
}

static int sum_of(struct line *line, int column)
{
    const double *x = values_of(line, column, ORR_ROW_VALUE);
    double all = 0;
    for (int i = 0; i < line->seeds; i++)
        all += x[i];
    return (int)all;
}

/* "lssar" of "attention=lssar". */
static const char *name_of(const char *model)
{
    return strchr(model, '=') + 1;
}

/* The model with which others are compared: softmax, or else the first; NULL without a model. */
static const char *baseline_of(const struct orr_table *is_model)
{
    const char *first = NULL;
    for (size_t i = 0; i < is_model->count; i++) {
        const struct orr_row *row = &is_model->row[i];
        if (row->value > 0 && (!first || !strcmp(name_of(row->model), "softmax")))
            first = row->model;
    }
    return first;
}

static void show_line(struct line *line, const char *minus, void (*show)(struct line *line))
{
    line->minus = minus;
    if (list_seeds(line))
        show(line);
}

/* Calls show() for every source of a group in order of appearance; with `differences`, for every
 * model minus the baseline and minus its untrained shape. */
static void each_line_of(struct line *line, bool differences, void (*show)(struct line *line))
{
    const struct orr_table *is_model = &line->view[COMPARE_IS_MODEL];
    const char *baseline = baseline_of(is_model);
    char untrained[4 * ORR_NAME];
    for (size_t i = 0; i < is_model->count; i++) {
        size_t first = 0;
        line->of = is_model->row[i].model;
        while (is_model->row[first].model != line->of)
            first++;
        if (first < i || (differences && !(is_model->row[i].value > 0)))
            continue;
        if (!differences) {
            show_line(line, "", show);
            continue;
        }
        if (line->of != baseline)
            show_line(line, baseline, show);
        snprintf(untrained, sizeof untrained, "attention=untrained (%s)", name_of(line->of));
        show_line(line, untrained, show);
    }
}

static int each_line(const struct compare_cells *cells, bool differences,
                     void (*show)(struct line *line), cJSON *list)
{
    struct line line = {.seed = orr_alloc(cells->count, sizeof *line.seed),
                        .value = orr_alloc(cells->count, sizeof *line.value),
                        .list = list};
    int rc = line.seed && line.value ? 0 : ORR_ENOMEM;
    for (int g = 0; g < cells->groups && !rc; g++) {
        line.cell = cells->cell;
        while (line.cell->group != g)
            line.cell++;
        for (int c = 0; c < COMPARE_COLUMNS && !rc; c++)
            rc = compare_cells_view(cells, g, c, &line.view[c]);
        if (!rc)
            each_line_of(&line, differences, show);
        for (int c = 0; c < COMPARE_COLUMNS; c++)
            orr_table_free(&line.view[c]);
    }
    free(line.seed);
    free(line.value);
    return rc;
}

/* ------------------------------------------------------------------------------ markdown */

static void print_mean(const char *format, struct orr_mean x)
{
    char text[64] = "-", half[64] = "";
    if (isfinite(x.mean))
        snprintf(text, sizeof text, format, x.mean);
    if (isfinite(x.half))
        snprintf(half, sizeof half, " +- %.2g", x.half);
    printf(" %s%s", text, half);
}

/* Escapes a bar, which would end the table cell. */
static void print_label(const char *label)
{
    char shown[REPORT_PATH];
    printf("| ");
    for (const char *c = orr_shown(shown, sizeof shown, *label ? label : "all"); *c; c++)
        printf("%s%c", *c == '|' ? "\\" : "", *c);
}

static void print_column(struct line *line, const char *format, int column)
{
    print_mean(format, over_seeds(line, column));
    printf(" |");
}

static void print_line(struct line *line)
{
    const int samples = sum_of(line, COMPARE_SAMPLES);
    print_label(line->cell->label);
    printf(" | %s | %d | %d/%d |", name_of(line->of), line->seeds, sum_of(line, COMPARE_SELECTED),
           samples);
    printf(" %d/%d |", sum_of(line, COMPARE_ON_FRONT), samples);
    print_column(line, "%.2f", COMPARE_K);
    printf(samples ? " %.0f%% |" : " - |", 100 * over_seeds(line, COMPARE_CLOSE_SHARE).mean);
    for (int e = 0; e < 3; e++) {
        print_mean("%.3f", over_seeds(line, COMPARE_EXPONENT + e));
        values_of(line, COMPARE_EXPONENT + e, ORR_ROW_UPPER_BOUND);
        printf(" (%.3f) |", orr_mean_of(line->value, line->seeds).mean);
    }
    print_column(line, "%.4f", COMPARE_R2);
    print_column(line, "%.3g", COMPARE_LOSS);
    print_column(line, "%.4f", COMPARE_NEXT_STATE);
    print_column(line, "%.3f", COMPARE_BEYOND);
    for (int c = COMPARE_STEP_MS; c <= COMPARE_MEMORY_MB; c++) {
        print_mean("%.3g", (struct orr_mean){over_seeds(line, c).mean, NAN, NAN, 0});
        printf(" |");
    }
    printf("\n");
}

static void print_difference(struct line *line)
{
    static const int shown[] = {COMPARE_SHARE,        COMPARE_EXPONENT, COMPARE_EXPONENT + 1,
                                COMPARE_EXPONENT + 2, COMPARE_R2,       COMPARE_NEXT_STATE,
                                COMPARE_BEYOND};
    print_label(line->cell->label);
    printf(" | %s | %s | %d |", name_of(line->of), name_of(line->minus), line->seeds);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        double interval[2];
        print_mean("%.3g", over_seeds(line, shown[i]));
        orr_bootstrap_mean(line->value, line->seeds, interval);
        if (isfinite(interval[0]))
            printf(" (%.2g to %.2g)", interval[0], interval[1]);
        printf(" |");
    }
    printf("\n");
}

int compare_cells_print(const struct compare_cells *cells)
{
    printf(
        "Laws of %zu runs in %s, by settings. Selected (by the rule %s) and on front: samples in "
        "which\nthe law is that of the run's own orbits, summed over seeds. k of those laws, and "
        "the "
        "share of samples\nwhose law is the true one with k within 2%% of the law's. Exponents of "
        "the predictions, in brackets\nthose of the truth, R2 of log F and loss of the selected "
        "law: means over seeds +- half of the 95%%\ninterval of Student's t. Next-state error in "
        "AU, as "
        "trained and beyond the trained\npositions in the longest sequences of bin/probe length; "
        "milliseconds and memory of a step of\npretraining, on the machines and beside the work "
        "that there were.\n\n"
        "| settings | source | seeds | selected | on front | k | close | r | m1 | m2 | R2 log F | "
        "loss | "
        "next state | beyond | ms | MB |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        cells->count, cells->folder, cells->cell[0].rule);
    TRY(each_line(cells, false, print_line, NULL));
    printf("\nDifferences, seed by seed: mean +- half of Student's 95%% interval, in brackets that "
           "of the bootstrap,\nwhich is too narrow for a few seeds.\n\n"
           "| settings | source | minus | seeds | selected, share | r | m1 | m2 | R2 log F | next "
           "state | beyond |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    TRY(each_line(cells, true, print_difference, NULL));
    return compare_missing_print(&cells->left_out, "Left out:");
}

/* ---------------------------------------------------------------------------------- JSON */

/* cJSON prints a number that is not finite as null. */
void compare_mean_json(cJSON *parent, const char *key, const double *x, int n, bool bootstrap)
{
    const struct orr_mean mean = orr_mean_of(x, n);
    cJSON *json = cJSON_AddObjectToObject(parent, key);
    cJSON_AddNumberToObject(json, "mean", mean.mean);
    cJSON_AddNumberToObject(json, "standard_error", mean.error);
    cJSON_AddNumberToObject(json, "half_width", mean.half);
    if (bootstrap) {
        double interval[2];
        orr_bootstrap_mean(x, n, interval);
        cJSON_AddItemToObject(json, "bootstrap", cJSON_CreateDoubleArray(interval, 2));
    }
    cJSON_AddItemToObject(json, "values", cJSON_CreateDoubleArray(x, n));
}

/* Adds a column under its key; "exponents.r" becomes "r" in the object "exponents". */
static void add_column(struct line *line, int column, cJSON *json)
{
    const char *key = compare_column_name[column].key, *dot = strchr(key, '.');
    compare_mean_json(json, dot ? dot + 1 : key, values_of(line, column, ORR_ROW_VALUE),
                      line->seeds, *line->minus);
}

/* Adds a source or a difference. */
static void add_line(struct line *line)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToArray(line->list, json);
    cJSON_AddNumberToObject(json, "settings", line->cell->group);
    cJSON_AddStringToObject(json, "source", name_of(line->of));
    if (*line->minus)
        cJSON_AddStringToObject(json, "minus", name_of(line->minus));
    cJSON *seeds = cJSON_AddArrayToObject(json, "seeds");
    for (int i = 0; i < line->seeds; i++)
        orr_json_append_u64(seeds, line->seed[i]);
    for (int c = COMPARE_SAMPLES; c <= COMPARE_ON_FRONT && !*line->minus; c++)
        cJSON_AddNumberToObject(json, compare_column_name[c].key, sum_of(line, c));
    cJSON *exponents = cJSON_AddObjectToObject(json, "exponents");
    cJSON *truth = *line->minus ? NULL : cJSON_AddObjectToObject(json, "exponents_truth");
    for (int c = COMPARE_EXPONENT; c < COMPARE_EXPONENT + 3; c++) {
        add_column(line, c, exponents);
        if (truth)
            compare_mean_json(truth, strchr(compare_column_name[c].key, '.') + 1,
                              values_of(line, c, ORR_ROW_UPPER_BOUND), line->seeds, false);
    }
    for (int c = COMPARE_SHARE; c < COMPARE_COLUMNS; c++)
        add_column(line, c, json);
}

/* Adds the settings of a group in which groups differ, and the law of its rows. */
static void add_group(cJSON *list, const struct compare_cell *cell)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToArray(list, json);
    cJSON_AddStringToObject(json, "label", cell->label);
    cJSON_AddStringToObject(json, "true_law", cell->true_law.formula);
    cJSON_AddItemToObject(json, "k",
                          cJSON_CreateDoubleArray(cell->true_law.k, cell->true_law.constants));
    cJSON_AddStringToObject(json, "rule", cell->rule);
}

static void add_cells(cJSON *json, const struct compare_cells *cells)
{
    cJSON *settings = cJSON_AddArrayToObject(json, "settings");
    cJSON *list = cJSON_AddArrayToObject(json, "runs");
    cJSON *left_out = cJSON_AddArrayToObject(json, "left_out");
    int groups = 0;
    for (size_t i = 0; i < cells->count; i++) {
        cJSON *item = cJSON_CreateObject();
        if (cells->cell[i].group == groups) { /* the first cell of the group */
            add_group(settings, &cells->cell[i]);
            groups++;
        }
        cJSON_AddItemToArray(list, item);
        cJSON_AddStringToObject(item, "path", cells->cell[i].path);
        orr_json_add_u64(item, "seed", cells->cell[i].settings.seed);
        cJSON_AddNumberToObject(item, "settings", cells->cell[i].group);
    }
    compare_missing_json(&cells->left_out, "path", left_out);
}

int compare_cells_write(const struct compare_cells *cells)
{
    char path[REPORT_PATH];
    cJSON *json = orr_json_create("orrery-runs-1");
    add_cells(json, cells);
    cJSON *rows = cJSON_AddArrayToObject(json, "rows");
    cJSON *differences = cJSON_AddArrayToObject(json, "differences");
    int rc = each_line(cells, false, add_line, rows);
    rc = rc ? rc : each_line(cells, true, add_line, differences);
    rc = rc ? rc : orr_path(path, "%s/runs.json", cells->folder);
    rc = rc ? rc : orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}

int compare_missing_print(const struct compare_missing_list *list, const char *heading)
{
    if (list->count)
        printf("\n%s\n\n", heading);
    for (size_t i = 0; i < list->count; i++)
        printf("- %s: %s\n", list->at[i].what, list->at[i].why);
    if (fflush(stdout) || ferror(stdout))
        return ORR_FAIL(ORR_EIO, "standard output: cannot write");
    return 0;
}

void compare_missing_json(const struct compare_missing_list *list, const char *key, cJSON *json)
{
    for (size_t i = 0; i < list->count; i++) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddItemToArray(json, item);
        cJSON_AddStringToObject(item, key, list->at[i].what);
        cJSON_AddStringToObject(item, "why", list->at[i].why);
    }
}
