/* rows.c - the rows of a table of motion, and their weights in the search. */
#include "motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_fit.h>

int sr_motion_add(struct sr_motion_table *table, const struct sr_motion_row *row)
{
    if (!isfinite(row->value) || !(row->sigma >= 0) || !(row->r > 0)) {
        table->weak++;
        return 0;
    }
    if (table->count == table->room) {
        const size_t room = table->room ? 2 * table->room : 1024;
        struct sr_motion_row *larger = orr_alloc(room, sizeof *larger);
        if (!larger)
            return ORR_ENOMEM;
        if (table->count)
            memcpy(larger, table->row, table->count * sizeof *larger);
        free(table->row);
        table->row = larger;
        table->room = room;
    }
    table->row[table->count++] = *row;
    return 0;
}

/* A central force has no component across the line between the bodies, so an acceleration's
 * component there is a second estimate of its error. Where the mean square over a row and its
 * neighbours of the same pair exceeds the variance, the row's sigma is enlarged. */
static int look_across(struct sr_motion_table *table)
{
    double *factor = orr_alloc(table->count, sizeof *factor);
    if (!factor)
        return ORR_ENOMEM;
    for (size_t i = 0; i < table->count; i++) {
        const struct sr_motion_row *row = table->row + i;
        double sum = row->across;
        int count = 1;
        if (i > 0 && row[-1].track == row->track && row[-1].other == row->other) {
            sum += row[-1].across;
            count++;
        }
        if (i + 1 < table->count && row[1].track == row->track && row[1].other == row->other) {
            sum += row[1].across;
            count++;
        }
        factor[i] = sqrt(fmax(1, fmax(row->across, sum / count)));
    }
    for (size_t i = 0; i < table->count; i++)
        table->row[i].sigma *= factor[i];
    free(factor);
    return 0;
}

static void drop_weak(struct sr_motion_table *table)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct sr_motion_row *row = &table->row[i];
        if (row->sigma < 0.5 * fabs(row->value) &&
            !(row->expected > 0 && row->sigma > 0.5 * row->expected))
            table->row[kept++] = *row;
    }
    table->weak += table->count - kept;
    table->count = kept;
}

/* Whether a straight line passes through a track's rows as well as noise allows: the rms residual
 * of its coordinates from lines over time is within 1.5 times the noise. */
static bool is_straight(const struct sr_track *track, int dims)
{
    double squares = 0, fit[2], covariance[3], square;
    for (int d = 0; d < dims; d++) {
        gsl_fit_linear(track->t, 1, track->x + (size_t)d * track->n, 1, track->n, &fit[0], &fit[1],
                       &covariance[0], &covariance[1], &covariance[2], &square);
        squares += square;
    }
    return sqrt(squares / (double)track->n / dims) <= 1.5 * track->noise;
}

/* Where no force acts, single accelerations exceed twice their sigma by chance and would give a law
 * of noise. */
static int refuse_lines(const struct sr_tracks *tracks)
{
    for (size_t k = 0; k < tracks->count; k++)
        if (!is_straight(&tracks->track[k], tracks->dims))
            return 0;
    return ORR_FAIL(ORR_EINVAL,
                    "%s: expected tracks that forces bend, found straight lines within the noise",
                    tracks->file);
}

/* Orders rows by their pair. */
static int by_pair(const void *a, const void *b)
{
    const struct sr_motion_row *p = *(const struct sr_motion_row *const *)a,
                               *q = *(const struct sr_motion_row *const *)b;
    const int order = (p->track > q->track) - (p->track < q->track);
    return order ? order : (p->other > q->other) - (p->other < q->other);
}

/* Raises the sigmas of these rows to at least their median relative sigma. */
static void level(struct sr_motion_row **row, size_t count, double *relative)
{
    for (size_t i = 0; i < count; i++)
        relative[i] = row[i]->sigma / fabs(row[i]->value);
    const double median = orr_median(relative, count);
    for (size_t i = 0; i < count; i++)
        row[i]->sigma = fmax(row[i]->sigma, median * fabs(row[i]->value));
}

/* Raises every sigma to at least the median relative sigma. A few very precise rows would otherwise
 * dominate the search, and very small sigmas are the least certain. The median is that of the
 * pair's rows, where these are many, since forces of some pairs are known much better than those of
 * others; otherwise that of all rows of such pairs. */
static int level_sigmas(struct sr_motion_table *table)
{
    enum { MANY = 30 };
    size_t few = 0;
    struct sr_motion_row **row = orr_alloc(2 * table->count + 1, sizeof *row);
    double *relative = orr_alloc(table->count + 1, sizeof *relative);
    if (!row || !relative) {
        free(row);
        free(relative);
        return ORR_ENOMEM;
    }
    for (size_t i = 0; i < table->count; i++)
        row[i] = &table->row[i];
    qsort(row, table->count, sizeof *row, by_pair);
    for (size_t i = 0, n; i < table->count; i += n) {
        for (n = 1; i + n < table->count && !by_pair(&row[i], &row[i + n]);)
            n++;
        if (n >= MANY)
            level(row + i, n, relative);
        for (size_t k = 0; k < n && n < MANY; k++)
            row[table->count + few++] = row[i + k];
    }
    if (few)
        level(row + table->count, few, relative);
    free(row);
    free(relative);
    return 0;
}

/* The sigmas for the search: enlarged by the residuals across the line, then raised to the median
 * relative sigma. Rows with too much noise are dropped. */
static int weigh_rows(struct sr_motion_table *table)
{
    TRY(look_across(table));
    drop_weak(table);
    return level_sigmas(table);
}

int sr_motion_make(struct sr_tracks *tracks, const char *centre, int threads,
                   struct sr_motion_table *table)
{
    const char *body = sr_centre_body(centre);
    if (body || !centre)
        sr_tracks_relative(tracks, body);
    TRY(sr_tracks_smooth(tracks, threads));
    TRY(centre ? sr_motion_centre(tracks, centre, table) : sr_motion_pairs(tracks, table));
    TRY(refuse_lines(tracks));
    sr_tracks_share_noise(tracks);
    TRY(weigh_rows(table));
    return table->count >= 2
               ? 0
               : ORR_FAIL(ORR_EINVAL,
                          "%s: expected at least 2 accelerations that are larger than twice their "
                          "noise, found %zu of %zu",
                          tracks->file, table->count, table->count + table->weak);
}
