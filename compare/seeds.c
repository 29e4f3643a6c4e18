/* seeds.c - bin/compare seeds: means over models of several seeds with intervals over seeds, next
 * to the baseline, and the difference from it seed by seed. */
#include "files.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

/* Rejects a model that occurs twice, or occurs with different attention. */
static int check_files(const struct compare_files *files)
{
    for (int i = 0; i < files->count; i++)
        for (int k = 0; k < i; k++) {
            const struct compare_file *a = &files->file[i], *b = &files->file[k];
            if (strcmp(a->source, b->source) != 0 || strcmp(a->stage, b->stage) != 0)
                continue;
            if (strcmp(a->attention, b->attention) != 0)
                return ORR_FAIL(ORR_EINVAL, "%s: measured with attention \"%s\", %s with \"%s\"",
                                a->path, a->attention, b->path, b->attention);
            if (a->seed == b->seed)
                return ORR_FAIL(ORR_EINVAL, "%s: of the same model (%s, %s) and seed as %s",
                                a->path, a->source, a->stage, b->path);
        }
    return 0;
}

/* The mean of a number over the rows of all seeds; without an interval where the numbers are only
 * bounds. */
static struct orr_mean mean_of(const struct orr_table *seeds, enum orr_row_number number)
{
    struct orr_mean mean = orr_table_contrast(seeds, "", "", number);
    if (strpbrk(seeds->row->measure, "<>?"))
        mean.half = mean.error = (double)NAN;
    return mean;
}

/* ---------------------------------------------------------------------------------- output */

static cJSON *row_json(const struct compare_file *file, const struct orr_table *seeds)
{
    const struct orr_mean value = mean_of(seeds, ORR_ROW_VALUE),
                          gain = mean_of(seeds, ORR_ROW_LEARNED);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "source", file->source);
    cJSON_AddStringToObject(json, "stage", file->stage);
    orr_row_json(seeds->row, json);
    cJSON_AddNumberToObject(json, "seeds", value.n);
    cJSON_AddNumberToObject(json, "value", value.mean);
    cJSON_AddNumberToObject(json, "half_width", value.half);
    cJSON_AddNumberToObject(json, "above_baseline", gain.mean);
    cJSON_AddNumberToObject(json, "above_baseline_half_width", gain.half);
    cJSON_AddNumberToObject(json, "above_baseline_seeds", gain.n);
    cJSON_AddNumberToObject(json, "upper_bound", mean_of(seeds, ORR_ROW_UPPER_BOUND).mean);
    cJSON_AddNumberToObject(json, "baseline", mean_of(seeds, ORR_ROW_BASELINE).mean);
    cJSON_AddNumberToObject(json, "raw", mean_of(seeds, ORR_ROW_RAW).mean);
    cJSON_AddNumberToObject(json, "n", (double)seeds->row->n);
    cJSON *each = cJSON_AddArrayToObject(json, "values");
    for (size_t i = 0; i < seeds->count; i++)
        cJSON_AddItemToArray(each, cJSON_CreateNumber(seeds->row[i].value));
    return json;
}

static void print_row(const struct compare_file *file, const struct orr_table *seeds)
{
    const struct orr_row *row = seeds->row;
    const struct orr_mean value = mean_of(seeds, ORR_ROW_VALUE);
    printf("| %s | %s | %s |", file->source, row->quantity, row->measure);
    printf(row->layer >= 0 ? " %d |" : " - |", row->layer);
    printf(row->context ? " %d |" : " - |", row->context);
    compare_print_mean(value);
    compare_print_mean(mean_of(seeds, ORR_ROW_LEARNED));
    compare_print_mean(compare_without_interval(mean_of(seeds, ORR_ROW_UPPER_BOUND)));
    compare_print_mean(orr_table_contrast(seeds, "", "", ORR_ROW_BASELINE));
    compare_print_mean(compare_without_interval(mean_of(seeds, ORR_ROW_RAW)));
    printf(" %d |\n", value.n);
}

static int write_seeds(const struct compare_options *options, const struct compare_files *files,
                       cJSON *json)
{
    char path[4096];
    const char *folder = *options->out ? options->out : ".";
    TRY(orr_mkdir(folder));
    TRY(orr_path(path, "%s/%s_seeds.json", folder, files->file->probe));
    TRY(orr_json_write(path, json));
    orr_note(options->quiet, "seeds: %s", path);
    return 0;
}

/* Collects the rows of the same model and quantity, one for each seed. */
static int gather_seeds(const struct orr_table *table, const struct orr_row *like,
                        struct orr_table *seeds)
{
    for (const struct orr_row *row = like; row < table->row + table->count; row++)
        if (orr_row_same(row, like) && !strcmp(row->model, like->model))
            TRY(orr_table_add(seeds, row));
    return 0;
}

/* Prints the table and fills `rows`. */
static int print_seeds(const struct compare_files *files, cJSON *rows)
{
    int rc = 0;
    printf("%s, preset %s: means over seeds, 95%% intervals by Student's t\n\n", files->file->probe,
           files->file->preset);
    printf("| model | quantity | measure | layer | context | value | above baseline | upper bound "
           "| baseline "
           "| raw | seeds |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (const struct compare_file *file = files->file; file < files->file + files->count; file++)
        for (size_t r = file->first; r < file->end && !rc; r++) {
            const struct orr_row *row = &files->table.row[r];
            struct orr_table seeds = {0};
            if (orr_table_find(&files->table, row, true) != row)
                continue;
            rc = gather_seeds(&files->table, row, &seeds);
            if (!rc) {
                print_row(file, &seeds);
                cJSON_AddItemToArray(rows, row_json(file, &seeds));
            }
            orr_table_free(&seeds);
        }
    return rc;
}

int compare_seeds(const struct compare_options *options)
{
    struct compare_files files;
    int rc = compare_files_read(options, "seeds", &files);
    rc = rc ? rc : check_files(&files);
    if (!rc) {
        cJSON *json = compare_files_json(&files, "orrery-probe-seeds-1");
        rc = print_seeds(&files, cJSON_AddArrayToObject(json, "rows"));
        rc = rc ? rc : write_seeds(options, &files, json);
        cJSON_Delete(json);
    }
    compare_files_free(&files);
    return rc;
}
