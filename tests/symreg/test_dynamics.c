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
 * / 10) cos(w t), w^2 = 3.99. */
static void make_oscillation(struct sr_states *s)
{
    const size_t rows[1] = {ROWS};
    const double w = sqrt(3.99), noise = 0.01;
    gsl_rng *rng = orr_rng_create(2, ORR_STAGE_TEST_SUITE, 72);
    *s = (struct sr_states){.file = "made", .order = 1, .dims = 2, .names = 3};
    snprintf(s->name[0], SR_STATE_NAME, "x");
    snprintf(s->name[1], SR_STATE_NAME, "y");
    snprintf(s->name[2], SR_STATE_NAME, "t");
    assert_int_equal(sr_states_create(s, 1, rows), 0);
    struct sr_state_track *track = s->track;
    for (size_t i = 0; i < ROWS; i++) {
        const double t = track->t[i] = 0.08 * (double)i, a = exp(-t / 10);
        track->x[i] = a * cos(w * t) + gsl_ran_gaussian(rng, noise);
        track->x[ROWS + i] =
            -a * (0.1 * cos(w * t) + w * sin(w * t)) + gsl_ran_gaussian(rng, noise);
    }
    gsl_rng_free(rng);
    assert_int_equal(sr_states_smooth(s, 2), 0);
}

/* Asserts that equation 0 is y, and that equation 1 has the constants 4 and 0.2. */
static void expect_oscillation(const struct sr_language *language, const struct sr_system *system)
{
    static const char *const name[] = {"x", "y", "t"};
    static const double right[2] = {4, 0.2};
    char text[SR_TEXT];
    double value[SR_NODES];
    assert_true(system->by_track);
    assert_true(system->residual > 0.8 && system->residual < 1.2);
    sr_expr_print(language, &system->expr[0], name, text, sizeof text);
    assert_string_equal(text, "y");
    const int count = sr_expr_constants(&system->expr[1], value);
    sr_expr_print(language, &system->expr[1], name, text, sizeof text);
    print_message("%s, errors %.2g, %.2g\n", text, system->error[1][0], system->error[1][1]);
    assert_null(strstr(text, "exp"));
    assert_int_equal(count, 2);
    for (int k = 0; k < 2; k++) /* a fraction has no error */
        assert_true(fabs(fabs(value[k]) - right[k]) <
                    (system->error[1][k] > 0 ? 4 * system->error[1][k] : 1e-9));
}

/* Losses of the fronts say that the longer formulas are better. */
TEST(the_tracks_choose_and_shorten)
{
    struct sr_states s;
    struct sr_language *language = sr_language_create();
    struct sr_equations_found found[2] = {{.best = 1}, {.best = 2}};
    struct sr_system system;
    make_oscillation(&s);
    add(&found[0], &s, "y", 2);
    add(&found[0], &s, "y + 0.03 * x ^ 2", 1);
    add(&found[1], &s, "-3.9 * x", 5);
    add(&found[1], &s, "-3.9 * sin(x)", 2);
    add(&found[1], &s, "-3.9 * x - 0.1 * y + 0.02 * exp(x * y)", 1);
    assert_int_equal(sr_system_choose(&s, language, found, 0, &system), 0);
    expect_oscillation(language, &system);
    sr_states_free(&s);
    sr_language_free(language);
}

/* The only formulas tie two constants, and subtract from one that is 0. */
TEST(tied_constants_are_told_and_zeros_go)
{
    struct sr_states s;
    struct sr_language *language = sr_language_create();
    struct sr_equations_found found[2] = {0};
    struct sr_system system;
    make_oscillation(&s);
    add(&found[0], &s, "0.02 - neg(y)", 1);
    add(&found[1], &s, "-3.8 * (x + y)", 1);
    assert_int_equal(sr_system_choose(&s, language, found, 0, &system), 0);
    expect_oscillation(language, &system);
    sr_states_free(&s);
    sr_language_free(language);
}

