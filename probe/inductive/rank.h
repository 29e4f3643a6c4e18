/* rank.h - Spearman's rank correlation of distances between points (Spearman, The American Journal
 * of Psychology 15, 1904): of half a million pairs at a time, which is why ranks come from a radix
 * sort. */
#ifndef PROBE_RANK_H
#define PROBE_RANK_H

#include <stddef.h>
#include <stdint.h>

/* Pairs of n points, in the order (0, 1), (0, 2), ..., (n - 2, n - 1). */
size_t probe_pairs(size_t n);
/* Euclidean distances of all pairs of x (n, dims): distance (pairs). */
void probe_distances(size_t n, size_t dims, const double *x, float *distance);
/* Ranks 1 .. n of x (n), which is not negative; equal numbers share the mean of their ranks.
 * work: 2 n; n < 2^32. */
void probe_ranks(size_t n, const float *x, double *rank, uint64_t *work);
/* Pearson's correlation of a and b (n), which is Spearman's of numbers that are ranks. NaN where
 * one of them does not vary. */
double probe_correlation(size_t n, const double *a, const double *b);

#endif
