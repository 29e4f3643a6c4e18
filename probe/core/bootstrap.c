/* bootstrap.c - see bootstrap.h. */
#include "bootstrap.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

int probe_resamples_of_tracks(struct probe_arena *arena, struct probe_resamples *r, uint64_t seed,
                              int n, const int track[])
{
    *r = (struct probe_resamples){.n = n};
    int *first = probe_take(arena, (size_t)n + 1, sizeof *first);
    TRY(arena->failed);
    for (int i = 0; i < n; i++)
        if (i == 0 || track[i] != track[i - 1])
            first[r->tracks++] = i;
    first[r->tracks] = n;
    r->times = probe_take(arena, (size_t)(1 + PROBE_RESAMPLES) * (size_t)n, sizeof *r->times);
    TRY(arena->failed);
    gsl_rng *rng = orr_rng_create(seed, ORR_STAGE_BOOTSTRAP, 1ull << 40);
    if (!rng)
        return ORR_FAIL(ORR_ENOMEM, "bootstrap over %d sequences: out of memory", n);
    for (int i = 0; i < n; i++)
        r->times[i] = 1;
    for (int k = 1; k <= PROBE_RESAMPLES; k++)
        for (int drawn = 0; drawn < r->tracks; drawn++) {
            const size_t t = gsl_rng_uniform_int(rng, (unsigned long)r->tracks);
            for (int i = first[t]; i < first[t + 1]; i++)
                r->times[(size_t)k * (size_t)n + (size_t)i]++;
        }
    gsl_rng_free(rng);
    return 0;
}

int probe_resamples_create(struct probe_arena *arena, struct probe_resamples *r, uint64_t seed,
                           int n)
{
    int *track = orr_alloc((size_t)n, sizeof *track);
    if (!track)
        return ORR_ENOMEM;
    for (int i = 0; i < n; i++)
        track[i] = i;
    const int rc = probe_resamples_of_tracks(arena, r, seed, n, track);
    free(track);
    return rc;
}

struct probe_estimate probe_bootstrap(const struct probe_resamples *r,
                                      double (*statistic)(const void *of, int n,
                                                          const unsigned short times[]),
                                      const void *of)
{
    double drawn[PROBE_RESAMPLES];
    size_t count = 0;
    struct probe_estimate e = {statistic(of, r->n, r->times), NAN, NAN};
    for (int k = 1; k <= PROBE_RESAMPLES && isfinite(e.value) && r->tracks > 1; k++) {
        const double value = statistic(of, r->n, r->times + (size_t)k * (size_t)r->n);
        if (isfinite(value))
            drawn[count++] = value;
    }
    if (count > 1) {
        gsl_sort(drawn, 1, count);
        e.low = gsl_stats_quantile_from_sorted_data(drawn, 1, count, 0.025);
        e.high = gsl_stats_quantile_from_sorted_data(drawn, 1, count, 0.975);
    }
    return e;
}

struct probe_estimate probe_exactly(double value)
{
    return (struct probe_estimate){value, NAN, NAN};
}

struct orr_row probe_row_of(struct probe_results *results, struct probe_estimate value,
                            const char *measure, const char *quantity, ...)
{
    struct orr_row row = orr_row_none;
    char text[ORR_QUANTITY];
    va_list list;
    va_start(list, quantity);
    vsnprintf(text, sizeof text, quantity, list);
    va_end(list);
    row.quantity = orr_table_text(&results->table, text);
    row.measure = orr_table_text(&results->table, measure);
    row.context = 0;
    row.value = value.value;
    row.low = value.low;
    row.high = value.high;
    return row;
}

double probe_r2(const void *of, int n, const unsigned short times[])
{
    const struct probe_score *score = of;
    struct probe_score all = {0};
    for (int i = 0; i < n; i++) {
        const double t = times[i];
        all.rows += t * score[i].rows;
        all.error += t * score[i].error;
        all.square += t * score[i].square;
        for (int c = 0; c < 3; c++)
            all.sum[c] += t * score[i].sum[c];
    }
    const double mean =
        (all.sum[0] * all.sum[0] + all.sum[1] * all.sum[1] + all.sum[2] * all.sum[2]) / all.rows;
    const double total = all.square - mean; /* only rounding errors: nothing varies */
    return total > 1e-12 * all.square ? 1 - all.error / total : NAN;
}

double probe_mean_of(const void *of, int n, const unsigned short times[])
{
    const double *x = of;
    double sum = 0, count = 0;
    for (int i = 0; i < n; i++)
        if (isfinite(x[i])) {
            sum += times[i] * x[i];
            count += times[i];
        }
    return sum / count;
}

void probe_rank(double *x, int n, size_t *rank)
{
    for (int i = 0; i < n; i++) /* NaN would break the sort */
        if (!isfinite(x[i]))
            x[i] = INFINITY;
    gsl_sort_index(rank, x, 1, (size_t)n);
}

double probe_median_of(const void *of, int n, const unsigned short times[])
{
    const struct probe_ranked *ranked = of;
    double total = 0, below = 0, low = NAN, high = NAN;
    for (int i = 0; i < n; i++)
        if (isfinite(ranked->x[i]))
            total += times[i];
    for (int i = 0; i < n && below < total && isnan(high); i++) {
        const size_t at = ranked->rank[i];
        if (!times[at])
            continue;
        below += times[at];
        if (isnan(low) && 2 * below >= total)
            low = ranked->x[at];
        if (2 * below > total)
            high = ranked->x[at];
    }
    return (low + high) / 2;
}
