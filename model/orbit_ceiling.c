/* orbit_ceiling.c - next-state error of an observer who knows Newton's law, for held-out sequences
 * of two bodies: the orbit through the places that a model has seen is fitted, and continued. */
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "orbit_fit.h"

/* Places are float: an error of the last place at 1 AU. */
static const double place_sd = 1e-7;

struct observed {
    int n, steps;  /* sequences, steps of each */
    double *place; /* (n, steps, 2, 2): planet, star */
    double *error; /* (n): sums over the steps that are predicted */
    double *late;  /* (n): over those of them from late_step on */
    int late_step;
};

static const double *places_of(const struct observed *o, int i)
{
    return o->place + (size_t)i * (size_t)o->steps * 4;
}

/* Reads the first o->n sequences; none where more than two bodies move. */
static int observe(struct gpt_source *source, struct observed *o)
{
    double *to = o->place;
    for (int i = 0; i < o->n; i++) {
        const uint16_t *tokens;
        const float *coords;
        int bodies;
        TRY(gpt_source_sequence(source, (uint64_t)i, &tokens, &coords, &bodies));
        if (bodies != 2) {
            o->n = 0;
            return 0;
        }
        for (int k = 0; k < o->steps * 4; k++) /* behind row 0, the time step */
            *to++ = (double)coords[2 + k];
    }
    return 0;
}

/* What an observer of such systems expects, from the orbits through all of each sequence's places:
 * medians, and half the distance between the quantiles that lie one deviation to either side of a
 * normal distribution's mean. A fit that went astray moves neither. */
static int learn_prior(const struct observed *o, struct gpt_orbit_prior *prior)
{
    const struct gpt_orbit_prior wide = gpt_orbit_wide_prior();
    const double below = 0.158655; /* of a standard normal distribution, below -1 */
    double(*p)[GPT_ORBIT_PARAMETERS] = orr_alloc((size_t)o->n, sizeof *p);
    double *sorted = orr_alloc((size_t)o->n, sizeof *sorted);
    int rc = p && sorted ? 0 : ORR_ENOMEM;
    for (int i = 0; i < o->n && !rc; i++) {
        double next[2];
        rc = gpt_orbit_fit(o->steps, places_of(o, i), place_sd, &wide, p[i], false, next);
    }
    for (int k = 0; k < GPT_ORBIT_PARAMETERS && !rc; k++) {
        const size_t n = (size_t)o->n;
        for (size_t i = 0; i < n; i++)
            sorted[i] = p[i][k];
        gsl_sort(sorted, 1, n);
        const double low = gsl_stats_quantile_from_sorted_data(sorted, 1, n, below);
        const double high = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 1 - below);
        prior->mean[k] = gsl_stats_median_from_sorted_data(sorted, 1, n);
        prior->sd[k] = fmax((high - low) / 2, 1e-6);
    }
    free(sorted);
    free(p);
    return rc;
}

/* Sum of the errors of sequence i: each step from all before it. */
static int predict(const struct observed *o, const struct gpt_orbit_prior *prior, int i)
{
    const double *place = places_of(o, i);
    double p[GPT_ORBIT_PARAMETERS], next[2];
    for (int k = 1; k < o->steps; k++) {
        if (orr_signal_seen())
            return ORR_EINTR;
        TRY(gpt_orbit_fit(k, place, place_sd, prior, p, k > 3, next));
        const double error = hypot(next[0] - place[4 * k], next[1] - place[4 * k + 1]);
        o->error[i] += error;
        o->late[i] += k >= o->late_step ? error : 0;
    }
    return 0;
}

static int predict_all(const struct observed *o, const struct gpt_orbit_prior *prior)
{
    int failed = 0;
#pragma omp parallel for schedule(dynamic) reduction(max : failed)
    for (int i = 0; i < o->n; i++) {
        const int rc = predict(o, prior, i);
        failed = rc > failed ? rc : failed;
    }
    return failed == ORR_EINTR ? ORR_FAIL(ORR_EINTR, "stopped by a signal") : failed;
}

int gpt_orbit_ceiling(struct gpt_source *source, const struct orr_preset *preset, int positions,
                      int late_from, struct gpt_next_state *result)
{
    /* a fit of 16 steps takes half a millisecond; a prior needs some sequences */
    enum { MOST = 64, LEAST = 8, WORK = 65536 };
    const int count = (int)gpt_source_count(source);
    struct observed o = {.n = result->sequences < MOST ? result->sequences : MOST,
                         .steps = (positions - 1) / 2,
                         .late_step = late_from / 2}; /* of body 1 at rows 1, 3, ... */
    struct gpt_orbit_prior prior;
    result->orbit_fit = result->orbit_fit_late = NAN;
    result->orbit_fit_sequences = 0;
    const int fit = o.steps > 0 ? WORK / (o.steps * o.steps) : 0;
    if (o.n > fit)
        o.n = fit > LEAST ? fit : LEAST;
    if (o.n > count)
        o.n = count;
    if (orr_preset_is_text(preset) || preset->orbits.output != ORR_OUTPUT_CONTINUOUS ||
        preset->orbits.law != ORR_LAW_NEWTON || preset->orbits.nbody || o.n < LEAST || o.steps < 4)
        return 0;
    o.place = orr_alloc((size_t)o.n * (size_t)o.steps * 4, sizeof *o.place);
    o.error = orr_alloc((size_t)o.n, sizeof *o.error);
    o.late = orr_alloc((size_t)o.n, sizeof *o.late);
    int rc = o.place && o.error && o.late ? observe(source, &o) : ORR_ENOMEM;
    if (!rc && o.n > 0) {
        rc = learn_prior(&o, &prior);
        rc = rc ? rc : predict_all(&o, &prior);
    }
    if (!rc && o.n > 0) {
        const int first = o.late_step > 1 ? o.late_step : 1;
        double late = 0;
        result->orbit_fit = 0;
        result->orbit_fit_sequences = o.n;
        for (int i = 0; i < o.n; i++) {
            result->orbit_fit += o.error[i] / (o.n * (o.steps - 1));
            late += o.late[i] / o.n;
        }
        if (first < o.steps)
            result->orbit_fit_late = late / (o.steps - first);
    }
    free(o.late);
    free(o.place);
    free(o.error);
    return rc;
}
