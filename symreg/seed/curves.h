/* curves.h - inside symreg/: searches all functions of one variable with up to two constants for
 * those that fit given targets best. */
#ifndef SR_CURVES_H
#define SR_CURVES_H

#include "seed.h"
#include "symreg/value/vec.h"

enum {
    SR_CURVE_SIZE = 12,     /* nodes of a function, at most */
    SR_CURVE_KEPT = 12,     /* kept for each size and target */
    SR_CURVE_TARGETS = 140, /* curves searched at once, at most */
};
/* Target values at the points, to be fitted by a f + b. The costlier functions are searched only
 * for targets marked `deep`. */
struct sr_curve_target {
    double unit[SR_ROWS]; /* mean 0, length 1: sr_curve_unit() */
    bool deep;
};
struct sr_curve_found {
    double score;        /* 1 - R^2, constants shifted to first order */
    uint64_t hash;       /* hash of operators and features; the values of constants do not matter */
    struct sr_expr expr; /* feature 0 is the variable; constants are shifted */
};
/* The best functions of every target and size, best first. */
struct sr_curves {
    int count[SR_CURVE_TARGETS][SR_CURVE_SIZE + 1];
    struct sr_curve_found found[SR_CURVE_TARGETS][SR_CURVE_SIZE + 1][SR_CURVE_KEPT];
};

/* Scales to mean 0 and length 1; false when the values hardly vary. */
bool sr_curve_unit(const double value[SR_ROWS], double unit[SR_ROWS]);
/* Tries functions in order of increasing cost until `budget` were tried. Costly functions are split
 * into `parts` shares, of which this call tries share number `part`. The counts in `curves` must be
 * zero. */
int sr_curves_find(const struct sr_settings *settings, const double x[SR_ROWS],
                   const struct sr_curve_target *target, int targets, double budget, int part,
                   int parts, struct sr_curves *curves);
/* Merges the results of `other`. The merged lists do not depend on how the work was divided. */
void sr_curves_merge(struct sr_curves *curves, const struct sr_curves *other, int targets);

#endif
