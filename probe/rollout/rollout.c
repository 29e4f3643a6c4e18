/* rollout.c - bin/probe rollout: errors of a model's autoregressive rollout of an orbit, in
 * position and in the constants of the motion, by horizon. */
#include "probe/core/answers.h"
#include "probe/core/figure.h"
#include "probe/orbits/motion.h"
#include "probe/orbits/quantities.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64, HORIZONS = 5, PRIOR = 500 };

/* The predictors that continue the orbits. */
enum who { MODEL, BASELINE, PERSISTENCE, FITTED, TRUTH, WHO };

struct rollout {
    struct probe_session s;
    struct probe_labelled set;
    int T, prefix, known; /* T: rows; rows and complete steps of the prefix */
    double *path[WHO];    /* (n, T, d) rows before the prefix are true */
    double *column;       /* (n) */
    size_t *rank;         /* (n) of column */
};

/* ------------------------------------------------------------------------------- continuing */

static double *path_of(const struct rollout *r, enum who who, int i)
{
    return r->path[who] + (size_t)i * (size_t)r->T * (size_t)r->set.axes;
}

static int by_model(struct rollout *r, enum who who, struct gpt_model *model)
{
    const int most = gpt_evaluation_batch(model, r->T, BATCH);
    struct gpt_batch batch = {0};
    const size_t T = (size_t)r->T, axes = (size_t)r->set.axes;
    real *path = orr_alloc((size_t)most * T * axes, sizeof *path);
    int rc = path ? gpt_batch_create(&batch, &model->config, most, r->T) : ORR_ENOMEM;
    for (int first = 0; first < r->set.n && !rc; first += most) {
        batch.B = r->set.n - first < most ? r->set.n - first : most;
        probe_labelled_fill(&r->set, &model->config, first, &batch);
        rc = gpt_rollout(model, &batch, r->prefix, 0, path);
        for (int b = 0; b < batch.B && !rc; b++)
            for (size_t k = axes * (size_t)r->prefix; k < axes * T; k++)
                path_of(r, who, first + b)[k] = (double)path[axes * (size_t)b * T + k];
        if (!rc && orr_signal_seen())
            rc = ORR_FAIL(ORR_EINTR, "stopped by a signal; nothing was written");
    }
    gpt_batch_free(&batch);
    free(path);
    return rc;
}

/* Rows after the prefix as another program continued them. */
static int by_answers(struct rollout *r, enum who who, const struct probe_answers *answers)
{
    const size_t n = (size_t)r->set.n, after = (size_t)(r->T - r->prefix);
    const size_t axes = (size_t)r->set.axes;
    struct probe_array array;
    int rc = probe_array_open(&array, answers, "rollout_two_body_test.npy", n, after, axes, 2);
    for (size_t i = 0; i < n && !rc; i++)
        for (size_t k = 0; k < axes * after; k++)
            path_of(r, who, (int)i)[axes * (size_t)r->prefix + k] =
                probe_array_at(&array, i, k / axes, k % axes);
    probe_array_close(&array);
    return rc;
}

static int by_learners(struct rollout *r)
{
    const struct probe_options *o = r->s.options;
    if (!o->answers) {
        TRY(by_model(r, MODEL, &r->s.probe.model));
        return by_model(r, BASELINE, &r->s.baseline);
    }
    TRY(by_answers(r, MODEL, o->answers));
    return o->twin ? by_answers(r, BASELINE, o->twin) : 0;
}

/* Fits 3, 4, ... steps up to the prefix, each fit starting from the previous one, then follows the
 * orbit. */
static int by_fit(struct rollout *r, const struct gpt_orbit_prior *prior, int i)
{
    const int axes = r->set.axes;
    double p[GPT_ORBIT_PARAMETERS], place[2 * SIM_AXES], *path = path_of(r, FITTED, i);
    struct probe_orbit orbit;
    bool there = false;
    for (int context = r->known < 3 ? r->known : 3; context <= r->known; context++)
        TRY(probe_orbit_fit(&r->set, i, context, prior, p, there, &orbit, &there));
    for (int t = r->prefix; t < r->T; t++) {
        if (t % 2 == 1) { /* a row of body 1: a new step */
            there = there && probe_orbit_advance(&orbit, 1);
            probe_orbit_places(&orbit, place);
        }
        for (int c = 0; c < axes; c++)
            path[axes * t + c] = there ? place[t % 2 ? c : axes + c] : NAN;
    }
    return 0;
}

/* The observer's prior, from sequences of two_body_train, not from the evaluation sequences. */
static int find_prior(struct rollout *r, struct gpt_orbit_prior *prior)
{
    struct probe_labelled set;
    TRY(probe_labelled_make(&r->s.arena, &set, &r->s.probe, SIM_SPLIT_TWO_BODY_TRAIN, PRIOR));
    return probe_orbit_prior(&set, prior);
}

