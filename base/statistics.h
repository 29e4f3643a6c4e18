/* statistics.h - medians, means over repetitions with intervals. */
#ifndef ORR_STATISTICS_H
#define ORR_STATISTICS_H

#include <stddef.h>

/* Orders doubles ascending, for qsort(). */
int orr_compare_doubles(const void *a, const void *b);
/* Median of x (n), which is sorted in place. For even n the mean of the two middle numbers; NaN for
 * n = 0. */
double orr_median(double *x, size_t n);
/* Rearranges x: no number before x[k] is larger, none behind it is smaller. k < n; no NaN. The time
 * is proportional to n. */
void orr_select(double *x, size_t n, size_t k);

/* Mean over repetitions, its standard error, and half of its 95% Student's t interval. */
struct orr_mean {
    double mean, half; /* mean: NaN of no number; half, error: NaN of fewer than two */
    double error;
    int n; /* how many numbers the mean is of */
};
/* The mean of the finite numbers of x (n). */
struct orr_mean orr_mean_of(const double x[], int n);
/* How many numbers are needed for the 95% interval of their mean to exclude 0 with a power of 80%,
 * if the true mean is `effect` and the spread is as measured; 0: more than 1,000. Uses Student's t
 * in place of its noncentral distribution, which gives at most one number too few. */
int orr_mean_power(struct orr_mean mean, double effect);
/* The 95% percentile interval of the bootstrap of the mean (Efron and Tibshirani 1993, chapter 13),
 * over the finite numbers of x (n). Uses all n^n resamples of up to 6 numbers, else 10,000
 * resamples, which are equal in each call. For few numbers the interval is too narrow (for 3,
 * coverage is about 0.75 instead of 0.95): state it beside Student's interval, not in its place.
 * NaN for fewer than two numbers or without memory. */
void orr_bootstrap_mean(const double x[], int n, double interval[2]);

#endif
