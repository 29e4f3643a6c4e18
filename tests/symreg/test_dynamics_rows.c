/* test_dynamics_rows.c - tables of many rows: windows smoothed near what their neighbours have, a
 * part of the tracks, constants by all rows. */
#include "symreg/dynamics/dynamics.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_randist.h>

#include "symreg/dynamics/judge.h"
#include "symreg/motion/motion.h"
#include "testing.h"

static void name_states(struct sr_states *s, int dims)
{
    static const char *const names[] = {"x", "y"};
    *s = (struct sr_states){.file = "made", .order = 1, .dims = dims, .names = dims + 1};
    for (int d = 0; d < dims; d++)
        snprintf(s->name[d], SR_STATE_NAME, "%s", names[d]);
    snprintf(s->name[dims], SR_STATE_NAME, "t");
}

static double wave(double t)
{
    return sin(t) + 0.3 * cos(2.3 * t);
}

/* The process of a window has nearly the likelihood of the one that is looked for everywhere, from
 * the window before as from a poor start beside a good one. */
TEST(windows_near_others_are_as_likely)
{
    enum { W = SR_MOTION_WINDOW, WINDOWS = 12, N = W * (WINDOWS + 1) / 2 };
    double t[N], x[N], worst = 0;
    gsl_rng *rng = orr_rng_create(1, ORR_STAGE_TEST_SUITE, 73);
    for (int i = 0; i < N; i++) {
        t[i] = 0.1 * i;
        x[i] = wave(t[i]) + gsl_ran_gaussian(rng, i < N / 2 ? 0.02 : 0.05);
    }
    gsl_rng_free(rng);
    struct sr_process_work *work = sr_process_create();
    struct sr_process process = {0, 0}, sought;
    const struct sr_process poor = {5, -1};
    for (int k = 0; k < WINDOWS; k++) {
        const struct sr_window window = {
            .n = W, .dims = 1, .t = t + k * W / 2, .x = x + k * W / 2, .stride = N, .even = true};
        struct sr_process other = k % 2 ? process : poor, from = k % 2 ? poor : process;
        assert_true(sr_process_fit(work, &window, HUGE_VAL, &sought) > 0);
        const double most = sr_process_likelihood(work);
        if (k == 0)
            other = sought;
        assert_true(sr_process_fit_near(work, &window, other, &from) > 0);
        worst = fmax(worst, most - sr_process_likelihood(work));
        process = from;
    }
    print_message("at most %.3g nats less likely\n", worst);
    assert_true(worst < 0.5);
    sr_process_free(work);
}

/* Derivatives of 9,800 rows, of which every second window is sought, err as their variances say. */
TEST(errors_of_derivatives_are_known_of_many_rows)
{
    const size_t rows[] = {4900, 4900};
    struct sr_states s;
    double sum = 0;
    gsl_rng *rng = orr_rng_create(2, ORR_STAGE_TEST_SUITE, 73);
    name_states(&s, 1);
    assert_int_equal(sr_states_create(&s, 2, rows), 0);
    for (size_t k = 0; k < s.count; k++)
        for (size_t i = 0; i < s.track[k].n; i++) {
            s.track[k].t[i] = 0.1 * (double)i;
            s.track[k].x[i] = wave(s.track[k].t[i]) + gsl_ran_gaussian(rng, 0.02);
        }
    gsl_rng_free(rng);
    assert_int_equal(sr_states_smooth(&s, 2), 0);
    for (size_t k = 0; k < s.count; k++)
        for (size_t i = 0; i < s.track[k].n; i++) {
            const double t = s.track[k].t[i];
            const double off = s.track[k].rate[i] - (cos(t) - 0.69 * sin(2.3 * t));
            sum += off * off / s.track[k].rate_variance[i];
        }
    const double rms = sqrt(sum / (double)s.rows);
    print_message("rms error of %.3f sigma, noise %.4f\n", rms, s.noise[0]);
    assert_true(rms > 0.85 && rms < 1.2);
    assert_true(fabs(s.noise[0] / 0.02 - 1) < 0.05);
    sr_states_free(&s);
}

