/* test_standard_errors.c - standard errors of constants: closed forms, and coverage on generated
 * tables. */
#include <math.h>

#include "symreg/formulas.h"

enum { ROWS = 40, TABLES = 1500 };

/* A straight line: the errors of the text books. */
TEST(a_line_in_closed_form)
{
    double x[3 * ROWS] = {0}, y[ROWS], error[2];
    double mean = 0, spread = 0, residual = 0;
    for (int i = 0; i < ROWS; i++) {
        x[i] = 1 + 0.1 * i;
        y[i] = 2.385 * x[i] - 0.7 + 0.05 * sin(12.9898 * i);
        mean += x[i] / ROWS;
    }
    const struct sr_data data = {.rows = ROWS, .features = 3, .x = x, .y = y};
    const struct sr_expr line = formula("2.385 * r + -0.7");
    for (int i = 0; i < ROWS; i++) {
        const double d = 2.385 * x[i] - 0.7 - y[i];
        spread += (x[i] - mean) * (x[i] - mean);
        residual += d * d;
    }
    const double s2 = residual / (ROWS - 2);
    assert_int_equal(sr_constants_errors(&line, &data, 0, error), 0);
    assert_true(near(error[0], sqrt(s2 / spread), 1e-10));
    assert_true(near(error[1], sqrt(s2 * (1.0 / ROWS + mean * mean / spread)), 1e-10));
    assert_int_equal(sr_constants_errors(&line, &data, 4, error), 0);
    assert_true(near(error[0], 2 / sqrt(spread), 1e-10));
}

TEST(what_cannot_be_told_has_no_error)
{
    double x[3 * 2] = {1, 2, 1, 2, 1, 2};
    const double y[2] = {1, 3};
    double error[3];
    const struct sr_data data = {.rows = 2, .features = 3, .x = x, .y = y};
    struct sr_expr expr = formula("(0.5 * r) * 3");
    assert_int_equal(sr_constants_errors(&expr, &data, 1, error), 0);
    assert_true(isnan(error[0]) && isnan(error[1]));
    expr = formula("2 * r + -1"); /* as many rows as constants */
    assert_int_equal(sr_constants_errors(&expr, &data, 0, error), 0);
    assert_true(isnan(error[0]) && isnan(error[1]));
    assert_int_equal(sr_constants_errors(&expr, &data, 1, error), 0);
    assert_true(isfinite(error[0]) && isfinite(error[1]));
}

/* Of 120 / (exp(-0.5 r + 3) + 0.3) the rows tell three numbers: with a 1 in place of 0.3 these have
 * errors, which are those of the form with three constants. */
TEST(a_constant_that_others_make_up_for_becomes_one)
{
    double x[3 * ROWS] = {0}, y[ROWS], error[5], fitted[5], three[3];
    struct sr_work work;
    struct sr_loss loss;
    for (int i = 0; i < ROWS; i++) {
        x[i] = 0.5 * i;
        y[i] = 400 / (exp(-0.5 * x[i] + 4.2) + 1) + 3 * sin(12.9898 * i);
    }
    const struct sr_data data = {.rows = ROWS, .features = 3, .x = x, .y = y};
    struct sr_expr expr = formula("120 / (exp(-0.5 * r + 3) + 0.3)"),
                   own = formula("400 / (exp(-0.5 * r + 4.2) + 1)"),
                   line = formula("2.385 * r + -0.7");
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
    assert_int_equal(sr_work_init(&work, ROWS, 11), 0);
    const double before = sr_constants_fit(&loss, &expr, false, 60, 0, NULL, &work);
    assert_int_equal(sr_constants_errors(&expr, &data, 0, error), 0);
    assert_true(isnan(error[0]) && isnan(error[3]));
    assert_true(sr_constants_tie(&loss, &expr, &work));
    assert_int_equal(sr_expr_constants(&expr, fitted), 4);
    if (fitted[3] != 1)
        fail_msg("the redundant constant became %g", fitted[3]);
    assert_true(near(sr_eval_plain(&expr, &loss, &work), before, 1e-4));
    assert_int_equal(sr_constants_errors(&expr, &data, 0, error), 0);
    for (int i = 0; i < own.count; i++)
        if (sr_is_number(&own.node[i]) && own.node[i].value == 1)
            own.node[i].feature = SR_FIXED;
    sr_constants_fit(&loss, &own, false, 60, 0, NULL, &work);
    assert_int_equal(sr_constants_errors(&own, &data, 0, three), 0);
    for (int c = 0; c < 3; c++)
        if (!near(error[c], three[c], 0.02))
            fail_msg("the error of constant %d is %g, that of the form with three %g", c, error[c],
                     three[c]);
    assert_true(isnan(error[3]));
    double low[5], high[5];
    assert_int_equal(sr_constants_profile(&expr, &data, 0, 0.95, low, high), 0);
    assert_true(isnan(low[3]));
    for (int c = 0; c < 3; c++)
        if (!near(high[c] - low[c], 4.06 * error[c], 0.1)) /* t of 37 degrees of freedom */
            fail_msg("the interval of constant %d is %g .. %g", c, low[c], high[c]);
    sr_constants_fit(&loss, &line, false, 60, 0, NULL, &work);
    assert_false(sr_constants_tie(&loss, &line, &work));
    sr_work_free(&work);
    sr_loss_free(&loss);
}

