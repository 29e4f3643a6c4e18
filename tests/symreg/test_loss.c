/* test_loss.c - weighted and robust fits against GSL, evaluation with a bound, and screening. */
#include "symreg/formulas.h"

#include <float.h>

#include "symreg/oracle.h"

enum { ROWS = 400, PARAMETERS = 4 };

/* Weighted least squares by GSL; for delta > 0 repeated with the weights of Huber's loss until
 * they stand. */
static void oracle(struct sr_data *data, const double *weight, double delta, double c[PARAMETERS])
{
    const gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf fdf = {
        .f = oracle_residuals, .n = ROWS, .p = PARAMETERS, .params = data};
    gsl_multifit_nlinear_workspace *work =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, ROWS, PARAMETERS);
    gsl_vector *w = gsl_vector_alloc(ROWS), *start = gsl_vector_alloc(PARAMETERS);
    gsl_vector *residual = gsl_vector_alloc(ROWS);
    assert_true(work && w && start && residual);
    for (int round = 0; round < (delta > 0 ? 80 : 1); round++) {
        int info;
        for (size_t k = 0; k < PARAMETERS; k++)
            gsl_vector_set(start, k, c[k]);
        oracle_residuals(start, data, residual);
        for (size_t i = 0; i < ROWS; i++) {
            const double size = fabs(gsl_vector_get(residual, i));
            gsl_vector_set(w, i,
                           (weight ? weight[i] : 1) *
                               (delta > 0 && round && size > delta ? delta / size : 1));
        }
        assert_int_equal(gsl_multifit_nlinear_winit(start, w, &fdf, work), 0);
        gsl_multifit_nlinear_driver(200, 1e-13, 1e-13, 0, NULL, NULL, &info, work);
        for (size_t k = 0; k < PARAMETERS; k++)
            c[k] = gsl_vector_get(gsl_multifit_nlinear_position(work), k);
    }
    gsl_vector_free(residual);
    gsl_vector_free(start);
    gsl_vector_free(w);
    gsl_multifit_nlinear_free(work);
}

TEST(fits_are_those_of_gsl)
{
    const struct sr_expr truth = formula("5 * exp(-0.7 * r) + 1.5 * m1 + 0.2");
    gsl_rng *rng = random_stream(71);
    double weight[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        weight[i] = 0.1 + 3 * gsl_rng_uniform(rng) * gsl_rng_uniform(rng);
    for (int k = 0; k < 4; k++) {
        struct table t;
        struct sr_loss loss;
        struct sr_work work;
        const bool robust = k >= 2;
        table_create(&t, ROWS, 70, false);
        assert_true(sr_eval(&truth, &t.data, t.y));
        for (size_t i = 0; i < ROWS; i++)
            t.y[i] += gsl_ran_gaussian(rng, i % 10 ? 0.3 : 3);
        t.data.weight = k % 2 ? weight : NULL;
        assert_int_equal(sr_loss_init_with(&loss, robust ? ORR_SR_HUBER : ORR_SR_L2, 0.3, &t.data),
                         0);
        assert_int_equal(sr_work_init(&work, ROWS, 30), 0);
        double start[PARAMETERS] = {3, 0.5, 1, 0}, expected[PARAMETERS] = {3, 0.5, 1, 0};
        double found[SR_NODES];
        oracle(&t.data, t.data.weight, robust ? loss.parameter : 0, expected);
        struct sr_expr expr = formula("1 * exp(-(1 * r)) + 1 * m1 + 1"), best = expr;
        sr_expr_set_constants(&expr, start);
        sr_expr_set_constants(&best, expected);
        const double reached = sr_constants_fit(&loss, &expr, false, 200, 0, rng, &work);
        assert_true(sr_eval(&best, &t.data, work.value));
        const double least = sr_loss_value(&loss, work.value, 1);
        assert_int_equal(sr_expr_constants(&expr, found), PARAMETERS);
        for (int c = 0; c < PARAMETERS; c++)
            if (!near(found[c], expected[c], 2e-2))
                fail_msg("case %d, constant %d: %.9g, GSL has %.9g", k, c, found[c], expected[c]);
        if (!near(reached, least, 1e-5))
            fail_msg("case %d: loss %.12g, GSL has %.12g", k, reached, least);
        sr_work_free(&work);
        sr_loss_free(&loss);
        table_free(&t);
    }
    gsl_rng_free(rng);
}

/* Relative deviations of any size count alike; where the target is 0, those in its median size. */
TEST(relative_has_no_least_size)
{
    const double t[5] = {2, 4e-40, 8e-20, 3, 0}, p[5] = {3, 6e-40, 4e-20, 3, 0.1};
    const struct sr_data data = {.rows = 5, .features = 1, .x = t, .y = t};
    struct sr_loss loss;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_RELATIVE, &data), 0);
    assert_true(near(sr_loss_value(&loss, p, 1), (0.5 + 0.5 + 0.5 + 0.1 / 8e-20) / 5, 1e-14));
    sr_loss_free(&loss);
    const double some[5] = {2, 4, 8, 3, 0};
    const struct sr_data zero = {.rows = 5, .features = 1, .x = t, .y = some};
    assert_int_equal(sr_loss_init(&loss, ORR_SR_RELATIVE, &zero), 0);
    const double near_some[5] = {2, 4, 8, 3, 0.6};
    assert_true(near(sr_loss_value(&loss, near_some, 1), 0.2 / 5, 1e-14)); /* 0.6 / 3 */
    sr_loss_free(&loss);
}