/* Each row of the part is the row of the file that its line says, in all of its arrays. */
TEST(parts_are_spread_over_all_tracks)
{
    const size_t rows[] = {7000, 3100, 40, 1900};
    struct sr_states s, part;
    size_t line = 0, last = 0;
    name_states(&s, 2);
    s.inputs = 1;
    assert_int_equal(sr_states_create(&s, 4, rows), 0);
    for (size_t k = 0; k < s.count; k++)
        for (size_t i = 0; i < s.track[k].n; i++, line++) {
            struct sr_state_track *const track = &s.track[k];
            track->line[i] = line;
            track->t[i] = track->input[i] = (double)line;
            double *const array[] = {track->x, track->smooth, track->rate, track->sigma};
            for (size_t a = 0; a < 4; a++)
                for (size_t d = 0; d < 2; d++)
                    array[a][d * track->n + i] = (double)(100000 * (2 * a + d) + line);
        }
    assert_int_equal(sr_states_part(&s, sr_states_enough(0), &part), 0);
    assert_in_range(part.rows, 2000, 4000);
    for (size_t k = 0; k < part.count; k++)
        for (size_t i = 0; i < part.track[k].n; i++) {
            const struct sr_state_track *const track = &part.track[k];
            const double at = (double)track->line[i];
            const double *const array[] = {track->x, track->smooth, track->rate, track->sigma};
            assert_true(track->t[i] == at && track->input[i] == at);
            assert_true(k + i == 0 || track->line[i] > last);
            for (size_t a = 0; a < 4; a++)
                for (size_t d = 0; d < 2; d++)
                    assert_true(array[a][d * track->n + i] == (double)(100000 * (2 * a + d)) + at);
            last = track->line[i];
        }
    assert_true(last > line - 1900); /* the last track has a piece, too */
    sr_states_free(&part);
    /* five seconds suffice for a third of these rows */
    assert_int_equal(sr_states_enough(1), 1000);
    assert_int_equal(sr_states_enough(10), 2000);
    assert_int_equal(sr_states_enough(100), 3000);
    assert_int_equal(sr_states_part(&s, sr_states_enough(5), &part), 0);
    assert_in_range(part.rows, 800, 1300);
    sr_states_free(&part);
    sr_states_free(&s);
}

/* Damped oscillations from many starts, x' = y, y' = -4 x - 0.2 y, with the noise of both given: x
 * = a e^(-t / 10) cos(w t + p), w^2 = 3.99. */
static void make_oscillations(struct sr_states *s, size_t count)
{
    enum { ROWS = 100 };
    const double w = sqrt(3.99), noise = 0.01;
    size_t rows[64];
    gsl_rng *rng = orr_rng_create(3, ORR_STAGE_TEST_SUITE, 73);
    name_states(s, 2);
    for (size_t k = 0; k < count; k++)
        rows[k] = ROWS;
    assert_int_equal(sr_states_create(s, count, rows), 0);
    for (size_t k = 0; k < count; k++) {
        struct sr_state_track *track = &s->track[k];
        const double size = 0.7 + gsl_rng_uniform(rng), phase = 6 * gsl_rng_uniform(rng);
        for (size_t i = 0; i < ROWS; i++) {
            const double t = track->t[i] = 0.08 * (double)i, a = size * exp(-t / 10);
            track->smooth[i] = a * cos(w * t + phase);
            track->smooth[ROWS + i] = -a * (0.1 * cos(w * t + phase) + w * sin(w * t + phase));
            for (size_t d = 0; d < 2 * ROWS; d += ROWS) {
                track->x[d + i] = track->smooth[d + i] + gsl_ran_gaussian(rng, noise);
                track->sigma[d + i] = noise;
            }
        }
    }
    gsl_rng_free(rng);
}

/* A system that a part of the tracks chose: x' = y has no constant, -4.03 is a little off, and 2 /
 * 10 is a fraction that stays. */
