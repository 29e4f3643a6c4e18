/* smooth.c - smooths every state of every track by Gaussian processes in windows that overlap by
 * half, which also give the derivatives and the errors of these. The noise of a state has one size,
 * or is a share of the value, whichever is likelier in all windows together.
 *
 * The process of a window is looked for everywhere, but where tracks have many windows: there it is
 * looked for so in evenly spread ones, and in those between near what their neighbours have. */
#include "dynamics.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort.h>

#include "symreg/motion/motion.h"

enum {
    W = SR_MOTION_WINDOW,
    HOP = W / 2,
    SOUGHT = 300, /* windows of a state whose process is looked for everywhere, about */
};

/* One state of one track, and what smoothing it takes. */
struct job {
    const struct sr_states *states;
    struct sr_state_track *track;
    int d;
    size_t every;         /* the process of so manieth windows is looked for everywhere */
    bool rests, probes;   /* probes: the likelihood of these windows alone is wanted */
    double likelihood[2]; /* of noise of one size, and of noise that is a share of the value */
    double *spread;       /* (n) relative variances of the noise; NULL: all alike */
};

static void take_rows(struct sr_process_work *work, size_t start, size_t from, size_t to,
                      struct job *job)
{
    struct sr_state_track *track = job->track;
    for (size_t i = from; i < to; i++) {
        const size_t at = (size_t)job->d * track->n + i;
        struct sr_process_state state;
        double v[SR_MOTION_DIMS], variance;
        sr_process_state(work, i - start, &state);
        sr_process_velocity(work, i - start, v, &variance);
        track->smooth[at] = state.x[0];
        track->rate[at] = v[0];
        track->bend[at] = state.a[0];
        track->smooth_variance[at] = state.x_variance;
        track->rate_variance[at] = variance;
        track->bend_variance[at] = state.a_variance;
        track->sigma[at] = sr_process_noise(work, i - start);
    }
}

/* Fits windows along the track, takes each row from the window in which it is farthest from the
 * ends, and adds the likelihoods of windows whose process is looked for everywhere. */
static int fit_windows(struct sr_process_work *work, struct job *job, double *likelihood)
{
    struct sr_state_track *track = job->track;
    const size_t n = track->n, width = n < W ? n : W;
    struct sr_process process = {0, 0}, sought = {0, 0};
    size_t from = 0;
    bool last = false;
    *likelihood = 0;
    for (size_t k = 0; !last; k++) {
        last = k * HOP + width >= n;
        const size_t start = last ? n - width : k * HOP;
        const size_t to = last ? n : start + width - (width - HOP) / 2;
        const struct sr_window window = {.n = width,
                                         .dims = 1,
                                         .t = track->t + start,
                                         .x = track->x + (size_t)job->d * n + start,
                                         .stride = n,
                                         .spread = job->spread ? job->spread + start : NULL,
                                         .even = true};
        bool seeks = k % job->every == 0;
        if (!seeks && job->probes)
            continue;
        if (!seeks)
            seeks = !isfinite(sr_process_fit_near(work, &window, sought, &process));
        if (seeks && !isfinite(sr_process_fit(work, &window, HUGE_VAL, &process)))
            return ORR_FAIL(ORR_EINVAL, "%s:%zu: column \"%s\": no smooth path fits the values",
                            job->states->file, track->line[start], job->states->name[job->d]);
        sought = seeks ? process : sought;
        if (!job->probes)
            take_rows(work, start, from, to, job);
        *likelihood += k % job->every == 0 ? sr_process_likelihood(work) : 0;
        from = to;
    }
    return 0;
}

/* Relative variances of noise in proportion to the smoothed value, whose own error keeps them from
 * 0. A geometric mean of 1 makes likelihoods comparable whatever their unit. */
