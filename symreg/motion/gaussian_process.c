/* gaussian_process.c - a Gaussian process with the squared exponential kernel, fitted to a window
 * of a track (Rasmussen & Williams, Gaussian Processes for Machine Learning, 2006, chapters 2 and
 * 5): the coordinates are independent processes of one length scale l, one variance s^2 and one
 * variance of the noise, lambda s^2. Differentiation is linear, so that the acceleration has a mean
 * and a variance in closed form (section 9.4). Only square roots and orr_exp, orr_log: the bits do
 * not depend on the CPU. */
#include "motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

enum { W = SR_MOTION_WINDOW, PASSES = 5 };

struct sr_process_work {
    size_t n;
    int dims;
    double step;             /* median time step */
    double t[W];             /* the file's times, from the first one on */
    double u[W];             /* process times in median steps: the file's times, or warped times */
    double rate[W], bend[W]; /* first and second derivative of u by the file's time in steps */
    double mean[SR_MOTION_DIMS];  /* of the positions */
    double y[SR_MOTION_DIMS * W]; /* positions less their mean */
    double spread[W];             /* variance of a row's noise over lambda s^2, around 1 */
    double L[W * W];              /* Cholesky factor of the correlations C */
    double
        alpha[SR_MOTION_DIMS * W]; /* C^-1 y; after smoothing twice C^-1 y + lambda C^-1 S C^-1 y */
    double surprise[W];            /* mean squared standardised leave-one-out residual */
    double scale2, length, noise;  /* s^2, l in steps, lambda */
    double most_noise;             /* upper bound of the noise's standard deviation */
    /* squared difference of accelerations between the last two warps, per steps^4 */
    double difference[W];
    double gap;  /* process time after which errors of accelerations are nearly uncorrelated */
    double most; /* the log-likelihood reached */
};

struct sr_process_work *sr_process_create(void)
{
    return orr_alloc(1, sizeof(struct sr_process_work));
}

void sr_process_free(struct sr_process_work *work)
{
    free(work);
}

/* ---- likelihood */

static void take_window(struct sr_process_work *w, const struct sr_window *window)
{
    double gap[W];
    w->n = window->n;
    w->dims = window->dims;
    memset(w->difference, 0, sizeof w->difference);
    for (size_t i = 0; i + 1 < w->n; i++)
        gap[i] = window->t[i + 1] - window->t[i];
    gsl_sort(gap, 1, w->n - 1);
    w->step = gap[(w->n - 1) / 2];
    for (size_t i = 0; i < w->n; i++) {
        w->t[i] = window->t[i] - window->t[0];
        w->u[i] = w->t[i] / w->step;
        w->rate[i] = 1;
        w->bend[i] = 0;
        w->spread[i] = window->spread ? window->spread[i] : 1;
    }
    for (int d = 0; d < w->dims; d++) {
        const double *x = window->x + (size_t)d * window->stride;
        w->mean[d] = 0;
        for (size_t i = 0; i < w->n; i++)
            w->mean[d] += x[i] / (double)w->n;
        for (size_t i = 0; i < w->n; i++)
            w->y[d * W + (int)i] = x[i] - w->mean[d];
    }
}

/* Log-likelihood with the best s^2, which it sets. -infinity where C is not positive definite or
 * the noise exceeds its bound. */
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
        w->L[i * W + i] = 1 + w->noise * w->spread[i];
    }
    if (!sr_cholesky(w->L, n, W, 0))
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

static const double least_noise = -32; /* natural logarithm; about the rounding of doubles */

static bool is_inside(const struct sr_process_work *w, struct sr_process p)
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

/* Compass search with steps that are halved from `first` down to `last`. */
static void search_near(struct sr_process_work *w, double first, double last,
                        struct sr_process *best)
{
    static const struct sr_process way[] = {{1, 0}, {-1, 0}, {0, 4}, {0, -4}, {1, -4}, {-1, 4}};
    double most = likelihood(w, *best);
    for (double step = first; step > last; step *= 0.5)
        for (bool moved = true; moved;) {
            moved = false;
            for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
                const struct sr_process p = {best->log_length + step * way[k].log_length,
                                             best->log_noise + step * way[k].log_noise};
                const double l = is_inside(w, p) ? likelihood(w, p) : -HUGE_VAL;
                if (l > most + 1e-3) {
                    most = l;
                    *best = p;
                    moved = true;
                }
            }
        }
}

