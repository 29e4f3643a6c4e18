/* errors.c - covariance and standard errors of a formula's constants from the Gauss-Newton Hessian,
 * and what follows for new observations. */
#include "fit.h"

#include <math.h>
#include <stdlib.h>

#include "symreg/value/cholesky.h"

/* A power of two that brings a column of the Jacobian to numbers near 1, as squares may leave the
 * range of numbers. */
static double scale_of(const double *column, size_t rows)
{
    double most = 0;
    int power;
    for (size_t i = 0; i < rows; i++)
        most = fmax(most, fabs(column[i]));
    frexp(isfinite(most) ? most : 1, &power);
    return ldexp(1, power < -1000 ? 1000 : -power);
}

/* The lower triangle of J^T W J, scaled to a unit diagonal; size[a] is the divisor of row and
 * column a. False where a constant has no effect. */
static bool fill_hessian(const struct sr_data *data, const double *jacobian, int n,
                         double h[SR_NODES][SR_NODES], double *size)
{
    const size_t rows = data->rows;
    double scale[SR_NODES];
    for (int a = 0; a < n; a++) {
        scale[a] = scale_of(jacobian + (size_t)a * rows, rows);
        for (int b = 0; b <= a; b++) {
            const double *x = jacobian + (size_t)a * rows, *y = jacobian + (size_t)b * rows;
            double sum = 0;
            for (size_t i = 0; i < rows; i++)
                sum += sr_row_weight(data, i) * (x[i] * scale[a]) * (y[i] * scale[b]);
            h[a][b] = sum;
        }
    }
    for (int a = 0; a < n; a++) {
        size[a] = sqrt(h[a][a]);
        if (!(size[a] > 0) || !isfinite(size[a]))
            return false;
    }
    for (int a = 0; a < n; a++)
        for (int b = 0; b <= a; b++)
            h[a][b] /= size[a] * size[b];
    for (int a = 0; a < n; a++)
        size[a] /= scale[a];
    return true;
}

/* Degrees of freedom and variances from the residuals; u->noise is kept where it is known. */
static void measure_noise(const struct sr_data *data, const double *value, double variance,
                          struct sr_uncertainty *u)
{
    double weighted = 0, plain = 0;
    const double rows = (double)sr_rows_weighted(data), counted = sr_rows_counted(data);
    for (size_t i = 0; i < data->rows; i++) {
        const double d = value[i] - data->y[i], w = sr_row_weight(data, i);
        weighted += w * d * d;
        plain += w > 0 ? d * d : 0;
    }
    u->spare = rows - u->constants;
    u->scatter = u->spare > 0 ? plain / u->spare : NAN;
    u->noise = variance > 0 ? variance : u->spare > 0 ? weighted / u->spare : NAN;
    u->repeats = rows / counted;
    if (u->spare > 0 && counted < rows)
        u->spare = fmax(counted - u->constants, 1);
    u->freedom = variance > 0 ? INFINITY : u->spare;
}

/* The covariance from the factor of the scaled Hessian. Rows that follow each other are repetitions
 * of fewer independent ones. */
static void invert_hessian(double h[SR_NODES][SR_NODES], const double *size,
                           struct sr_uncertainty *u)
{
    const int n = u->constants;
    const double noise = u->noise * u->repeats;
    for (int a = 0; a < n; a++) {
        double column[SR_NODES] = {0};
        column[a] = 1;
        sr_cholesky_solve(h[0], (size_t)n, SR_NODES, column);
        u->error[a] = sqrt(noise * column[a]) / size[a];
        for (int b = 0; b < n; b++) {
            const double both = size[a] * size[b];
            const double covariance =
                isnormal(both) ? noise * column[b] / both : noise * column[b] / size[a] / size[b];
            /* rounded to 0 it would make predictions certain */
            u->covariance[b][a] = column[b] == 0 || isnormal(covariance) ? covariance : (double)NAN;
        }
    }
}

int sr_constants_uncertainty(const struct sr_expr *expr, const struct sr_data *data,
                             double variance, struct sr_uncertainty *u)
{
    const double least = 1e-12; /* below it the constants are not distinguishable */
    double h[SR_NODES][SR_NODES], size[SR_NODES];
    const int n = sr_expr_constants(expr, NULL);
    double *value = orr_alloc(((size_t)n + 1) * data->rows, sizeof *value);
    if (!value)
        return ORR_ENOMEM;
    const double *jacobian = value + data->rows;
    *u = (struct sr_uncertainty){
        .constants = n, .noise = NAN, .scatter = NAN, .spare = NAN, .freedom = NAN};
    for (int a = 0; a < n; a++) {
        u->error[a] = NAN;
        for (int b = 0; b < n; b++)
            u->covariance[a][b] = NAN;
    }
    if (sr_eval_jacobian(expr, data, value, value + data->rows)) {
        measure_noise(data, value, variance, u);
        if (fill_hessian(data, jacobian, n, h, size) &&
            sr_cholesky(h[0], (size_t)n, SR_NODES, least))
            invert_hessian(h, size, u);
    }
    free(value);
    return 0;
}

int sr_constants_errors(const struct sr_expr *expr, const struct sr_data *data, double variance,
                        double *error)
{
    struct sr_uncertainty u;
    struct sr_expr freed;
    int place[SR_NODES];
    const int n = sr_expr_constants(expr, NULL);
    bool free = sr_free_phases(expr, data, &freed, place);
    if (free) {
        TRY(sr_constants_uncertainty(&freed, data, variance, &u));
        free = isfinite(u.error[0]);
    }
    if (!free)
        TRY(sr_constants_uncertainty(expr, data, variance, &u));
    for (int c = 0; c < n; c++)
        error[c] = u.error[free ? place[c] : c];
    return 0;
}

bool sr_predict_variance(const struct sr_expr *expr, const struct sr_data *data,
                         const struct sr_uncertainty *u, double *value, double *jacobian,
                         double *variance)
{
    const size_t rows = data->rows;
    if (!sr_eval_jacobian(expr, data, value, jacobian))
        return false;
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (int a = 0; a < u->constants; a++)
            for (int b = 0; b < u->constants; b++)
                sum += jacobian[(size_t)a * rows + i] * u->covariance[a][b] *
                       jacobian[(size_t)b * rows + i];
        variance[i] = sum < 0 ? 0 : sum; /* rounding; NaN stays */
    }
    return true;
}