/* No formula of y is right, and with the second there is not even a solution: that of x keeps the
 * constant of the fit with y known, which a fit of both would change. */
TEST(a_wrong_equation_does_not_pull_a_right_one)
{
    static const char *const name[] = {"x", "y", "t"}, *const wrong[] = {"-2 * x * x * x",
                                                                         "-3 * x * log(y - 50)"};
    for (int k = 0; k < 2; k++) {
        struct sr_states s;
        struct sr_language *language = sr_language_create();
        struct sr_equations_found found[2] = {0};
        struct sr_system system;
        char text[SR_TEXT];
        make_oscillation(&s);
        add(&found[0], &s, "1.05 * y", 1);
        add(&found[1], &s, wrong[k], 1);
        assert_int_equal(sr_system_choose(&s, language, found, 0, &system), 0);
        sr_expr_print(language, &system.expr[0], name, text, sizeof text);
        print_message("%s, residual %.3g\n", text, system.residual);
        assert_true(system.by_track == (k == 0) && !(system.residual < 3));
        assert_true(system.alone[0] && !system.alone[1]);
        assert_string_equal(text, "y");
        sr_states_free(&s);
        sr_language_free(language);
    }
}

/* Equations without a solution along the track still have a table. */
TEST(tracks_without_a_solution_are_written)
{
    static const char folder[] = "build/tests/dynamics_tracks";
    char picture[100], table[100], page[100];
    struct sr_states s;
    struct sr_language *language = sr_language_create();
    struct sr_equations_found found[2] = {0};
    struct sr_system system = {.by_track = false};
    make_oscillation(&s);
    add(&found[0], &s, "exp(exp(9 + x))", 1);
    add(&found[1], &s, "log(-9 - x)", 1);
    for (int d = 0; d < 2; d++)
        system.expr[d] = found[d].expr[0];
    assert_int_equal(orr_mkdir(folder), 0);
    snprintf(picture, sizeof picture, "%s/solutions.png", folder);
    snprintf(table, sizeof table, "%s/solutions.csv", folder);
    snprintf(page, sizeof page, "%s/report.html", folder);
    assert_int_equal(sr_system_tracks(&s, language, &system, folder, true), 0);
    remove(picture); /* of the track alone, where gnuplot is there */
    assert_int_equal(remove(table), 0);
    assert_int_equal(remove(page), 0);
    assert_int_equal(remove(folder), 0);
    sr_states_free(&s);
    sr_language_free(language);
}

/* A parabola of the time is found in the equation that lacks it, and in none that is right. */
TEST(an_equation_that_lacks_the_time_is_named)
{
    struct sr_states s;
    struct sr_language *language = sr_language_create();
    struct sr_equations_found found[2] = {0};
    struct sr_system system = {.by_track = true, .residual = NAN};
    make_oscillation(&s);
    add(&found[0], &s, "y", 1);
    add(&found[1], &s, "-4 * x - 0.2 * y", 1);
    for (int d = 0; d < 2; d++)
        system.expr[d] = found[d].expr[0];
    assert_int_equal(sr_system_time(&s, language, 0, &system), 0);
    assert_int_equal(system.follows_time, -1);
    for (size_t i = 0; i < ROWS; i++) { /* driven by t: y as if x had moved away */
        const double t = s.track->t[i];
        s.track->x[i] += 0.1 * t;
        s.track->smooth[i] += 0.1 * t;
    }
    found[0].count = 0;
    add(&found[0], &s, "y + 0.1", 1);
    system.expr[0] = found[0].expr[0];
    assert_int_equal(sr_system_time(&s, language, 0, &system), 0);
    assert_int_equal(system.follows_time, 1);
    system.residual = 1e-6; /* less than any fit here leaves, as if seconds had cut these off */
    assert_int_equal(sr_system_time(&s, language, 0, &system), 0);
    if (system.follows_time != -1)
        fail_msg("A fit that leaves more than the chosen system did counted for the time.");
    sr_states_free(&s);
    sr_language_free(language);
}

