/* velocities.c - a table of radial velocities: times, velocities, their errors, instruments. */
#include "orbit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 6, COLUMNS = 4 }; /* needed, at least: an orbit has five parameters */

struct columns {
    int of[COLUMNS]; /* time, velocity, sigma, instrument; -1: not given */
};

static int find_columns(const struct orr_csv *csv, const char *file,
                        const struct sr_orbit_options *o, struct columns *c)
{
    const char *const name[COLUMNS] = {o->time, o->velocity, o->sigma, o->instrument};
    for (int k = 0; k < COLUMNS; k++) {
        c->of[k] = -1;
        if (name[k])
            TRY(sr_table_column(csv, file, name[k], &c->of[k]));
    }
    return 0;
}

static int drop_rows(const struct sr_orbit_options *o, const struct columns *c,
                     struct sr_velocities *data)
{
    struct sr_missing what;
    int column[COLUMNS], count = 0;
    TRY(sr_missing_read(o->missing, o->missing_value, &what));
    if (!what.cells)
        return 0;
    for (int k = 0; k < COLUMNS; k++)
        if (c->of[k] >= 0)
            column[count++] = c->of[k];
    return sr_table_drop_missing(&data->csv, &what, column, count, &data->dropped);
}

static int check_row(const struct orr_csv *csv, const char *file, const struct columns *c,
                     size_t row)
{
    for (int k = 0; k < COLUMNS - 1; k++)
        if (c->of[k] >= 0 && !isfinite(csv->values[row * csv->cols + (size_t)c->of[k]]))
            return sr_table_wrong_cell(csv, file, row, c->of[k]);
    const double sigma = c->of[2] < 0 ? 1 : csv->values[row * csv->cols + (size_t)c->of[2]];
    return sigma > 0
               ? 0
               : ORR_FAIL(ORR_EINVAL, "%s:%zu: column \"%s\": expected an error above 0, found %g",
                          file, csv->line[row], csv->names[c->of[2]], sigma);
}

/* The number of an instrument, in the order in which they appear. */
static int instrument_of(struct sr_velocities *data, const struct columns *c, size_t row,
                         int *number)
{
    char *cell = c->of[3] < 0 ? "" : data->csv.cells[row * data->csv.cols + (size_t)c->of[3]];
    for (*number = 0; *number < data->instruments; ++*number)
        if (!strcmp(data->name[*number], cell))
            return 0;
    if (data->instruments == SR_ORBIT_INSTRUMENTS)
        return ORR_FAIL(
            ORR_EINVAL, "%s:%zu: column \"%s\": expected at most %d instruments, found more",
            data->file, data->csv.line[row], data->csv.names[c->of[3]], SR_ORBIT_INSTRUMENTS);
    data->name[data->instruments++] = cell;
    return 0;
}

struct key {
    double t;
    size_t row;
};

static int by_time(const void *a, const void *b)
{
    const struct key *p = a, *q = b;
    const int order = (p->t > q->t) - (p->t < q->t);
    return order ? order : (p->row > q->row) - (p->row < q->row);
}

/* Whether the velocities of each instrument are one number. */
static bool are_constant(const struct sr_velocities *data)
{
    const double *first[SR_ORBIT_INSTRUMENTS] = {0};
    for (size_t i = 0; i < data->n; i++) {
        const int k = data->instrument[i];
        first[k] = first[k] ? first[k] : &data->v[i];
        if (data->v[i] != *first[k])
            return false;
    }
    return true;
}

/* Around the mean of each instrument. */
static double scatter_of(const struct sr_velocities *data)
{
    double mean[SR_ORBIT_INSTRUMENTS] = {0}, count[SR_ORBIT_INSTRUMENTS] = {0}, squares = 0;
    for (size_t i = 0; i < data->n; i++)
        count[data->instrument[i]]++;
    for (size_t i = 0; i < data->n; i++)
        mean[data->instrument[i]] += data->v[i] / count[data->instrument[i]];
    for (size_t i = 0; i < data->n; i++) {
        const double rest = data->v[i] - mean[data->instrument[i]];
        squares += rest * rest;
    }
    return sqrt(squares / (double)(data->n - (size_t)data->instruments));
}