/* ---- predictions of the fitted process */

/* Computes alpha and the leave-one-out residual of each row in standard deviations (Rasmussen &
 * Williams, Eqs. 5.10 and 5.11). */
static void leave_out(struct sr_process_work *w)
{
    const size_t n = w->n;
    for (int d = 0; d < w->dims; d++) {
        double *alpha = w->alpha + d * W;
        memcpy(alpha, w->y + d * W, n * sizeof *alpha);
        sr_cholesky_solve(w->L, n, W, alpha);
    }
    for (size_t i = 0; i < n; i++) {
        double work[W], square = 0;
        const double inverse = sr_cholesky_inverse(w->L, n, W, i, work);
        for (int d = 0; d < w->dims; d++)
            square += w->alpha[d * W + (int)i] * w->alpha[d * W + (int)i];
        w->surprise[i] = square / (inverse * w->scale2 * w->dims);
    }
}

/* Smooths the residuals and adds the result (twicing: Tukey 1977). Smoothing once flattens a path
 * where it bends most, and about half of that bias would enter the exponents of laws. alpha becomes
 * C^-1 y + lambda C^-1 S C^-1 y, S the diagonal matrix of the spreads. */
static void smooth_twice(struct sr_process_work *w)
{
    for (int d = 0; d < w->dims; d++) {
        double *alpha = w->alpha + d * W, again[W];
        for (size_t i = 0; i < w->n; i++)
            again[i] = alpha[i] * w->spread[i];
        sr_cholesky_solve(w->L, w->n, W, again);
        for (size_t i = 0; i < w->n; i++)
            alpha[i] += w->noise * again[i];
    }
}

/* The covariance of a row's acceleration with each row of the data. By the chain rule x'' = f''(u)
 * u'^2 + f'(u) u''. */
static void acceleration_kernel(const struct sr_process_work *w, size_t at, double k[W])
{
    const double l2 = w->length * w->length, rate2 = w->rate[at] * w->rate[at];
    for (size_t j = 0; j < w->n; j++) {
        const double d = w->u[at] - w->u[j];
        k[j] = orr_exp(-0.5 * d * d / l2) * (rate2 * (d * d / l2 - 1) - w->bend[at] * d) / l2;
    }
}

/* ---- correlation of acceleration errors */

/* The covariance of the second derivative with each row, multiplied by L^-1. */
static void project_rows(const struct sr_process_work *w, size_t at, double k2[W])
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

/* The gap in process time, estimated at the middle of the window. */
static double find_gap(const struct sr_process_work *w)
{
    const size_t middle = w->n / 2;
    double here[W], there[W];
    project_rows(w, middle, here);
    const double variance = error_covariance(w, 0, here, here);
    for (size_t i = middle + 1; i < w->n; i++) {
        project_rows(w, i, there);
        const double other = error_covariance(w, 0, there, there);
        const double u = w->u[i] - w->u[middle];
        if (!(error_covariance(w, u, here, there) > 0.05 * sqrt(variance * other)))
            return u;
    }
    return w->u[w->n - 1] - w->u[middle];
}

/* ---- warped time */

/* Warped time runs faster where the acceleration is larger: du/dt ~ |a|^(1/2). Under Newton's law
 * du/dt ~ 1/r, so u is the eccentric anomaly, in which an orbit of any eccentricity is a harmonic
 * oscillation (Sundman 1912). ln du/dt is a sum of bell curves at the rows; it is integrated by
 * Simpson's rule. */
struct warp {
    double bell[W]; /* weights of the bell curves */
    double t[W], mean, length;
};

