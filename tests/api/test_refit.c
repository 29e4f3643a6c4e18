/* test_refit.c - formulas of the caller: fitted to a table, and in every notation. */
#include "api/orrery.h"
#include "formulas.h"
#include "refused.h"

#include <math.h>

enum { ROWS = 40 };
static double x[2 * ROWS], y[ROWS];
static const char *const names[] = {"t", "exp"};

/* y = a exp(-0.7 t) + b, with the same deviations of either sign in every four rows. */
static struct orrery_regression *decay(double a, double b, double deviation, const char *define)
{
    struct orrery_regression *r = NULL;
    for (int i = 0; i < ROWS; i++) {
        static const double sign[] = {1, -1, -1, 1};
        x[2 * i] = 0.1 * i;
        x[2 * i + 1] = 1 + i % 7;
        y[i] = a * exp(-0.7 * x[2 * i]) + b + deviation * sign[i % 4];
    }
    const struct orrery_table table = {
        .bytes = sizeof table, .rows = ROWS, .columns = 2, .x = x, .y = y, .names = names};
    assert_int_equal(orrery_regression_create(ORRERY_INTERFACE, &r), 0);
    assert_int_equal(orrery_regression_set(r, "define", define), 0);
    assert_int_equal(orrery_regression_data(r, &table), 0);
    return r;
}

TEST(constants_are_fitted_to_the_table)
{
    static const char *const formulas[] = {"5 * exp(t * -0.1) + 1", "3", "9 * \"exp\" / 2 + t"};
    struct orrery_regression *r = decay(2.385, 0.25, 0, NULL);
    struct orrery_row f = {.bytes = sizeof f};
    double constant[3], error[3];
    int rows = 0, row = -1;
    assert_int_equal(orrery_regression_refit(r, formulas, 3), 0);
    assert_int_equal(rows_of(r, &rows), 0);
    assert_int_equal(rows, 2); /* complexity rises, loss falls: the third one goes */
    assert_int_equal(orrery_regression_select(r, "best", &row), 0);
    assert_int_equal(row, 1);
    assert_int_equal(orrery_regression_row(r, 1, &f), 0);
    assert_int_equal(f.constants, 3);
    assert_true(f.loss < 1e-25 && f.score > 1);
    assert_int_equal(orrery_regression_constants(r, 1, constant, error), 0);
    static const double expected[] = {2.385, -0.7, 0.25};
    for (int c = 0; c < 3; c++) {
        assert_true(fabs(constant[c] - expected[c]) < 1e-9);
        assert_true(error[c] < 1e-9);
    }
    assert_int_equal(orrery_regression_row(r, 0, &f), 0);
    assert_int_equal(orrery_regression_constants(r, 0, constant, NULL), 0);
    double mean = 0;
    for (int i = 0; i < ROWS; i++)
        mean += y[i] / ROWS;
    assert_true(fabs(constant[0] - mean) < 0.1 * f.loss);
    orrery_regression_free(r);
}

/* A mean of n rows is known up to s / sqrt(n), s^2 the sum of squares over n - 1. */
TEST(standard_errors_are_those_of_least_squares)
{
    static const char *const mean[] = {"1"};
    struct orrery_regression *r = decay(0, 3, 0.5, NULL);
    double constant = 0, error = 0, sum = 0;
    assert_int_equal(orrery_regression_refit(r, mean, 1), 0);
    assert_int_equal(orrery_regression_constants(r, 0, &constant, &error), 0);
    for (int i = 0; i < ROWS; i++)
        sum += (y[i] - constant) * (y[i] - constant);
    assert_true(fabs(error - sqrt(sum / (ROWS - 1) / ROWS)) < 1e-9);
    assert_int_equal(orrery_regression_set(r, "loss", "l1"), 0);
    assert_int_equal(orrery_regression_refit(r, mean, 1), 0);
    assert_int_equal(orrery_regression_constants(r, 0, &constant, &error), 0);
    assert_true(isnan(error) != 0);
    orrery_regression_free(r);
}

/* Of a mean the profile is Student's interval, and a new value has the noise of one row and the
 * mean's own. */
