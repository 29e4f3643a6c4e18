/* inductive_rows.c - computes rows of results from predictions: distances to the diagonal in the
 * corrected and in the published form, the bins, and R^2 of the targets. */
#include "diagonal.h"
#include "inductive.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

static const struct {
    enum probe_predictor by;
    const char *name;
} oracles[] = {{PROBE_BY_LINEAR, "linear oracle"}, {PROBE_BY_MLP, "MLP oracle"}};
enum { ORACLES = sizeof oracles / sizeof *oracles };
static const char *const form_name[PROBE_FORMS] = {"corrected", "published"};

/* A form against an oracle: bin means in every used data set. */
struct comparison {
    const struct probe_inductive *p;
    enum probe_form form;
    int oracle; /* index into the oracles */
    struct probe_bins bins;
    const struct probe_resamples *resamples;
    double *mean[PROBE_PREDICTORS]; /* (usable, PROBE_BINS) */
};

/* Lists a predictor's values in every used data set: list (usable). */
static void list_of(const struct probe_inductive *p, enum probe_form form, enum probe_predictor by,
                    const double **list)
{
    for (int d = 0; d < p->sets; d++)
        if (p->used[d])
            *list++ = p->value[form][by] + (size_t)d * p->points[form];
}

static int comparison_open(struct probe_arena *arena, struct comparison *j)
{
    const struct probe_inductive *p = j->p;
    const enum probe_predictor oracle = oracles[j->oracle].by;
    const size_t n = (size_t)p->usable;
    const double **list = probe_take(arena, n, sizeof *list);
    TRY(arena->failed);
    list_of(p, j->form, oracle, list);
    TRY(probe_bins_make(arena, &j->bins, p->points[j->form], p->usable, list,
                        j->form == PROBE_PUBLISHED));
    for (int by = 0; by < PROBE_PREDICTORS; by++) {
        if (!p->value[j->form][by])
            continue;
        j->mean[by] = probe_take(arena, n * PROBE_BINS, sizeof **j->mean);
        TRY(arena->failed);
        list_of(p, j->form, (enum probe_predictor)by, list);
        for (size_t d = 0; d < n; d++)
            probe_bins_mean(&j->bins, list[d], j->mean[by] + d * PROBE_BINS);
    }
    return 0;
}

/* ------------------------------------------------------------------------ to the diagonal */

/* Over all data sets, against the oracle in each of them. */
static struct probe_estimate corrected_distance(const struct comparison *j, enum probe_predictor by)
{
    const struct probe_departure departure = {j->mean[by], j->mean[oracles[j->oracle].by]};
    return probe_bootstrap(j->resamples, probe_departure_of, &departure);
}

/* The model's distance from the diagonal minus the distance of random weights, in the same data
 * sets. */
struct excess {
    struct probe_departure model, baseline;
};

static double excess_of(const void *of, int sets, const unsigned short times[])
{
    const struct excess *excess = of;
    return probe_departure_of(&excess->model, sets, times) -
           probe_departure_of(&excess->baseline, sets, times);
}

static int excess_row(struct probe_inductive *p, const struct comparison *j)
{
    const double *oracle = j->mean[oracles[j->oracle].by];
    const struct excess excess = {{j->mean[PROBE_BY_MODEL], oracle},
                                  {j->mean[PROBE_BY_BASELINE], oracle}};
    struct orr_row row =
        probe_row_of(&p->s.results, probe_bootstrap(j->resamples, excess_of, &excess),
                     "to diagonal, less baseline", "%s", oracles[j->oracle].name);
    row.n = p->usable;
    return orr_table_add(&p->s.results.table, &row);
}

/* The published form: the last data set alone, against the oracle's mean over all of them. The
 * interval shows the variation over the choice of the last data set. */
static struct probe_estimate published_distance(const struct comparison *j, enum probe_predictor by)
{
    const size_t n = (size_t)j->p->usable;
    struct probe_estimate e = {NAN, NAN, NAN};
    double *each = orr_alloc(n, sizeof *each);
    if (!each)
        return e;
    for (size_t d = 0; d < n; d++)
        each[d] = probe_to_diagonal(j->mean[by] + d * PROBE_BINS, j->bins.diagonal);
    e.value = each[n - 1];
    if (n < 2) {
        free(each);
        return e;
    }
    gsl_sort(each, 1, n);
    e.low = gsl_stats_quantile_from_sorted_data(each, 1, n, 0.025);
    e.high = gsl_stats_quantile_from_sorted_data(each, 1, n, 0.975);
    free(each);
    return e;
}

