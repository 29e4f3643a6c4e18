/* train_head.h - shared inside finetune/ only. */
#ifndef FT_TRAIN_HEAD_H
#define FT_TRAIN_HEAD_H

#include "ft.h"

#include <gsl/gsl_randist.h>

/* Targets and weights of a sequence as row b of the batch: labels that count. */
void ft_fill_targets(const struct ft_labels *labels, const struct ft_transform *transform,
                     size_t sequence, int b, struct gpt_batch *batch);
/* What batches of magnitudes are made from. */
struct ft_magnitudes {
    uint64_t seed;
    const struct orr_train_settings *train;
    const struct ft_labels *labels;
    struct ft_inputs inputs;
    struct ft_transform transform;
    gsl_rng *rng;
};
/* The batch of (step, pass): sequences drawn from the labels', a pure function of its arguments. */
int ft_fill_magnitudes(const struct ft_magnitudes *task, long step, int pass,
                       struct gpt_batch *batch);
/* The pretrained model (from) or a random one (NULL) with a new regression head. */
int ft_model_open(struct gpt_model *model, const struct ft_run *run, const char *attention,
                  const char *from, int positions, int outputs);
/* Trains it in <run>/<source>/finetune/magnitude.safetensors or vector.safetensors. When the run
 * resumes, goes on with one that is there and was made from the same things, and says what differs
 * when it was not. Checkpoints say `force`, how outputs become forces. task needs context, fill,
 * evaluate and T. The model then holds the weights to predict with: of the last step, or with
 * patience those of the least held-out loss (magnitude_best.safetensors). */
int ft_train(struct gpt_model *model, struct ft_run *run, const char *source, bool vector,
             const struct orr_train_settings *train, const char *force, struct gpt_task *task);

#endif
