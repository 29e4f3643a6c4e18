/* test_likelihood.c - losses that are deviances, and description lengths by the likelihood of each
 * loss, against formulas written out here. */
#include "symreg/formulas.h"

#include <float.h>

enum { ROWS = 200 };

/* A deviance as the textbooks write it (McCullagh and Nelder, Generalized Linear Models, 2nd ed.
 * 1989, section 2.3). */
static double textbook(enum orr_symreg_loss kind, double t, double p)
{
    const double some = t > 0 ? t * log(t / p) : 0,
                 none = t < 1 ? (1 - t) * log((1 - t) / (1 - p)) : 0;
    return 2 * (kind == ORR_SR_POISSON ? some - t + p
                : kind == ORR_SR_GAMMA ? t / p - 1 - log(t / p)
                                       : some + none);
}

static const struct {
    enum orr_symreg_loss kind;
    const char *name, *law; /* of r from 0.3 to 40 */
} deviance[] = {{ORR_SR_POISSON, "poisson", "7.3 * exp(-0.11 * r) + 0.4"},
                {ORR_SR_GAMMA, "gamma", "7.3 * exp(-0.11 * r) + 0.4"},
                {ORR_SR_BERNOULLI, "bernoulli", "inv(1.1 + 0.03 * r)"}};
enum { DEVIANCES = sizeof deviance / sizeof *deviance };

/* A table of targets that scatter about a law, some of them 0 where the deviance has that. */
static void make_table(int k, struct table *t, double *p)
{
    const struct sr_expr law = formula(deviance[k].law);
    gsl_rng *rng = random_stream(31);
    table_create(t, ROWS, 30, false);
    assert_true(sr_eval(&law, &t->data, p));
    for (size_t i = 0; i < ROWS; i++)
        t->y[i] = deviance[k].kind == ORR_SR_POISSON ? gsl_ran_poisson(rng, p[i])
                  : deviance[k].kind == ORR_SR_GAMMA ? gsl_ran_gamma(rng, 5, p[i] / 5)
                                                     : gsl_rng_uniform(rng) < p[i];
    gsl_rng_free(rng);
}

TEST(deviances_are_those_of_the_textbook)
{
    for (int k = 0; k < DEVIANCES; k++) {
        struct table t;
        struct sr_loss loss;
        double p[ROWS], expected = 0;
        make_table(k, &t, p);
        assert_int_equal(sr_loss_init(&loss, deviance[k].kind, &t.data), 0);
        for (size_t i = 0; i < ROWS; i++)
            expected += textbook(deviance[k].kind, t.y[i], p[i]) / ROWS;
        assert_true(near(sr_loss_value(&loss, p, 1), expected, 1e-12));
        const double kept = p[7];
        p[7] = -1e-9;
        if (isfinite(sr_loss_value(&loss, p, 1)))
            fail_msg("%s: the loss of a negative prediction is finite", deviance[k].name);
        p[7] = 1 + 1e-9;
        if (isfinite(sr_loss_value(&loss, p, 1)) != (deviance[k].kind != ORR_SR_BERNOULLI))
            fail_msg("%s: the loss of a prediction above 1 is wrong", deviance[k].name);
        p[7] = kept;
        /* an exact formula leaves rounding alone: no cancellation at p near t */
        for (size_t i = 0; i < ROWS; i++) {
            t.y[i] = p[i];
            p[i] *= 1 + 1e-9;
        }
        expected = 0;
        for (size_t i = 0; i < ROWS; i++)
            expected += 1e-18 *
                        (deviance[k].kind == ORR_SR_POISSON ? t.y[i]
                         : deviance[k].kind == ORR_SR_GAMMA ? 1
                                                            : t.y[i] / (1 - t.y[i])) /
                        ROWS;
        assert_true(near(sr_loss_value(&loss, p, 1), expected, 1e-6));
        sr_loss_free(&loss);
        table_free(&t);
    }
}

