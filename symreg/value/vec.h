/* vec.h - inside symreg/: the vectorised loops over rows, which dominate the evaluation time.
 *
 * vec_loops.c is compiled for several instruction sets (base/isa.h). All of them perform the same
 * IEEE operations in the same order, with sums in 16 fixed lanes, so results have the same bits on
 * every CPU. Arrays may have any length. */
#ifndef SR_VEC_H
#define SR_VEC_H

#include "base/isa.h"
#include "value.h"

/* Which operand of a binary operator is a single number for all rows. */
enum sr_vec_form { SR_VEC_ROWS, SR_VEC_A_NUMBER, SR_VEC_B_NUMBER };

enum { SR_VEC_FEW = 32, SR_VEC_COLUMNS = 256 };
/* Number of rows at which proposed formulas are compared. */
enum { SR_ROWS = 32 };

#define SR_DEAD_ZONE 1e-8 /* smaller differences count as 0 in the study's loss */

/* Inputs of a sum of losses. */
struct sr_vec_loss {
    enum orr_symreg_loss kind;
    double parameter;     /* of Huber, log-cosh (in the units of t) and quantile */
    const double *t;      /* targets */
    const double *weight; /* NULL: all 1 */
};

/* How a pair of bodies pulls: the unit vector from the second to the first, the derivative of the
 * force by the distance less force over distance, and that quotient. */
struct sr_vec_pull {
    double away[3], slope, ratio;
};

struct sr_vec {
    /* Applies an operator to n <= SR_TILE rows; out may be a or b. Returns whether all values are
     * finite. */
    bool (*apply)(int op, int form, int n, const double *a, const double *b, double *out);
    /* d[i] = outer[i] * d op / d operand. */
    void (*chain)(int op, int operand, int n, const double *a, const double *b, const double *v,
                  const double *outer, double *d);
    /* First and second derivative of the sum of Huber or log-cosh losses by the scale. */
    void (*slopes)(const struct sr_vec_loss *loss, const double *p, double scale, size_t n,
                   double slope[2]);
    /* Sum of weighted losses of the predictions scale * p against t, rows 0 .. n-1. */
    double (*loss)(const struct sr_vec_loss *loss, const double *p, double scale, size_t n);
    /* sum[0] = p . p, sum[1] = p . t, weighted where weight is not NULL. */
    void (*products)(const double *p, const double *t, const double *weight, size_t n,
                     double sum[2]);
    double (*sum)(const double *x, size_t n);
    /* out[i] = t[i] - scale * p[i]; returns the sum of |out[i]|. out may be p. */
    double (*residuals)(const double *t, const double *p, double scale, size_t n, double *out);
    /* Weights for which the weighted squares touch the loss at the residuals t - scale * p; `floor`
     * keeps the weights of absolute losses finite. */
    void (*reweigh)(const struct sr_vec_loss *loss, const double *residual, double floor, size_t n,
                    double *out);
    /* out[i] = a[i] * b[i]; returns the sum of out[i] * c[i]. */
    double (*weigh)(const double *a, const double *b, const double *c, size_t n, double *out);
    double (*dot)(const double *a, const double *b, size_t n);

    /* Rank counts for the best scale of absolute losses, the median of t / p with weights |p|,
     * without divisions. excess[k]: weight of the ratios not below end[k], minus the weight of the
     * others. Bit i % 64 of inside[i / 64]: ratio i is not below end[0], but below end[1]; inside
     * may be NULL. The ends are finite. A ratio equal to an end counts as below it where p is
     * negative. */
    void (*split)(const double *p, const double *t, size_t n, const double end[2], double excess[2],
                  uint64_t *inside);
    /* Keeps, of n pairs, in place and in order, those with low <= value < high. Returns how
     * many. */
    size_t (*keep_pairs)(double *value, double *weight, size_t n, double low, double high);
    /* The total weight of values < limit. */
    double (*below)(const double *value, const double *weight, size_t n, double limit);
    /* out[i] = a[i] / b[i]. */
    void (*divide)(const double *a, const double *b, size_t n, double *out);
    /* For SR_VEC_FEW pairs, with the rank of a value = the weight of smaller values: found[0] = the
     * largest value with rank < low, found[1] = the smallest value with rank > high, infinite where
     * there is none. */
    void (*between)(const double value[SR_VEC_FEW], const double weight[SR_VEC_FEW], double low,
                    double high, double found[2]);

