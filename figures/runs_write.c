/* runs_write.c - rows over seeds: markdown for readers, runs.json for programs. */
#include "runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

static const char *const feature[3] = {"r", "m1", "m2"};

/* One source of forces over the runs of one label. */
struct row {
    const struct runs_run *first;
    const char *title;
    int seeds, samples, selected, on_front;
    const struct runs_run **run;                    /* (seeds) */
    double *exponent[3], *truth[3], *r2_log, *loss; /* (seeds) each; `values` owns them */
    double *next_state, *beyond, *step_ms, *memory_mb;
    double *values;
};

static void row_free(struct row *row)
{
    free(row->run);
    free(row->values);
}

/* Runs of one seed, each with attentions of its own, have the same truth and oracle. */
static bool is_there(const struct row *row, uint64_t seed)
{
    for (int i = 0; i < row->seeds; i++)
        if (row->run[i]->preset.seed == seed)
            return true;
    return false;
}

static int row_make(const struct runs *runs, int group, const char *title, struct row *row)
{
    enum { COLUMNS = 12 };
    *row = (struct row){.title = title};
    row->values = orr_alloc(COLUMNS * runs->count, sizeof *row->values);
    row->run = orr_alloc(runs->count, sizeof *row->run);
    if (!row->values || !row->run)
        return ORR_ENOMEM;
    double **const column[COLUMNS] = {&row->exponent[0], &row->exponent[1], &row->exponent[2],
                                      &row->truth[0],    &row->truth[1],    &row->truth[2],
                                      &row->r2_log,      &row->loss,        &row->next_state,
                                      &row->beyond,      &row->step_ms,     &row->memory_mb};
    for (size_t c = 0; c < COLUMNS; c++)
        *column[c] = row->values + c * runs->count;
    for (size_t i = 0; i < runs->count; i++) {
        const struct runs_run *run = &runs->run[i];
        const struct runs_source *source = report_runs_find(run, title),
                                 *truth = report_runs_find(run, "truth");
        if (run->group != group || !source || is_there(row, run->preset.seed))
            continue;
        const int n = row->seeds++;
        row->first = n ? row->first : run;
        row->run[n] = run;
        row->samples += source->samples;
        row->selected += source->selected;
        row->on_front += source->on_front;
        for (int e = 0; e < 3; e++) {
            row->exponent[e][n] = source->exponent[e];
            row->truth[e][n] = truth ? truth->exponent[e] : (double)NAN;
        }
        row->r2_log[n] = source->r2_log;
        row->loss[n] = source->loss;
        row->next_state[n] = source->next_state;
        row->beyond[n] = source->beyond;
        row->step_ms[n] = source->step_ms;
        row->memory_mb[n] = source->memory_mb;
    }
    return 0;
}