static double log_rate(const struct warp *p, size_t n, double t, double *slope)
{
    double sum = p->mean;
    *slope = 0;
    for (size_t j = 0; j < n; j++) {
        const double d = (t - p->t[j]) / p->length, k = p->bell[j] * orr_exp(-0.5 * d * d);
        sum += k;
        *slope -= k * d / p->length;
    }
    return sum;
}

/* The warp that the fitted process implies; overwrites L. */
static bool find_warp(struct sr_process_work *w, const struct sr_window *window, struct warp *p)
{
    const size_t n = w->n;
    double size[W], median[W];
    for (size_t i = 0; i < n; i++) {
        double k2[W], a2 = 0;
        acceleration_kernel(w, i, k2);
        for (int d = 0; d < w->dims; d++) {
            double a = 0;
            for (size_t j = 0; j < n; j++)
                a += k2[j] * w->alpha[d * W + (int)j];
            a2 += a * a;
        }
        size[i] = median[i] = a2;
        p->t[i] = (window->t[i] - window->t[0]) / w->step;
    }
    gsl_sort(median, 1, n);
    if (!(median[n / 2] > 0))
        return false;
    p->mean = 0;
    for (size_t i = 0; i < n; i++) {
        p->bell[i] = 0.25 * orr_log(size[i] + 0.01 * median[n / 2]);
        p->mean += p->bell[i] / (double)n;
    }
    p->length = 0;
    for (size_t i = 0; i < n; i++) {
        p->bell[i] -= p->mean;
        p->length += w->length / w->rate[i] / (double)n;
    }
    p->length = fmax(1, p->length);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            const double d = (p->t[i] - p->t[j]) / p->length;
            w->L[i * W + j] = orr_exp(-0.5 * d * d) + (i == j ? 1e-3 : 0);
        }
    if (!sr_cholesky(w->L, n, W, 0))
        return false;
    sr_cholesky_solve(w->L, n, W, p->bell);
    return true;
}

/* Sets process times with a median step of 1. */
static void set_times(struct sr_process_work *w, const struct warp *p)
{
    enum { PARTS = 8 };
    const size_t n = w->n;
    double slope, gap[W];
    w->u[0] = 0;
    for (size_t i = 0; i < n; i++) {
        w->rate[i] = orr_exp(log_rate(p, n, p->t[i], &slope));
        w->bend[i] = w->rate[i] * slope;
    }
    for (size_t i = 0; i + 1 < n; i++) {
        const double h = (p->t[i + 1] - p->t[i]) / PARTS;
        double sum = w->rate[i] + w->rate[i + 1];
        for (int k = 1; k < PARTS; k++)
            sum += (k % 2 ? 4 : 2) * orr_exp(log_rate(p, n, p->t[i] + k * h, &slope));
        gap[i] = sum * h / 3;
        w->u[i + 1] = w->u[i] + gap[i];
    }
    gsl_sort(gap, 1, n - 1);
    const double unit = gap[(n - 1) / 2];
    for (size_t i = 0; i < n; i++) {
        w->u[i] /= unit;
        w->rate[i] /= unit;
        w->bend[i] /= unit;
    }
}

/* What follows from the process that was found. Returns its likelihood. */
static double take_process(struct sr_process_work *w, struct sr_process process)
{
    const double most = likelihood(w, process);
    if (most > -HUGE_VAL) {
        leave_out(w);
        smooth_twice(w);
    }
    return most;
}

/* Fits the process in the current process times. */
static double fit_once(struct sr_process_work *w, struct sr_process *process)
{
    search_grid(w, process);
    search_near(w, 0.32, 0.015, process);
    return take_process(w, *process);
}

/* The mean squared difference of each row's acceleration between two fits, per coordinate. */
static void compare_fits(const struct sr_process_work *w, const struct sr_process_work *other,
                         double difference[W])
{
    for (size_t i = 0; i < w->n; i++) {
        double k[W], l[W];
        acceleration_kernel(w, i, k);
        acceleration_kernel(other, i, l);
        difference[i] = 0;
        for (int d = 0; d < w->dims; d++) {
            double off = 0;
            for (size_t j = 0; j < w->n; j++)
                off += k[j] * w->alpha[d * W + (int)j] - l[j] * other->alpha[d * W + (int)j];
            difference[i] += off * off / w->dims;
        }
    }
}

