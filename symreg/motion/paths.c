/* paths.c - the paths that a law of a table of motion is integrated along. */
#include "arcs.h"
#include "decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Coordinate d at time i of the row's body, relative to the other one or the centre. */
static double relative(const struct sr_motion_table *table, const struct sr_motion_row *row,
                       size_t d, size_t i)
{
    const struct sr_track *a = row->track, *b = row->other;
    return a->x[d * a->n + i] - (b ? b->x[d * b->n + i] : table->centre[d]);
}

static double smoothed(const struct sr_motion_table *table, const struct sr_motion_row *row,
                       size_t d, size_t i)
{
    const struct sr_track *a = row->track, *b = row->other;
    return a->smooth[d * a->n + i] - (b ? b->smooth[d * b->n + i] : table->centre[d]);
}

static double acceleration(const struct sr_motion_row *row, size_t d, size_t i)
{
    const struct sr_track *a = row->track, *b = row->other;
    return a->acceleration[d * a->n + i] - (b ? b->acceleration[d * b->n + i] : 0);
}

/* The velocity at row i that the smoothed positions and accelerations of rows i and j give, with
 * accelerations linear between them. */
static double velocity(const struct sr_motion_table *table, const struct sr_motion_row *row,
                       size_t d, size_t i, size_t j)
{
    const double h = row->track->t[j] - row->track->t[i];
    return (smoothed(table, row, d, j) - smoothed(table, row, d, i)) / h -
           h * (2 * acceleration(row, d, i) + acceleration(row, d, j)) / 6;
}

/* Positions and velocities at the rows of a path (n, 2 dims). */
static void fill_states(const struct sr_motion_table *table, const struct sr_motion_row *row,
                        size_t dims, double *state)
{
    const size_t n = row->track->n;
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < dims; d++) {
            const double before = velocity(table, row, d, i, i ? i - 1 : i + 1),
                         after = velocity(table, row, d, i, i + 1 < n ? i + 1 : i - 1);
            state[i * 2 * dims + d] = smoothed(table, row, d, i);
            state[(i * 2 + 1) * dims + d] = 0.5 * (before + after);
        }
}

/* Whether the row's pair moves as its law alone says: about a centre, or as the two bodies of a
 * system, at common times. */
static bool stands_alone(const struct sr_tracks *tracks, const struct sr_motion_table *table,
                         const struct sr_motion_row *row)
{
    if (row->other && !sr_track_same_times(row->track, row->other))
        return false;
    if (table->by_centre)
        return true;
    size_t bodies = 0;
    for (size_t k = 0; k < tracks->count; k++)
        bodies += !strcmp(tracks->track[k].system, row->track->system);
    return bodies == 2;
}

bool sr_motion_judges(const struct sr_tracks *tracks, const struct sr_motion_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (!stands_alone(tracks, table, &table->row[i]))
            return false;
    return table->count > 0;
}

static double rms(const double *x, size_t n)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += x[i] * x[i] / (double)n;
    return sqrt(squares);
}

static void fill(const struct sr_tracks *tracks, const struct sr_motion_table *table,
                 const struct sr_motion_row *row, struct sr_path *path, double *x)
{
    const struct sr_track *track = row->track, *other = row->other;
    const size_t n = track->n, dims = (size_t)tracks->dims;
    /* exact positions are followed to a millionth: beyond that nothing is decided */
    const double exact = 1e-6;
    const bool shared = other && (track->origin || other->origin);
    path->n = n;
    path->t = track->t;
    path->x = x;
    for (size_t d = 0; d < dims; d++)
        for (size_t i = 0; i < n; i++)
            x[d * n + i] = relative(table, row, d, i);
    path->size = rms(x, dims * n);
    path->sigma = other ? hypot(track->noise, other->noise) : track->noise;
    if (other && !shared) /* a body at rest has no noise */
        path->sigma = fmax(track->noise, other->noise);
    path->sigma = fmax(path->sigma, exact * path->size);
    path->m1 = row->m1;
    path->m2 = row->m2;
    path->share = table->force ? 1 / row->m1 + 1 / row->m2 : 1;
}

static void find_columns(const char *const *features, int count, struct sr_paths *paths)
{
    static const char *const names[] = {"r", "m1", "m2"};
    paths->features = count;
    for (size_t k = 0; k < 3; k++) {
        paths->column[k] = -1;
        for (int f = 0; f < count; f++)
            if (!strcmp(features[f], names[k]))
                paths->column[k] = f;
    }
}

int sr_paths_create(const struct sr_tracks *tracks, const struct sr_motion_table *table,
                    const char *const *features, int count, size_t most, struct sr_paths *paths)
{
    const size_t dims = (size_t)tracks->dims;
    size_t values = 0;
    *paths = (struct sr_paths){.dims = tracks->dims};
    find_columns(features, count, paths);
    struct sr_motion_row **row = sr_motion_sorted(table);
    if (!row)
        return ORR_ENOMEM;
    bool alone = paths->column[0] >= 0;
    size_t pairs = 0;
    for (size_t i = 0; i < table->count && alone; i++) {
        if (i && !sr_motion_by_pair(&row[i - 1], &row[i]))
            continue;
        alone = stands_alone(tracks, table, row[i]);
        values += row[i]->track->n * dims;
        row[pairs++] = row[i];
    }
    paths->path = orr_alloc(pairs + 1, sizeof *paths->path);
    paths->block = orr_alloc(3 * values + 1, sizeof *paths->block);
    const bool fine = paths->path && paths->block;
    double *x = paths->block;
    paths->state = x + values;
    for (size_t i = 0; i < pairs && fine && alone; i++) {
        if (paths->count && paths->rows + row[i]->track->n > most)
            break;
        struct sr_path *path = &paths->path[paths->count++];
        fill(tracks, table, row[i], path, x);
        path->from = paths->rows;
        fill_states(table, row[i], dims, paths->state + 2 * dims * path->from);
        paths->rows += path->n;
        x += dims * path->n;
    }
    free(row);
    return fine ? 0 : ORR_ENOMEM;
}

void sr_paths_free(struct sr_paths *paths)
{
    free(paths->path);
    free(paths->block);
    *paths = (struct sr_paths){0};
}