TEST(targets_of_0_give_what_0_log_0_does)
{
    const double t[2] = {0, 1}, p[2] = {0.25, 0.75}, none[2] = {0, 1};
    const struct sr_data data = {.rows = 2, .features = 1, .x = t, .y = t};
    struct sr_loss loss;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_POISSON, &data), 0);
    assert_true(near(sr_loss_value(&loss, p, 1), 0.25 + log(1 / 0.75) - 0.25, 1e-12));
    assert_true(fabs(sr_loss_value(&loss, none, 1)) <= 0);
    sr_loss_free(&loss);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_BERNOULLI, &data), 0);
    assert_true(near(sr_loss_value(&loss, p, 1), -2 * log(0.75), 1e-12));
    assert_true(fabs(sr_loss_value(&loss, none, 1)) <= 0);
    sr_loss_free(&loss);
}

TEST(gradients_and_scales_of_deviances_are_those_of_differences)
{
    for (int k = 0; k < DEVIANCES; k++) {
        struct table t;
        struct sr_loss loss;
        double p[ROWS], constant[SR_NODES], gradient[SR_NODES], scratch[2 * ROWS + SR_SCRATCH];
        struct sr_expr moved = formula(deviance[k].law);
        make_table(k, &t, p);
        assert_int_equal(sr_loss_init(&loss, deviance[k].kind, &t.data), 0);
        const int n = sr_expr_constants(&moved, constant);
        for (int c = 0; c < n; c++)
            constant[c] *= 1.03;
        sr_expr_set_constants(&moved, constant);
        assert_true(sr_eval_gradient(&moved, &loss, gradient));
        for (int c = 0; c < n; c++) {
            double side[2];
            const double here = constant[c], step = 1e-5 * fabs(here);
            for (int s = 0; s < 2; s++) {
                constant[c] = here + (s ? step : -step);
                sr_expr_set_constants(&moved, constant);
                assert_true(sr_eval(&moved, &t.data, p));
                side[s] = sr_loss_value(&loss, p, 1);
            }
            constant[c] = here;
            if (!near(gradient[c], (side[1] - side[0]) / (2 * step), 1e-6))
                fail_msg("%s: the derivative by constant %d is %g, by differences %g",
                         deviance[k].name, c, gradient[c], (side[1] - side[0]) / (2 * step));
        }
        const double scale = sr_loss_scale(&loss, p, scratch),
                     least = sr_loss_value(&loss, p, scale);
        assert_true(isfinite(least));
        if (sr_loss_value(&loss, p, scale * 1.001) < least ||
            sr_loss_value(&loss, p, scale * 0.999) < least)
            fail_msg("%s: the outer scale %g is not the best", deviance[k].name, scale);
        sr_loss_free(&loss);
        table_free(&t);
    }
}

TEST(constants_are_fitted_to_the_least_deviance)
{
    for (int k = 0; k < DEVIANCES; k++) {
        struct table t;
        struct sr_loss loss;
        struct sr_work work;
        double p[ROWS], constant[SR_NODES];
        struct sr_expr expr = formula(deviance[k].law);
        make_table(k, &t, p);
        const int n = sr_expr_constants(&expr, constant);
        assert_int_equal(sr_loss_init(&loss, deviance[k].kind, &t.data), 0);
        assert_int_equal(sr_work_init(&work, ROWS, 2 * n + 2), 0);
        for (int c = 0; c < n; c++)
            constant[c] *= 1.2;
        sr_expr_set_constants(&expr, constant);
        const double least = sr_constants_fit(&loss, &expr, false, 60, 0, NULL, &work);
        sr_expr_constants(&expr, constant);
        for (int c = 0; c < n; c++)
            for (int side = -1; side <= 1; side += 2) {
                struct sr_expr moved = expr;
                double other[SR_NODES];
                sr_expr_constants(&expr, other);
                other[c] *= 1 + 1e-3 * side;
                sr_expr_set_constants(&moved, other);
                assert_true(sr_eval(&moved, &t.data, p));
                if (sr_loss_value(&loss, p, 1) < least * (1 - 1e-9))
                    fail_msg("%s: the fit ended at %.9g, %.9g is beside it", deviance[k].name,
                             least, sr_loss_value(&loss, p, 1));
            }
        sr_work_free(&work);
        sr_loss_free(&loss);
        table_free(&t);
    }
}

