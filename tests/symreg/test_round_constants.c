/* test_round_constants.c - constants become round where that costs nothing, and only there;
 * remarks. */
#include "symreg/formulas.h"
#include "symreg/solve/solve.h"

enum { ROWS = 200 };

/* Snaps the formula's constants on the table; the loss reached. */
static double snap(const struct table *t, enum orr_symreg_loss kind, struct sr_expr *expr,
                   double *before)
{
    struct sr_loss loss;
    struct sr_work work;
    assert_int_equal(sr_loss_init(&loss, kind, &t->data), 0);
    assert_int_equal(sr_work_init(&work, t->data.rows, 20), 0);
    if (before) {
        assert_true(sr_eval(expr, &t->data, work.value));
        *before = sr_loss_value(&loss, work.value, 1);
    }
    const double reached = sr_snap(&loss, expr, &work);
    assert_true(sr_eval(expr, &t->data, work.value));
    const double value = sr_loss_value(&loss, work.value, 1);
    assert_true(reached == (value <= loss.noise ? 0 : value));
    sr_loss_free(&loss);
    sr_work_free(&work);
    return reached;
}

TEST(exact_laws_get_their_numbers)
{
    static const struct {
        const char *truth, *found, *to;
    } row[] = {
        {"2 * r", "2.0000013 * r", "(2 * r)"},
        {"2 * r + 0.5", "2.0000000000001 * r + 0.5", "((2 * r) + 0.5)"},
        {"39.18 * m1", "39.1800002 * m1", "(39.18 * m1)"},
        {"0.37 * m1 / (r ^ 2 + 3)", "0.37000004 * m1 / (r ^ 2.00000001 + 3.0000002)",
         "((0.37 * m1) / ((r ^ 2) + 3))"},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++)
        for (int kind = ORR_SR_L1; kind <= ORR_SR_L2; kind++) {
            struct table t;
            struct sr_expr expr = formula(row[k].found);
            const struct sr_expr truth = formula(row[k].truth), to = formula(row[k].to);
            table_create(&t, ROWS, 9, false);
            assert_true(sr_eval(&truth, &t.data, t.y));
            assert_true(snap(&t, (enum orr_symreg_loss)kind, &expr, NULL) == 0);
            if (sr_expr_hash(&expr) != sr_expr_hash(&to)) /* every bit of every constant */
                fail_msg("%s became %s, not %s", row[k].found, text_of(&expr), row[k].to);
            table_free(&t);
        }
}

/* A constant that has more digits than are tried keeps them all, when it fits exactly. */
TEST(exact_laws_keep_their_numbers)
{
    struct table t;
    const struct sr_expr truth = formula("39.478417604357 * m1");
    struct sr_expr expr = truth;
    table_create(&t, ROWS, 9, false);
    assert_true(sr_eval(&truth, &t.data, t.y));
    assert_true(snap(&t, ORR_SR_L2, &expr, NULL) == 0);
    assert_true(sr_expr_hash(&expr) == sr_expr_hash(&truth));
    table_free(&t);
}

/* y = c r + noise, the noise orthogonal to r and of such a size that c is the least-squares fit
 * with exactly this standard error, sqrt(mse / sum r^2). */
static void noisy_line(struct table *t, double c, double standard_error, uint64_t seed)
{
    gsl_rng *rng = random_stream(seed);
    double along = 0, rr = 0, ee = 0;
    table_create(t, ROWS, seed, false);
    for (size_t i = 0; i < ROWS; i++) {
        t->y[i] = gsl_ran_gaussian(rng, 1);
        along += t->y[i] * t->x[i];
        rr += t->x[i] * t->x[i];
    }
    for (size_t i = 0; i < ROWS; i++) {
        t->y[i] -= along / rr * t->x[i];
        ee += t->y[i] * t->y[i];
    }
    const double scale = standard_error * sqrt(rr / ee * ROWS);
    for (size_t i = 0; i < ROWS; i++)
        t->y[i] = c * t->x[i] + scale * t->y[i];
    gsl_rng_free(rng);
}