/* Divisors become factors where these are as short, whole numbers stay, signs go to the front;
 * errors and bounds go with their numbers: error k of the formula is k + 1 hundredths, and its
 * interval begins 1 below and ends 2 above. */
TEST(equations_are_written_as_people_do)
{
    static const char *const list[][3] = {
        /* formula, as people write it, number:error of it, low, high */
        {"x / -0.5", "(-2 * x)", "-2:0.04, nan, nan"},
        {"y * 3 + x / -0.4", "((y * 3) + (-2.5 * x))", "3:0.01, 2, 5; -2.5:0.125, nan, nan"},
        {"x / 0.84", "(1.19 * x)", "1.19:0.01417, nan, nan"},
        {"x / -4.54", "neg((x / 4.54))", "4.54:0.01, 2.54, 5.54"},
        {"(y - x) / 10 + x / -3", "(((y - x) / 10) - (x / 3))", "10:0.01, 9, 12; 3:0.02, 1, 4"},
        {"y - 4 * x / -3", "(y - ((-4 * x) / 3))", "-4:0.01, -6, -3; 3:0.02, 1, 4"},
        {"sin(x / 0.25) * -1", "neg(sin((4 * x)))", "4:0.16, nan, nan"},
    };
    static const char *const sure[][2] = {{"2.6666666666666665 * x", "((8 / 3) * x)"},
                                          {"x / 3.3333333333333335", "(0.3 * x)"},
                                          {"0.3 * x / -0.5", "(-0.6 * x)"},
                                          {"x / 0.84", "(x / 0.84)"}};
    const char *const name[] = {"x", "y"};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        const struct sr_states s = {.dims = 1};
        struct sr_system system = {0};
        char text[SR_TEXT], numbers[SR_TEXT] = "";
        double value[SR_NODES];
        assert_int_equal(sr_expr_parse(NULL, list[k][0], name, 2, &system.expr[0]), 0);
        sr_expr_constants(&system.expr[0], value);
        for (int c = 0; c < SR_NODES; c++) {
            system.error[0][c] = 0.01 * (c + 1);
            system.low[0][c] = value[c] - 1;
            system.high[0][c] = value[c] + 2;
        }
        sr_system_tidy(&s, NULL, &system);
        sr_expr_print(NULL, &system.expr[0], name, text, sizeof text);
        const int count = sr_expr_constants(&system.expr[0], value);
        for (int c = 0; c < count; c++)
            orr_append(numbers, sizeof numbers, "%s%.4g:%.4g, %.4g, %.4g", c ? "; " : "", value[c],
                       system.error[0][c], system.low[0][c], system.high[0][c]);
        print_message("%s: %s   (%s)\n", list[k][0], text, numbers);
        assert_string_equal(text, list[k][1]);
        assert_string_equal(numbers, list[k][2]);
    }
    for (size_t k = 0; k < sizeof sure / sizeof *sure; k++) {
        const struct sr_states s = {.dims = 1};
        struct sr_system system = {0};
        char text[SR_TEXT];
        assert_int_equal(sr_expr_parse(NULL, sure[k][0], name, 2, &system.expr[0]), 0);
        for (int c = 0; c < SR_NODES; c++)
            system.error[0][c] = NAN;
        sr_system_tidy(&s, NULL, &system);
        sr_expr_print(NULL, &system.expr[0], name, text, sizeof text);
        assert_string_equal(text, sure[k][1]);
    }
}

