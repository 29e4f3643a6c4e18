/* gaussian_process.c - the evidence of a Gaussian process, its optimisation, and gradients. */
#include "gaussian_process.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "symreg/value/cholesky.h"
#include "symreg/value/vec.h"

enum {
    PARAMETERS = SR_SMOOTH_COLUMNS + 2,
    PATIENCE = 5, /* stop when the evidence grew by less than 1 in this many steps */
};

/* Prior variances of the slopes and of the constant; the latter is a multiple of the variance of
 * z. */
static const double slope_variance = 9, constant_share = 100;
static const double least_length = 0.2, most_length = 60;
static const double least_noise = 1e-7; /* share of the variance of z that keeps K invertible */

struct solver {
    const struct sr_smooth_data *data;
    double variance;          /* variance of z */
    double *kernel, *lower;   /* (n, n) the kernel of f alone, and the Cholesky factor of K */
    double *inverse, *weight; /* (n, n), (n): K^-1 and K^-1 z */
    double *scratch;          /* (n, n) */
};

static int make_solver(const struct sr_smooth_data *data, struct solver *s)
{
    const size_t n = (size_t)data->rows;
    double mean = 0;
    *s = (struct solver){.data = data};
    s->kernel = orr_alloc(4 * n * n + n, sizeof *s->kernel);
    if (!s->kernel)
        return ORR_ENOMEM;
    s->lower = s->kernel + n * n;
    s->inverse = s->lower + n * n;
    s->scratch = s->inverse + n * n;
    s->weight = s->scratch + n * n;
    for (size_t i = 0; i < n; i++)
        mean += data->z[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        s->variance += (data->z[i] - mean) * (data->z[i] - mean) / (double)n;
    s->variance = fmax(s->variance, 1e-300);
    return 0;
}

/* ---- K */

/* The kernel of f, and K in `lower`, lower triangles. */
static void make_kernel(struct solver *s, const struct sr_smooth *m)
{
    const struct sr_smooth_data *data = s->data;
    const size_t n = (size_t)s->data->rows;
    for (size_t i = 0; i < n; i++) {
        double *row = s->kernel + i * n, *all = s->lower + i * n;
        sr_fill(row, i + 1, 0);
        for (int k = 0; k < data->columns; k++) {
            const double *x = data->coordinate + (size_t)k * n;
            const double factor = 0.5 / (m->length[k] * m->length[k]), own = x[i];
            for (size_t j = 0; j <= i; j++)
                row[j] += factor * (x[j] - own) * (x[j] - own);
        }
        for (size_t j = 0; j <= i; j++)
            row[j] = m->square * orr_exp(-row[j]);
        for (size_t j = 0; j <= i; j++)
            all[j] = row[j] + constant_share * s->variance;
        for (int k = 0; k < data->lines; k++) {
            const double *line = data->line + (size_t)k * n;
            const double own = slope_variance * line[i];
            for (size_t j = 0; j <= i; j++)
                all[j] += own * line[j];
        }
        all[i] += m->noise * data->noise[i] + least_noise * s->variance;
    }
}

/* weight = K^-1 z; returns z' K^-1 z. */
static double solve_weights(struct solver *s)
{
    const size_t n = (size_t)s->data->rows;
    double square = 0;
    memcpy(s->weight, s->data->z, n * sizeof *s->weight);
    sr_cholesky_lower(s->lower, n, n, s->weight);
    for (size_t i = 0; i < n; i++)
        square += s->weight[i] * s->weight[i];
    sr_cholesky_upper(s->lower, n, n, s->weight);
    return square;
}

/* ---- evidence */

/* Computes evidence and slopes; false where K is singular. */
static bool judge_model(struct solver *s, struct sr_smooth *m)
{
    const size_t n = (size_t)s->data->rows;
    double half_log = 0;
    make_kernel(s, m);
    if (!sr_vec_best()->factorise(s->lower, s->data->rows))
        return false;
    for (size_t i = 0; i < n; i++)
        half_log += orr_log(s->lower[i * n + i]);
    m->evidence = -0.5 * solve_weights(s) - half_log;
    for (int k = 0; k < s->data->lines; k++) {
        const double *line = s->data->line + (size_t)k * n;
        m->slope[k] = 0;
        for (size_t i = 0; i < n; i++)
            m->slope[k] += slope_variance * line[i] * s->weight[i];
    }
    return isfinite(m->evidence);
}

/* Derivatives of the evidence by the logarithms of lengths, s^2 and noise: 1/2 sum (w w' - K^-1)
 * dK. */
static void evidence_slope(struct solver *s, const struct sr_smooth *m, double slope[PARAMETERS])
{
    const struct sr_smooth_data *data = s->data;
    const size_t n = (size_t)s->data->rows;
    const int columns = data->columns;
    sr_vec_best()->invert(s->lower, s->data->rows, s->scratch, s->inverse);
    for (int k = 0; k < columns + 2; k++)
        slope[k] = 0;
    for (size_t i = 0; i < n; i++) {
        const double *kernel = s->kernel + i * n, *inverse = s->inverse + i * n;
        double *q = s->scratch;
        for (size_t j = 0; j < i; j++)
            q[j] = (s->weight[i] * s->weight[j] - inverse[j]) * kernel[j];
        for (int k = 0; k < columns; k++) {
            const double *x = data->coordinate + (size_t)k * n, own = x[i];
            double sum = 0;
            for (size_t j = 0; j < i; j++)
                sum += q[j] * (x[j] - own) * (x[j] - own);
            slope[k] += sum / (m->length[k] * m->length[k]);
        }
        const double self = s->weight[i] * s->weight[i] - inverse[i];
        double sum = 0;
        for (size_t j = 0; j < i; j++)
            sum += q[j];
        slope[columns] += sum + 0.5 * self * kernel[i];
        slope[columns + 1] += 0.5 * self * m->noise * data->noise[i];
    }
}

/* ---- optimisation */

static void move_model(const struct solver *s, const double step[PARAMETERS], struct sr_smooth *m)
{
    const int columns = s->data->columns;
    for (int k = 0; k < columns; k++)
        m->length[k] = fmin(fmax(m->length[k] * orr_exp(step[k]), least_length), most_length);
    m->square =
        fmin(fmax(m->square * orr_exp(step[columns]), 1e-6 * s->variance), 1e4 * s->variance);
    m->noise =
        fmin(fmax(m->noise * orr_exp(step[columns + 1]), 1e-8 * s->variance), 2 * s->variance);
}

/* Rprop (Riedmiller & Braun, ICNN 1993): each parameter moves by the sign of its derivative with
 * its own step size. */
static void climb_likelihood(struct solver *s, int steps, struct sr_smooth *m)
{
    double size[PARAMETERS], last[PARAMETERS] = {0}, slope[PARAMETERS], step[PARAMETERS];
    struct sr_smooth best = *m, now = *m;
    for (int k = 0; k < PARAMETERS; k++)
        size[k] = 0.4;
    double before = -HUGE_VAL; /* the best evidence at the last check */
    best.evidence = -HUGE_VAL;
    for (int turn = 0; turn <= steps && !orr_signal_seen(); turn++) {
        if (!judge_model(s, &now))
            break;
        if (now.evidence > best.evidence)
            best = now;
        if (turn == steps || (turn % PATIENCE == PATIENCE - 1 && best.evidence < before + 1))
            break;
        if (turn % PATIENCE == PATIENCE - 1)
            before = best.evidence;
        evidence_slope(s, &now, slope);
        for (int k = 0; k < s->data->columns + 2; k++) {
            const double turned = slope[k] * last[k];
            size[k] = fmin(size[k] * (turned > 0 ? 1.3 : turned < 0 ? 0.5 : 1), 1.0);
            step[k] = slope[k] > 0 ? size[k] : slope[k] < 0 ? -size[k] : 0;
            last[k] = turned < 0 ? 0 : slope[k];
            step[k] = turned < 0 ? 0 : step[k];
        }
        move_model(s, step, &now);
    }
    *m = best;
}

int sr_smooth_fit(const struct sr_smooth_data *data, int steps, struct sr_smooth *model)
{
    struct solver s;
    TRY(make_solver(data, &s));
    if (!(model->square > 0)) {
        for (int k = 0; k < data->columns; k++)
            model->length[k] = 3;
        model->square = 0.3 * s.variance;
        model->noise = 1e-3 * s.variance;
    }
    climb_likelihood(&s, steps, model);
    free(s.kernel);
    return 0;
}

int sr_smooth_gradient(const struct sr_smooth_data *data, const struct sr_smooth *model,
                       double *gradient)
{
    struct solver s;
    struct sr_smooth m = *model;
    TRY(make_solver(data, &s));
    const size_t n = (size_t)data->rows;
    memset(gradient, 0, (size_t)data->columns * n * sizeof *gradient);
    if (judge_model(&s, &m))
        for (size_t i = 0; i < n; i++)
            for (int k = 0; k < data->columns; k++) {
                const double *x = data->coordinate + (size_t)k * n;
                const double unit = 1 / (m.length[k] * m.length[k]);
                double *out = gradient + (size_t)k * n, sum = 0;
                for (size_t j = 0; j < i; j++) { /* the kernel is symmetric */
                    const double d = s.kernel[i * n + j] * (x[j] - x[i]) * unit;
                    sum += s.weight[j] * d;
                    out[j] -= s.weight[i] * d;
                }
                out[i] += sum;
            }
    free(s.kernel);
    return 0;
}

int sr_smooth_predict(const struct sr_smooth_data *data, const struct sr_smooth *model,
                      double *value, double *deviation)
{
    struct solver s;
    struct sr_smooth m = *model;
    TRY(make_solver(data, &s));
    const size_t n = (size_t)data->rows;
    sr_fill(value, n, NAN);
    sr_fill(deviation, n, NAN);
    if (judge_model(&s, &m)) {
        sr_vec_best()->invert(s.lower, data->rows, s.scratch, s.inverse);
        for (size_t i = 0; i < n; i++) {
            const double self = s.inverse[i * n + i], own = m.noise * data->noise[i];
            value[i] = data->z[i] - s.weight[i] / self;
            deviation[i] = sqrt(fmax(1 / self - own, 0));
        }
    }
    free(s.kernel);
    return 0;
}
