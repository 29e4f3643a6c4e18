/* test_dynamics_weak.c - sums of terms in integral form, and tracks smoothed by solutions. */
#include "symreg/dynamics/judge.h"
#include "symreg/dynamics/weak.h"

#include "testing.h"

enum { ROWS = 120 };

/* A number between -1 and 1 with variance 1/3. */
static double draw(unsigned *state)
{
    *state = *state * 1664525U + 1013904223U;
    return (double)(*state >> 8) / (1 << 23) - 1;
}

/* Prey whose predator is saturated: x' = 1.3 x - 1.9 y x / (0.6 + x), y' = 0.9 x y - 0.7 y; or, of
 * order 2, a pendulum x'' = -2.2 sin(x), whose y is its velocity. */
static void slope(bool pendulum, const double *z, double *by)
{
    by[0] = pendulum ? z[1] : 1.3 * z[0] - 1.9 * z[1] * z[0] / (0.6 + z[0]);
    by[1] = pendulum ? -2.2 * sin(z[0]) : 0.9 * z[0] * z[1] - 0.7 * z[1];
}

static void step(bool pendulum, double h, double *z)
{
    double k[4][2], at[2];
    for (int stage = 0; stage < 4; stage++) {
        static const double share[] = {0, 0.5, 0.5, 1};
        for (int d = 0; d < 2; d++)
            at[d] = z[d] + (stage ? h * share[stage] * k[stage - 1][d] : 0);
        slope(pendulum, at, k[stage]);
    }
    for (int d = 0; d < 2; d++)
        z[d] += h / 6 * (k[0][d] + 2 * k[1][d] + 2 * k[2][d] + k[3][d]);
}

/* One track with uneven times and noise of `sigma`; smoothed states without errors. */
static void make(bool pendulum, double sigma, struct sr_states *s)
{
    const size_t rows[1] = {ROWS};
    const int dims = pendulum ? 1 : 2;
    unsigned state = 7;
    double z[2] = {pendulum ? 2.1 : 0.8, pendulum ? 0.3 : 0.5};
    *s = (struct sr_states){.file = "made", .order = pendulum ? 2 : 1, .dims = dims, .names = 3};
    assert_int_equal(sr_states_create(s, 1, rows), 0);
    struct sr_state_track *const track = s->track;
    for (size_t i = 0; i < ROWS; i++) {
        const double h = 0.05 + 0.02 * (draw(&state) + 1);
        for (int k = 0; k < 8 && i; k++)
            step(pendulum, h / 8, z);
        track->t[i] = i ? track->t[i - 1] + h : 0;
        for (size_t d = 0; d < (size_t)dims; d++) {
            track->smooth[d * ROWS + i] = z[d];
            track->x[d * ROWS + i] = z[d] + 1.7 * sigma * draw(&state);
            track->sigma[d * ROWS + i] = sigma;
            track->rate[d * ROWS + i] = pendulum ? z[1] : (double)NAN;
        }
    }
}

/* Whether a sum has this form: of its terms, whose numbers are replaced by 2. */
static bool has_form(const struct sr_equations_found *sums, const char *const *name,
                     const char *form, double *first)
{
    for (int k = 0; k < sums->count; k++) {
        struct sr_expr expr = sums->expr[k];
        char text[SR_TEXT];
        double value[SR_NODES];
        sr_expr_constants(&expr, value);
        for (int i = 0; i < expr.count; i++)
            if (sr_is_number(&expr.node[i]))
                expr.node[i].value = 2;
        sr_expr_print(NULL, &expr, name, text, sizeof text);
        *first = value[0];
        if (!strcmp(text, form))
            return true;
    }
    return false;
}

static void allow_all(bool allowed[SR_OPS])
{
    for (int k = 0; k < SR_OPS; k++)
        allowed[k] = true;
}

/* Derivatives are no numbers here, so that nothing can have used them. */
TEST(a_saturation_is_found_without_derivatives)
{
    static const char *const name[] = {"x", "y", "t"};
    static struct sr_equations_found sums;
    struct sr_states s;
    bool allowed[SR_OPS];
    double first;
    allow_all(allowed);
    make(false, 0.003, &s);
    sums.count = 0;
    assert_int_equal(sr_states_weak(&s, 0, allowed, 30, &sums), 0);
    if (!has_form(&sums, name, "((2 * x) + (2 * ((x / (x + 2)) * y)))", &first) &&
        !has_form(&sums, name, "((2 * ((x / (x + 2)) * y)) + (2 * x))", &first))
        fail_msg("no sum of x and of y x / (K + x) among %d", sums.count);
    sums.count = 0;
    assert_int_equal(sr_states_weak(&s, 1, allowed, 30, &sums), 0);
    const bool found = has_form(&sums, name, "((2 * y) + (2 * (y * x)))", &first);
    if (!found && !has_form(&sums, name, "((2 * (y * x)) + (2 * y))", &first))
        fail_msg("no sum of y and of x y among %d", sums.count);
    if (fabs(first - (found ? -0.7 : 0.9)) > 0.02)
        fail_msg("the first coefficient is %g", first);
    sr_states_free(&s);
}