TEST(intervals_are_those_of_a_mean)
{
    static const char *const mean[] = {"1"};
    struct orrery_regression *r = decay(0, 3, 0.5, NULL);
    double constant = 0, error = 0, low = 0, high = 0, covariance = 0, variance = 0, freedom = 0;
    double value[2], deviation[2];
    const double student = 2.022690912; /* 97.5% of 39 degrees of freedom */
    assert_int_equal(orrery_regression_refit(r, mean, 1), 0);
    assert_int_equal(orrery_regression_constants(r, 0, &constant, &error), 0);
    assert_int_equal(orrery_regression_intervals(r, 0, &low, &high), 0);
    assert_true(fabs(orrery_interval_factor(0.95, ROWS - 1) - student) < 1e-8);
    assert_true(isnan(orrery_interval_factor(95, 9)) && isnan(orrery_interval_factor(0.9, 0)));
    /* around the mean itself, of which the constant has the first digits */
    assert_true(fabs((high - low) / 2 - student * error) < 1e-3 * error);
    assert_true(fabs((high + low) / 2 - constant) < 0.06 * error);
    assert_int_equal(orrery_regression_covariance(r, 0, &covariance, &variance, &freedom), 0);
    assert_true(fabs(covariance - error * error) < 1e-12 && freedom >= ROWS - 1);
    assert_true(fabs(variance - ROWS * covariance) < 1e-12);
    const struct orrery_table table = {
        .bytes = sizeof table, .rows = 2, .columns = 2, .x = x, .y = y};
    static const double two[] = {4, 0.5, 1};
    struct orrery_formula *f;
    assert_int_equal(orrery_formula_parse(ORRERY_INTERFACE, "3 + 2 * t", names, 2, NULL, &f), 0);
    assert_int_equal(orrery_formula_deviation(f, &table, 2, two, value, deviation), 0);
    for (int i = 0; i < 2; i++) { /* var(a + b t) */
        const double t = x[2 * i];
        assert_true(fabs(value[i] - (3 + 2 * t)) < 1e-12);
        assert_true(fabs(deviation[i] - sqrt(4 + 2 * 0.5 * t + t * t)) < 1e-12);
    }
    REFUSED(f, ORRERY_EINVAL, orrery_formula_deviation(f, &table, 2, NULL, value, deviation),
            "pointers");
    REFUSED(f, ORRERY_EINVAL, orrery_formula_deviation(f, &table, 1, two, value, deviation),
            "expected 2, those of the formula, found 1");
    orrery_formula_free(f);
    assert_int_equal(orrery_formula_parse(ORRERY_INTERFACE, "1 / t", names, 2, NULL, &f), 0);
    assert_int_equal(orrery_formula_deviation(f, &table, 1, two, value, deviation), 0);
    assert_true(isnan(value[0]) && isnan(deviation[0]) && !isnan(deviation[1]));
    orrery_formula_free(f);
    REFUSED(r, ORRERY_EINVAL, orrery_regression_intervals(r, 1, &low, &high), "row");
    assert_int_equal(orrery_regression_set(r, "loss", "l1"), 0);
    assert_int_equal(orrery_regression_refit(r, mean, 1), 0);
    assert_int_equal(orrery_regression_intervals(r, 0, &low, &high), 0);
    assert_int_equal(orrery_regression_covariance(r, 0, &covariance, &variance, &freedom), 0);
    assert_true(isnan(low) && isnan(high) && isnan(covariance) && isnan(variance));
    orrery_regression_free(r);
}

TEST(formulas_in_every_notation)
{
    static const char *const expected[] = {[ORRERY_TEXT] = "(twice(t) + exp(\"exp\"))",
                                           [ORRERY_LATEX] = "\\operatorname{twice}",
                                           [ORRERY_C] = "exp(exp_)",
                                           [ORRERY_SYMPY] = "exp(exp_)",
                                           [ORRERY_NUMPY] = "np.exp(exp_)",
                                           [ORRERY_JAX] = "jnp.exp(exp_)",
                                           [ORRERY_PYTORCH] = "torch.exp(exp_)",
                                           [ORRERY_MATHML] = "<mi>twice</mi>"};
    const char *define = "twice(x) = 2 * x";
    char text[200];
    size_t needed = 0;
    struct orrery_formula *f;
    assert_int_equal(
        orrery_formula_parse(ORRERY_INTERFACE, "twice(t) + exp(\"exp\")", names, 2, define, &f), 0);
    for (int n = ORRERY_TEXT; n <= ORRERY_MATHML; n++) {
        assert_int_equal(orrery_formula_print(f, n, text, sizeof text, &needed), 0);
        if (!strstr(text, expected[n]))
            fail_msg("expected \"%s\" in \"%s\"", expected[n], text);
        assert_int_equal(needed, strlen(text) + 1);
    }
    orrery_formula_free(f);
    const struct orrery_table table = {
        .bytes = sizeof table, .rows = ROWS, .columns = 2, .x = x, .y = y, .names = names};
    double value[ROWS];
    assert_int_equal(evaluate_text("twice(t)", define, &table, value), 0);
    for (int i = 0; i < ROWS; i++)
        assert_true(value[i] == 2 * x[2 * i]);
}

