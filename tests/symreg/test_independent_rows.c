/* test_independent_rows.c - rows whose errors follow each other count as fewer, independent ones do
 * not; and a tolerance below which nothing is left to explain. */
#include <gsl/gsl_math.h>

#include "symreg/formulas.h"
#include "symreg/solve/solve.h"

enum { MOST = 300 };
static double x[FEATURES * MOST], y[MOST];
static struct sr_front front;

/* A front of formulas of rising size and falling loss on the data. */
static void make(const struct sr_data *data, const char *const *text, int count)
{
    static struct sr_hall_of_fame hall;
    static double value[MOST * 4];
    sr_hall_of_fame_clear(&hall);
    for (int k = 0; k < count; k++) {
        const struct sr_expr expr = formula(text[k]);
        double loss = 0;
        assert_true(sr_eval(&expr, data, value));
        for (size_t i = 0; i < data->rows; i++)
            loss += pow(value[i] - data->y[i], 2) / (double)data->rows;
        sr_hall_of_fame_offer(&hall, NULL, &expr, loss);
    }
    sr_front_make(&hall, &front);
    assert_int_equal(front.count, count);
}

static struct sr_data table_of(size_t rows)
{
    return (struct sr_data){.rows = rows, .features = FEATURES, .x = x, .y = y};
}

/* y = 2.385 r + an error of `waves` waves over the range of r, in the order of r or shuffled. */
static struct sr_data wavy_table(size_t rows, double waves, bool shuffled, gsl_rng *rng)
{
    size_t order[MOST];
    for (size_t i = 0; i < rows; i++)
        order[i] = i;
    if (shuffled)
        gsl_ran_shuffle(rng, order, rows, sizeof *order);
    for (size_t i = 0; i < rows; i++) {
        const double r = 1 + 3 * (double)order[i] / (double)rows;
        x[i] = r;
        x[rows + i] = gsl_rng_uniform(rng);
        x[2 * rows + i] = gsl_rng_uniform(rng);
        y[i] = 2.385 * r + 0.002 * cos(2 * M_PI * waves * (r - 1) / 3);
    }
    return table_of(rows);
}

/* A wave of period P has the correlations cos(2 pi k / P), positive up to P / 4: their sum
 * 1 + 2 P / (2 pi) makes P / 3.1 of its rows one, so that W waves count as about 3.1 W. */
TEST(waves_count_as_about_three_rows_each)
{
    static const char *const text[] = {"2.38", "r * 2.385"};
    gsl_rng *rng = random_stream(311);
    for (int shuffled = 0; shuffled < 2; shuffled++)
        for (double waves = 3; waves < 13; waves += 4) {
            const struct sr_data data = wavy_table(200, waves, shuffled, rng);
            make(&data, text, 2);
            assert_int_equal(sr_front_count_independent(&front, &data), 0);
            if (!(front.independent > 2.8 * waves && front.independent < 3.6 * waves))
                fail_msg("%g waves count as %g rows", waves, front.independent);
            assert_int_equal(front.followed, 1);
            assert_int_equal(front.along, shuffled ? 0 : -1);
        }
    gsl_rng_free(rng);
}

/* With stated errors a smooth residual within them may be one of the table; a larger one is what
 * the formula lacks. */
TEST(what_exceeds_the_stated_errors_is_no_error_of_the_table)
{
    static const char *const text[] = {"2.38", "r * 2.385"};
    static const double sigma[] = {0, 0.1, 0.0016, 0.0012, 1e-5};
    gsl_rng *rng = random_stream(315);
    for (size_t k = 0; k < sizeof sigma / sizeof *sigma; k++) { /* the waves' rms is 0.0014 */
        struct sr_data data = wavy_table(200, 7, false, rng);
        data.variance = sigma[k] * sigma[k];
        make(&data, text, 2);
        assert_int_equal(sr_front_count_independent(&front, &data), 0);
        if ((front.independent > 0) != (k < 3))
            fail_msg("with errors of %g the rows count as %g", sigma[k], front.independent);
    }
    gsl_rng_free(rng);
}

TEST(an_error_of_one_sign_counts_as_five_rows)
{
    static const char *const text[] = {"2.38", "r * 2.385"};
    gsl_rng *rng = random_stream(312);
    const struct sr_data data = wavy_table(120, 0.05, false, rng);
    make(&data, text, 2);
    assert_int_equal(sr_front_count_independent(&front, &data), 0);
    assert_true(near(front.independent, 5, 1e-12));
    gsl_rng_free(rng);
}

/* The followed formula is not given up for a simpler one that leaves much: with five rows its four
 * numbers would cost more than they gain. */
