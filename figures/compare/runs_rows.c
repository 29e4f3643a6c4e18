/* runs_rows.c - what the sources of forces say over seeds, and one minus another seed by seed. */
#include "runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct visitor {
    const struct runs *runs;
    int (*visit)(const struct runs_row *row, void *context);
    void *context;
};

static double figure_of(const struct runs_run *run, const struct runs_source *source, int figure)
{
    return figure < RUNS_TRUTH ? source->figure[figure]
                               : report_runs_figure(run, "truth", figure - RUNS_TRUTH);
}

const double *report_runs_values(const struct runs_row *row, int figure)
{
    for (int i = 0; i < row->seeds; i++) {
        row->value[i] = figure_of(row->run[i], row->of[i], figure);
        if (row->minus)
            row->value[i] -= figure_of(row->run[i], row->other[i], figure);
    }
    return row->value;
}

/* The source of the first run of the group and seed that has it, NULL without one. */
static const struct runs_source *find(const struct runs *runs, int group, uint64_t seed,
                                      const char *title)
{
    const struct runs_source *found = NULL;
    for (size_t i = 0; i < runs->count && !found; i++)
        if (runs->run[i].group == group && runs->run[i].preset.seed == seed)
            found = report_runs_find(&runs->run[i], title);
    return found;
}

static void take(const struct runs *runs, const struct runs_run *run, struct runs_row *row)
{
    const uint64_t seed = run->preset.seed;
    const struct runs_source *of = report_runs_find(run, row->title);
    const struct runs_source *other = row->minus ? find(runs, run->group, seed, row->minus) : NULL;
    /* runs of one seed, each with attentions of its own, have the same truth and oracle */
    if (!of || of != find(runs, run->group, seed, row->title) || (row->minus && !other))
        return;
    const int n = row->seeds++;
    row->run[n] = run;
    row->of[n] = of;
    row->other[n] = other;
    row->samples += of->samples;
    row->selected += of->selected;
    row->on_front += of->on_front;
}

/* Makes a row, NULL minus for one that is no difference, and visits it where it has seeds. */
static int visit_row(const struct visitor *v, int group, const char *title, const char *minus)
{
    const size_t n = v->runs->count;
    struct runs_row row = {.title = title,
                           .minus = minus,
                           .run = orr_alloc(n, sizeof *row.run),
                           .of = orr_alloc(n, sizeof *row.of),
                           .other = orr_alloc(n, sizeof *row.other),
                           .value = orr_alloc(n, sizeof *row.value)};
    int rc = row.run && row.of && row.other && row.value ? 0 : ORR_ENOMEM;
    for (size_t i = 0; i < n && !rc; i++)
        if (v->runs->run[i].group == group)
            take(v->runs, &v->runs->run[i], &row);
    if (!rc && row.seeds)
        rc = v->visit(&row, v->context);
    free(row.run);
    free(row.of);
    free(row.other);
    free(row.value);
    return rc;
}

/* Whether an earlier run of the group has a source of this title. */
static bool came_before(const struct runs *runs, int group, size_t run, const char *title)
{
    for (size_t k = 0; k < run; k++)
        if (runs->run[k].group == group && report_runs_find(&runs->run[k], title))
            return true;
    return false;
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

static int visit_differences(const struct visitor *v, int group, const struct runs_source *source)
{
    const char *baseline = baseline_of(v->runs, group);
    char untrained[2 * ORR_NAME + 8];
    if (!source->is_model)
        return 0;
    if (strcmp(source->title, baseline) != 0)
        TRY(visit_row(v, group, source->title, baseline));
    snprintf(untrained, sizeof untrained, "untrained (%s)", source->title);
    return visit_row(v, group, source->title, untrained);
}

int report_runs_rows(const struct runs *runs, bool differences,
                     int (*visit)(const struct runs_row *row, void *context), void *context)
{
    const struct visitor v = {runs, visit, context};
    int rc = 0;
    for (int g = 0; g < runs->groups; g++)
        for (size_t i = 0; i < runs->count; i++)
            for (int s = 0; s < runs->run[i].source_count && !rc; s++) {
                const struct runs_source *source = &runs->run[i].source[s];
                if (runs->run[i].group != g || came_before(runs, g, i, source->title))
                    continue;
                rc = differences ? visit_differences(&v, g, source)
                                 : visit_row(&v, g, source->title, NULL);
            }
    return rc;
}
