/* standard_errors.c - covariance and standard errors of a formula's constants from the Gauss-Newton
 * Hessian, and what follows for new observations. */
#include "fit.h"

#include <math.h>
#include <stdlib.h>

#include "symreg/value/cholesky.h"

/* Sums over the rows, block by block, of which one at a time is evaluated. */
struct sums {
    const struct sr_expr *expr;
    const struct sr_data *data;
    double *value, *jacobian; /* (block), (constants, block) */
    double most[SR_NODES];    /* largest derivatives by the constants */
    double weighted, plain;   /* of squared residuals */
    double rows;              /* of positive weight */
};

static bool eval_block(struct sums *s, size_t first, size_t n)
{
    return sr_eval_jacobian_rows(s->expr, s->data, first, n, s->value, s->jacobian);
}

/* Residuals and sizes of derivatives. False where the formula is not finite. */
static bool add_residuals(struct sums *s, int constants)
{
    const struct sr_data *data = s->data;
    for (size_t first = 0; first < data->rows; first += SR_BLOCK) {
        const size_t n = sr_block_at(data->rows, first, SR_BLOCK);
        if (!eval_block(s, first, n))
            return false;
        for (size_t i = 0; i < n; i++) {
            const double d = s->value[i] - data->y[first + i], w = sr_row_weight(data, first + i);
            s->weighted += w * d * d;
            s->plain += w > 0 ? d * d : 0;
            s->rows += w > 0;
        }
        for (int a = 0; a < constants; a++) {
            double most = s->most[a];
            for (size_t i = 0; i < n; i++) {
                const double size = fabs(s->jacobian[(size_t)a * n + i]);
                most = size > most ? size : most;
            }
            s->most[a] = most;
        }
    }
    return true;
}

/* A power of two that brings a column of the Jacobian to numbers near 1, as squares may leave the
 * range of numbers. */
static double scale_of(double most)
{
    int power;
    frexp(isfinite(most) ? most : 1, &power);
    return ldexp(1, power < -1000 ? 1000 : -power);
}

/* The lower triangle of J^T W J, scaled to a unit diagonal; size[a] is the divisor of row and
 * column a. False where a constant has no effect. */