static void choose(const struct sr_states *s, struct sr_system *system)
{
    const char *const names[] = {s->name[0], s->name[1], s->name[2]};
    memset(system, 0, sizeof *system);
    assert_int_equal(sr_expr_parse(NULL, "y", names, 3, &system->expr[0]), 0);
    assert_int_equal(sr_expr_parse(NULL, "x * (-4.03) - y * 2 / 10", names, 3, &system->expr[1]),
                     0);
    system->by_track = true;
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < SR_NODES; k++)
            system->error[d][k] = NAN;
    system->error[1][0] = 0.02;
}

TEST(constants_are_those_of_all_rows)
{
    struct sr_states s, part;
    struct sr_system *const few = calloc(1, sizeof *few), *const all = calloc(1, sizeof *all);
    struct sr_language *language = sr_language_create();
    double value[SR_NODES];
    make_oscillations(&s, 64);
    assert_int_equal(sr_states_part(&s, sr_states_enough(0), &part), 0);
    assert_int_equal(part.rows * 3, s.rows + 200); /* every third of 64 tracks, from the first on */
    choose(&s, few);
    choose(&s, all);
    assert_int_equal(sr_system_refit(&part, language, few), 0);
    assert_int_equal(sr_system_refit(&s, language, all), 0);
    assert_int_equal(sr_expr_constants(&all->expr[1], value), 3);
    print_message("%.5f +- %.2g by all rows, +- %.2g by a part\n", value[0], all->error[1][0],
                  few->error[1][0]);
    assert_true(fabs(value[0] + 4) < 4 * all->error[1][0]);
    const double ratio = few->error[1][0] / all->error[1][0];
    assert_true(ratio > 1.5 && ratio < 2); /* sqrt(3) where tracks are alike */
    assert_true(value[1] == 2 && value[2] == 10);
    assert_true(isnan(all->error[1][1]) && isnan(all->error[1][2]));
    assert_true(fabs(all->residual - 1) < 0.03);
    assert_int_equal(all->segments, 64);
    sr_language_free(language);
    free(few);
    free(all);
    sr_states_free(&part);
    sr_states_free(&s);
}

/* The same with constants of each category, x' = y, y' = c1[category] x - 0.2 y: -4 in both. */
TEST(constants_of_categories_are_those_of_all_rows)
{
    struct sr_states s, part;
    struct sr_system *const few = calloc(1, sizeof *few), *const all = calloc(1, sizeof *all);
    struct sr_language *language = sr_language_create();
    make_oscillations(&s, 64);
    s.categories = 2;
    for (size_t k = 0; k < s.count; k++)
        s.track[k].category = k / 3 % 2;
    assert_int_equal(sr_states_part(&s, sr_states_enough(0), &part), 0);
    choose(&s, few);
    sr_system_number(&s, few);
    few->expr[1].node[1] = sr_feature_node(SR_EACH_FIRST);
    few->constants = 1;
    few->error[1][0] = NAN; /* 2 and 10 stay */
    for (int i = 0; i < 2; i++)
        few->each.value[0][i] = -4.03;
    *all = *few;
    assert_int_equal(sr_system_refit(&part, language, few), 0);
    assert_int_equal(sr_system_refit(&s, language, all), 0);
    for (int i = 0; i < 2; i++) {
        const double value = all->each.value[0][i], error = all->each_error.value[0][i];
        const double ratio = few->each_error.value[0][i] / error;
        print_message("%.5f +- %.2g by all rows, %.2f times that by a part\n", value, error, ratio);
        assert_true(fabs(value + 4) < 4 * error);
        assert_true(ratio > 1.5 && ratio < 2); /* sqrt(3) where tracks are alike */
    }
    sr_language_free(language);
    free(few);
    free(all);
    sr_states_free(&part);
    sr_states_free(&s);
}

