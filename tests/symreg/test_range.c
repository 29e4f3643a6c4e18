/* test_range.c - numbers at the ends of the range: constants of 1e-313 and 1e-208, as years in an
 * exponent bring them. No rewriting makes a constant infinite or 0, and fits, errors, description
 * lengths and scores are those of the same table in other units. */
#include "symreg/formulas.h"

#include "symreg/solve/solve.h"

enum { ROWS = 48 };

/* r: years from 1981 on; y = 3 exp(0.24 (r - 1995)) with even deviations. */
static struct sr_data growth(double *x, double *y, double first_year)
{
    for (int i = 0; i < ROWS; i++) {
        x[i] = first_year + 0.4 * i;
        x[ROWS + i] = 1 + i % 5;
        x[2 * ROWS + i] = 2 + i % 3;
        y[i] = 3 * exp(0.24 * (x[i] - first_year - 14)) + (i % 2 ? 1.7 : -1.7);
    }
    return (struct sr_data){.rows = ROWS, .features = FEATURES, .x = x, .y = y};
}

/* Fits c exp(k r) (or another form) and describes it as the last row of a front of two. */
static void describe(const struct sr_data *data, const char *form, struct sr_front *front,
                     double *error)
{
    const struct sr_expr mean = formula("25.0");
    struct sr_expr expr = formula(form);
    struct sr_hall_of_fame *hall = orr_alloc(1, sizeof *hall);
    struct sr_loss loss;
    struct sr_work work;
    assert_non_null(hall);
    sr_hall_of_fame_clear(hall);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, data), 0);
    assert_int_equal(sr_work_init(&work, ROWS, SR_NODES), 0);
    const double reached = sr_constants_fit(&loss, &expr, false, 200, 0, NULL, &work);
    sr_hall_of_fame_offer(hall, NULL, &mean, sr_eval_plain(&mean, &loss, &work));
    sr_hall_of_fame_offer(hall, NULL, &expr, reached);
    sr_front_make(hall, front);
    assert_int_equal(front->count, 2);
    assert_int_equal(sr_front_describe(front, data), 0);
    sr_front_correct(front, &loss);
    assert_int_equal(sr_constants_errors(&expr, data, 0, error), 0);
    sr_work_free(&work);
    sr_loss_free(&loss);
    free(hall);
}

/* (df / dc)^2 of c = 8e-208 is 1e416. The slope's error is that of the years counted from 1981, the
 * factor's relative error as large as its digits are few, and the score is that of a law. */
TEST(a_constant_of_any_size_has_a_length)
{
    static struct sr_front near_zero, far;
    double x[FEATURES * ROWS], y[ROWS], error[2][SR_NODES];
    struct sr_data data = growth(x, y, 0);
    describe(&data, "0.1 * exp(0.24 * r)", &near_zero, error[0]);
    data = growth(x, y, 1981);
    describe(&data, "8.669e-208 * exp(0.24 * r)", &far, error[1]);
    const double c[2] = {near_zero.expr[1].node[0].value, far.expr[1].node[0].value};
    if (!near(far.loss[1], near_zero.loss[1], 1e-3))
        fail_msg("loss %.9g, of years from 0 %.9g", far.loss[1], near_zero.loss[1]);
    assert_true(near(error[1][1], error[0][1], 2e-2));
    assert_true(error[1][0] > 0 && error[1][0] / c[1] > error[0][0] / c[0] &&
                error[1][0] / c[1] < 1000 * error[0][0] / c[0]);
    assert_true(isfinite(far.mdl[1]) && isfinite(far.cost[1]));
    /* the length is that of years from their middle; of years near 0 the factor is that at 0 */
    if (!(fabs(far.mdl[1] - near_zero.mdl[1]) < 1.5))
        fail_msg("length %.9g, of years from 0 %.9g", far.mdl[1], near_zero.mdl[1]);
    if (!(far.score[1] > 0.5 && far.score[1] < 10))
        fail_msg("score %g", far.score[1]);
    assert_true(far.fair[1] > far.loss[1] && far.fair[1] < far.fair[0]);
}

/* From a slope that is 6% off, as a search meets it: where the slope changes by 0.01, the factor
 * has to change by e^20. 30 steps are what a search spends. */
TEST(a_fit_follows_slope_and_factor_of_any_size)
{
    static const char *const text[] = {"1.56e-221 * exp(0.255 * r)", "exp(0.255 * r) / 6.4e220",
                                       "1.3e-195 * exp(0.225 * r) + 0.5", "1e-20 * exp(0.0225 * r)",
                                       "2e97 * exp(r * (-0.11))"};
    double x[FEATURES * ROWS], y[ROWS];
    const struct sr_data data = growth(x, y, 1981);
    struct sr_loss loss;
    struct sr_work work;
    assert_int_equal(sr_work_init(&work, ROWS, SR_NODES), 0);
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        struct sr_expr expr = formula(text[k]);
        const double slope = k < 3 ? 0.24 : k < 4 ? 0.024 : -0.12;
        for (int i = 0; i < ROWS; i++)
            y[i] = 3 * exp(slope * (x[i] - 1995)) + (i % 2 ? 1.7 : -1.7);
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
        const double reached = sr_constants_fit(&loss, &expr, false, 30, 0, NULL, &work);
        if (!(reached < 1.7 * 1.7))
            fail_msg("%s: loss %.4g, expected at most %.4g", text_of(&expr), reached, 1.7 * 1.7);
        sr_loss_free(&loss);
    }
    sr_work_free(&work);
}

