/* checkpoint.h - models as safetensors files. */
#ifndef GPT_CHECKPOINT_H
#define GPT_CHECKPOINT_H

#include "stage/provenance.h"
#include "model.h"

/* Weights (the moving average as "average.<name>"), and with optimiser = true the moments
 * "adam.m.<name>", "adam.v.<name>"; metadata: format, version, config, step, and the pairs of
 * `extra` (key, value, ..., NULL; may be NULL). Atomic. A model with overridden attention
 * (gpt_override_attention): ORR_EINVAL. */
int gpt_save(const struct gpt_model *model, const char *path, long step, bool optimiser,
             const char *const *extra);
/* Reads the configuration and weights into a new model; also *step and the optimiser's state,
 * where the file has them. */
int gpt_load(struct gpt_model *model, const char *path, const struct k_ops *ops, long *step);
/* As gpt_load, but the checkpoint must have this configuration. With any_head its head may
 * differ; whether a token head has a bias is always taken from the file. ORR_EINVAL names every
 * key that differs, the values found and expected, and the setting of presets that decides it. */
int gpt_load_as(struct gpt_model *model, const char *path, const struct gpt_config *config,
                bool any_head, const struct k_ops *ops, long *step);
/* Replaces the model by <folder>/<name>, a checkpoint with its configuration; after an error the
 * model is unchanged. step may be NULL. */
int gpt_reload(struct gpt_model *model, const char *folder, const char *name, long *step);
/* Value of a metadata key of a checkpoint file into buffer ("" when absent). */
int gpt_checkpoint_metadata(const char *path, const char *key, char *buffer, size_t bytes);
/* *made = the record in a checkpoint of what it was made from (stage/provenance.h); NULL when
 * the file has none or does not exist. Call cJSON_Delete() on it. */
int gpt_checkpoint_made(const char *path, struct cJSON **made);
/* *same = whether the file of a training's final weights (gpt_final_checkpoint) was made from the
 * record `digest`; otherwise `why` says why not, also when the file cannot be read. Where the
 * file is missing, *same is true until the training is `whole`. */
int gpt_best_same(const char *path, const struct orr_records *records,
                  const char digest[ORR_DIGEST], bool whole, bool *same, char why[ORR_WHY]);

/* checkpoint.c: parses the metadata "step" of the file `path`; ORR_EFORMAT where it is not a
 * count. */
int gpt_step_parse(const char *path, const char *text, long *step);

#endif
