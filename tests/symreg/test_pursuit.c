/* test_pursuit.c - columns of small formulas, and sums of three of them. */
#include "symreg/proposal.h"
#include "bench/symreg_same.h"
#include "seed/dictionary.h"

static struct sr_settings default_settings(void)
{
    struct sr_settings s = seed_settings();
    s.unary[s.unary_count++] = SR_COS;
    return s;
}

/* Features over 0.5 .. 5. */
static void table_of(struct table *t, const char *text)
{
    gsl_rng *rng = random_stream(11);
    table_uniform(t, 500, rng, text);
    gsl_rng_free(rng);
}

/* Hilbert's matrix of order 4 and its exact inverse: sums of rows are whole numbers. */
TEST(solves_systems)
{
    static const double expected[] = {-4, 60, -180, 140};
    double a[4 * 5];
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 4; k++)
            a[i * 5 + k] = 1.0 / (1 + i + k);
        a[i * 5 + 4] = 1;
    }
    assert_true(sr_sum_solve(a, 4));
    for (int i = 0; i < 4; i++)
        assert_true(near(a[i * 5 + 4], expected[i], 1e-10));
    double singular[] = {1, 1, 1, 1, 1, 2};
    assert_false(sr_sum_solve(singular, 2));
}

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
    sum.outer = (struct sr_outer){SR_INV, SR_CONSTANT};
    sum.divide = true;
    assert_true(sr_sum_write(NULL, &sum, 20, &out));
    assert_string_equal(text_of(&out), "(r / (((2.5 * m1) - m2) + 0.3))");
}

/* A bank of a table's formulas. */
static void bank_of(struct sr_bank *bank, const struct sr_settings *s, const struct table *t)
{
    assert_int_equal(sr_bank_init(bank, s, &t->data), 0);
    sr_enumerate_run(&bank->all, s->enumerate / 8);
}

TEST(columns_are_units)
{
    static struct sr_dictionary d;
    const struct sr_settings s = default_settings();
    struct table t;
    struct sr_bank bank;
    d = (struct sr_dictionary){0};
    table_of(&t, "m1 + r");
    bank_of(&bank, &s, &t);
    assert_int_equal(
        sr_dictionary_init(&d, &bank, bank.all.count, sr_settings_operators(&s), &t.data), 0);
    assert_true(d.count > 1000 && d.count <= SR_DICTIONARY);
    for (int e = 0; e < d.count; e += 37) {
        double sum = 0, square = 0, constant[SR_NODES];
        assert_int_equal(sr_expr_constants(&d.expr[e], constant), 0);
        for (int i = 0; i < SR_DICTIONARY_ROWS; i++) {
            assert_true(near(d.value[e][i], value_by_hand(&d.expr[e], &d.data, (size_t)i), 1e-12));
            const double v = (double)d.column[e / SR_DICTIONARY_BLOCK][i][e % SR_DICTIONARY_BLOCK];
            sum += v;
            square += v * v;
        }
        assert_true(fabs(sum) < 1e-4 && fabs(square - 1) < 1e-4);
    }
    sr_dictionary_free(&d);
    sr_bank_free(&bank);
    table_free(&t);
}

/* Whole powers are found under what varies less: r^2 m1 / m2^3 times 1 to 1.3. */
TEST(factors_hold_the_power_law)
{
    static struct sr_dictionary d;
    const struct sr_settings s = default_settings();
    const struct sr_expr law = formula("square(r) * m1 / (m2 * square(m2))");
    const double low[FEATURES] = {0.5, 0.5, 0.5}, high[FEATURES] = {5, 5, 5};
    struct table t;
    struct sr_bank bank;
    bool found = false;
    d = (struct sr_dictionary){0};
    table_of(&t, "square(r) * m1 / (m2 * square(m2)) * (1.3 - 0.3 * exp(-1 * r * m2))");
    bank_of(&bank, &s, &t);
    assert_int_equal(
        sr_dictionary_init(&d, &bank, bank.all.count, sr_settings_operators(&s), &t.data), 0);
    assert_true(d.factors > 1 && d.factors <= SR_DICTIONARY_FACTORS && d.factor[0].count == 0);
    for (int i = 1; i < d.factors; i++)
        found = found || disagreement(&d.factor[i], &law, FEATURES, low, high, 1) < 1e-12;
    assert_true(found);
    sr_dictionary_free(&d);
    sr_bank_free(&bank);
    table_free(&t);
}

enum spoilt { CONSTANT, ZERO, FLAG, SIGNED, OTHER_UNIT, ZERO_Y, SIGNS, SPOILT };

/* The column m1, which the law does not have, is what no logarithm can be taken of, or what says
 * nothing more; or y is 0 in a row; or m2 and with it y are below 0 in some. */
