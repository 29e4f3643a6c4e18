/* process.c - a Gaussian process with the squared exponential kernel, fitted to a window of a track
 * (Rasmussen & Williams, Gaussian Processes for Machine Learning, 2006, chapters 2 and 5): the
 * coordinates are independent processes of one length scale l, one variance s^2 and one variance of
 * the noise, lambda s^2. Differentiation is linear, so that the acceleration has a mean and a
 * variance in closed form (section 9.4). Only square roots and orr_exp, orr_log: the bits do not
 * depend on the CPU. */
#include "motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

enum { W = SR_MOTION_WINDOW };

struct sr_process_work {
    size_t n;
    int dims;
    double step;                      /* median time step */
    double u[W];                      /* times in steps */
    double mean[SR_MOTION_DIMS];      /* of the positions */
    double y[SR_MOTION_DIMS * W];     /* positions less their mean */
    double L[W * W];                  /* Cholesky factor of the correlations C */
    double alpha[SR_MOTION_DIMS * W]; /* C^-1 y */
    double surprise[W];               /* mean square of the standardised left-out residuals */
    double scale2, length, noise;     /* s^2, l in steps, lambda */
    double most_noise;                /* standard deviation */
};

struct sr_process_work *sr_process_create(void)
{
    return orr_alloc(1, sizeof(struct sr_process_work));
}

void sr_process_free(struct sr_process_work *work)
{
    free(work);
}

bool sr_cholesky(double *A, size_t n, size_t stride)
{
    for (size_t j = 0; j < n; j++) {
        double *row_j = A + j * stride;
        for (size_t i = j; i < n; i++) {
            double *row_i = A + i * stride, sum = row_i[j];
            for (size_t k = 0; k < j; k++)
                sum -= row_i[k] * row_j[k];
            if (i > j)
                row_i[j] = sum / row_j[j];
            else if (sum > 0)
                row_j[j] = sqrt(sum);
            else
                return false;
        }
    }
    return true;
}

void sr_cholesky_lower(const double *L, size_t n, size_t stride, double *b)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            b[i] -= L[i * stride + k] * b[k];
        b[i] /= L[i * stride + i];
    }
}

void sr_cholesky_upper(const double *L, size_t n, size_t stride, double *b)
{
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            b[i] -= L[k * stride + i] * b[k];
        b[i] /= L[i * stride + i];
    }
}

/* ---- likelihood */

static void take_window(struct sr_process_work *w, const struct sr_window *window)
{
    double gap[W];
    w->n = window->n;
    w->dims = window->dims;
    for (size_t i = 0; i + 1 < w->n; i++)
        gap[i] = window->t[i + 1] - window->t[i];
    gsl_sort(gap, 1, w->n - 1);
    w->step = gap[(w->n - 1) / 2];
    for (size_t i = 0; i < w->n; i++)
        w->u[i] = (window->t[i] - window->t[0]) / w->step;
    for (int d = 0; d < w->dims; d++) {
        const double *x = window->x + (size_t)d * window->stride;
        w->mean[d] = 0;
        for (size_t i = 0; i < w->n; i++)
            w->mean[d] += x[i] / (double)w->n;
        for (size_t i = 0; i < w->n; i++)
            w->y[d * W + (int)i] = x[i] - w->mean[d];
    }
}

/* Log-likelihood with the best s^2, which is set; -infinity where C is not positive definite, or the
 * noise too large. */
static double likelihood(struct sr_process_work *w, struct sr_process p)
{
    const size_t n = w->n;
    double z[W], quadratic = 0, logarithm = 0;
    w->length = orr_exp(p.log_length);
    w->noise = orr_exp(p.log_noise);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            const double d = (w->u[i] - w->u[j]) / w->length;
            w->L[i * W + j] = orr_exp(-0.5 * d * d);
        }
        w->L[i * W + i] = 1 + w->noise;
    }
    if (!sr_cholesky(w->L, n, W))
        return -HUGE_VAL;
    for (int d = 0; d < w->dims; d++) {
        memcpy(z, w->y + d * W, n * sizeof *z);
        sr_cholesky_lower(w->L, n, W, z);
        for (size_t i = 0; i < n; i++)
            quadratic += z[i] * z[i];
    }
    for (size_t i = 0; i < n; i++)
        logarithm += orr_log(w->L[i * W + i]);
    w->scale2 = quadratic / (double)n / w->dims;
    if (!(w->scale2 > 0) || w->noise * w->scale2 > w->most_noise * w->most_noise)
        return -HUGE_VAL;
    return -w->dims * (0.5 * (double)n * orr_log(w->scale2) + logarithm);
}

/* ---- the search for the maximum */

static const double least_noise = -32; /* ln: rounding of doubles */

static bool inside(const struct sr_process_work *w, struct sr_process p)
{
    return p.log_noise >= least_noise && p.log_noise <= 2 && p.log_length >= orr_log(0.6) &&
           p.log_length <= orr_log(4 * (w->u[w->n - 1] + 1));
}

static void search_grid(struct sr_process_work *w, struct sr_process *best)
{
    enum { LENGTHS = 9, NOISES = 9 };
    const double from = orr_log(0.7), to = orr_log(2 * (w->u[w->n - 1] + 1));
    double most = -HUGE_VAL;
    for (int i = 0; i < LENGTHS; i++)
        for (int k = 0; k < NOISES; k++) {
            const struct sr_process p = {from + (to - from) * i / (LENGTHS - 1),
                                         -30 + 30.0 * k / (NOISES - 1)};
            const double l = likelihood(w, p);
            if (l > most) {
                most = l;
                *best = p;
            }
        }
}

