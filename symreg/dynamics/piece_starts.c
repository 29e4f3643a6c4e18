/* piece_starts.c - where the pieces of tracks start. */
#include "shooting.h"

/* The velocity of coordinate d at row i: the slope of the parabola through three rows. */
static double difference(const struct sr_flow_track *track, size_t d, size_t i)
{
    const size_t n = track->n, middle = i == 0 ? 1 : i + 1 == n ? n - 2 : i;
    const double *const t = track->t, *const x = track->x + d * n;
    if (n == 2)
        return (x[1] - x[0]) / (t[1] - t[0]);
    const double before = (x[middle] - x[middle - 1]) / (t[middle] - t[middle - 1]);
    const double behind = (x[middle + 1] - x[middle]) / (t[middle + 1] - t[middle]);
    const double bend = (behind - before) / (t[middle + 1] - t[middle - 1]);
    return before + bend * (t[i] - t[middle - 1] + t[i] - t[middle]);
}

/* State k at row i, near which a piece starts. */
static double guess(const struct sr_flow *flow, const struct sr_flow_track *track, size_t k,
                    size_t i)
{
    const size_t dims = (size_t)flow->dims;
    if (track->guess)
        return track->guess[k * track->n + i];
    return k < dims ? track->x[k * track->n + i] : difference(track, k - dims, i);
}

/* How sharply the track bends between rows: the second difference at row i over the spread. */
static double bend_at(const struct sr_flow *flow, const struct sr_flow_track *track,
                      const double *spread, size_t i)
{
    double bend = 0;
    for (size_t k = 0; k < (size_t)flow->dims; k++) {
        const double second = guess(flow, track, k, i - 1) - 2 * guess(flow, track, k, i) +
                              guess(flow, track, k, i + 1);
        bend = fmax(bend, fabs(second) / spread[k]);
    }
    return bend;
}

/* Where a piece begins that would begin at row `first`: near it, where the track bends least within
 * a row to both sides, as the state is known best there. */
static size_t begin_near(const struct sr_flow *flow, const struct sr_flow_track *track,
                         const double *spread, size_t first, size_t rows)
{
    const size_t far = (rows - 2) / 3; /* a piece keeps 2 rows */
    size_t best = first;
    double least = HUGE_VAL;
    for (size_t i = first - far; i <= first + far; i++) {
        double bend = HUGE_VAL;
        if (i >= 2 && i + 2 < track->n)
            bend = fmax(bend_at(flow, track, spread, i - 1),
                        fmax(bend_at(flow, track, spread, i), bend_at(flow, track, spread, i + 1)));
        if (bend < least) {
            least = bend;
            best = i;
        }
    }
    return best;
}

int sr_pieces_create(const struct sr_flow *flow, size_t tracks, const struct sr_flow_track *track,
                     const double *spread, size_t rows, struct sr_pieces *pieces)
{
    const size_t states = (size_t)sr_flow_states(flow);
    *pieces = (struct sr_pieces){0};
    for (size_t k = 0; k < tracks; k++)
        pieces->count += track[k].n / rows > 1 ? track[k].n / rows : 1;
    pieces->piece = orr_alloc(pieces->count, sizeof *pieces->piece);
    pieces->start = orr_alloc(states * pieces->count, sizeof *pieces->start);
    if (!pieces->piece || !pieces->start) {
        sr_pieces_free(pieces);
        return ORR_ENOMEM;
    }
    size_t at = 0;
    for (size_t k = 0; k < tracks; k++) {
        const size_t n = track[k].n, parts = n / rows > 1 ? n / rows : 1;
        size_t end = 0;
        for (size_t j = 0; j < parts; j++, at++) {
            const size_t first = end;
            end =
                j + 1 < parts ? begin_near(flow, &track[k], spread, (j + 1) * n / parts, rows) : n;
            pieces->piece[at] = (struct sr_piece){.track = k,
                                                  .category = track[k].category,
                                                  .first = first,
                                                  .rows = end - first,
                                                  .joined = j + 1 < parts};
            for (size_t s = 0; s < states; s++)
                pieces->start[s * pieces->count + at] = guess(flow, &track[k], s, first);
        }
    }
    return 0;
}

void sr_pieces_free(struct sr_pieces *pieces)
{
    free(pieces->piece);
    free(pieces->start);
    *pieces = (struct sr_pieces){0};
}

void sr_flow_spread(const struct sr_flow *flow, size_t tracks, const struct sr_flow_track *track,
                    double spread[2 * SR_FLOW_STATES])
{
    for (size_t s = 0; s < (size_t)sr_flow_states(flow); s++) {
        double sum = 0, squares = 0, rows = 0, largest = 0;
        for (size_t k = 0; k < tracks; k++)
            for (size_t i = 0; i < track[k].n; i++) {
                const double x = guess(flow, &track[k], s, i);
                if (!isfinite(x))
                    continue;
                sum += x;
                rows++;
                largest = fmax(largest, fabs(x));
            }
        const double mean = rows > 0 ? sum / rows : 0;
        for (size_t k = 0; k < tracks; k++)
            for (size_t i = 0; i < track[k].n; i++) {
                const double x = guess(flow, &track[k], s, i);
                squares += isfinite(x) ? (x - mean) * (x - mean) : 0;
            }
        spread[s] = rows > 0 ? fmax(sqrt(squares / rows), 1e-6 * largest) : 0;
        if (!(spread[s] > 0))
            spread[s] = 1;
    }
}
