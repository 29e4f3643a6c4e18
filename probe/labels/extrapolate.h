/* extrapolate.h - inside probe/: forces where no label was. One experiment leaves out labels of the
 * outer quarters of r, the other one those of m1 m2; every source is judged outside and inside. */
#ifndef PROBE_EXTRAPOLATE_H
#define PROBE_EXTRAPOLATE_H

#include "labels.h"

/* The learners, a power law of r fitted to the labels, and the truth. */
enum { PROBE_POWER = PROBE_LEARNERS, PROBE_TRUTH, PROBE_SOURCES };

struct probe_experiment {
    const char *name, *tag;  /* "r", "m1 m2"; as in names of files */
    struct ft_bounds bounds; /* of the labels that are learned from */
    struct ft_labels labels;
    bool *outside, *inside; /* (rows) of the held-out rows */
};
/* Bounds at the quartiles of r (number 0) or of m1 m2 (number 1) over the labels. Free its labels
 * also after an error. */
int probe_experiment_open(struct probe_arena *arena, struct probe_experiment *experiment,
                          int number, const struct probe_label_sets *forces,
                          const struct probe_held_out *held_out);

/* ln F = a + b ln r by least squares over the labels, at the held-out rows: log_f (rows). */
int probe_power_law(struct probe_arena *arena, const struct ft_labels *labels,
                    const struct probe_held_out *held_out, double *log_f);
/* Exponents of r, m1, m2: least squares of log_f on 1, ln r, ln m1, ln m2 over the rows that are
 * kept; sequences count weight[s] times, NULL = once. NaN where they are not determined. */
void probe_exponents(const struct probe_held_out *held_out, const bool *keep, const double *log_f,
                     const double *weight, double exponent[3]);
/* Mean over draws of a statistic, of draw d, held-out sequences counting weight[s] times (NULL =
 * once), draws times[d] times (NULL = once). */
double probe_over_draws(int draws,
                        double (*statistic)(const void *of, int draw, const double *weight),
                        const void *of, const double *weight, const double *times);
/* row->low, row->high: its 95% interval, by 200 resamples of held-out sequences and draws, the same
 * for every statistic. ORR_ENOMEM. */
int probe_draws_interval(struct probe_arena *arena, uint64_t seed, size_t sequences, int draws,
                         double (*statistic)(const void *of, int draw, const double *weight),
                         const void *of, struct probe_row *row);
/* Rows that are kept, of every draw, in the format of forces_magnitude.csv; log_f (draws) arrays
 * (rows). The draw is the sample. */
int probe_write_forces(const char *path, const struct probe_held_out *held_out, const bool *keep,
                       int draws, double *const *log_f);

#endif