/* A number 1 of a state with noise was measured; of an exact one it is what the search wrote. */
TEST(factors_that_are_1_stay_where_noise_is)
{
    static const char *const name[] = {"x", "y"}, formula[] = "2 * y - 1 * x * y + x / -4.54";
    static const char *const wanted[] = {"(((2 * y) - (x * y)) - (x / 4.54))",
                                         "(((2 * y) - ((1 * x) * y)) - (x / 4.54))"};
    for (int noisy = 0; noisy < 2; noisy++) {
        struct sr_states s;
        struct sr_system system = {0};
        char text[SR_TEXT];
        make(&s, 1, noisy ? 0.05 : 0, false);
        for (size_t i = 0; i < 2 * ROWS; i++)
            s.track->sigma[i] = noisy ? 0.05 : 1e-9;
        assert_int_equal(sr_expr_parse(NULL, formula, name, 2, &system.expr[0]), 0);
        assert_int_equal(sr_expr_parse(NULL, "x", name, 2, &system.expr[1]), 0);
        for (int c = 0; c < SR_NODES; c++)
            system.error[0][c] = system.low[0][c] = system.high[0][c] = c + 1;
        sr_system_tidy(&s, NULL, &system);
        sr_expr_print(NULL, &system.expr[0], name, text, sizeof text);
        assert_string_equal(text, wanted[noisy]);
        assert_float_equal(system.error[0][1], noisy ? 2 : 3, 0);
        assert_float_equal(system.error[0][1 + noisy], 3, 0);
        sr_states_free(&s);
    }
}

/* Terms that share constants get one each; equal terms are joined. */
TEST(terms_get_constants_of_their_own)
{
    static const char *const formula[][2] = {
        {"(2.5 * z - x - y) / 1.25", "(((2 * z) + (-0.8 * x)) + (-0.8 * y))"},
        {"x * (1.5 - y - 0.5 * x)", "(((1.5 * x) + ((-1 * x) * y)) + ((-0.5 * x) * x))"},
        {"square(x - y) + 3 * (y * x)", "((((1 * x) * x) + ((1 * x) * y)) + ((1 * y) * y))"},
        {"(x + y) * (x - y)", "(((1 * x) * x) + ((-1 * y) * y))"},
        {"2 * (x - inv(y + 4)) / z", "(((2 * x) / z) + ((-2 / (y + 4)) / z))"},
        {"-0.5 * (x + sin(2 * y))", "((-0.5 * x) + (-0.5 * sin((2 * y))))"},
    };
    static const char *const stays[] = {"x", "2.5 * x * y", "2 * x - 3 * y", "sin(x + y) * 2",
                                        "(x + y + z + 1) * (x + y + z + 2) * (x - y + z * x)"};
    const char *const name[] = {"x", "y", "z"};
    struct sr_expr expr;
    char text[SR_TEXT], before[SR_TEXT];
    for (size_t k = 0; k < sizeof formula / sizeof *formula; k++) {
        assert_int_equal(sr_expr_parse(NULL, formula[k][0], name, 3, &expr), 0);
        assert_true(sr_equation_loosen(NULL, 0, 0, NULL, &expr));
        sr_expr_print(NULL, &expr, name, text, sizeof text);
        print_message("%s: %s\n", formula[k][0], text);
        assert_string_equal(text, formula[k][1]);
    }
    for (size_t k = 0; k < sizeof stays / sizeof *stays; k++) {
        assert_int_equal(sr_expr_parse(NULL, stays[k], name, 3, &expr), 0);
        sr_expr_print(NULL, &expr, name, before, sizeof before);
        assert_false(sr_equation_loosen(NULL, 0, 0, NULL, &expr));
        sr_expr_print(NULL, &expr, name, text, sizeof text);
        assert_string_equal(text, before);
    }
}

