/* orbit_upper_bound.c - next-state error of an observer who knows Newton's law, for held-out
 * sequences of two bodies: an orbit is fitted to the positions that a model has seen, and
 * continued. */
#include "evaluate.h"
#include "orbit_fit.h"
#include "orbit_plane.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

/* Standard deviation of positions: the float rounding error at 1 AU. */
static const double place_sd = 1e-7;

/* An orbit is fitted to at most the first MOST_PLACES positions and continued from there, so
 * that the cost is linear in the length of a sequence, not quadratic. */
enum { MOST_PLACES = 64, SEQUENCES = 64, TRAINING = 256, LEAST = 8, LEAST_STEPS = 4 };

struct observed {
    int axes;      /* coordinates d, 2 or 3 */
    int n, steps;  /* sequences in memory, at most SEQUENCES; steps of each */
    double *place; /* (n, steps, 2, d): planet, star */
    double *error; /* (n): sums over the predicted steps */
    double *late;  /* (n): sums over the predicted steps from late_step on */
    int late_step;
};

/* Numbers of a sequence: planet and star at all steps. */
static size_t numbers_of(const struct observed *o)
{
    return 2 * (size_t)(o->axes * o->steps);
}

static const double *places_of(const struct observed *o, int i)
{
    return o->place + (size_t)i * numbers_of(o);
}

/* Reads o->n sequences from the first on; *two = false where the number of bodies is not two. */
static int observe_places(struct gpt_source *source, int first, struct observed *o, bool *two)
{
    double *to = o->place;
    for (int i = 0; i < o->n && *two; i++) {
        const uint16_t *tokens;
        const float *coords;
        int bodies;
        if (orr_signal_seen())
            return ORR_FAIL(ORR_EINTR, "stopped by a signal");
        TRY(gpt_source_sequence(source, (uint64_t)(first + i), &tokens, &coords, &bodies));
        *two = bodies == 2;
        for (size_t k = 0; k < numbers_of(o) && *two; k++) /* after row 0, the time step */
            *to++ = (double)coords[(size_t)o->axes + k];
    }
    return 0;
}

static int create_observed(struct observed *o)
{
    o->place = orr_alloc((size_t)o->n * numbers_of(o), sizeof *o->place);
    o->error = orr_alloc((size_t)o->n, sizeof *o->error);
    o->late = orr_alloc((size_t)o->n, sizeof *o->late);
    return o->place && o->error && o->late ? 0 : ORR_ENOMEM;
}

static void free_observed(struct observed *o)
{
    free(o->late);
    free(o->place);
    free(o->error);
}

/* In space a single position leaves the plane of the orbit open: the next one is expected at the
 * mean over all planes, which is without what moves across the separation. */
static void average_planes(const struct gpt_orbit_plane *plane, const double *place, double *next)
{
    const double along = sim_dot(next, plane->e[0], 3) - sim_dot(place, plane->e[0], 3);
    for (int c = 0; c < 3; c++)
        next[c] = place[c] + along * plane->e[0][c];
}

/* Fits an orbit to the first `steps` positions of a sequence in their plane, and continues it: next
 * (ahead, d) are the planet's positions after them. */
static int fit_ahead(const struct observed *o, int i, int steps,
                     const struct gpt_orbit_prior *prior, double p[GPT_ORBIT_PARAMETERS],
                     bool start, int ahead, double *next)
{
    double flat[MOST_PLACES * 4], (*to)[2] = orr_alloc((size_t)ahead, sizeof *to);
    if (!to)
        return ORR_ENOMEM;
    const struct gpt_orbit_plane plane = gpt_orbit_flatten(o->axes, steps, places_of(o, i), flat);
    const int rc = gpt_orbit_fit_ahead(steps, flat, place_sd, prior, p, start, ahead, to);
    for (int k = 0; k < ahead && !rc; k++)
        gpt_orbit_lift(&plane, to[k], plane.height, next + o->axes * k);
    if (o->axes == 3 && steps == 1 && !rc)
        average_planes(&plane, places_of(o, i), next);
    free(to);
    return rc;
}

