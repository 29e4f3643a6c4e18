/* ks.h - one-sample tests of Kolmogorov and Smirnov at fixed seeds: sqrt(n) D must stay below 1.95,
 * which a right sampler exceeds with probability 1e-3 (Kolmogorov's limit law). */
#ifndef TESTS_KS_H
#define TESTS_KS_H

#include <math.h>
#include <stdlib.h>

#define KS_CRITICAL 1.95

static inline int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef double cdf_function(double x, const void *parameters);

/* sqrt(n) D; handles jumps of the cdf: at ties only the ends of the run are compared, with the
 * cdf just below (cdf of the next smaller double) and at the value. */
static inline double ks_statistic(size_t n, double x[], cdf_function *cdf, const void *parameters)
{
    double worst = 0;
    qsort(x, n, sizeof *x, ascending);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && x[end] == x[i];)
            end++;
        const double below = cdf(nextafter(x[i], -INFINITY), parameters);
        worst = fmax(worst, fabs(below - (double)i / (double)n));
        worst = fmax(worst, fabs(cdf(x[i], parameters) - (double)end / (double)n));
    }
    return worst * sqrt((double)n);
}

static inline void check_ks(const char *what, size_t n, double x[], cdf_function *cdf,
                            const void *parameters)
{
    const double statistic = ks_statistic(n, x, cdf, parameters);
    if (!(statistic < KS_CRITICAL))
        fail_msg("%s: sqrt(n) D = %g with n = %zu", what, statistic, n);
}

#endif
