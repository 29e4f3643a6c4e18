/* log.h - speeds of a training, and its log. */
#ifndef GPT_LOG_H
#define GPT_LOG_H

#include "train.h"

/* Speeds of steps alone: evaluations and checkpoints are left out. The log has that since its last
 * line, the live line that of the last full second (before there was one: from the start on), which
 * can be read. */
struct gpt_meter {
    double positions, seconds; /* since the last line of the log */
    double live_positions, live_seconds;
    double live; /* positions per second; NaN before the first step */
    bool steady; /* there was a full second */
    double flop; /* per position, forward and backward, of matmuls */
    double peak; /* measured flop per second, NaN where it is not known */
    double positions_per_step;
};
void gpt_meter_open(struct gpt_meter *meter, const struct gpt_model *model, int B, int T,
                    int passes);
void gpt_meter_add(struct gpt_meter *meter, double seconds);
/* One line of the log: everything of the step. skipped: why there was no update, or NULL. Starts
 * the next interval of the meter. */
struct gpt_log_entry {
    long step, steps; /* 1-based */
    double loss, lr, norm;
    long degenerate;
    const char *skipped;
    long skipped_steps;
};
int gpt_log_step(struct orr_log *log, const struct gpt_log_entry *entry, struct gpt_meter *meter);
/* What the live line shows. */
void gpt_log_detail(const struct gpt_log_entry *entry, const struct gpt_meter *meter,
                    char text[160]);
/* What a run that was killed logged after its last checkpoint will be logged again: keeps the
 * lines up to `step`. */
int gpt_log_trim(const char *path, long step);

#endif
