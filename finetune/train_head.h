/* train_head.h - declarations shared inside finetune/ only. */
#ifndef FT_TRAIN_HEAD_H
#define FT_TRAIN_HEAD_H

#include "ft.h"

#include <gsl/gsl_randist.h>

/* Writes targets and weights of a sequence to row b of the batch; only labels within the bounds
 * have weight. */
void ft_fill_targets(const struct ft_labels *labels, const struct ft_transform *transform,
                     size_t sequence, int b, struct gpt_batch *batch);
/* What batches for magnitudes are made from. */
struct ft_magnitudes {
    uint64_t seed;
    const struct orr_train_settings *train;
    const struct ft_labels *labels;
    struct ft_inputs inputs;
    struct ft_transform transform;
    gsl_rng *rng;
};
/* Fills the batch of (step, pass) with sequences drawn from `labels`; a pure function of its
 * arguments. */
int ft_fill_magnitudes(const struct ft_magnitudes *task, long step, int pass,
                       struct gpt_batch *batch);
/* Opens the pretrained model `from`, or a random one when NULL, with a new regression head. */
int ft_model_open(struct gpt_model *model, const struct ft_run *run, const char *attention,
                  const char *from, int positions, int outputs);
/* Trains the model in <run>/<source>/finetune/magnitude.safetensors or vector.safetensors. With
 * resume, an existing training with an equal record is continued; if records differ, the
 * difference is reported. Checkpoints contain `force`, the conversion of outputs to forces. task
 * must have context, fill, evaluate and T. Afterwards the model has the weights for predictions:
 * those of the last step or, with patience, of the least held-out loss
 * (magnitude_best.safetensors). */
int ft_train(struct gpt_model *model, struct ft_run *run, const char *source, bool vector,
             const struct orr_train_settings *train, const char *force, struct gpt_task *task);

#endif
