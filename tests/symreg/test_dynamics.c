/* test_dynamics.c - systems of equations from tracks: derivatives and their errors against closed
 * forms, the kind of noise, the choice of formulas by the tracks. */
#include "symreg/dynamics/dynamics.h"

#include <math.h>

#include <gsl/gsl_randist.h>

#include "testing.h"

enum { ROWS = 160 };

/* States of one track, x = sin t + 0.3 cos 2.3 t + 2 and y = 2 exp(-t / 4), at uneven times. */
static void make(struct sr_states *s, unsigned seed, double noise, bool proportional)
{
    const size_t rows[1] = {ROWS};
    gsl_rng *rng = orr_rng_create(seed, ORR_STAGE_TEST_SUITE, 72);
    *s = (struct sr_states){.file = "made", .order = 1, .dims = 2, .names = 3};
    snprintf(s->name[0], SR_STATE_NAME, "x");
    snprintf(s->name[1], SR_STATE_NAME, "y");
    snprintf(s->name[2], SR_STATE_NAME, "t");
    assert_int_equal(sr_states_create(s, 1, rows), 0);
    struct sr_state_track *track = s->track;
    for (size_t i = 0; i < ROWS; i++) {
        track->line[i] = i + 2;
        track->t[i] = 0.1 * (double)i + 0.03 * gsl_rng_uniform(rng);
        track->x[i] = sin(track->t[i]) + 0.3 * cos(2.3 * track->t[i]) + 2;
        track->x[ROWS + i] = 2 * exp(-track->t[i] / 4);
        for (size_t d = 0; d < 2; d++)
            track->x[d * ROWS + i] +=
                gsl_ran_gaussian(rng, noise) * (proportional ? track->x[d * ROWS + i] : 1);
    }
    gsl_rng_free(rng);
    assert_int_equal(sr_states_smooth(s, 2), 0);
}

static double rate_of(int d, double t)
{
    return d ? -0.5 * exp(-t / 4) : cos(t) - 0.69 * sin(2.3 * t);
}
static double bend_of(int d, double t)
{
    return d ? 0.125 * exp(-t / 4) : -sin(t) - 1.587 * cos(2.3 * t);
}

/* Largest errors of both derivatives, without the ends of the track. */
TEST(derivatives_of_exact_values_are_exact)
{
    struct sr_states s;
    double rate = 0, bend = 0;
    make(&s, 1, 1e-12, false);
    const struct sr_state_track *track = s.track;
    for (int d = 0; d < 2; d++)
        for (size_t i = 4; i < ROWS - 4; i++) {
            const size_t at = (size_t)d * ROWS + i;
            rate = fmax(rate, fabs(track->rate[at] - rate_of(d, track->t[i])));
            bend = fmax(bend, fabs(track->bend[at] - bend_of(d, track->t[i])));
        }
    print_message("largest errors: %.3g of the first, %.3g of the second derivative\n", rate, bend);
    assert_true(rate < 1e-6);
    assert_true(bend < 2e-5);
    sr_states_free(&s);
}

/* Errors in standard deviations have an rms of about 1, over 16 tracks: 1.03 of the wave; 1.3 and
 * 1.4 of the decay, which is no stationary process. */
TEST(errors_of_derivatives_are_known)
{
    enum { TRACKS = 16 };
    double rate[2] = {0}, bend[2] = {0}, noise[2] = {0};
    for (unsigned seed = 1; seed <= TRACKS; seed++) {
        struct sr_states s;
        make(&s, seed, 0.02, false);
        const struct sr_state_track *track = s.track;
        for (int d = 0; d < 2; d++) {
            for (size_t i = 0; i < ROWS; i++) {
                const size_t at = (size_t)d * ROWS + i;
                const double r = track->rate[at] - rate_of(d, track->t[i]);
                const double b = track->bend[at] - bend_of(d, track->t[i]);
                rate[d] += r * r / track->rate_variance[at] / ROWS / TRACKS;
                bend[d] += b * b / track->bend_variance[at] / ROWS / TRACKS;
            }
            noise[d] += s.noise[d] / TRACKS;
            assert_false(s.proportional[d]);
        }
        sr_states_free(&s);
    }
    for (int d = 0; d < 2; d++) {
        print_message("state %d: rms errors of %.2f and %.2f sigma, noise %.4f\n", d, sqrt(rate[d]),
                      sqrt(bend[d]), noise[d]);
        assert_true(sqrt(rate[d]) > 0.85 && sqrt(rate[d]) < (d ? 1.6 : 1.2));
        assert_true(sqrt(bend[d]) > 0.85 && sqrt(bend[d]) < (d ? 1.6 : 1.2));
        assert_true(fabs(noise[d] / 0.02 - 1) < 0.1);
    }
}

