/* test_rates.c - sums of terms whose rates are free: exponentials, sines, Gaussians. */
#include "symreg/proposal.h"
#include "bench/symreg_same.h"
#include "seed/rates.h"

enum { ROWS_OF_TABLE = 400 };

/* Settings with the operators named, apart from + and *. */
static struct sr_settings settings_of(const enum sr_op *unary, int unaries,
                                      const enum sr_op *binary, int binaries)
{
    struct sr_settings s = seed_settings();
    s.binary_count = s.unary_count = 0;
    s.binary[s.binary_count++] = SR_ADD;
    s.binary[s.binary_count++] = SR_MUL;
    for (int i = 0; i < binaries; i++)
        s.binary[s.binary_count++] = binary[i];
    for (int i = 0; i < unaries; i++)
        s.unary[s.unary_count++] = unary[i];
    s.maxsize = 25;
    return s;
}

/* Columns over 0.5 .. 5; noise: its share of the standard deviation of y. */
static void table_of(struct table *t, const char *law, double noise, uint64_t seed)
{
    gsl_rng *rng = random_stream(seed);
    double mean = 0, square = 0;
    table_uniform(t, ROWS_OF_TABLE, rng, law);
    for (int i = 0; i < ROWS_OF_TABLE; i++)
        mean += t->y[i] / ROWS_OF_TABLE;
    for (int i = 0; i < ROWS_OF_TABLE; i++)
        square += (t->y[i] - mean) * (t->y[i] - mean) / ROWS_OF_TABLE;
    for (int i = 0; i < ROWS_OF_TABLE && noise > 0; i++)
        t->y[i] += noise * sqrt(square) * gsl_ran_gaussian(rng, 1);
    gsl_rng_free(rng);
}

/* Laws, and the operators beside + and * that they are to be found with. */
static const struct {
    const char *law;
    int unaries, binaries, size; /* nodes of the law with free constants */
    enum sr_op unary[4], binary[2];
} laws[] = {
    {"r * exp(-0.5 * m1) + sin(2 * m2)", 3, 2, 11, {SR_EXP, SR_SIN, SR_INV}, {SR_SUB, SR_DIV}},
    {"r * exp(-0.37 * m1) + sin(2.3 * m2)", 2, 0, 11, {SR_EXP, SR_SIN}, {SR_SUB}},
    {"1.7 * exp(-0.77 * m1) + 0.6 * r * cos(1.9 * m2)", 2, 1, 15, {SR_EXP, SR_COS}, {SR_DIV}},
    {"r * exp(0.41 * m1) + 4 * sin(2 * m2 + 0.8)",
     3,
     2,
     15,
     {SR_EXP, SR_SIN, SR_LOG},
     {SR_SUB, SR_DIV}},
    {"3 * exp(-2.5 * r) + 1.5 * exp(-0.33 * r) + 0.2 * m1", 1, 0, 17, {SR_EXP}, {SR_ADD}},
    {"5 * exp(-2.7 * inv(m1)) * r + 0.8 * m2 * m2", 2, 1, 16, {SR_EXP, SR_INV}, {SR_SUB}},
    {"2.2 * exp(-1.25 * square(r - 2.5)) + 0.3 * m1 * m2", 2, 1, 15, {SR_EXP, SR_SQUARE}, {SR_SUB}},
    {"m1 * exp(-0.3 * r * r) - 1.6 * sin(1.3 * m2)",
     4,
     2,
     15,
     {SR_EXP, SR_SIN, SR_COS, SR_SQRT},
     {SR_SUB, SR_DIV}},
    {"2 * exp(-0.9 * r / m1) + 1.1 * exp(0.2 * m2)", 1, 2, 15, {SR_EXP}, {SR_SUB, SR_DIV}},
    {"m2 * (2 - 2 * exp(-0.8 * r))", 1, 0, 10, {SR_EXP}, {SR_ADD}},
    {"r + 2 * tanh(1.3 * m1)", 1, 1, 8, {SR_TANH}, {SR_SUB}},
};

/* Exact tables: a sum of the law's size and all digits. With 5% of noise: one of that size as good
 * as the law. Whatever other operators are offered, and by any number of threads. */
TEST(finds_sums_with_free_rates)
{
    static struct sr_seeds one, more;
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++)
        for (int noisy = 0; noisy < 2; noisy++) {
            const struct sr_settings s =
                settings_of(laws[k].unary, laws[k].unaries, laws[k].binary, laws[k].binaries);
            struct sr_expr law = formula(laws[k].law);
            struct table t;
            struct sr_loss loss;
            struct sr_work work;
            double least = HUGE_VAL, scale;
            table_of(&t, laws[k].law, noisy ? 0.05 : 0, 60 + k);
            assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
            assert_int_equal(sr_work_init(&work, t.data.rows, SR_NODES), 0);
            const double own = sr_eval_loss(&law, &loss, &work, &scale);
            seeds_of(sr_rates_find, &s, &loss, 1, &one);
            for (int i = 0; i < one.count; i++)
                if (one.expr[i].count <= laws[k].size)
                    least = fmin(least, one.loss[i]);
            if (!(least <= (noisy ? 1.01 * own : 1e-20 * loss.base)))
                fail_msg("%s%s: the smallest loss up to size %d is %g, the law's %g", laws[k].law,
                         noisy ? " with noise" : "", laws[k].size, least, own);
            if (k % 3 == 0) {
                seeds_of(sr_rates_find, &s, &loss, 3, &more);
                assert_int_equal(one.count, more.count);
                for (int i = 0; i < one.count; i++)
                    assert_true(sr_expr_hash(&one.expr[i]) == sr_expr_hash(&more.expr[i]));
            }
            sr_work_free(&work);
            sr_loss_free(&loss);
            table_free(&t);
        }
}

