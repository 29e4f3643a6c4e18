/* optimizer.h - learning rate, clipping by the global norm, AdamW, average of the weights. */
#ifndef GPT_OPTIMIZER_H
#define GPT_OPTIMIZER_H

#include "model.h"

/* How a step is cut into passes: `count` of them, over `batch` sequences each. Pass p of a step has
 * the sequences from p * batch on, of count * batch. */
struct gpt_passes {
    int count, batch;
};
/* accumulation passes of the batch; with micro_batches so many, over the same sequences. */
struct gpt_passes gpt_passes_of(const struct orr_train_settings *train);
/* Learning rate of 0-based step. */
double gpt_lr(const struct orr_train_settings *train, long step);
/* Clips by the global norm, AdamW, moving average. Non-finite norm: ORR_EDIVERGED naming the step
 * and the first parameter with a non-finite gradient, in the order of the backward pass;
 * parameters are then untouched. */
int gpt_update(struct gpt_model *model, const struct orr_train_settings *train, long step,
               double *grad_norm);
/* Exchanges parameters and their moving average (call twice to restore); no-op without one. The
 * pointers are exchanged, nothing moves. */
void gpt_swap_average(struct gpt_model *model);
/* Releases the moments and the moving average, in memory of the backend: the weights stay, and a
 * training from here is one of its own. */
void gpt_drop_training(struct gpt_model *model);

/* ------------------------------------------------------------------------- an update in steps */

/* The sum of x (n) by halves: that of the first n / 2 (rounded down) plus that of the rest. */
double gpt_tree_of(const double *x, size_t n);
/* squares (ceil(count / block)) = sums of squares of x (count) over blocks of `block` numbers. */
int gpt_block_squares(const struct k_ops *ops, const real *x, size_t count, size_t block,
                      double *squares);
/* With micro-batches the norm is a tree over blocks of so many numbers, so that ranks that hold
 * some of the blocks each come to the same bits; otherwise the whole gradient is one block. */
enum { GPT_BLOCK = 16384 };
/* Blocks of `count` numbers, the last one perhaps shorter. */
static inline size_t gpt_blocks(size_t count)
{
    return (count + GPT_BLOCK - 1) / GPT_BLOCK;
}
/* Global norm of model->grad / divisor, from sums of squares of blocks. Not finite: ORR_EDIVERGED
 * as gpt_update; step 0-based. */
int gpt_gradient_norm(struct gpt_model *model, long step, double divisor, size_t block,
                      double *norm);
/* The update of a gradient of this norm, which model->grad holds times `divisor`. */
int gpt_apply(struct gpt_model *model, const struct orr_train_settings *train, long step,
              double norm, double divisor);
/* Its numbers, but for the weight decay, which depends on the parameter. */
struct k_adamw gpt_adamw_of(const struct orr_train_settings *train, long step, double norm,
                            double divisor);
/* AdamW on numbers begin .. end of the arenas, each with its parameter's weight decay; their
 * moments m, v (end - begin). What pads parameters is 0 and stays so. */
int gpt_adamw(struct gpt_model *model, const struct orr_train_settings *train, struct k_adamw k,
              size_t begin, size_t end, real *m, real *v);
/* The decay of the average at 0-based step; first: there is none yet, and it begins as the weights.
 */
double gpt_average_decay(double decay, bool first, long step);

#endif