static bool fill_hessian(struct sums *s, int n, double h[SR_NODES][SR_NODES], double *size)
{
    const struct sr_data *data = s->data;
    double scale[SR_NODES];
    for (int a = 0; a < n; a++) {
        scale[a] = scale_of(s->most[a]);
        for (int b = 0; b <= a; b++)
            h[a][b] = 0;
    }
    for (size_t first = 0; first < data->rows; first += SR_BLOCK) {
        const size_t rows = sr_block_at(data->rows, first, SR_BLOCK);
        if (rows < data->rows && !eval_block(s, first, rows)) /* a single block is evaluated */
            return false;
        for (int a = 0; a < n; a++)
            for (int b = 0; b <= a; b++) {
                const double *x = s->jacobian + (size_t)a * rows;
                const double *y = s->jacobian + (size_t)b * rows;
                double sum = h[a][b];
                for (size_t i = 0; i < rows; i++)
                    sum += sr_row_weight(data, first + i) * (x[i] * scale[a]) * (y[i] * scale[b]);
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
static void measure_noise(const struct sums *s, double variance, struct sr_uncertainty *u)
{
    const double counted = sr_rows_counted(s->data);
    u->spare = s->rows - u->constants;
    u->scatter = u->spare > 0 ? s->plain / u->spare : NAN;
    u->noise = variance > 0 ? variance : u->spare > 0 ? s->weighted / u->spare : NAN;
    u->repeats = s->rows / counted;
    if (u->spare > 0 && counted < s->rows)
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

/* The uncertainty from a table without errors in x. */
static int uncertainty_of(const struct sr_expr *expr, const struct sr_data *data, double variance,
                          struct sr_uncertainty *u)
{
    const double least = 1e-12; /* below it the constants are not distinguishable */
    double h[SR_NODES][SR_NODES], size[SR_NODES];
    const int n = sr_expr_constants(expr, NULL);
    const size_t block = sr_block_rows(data);
    double *value = orr_alloc_unset(((size_t)n + 1) * block, sizeof *value);
    if (!value)
        return ORR_ENOMEM;
    struct sums sums = {.expr = expr, .data = data, .value = value, .jacobian = value + block};
    *u = (struct sr_uncertainty){
        .constants = n, .noise = NAN, .scatter = NAN, .spare = NAN, .freedom = NAN};
    for (int a = 0; a < n; a++) {
        u->error[a] = NAN;
        for (int b = 0; b < n; b++)
            u->covariance[a][b] = NAN;
    }
    if (add_residuals(&sums, n)) {
        measure_noise(&sums, variance, u);
        if (fill_hessian(&sums, n, h, size) && sr_cholesky(h[0], (size_t)n, SR_NODES, least))
            invert_hessian(h, size, u);
    }
    free(value);
    return 0;
}

/* The uncertainty where targets are intervals: by the weights of sr_interval_weigh(). */
static int uncertainty_of_intervals(const struct sr_expr *expr, const struct sr_data *data,
                                    struct sr_uncertainty *u)
{
    struct sr_data as = *data;
    struct sr_interval_noise noise;
    double *const value = orr_alloc(2 * data->rows, sizeof *value);
    double *const weight = value ? value + data->rows : NULL, variance = NAN;
    if (!value)
        return ORR_ENOMEM;
    if (sr_eval(expr, data, value)) { /* else nothing is known */
        sr_interval_measure(data, value, &noise);
        const double rows = (double)sr_rows_weighted(data),
                     spare = rows - sr_expr_constants(expr, NULL);
        if (spare > 0 && !(data->variance > 0))
            noise.sigma *= sqrt(rows / spare); /* the likeliest one is that of fitted residuals */
        variance = sr_interval_weigh(data, value, &noise, weight);
        as.weight = weight;
    }
    as.low = as.high = NULL;
    const int rc = uncertainty_of(expr, &as, variance, u);
    if (!rc && variance > 0) {
        u->scatter = noise.sigma * noise.sigma;
        u->freedom = u->spare;
    }
    free(value);
    return rc;
}

int sr_constants_uncertainty(const struct sr_expr *expr, const struct sr_data *data,
                             double variance, struct sr_uncertainty *u)
{
    struct sr_closest closest;
    if (data->low)
        return uncertainty_of_intervals(expr, data, u);
    if (!sr_closest_make(expr, data, 1, &closest)) /* not finite: nothing is known */
        closest = (struct sr_closest){.data = *data};
    const int rc = uncertainty_of(expr, &closest.data, variance, u);
    sr_closest_free(&closest);
    return rc;
}

bool sr_is_singular(const struct sr_uncertainty *u)
{
    return u->constants > 1 && isnan(u->error[0]) && u->spare > 0;
}

int sr_fix_ones(const struct sr_expr *expr, struct sr_expr *fixed, int place[SR_NODES])
{
    int numbers = 0, others = 0;
    *fixed = *expr;
    for (int i = 0; i < expr->count; i++) {
        if (!sr_is_number(&expr->node[i]))
            continue;
        if (fabs(expr->node[i].value) == 1)
            fixed->node[i].feature = SR_FIXED;
        else
            place[others++] = numbers;
        numbers++;
    }
    return others < numbers ? others : 0;
}

/* Errors of a formula whose constants only combinations of them determine. */
static int errors_beside_ones(const struct sr_expr *expr, const struct sr_data *data,
                              double variance, double *error)
{
    struct sr_expr fixed;
    struct sr_uncertainty u;
    int place[SR_NODES];
    const int others = sr_fix_ones(expr, &fixed, place);
    if (!others)
        return 0;
    TRY(sr_constants_uncertainty(&fixed, data, variance, &u));
    for (int c = 0; c < others && isfinite(u.error[0]); c++)
        error[place[c]] = u.error[c];
    return 0;
}

int sr_constants_errors_of(const struct sr_expr *expr, const struct sr_data *data, double variance,
                           const struct sr_uncertainty *u, double *error)
{
    struct sr_uncertainty free;
    struct sr_expr freed;
    int place[SR_NODES];
    for (int c = 0; c < u->constants; c++)
        error[c] = u->error[c];
    if (sr_is_singular(u))
        return errors_beside_ones(expr, data, variance, error);
    if (!sr_free_phases(expr, data, 1, &freed, place))
        return 0;
    TRY(sr_constants_uncertainty(&freed, data, variance, &free));
    for (int c = 0; c < u->constants && isfinite(free.error[0]); c++)
        error[c] = free.error[place[c]];
    return 0;
}

int sr_constants_errors(const struct sr_expr *expr, const struct sr_data *data, double variance,
                        double *error)
{
    struct sr_uncertainty u;
    TRY(sr_constants_uncertainty(expr, data, variance, &u));
    return sr_constants_errors_of(expr, data, variance, &u, error);
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
