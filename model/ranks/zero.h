/* zero.h - moments and average shared out among the ranks (ZeRO-1; Rajbhandari et al. 2020);
 * inside model/ only.
 *
 * A rank keeps those of the weights whose gradients it sums, updates these weights, and gets the
 * others' from the other ranks. While a training lasts the model itself has neither moments nor
 * average, but for what gpt_zero_collect() lends to rank 0. */
#ifndef GPT_ZERO_H
#define GPT_ZERO_H

#include "ranks.h"

struct gpt_zero {
    struct gpt_model *model;
    size_t own;               /* reals of this rank's shares of all buckets, in their order */
    real *m, *v, *average;    /* (own); average NULL without one */
    double *squares, *blocks; /* (own blocks), (blocks of the model): sums of squares */
};
/* Takes over what rank 0's model has, and drops it there. Collective. */
int gpt_zero_create(struct gpt_zero *zero, struct gpt_model *model);
void gpt_zero_free(struct gpt_zero *zero);
/* As gpt_gradient_norm in blocks, of the shares of all ranks, with its bits. Collective. */
int gpt_zero_norm(struct gpt_zero *zero, long step, double divisor, double *norm);
/* As gpt_apply: the same bits of weights on all ranks. Collective. */
int gpt_zero_apply(struct gpt_zero *zero, const struct orr_train_settings *train, long step,
                   double norm, double divisor);
/* Rank 0's model gets the average, and with `moments` these, too, for a checkpoint or an
 * evaluation; gpt_drop_training() it after. Collective. */
int gpt_zero_collect(struct gpt_zero *zero, bool moments);

#endif
