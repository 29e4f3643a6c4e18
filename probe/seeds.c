/* seeds.c - bin/probe seeds: means over models of several seeds with intervals over seeds, next to
 * the baseline, and the difference from it seed by seed. */
#include "files.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

/* One quantity of one kind of model. */
struct figure {
    const struct probe_file *first;
    const struct probe_row *row;
    int n; /* number of seeds that have it */
    double value[PROBE_FILES], upper_bound[PROBE_FILES], baseline[PROBE_FILES], raw[PROBE_FILES],
        gain[PROBE_FILES];
};

/* Rejects a model that occurs twice, or occurs with different attention. */
static int check_files(const struct probe_file *file, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) {
            if (!probe_same_kind(&file[i], &file[k]))
                continue;
            if (strcmp(file[i].attention, file[k].attention) != 0)
                return ORR_FAIL(ORR_EINVAL, "%s: measured with attention \"%s\", %s with \"%s\"",
                                file[i].path, file[i].attention, file[k].path, file[k].attention);
            if (file[i].seed == file[k].seed)
                return ORR_FAIL(ORR_EINVAL, "%s: of the same model (%s, %s) and seed as %s",
                                file[i].path, file[i].source, file[i].stage, file[k].path);
        }
    return 0;
}

/* -------------------------------------------------------------------------------- values */

static void take(struct figure *figure, const struct probe_row *row)
{
    const int i = figure->n++;
    figure->value[i] = row->value;
    figure->upper_bound[i] = row->upper_bound;
    figure->baseline[i] = row->baseline;
    figure->raw[i] = row->raw;
    figure->gain[i] = row->value - row->baseline;
}

/* Collects a row of the first file of a kind from the files of all seeds. */
static void gather(const struct probe_file *file, int n, int first, const struct probe_row *row,
                   struct figure *figure)
{
    *figure = (struct figure){.first = &file[first], .row = row};
    for (int i = first; i < n; i++) {
        const struct probe_row *found = probe_results_find(&file[i].results, row);
        if (found && probe_same_kind(&file[i], &file[first]))
            take(figure, found);
    }
}

/* Means over seeds; without an interval where the numbers are only bounds. */
static struct orr_mean mean_of(const struct figure *f, const double *x)
{
    struct orr_mean mean = orr_mean_of(x, f->n);
    if (strpbrk(f->row->measure, "<>?"))
        mean.half = mean.error = (double)NAN;
    return mean;
}

/* ---------------------------------------------------------------------------------- output */

static cJSON *figure_json(const struct figure *f)
{
    const struct orr_mean value = mean_of(f, f->value), gain = mean_of(f, f->gain);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "source", f->first->source);
    cJSON_AddStringToObject(json, "stage", f->first->stage);
    cJSON_AddStringToObject(json, "quantity", f->row->quantity);
    cJSON_AddStringToObject(json, "measure", f->row->measure);
    cJSON_AddNumberToObject(json, "layer", f->row->layer);
    cJSON_AddNumberToObject(json, "context", f->row->context);
    cJSON_AddNumberToObject(json, "seeds", value.n);
    cJSON_AddNumberToObject(json, "value", value.mean);
    cJSON_AddNumberToObject(json, "half_width", value.half);
    cJSON_AddNumberToObject(json, "above_baseline", gain.mean);
    cJSON_AddNumberToObject(json, "above_baseline_half_width", gain.half);
    cJSON_AddNumberToObject(json, "above_baseline_seeds", gain.n);
    cJSON_AddNumberToObject(json, "upper_bound", orr_mean_of(f->upper_bound, f->n).mean);
    cJSON_AddNumberToObject(json, "baseline", orr_mean_of(f->baseline, f->n).mean);
    cJSON_AddNumberToObject(json, "raw", orr_mean_of(f->raw, f->n).mean);
    cJSON_AddNumberToObject(json, "n", (double)f->row->n);
    cJSON *each = cJSON_AddArrayToObject(json, "values");
    for (int i = 0; i < f->n; i++)
        cJSON_AddItemToArray(each, cJSON_CreateNumber(f->value[i]));
    return json;
}

static void print_figure(const struct figure *f)
{
    printf("| %s | %s | %s |", f->first->source, f->row->quantity, f->row->measure);
    if (f->row->layer >= 0)
        printf(" %d |", f->row->layer);
    else
        printf(" - |");
    if (f->row->context)
        printf(" %d |", f->row->context);
    else
        printf(" - |");
    probe_print_mean(mean_of(f, f->value));
    probe_print_mean(mean_of(f, f->gain));
    probe_print_mean(
        (struct orr_mean){.mean = orr_mean_of(f->upper_bound, f->n).mean, .half = NAN});
    probe_print_mean(orr_mean_of(f->baseline, f->n));
    probe_print_mean((struct orr_mean){.mean = orr_mean_of(f->raw, f->n).mean, .half = NAN});
    printf(" %d |\n", mean_of(f, f->value).n);
}

static int write(const struct probe_options *options, const struct probe_file *file, cJSON *json)
{
    char path[4096];
    const char *folder = *options->out ? options->out : ".";
    TRY(orr_mkdir(folder));
    TRY(orr_path(path, "%s/%s_seeds.json", folder, file[0].probe));
    TRY(orr_json_write(path, json));
    orr_note(options->quiet, "seeds: %s", path);
    return 0;
}

/* Prints the table and fills `rows`. */
static void tell(const struct probe_file *file, int n, cJSON *rows)
{
    struct figure figure;
    printf("%s, preset %s: means over seeds, 95%% intervals by Student's t\n\n", file[0].probe,
           file[0].preset);
    printf("| model | quantity | measure | layer | context | value | above baseline | upper bound "
           "| baseline "
           "| raw | seeds |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < n; i++)
        for (int k = 0; k < file[i].results.count; k++) {
            if (!probe_is_first(file, i, &file[i].results.row[k], true))
                continue;
            gather(file, n, i, &file[i].results.row[k], &figure);
            print_figure(&figure);
            cJSON_AddItemToArray(rows, figure_json(&figure));
        }
}

int probe_seeds(const struct probe_options *options)
{
    struct probe_file *file;
    const int n = options->file_count;
    int rc = probe_files_read(options, "seeds", &file);
    rc = rc ? rc : check_files(file, n);
    if (!rc) {
        cJSON *json = probe_files_json(file, n, "orrery-probe-seeds-1");
        tell(file, n, cJSON_AddArrayToObject(json, "rows"));
        rc = write(options, file, json);
        cJSON_Delete(json);
    }
    probe_files_free(file, n);
    return rc;
}
