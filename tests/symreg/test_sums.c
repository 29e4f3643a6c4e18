/* test_sums.c - weights and texts of sums, and laws that the proposals find without any epoch. */
#include "symreg/formulas.h"
#include "bench/symreg_same.h"
#include "seed/shared.h"
#include "seed/sums.h"

/* Of 2.5 f - 0.7 g + 3 k + 4 the weights; none of a sum of two terms, or of a constant. */
TEST(weighs_terms)
{
    enum { ROWS_OF_SUM = 64 };
    gsl_rng *rng = random_stream(13);
    double f[ROWS_OF_SUM], g[ROWS_OF_SUM], k[ROWS_OF_SUM], z[ROWS_OF_SUM], weight[SR_TERMS + 1];
    const double *value[SR_TERMS] = {f, g, k};
    for (int i = 0; i < ROWS_OF_SUM; i++) {
        f[i] = gsl_rng_uniform(rng);
        g[i] = 100 + gsl_ran_ugaussian(rng);
        k[i] = f[i] + 0.01 * gsl_ran_ugaussian(rng);
        z[i] = 2.5 * f[i] - 0.7 * g[i] + 3 * k[i] + 4;
    }
    assert_true(sr_sum_weigh(ROWS_OF_SUM, 3, value, z, weight));
    assert_true(near(weight[0], 2.5, 1e-9) && near(weight[1], -0.7, 1e-9) &&
                near(weight[2], 3, 1e-9) && near(weight[SR_TERMS], 4, 1e-9));
    for (int i = 0; i < ROWS_OF_SUM; i++)
        k[i] = f[i] + g[i];
    assert_false(sr_sum_weigh(ROWS_OF_SUM, 3, value, z, weight));
    for (int i = 0; i < ROWS_OF_SUM; i++)
        f[i] = 2.385;
    assert_false(sr_sum_weigh(ROWS_OF_SUM, 1, value, z, weight));
    gsl_rng_free(rng);
}

/* Letters of a text stand for formulas and numbers; the rest is written as it stands. */
TEST(writes_texts)
{
    static const char text[] = "a * max(u - b, 0) / square(v)";
    const struct sr_expr u[2] = {formula("r + m1"), formula("inv(m2)")},
                         wanted = formula("2.385 * max(r + m1 - 0.77, 0) / square(inv(m2))");
    struct sr_expr out = {.count = 0};
    sr_put_text(text, u, "ab", (double[]){2.385, 0.77}, &out);
    assert_true(sr_put_end(NULL, &out, SR_NODES));
    assert_true(sr_expr_hash(&out) == sr_expr_hash(&wanted));
    sr_put_by(SR_POW, 1.5, &out);
    assert_true(sr_put_end(NULL, &out, SR_NODES));
    const struct sr_expr raised =
        formula("(2.385 * max(r + m1 - 0.77, 0) / square(inv(m2))) ^ 1.5");
    assert_true(sr_expr_hash(&out) == sr_expr_hash(&raised));
    const uint64_t operators = sr_text_operators(text, "ab");
    assert_true(sr_has(operators, SR_MAX) && sr_has(operators, SR_DIV) &&
                sr_has(operators, SR_SQUARE) && !sr_has(operators, SR_ADD));
}

/* Numbers of the best three scores; those of equal scores stay in their order. */
TEST(keeps_numbers_of_the_best)
{
    static const double score[] = {5, 2.385, 7, 2.385, -1, 5};
    static const int wanted[] = {4, 1, 3};
    int list[3], count = 0;
    for (int k = 0; k < 6; k++)
        sr_best_number(score, k, &count, 3, list);
    assert_int_equal(count, 3);
    for (int k = 0; k < 3; k++)
        assert_int_equal(list[k], wanted[k]);
}

/* A sum is written with its factor, both operators of H and the weights that are not plain. */
TEST(writes_sums)
{
    const struct sr_expr r = formula("r"), m1 = formula("m1"), m2 = formula("m2");
    struct sr_sum sum = {.factor = &r,
                         .outer = {SR_SQUARE, SR_INV},
                         .terms = 2,
                         .term = {{&m1, 2.5, false, SR_ADD}, {&m2, -1, true, SR_SUB}},
                         .offset = true,
                         .d = 0.3};
    struct sr_expr out;
    assert_true(sr_sum_write(NULL, &sum, 20, &out));
    assert_string_equal(text_of(&out), "(r * inv(square((((2.5 * m1) - m2) + 0.3))))");
    assert_int_equal(out.count, 11);
    assert_true(sr_sum_write(NULL, &sum, 11, &out));
    assert_false(sr_sum_write(NULL, &sum, 10, &out));
}

/* ---- laws */

