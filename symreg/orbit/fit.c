/* fit.c - maximum likelihood of orbits, offsets and jitter: Levenberg-Marquardt for orbits and
 * offsets, and the jitter of each instrument by itself, in turns. */
#include "orbit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "symreg/value/cholesky.h"

enum { MOST = SR_ORBIT_PARAMETERS, STEPS = 100, TURNS = 60, HALVINGS = 80 };

struct sr_orbit_work {
    double *v, *slope, *weight; /* (n), (n, shapes), (n) */
    double trial[1];
};

struct sr_orbit_work *sr_orbit_work_create(size_t n)
{
    const size_t numbers = n * (2 + SR_ORBIT_SHAPE * SR_ORBIT_PLANETS);
    struct sr_orbit_work *work = orr_alloc(1, sizeof *work + numbers * sizeof(double));
    if (!work)
        return NULL;
    work->v = work->trial + 1;
    work->weight = work->v + n;
    work->slope = work->weight + n;
    return work;
}

static int parameters(const struct sr_orbit *orbit)
{
    return sr_orbit_shape(orbit) + orbit->instruments;
}

/* What a held element is off, in its widths; 0 without one. */
static double held_off(const struct sr_held *held, const struct sr_orbit *orbit)
{
    if (!held)
        return 0;
    const double value = sr_orbit_element(orbit, held->planet, held->element);
    const double period = sr_orbit_element(orbit, held->planet, SR_ELEMENT_P);
    return sr_element_difference(held->element, held->value, value, period) / held->width;
}

/* chi^2 with the square of what a held element is off; infinite where the orbit is none. */
static double chi2_of(const struct sr_velocities *data, const struct sr_held *held,
                      const struct sr_orbit *orbit, bool slopes, struct sr_orbit_work *work)
{
    double sum = 0;
    if (!sr_orbit_model(orbit, data->n, data->t, data->instrument, work->v,
                        slopes ? work->slope : NULL))
        return HUGE_VAL;
    for (size_t i = 0; i < data->n; i++) {
        const double rest = data->v[i] - work->v[i];
        sum += work->weight[i] * rest * rest;
    }
    const double off = held_off(held, orbit);
    return isfinite(sum) ? sum + off * off : HUGE_VAL;
}

/* The lower triangle of J' W J (count, count), and J' W r. */
static void normal_equations(const struct sr_velocities *data, const struct sr_orbit *orbit,
                             const struct sr_held *held, const struct sr_orbit_work *work,
                             double *A, double *g)
{
    const int shape = sr_orbit_shape(orbit);
    memset(A, 0, sizeof(double) * MOST * MOST);
    memset(g, 0, sizeof(double) * MOST);
    for (size_t i = 0; i < data->n; i++) {
        const double *slope = work->slope + i * (size_t)shape;
        const double w = work->weight[i], rest = data->v[i] - work->v[i];
        const int own = shape + data->instrument[i];
        for (int a = 0; a < shape; a++) {
            for (int b = 0; b <= a; b++)
                A[a * MOST + b] += w * slope[a] * slope[b];
            A[own * MOST + a] += w * slope[a];
            g[a] += w * slope[a] * rest;
        }
        A[own * MOST + own] += w;
        g[own] += w * rest;
    }
    if (!held)
        return;
    double gradient[SR_ORBIT_SHAPE];
    const int from = SR_ORBIT_SHAPE * held->planet;
    const double off = held_off(held, orbit), width = held->width;
    sr_orbit_gradient(orbit, held->planet, held->element, gradient);
    for (int a = 0; a < SR_ORBIT_SHAPE; a++) {
        for (int b = 0; b <= a; b++)
            A[(from + a) * MOST + from + b] += gradient[a] * gradient[b] / (width * width);
        g[from + a] += gradient[a] / width * off;
    }
}