/* The integral is one of two times, and what the start and the first velocity give is free. */
TEST(accelerations_are_integrated_twice)
{
    static const char *const name[] = {"x", "v", "t"};
    static struct sr_equations_found sums;
    struct sr_states s;
    bool allowed[SR_OPS];
    double first;
    allow_all(allowed);
    make(true, 0.01, &s);
    sums.count = 0;
    assert_int_equal(sr_states_weak(&s, 0, allowed, 30, &sums), 0);
    if (!has_form(&sums, name, "(2 * sin(x))", &first))
        fail_msg("no multiple of sin(x) among %d sums", sums.count);
    if (fabs(first + 2.2) > 0.02)
        fail_msg("the coefficient of sin(x) is %g, expected -2.2", first);
    sr_states_free(&s);
}

TEST(sums_have_allowed_operators_and_sizes)
{
    static struct sr_equations_found sums;
    struct sr_states s;
    bool allowed[SR_OPS] = {false};
    allowed[SR_ADD] = allowed[SR_MUL] = true;
    make(false, 0.003, &s);
    sums.count = 0;
    assert_int_equal(sr_states_weak(&s, 0, allowed, 11, &sums), 0);
    assert_true(sums.count > 0);
    for (int k = 0; k < sums.count; k++) {
        assert_true(sums.expr[k].count <= 11);
        for (int i = 0; i < sums.expr[k].count; i++)
            if (sums.expr[k].node[i].op >= SR_ADD && !allowed[sums.expr[k].node[i].op])
                fail_msg("sum %d has an operator that is not allowed", k);
    }
    sr_states_free(&s);
}

/* Gives every row the exact derivative, with such a standard deviation. */
static void give_rates(bool pendulum, double sigma, struct sr_states *s)
{
    struct sr_state_track *const track = s->track;
    for (size_t i = 0; i < ROWS; i++) {
        const double z[2] = {track->smooth[i], pendulum ? track->rate[i] : track->smooth[ROWS + i]};
        double by[2];
        slope(pendulum, z, by);
        for (size_t d = 0; d < (size_t)s->dims; d++) {
            (pendulum ? track->bend : track->rate)[d * ROWS + i] = by[pendulum ? 1 : d];
            (pendulum ? track->bend_variance : track->rate_variance)[d * ROWS + i] = sigma * sigma;
        }
    }
}

/* Without noise a number within a term is fitted, and a sum with a superfluous term is none of the
 * likeliest. */
TEST(exact_derivatives_give_the_numbers_within_terms)
{
    static struct sr_equations_found sums;
    static const char *const name[] = {"x", "y", "t"};
    struct sr_states s;
    bool allowed[SR_OPS];
    double value[SR_NODES], first;
    allow_all(allowed);
    make(false, 1e-9, &s);
    give_rates(false, 1e-7, &s);
    sums.count = 0;
    assert_int_equal(sr_states_weak(&s, 0, allowed, 30, &sums), 0);
    assert_true(sums.count > 0);
    const struct sr_expr *const best = &sums.expr[sums.count - 1];
    sums.expr[0] = *best;
    sums.count = 1;
    if (!has_form(&sums, name, "((2 * x) + (2 * ((x / (x + 2)) * y)))", &first) &&
        !has_form(&sums, name, "((2 * ((x / (x + 2)) * y)) + (2 * x))", &first))
        fail_msg("the likeliest sum is not that of x and y x / (K + x)");
    const int numbers = sr_expr_constants(best, value), at = first < 0 ? 1 : 2;
    assert_int_equal(numbers, 3);
    if (fabs(value[at] - 0.6) > 1e-5)
        fail_msg("K is %.8g, expected 0.6", value[at]);
    sr_states_free(&s);
}

