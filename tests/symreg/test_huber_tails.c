/* test_huber_tails.c - tables with rows far from the others are known by a quick test, and by the
 * residuals of formulas; ordinary noise and steep laws are not taken for them. */
#include "symreg/formulas.h"
#include "symreg/solve/solve.h"

enum { ROWS = 160 };

enum noise { NONE, NORMAL, LAPLACE, OUTLIERS, CAUCHY };

static void make_table(const char *law, enum noise noise, uint64_t seed, struct table *t)
{
    const struct sr_expr expr = formula(law);
    gsl_rng *rng = random_stream(seed);
    table_create(t, ROWS, seed, false);
    t->data.features = 2;
    assert_true(sr_eval(&expr, &t->data, t->y));
    for (size_t i = 0; i < ROWS; i++) {
        t->y[i] += noise == NORMAL || noise == OUTLIERS ? gsl_ran_gaussian(rng, 0.02)
                   : noise == LAPLACE                   ? gsl_ran_laplace(rng, 0.02)
                   : noise == CAUCHY                    ? gsl_ran_cauchy(rng, 0.02)
                                                        : 0;
        if (noise == OUTLIERS && gsl_rng_uniform(rng) < 0.08)
            t->y[i] += 4 + 20 * gsl_rng_uniform(rng);
    }
    gsl_rng_free(rng);
}

TEST(a_table_with_outliers_is_suspected_and_others_are_not)
{
    static const char *const law[] = {"sin(r / 3) + m1", "0.1 * r + m1", "inv(r) + m1",
                                      "m1 / square(r)", "exp(0.2 * r)"};
    for (size_t k = 0; k < sizeof law / sizeof *law; k++)
        for (uint64_t seed = 1; seed <= 5; seed++)
            for (int noise = NONE; noise <= OUTLIERS; noise++) {
                struct table t;
                make_table(law[k], (enum noise)noise, seed, &t);
                const bool found = sr_tails_suspected(&t.data);
                if (noise == OUTLIERS && k < 3 && !found)
                    fail_msg("%s, seed %d: the outliers are not suspected", law[k], (int)seed);
                if (noise != OUTLIERS && found)
                    fail_msg("%s, seed %d, noise %d: outliers are suspected", law[k], (int)seed,
                             noise);
                table_free(&t);
            }
}

/* Measures the residuals of one formula, whose constants are off. */
static struct sr_tails measure(const struct table *t, const char *text)
{
    struct sr_tails tails;
    struct sr_fit *fit = orr_alloc(1, sizeof *fit);
    assert_non_null(fit);
    fit->data = t->data;
    fit->front.count = 1;
    fit->front.expr[0] = formula(text);
    assert_int_equal(sr_tails_measure(fit, &tails), 0);
    free(fit);
    return tails;
}

TEST(residuals_tell_outliers_from_noise_and_from_what_a_formula_lacks)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct table t;
        make_table("sin(r / 3) + m1", OUTLIERS, seed, &t);
        struct sr_tails tails = measure(&t, "sin(r / 3.1) + 0.9 * m1");
        if (!(tails.far >= 5 && tails.far <= ROWS / 5 && tails.alone))
            fail_msg("seed %d: %zu far rows, %s", (int)seed, tails.far,
                     tails.alone ? "alone" : "beside each other");
        assert_true(tails.scale > 0.01 && tails.scale < 0.04);
        table_free(&t);
        make_table("sin(r / 3) + m1", CAUCHY, seed, &t);
        tails = measure(&t, "sin(r / 3.1) + 0.9 * m1");
        assert_true(tails.far >= 2);
        table_free(&t);
        make_table("sin(r / 3) + m1", LAPLACE, seed, &t);
        tails = measure(&t, "sin(r / 3.1) + 0.9 * m1");
        assert_true(tails.far < 3);
        table_free(&t);
        /* a bump that the formula lacks has its rows side by side */
        make_table("m1 + 5 * exp(-square(r - 20))", NORMAL, seed, &t);
        t.data.features = 1;
        for (size_t i = 0; i < ROWS; i++)
            t.y[i] -= t.x[ROWS + i];
        tails = measure(&t, "0.001 * r");
        if (tails.far >= 3 && tails.alone)
            fail_msg("seed %d: %zu rows of a bump are taken for outliers", (int)seed, tails.far);
        table_free(&t);
    }
}

TEST(huber_turns_linear_where_the_residuals_say)
{
    struct table t;
    struct sr_settings s = {.loss = ORR_SR_HUBER, .loss_parameter = 0.5, .follows = true};
    struct sr_fit *fit = orr_alloc(1, sizeof *fit);
    bool changed;
    double bend;
    assert_non_null(fit);
    make_table("sin(r / 3) + m1", OUTLIERS, 1, &t);
    fit->data = t.data;
    fit->front.count = 2;
    fit->front.expr[0] = formula("m1");
    fit->front.expr[1] = formula("sin(r / 3) + m1");
    assert_int_equal(sr_tails_follow(&s, fit, &t.data, &changed, &bend), 0);
    assert_true(changed && bend > 0.015 && bend < 0.05);
    assert_true(s.loss_parameter < 0.1);
    const double there = s.loss_parameter;
    assert_int_equal(sr_tails_follow(&s, fit, &t.data, &changed, &bend), 0);
    assert_false(changed);
    fit->front.count = 1; /* it grows no more */
    assert_int_equal(sr_tails_follow(&s, fit, &t.data, &changed, &bend), 0);
    assert_true(fabs(s.loss_parameter - there) <= 0);
    table_free(&t);
    free(fit);
}

TESTS(NULL, NULL)
