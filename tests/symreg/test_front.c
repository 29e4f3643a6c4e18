/* test_front.c - halls, fronts, selection rules, the CSV file, and the check for the true law. */
#include "symreg/formulas.h"
#include "analysis.h"

/* A formula of `count` nodes, whatever it says. */
static struct sr_expr of_size(int count)
{
    struct sr_expr expr = formula(count % 2 ? "r" : "-r");
    const struct sr_node r = {.op = SR_FEATURE}, sum = {.op = SR_ADD};
    while (expr.count < count) {
        expr.node[expr.count++] = r;
        expr.node[expr.count++] = sum;
    }
    assert_true(sr_expr_measure(&expr));
    assert_int_equal(expr.count, count);
    return expr;
}

/* Offers (size, loss) pairs up to size 0 and makes the front. */
struct pair {
    int size;
    double loss;
};
static void make(const struct pair *pair, struct sr_front *front)
{
    static struct sr_hall hall;
    sr_hall_clear(&hall);
    for (; pair->size; pair++) {
        const struct sr_expr expr = of_size(pair->size);
        sr_hall_offer(&hall, &expr, pair->loss);
    }
    sr_front_make(&hall, front);
}

static struct sr_front front;

static void hall_keeps_the_best_of_every_size(void **state)
{
    (void)state;
    static struct sr_hall hall;
    sr_hall_clear(&hall);
    struct sr_expr a = formula("r + m1"), b = formula("r * m1");
    assert_true(sr_hall_offer(&hall, &a, 2));
    assert_false(sr_hall_offer(&hall, &b, 2)); /* not better */
    assert_false(sr_hall_offer(&hall, &b, 3));
    assert_false(sr_hall_offer(&hall, &b, NAN));
    assert_string_equal(text_of(&hall.expr[3]), "(r + m1)");
    assert_true(sr_hall_offer(&hall, &b, 1));
    assert_string_equal(text_of(&hall.expr[3]), "(r * m1)");
    a = formula("r");
    assert_false(sr_hall_offer(&hall, &a, INFINITY));
    assert_true(sr_hall_offer(&hall, &a, 5));
    for (int c = 0; c <= SR_NODES; c++)
        if (c != 1 && c != 3)
            assert_true(hall.loss[c] >= HUGE_VAL && hall.expr[c].count == 0);
}

static void front_falls_strictly(void **state)
{
    (void)state;
    make((struct pair[]){{1, 10}, {2, 10}, {3, 12}, {4, 5}, {6, 5}, {7, 4.999}, {64, 1}, {0, 0}},
         &front);
    const int size[] = {1, 4, 7, 64};
    const double loss[] = {10, 5, 4.999, 1};
    assert_int_equal(front.count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(front.expr[i].count, size[i]);
        assert_true(front.loss[i] == loss[i]);
    }
    make((struct pair[]){{0, 0}}, &front);
    assert_int_equal(front.count, 0);
    for (int rule = 0; rule < SR_RULES; rule++)
        assert_int_equal(sr_front_select(&front, (enum sr_rule)rule), -1);
}

static void scores_are_the_slopes_of_the_logarithm(void **state)
{
    (void)state;
    make((struct pair[]){{2, 8}, {3, 4}, {7, 1}, {8, 0.9}, {0, 0}}, &front);
    assert_true(front.score[0] == 0);
    assert_true(near(front.score[1], log(2), 1e-14));
    assert_true(near(front.score[2], log(4) / 4, 1e-14));
    assert_true(near(front.score[3], log(1 / 0.9), 1e-13));
    make((struct pair[]){{1, 3}, {5, 0}, {9, 0}, {0, 0}}, &front);
    assert_int_equal(front.count, 2); /* nothing is below zero */
    assert_true(front.score[0] == 0 && isinf(front.score[1]) && front.score[1] > 0);
    make((struct pair[]){{1, 0}, {0, 0}}, &front);
    assert_true(front.count == 1 && front.score[0] == 0);
    assert_int_equal(sr_front_select(&front, SR_SCORE), 0);
}

static void selects(const struct pair *pair, int accuracy, int score, int best)
{
    make(pair, &front);
    const int row[SR_RULES] = {sr_front_select(&front, SR_ACCURACY),
                               sr_front_select(&front, SR_SCORE), sr_front_select(&front, SR_BEST)};
    const int expected[SR_RULES] = {accuracy, score, best};
    for (int rule = 0; rule < SR_MDL; rule++)
        if (row[rule] < 0 || front.expr[row[rule]].count != expected[rule])
            fail_msg("rule %s selects size %d, expected %d", sr_rule_name[rule],
                     row[rule] < 0 ? -1 : front.expr[row[rule]].count, expected[rule]);
}