/* Compass search with steps that are halved. */
static void search_near(struct sr_process_work *w, struct sr_process *best)
{
    static const struct sr_process way[] = {{1, 0}, {-1, 0}, {0, 4}, {0, -4}, {1, -4}, {-1, 4}};
    double most = likelihood(w, *best);
    for (double step = 0.32; step > 0.015; step *= 0.5)
        for (bool moved = true; moved;) {
            moved = false;
            for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
                const struct sr_process p = {best->log_length + step * way[k].log_length,
                                             best->log_noise + step * way[k].log_noise};
                const double l = inside(w, p) ? likelihood(w, p) : -HUGE_VAL;
                if (l > most + 1e-3) {
                    most = l;
                    *best = p;
                    moved = true;
                }
            }
        }
}

/* ---- what the fitted process says */

/* alpha, and how far each row is from what the others say of it (Rasmussen & Williams, Eqs. 5.10
 * and 5.11), in standard deviations. */
static void leave_out(struct sr_process_work *w)
{
    const size_t n = w->n;
    for (int d = 0; d < w->dims; d++) {
        double *alpha = w->alpha + d * W;
        memcpy(alpha, w->y + d * W, n * sizeof *alpha);
        sr_cholesky_lower(w->L, n, W, alpha);
        sr_cholesky_upper(w->L, n, W, alpha);
    }
    for (size_t i = 0; i < n; i++) {
        double column[W] = {0}, inverse = 0, square = 0;
        column[i] = 1;
        sr_cholesky_lower(w->L, n, W, column);
        for (size_t k = i; k < n; k++)
            inverse += column[k] * column[k];
        for (int d = 0; d < w->dims; d++)
            square += w->alpha[d * W + (int)i] * w->alpha[d * W + (int)i];
        w->surprise[i] = square / (inverse * w->scale2 * w->dims);
    }
}

double sr_process_fit(struct sr_process_work *w, const struct sr_window *window, double most_noise,
                      bool fresh, struct sr_process *process)
{
    w->most_noise = most_noise;
    take_window(w, window);
    if (fresh)
        search_grid(w, process);
    search_near(w, process);
    if (!(likelihood(w, *process) > -HUGE_VAL))
        return NAN;
    leave_out(w);
    return sqrt(w->noise * w->scale2);
}

/* Mean square surprise of a row and its neighbours; at least 1: where the path bends faster than
 * elsewhere in the window, its variances are larger than the kernel says. */
static double misfit(const struct sr_process_work *w, size_t at)
{
    const size_t first = at < 2 ? 0 : at - 2, last = at + 3 < w->n ? at + 3 : w->n;
    double sum = 0;
    for (size_t i = first; i < last; i++)
        sum += w->surprise[i] / (double)(last - first);
    return fmax(1, sum);
}

void sr_process_state(struct sr_process_work *w, size_t at, struct sr_process_state *state)
{
    const size_t n = w->n;
    const double l2 = w->length * w->length, step2 = w->step * w->step;
    double k[W], k2[W], k_left = 0, k2_left = 0;
    for (size_t j = 0; j < n; j++) {
        const double d = w->u[at] - w->u[j];
        k[j] = orr_exp(-0.5 * d * d / l2);
        k2[j] = k[j] * (d * d / l2 - 1) / l2;
    }
    for (int d = 0; d < w->dims; d++) {
        const double *alpha = w->alpha + d * W;
        state->x[d] = w->mean[d];
        state->a[d] = 0;
        for (size_t j = 0; j < n; j++) {
            state->x[d] += k[j] * alpha[j];
            state->a[d] += k2[j] * alpha[j] / step2;
        }
    }
    sr_cholesky_lower(w->L, n, W, k);
    sr_cholesky_lower(w->L, n, W, k2);
    for (size_t j = 0; j < n; j++) {
        k_left += k[j] * k[j];
        k2_left += k2[j] * k2[j];
    }
    const double rounding = 1e-15 * (double)n, times = misfit(w, at) * w->scale2;
    state->x_variance = times * fmax(1 - k_left, rounding);
    state->a_variance =
        times * fmax(3 / (l2 * l2) - k2_left, 3 / (l2 * l2) * rounding) / (step2 * step2);
}

/* Covariance of the second derivatives of the kernel between a row and the data, through L^-1. */
static void project(const struct sr_process_work *w, size_t at, double k2[W])
{
    const double l2 = w->length * w->length;
    for (size_t j = 0; j < w->n; j++) {
        const double d = w->u[at] - w->u[j];
        k2[j] = orr_exp(-0.5 * d * d / l2) * (d * d / l2 - 1) / l2;
    }
    sr_cholesky_lower(w->L, w->n, W, k2);
}

static double error_covariance(const struct sr_process_work *w, double u, const double a[W],
                               const double b[W])
{
    const double l2 = w->length * w->length, z = u * u / l2;
    double covariance = orr_exp(-0.5 * z) * (z * z - 6 * z + 3) / (l2 * l2);
    for (size_t j = 0; j < w->n; j++)
        covariance -= a[j] * b[j];
    return covariance;
}

double sr_process_gap(struct sr_process_work *w)
{
    const size_t middle = w->n / 2;
    double here[W], there[W];
    project(w, middle, here);
    const double variance = error_covariance(w, 0, here, here);
    for (size_t i = middle + 1; i < w->n; i++) {
        project(w, i, there);
        const double other = error_covariance(w, 0, there, there);
        const double u = w->u[i] - w->u[middle];
        const double covariance = error_covariance(w, u, here, there);
        if (!(covariance > 0.3 * sqrt(variance * other)))
            return u * w->step;
    }
    return (w->u[w->n - 1] - w->u[middle]) * w->step;
}
