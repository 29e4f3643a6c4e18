/* tracks.c - a CSV file of positions becomes one track per body of every system. */
#include "motion.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the file; -1 where an option is absent. */
struct columns {
    int time, x[SR_MOTION_DIMS], v[SR_MOTION_DIMS], body, system, mass, dims, velocities;
    bool plain; /* no memory for smoothing */
};

struct key {
    const char *system, *body;
    size_t row;
};

static const char *cell_at(const struct orr_csv *csv, size_t row, int column)
{
    return column < 0 ? "" : csv->cells[row * csv->cols + (size_t)column];
}

static int find_columns(const struct orr_csv *csv, const char *file,
                        const struct sr_motion_options *o, struct columns *c)
{
    const struct {
        const char *name;
        int *column;
    } wanted[] = {
        {o->time, &c->time}, {o->body, &c->body}, {o->system, &c->system}, {o->mass, &c->mass}};
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
        if (wanted[k].name)
            TRY(sr_table_column(csv, file, wanted[k].name, wanted[k].column));
    TRY(sr_table_columns(csv, file, "--position", o->position, SR_MOTION_DIMS, c->x, &c->dims));
    TRY(o->velocity ? sr_table_columns(csv, file, "--velocity", o->velocity, SR_MOTION_DIMS, c->v,
                                       &c->velocities)
                    : 0);
    return !o->velocity || c->velocities == c->dims
               ? 0
               : ORR_FAIL(ORR_EUSAGE,
                          "--velocity: expected %d columns, as many as --position, found %d",
                          c->dims, c->velocities);
}

static int check_finite(const struct orr_csv *csv, const char *file, size_t row, int column)
{
    return isfinite(csv->values[row * csv->cols + (size_t)column])
               ? 0
               : sr_table_wrong_cell(csv, file, row, column);
}

static int check_row(const struct orr_csv *csv, const char *file, const struct columns *c,
                     size_t row)
{
    TRY(check_finite(csv, file, row, c->time));
    for (int d = 0; d < c->dims; d++)
        TRY(check_finite(csv, file, row, c->x[d]));
    for (int d = 0; d < c->velocities; d++)
        TRY(check_finite(csv, file, row, c->v[d]));
    if (c->mass < 0)
        return 0;
    TRY(check_finite(csv, file, row, c->mass));
    const double mass = csv->values[row * csv->cols + (size_t)c->mass];
    return mass > 0
               ? 0
               : ORR_FAIL(ORR_EINVAL, "%s:%zu: column \"%s\": expected a mass above 0, found %g",
                          file, csv->line[row], csv->names[c->mass], mass);
}

/* ---- tracks, one after the other */

static int by_track(const void *a, const void *b)
{
    const struct key *p = a, *q = b;
    int order = strcmp(p->system, q->system);
    if (!order)
        order = strcmp(p->body, q->body);
    return order ? order : (p->row > q->row) - (p->row < q->row);
}

/* "body "a": " for a message, or "" without --body. */
static const char *name_body(const struct columns *c, const struct sr_track *track, char text[300])
{
    *text = '\0';
    if (c->body >= 0)
        snprintf(text, 300, "body \"%.280s\": ", track->body);
    return text;
}

static int fill_track(const struct orr_csv *csv, const char *file, const struct columns *c,
                      const struct key *key, struct sr_track *track)
{
    char named[300];
    for (size_t i = 0; i < track->n; i++) {
        const size_t row = key[i].row;
        const double *value = csv->values + row * csv->cols;
        track->line[i] = csv->line[row];
        track->t[i] = value[c->time];
        for (size_t d = 0; d < (size_t)c->dims; d++)
            track->x[d * track->n + i] = value[c->x[d]];
        for (size_t d = 0; d < (size_t)c->velocities; d++)
            track->v[d * track->n + i] = value[c->v[d]];
        if (i > 0 && !(track->t[i] > track->t[i - 1]))
            return sr_table_time_falls(
                csv, file, key[i - 1].row, row, c->time, name_body(c, track, named),
                c->body < 0 ? "; rows of several bodies need --body COLUMN" : "");
        if (c->mass < 0)
            continue;
        track->mass = i == 0 ? value[c->mass] : track->mass;
        if (value[c->mass] < track->mass || value[c->mass] > track->mass)
            return ORR_FAIL(ORR_EINVAL,
                            "%s:%zu: column \"%s\": body \"%s\": expected the mass %.*g of line "
                            "%zu, found %.*g",
                            file, track->line[i], csv->names[c->mass], track->body,
                            orr_digits(track->mass, value[c->mass]), track->mass, track->line[0],
                            orr_digits(track->mass, value[c->mass]), value[c->mass]);
    }
    return 0;
}

