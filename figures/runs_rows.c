/* runs_rows.c - what the sources of forces say over seeds, and one minus another seed by seed. */
#include "runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------- rows */

static void row_free(struct runs_row *row)
{
    free(row->run);
    free(row->values);
}

/* Runs of one seed, each with attentions of its own, have the same truth and oracle. */
static bool is_there(const struct runs_row *row, uint64_t seed)
{
    for (int i = 0; i < row->seeds; i++)
        if (row->run[i]->preset.seed == seed)
            return true;
    return false;
}

double report_runs_figure(const struct runs_run *run, const char *title, int figure)
{
    const struct runs_source *source = report_runs_find(run, title);
    if (!source)
        return NAN;
    switch (figure) {
    case RUNS_SHARE:
        return source->samples ? (double)source->selected / source->samples : (double)NAN;
    case RUNS_K:
        return source->k;
    case RUNS_K_CLOSE:
        return source->samples ? (double)source->k_close / source->samples : (double)NAN;
    case RUNS_K_DROPPED:
        return source->k_dropped_m2;
    case RUNS_R2:
        return source->r2_log;
    case RUNS_LOSS:
        return source->loss;
    case RUNS_NEXT_STATE:
        return source->next_state;
    case RUNS_BEYOND:
        return source->beyond;
    case RUNS_STEP_MS:
        return source->step_ms;
    case RUNS_MEMORY_MB:
        return source->memory_mb;
    default: /* exponents */
        return figure < RUNS_TRUTH ? source->exponent[figure - RUNS_EXPONENT]
                                   : report_runs_figure(run, "truth", figure - RUNS_TRUTH);
    }
}

static void take(struct runs_row *row, const struct runs_run *run, const struct runs_source *source)
{
    const int n = row->seeds++;
    row->first = n ? row->first : run;
    row->is_model = source->is_model;
    row->run[n] = run;
    row->samples += source->samples;
    row->selected += source->selected;
    row->on_front += source->on_front;
    for (int f = 0; f < RUNS_FIGURES; f++)
        row->figure[f][n] = report_runs_figure(run, row->title, f);
}

/* Room for a figure of each of n runs. */
static int room(size_t n, double **values, double *figure[RUNS_FIGURES],
                const struct runs_run ***run)
{
    *values = orr_alloc(RUNS_FIGURES * n, sizeof **values);
    *run = orr_alloc(n, sizeof **run);
    if (!*values || !*run)
        return ORR_ENOMEM;
    for (size_t f = 0; f < RUNS_FIGURES; f++)
        figure[f] = *values + f * n;
    return 0;
}

static int row_make(const struct runs *runs, int group, const char *title, struct runs_row *row)
{
    *row = (struct runs_row){.title = title};
    TRY(room(runs->count, &row->values, row->figure, &row->run));
    for (size_t i = 0; i < runs->count; i++) {
        const struct runs_source *source = report_runs_find(&runs->run[i], title);
        if (runs->run[i].group == group && source && !is_there(row, runs->run[i].preset.seed))
            take(row, &runs->run[i], source);
    }
    return 0;
}

/* Whether an earlier run of the group has a source of this title. */
static bool came_before(const struct runs *runs, int group, size_t run, const char *title)
{
    for (size_t k = 0; k < run; k++)
        if (runs->run[k].group == group && report_runs_find(&runs->run[k], title))
            return true;
    return false;
}

static int group_rows(const struct runs *runs, int group,
                      int (*visit)(const struct runs_row *row, void *context), void *context)
{
    int rc = 0;
    for (size_t i = 0; i < runs->count; i++)
        for (int s = 0; s < runs->run[i].source_count && !rc; s++) {
            const char *title = runs->run[i].source[s].title;
            struct runs_row row;
            if (runs->run[i].group != group || came_before(runs, group, i, title))
                continue;
            rc = row_make(runs, group, title, &row);
            if (!rc)
                rc = visit(&row, context);
            row_free(&row);
        }
    return rc;
}

int report_runs_rows(const struct runs *runs,
                     int (*visit)(const struct runs_row *row, void *context), void *context)
{
    for (int g = 0; g < runs->groups; g++)
        TRY(group_rows(runs, g, visit, context));
    return 0;
}

/* --------------------------------------------------------------------------- differences */

struct differences {
    const struct runs *runs;
    const struct runs_row *baseline;
    int (*visit)(const struct runs_difference *d, void *context);
    void *context;
};

static int subtract(const struct runs_row *of, const struct runs_row *minus,
                    struct runs_difference *d)
{
    *d = (struct runs_difference){.of = of, .minus = minus};
    TRY(room((size_t)of->seeds, &d->values, d->value, &d->run));
    for (int i = 0; i < of->seeds; i++)
        for (int k = 0; k < minus->seeds; k++) {
            if (of->run[i]->preset.seed != minus->run[k]->preset.seed)
                continue;
            for (int f = 0; f < RUNS_FIGURES; f++)
                d->value[f][d->seeds] = of->figure[f][i] - minus->figure[f][k];
            d->run[d->seeds++] = of->run[i];
        }
    return 0;
}

static int visit_pair(const struct differences *all, const struct runs_row *of,
                      const struct runs_row *minus)
{
    struct runs_difference d;
    int rc = subtract(of, minus, &d);
    if (!rc && d.seeds)
        rc = all->visit(&d, all->context);
    free(d.values);
    free(d.run);
    return rc;
}

static int of_model(const struct runs_row *row, void *context)
{
    const struct differences *all = context;
    struct runs_row untrained;
    char title[2 * ORR_NAME + 8];
    if (!row->is_model)
        return 0;
    if (strcmp(row->title, all->baseline->title) != 0)
        TRY(visit_pair(all, row, all->baseline));
    snprintf(title, sizeof title, "untrained (%s)", row->title);
    int rc = row_make(all->runs, row->first->group, title, &untrained);
    if (!rc)
        rc = visit_pair(all, row, &untrained);
    row_free(&untrained);
    return rc;
}

/* The title of the model that others are compared with, NULL without a model. */
static const char *baseline_of(const struct runs *runs, int group)
{
    const char *first = NULL;
    for (size_t i = 0; i < runs->count; i++)
        for (int s = 0; runs->run[i].group == group && s < runs->run[i].source_count; s++) {
            const struct runs_source *source = &runs->run[i].source[s];
            if (source->is_model && (!first || !strcmp(source->title, "softmax")))
                first = source->title;
        }
    return first;
}

int report_runs_differences(const struct runs *runs,
                            int (*visit)(const struct runs_difference *d, void *context),
                            void *context)
{
    int rc = 0;
    for (int g = 0; g < runs->groups && !rc; g++) {
        struct runs_row baseline;
        struct differences all = {runs, &baseline, visit, context};
        const char *title = baseline_of(runs, g);
        if (!title)
            continue;
        rc = row_make(runs, g, title, &baseline);
        if (!rc)
            rc = group_rows(runs, g, of_model, &all);
        row_free(&baseline);
    }
    return rc;
}