TEST(exact_accelerations_are_explained)
{
    static struct sr_equations_found sums;
    static const char *const name[] = {"x", "v", "t"};
    struct sr_states s;
    bool allowed[SR_OPS];
    double first;
    allow_all(allowed);
    make(true, 1e-9, &s);
    give_rates(true, 1e-7, &s);
    sums.count = 0;
    assert_int_equal(sr_states_weak(&s, 0, allowed, 30, &sums), 0);
    if (!has_form(&sums, name, "(2 * sin(x))", &first) || fabs(first + 2.2) > 1e-6)
        fail_msg("no -2.2 sin(x) among %d sums", sums.count);
    sr_states_free(&s);
}

/* A sine of the time, of any frequency, beside a loss. */
TEST(exact_waves_of_the_time_are_found)
{
    static struct sr_equations_found sums;
    static const char *const name[] = {"x", "y", "t"};
    struct sr_states s;
    bool allowed[SR_OPS];
    double first;
    allow_all(allowed);
    make(false, 1e-9, &s);
    give_rates(false, 1e-7, &s);
    s.explicit_time = true;
    for (size_t i = 0; i < ROWS; i++)
        s.track->rate[i] = 0.7 * sin(2.37 * s.track->t[i]) - 0.4 * s.track->smooth[i];
    sums.count = 0;
    assert_int_equal(sr_states_weak(&s, 0, allowed, 30, &sums), 0);
    if (!has_form(&sums, name, "((2 * sin((t * 2))) + (2 * x))", &first) &&
        !has_form(&sums, name, "((2 * x) + (2 * sin((t * 2))))", &first))
        fail_msg("no sum of x and sin(w t) among %d", sums.count);
    sr_states_free(&s);
}

/* Of a state that rises all the time derivatives are a function, which may be long where one of the
 * time is short; y is a third of the time here. */
TEST(the_time_is_asked_where_it_makes_equations_shorter)
{
    static const char *const name[] = {"x", "y", "t"};
    static const char brief[] = "0.7 * sin(7.11 * y) - 0.4 * x",
                      lengthy[] = "0.7 * sin(7.11 * y) - 0.4 * x + 2.1 * square(y - 0.4) - "
                                  "2.1 * y * y + 1.68 * y - 0.336";
    struct sr_equations_found found = {.count = 1, .maxsize = 30};
    struct sr_language *const language = sr_language_create();
    struct sr_states s;
    bool allowed[SR_OPS], lack;
    allow_all(allowed);
    found.allowed = allowed;
    make(false, 1e-9, &s);
    give_rates(false, 1e-7, &s);
    for (size_t i = 0; i < ROWS; i++) {
        s.track->smooth[ROWS + i] = s.track->t[i] / 3;
        s.track->rate[i] = 0.7 * sin(2.37 * s.track->t[i]) - 0.4 * s.track->smooth[i];
    }
    for (int k = 0; k < 3; k++) {
        assert_int_equal(sr_expr_parse(NULL, k ? lengthy : brief, name, 3, &found.expr[0]), 0);
        found.loss[0] = k < 2; /* 0: a sum that is known to be short */
        assert_int_equal(sr_states_lack(&s, language, 0, &found, &lack), 0);
        if (lack != (k == 1))
            fail_msg("%s: the time is %sasked for", k ? lengthy : brief, lack ? "" : "not ");
    }
    sr_language_free(language);
    sr_states_free(&s);
}

/* Smoothed states with errors become the solution, which has much smaller ones. */
TEST(solutions_are_better_smoothed_tracks)
{
    static const char *const name[] = {"x", "y", "t"};
    static struct sr_judged system;
    struct sr_states s, along;
    struct sr_judge judge;
    struct sr_language *const language = sr_language_create();
    double exact[2 * ROWS], before = 0, after = 0;
    bool follows = false;
    make(false, 0.02, &s);
    memcpy(exact, s.track->smooth, sizeof exact);
    memcpy(s.track->smooth, s.track->x, sizeof exact);
    assert_int_equal(sr_judge_create(&s, language, 0, &judge), 0);
    assert_int_equal(
        sr_expr_parse(NULL, "1.2 * x - 1.7 * y * x / (0.5 + x)", name, 3, &system.expr[0]), 0);
    assert_int_equal(sr_expr_parse(NULL, "0.8 * x * y - 0.6 * y", name, 3, &system.expr[1]), 0);
    assert_int_equal(sr_states_resmooth(&judge, &system, &along, &follows), 0);
    assert_true(follows);
    assert_true(along.track != s.track && along.track->n == ROWS);
    assert_memory_equal(along.track->x, s.track->x, sizeof exact);
    for (size_t i = 0; i < 2 * ROWS; i++) {
        before += (s.track->smooth[i] - exact[i]) * (s.track->smooth[i] - exact[i]);
        after += (along.track->smooth[i] - exact[i]) * (along.track->smooth[i] - exact[i]);
    }
    if (!(after < before / 9))
        fail_msg("errors of the solutions are %g of those of the values", sqrt(after / before));
    sr_judge_free(&judge);
    sr_states_free(&along);
    sr_states_free(&s);
    sr_language_free(language);
}