/* States x, y with velocities, the time and an input w: alone, y has the others as inputs. */
TEST(a_state_alone_has_the_others_as_inputs)
{
    const size_t rows[2] = {9, 11};
    struct sr_states s = {.file = "made", .order = 2, .dims = 2, .inputs = 1, .names = 6}, alone;
    static const int expected[] = {3, 0, 4, 1, 2, 5}; /* of x, y, v_x, v_y, t, w */
    int number[SR_STATE_NAMES];
    assert_int_equal(sr_states_create(&s, 2, rows), 0);
    double *const block = s.block;
    for (size_t i = 0; i < s.rows * (2 + 2 * 8); i++)
        block[i] = (double)i + 0.385;
    assert_int_equal(sr_states_alone(&s, 1, &alone, number), 0);
    assert_memory_equal(number, expected, sizeof expected);
    assert_true(alone.dims == 1 && alone.inputs == 3 && alone.order == 2 && alone.count == 2);
    for (size_t k = 0; k < 2; k++) {
        const struct sr_state_track *a = &alone.track[k], *b = &s.track[k];
        const size_t n = rows[k], bytes = n * sizeof(double);
        assert_true(a->n == n);
        assert_memory_equal(a->t, b->t, bytes);
        assert_memory_equal(a->x, b->x + n, bytes);
        const double widen = sr_smoothing_error(&s, b, 1);
        assert_true(widen > 0);
        for (size_t i = 0; i < n; i++)
            assert_true(fabs(a->sigma[i] - sqrt(b->sigma[n + i] * b->sigma[n + i] + widen)) <
                        1e-12 * a->sigma[i]);
        assert_memory_equal(a->smooth, b->smooth + n, bytes);
        assert_memory_equal(a->smooth + n, b->rate + n, bytes); /* a fit starts there */
        assert_memory_equal(a->input, b->smooth, bytes);
        assert_memory_equal(a->input + n, b->rate, bytes);
        assert_memory_equal(a->input + 2 * n, b->input, bytes);
    }
    sr_states_free(&s);
    sr_states_free(&alone);
}

/* Terms whose coefficients differ between two categories get constants of each; the others, also
 * where such constants make them, are numbers. Names after the states: c1 to c4. */
TEST(terms_get_constants_of_each_category)
{
    static const struct {
        const char *before, *after;
        double value[2][2]; /* of c1 and c2 afterwards, in both categories */
    } formula[] = {
        {"c1 * x * (x - c2)", "(((c1 * x) * x) + (-0.75 * x))", {{0.25, 0.5}}},
        {"2 * (y + c1 * x)", "((2 * y) + (c1 * x))", {{0.5, 1}}},
        {"(x - c2) / c1", "((c1 * x) + c2)", {{4, 2}, {-12, -3}}},
        {"c1 * (y - sin(c2 * x))", "((c1 * y) + (c3 * sin((c2 * x))))", {{0.25, 0.5}, {3, 1.5}}},
    };
    static const char *const stays[] = {"c1 * x + c2 * y", "c1 * x", "c1 * x + 2 * y"};
    static struct sr_each each;
    const char *name[SR_EACH_FIRST + 4];
    struct sr_expr expr;
    char text[SR_TEXT];
    for (int k = 0; k < SR_EACH_FIRST + 4; k++)
        name[k] = k == 0 ? "x" : k == 1 ? "y" : "";
    name[SR_EACH_FIRST] = "c1";
    name[SR_EACH_FIRST + 1] = "c2";
    name[SR_EACH_FIRST + 2] = "c3";
    name[SR_EACH_FIRST + 3] = "c4";
    for (size_t k = 0; k < sizeof formula / sizeof *formula; k++) {
        each = (struct sr_each){.value = {{0.25, 0.5}, {3, 1.5}, {7, 8}}};
        assert_int_equal(sr_expr_parse(NULL, formula[k].before, name, SR_EACH_FIRST + 4, &expr), 0);
        assert_true(sr_equation_loosen(NULL, 2, 0, &each, &expr));
        sr_expr_print(NULL, &expr, name, text, sizeof text);
        print_message("%s: %s\n", formula[k].before, text);
        assert_string_equal(text, formula[k].after);
        for (int i = 0; i < 2; i++)
            for (int c = 0; c < 2 && formula[k].value[i][0] != 0; c++)
                if (!(fabs(each.value[i][c] - formula[k].value[i][c]) < 1e-12))
                    fail_msg("%s: c%d is %g in category %d, not %g", text, i + 1, each.value[i][c],
                             c, formula[k].value[i][c]);
    }
    for (size_t k = 0; k < sizeof stays / sizeof *stays; k++) {
        assert_int_equal(sr_expr_parse(NULL, stays[k], name, SR_EACH_FIRST + 4, &expr), 0);
        if (sr_equation_loosen(NULL, 2, 0, &each, &expr))
            fail_msg("%s has other terms", stays[k]);
    }
}

