/* rank.h - Spearman's rank correlation of distances between points (Spearman, The American Journal
 * of Psychology 15, 1904). Ranks come from a radix sort, as there are half a million pairs at a
 * time. */
#ifndef PROBE_RANK_H
#define PROBE_RANK_H

#include <stddef.h>
#include <stdint.h>

/* Number of pairs of n points. Pairs are ordered (0, 1), (0, 2), ..., (n - 2, n - 1). */
size_t probe_pairs(size_t n);
/* Euclidean distances of all pairs of x (n, dims): distance (pairs). */
void probe_distances(size_t n, size_t dims, const double *x, float *distance);
/* Ranks 1 .. n of nonnegative x (n); equal numbers share their mean rank. work: 2 n; n < 2^32. */
void probe_ranks(size_t n, const float *x, double *rank, uint64_t *work);
/* Pearson's correlation of a and b (n); of ranks it is Spearman's. NaN where a or b does not
 * vary. */
double probe_correlation(size_t n, const double *a, const double *b);

#endif
