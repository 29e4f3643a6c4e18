/* zero.h - moments and average distributed among the ranks (ZeRO-1; Rajbhandari et al. 2020);
 * inside model/ only.
 *
 * A rank keeps moments and average of the weights whose gradients it sums. It updates these
 * weights and receives the others from the other ranks. During a training the model itself has
 * neither moments nor average, except when gpt_zero_collect() gives them to rank 0. */
#ifndef GPT_ZERO_H
#define GPT_ZERO_H

#include "ranks.h"

struct gpt_zero {
    struct gpt_model *model;
    size_t own;               /* number of reals in this rank's shares of all buckets, */
    size_t own_seconds;       /* and of those that have a second moment */
    real *m, *v, *average;    /* (own), v (own_seconds); average NULL without one */
    double *squares, *blocks; /* (own blocks), (blocks of the model): sums of squares */
};
/* Distributes the moments and the average of rank 0's model and releases them there. Collective. */
int gpt_zero_create(struct gpt_zero *zero, struct gpt_model *model);
void gpt_zero_free(struct gpt_zero *zero);
/* As gpt_gradient_norm with blocks, over the shares of all ranks, with equal bits. Collective. */
int gpt_zero_norm(struct gpt_zero *zero, long step, double divisor, double *norm);
/* As gpt_apply, with equal bits of the weights on all ranks. Collective. */
int gpt_zero_apply(struct gpt_zero *zero, const struct orr_train_settings *train, long step,
                   double norm, double divisor);
/* Gives rank 0's model the average and, with `moments`, the moments, for a checkpoint or an
 * evaluation; call gpt_drop_training() afterwards. Collective. */
int gpt_zero_collect(struct gpt_zero *zero, bool moments);

#endif
