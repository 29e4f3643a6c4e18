/* quantile.c - quantiles of Student's t and the normal distribution, with the same bits on every
 * CPU (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.11 and 26.7). */
#include "fit.h"

#include <math.h>

static const double pi = 3.14159265358979323846;
enum { STEPS = 200, SERIES = 1000 /* degrees of freedom; more have an expansion */ };

/* The probability of |z| <= x of a normal z, and its derivative; a power series. */
static double normal_within(double x, double *slope)
{
    double term = x, sum = x;
    for (int k = 1; k < STEPS && term > 1e-17 * sum; k++) {
        term *= x * x / (2 * k + 1);
        sum += term;
    }
    *slope = sqrt(2 / pi) * orr_exp(-x * x / 2);
    return *slope * sum;
}

/* The probability of |t| <= x of Student's t with n degrees of freedom, and its derivative: 26.7.3
 * and 26.7.4, sums of powers of cos(theta) where tan(theta) = x / sqrt(n). */
static double student_within(double x, int n, double *slope)
{
    const double root = x / sqrt(n), cosine = 1 / sqrt(1 + root * root), sine = root * cosine;
    const bool odd = n % 2;
    /* factor: of the density by theta, cos(theta)^(n - 1); 2 / pi for n = 1, 1 for n = 2 */
    double factor = odd ? 2 / pi : 1, power = 1, term = odd ? cosine : 1, sum = 0;
    for (int k = odd ? 3 : 2; k <= n; k += 2) {
        sum += term;
        term *= cosine * cosine * (k - 1) / k;
    }
    for (int k = odd ? 3 : 4; k <= n; k += 2)
        factor *= (double)(k - 1) / (k - 2);
    for (int k = 0; k < n + 1; k++)
        power *= cosine;
    *slope = factor * power / sqrt(n);
    return odd ? 2 / pi * (sr_op_table[SR_ATAN].value(root, 0) + sine * sum) : sine * sum;
}

/* Both distributions fall away from 0, so that Newton's method rises to the quantile from 0. */
static double quantile(double level, int freedom)
{
    double x = 0, slope, step = 1;
    for (int k = 0; k < STEPS && step > 1e-15 * x; k++) {
        const double within =
            freedom ? student_within(x, freedom, &slope) : normal_within(x, &slope);
        step = (level - within) / slope;
        x += step;
    }
    return x;
}

double sr_interval_factor(double level, double freedom)
{
    if (!(freedom >= 1))
        return NAN;
    if (freedom <= SERIES)
        return quantile(level, (int)freedom);
    const double z = quantile(level, 0), zz = z * z, n = freedom;
    return z + z * (zz + 1) / (4 * n) + z * ((5 * zz + 16) * zz + 3) / (96 * n * n) +
           z * (((3 * zz + 19) * zz + 17) * zz - 15) / (384 * n * n * n); /* 26.7.5 */
}
