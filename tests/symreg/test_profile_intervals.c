/* test_profile_intervals.c - profile intervals of constants and intervals of new observations:
 * closed forms, and coverage on generated tables. */
#include <math.h>

#include <gsl/gsl_cdf.h>

#include "symreg/formulas.h"

enum { ROWS = 40, TABLES = 1500, PREDICTED = 200, NEW_ROWS = 50 };
static const double normal_95 = 1.959963985, student_95_of_37 = 2.026192463;

static struct sr_data one_column(size_t rows, const double *x, const double *y,
                                 const double *weight)
{
    return (struct sr_data){.rows = rows, .features = 3, .x = x, .y = y, .weight = weight};
}

/* The formula with its constants fitted to the data. */
static struct sr_expr fitted(const char *text, const struct sr_data *data)
{
    struct sr_expr expr = formula(text);
    struct sr_work work;
    struct sr_loss loss;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, data), 0);
    assert_int_equal(sr_work_init(&work, data->rows, 15), 0);
    sr_constants_fit(&loss, &expr, false, 60, 0, NULL, &work);
    sr_work_free(&work);
    sr_loss_free(&loss);
    return expr;
}

TEST(quantiles_of_the_tables)
{
    assert_true(near(sr_interval_factor(0.95, INFINITY), normal_95, 1e-8));
    assert_true(near(sr_interval_factor(0.95, 37), student_95_of_37, 1e-8));
    for (int k = 0; k < 12; k++) {
        static const double freedom[] = {1, 2, 3, 4, 7, 10, 59, 998, 999, 1000, 1001, 20000};
        static const double level[] = {0.01, 0.5, 0.95, 0.99, 0.9999};
        for (size_t l = 0; l < sizeof level / sizeof *level; l++) {
            const double tail = (1 - level[l]) / 2;
            assert_true(near(sr_interval_factor(level[l], freedom[k]),
                             gsl_cdf_tdist_Qinv(tail, freedom[k]), 1e-9));
            assert_true(
                near(sr_interval_factor(level[l], INFINITY), gsl_cdf_ugaussian_Qinv(tail), 1e-9));
        }
    }
    assert_true(isnan(sr_interval_factor(0.95, 0)));
}

/* Of a formula that is linear in its constants the profile is the standard error's interval, also
 * from constants that were rounded. */
TEST(a_line_has_the_intervals_of_its_errors)
{
    double x[3 * ROWS] = {0}, y[ROWS], error[2], constant[2], low[2], high[2];
    for (int i = 0; i < ROWS; i++) {
        x[i] = 1 + 0.1 * i;
        y[i] = 2.385 * x[i] - 0.7 + 0.05 * sin(12.9898 * i);
    }
    const struct sr_data data = one_column(ROWS, x, y, NULL);
    const struct sr_expr line = fitted("2 * r + -0.5", &data), rounded = formula("2.4 * r + -0.7");
    sr_expr_constants(&line, constant);
    for (int known = 0; known < 2; known++) {
        const double variance = known ? 0.03 : 0;
        assert_int_equal(sr_constants_errors(&line, &data, variance, error), 0);
        assert_int_equal(sr_constants_profile(&rounded, &data, variance, 0.95, low, high), 0);
        for (int c = 0; c < 2; c++) {
            const double reach = error[c] * sr_interval_factor(0.95, known ? INFINITY : ROWS - 2);
            assert_true(near(low[c], constant[c] - reach, 1e-5));
            assert_true(near(high[c], constant[c] + reach, 1e-5));
        }
    }
}

/* The rate of a decay has one interval, whether days or dates are counted: the constants of
 * exp(c - r / b) with dates follow each other to seven digits. */
TEST(dates_have_the_intervals_of_days)
{
    static const double zero = 20000.5;
    double x[3 * ROWS] = {0}, far[3 * ROWS] = {0}, y[ROWS], constant[2], low[2], high[2];
    double far_low[2], far_high[2];
    char text[128];
    for (int i = 0; i < ROWS; i++) {
        x[i] = 0.75 * i;
        far[i] = zero + x[i];
        y[i] = exp(3.9 - x[i] / 7.9) + sin(12.9898 * i);
    }
    const struct sr_data days = one_column(ROWS, x, y, NULL);
    const struct sr_data dates = one_column(ROWS, far, y, NULL);
    const struct sr_expr near_zero = fitted("exp(3.8 - r / 8)", &days);
    sr_expr_constants(&near_zero, constant);
    snprintf(text, sizeof text, "exp(%.17g - r / %.17g)", constant[0] + zero / constant[1],
             constant[1]);
    const struct sr_expr far_from_zero = formula(text);
    assert_int_equal(sr_constants_profile(&near_zero, &days, 0, 0.95, low, high), 0);
    assert_int_equal(sr_constants_profile(&far_from_zero, &dates, 0, 0.95, far_low, far_high), 0);
    const double width = high[1] - low[1];
    if (!(fabs(far_low[1] - low[1]) < 0.01 * width) ||
        !(fabs(far_high[1] - high[1]) < 0.01 * width))
        fail_msg("of dates the interval is %.6g .. %.6g, of days %.6g .. %.6g", far_low[1],
                 far_high[1], low[1], high[1]);
}