/* Points the track's arrays into the common blocks. */
static void place_track(int dims, double **block, size_t **lines, struct sr_track *track)
{
    const size_t n = track->n, d = (size_t)dims;
    double **const array[] = {
        &track->t,      &track->gap,          &track->variance, &track->smooth_variance, &track->x,
        &track->smooth, &track->acceleration, &track->weight,   &track->smooth_weight};
    for (size_t k = 0; k < sizeof array / sizeof *array; k++) {
        *array[k] = *block;
        *block += k < 4 ? n : k < 7 ? n * d : n * SR_MOTION_WINDOW;
    }
    track->line = *lines;
    track->start = *lines + n;
    *lines += 2 * n;
}

static int by_first_line(const void *a, const void *b)
{
    const struct sr_track *p = a, *q = b;
    return (p->line[0] > q->line[0]) - (p->line[0] < q->line[0]);
}

/* Sorts the bodies of a system by their order in the file. */
static void order_bodies(struct sr_tracks *tracks)
{
    for (size_t first = 0, size; first < tracks->count; first += size) {
        size = sr_system_size(tracks, first);
        qsort(tracks->track + first, size, sizeof *tracks->track, by_first_line);
    }
}

static bool same_track(const struct key *a, const struct key *b)
{
    return !strcmp(a->system, b->system) && !strcmp(a->body, b->body);
}

/* Tracks that are not smoothed have times, positions and velocities alone. */
static int create_plain(struct sr_tracks *tracks, const struct columns *c, size_t count,
                        const size_t *rows)
{
    const size_t d = (size_t)c->dims, numbers = 1 + d + (size_t)c->velocities;
    size_t all = 0;
    for (size_t k = 0; k < count; k++)
        all += rows[k];
    tracks->dims = c->dims;
    double *block = tracks->block = orr_alloc(all * numbers, sizeof *block);
    size_t *lines = tracks->lines = orr_alloc(all, sizeof *lines);
    tracks->track = orr_alloc(count, sizeof *tracks->track);
    if (!block || !lines || !tracks->track)
        return ORR_ENOMEM;
    tracks->count = count;
    for (size_t k = 0; k < count; k++) {
        const size_t n = rows[k];
        tracks->track[k] = (struct sr_track){.system = "",
                                             .body = "",
                                             .n = n,
                                             .line = lines,
                                             .t = block,
                                             .x = block + n,
                                             .v = c->velocities ? block + n + n * d : NULL};
        block += n * numbers;
        lines += n;
    }
    return 0;
}

int sr_tracks_create(struct sr_tracks *tracks, int dims, size_t count, const size_t *rows)
{
    size_t all = 0;
    for (size_t k = 0; k < count; k++)
        all += rows[k];
    tracks->dims = dims;
    double *block = tracks->block =
        orr_alloc(all * (4 + 3 * (size_t)dims + 2 * SR_MOTION_WINDOW), sizeof *block);
    size_t *lines = tracks->lines = orr_alloc(2 * all, sizeof *lines);
    tracks->track = orr_alloc(count, sizeof *tracks->track);
    if (!block || !lines || !tracks->track)
        return ORR_ENOMEM;
    tracks->count = count;
    for (size_t k = 0; k < count; k++) {
        tracks->track[k] = (struct sr_track){.system = "", .body = "", .n = rows[k]};
        place_track(dims, &block, &lines, &tracks->track[k]);
    }
    return 0;
}

static int fill_tracks(const struct columns *c, const struct key *key, struct sr_tracks *tracks)
{
    char named[300];
    for (size_t k = 0; k < tracks->count; key += tracks->track[k++].n) {
        struct sr_track *track = &tracks->track[k];
        track->system = key->system;
        track->body = key->body;
        TRY(fill_track(&tracks->csv, tracks->file, c, key, track));
        if (track->n < SR_TRACK_ROWS)
            return ORR_FAIL(ORR_EINVAL, "%s:%zu: %s%s%s%sexpected at least %d rows, found %zu",
                            tracks->file, track->line[track->n - 1], name_body(c, track, named),
                            c->system < 0 ? "" : "system \"", track->system,
                            c->system < 0 ? "" : "\": ", SR_TRACK_ROWS, track->n);
    }
    order_bodies(tracks);
    return 0;
}

