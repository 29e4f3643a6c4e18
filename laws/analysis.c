/* analysis.c - statistics of a source's forces without any formula: R^2, errors, exponents,
 * baselines. */
#include "analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>

enum { RESAMPLES = 200, TERMS = 4 };

/* Rows with F > 0, in logarithms, grouped by sequence: group g has the rows first[g] .. first[g +
 * 1] - 1. */
struct table {
    size_t rows, groups;
    double *y, *x; /* (rows), (rows, TERMS) with the first column 1 */
    size_t *first; /* (groups + 1) */
    size_t *order; /* rows of the file, sorted by sequence */
};

static void free_table(struct table *t)
{
    free(t->y);
    free(t->x);
    free(t->first);
    free(t->order);
}

static int make_table(const struct law_forces *forces, struct table *t)
{
    const size_t n = forces->rows;
    *t = (struct table){0};
    t->y = orr_alloc(n, sizeof *t->y);
    t->x = orr_alloc(n * TERMS, sizeof *t->x);
    t->first = orr_alloc(n + 1, sizeof *t->first);
    t->order = orr_alloc(n, sizeof *t->order);
    if (!t->y || !t->x || !t->first || !t->order)
        return ORR_ENOMEM;
    gsl_sort_index(t->order, forces->sequence, 1, n);
    double last = -1;
    for (size_t k = 0; k < n; k++) {
        const size_t i = t->order[k];
        if (!(forces->f[i] > 0))
            continue;
        if (forces->sequence[i] > last)
            t->first[t->groups++] = t->rows;
        last = forces->sequence[i];
        double *x = t->x + t->rows * TERMS;
        x[0] = 1;
        x[1] = orr_log(forces->r[i]);
        x[2] = orr_log(forces->m1[i]);
        x[3] = orr_log(forces->m2[i]);
        t->y[t->rows++] = orr_log(forces->f[i]);
    }
    t->first[t->groups] = t->rows;
    return 0;
}

/* ---- least squares with square roots alone: GSL calls hypot() of the C library, whose bits may
 * depend on the version and the CPU */

/* The result of Givens rotations applied row by row (Golub & Van Loan, Matrix Computations, 4th ed.
 * 2013, section 5.2.5): R, Q^T y, and the residual sum of squares. */
struct triangle {
    size_t terms;
    double r[TERMS][TERMS], z[TERMS], rest;
};

static void add_row(struct triangle *t, const double *x, double y)
{
    double row[TERMS];
    memcpy(row, x, t->terms * sizeof *row);
    for (size_t k = 0; k < t->terms; k++) {
        const double length = sqrt(t->r[k][k] * t->r[k][k] + row[k] * row[k]);
        if (!(length > 0))
            continue;
        const double c = t->r[k][k] / length, s = row[k] / length, z = t->z[k];
        for (size_t j = k; j < t->terms; j++) {
            const double above = t->r[k][j];
            t->r[k][j] = c * above + s * row[j];
            row[j] = c * row[j] - s * above;
        }
        t->z[k] = c * z + s * y;
        y = c * y - s * z;
    }
    t->rest += y * y;
}

static double column_dot(size_t n, double (*a)[TERMS], size_t j, size_t k)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i][j] * a[i][k];
    return sum;
}

static void rotate_columns(size_t n, double (*a)[TERMS], size_t j, size_t k, double c, double s)
{
    for (size_t i = 0; i < n; i++) {
        const double left = a[i][j], right = a[i][k];
        a[i][j] = c * left - s * right;
        a[i][k] = s * left + c * right;
    }
}

/* Makes the columns of w (n, n) orthogonal by rotations from the right, whose product is v:
 * one-sided Jacobi (Golub & Van Loan, section 8.6.3). */
static void orthogonalise_columns(size_t n, double (*w)[TERMS], double (*v)[TERMS])
{
    bool rotated = true;
    for (int sweep = 0; sweep < 30 && rotated; sweep++) {
        rotated = false;
        for (size_t j = 0; j < n; j++)
            for (size_t k = j + 1; k < n; k++) {
                const double p = column_dot(n, w, j, k), a = column_dot(n, w, j, j);
                const double b = column_dot(n, w, k, k);
                if (!(p * p > 1e-31 * a * b))
                    continue;
                const double zeta = (b - a) / (2 * p);
                const double t = copysign(1 / (fabs(zeta) + sqrt(1 + zeta * zeta)), zeta);
                const double c = 1 / sqrt(1 + t * t);
                rotate_columns(n, w, j, k, c, c * t);
                rotate_columns(n, v, j, k, c, c * t);
                rotated = true;
            }
    }
}

