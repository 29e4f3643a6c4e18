/* labels.h - inside probe/: fine-tuning to force magnitudes with few labels: labelled sequences,
 * draws of them, learners, held-out rows, and the number of labels that a curve implies. Used by
 * labels.c, extrapolate.c and adaptation.c. */
#ifndef PROBE_LABELS_H
#define PROBE_LABELS_H

#include "finetune/ft.h"
#include "probe/core/session.h"

/* ---- data (label_data.c) */

/* The labelled sequences of a preset: two_body_train for training, two_body_test for evaluation.
 * They are read from the run's files where these fit, else generated from the seed, which gives
 * equal sequences. */
struct probe_label_sets {
    struct sim_dataset train, test;
    bool made[2];            /* generated in memory */
    struct ft_labels labels; /* labels of train, within the bounds of the settings */
};
int probe_label_sets_open(struct probe_arena *arena, struct probe_label_sets *forces,
                          const struct probe_options *options);
void probe_label_sets_close(struct probe_label_sets *forces);
/* ORR_EINVAL, with the reason, where a checkpoint cannot learn from labels (token inputs, another
 * stage or length) or the settings have no labels; ORR_EUSAGE where attention is changed. */
int probe_label_sets_check(const struct probe *probe, const struct probe_options *options);

/* Rows at which predictions are compared: `per` labelled rows of each sequence (all where it has
 * fewer), drawn from (seed, ORR_STAGE_SAMPLE). */
struct probe_held_out {
    const struct sim_dataset *set;
    size_t sequences, rows;
    size_t *sequence; /* (sequences) numbers in the set */
    size_t *of;       /* (rows) index into sequence */
    size_t *at;       /* (rows) sequence * positions + row */
    double *y;        /* (rows) ln F */
};
/* Draws rows of the sequences sequence[0 .. count - 1]; NULL: the first `count`. */
int probe_held_out_draw(struct probe_arena *arena, struct probe_held_out *held_out,
                        const struct sim_dataset *set, const struct ft_bounds *bounds,
                        const size_t *sequence, size_t count, int per, uint64_t seed);
/* Sums of squared errors of predictions ln F (rows) by sequence: residual (sequences). Only rows
 * with keep true; NULL: all. */
void probe_residuals(const struct probe_held_out *held_out, const bool *keep, const double *log_f,
                     double *residual);
/* R^2 from residuals; each sequence counts weight[s] times, NULL: once. NaN where nothing
 * varies. */
double probe_held_out_r2(const struct probe_held_out *held_out, const bool *keep,
                         const double *residual, const double *weight);
/* How often each of n items is drawn in resample number k of a bootstrap: weight (n). */
void probe_resample(gsl_rng *rng, uint64_t seed, uint64_t k, size_t n, double *weight);
/* The quantiles 0.025 and 0.975 of the values of x (n) that are not NaN; NaN where there are none.
 * Infinite values count. Reorders x. */
void probe_interval(double *x, size_t n, double *low, double *high);

/* ---- draws (label_fit.c) */

/* order (labels->count): a random order of the sequences that depends only on the seed. */
int probe_labels_order(const struct ft_labels *labels, uint64_t seed, size_t *order);
/* Draw number d of n sequences: order[d n], ... cyclically, so that draws share no sequence as long
 * as there are enough. subset->sequence must hold n entries. */
void probe_labels_draw(const struct ft_labels *labels, const size_t *order, int draw, size_t n,
                       struct ft_labels *subset);
/* Calls one() for `draws` such draws, in order; stops at an error. ORR_ENOMEM. */
int probe_labels_each(struct probe_arena *arena, const struct ft_labels *labels, uint64_t seed,
                      int draws, size_t n,
                      int (*one)(void *of, int draw, const struct ft_labels *subset), void *of);
/* The inner split: the last fifth, at least 1, evaluates learning rates; the rest is for training.
 * Both are views into the subset and are not freed. */
void probe_labels_split(const struct ft_labels *subset, struct ft_labels *trained,
                        struct ft_labels *held);

/* ---- learners (label_fit.c) */

enum probe_learner { PROBE_PRETRAINED, PROBE_UNTRAINED, PROBE_NEIGHBOURS, PROBE_LEARNERS };
extern const char *const probe_learner_name[PROBE_LEARNERS];
/* false for the untrained model with options->no_untrained, true else */
bool probe_learner_runs(const struct probe_options *options, int learner);
/* The number of learners that run. */
int probe_learners_running(const struct probe_options *options);

enum { PROBE_RATES = 3 };
struct probe_learners {
    struct probe_arena *arena;
    const struct probe *probe;
    const struct probe_options *options;
    /* settings of all learners; lr is the middle of the tried rates */
    struct orr_train_settings train;
    double rate[PROBE_RATES];
    long rate_steps;            /* steps used to choose the rate */
    long steps[PROBE_LEARNERS]; /* completed steps */
    double seconds[PROBE_LEARNERS];
};
/* Settings of a fine-tuning with fewer steps and another batch size: a copy of `of` with the
 * warm-up shortened in proportion and no patience. */
