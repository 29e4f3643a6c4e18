/* labels.h - inside probe/: fine-tuning to force magnitudes with few labels. The labelled
 * sequences, which of them are drawn, the learners, what is held out, and how many labels a curve
 * says are needed. Used by labels.c, extrapolate.c and adaptation.c. */
#ifndef PROBE_LABELS_H
#define PROBE_LABELS_H

#include "finetune/ft.h"
#include "probe/core/session.h"

/* ---- data (label_data.c) */

/* The labelled sequences of a preset: two_body_train is learned from, two_body_test scored on. Of
 * the run's files where they fit, else made from the seed, which gives the same sequences. */
struct probe_label_sets {
    struct sim_dataset train, test;
    bool made[2];            /* in memory of our own */
    struct ft_labels labels; /* of train, within the bounds of the settings */
};
int probe_label_sets_open(struct probe_arena *arena, struct probe_label_sets *forces,
                          const struct probe_options *options);
void probe_label_sets_close(struct probe_label_sets *forces);
/* ORR_EINVAL, saying why, where a checkpoint cannot learn from labels: of tokens, of another stage
 * or length; where the settings have no labels; ORR_EUSAGE where attention is changed. */
int probe_label_sets_check(const struct probe *probe, const struct probe_options *options);

/* Rows that predictions are compared at: `per` labelled rows of each sequence (all where it has
 * fewer), drawn from (seed, ORR_STAGE_SAMPLE). */
struct probe_held_out {
    const struct sim_dataset *set;
    size_t sequences, rows;
    size_t *sequence; /* (sequences) of the set */
    size_t *of;       /* (rows) index into sequence */
    size_t *at;       /* (rows) sequence * positions + row */
    double *y;        /* (rows) ln F */
};
/* Of sequences sequence[0 .. count - 1], NULL: the first ones. */
int probe_held_out_draw(struct probe_arena *arena, struct probe_held_out *held_out,
                        const struct sim_dataset *set, const struct ft_bounds *bounds,
                        const size_t *sequence, size_t count, int per, uint64_t seed);
/* Sums of squares left by predictions ln F (rows), by sequence: residual (sequences). Only rows
 * where keep is NULL or true. */
void probe_residuals(const struct probe_held_out *held_out, const bool *keep, const double *log_f,
                     double *residual);
/* R^2 of residuals; each sequence counts weight[s] times, NULL = once. NaN without any spread. */
double probe_held_out_r2(const struct probe_held_out *held_out, const bool *keep,
                         const double *residual, const double *weight);
/* How often each of n is picked in resample number k of a bootstrap: weight (n). */
void probe_resample(gsl_rng *rng, uint64_t seed, uint64_t k, size_t n, double *weight);
/* 0.025 and 0.975 quantiles of those x (n) that are numbers, NaN without any; x is not kept.
 * Infinities count as such. */
void probe_interval(double *x, size_t n, double *low, double *high);

/* ---- draws (label_fit.c) */

/* order (labels->count) = the sequences in an order that (seed) alone decides. */
int probe_labels_order(const struct ft_labels *labels, uint64_t seed, size_t *order);
/* Draw number d of n of them: order[d n], ... in a circle, so that draws share no sequence while
 * there are enough. subset->sequence has room for n. */
void probe_labels_draw(const struct ft_labels *labels, const size_t *order, int draw, size_t n,
                       struct ft_labels *subset);
/* one() of `draws` such draws, in order; stops at an error. ORR_ENOMEM. */
int probe_labels_each(struct probe_arena *arena, const struct ft_labels *labels, uint64_t seed,
                      int draws, size_t n,
                      int (*one)(void *of, int draw, const struct ft_labels *subset), void *of);
/* The inner split: the last fifth, at least 1, judges learning rates, the rest is trained on. Views
 * into the subset, not to be freed. */
void probe_labels_split(const struct ft_labels *subset, struct ft_labels *trained,
                        struct ft_labels *held);

/* ---- learners (label_fit.c) */

enum probe_learner { PROBE_PRETRAINED, PROBE_UNTRAINED, PROBE_NEIGHBOURS, PROBE_LEARNERS };
extern const char *const probe_learner_name[PROBE_LEARNERS];