TEST(formulas_are_checked)
{
    static const char *const well[] = {"t + 1"}, *const wrong[] = {"t", "t + z"},
                             *const none[] = {NULL}, *const infinite[] = {"1 / t"};
    struct orrery_regression *r = decay(2.385, 0, 0, NULL), *empty = NULL;
    char text[8];
    double constant;
    int rows = -1;
    REFUSED(r, ORRERY_EINVAL, orrery_regression_refit(r, NULL, 1), "1 to 64");
    REFUSED(r, ORRERY_EINVAL, orrery_regression_refit(r, well, 0), "1 to 64");
    REFUSED(r, ORRERY_EINVAL, orrery_regression_refit(r, well, 65), "found 65");
    REFUSED(r, ORRERY_EINVAL, orrery_regression_refit(r, none, 1), "formula");
    assert_int_equal(orrery_regression_refit(r, well, 1), 0);
    const int status = orrery_regression_refit(r, wrong, 2);
    assert_true(status == ORRERY_EINVAL || status == ORRERY_EUSAGE);
    assert_non_null(strstr(orrery_message(r), "z"));
    assert_int_equal(rows_of(r, &rows), 0);
    assert_int_equal(rows, 0);
    REFUSED(r, ORRERY_EINVAL, orrery_regression_refit(r, infinite, 1), "finite");
    REFUSED(r, ORRERY_EMISSING, orrery_regression_constants(r, 0, &constant, NULL), "no front");
    struct orrery_formula *f;
    assert_int_equal(orrery_formula_parse(ORRERY_INTERFACE, "t * t * t * t", names, 2, NULL, &f),
                     0);
    REFUSED(f, ORRERY_EINVAL, orrery_formula_print(f, ORRERY_MATHML + 1, text, sizeof text, NULL),
            "0 to 7");
    REFUSED(f, ORRERY_EINVAL, orrery_formula_print(f, ORRERY_C, text, sizeof text, NULL),
            "a capacity of");
    orrery_formula_free(f);
    assert_int_equal(orrery_regression_create(ORRERY_INTERFACE, &empty), 0);
    REFUSED(empty, ORRERY_EMISSING, orrery_regression_refit(empty, well, 1), "table");
    orrery_regression_free(empty);
    orrery_regression_free(r);
}

/* Named constants keep their values in fits, and "define" reads the definitions back. */
TEST(named_constants_are_defined)
{
    static const char *const formulas[] = {"5 * exp(t * -k) + 1"};
    struct orrery_regression *r = decay(2.385, 0.25, 0, "g(x)=x*x");
    char text[256];
    double constant[2], value[ROWS];
    size_t needed = 0;
    REFUSED(r, ORRERY_EMISSING, orrery_regression_definitions(r, text, sizeof text, NULL),
            "no front");
    assert_int_equal(orrery_regression_set(r, "constants", "k=0.7 1/s, c"), 0);
    assert_int_equal(orrery_regression_refit(r, formulas, 1), 0);
    assert_int_equal(orrery_regression_constants(r, 0, constant, NULL), 0);
    assert_true(fabs(constant[0] - 2.385) < 1e-9 && fabs(constant[1] - 0.25) < 1e-9);
    assert_int_equal(orrery_regression_definitions(r, text, sizeof text, &needed), 0);
    assert_string_equal(text, "k=0.7; c=299792458; g(x)=x*x");
    assert_int_equal(needed, strlen(text) + 1);
    const struct orrery_table table = {
        .bytes = sizeof table, .rows = ROWS, .columns = 2, .x = x, .names = names};
    assert_int_equal(evaluate_text("g(c) + k + t", text, &table, value), 0);
    assert_true(value[1] == 299792458. * 299792458. + 0.7 + 0.1);
    orrery_regression_free(r);
}

TESTS(NULL, NULL)