/* Every row, in the order of groups and of the sources of their runs. */
static int each_row(const struct runs *runs, int (*visit)(const struct row *row, void *context),
                    void *context)
{
    int rc = 0;
    for (int g = 0; g < runs->groups; g++)
        for (size_t i = 0; i < runs->count; i++)
            for (int s = 0; s < runs->run[i].source_count && !rc; s++) {
                const char *title = runs->run[i].source[s].title;
                bool before = runs->run[i].group != g;
                for (size_t k = 0; k < i && !before; k++)
                    before = runs->run[k].group == g && report_runs_find(&runs->run[k], title);
                if (before)
                    continue;
                struct row row;
                rc = row_make(runs, g, title, &row);
                if (!rc)
                    rc = visit(&row, context);
                row_free(&row);
            }
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

/* A bar would end the cell. */
static void print_label(const char *label)
{
    for (const char *c = *label ? label : "all"; *c; c++)
        printf("%s%c", *c == '|' ? "\\" : "", *c);
}

static int print_row(const struct row *row, void *context)
{
    (void)context;
    printf("| ");
    print_label(row->first->label);
    printf(" | %s | %d | %d/%d | %d/%d |", row->title, row->seeds, row->selected, row->samples,
           row->on_front, row->samples);
    for (int e = 0; e < 3; e++) {
        print_mean("%.3f", orr_mean_of(row->exponent[e], row->seeds));
        printf(" (%.3f) |", orr_mean_of(row->truth[e], row->seeds).mean);
    }
    print_mean("%.4f", orr_mean_of(row->r2_log, row->seeds));
    printf(" |");
    print_mean("%.3g", orr_mean_of(row->loss, row->seeds));
    printf(" |");
    print_mean("%.4f", orr_mean_of(row->next_state, row->seeds));
    printf(" |");
    print_mean("%.3f", orr_mean_of(row->beyond, row->seeds));
    printf(" |");
    print_mean("%.3g",
               (struct orr_mean){.mean = orr_mean_of(row->step_ms, row->seeds).mean, .half = NAN});
    printf(" |");
    print_mean("%.3g", (struct orr_mean){.mean = orr_mean_of(row->memory_mb, row->seeds).mean,
                                         .half = NAN});
    printf(" |\n");
    return 0;
}

int report_runs_print(const struct runs *runs)
{
    printf(
        "Laws of %zu runs in %s, by settings. Selected (by the rule %s) and on front: samples in "
        "which\nthe law is that of the run's own orbits, summed over seeds. Exponents of the "
        "predictions, in\nbrackets those of the truth, R2 of log F and loss of the selected law: "
        "means over seeds +- half of\nthe 95%% interval of Student's t. Next-state error in AU, as "
        "trained and beyond the trained\npositions in the longest sequences of bin/probe length; "
        "milliseconds and memory of a step of\npretraining, on the machines and beside the work "
        "that there were.\n\n"
        "| settings | source | seeds | selected | on front | r | m1 | m2 | R2 log F | loss | "
        "next state | beyond | ms | MB |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        runs->count, runs->folder, runs->run[0].rule);
    const int rc = each_row(runs, print_row, NULL);
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

/* {"mean", "half_width", "values"}: a value per seed, in the order of "seeds". */
static void add_mean(cJSON *parent, const char *key, const double *x, int n)
{
    const struct orr_mean mean = orr_mean_of(x, n);
    cJSON *json = cJSON_AddObjectToObject(parent, key);
    cJSON_AddItemToObject(json, "mean", number(mean.mean));
    cJSON_AddItemToObject(json, "half_width", number(mean.half));
    cJSON *values = cJSON_AddArrayToObject(json, "values");
    for (int i = 0; i < n; i++)
        cJSON_AddItemToArray(values, number(x[i]));
}

static int add_row(const struct row *row, void *context)
{
    cJSON *json = cJSON_CreateObject(), *list = cJSON_GetObjectItemCaseSensitive(context, "rows");
    cJSON_AddItemToArray(list, json);
    cJSON_AddNumberToObject(json, "settings", row->first->group);
    cJSON_AddStringToObject(json, "source", row->title);
    cJSON *seeds = cJSON_AddArrayToObject(json, "seeds");
    for (int i = 0; i < row->seeds; i++) {
        char digits[32];
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)row->run[i]->preset.seed);
        const bool large = row->run[i]->preset.seed > 1ull << 53;
        cJSON_AddItemToArray(seeds, large ? cJSON_CreateString(digits) : cJSON_CreateRaw(digits));
    }
    cJSON_AddNumberToObject(json, "samples", row->samples);
    cJSON_AddNumberToObject(json, "selected", row->selected);
    cJSON_AddNumberToObject(json, "on_front", row->on_front);
    cJSON *exponents = cJSON_AddObjectToObject(json, "exponents");
    cJSON *truth = cJSON_AddObjectToObject(json, "exponents_truth");
    for (int e = 0; e < 3; e++) {
        add_mean(exponents, feature[e], row->exponent[e], row->seeds);
        add_mean(truth, feature[e], row->truth[e], row->seeds);
    }
    add_mean(json, "r2_log", row->r2_log, row->seeds);
    add_mean(json, "loss", row->loss, row->seeds);
    add_mean(json, "next_state", row->next_state, row->seeds);
    add_mean(json, "next_state_beyond", row->beyond, row->seeds);
    add_mean(json, "step_ms", row->step_ms, row->seeds);
    add_mean(json, "memory_mb", row->memory_mb, row->seeds);
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
    int rc = rows ? each_row(runs, add_row, json) : ORR_FAIL(ORR_ENOMEM, "runs.json: no memory");
    if (!rc)
        rc = orr_path(path, "%s/runs.json", runs->folder);
    if (!rc)
        rc = orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}