/* Features over 0.5 .. 5, y of a formula times 1 + noise * Gaussian. */
static void table_of(struct table *t, size_t rows, const char *text, double noise)
{
    gsl_rng *rng = random_stream(9);
    table_uniform(t, rows, rng, text);
    for (size_t i = 0; i < rows; i++)
        t->y[i] *= 1 + noise * gsl_ran_ugaussian(rng);
    gsl_rng_free(rng);
}

static void search(struct table *t, double enumerate, int threads, struct sr_fit *fit)
{
    struct sr_settings s = seed_settings();
    s.enumerate = enumerate;
    *fit = (struct sr_fit){.data = t->data};
    assert_int_equal(sr_search(&s, fit, 1, threads, NULL), 0);
}

/* Laws of one curve: the force of a Yukawa potential, powers and logarithms; without any epoch of
 * islands, the same for any number of threads. */
TEST(finds_curves)
{
    static struct sr_fit one, more;
    static const char *const law[] = {
        "m1 * m2 / square(r) * (1 + 2 * (1 + r) * exp(-1 * r))",
        "m1 * sqrt(m2) * exp(-1.3 * log(0.4 + square(r)))",
        "r * log(1.7 + sqrt(m1 / m2))",
    };
    for (size_t k = 0; k < sizeof law / sizeof *law; k++) {
        struct table t;
        table_of(&t, 400, law[k], 0);
        search(&t, 2e5, 1, &one);
        if (k == 0)
            search(&t, 2e5, 3, &more);
        const struct sr_front *front = &one.front;
        if (!(front->loss[front->count - 1] <= 0))
            fail_msg("%s: the best is %s, loss %g", law[k], text_of(&front->expr[front->count - 1]),
                     front->loss[front->count - 1]);
        assert_int_equal(more.front.count, k ? more.front.count : front->count);
        for (int i = 0; i < front->count && k == 0; i++)
            assert_true(sr_expr_hash(&more.front.expr[i]) == sr_expr_hash(&front->expr[i]));
        table_free(&t);
    }
}

/* One feature, and values over powers of ten. */
TEST(finds_a_steep_curve)
{
    static struct sr_fit fit;
    struct table t;
    table_of(&t, 100, "inv(exp(1.8465 * r) - 1)", 0);
    t.data.features = 1;
    search(&t, 3e4, 1, &fit);
    bool found = false;
    for (int i = 0; i < fit.front.count; i++)
        found = found || (fit.front.expr[i].count <= 7 && fit.front.loss[i] <= 0);
    if (!found)
        fail_msg("the best is %s", text_of(&fit.front.expr[fit.front.count - 1]));
    table_free(&t);
}

/* Variables of seven nodes, without an operator for squares: two bodies under modified dynamics. */
TEST(finds_a_law_of_long_variables)
{
    const char *law = "19.7 * m1 * m2 / (r * r) * (1 + sqrt(1 + 3.04 * r * r / (m1 + m2)))";
    struct sr_settings s = seed_settings();
    struct sr_fit fit;
    struct table t;
    table_of(&t, 1000, law, 0);
    s.binary_count = 3;
    s.binary[1] = SR_MUL;
    s.binary[2] = SR_DIV;
    s.unary_count = 2;
    s.unary[0] = SR_EXP;
    s.unary[1] = SR_SQRT;
    s.maxsize = 24;
    fit = (struct sr_fit){.data = t.data};
    assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
    const struct sr_front *front = &fit.front;
    if (!(front->loss[front->count - 1] < 1e-9))
        fail_msg("the best is %s, loss %g", text_of(&front->expr[front->count - 1]),
                 front->loss[front->count - 1]);
    table_free(&t);
}

/* With noise the law is among the seeds, its constants within a few percent. */
TEST(finds_them_in_noise)
{
    static struct sr_fit fit;
    struct table t;
    table_of(&t, 1000, "m1 * m2 * exp(-0.5 * r) / square(r)", 0.03);
    double *weight = orr_alloc(t.data.rows, sizeof *weight);
    assert_non_null(weight);
    for (size_t i = 0; i < t.data.rows; i++)
        weight[i] = 1 / (t.y[i] * t.y[i]);
    t.data.weight = weight;
    search(&t, 6e4, 2, &fit);
    bool found = false;
    const struct sr_expr truth = formula("m1 * m2 * exp(-0.5 * r) / square(r)");
    for (int i = 0; i < fit.front.count; i++) {
        const double low[FEATURES] = {0.5, 0.5, 0.5}, high[FEATURES] = {5, 5, 5};
        found = found || disagreement(&fit.front.expr[i], &truth, FEATURES, low, high, 1) < 0.03;
    }
    assert_true(found);
    free(weight);
    table_free(&t);
}

TESTS(NULL, NULL)
