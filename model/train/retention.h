/* retention.h - step-numbered checkpoints. */
#ifndef GPT_RETENTION_H
#define GPT_RETENTION_H

#include "train.h"

/* A step-numbered checkpoint belongs to this step. */
bool gpt_keeps_step(const struct orr_train_settings *train, long step);
/* Keeps the last checkpoint, of this step, under its number, and of all numbers the newest
 * train->keep. */
int gpt_keep_checkpoint(const struct gpt_task *task, const struct orr_train_settings *train,
                        const char *last, long step);
/* Removes all but the newest `keep`. */
int gpt_remove_kept(const struct gpt_task *task, int keep);

#endif
