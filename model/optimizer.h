/* optimizer.h - learning rate, clipping by the global norm, AdamW, optimisers of matrices, moving
 * average of the weights. */
#ifndef GPT_OPTIMIZER_H
#define GPT_OPTIMIZER_H

#include "model.h"

/* How a step is divided into passes: `count` passes over `batch` sequences each. Pass p takes
 * the sequences from p * batch on, of count * batch. */
struct gpt_passes {
    int count, batch;
};
/* `accumulation` passes of the batch; with micro_batches, that many passes over those sequences. */
struct gpt_passes gpt_passes_of(const struct orr_train_settings *train);
/* Learning rate of a 0-based step. */
double gpt_lr(const struct orr_train_settings *train, long step);
/* An optimiser of the training: AdamW updates all parameters but those with `matrices`, if it has
 * functions for them. */
struct gpt_optimizer {
    const char *name;
    const char *moment; /* prefix of its moments' names in checkpoints */
    /* Updates the moments m (end - begin) of elements begin .. end - 1 of the arenas, all of them
     * of matrices, and leaves their updates in model->grad. */
    int (*elements)(struct gpt_model *model, const struct orr_train_settings *train,
                    double grad_scale, size_t begin, size_t end, real *m);
    /* Updates all trained matrices by whole updates in model->grad, which may be overwritten. */
    int (*matrices)(struct gpt_model *model, const struct orr_train_settings *train, long step);
};
extern const struct gpt_optimizer gpt_optimizers[ORR_OPTIMIZERS];
/* Whether the model's optimiser takes a parameter as matrices, with one moment; else AdamW does. */
bool gpt_takes_matrices(const struct gpt_model *model, int parameter);
/* Lays out the moments for an optimiser. ORR_EINVAL naming both where the model has moments of
 * another one. */
int gpt_choose_optimizer(struct gpt_model *model, enum orr_optimizer optimizer);
/* The longest range of elements from range->end on, up to `end`, that one optimiser takes; start
 * with {.end = begin}. False at the end. */
struct gpt_range {
    size_t begin, end; /* elements of the arenas */
    int parameter;     /* at which the search begins */
    bool matrices;
};
bool gpt_next_range(const struct gpt_model *model, struct gpt_range *range, size_t end);

/* Clips by the global norm, one step of the optimiser, moving average. A non-finite norm gives
 * ORR_EDIVERGED, naming the step and the first parameter with a non-finite gradient, in the order
 * of the backward pass; parameters are then unchanged. */
int gpt_update(struct gpt_model *model, const struct orr_train_settings *train, long step,
               double *grad_norm);
/* Exchanges parameters and their moving average (call it twice to restore them); does nothing
 * without an average. Only pointers are exchanged. */
void gpt_swap_average(struct gpt_model *model);
/* Releases the moments and the moving average. The weights stay, and a later training starts
 * from them as a new one. */
void gpt_drop_training(struct gpt_model *model);

/* ------------------------------------------------------------------------ parts of an update */

/* The sum of x (n) by a binary tree: the sum of the first n / 2 (rounded down) plus the sum of
 * the rest. */
double gpt_tree_of(const double *x, size_t n);
/* squares (ceil(count / block)) = sums of squares of x (count) over blocks of `block` numbers. */
int gpt_block_squares(const struct k_ops *ops, const real *x, size_t count, size_t block,
                      double *squares);
/* With micro-batches the norm is a tree over blocks of this many numbers, so that ranks that
 * each have some of the blocks compute the same bits; otherwise the whole gradient is one block. */
enum { GPT_BLOCK = 16384 };
/* Number of blocks for `count` numbers; the last block may be shorter. */
static inline size_t gpt_blocks(size_t count)
{
    return (count + GPT_BLOCK - 1) / GPT_BLOCK;
}
/* Global norm of model->grad / divisor, from sums of squares of blocks. Non-finite:
 * ORR_EDIVERGED as in gpt_update; step is 0-based. */
int gpt_gradient_norm(struct gpt_model *model, long step, double divisor, size_t block,
                      double *norm);
/* Updates the parameters by the gradient model->grad / divisor, whose norm is `norm`. */
int gpt_apply(struct gpt_model *model, const struct orr_train_settings *train, long step,
              double norm, double divisor);
/* The arguments of gpt_apply's AdamW step, except weight decay, which depends on the parameter;
 * grad_scale is that of all optimisers. */
struct k_adamw gpt_adamw_of(const struct orr_train_settings *train, long step, double norm,
                            double divisor);
/* The part of a step that works on single elements, on elements begin .. end - 1 of the arenas:
 * AdamW, each with its parameter's weight decay, and the moments of matrices. m (end - begin) and v
 * (those of AdamW alone, one after the other) are the elements' moments. Padding between parameters
 * is 0 and stays 0. */
int gpt_update_elements(struct gpt_model *model, const struct orr_train_settings *train,
                        struct k_adamw k, size_t begin, size_t end, real *m, real *v);
/* The part that needs whole matrices: after gpt_update_elements() on all elements, whose updates
 * model->grad then has. */
int gpt_update_matrices(struct gpt_model *model, const struct orr_train_settings *train, long step);
/* Muon (muon.c). */
int gpt_muon_elements(struct gpt_model *model, const struct orr_train_settings *train,
                      double grad_scale, size_t begin, size_t end, real *m);
int gpt_muon_matrices(struct gpt_model *model, const struct orr_train_settings *train, long step);
/* The decay of the average at a 0-based step; first: there is no average yet, and it starts as
 * the weights. */
double gpt_average_decay(double decay, bool first, long step);

#endif
