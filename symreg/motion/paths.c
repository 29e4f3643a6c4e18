/* paths.c - the paths that a law of a table of motion is integrated along. */
#include "arcs.h"
#include "decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one track is, or its difference to another track or to a point. */
struct relative {
    const struct sr_track *a, *b; /* b: NULL: the point */
    const double *point;          /* (dims); NULL: 0 */
};

static double position(const struct relative *of, size_t d, size_t i)
{
    const struct sr_track *a = of->a, *b = of->b;
    return a->x[d * a->n + i] - (b ? b->x[d * b->n + i] : of->point ? of->point[d] : 0);
}

static double smoothed(const struct relative *of, size_t d, size_t i)
{
    const struct sr_track *a = of->a, *b = of->b;
    return a->smooth[d * a->n + i] - (b ? b->smooth[d * b->n + i] : of->point ? of->point[d] : 0);
}

static double acceleration(const struct relative *of, size_t d, size_t i)
{
    const struct sr_track *a = of->a, *b = of->b;
    return a->acceleration[d * a->n + i] - (b ? b->acceleration[d * b->n + i] : 0);
}

/* The velocity at row i that the smoothed positions and accelerations of rows i and j give, with
 * accelerations linear between them. */
static double velocity(const struct relative *of, size_t d, size_t i, size_t j)
{
    const double h = of->a->t[j] - of->a->t[i];
    return (smoothed(of, d, j) - smoothed(of, d, i)) / h -
           h * (2 * acceleration(of, d, i) + acceleration(of, d, j)) / 6;
}

static double rms(const double *x, size_t n)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += x[i] * x[i] / (double)n;
    return sqrt(squares);
}

/* Fills in what a path has of one of its bodies: positions, and in state (n, 2 bodies dims)
 * positions and velocities of the smoothed track. */
static void fill_body(const struct sr_paths *paths, struct sr_path *path, size_t body,
                      const struct relative *of, double sigma)
{
    /* exact positions are followed to a millionth: beyond that nothing is decided */
    const double exact = 1e-6;
    const size_t n = path->n, dims = (size_t)paths->dims, all = path->bodies * dims;
    double *const x = path->x + body * dims * n, *const state = paths->state + path->from;
    for (size_t d = 0; d < dims; d++)
        for (size_t i = 0; i < n; i++) {
            const double before = velocity(of, d, i, i ? i - 1 : i + 1),
                         after = velocity(of, d, i, i + 1 < n ? i + 1 : i - 1);
            x[d * n + i] = position(of, d, i);
            state[i * 2 * all + body * dims + d] = smoothed(of, d, i);
            state[i * 2 * all + all + body * dims + d] = 0.5 * (before + after);
        }
    path->extent[body] = rms(x, dims * n);
    path->sigma[body] = fmax(sigma, exact * path->extent[body]);
    path->size = fmax(path->size, path->extent[body]);
}

/* The tracks of a row's system; *size of them. */
static const struct sr_track *system_of(const struct sr_tracks *tracks,
                                        const struct sr_motion_row *row, size_t *size)
{
    size_t first = 0;
    while (strcmp(tracks->track[first].system, row->track->system) != 0)
        first++;
    *size = sr_system_size(tracks, first);
    return tracks->track + first;
}

/* Whether paths of the row's bodies can be followed: all bodies are known at common times, and at
 * most one rests, which the others attract no less. */
static bool has_paths(const struct sr_tracks *tracks, const struct sr_motion_table *table,
                      const struct sr_motion_row *row)
{
    size_t size;
    if (table->by_centre)
        return !row->other || sr_track_same_times(row->track, row->other);
    const struct sr_track *const track = system_of(tracks, row, &size);
    int resting = 0;
    for (size_t k = 0; k < size; k++) {
        if (!sr_track_same_times(&track[k], track))
            return false;
        resting += sr_track_rests(tracks->dims, &track[k]);
    }
    return size > 1 && resting <= 1;
}

bool sr_motion_judges(const struct sr_tracks *tracks, const struct sr_motion_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (!has_paths(tracks, table, &table->row[i]))
            return false;
    return table->count > 0;
}

/* One body relative to another one or to a centre. */
static void fill_pair(const struct sr_motion_table *table, const struct sr_motion_row *row,
                      struct sr_paths *paths, struct sr_path *path)
{
    const struct sr_track *track = row->track, *other = row->other;
    const struct relative of = {track, other, table->centre};
    double sigma =
        other ? sqrt(track->noise * track->noise + other->noise * other->noise) : track->noise;
    if (other && !track->origin && !other->origin) /* a body at rest has no noise */
        sigma = fmax(track->noise, other->noise);
    fill_body(paths, path, 0, &of, sigma);
    path->pair[0] = (struct sr_pair){.b = -1,
                                     .m1 = row->m1,
                                     .m2 = row->m2,
                                     .share_a = table->force ? 1 / row->m1 + 1 / row->m2 : 1};
}

/* The number of a body of a system among those that move, -1: it rests. */
static int number_of(const struct sr_tracks *tracks, const struct sr_track *track, size_t size,
                     size_t body)
{
    int number = 0;
    for (size_t k = 0; k < size; k++) {
        const bool rests = sr_track_rests(tracks->dims, &track[k]);
        if (k == body)
            return rests ? -1 : number;
        number += !rests;
    }
    return -1;
}