enum { PROBE_RATES = 3 };
struct probe_learners {
    struct probe_arena *arena;
    const struct probe *probe;
    const struct probe_options *options;
    struct orr_train_settings train; /* of every learner; its lr is the middle of the rates */
    double rate[PROBE_RATES];
    long rate_steps;            /* steps by which rates are chosen */
    long steps[PROBE_LEARNERS]; /* done */
    double seconds[PROBE_LEARNERS];
};
/* Settings of a fine-tuning of so many steps and sequences per step: those of another one, its
 * warm-up shortened in proportion, without patience. */
void probe_shorter(const struct orr_train_settings *of, long steps, int batch,
                   struct orr_train_settings *train);
/* Settings of finetune.magnitude with fewer steps, a smaller batch and no patience. */
void probe_learners_init(struct probe_learners *learners, struct probe_arena *arena,
                         const struct probe *probe, const struct probe_options *options);
/* Learns from the labels and predicts ln F (rows) of the held-out rows. A prediction that is not
 * positive counts as the least label. */
int probe_learner_predict(struct probe_learners *learners, enum probe_learner learner,
                          const struct ft_labels *labels, double lr, long steps,
                          const struct probe_held_out *held_out, double *log_f);
/* The same in two steps, of a learner that is a model: learns from the labels; the caller calls
 * gpt_free() of *model unless it failed. */
int probe_learner_train(struct probe_learners *learners, enum probe_learner learner,
                        const struct ft_labels *labels, double lr, long steps,
                        struct gpt_model *model, struct ft_transform *transform);
int probe_learner_forces(const struct probe_learners *learners, struct gpt_model *model,
                         const struct ft_transform *transform, const struct ft_labels *labels,
                         const struct probe_held_out *held_out, double *log_f);
/* The rate of the best R^2 on the inner split of the labels; nothing else is looked at. */
int probe_learner_rate(struct probe_learners *learners, enum probe_learner learner,
                       const struct ft_labels *labels, double *lr);

/* What results depend on besides checkpoint and settings: steps, draws and sizes n. */
void probe_learners_key(const struct probe_learners *learners, int draws, const int *n, int sizes,
                        char text[PROBE_KEY]);
/* Adds steps, batch, rates and the share of the inner split to a JSON object. */
void probe_learners_budget(const struct probe_learners *learners, struct cJSON *json);

/* Sizes of a curve at most. */
enum { PROBE_SIZES = 16 };

/* ---- a study (label_study.c) */

/* What the probes of labels have in common. */
struct probe_label_study {
    struct probe_session s;
    struct probe_label_sets forces;
    struct probe_held_out held_out;
    struct probe_learners learners;
    int n[PROBE_SIZES], sizes, draws; /* numbers of labelled sequences, ascending */
};
/* Opens model and sequences, and draws the held-out rows. Close study->forces also after an error;
 * what `s` holds is closed by probe_session_run(). */
int probe_label_study_open(struct probe_label_study *study);
/* After it, the numbers of --sizes, of which `most` sequences are there, and the key's options. */
int probe_label_study_sizes(struct probe_label_study *study, const int *standard, int standards,
                            size_t most);
/* The same with one number by default: 3000, or all where there are fewer. */
int probe_label_study_size(struct probe_label_study *study, size_t most);
/* "about" of the results: the budget, draws and held-out sequences. */
struct cJSON *probe_label_study_about(struct probe_label_study *study);

/* ---- curves (label_curve.c) */

/* Makes y the nearest curve (least squares) that never falls. */
void probe_monotone(size_t n, double *y);
/* A number that is known to lie in [low, high]; low = high where it is known. */
struct probe_range {
    double low, high;
};
/* Labels at which a monotone curve y over sizes n (ascending) reaches a level, by interpolation in
 * ln n. Reached at the first size already: [0, n_0]; never: [n_last, infinity]. */
struct probe_range probe_labels_needed(size_t count, const int *n, const double *y, double level);
/* Ratio of two such numbers. */
struct probe_range probe_ratio(struct probe_range a, struct probe_range b);
/* The value to report and its mark: "" known, " >=", " <=" the end that is known, " ?" with NaN
 * where nothing is. */
const char *probe_range_mark(struct probe_range range, double *value);
/* --sizes: whole numbers, ascending, from 5 to `most`. NULL text: those of `standard` that fit. */
int probe_sizes_read(const char *text, const int *standard, int standards, size_t most, int *sizes,
                     int *count);

#endif