static void spoil(struct table *t, enum spoilt kind)
{
    double *m1 = t->x + t->data.rows, *m2 = m1 + t->data.rows;
    gsl_rng *rng = random_stream(3);
    for (size_t i = 0; i < t->data.rows; i++) {
        if (kind == CONSTANT || kind == ZERO)
            m1[i] = kind == CONSTANT;
        else if (kind == FLAG)
            m1[i] = gsl_rng_uniform(rng) < 0.5;
        else if (kind == SIGNED)
            m1[i] = gsl_ran_gaussian(rng, 1);
        else if (kind == OTHER_UNIT)
            m1[i] = 2.2046 * m2[i];
        else if (kind == SIGNS && i % 3 == 0) {
            m2[i] = -m2[i];
            t->y[i] = -t->y[i];
        }
    }
    if (kind == ZERO_Y)
        t->y[0] = 0;
    gsl_rng_free(rng);
}

TEST(factors_bear_awkward_columns)
{
    static struct sr_dictionary d;
    const struct sr_settings s = default_settings();
    const double low[FEATURES] = {0.5, 0.5, 0.5}, high[FEATURES] = {5, 5, 5};
    enum { LAWS = 3 };
    const struct sr_expr law[LAWS] = {formula("square(r) / (m2 * square(m2))"),
                                      formula("square(r) / (m1 * square(m1))"),
                                      formula("square(r)")};
    for (enum spoilt kind = 0; kind < SPOILT; kind++) {
        struct table t;
        struct sr_bank bank;
        int found = 0;
        d = (struct sr_dictionary){0};
        table_of(&t, "square(r) / (m2 * square(m2)) * (1.3 - 0.3 * exp(-1 * r * m2))");
        spoil(&t, kind);
        bank_of(&bank, &s, &t);
        assert_int_equal(
            sr_dictionary_init(&d, &bank, bank.all.count, sr_settings_operators(&s), &t.data), 0);
        for (int i = 1; i < d.factors; i++)
            for (int k = 0; k < LAWS; k++)
                if ((k != 1 || kind == OTHER_UNIT) &&
                    disagreement(&d.factor[i], &law[k], FEATURES, low, high, 1) < 1e-12)
                    found++;
        if (found != 2)
            fail_msg("kind %d: %d factors are the law or what multiplies in it", kind, found);
        sr_dictionary_free(&d);
        sr_bank_free(&bank);
        table_free(&t);
    }
}

/* What the sums alone add for a law. */
static int find_sums(struct sr_proposal *p)
{
    sr_proposal_fill(p, p->settings->enumerate);
    return sr_pursuit_find(p);
}

/* Three terms that share features, with unequal weights, below an operator, under a factor: exact
 * from the sums alone, the same for any number of threads. */
TEST(finds_sums)
{
    static struct sr_seeds one, more;
    static const char *const law[] = {
        "square(m1 - r) + 3 * m1 * m2 - 2.5 * log(m2) + 1",
        "sqrt(square(r) + 3 * log(m1) + m1 * m2 + 4)",
        "m1 * square(r) / (sqrt(r) + 2 * log(m2) + inv(m1) + 4)",
    };
    for (size_t k = 0; k < sizeof law / sizeof *law; k++) {
        const struct sr_settings s = default_settings();
        struct table t;
        struct sr_loss loss;
        double least = HUGE_VAL;
        table_of(&t, law[k]);
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
        seeds_of(find_sums, &s, &loss, 1, &one);
        seeds_of(find_sums, &s, &loss, 3, &more);
        for (int i = 0; i < one.count; i++)
            least = fmin(least, one.loss[i]);
        if (!(least <= 1e-15 * loss.base))
            fail_msg("%s: the smallest loss is %g", law[k], least);
        assert_int_equal(one.count, more.count);
        for (int i = 0; i < one.count; i++)
            assert_true(sr_expr_hash(&one.expr[i]) == sr_expr_hash(&more.expr[i]));
        sr_loss_free(&loss);
        table_free(&t);
    }
}

/* With noise a sum of larger columns, (r - m1)^2, r m1 and m2^2, follows the rows a little better
 * than the law's, r^2, m1^2 and m2^2: the law's is found nonetheless. */
TEST(finds_the_simplest_sum_under_noise)
{
    static struct sr_seeds seeds;
    const struct sr_expr law = formula("inv(square(r) + square(m1) + square(m2))");
    const uint64_t hash = sr_expr_canonical_hash(NULL, &law);
    for (uint64_t k = 0; k < 4; k++) {
        const struct sr_settings s = default_settings();
        gsl_rng *rng = random_stream(40 + k);
        struct table t;
        struct sr_loss loss;
        bool found = false;
        table_uniform(&t, 300, rng, "inv(square(r) + square(m1) + square(m2))");
        for (size_t i = 0; i < t.data.rows; i++)
            t.y[i] *= 1 + 0.01 * gsl_ran_gaussian(rng, 1);
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
        seeds.count = 0;
        seeds_of(find_sums, &s, &loss, 1, &seeds);
        for (int i = 0; i < seeds.count; i++)
            found = found || sr_expr_canonical_hash(NULL, &seeds.expr[i]) == hash;
        if (!found)
            fail_msg("table %d: not among %d sums", (int)k, seeds.count);
        sr_loss_free(&loss);
        table_free(&t);
        gsl_rng_free(rng);
    }
}

TESTS(NULL, NULL)