TEST(a_loss_with_values_at_p_equal_t_counts_from_there)
{
    struct table t;
    struct sr_loss loss, named;
    double p[ROWS];
    struct sr_language *language = sr_language_create();
    assert_non_null(language);
    make_table(0, &t, p);
    for (size_t i = 0; i < ROWS; i++)
        t.y[i] += 1;
    t.data.language = language;
    assert_int_equal(sr_custom_loss_define(language, "p - t * log(p)"), 0);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_CUSTOM, &t.data), 0);
    assert_int_equal(sr_loss_init(&named, ORR_SR_POISSON, &t.data), 0);
    assert_true(near(2 * sr_loss_value(&loss, p, 1.1), sr_loss_value(&named, p, 1.1), 1e-9));
    const double parts =
        sr_loss_part(&loss, 0, 70, p, 1.1) + sr_loss_part(&loss, 70, ROWS - 70, p + 70, 1.1);
    assert_true(near(parts, sr_loss_value(&loss, p, 1.1), 1e-9));
    assert_true(fabs(sr_loss_value(&loss, t.y, 1)) <= loss.noise);
    sr_loss_free(&loss);
    sr_loss_free(&named);
    sr_language_free(language);
    table_free(&t);
}

/* Description lengths of a constant, 5 / r and the law, fitted, of a table with noise. */
static void describe(enum orr_symreg_loss kind, const struct table *t, struct sr_front *front,
                     struct sr_loss *loss)
{
    static const char *const text[] = {"2.1", "2.1 / r", "2.1 / square(r) + 0.3"};
    struct sr_hall_of_fame hall;
    struct sr_work work;
    sr_hall_of_fame_clear(&hall);
    assert_int_equal(sr_loss_init(loss, kind, &t->data), 0);
    assert_int_equal(sr_work_init(&work, ROWS, 8), 0);
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        struct sr_expr expr = formula(text[k]);
        const double reached = sr_constants_fit(loss, &expr, false, 60, 0, NULL, &work);
        sr_hall_of_fame_offer(&hall, NULL, &expr, reached);
    }
    sr_front_make(&hall, front);
    sr_work_free(&work);
    assert_int_equal(sr_front_describe_by(front, loss), 0);
}

static void make_noisy(struct table *t, int outliers_in, double tail)
{
    const struct sr_expr law = formula("4 / square(r) + 0.3");
    gsl_rng *rng = random_stream(92);
    table_create(t, ROWS, 91, false);
    for (size_t i = 0; i < ROWS; i++)
        t->x[i] = 1 + t->x[i] / 10;
    assert_true(sr_eval(&law, &t->data, t->y));
    for (size_t i = 0; i < ROWS; i++) {
        t->y[i] += tail > 0 ? gsl_ran_cauchy(rng, tail) : gsl_ran_laplace(rng, 0.01);
        if (outliers_in && gsl_rng_uniform_int(rng, 100) < (unsigned long)outliers_in)
            t->y[i] += 2 + 28 * gsl_rng_uniform(rng);
    }
    gsl_rng_free(rng);
}

TEST(without_outliers_the_length_under_l1_is_rows_times_the_logarithm_of_the_mean)
{
    struct table t;
    struct sr_front front;
    struct sr_loss loss;
    make_noisy(&t, 0, 0);
    describe(ORR_SR_L1, &t, &front, &loss);
    for (int i = 0; i < front.count; i++) {
        assert_true(near(front.compared[i], front.loss[i], 0.02));
        assert_true(near(front.mdl[i] - front.cost[i], ROWS * log(front.compared[i]), 1e-9));
    }
    assert_int_equal(front.count, 3);
    /* nats of a constant: its Fisher information under Laplace's distribution */
    const double *r = t.x, c[2] = {4, 0.3}, b = front.compared[2];
    double squares = 0, cost = 6 * log(5);
    for (size_t i = 0; i < ROWS; i++)
        squares += 1 / (r[i] * r[i] * r[i] * r[i]);
    cost += log(c[0]) + log(squares / (b * b)) / 2 - log(3) / 2;
    cost += log(c[1]) + log(ROWS / (b * b)) / 2 - log(3) / 2;
    assert_true(near(front.cost[2], cost, 0.02));
    sr_loss_free(&loss);
    table_free(&t);
}

