/* test_closest_points.c - errors in x: constants, standard errors and chi^2 against scipy.odr of
 * SciPy 1.17.1 (ODRPACK), whose output on these tables is written here; intervals and bias on
 * generated tables. ODRPACK's covariance is that of the linearised problem, (J^T W J)^-1, as here.
 * */
#include <math.h>

#include "symreg/formulas.h"

enum { ROWS = 30 };

/* A table with errors in r and m1; its variances are relative to that of a row of weight 1. */
struct measured {
    double x[3 * ROWS], y[ROWS], weight[ROWS], x_variance[3 * ROWS];
    double variance; /* of a row of weight 1 */
    struct sr_data data;
};

/* y = 3.2 exp(-0.8 t) + 0.7, or with m1 1.4 t m1 - 0.6 m1^2, with the errors of a sine. */
static void measure(struct measured *m, bool two)
{
    memset(m, 0, sizeof *m);
    double sigma[ROWS];
    for (int i = 0; i < ROWS; i++) {
        const double t = 0.1 + 0.15 * i, z = 2 + cos(1.7 * i), e = sin(78.233 * i);
        sigma[i] = 0.04 + 0.01 * sin(i);
        m->x[i] = t + 0.05 * sin(12.9898 * i);
        m->x[ROWS + i] = z + 0.03 * sin(5.1 * i);
        m->y[i] = two ? 1.4 * t * z - 0.6 * z * z + 0.05 * e : 3.2 * exp(-0.8 * t) + 0.7 + 0.04 * e;
        m->weight[i] = 1 / (sigma[i] * sigma[i]);
    }
    m->variance = 1 / sr_weights_level(m->weight, ROWS);
    for (int i = 0; i < ROWS; i++) {
        const double s = 0.05 + 0.02 * cos(i);
        m->x_variance[i] = s * s / m->variance;
        m->x_variance[ROWS + i] = two ? 0.03 * 0.03 / m->variance : 0;
    }
    m->data = (struct sr_data){.rows = ROWS,
                               .features = 3,
                               .x = m->x,
                               .y = m->y,
                               .weight = m->weight,
                               .x_variance = m->x_variance};
}

/* Fits and compares with `n` constants, standard errors and chi^2 of ODRPACK, which stops at a
 * change of some 1e-9. */
static void compare(bool two, const char *start, int n, const double *constant, const double *error,
                    double chi2)
{
    struct measured m;
    struct sr_loss loss;
    struct sr_work work;
    double found[SR_NODES], errors[SR_NODES];
    measure(&m, two);
    struct sr_expr expr = formula(start);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &m.data), 0);
    assert_int_equal(sr_work_init(&work, ROWS, 20), 0);
    double reached = 0;
    for (int k = 0; k < 5; k++)
        reached = sr_constants_fit(&loss, &expr, false, 100, 0, NULL, &work);
    assert_int_equal(sr_expr_constants(&expr, found), n);
    assert_int_equal(sr_constants_errors(&expr, &m.data, m.variance, errors), 0);
    assert_true(near(ROWS * reached / m.variance, chi2, 1e-8));
    for (int c = 0; c < n; c++) {
        assert_true(fabs(found[c] - constant[c]) < 2e-4 * error[c]);
        assert_true(near(errors[c], error[c], 1e-4));
    }
    sr_work_free(&work);
    sr_loss_free(&loss);
}

TEST(constants_are_those_of_orthogonal_distance_regression)
{
    compare(false, "3 * exp(-1 * r) + 0.5", 3,
            (double[]){3.327522504392548, -0.843329468267651, 0.721082574447552},
            (double[]){0.0817123058520484, 0.03464371276451842, 0.024377553579013594},
            14.766786329479753);
    compare(true, "1 * (r * m1) + -1 * square(m1)", 2,
            (double[]){1.415734561947639, -0.6141523061622671},
            (double[]){0.01049228097968418, 0.011491478517563384}, 12.554185994896912);
}

