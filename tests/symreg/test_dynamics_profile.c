/* test_dynamics_profile.c - 95% intervals of constants by profiles: where the likelihood is a
 * parabola they are 1.96 standard errors, else what defines them, and they contain true values as
 * often as they say. */
#include "symreg/dynamics/sentences.h"

#include <math.h>

#include "testing.h"

enum { ROWS = 40 };
static const char *const name[] = {"x", "t"};

/* A track of dx/dt = `text` from x = 0.5 with noise in proportion, and the system with the
 * constants and errors of a fit to it. */
static void make(const char *text, double end, double noise, uint64_t number, struct sr_states *s,
                 struct sr_system *system)
{
    const size_t rows[1] = {ROWS};
    const double start = 0.5;
    *s = (struct sr_states){.file = "made", .order = 1, .dims = 1, .names = 2};
    snprintf(s->name[0], SR_STATE_NAME, "x");
    snprintf(s->name[1], SR_STATE_NAME, "t");
    assert_int_equal(sr_states_create(s, 1, rows), 0);
    *system = (struct sr_system){.by_track = true};
    assert_int_equal(sr_expr_parse(NULL, text, name, 2, &system->expr[0]), 0);
    gsl_rng *const rng = orr_rng_create(1, ORR_STAGE_TEST_SUITE, number);
    assert_non_null(rng);
    const struct sr_flow flow = {.dims = 1, .order = 1, .equation = system->expr};
    for (size_t i = 0; i < ROWS; i++) {
        s->track->line[i] = i + 2;
        s->track->t[i] = end * (double)i / (ROWS - 1);
    }
    assert_int_equal(sr_flow_solve(&flow, &start, ROWS, s->track->t, NULL, 1e-11, s->track->x), 0);
    for (size_t i = 0; i < ROWS; i++)
        s->track->x[i] *= 1 + noise * orr_draw_normal(rng);
    gsl_rng_free(rng);
    assert_int_equal(sr_states_smooth(s, 1), 0);
    double value[SR_NODES];
    const int count = sr_expr_constants(&system->expr[0], value);
    for (int k = 0; k < count; k++) /* a 1 is no constant */
        system->error[0][k] = value[k] == 1 ? NAN : 1;
    assert_int_equal(sr_system_refit(s, NULL, system), 0);
}

/* chi^2 of the track with number k of the formula at a value and the others fitted, or with all
 * fitted where k is -1; *spare: numbers compared less those fitted. */
static double chi2_at(const struct sr_states *s, const struct sr_system *system, int k, double at,
                      double *spare)
{
    struct sr_expr expr = system->expr[0];
    double value[SR_NODES];
    int group[1][SR_NODES] = {{0}}, next = 0;
    const int count = sr_expr_constants(&expr, value);
    for (int i = 0; i < count; i++) {
        value[i] = i == k ? at : value[i];
        group[0][i] = i == k || value[i] == 1 ? -1 : next++;
    }
    sr_expr_set_constants(&expr, value);
    struct sr_flow flow = {
        .dims = 1, .order = 1, .equation = &expr, .group = (const int(*)[SR_NODES])group};
    const struct sr_state_track *const from = s->track;
    const struct sr_flow_track track = {
        .n = from->n, .t = from->t, .x = from->x, .sigma = from->sigma, .guess = from->smooth};
    const struct sr_flow_options options = {.iterations = 60};
    struct sr_flow_result r;
    assert_int_equal(sr_flow_fit(&flow, 1, &track, &options, &r), 0);
    *spare = (double)r.rows - next - 1;
    const double chi2 = r.chi2;
    sr_flow_result_free(&r);
    return chi2;
}

/* Growth towards a capacity that is not reached: the interval of the capacity reaches far up, and
 * both bounds are where chi^2 rises by 3.84 variances of the noise. */
TEST(bounds_are_where_the_likelihood_falls)
{
    static struct sr_system system;
    struct sr_states s;
    double value[SR_NODES], spare, other;
    make("0.7 * x * (1 - x / 30)", 5.5, 0.05, 1, &s, &system);
    assert_int_equal(sr_system_profile(&s, NULL, 0, &system), 0);
    assert_int_equal(sr_expr_constants(&system.expr[0], value), 3);
    assert_true(isnan(system.low[0][1]) && isnan(system.high[0][1]));
    const double best = chi2_at(&s, &system, -1, 0, &spare);
    for (int k = 0; k < 3; k += 2) {
        const double bound[2] = {system.low[0][k], system.high[0][k]};
        print_message("%g +- %.2g: from %.4g to %.4g\n", value[k], system.error[0][k], bound[0],
                      bound[1]);
        assert_true(bound[0] < value[k] && value[k] < bound[1]);
        for (int side = 0; side < 2; side++) {
            const double rise = chi2_at(&s, &system, k, bound[side], &other) - best;
            assert_true(fabs(rise / (best / spare) - 3.84) < 0.15);
        }
    }
    assert_true(system.high[0][2] - value[2] > 1.5 * (value[2] - system.low[0][2]));
    char text[SR_TEXT];
    sr_said_equation(&s, NULL, &system, 0, text, sizeof text);
    assert_non_null(strstr(text, " (95%: "));
    sr_states_free(&s);
}