static int continue_all(struct rollout *r)
{
    struct gpt_orbit_prior prior;
    const size_t T = (size_t)r->T, axes = (size_t)r->set.axes;
    for (int w = 0; w < WHO; w++)
        for (int i = 0; i < r->set.n; i++)
            for (size_t k = 0; k < axes * T; k++) {
                double *path = path_of(r, (enum who)w, i);
                path[k] = w == PERSISTENCE && k >= axes * (size_t)r->prefix
                              ? path[k - axes * (size_t)r->set.bodies]
                              : (double)probe_labelled_rows(&r->set, i)[k];
            }
    TRY(by_learners(r));
    if (r->set.newton)
        TRY(find_prior(r, &prior));
    for (int i = 0; i < r->set.n && r->set.newton; i++)
        TRY(by_fit(r, &prior, i));
    return 0;
}

/* -------------------------------------------------------------------------------- results */

/* Measured quantities: 0 the position, else a constant of the motion. */
static const char *const quantity[] = {"position", "energy", "angular momentum",
                                       "Runge-Lenz vector"};
enum { QUANTITIES = sizeof quantity / sizeof *quantity };

static double row_distance(const struct rollout *r, const double *a, const double *b, int row)
{
    const int axes = r->set.axes;
    double by[SIM_AXES] = {0};
    for (int c = 0; c < axes; c++)
        by[c] = a[axes * row + c] - b[axes * row + c];
    return sim_hypot(by, axes);
}

/* Mean over the bodies of a step of tracks. */
static double distance_of(const struct rollout *r, const double *path, const double *truth,
                          int step)
{
    const int bodies = r->set.bodies;
    double sum = 0;
    for (int b = 0; b < bodies; b++)
        sum += row_distance(r, path, truth, 1 + bodies * step + b);
    return sum / bodies;
}

static double error_of(const struct rollout *r, enum who who, int i, int what, int step)
{
    const double *path = path_of(r, who, i), *truth = path_of(r, TRUTH, i);
    if (!r->set.state)
        return distance_of(r, path, truth, step);
    if (what == 0)
        return row_distance(r, path, truth, 1 + 2 * step);
    const struct probe_orbit orbit = probe_orbit_true(&r->set, i, r->known - 1);
    double drift[PROBE_DRIFTS];
    probe_drift(orbit.mu, orbit.axes, orbit.state, path, step, orbit.dt_yr, drift);
    return drift[what - 1];
}

/* Mean of position errors; median of drifts, whose mean diverges where a path meets the star. */
static struct probe_estimate estimate_error(const struct rollout *r, enum who who, int what,
                                            int step)
{
    const struct probe_ranked ranked = {r->column, r->rank};
    for (int i = 0; i < r->set.n; i++)
        r->column[i] = error_of(r, who, i, what, step);
    if (!what)
        return probe_bootstrap(&r->s.resamples, probe_mean_of, r->column);
    probe_rank(r->column, r->set.n, r->rank);
    return probe_bootstrap(&r->s.resamples, probe_median_of, &ranked);
}

/* Answers of another program may be without an untrained twin. */
static bool has_baseline(const struct rollout *r)
{
    return !r->s.options->answers || r->s.options->twin;
}

/* Tracks may have any unit of length. */
static const char *unit_of(const struct rollout *r)
{
    return r->set.state ? "AU" : "distance";
}

/* Drifts of fitted orbits have rows of their own, as the upper bound of drifts is the truth. */
static int add_row(struct rollout *r, int what, int horizon)
{
    const int step = r->known - 1 + horizon;
    const struct probe_estimate fit =
        r->set.newton ? estimate_error(r, FITTED, what, step) : probe_exactly(NAN);
    struct orr_row row = probe_row_of(&r->s.results, estimate_error(r, MODEL, what, step),
                                      what ? "drift" : unit_of(r), "%s", quantity[what]);
    row.context = horizon;
    row.upper_bound = what ? estimate_error(r, TRUTH, what, step).value : fit.value;
    row.baseline = has_baseline(r) ? estimate_error(r, BASELINE, what, step).value : (double)NAN;
    row.raw = estimate_error(r, PERSISTENCE, what, step).value;
    row.n = r->set.n;
    TRY(orr_table_add(&r->s.results.table, &row));
    if (!what)
        return 0;
    struct orr_row of_fit =
        probe_row_of(&r->s.results, fit, "drift, orbit fit", "%s", quantity[what]);
    of_fit.context = horizon;
    of_fit.upper_bound = row.upper_bound;
    of_fit.raw = row.raw;
    of_fit.n = row.n;
    return orr_table_add(&r->s.results.table, &of_fit);
}

