/* retention.h - step-numbered checkpoints. */
#ifndef GPT_RETENTION_H
#define GPT_RETENTION_H

#include "train.h"

/* Whether a step-numbered checkpoint is due at this step. */
bool gpt_keeps_step(const struct orr_train_settings *train, long step);
/* Keeps a numbered copy of the last checkpoint, which is of this step, and removes all numbered
 * ones except the newest train->keep. */
int gpt_keep_checkpoint(const struct gpt_task *task, const struct orr_train_settings *train,
                        const char *last, long step);
/* Removes all numbered checkpoints except the newest `keep`. */
int gpt_remove_kept(const struct gpt_task *task, int keep);

#endif
