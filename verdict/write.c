/* write.c - the verdict as Markdown for readers and as verdict.json for programs. */
#include "beside.h"
#include "verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* ------------------------------------------------------------------------------ markdown */

static void print_mean(struct orr_mean mean)
{
    if (isfinite(mean.half))
        printf(" %.3g +- %.2g |", mean.mean, mean.half);
    else if (mean.n)
        printf(" %.3g |", mean.mean);
    else
        printf(" - |");
}

static void print_number(double x)
{
    if (isfinite(x))
        printf(" %.4g |", x);
    else
        printf(" - |");
}

static void print_row(const struct verdict_row *row, int seeds)
{
    const struct orr_mean nearer = orr_mean_of(row->nearer, seeds);
    printf("| %s | %s | %d |", row->question->title, row->attention, row->seeds);
    print_mean(orr_mean_of(row->value, seeds));
    print_number(orr_mean_of(row->ceiling, seeds).mean);
    print_mean(orr_mean_of(row->floor, seeds));
    print_number(orr_mean_of(row->raw, seeds).mean);
    print_mean(nearer);
    printf(" %s |\n", verdict_beyond_chance(nearer) ? "yes" : nearer.n ? "no" : "-");
}

static int print_figures(const struct verdict *v)
{
    printf("| figure | attention | seeds | value | ceiling | floor | raw | nearer than floor | "
           "beyond chance |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int q = 0; verdict_table[q].id; q++)
        for (int a = 0; a < v->attentions; a++) {
            struct verdict_row row;
            TRY(verdict_row(v, q, a, &row));
            if (row.seeds)
                print_row(&row, v->seeds);
            verdict_row_free(&row);
        }
    return 0;
}

static void print_comparison(const struct verdict *v, int question, int attention,
                             const double *difference, const double *nearer, void *context)
{
    const struct orr_mean mean = orr_mean_of(nearer, v->seeds);
    double interval[2];
    (void)context;
    orr_bootstrap_mean(difference, v->seeds, interval);
    printf("| %s | %s | %d |", verdict_table[question].title, v->attention[attention], mean.n);
    print_mean(orr_mean_of(difference, v->seeds));
    printf(isfinite(interval[0]) ? " %.3g to %.3g |" : " - |", interval[0], interval[1]);
    print_mean(mean);
    printf(" %s |\n", verdict_beyond_chance(mean) ? "yes" : "no");
}

int verdict_print(const struct verdict *v, const struct verdict_sentences *s)
{
    printf("# Verdict\n\n");
    for (int i = 0; i < s->count; i++)
        printf("%s%s", i ? " " : "", s->text[i]);
    printf("\n\n%s\n\n", s->cannot);
    printf("## Figures\n\nMeans over seeds +- half of Student's 95%% interval. Ceiling: the same "
           "procedure fed the truth, or an observer\nwho fits the orbit; floor: random weights of "
           "the same shape, fine-tuned alike; raw: without a model (docs/verdict.md).\nNearer than "
           "floor: |floor - ceiling| - |value - ceiling|, seed by seed.\n\n");
    TRY(print_figures(v));
    if (v->attentions > 1) {
        printf("\n## Attentions against %s, seed by seed\n\n| figure | attention | seeds | "
               "difference | its bootstrap | nearer to the ceiling | beyond chance |\n"
               "|---|---|---|---|---|---|---|\n",
               v->attention[0]);
        TRY(verdict_each_comparison(v, print_comparison, NULL));
    }
    if (v->beside)
        verdict_beside_print(v->beside);
    if (v->missing_count)
        printf("\n## Missing\n\n");
    for (size_t i = 0; i < v->missing_count; i++)
        printf("- %s: %s\n", v->missing[i].what, v->missing[i].why);
    if (fflush(stdout) || ferror(stdout))
        return ORR_FAIL(ORR_EIO, "standard output: cannot write");
    return 0;
}

/* ---------------------------------------------------------------------------------- JSON */

void verdict_add_missing(const struct verdict *v, cJSON *json)
{
    cJSON *unasked = cJSON_AddArrayToObject(json, "unasked");
    for (int i = 0; i < v->unasked.count; i++)
        cJSON_AddItemToArray(unasked, cJSON_CreateString(v->unasked.item[i]));
    cJSON *missing = cJSON_AddArrayToObject(json, "missing");
    for (size_t i = 0; i < v->missing_count; i++) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddItemToArray(missing, item);
        cJSON_AddStringToObject(item, "what", v->missing[i].what);
        cJSON_AddStringToObject(item, "why", v->missing[i].why);
    }
}

