/* dynamics_errors.h - how exactly a track determines the constants of its equations.
 *
 * For least squares with the known noise: from derivatives of the noise-free track by constants and
 * start (central differences), sigma = noise |x|, at least 1e-3 noise times the state's range. No
 * unbiased program can do better (Cramer and Rao). */
#ifndef DYNAMICS_ERRORS_H
#define DYNAMICS_ERRORS_H

#include <gsl/gsl_blas.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_linalg.h>

#include "dynamics_system.h"

enum { DYN_PARAMETERS = 128, DYN_DRAWS = 1000 };

/* The share by which constants may be off: 0.001 without noise, 2% at 1%, 10% at 5%. */
static inline double dyn_tolerance(double noise)
{
    return fmax(0.001, 2 * noise);
}

/* The numbers of equations and start that a program has to find. 1, -1 and 0 belong to the form of
 * true equations; in those that were found they may have become so by the fit. */
struct dyn_parameters {
    int count, constants, equation[DYN_PARAMETERS], node[DYN_PARAMETERS];
    double value[DYN_PARAMETERS]; /* the last dims are the start */
};

/* Of the equations (dims), those of equation `found` at the beginning, which are returned; -1: all
 * equations are true ones. */
static inline int dyn_parameters_find(const struct dyn_system *s, const struct sr_expr *equation,
                                      int found, struct dyn_parameters *p)
{
    int own = 0;
    *p = (struct dyn_parameters){0};
    for (int turn = 0; turn < s->dims; turn++) {
        const int i = (turn + (found > 0 ? found : 0)) % s->dims;
        for (int k = 0; k < equation[i].count; k++) {
            const struct sr_node *node = &equation[i].node[k];
            if (!sr_is_number(node) || node->value == 0 || (i != found && fabs(node->value) == 1) ||
                p->count == DYN_PARAMETERS - DYN_DIMS)
                continue;
            p->equation[p->count] = i;
            p->node[p->count] = k;
            p->value[p->count++] = node->value;
            own += i == found;
        }
    }
    p->constants = p->count;
    for (int d = 0; d < s->dims; d++)
        p->value[p->count++] = s->start[0][d];
    return own;
}

/* The track (rows, dims) with parameter k changed by `by`. */
static inline bool dyn_changed(const struct dyn_system *s, const struct sr_expr *equation,
                               const struct dyn_parameters *p, int k, double by, double *x)
{
    struct sr_expr changed[DYN_DIMS];
    double start[DYN_DIMS];
    struct dyn_flow flow = {.dims = s->dims, .equation = changed};
    for (int i = 0; i < s->dims; i++)
        sr_expr_copy(&changed[i], &equation[i]);
    memcpy(start, s->start[0], sizeof start);
    if (k < p->constants)
        changed[p->equation[k]].node[p->node[k]].value += by;
    else
        start[k - p->constants] += by;
    return dyn_solve(&flow, start, DYN_ROWS, s->t, 1e-11, x);
}

/* The normal matrix (count, count) for noise 1, in units of the parameters' values. */
static inline bool dyn_normal(const struct dyn_system *s, const struct sr_expr *equation,
                              const struct dyn_parameters *p, gsl_matrix *normal)
{
    static double slope[DYN_PARAMETERS][DYN_ROWS * DYN_DIMS], up[DYN_ROWS * DYN_DIMS];
    static double down[DYN_ROWS * DYN_DIMS];
    const int n = DYN_ROWS * s->dims;
    double size[DYN_DIMS];
    for (int d = 0; d < s->dims; d++)
        size[d] = dyn_spread(s, s->x[0], d, 0);
    for (int k = 0; k < p->count; k++) {
        const double by = 1e-5 * fabs(p->value[k]);
        if (!dyn_changed(s, equation, p, k, by, up) || !dyn_changed(s, equation, p, k, -by, down))
            return false;
        for (int i = 0; i < n; i++)
            slope[k][i] =
                (up[i] - down[i]) / 2e-5 / fmax(fabs(s->x[0][i]), 3e-3 * size[i % s->dims]);
    }
    for (int k = 0; k < p->count; k++)
        for (int j = 0; j < p->count; j++) {
            double sum = 0;
            for (int i = 0; i < n; i++)
                sum += slope[k][i] * slope[j][i];
            gsl_matrix_set(normal, (size_t)k, (size_t)j, sum);
        }
    return true;
}

/* Whether constants that are off by `by` (own), as shares of equation `found`'s parameters, lie in
 * the region that holds 99.73% of least squares' results (3 sigma), whatever the other parameters
 * are. Several ways of writing an equation have the same region. */
static inline bool dyn_within_errors(const struct dyn_system *s, const struct sr_expr *equation,
                                     int found, const double *by, double noise)
{
    struct dyn_parameters p;
    const size_t own = (size_t)dyn_parameters_find(s, equation, found, &p), n = (size_t)p.count;
    gsl_matrix *normal = gsl_matrix_alloc(n, n);
    gsl_vector *rest = gsl_vector_calloc(n - own);
    bool known = dyn_normal(s, equation, &p, normal);
    double chi2 = 0;
    for (size_t k = 0; k < own && known; k++)
        for (size_t j = 0; j < n; j++) {
            const double pull = by[k] * gsl_matrix_get(normal, k, j);
            if (j < own)
                chi2 += pull * by[j];
            else
                *gsl_vector_ptr(rest, j - own) += pull;
        }
    for (size_t j = own; j < n && known; j++) /* directions that nothing determines */
        *gsl_matrix_ptr(normal, j, j) *= 1 + 1e-10;
    if (known) { /* the other parameters take what they can: Schur's complement */
        gsl_matrix_view others = gsl_matrix_submatrix(normal, own, own, n - own, n - own);
        known = !gsl_linalg_cholesky_decomp1(&others.matrix);
        if (known) {
            gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, &others.matrix, rest);
            const double norm = gsl_blas_dnrm2(rest);
            chi2 -= norm * norm;
        }
    }
    gsl_vector_free(rest);
    gsl_matrix_free(normal);
    return known && own > 0 && chi2 / (noise * noise) <= gsl_cdf_chisq_Pinv(0.9973, (double)own);
}

/* The share of least squares' results for the true forms in which all constants are within
 * dyn_tolerance(); 0 where the track does not determine them. */
static inline double dyn_bound(const struct dyn_system *s, double noise)
{
    struct dyn_parameters p;
    dyn_parameters_find(s, s->equation, -1, &p);
    const size_t n = (size_t)p.count;
    gsl_rng *rng = orr_rng_create(1, ORR_STAGE_TEST_SUITE, 3);
    gsl_matrix *factor = gsl_matrix_alloc(n, n);
    gsl_vector *draw = gsl_vector_alloc(n);
    int within = 0;
    const bool told =
        rng && dyn_normal(s, s->equation, &p, factor) && !gsl_linalg_cholesky_decomp1(factor);
    for (int k = 0; k < DYN_DRAWS && told; k++) {
        bool all = true;
        for (size_t j = 0; j < n; j++)
            gsl_vector_set(draw, j, gsl_ran_ugaussian(rng));
        /* with N = L L^T, L^-T z has the covariance N^-1 */
        gsl_blas_dtrsv(CblasLower, CblasTrans, CblasNonUnit, factor, draw);
        for (int j = 0; j < p.constants; j++)
            all = all && noise * fabs(gsl_vector_get(draw, (size_t)j)) <= dyn_tolerance(noise);
        within += all;
    }
    gsl_vector_free(draw);
    gsl_matrix_free(factor);
    gsl_rng_free(rng);
    return (double)within / DYN_DRAWS;
}

#endif