/* A rounding by less than 1/20 of the standard error is for nothing, a larger one is not. */
TEST(noisy_constants_keep_what_is_known)
{
    static const struct {
        double fitted, standard_error, to;
    } row[] = {
        {39.18, 0.1, 39.18},  /* 39.2 is 0.2 standard errors away */
        {39.18, 0.41, 39.2},  /* ... 0.049 */
        {39.18, 0.39, 39.18}, /* ... 0.051 */
        {39.18, 3.5, 39.2},   /* 39 is 0.051 away */
        {39.18, 3.7, 39},           {2.0000013, 0.01, 2},         {-1.99973, 0.01, -2},
        {-1.99973, 0.005, -1.9997}, {1.2345678, 1e-9, 1.2345678},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct table t;
        struct sr_expr expr = formula("1 * r");
        double constant[SR_NODES];
        noisy_line(&t, row[k].fitted, row[k].standard_error, k + 1);
        expr.node[0].value = row[k].fitted;
        snap(&t, ORR_SR_L2, &expr, NULL);
        sr_expr_constants(&expr, constant);
        if (constant[0] != row[k].to)
            fail_msg("%.9g with standard error %g became %.9g", row[k].fitted,
                     row[k].standard_error, constant[0]);
        table_free(&t);
    }
}

/* y = min(4, max(r - 2, 0)) with noise: a small number beside max is 0, beside + it is not. */
TEST(small_numbers_stand_for_zero)
{
    static const struct {
        const char *found;
        int zeros;
    } row[] = {
        {"min(4, max(r - 2, -0.00011))", 1},
        {"min(4, max(1.14e-78, r - 2))", 1},
        {"min(4, max(r - 2, -0.00011)) + 1e-06", 1},
        {"hypot(1e-05, min(4, max(r - 2, 0.001)))", 2},
    };
    gsl_rng *rng = random_stream(5);
    const struct sr_expr truth = formula("min(4, max(r - 2, 0))");
    struct table t;
    table_create(&t, ROWS, 9, false);
    assert_true(sr_eval(&truth, &t.data, t.y));
    for (int i = 0; i < ROWS; i++)
        t.y[i] += 0.02 * gsl_ran_gaussian(rng, 1);
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct sr_expr expr = formula(row[k].found);
        double before;
        const double reached = snap(&t, ORR_SR_L2, &expr, &before);
        int found = 0;
        for (int i = 0; i < expr.count; i++)
            found += sr_is_number(&expr.node[i]) && expr.node[i].value == 0;
        if (found != row[k].zeros)
            fail_msg("%s became %s", row[k].found, text_of(&expr));
        assert_true(reached <= before * (1 + 1.1 / ROWS));
    }
    gsl_rng_free(rng);
    table_free(&t);
}

/* All roundings of a formula share what one may cost, for every loss. */
TEST(many_roundings_cost_no_more_than_one)
{
    struct table t;
    gsl_rng *rng = random_stream(12);
    table_create(&t, ROWS, 5, true);
    const struct sr_expr truth = formula("2.2 * m1 + 0.7 * m2 - 3.1 * cos(1.3 * r + 0.2)");
    assert_true(sr_eval(&truth, &t.data, t.y));
    for (size_t i = 0; i < ROWS; i++)
        t.y[i] += gsl_ran_gaussian(rng, 0.5);
    for (int kind = ORR_SR_L1; kind <= ORR_SR_L2; kind++)
        for (int k = 0; k < 100; k++) {
            struct sr_expr expr = truth;
            double constant[SR_NODES], before;
            const int count = sr_expr_constants(&truth, constant);
            for (int c = 0; c < count; c++)
                constant[c] *= 1 + gsl_ran_gaussian(rng, 0.01);
            sr_expr_set_constants(&expr, constant);
            const double reached = snap(&t, (enum orr_symreg_loss)kind, &expr, &before);
            assert_true(reached <= before * (1 + 0.0025 / ROWS) * (1 + 1e-15));
        }
    gsl_rng_free(rng);
    table_free(&t);
}

