/* test_sentence.c - the answer in a person's words: constants with the errors that least squares
 * give, periods and amplitudes of waves, a share of the variance with as many digits as it needs,
 * and LaTeX and MathML of rows. */
#include "symreg/formulas.h"
#include "symreg/solve/solve.h"

enum { ROWS = 40 };
static double column[FEATURES * ROWS], target[ROWS];
static struct sr_front front;
static struct sr_answer answer;

/* A table of r, m1 and m2 whose target is the formula and a residual of this size, up and down. */
static void make_table(const char *law, double noise)
{
    static struct sr_data data;
    data = (struct sr_data){.rows = ROWS, .features = FEATURES, .x = column, .y = target};
    for (int i = 0; i < ROWS; i++) {
        column[i] = 0.5 + 0.173 * i;
        column[ROWS + i] = 1 + (i * 7 % 11) / 3.0;
        column[2 * ROWS + i] = 2.385 - (i * 5 % 13) / 7.0;
    }
    const struct sr_expr expr = formula(law);
    assert_true(sr_eval(&expr, &data, target));
    for (int i = 0; i < ROWS; i++)
        target[i] += i % 2 ? noise : -noise;
    front = (struct sr_front){.count = 1};
    answer = (struct sr_answer){.target = "F",
                                .column = "F",
                                .names = feature_name,
                                .data = &data,
                                .front = &front,
                                .least_squares = true,
                                .rule = SR_BEST};
}

static const char *line_of(const char *text)
{
    static char line[SR_SENTENCE];
    front.expr[0] = formula(text);
    assert_int_equal(sr_answer_line(&answer, 0, line, sizeof line), 0);
    return line;
}

/* The line of a formula of the table "formula, noise". */
static void says(const char *text, double noise, const char *expected)
{
    make_table(text, noise);
    assert_string_equal(line_of(text), expected);
}

/* With residuals +-s in 40 rows s^2 is 40/39 of the variance, and the error of a mean
 * s / sqrt(39). */
TEST(constants_have_their_errors)
{
    says("2.5", 0.3, "F = 2.50   (2.50 +- 0.05; R2 0.00; 40 rows)");
    says("2.5", 0, "F = 2.5   (2.5; 40 rows)");
    says("2.5 * r", 1e-15, "F = 2.5 * r   (2.5; R2 1; 40 rows)"); /* rounding is no error */
    says("250123.0", 4000, "F = 250123   (250100 +- 600; R2 0.00; 40 rows)");
    says("2.5e-12", 3e-13, "F = 2.5e-12   ((2.50 +- 0.05)e-12; R2 0.00; 40 rows)");
}

/* c = sum(r^1.5 y) / sum(r^3). A factor 1 that was fitted stays, with zeros as far as its error. */
TEST(a_fitted_one_stays)
{
    double sum = 0;
    make_table("1 * r * sqrt(r)", 0.02);
    for (int i = 0; i < ROWS; i++)
        sum += pow(column[i], 3);
    const double error = 0.02 * sqrt(40 / 39.0) / sqrt(sum);
    assert_true(error > 0.00025 && error < 0.00035); /* what is shown below */
    assert_string_equal(line_of("1 * r * sqrt(r)"),
                        "F = 1.0000 * r^1.5   (1.0000 +- 0.0003; R2 0.99999; 40 rows)");
}

/* A divisor is described by the number in front that it stands for. */
TEST(divisors_are_described_by_their_reciprocal)
{
    says("r / 0.4", 0.05, "F = 2.5000 * r   (2.5000 +- 0.0018; R2 0.9999; 40 rows)");
    says("r / 0.37", 0.05, "F = r / 0.3700   (2.7027 +- 0.0018; R2 0.99991; 40 rows)");
    says("exp(log(r) / -0.3717)", 1e-4, /* the error is the exponent's */
         "F = r^(-1 / 0.371700)   (2.69034 +- 0.00002; R2 0.999999992; 40 rows)");
    says("m1 / (0.37 * r)", 0.05, "F = m1 / (0.3700 * r)   (2.703 +- 0.005; R2 0.9997; 40 rows)");
}

/* The formula that is written has its numbers in another order than the row. */
TEST(errors_stay_with_their_numbers_where_the_order_changes)
{
    make_table("370000 * exp(log(r) / -0.3717)", 300);
    const char *const line = line_of("exp(log(r) / -0.3717) * 370000");
    const char *const numbers = strstr(line, "   (");
    double c, error, exponent, of_exponent;
    assert_int_equal(
        sscanf(numbers, "   (%lf +- %lf, %lf +- %lf; R2", &c, &error, &exponent, &of_exponent), 4);
    assert_true(fabs(c / 370000 - 1) < 1e-3 && error > 20 && error < 200);
    assert_true(fabs(exponent - 2.69034) < 1e-3 && of_exponent > 1e-4 && of_exponent < 1e-3);
}

TEST(waves_have_a_period_and_an_amplitude)
{
    says("-3 + 1.7 * sin(2.1 * r + 0.4)", 0.01,
         "F = 1.700 * sin(2.1000 * r + 0.400) - 3.0000   (1.700 +- 0.002, 2.1000 +- 0.0007, "
         "0.400 +- 0.003, 3.0000 +- 0.0017; period 2.9920 +- 0.0010, amplitude 1.700 +- 0.002; "
         "R2 0.99993; 40 rows)");
    says("cos((r - 1.1) / 0.3) / 0.5", 0, /* no amplitude of other factors, no period of squares */
         "F = 2 * cos((r - 1.1) / 0.3)   (2, 1.1, 3.33333; period 1.88496, amplitude 2; R2 1; "
         "40 rows)");
    says("m1 * cos(square(r)) + m2 * sin(3 * r)", 0,
         "F = m1 * cos(r^2) + m2 * sin(3 * r)   (3; period 2.0944; R2 1; 40 rows)");
}

