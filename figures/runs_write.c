/* runs_write.c - rows over seeds: markdown for readers, runs.json for programs. */
#include "runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

static const char *const feature[3] = {"r", "m1", "m2"};
/* Of figures that are no exponents. */
static const char *const figure_key[RUNS_FIGURES] = {[RUNS_SHARE] = "selected_share",
                                                     [RUNS_K] = "k",
                                                     [RUNS_K_CLOSE] = "k_close_share",
                                                     [RUNS_K_DROPPED] = "k_dropped_m2",
                                                     [RUNS_R2] = "r2_log",
                                                     [RUNS_LOSS] = "loss",
                                                     [RUNS_NEXT_STATE] = "next_state",
                                                     [RUNS_BEYOND] = "next_state_beyond",
                                                     [RUNS_STEP_MS] = "step_ms",
                                                     [RUNS_MEMORY_MB] = "memory_mb"};

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
    return orr_mean_of(row->figure[figure], row->seeds);
}

static int print_row(const struct runs_row *row, void *context)
{
    (void)context;
    printf("| ");
    print_label(row->first->label);
    printf(" | %s | %d | %d/%d | %d/%d |", row->title, row->seeds, row->selected, row->samples,
           row->on_front, row->samples);
    print_mean("%.2f", over_seeds(row, RUNS_K));
    printf(row->samples ? " | %.0f%% |" : " | - |", 100 * over_seeds(row, RUNS_K_CLOSE).mean);
    for (int e = 0; e < 3; e++) {
        print_mean("%.3f", over_seeds(row, RUNS_EXPONENT + e));
        printf(" (%.3f) |", over_seeds(row, RUNS_TRUTH + e).mean);
    }
    print_mean("%.4f", over_seeds(row, RUNS_R2));
    printf(" |");
    print_mean("%.3g", over_seeds(row, RUNS_LOSS));
    printf(" |");
    print_mean("%.4f", over_seeds(row, RUNS_NEXT_STATE));
    printf(" |");
    print_mean("%.3f", over_seeds(row, RUNS_BEYOND));
    printf(" |");
    print_mean("%.3g", (struct orr_mean){over_seeds(row, RUNS_STEP_MS).mean, NAN, NAN, 0});
    printf(" |");
    print_mean("%.3g", (struct orr_mean){over_seeds(row, RUNS_MEMORY_MB).mean, NAN, NAN, 0});
    printf(" |\n");
    return 0;
}

static int print_difference(const struct runs_difference *d, void *context)
{
    static const int shown[] = {RUNS_SHARE, RUNS_EXPONENT,   RUNS_EXPONENT + 1, RUNS_EXPONENT + 2,
                                RUNS_R2,    RUNS_NEXT_STATE, RUNS_BEYOND};
    (void)context;
    printf("| ");
    print_label(d->of->first->label);
    printf(" | %s | %s | %d |", d->of->title, d->minus->title, d->seeds);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        double interval[2];
        const double *value = d->value[shown[i]];
        print_mean("%.3g", orr_mean_of(value, d->seeds));
        orr_bootstrap_mean(value, d->seeds, interval);
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
    int rc = report_runs_rows(runs, print_row, NULL);
    if (!rc)
        printf("\nDifferences, seed by seed: mean +- half of Student's 95%% interval, in brackets "
               "that of the bootstrap,\nwhich is too narrow for a few seeds.\n\n"
               "| settings | source | minus | seeds | selected, share | r | m1 | m2 | R2 log F | "
               "next state | beyond |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    if (!rc)
        rc = report_runs_differences(runs, print_difference, NULL);
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

static void add_seeds(cJSON *json, const struct runs_run **run, int n)
{
    cJSON *seeds = cJSON_AddArrayToObject(json, "seeds");
    for (int i = 0; i < n; i++)
        orr_json_append_u64(seeds, run[i]->preset.seed);
}

static int add_row(const struct runs_row *row, void *context)
{
    cJSON *json = cJSON_CreateObject(), *list = cJSON_GetObjectItemCaseSensitive(context, "rows");
    cJSON_AddItemToArray(list, json);
    cJSON_AddNumberToObject(json, "settings", row->first->group);
    cJSON_AddStringToObject(json, "source", row->title);
    add_seeds(json, row->run, row->seeds);
    cJSON_AddNumberToObject(json, "samples", row->samples);
    cJSON_AddNumberToObject(json, "selected", row->selected);
    cJSON_AddNumberToObject(json, "on_front", row->on_front);
    cJSON *exponents = cJSON_AddObjectToObject(json, "exponents");
    cJSON *truth = cJSON_AddObjectToObject(json, "exponents_truth");
    for (int e = 0; e < 3; e++) {
        report_mean_json(exponents, feature[e], row->figure[RUNS_EXPONENT + e], row->seeds, false);
        report_mean_json(truth, feature[e], row->figure[RUNS_TRUTH + e], row->seeds, false);
    }
    for (int f = RUNS_SHARE; f < RUNS_FIGURES; f++)
        report_mean_json(json, figure_key[f], row->figure[f], row->seeds, false);
    return 0;
}

static int add_difference(const struct runs_difference *d, void *context)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(context, "differences"), json);
    cJSON_AddNumberToObject(json, "settings", d->of->first->group);
    cJSON_AddStringToObject(json, "source", d->of->title);
    cJSON_AddStringToObject(json, "minus", d->minus->title);
    add_seeds(json, d->run, d->seeds);
    cJSON *exponents = cJSON_AddObjectToObject(json, "exponents");
    for (int e = 0; e < 3; e++)
        report_mean_json(exponents, feature[e], d->value[RUNS_EXPONENT + e], d->seeds, true);
    for (int f = RUNS_SHARE; f < RUNS_FIGURES; f++)
        report_mean_json(json, figure_key[f], d->value[f], d->seeds, true);
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
    int rc = rows && differences ? report_runs_rows(runs, add_row, json)
                                 : ORR_FAIL(ORR_ENOMEM, "runs.json: no memory");
    if (!rc)
        rc = report_runs_differences(runs, add_difference, json);
    if (!rc)
        rc = orr_path(path, "%s/runs.json", runs->folder);
    if (!rc)
        rc = orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}
