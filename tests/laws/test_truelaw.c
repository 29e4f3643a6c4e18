/* test_truelaw.c - is a formula k m1 m2 / r^2, whatever its form? */
#include "symreg/formulas.h"
#include "analysis.h"

static struct sr_front front;

static const double low[3] = {0.6, 0.1, 0.1}, high[3] = {3.1, 2, 2};

static void expect_law(const char *text, bool expected, double k_expected)
{
    const struct sr_expr expr = formula(text);
    double k = -1;
    const bool is = law_check(&expr, low, high, 0.01, &k);
    if (is != expected)
        fail_msg("%s %s", text, is ? "passes for k m1 m2 / r^2" : "does not pass");
    if (is && !near(k, k_expected, 1e-9))
        fail_msg("%s: k = %.12g, expected %.12g", text, k, k_expected);
}

static void law_in_many_forms(void **state)
{
    (void)state;
    expect_law("39.5 * m1 * m2 / r ^ 2", true, 39.5);
    expect_law("39.5 * m1 * m2 * inv(r * r)", true, 39.5);
    expect_law("m1 * inv(r * (r * 0.025)) * m2", true, 40);
    expect_law("m2 * inv(r) * m1 * inv(r)", true, 1);
    expect_law("inv(r * r * inv(m1) * 0.5 / m2)", true, 2);
    expect_law("39 * m1 * m2 * square(inv(r))", true, 39);
    expect_law("39 * exp(log(m1) + log(m2) - 2 * log(r))", true, 39);
    expect_law("sqrt(m1 * m1 * m2 * m2) * 1e-6 / (r * r)", true, 1e-6);
    expect_law("-(m1 * m2) / (r * (0 - r))", true, 1);
    expect_law("(m1 / r) * (m2 / r) * 3 + m1 - m1", true, 3);
}

/* A formula that leaves the law by less than the tolerance is the law. */
static void law_softened_within_tolerance(void **state)
{
    (void)state;
    const struct sr_expr expr = formula("39 * m1 * m2 / (r ^ 2 + 1e-4)");
    double k = 0;
    assert_true(law_check(&expr, low, high, 0.01, &k));
    assert_true(k < 39 && k > 39 * (1 - 2e-3));
    assert_false(law_check(&expr, low, high, 1e-5, &k));
}

static void near_misses_are_not_the_law(void **state)
{
    (void)state;
    expect_law("39.5 * m1 * m2 / r ^ 1.9", false, 0);
    expect_law("39.5 * m1 * m2 / r ^ 2.1", false, 0);
    expect_law("39.5 * m1 * m2 / r ^ 2.01", false, 0);
    expect_law("39.5 * m1 * m2 / r", false, 0);
    expect_law("39.5 * m1 * m1 / r ^ 2", false, 0);
    expect_law("39.5 * m1 / r ^ 2", false, 0);
    expect_law("39.5 * m1 * sqrt(m2) / r ^ 2", false, 0);
    expect_law("39.5 * m1 ^ 0.98 * m2 / r ^ 2", false, 0);
    expect_law("39.5 * m1 * m2 / r ^ 2 + 0.05", false, 0);
    expect_law("39.5 * m1 * m2 / (r ^ 2 + 0.05)", false, 0);
    expect_law("39.5 * m1 * m2 / (r ^ 2 + 0.1 * r)", false, 0);
    expect_law("39.5 * m1 * (m2 + 0.02) / r ^ 2", false, 0);
    expect_law("39.5 * m1 * m2 / (r * sin(r))", false, 0);
    expect_law("39.5 * min(m1, 2) * m2 / r ^ 2", false, 0); /* the same within the data only */
    expect_law("39.5 * m1 * m2 / max(r, 0.6) ^ 2", false, 0);
    expect_law("-39.5 * m1 * m2 / r ^ 2", false, 0); /* repels */
    expect_law("0 * m1", false, 0);
    expect_law("m1 * m2 / (r - 1) ^ 2", false, 0);
    expect_law("log(m1 - 1) / r ^ 2", false, 0); /* not finite everywhere */
    expect_law("39.5", false, 0);
}

static void law_check_needs_its_features_and_ranges(void **state)
{
    (void)state;
    struct sr_expr expr = formula("m1 * m2 / (r * r)");
    const double zero[3] = {0, 0.1, 0.1}, same[3] = {1, 1, 1}, nan[3] = {NAN, 1, 1};
    double k = -1;
    assert_false(law_check(&expr, zero, high, 0.01, &k));
    assert_false(law_check(&expr, high, low, 0.01, &k)); /* upside down */
    assert_false(law_check(&expr, nan, high, 0.01, &k));
    assert_true(law_check(&expr, same, same, 0.01, &k)); /* a point has a range around it */
    assert_true(near(k, 1, 1e-12));
    const struct sr_expr one_mass = formula("m1 / (r * r)");
    assert_false(law_check(&one_mass, same, same, 0.01, &k));
    expr.node[0].feature = 3;
    assert_false(law_check(&expr, low, high, 0.01, &k));
}

static void law_find_takes_the_simplest(void **state)
{
    (void)state;
    static struct sr_hall hall;
    sr_hall_clear(&hall);
    const struct sr_expr a = formula("m1 / r"), b = formula("2 * m1 * m2 / (r * r)"),
                         c = formula("2.5 * (m1 * m2 / (r * r)) * 1 * 1");
    double k = -1;
    sr_hall_offer(&hall, NULL, &a, 3);
    sr_front_make(&hall, &front);
    assert_int_equal(law_find(&front, low, high, 0.01, &k), -1);
    sr_hall_offer(&hall, NULL, &b, 2);
    sr_hall_offer(&hall, NULL, &c, 1);
    sr_front_make(&hall, &front);
    assert_int_equal(front.count, 3);
    assert_int_equal(law_find(&front, low, high, 0.01, &k), 1);
    assert_true(near(k, 2, 1e-12));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(law_in_many_forms),
        cmocka_unit_test(law_softened_within_tolerance),
        cmocka_unit_test(near_misses_are_not_the_law),
        cmocka_unit_test(law_check_needs_its_features_and_ranges),
        cmocka_unit_test(law_find_takes_the_simplest),
    };
    return cmocka_run_group_tests_name("laws/truelaw", tests, NULL, NULL);
}
