/* test_mean.c - means of a few repetitions: Student's and the bootstrap's intervals against figures
 * worked out by hand. */
#include "base/scratch.h"

#include <math.h>

static void near(double x, double expected, double tolerance)
{
    if (!(fabs(x - expected) <= tolerance))
        fail_msg("expected %.17g within %g, found %.17g", expected, tolerance, x);
}

TEST(means_and_their_intervals)
{
    const double x[] = {1, NAN, 2, 6, INFINITY};
    const struct orr_mean mean = orr_mean_of(x, 5);
    assert_int_equal(mean.n, 3);
    near(mean.mean, 3, 1e-15);
    /* deviations -2, -1, 3: variance 7, of the mean 7/3; t of two degrees of freedom 4.30265 */
    near(mean.error, 1.527525231651947, 1e-12);
    near(mean.half, 4.302652729749464 * 1.527525231651947, 1e-9);
    const struct orr_mean one = orr_mean_of(x, 2), none = orr_mean_of(x, 0);
    near(one.mean, 1, 0);
    assert_true(isnan(one.half) && isnan(one.error) && isnan(none.mean));
}

/* Exact sizes of samples by the noncentral t distribution (Cohen 1988; 0.05 two-sided, power 0.80):
 * 10 for an effect of one deviation, 34 of half a one, 199 of a fifth. */
TEST(numbers_that_show_an_effect)
{
    const double x[] = {-1, 1, -1, 1, -1, 1, -1, 1};
    const struct orr_mean mean = orr_mean_of(x, 8);
    const double deviation = sqrt(8 / 7.0);
    assert_int_equal(orr_mean_power(mean, deviation), 10);
    assert_int_equal(orr_mean_power(mean, -deviation), 10);
    assert_int_equal(orr_mean_power(mean, deviation / 2), 34);
    assert_int_equal(orr_mean_power(mean, deviation / 5), 199);
    assert_int_equal(orr_mean_power(mean, deviation / 20), 0);
    assert_int_equal(orr_mean_power(orr_mean_of(x, 1), 1), 0);
}

TEST(every_resample_of_few_numbers)
{
    double interval[2];
    /* Resamples of {0, 1}: means 0, 1/2, 1/2, 1; quantile q of four lies at place 3 q. */
    orr_bootstrap_mean((double[]){0, 1}, 2, interval);
    near(interval[0], 0.0375, 1e-12);
    near(interval[1], 0.9625, 1e-12);
    /* Of {0, 0, 3}: sums 0, 3, 6, 9 of binomial(3, 1/3): 8, 12, 6, 1 of 27 resamples. Place 26 q:
     * 0.65 is among the zeros, 25.35 between 6/3 and 9/3. */
    orr_bootstrap_mean((double[]){0, NAN, 0, 3}, 4, interval);
    near(interval[0], 0, 0);
    near(interval[1], 2.35, 1e-12);
    orr_bootstrap_mean((double[]){7, NAN}, 2, interval);
    assert_true(isnan(interval[0]) && isnan(interval[1]));
}

TEST(resamples_of_many_numbers)
{
    double x[200], interval[2], again[2];
    for (int i = 0; i < 200; i++)
        x[i] = i % 2;
    orr_bootstrap_mean(x, 200, interval);
    orr_bootstrap_mean(x, 200, again);
    /* The mean of a resample has a deviation of 1 / (2 sqrt(200)). */
    near(interval[0], 0.5 - 1.96 * 0.0353553, 0.006);
    near(interval[1], 0.5 + 1.96 * 0.0353553, 0.006);
    assert_memory_equal(interval, again, sizeof again);
}

/* Every place of short and long lists, with equal numbers, in order and not. */
TEST(the_kth_number)
{
    enum { MOST = 60 };
    double x[MOST], sorted[MOST];
    for (size_t n = 1; n <= MOST; n++)
        for (size_t k = 0; k < n; k++) {
            for (size_t i = 0; i < n; i++) {
                x[i] = n % 3 == 0   ? (double)i
                       : n % 3 == 1 ? (double)(i * 7 % 5)
                                    : (double)(i * 37 % 61);
                sorted[i] = x[i];
            }
            qsort(sorted, n, sizeof *sorted, orr_compare_doubles);
            orr_select(x, n, k);
            assert_true(x[k] == sorted[k]);
            for (size_t i = 0; i < n; i++)
                assert_true(i < k ? x[i] <= x[k] : x[i] >= x[k]);
        }
}

TESTS(NULL, NULL)