/* Tidies a formula of the table; returns its loss then, and that of the truth. */
static double tidied(const struct table *t, const struct sr_expr *truth, struct sr_expr *expr,
                     double *of_truth)
{
    struct sr_loss loss;
    struct sr_work work;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t->data), 0);
    assert_int_equal(sr_work_init(&work, ROWS, 20), 0);
    const struct sr_tidy tidy = {.loss = &loss, .operators = ~(uint64_t)0, .maxsize = 20};
    *of_truth = sr_eval_plain(truth, &loss, &work);
    const double reached = sr_tidy(&tidy, expr, &work);
    sr_loss_free(&loss);
    sr_work_free(&work);
    return reached;
}

/* Of equal forms the one with the shortest constants. */
TEST(the_shortest_form_is_written)
{
    static const struct {
        const char *truth, *found, *to;
    } row[] = {
        {"3 * r + 2", "r / 0.33333333333333 + 2", "((r * 3) + 2)"},
        {"11 * r + 5", "11 * (r + 0.45454545454545)", "((r * 11) + 5)"},
        {"r + m1 - 0.5", "(r + m1) + -0.5", "((r + m1) - 0.5)"},
        {"(r + 0.25) * 3", "3 * r + 0.75", "((3 * r) + 0.75)"},
        {"m1 / r ^ 2", "m1 / r ^ 1.99999999", "(m1 / (r ^ 2))"},
        {"m1 * r", "m1 * r ^ 1.00000001", "(m1 * r)"},
        {"30 / (r + 1) - 0.7 * m1", "(-0.7 * m1) - (-30 / (r + 1))",
         "((30 / (r + 1)) - (0.7 * m1))"},
        {"m1 - r", "(r - m1) / -1", "(m1 - r)"},
        {"m1 / (square(r - 0.7567) + 3.5067)", "m1 / (square(r - 1.2567) + r + 2.5)",
         "(m1 / (square((r - 0.7567)) + 3.5067))"},
        {"floor(3 * r) + m1", "floor(3 * r) + 4.8e-20 / m1 + m1", "(floor((3 * r)) + m1)"},
        {"m1 - 0.5", "r * 1.234e-19 + m1 - 0.5", "(m1 - 0.5)"},
        {"2 * square(r - 3.3125) + 0.5", "2 * square(r - 5.8125) + 10 * r - 45.125",
         "((square((r - 3.3125)) * 2) + 0.5)"},
        {"square(r - 1.2567) + r + m1", "square(r - 1.2567) + r + m1",
         "((square((r - 1.2567)) + r) + m1)"},
        {"sin(2.5 * r + 1.25)", "sin(2.5 * r + 101.780964914872930692)", "sin(((r * 2.5) + 1.25))"},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct table t;
        double of_truth;
        struct sr_expr expr = formula(row[k].found);
        const struct sr_expr truth = formula(row[k].truth), to = formula(row[k].to);
        table_create(&t, ROWS, 9, false);
        assert_true(sr_eval(&truth, &t.data, t.y));
        const double reached = tidied(&t, &truth, &expr, &of_truth);
        if (reached > 0 || sr_expr_hash(&expr) != sr_expr_hash(&to))
            fail_msg("%s became %s, not %s", row[k].found, text_of(&expr), row[k].to);
        table_free(&t);
    }
}

/* Columns far from 0 count from a value of theirs, in waves from one near the middle, where the
 * rows tell it best; those near 0 do not. */
