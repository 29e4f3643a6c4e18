/* bootstrap.h - 95% intervals by resampling whole held-out sequences, or whole tracks, of which
 * sequences are pieces (Efron and Tibshirani, An
 * Introduction to the Bootstrap, chapter 13). */
#ifndef PROBE_BOOTSTRAP_H
#define PROBE_BOOTSTRAP_H

#include "arena.h"
#include "probe/results.h"

enum { PROBE_RESAMPLES = 200 };

/* Resamples shared by all values of a probe, so that they can be compared. */
struct probe_resamples {
    int n, tracks; /* sequences; what is drawn: sequences, or tracks */
    /* (1 + PROBE_RESAMPLES, n) how often each sequence is drawn; in row 0 each is drawn once */
    unsigned short *times;
};
/* Draws the resamples from (seed, ORR_STAGE_BOOTSTRAP). ORR_ENOMEM. */
int probe_resamples_create(struct probe_arena *arena, struct probe_resamples *resamples,
                           uint64_t seed, int n);
/* Draws tracks with all of their sequences: track (n) has the number of each one's track,
 * ascending. Where every sequence is another track, these are the resamples of
 * probe_resamples_create(). */
int probe_resamples_of_tracks(struct probe_arena *arena, struct probe_resamples *resamples,
                              uint64_t seed, int n, const int track[]);

struct probe_estimate {
    double value, low, high; /* NaN where the statistic is not a number */
};
/* value: the statistic with every sequence counted once. low, high: its quantiles 0.025 and 0.975
 * over the resamples in which it is a number; NaN for a single sequence, or track. statistic:
 * computed from n sequences, sequence i counted times[i] times. */
struct probe_estimate probe_bootstrap(const struct probe_resamples *resamples,
                                      double (*statistic)(const void *of, int n,
                                                          const unsigned short times[]),
                                      const void *of);

/* An estimate without an interval. */
struct probe_estimate probe_exactly(double value);

/* Makes a row for the model as a whole and all positions, with no number but `value`, whose texts
 * the results own: add it to their table with orr_table_add(), which reports a lack of memory. */
struct orr_row probe_row_of(struct probe_results *results, struct probe_estimate value,
                            const char *measure, const char *quantity, ...)
    __attribute__((format(printf, 4, 5)));

/* The sums of one sequence from which R^2 is computed: squared errors, squared targets, and the sum
 * of each of the one or two target components. */
struct probe_score {
    double rows, error, square, sum[3];
};
/* R^2 = 1 - errors / variance, with the components of a vector pooled; of: struct probe_score
 * (n). */
double probe_r2(const void *of, int n, const unsigned short times[]);
/* Weighted mean of double (n); NaN values are skipped. */
double probe_mean_of(const void *of, int n, const unsigned short times[]);
/* Weighted median; of: struct probe_ranked, which is sorted once for all resamples. */
struct probe_ranked {
    const double *x;    /* (n) */
    const size_t *rank; /* (n): x[rank[0]] is the smallest */
};
double probe_median_of(const void *of, int n, const unsigned short times[]);
/* Fills rank (n); replaces NaN in x by infinity. */
void probe_rank(double *x, int n, size_t *rank);

#endif
