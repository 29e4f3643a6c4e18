/* log.h - speeds of a training, and its log. */
#ifndef GPT_LOG_H
#define GPT_LOG_H

#include "train.h"

/* Speeds of steps, without evaluations and checkpoints. The log has the speed since its last
 * line. The live line has the speed of the last full second, which changes slowly enough to be
 * read; before the first full second it has the speed since the start. */
struct gpt_meter {
    double positions, seconds; /* since the last line of the log */
    double live_positions, live_seconds;
    double live; /* positions per second; NaN before the first step */
    bool steady; /* whether a full second has passed */
    double flop; /* per position, forward and backward pass, of matmuls */
    double peak; /* measured flop per second, NaN where it is not known */
    double positions_per_step;
};
void gpt_meter_open(struct gpt_meter *meter, const struct gpt_model *model, int B, int T,
                    int passes);
void gpt_meter_add(struct gpt_meter *meter, double seconds);
/* The members of one line of the log. skipped: why there was no update, or NULL. gpt_log_step
 * also starts the next interval of the meter. */
struct gpt_log_entry {
    long step, steps; /* 1-based */
    double loss, lr, norm;
    long degenerate;
    const char *skipped;
    long skipped_steps;
};
int gpt_log_step(struct orr_log *log, const struct gpt_log_entry *entry, struct gpt_meter *meter);
void gpt_log_detail(const struct gpt_log_entry *entry, const struct gpt_meter *meter,
                    char text[160]);
/* Removes lines after `step`, which a resumed run will write again: a killed run logs steps
 * after its last checkpoint. */
int gpt_log_trim(const char *path, long step);

#endif