/* All bodies of a system. Where one rests, the frame moves as it does. */
static void fill_system(const struct sr_tracks *tracks, const struct sr_track *track, size_t size,
                        struct sr_paths *paths, struct sr_path *path)
{
    double point[SR_MOTION_DIMS] = {0};
    for (size_t k = 0; k < size; k++)
        for (size_t d = 0; d < (size_t)tracks->dims && number_of(tracks, track, size, k) < 0; d++)
            point[d] = track[k].x[d * track[k].n];
    path->pairs = 0;
    for (size_t i = 0; i < size; i++) {
        const int a = number_of(tracks, track, size, i);
        const struct relative of = {&track[i], NULL, point};
        if (a >= 0)
            fill_body(paths, path, (size_t)a, &of, track[i].noise);
        for (size_t j = i + 1; j < size; j++) {
            const int b = number_of(tracks, track, size, j);
            const double one = 1 / track[i].mass, two = 1 / track[j].mass;
            struct sr_pair pair = {.m1 = track[i].mass, .m2 = track[j].mass};
            pair.a = (size_t)(a < 0 ? b : a);
            pair.b = a < 0 ? -1 : b;
            pair.share_a = a < 0 ? two : one;
            pair.share_b = two;
            pair.share_frame = a < 0 ? one : b < 0 ? two : 0;
            path->pair[path->pairs++] = pair;
        }
    }
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

/* How many bodies and pairs the path of a row has, and its rows. */
static void measure(const struct sr_tracks *tracks, const struct sr_motion_table *table,
                    const struct sr_motion_row *row, size_t most, struct sr_path *path)
{
    size_t size = 2, resting = 1;
    const struct sr_track *const track = table->by_centre ? NULL : system_of(tracks, row, &size);
    path->n = row->track->n;
    path->t = row->track->t;
    path->pairs = path->bodies = 1;
    if (size == 2)
        return;
    resting = 0;
    for (size_t k = 0; k < size; k++)
        resting += number_of(tracks, track, size, k) < 0;
    path->bodies = size - resting;
    path->pairs = size * (size - 1) / 2;
    if (path->n * path->bodies > most)
        path->n = most / path->bodies;
}

/* Lists the rows whose bodies have paths, the first of each pair or system, and measures these.
 * Returns how many, 0 where one of them has none. */
static size_t list_paths(const struct sr_tracks *tracks, const struct sr_motion_table *table,
                         size_t most, struct sr_motion_row **row, struct sr_paths *paths)
{
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        bool known = i && !sr_motion_by_pair(&row[i - 1], &row[i]);
        struct sr_path path = {0};
        if (known)
            continue;
        if (!has_paths(tracks, table, row[i]))
            return 0;
        measure(tracks, table, row[i], most, &path);
        for (size_t k = 0; k < count && path.pairs > 1; k++)
            known = known || !strcmp(row[k]->track->system, row[i]->track->system);
        if (known || (count && paths->rows + path.n * path.bodies > most))
            continue;
        paths->together = paths->together || path.pairs > 1;
        paths->path[count] = path;
        row[count++] = row[i];
        paths->rows += path.n * path.bodies;
    }
    return count;
}

/* Memory for what paths of known sizes have. */
static int place_paths(struct sr_paths *paths)
{
    const size_t dims = (size_t)paths->dims;
    size_t pairs = 0;
    for (size_t k = 0; k < paths->count; k++) {
        paths->bodies += paths->path[k].bodies;
        pairs += paths->path[k].pairs;
    }
    paths->states = 2 * dims * paths->rows;
    double *at = paths->state =
        orr_alloc(3 * dims * paths->rows + 2 * paths->bodies + 2 * paths->count + 1, sizeof *at);
    struct sr_pair *pair = paths->pair = orr_alloc(pairs + 1, sizeof *pair);
    if (!at || !pair)
        return ORR_ENOMEM;
    at += paths->states;
    paths->chi2 = at;
    paths->sorted = at + paths->count;
    at += 2 * paths->count;
    for (size_t k = 0, from = 0; k < paths->count; k++) {
        struct sr_path *path = &paths->path[k];
        path->x = at;
        path->sigma = at + dims * path->n * path->bodies;
        path->extent = path->sigma + path->bodies;
        path->pair = pair;
        path->from = from;
        at = path->extent + path->bodies;
        pair += path->pairs;
        from += 2 * dims * path->n * path->bodies;
    }
    return 0;
}

int sr_paths_create(const struct sr_tracks *tracks, const struct sr_motion_table *table,
                    const char *const *features, int count, size_t most, struct sr_paths *paths)
{
    *paths = (struct sr_paths){.dims = tracks->dims};
    find_columns(features, count, paths);
    struct sr_motion_row **row = sr_motion_sorted(table);
    paths->path = orr_alloc(table->count + 1, sizeof *paths->path);
    int rc = row && paths->path ? 0 : ORR_ENOMEM;
    if (!rc && paths->column[0] >= 0)
        paths->count = list_paths(tracks, table, most, row, paths);
    paths->rows = paths->count ? paths->rows : 0;
    rc = rc ? rc : place_paths(paths);
    for (size_t k = 0; k < paths->count && !rc; k++) {
        struct sr_path *path = &paths->path[k];
        size_t size;
        if (path->pairs == 1) {
            fill_pair(table, row[k], paths, path);
            continue;
        }
        const struct sr_track *const track = system_of(tracks, row[k], &size);
        fill_system(tracks, track, size, paths, path);
    }
    free(row);
    return rc;
}

void sr_paths_free(struct sr_paths *paths)
{
    free(paths->path);
    free(paths->pair);
    free(paths->state);
    *paths = (struct sr_paths){0};
}