    /* ---- formulas compared at SR_ROWS rows (bank.h) */

    /* r2[g] = R^2 of a fit of z by f and g together, g < f. r (f + 1): their correlations with z;
     * rfg (f): correlations of f with each g. Returns the largest R^2. */
    float (*pair_row)(const float *r, const float *rfg, int f, float *r2);
    /* c[k][f], (vectors, SR_VEC_COLUMNS) = dot product of vector k (rows) with column f of
     * SR_VEC_COLUMNS, whose rows follow each other. Vectors are `apart` numbers apart. */
    void (*correlate)(int vectors, const float *v, size_t apart, const float *column, int rows,
                      float *c);
    /* Sum of a b over SR_ROWS rows. */
    float (*dot_rows)(const float *a, const float *b);
    /* Sums over SR_ROWS rows of p^2, p y, p inverse, (p inverse)^2 and p. */
    void (*add_up)(const double *p, const double *y, const double *inverse, double total[5]);

    /* ---- matrices (n, n) of a Gaussian process (gaussian_process.h), n a multiple of 8 */

    /* Replaces the lower triangle of K by L with K = L L'; zeroes the elements above the diagonal.
     * False where K is not positive definite. */
    bool (*factorise)(double *matrix, int n);
    /* The lower triangle of K^-1 = X' X with X = L^-1, which is written to x. */
    void (*invert)(const double *lower, int n, double *x, double *inverse);

    /* ---- bodies that are integrated with their derivatives by n numbers */

    /* to[k] = from[k] + weight[0] rate[0][k] + ..., of so many parts. */
    void (*advance)(int parts, const double *weight, const double *const *rate, const double *from,
                    size_t n, double *to);
    /* from[k] -= share * x[k]. */
    void (*subtract)(double share, const double *x, size_t n, double *from);
    /* Derivatives of a pair's force, out (dims, n), by those of both places, a and b (dims, n), and
     * by what else changes its size (n). */
    void (*bend)(int dims, const struct sr_vec_pull *pull, size_t n, const double *a,
                 const double *b, const double *added, double *out);
};

/* These functions for the instruction set being compiled (matrix_loops.c, correlate_loops.c,
 * path_loops.c). */
bool sr_vec_factorise(double *matrix, int n);
void sr_vec_invert(const double *lower, int n, double *x, double *inverse);
void sr_vec_correlate(int vectors, const float *v, size_t apart, const float *column, int rows,
                      float *c);
void sr_vec_advance(int parts, const double *weight, const double *const *rate, const double *from,
                    size_t n, double *to);
void sr_vec_subtract(double share, const double *x, size_t n, double *from);
void sr_vec_bend(int dims, const struct sr_vec_pull *pull, size_t n, const double *a,
                 const double *b, const double *added, double *out);

ORR_ISA_TABLES(sr_vec)
/* The table of the fastest supported instruction set; equal in all threads. */
static inline const struct sr_vec *sr_vec_best(void)
{
    return sr_vec_of(orr_isa());
}

/* The smallest value at which `share` of the total weight is reached, of n pairs, which are
 * reordered and partly overwritten. */
double sr_vec_quantile(const struct sr_vec *vec, double *value, double *weight, size_t n,
                       double share);
/* The median of the ratios t / p with weights |p|; scratch holds 2 * n + SR_SCRATCH. NaN when every
 * p is 0. */
double sr_vec_median_ratio(const struct sr_vec *vec, const double *p, const double *t, size_t n,
                           double *scratch);

/* Sets out[i] = value for all n. */
static inline void sr_fill(double *out, size_t n, double value)
{
    for (size_t i = 0; i < n; i++)
        out[i] = value;
}

/* ---- stored columns of a loss (vec_columns.c) */

/* Allocates loss->columns for loss->data, without values; NULL where they would take more than 32
 * MB. */
int sr_columns_init(struct sr_loss *loss);
void sr_columns_free(struct sr_loss *loss);
/* The stored values of outer(inner(feature)), or with inner 0 of outer(feature), for operators of
 * the table; x holds the values of the operand. NULL where they are not available (yet).
 * *found: what they are; undefined ones are not complete. */
const double *sr_columns_find(const struct sr_loss *loss, int feature, int inner, int outer,
                              const double *x, enum sr_found *found);

#endif
