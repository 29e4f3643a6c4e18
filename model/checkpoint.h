/* checkpoint.h - models as safetensors files. */
#ifndef GPT_CHECKPOINT_H
#define GPT_CHECKPOINT_H

#include "stage/provenance.h"
#include "model.h"

/* Weights (the moving average as "average.<name>"), and with optimiser = true the moments
 * "adam.m.<name>", "adam.v.<name>"; metadata: format, version, config, step, and the pairs of
 * `extra` (key, value, ..., NULL; may be NULL). Atomic. A model that attends otherwise than it was
 * trained (gpt_override_attention): ORR_EINVAL. */
int gpt_save(const struct gpt_model *model, const char *path, long step, bool optimiser,
             const char *const *extra);
/* Reads the configuration and weights into a new model; *step and optimiser state when there. */
int gpt_load(struct gpt_model *model, const char *path, const struct k_ops *ops, long *step);
/* The same and checks that the checkpoint has this configuration (its head may differ when
 * any_head; whether a token head has a bias is the file's own): ORR_EINVAL naming every key that
 * differs, found and expected, and the setting of presets that decides it. */
int gpt_load_as(struct gpt_model *model, const char *path, const struct gpt_config *config,
                bool any_head, const struct k_ops *ops, long *step);
/* The model becomes <folder>/<name>, a checkpoint of its configuration; after an error it is what
 * it was. step may be NULL. */
int gpt_reload(struct gpt_model *model, const char *folder, const char *name, long *step);
/* Value of a metadata key of a checkpoint file into buffer ("" when absent). */
int gpt_checkpoint_metadata(const char *path, const char *key, char *buffer, size_t bytes);
/* *made = what a checkpoint says it was made from (stage/provenance.h), NULL when it does not say
 * or is not there; cJSON_Delete() it. */
int gpt_checkpoint_made(const char *path, struct cJSON **made);
/* Whether the file whose weights a training stands for (gpt_final_checkpoint) was made from the
 * record `digest` of the book, if not why: also because it cannot be read. One that is not there is
 * missed once the training is whole. */
int gpt_best_same(const char *path, const struct orr_records *records,
                  const char digest[ORR_DIGEST], bool whole, bool *same, char why[ORR_WHY]);

/* checkpoint.c: the metadata "step" of the file `path`; ORR_EFORMAT where it is no count. */
int gpt_step_parse(const char *path, const char *text, long *step);

#endif
