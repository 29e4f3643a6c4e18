/* relative_tracks.c - tracks relative to a body, where only the difference of two tracks matters.
 *
 * The forces of two bodies, and accelerations towards a body, depend on differences of tracks
 * alone. Two bodies about a distant barycentre have tracks that are far larger and smoother than
 * their difference: smoothing these one by one loses digits which the difference still has. */
#include "motion.h"

#include <math.h>
#include <string.h>

bool sr_track_same_times(const struct sr_track *a, const struct sr_track *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->t[i] < b->t[i] || a->t[i] > b->t[i])
            return false;
    return true;
}

/* Makes the tracks of a system relative to body `origin`, whose track becomes zeros, where all
 * share their times. */
static void subtract(struct sr_track *track, size_t bodies, size_t origin, int dims)
{
    struct sr_track *o = &track[origin];
    for (size_t k = 0; k < bodies; k++)
        if (!sr_track_same_times(&track[k], o))
            return;
    const bool moves = !sr_track_rests(dims, o);
    for (size_t k = 0; k < bodies; k++)
        for (size_t i = 0; i < (size_t)dims * o->n && k != origin; i++)
            track[k].x[i] -= o->x[i];
    memset(o->x, 0, (size_t)dims * o->n * sizeof *o->x);
    o->origin = moves;
}

void sr_tracks_relative(struct sr_tracks *tracks, const char *centre)
{
    for (size_t first = 0, size; first < tracks->count; first += size) {
        struct sr_track *track = tracks->track + first;
        size = sr_system_size(tracks, first);
        size_t origin = 0;
        while (centre && origin < size && strcmp(track[origin].body, centre))
            origin++;
        if (centre ? origin < size : size == 2)
            subtract(track, size, origin, tracks->dims);
    }
}

void sr_tracks_share_noise(struct sr_tracks *tracks)
{
    for (size_t first = 0, size; first < tracks->count; first += size) {
        struct sr_track *track = tracks->track + first;
        size = sr_system_size(tracks, first);
        if (size == 2 && (track[0].origin || track[1].origin))
            track[0].noise = track[1].noise = fmax(track[0].noise, track[1].noise) / sqrt(2);
    }
}
