/* test_equivalence.c - equal functions in different clothes, and near misses. */
#include "symreg/formulas.h"
#include "under_valgrind.h"
#include "bench/symreg_same.h"

static const double low[3] = {0.5, 0.5, 0.5}, high[3] = {5, 5, 5};

static bool same(const char *a, const char *b, double tolerance)
{
    const struct sr_expr x = formula(a), y = formula(b);
    return equivalent(&x, &y, FEATURES, low, high, tolerance);
}

TEST(tells_equal_from_different)
{
    static const char *const yes[][2] = {
        {"m1 * m2 / r ^ 2", "inv(r) * (m2 / r) * m1"},
        {"(r + 1) ^ 2", "r * r + 2 * r + 1"},
        {"sin(r) * cos(r)", "0.5 * sin(2 * r)"},
        {"m1 / r + m2 / r", "(m1 + m2) / r"},
        {"log(r * m1)", "log(r) + log(m1)"},
        {"r * m1 / (r + m1)", "inv(inv(r) + inv(m1))"},
        {"sqrt(r * m1)", "sqrt(r) * sqrt(m1)"},
    };
    static const char *const no[][2] = {
        {"m1 * m2 / r ^ 2", "m1 * m2 / r ^ 2.001"},
        {"m1 * m2 / r ^ 2", "m1 * m2 / (r ^ 2 + 0.001)"}, /* shows at small r only */
        {"m1 * m2 / r ^ 2 + 1e-5", "m1 * m2 / r ^ 2"},    /* shows at large r only */
        {"m1 * m2 / r ^ 2 + 1e-9", "m1 * m2 / r ^ 2"},    /* outside the ranges only */
        {"sin(r)", "r - r ^ 3 / 6"},
        {"r", "abs(r) + 0.00001 * m1"},
        {"exp(r)", "exp(r) * 1.00002"},
        {"sqrt(r - 3)", "sqrt(abs(r - 3))"}, /* not defined at the same points */
    };
    for (size_t k = 0; k < sizeof yes / sizeof *yes; k++)
        if (!same(yes[k][0], yes[k][1], 1e-9))
            fail_msg("%s is %s", yes[k][0], yes[k][1]);
    for (size_t k = 0; k < sizeof no / sizeof *no; k++)
        if (same(no[k][0], no[k][1], 1e-6))
            fail_msg("%s is not %s", no[k][0], no[k][1]);
    assert_true(same("2 * r", "2.0001 * r", 1e-3));
    assert_true(same("m1 / (r - 1)", "inv((r - 1) / m1)", 1e-9)); /* a pole inside */
}

TEST(ranges_become_wider)
{
    double a = 0.5, b = 5, c = -1, d = 3;
    widen(10, &a, &b);
    widen(10, &c, &d);
    assert_true(near(a, 0.05, 1e-12) && near(b, 50, 1e-12));
    assert_true(near(c, -19, 1e-12) && near(d, 21, 1e-12));
    double least = HUGE_VAL, most = 0, x[3];
    const double from[3] = {1, 2, -1}, to[3] = {100, 3, 1};
    for (int k = 0; k < 500; k++) {
        quasi_random(k, 3, from, to, x);
        for (int f = 0; f < 3; f++)
            assert_true(x[f] >= from[f] && x[f] <= to[f]);
        least = fmin(least, x[0]);
        most = fmax(most, x[0]);
    }
    assert_true(least < 1.05 && most > 95);
}

TEST(long_values_are_values)
{
    struct table t;
    table_create(&t, 11, 6, true);
    gsl_rng *rng = random_stream(4);
    int compared = 0, undefined = 0;
    for (int k = 0; k < 3000; k++) {
        const struct sr_expr expr = random_formula(rng, 1 + k % 12);
        for (size_t i = 0; i < 11; i++) {
            const double x[3] = {t.x[i], t.x[11 + i], t.x[22 + i]};
            const double value = value_by_hand(&expr, &t.data, i);
            if (!isfinite(value) || fabs(value) > 1e6)
                continue;
            compared += near(value, (double)long_value(NULL, &expr, x), 1e-6);
            /* at the edge of a domain, rounding decides: acos(tanh(30)) */
            undefined += !isfinite(long_value(NULL, &expr, x));
        }
    }
    assert_true(compared > 15000 && undefined < compared / 1000);
    gsl_rng_free(rng);
    table_free(&t);
}

/* Long values are more than doubles: what double precision loses stays. Operators of the user and
 * those that choose among their arguments are no exception. */
TEST(long_values_are_long)
{
    if (!has_long_double())
        skip();
    struct sr_language *language = language_of("less(u,v)=u-v; twice(u)=less(u,neg(u))");
    const double x[3] = {3, 7, 1e17};
    static const char *const one[] = {
        "(m2 + r) - m2",    "min(m2 + 3, m2 * 2) - m2", "max(m2 + 3, r) - m2",
        "less(m2 + 3, m2)", "twice(m2 + 1.5) - 2 * m2", "r * sign(m2 + 1 - m2)",
    };
    for (size_t k = 0; k < sizeof one / sizeof *one; k++) {
        const struct sr_expr expr = formula_in(language, one[k]);
        if (long_value(language, &expr, x) != 3)
            fail_msg("%s is %.20Lg", one[k], long_value(language, &expr, x));
    }
    sr_language_free(language);
    static const struct {
        const char *text;
        long double value; /* at r = 3, to 19 digits */
    } row[] = {
        {"sinh(r)", 10.01787492740990189897L},
        {"cosh(r)", 10.06766199577776584195L},
        {"tanh(r)", 0.9950547536867304513319L},
        {"asin(inv(r))", 0.3398369094541219370963L},
        {"acos(inv(r))", 1.230959417340774682135L},
        {"atan(r)", 1.249045772398254425830L},
        {"hypot(r, 4)", 5},
        {"cbrt(r)", 1.442249570307408382322L},
        {"log10(r)", 0.4771212547196624372951L},
        {"atan2(r, -1)", 1.892546881191538812633L},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const struct sr_expr expr = formula(row[k].text);
        const long double off = fabsl(long_value(NULL, &expr, x) / row[k].value - 1);
        if (off > 2e-18L)
            fail_msg("%s is off by %Lg", row[k].text, off);
    }
}

TESTS(NULL, NULL)