/* The least-squares coefficients; for dependent columns the solution of least norm after scaling
 * every column to length 1. Returns the residual sum of squares. */
static double solve_triangle(const struct triangle *t, double *coefficient)
{
    const double least = 1e-24; /* smallest squared singular value, relative to the largest */
    const size_t n = t->terms;
    double w[TERMS][TERMS], v[TERMS][TERMS] = {{0}}, length[TERMS], largest = 0, rest = t->rest;
    memcpy(w, t->r, sizeof w);
    for (size_t k = 0; k < n; k++) {
        length[k] = sqrt(column_dot(n, w, k, k));
        for (size_t i = 0; i < n; i++)
            w[i][k] = length[k] > 0 ? w[i][k] / length[k] : 0;
        v[k][k] = 1;
        coefficient[k] = 0;
    }
    orthogonalise_columns(n, w, v);
    for (size_t k = 0; k < n; k++)
        largest = fmax(largest, column_dot(n, w, k, k));
    bool dropped = false;
    double fitted = 0, all = 0;
    for (size_t k = 0; k < n; k++) {
        const double square = column_dot(n, w, k, k);
        double product = 0;
        for (size_t i = 0; i < n; i++)
            product += w[i][k] * t->z[i];
        all += t->z[k] * t->z[k];
        if (!(square > least * largest)) {
            dropped = true;
            continue;
        }
        fitted += product * product / square;
        for (size_t i = 0; i < n; i++)
            coefficient[i] += v[i][k] * product / square;
    }
    for (size_t k = 0; k < n; k++)
        coefficient[k] = length[k] > 0 ? coefficient[k] / length[k] : 0;
    return dropped ? rest + fmax(all - fitted, 0) : rest;
}

/* Least squares of y (n) on the columns of x (n, terms); *r2, unless NULL: R^2. */
static int fit_least_squares(const double *x, const double *y, size_t n, size_t terms,
                             double *coefficient, double *r2)
{
    struct triangle triangle = {.terms = terms};
    if (n <= terms)
        return ORR_FAIL(ORR_EINVAL, "regression: %zu rows for %zu terms", n, terms);
    for (size_t i = 0; i < n; i++)
        add_row(&triangle, x + i * terms, y[i]);
    const double rest = solve_triangle(&triangle, coefficient);
    if (r2)
        *r2 = 1 - rest / gsl_stats_tss(y, 1, n);
    return 0;
}

/* Quantiles of resampled exponents. Whole sequences are drawn, as rows of a sequence are not
 * independent. */
static int bootstrap_exponents(const struct table *t, uint64_t seed,
                               struct law_interval exponent[3])
{
    size_t longest = 0;
    for (size_t g = 0; g < t->groups; g++)
        longest = t->first[g + 1] - t->first[g] > longest ? t->first[g + 1] - t->first[g] : longest;
    const size_t most = t->groups * longest;
    double *x = orr_alloc(most * TERMS, sizeof *x), *y = orr_alloc(most, sizeof *y);
    double *drawn = orr_alloc((size_t)3 * RESAMPLES, sizeof *drawn);
    gsl_rng *rng = orr_rng_create(seed, ORR_STAGE_BOOTSTRAP, 0);
    int rc = x && y && drawn && rng ? 0 : ORR_FAIL(ORR_ENOMEM, "bootstrap: out of memory");
    size_t good = 0;
    for (int k = 0; k < RESAMPLES && !rc; k++) {
        size_t n = 0;
        double coefficient[TERMS];
        orr_rng_seek(rng, seed, ORR_STAGE_BOOTSTRAP, (uint64_t)k);
        for (size_t g = 0; g < t->groups; g++) {
            const size_t pick = gsl_rng_uniform_int(rng, t->groups);
            const size_t from = t->first[pick], count = t->first[pick + 1] - from;
            memcpy(x + n * TERMS, t->x + from * TERMS, count * TERMS * sizeof *x);
            memcpy(y + n, t->y + from, count * sizeof *y);
            n += count;
        }
        if (fit_least_squares(x, y, n, TERMS, coefficient, NULL)) { /* too few rows were drawn */
            orr_error_clear();
            continue;
        }
        for (size_t e = 0; e < 3; e++)
            drawn[e * RESAMPLES + good] = coefficient[1 + e];
        good++;
    }
    for (size_t e = 0; e < 3 && !rc && good; e++) {
        gsl_sort(drawn + e * RESAMPLES, 1, good);
        exponent[e].low = gsl_stats_quantile_from_sorted_data(drawn + e * RESAMPLES, 1, good, .025);
        exponent[e].high =
            gsl_stats_quantile_from_sorted_data(drawn + e * RESAMPLES, 1, good, .975);
    }
    if (rng)
        gsl_rng_free(rng);
    free(x);
    free(y);
    free(drawn);
    return rc;
}

