/* verdict_files.c - writes the verdict as Markdown, as verdict.json for programs, and its page. */
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
    printf(isfinite(x) ? " %.4g |" : " - |", x);
}

static void print_figure(const struct verdict *v, int q, int a)
{
    const struct orr_mean value = verdict_mean(v, q, a, -1, ORR_ROW_VALUE),
                          nearer = verdict_mean(v, q, a, -1, ORR_ROW_GAIN);
    if (!value.n)
        return;
    printf("| %s | %s | %d |", v->question[q].title, v->attention[a], value.n);
    print_mean(value);
    print_number(verdict_mean(v, q, a, -1, ORR_ROW_UPPER_BOUND).mean);
    print_mean(verdict_mean(v, q, a, -1, ORR_ROW_BASELINE));
    print_number(verdict_mean(v, q, a, -1, ORR_ROW_RAW).mean);
    print_mean(nearer);
    printf(" %s |\n", verdict_significant(nearer) ? "yes" : nearer.n ? "no" : "-");
}

static void print_comparison(const struct verdict *v, int question, int attention)
{
    const struct orr_mean mean = verdict_mean(v, question, attention, 0, ORR_ROW_NEARNESS);
    const double *difference = verdict_values(v, question, attention, 0, ORR_ROW_VALUE);
    double interval[2];
    orr_bootstrap_mean(difference, v->seeds, interval);
    printf("| %s | %s | %d |", v->question[question].title, v->attention[attention], mean.n);
    print_mean(orr_mean_of(difference, v->seeds));
    printf(isfinite(interval[0]) ? " %.3g to %.3g |" : " - |", interval[0], interval[1]);
    print_mean(mean);
    printf(" %s |\n", verdict_significant(mean) ? "yes" : "no");
}

int verdict_print(const struct verdict *v, const struct verdict_sentences *s)
{
    printf("# Verdict\n\n");
    for (int i = 0; i < s->count; i++)
        printf("%s%s", i ? " " : "", s->text[i]);
    printf("\n\n%s\n\n", s->cannot);
    printf(
        "## Figures\n\nMeans over seeds +- half of Student's 95%% interval. Upper bound: the same "
        "procedure fed the truth, or an observer\nwho fits the orbit; baseline: random weights of "
        "the same shape, fine-tuned alike; raw: without a model (study/docs/verdict.md).\nNearer "
        "than "
        "baseline: |baseline - upper bound| - |value - upper bound|, seed by seed.\n\n");
    printf("| figure | attention | seeds | value | upper bound | baseline | raw | nearer than "
           "baseline | "
           "significant |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int q = 0; v->question[q].id; q++)
        for (int a = 0; a < v->attentions; a++)
            print_figure(v, q, a);
    if (v->attentions > 1) {
        printf("\n## Attentions against %s, seed by seed\n\n| figure | attention | seeds | "
               "difference | its bootstrap | nearer to the upper bound | significant |\n"
               "|---|---|---|---|---|---|---|\n",
               v->attention[0]);
        for (int q = 0; v->question[q].id; q++)
            for (int a = 1; a < v->attentions; a++)
                if (verdict_compares(v, q, a))
                    print_comparison(v, q, a);
    }
    if (v->beside)
        verdict_beside_print(v->beside);
    return compare_missing_print(&v->missing, "## Missing");
}

/* ---------------------------------------------------------------------------------- JSON */

void verdict_add_missing(const struct verdict *v, cJSON *json)
{
    cJSON *unasked = cJSON_AddArrayToObject(json, "unasked");
    for (int i = 0; i < v->unasked.count; i++)
        cJSON_AddItemToArray(unasked, cJSON_CreateString(v->unasked.item[i]));
    cJSON *missing = cJSON_AddArrayToObject(json, "missing");
    compare_missing_json(&v->missing, "what", missing);
}

static void add_chance(cJSON *json, struct orr_mean nearer)
{
    cJSON_AddItemToObject(json, "significant",
                          nearer.n ? cJSON_CreateBool(verdict_significant(nearer))
                                   : cJSON_CreateNull());
}

static void add_figure(const struct verdict *v, int q, int a, cJSON *list)
{
    static const struct {
        const char *key;
        enum orr_row_number number;
    } columns[] = {{"value", ORR_ROW_VALUE},
                   {"upper_bound", ORR_ROW_UPPER_BOUND},
                   {"baseline", ORR_ROW_BASELINE},
                   {"raw", ORR_ROW_RAW},
                   {"above_baseline", ORR_ROW_LEARNED},
                   {"nearer_than_baseline", ORR_ROW_GAIN}};
    const int seeds = verdict_mean(v, q, a, -1, ORR_ROW_VALUE).n;
    if (!seeds)
        return;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToArray(list, json);
    cJSON_AddStringToObject(json, "id", v->question[q].id);
    cJSON_AddStringToObject(json, "title", v->question[q].title);
    cJSON_AddStringToObject(json, "attention", v->attention[a]);
    cJSON_AddNumberToObject(json, "seeds", seeds);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
        compare_mean_json(json, columns[k].key, verdict_values(v, q, a, -1, columns[k].number),
                          v->seeds, true);
    add_chance(json, verdict_mean(v, q, a, -1, ORR_ROW_GAIN));
}

static void add_comparison(const struct verdict *v, int question, int attention, cJSON *list)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToArray(list, json);
    cJSON_AddStringToObject(json, "id", v->question[question].id);
    cJSON_AddStringToObject(json, "attention", v->attention[attention]);
    cJSON_AddStringToObject(json, "minus", v->attention[0]);
    cJSON_AddNumberToObject(json, "seeds",
                            verdict_mean(v, question, attention, 0, ORR_ROW_VALUE).n);
    compare_mean_json(json, "difference", verdict_values(v, question, attention, 0, ORR_ROW_VALUE),
                      v->seeds, true);
    compare_mean_json(json, "nearer", verdict_values(v, question, attention, 0, ORR_ROW_NEARNESS),
                      v->seeds, true);
    add_chance(json, verdict_mean(v, question, attention, 0, ORR_ROW_NEARNESS));
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
    cJSON *json = orr_json_create("orrery-verdict-1");
    cJSON_AddStringToObject(json, "preset", v->cells.cell[0].settings.name);
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
    for (int q = 0; v->question[q].id; q++)
        for (int a = 0; a < v->attentions; a++)
            add_figure(v, q, a, figures);
    for (int q = 0; v->question[q].id; q++)
        for (int a = 1; a < v->attentions; a++)
            if (verdict_compares(v, q, a))
                add_comparison(v, q, a, differences);
    if (v->beside)
        verdict_beside_json(v->beside, json);
    int rc = orr_mkdir(folder);
    if (!rc)
        rc = orr_path(path, "%s/verdict.json", folder);
    rc = rc ? rc : orr_json_write(path, json);
    rc = rc ? rc : orr_path(path, "%s/verdict.html", folder);
    rc = rc ? rc : verdict_page_write(json, path);
    cJSON_Delete(json);
    return rc;
}