TEST(far_columns_count_from_an_origin)
{
    static const struct {
        double zero;
        const char *truth, *found, *to;
    } row[] = {
        {2459000, "exp((2459016 - r) / 8)", "exp(307377 - r / 8)", "exp((2459016 - r) / 8)"},
        {2459000, "m1 + exp((r - 2459016) * 0.15)", "m1 + exp(0.15 * r - 368852.4)",
         "m1 + exp((r - 2459016) * 0.15)"},
        {1990, "5 * sin((r - 2010.5) / 0.5)", "5 * sin(r / 0.5 + 0.38495513)",
         "5 * sin((r - 2010.5) * 2)"},
        {1990, "0.5 * r - 1000", "0.5 * r - 1000", "(r - 2000) * 0.5"},
        {0, "0.5 * r - 1000", "0.5 * r - 1000", "0.5 * r - 1000"},
        {1990, "exp(0.01 * r * m1 - 2)", "exp(0.01 * r * m1 - 2)", "exp(0.01 * r * m1 - 2)"},
        {1990, "r - 2000.5", "r - 2000.5", "r - 2000.5"},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct table t;
        double of_truth;
        struct sr_expr expr = formula(row[k].found);
        const struct sr_expr truth = formula(row[k].truth), to = formula(row[k].to);
        table_create(&t, ROWS, 9, false);
        for (int i = 0; i < ROWS; i++)
            t.x[i] = row[k].zero + 41.0 * i / (ROWS - 1);
        assert_true(sr_eval(&truth, &t.data, t.y));
        for (int i = 0; i < ROWS; i++)
            t.y[i] += 1e-3 * sin(12.9898 * i);
        const double reached = tidied(&t, &truth, &expr, &of_truth);
        if (!(reached <= 1.2 * of_truth) || !sr_expr_same_shape(&expr, &to))
            fail_msg("%s became %s, not %s (loss %g, not %g)", row[k].found, text_of(&expr),
                     row[k].to, reached, of_truth);
        table_free(&t);
    }
}

/* The factor of a sum goes into its terms if one of them has a number: no more nodes. */
TEST(factors_go_into_sums)
{
    static const char *const row[][2] = {
        {"3 * (r + m1 / 1.5)", "r * 3 + m1 * 2"},
        {"(2 * r - m1) / 0.5", "r * 4 - m1 * 2"},
        {"(r - 3 / m1) * 2", "r * 2 - 6 / m1"},
        {"square(4 * (r * 2 + m1)) + 1", "square(r * 8 + m1 * 4) + 1"},
        {"3 * (r - m1 / -1.5)", "r * 3 + m1 * 2"},
        {"(r + m1 / 0.25) / -0.5", "r * -2 - m1 * 8"},
        {"3 * (r + m1)", NULL},
        {"3 * (2 * r + 4 * m1)", NULL},
        {"3 / (2 * r + m1)", NULL},
        {"3 * (2 * r * m1)", NULL},
    };
    struct sr_tidy tidy = {.operators = ~(uint64_t)0, .maxsize = 20};
    struct sr_expr out;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const struct sr_expr expr = formula(row[k][0]);
        const bool found = sr_tidy_distribute(&tidy, &expr, &out);
        assert_true(found == (row[k][1] != NULL));
        if (!found)
            continue;
        const struct sr_expr to = formula(row[k][1]);
        if (sr_expr_hash(&out) != sr_expr_hash(&to))
            fail_msg("%s became %s, not %s", row[k][0], text_of(&out), row[k][1]);
    }
    const struct sr_expr expr = formula(row[0][0]);
    tidy.operators = (uint64_t)1 << SR_ADD | (uint64_t)1 << SR_DIV;
    assert_false(sr_tidy_distribute(&tidy, &expr, &out));
}