static struct probe_estimate to_diagonal(const struct comparison *j, enum probe_predictor by)
{
    if (!j->mean[by])
        return (struct probe_estimate){NAN, NAN, NAN};
    return j->form == PROBE_CORRECTED ? corrected_distance(j, by) : published_distance(j, by);
}

/* A row of results of a form, such as "to diagonal, corrected" for the linear oracle. */
static struct orr_row row_of(struct probe_inductive *p, const struct comparison *j,
                             const char *what, struct probe_estimate value)
{
    char measure[ORR_MEASURE];
    snprintf(measure, sizeof measure, "%s, %s", what, form_name[j->form]);
    return probe_row_of(&p->s.results, value, measure, "%s", oracles[j->oracle].name);
}

static int summary_row(struct probe_inductive *p, const struct comparison *j)
{
    struct orr_row row = row_of(p, j, "to diagonal", to_diagonal(j, PROBE_BY_MODEL));
    row.upper_bound = to_diagonal(j, PROBE_BY_TRUTH).value;
    row.baseline = to_diagonal(j, PROBE_BY_BASELINE).value;
    row.raw = to_diagonal(j, PROBE_BY_INPUTS).value;
    row.n = j->form == PROBE_CORRECTED ? p->usable : 1;
    return orr_table_add(&p->s.results.table, &row);
}

/* ------------------------------------------------------------------------------------ bins */

/* Mean of a bin over data sets; in the published form, of the last data set. */
static double of_bin(const struct comparison *j, enum probe_predictor by, int b)
{
    const int n = j->p->usable;
    double sum = 0;
    if (!j->mean[by])
        return NAN;
    if (j->form == PROBE_PUBLISHED)
        return j->mean[by][(n - 1) * PROBE_BINS + b];
    for (int d = 0; d < n; d++)
        sum += j->mean[by][d * PROBE_BINS + b];
    return sum / n;
}

static int bin_row(struct probe_inductive *p, const struct comparison *j, int b, double *column)
{
    struct orr_row row = row_of(p, j, "distance", probe_exactly(of_bin(j, PROBE_BY_MODEL, b)));
    row.context = b + 1;
    row.upper_bound = of_bin(j, PROBE_BY_TRUTH, b);
    row.baseline = of_bin(j, PROBE_BY_BASELINE, b);
    row.raw = of_bin(j, PROBE_BY_INPUTS, b);
    row.n = j->bins.count[b];
    if (j->form == PROBE_CORRECTED) {
        for (int d = 0; d < p->usable; d++)
            column[d] = j->mean[PROBE_BY_MODEL][d * PROBE_BINS + b];
        const struct probe_estimate e = probe_bootstrap(j->resamples, probe_mean_of, column);
        row.low = e.low;
        row.high = e.high;
    }
    TRY(orr_table_add(&p->s.results.table, &row));
    struct orr_row diagonal = row_of(p, j, "diagonal", probe_exactly(j->bins.diagonal[b]));
    diagonal.context = row.context;
    diagonal.n = row.n;
    return orr_table_add(&p->s.results.table, &diagonal);
}

static int bin_rows(struct probe_inductive *p, const struct comparison *j)
{
    double *column = probe_take(&p->s.arena, (size_t)p->usable, sizeof *column);
    TRY(p->s.arena.failed);
    for (int b = 0; b < PROBE_BINS; b++)
        if (j->bins.count[b] > 0)
            TRY(bin_row(p, j, b, column));
    return 0;
}

/* ---------------------------------------------------------------------------------- targets */