TEST(a_formula_of_many_numbers_keeps_its_support)
{
    static const char *const text[] = {
        "2.38", "((r * 1.2345) + (exp(r * 0.7123) * 0.3217)) + (sin(r * 2.1111) * 0.4567)"};
    const struct sr_expr law = formula(text[1]);
    gsl_rng *rng = random_stream(319);
    struct sr_data data = wavy_table(40, 1, false, rng);
    struct sr_loss loss;
    double value[40];
    assert_true(sr_eval(&law, &data, value));
    for (size_t i = 0; i < data.rows; i++)
        y[i] = value[i] + 0.02 + 0.002 * x[i];
    make(&data, text, 2);
    assert_int_equal(sr_front_describe(&front, &data), 0);
    assert_int_equal(sr_front_count_independent(&front, &data), 0);
    const double spent = front.cost[1] - front.cost[0], gain = log(front.loss[0] / front.loss[1]);
    assert_true(spent > 2.5 * gain); /* (five rows would not do) */
    assert_true(near(front.independent, 4 * spent / gain, 1e-9));
    data.independent = front.independent;
    assert_int_equal(sr_front_describe(&front, &data), 0);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
    sr_front_correct(&front, &loss);
    assert_int_equal(sr_front_select(&front, SR_BEST), 1);
    assert_int_equal(sr_front_select(&front, SR_MDL), 1);
    sr_loss_free(&loss);
    gsl_rng_free(rng);
}

/* The error is smooth in r and m1 together, along neither of them alone. */
TEST(an_error_that_is_smooth_in_two_columns_is_seen)
{
    static const char *const text[] = {"2.38", "r * m1"};
    const size_t rows = 300;
    gsl_rng *rng = random_stream(313);
    for (size_t i = 0; i < rows; i++) {
        x[i] = 1 + 3 * gsl_rng_uniform(rng);
        x[rows + i] = 1 + 3 * gsl_rng_uniform(rng);
        x[2 * rows + i] = 0;
        y[i] = x[i] * x[rows + i] + 0.01 * sin(2.2 * (x[i] - 2.5)) * sin(2.2 * (x[rows + i] - 2.5));
    }
    const struct sr_data data = table_of(rows);
    make(&data, text, 2);
    assert_int_equal(sr_front_count_independent(&front, &data), 0);
    assert_true(front.independent >= 5 && front.independent < 60);
    gsl_rng_free(rng);
}

/* Once a longer formula leaves independent residuals, these are the noise, and all rows count. */
TEST(a_formula_that_explains_the_error_makes_all_rows_count)
{
    static const char *const text[] = {"2.38", "r * 2.385",
                                       "(r * 2.385) + (0.002 * cos(6.283185307179586 * (r - 1)))"};
    gsl_rng *rng = random_stream(314);
    const struct sr_data data = wavy_table(200, 3, false, rng);
    for (size_t i = 0; i < data.rows; i++)
        y[i] += 1e-6 * gsl_ran_ugaussian(rng);
    make(&data, text, 3);
    assert_int_equal(sr_front_count_independent(&front, &data), 0);
    assert_true(front.independent <= 0);
    front.count = 2; /* (it is not found) */
    assert_int_equal(sr_front_count_independent(&front, &data), 0);
    assert_true(front.independent > 5);
    gsl_rng_free(rng);
}

/* Independent noise, normal, heavy-tailed or in proportion to y, in sorted and unsorted tables of 8
 * to 300 rows: at most one table in a thousand loses rows. */
TEST(independent_noise_loses_no_rows)
{
    enum { TABLES = 3000 };
    static const char *const text[] = {"2.38", "r * 2.385", "(r * 2.385) + (m1 * 1e-6)"};
    static const size_t size[] = {8, 16, 20, 30, 50, 100, 300};
    gsl_rng *rng = random_stream(315);
    int lost = 0;
    for (int table = 0; table < TABLES; table++) {
        const struct sr_data data = wavy_table(size[table % 7], 3, table % 2, rng);
        for (size_t i = 0; i < data.rows; i++)
            y[i] = 2.385 * x[i] + (table % 3 == 0   ? 1e-3 * gsl_ran_ugaussian(rng)
                                   : table % 3 == 1 ? 1e-3 * gsl_ran_tdist(rng, 3)
                                                    : 1e-3 * x[i] * gsl_ran_ugaussian(rng));
        make(&data, text, 2);
        assert_int_equal(sr_front_count_independent(&front, &data), 0);
        lost += front.independent > 0;
    }
    if (lost > TABLES / 1000)
        fail_msg("%d of %d tables of independent noise lose rows", lost, TABLES);
    gsl_rng_free(rng);
}

/* A table in which every row stands four times, worth the rows without repetition, has the
 * description lengths, fair losses, errors and intervals of the table without repetition. */