/* Two terms of nearly the same number get one, where this is no more complex. */
TEST(near_numbers_of_two_terms_become_one)
{
    static const char *const row[][2] = {
        {"2 * r + 2.01 * m1", "(r + m1) * 2"},
        {"2 * r - m1 * 2.01", "(r - m1) * 2"},
        {"2 * r + -2.01 * m1", "(r - m1) * 2"},
        {"r / 4 - m1 * 0.251", "(r - m1) * 0.25"},
        {"m2 * (0.5 / (r / m1) - 0.502)", "m2 * ((m1 / r - 1) * 0.5)"},
        {"0.5 / r - 0.502 / m1", "(inv(r) - inv(m1)) * 0.5"},
        {"2 * r + 2.1 * m1", NULL},
        {"2 * r + m1", NULL},
        {"2 * r * (2.01 * m1)", NULL},
    };
    const struct sr_tidy tidy = {.operators = ~(uint64_t)0, .maxsize = 20};
    struct sr_expr out;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const struct sr_expr expr = formula(row[k][0]);
        bool found = false;
        for (int i = expr.count - 1; i > 0 && !found; i--)
            found = sr_tidy_join(&tidy, &expr, i, &out);
        assert_true(found == (row[k][1] != NULL));
        if (!found)
            continue;
        const struct sr_expr to = formula(row[k][1]);
        if (sr_expr_hash(&out) != sr_expr_hash(&to))
            fail_msg("%s became %s, not %s", row[k][0], text_of(&out), row[k][1]);
    }
}

/* Fractions as divisors or factors, whichever has fewer digits; nothing is rounded. */
TEST(fractions_are_written_short)
{
    static const char *const row[][2] = {
        {"0.3333333333333333 * r", "r / 3"},
        {"square(r) * 0.1111111111111111 / m1", "square(r) / 9 / m1"},
        {"r / 0.6666666666666666", "r * 1.5"},
        {"m1 - r / 0.125", "m1 - r / 0.125"},
        {"0.2 * r", "0.2 * r"},
        {"r / 3", "r / 3"},
        {"0.14159265 * r", "0.14159265 * r"},
        {"0.3333333333333333 / r", "0.3333333333333333 / r"},
        {"r - -2", "r + 2"},
        {"m1 - (-2 / r)", "m1 + (2 / r)"},
        {"3 * (r + 0.6666666666666666)", "r * 3 + 2"},
        {"3 * (r + 0.25)", "3 * (r + 0.25)"},
    };
    struct sr_tidy tidy = {.operators = ~(uint64_t)0, .maxsize = 20};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct sr_expr expr = formula(row[k][0]);
        const struct sr_expr to = formula(row[k][1]);
        sr_tidy_factors(&tidy, &expr);
        if (sr_expr_hash(&expr) != sr_expr_hash(&to))
            fail_msg("%s became %s, not %s", row[k][0], text_of(&expr), row[k][1]);
    }
    struct sr_expr expr = formula(row[0][0]);
    const struct sr_expr before = expr;
    tidy.operators = (uint64_t)1 << SR_MUL;
    sr_tidy_factors(&tidy, &expr);
    assert_true(sr_expr_hash(&expr) == sr_expr_hash(&before));
}

TEST(remarks)
{
    static const struct {
        double value;
        const char *text; /* the start; NULL: none */
    } row[] = {
        {39.4784, "4 pi^2 ("},
        {39.4769264, "G in AU, Julian years and solar masses ("},
        {-1.5708, "-pi / 2 ("},
        {-3.14159, "-pi ("},
        {2.71828, "e ("},
        {1.41421, "sqrt(2) ("},
        {6.6743e-11, "G in m^3 / (kg s^2) ("},
        {0.333333, "1 / 3 ("},
        {11.8435, NULL}, /* 6 pi^2 / 5: nobody looks for that */
        {1.3464, NULL},  /* 3 pi / 7 */
        {1.77245, "sqrt(pi) ("},
        {0.31831, "1 / pi ("},
        {39.6, NULL},
        {2, NULL},
        {7.3, NULL},
        {0, NULL},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        char text[160] = "?";
        const bool found = sr_constant_remark(row[k].value, (double)NAN, text, sizeof text);
        assert_true(found == (row[k].text != NULL));
        const char *const expected = found ? row[k].text : "";
        if (strncmp(text, expected, strlen(expected)) || (!found && *text))
            fail_msg("%g is said to be near \"%s\"", row[k].value, text);
    }
}