/* Warps time as long as the likelihood of the window grows. The change by the last step estimates
 * how strongly the accelerations depend on the warp. */
static double warp_times(struct sr_process_work *w, struct sr_process_work *other,
                         const struct sr_window *window, double most, struct sr_process *process)
{
    struct warp warp;
    for (int pass = 0; pass < PASSES && most > -HUGE_VAL; pass++) {
        struct sr_process warped = *process;
        *other = *w;
        double l = -HUGE_VAL;
        if (find_warp(w, window, &warp)) {
            set_times(w, &warp);
            l = fit_once(w, &warped);
        }
        if (!(l > most + (pass == 0 ? 3 : 0.5))) {
            *w = *other;
            break;
        }
        compare_fits(w, other, w->difference);
        most = l;
        *process = warped;
    }
    return most;
}

double sr_process_fit(struct sr_process_work *w, const struct sr_window *window, double most_noise,
                      struct sr_process *process)
{
    struct sr_process_work *other = orr_alloc(1, sizeof *other);
    if (!other)
        return NAN;
    w->most_noise = most_noise;
    take_window(w, window);
    w->most = fit_once(w, process);
    if (!window->even)
        w->most = warp_times(w, other, window, w->most, process);
    free(other);
    if (!(w->most > -HUGE_VAL))
        return NAN;
    w->gap = find_gap(w);
    return sqrt(w->noise * w->scale2);
}

double sr_process_fit_near(struct sr_process_work *w, const struct sr_window *window,
                           struct sr_process other, struct sr_process *process)
{
    w->most_noise = HUGE_VAL;
    take_window(w, window);
    if (likelihood(w, other) > likelihood(w, *process))
        *process = other;
    search_near(w, 0.16, 0.07, process);
    w->most = take_process(w, *process);
    return w->most > -HUGE_VAL ? sqrt(w->noise * w->scale2) : NAN;
}

/* Mean squared leave-one-out residual of a row and its neighbours, at least 1. Where the path bends
 * faster than in the rest of the window, the kernel underestimates the variances; this factor
 * corrects them. */
static double misfit_at(const struct sr_process_work *w, size_t at)
{
    const size_t first = at < 2 ? 0 : at - 2, last = at + 3 < w->n ? at + 3 : w->n;
    double sum = 0;
    for (size_t i = first; i < last; i++)
        sum += w->surprise[i] / (double)(last - first);
    return fmax(1, sum);
}

/* Reduction of the prior variance, over s^2, of a quantity with covariances k with the rows: k C^-1
 * k, minus the cost of smoothing twice, lambda^2 k C^-1 S C^-1 S C^-1 k. Overwrites k. */
static double variance_told(const struct sr_process_work *w, double k[W])
{
    double sum = 0;
    sr_cholesky_lower(w->L, w->n, W, k);
    for (size_t j = 0; j < w->n; j++)
        sum += k[j] * k[j];
    sr_cholesky_upper(w->L, w->n, W, k);
    for (size_t j = 0; j < w->n; j++)
        k[j] *= w->spread[j];
    sr_cholesky_lower(w->L, w->n, W, k);
    for (size_t j = 0; j < w->n; j++)
        sum -= w->noise * w->noise * k[j] * k[j];
    return sum;
}