/* exp(c) r is b r with another name of the constant: bounds of c are logarithms of those of b, and
 * there is none where b may be 0. */
TEST(another_name_of_a_constant)
{
    double x[3 * ROWS] = {0}, y[ROWS], error, b, low, high;
    for (int noise = 0; noise < 3; noise++) {
        static const double size[] = {0.5, 4, 20};
        for (int i = 0; i < ROWS; i++) {
            x[i] = 0.1 * (i + 1);
            y[i] = 0.8 * x[i] + size[noise] * sin(12.9898 * i);
        }
        const struct sr_data data = one_column(ROWS, x, y, NULL);
        const struct sr_expr line = fitted("1 * r", &data), other = fitted("exp(0.1) * r", &data);
        sr_expr_constants(&line, &b);
        assert_int_equal(sr_constants_errors(&line, &data, 0, &error), 0);
        const double reach = error * sr_interval_factor(0.95, ROWS - 1);
        assert_int_equal(sr_constants_profile(&other, &data, 0, 0.95, &low, &high), 0);
        assert_true(fabs(high - log(b + reach)) < 1e-4);
        if (b > reach)
            assert_true(fabs(low - log(b - reach)) < 1e-4);
        else
            assert_true(isinf(low) && low < 0);
        assert_int_equal(b > reach, noise < 2);
    }
}

/* The least sum of squares of a r / (b + r) with b given, whose a has a closed form. */
static double least_squares(const struct sr_data *data, double b)
{
    double ff = 0, fy = 0, yy = 0;
    for (size_t i = 0; i < data->rows; i++) {
        const double f = data->x[i] / (b + data->x[i]);
        ff += f * f;
        fy += f * data->y[i];
        yy += data->y[i] * data->y[i];
    }
    return yy - fy * fy / ff;
}

/* The velocity of an enzyme's reaction (puromycin, treated; Bates and Watts 1988, table A1.3), a
 * Michaelis-Menten curve. The bounds of b by bisection here; all four as confint() of R has them,
 * which interpolates between points of the profile. */
TEST(a_saturating_curve)
{
    const double x[3 * 12] = {0.02, 0.02, 0.06, 0.06, 0.11, 0.11, 0.22, 0.22, 0.56, 0.56, 1.1, 1.1},
                       y[12] = {76, 47, 97, 107, 123, 139, 159, 152, 191, 201, 207, 200};
    const struct sr_data data = one_column(12, x, y, NULL);
    const struct sr_expr curve = fitted("200 * (r / (r + 0.1))", &data);
    double constant[2], low[2], high[2];
    assert_int_equal(sr_expr_constants(&curve, constant), 2);
    assert_int_equal(sr_constants_profile(&curve, &data, 0, 0.95, low, high), 0);
    const double factor = sr_interval_factor(0.95, 10), least = least_squares(&data, constant[1]),
                 limit = least * (1 + factor * factor / 10);
    for (int side = -1; side <= 1; side += 2) {
        double in = constant[1], out = constant[1] + 0.05 * side;
        for (int k = 0; k < 60; k++) {
            const double middle = (in + out) / 2;
            *(least_squares(&data, middle) > limit ? &out : &in) = middle;
        }
        assert_true(near(side < 0 ? low[1] : high[1], in, 1e-5));
    }
    assert_true(near(low[0], 197.302128, 2e-4) && near(high[0], 229.290065, 2e-4));
    assert_true(near(low[1], 0.04692517, 2e-4) && near(high[1], 0.08615995, 2e-4));
}

/* ---- coverage */

/* Rows of 3.2 exp(-0.8 r) + 0.7 with sigmas of two sizes, or with the spread `alike`. */
struct curve {
    double x[3 * ROWS], y[ROWS], sigma[ROWS], weight[ROWS], variance;
    struct sr_data data;
};
static const double truth[3] = {3.2, -0.8, 0.7};