/* Two tracks of two categories with rates of 0.2 x and 3 x + 1: sums of products have coefficients
 * of each category, and tell their means. */
TEST(sums_of_products_have_coefficients_of_each_category)
{
    const size_t rows[2] = {40, 40};
    struct sr_states s = {.file = "made", .order = 1, .dims = 1, .names = 2, .categories = 2};
    static struct sr_equations_found sums;
    assert_int_equal(sr_states_create(&s, 2, rows), 0);
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < 40; i++) {
            struct sr_state_track *const track = &s.track[k];
            track->category = k;
            track->t[i] = 0.1 * (double)i;
            track->smooth[i] = 2 + (double)k + sin(track->t[i]);
            track->rate[i] = k ? 3 * track->smooth[i] + 1 : 0.2 * track->smooth[i];
            track->rate_variance[i] = 1e-10;
        }
    assert_int_equal(sr_states_sums(&s, 0, 30, &sums), 0);
    bool found = false;
    for (int k = 0; k < sums.count; k++) {
        struct sr_expr expr[2] = {sums.expr[k], sums.expr[k]};
        double value[2][SR_NODES];
        if (sr_each_used(&sums.expr[k]) != 3)
            continue;
        for (size_t c = 0; c < 2; c++) {
            sr_each_fill(&sums.each[k], sums.first, c, &expr[c]);
            assert_int_equal(sr_expr_constants(&expr[c], value[c]), 2);
        }
        found = found || (fabs(value[0][0] + value[0][1] - 0.2) < 1e-6 &&
                          fabs(value[1][0] + value[1][1] - 4) < 1e-6);
    }
    assert_true(found);
    char *text;
    assert_int_equal(sr_sums_text(&s, &sums, &text), 0);
    assert_null(strstr(text, "c1")); /* a search starts from numbers */
    free(text);
    sr_states_free(&s);
}

/* The rate of the first of eight states, whose tracks are too short for a fit of all products, is a
 * sum of three of them, of which a forward selection takes wrong products first. */
TEST(linear_sums_of_many_states_are_found)
{
    enum { STATES = 8, SHORT = 60 };
    const size_t rows[1] = {SHORT};
    struct sr_states s = {.file = "made", .order = 1, .dims = STATES, .names = STATES + 1};
    static struct sr_equations_found sums;
    assert_int_equal(sr_states_create(&s, 1, rows), 0);
    struct sr_state_track *track = s.track;
    for (size_t i = 0; i < SHORT; i++) {
        const double t = track->t[i] = 0.1 * (double)i;
        for (size_t d = 0; d < STATES; d++)
            track->smooth[d * SHORT + i] = 1 + 0.1 * (double)d +
                                           0.3 * sin(t * (0.5 + 0.21 * (double)d) + (double)d) +
                                           0.1 * cos(t * (1.3 - 0.11 * (double)d));
        track->rate[i] =
            track->smooth[SHORT + i] - 0.5 * track->smooth[i] - 0.3 * track->smooth[2 * SHORT + i];
        for (size_t d = 0; d < STATES; d++)
            track->rate_variance[d * SHORT + i] = 1e-10;
    }
    assert_int_equal(sr_states_sums(&s, 0, 30, &sums), 0);
    bool any = false;
    for (int k = 0; k < sums.count; k++) {
        double value[SR_NODES], sum = 0;
        bool names = sr_expr_constants(&sums.expr[k], value) == 3;
        for (int i = 0; i < sums.expr[k].count; i++)
            if (sums.expr[k].node[i].op == SR_FEATURE)
                names = names && sums.expr[k].node[i].feature < 3;
        for (int j = 0; names && j < 3; j++)
            sum += value[j];
        any = any || (names && fabs(sum - 0.2) < 1e-3);
    }
    assert_true(any);
    sr_states_free(&s);
}

TESTS(NULL, NULL)
