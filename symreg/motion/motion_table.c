/* motion_table.c - the rows of a table of motion, and their weights in the search. */
#include "motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_fit.h>

void sr_motion_free(struct sr_motion_table *table)
{
    free(table->row);
    free(table->part);
    *table = (struct sr_motion_table){0};
}

/* An array of twice the size, at least of `least` elements; NULL where memory ran out, and the old
 * one is kept. */
static void *enlarge(void *old, size_t used, size_t least, size_t bytes, size_t *room)
{
    const size_t more = 2 * *room > least ? 2 * *room : least;
    void *larger = orr_alloc(more, bytes);
    if (!larger)
        return NULL;
    if (used)
        memcpy(larger, old, used * bytes);
    free(old);
    *room = more;
    return larger;
}

int sr_motion_add(struct sr_motion_table *table, const struct sr_motion_row *row,
                  const struct sr_motion_part *part, size_t parts)
{
    if (!isfinite(row->value) || !(row->sigma >= 0) || !(row->r > 0)) {
        table->weak++;
        return 0;
    }
    if (table->count == table->room) {
        void *larger = enlarge(table->row, table->count, 1024, sizeof *table->row, &table->room);
        if (!larger)
            return ORR_ENOMEM;
        table->row = larger;
    }
    if (table->parts + parts > table->part_room) {
        void *larger = enlarge(table->part, table->parts, 1024 + parts, sizeof *table->part,
                               &table->part_room);
        if (!larger)
            return ORR_ENOMEM;
        table->part = larger;
    }
    struct sr_motion_row *added = &table->row[table->count++];
    *added = *row;
    added->first = table->parts;
    added->parts = parts;
    memcpy(table->part + table->parts, part, parts * sizeof *part);
    table->parts += parts;
    return 0;
}

int sr_motion_by_pair(const void *a, const void *b)
{
    const struct sr_motion_row *p = *(const struct sr_motion_row *const *)a,
                               *q = *(const struct sr_motion_row *const *)b;
    const int order = (p->track > q->track) - (p->track < q->track);
    return order ? order : (p->other > q->other) - (p->other < q->other);
}

struct sr_motion_row **sr_motion_sorted(const struct sr_motion_table *table)
{
    struct sr_motion_row **row = orr_alloc(table->count + 1, sizeof *row);
    for (size_t i = 0; row && i < table->count; i++)
        row[i] = &table->row[i];
    if (row)
        qsort(row, table->count, sizeof *row, sr_motion_by_pair);
    return row;
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
    struct sr_motion_row **row = sr_motion_sorted(table);
    double *relative = orr_alloc(table->count + 1, sizeof *relative);
    if (!row || !relative) {
        free(row);
        free(relative);
        return ORR_ENOMEM;
    }
    for (size_t i = 0, n; i < table->count; i += n) {
        for (n = 1; i + n < table->count && !sr_motion_by_pair(&row[i], &row[i + n]);)
            n++;
        if (n >= MANY)
            level(row + i, n, relative);
        for (size_t k = 0; k < n && n < MANY; k++)
            row[few++] = row[i + k];
    }
    if (few)
        level(row, few, relative);
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

int sr_motion_rows(const struct sr_tracks *tracks, const char *centre,
                   struct sr_motion_table *table)
{
    table->count = table->parts = table->weak = 0;
    table->by_centre = centre != NULL;
    TRY(centre ? sr_motion_centre(tracks, centre, table) : sr_motion_pairs(tracks, table));
    return weigh_rows(table);
}

int sr_motion_make(struct sr_tracks *tracks, const char *centre, int threads,
                   struct sr_motion_table *table)
{
    const char *body = sr_centre_body(centre);
    if (body || !centre)
        sr_tracks_relative(tracks, body);
    TRY(sr_tracks_smooth(tracks, threads));
    TRY(sr_motion_rows(tracks, centre, table));
    TRY(refuse_lines(tracks));
    if (table->count >= 2)
        TRY(sr_motion_unbend(tracks, centre, table));
    sr_tracks_share_noise(tracks);
    return table->count >= 2
               ? 0
               : ORR_FAIL(ORR_EINVAL,
                          "%s: expected at least 2 accelerations that are larger than twice their "
                          "noise, found %zu of %zu",
                          tracks->file, table->count, table->count + table->weak);
}