static double draw_row(gsl_rng *rng, double sigma, double *x)
{
    *x = 4 * gsl_rng_uniform(rng);
    return truth[0] * exp(truth[1] * *x) + truth[2] + sigma * gsl_ran_gaussian(rng, 1);
}

static struct sr_expr draw_curve(gsl_rng *rng, double alike, struct curve *t)
{
    double mean = 0;
    *t = (struct curve){.variance = 0};
    for (int i = 0; i < ROWS; i++) {
        t->sigma[i] = alike > 0 ? alike : i % 3 ? 0.02 : 0.08;
        t->y[i] = draw_row(rng, t->sigma[i], &t->x[i]);
        t->weight[i] = 1 / (t->sigma[i] * t->sigma[i]);
        mean += t->weight[i] / ROWS;
    }
    for (int i = 0; i < ROWS; i++)
        t->weight[i] /= mean; /* as a table has them */
    t->variance = 1 / mean;
    t->data = one_column(ROWS, t->x, t->y, t->weight);
    return fitted("3 * exp(-0.7 * r) + 0.8", &t->data);
}

/* How often, in percent, profile intervals contain the true constants. */
static void measure_profiles(bool known, double alike, double percent[3])
{
    gsl_rng *rng = random_stream(known ? 4303 : 4304);
    int inside[3] = {0};
    struct curve t;
    for (int table = 0; table < TABLES; table++) {
        double low[3], high[3];
        const struct sr_expr expr = draw_curve(rng, alike, &t);
        assert_int_equal(
            sr_constants_profile(&expr, &t.data, known ? t.variance : 0, 0.95, low, high), 0);
        for (int c = 0; c < 3; c++)
            inside[c] += low[c] <= truth[c] && truth[c] <= high[c];
    }
    for (int c = 0; c < 3; c++)
        percent[c] = 100.0 * inside[c] / TABLES;
    gsl_rng_free(rng);
}

/* Three standard deviations of a count of 1,500 are 1.7%. Noise of 0.6 lets the constants differ
 * from the truth by so much that the formula is not linear in them. */
TEST(profiles_contain_95_percent)
{
    for (int k = 0; k < 4; k++) {
        double percent[3];
        measure_profiles(k % 2, k < 2 ? 0 : 0.6, percent);
        for (int c = 0; c < 3; c++)
            if (!(percent[c] >= 93.3 && percent[c] <= 96.7))
                fail_msg("sigmas %s, constant %d: %.2f%% of the intervals contain the truth",
                         k % 2 ? "known" : "estimated", c, percent[c]);
    }
}

/* The share, in percent, of new observations within their intervals. */
static double measure_predictions(bool known)
{
    gsl_rng *rng = random_stream(known ? 4305 : 4306);
    int inside = 0;
    for (int table = 0; table < PREDICTED; table++) {
        double x[3 * NEW_ROWS] = {0}, y[NEW_ROWS], sigma[NEW_ROWS];
        double value[NEW_ROWS], jacobian[3 * NEW_ROWS], variance[NEW_ROWS];
        struct sr_uncertainty u;
        struct curve t;
        const struct sr_expr expr = draw_curve(rng, known ? 0 : 0.05, &t);
        assert_int_equal(sr_constants_uncertainty(&expr, &t.data, known ? t.variance : 0, &u), 0);
        for (int i = 0; i < NEW_ROWS; i++) {
            sigma[i] = known ? 0.01 + 0.002 * i : 0.05;
            y[i] = draw_row(rng, sigma[i], &x[i]);
        }
        const struct sr_data data = one_column(NEW_ROWS, x, y, NULL);
        assert_true(sr_predict_variance(&expr, &data, &u, value, jacobian, variance));
        for (int i = 0; i < NEW_ROWS; i++) {
            const double noise = known ? sigma[i] * sigma[i] : u.noise;
            inside += fabs(y[i] - value[i]) <=
                      sr_interval_factor(0.95, u.freedom) * sqrt(noise + variance[i]);
        }
    }
    gsl_rng_free(rng);
    return 100.0 * inside / (PREDICTED * NEW_ROWS);
}

TEST(intervals_of_new_observations)
{
    for (int known = 0; known < 2; known++) {
        const double percent = measure_predictions(known);
        if (!(percent >= 94 && percent <= 96))
            fail_msg("sigmas %s: %.2f%% of the new observations are within their intervals",
                     known ? "known" : "estimated", percent);
    }
}

TESTS(NULL, NULL)