/* The last horizon: for positions the last row of body 1; for drifts the last step with the
 * neighbours that the differences need. */
static int last_horizon(const struct rollout *r, int what)
{
    if (!r->set.state)
        return (r->T - 1) / r->set.bodies - r->known; /* tracks: the last complete step */
    return what ? (r->T - 1) / 2 - PROBE_REACH - r->known : r->T / 2 - r->known;
}

/* Adds horizons 1, 2, 5, 10 and the last one. */
static int add_rows(struct rollout *r)
{
    static const int wanted[HORIZONS - 1] = {1, 2, 5, 10};
    for (int what = 0; what < QUANTITIES; what++) {
        const int last = last_horizon(r, what);
        if (what && !r->set.newton)
            continue; /* under another law they are not constants of the motion */
        for (int k = 0; k < HORIZONS - 1; k++)
            if (wanted[k] < last)
                TRY(add_row(r, what, wanted[k]));
        if (last >= 1)
            TRY(add_row(r, what, last));
    }
    return 0;
}

static int draw_panels(void *of)
{
    const struct rollout *r = of;
    static const struct probe_panel panel[] = {
        {"position", "AU", "mean error, AU", .log = true},
        {"energy", "drift", "median relative drift", .log = true},
        {"angular momentum", "drift", "median relative drift", .log = true},
        {"Runge-Lenz vector", "drift", "median drift", .log = true},
    };
    static const struct probe_panel of_tracks = {"position", "distance",
                                                 "mean error, unit of the data", .log = true};
    const bool drifts = r->set.newton && last_horizon(r, 1) >= 1;
    const struct probe_figure figure = {.x_label = "steps after the prefix",
                                        .value = "model",
                                        .upper_bound = r->set.newton ? "upper_bound" : NULL,
                                        .baseline = has_baseline(r) ? "untrained baseline" : NULL,
                                        .raw = "persistence",
                                        .least = NAN,
                                        .by_context = true,
                                        .fixed = -1,
                                        .panel = r->set.state ? panel : &of_tracks,
                                        .panels = drifts ? QUANTITIES : 1};
    return probe_figure_draw(&r->s, &figure, "Rollouts after %d steps", r->known);
}

/* ----------------------------------------------------------------------------------- probe */

static int prepare_set(struct rollout *r)
{
    int n = probe_rollout_sequences(r->s.options);
    r->T = r->s.probe.T;
    struct probe_arena *arena = &r->s.arena;
    if (*r->s.probe.settings.tracks)
        TRY(probe_tracks_read(arena, &r->set, &r->s.probe, n, r->s.options->quiet));
    else
        r->set.bodies = PROBE_BODIES;
    r->prefix = probe_prefix_of(r->T, r->set.bodies);
    r->known = (r->prefix - 1) / r->set.bodies;
    if (r->prefix >= r->T || r->known < 1)
        return ORR_FAIL(
            ORR_EUSAGE,
            "probe rollout: %s: %d positions leave no step to continue after a prefix of "
            "half of them; give a --length of 4 or more",
            r->s.options->checkpoint, r->T);
    if (!*r->s.probe.settings.tracks)
        TRY(probe_labelled_make(arena, &r->set, &r->s.probe, SIM_SPLIT_TWO_BODY_TEST, n));
    n = r->set.n;
    const uint64_t seed = r->s.probe.settings.seed;
    TRY(r->set.track ? probe_resamples_of_tracks(arena, &r->s.resamples, seed, n, r->set.track)
                     : probe_resamples_create(arena, &r->s.resamples, seed, n));
    r->s.results.over = r->set.track ? "held-out tracks" : NULL;
    r->column = probe_take(arena, (size_t)n, sizeof *r->column);
    r->rank = probe_take(arena, (size_t)n, sizeof *r->rank);
    for (int w = 0; w < WHO; w++)
        r->path[w] =
            probe_take(arena, (size_t)n * (size_t)r->T * (size_t)r->set.axes, sizeof *r->path[w]);
    TRY(arena->failed);
    return r->s.options->answers ? 0 : probe_baseline(&r->s.probe, r->s.options, &r->s.baseline);
}

static int measure_model(void *of)
{
    struct rollout *r = of;
    TRY(prepare_set(r));
    TRY(continue_all(r));
    return add_rows(r);
}

static int open_model(void *of)
{
    struct rollout *r = of;
    return probe_open_labelled(&r->s.probe, r->s.options, "rollout", true);
}

int probe_rollout(const struct probe_options *options)
{
    static const struct probe_steps steps = {.name = "rollout",
                                             .revision = 2,
                                             .script = "probe_panels.gp",
                                             .open = open_model,
                                             .measure = measure_model,
                                             .write = draw_panels};
    struct rollout r = {.T = 0};
    return probe_session_run(&r.s, options, &steps, &r);
}
