/* gsl.c - the few functions of GSL that a search for formulas calls, for the module of the page,
 * which has no GSL. Sorting keeps GSL's order of equal keys (its heap sort), sums keep its
 * recurrences, so that a search gives the front of the program. */
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

/* ------------------------------------------------------------------------------ random streams */

gsl_rng *gsl_rng_alloc(const gsl_rng_type *type)
{
    gsl_rng *rng = malloc(sizeof *rng);
    void *state = rng ? calloc(1, type->size) : NULL;
    if (!state) {
        free(rng);
        return NULL;
    }
    rng->type = type;
    rng->state = state;
    type->set(state, 0);
    return rng;
}

void gsl_rng_free(gsl_rng *rng)
{
    if (rng)
        free(rng->state);
    free(rng);
}

unsigned long gsl_rng_get(const gsl_rng *rng)
{
    return rng->type->get(rng->state);
}

double gsl_rng_uniform(const gsl_rng *rng)
{
    return rng->type->get_double(rng->state);
}

double gsl_rng_uniform_pos(const gsl_rng *rng)
{
    double x;
    do
        x = gsl_rng_uniform(rng);
    while (x == 0);
    return x;
}

static unsigned long below(const gsl_rng *rng, unsigned long n)
{
    const unsigned long scale = (rng->type->max - rng->type->min) / n;
    unsigned long k;
    do
        k = (gsl_rng_get(rng) - rng->type->min) / scale;
    while (k >= n);
    return k;
}

void gsl_ran_shuffle(const gsl_rng *rng, void *base, size_t n, size_t size)
{
    char *item = base;
    for (size_t i = n; i-- > 1;) {
        const size_t j = below(rng, (unsigned long)i + 1);
        for (size_t b = 0; b < size; b++) {
            const char kept = item[i * size + b];
            item[i * size + b] = item[j * size + b];
            item[j * size + b] = kept;
        }
    }
}

/* Weights before those of a checkpoint replace them: the module trains nothing. */
double gsl_ran_gaussian_ziggurat(const gsl_rng *rng, double sigma)
{
    (void)rng, (void)sigma;
    return 0;
}

/* ------------------------------------------------------------------------------------- sorting */

static void sift(double *data, size_t stride, size_t last, size_t k)
{
    const double value = data[k * stride];
    while (k <= last / 2) {
        size_t j = 2 * k;
        if (j < last && data[j * stride] < data[(j + 1) * stride])
            j++;
        if (!(value < data[j * stride]))
            break;
        data[k * stride] = data[j * stride];
        k = j;
    }
    data[k * stride] = value;
}

void gsl_sort(double *data, size_t stride, size_t n)
{
    if (!n)
        return;
    size_t last = n - 1;
    for (size_t k = last / 2 + 1; k-- > 0;)
        sift(data, stride, last, k);
    while (last > 0) {
        const double top = data[0];
        data[0] = data[last * stride];
        data[last * stride] = top;
        sift(data, stride, --last, 0);
    }
}

static void sift_index(size_t *order, const double *data, size_t stride, size_t last, size_t k)
{
    const size_t moved = order[k];
    while (k <= last / 2) {
        size_t j = 2 * k;
        if (j < last && data[order[j] * stride] < data[order[j + 1] * stride])
            j++;
        if (!(data[moved * stride] < data[order[j] * stride]))
            break;
        order[k] = order[j];
        k = j;
    }
    order[k] = moved;
}

void gsl_sort_index(size_t *order, const double *data, size_t stride, size_t n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    size_t last = n - 1;
    for (size_t k = last / 2 + 1; k-- > 0;)
        sift_index(order, data, stride, last, k);
    while (last > 0) {
        const size_t top = order[0];
        order[0] = order[last];
        order[last] = top;
        sift_index(order, data, stride, --last, 0);
    }
}

/* ---------------------------------------------------------------------------------- statistics */

double gsl_stats_mean(const double data[], size_t stride, size_t n)
{
    long double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += (data[i * stride] - mean) / (long double)(i + 1);
    return (double)mean;
}

double gsl_stats_sd_with_fixed_mean(const double data[], size_t stride, size_t n, double mean)
{
    long double variance = 0;
    for (size_t i = 0; i < n; i++) {
        const long double delta = data[i * stride] - mean;
        variance += (delta * delta - variance) / (long double)(i + 1);
    }
    return sqrt((double)variance);
}

double gsl_stats_tss(const double data[], size_t stride, size_t n)
{
    const double mean = gsl_stats_mean(data, stride, n);
    long double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const long double delta = data[i * stride] - mean;
        sum += delta * delta;
    }
    return (double)sum;
}

double gsl_stats_wmean(const double w[], size_t w_stride, const double data[], size_t stride,
                       size_t n)
{
    long double mean = 0, weight = 0;
    for (size_t i = 0; i < n; i++) {
        const double wi = w[i * w_stride];
        if (wi > 0) {
            weight += wi;
            mean += (data[i * stride] - mean) * (wi / weight);
        }
    }
    return (double)mean;
}

/* y = c0 + c1 x by weighted least squares. */
int gsl_fit_wlinear(const double *x, const size_t x_stride, const double *w, const size_t w_stride,
                    const double *y, const size_t y_stride, const size_t n, double *c0, double *c1,
                    double *cov_00, double *cov_01, double *cov_11, double *chisq)
{
    double weight = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        const double wi = w[i * w_stride];
        if (wi > 0) {
            weight += wi;
            mean_x += (x[i * x_stride] - mean_x) * (wi / weight);
            mean_y += (y[i * y_stride] - mean_y) * (wi / weight);
        }
    }
    weight = 0;
    for (size_t i = 0; i < n; i++) {
        const double wi = w[i * w_stride];
        if (wi > 0) {
            const double dx = x[i * x_stride] - mean_x, dy = y[i * y_stride] - mean_y;
            weight += wi;
            xx += (dx * dx - xx) * (wi / weight);
            xy += (dx * dy - xy) * (wi / weight);
        }
    }
    *c1 = xy / xx;
    *c0 = mean_y - mean_x * *c1;
    *cov_00 = 1 / weight * (1 + mean_x * mean_x / xx);
    *cov_01 = -mean_x / (weight * xx);
    *cov_11 = 1 / (weight * xx);
    *chisq = 0;
    for (size_t i = 0; i < n; i++) {
        const double dx = x[i * x_stride] - mean_x, dy = y[i * y_stride] - mean_y;
        if (w[i * w_stride] > 0)
            *chisq += w[i * w_stride] * (dy - *c1 * dx) * (dy - *c1 * dx);
    }
    return GSL_SUCCESS;
}

void gsl_stats_minmax(double *least, double *most, const double data[], size_t stride, size_t n)
{
    *least = *most = data[0];
    for (size_t i = 0; i < n; i++) {
        const double x = data[i * stride];
        if (x < *least)
            *least = x;
        if (x > *most)
            *most = x;
        if (isnan(x)) {
            *least = *most = x;
            return;
        }
    }
}

double gsl_stats_median_from_sorted_data(const double data[], size_t stride, size_t n)
{
    if (!n)
        return 0;
    const size_t left = (n - 1) / 2, right = n / 2;
    return left == right ? data[left * stride] : (data[left * stride] + data[right * stride]) / 2;
}

/* -------------------------------------------------------------------------------------- errors */

gsl_error_handler_t *gsl_set_error_handler(gsl_error_handler_t *handler)
{
    (void)handler; /* nothing here reports an error */
    return NULL;
}

gsl_error_handler_t *gsl_set_error_handler_off(void)
{
    return NULL;
}