/* Orbits of a force that falls with a power of r: exact, with given noise. */
static void make_orbits(struct sr_states *s, size_t count)
{
    enum { ROWS = 100 };
    static const char *const names[] = {"x", "y", "v_x", "v_y", "t"};
    static const char *const text[] = {"-3 * x * (x^2 + y^2)^(-1.3)",
                                       "-3 * y * (x^2 + y^2)^(-1.3)"};
    const double noise = 0.001;
    size_t rows[64];
    struct sr_expr force[2];
    gsl_rng *rng = orr_rng_create(4, ORR_STAGE_TEST_SUITE, 73);
    *s = (struct sr_states){.file = "made", .order = 2, .dims = 2, .names = 5};
    for (int k = 0; k < 5; k++)
        snprintf(s->name[k], SR_STATE_NAME, "%s", names[k]);
    for (int d = 0; d < 2; d++)
        assert_int_equal(sr_expr_parse(NULL, text[d], names, 5, &force[d]), 0);
    for (size_t k = 0; k < count; k++)
        rows[k] = ROWS;
    assert_int_equal(sr_states_create(s, count, rows), 0);
    const struct sr_flow flow = {.dims = 2, .order = 2, .equation = force};
    for (size_t k = 0; k < count; k++) {
        struct sr_state_track *track = &s->track[k];
        const double start[4] = {1, 0, 0, 1.2 + 0.5 * gsl_rng_uniform(rng)};
        double x[4 * ROWS];
        for (size_t i = 0; i < ROWS; i++)
            track->t[i] = 0.05 * (double)i;
        assert_int_equal(sr_flow_solve(&flow, start, ROWS, track->t, NULL, 1e-11, x), 0);
        memcpy(track->smooth, x, 2 * ROWS * sizeof *x);
        memcpy(track->rate, x + (size_t)2 * ROWS, 2 * ROWS * sizeof *x);
        for (size_t i = 0; i < 2 * (size_t)ROWS; i++) {
            track->x[i] = x[i] + gsl_ran_gaussian(rng, noise);
            track->sigma[i] = noise;
        }
    }
    gsl_rng_free(rng);
}

/* A sum of vectors whose power of r was fitted to a part: its power is fitted to all rows, too. */
TEST(the_power_of_a_sum_of_vectors_is_that_of_all_rows)
{
    struct sr_states s;
    struct sr_system *const system = calloc(1, sizeof *system);
    double value[SR_NODES];
    make_orbits(&s, 24);
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < SR_NODES; k++)
            system->error[d][k] = NAN;
    system->by_track = system->symmetry.vectors = true;
    system->symmetry.form = (struct sr_form){.count = 1,
                                             .term = {{.direction = SR_RADIAL, .power = -2.58}},
                                             .value = {-3.01},
                                             .error = {0.01},
                                             .free = {true},
                                             .free_error = {0.02}};
    assert_int_equal(sr_system_refit(&s, NULL, system), 0);
    const struct sr_form *const form = &system->symmetry.form;
    print_message("%.6f +- %.2g, power %.6f +- %.2g\n", form->value[0], form->error[0],
                  form->term[0].power, form->free_error[0]);
    assert_true(fabs(form->value[0] + 3) < 4 * form->error[0] && form->error[0] < 0.001);
    assert_true(fabs(form->term[0].power + 2.6) < 4 * form->free_error[0]);
    assert_true(form->free_error[0] < 0.002);
    assert_true(fabs(system->residual - 1) < 0.05);
    for (int d = 0; d < 2; d++) {
        assert_int_equal(sr_expr_constants(&system->expr[d], value), 2);
        assert_true(value[0] == form->value[0] && 2 * value[1] == form->term[0].power);
        assert_true(system->error[d][0] == form->error[0]);
        assert_true(2 * system->error[d][1] == form->free_error[0]);
    }
    free(system);
    sr_states_free(&s);
}

/* c[category] + slope * feature */
static void put_line(struct sr_expr *expr, double slope, int feature)
{
    sr_put_node(expr, sr_feature_node(SR_EACH_FIRST));
    sr_put_constant(expr, slope);
    sr_put_node(expr, sr_feature_node(feature));
    sr_put_op(expr, SR_MUL);
    sr_put_op(expr, SR_ADD);
    assert_true(sr_put_end(NULL, expr, SR_NODES));
}