/* R^2 of a predictor's values of the target at the corrected form's points: r2 (usable). */
static void r2_of(const struct probe_inductive *p, enum probe_predictor by, double *r2)
{
    const unsigned short once = 1;
    const size_t n = p->points[PROBE_CORRECTED];
    for (int d = 0; d < p->sets; d++) {
        struct probe_score score = {0};
        if (!p->used[d])
            continue;
        for (size_t i = (size_t)d * n; i < ((size_t)d + 1) * n; i++) {
            const double y = p->value[PROBE_CORRECTED][PROBE_BY_TRUTH][i];
            const double error = p->value[PROBE_CORRECTED][by][i] - y;
            score.rows++;
            score.error += error * error;
            score.square += y * y;
            score.sum[0] += y;
        }
        *r2++ = probe_r2(&score, 1, &once);
    }
}

static int target_rows(struct probe_inductive *p, const struct probe_resamples *resamples)
{
    struct probe_estimate e[PROBE_PREDICTORS], less;
    const size_t n = (size_t)p->usable;
    double *r2 = probe_take(&p->s.arena, PROBE_PREDICTORS * n, sizeof *r2);
    TRY(p->s.arena.failed);
    for (int by = 0; by < PROBE_PREDICTORS; by++) {
        r2_of(p, (enum probe_predictor)by, r2 + (size_t)by * n);
        e[by] = probe_bootstrap(resamples, probe_mean_of, r2 + (size_t)by * n);
    }
    for (size_t d = 0; d < n; d++)
        r2[d] -= r2[PROBE_BY_BASELINE * n + d];
    less = probe_bootstrap(resamples, probe_mean_of, r2);
    if (e[PROBE_BY_LINEAR].value < 0.999)
        return ORR_FAIL(ORR_EINVAL,
                        "probe inductive: the targets are linear in the state, yet the R^2 of "
                        "least squares is %.6f: the data sets are at fault, not the model",
                        e[PROBE_BY_LINEAR].value);
    struct orr_row row = probe_row_of(&p->s.results, e[PROBE_BY_MODEL], "R^2", "target");
    row.upper_bound = e[PROBE_BY_LINEAR].value;
    row.baseline = e[PROBE_BY_BASELINE].value;
    row.raw = e[PROBE_BY_INPUTS].value;
    row.n = p->usable;
    TRY(orr_table_add(&p->s.results.table, &row));
    row = probe_row_of(&p->s.results, less, "R^2, less baseline", "target");
    row.n = p->usable;
    TRY(orr_table_add(&p->s.results.table, &row));
    row = probe_row_of(&p->s.results, e[PROBE_BY_MLP], "R^2", "target, by the MLP oracle");
    row.upper_bound = e[PROBE_BY_LINEAR].value;
    row.n = p->usable;
    return orr_table_add(&p->s.results.table, &row);
}

static int diverged_row(struct probe_inductive *p)
{
    struct orr_row row = probe_row_of(&p->s.results, probe_exactly(p->diverged[PROBE_BY_MODEL]),
                                      "count", "fine-tunings that diverged");
    row.baseline =
        p->diverged[PROBE_BY_BASELINE] < 0 ? (double)NAN : p->diverged[PROBE_BY_BASELINE];
    row.n = p->sets;
    return orr_table_add(&p->s.results.table, &row);
}

/* ------------------------------------------------------------------------------------ rows */

int probe_inductive_rows(struct probe_inductive *p)
{
    enum { COMPARISONS = PROBE_FORMS * ORACLES };
    struct comparison j[COMPARISONS];
    struct probe_resamples resamples;
    TRY(probe_resamples_create(&p->s.arena, &resamples, p->s.probe.settings.seed, p->usable));
    for (int k = 0; k < COMPARISONS; k++) {
        j[k] = (struct comparison){.p = p,
                                   .form = (enum probe_form)(k / ORACLES),
                                   .oracle = k % ORACLES,
                                   .resamples = &resamples};
        TRY(comparison_open(&p->s.arena, &j[k]));
        TRY(summary_row(p, &j[k]));
    }
    for (int k = 0; k < ORACLES; k++) /* the corrected form comes first */
        TRY(excess_row(p, &j[k]));
    TRY(target_rows(p, &resamples));
    TRY(diverged_row(p));
    for (int k = 0; k < COMPARISONS; k++)
        TRY(bin_rows(p, &j[k]));
    return 0;
}
