/* ridge.h - ridge regression in closed form. The strength is chosen on an inner split of the
 * fitting sequences. Features are standardised, the intercept is not penalised. Hastie, Tibshirani
 * and Friedman, The Elements of Statistical Learning, Eq. (3.44). */
#ifndef PROBE_RIDGE_H
#define PROBE_RIDGE_H

#include "probe/core/arena.h"

/* Rows of features x (rows, features) and targets y (rows, targets). A sequence's rows stay
 * together when rows are split. Targets of one group share a strength; group[k] is the group of
 * target k, from 0. */
struct probe_rows {
    long rows;
    int features, targets, groups;
    double *x, *y;
    int *sequence;    /* (rows), from 0 */
    const int *group; /* (targets) */
};
/* Allocates x, y and sequence. ORR_ENOMEM. */
int probe_rows_create(struct probe_arena *arena, struct probe_rows *rows, long most, int features,
                      int targets, int groups, const int *group);

struct probe_ridge {
    int features, targets, groups;
    double *weight;   /* (features, targets) for unscaled features */
    double *bias;     /* (targets) */
    double *strength; /* (groups): the penalty over the number of rows */
    double *inner;    /* (groups) R^2 on the inner held-out sequences; NaN where nothing varies */
};
/* Every fourth sequence (sequence % 4 == 3) is held out of the inner fit. The strength of each
 * group, among 10^-9, 10^-8, ... 10, maximises R^2 there; then all rows are fitted. ORR_EINVAL
 * where either part has no rows. */
int probe_ridge_fit(struct probe_arena *arena, const struct probe_rows *rows,
                    struct probe_ridge *ridge);
/* Predicts y (targets) for one row x (features). */
void probe_ridge_predict(const struct probe_ridge *ridge, const double *x, double *y);

#endif
