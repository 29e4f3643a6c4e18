/* monitor.h - outliers and patience: what a training decides by its past. */
#ifndef GPT_MONITOR_H
#define GPT_MONITOR_H

#include "train.h"

struct gpt_monitor {
    const struct orr_train_settings *train;
    int window, count, next; /* 0 = outliers are not looked for; values; where the next one goes */
    double *loss, *norm;     /* (window) of the last accepted steps */
    long skipped;            /* steps without an update, since step 0 */
    int in_row;              /* of these, at the end */
    double best;             /* least held-out loss so far */
    long since_best;         /* evaluations since then */
    bool ended;              /* patience is over: the training is complete */
};
int gpt_monitor_create(struct gpt_monitor *monitor, const struct orr_train_settings *train);
void gpt_monitor_free(struct gpt_monitor *monitor);
/* Judges a finished pass over a step, 1-based: *reason = "loss" or "grad_norm" where that is more
 * than outlier_sigma standard deviations above the mean of the last outlier_window accepted steps:
 * an outlier, to be skipped. NULL: accepted, and in the window from now on. Before the window is
 * full every step is. More than outlier_most in a row: ORR_EDIVERGED. */
int gpt_monitor_step(struct gpt_monitor *monitor, long step, double loss, double norm,
                     const char **reason);
/* Takes a held-out loss; true for a new best. Sets ended when patience is over. */
bool gpt_monitor_evaluation(struct gpt_monitor *monitor, double loss);
/* The whole state as text (free() it), and from the text of checkpoint `path`, bit for bit. */
int gpt_monitor_print(const struct gpt_monitor *monitor, char **text);
int gpt_monitor_parse(struct gpt_monitor *monitor, const char *path, const char *text);

#endif