void sr_process_state(struct sr_process_work *w, size_t at, struct sr_process_state *state)
{
    const size_t n = w->n;
    const double l2 = w->length * w->length, step2 = w->step * w->step;
    const double rate2 = w->rate[at] * w->rate[at], bend = w->bend[at];
    double k[W], k2[W], k_left, k2_left;
    for (size_t j = 0; j < n; j++) {
        const double d = w->u[at] - w->u[j];
        k[j] = orr_exp(-0.5 * d * d / l2);
    }
    acceleration_kernel(w, at, k2);
    for (int d = 0; d < w->dims; d++) {
        const double *alpha = w->alpha + d * W;
        state->x[d] = w->mean[d];
        state->a[d] = 0;
        for (size_t j = 0; j < n; j++) {
            state->x[d] += k[j] * alpha[j];
            state->a[d] += k2[j] * alpha[j] / step2;
        }
    }
    k_left = variance_told(w, k);
    k2_left = variance_told(w, k2);
    const double rounding = 1e-15 * (double)n, times = misfit_at(w, at) * w->scale2;
    const double before = 3 * rate2 * rate2 / (l2 * l2) + bend * bend / l2;
    state->x_variance = times * fmax(1 - k_left, rounding);
    state->a_variance = times * fmax(before - k2_left, before * rounding) / (step2 * step2) +
                        w->difference[at] / (step2 * step2);
}

double sr_process_likelihood(const struct sr_process_work *w)
{
    return w->most;
}

double sr_process_noise(const struct sr_process_work *w, size_t at)
{
    return sqrt(w->noise * w->scale2 * w->spread[at]);
}

void sr_process_velocity(struct sr_process_work *w, size_t at, double v[SR_MOTION_DIMS],
                         double *variance)
{
    const double l2 = w->length * w->length, step2 = w->step * w->step;
    const double rate2 = w->rate[at] * w->rate[at], rounding = 1e-15 * (double)w->n;
    double k[W];
    for (size_t j = 0; j < w->n; j++) { /* by the chain rule x' = f'(u) u' */
        const double d = w->u[at] - w->u[j];
        k[j] = -orr_exp(-0.5 * d * d / l2) * d / l2 * w->rate[at];
    }
    for (int d = 0; d < w->dims; d++) {
        v[d] = 0;
        for (size_t j = 0; j < w->n; j++)
            v[d] += k[j] * w->alpha[d * W + (int)j] / w->step;
    }
    const double before = rate2 / l2;
    *variance = misfit_at(w, at) * w->scale2 *
                fmax(before - variance_told(w, k), before * rounding) / step2;
}

/* The weights of the positions in a quantity with covariances k with them, smoothed twice. */
static void weights_of(struct sr_process_work *w, const double k[W], double weight[W])
{
    double twice[W];
    memcpy(weight, k, w->n * sizeof *weight);
    sr_cholesky_solve(w->L, w->n, W, weight);
    for (size_t j = 0; j < w->n; j++)
        twice[j] = weight[j] * w->spread[j];
    sr_cholesky_solve(w->L, w->n, W, twice);
    for (size_t j = 0; j < w->n; j++)
        weight[j] += w->noise * twice[j];
}

/* Changes weights so that they give `value` at positions 1 and `slope` at positions t - t[0]. */
static void pass_lines(const struct sr_process_work *w, double value, double slope,
                       double weight[W])
{
    double sum = 0, time = 0, squares = 0;
    for (size_t j = 0; j < w->n; j++) {
        sum += weight[j];
        time += w->t[j] / (double)w->n;
    }
    for (size_t j = 0; j < w->n; j++) {
        weight[j] += (value - sum) / (double)w->n;
        slope -= weight[j] * w->t[j];
        squares += (w->t[j] - time) * (w->t[j] - time);
    }
    for (size_t j = 0; j < w->n; j++)
        weight[j] += slope / squares * (w->t[j] - time);
}

void sr_process_weights(struct sr_process_work *w, size_t at, double position[W],
                        double acceleration[W])
{
    double k[W] = {0};
    for (size_t j = 0; j < w->n; j++) {
        const double d = (w->u[at] - w->u[j]) / w->length;
        k[j] = orr_exp(-0.5 * d * d);
    }
    weights_of(w, k, position);
    pass_lines(w, 1, w->t[at], position);
    acceleration_kernel(w, at, k);
    weights_of(w, k, acceleration);
    for (size_t j = 0; j < w->n; j++)
        acceleration[j] /= w->step * w->step;
    pass_lines(w, 0, 0, acceleration);
}

double sr_process_gap(const struct sr_process_work *w, size_t at)
{
    return w->gap / w->rate[at] * w->step;
}