/* The nats of y' for two formulas that have equally many numbers. */
static double nats_with(struct sr_states *s, const char *second)
{
    static const char *const name[] = {"x", "y", "t"};
    static struct sr_judged system;
    struct sr_judge judge;
    assert_int_equal(sr_judge_create(s, NULL, 0, &judge), 0);
    assert_int_equal(
        sr_expr_parse(NULL, "1.2 * x - 1.7 * y * x / (0.5 + x)", name, 3, &system.expr[0]), 0);
    assert_int_equal(sr_expr_parse(NULL, second, name, 3, &system.expr[1]), 0);
    assert_int_equal(sr_judge_fit(&judge, &system), 0);
    sr_judge_free(&judge);
    return system.nats;
}

/* What is positive everywhere and measured in proportion does not become negative: an equation that
 * takes from it where nothing is left costs 3 nats. */
TEST(amounts_do_not_become_negative)
{
    struct sr_states s;
    make(false, 0.02, &s);
    const double takes = nats_with(&s, "0.8 * x * y - 0.6");
    const double keeps = nats_with(&s, "0.8 * x * y - 0.6 * y");
    s.proportional[1] = true;
    const double keeps_amount = nats_with(&s, "0.8 * x * y - 0.6 * y");
    const double takes_amount = nats_with(&s, "0.8 * x * y - 0.6");
    if (fabs(takes_amount - takes - 3) > 1e-9)
        fail_msg("an amount that falls below 0 costs %g nats", takes_amount - takes);
    if (fabs(keeps_amount - keeps) > 1e-9)
        fail_msg("an amount that stays above 0 costs %g nats", keeps_amount - keeps);
    s.track->x[ROWS] = s.track->smooth[ROWS] = -0.01;
    const double negative = nats_with(&s, "0.8 * x * y - 0.6 * y - 0.1");
    s.proportional[1] = false;
    assert_true(fabs(negative - nats_with(&s, "0.8 * x * y - 0.6 * y - 0.1")) < 1e-9);
    sr_states_free(&s);
}

/* Nats of the likelihood that the chosen system loses to its forms with all constants free. */
static double lost_by_rounding(const struct sr_states *s, const struct sr_language *language,
                               const struct sr_system *chosen, int *fractions)
{
    static struct sr_judged fit;
    struct sr_judge judge;
    double misfit[2];
    *fractions = 0;
    assert_int_equal(sr_judge_create(s, language, 0, &judge), 0);
    for (int held = 0; held < 2; held++) {
        memcpy(fit.expr, chosen->expr, sizeof fit.expr);
        for (int d = 0; d < s->dims && held; d++)
            for (int i = 0, k = 0; i < fit.expr[d].count; i++)
                if (sr_is_number(&fit.expr[d].node[i])) {
                    fit.expr[d].node[i].feature = SR_FIXED;
                    *fractions += isnan(chosen->error[d][k++]);
                }
        assert_int_equal(sr_judge_fit(&judge, &fit), 0);
        misfit[held] = fit.misfit;
    }
    sr_judge_free(&judge);
    return 0.5 * s->dims * ROWS * log(misfit[1] / misfit[0]);
}

/* A fraction within three standard errors of a constant is no licence to leave the region of its
 * error, however little time there was to choose. */
TEST(fractions_lose_little)
{
    static const char *const name[] = {"x", "y", "t"};
    static const char *const form[] = {"1.3 * x - 1.9 * y * x / (0.6 + x)",
                                       "0.9 * x * y - 0.7 * y"};
    static struct sr_equations_found found[2];
    static struct sr_system chosen;
    struct sr_language *const language = sr_language_create();
    int all = 0;
    for (int k = 1; k <= 2; k++) {
        struct sr_states s;
        int fractions;
        make(false, 0.02 * k, &s);
        for (int d = 0; d < 2; d++) {
            found[d] = (struct sr_equations_found){.count = 1, .loss = {1}};
            assert_int_equal(sr_expr_parse(NULL, form[d], name, 3, &found[d].expr[0]), 0);
        }
        assert_int_equal(sr_system_choose(&s, language, found, 0.3, &chosen), 0);
        const double lost = lost_by_rounding(&s, language, &chosen, &fractions);
        print_message("noise %g: %d fractions lose %.3f nats\n", 0.02 * k, fractions, lost);
        all += fractions;
        if (lost > 0.5 * fractions + 0.1)
            fail_msg("%d fractions lose %.2f nats at a noise of %g", fractions, lost, 0.02 * k);
        sr_states_free(&s);
    }
    if (!all)
        fail_msg("no constant became a fraction");
    sr_language_free(language);
}

