/* diagonal.h - inside probe/: how far apart a predictor holds two points, against how far apart an
 * oracle holds them: pairs of points in bins of the oracle's distance, and the distance of the bins
 * from the diagonal, on which a predictor lies that generalises as the oracle does. */
#ifndef PROBE_DIAGONAL_H
#define PROBE_DIAGONAL_H

#include "probe/core/bootstrap.h"

#include <stdbool.h>
#include <stddef.h>

enum { PROBE_BINS = 20 };

/* All pairs of points, in bins of equal width between the least and the largest distance. */
struct probe_bins {
    size_t points, pairs;
    double low, high;
    unsigned char *bin;          /* (pairs): PROBE_BINS = in none */
    long count[PROBE_BINS];      /* pairs */
    double diagonal[PROBE_BINS]; /* their mean distance; NaN where there are none */
};
/* oracle (sets) of (points): the distance of a pair is |difference| of its points in a data set,
 * averaged over all of them. A pair on an edge belongs to the bin above it, on the last edge to
 * the last bin; open: on any edge to none, as in the published code. ORR_ENOMEM. */
int probe_bins_make(struct probe_arena *arena, struct probe_bins *bins, size_t points, int sets,
                    const double *const oracle[], bool open);
/* Mean |value_i - value_j| over the pairs of each bin; NaN where there are none. value (points). */
void probe_bins_mean(const struct probe_bins *bins, const double *value, double mean[PROBE_BINS]);

/* Means of bins (sets, PROBE_BINS), of a predictor and of the oracle, in each data set. */
struct probe_departure {
    const double *predicted, *oracle;
};
/* Mean over bins of |mean over data sets of predicted - oracle|, data set d counted times[d]
 * times; a statistic for probe_bootstrap over data sets. Bins without pairs do not count. */
double probe_departure_of(const void *of, int sets, const unsigned short times[]);
/* The same of one data set's bins against a diagonal. */
double probe_to_diagonal(const double predicted[PROBE_BINS], const double diagonal[PROBE_BINS]);

#endif
