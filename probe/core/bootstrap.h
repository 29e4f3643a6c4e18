/* bootstrap.h - how far the held-out sequences decide a figure: 95% intervals by resampling whole
 * sequences (Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13). */
#ifndef PROBE_BOOTSTRAP_H
#define PROBE_BOOTSTRAP_H

#include "arena.h"
#include "probe/results.h"

enum { PROBE_RESAMPLES = 200 };

/* The same resamples for every figure of a probe, so that figures can be compared. */
struct probe_resamples {
    int n;                 /* sequences */
    unsigned short *times; /* (1 + PROBE_RESAMPLES, n): how often each is drawn; first once each */
};
/* Drawn from (seed, ORR_STAGE_BOOTSTRAP). ORR_ENOMEM. */
int probe_resamples_create(struct probe_arena *arena, struct probe_resamples *resamples,
                           uint64_t seed, int n);

struct probe_estimate {
    double value, low, high; /* NaN where the statistic is not a number */
};
/* value: the statistic of every sequence once; low, high: its quantiles 0.025 and 0.975 over the
 * resamples in which it is a number, NaN of a single sequence. statistic: of n sequences, each so
 * many times. */
struct probe_estimate probe_bootstrap(const struct probe_resamples *resamples,
                                      double (*statistic)(const void *of, int n,
                                                          const unsigned short times[]),
                                      const void *of);

/* A number without an interval. */
struct probe_estimate probe_exactly(double value);

/* A row of results: the model as a whole, all positions, no other number than `value`. */
struct probe_row probe_row_of(struct probe_estimate value, const char *measure,
                              const char *quantity, ...) __attribute__((format(printf, 3, 4)));

/* What R^2 is made of in one sequence: sum of squared errors, and of the targets, of which a
 * quantity has one or two, sums and squares. */
struct probe_score {
    double rows, error, square, sum[2];
};
/* 1 - errors / variance, the components of a vector pooled; of: struct probe_score (n). */
double probe_r2(const void *of, int n, const unsigned short times[]);
/* Weighted mean of double (n), of which those that are no numbers are left out. */
double probe_mean_of(const void *of, int n, const unsigned short times[]);
/* The same of the median; of: struct probe_ranked, which is sorted once for all resamples. */
struct probe_ranked {
    const double *x;    /* (n) */
    const size_t *rank; /* (n): x[rank[0]] is the smallest */
};
double probe_median_of(const void *of, int n, const unsigned short times[]);
/* Fills rank (n); what is no number in x becomes infinite. */
void probe_rank(double *x, int n, size_t *rank);

#endif