/* Null where there is nothing to judge. */
static void add_chance(cJSON *json, const double *nearer, int seeds)
{
    const struct orr_mean mean = orr_mean_of(nearer, seeds);
    cJSON_AddItemToObject(json, "beyond_chance",
                          mean.n ? cJSON_CreateBool(verdict_beyond_chance(mean))
                                 : cJSON_CreateNull());
}

static int add_figures(const struct verdict *v, cJSON *list)
{
    for (int q = 0; verdict_table[q].id; q++)
        for (int a = 0; a < v->attentions; a++) {
            struct verdict_row row;
            TRY(verdict_row(v, q, a, &row));
            if (row.seeds) {
                cJSON *json = cJSON_CreateObject();
                cJSON_AddItemToArray(list, json);
                cJSON_AddStringToObject(json, "id", verdict_table[q].id);
                cJSON_AddStringToObject(json, "title", verdict_table[q].title);
                cJSON_AddStringToObject(json, "attention", row.attention);
                cJSON_AddNumberToObject(json, "seeds", row.seeds);
                report_mean_json(json, "value", row.value, v->seeds, true);
                report_mean_json(json, "ceiling", row.ceiling, v->seeds, true);
                report_mean_json(json, "floor", row.floor, v->seeds, true);
                report_mean_json(json, "raw", row.raw, v->seeds, true);
                report_mean_json(json, "above_floor", row.above, v->seeds, true);
                report_mean_json(json, "nearer_than_floor", row.nearer, v->seeds, true);
                add_chance(json, row.nearer, v->seeds);
            }
            verdict_row_free(&row);
        }
    return 0;
}

static void add_comparison(const struct verdict *v, int question, int attention,
                           const double *difference, const double *nearer, void *context)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToArray(context, json);
    cJSON_AddStringToObject(json, "id", verdict_table[question].id);
    cJSON_AddStringToObject(json, "attention", v->attention[attention]);
    cJSON_AddStringToObject(json, "minus", v->attention[0]);
    cJSON_AddNumberToObject(json, "seeds", orr_mean_of(difference, v->seeds).n);
    report_mean_json(json, "difference", difference, v->seeds, true);
    report_mean_json(json, "nearer", nearer, v->seeds, true);
    add_chance(json, nearer, v->seeds);
}

static void add_words(const struct verdict_sentences *s, cJSON *json)
{
    cJSON *list = cJSON_AddArrayToObject(json, "verdict");
    for (int i = 0; i < s->count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(s->text[i]));
    cJSON_AddStringToObject(json, "cannot_say", s->cannot);
}

int verdict_write(const struct verdict *v, const struct verdict_sentences *s, const char *folder)
{
    char path[4096];
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "format", "orrery-verdict-1");
    cJSON_AddStringToObject(json, "version", ORR_VERSION);
    cJSON_AddStringToObject(json, "preset", v->runs.run[0].preset.name);
    add_words(s, json);
    cJSON *attentions = cJSON_AddArrayToObject(json, "attentions");
    for (int a = 0; a < v->attentions; a++)
        cJSON_AddItemToArray(attentions, cJSON_CreateString(v->attention[a]));
    cJSON *seeds = cJSON_AddArrayToObject(json, "seeds");
    for (int i = 0; i < v->seeds; i++)
        orr_json_append_u64(seeds, v->seed[i]);
    cJSON_AddNumberToObject(json, "cells_planned", v->planned);
    cJSON_AddNumberToObject(json, "cells", (double)v->count);
    verdict_add_missing(v, json);
    cJSON *figures = cJSON_AddArrayToObject(json, "figures");
    cJSON *differences = cJSON_AddArrayToObject(json, "differences");
    int rc = figures && differences ? add_figures(v, figures)
                                    : ORR_FAIL(ORR_ENOMEM, "verdict.json: out of memory");
    if (!rc)
        rc = verdict_each_comparison(v, add_comparison, differences);
    if (!rc && v->beside)
        verdict_beside_json(v->beside, json);
    if (!rc)
        rc = orr_mkdir(folder);
    if (!rc)
        rc = orr_path(path, "%s/verdict.json", folder);
    if (!rc)
        rc = orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}
