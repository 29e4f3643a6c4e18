/* smooth.c - smooths a track by Gaussian processes in windows that overlap by half, each with its
 * own length scale and noise. A row's values are taken from the window in which it is farthest from
 * the ends. */
#include "motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

enum { W = SR_MOTION_WINDOW, HOP = W / 2 };

static void take_states(struct sr_process_work *work, int dims, size_t start, size_t from,
                        size_t to, struct sr_track *track)
{
    for (size_t i = from; i < to; i++) {
        track->gap[i] = sr_process_gap(work, i - start);
        struct sr_process_state state;
        sr_process_state(work, i - start, &state);
        for (size_t d = 0; d < (size_t)dims; d++) {
            track->smooth[d * track->n + i] = state.x[d];
            track->acceleration[d * track->n + i] = state.a[d];
        }
        sr_process_weights(work, i - start, track->smooth_weight + i * W, track->weight + i * W);
        track->start[i] = start;
        track->smooth_variance[i] = state.x_variance;
        track->variance[i] = state.a_variance;
    }
}

bool sr_track_rests(int dims, const struct sr_track *track)
{
    for (size_t d = 0; d < (size_t)dims; d++)
        for (size_t i = 0; i < track->n; i++)
            if (track->x[d * track->n + i] < track->x[d * track->n] ||
                track->x[d * track->n + i] > track->x[d * track->n])
                return false;
    return true;
}

/* Standard deviation of a coordinate along the track. */
static double size_of(int dims, const struct sr_track *track)
{
    double sum = 0;
    for (size_t d = 0; d < (size_t)dims; d++)
        sum += gsl_stats_variance(track->x + d * track->n, 1, track->n) / dims;
    return sqrt(sum);
}

static int smooth_body(const char *file, int dims, double most_noise, struct sr_process_work *work,
                       double *noises, struct sr_track *track)
{
    const size_t n = track->n, width = n < W ? n : W;
    struct sr_process process = {0, 0};
    size_t windows = 0, from = 0;
    if (sr_track_rests(dims, track)) { /* there is no path to fit */
        memcpy(track->smooth, track->x, (size_t)dims * n * sizeof *track->x);
        return 0;
    }
    for (size_t start = 0;; start += HOP, windows++) {
        const bool last = start + width >= n;
        start = last ? n - width : start;
        const struct sr_window window = {width, dims, track->t + start, track->x + start, n,
                                         NULL,  false};
        noises[windows] = sr_process_fit(work, &window, most_noise, &process);
        if (isnan(noises[windows])) /* no fit satisfies the bound of the noise */
            noises[windows] = sr_process_fit(work, &window, HUGE_VAL, &process);
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
    track->size = size_of(dims, track);
    return 0;
}

static int smooth_track(const char *file, int dims, double most_noise, struct sr_track *track)
{
    struct sr_process_work *work = sr_process_create();
    double *noises = orr_alloc(track->n / HOP + 2, sizeof *noises);
    const int rc =
        work && noises ? smooth_body(file, dims, most_noise, work, noises, track) : ORR_ENOMEM;
    free(noises);
    sr_process_free(work);
    return rc;
}

static int smooth_all(struct sr_tracks *tracks, int threads, const double *most)
{
    char message[1024] = "";
    int rc = 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (size_t k = 0; k < tracks->count; k++) {
        struct sr_track *track = &tracks->track[k];
        const double limit = most ? most[k] : HUGE_VAL;
        const int one = !most || track->noise > limit
                            ? smooth_track(tracks->file, tracks->dims, limit, track)
                            : 0;
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

/* The median noise of all tracks and the ratio of its quartiles, absolute or as a share of the
 * track's size. */
static double common_noise(const struct sr_tracks *tracks, bool share, double *noise,
                           double *spread)
{
    size_t n = 0;
    for (size_t k = 0; k < tracks->count; k++)
        if (tracks->track[k].size > 0)
            noise[n++] = tracks->track[k].noise / (share ? tracks->track[k].size : 1);
    gsl_sort(noise, 1, n);
    *spread = n ? noise[3 * n / 4] / noise[n / 4] : HUGE_VAL;
    return n ? noise[n / 2] : 0;
}

static int smooth_noisy(struct sr_tracks *tracks, int threads, double *most)
{
    double spread, spread_of_shares;
    const double noise = common_noise(tracks, false, most, &spread);
    const double share = common_noise(tracks, true, most, &spread_of_shares);
    for (size_t k = 0; k < tracks->count; k++)
        most[k] = 2 * (spread <= spread_of_shares ? noise : share * tracks->track[k].size);
    return smooth_all(tracks, threads, most);
}

int sr_tracks_smooth(struct sr_tracks *tracks, int threads)
{
    enum { MANY = 8 };
    TRY(smooth_all(tracks, threads, NULL));
    if (tracks->count < MANY)
        return 0;
    double *most = orr_alloc(tracks->count, sizeof *most);
    const int rc = most ? smooth_noisy(tracks, threads, most) : ORR_ENOMEM;
    free(most);
    return rc;
}

size_t sr_track_at(const struct sr_track *track, double t, size_t from)
{
    size_t i = from;
    while (i < track->n && track->t[i] < t)
        i++;
    return i;
}
