/* smooth_target.c - y of a noisy table without most of its noise: the mean of a smooth model.
 *
 * Small formulas and their pairs are compared with y at 32 rows only. Of rows with a tenth of noise
 * these 32 say little, but the model has seen hundreds. What is found is fitted to y itself. */
#include <math.h>
#include <stdlib.h>

#include "base/elementary.h"
#include "gaussian_process.h"
#include "shared.h"

enum {
    FIT_ROWS = 256,  /* rows to which length scales are fitted */
    MEAN_ROWS = 640, /* rows of which the mean is made */
    STEPS = 25,
};

/* to = (from - mean) / deviation; a constant becomes 0. */
static void standardise(const double *from, size_t n, double *to, double *mean, double *deviation)
{
    double square = 0;
    *mean = 0;
    for (size_t i = 0; i < n; i++)
        *mean += from[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += (from[i] - *mean) * (from[i] - *mean) / (double)n;
    *deviation = square > 0 ? sqrt(square) : 1;
    for (size_t i = 0; i < n; i++)
        to[i] = (from[i] - *mean) / *deviation;
}

/* Logarithms where all values of a column are positive; x (columns, rows). */
static void make_coordinates(const struct sr_data *data, double *x)
{
    const size_t n = data->rows;
    double mean, deviation;
    for (int f = 0; f < data->features; f++) {
        const double *const from = data->x + (size_t)f * n;
        double *const to = x + (size_t)f * n;
        const bool positive = sr_all_positive(from, n);
        for (size_t i = 0; i < n; i++)
            to[i] = positive ? orr_log(from[i]) : from[i];
        standardise(to, n, to, &mean, &deviation);
    }
}

/* Some rows of the standardised table, evenly; storage: (2 columns + 2, rows). */
static struct sr_smooth_data take_rows(const struct sr_data *data, const double *x, const double *z,
                                       int most, double *storage)
{
    const size_t all = data->rows, d = (size_t)data->features;
    const size_t n = (all < (size_t)most ? all : (size_t)most) & ~(size_t)7;
    double *const to_z = storage + d * n, *const noise = to_z + n;
    for (size_t i = 0; i < n; i++) {
        const size_t row = i * all / n;
        for (size_t f = 0; f < d; f++)
            storage[f * n + i] = x[f * all + row];
        to_z[i] = z[row];
        noise[i] = fmin(fmax(1 / sr_row_weight(data, row), 0.01), 1e4);
    }
    return (struct sr_smooth_data){(int)n, (int)d, (int)d, storage, storage, to_z, noise};
}

int sr_smooth_target(const struct sr_data *data, double *y)
{
    const size_t n = data->rows, d = (size_t)data->features;
    double *x = orr_alloc((d + 1) * n + (d + 2) * MEAN_ROWS + 1, sizeof *x), mean, deviation;
    struct sr_smooth model = {0};
    if (!x)
        return ORR_ENOMEM;
    double *const z = x + d * n, *const rows = z + n;
    make_coordinates(data, x);
    standardise(data->y, n, z, &mean, &deviation);
    struct sr_smooth_data seen = take_rows(data, x, z, FIT_ROWS, rows);
    int rc = sr_smooth_fit(&seen, STEPS, &model);
    if (!rc) {
        seen = take_rows(data, x, z, MEAN_ROWS, rows);
        rc = sr_smooth_mean(&seen, &model, n, x, y);
    }
    for (size_t i = 0; i < n && !rc; i++)
        y[i] = isfinite(y[i]) ? mean + deviation * y[i] : data->y[i];
    free(x);
    return rc;
}
