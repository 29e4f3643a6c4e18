/* test_target_interval.c - targets that are intervals: distances, the outer scale, likelihoods
 * against numbers of the normal distribution, and constants with their errors. */
#include "symreg/formulas.h"

#include <string.h>

#include "symreg/evolve/search.h"
#include "symreg/table/program.h"

/* One row with an interval, and the noise known. */
static struct sr_data one_row(const double *y, const double *low, const double *high)
{
    return (struct sr_data){.rows = 1, .y = y, .low = low, .high = high, .variance = 1};
}

TEST(lengths_are_those_of_normal_probabilities)
{
    /* -ln of probabilities by erfc(); of the last, a number, of the density */
    static const struct {
        double low, high, p, length;
    } of[] = {{-1, 1, 0, 0.38171514630},          {2, HUGE_VAL, 0, 3.78318433368},
              {-HUGE_VAL, 0.5, 0, 0.36894641529}, {8, 9, 0, 35.01361859344},
              {-30, -20, 0, 203.91715537109},     {0.1, 6, -0.4, 1.17591176181},
              {10, 10.001, 10.2, 7.84659397720},  {3, 3, 1, 2.91893853320}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        const double y = sr_interval_middle(of[k].low, of[k].high);
        const struct sr_data data = one_row(&y, &of[k].low, &of[k].high);
        struct sr_interval_noise noise;
        sr_interval_measure(&data, &of[k].p, &noise);
        const bool inside = of[k].p >= of[k].low && of[k].p <= of[k].high;
        if (inside) { /* all inside: no noise is needed, and the probability is 1 */
            assert_true(noise.sigma == 0 && noise.length == 0);
            continue;
        }
        if (!(fabs(noise.length - of[k].length) < 3e-7 * fabs(of[k].length)))
            fail_msg("%g to %g from %g: -ln p is %.12g, expected %.12g", of[k].low, of[k].high,
                     of[k].p, noise.length, of[k].length);
    }
}

/* The expected target less the prediction is the derivative of ln p. */
TEST(expected_targets_are_derivatives_of_the_likelihood)
{
    static const double ends[][2] = {{1.2, 1.9},        {1.2, 7.3}, {0.8, HUGE_VAL},
                                     {-HUGE_VAL, -0.7}, {3.1, 3.1}, {-9, -0.3}};
    const double step = 1e-3, p = 0.385;
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        const double y = sr_interval_middle(ends[k][0], ends[k][1]),
                     around[] = {p - step, p + step};
        const struct sr_data data = one_row(&y, &ends[k][0], &ends[k][1]);
        struct sr_interval_noise at[2], here;
        double expected;
        for (int side = 0; side < 2; side++)
            sr_interval_measure(&data, &around[side], &at[side]);
        sr_interval_measure(&data, &p, &here);
        sr_interval_expect(&data, &p, &here, &expected);
        const double slope = (at[0].length - at[1].length) / (2 * step);
        if (!(fabs(expected - p - slope) < 2e-4))
            fail_msg("%g to %g: the expected target is %g from the prediction, the derivative %g",
                     ends[k][0], ends[k][1], expected - p, slope);
    }
}

enum { ROWS = 120 };
struct line {
    double x[ROWS], y[ROWS], low[ROWS], high[ROWS], limit;
    struct sr_data data;
};
/* y = 2.385 x + 0.7 + noise for x in 0 .. 2, of which only that it is above `limit` is known there;
 * and every third row is rounded down and up to a half. */
static void make_line(struct line *l, uint64_t seed, double limit, double sigma)
{
    gsl_rng *rng = random_stream(seed);
    for (int i = 0; i < ROWS; i++) {
        l->x[i] = 2 * gsl_rng_uniform(rng);
        const double y = 2.385 * l->x[i] + 0.7 + sigma * gsl_ran_gaussian(rng, 1);
        l->low[i] = i % 3 ? y : floor(2 * y) / 2;
        l->high[i] = i % 3 ? y : floor(2 * y) / 2 + 0.5;
        if (y > limit) {
            l->low[i] = limit;
            l->high[i] = HUGE_VAL;
        }
        l->y[i] = sr_interval_middle(l->low[i], l->high[i]);
    }
    gsl_rng_free(rng);
    l->data = (struct sr_data){
        .rows = ROWS, .features = 1, .x = l->x, .y = l->y, .low = l->low, .high = l->high};
}

TEST(the_loss_is_the_distance_and_the_scale_makes_it_least)
{
    struct line l;
    struct sr_loss loss;
    double p[ROWS], scratch[2 * ROWS + SR_SCRATCH], own = 0;
    make_line(&l, 3, 3.1, 0.4);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &l.data), 0);
    for (int i = 0; i < ROWS; i++) {
        p[i] = l.x[i] + 0.31;
        const double off = fmax(fmax(l.low[i] - 2.1 * p[i], 2.1 * p[i] - l.high[i]), 0);
        own += off * off / ROWS;
    }
    assert_true(fabs(sr_loss_value(&loss, p, 2.1) - own) < 1e-13 * own);
    const double scale = sr_loss_scale(&loss, p, scratch);
    const double least = sr_loss_value(&loss, p, scale);
    for (double other = 0.5; other < 5; other += 0.001)
        if (!(sr_loss_value(&loss, p, other) >= least * (1 - 1e-12)))
            fail_msg("the loss is %g at the scale %g, and smaller at %g", least, scale, other);
    sr_loss_free(&loss);
}