/* R^2 of log F against log F_true, and the median of |F - F_true| / F_true. */
static int measure_errors(const struct law_forces *forces, struct law_analysis *result)
{
    const size_t n = forces->rows;
    double *relative = orr_alloc(n, sizeof *relative), *truth = orr_alloc(n, sizeof *truth);
    int rc = relative && truth ? 0 : ORR_ENOMEM;
    size_t kept = 0;
    double residual = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        relative[i] = fabs(forces->f[i] - forces->f_true[i]) / forces->f_true[i];
        if (!(forces->f[i] > 0))
            continue;
        truth[kept] = orr_log(forces->f_true[i]);
        const double d = orr_log(forces->f[i]) - truth[kept++];
        residual += d * d;
    }
    if (!rc) {
        gsl_sort(relative, 1, n);
        result->median_relative_error = gsl_stats_median_from_sorted_data(relative, 1, n);
        result->dropped = n - kept;
        if (kept > 1)
            result->r2_log = 1 - residual / gsl_stats_tss(truth, 1, kept);
    }
    free(relative);
    free(truth);
    return rc;
}

int law_analyse(const struct law_forces *forces, uint64_t seed, struct law_analysis *result)
{
    *result = (struct law_analysis){.r2_log = NAN, .median_relative_error = NAN};
    for (int e = 0; e < 3; e++)
        result->exponent[e] = (struct law_interval){NAN, NAN, NAN};
    struct table table;
    int rc = make_table(forces, &table);
    if (!rc)
        rc = measure_errors(forces, result);
    if (!rc && table.rows > TERMS) {
        double coefficient[TERMS];
        rc = fit_least_squares(table.x, table.y, table.rows, TERMS, coefficient, NULL);
        for (int e = 0; e < 3 && !rc; e++)
            result->exponent[e].value = coefficient[1 + e];
        if (!rc)
            rc = bootstrap_exponents(&table, seed, result->exponent);
    }
    free_table(&table);
    return rc;
}

/* The mean of r of each sequence, the only length scale in the file. */
static void fill_scale(const struct law_forces *forces, const struct table *t, double *x)
{
    for (size_t g = 0; g < t->groups; g++) {
        double mean = 0;
        const size_t from = t->first[g], to = t->first[g + 1];
        for (size_t k = from; k < to; k++)
            mean += forces->r[t->order[k]] / (double)(to - from);
        for (size_t k = from; k < to; k++) {
            const size_t i = t->order[k];
            double *row = x + k * TERMS;
            row[0] = 1;
            row[1] = orr_log(forces->r[i]);
            row[2] = orr_log(forces->dt[i]);
            row[3] = orr_log(mean);
        }
    }
}

int law_analyse_baselines(const struct law_forces *truth, struct law_baselines *baselines)
{
    *baselines = (struct law_baselines){.log_r = NAN, .log_scale_dt_r = NAN, .constant = 0};
    struct law_forces exact = *truth; /* logarithms of F_true, so that every row counts */
    exact.f = truth->f_true;
    struct table table;
    int rc = make_table(&exact, &table);
    double *x = rc ? NULL : orr_alloc(truth->rows * TERMS, sizeof *x), coefficient[TERMS];
    if (!rc && !x)
        rc = ORR_ENOMEM;
    if (!rc && table.rows > TERMS) {
        for (size_t k = 0; k < table.rows; k++) {
            x[2 * k] = 1;
            x[2 * k + 1] = table.x[k * TERMS + 1];
        }
        rc = fit_least_squares(x, table.y, table.rows, 2, coefficient, &baselines->log_r);
        fill_scale(truth, &table, x);
        if (!rc)
            rc = fit_least_squares(x, table.y, table.rows, TERMS, coefficient,
                                   &baselines->log_scale_dt_r);
    }
    free(x);
    free_table(&table);
    return rc;
}
