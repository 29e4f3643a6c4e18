/* test_equivalence.c - equal functions in different clothes, and near misses. */
#include "symreg/formulas.h"

static const double low[3] = {0.5, 0.5, 0.5}, high[3] = {5, 5, 5};

static bool same(const char *a, const char *b, double tolerance)
{
    const struct sr_expr x = formula(a), y = formula(b);
    return sr_equivalent(&x, &y, FEATURES, low, high, tolerance);
}

static void tells_equal_from_different(void **state)
{
    (void)state;
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

static void ranges_become_wider(void **state)
{
    (void)state;
    double a = 0.5, b = 5, c = -1, d = 3;
    sr_widen(10, &a, &b);
    sr_widen(10, &c, &d);
    assert_true(near(a, 0.05, 1e-12) && near(b, 50, 1e-12));
    assert_true(near(c, -19, 1e-12) && near(d, 21, 1e-12));
    double least = HUGE_VAL, most = 0, x[3];
    const double from[3] = {1, 2, -1}, to[3] = {100, 3, 1};
    for (int k = 0; k < 500; k++) {
        sr_quasi_random(k, 3, from, to, x);
        for (int f = 0; f < 3; f++)
            assert_true(x[f] >= from[f] && x[f] <= to[f]);
        least = fmin(least, x[0]);
        most = fmax(most, x[0]);
    }
    assert_true(least < 1.05 && most > 95);
}

static void long_values_are_values(void **state)
{
    (void)state;
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
            compared += near(value, (double)sr_eval_long(&expr, x), 1e-6);
            /* at the edge of a domain, rounding decides: acos(tanh(30)) */
            undefined += !isfinite(sr_eval_long(&expr, x));
        }
    }
    assert_true(compared > 15000 && undefined < compared / 1000);
    gsl_rng_free(rng);
    table_free(&t);
}

static void constants_become_round(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
        double noise;
    } row[] = {
        {"2.0000000000001 * r + 0.5", "((2 * r) + 0.5)", 0},
        {"39.478417604357 * m1", "(39.47842 * m1)", 0}, /* printed; the constant stays */
        {"1.9999 * r", "(2 * r)", 0.03},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct table t;
        struct sr_loss loss;
        struct sr_work work;
        struct sr_expr expr = formula(row[k].from), truth = formula(row[k].from);
        gsl_rng *rng = random_stream(k);
        table_create(&t, 200, 9, false);
        if (row[k].noise == 0 && k == 0)
            truth = formula(row[k].to);
        if (row[k].noise > 0)
            truth = formula(row[k].to);
        assert_true(sr_eval(&truth, &t.data, t.y));
        for (size_t i = 0; i < 200; i++)
            t.y[i] *= 1 + row[k].noise * gsl_ran_gaussian(rng, 1);
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
        assert_int_equal(sr_work_init(&work, 200, 20), 0);
        const double reached = sr_snap(&loss, &expr, &work);
        assert_string_equal(text_of(&expr), row[k].to);
        assert_true(row[k].noise > 0 || reached <= loss.noise);
        double constants[SR_NODES];
        sr_expr_constants(&expr, constants);
        assert_true(k != 1 || near(constants[0], 39.478417604357, 1e-14));
        sr_loss_free(&loss);
        sr_work_free(&work);
        gsl_rng_free(rng);
        table_free(&t);
    }
    char text[64];
    assert_true(sr_constant_remark(39.478, 1e-4, text, sizeof text));
    assert_string_equal(text, "4 pi^2");
    assert_true(sr_constant_remark(-3.14159, 1e-4, text, sizeof text));
    assert_string_equal(text, "-pi");
    assert_false(sr_constant_remark(7.3, 1e-4, text, sizeof text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_equal_from_different),
        cmocka_unit_test(ranges_become_wider),
        cmocka_unit_test(long_values_are_values),
        cmocka_unit_test(constants_become_round),
    };
    return cmocka_run_group_tests_name("symreg/equivalence", tests, NULL, NULL);
}
