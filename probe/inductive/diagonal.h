/* diagonal.h - inside probe/: compares distances between predictions with distances between an
 * oracle's values. Pairs of points are binned by the oracle's distance; a predictor that
 * generalises as the oracle does lies on the diagonal. The measure is the distance from the
 * diagonal. */
#ifndef PROBE_DIAGONAL_H
#define PROBE_DIAGONAL_H

#include "probe/core/bootstrap.h"

#include <stdbool.h>
#include <stddef.h>

enum { PROBE_BINS = 20 };

/* All pairs of points, in bins of equal width between the smallest and the largest distance. */
struct probe_bins {
    size_t points, pairs;
    double low, high;
    unsigned char *bin;          /* (pairs) PROBE_BINS: in no bin */
    long count[PROBE_BINS];      /* pairs */
    double diagonal[PROBE_BINS]; /* mean oracle distance of each bin; NaN for empty bins */
};
/* Bins the pairs. oracle (sets) of (points): the distance of a pair is the absolute difference of
 * its values in a data set, averaged over the data sets. A pair on an edge belongs to the bin above
 * it, on the last edge to the last bin. open: pairs on edges belong to no bin, as in the published
 * code. ORR_ENOMEM. */
int probe_bins_make(struct probe_arena *arena, struct probe_bins *bins, size_t points, int sets,
                    const double *const oracle[], bool open);
/* Mean |value_i - value_j| over the pairs of each bin; NaN for empty bins. value (points). */
void probe_bins_mean(const struct probe_bins *bins, const double *value, double mean[PROBE_BINS]);

/* Bin means (sets, PROBE_BINS) of a predictor and of the oracle in each data set. */
struct probe_departure {
    const double *predicted, *oracle;
};
/* Mean over bins of |mean over data sets of predicted - oracle|, data set d counted times[d] times.
 * A statistic for probe_bootstrap() over data sets. Empty bins are skipped. */
double probe_departure_of(const void *of, int sets, const unsigned short times[]);
/* Mean over bins of |predicted - diagonal| for one data set. */
double probe_to_diagonal(const double predicted[PROBE_BINS], const double diagonal[PROBE_BINS]);

#endif