TEST(outliers_and_heavy_tails_do_not_hide_the_law)
{
    static const struct {
        int outliers;
        double tail;
    } noise[] = {{3, 0}, {8, 0}, {15, 0}, {0, 0.01}};
    static const enum orr_symreg_loss kind[] = {ORR_SR_L1, ORR_SR_HUBER, ORR_SR_LOGCOSH};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < sizeof noise / sizeof *noise; i++) {
            struct table t;
            struct sr_front front;
            struct sr_loss loss;
            make_noisy(&t, noise[i].outliers, noise[i].tail);
            describe(kind[k], &t, &front, &loss);
            sr_front_correct(&front, &loss);
            for (int rule = SR_BEST; rule < SR_RULES; rule++)
                if (sr_front_select(&front, (enum sr_rule)rule) != 2)
                    fail_msg("loss %d, %d%% of outliers, tails of %g: rule %s selects row %d",
                             kind[k], noise[i].outliers, noise[i].tail, sr_rule_name[rule],
                             sr_front_select(&front, (enum sr_rule)rule));
            sr_loss_free(&loss);
            table_free(&t);
        }
}

/* -ln of the likelihood of targets about these predictions under gamma distributions of one shape,
 * the likeliest. */
static double gamma_length(const struct table *t, const double *p)
{
    double least = HUGE_VAL;
    for (double shape = 0.2; shape < 20; shape *= 1.005) {
        double length = 0;
        for (size_t i = 0; i < ROWS; i++)
            length -= log(gsl_ran_gamma_pdf(t->y[i], shape, p[i] / shape));
        least = fmin(least, length);
    }
    return least;
}

TEST(under_gamma_the_length_is_that_of_the_likeliest_shape)
{
    const struct sr_expr law = formula("4 / square(r) + 0.3");
    gsl_rng *rng = random_stream(93);
    struct sr_front front;
    struct sr_loss loss;
    struct table t;
    double p[ROWS], exact[3], rough[3];
    make_noisy(&t, 0, 0);
    assert_true(sr_eval(&law, &t.data, p));
    for (size_t i = 0; i < ROWS; i++)
        t.y[i] = gsl_ran_gamma(rng, 1.5, p[i] / 1.5);
    describe(ORR_SR_GAMMA, &t, &front, &loss);
    assert_int_equal(front.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(sr_eval(&front.expr[i], &t.data, p));
        exact[i] = gamma_length(&t, p);
        rough[i] = ROWS / 2.0 * log(front.loss[i]);
    }
    for (int i = 1; i < 3; i++) {
        const double ours = front.mdl[i] - front.cost[i] - front.mdl[0] + front.cost[0];
        if (!(fabs(ours - (exact[i] - exact[0])) < 0.01 * fabs(exact[i] - exact[0])))
            fail_msg("row %d is %.4f nats longer than the constant, by the distribution %.4f", i,
                     ours, exact[i] - exact[0]);
        /* the logarithm alone is further off than that */
        assert_true(fabs(rough[i] - rough[0] - (exact[i] - exact[0])) >
                    0.03 * fabs(exact[i] - exact[0]));
    }
    sr_loss_free(&loss);
    table_free(&t);
    gsl_rng_free(rng);
}

/* What the first n numbers of a formula cost under bernoulli, by differences. */
static double numbers_cost(const struct sr_expr *expr, const struct table *t, int n)
{
    double constant[SR_NODES], p[ROWS], low[ROWS], high[ROWS], nats = 0;
    assert_true(n <= sr_expr_constants(expr, constant) && sr_eval(expr, &t->data, p));
    for (int c = 0; c < n; c++) {
        struct sr_expr moved = *expr;
        double information = 0, value = constant[c];
        constant[c] = value * (1 - 1e-5);
        sr_expr_set_constants(&moved, constant);
        assert_true(sr_eval(&moved, &t->data, low));
        constant[c] = value * (1 + 1e-5);
        sr_expr_set_constants(&moved, constant);
        assert_true(sr_eval(&moved, &t->data, high));
        constant[c] = value;
        for (int i = 0; i < ROWS; i++) {
            const double slope = (high[i] - low[i]) / (2e-5 * value);
            information += slope * slope / (p[i] * (1 - p[i]));
        }
        nats += fmax(log(2), log(fabs(value)) + 0.5 * log(information / 3));
    }
    return nats;
}

