/* test_wave_signs.c - waves of products of powers over many turns, found by the signs of y. */
#include "symreg/proposal.h"
#include "bench/symreg_same.h"

/* Up to a factor, which seeds do not have. */
static const char *const laws[] = {"sin(r * m1 / m2)", "m1 * sin(r / (m1 * m2))",
                                   "cos(r * m1) * square(m2) / r",
                                   "sin(6.283185307179586 * r * m2) / sqrt(m1)",
                                   "sqrt(m2) * inv(r) * cos(6.283185307179586 * r * m1)"};
enum { LAWS = sizeof laws / sizeof *laws };

static struct sr_settings settings_of(void)
{
    struct sr_settings s = seed_settings();
    s.binary_count = s.unary_count = 0;
    for (int op = SR_ADD; op <= SR_DIV; op++)
        s.binary[s.binary_count++] = (enum sr_op)op;
    static const enum sr_op unary[] = {SR_INV, SR_SQUARE, SR_SQRT, SR_SIN, SR_COS};
    for (int k = 0; k < 5; k++)
        s.unary[s.unary_count++] = unary[k];
    s.maxsize = 25;
    return s;
}

/* y of the law with normal noise, a share of its rms, in a table of the test's columns. */
static void table_of(struct table *t, const char *law, size_t rows, double noise, uint64_t seed)
{
    const struct sr_expr expr = formula(law);
    gsl_rng *rng = random_stream(seed);
    double square = 0;
    table_create(t, rows, seed, false);
    assert_true(sr_eval(&expr, &t->data, t->y));
    for (size_t i = 0; i < rows; i++)
        square += t->y[i] * t->y[i] / (double)rows;
    for (size_t i = 0; i < rows; i++)
        t->y[i] = -3 * (t->y[i] + noise * sqrt(square) * gsl_ran_ugaussian(rng));
    gsl_rng_free(rng);
}

/* The seeds of the table's own stage. */
static struct sr_seeds seeds;
static void find(const struct table *t)
{
    const struct sr_settings s = settings_of();
    struct sr_loss loss;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t->data), 0);
    seeds_of(sr_signs_find, &s, &loss, 1, &seeds);
    sr_loss_free(&loss);
}

TEST(waves_over_many_turns_are_found)
{
    static const double noise[] = {0, 0.1};
    struct table t;
    for (int k = 0; k < LAWS; k++)
        for (int n = 0; n < 2; n++) {
            table_of(&t, laws[k], 500, noise[n], 10 + (uint64_t)k);
            find(&t);
            const struct sr_expr law = formula(laws[k]);
            const double low[] = {0.3, 0.1, 0.1}, high[] = {40, 2, 2};
            bool found = false;
            for (int i = 0; i < seeds.count; i++)
                found = found || disagreement(&seeds.expr[i], &law, FEATURES, low, high, 0.8) <=
                                     (noise[n] > 0 ? 0.05 : 1e-6);
            if (!found)
                fail_msg("%s, noise %g: not among %d seeds", laws[k], noise[n], seeds.count);
            table_free(&t);
        }
}

/* Where y has one sign, columns are negative or rows are few, the signs of y say nothing. */
TEST(other_tables_have_no_waves)
{
    struct table t;
    table_of(&t, "2 + sin(r * m1)", 500, 0, 1);
    find(&t);
    assert_int_equal(seeds.count, 0);
    table_free(&t);
    table_of(&t, laws[0], 63, 0, 1);
    find(&t);
    assert_int_equal(seeds.count, 0);
    table_free(&t);
    table_of(&t, laws[0], 500, 0, 1);
    for (size_t i = 0; i < FEATURES * t.data.rows; i++)
        t.x[i] = -t.x[i];
    find(&t);
    assert_int_equal(seeds.count, 0);
    table_free(&t);
    table_of(&t, "r * m1", 500, 0, 1); /* noise has signs, too */
    gsl_rng *rng = random_stream(3);
    for (size_t i = 0; i < t.data.rows; i++)
        t.y[i] = gsl_ran_ugaussian(rng);
    find(&t);
    assert_int_equal(seeds.count, 0);
    gsl_rng_free(rng);
    table_free(&t);
}

TESTS(NULL, NULL)
