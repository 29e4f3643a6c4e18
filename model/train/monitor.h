/* monitor.h - decisions of a training that depend on its past: outliers and patience. */
#ifndef GPT_MONITOR_H
#define GPT_MONITOR_H

#include "train.h"

struct gpt_monitor {
    const struct orr_train_settings *train;
    /* window 0: no outlier detection; number of values; where the next one goes */
    int window, count, next;
    double *loss, *norm; /* (window) of the last accepted steps */
    long skipped;        /* steps without an update, since step 0 */
    int in_row;          /* skipped steps in a row up to now */
    double best;         /* least held-out loss so far */
    long since_best;     /* evaluations since then */
    bool ended;          /* patience is exhausted: the training is complete */
};
int gpt_monitor_create(struct gpt_monitor *monitor, const struct orr_train_settings *train);
void gpt_monitor_free(struct gpt_monitor *monitor);
/* Decides about a finished step, 1-based. *reason = "loss" or "grad_norm" where that value is
 * more than outlier_sigma standard deviations above its mean over the last outlier_window
 * accepted steps: the step is an outlier and must be skipped. *reason = NULL: the step is
 * accepted and enters the window. Every step is accepted until the window is full. More than
 * outlier_most outliers in a row: ORR_EDIVERGED. */
int gpt_monitor_step(struct gpt_monitor *monitor, long step, double loss, double norm,
                     const char **reason);
/* Records a held-out loss; returns true for a new best. Sets `ended` when patience is exhausted. */
bool gpt_monitor_evaluation(struct gpt_monitor *monitor, double loss);
/* Prints the whole state as text (free() it), and reads it from the text of checkpoint `path`,
 * bit for bit. */
int gpt_monitor_print(const struct gpt_monitor *monitor, char **text);
int gpt_monitor_parse(struct gpt_monitor *monitor, const char *path, const char *text);

#endif