/* Arguments after the pairs: complexity that accuracy, score and best choose. */
static void rules_select_as_defined(void **state)
{
    (void)state;
    /* a steep early step, the real one later: score and best differ */
    selects((struct pair[]){{1, 100}, {3, 10}, {9, 1}, {11, 0.9}, {0, 0}}, 11, 3, 9);
    /* 1.5 times the smallest loss belongs to `best`, the next number above does not */
    selects((struct pair[]){{1, 8}, {3, 1.5}, {9, 1}, {0, 0}}, 9, 3, 3);
    selects((struct pair[]){{1, 8}, {3, nextafter(1.5, 2)}, {9, 1}, {0, 0}}, 9, 3, 9);
    /* equal scores: the simplest */
    selects((struct pair[]){{1, 8}, {2, 4}, {3, 2}, {4, 1}, {0, 0}}, 4, 2, 4);
    selects((struct pair[]){{1, 1.5}, {0, 0}}, 1, 1, 1);
    /* zero loss: the score is infinite, and 1.5 x 0 leaves no other row */
    selects((struct pair[]){{1, 100}, {2, 1e-9}, {9, 0}, {0, 0}}, 9, 9, 9);
    selects((struct pair[]){{4, 0}, {9, 0}, {0, 0}}, 4, 4, 4);
}

static void rules_are_found_by_name(void **state)
{
    (void)state;
    for (int i = 0; i < SR_RULES; i++) {
        enum sr_rule rule = SR_RULES;
        assert_int_equal(sr_rule_find(sr_rule_name[i], &rule), 0);
        assert_int_equal(rule, i);
    }
    enum sr_rule rule;
    assert_int_equal(sr_rule_find("scores", &rule), ORR_EUSAGE);
    error_names("symreg.rules", "\"scores\"", "score", NULL);
    assert_int_equal(sr_rule_find("zzzzzzzzzz", &rule), ORR_EUSAGE);
    error_names("accuracy, score, best or mdl", NULL);
}

static void csv_is_that_of_pysr(void **state)
{
    (void)state;
    static struct sr_hall hall;
    char dir[64], path[4096], *text;
    size_t bytes;
    struct sr_expr a = formula("r"), b = formula("39.4784176 * inv(r * r)"),
                   c = formula("m1 + sin(r) * (0 - 2e-9) * m2");
    sr_hall_clear(&hall);
    sr_hall_offer(&hall, &a, 12.3456789012);
    sr_hall_offer(&hall, &b, 1.0 / 3);
    sr_hall_offer(&hall, &c, 0);
    sr_front_make(&hall, &front);
    scratch_create(dir);
    scratch_path(path, dir, "front.csv");
    assert_int_equal(sr_front_write(&front, feature_name, path), 0);
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    assert_string_equal(text, "Complexity,Loss,Equation\n"
                              "1,12.3456789,\"r\"\n"
                              "6,0.333333333,\"(39.47842 * inv((r * r)))\"\n"
                              "10,0,\"(m1 + ((sin(r) * (0 - 2e-09)) * m2))\"\n");
    free(text);
    /* names that CSV must quote, and no rest of a file that could not be written */
    static const char *const odd[FEATURES] = {"a \"b\", c", "m1", "m2"};
    front.count = 1;
    assert_int_equal(sr_front_write(&front, odd, path), 0);
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    assert_string_equal(text, "Complexity,Loss,Equation\n1,12.3456789,\"a \"\"b\"\", c\"\n");
    free(text);
    front.count = 0;
    assert_int_equal(sr_front_write(&front, odd, path), 0);
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    assert_string_equal(text, "Complexity,Loss,Equation\n");
    free(text);
    scratch_path(path, dir, "none/front.csv");
    assert_int_equal(sr_front_write(&front, odd, path), ORR_EIO);
    error_names("none/front.csv", NULL);
    assert_int_equal(scratch_count(dir), 1);
    scratch_remove(dir);
}

/* ---- the true law */

static const double low[3] = {0.6, 0.1, 0.1}, high[3] = {3.1, 2, 2};

static void law(const char *text, bool expected, double k_expected)
{
    const struct sr_expr expr = formula(text);
    double k = -1;
    const bool is = sr_law_check(&expr, low, high, 0.01, &k);
    if (is != expected)
        fail_msg("%s %s", text, is ? "passes for k m1 m2 / r^2" : "does not pass");
    if (is && !near(k, k_expected, 1e-9))
        fail_msg("%s: k = %.12g, expected %.12g", text, k, k_expected);
}

static void law_in_many_forms(void **state)
{
    (void)state;
    law("39.5 * m1 * m2 / r ^ 2", true, 39.5);
    law("39.5 * m1 * m2 * inv(r * r)", true, 39.5);
    law("m1 * inv(r * (r * 0.025)) * m2", true, 40);
    law("m2 * inv(r) * m1 * inv(r)", true, 1);
    law("inv(r * r * inv(m1) * 0.5 / m2)", true, 2);
    law("39 * m1 * m2 * square(inv(r))", true, 39);
    law("39 * exp(log(m1) + log(m2) - 2 * log(r))", true, 39);
    law("sqrt(m1 * m1 * m2 * m2) * 1e-6 / (r * r)", true, 1e-6);
    law("-(m1 * m2) / (r * (0 - r))", true, 1);
    law("(m1 / r) * (m2 / r) * 3 + m1 - m1", true, 3);
}

