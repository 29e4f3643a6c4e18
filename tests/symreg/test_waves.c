/* test_waves.c - columns on even grids are found, and frequencies that their rows cannot tell apart
 * become the lowest one, with the same values. */
#include "symreg/formulas.h"

#include <gsl/gsl_math.h>

enum { ROWS = 40 };
static const uint64_t every = ~(uint64_t)0;

/* A table whose column r is first + k step, with gaps where k is odd above 20. */
static void make_grid(struct table *t, double first, double step)
{
    table_create(t, ROWS, 5, false);
    for (int i = 0; i < ROWS; i++)
        t->x[i] = first + (i < 20 ? i : 2 * i - 20) * step;
}

TEST(grids_have_one_step)
{
    static const double first[] = {0, -3, 2457000.5, 1997, 1e-3}, step[] = {7, 0.1, 0.01, 1, 1e-5};
    struct table t;
    struct sr_grid grid;
    for (int k = 0; k < 5; k++) {
        make_grid(&t, first[k], step[k]);
        if (!sr_grid_find(t.x, ROWS, &grid) || fabs(grid.step / step[k] - 1) > 1e-5)
            fail_msg("the grid from %g by %g has step %g", first[k], step[k], grid.step);
        for (int i = 0; i < ROWS / 2; i++) { /* the order of rows does not matter */
            const double x = t.x[i];
            t.x[i] = t.x[ROWS - 1 - i];
            t.x[ROWS - 1 - i] = x;
        }
        if (!sr_grid_find(t.x, ROWS, &grid) || fabs(grid.step / step[k] - 1) > 1e-5)
            fail_msg("reversed, the grid from %g by %g has step %g", first[k], step[k], grid.step);
        table_free(&t);
    }
    make_grid(&t, 0, 0.5);
    t.x[5] = t.x[6];
    assert_true(sr_grid_find(t.x, ROWS, &grid) && fabs(grid.step - 0.5) < 1e-9);
    t.x[30] += 0.2; /* every value is a multiple of a tenth */
    assert_true(sr_grid_find(t.x, ROWS, &grid) && fabs(grid.step - 0.1) < 1e-9);
    t.x[31] += 1e-3 * M_E; /* no step is left */
    assert_false(sr_grid_find(t.x, ROWS, &grid));
    assert_false(sr_grid_find(t.x + ROWS, ROWS, &grid)); /* random numbers */
    for (int i = 0; i < ROWS; i++)
        t.x[i] = 4;
    assert_false(sr_grid_find(t.x, ROWS, &grid)); /* a constant */
    assert_false(sr_grid_find(t.x, 0, &grid));
    table_free(&t);
}

/* The largest frequency of a wave of r in the formula. */
static double frequency(const struct sr_expr *expr)
{
    struct sr_wave_line line;
    double largest = 0;
    for (int i = 1; i < expr->count; i++)
        if (sr_wave_find(expr, i, &line))
            largest = fmax(largest, fabs(line.slope));
    return largest;
}

TEST(frequencies_fold_below_that_of_nyquist_with_equal_values)
{
    static const char *const text[] = {
        "sin(499.0816471765962 * r)",    "3 * cos(r * 12.1 - 0.3) + m1",
        "cos((0.7 - r) * 69.3777) / 2",  "sin(r / 0.0723 + 1)",
        "neg(sin(neg(r) * 250 + 4))",    "tan(31.4 * r + 0.2)",
        "m2 * sin(cos(81.5 * r) + 0.1)", "exp(sin(2 * (r + (r + 3)) * 40))",
    };
    static const double first[] = {0, 0.35, 1997, -12};
    struct table t;
    double before[ROWS], after[ROWS];
    for (size_t k = 0; k < sizeof text / sizeof *text; k++)
        for (int f = 0; f < 4; f++) {
            struct sr_expr expr = formula(text[k]), folded = expr;
            make_grid(&t, first[f], 0.7);
            if (!sr_fold_waves(&t.data, every, SR_NODES, &folded))
                fail_msg("%s is not folded", text[k]);
            if (!(frequency(&folded) <= M_PI / 0.7 * (1 + 1e-9)))
                fail_msg("%s became %s", text[k], text_of(&folded));
            assert_true(sr_eval(&expr, &t.data, before) && sr_eval(&folded, &t.data, after));
            for (int i = 0; i < ROWS; i++)
                if (fabs(after[i] - before[i]) > 1e-7 * (1 + fabs(before[i])) * (k == 5 ? 100 : 1))
                    fail_msg("%s became %s: at r = %g %g in place of %g", text[k], text_of(&folded),
                             t.x[i], after[i], before[i]);
            assert_false(sr_fold_waves(&t.data, every, SR_NODES, &folded));
            table_free(&t);
        }
}

TEST(what_the_rows_can_tell_is_left_alone)
{
    static const char *const text[] = {"sin(4.4 * r)", "cos(99 * m1)", "sin(99 * r * m1)",
                                       "exp(99 * r)",  "sin(99)",      "sin(square(99 * r))"};
    struct table t;
    make_grid(&t, 0, 0.7);
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        struct sr_expr expr = formula(text[k]);
        if (sr_fold_waves(&t.data, every, SR_NODES, &expr))
            fail_msg("%s became %s", text[k], text_of(&expr));
    }
    table_free(&t);
}

