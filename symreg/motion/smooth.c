/* smooth.c - a Gaussian process slides along a track in windows that overlap by half, each with a
 * length scale and a noise of its own; a row is taken from the window in which it lies deepest. */
#include "motion.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort.h>

enum { W = SR_MOTION_WINDOW, HOP = W / 2 };

static void take_states(struct sr_process_work *work, int dims, size_t start, size_t from,
                        size_t to, struct sr_track *track)
{
    const double gap = sr_process_gap(work);
    for (size_t i = from; i < to; i++) {
        track->gap[i] = gap;
        struct sr_process_state state;
        sr_process_state(work, i - start, &state);
        for (size_t d = 0; d < (size_t)dims; d++) {
            track->smooth[d * track->n + i] = state.x[d];
            track->acceleration[d * track->n + i] = state.a[d];
        }
        track->smooth_variance[i] = state.x_variance;
        track->variance[i] = state.a_variance;
    }
}

/* A body that rests has no path to fit. */
static bool rests(int dims, struct sr_track *track)
{
    for (size_t d = 0; d < (size_t)dims; d++)
        for (size_t i = 0; i < track->n; i++) {
            if (track->x[d * track->n + i] < track->x[d * track->n] ||
                track->x[d * track->n + i] > track->x[d * track->n])
                return false;
            track->smooth[d * track->n + i] = track->x[d * track->n];
        }
    return true;
}

static int smooth(const char *file, int dims, struct sr_process_work *work, double *noises,
                  struct sr_track *track)
{
    const size_t n = track->n, width = n < W ? n : W;
    struct sr_process process = {0, 0};
    size_t windows = 0, from = 0;
    if (rests(dims, track))
        return 0;
    for (size_t start = 0;; start += HOP, windows++) {
        const bool last = start + width >= n;
        start = last ? n - width : start;
        const struct sr_window window = {width, dims, track->t + start, track->x + start, n};
        noises[windows] = sr_process_fit(work, &window, windows == 0, &process);
        if (isnan(noises[windows]))
            noises[windows] = sr_process_fit(work, &window, true, &process);
        if (isnan(noises[windows]))
            return ORR_FAIL(ORR_EINVAL, "%s:%zu: body \"%s\": no smooth path fits its positions",
                            file, track->line[start], track->body);
        const size_t to = last ? n : start + width - (width - HOP) / 2;
        take_states(work, dims, start, from, to, track);
        from = to;
        if (last)
            break;
    }
    gsl_sort(noises, 1, windows + 1);
    track->noise = noises[(windows + 1) / 2];
    return 0;
}

int sr_track_smooth(const char *file, int dims, struct sr_track *track)
{
    struct sr_process_work *work = sr_process_create();
    double *noises = orr_alloc(track->n / HOP + 2, sizeof *noises);
    const int rc = work && noises ? smooth(file, dims, work, noises, track) : ORR_ENOMEM;
    free(noises);
    sr_process_free(work);
    return rc;
}

size_t sr_track_at(const struct sr_track *track, double t, size_t from)
{
    size_t i = from;
    while (i < track->n && track->t[i] < t)
        i++;
    return i;
}