/* A number is an amplitude where the wave is a term of the whole formula. */
TEST(amplitudes_are_those_of_the_formula)
{
    says("(square(m2) + 5.298 * sin(3.0014 * r) + r * m2) / 7.689", 0,
         "F = (m2^2 + 5.298 * sin(3.0014 * r) + r * m2) / 7.689   (5.298, 3.0014, 0.130056; "
         "period 2.09342; R2 1; 40 rows)");
    says("exp(0.4 * sin(2.1 * r) + m2)", 0,
         "F = exp(0.4 * sin(2.1 * r) + m2)   (0.4, 2.1; period 2.99199; R2 1; 40 rows)");
    says("r - (2.385 * cos(2.1 * r) - m2)", 0.01,
         "F = r - 2.385 * cos(2.1000 * r) + m2   (2.385 +- 0.002, 2.1000 +- 0.0002; period "
         "2.9920 +- 0.0003, amplitude 2.385 +- 0.002; R2 0.99998; 40 rows)");
}

/* The square of a wave, and what else has the values of its negative, repeats after half a turn. */
TEST(even_functions_halve_the_period)
{
    says("4.0 * square(cos(1.5 * r))", 0,
         "F = 4 * cos(1.5 * r)^2   (4, 1.5; period 2.0944; R2 1; 40 rows)");
    says("abs(sin(1.5 * r) / m1) + m2", 0,
         "F = abs(sin(1.5 * r) / m1) + m2   (1.5; period 2.0944; R2 1; 40 rows)");
    says("cos(1.5 * r) ^ 4", 0, "F = cos(1.5 * r)^4   (1.5; period 2.0944; R2 1; 40 rows)");
    says("cube(cos(1.5 * r))", 0, "F = cos(1.5 * r)^3   (1.5; period 4.18879; R2 1; 40 rows)");
    says("square(cos(1.5 * r) + 2)", 0,
         "F = (cos(1.5 * r) + 2)^2   (1.5, 2; period 4.18879; R2 1; 40 rows)");
    says("2.5 ^ cos(1.5 * r)", 0,
         "F = 2.5^cos(1.5 * r)   (2.5, 1.5; period 4.18879; R2 1; 40 rows)");
}

/* A number that its error exceeds is written by two digits, and not as 0. */
TEST(numbers_below_their_error_are_shown)
{
    says("24.8", 1900, "F = 24.8   (25 +- 300; R2 0.00; 40 rows)");
    says("2.4e38", 2e41, "F = 2.4e+38   (2.4e+38 +- 3e+40; R2 0.00; 40 rows)");
    says("0.0248", 0.7, "F = 0.0248   (0.025 +- 0.11; R2 0.00; 40 rows)");
}

/* A target is written as a formula writes it: quoted where it is no plain word, and its logarithm
 * by the name that formulas have for it. */
TEST(targets_are_written_as_in_formulas)
{
    make_table("log(r)", 0);
    answer.column = answer.target = "flux, 10 \"um";
    assert_string_equal(line_of("r"), "\"flux, 10 \"\"um\" = r   (R2 -18.37; 40 rows)");
    answer.column = "F";
    answer.log_target = true;
    assert_string_equal(line_of("log(r)"), "log(F) = log(r)   (R2 1; 40 rows)");
}

/* Other losses have no standard errors. */
TEST(errors_belong_to_least_squares)
{
    make_table("2.5 * r", 0.1);
    answer.least_squares = false;
    assert_string_equal(line_of("2.5 * r"), "F = 2.5 * r   (R2 0.9996; 40 rows)");
}

/* A form that predicts the rows otherwise is not shown: here the sum loses all digits of r. */
TEST(what_is_shown_is_what_was_judged)
{
    make_table("r", 0);
    const char *const line = line_of("((r + 1e13) + (0.7 - 1e13))");
    assert_int_equal(strncmp(line, "F = r + 1e+13 + (0.7 - 1e+13)  ", 31), 0);
}

/* LaTeX and MathML of files are what people read, and predict as the formula of the front. */
TEST(what_is_typeset_is_what_was_judged)
{
    static const char *const lost = "((r + 1e13) + (0.7 - 1e13))";
    static const char *const kept = "(m1 * (0.5 * sqrt(m1))) / (r * r)";
    struct sr_export names;
    char text[SR_TEXT], raw[SR_TEXT];
    make_table("r", 0);
    sr_export_make(&names, feature_name, FEATURES);
    for (int k = 0; k < 2; k++) {
        const enum sr_notation notation = k ? SR_LATEX : SR_MATHML;
        line_of(lost);
        assert_int_equal(sr_answer_write(&answer, 0, notation, &names, text, sizeof text), 0);
        sr_expr_text(NULL, &front.expr[0], notation, feature_name, raw, sizeof raw);
        assert_string_equal(text, raw);
        line_of(kept);
        assert_int_equal(sr_answer_write(&answer, 0, notation, &names, text, sizeof text), 0);
        assert_non_null(strstr(text, k ? "\\frac{0.5 \\, m_{1}^{1.5}}{r^{2}}"
                                       : "<mrow><msup><mi>r</mi><mn>2</mn></msup></mrow></mfrac>"));
    }
    assert_int_equal(sr_answer_write(&answer, 0, SR_C, &names, text, sizeof text), 0);
    assert_string_equal(text, "m1 * (0.5 * sqrt(m1)) / (r * r)");
}

TESTS(NULL, NULL)
