/* amplitude_errors.c - how far an amplitude of the law errs.
 *
 * An acceleration is a weighted sum of positions, and neighbouring ones share positions: their
 * errors are correlated, mostly negatively, so that a mean of many errs less than their sigmas say.
 * For the amplitude k of a law, F = k f, that least squares with the rows' weights w gives,
 *
 *   dk / k = sum over rows of c dF,   c = w F / sum of w F^2,
 *
 * and each dF is a sum over the positions' noise by the weights of smoothing. What smoothing takes
 * from a bent path adds to this: the smoothed path smoothed once more loses about as much again. */
#include "motion.h"

#include <math.h>
#include <stdlib.h>

enum { W = SR_MOTION_WINDOW };

/* Adds `times` the weights of row `at` of a track, along a direction (dims). */
static void add_weights(struct sr_amplitude *k, const struct sr_track *track, size_t at,
                        const double *weights, const double *direction, double times)
{
    const size_t n = track->n, start = track->start[at], width = n < W ? n : W;
    double *position = k->position + k->from[track - k->tracks->track];
    for (size_t d = 0; d < (size_t)k->tracks->dims; d++)
        for (size_t j = 0; j < width; j++)
            position[d * n + start + j] += times * direction[d] * weights[at * W + j];
}

/* The part of a row that is of this track; NULL: none. */
static const struct sr_motion_part *part_of(const struct sr_motion_table *table,
                                            const struct sr_motion_row *row,
                                            const struct sr_track *track)
{
    for (size_t p = row->first; p < row->first + row->parts; p++)
        if (table->part[p].track == track)
            return &table->part[p];
    return NULL;
}

/* Adds a row with coefficient c: its acceleration less what the law makes of the error of r. */
static void add_row(struct sr_amplitude *k, const struct sr_motion_table *table,
                    const struct sr_motion_row *row, double c)
{
    const struct sr_motion_part *one = part_of(table, row, row->track),
                                *two = row->other ? part_of(table, row, row->other) : NULL;
    double away[SR_MOTION_DIMS];
    for (size_t p = row->first; p < row->first + row->parts; p++)
        add_weights(k, table->part[p].track, table->part[p].at, table->part[p].track->weight,
                    table->part[p].weight, c);
    for (size_t d = 0; d < (size_t)k->tracks->dims; d++)
        away[d] = (one->track->smooth[d * one->track->n + one->at] -
                   (two ? two->track->smooth[d * two->track->n + two->at] : table->centre[d])) /
                  row->r;
    const double by_r = c * row->value * row->slope / row->r;
    add_weights(k, one->track, one->at, one->track->smooth_weight, away, -by_r);
    if (two)
        add_weights(k, two->track, two->at, two->track->smooth_weight, away, by_r);
}

int sr_amplitude_create(const struct sr_tracks *tracks, const struct sr_motion_table *table,
                        struct sr_amplitude *k)
{
    size_t all = 0;
    *k = (struct sr_amplitude){.tracks = tracks};
    k->from = orr_alloc(tracks->count, sizeof *k->from);
    for (size_t t = 0; k->from && t < tracks->count; t++) {
        k->from[t] = all;
        all += (size_t)tracks->dims * tracks->track[t].n;
    }
    k->position = k->from ? orr_alloc(all, sizeof *k->position) : NULL;
    if (!k->position)
        return ORR_ENOMEM;
    for (size_t i = 0; i < table->count; i++)
        k->squares += pow(table->row[i].value / table->row[i].sigma, 2);
    for (size_t i = 0; i < table->count; i++) {
        const struct sr_motion_row *row = &table->row[i];
        add_row(k, table, row, row->value / (row->sigma * row->sigma) / k->squares);
    }
    return 0;
}

void sr_amplitude_free(struct sr_amplitude *k)
{
    free(k->from);
    free(k->position);
}

void sr_amplitude_measure(const struct sr_amplitude *k, struct sr_motion_table *table)
{
    double variance = 0;
    for (size_t t = 0; t < k->tracks->count; t++) {
        const struct sr_track *track = &k->tracks->track[t];
        double squares = 0;
        for (size_t i = 0; i < (size_t)k->tracks->dims * track->n; i++)
            squares += pow(k->position[k->from[t] + i], 2);
        variance += squares * track->noise * track->noise;
    }
    table->inflation = variance * k->squares;
}

double sr_motion_variance(double inflation, double chi2, double freedom)
{
    return inflation * fmax(1, freedom > 0 ? chi2 / freedom : 1);
}
