/* far_velocities.c - notes on velocities: one that is very far from the others of its instrument,
 * as a fill value or another unit is, becomes the periastron of an orbit of e near 1; and times
 * that would show shorter periods than are looked for. */
#include "orbit.h"

#include <math.h>
#include <stdlib.h>

#define FAR 100 /* times the median deviation; an eccentric planet stays within it */

static int by_size(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, by_size);
    return n % 2 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

/* Copies the velocities of an instrument, less `middle` and in size where `sizes`. */
static size_t copy(const struct sr_velocities *data, int instrument, double middle, bool sizes,
                   double *x)
{
    size_t n = 0;
    for (size_t i = 0; i < data->n; i++)
        if (data->instrument[i] == instrument)
            x[n++] = sizes ? fabs(data->v[i] - middle) : data->v[i];
    return n;
}

void sr_velocities_note_far(const struct sr_velocities *data, bool quiet)
{
    double *x = orr_alloc(data->n, sizeof *x);
    for (int k = 0; k < data->instruments && x; k++) {
        const double middle = median(x, copy(data, k, 0, false, x));
        const double usual = median(x, copy(data, k, middle, true, x));
        size_t count = 0, farthest = 0;
        for (size_t i = 0; i < data->n; i++) {
            if (data->instrument[i] != k || !(fabs(data->v[i] - middle) > FAR * usual))
                continue;
            if (!count || fabs(data->v[i] - middle) > fabs(data->v[farthest] - middle))
                farthest = i;
            count++;
        }
        if (count && usual > 0)
            orr_note(quiet,
                     "symreg: %s: the velocity %g at %.9g is %.0f times as far from the median as "
                     "half of them are; if it is no velocity, --missing-value %g leaves it out",
                     data->file, data->v[farthest], data->t[farthest] + data->middle,
                     fabs(data->v[farthest] - middle) / usual, data->v[farthest]);
    }
    free(x);
    orr_error_recover();
}

/* Half of the steps between velocities are below a quarter of the shortest period: they follow it,
 * instead of meeting it once in a while. */
void sr_velocities_note_dense(const struct sr_velocities *data, bool quiet)
{
    const double shortest = sr_periodogram_shortest(data->span);
    double *step = orr_alloc(data->n, sizeof *step);
    if (!step) {
        orr_error_recover();
        return;
    }
    for (size_t i = 1; i < data->n; i++)
        step[i - 1] = data->t[i] - data->t[i - 1];
    const double usual = median(step, data->n - 1);
    if (usual > 0 && usual < shortest / 4)
        orr_note(quiet,
                 "symreg: %s: half of the velocities are less than %.2g apart: they would show "
                 "periods below %.3g, which are looked for with --period LOW,HIGH alone",
                 data->file, usual, shortest);
    free(step);
}