static int make_tracks(const struct columns *c, const struct key *key, struct sr_tracks *tracks)
{
    size_t *rows = orr_alloc(tracks->csv.rows, sizeof *rows), count = 0;
    if (!rows)
        return ORR_ENOMEM;
    for (size_t i = 0; i < tracks->csv.rows; i++) {
        count += i == 0 || !same_track(&key[i], &key[i - 1]);
        rows[count - 1]++;
    }
    const int rc = c->plain ? create_plain(tracks, c, count, rows)
                            : sr_tracks_create(tracks, c->dims, count, rows);
    free(rows);
    return rc ? rc : fill_tracks(c, key, tracks);
}

static int sort_rows(const struct columns *c, struct sr_tracks *tracks)
{
    const struct orr_csv *csv = &tracks->csv;
    struct key *key = orr_alloc(csv->rows, sizeof *key);
    int rc = key ? 0 : ORR_ENOMEM;
    for (size_t i = 0; i < csv->rows && !rc; i++) {
        rc = check_row(csv, tracks->file, c, i);
        key[i] = (struct key){cell_at(csv, i, c->system), cell_at(csv, i, c->body), i};
    }
    if (!rc) {
        qsort(key, csv->rows, sizeof *key, by_track);
        rc = make_tracks(c, key, tracks);
    }
    free(key);
    return rc;
}

/* For --missing drop: removes rows that lack a value in a column that is used. */
static int drop_rows(const struct columns *c, const struct sr_motion_options *o,
                     struct sr_tracks *tracks)
{
    const int all[] = {c->time, c->x[0], c->x[1], c->x[2], c->mass,
                       c->body, c->v[0], c->v[1], c->v[2], c->system};
    int column[sizeof all / sizeof *all], count = 0;
    struct sr_missing what;
    TRY(sr_missing_read(o->missing, o->missing_value, &what));
    if (!what.cells)
        return 0;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k] >= 0)
            column[count++] = all[k];
    return sr_table_drop_missing(&tracks->csv, &what, column, count, &tracks->dropped);
}

/* text: of the file, NULL where it is to be read. */
static int read_tracks(const char *file, char *text, const struct sr_motion_options *o, bool plain,
                       struct sr_tracks *tracks)
{
    struct columns c = {.time = -1,
                        .x = {-1, -1, -1},
                        .v = {-1, -1, -1},
                        .body = -1,
                        .system = -1,
                        .mass = -1,
                        .plain = plain};
    *tracks = (struct sr_tracks){.file = orr_input_name(file)};
    TRY(text ? orr_csv_parse(file, text, strlen(text), ORR_CSV_KEEP_TEXT, &tracks->csv)
             : sr_cells_read(file, ORR_CSV_KEEP_TEXT, &tracks->csv));
    TRY(find_columns(&tracks->csv, tracks->file, o, &c));
    TRY(drop_rows(&c, o, tracks));
    if (tracks->csv.rows == 0)
        return ORR_FAIL(ORR_EINVAL, "%s: expected at least %d rows, found 0", tracks->file,
                        SR_TRACK_ROWS);
    return sort_rows(&c, tracks);
}

int sr_tracks_read(const char *file, const struct sr_motion_options *o, struct sr_tracks *tracks)
{
    return read_tracks(file, NULL, o, false, tracks);
}

int sr_tracks_parse(const char *name, char *text, const struct sr_motion_options *o,
                    struct sr_tracks *tracks)
{
    return read_tracks(name, text, o, false, tracks);
}

int sr_tracks_read_plain(const char *file, const struct sr_motion_options *o,
                         struct sr_tracks *tracks)
{
    return read_tracks(file, NULL, o, true, tracks);
}

void sr_tracks_free(struct sr_tracks *tracks)
{
    free(tracks->track);
    free(tracks->block);
    free(tracks->lines);
    orr_csv_free(&tracks->csv);
    *tracks = (struct sr_tracks){0};
}

size_t sr_system_size(const struct sr_tracks *tracks, size_t first)
{
    size_t count = 0;
    while (first + count < tracks->count &&
           !strcmp(tracks->track[first + count].system, tracks->track[first].system))
        count++;
    return count;
}
