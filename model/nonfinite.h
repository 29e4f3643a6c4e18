/* nonfinite.h - names the layer or parameter that is not finite; steps are 1-based; inside
 * model/ only. */
#ifndef GPT_NONFINITE_H
#define GPT_NONFINITE_H

#include "forward.h"

/* Returns ORR_EDIVERGED and names the first layer of the last forward pass with a number that is
 * not finite. */
int gpt_diverged_loss(struct gpt_model *model, const struct gpt_batch *batch, long step);
/* As gpt_diverged_loss for gradients, in the order of the backward pass. */
int gpt_diverged_gradient(struct gpt_model *model, long step);
/* ORR_EDIVERGED naming the first weight that is not finite, if any. */
int gpt_check_weights(struct gpt_model *model, long step);

#endif