/* A row of weight 2 counts as two rows, one of weight 0 as none. */
TEST(weights_repeat_rows)
{
    enum { N = 300, MOST = 2 * N };
    gsl_rng *rng = random_stream(72);
    double t[N], p[N], w[N], many_t[MOST], many_p[MOST], scratch[2 * MOST + SR_SCRATCH];
    size_t many = 0;
    for (size_t i = 0; i < N; i++) {
        p[i] = gsl_ran_gaussian(rng, 1);
        t[i] = 3 * p[i] + gsl_ran_gaussian(rng, 1);
        w[i] = (double)(i % 3);
        for (size_t k = 0; k < i % 3; k++) {
            many_t[many] = t[i];
            many_p[many++] = p[i];
        }
    }
    const struct sr_data weighted = {.rows = N, .y = t, .weight = w};
    const struct sr_data repeated = {.rows = many, .y = many_t};
    for (int kind = ORR_SR_L1; kind <= ORR_SR_QUANTILE; kind++) {
        struct sr_loss a, b;
        assert_int_equal(sr_loss_init(&a, (enum orr_symreg_loss)kind, &weighted), 0);
        assert_int_equal(sr_loss_init(&b, (enum orr_symreg_loss)kind, &repeated), 0);
        b.parameter = a.parameter; /* the unit is that of the rows without weights */
        assert_true(near(sr_loss_value(&a, p, 2.9), sr_loss_value(&b, many_p, 2.9), 1e-12));
        const double one = sr_loss_scale(&a, p, scratch), two = sr_loss_scale(&b, many_p, scratch);
        if (!near(one, two, 1e-9))
            fail_msg("loss %d: scales %.17g and %.17g", kind, one, two);
        sr_loss_free(&a);
        sr_loss_free(&b);
    }
    gsl_rng_free(rng);
}

TEST(refuses_bad_weights_and_parameters)
{
    double t[3] = {1, 2, 3}, w[3] = {1, -1, 1};
    struct sr_data data = {.rows = 3, .y = t, .weight = w};
    struct sr_loss loss;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L1, &data), ORR_EINVAL);
    error_names("weight", "row 2", "-1", NULL);
    w[1] = NAN;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), ORR_EINVAL);
    w[0] = w[1] = w[2] = 0;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), ORR_EINVAL);
    data.weight = NULL;
    assert_int_equal(sr_loss_init_with(&loss, ORR_SR_QUANTILE, 1, &data), ORR_EINVAL);
    error_names("parameter", "(0, 1)", "1", NULL);
    assert_int_equal(sr_loss_init_with(&loss, ORR_SR_HUBER, 0, &data), ORR_EINVAL);
    assert_int_equal(sr_loss_init_with(&loss, ORR_SR_LOGCOSH, NAN, &data), ORR_EINVAL);
}

/* ---- evaluation in one go */

static void fill_target(struct table *t, size_t rows, gsl_rng *rng)
{
    for (size_t i = 0; i < rows; i++)
        t->y[i] = 3 * t->x[rows + i] / t->x[i] * (1 + gsl_ran_gaussian(rng, 0.1));
}

/* The same bits as the three steps one by one, columns and bounds or not; a bound never discards
 * what is within it. */
TEST(one_go_is_the_three_steps)
{
    static const size_t counts[] = {1, 100, 512, 513, 1500};
    gsl_rng *rng = random_stream(73);
    int finite = 0;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        struct table t;
        struct sr_work work;
        table_create(&t, counts[c], 74, true);
        fill_target(&t, counts[c], rng);
        assert_int_equal(sr_work_init(&work, counts[c], 30), 0);
        for (int k = 0; k < 7 * 80; k++) {
            struct sr_loss loss;
            const struct sr_expr expr = random_formula(rng, 1 + k % 13);
            double expected = HUGE_VAL, right = 0, scale;
            assert_int_equal(sr_loss_init(&loss, (enum orr_symreg_loss)(k % 7), &t.data), 0);
            if (sr_eval(&expr, &t.data, work.value)) {
                right = sr_loss_scale(&loss, work.value, work.scratch);
                expected = sr_loss_value(&loss, work.value, right);
            }
            if (!isfinite(expected))
                right = 0, expected = HUGE_VAL;
            const double found = sr_eval_loss(&expr, &loss, &work, &scale);
            if (!(found >= expected && found <= expected && scale >= right && scale <= right))
                fail_msg("%s, %zu rows, loss %d: %.17g with %.17g, expected %.17g with %.17g",
                         text_of(&expr), counts[c], k % 7, found, scale, expected, right);
            finite += expected < HUGE_VAL;
            sr_loss_free(&loss);
        }
        sr_work_free(&work);
        table_free(&t);
    }
    assert_true(finite > 1000 && finite < 5 * 7 * 80);
    gsl_rng_free(rng);
}