/* Constants after the end of a search, and their standard errors. */
static void finish_line(const struct line *l, double constant[2], double error[2])
{
    static struct sr_fit fit;
    const struct sr_settings s = {.binary = {SR_ADD, SR_MUL},
                                  .binary_count = 2,
                                  .loss = ORR_SR_L2,
                                  .maxsize = 9,
                                  .algorithm = &sr_algorithm_orrery};
    struct sr_hall_of_fame *hall = orr_alloc(1, sizeof *hall);
    const struct sr_expr start = formula("1.9 * r + 0.9");
    assert_non_null(hall);
    sr_hall_of_fame_clear(hall);
    sr_hall_of_fame_offer(hall, NULL, &start, 1);
    fit = (struct sr_fit){.data = l->data, .rough = true};
    sr_front_make(hall, &fit.front);
    free(hall);
    assert_int_equal(sr_front_finish(&s, &l->data, true, &fit), 0);
    assert_int_equal(fit.front.count, 1);
    const struct sr_expr *found = &fit.front.expr[0];
    assert_int_equal(sr_expr_constants(found, constant), 2);
    assert_int_equal(sr_constants_errors(found, &l->data, 0, error), 0);
    const double ends[] = {0, 1};
    double y[2];
    const struct sr_data two = {.rows = 2, .features = 1, .x = ends, .y = ends};
    assert_true(sr_eval(found, &two, y));
    constant[0] = y[1] - y[0]; /* whatever the form is */
}

/* With noise, the ends of open intervals must not draw a formula to them: the mean slope of 60
 * tables is the true one within 3.5 of its standard errors, and as often within two standard errors
 * as they say (95.4%; 51 or fewer have a probability of 0.4%). By distances alone it is 2.00. */
TEST(constants_are_not_drawn_to_limits)
{
    enum { TABLES = 60 };
    double sum = 0, square = 0;
    int covered = 0;
    for (int k = 0; k < TABLES; k++) {
        struct line l;
        double constant[SR_NODES], error[SR_NODES];
        make_line(&l, (uint64_t)(100 + k), 3.1, 0.6);
        finish_line(&l, constant, error);
        sum += constant[0] / TABLES;
        square += constant[0] * constant[0] / TABLES;
        const double slope_error = fmax(error[0], error[1]);
        covered += fabs(constant[0] - 2.385) < 2 * slope_error;
    }
    const double spread = sqrt((square - sum * sum) / (TABLES - 1));
    if (!(fabs(sum - 2.385) < 3.5 * spread))
        fail_msg("the mean slope is %g +- %g, the true one 2.385", sum, spread);
    if (covered <= 51)
        fail_msg("%d of 60 slopes are within two standard errors", covered);
}

TEST(a_formula_inside_of_all_intervals_has_no_loss_and_one_choice)
{
    struct line l;
    struct sr_interval_noise noise;
    struct sr_uncertainty u;
    double p[ROWS];
    make_line(&l, 5, HUGE_VAL, 0);
    for (int i = 0; i < ROWS; i++) { /* all rounded */
        p[i] = 2.385 * l.x[i] + 0.7;
        l.low[i] = floor(2 * p[i]) / 2;
        l.high[i] = l.low[i] + 0.5;
        l.y[i] = l.low[i] + 0.25;
    }
    sr_interval_measure(&l.data, p, &noise);
    assert_true(noise.sigma == 0 && noise.length == 0);
    const struct sr_expr law = formula("2.385 * r + 0.7");
    assert_int_equal(sr_constants_uncertainty(&law, &l.data, 0, &u), 0);
    /* middles have the variance width^2 / 12 */
    assert_true(fabs(u.noise / (0.25 / 12) - 1) < 1e-12);
    assert_true(u.error[0] > 0 && u.error[0] < 0.05);
}

TEST(rows_are_taken_with_their_intervals)
{
    struct line l;
    struct sr_data sample;
    double *storage;
    const size_t row[] = {4, 17, 90};
    make_line(&l, 7, 3.1, 0.2);
    assert_int_equal(sr_rows_take(&l.data, 3, row, &sample, &storage), 0);
    for (int k = 0; k < 3; k++) {
        assert_memory_equal(&sample.low[k], &l.low[row[k]], sizeof(double));
        assert_memory_equal(&sample.high[k], &l.high[row[k]], sizeof(double));
    }
    free(storage);
}

TESTS(NULL, NULL)
