/* mean.c - the mean of a few repetitions with its interval. */
#include "base.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

struct orr_mean orr_mean_of(const double x[], int n)
{
    double sum = 0, square = 0;
    int count = 0;
    for (int i = 0; i < n; i++)
        if (isfinite(x[i])) {
            sum += x[i];
            count++;
        }
    struct orr_mean result = {count ? sum / count : (double)NAN, NAN, count};
    for (int i = 0; i < n; i++)
        if (isfinite(x[i]))
            square += (x[i] - result.mean) * (x[i] - result.mean);
    if (count > 1)
        result.half = gsl_cdf_tdist_Pinv(0.975, count - 1) * sqrt(square / (count - 1) / count);
    return result;
}