TEST(no_room_or_no_operator_for_the_phase_leaves_the_formula)
{
    struct table t;
    const uint64_t times = (uint64_t)1 << SR_MUL, divided = (uint64_t)1 << SR_DIV,
                   minus = (uint64_t)1 << SR_SUB;
    make_grid(&t, 0.35, 0.7);
    struct sr_expr expr = formula("sin(99 * r)"), same = expr;
    assert_false(sr_fold_waves(&t.data, every, 4, &expr));
    assert_false(sr_fold_waves(&t.data, times, SR_NODES, &expr));
    assert_false(sr_fold_waves(&t.data, minus, SR_NODES, &expr));
    assert_string_equal(text_of(&expr), text_of(&same));
    assert_true(sr_fold_waves(&t.data, divided | minus, SR_NODES, &expr));
    assert_false(sr_has(sr_expr_operators(&expr), SR_MUL));
    table_free(&t);
}

/* Operands whose next number is many turns away tell no phase. */
TEST(waves_of_huge_numbers_are_not_known)
{
    static const struct {
        const char *text;
        bool known;
    } row[] = {{"sin(99 * r) + 1e20", true},    {"sin(1e11 + r)", true},
               {"sin(exp(exp(r)))", false},     {"m1 * cos(r - 8966470109141.994)", false},
               {"exp(tan(m1 / 1e-17))", false}, {"exp(r) * 1e30", true}};
    struct table t;
    double scratch[ROWS];
    make_grid(&t, 0.35, 0.1);
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const struct sr_expr expr = formula(row[k].text);
        if (sr_waves_known(&expr, &t.data, scratch) != row[k].known)
            fail_msg("%s is taken for a wave of %s phase", row[k].text,
                     row[k].known ? "unknown" : "known");
    }
    table_free(&t);
}

/* Sines of Julian dates without a phase, whose frequency meets the phase in the middle of the rows:
 * frequency and amplitude have the errors and intervals that they have with a phase, in days. */
TEST(a_wave_of_dates_without_a_phase_has_the_errors_of_one_with_a_phase)
{
    static const double zero = 2457000, w0 = 1.4851, phase = 1.1;
    double days[FEATURES * ROWS] = {0}, dates[FEATURES * ROWS] = {0}, y[ROWS];
    double error[3], far_error[2], low[3], high[3], far_low[2], far_high[2];
    char text[128];
    gsl_rng *rng = random_stream(7);
    for (int i = 0; i < ROWS; i++) {
        days[i] = 3 * i + gsl_rng_uniform(rng);
        dates[i] = zero + days[i];
        y[i] = 56 * sin(w0 * days[i] + phase) + gsl_ran_gaussian(rng, 2);
    }
    gsl_rng_free(rng);
    const double middle = (days[0] + days[ROWS - 1]) / 2;
    const double w =
        w0 + remainder(w0 * middle + phase - w0 * (zero + middle), 2 * M_PI) / (zero + middle);
    struct sr_data data = {.rows = ROWS, .features = FEATURES, .x = days, .y = y};
    snprintf(text, sizeof text, "56 * sin(%.17g * r + %.17g)", w0, phase);
    const struct sr_expr near_zero = formula(text);
    assert_int_equal(sr_constants_errors(&near_zero, &data, 4, error), 0);
    assert_int_equal(sr_constants_profile(&near_zero, &data, 4, 0.95, low, high), 0);
    snprintf(text, sizeof text, "56 * sin(%.17g * r)", w);
    const struct sr_expr far = formula(text);
    data.x = dates;
    assert_int_equal(sr_constants_errors(&far, &data, 4, far_error), 0);
    assert_int_equal(sr_constants_profile(&far, &data, 4, 0.95, far_low, far_high), 0);
    for (int c = 0; c < 2; c++) {
        if (fabs(far_error[c] / error[c] - 1) > 0.02)
            fail_msg("constant %d has error %g in place of %g", c, far_error[c], error[c]);
        if (fabs(far_low[c] - low[c]) > 0.02 * error[c] ||
            fabs(far_high[c] - high[c]) > 0.02 * error[c])
            fail_msg("constant %d has %.9g .. %.9g in place of %.9g .. %.9g", c, far_low[c],
                     far_high[c], low[c], high[c]);
    }
}

TEST(only_waves_of_far_columns_without_a_phase_get_one)
{
    static const struct {
        const char *text;
        bool far;
    } row[] = {{"3 * sin(2 * r) + 1", true},     {"tan(r / 7)", true},
               {"3 * sin(2 * r + 0.1)", false},  {"sin((r - 1990) * 2)", false},
               {"exp(-2 * m1) * sin(9)", false}, {"sin(2 * m1)", false}};
    struct table t;
    double before[ROWS], after[ROWS], constant[SR_NODES], in_freed[SR_NODES];
    table_create(&t, ROWS, 3, false);
    for (int i = 0; i < ROWS; i++)
        t.x[i] = 1990 + i;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const struct sr_expr expr = formula(row[k].text);
        struct sr_expr freed;
        int place[SR_NODES];
        if (sr_free_phases(&expr, &t.data, 1, &freed, place) != row[k].far)
            fail_msg("%s became %s", row[k].text, text_of(&freed));
        const int count = sr_expr_constants(&expr, constant);
        sr_expr_constants(&freed, in_freed);
        for (int c = 0; c < count; c++)
            if (constant[c] != in_freed[place[c]])
                fail_msg("%s: constant %d is %g in %s", row[k].text, c, in_freed[place[c]],
                         text_of(&freed));
        assert_true(sr_eval(&expr, &t.data, before) && sr_eval(&freed, &t.data, after));
        for (int i = 0; i < ROWS; i++)
            assert_true(fabs(after[i] - before[i]) < 1e-9 * (1 + fabs(before[i])));
    }
    table_free(&t);
}

TESTS(NULL, NULL)