/* The rule itself, for equations and for sums of vectors: half a nat each, and of exact tracks
 * whatever leaves less than what is as good as nothing. */
TEST(fractions_may_lose_half_a_nat_each)
{
    static struct sr_judged fit, against;
    const struct sr_judge judge = {.exact = 1e-3};
    against.spare = 200;
    for (int fixed = 1; fixed <= 4; fixed++)
        for (int k = 0; k < 2; k++) {
            const double lost = 0.5 * fixed + (k ? 0.01 : -0.01);
            against.misfit = 1.1;
            fit.misfit = against.misfit * exp(2 * lost / against.spare);
            assert_true(fabs(sr_judge_lost(&judge, &fit, &against) - lost) < 1e-9);
            assert_true(sr_judge_loses_little(&judge, &fit, &against, fixed) == !k);
            against.misfit = 1e-9;
            fit.misfit = 9e-4;
            assert_true(sr_judge_loses_little(&judge, &fit, &against, fixed));
        }
    fit.nats = HUGE_VAL; /* no solution follows the tracks */
    assert_false(sr_judge_loses_little(&judge, &fit, &against, 4));
}

/* A constant that is 0 within its error goes, though the system costs more without it: the others
 * are then known better, and cost more by that. One that is not 0 stays. */
TEST(zeros_go_whatever_the_others_cost)
{
    static const char *const name[] = {"x", "y", "t"};
    static struct sr_judged system;
    struct sr_language *const language = sr_language_create();
    struct sr_judge judge;
    struct sr_states s;
    char text[SR_TEXT];
    make(false, 0.01, &s);
    assert_int_equal(sr_judge_create(&s, language, 0, &judge), 0);
    assert_int_equal(
        sr_expr_parse(NULL, "1.3 * x - 1.9 * y * x / (0.6 + x) + 1e-3", name, 3, &system.expr[0]),
        0);
    assert_int_equal(sr_expr_parse(NULL, "0.9 * x * y - 0.7 * y", name, 3, &system.expr[1]), 0);
    assert_int_equal(sr_judge_fit(&judge, &system), 0);
    assert_true(system.nats < HUGE_VAL);
    system.nats -= 1000;
    assert_int_equal(sr_judge_drop_zeros(&judge, &system), 0);
    sr_expr_print(language, &system.expr[0], name, text, sizeof text);
    if (sr_expr_constants(&system.expr[0], NULL) != 3)
        fail_msg("a term that is 0 stays: %s", text);
    assert_int_equal(sr_expr_constants(&system.expr[1], NULL), 2);
    sr_judge_free(&judge);
    sr_states_free(&s);
    sr_language_free(language);
}

/* A term that changes no solution goes; another of such a form, which is felt, stays. */
TEST(terms_that_no_track_feels_go)
{
    static const char *const name[] = {"x", "y", "t"};
    static struct sr_judged system;
    struct sr_states s;
    struct sr_judge judge;
    struct sr_language *const language = sr_language_create();
    char text[2][SR_TEXT];
    make(false, 1e-8, &s);
    assert_int_equal(sr_judge_create(&s, language, 0, &judge), 0);
    assert_int_equal(sr_expr_parse(NULL, "1e-13 * y + 1.3 * x - 1.9 * y * x / (0.6 + x + 1e-13)",
                                   name, 3, &system.expr[0]),
                     0);
    assert_int_equal(
        sr_expr_parse(NULL, "0.9 * x * y - (0.7 * y - 1e-9)", name, 3, &system.expr[1]), 0);
    system.nats = HUGE_VAL;
    system.misfit = 2;
    assert_int_equal(sr_judge_drop_unfelt(&judge, &system), 0);
    for (int d = 0; d < 2; d++)
        sr_expr_print(language, &system.expr[d], name, text[d], SR_TEXT);
    if (sr_expr_constants(&system.expr[0], NULL) != 3)
        fail_msg("a term of 1e-13 y stays: %s", text[0]);
    if (sr_expr_constants(&system.expr[1], NULL) != 3)
        fail_msg("a constant of 1e-9 goes: %s", text[1]);
    if (!(system.nats < HUGE_VAL))
        fail_msg("the shorter system was not fitted");
    sr_judge_free(&judge);
    sr_states_free(&s);
    sr_language_free(language);
}

TESTS(NULL, NULL)
