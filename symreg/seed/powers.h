/* powers.h - inside symreg/: fits and writes sums of products of powers, z = sum of w_k e_k + sum
 * of c_i prod of x_j^a_ij, with free exponents.
 *
 * The weights w and c are linear: at given exponents they follow by least squares, and only the
 * exponents are searched (variable projection; Golub & Pereyra, SIAM J. Numer. Anal. 10 (1973)
 * 413), with the Jacobian of Kaufman (BIT 15 (1975) 49), by Levenberg-Marquardt. */
#ifndef SR_POWERS_H
#define SR_POWERS_H

#include "groups.h"
#include "stages.h"

enum {
    SR_POWER_TERMS = 3,
    SR_POWER_COLUMNS = 12,
    SR_POWER_EXTRAS = 1 + SR_POWER_COLUMNS,
    SR_POWER_ROWS = SR_TILE, /* rows at most */
    SR_POWER_FREE = SR_POWER_TERMS * SR_POWER_COLUMNS,
    SR_POWER_BASIS = SR_POWER_EXTRAS + SR_POWER_TERMS
};
/* Arrays are the caller's, column-major; columns are SR_POWER_ROWS apart. */
struct sr_power_table {
    int rows, columns;    /* rows: a multiple of 8 */
    const double *log;    /* (columns, rows) ln |x_j| */
    const double *sign;   /* (columns, rows) of x_j */
    unsigned negative;    /* columns with negative values, one bit each: whole exponents, held */
    const double *z;      /* (rows) */
    const double *weight; /* (rows) root of the weight of (z - sum)^2 */
    int extras;           /* e_k: of 1 and the logarithms so many */
};
struct sr_power_sum {
    double rest; /* sum of weighted squares that is left, over that of z */
    int terms;
    double exponent[SR_POWER_TERMS][SR_POWER_COLUMNS];
    uint64_t held;                 /* bit i * SR_POWER_COLUMNS + j: exponent a_ij stays */
    double weight[SR_POWER_BASIS]; /* w, then c */
};
struct sr_power_work {
    double q[SR_POWER_BASIS + SR_POWER_FREE][SR_POWER_ROWS]; /* orthonormal basis of the terms */
    double upper[SR_POWER_BASIS][SR_POWER_BASIS];
    double term[SR_POWER_TERMS][SR_POWER_ROWS]; /* weighted values of the products */
    double residual[SR_POWER_ROWS], slope[SR_POWER_FREE][SR_POWER_ROWS];
    double normal[SR_POWER_FREE * SR_POWER_FREE], gradient[SR_POWER_FREE];
    int place[SR_POWER_FREE]; /* i * SR_POWER_COLUMNS + j of free exponent k */
    int basis, free;
};

/* Computes the weights and the rest for the exponents of the sum. False, with an infinite rest,
 * where values are not finite or terms depend on each other. */
bool sr_power_weigh(const struct sr_power_table *t, struct sr_power_sum *sum,
                    struct sr_power_work *w);
/* After sr_power_weigh(): slopes of the free exponents, orthogonal to the terms, and in
 * w->gradient minus half the derivatives of the weighted sum of squares by the exponents. */
void sr_power_slopes(const struct sr_power_table *t, const struct sr_power_sum *sum,
                     struct sr_power_work *w);
/* Fits the free exponents from their values. The rest never rises. */
void sr_power_fit(const struct sr_power_table *t, int steps, struct sr_power_sum *sum,
                  struct sr_power_work *w);
/* Holds exponents at whole numbers and simple fractions where the fit stays as good. */
void sr_power_round(const struct sr_power_table *t, struct sr_power_sum *sum,
                    struct sr_power_work *w);

/* ---- formulas (powers_write.c) */

/* H: exp, log, or (SR_CONSTANT) a power. */
struct sr_power_outer {
    enum sr_op op;
    double power;
};
/* Writes H(sum), up to an outer factor. column: formulas of the table's features. Within exp the
 * first weights of the sum are those of a constant and of the columns' logarithms, a product before
 * exp. False where it is too long or not admissible. */
bool sr_powers_put(const struct sr_proposal *p, const struct sr_expr *column, int columns,
                   const struct sr_power_outer *outer, const struct sr_power_sum *sum,
                   struct sr_expr *out);

/* Appends base^power, power > 0. False where operators are missing. */
bool sr_put_power(uint64_t operators, const struct sr_expr *base, double power,
                  struct sr_expr *out);
/* Writes a product of powers of features. False where operators are missing. Count 0: the product
 * is 1. */
bool sr_powers_write(const struct sr_language *language, uint64_t operators,
                     const struct sr_powers *powers, struct sr_expr *out);

#endif
