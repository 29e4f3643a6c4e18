/* sums.h - inside symreg/: y = h H(a f + b g + c k + d), solved by least squares.
 *
 * h is a factor of small formulas, H one or two operators with an inverse, and f, g, k are small
 * formulas without constants. The target is z = H^-1(y / h), whose best weights follow from the
 * correlations of the terms. There are three ways to choose the terms: pairs.c tries all pairs of
 * the simplest formulas at a few rows; pursuit.c tries all triples of fewer, and pursues the rest
 * of thousands, at more rows. */
#ifndef SR_SUMS_H
#define SR_SUMS_H

#include "bank.h"

/* ---- H */

/* The inner operator is applied first; SR_CONSTANT stands for none. */
struct sr_outer {
    enum sr_op inner, last;
};
/* The identity, each of the settings' operators that has an inverse, and with `twice` the
 * reciprocals of these; at most `most`. Returns how many. */
int sr_outer_list(const struct sr_settings *settings, bool twice, int most, struct sr_outer *list);
double sr_outer_value(struct sr_outer outer, double v);

/* ---- h (factors.c) */

/* A formula of the bank, a product or a quotient of two. */
enum { SR_CLOSE = 120, SR_PLAIN = 300, SR_FACTORS = SR_CLOSE + SR_PLAIN };
struct sr_factor {
    double score;  /* the variance of log(y / h), a little more for every node */
    int a, b;      /* entries of the bank; b < 0: a alone */
    enum sr_op op; /* SR_MUL or SR_DIV where b >= 0 */
};
/* Of the first `entries` of the bank: the closest to y, best first, and then the first formulas of
 * + - * / alone, constants left out, which are to be targets of single formulas only. Returns how
 * many in all, *close of the first kind. */
int sr_factors_find(const struct sr_bank *bank, int entries, bool divide,
                    struct sr_factor list[SR_FACTORS], int *close);
/* Writes a factor as a formula; false when it has too many nodes. */
bool sr_factor_expr(const struct sr_bank *bank, const struct sr_factor *factor,
                    struct sr_expr *expr);

/* ---- targets and sums */

enum { SR_TERMS = 3 };
/* z = H^-1(y / h) at every row, h NULL for 1; false where there is none. */
bool sr_sum_target(int rows, const double *y, const double *h, struct sr_outer outer, double *z);
/* Weights of the terms' values, and of 1 as weight[SR_TERMS], that come closest to z by least
 * squares; rows is a multiple of 8, at most 256. pairs.c
 * has the closed form of two terms. False where a term is a constant or a sum of the
 * others, or where its weight is 0. */
bool sr_sum_weigh(int rows, int terms, const double *const value[SR_TERMS], const double *z,
                  double weight[SR_TERMS + 1]);
/* Solves a symmetric positive definite system of n <= 16 equations in place; their rows have n + 1
 * columns, the last the right-hand side. False where the system is singular up to rounding. */
bool sr_sum_solve(double *a, int n);

/* How a sum is to be written. */
struct sr_sum {
    const struct sr_expr *factor; /* count 0: none */
    struct sr_outer outer;
    bool divide; /* h / (sum), instead of h inv(sum) */
    int terms;
    struct sr_written_term {
        const struct sr_expr *expr;
        double weight;
        bool plain;      /* the weight is left out */
        enum sr_op join; /* SR_ADD or SR_SUB, to the terms before */
    } term[SR_TERMS];
    bool weight_last; /* f * a is written, not a * f */
    bool offset;      /* d is written */
    double d;
};
/* False when the formula has more than `limit` nodes. */
bool sr_sum_write(const struct sr_language *language, const struct sr_sum *sum, int limit,
                  struct sr_expr *out);

#endif