/* One step of length by `damping`; false where the equations have no solution. */
static bool damped_step(const double *A, const double *g, int count, double damping, double *step)
{
    double scaled[MOST * MOST] = {0}, scale[MOST];
    for (int a = 0; a < count; a++) {
        scale[a] = A[a * MOST + a] > 0 ? 1 / sqrt(A[a * MOST + a]) : 0;
        for (int b = 0; b <= a; b++)
            scaled[a * MOST + b] = A[a * MOST + b] * scale[a] * scale[b];
        scaled[a * MOST + a] = 1 + damping;
        step[a] = g[a] * scale[a];
    }
    if (!sr_cholesky(scaled, (size_t)count, MOST, 1e-15))
        return false;
    sr_cholesky_solve(scaled, (size_t)count, MOST, step);
    for (int a = 0; a < count; a++)
        step[a] *= scale[a];
    return true;
}

/* Levenberg-Marquardt with the present weights. */
static bool least_squares(const struct sr_velocities *data, const struct sr_held *held,
                          struct sr_orbit *orbit, struct sr_orbit_work *work)
{
    double A[MOST * MOST], g[MOST], step[MOST], damping = 1e-3;
    const int count = parameters(orbit);
    double best = chi2_of(data, held, orbit, true, work);
    for (int k = 0; k < STEPS && isfinite(best); k++) {
        normal_equations(data, orbit, held, work, A, g);
        struct sr_orbit trial = *orbit;
        double found = HUGE_VAL;
        for (; damping < 1e12; damping *= 5) {
            if (!damped_step(A, g, count, damping, step))
                continue;
            for (int a = 0; a < count; a++)
                trial.x[a] = orbit->x[a] + step[a];
            found = chi2_of(data, held, &trial, true, work);
            if (found <= best)
                break;
        }
        if (!(found <= best)) /* no step is better: the minimum, to rounding */
            break;
        const bool done = best - found <= 1e-10 * (1 + fabs(found));
        *orbit = trial;
        best = found;
        damping = damping > 1e-11 ? damping * 0.1 : damping;
        if (done)
            return true;
        if (damping >= 1e11)
            damping = 1e-3;
    }
    return isfinite(best);
}

/* The slope of the likelihood by the square u of an instrument's jitter, twice. */
static double jitter_slope(const struct sr_velocities *data, const struct sr_orbit_work *work,
                           int instrument, double u)
{
    double sum = 0;
    for (size_t i = 0; i < data->n; i++) {
        const double rest = data->v[i] - work->v[i];
        const double variance = data->sigma[i] * data->sigma[i] + u;
        if (data->instrument[i] == instrument)
            sum += (rest * rest / variance - 1) / variance;
    }
    return sum;
}

/* The likeliest jitter of each instrument for the residuals in work->v. Without sigmas it is the
 * whole noise, and at least what leaves a finite likelihood. */
static void fit_jitter(const struct sr_velocities *data, struct sr_orbit *orbit,
                       const struct sr_orbit_work *work)
{
    for (int k = 0; k < orbit->instruments; k++) {
        const double least = data->has_sigma ? 0 : 1e-9 * data->scatter;
        double low = least * least, high = low, most = 0;
        for (size_t i = 0; i < data->n; i++) {
            const double rest = data->v[i] - work->v[i];
            most = data->instrument[i] == k ? fmax(most, rest * rest) : most;
        }
        orbit->jitter[k] = least;
        high = fmax(most, low) * 1.0000001;
        if (!(jitter_slope(data, work, k, low) > 0))
            continue;
        for (int h = 0; h < HALVINGS; h++) {
            const double middle = 0.5 * (low + high);
            if (jitter_slope(data, work, k, middle) > 0)
                low = middle;
            else
                high = middle;
        }
        orbit->jitter[k] = sqrt(0.5 * (low + high));
    }
}

static void set_weights(const struct sr_velocities *data, const struct sr_orbit *orbit,
                        struct sr_orbit_work *work)
{
    for (size_t i = 0; i < data->n; i++)
        work->weight[i] = 1 / sr_orbit_variance(data, orbit, i);
}