/* Fits an orbit to the first positions of each sequence: p (n, parameters). */
static int fit_all(const struct observed *o, double (*p)[GPT_ORBIT_PARAMETERS])
{
    const struct gpt_orbit_prior wide = gpt_orbit_wide_prior();
    const int places = o->steps < MOST_PLACES ? o->steps : MOST_PLACES;
    int failed = 0;
#pragma omp parallel for schedule(dynamic) reduction(max : failed)
    for (int i = 0; i < o->n; i++) {
        double next[SIM_AXES];
        const int rc = orr_signal_seen() ? (int)ORR_EINTR
                                         : fit_ahead(o, i, places, &wide, p[i], false, 1, next);
        failed = rc > failed ? rc : failed;
    }
    return failed == ORR_EINTR ? ORR_FAIL(ORR_EINTR, "stopped by a signal") : failed;
}

/* The prior for such systems, from orbits fitted to the first training sequences: medians, and
 * half the distance between the quantiles at -1 and +1 standard deviations of a normal
 * distribution. These are robust against fits that failed. */
static int learn_prior(struct gpt_source *training, int axes, int steps,
                       struct gpt_orbit_prior *prior, bool *two)
{
    const double below = 0.158655; /* the standard normal distribution function at -1 */
    const long count = gpt_source_count(training);
    const int n = count < TRAINING ? (int)count : TRAINING;
    double(*p)[GPT_ORBIT_PARAMETERS] = orr_alloc((size_t)n, sizeof *p);
    double *sorted = orr_alloc((size_t)n, sizeof *sorted);
    struct observed o = {.axes = axes, .n = SEQUENCES, .steps = steps};
    int rc = p && sorted ? create_observed(&o) : ORR_ENOMEM;
    for (int first = 0; first < n && *two && !rc; first += o.n) {
        o.n = n - first < SEQUENCES ? n - first : SEQUENCES;
        rc = observe_places(training, first, &o, two);
        if (!rc && *two)
            rc = fit_all(&o, p + first);
    }
    if (*two && !rc)
        gpt_orbit_prior_turn(n, p, prior);
    for (int k = 0; k < GPT_ORBIT_PARAMETERS && *two && !rc; k++) {
        for (int i = 0; i < n; i++)
            sorted[i] = p[i][k];
        gsl_sort(sorted, 1, (size_t)n);
        const double low = gsl_stats_quantile_from_sorted_data(sorted, 1, (size_t)n, below);
        const double high = gsl_stats_quantile_from_sorted_data(sorted, 1, (size_t)n, 1 - below);
        prior->mean[k] = gsl_stats_median_from_sorted_data(sorted, 1, (size_t)n);
        prior->sd[k] = fmax((high - low) / 2, 1e-6);
    }
    free_observed(&o);
    free(sorted);
    free(p);
    return rc;
}

/* Sums the errors of sequence i. Each step is predicted from the positions before it, of which
 * at most the first MOST_PLACES are fitted. */
static int predict_sequence(const struct observed *o, const struct gpt_orbit_prior *prior, int i)
{
    const double *place = places_of(o, i);
    const size_t axes = (size_t)o->axes;
    double p[GPT_ORBIT_PARAMETERS], *next = orr_alloc((size_t)o->steps * axes, sizeof *next);
    int rc = next ? 0 : ORR_ENOMEM;
    o->error[i] = o->late[i] = 0;
    for (int k = 1, ahead = 1; k < o->steps && !rc; k += ahead) {
        ahead = k < MOST_PLACES ? 1 : o->steps - k;
        rc = orr_signal_seen() ? (int)ORR_EINTR : fit_ahead(o, i, k, prior, p, k > 3, ahead, next);
        for (int j = 0; j < ahead && !rc; j++) {
            double by[SIM_AXES] = {0};
            for (size_t c = 0; c < axes; c++)
                by[c] = next[axes * (size_t)j + c] - place[2 * axes * (size_t)(k + j) + c];
            const double error = sim_hypot(by, o->axes);
            o->error[i] += error;
            o->late[i] += k + j >= o->late_step ? error : 0;
        }
    }
    free(next);
    return rc;
}