TEST(a_logistic_curve_is_one_operator_of_a_probability)
{
    static const struct {
        const char *text;
        double nodes, kinds; /* kinds: operators and columns; all numbers are one */
        int numbers;         /* that cost something: the 1 of the curve is a part of it */
    } forms[] = {{"inv(exp(2.1 - 0.7 * r) + 1)", 6, 5, 2},
                 {"inv(exp(2.1 - 0.7 * r) + 1.01)", 6, 5, 3},
                 {"0.9 / (1.1 + exp(2.1 - 0.7 * r))", 8, 6, 4},
                 {"exp(-0.5 * r)", 4, 4, 1},
                 {"inv(exp(0.7 * r) + r)", 7, 6, 1}};
    struct table t;
    double p[ROWS];
    make_table(DEVIANCES - 1, &t, p);
    for (size_t i = 0; i < ROWS; i++)
        t.y[i] = i % 3 == 0;
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        struct sr_expr expr = formula(forms[k].text);
        struct sr_hall_of_fame hall;
        struct sr_front front;
        struct sr_loss loss;
        sr_hall_of_fame_clear(&hall);
        assert_int_equal(sr_loss_init(&loss, ORR_SR_BERNOULLI, &t.data), 0);
        sr_hall_of_fame_offer(&hall, NULL, &expr, 1.1);
        sr_front_make(&hall, &front);
        assert_int_equal(sr_front_describe_by(&front, &loss), 0);
        const double cost =
            forms[k].nodes * log(forms[k].kinds) + numbers_cost(&expr, &t, forms[k].numbers);
        if (!near(front.cost[0], cost, 1e-6))
            fail_msg("%s costs %.9g nats, by hand %.9g", forms[k].text, front.cost[0], cost);
        sr_loss_free(&loss);
    }
    table_free(&t);
}

TEST(a_user_defined_loss_has_the_length_of_its_power)
{
    static const struct {
        const char *text;
        double power;
    } loss_of[] = {{"(p - t)^2", 2}, {"abs(p - t)", 1}, {"abs(p - t)^1.5", 1.5}};
    struct sr_language *language = sr_language_create();
    assert_non_null(language);
    for (size_t k = 0; k < sizeof loss_of / sizeof *loss_of; k++) {
        struct table t;
        struct sr_front front;
        struct sr_loss loss;
        make_noisy(&t, 0, 0);
        t.data.language = language;
        assert_int_equal(sr_custom_loss_define(language, loss_of[k].text), 0);
        describe(ORR_SR_CUSTOM, &t, &front, &loss);
        assert_true(near(front.power, loss_of[k].power, 1e-3));
        for (int i = 0; i < front.count; i++)
            assert_true(
                near(front.mdl[i] - front.cost[i], ROWS / front.power * log(front.loss[i]), 1e-9));
        sr_loss_free(&loss);
        table_free(&t);
    }
    sr_language_free(language);
}

TEST(targets_out_of_the_domain_are_reported_with_their_line)
{
    const double t[3] = {2, 0, -0.5}, x[3] = {1, 2, 3};
    const size_t line[3] = {2, 4, 7};
    const struct sr_data data = {.rows = 3, .features = 1, .x = x, .y = t};
    assert_int_equal(sr_deviance_check(ORR_SR_POISSON, &data, NULL, line, "n"), ORR_EUSAGE);
    assert_non_null(strstr(orr_error(), "at least 0, found -0.5 in line 7 of \"n\""));
    assert_int_equal(sr_deviance_check(ORR_SR_GAMMA, &data, "f.csv", NULL, "n"), ORR_EUSAGE);
    assert_non_null(strstr(
        orr_error(), "f.csv: --loss gamma: expected targets above 0, found 0 in row 2 of \"n\""));
    assert_int_equal(sr_deviance_check(ORR_SR_BERNOULLI, &data, NULL, line, "n"), ORR_EUSAGE);
    assert_non_null(strstr(orr_error(), "from 0 to 1, found 2 in line 2 of \"n\""));
    assert_int_equal(sr_deviance_check(ORR_SR_L1, &data, NULL, line, "n"), 0);
    orr_error_clear();
}

TESTS(NULL, NULL)