/* "a - 2 * b", not "a + (-2 * b)": errors and intervals are those of the number that is shown. */
TEST(signs_are_those_of_sums)
{
    static const struct {
        const char *formula, *said;
    } list[] = {{"3 + -2 * x * t", "dx/dt = 3 - 2 * x * t   (2 +- 0.1)"},
                {"x - -2 / t", "dx/dt = x + 2 / t   (2 +- 0.1)"},
                {"-(-2 * x * t)", "dx/dt = 2 * x * t   (2 +- 0.1)"},
                {"3 + -(-2 * x) * t", "dx/dt = 3 + 2 * x * t   (2 +- 0.1)"},
                {"-2 * x + t", "dx/dt = -2 * x + t   (-2 +- 0.1)"},
                {"x + (t - 2) * -2", "dx/dt = x + (t - 2) * (-2)   (-2 +- 0.1)"},
                {"x + exp(-2 * t)", "dx/dt = x + exp(-2 * t)   (-2 +- 0.1)"}};
    static struct sr_system system;
    static const struct sr_states s = {
        .order = 1, .dims = 1, .names = 2, .name = {"x", "t"}, .target = {"dx/dt"}};
    char text[SR_TEXT];
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        for (int uneven = 0; uneven < 2; uneven++) {
            double value[SR_NODES];
            assert_int_equal(sr_expr_parse(NULL, list[k].formula, name, 2, &system.expr[0]), 0);
            const int count = sr_expr_constants(&system.expr[0], value);
            for (int c = 0; c < count; c++) {
                system.error[0][c] = value[c] == -2 ? 0.1 : NAN;
                system.low[0][c] = value[c] - 0.2;
                system.high[0][c] = value[c] + (uneven ? 0.4 : 0.2);
            }
            sr_said_equation(&s, NULL, &system, 0, text, sizeof text);
            if (!uneven)
                assert_string_equal(text, list[k].said);
            else
                assert_non_null(strstr(text, strstr(list[k].said, "(2 +-")
                                                 ? "(95%: 1.6 to 2.2)"
                                                 : "(95%: -2.2 to -1.6)"));
        }
}

/* An interval that is small beside its constant has the digits to contain it. */
TEST(bounds_of_small_errors_have_enough_digits)
{
    static struct sr_system system;
    static const struct sr_states s = {
        .order = 1, .dims = 1, .names = 2, .name = {"x", "t"}, .target = {"dx/dt"}};
    char text[SR_TEXT];
    assert_int_equal(sr_expr_parse(NULL, "1234.567 * x", name, 2, &system.expr[0]), 0);
    system.error[0][0] = 0.05;
    system.low[0][0] = 1234.487;
    system.high[0][0] = 1234.767;
    sr_said_equation(&s, NULL, &system, 0, text, sizeof text);
    assert_string_equal(text,
                        "dx/dt = 1234.567 * x   (1234.567 +- 0.05 (95%: 1234.49 to 1234.77))");
}

TEST(a_parabola_has_symmetric_bounds)
{
    static struct sr_system system;
    struct sr_states s;
    make("-0.3 * x", 4, 0.01, 2, &s, &system);
    assert_int_equal(sr_system_profile(&s, NULL, 0, &system), 0);
    double value[SR_NODES];
    sr_expr_constants(&system.expr[0], value);
    const double off = 1.959964 * system.error[0][0];
    assert_true(fabs((value[0] - system.low[0][0]) / off - 1) < 0.05);
    assert_true(fabs((system.high[0][0] - value[0]) / off - 1) < 0.05);
    /* an equation that was fitted alone, and a system that no track chose, have none */
    system.alone[0] = true;
    assert_int_equal(sr_system_profile(&s, NULL, 0, &system), 0);
    assert_true(isnan(system.low[0][0]) && isnan(system.high[0][0]));
    sr_states_free(&s);
}

/* Of 95% intervals of the capacity 90 to 100 of 100 contain it. */
TEST(intervals_contain_true_values)
{
    enum { TRACKS = 100 };
    static struct sr_system system;
    int by_profile = 0, by_error = 0, unbounded = 0;
    for (int k = 0; k < TRACKS; k++) {
        struct sr_states s;
        double value[SR_NODES];
        make("0.7 * x * (1 - x / 30)", 5.5, 0.05, 100 + (uint64_t)k, &s, &system);
        assert_int_equal(sr_system_profile(&s, NULL, 0, &system), 0);
        sr_expr_constants(&system.expr[0], value);
        by_error += fabs(value[2] - 30) < 1.959964 * system.error[0][2];
        by_profile += !(system.low[0][2] > 30) && !(system.high[0][2] < 30);
        unbounded += isnan(system.high[0][2]);
        sr_states_free(&s);
    }
    print_message("%d of %d intervals by profiles contain the capacity, %d by standard errors; %d "
                  "have no upper bound\n",
                  by_profile, TRACKS, by_error, unbounded);
    assert_true(by_profile >= 90);
    assert_true(unbounded < 10);
}

TESTS(NULL, NULL)