static int predict_all(const struct observed *o, const struct gpt_orbit_prior *prior)
{
    int failed = 0;
#pragma omp parallel for schedule(dynamic) reduction(max : failed)
    for (int i = 0; i < o->n; i++) {
        const int rc = predict_sequence(o, prior, i);
        failed = rc > failed ? rc : failed;
    }
    return failed == ORR_EINTR ? ORR_FAIL(ORR_EINTR, "stopped by a signal") : failed;
}

/* Means over sequences, and half of the 95% interval of the first mean, from the spread of the
 * sequences. */
static void summarise_errors(struct gpt_next_state *result, int n, const struct observed *o,
                             double sum, double square, double late)
{
    const int first = o->late_step > 1 ? o->late_step : 1, rows = o->steps - 1;
    const double mean = sum / n;
    result->orbit_fit = mean / rows;
    result->orbit_fit_half = 1.96 * sqrt(fmax(square / n - mean * mean, 0) / (n - 1)) / rows;
    result->orbit_fit_sequences = n;
    if (first < o->steps)
        result->orbit_fit_late = late / n / (o->steps - first);
}

static bool has_upper_bound(const struct orr_settings *settings, bool planets)
{
    const enum sim_split training = planets ? SIM_SPLIT_PLANETS_TRAIN : SIM_SPLIT_TRAIN;
    return !orr_settings_is_text(settings) && !*settings->tracks &&
           settings->orbits.output == ORR_OUTPUT_CONTINUOUS &&
           settings->orbits.law == ORR_LAW_NEWTON && !settings->orbits.nbody &&
           sim_split_count(settings, training) >= LEAST;
}

int gpt_orbit_upper_bound(struct gpt_source *source, const struct orr_settings *settings,
                          bool planets, int positions, int late_from, struct gpt_next_state *result)
{
    const long count = gpt_source_count(source);
    const int n = result->sequences < count ? result->sequences : (int)count;
    struct observed o = {.axes = settings->orbits.dimensions,
                         .n = n < SEQUENCES ? n : SEQUENCES,
                         .steps = (positions - 1) / 2,
                         .late_step = late_from / 2}; /* body 1 is in rows 1, 3, ... */
    struct gpt_source *training = NULL;
    struct gpt_orbit_prior prior;
    double sum = 0, square = 0, late = 0;
    bool two = true;
    result->orbit_fit = result->orbit_fit_half = result->orbit_fit_late = NAN;
    result->orbit_fit_sequences = 0;
    if (!has_upper_bound(settings, planets) || n < LEAST || o.steps < LEAST_STEPS)
        return 0;
    /* generated again from (seed, index): the data files may be on another machine */
    TRY(gpt_source_open(&training, settings, NULL,
                        planets ? SIM_SPLIT_PLANETS_TRAIN : SIM_SPLIT_TRAIN, NULL));
    int rc = create_observed(&o);
    rc = rc ? rc : learn_prior(training, o.axes, o.steps, &prior, &two);
    for (int first = 0; first < n && two && !rc; first += SEQUENCES) {
        o.n = n - first < SEQUENCES ? n - first : SEQUENCES;
        rc = observe_places(source, first, &o, &two);
        if (!rc && two)
            rc = predict_all(&o, &prior);
        for (int i = 0; i < o.n; i++) {
            sum += o.error[i];
            square += o.error[i] * o.error[i];
            late += o.late[i];
        }
    }
    if (!rc && two)
        summarise_errors(result, n, &o, sum, square, late);
    gpt_source_close(training);
    free_observed(&o);
    return rc;
}