/* A standard error is the least distance that counts; what it cannot tell apart is named. */
TEST(remarks_know_standard_errors)
{
    static const struct {
        double value, error;
        const char *text; /* NULL: none */
    } row[] = {
        {39.4784, 1e-6,
         "4 pi^2 (4e-05% off, its standard error 3e-06%; so close by chance: 0.001%): G in "
         "AU, Gaussian years and solar masses"},
        {39.4784, 0.00099,
         "4 pi^2 (4e-05% off, its standard error 0.003%; so close by chance: 0.05%): G "
         "in AU, Gaussian years and solar masses; within two standard errors also of "
         "G in AU, Julian years and solar masses"},
        {-39.4784, -0.00099,
         "-4 pi^2 (4e-05% off, its standard error 0.003%; so close by chance: 0.05%): "
         "G in AU, Gaussian years and solar masses; within two standard errors also "
         "of -G in AU, Julian years and solar masses"},
        {39.476928, 2e-6,
         "G in AU, Julian years and solar masses (4e-06% off, its standard error 5e-06%; "
         "so close by chance: 0.0001%)"},
        {3.1415927, 0.1, NULL},
        {3.1415927, 0.0014, "pi (1e-06% off, its standard error 0.04%; so close by chance: 1%)"},
        {3.1415927, 0.0016, NULL},
        {3.15, 1e-9, NULL},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        char text[512] = "?";
        const bool found = sr_constant_remark(row[k].value, row[k].error, text, sizeof text);
        if (found != (row[k].text != NULL) || strcmp(text, found ? row[k].text : ""))
            fail_msg("%g +- %g is said to be near \"%s\"", row[k].value, row[k].error, text);
    }
}

/* Rounds to whole numbers or fractions; says by which share of the loss it grew, in 1 / rows. */
static double rounded(const struct table *t, struct sr_expr *expr, enum sr_round round)
{
    struct sr_loss loss;
    struct sr_work work;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t->data), 0);
    assert_int_equal(sr_work_init(&work, t->data.rows, 20), 0);
    const double before = sr_constants_fit(&loss, expr, false, 50, 0, NULL, &work);
    const double after = sr_constants_round(&loss, expr, round, &work);
    assert_true(sr_eval(expr, &t->data, work.value));
    assert_true(near(sr_loss_value(&loss, work.value, 1), after, 1e-12));
    sr_loss_free(&loss);
    sr_work_free(&work);
    return (after / before - 1) * (double)t->data.rows;
}

TEST(whole_numbers_and_fractions)
{
    struct table t;
    gsl_rng *rng = random_stream(9);
    double c[SR_NODES];
    table_create(&t, 400, 31, false);
    for (size_t i = 0; i < t.data.rows; i++)
        t.y[i] = 7 * t.x[i] - t.x[400 + i] / 3 + 2.385 + 0.02 * gsl_ran_gaussian(rng, 1);
    const char *const text = "7.1 * r + -0.3 * m1 + 2.3";
    struct sr_expr expr = formula(text);
    assert_true(rounded(&t, &expr, SR_ROUND_INTEGERS) <= 4.01);
    assert_int_equal(sr_expr_constants(&expr, c), 3);
    assert_true(c[0] == 7); /* the other two are far from whole numbers, and fitted again */
    assert_true(c[1] != nearbyint(c[1]) && fabs(c[1] + 1.0 / 3) < 0.01 &&
                fabs(c[2] - 2.385) < 0.01);
    expr = formula(text);
    assert_true(rounded(&t, &expr, SR_ROUND_RATIONALS) <= 8.01);
    sr_expr_constants(&expr, c);
    assert_true(c[0] == 7 && c[1] == -1.0 / 3);
    assert_true(fabs(c[2] - 2.385) < 0.01); /* 31 / 13 is no simple fraction; 19 / 8 is too far */
    expr = formula(text);
    assert_true(rounded(&t, &expr, SR_ROUND_DIGITS) == 0);
    sr_expr_constants(&expr, c);
    assert_true(c[0] != 7);
    /* without noise only the true numbers stay */
    for (size_t i = 0; i < t.data.rows; i++)
        t.y[i] = 5 * t.x[i] - 0.625 * t.x[400 + i] + 2.001;
    expr = formula(text);
    rounded(&t, &expr, SR_ROUND_RATIONALS);
    sr_expr_constants(&expr, c);
    assert_true(c[0] == 5 && c[1] == -0.625 && near(c[2], 2.001, 1e-6));
    gsl_rng_free(rng);
    table_free(&t);
}

