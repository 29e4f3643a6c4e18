/* far.c - a note on a velocity that is very far from the others of its instrument, as a fill value
 * or another unit is. One such row becomes the periastron of an orbit of e near 1. */
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
