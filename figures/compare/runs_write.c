/* runs_write.c - rows over seeds: markdown for readers, runs.json for programs. */
#include "runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

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

/* A bar would end the cell. */
static void print_label(const char *label)
{
    for (const char *c = *label ? label : "all"; *c; c++)
        printf("%s%c", *c == '|' ? "\\" : "", *c);
}

static struct orr_mean over_seeds(const struct runs_row *row, int figure)
{
    return orr_mean_of(report_runs_values(row, figure), row->seeds);
}

static void print_column(const struct runs_row *row, const char *format, int figure)
{
    print_mean(format, over_seeds(row, figure));
    printf(" |");
}

static int print_row(const struct runs_row *row, void *context)
{
    (void)context;
    printf("| ");
    print_label(row->run[0]->label);
    printf(" | %s | %d | %d/%d | %d/%d |", row->title, row->seeds, row->selected, row->samples,
           row->on_front, row->samples);
    print_column(row, "%.2f", RUNS_K);
    printf(row->samples ? " %.0f%% |" : " - |", 100 * over_seeds(row, RUNS_K_CLOSE).mean);
    for (int e = 0; e < 3; e++) {
        print_mean("%.3f", over_seeds(row, RUNS_EXPONENT + e));
        printf(" (%.3f) |", over_seeds(row, RUNS_TRUTH + e).mean);
    }
    print_column(row, "%.4f", RUNS_R2);
    print_column(row, "%.3g", RUNS_LOSS);
    print_column(row, "%.4f", RUNS_NEXT_STATE);
    print_column(row, "%.3f", RUNS_BEYOND);
    for (int f = RUNS_STEP_MS; f <= RUNS_MEMORY_MB; f++) {
        print_mean("%.3g", (struct orr_mean){over_seeds(row, f).mean, NAN, NAN, 0});
        printf(" |");
    }
    printf("\n");
    return 0;
}

static int print_difference(const struct runs_row *row, void *context)
{
    static const int shown[] = {RUNS_SHARE, RUNS_EXPONENT,   RUNS_EXPONENT + 1, RUNS_EXPONENT + 2,
                                RUNS_R2,    RUNS_NEXT_STATE, RUNS_BEYOND};
    (void)context;
    printf("| ");
    print_label(row->run[0]->label);
    printf(" | %s | %s | %d |", row->title, row->minus, row->seeds);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        double interval[2];
        print_mean("%.3g", over_seeds(row, shown[i]));
        orr_bootstrap_mean(row->value, row->seeds, interval);
        if (isfinite(interval[0]))
            printf(" (%.2g to %.2g)", interval[0], interval[1]);
        printf(" |");
    }
    printf("\n");
    return 0;
}

int report_runs_print(const struct runs *runs)
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
        runs->count, runs->folder, runs->run[0].rule);
    int rc = report_runs_rows(runs, false, print_row, NULL);
    if (!rc)
        printf("\nDifferences, seed by seed: mean +- half of Student's 95%% interval, in brackets "
               "that of the bootstrap,\nwhich is too narrow for a few seeds.\n\n"
               "| settings | source | minus | seeds | selected, share | r | m1 | m2 | R2 log F | "
               "next state | beyond |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    if (!rc)
        rc = report_runs_rows(runs, true, print_difference, NULL);
    if (!rc && runs->left_out_count)
        printf("\nLeft out:\n\n");
    for (size_t i = 0; i < runs->left_out_count && !rc; i++)
        printf("- %s: %s\n", runs->left_out[i].path, runs->left_out[i].why);
    if (!rc && (fflush(stdout) || ferror(stdout)))
        return ORR_FAIL(ORR_EIO, "standard output: cannot write");
    return rc;
}

/* ---------------------------------------------------------------------------------- JSON */

static cJSON *number(double x)
{
    return isfinite(x) ? cJSON_CreateNumber(x) : cJSON_CreateNull();
}

void report_mean_json(cJSON *parent, const char *key, const double *x, int n, bool bootstrap)
{
    const struct orr_mean mean = orr_mean_of(x, n);
    cJSON *json = cJSON_AddObjectToObject(parent, key);
    cJSON_AddItemToObject(json, "mean", number(mean.mean));
    cJSON_AddItemToObject(json, "standard_error", number(mean.error));
    cJSON_AddItemToObject(json, "half_width", number(mean.half));
    if (bootstrap) {
        double interval[2];
        orr_bootstrap_mean(x, n, interval);
        cJSON *ends = cJSON_AddArrayToObject(json, "bootstrap");
        for (int end = 0; end < 2; end++)
            cJSON_AddItemToArray(ends, number(interval[end]));
    }
    cJSON *values = cJSON_AddArrayToObject(json, "values");
    for (int i = 0; i < n; i++)
        cJSON_AddItemToArray(values, number(x[i]));
}