/* Slopes by the columns against differences. */
TEST(slopes_are_derivatives_by_the_columns)
{
    struct table t;
    double value[40], slope[3 * 40], up[40], down[40];
    table_create(&t, 40, 11, true);
    const struct sr_expr expr =
        formula("sin(r * m1) * m2 + sqrt(r) / (m1 + 0.3) + m1 * m1 * 2.385");
    assert_true(sr_eval_slopes(&expr, &t.data, value, slope));
    for (int f = 0; f < FEATURES; f++) {
        const double step = 1e-6;
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < 40; i++)
                t.x[f * 40 + i] += k ? -2 * step : step;
            assert_true(sr_eval(&expr, &t.data, k ? down : up));
        }
        for (int i = 0; i < 40; i++) {
            t.x[f * 40 + i] += step;
            const double difference = (up[i] - down[i]) / (2 * step);
            assert_true(fabs(slope[f * 40 + i] - difference) < 1e-6 * fmax(1, fabs(difference)));
        }
    }
    table_free(&t);
}

/* A straight line with errors in x larger than those in y: least squares has a slope that is too
 * small by the factor var(x) / (var(x) + sigma_x^2), here 0.89. The intervals of 300 tables hold
 * the truth as often as they say, within four standard deviations of that count. */
TEST(intervals_hold_the_truth)
{
    enum { TABLES = 300 };
    const double slope = 2.1, sx = 0.5, sy = 0.1;
    gsl_rng *rng = random_stream(4310);
    double mean = 0;
    int inside = 0;
    for (int k = 0; k < TABLES; k++) {
        double x[3 * ROWS] = {0}, y[ROWS], x_variance[3 * ROWS] = {0}, found[2], low[2], high[2];
        struct sr_loss loss;
        struct sr_work work;
        for (int i = 0; i < ROWS; i++) {
            const double t = 5.0 * i / ROWS;
            x[i] = t + sx * orr_draw_normal(rng);
            y[i] = slope * t - 0.7 + sy * orr_draw_normal(rng);
            x_variance[i] = sx * sx / (sy * sy);
        }
        const struct sr_data data = {
            .rows = ROWS, .features = 3, .x = x, .y = y, .x_variance = x_variance};
        struct sr_expr line = formula("1 * r + 0.1");
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
        assert_int_equal(sr_work_init(&work, ROWS, 20), 0);
        sr_constants_fit(&loss, &line, false, 60, 0, NULL, &work);
        sr_expr_constants(&line, found);
        mean += found[0] / TABLES;
        assert_int_equal(sr_constants_profile(&line, &data, sy * sy, 0.95, low, high), 0);
        assert_true(low[0] < found[0] && found[0] < high[0]);
        inside += low[0] < slope && slope < high[0];
        sr_work_free(&work);
        sr_loss_free(&loss);
    }
    gsl_rng_free(rng);
    print_message("mean slope %g, %d of %d intervals\n", mean, inside, TABLES);
    assert_true(fabs(mean - slope) < 0.06);
    assert_true(fabs(inside - 0.95 * TABLES) < 4 * sqrt(TABLES * 0.95 * 0.05));
}

/* A fast wave passes close to every row: what compares formulas has to count its slope. */
TEST(steep_formulas_are_not_likelier)
{
    struct measured m;
    struct sr_closest law, wave;
    measure(&m, false);
    const struct sr_expr one = formula("3.3275 * exp(-0.8433 * r) + 0.7211"),
                         other = formula("3.3275 * exp(-0.8433 * r) + 0.7211 + 0.5 * sin(r * 90)");
    assert_true(sr_closest_make(&one, &m.data, 1, &law));
    assert_true(sr_closest_make(&other, &m.data, 1, &wave));
    assert_true(law.loss * law.steeper < 0.1 * wave.loss * wave.steeper);
    assert_true(law.steeper > 1 && law.steeper < wave.steeper);
    sr_closest_free(&law);
    sr_closest_free(&wave);
}

TESTS(NULL, NULL)
