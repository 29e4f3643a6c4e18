/* normal.h - inside formula/: the algebraic normal form of a formula.
 *
 * A formula becomes nested sums of weighted terms and products of powers. Equal terms and equal
 * factors are joined, and operands are ordered by their hashes. Division, inv, square, cube, sqrt
 * and constant powers become products; subtraction and neg become sums; exp(a) exp(b) becomes
 * exp(a + b), and exp(k log(a)) becomes a^k for whole k. Where both are defined, the normal form
 * has the formula's value up to rounding. It may be defined at more points (x inv(x) is 1 at 0,
 * too). */
#ifndef SR_NORMAL_H
#define SR_NORMAL_H

#include "expr.h"

enum sr_normal_kind {
    SR_NORMAL_CONSTANT,
    SR_NORMAL_FEATURE,
    SR_NORMAL_CALL,
    SR_NORMAL_SUM,
    SR_NORMAL_PRODUCT
};
/* weight: factor of a term in a sum, exponent of a factor in a product, unused in a call. */
struct sr_normal_item {
    int node;
    double weight;
};
struct sr_normal_node {
    enum sr_normal_kind kind;
    uint8_t op, feature;
    double value;     /* the constant; what a sum adds; the factor of a product */
    int first, count; /* items */
    uint64_t hash;    /* hash of operands and constants, independent of their order */
};
enum { SR_NORMAL_NODES = 1024, SR_NORMAL_ITEMS = 4096 };
struct sr_normal {
    const struct sr_language *language; /* language of the formula */
    int nodes, items;
    bool failed; /* a constant subtree is not finite, or the form is full */
    struct sr_normal_node node[SR_NORMAL_NODES];
    struct sr_normal_item item[SR_NORMAL_ITEMS];
};

/* Fills the form and returns its root; -1 where it failed. */
int sr_normal_make(struct sr_normal *form, const struct sr_language *language,
                   const struct sr_expr *expr);

#endif