/* Few rows, a column that is constant, one that is 0 in a row, and y without variation: seeds that
 * can be evaluated, or none. */
TEST(bears_awkward_tables)
{
    static struct sr_seeds seeds;
    static const enum sr_op unary[] = {SR_EXP, SR_SIN, SR_COS, SR_TANH};
    static const enum sr_op binary[] = {SR_SUB, SR_DIV};
    const struct sr_settings s = settings_of(unary, 4, binary, 2);
    for (int kind = 0; kind < 5; kind++) {
        struct table t;
        struct sr_loss loss;
        table_of(&t, "r * exp(-0.5 * m1) + sin(2 * m2)", 0, 3);
        double *m1 = t.x + t.data.rows, *m2 = m1 + t.data.rows;
        for (size_t i = 0; i < t.data.rows; i++) {
            m1[i] = kind == 0 ? 2.385 : kind == 1 ? 1e300 * m1[i] : m1[i];
            m2[i] = kind == 2 && i % 7 == 0 ? 0 : kind == 3 ? 2459000 + m2[i] : m2[i];
            t.y[i] = kind == 4 ? -7.31 : t.y[i];
        }
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
        seeds.count = 0;
        seeds_of(sr_rates_find, &s, &loss, 2, &seeds);
        for (int i = 0; i < seeds.count; i++)
            assert_true(seeds.loss[i] >= 0 && seeds.expr[i].count <= s.maxsize);
        sr_loss_free(&loss);
        table_free(&t);
    }
}

/* Functions of one column: a wave that falls, an exponential with a slope, steps, a tanh without
 * that operator, of which the table has the end. */
TEST(finds_curves_of_one_column)
{
    static struct sr_seeds seeds;
    static const enum sr_op unary[] = {SR_EXP, SR_SIN, SR_INV};
    static const struct {
        const char *law;
        int size;
        bool skewed; /* most rows are near 0, from 0.003 up to 31 */
    } list[] = {{"5 * exp(-0.4 * r) * sin(6.3 * r + 0.4) + 1", 15, false},
                {"2 * (r + 1) * exp(-1.3 * r) + 0.5", 12, false},
                {"820 * inv(exp(9 - 3.1 * r) + 1)", 9, false},
                {"1 - 3 * inv(exp(2.1 * r - 7) + 1.5)", 11, false},
                {"inv(exp(1.85 * r) - 1)", 7, false},
                {"2 - 4 * inv(exp(2 * r) + 1)", 11, true}};
    const struct sr_settings s = settings_of(unary, 3, NULL, 0);
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        struct table t;
        struct sr_loss loss;
        double least = HUGE_VAL;
        table_of(&t, list[k].law, 0, 80 + k);
        t.data.features = 1;
        for (size_t i = 0; i < t.data.rows && list[k].skewed; i++)
            t.x[i] = pow(t.x[i], 4) / 20;
        const struct sr_expr law = formula(list[k].law);
        assert_true(sr_eval(&law, &t.data, t.y));
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
        seeds_of(sr_rates_find, &s, &loss, 2, &seeds);
        for (int i = 0; i < seeds.count; i++)
            if (seeds.expr[i].count <= list[k].size)
                least = fmin(least, seeds.loss[i]);
        if (!(least <= 1e-20 * loss.base))
            fail_msg("%s: the smallest loss up to size %d is %g", list[k].law, list[k].size, least);
        sr_loss_free(&loss);
        table_free(&t);
    }
}

/* Of few columns waves of hundreds of turns, where rows are uneven; on a grid no alias. */
TEST(fast_waves_are_no_aliases)
{
    static struct sr_seeds seeds;
    static const enum sr_op unary[] = {SR_SIN};
    const struct sr_settings s = settings_of(unary, 1, NULL, 0);
    for (int grid = 0; grid < 2; grid++) {
        struct table t;
        struct sr_loss loss;
        double worst = 0;
        int exact = 0;
        const double low[] = {0}, high[] = {0.9};
        const struct sr_expr law =
            formula(grid ? "7 * sin(2.2921 * r + 0.4)" : "7 * sin(311 * r + 0.4)");
        table_of(&t, "r", 0, 90);
        t.data.features = 1;
        for (size_t i = 0; i < t.data.rows && grid; i++)
            t.x[i] = floor(t.x[i] * 20);
        assert_true(sr_eval(&law, &t.data, t.y));
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
        seeds_of(sr_rates_find, &s, &loss, 2, &seeds);
        for (int i = 0; i < seeds.count; i++)
            if (seeds.loss[i] <= 1e-20 * loss.base) {
                worst = fmax(worst, disagreement(&seeds.expr[i], &law, 1, low, high, 1));
                exact++;
            }
        if (!exact || !(worst < 1e-6))
            fail_msg("%s: the law is not found, or an alias", grid ? "grid" : "uneven");
        sr_loss_free(&loss);
        table_free(&t);
    }
}

TESTS(NULL, NULL)
