/* groups.h - inside symreg/: products of powers of the columns through which alone y depends on
 * them, beside a factor of powers: y = h phi(u1, ..., ur).
 *
 * In logarithms of the columns the gradient of ln |y| is then the factor's exponents plus a sum of
 * r vectors, the groups' exponents: its covariance over the rows has rank r, and whole numbers span
 * its range. Sums of r + 1 products of powers are of this kind, functions of a dimensionless group,
 * and what is homogeneous in some of the columns. Gradients are those of a smooth model (smooth.h);
 * each hypothesis is fitted to the table by itself, and has the evidence of its own model. */
#ifndef SR_GROUPS_H
#define SR_GROUPS_H

#include "smooth.h"

enum { SR_GROUPS = 4, SR_GROUPINGS = 10 };

/* A product of powers, in halves: 2 is x, -1 is x^(-1/2). */
struct sr_powers {
    int half[SR_SMOOTH_COLUMNS];
};
struct sr_grouping {
    double loss;      /* minus the evidence */
    int groups, view; /* view: the caller's */
    struct sr_powers factor, group[SR_GROUPS];
    double noise;   /* variance of ln |y| that the model leaves, at the median |y| */
    double typical; /* that median */
};
/* Columns that y depends on through their difference (sign -1) or sum (1) alone: their derivatives
 * are opposite, or equal. */
enum { SR_GROUP_PAIRS = SR_SMOOTH_COLUMNS / 2 };
struct sr_group_pairs {
    int count;
    struct sr_group_pair {
        double off; /* the share of the derivatives' squares that speaks against it */
        int a, b, sign;
    } pair[SR_GROUP_PAIRS]; /* of different columns, the surest first */
};
/* The hypotheses with the largest evidence, best first; *count 0 where there are none (few rows,
 * too many columns, y 0 in many rows). `pairs` are to be tried, and may hold none. Evidence is of
 * the same rows for tables of the same y. */
int sr_groups_find(const struct sr_data *data, struct sr_grouping list[SR_GROUPINGS], int *count,
                   struct sr_group_pairs *pairs);

#endif