/* What a fit leaves where its numbers stay and only the starts are fitted. */
static double left_by(const struct sr_judge *judge, struct sr_judged *fit)
{
    fit->held = 1;
    for (int i = 0; i < fit->expr[0].count; i++)
        if (sr_is_number(&fit->expr[0].node[i]))
            fit->expr[0].node[i].feature = SR_FIXED;
    assert_int_equal(sr_judge_fit(judge, fit), 0);
    assert_true(fit->nats < HUGE_VAL);
    return fit->misfit;
}

/* Against days far from 0 the errors of a line's numbers nearly cancel: x' = c[category] + 0.3 t.
 * Digits are counted by how much one number may change when the others stay. */
TEST(digits_are_those_that_a_number_has_when_the_others_stay)
{
    enum { ROWS = 80, CATEGORIES = 3 };
    const size_t rows[] = {ROWS, ROWS, ROWS, ROWS};
    struct sr_states s;
    struct sr_judge judge;
    struct sr_judged *const fit = calloc(1, sizeof *fit), *const moved = calloc(1, sizeof *moved);
    struct sr_language *language = sr_language_create();
    gsl_rng *rng = orr_rng_create(4, ORR_STAGE_TEST_SUITE, 73);
    name_states(&s, 1);
    s.explicit_time = true;
    s.categories = CATEGORIES;
    assert_int_equal(sr_states_create(&s, 4, rows), 0);
    for (size_t k = 0; k < s.count; k++) {
        struct sr_state_track *const track = &s.track[k];
        track->category = k % CATEGORIES;
        for (size_t i = 0; i < ROWS; i++) {
            const double t = 0.1 * (double)i;
            track->t[i] = 5e4 + t;
            track->smooth[i] = (1 + (double)track->category) * t + 0.15 * t * t;
            track->x[i] = track->smooth[i] + gsl_ran_gaussian(rng, 0.05);
            track->sigma[i] = 0.05;
        }
    }
    gsl_rng_free(rng);
    put_line(&fit->expr[0], 0.31, 1);
    assert_int_equal(sr_judge_create(&s, language, 0, &judge), 0);
    assert_int_equal(sr_judge_fit(&judge, fit), 0);
    assert_true(fit->nats < HUGE_VAL);
    const double numbers = 4 * ROWS, variance = numbers * fit->misfit / fit->spare;
    for (int k = 0; k <= CATEGORIES; k++) {
        double *const alone = k ? &fit->each_alone.value[0][k - 1] : &fit->alone[0];
        const double error = k ? fit->each_error.value[0][k - 1] : fit->error[0];
        *moved = *fit;
        if (k)
            moved->each.value[0][k - 1] += *alone;
        else
            moved->expr[0].node[1].value += *alone;
        const double more = numbers * (left_by(&judge, moved) - fit->misfit) / variance;
        print_message("%g +- %g, +- %g alone: chi2 rises by %g\n",
                      k ? fit->each.value[0][k - 1] : fit->expr[0].node[1].value, error, *alone,
                      more);
        assert_true(fabs(more - 1) < 0.02);
        assert_true(*alone < 1e-3 * error);
    }
    assert_true(sr_judged_round(49025.153673, 1e-3) == 49025.15367);
    assert_true(sr_judged_round(49025.153673, NAN) == 49025.153673);
    sr_judge_free(&judge);
    sr_language_free(language);
    free(fit);
    free(moved);
    sr_states_free(&s);
}

/* x' = c[category] + 0.31 x where c is 0 in all: it goes although no seconds are left, and stays
 * where one of them is not 0. */