/* Fractions are taken without asking only where a random constant would hardly meet one: not with
 * large standard errors, not at a fraction of a large denominator, not in small tables. */
TEST(likely_fractions)
{
    static const struct {
        double noise;
        size_t rows;
        bool seven, third;
    } list[] = {{1e-6, 400, true, true},
                {0.01, 400, true, true},
                {3, 400, false, false},
                {0.1, 400, true, false},
                {0.001, 22, false, false}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        struct table t;
        gsl_rng *rng = random_stream(9);
        double c[SR_NODES];
        table_create(&t, 400, 31, false);
        for (size_t i = 0; i < t.data.rows; i++)
            t.y[i] = 7 * t.x[i] - t.x[400 + i] / 3 + 2.385 + gsl_ran_gaussian(rng, list[k].noise);
        struct table few = t;
        few.data.rows = list[k].rows;
        static double x[3 * 400];
        for (int f = 0; f < 3; f++)
            memcpy(x + (size_t)f * few.data.rows, t.x + (size_t)f * 400, few.data.rows * sizeof *x);
        few.data.x = x;
        struct sr_expr expr = formula("7.1 * r + -0.3 * m1 + 2.3");
        rounded(&few, &expr, SR_ROUND_LIKELY);
        sr_expr_constants(&expr, c);
        assert_true((c[0] == 7) == list[k].seven);
        assert_true((c[1] == -1.0 / 3) == list[k].third);
        assert_true(fabs(c[2] - 2.385) < 1 && c[2] != 2.5 && c[2] != 2);
        gsl_rng_free(rng);
        table_free(&t);
    }
}

/* Factors and divisors of 1 go, whole formulas stay; of -1 signs remain where these are wanted. */
TEST(factors_of_one_go)
{
    static const char *const list[][2] = {
        {"(1 * r) / (m1 * 1)", "r / m1"}, {"1 / r", "1 / r"},
        {"r + 1 / 1", "r + 1"},           {"1 * (1 * r) * m2 / 1", "r * m2"},
        {"2 * r + 1", "2 * r + 1"},       {"exp(1 * r) * (1 + m1)", "exp(r) * (1 + m1)"},
        {"1 * exp(1 * r)", "exp(r)"},     {"r / -1", "r / -1"}};
    static const char *const signs[][2] = {{"r / -1", "-r"},
                                           {"-1 * r", "-r"},
                                           {"-1 / r", "-1 / r"},
                                           {"(m1 + r) * -1", "-(m1 + r)"},
                                           {"m1 + -1 * r", "m1 - r"},
                                           {"m1 - r / -1", "m1 + r"},
                                           {"r / -1 + m1 * -1", "-r - m1"},
                                           {"exp(-1 * r) / -1", "-exp(-r)"},
                                           {"-1 * (-1 * r) * m2 / 1", "-(-r) * m2"}};
    const size_t ones = sizeof list / sizeof *list;
    for (size_t k = 0; k < ones + sizeof signs / sizeof *signs; k++) {
        const char *const *const of = k < ones ? list[k] : signs[k - ones];
        struct sr_expr expr = formula(of[0]), wanted = formula(of[1]);
        const int before = expr.count;
        assert_true(sr_drop_ones(NULL, k >= ones, &expr) == (wanted.count < before));
        assert_int_equal(expr.count, wanted.count);
        assert_true(sr_expr_hash(&expr) == sr_expr_hash(&wanted));
    }
}

TESTS(NULL, NULL)
