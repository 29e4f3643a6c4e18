/* test_hinges.c - sums of hinges max(u - t, 0) and of their squares, with thresholds that are
 * shared, on both sides of one column, or of two columns. */
#include "symreg/proposal.h"

enum { ROWS_OF_TABLE = 300 };

static const struct {
    const char *law;
    int size;
    enum sr_op more[3]; /* operators beside +, - and * */
} laws[] = {
    {"0.3 * (square(max(r - 1.3, 0)) - square(max(r - m1 - 1.3, 0)))", 17, {SR_SQUARE, SR_MAX}},
    {"1.7 * max(r - 1.3, 0) + 0.6 * max(2.2 - m1, 0) + 0.5", 17, {SR_SQUARE, SR_MAX}},
    {"max(r - 3, 0) - max(2 - r, 0)", 13, {SR_MAX}},
    {"2.5 * min(max(r, 1.5), 3.1) + 0.7", 9, {SR_MAX, SR_MIN}},
    {"3 * max(r - m1 - 0.7, 0) + 2 * m1", 13, {SR_MAX}},
    {"0.8 * square(min(1.9 - m2, 0)) + 0.4", 10, {SR_MIN, SR_SQUARE}},
    {"0.5 * max(2.1 - m2 - r, 0) + 1.5 * max(m1, 2)", 17, {SR_MAX}},
};

static struct sr_settings settings_of(const enum sr_op more[3])
{
    struct sr_settings s = seed_settings();
    s.binary_count = s.unary_count = 0;
    s.binary[s.binary_count++] = SR_ADD;
    s.binary[s.binary_count++] = SR_SUB;
    s.binary[s.binary_count++] = SR_MUL;
    for (int k = 0; k < 3 && more[k]; k++)
        if (more[k] < SR_UNARY)
            s.binary[s.binary_count++] = more[k];
        else
            s.unary[s.unary_count++] = more[k];
    s.maxsize = 25;
    return s;
}

/* The smallest share of the best constant's loss that a seed of at most `size` nodes leaves; 1
 * without seeds. */
static double best_of(const char *law, const enum sr_op more[3], int size, double noise,
                      int threads)
{
    static struct sr_seeds seeds;
    const struct sr_settings s = settings_of(more);
    struct table t;
    struct sr_loss loss;
    gsl_rng *rng = random_stream(61);
    double best = 1;
    table_uniform(&t, ROWS_OF_TABLE, rng, law);
    for (int i = 0; i < ROWS_OF_TABLE; i++)
        t.y[i] += noise * gsl_ran_gaussian(rng, 1);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
    seeds_of(sr_hinges_find, &s, &loss, threads, &seeds);
    for (int k = 0; k < seeds.count; k++)
        if (seeds.expr[k].count <= size)
            best = fmin(best, seeds.loss[k] / loss.base);
    sr_loss_free(&loss);
    table_free(&t);
    gsl_rng_free(rng);
    return best;
}

TEST(sums_of_hinges_are_found)
{
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
        const double exact = best_of(laws[k].law, laws[k].more, laws[k].size, 0, 1);
        if (!(exact < 1e-12))
            fail_msg("%s: the best seed leaves %g", laws[k].law, exact);
        const double three = best_of(laws[k].law, laws[k].more, laws[k].size, 0, 3);
        assert_true(exact <= three && exact >= three); /* whatever the number of threads */
    }
}

/* With noise of 0.05 the law leaves 0.0025 of a variance of 1. */
TEST(noise_does_not_hide_them)
{
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
        struct table t;
        struct sr_loss loss;
        gsl_rng *rng = random_stream(61);
        table_uniform(&t, ROWS_OF_TABLE, rng, laws[k].law);
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
        const double noise = 0.05 * sqrt(loss.base),
                     left = best_of(laws[k].law, laws[k].more, laws[k].size, noise, 1);
        if (!(left < 0.0031)) /* 1.2 times that */
            fail_msg("%s: the best seed leaves %g", laws[k].law, left);
        sr_loss_free(&loss);
        table_free(&t);
        gsl_rng_free(rng);
    }
}

TEST(nothing_is_offered_where_no_kink_is)
{
    static const enum sr_op none[3] = {SR_SQUARE}, both[3] = {SR_MAX, SR_SQUARE};
    assert_true(best_of("2 * r + 3 * m1 - m2", both, 25, 0.1, 1) >= 1);
    assert_true(best_of(laws[0].law, none, 25, 0, 1) >= 1);
}

TESTS(NULL, NULL)