/* And of a curve under the deviance of 0 and 1. */
TEST(a_redundant_constant_of_a_probability_becomes_one)
{
    double x[3 * ROWS] = {0}, y[ROWS], fitted[5];
    struct sr_work work;
    struct sr_loss loss;
    for (int i = 0; i < ROWS; i++) {
        x[i] = 0.2 * i;
        y[i] = i > ROWS / 2 ? i % 4 != 0 : i % 5 == 0;
    }
    const struct sr_data data = {.rows = ROWS, .features = 3, .x = x, .y = y};
    struct sr_expr expr = formula("0.3 / (exp(1 - 0.4 * r) + 0.4)");
    assert_int_equal(sr_loss_init(&loss, ORR_SR_BERNOULLI, &data), 0);
    assert_int_equal(sr_work_init(&work, ROWS, 11), 0);
    const double before = sr_constants_fit(&loss, &expr, false, 60, 0, NULL, &work);
    assert_true(sr_constants_tie(&loss, &expr, &work));
    sr_expr_constants(&expr, fitted);
    if (fitted[3] != 1)
        fail_msg("the redundant constant became %g", fitted[3]);
    assert_true(near(sr_eval_plain(&expr, &loss, &work), before, 1e-4));
    sr_work_free(&work);
    sr_loss_free(&loss);
}

/* Of an exact curve of ten rows, too, whose loss counts as 0 before and afterwards. */
TEST(a_constant_of_a_short_exact_curve_becomes_one)
{
    enum { SHORT = 10 };
    double x[3 * SHORT] = {0}, y[SHORT], fitted[4];
    struct sr_work work;
    struct sr_loss loss;
    for (int i = 0; i < SHORT; i++) {
        x[i] = 1960 + 6 * i;
        y[i] = 91 / (exp(0.2 * (1992 - x[i])) + 1);
    }
    const struct sr_data data = {.rows = SHORT, .features = 3, .x = x, .y = y};
    struct sr_expr expr = formula("89 / (exp(0.2 * (1991.9 - r)) + 0.97)");
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
    assert_int_equal(sr_work_init(&work, SHORT, 11), 0);
    assert_true(sr_constants_fit(&loss, &expr, false, 60, 0, NULL, &work) <= loss.noise);
    assert_true(sr_constants_tie(&loss, &expr, &work));
    sr_expr_constants(&expr, fitted);
    if (fitted[3] != 1 || !near(fitted[0], 91, 1e-9))
        fail_msg("the constants became %.12g and %.12g", fitted[0], fitted[3]);
    sr_work_free(&work);
    sr_loss_free(&loss);
}

/* How often, in percent, the true constant lies within `reach` standard errors of the fitted one,
 * for each of the three constants of 3.2 exp(-0.8 r) + 0.7, whose rows have different sigmas. */
static void measure_coverage(bool known, double reach, double percent[3])
{
    static const double truth[3] = {3.2, -0.8, 0.7};
    gsl_rng *rng = random_stream(known ? 4301 : 4302);
    int inside[3] = {0};
    for (int table = 0; table < TABLES; table++) {
        double x[3 * ROWS] = {0}, y[ROWS], weight[ROWS], error[3], fitted[3];
        struct sr_work work;
        struct sr_loss loss;
        double mean = 0;
        for (int i = 0; i < ROWS; i++) {
            const double sigma = i % 3 ? 0.02 : 0.08;
            x[i] = 4 * gsl_rng_uniform(rng);
            y[i] = 3.2 * exp(-0.8 * x[i]) + 0.7 + sigma * gsl_ran_gaussian(rng, 1);
            weight[i] = 1 / (sigma * sigma);
            mean += weight[i] / ROWS;
        }
        for (int i = 0; i < ROWS; i++)
            weight[i] /= mean; /* as a table has them */
        const struct sr_data data = {.rows = ROWS, .features = 3, .x = x, .y = y, .weight = weight};
        struct sr_expr expr = formula("3 * exp(-0.7 * r) + 0.8");
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
        assert_int_equal(sr_work_init(&work, ROWS, 7), 0);
        sr_constants_fit(&loss, &expr, false, 60, 0, NULL, &work);
        assert_int_equal(sr_constants_errors(&expr, &data, known ? 1 / mean : 0, error), 0);
        assert_int_equal(sr_expr_constants(&expr, fitted), 3);
        for (int c = 0; c < 3; c++)
            inside[c] += fabs(fitted[c] - truth[c]) <= reach * error[c];
        sr_work_free(&work);
        sr_loss_free(&loss);
    }
    for (int c = 0; c < 3; c++)
        percent[c] = 100.0 * inside[c] / TABLES;
    gsl_rng_free(rng);
}

/* 95% of the normal distribution, and of Student's with 37 degrees of freedom; three standard
 * deviations of a count of 1,500 are 1.7%. */
TEST(coverage_of_95_percent)
{
    for (int known = 0; known < 2; known++) {
        double percent[3];
        measure_coverage(known, known ? 1.95996 : 2.02619, percent);
        for (int c = 0; c < 3; c++)
            if (!(percent[c] >= 93.3 && percent[c] <= 96.7))
                fail_msg("sigmas %s, constant %d: %.2f%% of the intervals hold the truth",
                         known ? "known" : "estimated", c, percent[c]);
    }
}

TESTS(NULL, NULL)