static void spread_noise(const struct job *job, double *spread)
{
    const struct sr_state_track *track = job->track;
    const size_t n = track->n, first = (size_t)job->d * n;
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += track->smooth[first + i] * track->smooth[first + i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        const double x = track->smooth[first + i];
        spread[i] = fmax(x * x + track->smooth_variance[first + i], 1e-4 * squares);
        mean += orr_log(spread[i]) / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        spread[i] *= orr_exp(-mean);
}

/* A state that rests in this track: its derivatives are 0, with errors that other tracks give. */
static void rest(struct job *job)
{
    struct sr_state_track *track = job->track;
    for (size_t i = 0; i < track->n; i++)
        track->smooth[(size_t)job->d * track->n + i] = track->x[(size_t)job->d * track->n + i];
}

static int run_job(struct job *job, bool proportional)
{
    struct sr_process_work *work = sr_process_create();
    int rc = work ? 0 : ORR_ENOMEM;
    if (!rc && proportional) {
        job->spread = orr_alloc(job->track->n, sizeof *job->spread);
        rc = job->spread ? 0 : ORR_ENOMEM;
        if (!rc)
            spread_noise(job, job->spread);
    }
    if (!rc)
        rc = fit_windows(work, job, &job->likelihood[proportional]);
    free(job->spread);
    job->spread = NULL;
    sr_process_free(work);
    return rc;
}

/* States with noise that matters, one bit each. */
static unsigned find_noisy(const struct job *job, size_t jobs)
{
    static const double negligible = 1e-5; /* of the rms value */
    unsigned which = 0;
    for (size_t k = 0; k < jobs; k++) {
        const size_t n = job[k].track->n, first = (size_t)job[k].d * n;
        double squares = 0, noise = 0;
        for (size_t i = first; i < first + n; i++) {
            squares += job[k].track->x[i] * job[k].track->x[i];
            noise += job[k].track->sigma[i] * job[k].track->sigma[i];
        }
        which |= noise > negligible * negligible * squares ? 1U << job[k].d : 0;
    }
    return which;
}

/* Runs the jobs of the states in `which`, one bit each. */
static int run_all(struct job *job, size_t jobs, bool proportional, unsigned which, int threads)
{
    char message[1024] = "";
    int rc = 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (size_t k = 0; k < jobs; k++) {
        const int one =
            job[k].rests || !(which >> job[k].d & 1) ? 0 : run_job(&job[k], proportional);
        if (one) {
#pragma omp critical
            {
                rc = one;
                snprintf(message, sizeof message, "%s", orr_error());
            }
        }
    }
    return rc ? ORR_FAIL(rc, "%s", message) : 0; /* error messages are thread-local */
}

/* The states whose noise is likelier a share of the value, one bit each. */
static unsigned find_proportional(const struct sr_states *s, const struct job *job, size_t jobs)
{
    static const double convincing = 3; /* nats */
    unsigned which = 0;
    for (int d = 0; d < s->dims; d++) {
        double gain = -convincing;
        for (size_t k = 0; k < jobs; k++)
            if (job[k].d == d && !job[k].rests)
                gain += job[k].likelihood[1] - job[k].likelihood[0];
        which |= gain > 0 ? 1U << d : 0;
    }
    return which;
}

/* The median noise of a state, over tracks that do not rest; then what such a track's rows get. */
static int measure_noise(struct sr_states *s, int d)
{
    double *value = orr_alloc(3 * s->rows, sizeof *value);
    double *const rate = value ? value + s->rows : NULL, *const bend =
                                                             value ? rate + s->rows : NULL;
    size_t n = 0;
    if (!value)
        return ORR_ENOMEM;
    for (size_t k = 0; k < s->count; k++)
        for (size_t i = 0; i < s->track[k].n; i++) {
            const size_t at = (size_t)d * s->track[k].n + i;
            const double sigma = s->track[k].sigma[at], x = s->track[k].smooth[at];
            if (!(sigma > 0))
                continue;
            rate[n] = s->track[k].rate_variance[at];
            bend[n] = s->track[k].bend_variance[at];
            value[n++] = s->proportional[d] ? sigma / fmax(fabs(x), 1e-300) : sigma;
        }
    s->noise[d] = orr_median(value, n);
    const double rate_variance = orr_median(rate, n), bend_variance = orr_median(bend, n);
    free(value);
    for (size_t k = 0; k < s->count; k++)
        for (size_t i = 0; i < s->track[k].n; i++) {
            struct sr_state_track *track = &s->track[k];
            const size_t at = (size_t)d * track->n + i;
            if (track->sigma[at] > 0)
                continue;
            track->sigma[at] = s->proportional[d] ? s->noise[d] * fabs(track->x[at]) : s->noise[d];
            track->smooth_variance[at] = track->sigma[at] * track->sigma[at];
            track->rate_variance[at] = rate_variance;
            track->bend_variance[at] = bend_variance;
        }
    return 0;
}

int sr_states_smooth(struct sr_states *s, int threads)
{
    const size_t jobs = s->count * (size_t)s->dims;
    const size_t every = s->rows / HOP / SOUGHT + 1;
    const unsigned all = (1U << s->dims) - 1;
    struct job *job = orr_alloc(jobs, sizeof *job);
    if (!job)
        return ORR_ENOMEM;
    for (size_t k = 0; k < jobs; k++) {
        job[k] = (struct job){.states = s,
                              .track = &s->track[k / (size_t)s->dims],
                              .d = (int)(k % (size_t)s->dims),
                              .every = every};
        job[k].rests = sr_state_rests(job[k].track, (size_t)job[k].d);
        if (job[k].rests)
            rest(&job[k]);
    }
    int rc = run_all(job, jobs, false, all, threads);
    unsigned which = find_noisy(job, jobs);
    for (size_t k = 0; k < jobs; k++)
        job[k].probes = true;
    if (!rc)
        rc = run_all(job, jobs, true, which, threads);
    which &= find_proportional(s, job, jobs);
    for (size_t k = 0; k < jobs; k++)
        job[k].probes = false;
    if (!rc)
        rc = run_all(job, jobs, true, which, threads);
    for (int d = 0; d < s->dims && !rc; d++) {
        s->proportional[d] = which >> d & 1;
        rc = measure_noise(s, d);
    }
    free(job);
    return rc;
}