/* Columns are made by whoever asks first: with any number of threads the bits are those without
 * columns. */
TEST(columns_change_no_bit)
{
    enum { FORMULAS = 400, N = 600, MOST = 12 };
    gsl_rng *rng = random_stream(79);
    struct table t;
    static struct sr_expr expr[FORMULAS];
    static double expected[FORMULAS], found[FORMULAS];
    table_create(&t, N, 80, true);
    fill_target(&t, N, rng);
    for (int k = 0; k < FORMULAS; k++)
        expr[k] = random_formula(rng, 2 + k % MOST);
    expr[0] = formula("exp(neg(r))"); /* columns next to each other */
    expr[1] = formula("exp(r) + exp(inv(r)) + exp(m1) + exp(neg(m1))");
    for (int threads = 0; threads <= 4; threads++) { /* 0: without columns */
        struct sr_loss loss;
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L1, &t.data), 0);
        struct sr_columns *columns = loss.columns;
        assert_non_null(columns);
        loss.columns = threads ? columns : NULL;
#pragma omp parallel num_threads(threads ? threads : 1)
        {
            struct sr_work work;
            const int rc = sr_work_init(&work, N, 20);
#pragma omp for schedule(dynamic, 1)
            for (int k = 0; k < 2 * FORMULAS; k++) { /* twice: a column is there, or not yet */
                double scale;
                const double value = rc ? NAN : sr_eval_loss(&expr[k / 2], &loss, &work, &scale);
                if (k % 2)
                    (threads ? found : expected)[k / 2] = value;
            }
            sr_work_free(&work);
        }
        loss.columns = columns;
        sr_loss_free(&loss);
        assert_true(!threads || memcmp(found, expected, sizeof found) == 0);
    }
    table_free(&t);
    gsl_rng_free(rng);
}

/* Losses on few rows tell those on all; hardly anything that is better is discarded. */
TEST(screening_is_a_fair_estimate)
{
    enum { N = 2000, FORMULAS = 300 };
    gsl_rng *rng = random_stream(75);
    struct table t;
    struct sr_work work;
    table_create(&t, N, 76, false);
    fill_target(&t, N, rng);
    assert_int_equal(sr_work_init(&work, N, 30), 0);
    for (int kind = ORR_SR_L1; kind <= ORR_SR_QUANTILE; kind++) {
        struct sr_loss loss;
        struct sr_screen screen;
        double full[FORMULAS], rough[FORMULAS], scale;
        struct sr_expr expr[FORMULAS];
        int count = 0, wrong = 0, right = 0, saved = 0;
        assert_int_equal(sr_loss_init(&loss, (enum orr_symreg_loss)kind, &t.data), 0);
        assert_int_equal(sr_screen_init(&screen, &loss), 0);
        assert_int_equal(screen.data.rows, SR_SCREEN_ROWS);
        while (count < FORMULAS) {
            expr[count] = count ? random_formula(rng, 9) : formula("m1 / r"); /* the truth */
            full[count] = sr_eval_loss(&expr[count], &loss, &work, &scale);
            rough[count] = sr_screen_loss(&screen, &expr[count], &work);
            if (full[count] < HUGE_VAL)
                assert_true(rough[count] < HUGE_VAL); /* finite on all: finite on some */
            count += full[count] < HUGE_VAL;
        }
        for (int a = 0; a < FORMULAS; a++)
            for (int b = 0; b < FORMULAS; b += 7) {
                const bool worth = rough[a] <= 1.5 * rough[b];
                right += full[a] <= full[b] && worth;
                wrong += full[a] < full[b] && !worth;
                saved += full[a] > full[b] && !worth;
            }
        if (!(wrong <= right / 500 && saved > FORMULAS / 2)) /* by the truth alone */
            fail_msg("loss %d: %d discarded by mistake, %d kept, %d saved", kind, wrong, right,
                     saved);
        sr_screen_free(&screen);
        sr_loss_free(&loss);
    }
    sr_work_free(&work);
    table_free(&t);
    gsl_rng_free(rng);
}

/* A table of few rows is screened whole. */
TEST(screening_of_few_rows_is_exact)
{
    struct table t;
    struct sr_work work;
    struct sr_loss loss;
    struct sr_screen screen;
    gsl_rng *rng = random_stream(77);
    table_create(&t, 99, 78, false);
    fill_target(&t, 99, rng);
    assert_int_equal(sr_work_init(&work, 99, 30), 0);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L1, &t.data), 0);
    assert_int_equal(sr_screen_init(&screen, &loss), 0);
    const struct sr_expr expr = formula("m1 / (r + 0.1)");
    double scale;
    assert_true(near(sr_screen_loss(&screen, &expr, &work),
                     sr_eval_loss(&expr, &loss, &work, &scale), 1e-13));
    sr_screen_free(&screen);
    sr_loss_free(&loss);
    sr_work_free(&work);
    table_free(&t);
    gsl_rng_free(rng);
}

TESTS(NULL, NULL)
