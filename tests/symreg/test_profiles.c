/* test_profiles.c - shapes of one column whose origin, width or period is unknown: decays from an
 * unknown start, logistic curves of few rows, dips with a flat bottom, sawteeth. */
#include "symreg/proposal.h"

#include <string.h>

enum { MOST_ROWS = 120 };

/* Laws of x = 0 .. 40, at x + shift. */
static const struct {
    const char *law; /* of r, which is x */
    int rows, size;
    bool even; /* x = 0, 1, 2 ... */
    enum sr_op more[3];
} laws[] = {
    {"3.7 * exp(-1.2 * log(r + 0.08))", 60, 9, false, {SR_EXP}},
    {"3.7 * exp(-1.2 * log(r + 0.003))", 60, 9, false, {SR_EXP}},
    {"41 * exp(-2.7 * log(40.9 - r)) + 0.3", 60, 13, false, {SR_EXP}},
    {"2.2 * exp(-0.8 * log(r / 1.5 + 1))", 60, 9, false, {SR_EXP}},
    {"3.7 * min(exp(-1.2 * log(r + 0.3)), 0.6)", 80, 13, false, {SR_MIN}},
    {"91 / (1 + exp((21 - r) / 4.3))", 10, 11, false, {SR_EXP}},
    {"91 / (1 + exp((r - 14.2) / 3.1))", 20, 11, false, {SR_EXP}},
    {"1 - 0.012 / (1 + square(square((r - 23.1) / 4.2)))", 60, 13, false, {SR_EXP}},
    {"1 - 0.012 / (1 + exp((abs(r - 23.1) - 6.2) / 0.8))", 120, 15, false, {SR_ABS}},
    {"1 - 0.012 / (1 + exp((square(r - 23.1) - 38) / 9.1))", 120, 15, false, {SR_EXP}},
    {"2.5 + 1.7 * mod(r, 7)", 60, 9, true, {SR_MOD}},
    {"2.5 + 1.7 * r - 11.9 * floor(r / 7)", 60, 13, true, {SR_FLOOR}},
    {"1 + 0.8 * mod(r - 1.9, 7.3) + 0.11 * r", 90, 13, false, {SR_MOD}},
    {"5 + 0.05 * r + 3 * greater(mod(r, 7), 4.5)", 60, 15, true, {SR_MOD, SR_GREATER}},
};
enum { LAWS = sizeof laws / sizeof *laws };

static struct sr_settings settings_of(int k)
{
    struct sr_settings s = seed_settings();
    for (int i = 0; i < 3 && laws[k].more[i]; i++)
        if (sr_op_table[laws[k].more[i]].arity == 2)
            s.binary[s.binary_count++] = laws[k].more[i];
        else if (laws[k].more[i] != SR_EXP)
            s.unary[s.unary_count++] = laws[k].more[i];
    return s;
}

/* The smallest share of the best constant's loss that a seed of at most the law's size leaves; 1
 * without seeds. */
static double best_of(int k, const struct sr_settings *s, double shift, double noise, int threads)
{
    static struct sr_seeds seeds;
    const struct sr_expr truth = formula(laws[k].law);
    const int rows = laws[k].rows;
    double x[MOST_ROWS], y[MOST_ROWS];
    struct sr_data data = {.rows = (size_t)rows, .features = 3, .x = x, .y = y};
    struct sr_loss loss;
    gsl_rng *rng = random_stream(67);
    double best = 1;
    struct table t;
    table_create(&t, (size_t)rows, 4, false);
    for (int i = 0; i < rows; i++)
        t.x[i] = laws[k].even ? i : i ? 40 * pow(gsl_rng_uniform(rng), 2) : 0;
    assert_true(sr_eval(&truth, &t.data, y));
    memcpy(x, t.x, (size_t)rows * sizeof *x);
    data.features = 1;
    double spread = 0;
    for (int i = 0; i < rows; i++)
        spread = fmax(spread, fabs(y[i] - y[0]));
    for (int i = 0; i < rows; i++) {
        x[i] += shift;
        y[i] += noise * spread * gsl_ran_gaussian(rng, 1);
    }
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
    seeds_of(sr_profiles_find, s, &loss, threads, &seeds);
    for (int i = 0; i < seeds.count; i++)
        if (seeds.expr[i].count <= laws[k].size)
            best = fmin(best, seeds.loss[i] / loss.base);
    sr_loss_free(&loss);
    table_free(&t);
    gsl_rng_free(rng);
    return best;
}

/* In columns from 0 and of Julian dates, whatever the number of threads. A whole number of weeks is
 * added where the law has a week. */
TEST(shapes_are_found_wherever_the_column_has_its_0)
{
    static const double shift[] = {0, 2459345.5}, weeks[] = {0, 2459345};
    static const double most[] = {1e-12, 1e-9}; /* digits of Julian dates */
    for (int k = 0; k < LAWS; k++)
        for (int j = 0; j < 2; j++) {
            const struct sr_settings s = settings_of(k);
            const double by = laws[k].even ? weeks[j] : shift[j];
            const double left = best_of(k, &s, by, 0, 1);
            if (!(left < most[j]))
                fail_msg("%s at x + %.10g: the best seed leaves %g", laws[k].law, by, left);
            const double three = best_of(k, &s, by, 0, 3);
            assert_true(left <= three && left >= three);
        }
}

/* Sawteeth and weeks of a column in half hours of Julian dates, with gaps and rounded to eight
 * decimals: its values are 1e-8 of a step off the grid, at the jumps too. */
TEST(steps_of_julian_dates_are_a_grid)
{
    static struct sr_seeds seeds;
    static const int law_of[] = {10, 13}; /* with mod; with mod and greater */
    enum { PHASES = 4 };
    for (int k = 0; k < 2 * PHASES; k++) {
        const struct sr_settings s = settings_of(law_of[k % 2]);
        double x[MOST_ROWS], y[MOST_ROWS], best = 1;
        struct sr_data data = {.features = 1, .x = x, .y = y};
        struct sr_loss loss;
        for (int i = 0; i < 100; i++) {
            if (i % 17 == 5)
                continue;
            char text[32];
            snprintf(text, sizeof text, "%.8f", 2459345.5 + i / 48.0);
            x[data.rows] = strtod(text, NULL);
            y[data.rows++] = k % 2 ? 20 + 8 * ((i + k) % 12 > 7) : 1 + 3 * ((i + k) % 11);
        }
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
        seeds_of(sr_profiles_find, &s, &loss, 1, &seeds);
        for (int i = 0; i < seeds.count; i++)
            if (seeds.expr[i].count <= 11)
                best = fmin(best, seeds.loss[i] / loss.base);
        if (!(best < 1e-12))
            fail_msg("phase %d of %s: the best seed leaves %g", k, laws[law_of[k % 2]].law, best);
        sr_loss_free(&loss);
    }
}

/* Noise of 1% of the range leaves at most 0.01 of the variance here. */
TEST(noise_does_not_hide_them)
{
    for (int k = 0; k < LAWS; k++) {
        const struct sr_settings s = settings_of(k);
        const double left = best_of(k, &s, 0, 0.01, 1);
        if (!(left < 0.01))
            fail_msg("%s: the best seed leaves %g", laws[k].law, left);
    }
}

TEST(nothing_is_offered_without_operators)
{
    struct sr_settings s = seed_settings();
    s.binary_count = 1;
    for (int k = 0; k < LAWS; k++)
        assert_true(best_of(k, &s, 0, 0, 1) >= 1);
}

TESTS(NULL, NULL)
