/* test_draw.c - draws against the distributions that they are named after, by GSL's; exp, log and
 * pow against long double. No CPU may change a bit of either.
 *
 * At fixed seeds: Kolmogorov-Smirnov as in ks.h, counts by chi-square at the 0.9999 quantile. */
#include "scratch.h"

#include "ks.h"
#include "under_valgrind.h"

#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <xxhash.h>

enum { N = 200000 };
static double x[N];

static gsl_rng *stream(uint64_t index)
{
    gsl_rng *rng = orr_rng_create(3, ORR_STAGE_TEST_SUITE, index);
    assert_non_null(rng);
    return rng;
}

/* ------------------------------------------------------------------------------- normal */

static double cdf_normal(double value, const void *none)
{
    (void)none;
    return gsl_cdf_ugaussian_P(value);
}

/* The whole, and the tail beyond the ziggurat's last strip, which has a sampler of its own: all of
 * 4 million draws there. */
TEST(test_normal)
{
    const double from = 3.442619855899, share = gsl_cdf_ugaussian_Q(from);
    gsl_rng *rng = stream(0);
    double tail[2] = {0}, beyond = 0, moment[5] = {0};
    const double draws = 4e6;
    for (int i = 0; i < N; i++)
        x[i] = orr_draw_normal(rng);
    check_ks("normal", N, x, cdf_normal, NULL);
    for (int i = 0; i < (int)draws; i++) {
        const double z = orr_draw_normal(rng);
        for (int k = 1; k < 5; k++)
            moment[k] += pow(z, k) / draws;
        if (fabs(z) > from) {
            tail[z > 0]++;
            beyond += gsl_cdf_ugaussian_Q(fabs(z)) / share; /* uniform */
        }
    }
    gsl_rng_free(rng);
    const double n = tail[0] + tail[1];
    for (int side = 0; side < 2; side++)
        assert_true(fabs(tail[side] - draws * share) < 4 * sqrt(draws * share));
    assert_true(fabs(beyond - n / 2) < 4 * sqrt(n / 12));
    assert_true(fabs(moment[1]) < 4 / sqrt(draws));
    assert_true(fabs(moment[2] - 1) < 4 * sqrt(2 / draws));
    assert_true(fabs(moment[3]) < 4 * sqrt(15 / draws));
    assert_true(fabs(moment[4] - 3) < 4 * sqrt(96 / draws));
}

/* Each strip of the ziggurat is met as often as the density says: chi-square of 1024 cells. */
TEST(test_normal_cells)
{
    enum { CELLS = 1024, DRAWS = 4000000 };
    static int count[CELLS];
    gsl_rng *rng = stream(1);
    double chi = 0;
    for (int i = 0; i < DRAWS; i++)
        count[(int)fmin(CELLS * gsl_cdf_ugaussian_P(orr_draw_normal(rng)), CELLS - 1)]++;
    gsl_rng_free(rng);
    for (int i = 0; i < CELLS; i++)
        chi += pow(count[i] - (double)DRAWS / CELLS, 2) / ((double)DRAWS / CELLS);
    if (!(chi < gsl_cdf_chisq_Pinv(0.9999, CELLS - 1)))
        fail_msg("chi-square %g of %d cells", chi, CELLS);
}

/* ----------------------------------------------------------------------- gamma and beta */

static double cdf_gamma(double value, const void *shape)
{
    return value > 0 ? gsl_cdf_gamma_P(value, *(const double *)shape, 1) : 0;
}

TEST(test_gamma)
{
    static const double shapes[] = {0.05, 0.3202016969, 0.867, 1, 1.3, 3.03, 47.1, 2.3e4};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        gsl_rng *rng = stream(10 + k);
        for (int i = 0; i < N; i++)
            x[i] = orr_draw_gamma(rng, shapes[k]);
        gsl_rng_free(rng);
        check_ks("gamma", N, x, cdf_gamma, &shapes[k]);
    }
}

static double cdf_beta(double value, const void *shapes)
{
    const double *s = shapes;
    return gsl_cdf_beta_P(fmin(fmax(value, 0), 1), s[0], s[1]);
}

TEST(test_beta)
{
    static const double shapes[][2] = {{0.867, 3.03}, {3.03, 0.867}, {0.3, 0.2}, {0.02, 0.03},
                                       {1, 1},        {20.5, 7},     {1e3, 2e3}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        gsl_rng *rng = stream(20 + k);
        for (int i = 0; i < N; i++)
            x[i] = orr_draw_beta(rng, shapes[k][0], shapes[k][1]);
        gsl_rng_free(rng);
        check_ks("beta", N, x, cdf_beta, shapes[k]);
    }
}

/* Shapes near 0 give 0 or 1, each as often as the mean says, and never 0 / 0. */
TEST(test_beta_of_nothing)
{
    gsl_rng *rng = stream(30);
    double sum = 0;
    for (int i = 0; i < N; i++) {
        const double value = orr_draw_beta(rng, 1e-6, 3e-6);
        assert_true(value >= 0 && value <= 1);
        sum += value;
    }
    gsl_rng_free(rng);
    assert_true(fabs(sum - 0.25 * N) < 4 * sqrt(N * 0.25 * 0.75));
}

