/* collapse.h - inside symreg/: finds y = h phi(u), a small formula times a function of one
 * variable.
 *
 * For small formulas h and u without constants, y / h is compared with u. Where rows that are
 * neighbours in the order of u have nearly equal y / h, the table collapses to a curve, y = h
 * phi(u). phi is then searched among all functions of one variable with up to two constants.
 * Derivatives by the constants are included, so a coarse grid of constants suffices. Products and
 * quotients of all features are treated alike: no law is assumed. */
#ifndef SR_COLLAPSE_H
#define SR_COLLAPSE_H

#include "curves.h"
#include "stages.h"
#include "sums.h"

/* ---- tables that collapse */

enum { SR_COLLAPSE_VARIABLES = 512, SR_COLLAPSE_PARTS = 4, SR_COLLAPSE_EXPONENTIALS = 6 };
/* The factors h and variables u of a table, with their values. */
struct sr_collapse {
    struct sr_proposal *proposal;
    size_t rows;
    struct sr_data data; /* (rows) */
    double *x;           /* storage of data */
    int factors, variables;
    struct sr_expr *expr; /* (factors) h; number 0 is the factor 1, with count 0 */
    double *shape;        /* (factors, rows) y / h on a logarithmic scale */
    double *value;        /* (SR_COLLAPSE_VARIABLES, rows) values of u */
    double *spread;       /* (factors) variance of shape */
    int variable[SR_COLLAPSE_VARIABLES];
    uint16_t *order; /* (SR_COLLAPSE_VARIABLES, rows) rows in the order of u */
    /* (factors, SR_COLLAPSE_VARIABLES) variance that remains around a function of u */
    float *rough;
};

/* One form of phi to be searched. */
struct sr_collapse_target {
    struct sr_expr factor; /* h; count 0: the factor 1 */
    enum sr_op outer;      /* phi = outer(a f + b); SR_CONSTANT: phi = a f + b */
    double z[SR_ROWS], inverted[SR_ROWS];
};
struct sr_curve {
    int variable, count;
    double x[SR_ROWS];
    struct sr_collapse_target target[SR_CURVE_TARGETS];
    struct sr_curve_target unit[SR_CURVE_TARGETS];
    struct sr_curves *found[SR_COLLAPSE_PARTS];
    /* exp(c u) for several c: where the target spans powers of ten, no c of the search's coarse
     * grid is near enough for its R^2 to show the exponential */
    struct sr_expr exponential[SR_COLLAPSE_EXPONENTIALS];
    int exponentials;
};

/* Searches and fits the curves, and appends the best of every size to the seeds. */
int sr_collapse_fit(const struct sr_collapse *collapse, struct sr_curve *list, int count);

#endif