static void set_likelihood(const struct sr_velocities *data, struct sr_orbit *orbit,
                           struct sr_orbit_work *work)
{
    double sum = 0;
    orbit->chi2 = 0;
    for (size_t i = 0; i < data->n; i++) {
        const double rest = data->v[i] - work->v[i], variance = sr_orbit_variance(data, orbit, i);
        orbit->chi2 += rest * rest / variance;
        sum += rest * rest / variance + orr_log(SR_ORBIT_TURN * variance);
    }
    orbit->likelihood = -0.5 * sum;
}

/* K above 0 and the longitude in [0, 2 pi). */
static void tidy(struct sr_orbit *orbit)
{
    for (int p = 0; p < orbit->planets; p++) {
        double *x = orbit->x + SR_ORBIT_SHAPE * p;
        if (x[SR_ORBIT_AMPLITUDE] < 0) {
            x[SR_ORBIT_AMPLITUDE] = -x[SR_ORBIT_AMPLITUDE];
            x[SR_ORBIT_X] = -x[SR_ORBIT_X];
            x[SR_ORBIT_Y] = -x[SR_ORBIT_Y];
            x[SR_ORBIT_LONGITUDE] += SR_ORBIT_TURN / 2;
        }
        x[SR_ORBIT_LONGITUDE] -= SR_ORBIT_TURN * floor(x[SR_ORBIT_LONGITUDE] / SR_ORBIT_TURN);
    }
}

bool sr_orbit_refine(const struct sr_velocities *data, const struct sr_held *held, bool jitter,
                     struct sr_orbit *orbit, struct sr_orbit_work *work)
{
    double before = -HUGE_VAL;
    for (int turn = 0; turn < TURNS; turn++) {
        set_weights(data, orbit, work);
        if (!least_squares(data, held, orbit, work) ||
            !sr_orbit_model(orbit, data->n, data->t, data->instrument, work->v, NULL))
            return false;
        if (jitter)
            fit_jitter(data, orbit, work);
        set_likelihood(data, orbit, work);
        if (!jitter || orbit->likelihood - before <= 1e-7)
            break;
        before = orbit->likelihood;
    }
    tidy(orbit);
    return isfinite(orbit->likelihood);
}

bool sr_orbit_constant(const struct sr_velocities *data, struct sr_orbit *orbit,
                       struct sr_orbit_work *work)
{
    *orbit = (struct sr_orbit){.instruments = data->instruments};
    for (int k = 0; k < orbit->instruments; k++)
        orbit->jitter[k] = data->scatter;
    return sr_orbit_refine(data, NULL, true, orbit, work);
}

bool sr_orbit_covariance(const struct sr_velocities *data, const struct sr_orbit *orbit,
                         double *covariance, struct sr_orbit_work *work)
{
    double A[MOST * MOST], g[MOST], scale[MOST];
    const int count = parameters(orbit);
    set_weights(data, orbit, work);
    if (!isfinite(chi2_of(data, NULL, orbit, true, work)))
        return false;
    normal_equations(data, orbit, NULL, work, A, g);
    for (int a = 0; a < count; a++)
        scale[a] = A[a * MOST + a] > 0 ? 1 / sqrt(A[a * MOST + a]) : 0;
    for (int a = 0; a < count; a++)
        for (int b = 0; b <= a; b++)
            A[a * MOST + b] *= scale[a] * scale[b];
    if (!sr_cholesky(A, (size_t)count, MOST, 1e-14))
        return false;
    for (int a = 0; a < count; a++) {
        double unit[MOST] = {0};
        unit[a] = 1;
        sr_cholesky_solve(A, (size_t)count, MOST, unit);
        for (int b = 0; b < count; b++)
            covariance[a * count + b] = unit[b] * scale[a] * scale[b];
    }
    return true;
}

double sr_orbit_jitter_error(const struct sr_velocities *data, const struct sr_orbit *orbit,
                             int instrument)
{
    const double jitter = orbit->jitter[instrument];
    double information = 0;
    for (size_t i = 0; i < data->n; i++) {
        const double variance = sr_orbit_variance(data, orbit, i);
        if (data->instrument[i] == instrument)
            information += 2 * jitter * jitter / (variance * variance);
    }
    return information > 0 ? 1 / sqrt(information) : NAN;
}