void probe_shorter(const struct orr_train_settings *of, long steps, int batch,
                   struct orr_train_settings *train);
/* Settings of finetune.magnitude with fewer steps, a smaller batch and no patience. */
void probe_learners_init(struct probe_learners *learners, struct probe_arena *arena,
                         const struct probe *probe, const struct probe_options *options);
/* Learns from the labels and predicts ln F (rows) of the held-out rows. Nonpositive predictions
 * count as the smallest label. */
int probe_learner_predict(struct probe_learners *learners, enum probe_learner learner,
                          const struct ft_labels *labels, double lr, long steps,
                          const struct probe_held_out *held_out, double *log_f);
/* The training step of probe_learner_predict(), for a learner that is a model. The caller calls
 * gpt_free() on *model unless it failed. */
int probe_learner_train(struct probe_learners *learners, enum probe_learner learner,
                        const struct ft_labels *labels, double lr, long steps,
                        struct gpt_model *model, struct ft_transform *transform);
int probe_learner_forces(const struct probe_learners *learners, struct gpt_model *model,
                         const struct ft_transform *transform, const struct ft_labels *labels,
                         const struct probe_held_out *held_out, double *log_f);
/* Takes the logarithm of forces (rows) in place; nonpositive ones count as the smallest label. */
int probe_learner_logarithms(struct probe_arena *arena, const struct ft_labels *labels, size_t rows,
                             double *F);
/* Chooses the rate with the best R^2 on the inner split of the labels. */
int probe_learner_rate(struct probe_learners *learners, enum probe_learner learner,
                       const struct ft_labels *labels, double *lr);

/* The part of the key that describes the budget: steps, draws and sizes n. */
void probe_learners_key(const struct probe_learners *learners, int draws, const int *n, int sizes,
                        char text[PROBE_KEY]);
/* Adds steps, batch, rates and the share of the inner split to a JSON object. */
void probe_learners_budget(const struct probe_learners *learners, struct cJSON *json);

/* sizes of a curve, at most */
enum { PROBE_SIZES = 16 };

/* ---- a study (label_study.c) */

/* Common state of the probes that learn from labels. */
struct probe_label_study {
    struct probe_session s;
    struct probe_label_sets forces;
    struct probe_held_out held_out;
    struct probe_learners learners;
    int n[PROBE_SIZES], sizes, draws; /* numbers of labelled sequences, ascending */
};
/* Opens model and sequences, and draws the held-out rows. The caller closes study->forces, after
 * errors too; probe_session_run() closes what `s` holds. */
int probe_label_study_open(struct probe_label_study *study);
/* After probe_label_study_open(): reads --sizes, with `most` sequences available, and sets the
 * key's options. */
int probe_label_study_sizes(struct probe_label_study *study, const int *standard, int standards,
                            size_t most);
/* Like probe_label_study_sizes() with one size by default: 3000, or all where there are fewer. */
int probe_label_study_size(struct probe_label_study *study, size_t most);
/* Forces of such a file of a folder of answers: F (sizes, draws, held-out rows). ORR_EFORMAT,
 * naming the line, where it has not exactly the rows that were asked, their true forces and finite
 * predictions (label_answers.c). */
#define PROBE_LABEL_ANSWERS "forces_labels.csv"
int probe_label_answers_read(struct probe_label_study *study, const struct probe_answers *answers,
                             const char *file, double *F);
/* Sizes of label curves that are measured by default. */
enum { PROBE_LABEL_SIZES = 4 };
extern const int probe_label_sizes[PROBE_LABEL_SIZES];
/* Makes the object "about" of the results: budget, draws and held-out sequences. */
struct cJSON *probe_label_study_about(struct probe_label_study *study);

/* ---- curves (label_curve.c) */

/* Replaces y by the nearest nondecreasing curve (least squares). */
void probe_monotone(size_t n, double *y);
/* A number known to lie in [low, high]; low = high where it is known exactly. */
struct probe_range {
    double low, high;
};
/* The number of labels at which a monotone curve y over sizes n (ascending) reaches a level,
 * interpolated in ln n. Reached already at the first size: [0, n_0]; never reached: [n_last,
 * infinity]. */
struct probe_range probe_labels_needed(size_t count, const int *n, const double *y, double level);
/* The ratio of two such numbers. */
struct probe_range probe_ratio(struct probe_range a, struct probe_range b);
/* The value to report and its mark: "" exact, " >=" or " <=" one known bound, " ?" with NaN where
 * nothing is known. */
const char *probe_range_mark(struct probe_range range, double *value);
/* Parses --sizes: integers, ascending, from 5 to `most`. NULL text: those of `standard` that
 * fit. */
int probe_sizes_read(const char *text, const int *standard, int standards, size_t most, int *sizes,
                     int *count);

#endif
