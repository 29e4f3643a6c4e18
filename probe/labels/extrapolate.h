/* extrapolate.h - inside probe/: forces outside the range of the labels. One experiment omits
 * labels in the outer quarters of r, the other in those of m1 m2. Every source is evaluated outside
 * and inside the range. */
#ifndef PROBE_EXTRAPOLATE_H
#define PROBE_EXTRAPOLATE_H

#include "labels.h"

/* Sources of predictions: the learners, a power law of r fitted to the labels, and the truth. */
enum { PROBE_POWER = PROBE_LEARNERS, PROBE_TRUTH, PROBE_SOURCES };

enum { PROBE_EXPERIMENTS = 2 };
/* Files of the exchange (docs/exchange.md), with the tag of an experiment: labelled sequences,
 * labels, answers. */
#define PROBE_EXTRAPOLATE_LABELS  "labels_extrapolate_%s.csv"
#define PROBE_EXTRAPOLATE_FORCES  "forces_train_%s.npy"
#define PROBE_EXTRAPOLATE_ANSWERS "forces_extrapolate_%s.csv"
struct probe_experiment {
    const char *name, *tag;  /* "r" or "m1 m2"; name in file names */
    struct ft_bounds bounds; /* bounds of the labels used for learning */
    struct ft_labels labels;
    bool *outside, *inside; /* (rows) masks of the held-out rows */
};
/* Sets bounds at the quartiles of r (number 0) or m1 m2 (number 1) over the labels. The caller
 * frees its labels, after errors too. */
int probe_experiment_open(struct probe_arena *arena, struct probe_experiment *experiment,
                          int number, const struct probe_label_sets *forces,
                          const struct probe_held_out *held_out);

/* Opens all experiments of a study, and chooses its sizes: those of the options, or the largest one
 * that every experiment has labels for. */
int probe_experiments_open(struct probe_label_study *study,
                           struct probe_experiment experiment[PROBE_EXPERIMENTS]);
void probe_experiments_close(struct probe_experiment experiment[PROBE_EXPERIMENTS]);

/* Fits ln F = a + b ln r to the labels by least squares, and predicts the held-out rows: log_f
 * (rows). */
int probe_power_law(struct probe_arena *arena, const struct ft_labels *labels,
                    const struct probe_held_out *held_out, double *log_f);
/* Exponents of r, m1, m2: least squares of log_f on 1, ln r, ln m1, ln m2 over the rows with keep
 * true; sequences count weight[s] times, NULL: once. NaN where they are not determined. */
void probe_exponents(const struct probe_held_out *held_out, const bool *keep, const double *log_f,
                     const double *weight, double exponent[3]);
/* Mean of a statistic over draws; draw d counts times[d] times and held-out sequence s weight[s]
 * times (NULL: once). */
double probe_over_draws(int draws,
                        double (*statistic)(const void *of, int draw, const double *weight),
                        const void *of, const double *weight, const double *times);
/* Sets row->low and row->high, the 95% interval from 200 resamples of held-out sequences and draws;
 * all statistics use equal resamples. ORR_ENOMEM. */
int probe_draws_interval(struct probe_arena *arena, uint64_t seed, size_t sequences, int draws,
                         double (*statistic)(const void *of, int draw, const double *weight),
                         const void *of, struct orr_row *row);
/* Writes the rows with keep true of every draw in the format of forces_magnitude.csv; log_f:
 * (draws) arrays of (rows). The column sample is the draw. */
int probe_write_forces(const char *path, const struct probe_held_out *held_out, const bool *keep,
                       int draws, double *const *log_f);

#endif