/* A row whose length is unknown is not the best one, and no score is infinite or NaN. */
TEST(an_unknown_length_is_no_short_one)
{
    static struct sr_front front;
    const struct sr_loss loss = {.kind = ORR_SR_L2, .cases = 40};
    static struct sr_hall_of_fame hall;
    static const double unknown[] = {NAN, INFINITY};
    const char *const text[] = {"25.0", "r * 1.5", "exp(0.2 * r) * 3"};
    for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++) {
        sr_hall_of_fame_clear(&hall);
        for (int i = 0; i < 3; i++) {
            const struct sr_expr expr = formula(text[i]);
            sr_hall_of_fame_offer(&hall, NULL, &expr, i == 0 ? 100 : i == 1 ? 40 : 1);
        }
        sr_front_make(&hall, &front);
        front.rows = 40;
        front.worth = 20;
        front.cost[0] = 3;
        front.cost[1] = unknown[k];
        front.cost[2] = 12;
        sr_front_correct(&front, &loss);
        for (int i = 0; i < 3; i++)
            assert_true(isfinite(front.fair[i]) && isfinite(front.score[i]) &&
                        fabs(front.score[i]) < 10);
        assert_true(front.fair[1] > 40);
        assert_int_equal(sr_front_select(&front, SR_BEST), 2);
    }
}

static bool sound(const struct sr_expr *expr)
{
    for (int i = 0; i < expr->count; i++)
        if (expr->node[i].op == SR_CONSTANT &&
            (!isfinite(expr->node[i].value) || expr->node[i].value == 0))
            return false;
    return true;
}

/* Each form is one that some rewriting inverts, multiplies out, divides or raises. Values at the
 * row stay, and no constant becomes infinite or 0. */
TEST(rewriting_keeps_constants_in_range)
{
    static const char *const text[] = {
        "r * m1 * 2.4482357e-313",
        "m1 / (r / 3e-308)",
        "r * 1.6e308",
        "(r + 1e-200) * 1e-200 * 1e200",
        "(r * 1e200 + 3e199) / 1e-150 * 1e-120",
        "square(1e-170 * r) / 1e-300",
        "1e-150 * r * (1e-150 * m1) * 1e150 * 1e140",
        "inv(1e-310 * r) * 1e-300",
        "(1e-200 * r + 1e-190 * m1) * 1e-110",
        "cube(r / 1e120) * 1e306",
        "exp(r) * 3e-311 + exp(r) * 2e-311",
        "sqrt(1e-300 * r) * 1e-120 / 1e-110",
        "(r / 1e-200) / 1e-200 / 1e200",
        "r / 5e-324 * 1e-320",
    };
    const uint64_t operators =
        (uint64_t)1 << SR_ADD | (uint64_t)1 << SR_SUB | (uint64_t)1 << SR_MUL |
        (uint64_t)1 << SR_DIV | (uint64_t)1 << SR_INV | (uint64_t)1 << SR_SQUARE |
        (uint64_t)1 << SR_CUBE | (uint64_t)1 << SR_SQRT | (uint64_t)1 << SR_EXP |
        (uint64_t)1 << SR_CONSTANT | (uint64_t)1 << SR_FEATURE;
    const double x[FEATURES] = {1.7, 2.3, 0.9}, y = 1;
    const struct sr_data data = {.rows = 1, .features = FEATURES, .x = x, .y = &y};
    struct sr_loss loss;
    struct sr_work work;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
    assert_int_equal(sr_work_init(&work, 1, SR_NODES), 0);
    const struct sr_tidy tidy = {.loss = &loss, .operators = operators, .maxsize = SR_NODES};
    for (size_t k = 0; k < sizeof text / sizeof *text; k++)
        for (int step = 0; step < 6; step++) {
            struct sr_expr expr = formula(text[k]), other;
            double before, after;
            if (!sr_eval(&expr, &data, &before))
                break;
            if (step == 0)
                sr_expr_rewrite(NULL, &expr, operators);
            if (step == 1)
                sr_tidy_factors(&tidy, &expr);
            if (step == 2 && sr_tidy_distribute(&tidy, &expr, &other))
                expr = other;
            if (step == 3)
                sr_expr_collect(NULL, &expr);
            if (step == 4)
                sr_expr_into_sum(NULL, &expr, operators);
            if (step == 5 && sr_expr_absorb(&expr, 1e200))
                before *= 1e200;
            if (!sound(&expr))
                fail_msg("step %d makes %s of %s", step, text_of(&expr), text[k]);
            if (!sr_eval(&expr, &data, &after) || !near(after, before, 1e-9))
                fail_msg("step %d makes %s of %s: %g, expected %g", step, text_of(&expr), text[k],
                         after, before);
        }
    sr_work_free(&work);
    sr_loss_free(&loss);
}

/* A factor that no constant can take without leaving the range is written beside the formula. */
TEST(factors_out_of_range_are_not_absorbed)
{
    static const struct {
        const char *text;
        double factor;
    } list[] = {{"1e-200 * r", 1e-200}, {"1e300 * r", 1e30},           {"inv(1e200 * r)", 1e-150},
                {"3 / r", 1e-320},      {"inv(inv(2.5 * r))", 5e-324}, {"2 * r + 1e-300", 1e-30}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        struct sr_expr expr = formula(list[k].text);
        const struct sr_expr before = expr;
        assert_false(sr_expr_absorb(&expr, list[k].factor));
        assert_true(sr_expr_hash(&expr) == sr_expr_hash(&before));
        assert_true(sr_expr_scale(&expr, list[k].factor));
        assert_int_equal(expr.count, before.count + 2);
    }
}

TESTS(NULL, NULL)