/* Without errors the jitter of an instrument is its whole noise. An orbit passes through all
 * velocities of an instrument that has no more of them than the orbit and its offset have
 * parameters; the likelihood then is infinite. */
static int check_counts(const struct sr_velocities *data)
{
    const size_t needed = SR_ORBIT_SHAPE + 2;
    size_t count[SR_ORBIT_INSTRUMENTS] = {0};
    for (size_t i = 0; i < data->n; i++)
        count[data->instrument[i]]++;
    for (int k = 0; k < data->instruments && data->instruments > 1; k++)
        if (count[k] < needed)
            return ORR_FAIL(ORR_EINVAL,
                            "%s: expected at least %zu velocities of the instrument \"%s\" without "
                            "--sigma, found %zu; give --sigma, or leave them out",
                            data->file, needed, data->name[k], count[k]);
    return 0;
}

static int fill(struct sr_velocities *data, const struct columns *c, const struct key *key)
{
    const size_t n = data->n;
    double *block = data->block = orr_alloc(4 * n, sizeof *block);
    if (!block)
        return ORR_ENOMEM;
    data->t = block;
    data->v = block + n;
    data->sigma = block + 2 * n;
    data->instrument = (int *)(void *)(block + 3 * n);
    for (size_t i = 0; i < n; i++) {
        const double *value = data->csv.values + key[i].row * data->csv.cols;
        data->t[i] = key[i].t;
        data->v[i] = value[c->of[1]];
        data->sigma[i] = c->of[2] < 0 ? 0 : value[c->of[2]];
        TRY(instrument_of(data, c, key[i].row, &data->instrument[i]));
        data->middle += key[i].t / (double)n;
    }
    data->middle = floor(data->middle);
    data->span = data->t[n - 1] - data->t[0];
    for (size_t i = 0; i < n; i++)
        data->t[i] -= data->middle;
    const int least = ROWS + 2 * (data->instruments - 1);
    if (n < (size_t)least)
        return ORR_FAIL(ORR_EINVAL,
                        "%s: expected at least %d velocities of %d instruments, found %zu",
                        data->file, least, data->instruments, n);
    data->scatter = scatter_of(data);
    if (!(data->span > 0))
        return ORR_FAIL(ORR_EINVAL, "%s: column \"%s\": expected different times, found %g alone",
                        data->file, data->csv.names[c->of[0]], data->middle + data->t[0]);
    if (are_constant(data) || !(data->scatter > 0))
        return ORR_FAIL(ORR_EINVAL,
                        "%s: column \"%s\": expected velocities that differ, found %g "
                        "alone",
                        data->file, data->csv.names[c->of[1]], data->v[0]);
    return data->has_sigma ? 0 : check_counts(data);
}

int sr_velocities_read(const char *file, const struct sr_orbit_options *o,
                       struct sr_velocities *data)
{
    struct columns c;
    *data = (struct sr_velocities){.file = orr_input_name(file), .has_sigma = o->sigma != NULL};
    TRY(sr_cells_read(file, ORR_CSV_KEEP_TEXT, &data->csv));
    TRY(find_columns(&data->csv, data->file, o, &c));
    TRY(drop_rows(o, &c, data));
    data->n = data->csv.rows;
    if (data->n < ROWS)
        return ORR_FAIL(ORR_EINVAL, "%s: expected at least %d velocities, found %zu", data->file,
                        ROWS, data->n);
    struct key *key = orr_alloc(data->n, sizeof *key);
    int rc = key ? 0 : ORR_ENOMEM;
    for (size_t i = 0; i < data->n && !rc; i++) {
        rc = check_row(&data->csv, data->file, &c, i);
        key[i] = (struct key){data->csv.values[i * data->csv.cols + (size_t)c.of[0]], i};
    }
    if (!rc) {
        qsort(key, data->n, sizeof *key, by_time);
        rc = fill(data, &c, key);
    }
    free(key);
    return rc;
}

void sr_velocities_free(struct sr_velocities *data)
{
    free(data->block);
    orr_csv_free(&data->csv);
    *data = (struct sr_velocities){0};
}
