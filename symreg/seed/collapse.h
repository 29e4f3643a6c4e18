/* collapse.h - inside symreg/: where y is a small formula times a function of one variable.
 *
 * For small formulas h and u without constants, y / h is compared with u: where neighbours in the
 * order of u have nearly the same y / h, the table collapses to a curve, y = h phi(u). Then phi is
 * searched among all functions of one variable with up to two constants, their derivatives by the
 * constants included, so that a coarse grid of constants is enough. Products and quotients of the
 * features are treated alike: nothing here knows a law. */
#ifndef SR_COLLAPSE_H
#define SR_COLLAPSE_H

#include "curves.h"
#include "stages.h"
#include "sums.h"

/* ---- tables that collapse */

enum { SR_COLLAPSE_VARIABLES = 512, SR_COLLAPSE_PARTS = 4 };
/* What is looked at. */
struct sr_collapse {
    struct sr_proposal *proposal;
    size_t rows;
    struct sr_data data; /* (rows) */
    double *x;           /* its storage */
    int factors, variables;
    struct sr_expr *expr; /* (factors); number 0 is 1: count 0 */
    double *shape;        /* (factors, rows) of y / h on a scale of equal ratios */
    double *value;        /* (SR_COLLAPSE_VARIABLES, rows) of u */
    double *spread;       /* (factors) variance of shape */
    int variable[SR_COLLAPSE_VARIABLES];
    uint16_t *order; /* (SR_COLLAPSE_VARIABLES, rows) by u */
    float *rough;    /* (factors, SR_COLLAPSE_VARIABLES) */
};

/* One of the functions that phi may be. */
struct sr_collapse_target {
    struct sr_expr factor; /* h; count 0: 1 */
    enum sr_op outer;      /* phi = outer(a f + b); SR_CONSTANT: a f + b */
    double z[SR_ROWS], inverted[SR_ROWS];
};
struct sr_curve {
    int variable, count;
    double x[SR_ROWS];
    struct sr_collapse_target target[SR_CURVE_TARGETS];
    struct sr_curve_target unit[SR_CURVE_TARGETS];
    struct sr_curves *found[SR_COLLAPSE_PARTS];
};

/* Searches and fits the curves, and appends the best of every size to the seeds. */
int sr_collapse_fit(const struct sr_collapse *collapse, struct sr_curve *list, int count);

#endif
