/* curves.h - inside symreg/: every function of one variable with up to two constants, by how well
 * it meets targets. */
#ifndef SR_CURVES_H
#define SR_CURVES_H

#include "seed.h"
#include "symreg/value/vec.h"

enum {
    SR_CURVE_SIZE = 12,    /* nodes of a function, at most */
    SR_CURVE_KEPT = 12,    /* of every size and target */
    SR_CURVE_TARGETS = 84, /* curves searched at once, at most */
};
/* Values at the points, to be met by a f + b. Targets that are not `deep` are left out of the
 * search among the costlier functions. */
struct sr_curve_target {
    double unit[SR_ROWS]; /* mean 0, length 1: sr_curve_unit() */
    bool deep;
};
struct sr_curve_found {
    double score;        /* 1 - R^2, constants moved to first order */
    uint64_t hash;       /* of operators and features, constants of any value alike */
    struct sr_expr expr; /* feature 0 is the variable; constants moved likewise */
};
/* The best of every target and size, best first. */
struct sr_curves {
    int count[SR_CURVE_TARGETS][SR_CURVE_SIZE + 1];
    struct sr_curve_found found[SR_CURVE_TARGETS][SR_CURVE_SIZE + 1][SR_CURVE_KEPT];
};

/* Mean 0 and length 1; false when there is hardly any variation. */
bool sr_curve_unit(const double value[SR_ROWS], double unit[SR_ROWS]);
/* Tries functions by increasing cost until `budget` were tried; of the costly ones it takes part
 * number `part` of `parts`. The counts of curves must be zero. */
int sr_curves_find(const struct sr_settings *settings, const double x[SR_ROWS],
                   const struct sr_curve_target *target, int targets, double budget, int part,
                   int parts, struct sr_curves *curves);
/* Adds what `other` found; the same curves whatever was found by whom. */
void sr_curves_merge(struct sr_curves *curves, const struct sr_curves *other, int targets);

#endif