TEST(repeated_rows_that_count_once_change_nothing)
{
    static const char *const text[] = {"2.38", "r * 2.385", "(r * 2.385) + 0.0123"};
    enum { N = 60 };
    static double x4[FEATURES * 4 * N], y4[4 * N];
    static struct sr_front once;
    double error[2][3], low[2][3], high[2][3];
    gsl_rng *rng = random_stream(316);
    struct sr_data data = wavy_table(N, 3, false, rng);
    for (size_t i = 0; i < N; i++) {
        y[i] = 2.385 * x[i] + 0.0123 + 0.01 * gsl_ran_ugaussian(rng);
    }
    struct sr_data four = data;
    four.rows = 4 * N;
    four.x = x4;
    four.y = y4;
    four.independent = N;
    for (size_t i = 0; i < 4 * N; i++) {
        y4[i] = y[i / 4];
        for (size_t f = 0; f < FEATURES; f++)
            x4[f * 4 * N + i] = x[f * N + i / 4];
    }
    for (int k = 0; k < 2; k++) {
        const struct sr_data *d = k ? &four : &data;
        const struct sr_expr expr = formula(text[2]);
        struct sr_loss loss;
        make(d, text, 3);
        assert_int_equal(sr_front_describe(&front, d), 0);
        assert_int_equal(sr_front_weigh_rows(&front, d), 0);
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, d), 0);
        sr_front_correct(&front, &loss);
        sr_loss_free(&loss);
        assert_int_equal(sr_constants_errors(&expr, d, 1e-4, error[k]), 0);
        assert_int_equal(sr_constants_profile(&expr, d, 1e-4, 0.95, low[k], high[k]), 0);
        if (!k)
            once = front;
    }
    assert_true(near(front.worth, once.worth, 1e-9) && near(front.close, once.close, 1e-9));
    for (int i = 0; i < 3; i++) {
        assert_true(near(front.mdl[i], once.mdl[i], 1e-9));
        assert_true(near(front.fair[i], once.fair[i], 1e-9));
        assert_true(i == 0 || near(front.score[i], once.score[i], 1e-9));
    }
    for (int c = 0; c < 2; c++) {
        assert_true(near(error[1][c], error[0][c], 1e-9));
        assert_true(near(low[1][c], low[0][c], 1e-4) && near(high[1][c], high[0][c], 1e-4));
    }
    gsl_rng_free(rng);
}

/* Without a known variance: the freedom is that of the rows that count, and at least 1. */
TEST(freedom_is_that_of_the_rows_that_count)
{
    gsl_rng *rng = random_stream(317);
    struct sr_data data = wavy_table(60, 3, false, rng);
    const struct sr_expr expr = formula("(r * 2.385) + 0.0123");
    struct sr_uncertainty all, few;
    assert_int_equal(sr_constants_uncertainty(&expr, &data, 0, &all), 0);
    data.independent = 15;
    assert_int_equal(sr_constants_uncertainty(&expr, &data, 0, &few), 0);
    assert_true(near(all.spare, 58, 1e-12) && near(few.spare, 13, 1e-12));
    assert_true(near(few.error[0], 2 * all.error[0], 1e-12));
    assert_true(near(few.noise, all.noise, 1e-12) && near(few.scatter, all.scatter, 1e-12));
    data.independent = 2.5;
    assert_int_equal(sr_constants_uncertainty(&expr, &data, 0, &few), 0);
    assert_true(near(few.spare, 1, 1e-12));
    gsl_rng_free(rng);
}

/* The simplest formula within the tolerance ends the front, and every rule selects it. */
TEST(a_tolerance_ends_the_front)
{
    static const char *const text[] = {"2.38", "r * 2.3", "(r * 2.385) + 0",
                                       "((r * 2.385) + 0) + 0.0001"};
    gsl_rng *rng = random_stream(318);
    const struct sr_data data = wavy_table(100, 3, false, rng);
    static const struct {
        double tolerance;
        int count;
        bool within;
    } list[] = {{0.5, 2, true}, {0.01, 3, true}, {1e-5, 4, false}};
    for (size_t i = 0; i < data.rows; i++)
        y[i] += 0.0001;
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        make(&data, text, 4);
        front.score[1] = 1e9; /* (score alone would select it) */
        assert_int_equal(sr_front_end_within(&front, &data, list[k].tolerance), 0);
        assert_int_equal(front.within, list[k].within);
        assert_int_equal(front.count, list[k].count);
        for (int rule = 0; rule < SR_RULES && front.within; rule++)
            assert_int_equal(sr_front_select(&front, (enum sr_rule)rule), front.count - 1);
    }
    gsl_rng_free(rng);
}

/* All rows may count although residuals follow each other. */
TEST(a_remark_says_that_rows_count_as_fewer_only_where_they_do)
{
    static struct sr_front some;
    char text[1024];
    const struct sr_answer answer = {.front = &some};
    some = (struct sr_front){.count = 1, .rows = 39, .independent = 39, .along = -1};
    if (sr_table_remark(&answer, SR_FOLLOWING, text, sizeof text))
        fail_msg("of 39 rows that count as 39 it says \"%s\"", text);
    some.independent = 37.8;
    assert_true(sr_table_remark(&answer, SR_FOLLOWING, text, sizeof text));
    assert_non_null(strstr(text, "the 39 rows count as 38"));
    some.independent = 0;
    assert_false(sr_table_remark(&answer, SR_FOLLOWING, text, sizeof text));
}

TESTS(NULL, NULL)