TEST(noise_that_is_a_share_of_the_value_is_recognised)
{
    struct sr_states s;
    make(&s, 1, 0.05, true);
    for (int d = 0; d < 2; d++) {
        assert_true(s.proportional[d]);
        assert_true(fabs(s.noise[d] / 0.05 - 1) < 0.25);
        for (size_t i = 0; i < ROWS; i++) /* sigmas follow the value */
            assert_true(fabs(s.track->sigma[(size_t)d * ROWS + i] /
                                 (s.noise[d] * s.track->smooth[(size_t)d * ROWS + i]) -
                             1) < 0.35);
    }
    sr_states_free(&s);
}

static void add(struct sr_equations_found *found, const struct sr_states *s, const char *text,
                double loss)
{
    const char *name[SR_STATE_NAMES];
    for (int k = 0; k < s->names; k++)
        name[k] = s->name[k];
    assert_int_equal(sr_expr_parse(NULL, text, name, s->names, &found->expr[found->count]), 0);
    found->loss[found->count++] = loss;
}

/* A damped oscillation, x' = y, y' = -4 x - 0.2 y, with the noise of both states given: x = e^(-t
 * / 10) cos(w t), w^2 = 3.99. Losses of the fronts say that the longer formulas are better. */
TEST(the_tracks_choose_and_shorten)
{
    const size_t rows[1] = {ROWS};
    struct sr_states s = {.file = "made", .order = 1, .dims = 2, .names = 3};
    struct sr_language *language = sr_language_create();
    struct sr_equations_found found[2] = {{.best = 1}, {.best = 2}};
    struct sr_system system;
    char text[SR_TEXT];
    const double w = sqrt(3.99), noise = 0.01;
    gsl_rng *rng = orr_rng_create(2, ORR_STAGE_TEST_SUITE, 72);
    snprintf(s.name[0], SR_STATE_NAME, "x");
    snprintf(s.name[1], SR_STATE_NAME, "y");
    snprintf(s.name[2], SR_STATE_NAME, "t");
    assert_int_equal(sr_states_create(&s, 1, rows), 0);
    struct sr_state_track *track = s.track;
    for (size_t i = 0; i < ROWS; i++) {
        const double t = track->t[i] = 0.08 * (double)i, a = exp(-t / 10);
        track->x[i] = a * cos(w * t) + gsl_ran_gaussian(rng, noise);
        track->x[ROWS + i] =
            -a * (0.1 * cos(w * t) + w * sin(w * t)) + gsl_ran_gaussian(rng, noise);
    }
    gsl_rng_free(rng);
    assert_int_equal(sr_states_smooth(&s, 2), 0);
    add(&found[0], &s, "y", 2);
    add(&found[0], &s, "y + 0.03 * x ^ 2", 1);
    add(&found[1], &s, "-3.9 * x", 5);
    add(&found[1], &s, "-3.9 * sin(x)", 2);
    add(&found[1], &s, "-3.9 * x - 0.1 * y + 0.02 * exp(x * y)", 1);
    assert_int_equal(sr_system_choose(&s, language, found, 0, &system), 0);
    assert_true(system.by_track);
    assert_true(system.residual > 0.8 && system.residual < 1.2);
    const char *const name[] = {"x", "y", "t"};
    sr_expr_print(language, &system.expr[0], name, text, sizeof text);
    assert_string_equal(text, "y");
    double value[SR_NODES];
    const int count = sr_expr_constants(&system.expr[1], value);
    sr_expr_print(language, &system.expr[1], name, text, sizeof text);
    print_message("%s, errors %.2g, %.2g\n", text, system.error[1][0], system.error[1][1]);
    assert_null(strstr(text, "exp"));
    assert_int_equal(count, 2);
    const double right[2] = {4, 0.2};
    for (int k = 0; k < 2; k++) /* a fraction has no error */
        assert_true(fabs(fabs(value[k]) - right[k]) <
                    (system.error[1][k] > 0 ? 4 * system.error[1][k] : 1e-9));
    sr_states_free(&s);
    sr_language_free(language);
}

TESTS(NULL, NULL)