/* A formula that leaves the law by less than the tolerance is the law. */
static void law_softened_within_tolerance(void **state)
{
    (void)state;
    const struct sr_expr expr = formula("39 * m1 * m2 / (r ^ 2 + 1e-4)");
    double k = 0;
    assert_true(sr_law_check(&expr, low, high, 0.01, &k));
    assert_true(k < 39 && k > 39 * (1 - 2e-3));
    assert_false(sr_law_check(&expr, low, high, 1e-5, &k));
}

static void near_misses_are_not_the_law(void **state)
{
    (void)state;
    law("39.5 * m1 * m2 / r ^ 1.9", false, 0);
    law("39.5 * m1 * m2 / r ^ 2.1", false, 0);
    law("39.5 * m1 * m2 / r ^ 2.01", false, 0);
    law("39.5 * m1 * m2 / r", false, 0);
    law("39.5 * m1 * m1 / r ^ 2", false, 0);
    law("39.5 * m1 / r ^ 2", false, 0);
    law("39.5 * m1 * sqrt(m2) / r ^ 2", false, 0);
    law("39.5 * m1 ^ 0.98 * m2 / r ^ 2", false, 0);
    law("39.5 * m1 * m2 / r ^ 2 + 0.05", false, 0);
    law("39.5 * m1 * m2 / (r ^ 2 + 0.05)", false, 0);
    law("39.5 * m1 * m2 / (r ^ 2 + 0.1 * r)", false, 0);
    law("39.5 * m1 * (m2 + 0.02) / r ^ 2", false, 0);
    law("39.5 * m1 * m2 / (r * sin(r))", false, 0);
    law("39.5 * min(m1, 2) * m2 / r ^ 2", false, 0); /* the same within the data only */
    law("39.5 * m1 * m2 / max(r, 0.6) ^ 2", false, 0);
    law("-39.5 * m1 * m2 / r ^ 2", false, 0); /* repels */
    law("0 * m1", false, 0);
    law("m1 * m2 / (r - 1) ^ 2", false, 0);
    law("log(m1 - 1) / r ^ 2", false, 0); /* not finite everywhere */
    law("39.5", false, 0);
}

static void law_check_needs_its_features_and_ranges(void **state)
{
    (void)state;
    struct sr_expr expr = formula("m1 * m2 / (r * r)");
    const double zero[3] = {0, 0.1, 0.1}, same[3] = {1, 1, 1}, nan[3] = {NAN, 1, 1};
    double k = -1;
    assert_false(sr_law_check(&expr, zero, high, 0.01, &k));
    assert_false(sr_law_check(&expr, high, low, 0.01, &k)); /* upside down */
    assert_false(sr_law_check(&expr, nan, high, 0.01, &k));
    assert_true(sr_law_check(&expr, same, same, 0.01, &k)); /* a point has a range around it */
    assert_true(near(k, 1, 1e-12));
    const struct sr_expr one_mass = formula("m1 / (r * r)");
    assert_false(sr_law_check(&one_mass, same, same, 0.01, &k));
    expr.node[0].feature = 3;
    assert_false(sr_law_check(&expr, low, high, 0.01, &k));
}

static void law_find_takes_the_simplest(void **state)
{
    (void)state;
    static struct sr_hall hall;
    sr_hall_clear(&hall);
    const struct sr_expr a = formula("m1 / r"), b = formula("2 * m1 * m2 / (r * r)"),
                         c = formula("2.5 * (m1 * m2 / (r * r)) * 1 * 1");
    double k = -1;
    sr_hall_offer(&hall, &a, 3);
    sr_front_make(&hall, &front);
    assert_int_equal(sr_law_find(&front, low, high, 0.01, &k), -1);
    sr_hall_offer(&hall, &b, 2);
    sr_hall_offer(&hall, &c, 1);
    sr_front_make(&hall, &front);
    assert_int_equal(front.count, 3);
    assert_int_equal(sr_law_find(&front, low, high, 0.01, &k), 1);
    assert_true(near(k, 2, 1e-12));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hall_keeps_the_best_of_every_size),
        cmocka_unit_test(front_falls_strictly),
        cmocka_unit_test(scores_are_the_slopes_of_the_logarithm),
        cmocka_unit_test(rules_select_as_defined),
        cmocka_unit_test(rules_are_found_by_name),
        cmocka_unit_test(csv_is_that_of_pysr),
        cmocka_unit_test(law_in_many_forms),
        cmocka_unit_test(law_softened_within_tolerance),
        cmocka_unit_test(near_misses_are_not_the_law),
        cmocka_unit_test(law_check_needs_its_features_and_ranges),
        cmocka_unit_test(law_find_takes_the_simplest),
    };
    return cmocka_run_group_tests_name("symreg/front", tests, NULL, NULL);
}
