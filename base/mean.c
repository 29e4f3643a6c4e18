/* mean.c - mean, standard error and confidence intervals of a few repetitions. */
#include "random.h"
#include "statistics.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

enum { ALL = 6, DRAWN = 10000 };

struct orr_mean orr_mean_of(const double x[], int n)
{
    double sum = 0, square = 0;
    int count = 0;
    for (int i = 0; i < n; i++)
        if (isfinite(x[i])) {
            sum += x[i];
            count++;
        }
    struct orr_mean result = {count ? sum / count : (double)NAN, NAN, NAN, count};
    for (int i = 0; i < n; i++)
        if (isfinite(x[i]))
            square += (x[i] - result.mean) * (x[i] - result.mean);
    if (count > 1) {
        result.error = sqrt(square / (count - 1) / count);
        result.half = gsl_cdf_tdist_Pinv(0.975, count - 1) * result.error;
    }
    return result;
}

int orr_mean_power(struct orr_mean mean, double effect)
{
    const double deviation = mean.error * sqrt(mean.n);
    for (int n = 2; n <= 1000 && deviation > 0; n++)
        if (fabs(effect) * sqrt(n) >=
            deviation * (gsl_cdf_tdist_Pinv(0.975, n - 1) + gsl_cdf_tdist_Pinv(0.8, n - 1)))
            return n;
    return 0;
}

/* Mean of resample k. For few numbers the digits of k in base n are the indices, for more a random
 * stream draws them. */
static double resampled_mean(const double x[], int n, int k)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (n <= ALL) {
            sum += x[k % n];
            k /= n;
        } else {
            const uint64_t drawn = orr_rng_hash(0, ORR_STAGE_BOOTSTRAP, (uint64_t)k, (uint64_t)i);
            sum += x[drawn % (uint64_t)n];
        }
    }
    return sum / n;
}

void orr_bootstrap_mean(const double x[], int n, double interval[2])
{
    double *finite = malloc((size_t)(n > 0 ? n : 1) * sizeof *finite), *mean = NULL;
    int count = 0, resamples = 1;
    interval[0] = interval[1] = NAN;
    for (int i = 0; i < n && finite; i++)
        if (isfinite(x[i]))
            finite[count++] = x[i];
    for (int i = 0; i < count && count <= ALL; i++)
        resamples *= count;
    resamples = count <= ALL ? resamples : DRAWN;
    if (count > 1)
        mean = malloc((size_t)resamples * sizeof *mean);
    for (int k = 0; k < resamples && mean; k++)
        mean[k] = resampled_mean(finite, count, k);
    if (mean) {
        gsl_sort(mean, 1, (size_t)resamples);
        interval[0] = gsl_stats_quantile_from_sorted_data(mean, 1, (size_t)resamples, 0.025);
        interval[1] = gsl_stats_quantile_from_sorted_data(mean, 1, (size_t)resamples, 0.975);
    }
    free(mean);
    free(finite);
}