/* ------------------------------------------------------------------------------ Poisson */

TEST(test_poisson)
{
    static const double means[] = {0.01, 1.6578, 9.9, 10.1, 33.3};
    enum { CELLS = 80 };
    for (size_t k = 0; k < sizeof means / sizeof *means; k++) {
        int count[CELLS] = {0}, cells = 0;
        double chi = 0, rest = N, rest_count = N;
        gsl_rng *rng = stream(40 + k);
        for (int i = 0; i < N; i++) {
            const unsigned drawn = orr_draw_poisson(rng, means[k]);
            count[drawn < CELLS ? drawn : CELLS - 1]++;
        }
        for (unsigned i = 0; i < CELLS; i++) {
            const double expected = N * gsl_ran_poisson_pdf(i, means[k]);
            if (expected < 10)
                continue;
            chi += pow(count[i] - expected, 2) / expected;
            rest -= expected;
            rest_count -= count[i];
            cells++;
        }
        chi += rest > 10 ? pow(rest_count - rest, 2) / rest : 0;
        if (!(chi < gsl_cdf_chisq_Pinv(0.9999, cells)))
            fail_msg("mean %g: chi-square %g of %d cells", means[k], chi, cells);
        assert_int_equal(orr_draw_poisson(rng, 0), 0);
        gsl_rng_free(rng);
    }
}

/* --------------------------------------------------------------------- exp, log and pow */

/* Error in units in the last place of what is expected. */
static double ulps(double found, long double expected)
{
    const double near = (double)expected, step = nextafter(fabs(near), INFINITY) - fabs(near);
    return (double)(fabsl((long double)found - expected) / (long double)step);
}

TEST(test_elementary)
{
    double worst[3] = {0};
    if (!has_long_double())
        skip();
    gsl_rng *rng = stream(50);
    for (int i = 0; i < N; i++) {
        const double u = gsl_rng_uniform(rng), v = gsl_rng_uniform(rng);
        const double a = orr_exp(-700 + 1400 * u), b = 8 * v - 4, c = orr_exp(20 * u - 10);
        worst[0] = fmax(worst[0], ulps(orr_exp(-700 + 1400 * v), expl(-700 + 1400 * v)));
        worst[1] = fmax(worst[1], ulps(orr_log(a), logl(a)));
        worst[2] = fmax(worst[2], ulps(orr_pow(c, b), powl(c, b)));
    }
    gsl_rng_free(rng);
    if (!(worst[0] < 0.81 && worst[1] < 1.11 && worst[2] < 1.21))
        fail_msg("errors of exp %g, log %g, pow %g ulp", worst[0], worst[1], worst[2]);
    assert_true(orr_exp(0) == 1 && orr_log(1) == 0);
    assert_true(orr_exp(-800) == 0 && isinf(orr_exp(800)));
    assert_true(isinf(orr_log(0)) && isnan(orr_log(-1)) && isnan(orr_exp(NAN)));
}

/* What products and square roots give exactly is exact; overflow and zeros are those of pow(). */
TEST(test_whole_powers)
{
    for (int n = -8; n <= 8; n++)
        for (int a = -9; a <= 9; a++) {
            const double expected = pow(a, n);
            assert_true(orr_pow(a, n) == expected ||
                        (n < 0 && a && ulps(orr_pow(a, n), powl(a, n)) < 1.01));
        }
    for (int a = 0; a < 100; a++)
        assert_true(orr_pow(a * a, 0.5) == a);
    assert_true(isinf(orr_pow(1e60, 7)) && orr_pow(1e60, -7) == 0 && orr_pow(1e-60, 7) == 0);
    assert_true(fabs(orr_pow(1e40, -8) / 1e-320 - 1) < 1e-3); /* denormal; its square overflows */
    assert_true(isnan(orr_pow(-2, 1.5)) && orr_pow(0, 0) == 1 && isinf(orr_pow(0, -0.3)));
}

/* -------------------------------------------------------------------------- the same bits */

/* Every bit, on every CPU: tests.mk runs this program again with other variants of the C library's
 * functions. Draws that are made otherwise have a new hash, and data sets a new revision. */
TEST(test_same_bits)
{
    gsl_rng *rng = stream(60);
    uint64_t hash = 0;
    for (int i = 0; i < N; i++) {
        const double u = gsl_rng_uniform(rng);
        const double value[] = {orr_draw_normal(rng),
                                orr_draw_gamma(rng, 0.32),
                                orr_draw_gamma(rng, 2.385),
                                orr_draw_beta(rng, 0.867, 3.03),
                                orr_draw_poisson(rng, 1.66),
                                orr_exp(100 * u - 50),
                                orr_log(u),
                                orr_pow(1e3 * u, 0.37)};
        hash = XXH64(value, sizeof value, hash);
    }
    gsl_rng_free(rng);
    if (hash != 0x6d94acbac4aced65)
        fail_msg("draws have hash %016llx", (unsigned long long)hash);
}

TESTS(NULL, NULL)
