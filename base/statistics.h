/* statistics.h - medians, means over repetitions with intervals. */
#ifndef ORR_STATISTICS_H
#define ORR_STATISTICS_H

#include <stddef.h>

/* Median of x (n), which is sorted; of an even number the mean of the two in the middle, NaN of
 * none. */
double orr_median(double *x, size_t n);

/* Mean over repetitions, its standard error, and half of its 95% interval of Student's t. */
struct orr_mean {
    double mean, half; /* NaN of no number; half and error: NaN of fewer than two */
    double error;
    int n; /* numbers that it is of */
};
/* Of those of x (n) that are finite. */
struct orr_mean orr_mean_of(const double x[], int n);
/* How many numbers it takes until the 95% interval of their mean leaves out 0 with a probability of
 * 80%, if they spread as these do and the true mean is `effect`; 0: more than 1,000. By Student's t
 * in place of its noncentral distribution, which is a number too few at most. */
int orr_mean_power(struct orr_mean mean, double effect);
/* The 95% percentile interval of the mean's bootstrap (Efron and Tibshirani 1993, chapter 13), of
 * those of x (n) that are finite: over all n^n resamples of up to 6 numbers, else over 10,000, the
 * same ones in each call. Of few numbers it is too narrow (of 3, about 0.75 instead of 0.95): state
 * it beside Student's interval, not in its place. NaN of fewer than two numbers, and without
 * memory. */
void orr_bootstrap_mean(const double x[], int n, double interval[2]);

#endif
