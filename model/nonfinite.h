/* nonfinite.h - which layer or parameter is not finite; steps are 1-based; inside model/ only. */
#ifndef GPT_NONFINITE_H
#define GPT_NONFINITE_H

#include "forward.h"

/* ORR_EDIVERGED naming the first layer of the last forward pass with a number that is not
 * finite. */
int gpt_diverged_loss(struct gpt_model *model, const struct gpt_batch *batch, long step);
/* The same for gradients, in the order of the backward pass. */
int gpt_diverged_gradient(struct gpt_model *model, long step);
/* ORR_EDIVERGED naming the first weight that is not finite. */
int gpt_check_weights(struct gpt_model *model, long step);

#endif
