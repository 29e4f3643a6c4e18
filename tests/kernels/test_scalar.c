/* test_scalar.c - the functions that kernels of the host and of a GPU share, against double
 * precision: on a dense grid, far out in both tails, at infinity and NaN. */
#include "test_data.h"

#include <float.h>

#include "scalar.h"

static const double eps = FLT_EPSILON / 2; /* of one rounding */

static double normal_cdf(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static double softplus(double x)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

/* Numbers from -110 to 110, dense around 0 and of every exponent near it. */
static float grid(int i)
{
    const float x = (float)((i % 20001 - 10000) * 0.011);
    return i < 20001 ? x : ldexpf(i % 2 ? -1.37F : 1.37F, i % 101 - 100);
}
enum { POINTS = 20001 + 202 };

static void compare(const char *name, float x, float found, double expected, double allowed)
{
    /* numbers that have no more digits */
    if (!(fabs((double)found - expected) <= allowed + 2e-45 + 2 * allowed * eps))
        fail_msg("%s(%.9g) is %.9g, not %.12g within %.3g", name, (double)x, (double)found,
                 expected, allowed);
}

/* Errors are a few roundings of the value, and of the argument where it is multiplied: erfc and
 * e^(-x^2/2) change by x^2 roundings of it. The logistic function and softplus change by |x|. */
TEST(values_keep_their_digits)
{
    for (int i = 0; i < POINTS; i++) {
        const float f = grid(i);
        const double x = (double)f, cdf = normal_cdf(x),
                     slope = 0.39894228040143267794 * exp(-0.5 * x * x);
        const double tail = x < 0 ? 3 * x * x : 0;
        /* below 1e-37 digits are lost to subnormal numbers */
        const double lost = 1e-44 * (1 + fabs(x));
        compare("Phi", f, k_normal_cdf(f), cdf, eps * (6 + tail) * cdf + lost);
        compare("gelu", f, k_gelu(f), x * cdf, eps * (8 + tail) * fabs(x) * cdf + lost);
        compare("gelu'", f, k_gelu_slope(f), cdf + x * slope,
                eps * ((8 + tail) * cdf + (10 + 2 * x * x) * fabs(x) * slope) + lost);
        /* for bf16: 2^-14 of the value; the slope is a difference where x < 0 */
        const double bf16 = 0x1p-14 + eps * tail;
        compare("gelu for bf16", f, k_gelu_bf16(f), x * cdf, bf16 * fabs(x) * cdf + lost);
        compare("gelu' for bf16", f, k_gelu_slope_bf16(f), cdf + x * slope,
                bf16 * cdf + eps * (10 + 2 * x * x) * fabs(x) * slope + lost);
        compare("logistic", f, k_logistic(f), logistic(x), eps * 8 * logistic(x) + lost);
        compare("softplus", f, k_softplus(f), softplus(x), eps * 8 * softplus(x) + lost);
    }
}

TEST(gates_are_their_functions)
{
    for (int i = 0; i < POINTS; i++) {
        const float f = grid(i);
        const double x = (double)f, y = logistic(x);
        const double rest = logistic(-x);
        assert_true(k_gate_of(K_GATE_NONE, f) == 1 && k_gate_slope(K_GATE_NONE, f) == 0);
        assert_true(k_gate_of(K_GATE_SIGMOID, f) == k_logistic(f));
        assert_true(k_gate_of(K_GATE_SOFTPLUS, f) == k_softplus(f));
        assert_true(k_gate_slope(K_GATE_SOFTPLUS, f) == k_logistic(f));
        compare("logistic'", f, k_gate_slope(K_GATE_SIGMOID, f), y * rest,
                eps * 16 * y * rest + 1e-44);
    }
}

TEST(ends_and_nan)
{
    assert_true(k_normal_cdf(INFINITY) == 1 && k_normal_cdf(-INFINITY) == 0);
    assert_true(k_logistic(INFINITY) == 1 && k_logistic(-INFINITY) == 0);
    assert_true(k_softplus(INFINITY) == INFINITY && k_softplus(-INFINITY) == 0);
    assert_true(k_gelu(0) == 0 && k_gelu_slope(0) == 0.5F && k_logistic(0) == 0.5F);
    assert_true(isnan(k_normal_cdf(NAN)) && isnan(k_gelu(NAN)) && isnan(k_gelu_slope(NAN)));
    assert_true(isnan(k_gelu_bf16(NAN)) && isnan(k_gelu_slope_bf16(NAN)) && k_gelu_bf16(0) == 0);
    assert_true(isnan(k_logistic(NAN)) && isnan(k_softplus(NAN)));
}

TESTS(NULL, NULL)