TEST(constants_of_categories_that_are_all_0_go)
{
    enum { ROWS = 80, CATEGORIES = 3 };
    const size_t rows[] = {ROWS, ROWS, ROWS};
    struct sr_judge judge;
    struct sr_judged *const fit = calloc(1, sizeof *fit);
    struct sr_language *language = sr_language_create();
    for (int one = 0; one < 2; one++) {
        struct sr_states s;
        gsl_rng *rng = orr_rng_create(4, ORR_STAGE_TEST_SUITE, 74);
        name_states(&s, 1);
        s.categories = CATEGORIES;
        assert_int_equal(sr_states_create(&s, CATEGORIES, rows), 0);
        for (size_t k = 0; k < s.count; k++) {
            struct sr_state_track *const track = &s.track[k];
            track->category = k;
            for (size_t i = 0; i < ROWS; i++) {
                const double t = 0.05 * (double)i, grown = exp(0.31 * t);
                track->t[i] = t;
                track->smooth[i] = grown + (one && k == 1 ? 0.2 * (grown - 1) / 0.31 : 0);
                track->x[i] = track->smooth[i] + gsl_ran_gaussian(rng, 0.02);
                track->sigma[i] = 0.02;
            }
        }
        gsl_rng_free(rng);
        *fit = (struct sr_judged){0};
        put_line(&fit->expr[0], 0.3, 0);
        assert_int_equal(sr_judge_create(&s, language, 0, &judge), 0);
        assert_int_equal(sr_judge_fit(&judge, fit), 0);
        assert_true(fit->nats < HUGE_VAL);
        assert_int_equal(sr_judge_drop_zeros(&judge, fit), 0);
        print_message("%d nodes are left\n", fit->expr[0].count);
        assert_int_equal(fit->expr[0].count, one ? 5 : 3);
        sr_judge_free(&judge);
        sr_states_free(&s);
    }
    sr_language_free(language);
    free(fit);
}

/* An equation of times that are counted from the first one gets the difference in place of the
 * time, each error stays with its number, and the times come back to the bit. */
TEST(times_far_from_0_count_from_the_first_one)
{
    static const struct {
        double begin, epoch;
        const char *text;
    } cases[] = {{2460000.5, 2460000.5, "2*sin(3*(t - 2460000.5)) + (t - 2460000.5)*x/5"},
                 {-1000, -1000, "2*sin(3*(t + 1000)) + (t + 1000)*x/5"},
                 {5, 0, "2*sin(3*t) + t*x/5"}};
    const size_t rows[] = {SR_STATE_ROWS, SR_STATE_ROWS};
    static const char *const name[] = {"x", "t"};
    struct sr_language *language = sr_language_create();
    struct sr_system *const system = calloc(1, sizeof *system);
    struct sr_states s;
    struct sr_expr wanted;
    char text[2][SR_TEXT];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        name_states(&s, 1);
        assert_int_equal(sr_states_create(&s, 2, rows), 0);
        for (size_t k = 0; k < 2; k++)
            for (size_t i = 0; i < SR_STATE_ROWS; i++)
                s.track[k].t[i] = cases[c].begin + 0.1 * (double)(i + k);
        sr_states_count_time(&s);
        assert_true(s.epoch == cases[c].epoch);
        assert_true(s.track[0].t[0] == cases[c].begin - cases[c].epoch);
        assert_int_equal(sr_expr_parse(NULL, "2*sin(3*t) + t*x/5", name, 2, &system->expr[0]), 0);
        for (int k = 0; k < SR_NODES; k++)
            system->error[0][k] = k + 1;
        assert_int_equal(sr_system_restore_time(&s, language, system), 0);
        for (size_t k = 0; k < 2; k++)
            for (size_t i = 0; i < SR_STATE_ROWS; i++)
                assert_true(s.track[k].t[i] == cases[c].begin + 0.1 * (double)(i + k));
        assert_int_equal(sr_expr_parse(NULL, cases[c].text, name, 2, &wanted), 0);
        sr_expr_print(language, &wanted, name, text[0], sizeof text[0]);
        sr_expr_print(language, &system->expr[0], name, text[1], sizeof text[1]);
        assert_string_equal(text[1], text[0]);
        double value[SR_NODES];
        const int numbers = sr_expr_constants(&wanted, value);
        for (int k = 0, given = 0; k < numbers; k++) {
            const bool added = value[k] == fabs(cases[c].epoch);
            assert_true(added ? isnan(system->error[0][k])
                              : system->error[0][k] == (double)++given);
        }
        sr_states_free(&s);
    }
    free(system);
    sr_language_free(language);
}

TESTS(NULL, NULL)
