/* sums.h - inside symreg/: fits y = h H(a f + b g + c k + d) by least squares.
 *
 * h is a factor, H one or two operators with an inverse, and f, g, k are small formulas without
 * constants. The target is z = H^-1(y / h), whose best weights follow from the correlations of the
 * terms. formula_pairs.c tries all pairs of the simplest formulas at a few rows. */
#ifndef SR_SUMS_H
#define SR_SUMS_H

#include "bank.h"

/* ---- H */

/* H: `inner` is applied first; SR_CONSTANT stands for no operator. */
struct sr_outer {
    enum sr_op inner, last;
};
/* Lists the identity, each operator of the settings that has an inverse, and their reciprocals; at
 * most `most`. Returns how many. */
int sr_outer_list(const struct sr_settings *settings, int most, struct sr_outer *list);
double sr_outer_value(struct sr_outer outer, double v);

/* ---- h (factors.c) */

/* A factor: 1 (count 0), a formula of the bank, or a product or quotient of two. */
enum { SR_CLOSE = 120, SR_PLAIN = 300, SR_FACTORS = 1 + SR_CLOSE + SR_PLAIN };
struct sr_factor {
    struct sr_expr expr;
    double value[SR_ROWS];
};
/* Lists factors: 1, then among the entries of the bank those closest to y, by the variance of
 * log(y / h), best first, and the first formulas made only of features and + - * /, which serve as
 * targets of single formulas. Returns the total; *close is the number of the second kind. */
int sr_factors_find(const struct sr_bank *bank, bool divide, struct sr_factor list[SR_FACTORS],
                    int *close);

/* ---- targets and sums */

enum { SR_TERMS = 3 };
/* z = H^-1(y / h) at every row; false where it does not exist. */
bool sr_sum_target(int rows, const double *y, const double *h, struct sr_outer outer, double *z);
/* Least-squares weights of the terms' values, and of the constant 1 as weight[SR_TERMS]. rows is a
 * multiple of 8, at most 256. False where a term is constant or a combination of the others, or
 * where its weight is 0. */
bool sr_sum_weigh(int rows, int terms, const double *const value[SR_TERMS], const double *z,
                  double weight[SR_TERMS + 1]);
/* How a sum is written. */
struct sr_sum {
    const struct sr_expr *factor; /* count 0: none */
    struct sr_outer outer;
    int terms;
    struct sr_written_term {
        const struct sr_expr *expr;
        double weight;
        bool plain;      /* the term has weight 1 */
        enum sr_op join; /* SR_ADD or SR_SUB joins the term to those before */
    } term[SR_TERMS];
    bool offset; /* d is written */
    double d;
};
/* Writes the formula; false when it has more than `limit` nodes. */
bool sr_sum_write(const struct sr_language *language, const struct sr_sum *sum, int limit,
                  struct sr_expr *out);

#endif
