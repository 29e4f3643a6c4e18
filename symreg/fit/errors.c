/* errors.c - standard errors of a formula's constants from the Gauss-Newton Hessian. */
#include "fit.h"

#include <math.h>
#include <stdlib.h>

#include "symreg/value/cholesky.h"

/* The lower triangle of J^T W J, scaled to a unit diagonal; size[a] is the divisor of row and
 * column a. False where a constant has no effect. */
static bool fill_hessian(const struct sr_data *data, const double *jacobian, int n,
                         double h[SR_NODES][SR_NODES], double *size)
{
    const size_t rows = data->rows;
    for (int a = 0; a < n; a++)
        for (int b = 0; b <= a; b++) {
            const double *x = jacobian + (size_t)a * rows, *y = jacobian + (size_t)b * rows;
            double sum = 0;
            for (size_t i = 0; i < rows; i++)
                sum += sr_row_weight(data, i) * x[i] * y[i];
            h[a][b] = sum;
        }
    for (int a = 0; a < n; a++) {
        size[a] = sqrt(h[a][a]);
        if (!(size[a] > 0) || !isfinite(size[a]))
            return false;
    }
    for (int a = 0; a < n; a++)
        for (int b = 0; b <= a; b++)
            h[a][b] /= size[a] * size[b];
    return true;
}

/* The variance of a row of weight 1: `known`, or estimated from the residuals. NAN where the table
 * has no more rows than constants. */
static double variance_of(const struct sr_data *data, const double *value, int n, double known)
{
    double residual = 0;
    size_t rows = 0;
    if (known > 0)
        return known;
    for (size_t i = 0; i < data->rows; i++) {
        const double d = value[i] - data->y[i], w = sr_row_weight(data, i);
        residual += w * d * d;
        rows += w > 0;
    }
    return rows > (size_t)n ? residual / (double)(rows - (size_t)n) : NAN;
}

int sr_constants_errors(const struct sr_expr *expr, const struct sr_data *data, double variance,
                        double *error)
{
    const double least = 1e-12; /* below it the constants are not distinguishable */
    double h[SR_NODES][SR_NODES], size[SR_NODES], work[SR_NODES];
    const int n = sr_expr_constants(expr, NULL);
    for (int c = 0; c < n; c++)
        error[c] = NAN;
    if (n == 0)
        return 0;
    double *block = orr_alloc(((size_t)n + 1) * data->rows, sizeof *block);
    if (!block)
        return ORR_ENOMEM;
    const double *jacobian = block + data->rows;
    if (sr_eval_jacobian(expr, data, block, block + data->rows) &&
        fill_hessian(data, jacobian, n, h, size) && sr_cholesky(h[0], (size_t)n, SR_NODES, least)) {
        const double row = variance_of(data, block, n, variance);
        for (int c = 0; c < n; c++)
            error[c] = sqrt(row * sr_cholesky_inverse(h[0], (size_t)n, SR_NODES, (size_t)c, work)) /
                       size[c];
    }
    free(block);
    return 0;
}
