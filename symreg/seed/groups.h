/* groups.h - inside symreg/: finds groups, products of powers of the columns, with y = h phi(u1,
 * ..., ur), where h is a product of powers, too.
 *
 * By logarithms of the columns, the gradient of ln |y| is the vector of the factor's exponents plus
 * a linear combination of the r vectors of the groups' exponents. Its covariance over the rows
 * therefore has rank r, and integer vectors span its range. Sums of r + 1 products of powers have
 * this form, as do functions of dimensionless groups and functions homogeneous in some columns.
 * Gradients come from a smooth model (gaussian_process.h). Each hypothesis is fitted to the table
 * separately, and is compared by the evidence of its own model. */
#ifndef SR_GROUPS_H
#define SR_GROUPS_H

#include "gaussian_process.h"

enum {
    SR_GROUPS = 4,      /* groups that gradients can tell apart */
    SR_GROUPS_MOST = 8, /* groups of a hypothesis from units */
    SR_GROUPINGS = 10
};

/* A product of powers, in half-integer exponents: 2 is x, -1 is x^(-1/2). */
struct sr_powers {
    int half[SR_SMOOTH_COLUMNS];
};
struct sr_grouping {
    double loss;      /* minus the evidence; of units: the cost */
    int groups, view; /* view: set by the caller */
    struct sr_powers factor, group[SR_GROUPS_MOST];
    double noise;   /* residual variance of ln |y| at the median |y| */
    double typical; /* the median |y| */
};
/* Pairs of columns on which y depends only through their difference (sign -1) or sum (1): their
 * derivatives are opposite or equal. Or through that of their squares (power 2), or of a square and
 * a column. Or so once y is divided by a power of their product, for columns that are positive in
 * every row: m1 m2 f(m1 + m2). There may be pairs where no hypothesis has few enough groups. */
enum { SR_GROUP_PAIRS = SR_SMOOTH_COLUMNS / 2, SR_GROUP_TERMS = 3 };
/* A product of powers that is a term of y and contains a column which is in no other term. */
struct sr_term {
    double off; /* share of the squares of the column's derivatives that contradicts the term */
    int column;
    struct sr_powers powers;
};
struct sr_group_pairs {
    int count, terms;
    struct sr_term term[SR_GROUP_TERMS]; /* best first */
    struct sr_group_pair {
        double off;               /* share of the derivatives' squares that contradicts the pair */
        int a, b, sign, power[2]; /* power[0] of a, power[1] of b: 1 or 2 */
        int half;                 /* twice the exponent of both as a factor of y besides */
    } pair[SR_GROUP_PAIRS];       /* no column twice, the best supported pair first */
};
/* Finds the hypotheses with the largest evidence, best first. *count is 0 where there are none (few
 * rows, too many columns, y 0 in many rows). `pairs` receives candidates for differences, sums and
 * terms, possibly none. Evidence is comparable between tables of equal y and equal sizes, as it
 * refers to the same rows. `size`: from sr_groups_sizes(); NULL: |y|. ORR_ENOMEM. */
int sr_groups_find(const struct sr_data *data, const double *size,
                   struct sr_grouping list[SR_GROUPINGS], int *count, struct sr_group_pairs *pairs);
/* size (rows): |y| of a row as a smooth model predicts it from other rows, for at most 1,024 rows;
 * 0 for the others, for rows far from it, and where |y| or the weight is 0. Of rows that are large
 * by their own |y| more have positive noise than negative; of rows that are large by this size
 * equally many have. For a table with hypotheses by sr_groups_find(). ORR_ENOMEM. */
int sr_groups_sizes(const struct sr_data *data, double *size);
/* The hypothesis that some columns only multiply y, by powers: y = h phi(the other columns), each
 * of which is a group. groups is 0 where there is no such h, few rows or too many columns
 * (separable.c). ORR_ENOMEM. */
int sr_separable_find(const struct sr_data *data, struct sr_grouping *g);

/* ---- integer vectors near the span of the gradients of a table (groups_vectors.c) */

enum { SR_VECTORS = 24 };
struct sr_vector {
    double score;                 /* the smaller the better */
    int entry[SR_SMOOTH_COLUMNS]; /* one per active column, the first that is not 0 above 0 */
};
struct sr_vectors {
    int count;
    struct sr_vector item[SR_VECTORS]; /* best first */
};

/* Eigenvectors of a symmetric matrix (k, k), that of the largest eigenvalue first; a is scratch
 * afterwards. */
void sr_vectors_axes(double a[SR_SMOOTH_COLUMNS][SR_SMOOTH_COLUMNS], int k,
                     double axis[SR_SMOOTH_COLUMNS][SR_SMOOTH_COLUMNS]);
/* Lists the integer vectors closest to the span of the first r axes; ties go to smaller entries. */
void sr_vectors_near(double axis[SR_SMOOTH_COLUMNS][SR_SMOOTH_COLUMNS], int k, int r,
                     struct sr_vectors *out);
/* Lists the shortest integer vectors of the span of a basis, combined with coefficients up to 2. */
void sr_vectors_shortest(const struct sr_vector *const *basis, int k, int r,
                         struct sr_vectors *out);
/* Chooses r independent vectors: number `first`, then the best of the others. False where there are
 * too few. */
bool sr_vectors_basis(const struct sr_vectors *all, int first, int k, int r,
                      const struct sr_vector *basis[SR_GROUPS]);

/* ---- terms c m of y = c m + rest, where m is a product of powers and some column stands in m
 * alone (terms.c). Let L be the logarithm of that column and p its exponent in m. Then dy/dL = p c
 * m is a product of powers, which a linear fit to ln |dy/dL| shows, whatever the rest is. */

/* Derivatives of ln |y| in the rows of a table. */
struct sr_gradients {
    int rows, columns;
    const double *line;    /* (columns, rows) logarithms of positive columns, centred */
    const double *slope;   /* (columns, rows) derivatives by `line` */
    const double *y;       /* (rows) up to a factor */
    const double *weight;  /* (rows), smaller where noise of ln |y| is larger */
    const bool *logarithm; /* (columns) whether the column is positive */
    double noise;          /* variance of ln |y| at the median |y| */
};
/* Lists the terms with the smallest contradiction, best first, none twice. */
void sr_terms_find(const struct sr_gradients *g, struct sr_term list[SR_GROUP_TERMS], int *count);
/* Adds a term to such a list; of two with the same powers the smaller contradiction is kept. */
void sr_terms_add(const struct sr_term *term, struct sr_term list[SR_GROUP_TERMS], int *count);

#endif