static void add_figure(const struct runs_row *row, int figure, const char *key, cJSON *json)
{
    report_mean_json(json, key, report_runs_values(row, figure), row->seeds, row->minus);
}

/* A row, or a difference. */
static int add_row(const struct runs_row *row, void *context)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToArray(context, json);
    cJSON_AddNumberToObject(json, "settings", row->run[0]->group);
    cJSON_AddStringToObject(json, "source", row->title);
    if (row->minus)
        cJSON_AddStringToObject(json, "minus", row->minus);
    cJSON *seeds = cJSON_AddArrayToObject(json, "seeds");
    for (int i = 0; i < row->seeds; i++)
        orr_json_append_u64(seeds, row->run[i]->preset.seed);
    if (!row->minus) {
        cJSON_AddNumberToObject(json, "samples", row->samples);
        cJSON_AddNumberToObject(json, "selected", row->selected);
        cJSON_AddNumberToObject(json, "on_front", row->on_front);
    }
    cJSON *exponents = cJSON_AddObjectToObject(json, "exponents");
    cJSON *truth = row->minus ? NULL : cJSON_AddObjectToObject(json, "exponents_truth");
    for (int e = 0; e < 3; e++) {
        add_figure(row, RUNS_EXPONENT + e, report_runs_name[e].key, exponents);
        if (truth)
            add_figure(row, RUNS_TRUTH + e, report_runs_name[e].key, truth);
    }
    for (int f = RUNS_SHARE; f < RUNS_FIGURES; f++)
        add_figure(row, f, report_runs_name[f].key, json);
    return 0;
}

/* The settings that a group of runs has, where runs differ, and the law that its rows ask for. */
static void add_group(cJSON *list, const struct runs_run *run)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToArray(list, json);
    cJSON_AddStringToObject(json, "label", run->label);
    cJSON_AddStringToObject(json, "true_law", run->true_law.formula);
    cJSON_AddItemToObject(json, "k",
                          cJSON_CreateDoubleArray(run->true_law.k, run->true_law.constants));
    cJSON_AddStringToObject(json, "rule", run->rule);
}

static void add_runs(cJSON *json, const struct runs *runs)
{
    cJSON *settings = cJSON_AddArrayToObject(json, "settings");
    cJSON *list = cJSON_AddArrayToObject(json, "runs");
    cJSON *left_out = cJSON_AddArrayToObject(json, "left_out");
    for (int g = 0, i = 0; g < runs->groups; g++, i = 0) {
        while (runs->run[i].group != g)
            i++;
        add_group(settings, &runs->run[i]);
    }
    for (size_t i = 0; i < runs->count; i++) {
        cJSON *run = cJSON_CreateObject();
        cJSON_AddItemToArray(list, run);
        cJSON_AddStringToObject(run, "path", runs->run[i].path);
        orr_json_add_u64(run, "seed", runs->run[i].preset.seed);
        cJSON_AddNumberToObject(run, "settings", runs->run[i].group);
    }
    for (size_t i = 0; i < runs->left_out_count; i++) {
        cJSON *run = cJSON_CreateObject();
        cJSON_AddItemToArray(left_out, run);
        cJSON_AddStringToObject(run, "path", runs->left_out[i].path);
        cJSON_AddStringToObject(run, "why", runs->left_out[i].why);
    }
}

int report_runs_write(const struct runs *runs)
{
    char path[REPORT_PATH];
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "format", "orrery-runs-1");
    cJSON_AddStringToObject(json, "version", ORR_VERSION);
    add_runs(json, runs);
    cJSON *rows = cJSON_AddArrayToObject(json, "rows");
    cJSON *differences = cJSON_AddArrayToObject(json, "differences");
    int rc = rows && differences ? report_runs_rows(runs, false, add_row, rows)
                                 : ORR_FAIL(ORR_ENOMEM, "runs.json: no memory");
    if (!rc)
        rc = report_runs_rows(runs, true, add_row, differences);
    if (!rc)
        rc = orr_path(path, "%s/runs.json", runs->folder);
    if (!rc)
        rc = orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}
