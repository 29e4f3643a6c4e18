/* test_paths.c - laws fitted to the paths of three bodies that attract each other, in frames of
 * every kind. */
#include "symreg/motion/arcs.h"
#include "symreg/motion/decide.h"
#include "symreg/motion/forms.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_randist.h>

#include "testing.h"

enum { BODIES = 3, DIMS = 2, ROWS = 90, STATE = 2 * DIMS * BODIES };
static const double mass[BODIES] = {1, 0.02, 0.3}, amplitude = 39.5, power = -2.1;
static const char *const names[] = {"r", "m1", "m2"};

/* y: positions (BODIES, DIMS), then velocities. */
static void derive(const double *y, double *f)
{
    memcpy(f, y + STATE / 2, STATE / 2 * sizeof *f);
    memset(f + STATE / 2, 0, STATE / 2 * sizeof *f);
    for (int a = 0; a < BODIES; a++)
        for (int b = 0; b < BODIES; b++) {
            const double dx = y[b * DIMS] - y[a * DIMS], dy = y[b * DIMS + 1] - y[a * DIMS + 1];
            const double pull = a == b ? 0 : amplitude * mass[b] * pow(hypot(dx, dy), power - 1);
            f[STATE / 2 + a * DIMS] += pull * dx;
            f[STATE / 2 + a * DIMS + 1] += pull * dy;
        }
}

/* The classical method of Runge and Kutta. */
static void advance(double *y, double h)
{
    double k[4][STATE], at[STATE];
    static const double part[] = {0, 0.5, 0.5, 1};
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < STATE; i++)
            at[i] = y[i] + (s ? part[s] * h * k[s - 1][i] : 0);
        derive(at, k[s]);
    }
    for (int i = 0; i < STATE; i++)
        y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
}

/* Tracks of a star and two bodies that move evenly on the whole; `origin`: relative to this body;
 * -1: as they are. */
static void make(struct sr_tracks *tracks, int origin, double noise)
{
    const size_t rows[BODIES] = {ROWS, ROWS, ROWS};
    double y[STATE] = {0, 0, 1, 0, 0, 2.6, 0.1, 0.3, 0, 6.1, -4.2, 0};
    gsl_rng *rng = orr_rng_create(5, ORR_STAGE_TEST_SUITE, 74);
    *tracks = (struct sr_tracks){.file = "made"};
    assert_int_equal(sr_tracks_create(tracks, DIMS, BODIES, rows), 0);
    for (size_t i = 0; i < ROWS; i++) {
        for (int k = 0; k < BODIES; k++) {
            struct sr_track *track = &tracks->track[k];
            track->mass = mass[k];
            track->body = names[k];
            track->t[i] = 0.03 * (double)i;
            for (int d = 0; d < DIMS; d++)
                track->x[(size_t)d * ROWS + i] = y[k * DIMS + d] -
                                                 (origin < 0 ? 0 : y[origin * DIMS + d]) +
                                                 (k == origin ? 0 : gsl_ran_gaussian(rng, noise));
        }
        for (int s = 0; s < 60; s++)
            advance(y, 0.0005);
    }
    gsl_rng_free(rng);
}

/* The law is recovered from constants that are 5% off, within four standard errors. */
static void law_follows(int origin, size_t most)
{
    const double noise = 1e-4;
    struct sr_tracks tracks;
    struct sr_motion_table table = {0};
    struct sr_paths paths;
    struct sr_expr expr;
    struct sr_form form;
    struct sr_arcs_fit fit;
    make(&tracks, origin, noise);
    assert_int_equal(sr_motion_make(&tracks, NULL, 2, &table), 0);
    assert_true(sr_motion_judges(&tracks, &table));
    assert_int_equal(sr_paths_create(&tracks, &table, names, 3, most, &paths), 0);
    assert_int_equal(paths.count, 1);
    assert_true(paths.together);
    assert_int_equal(paths.bodies, origin < 0 ? 3 : 2);
    assert_true(paths.rows <= most);
    assert_int_equal(sr_expr_parse(NULL, "41.3*m1*m2*r^(-2.0123)", names, 3, &expr), 0);
    sr_form_make(&expr, &form);
    assert_int_equal(sr_arcs_fit_whole(&paths, 5, 0, &form, paths.state, &fit), 0);
    const double spare = (double)(fit.numbers - fit.starts) - 2, misfit = sqrt(fit.chi2 / spare);
    print_message("origin %d, %zu rows: %.5f +- %.2g, %.6f +- %.2g, residual %.3f\n", origin,
                  paths.rows, fit.value[0], fit.u.error[0], fit.value[1], fit.u.error[1], misfit);
    assert_true(fit.whole && fit.converged);
    assert_true(fabs(misfit - 1) < 0.15);
    assert_true(fabs(fit.value[0] - amplitude) < 4 * fit.u.error[0]);
    assert_true(fabs(fit.value[1] - power) < 4 * fit.u.error[1]);
    assert_true(fit.u.error[0] < 0.02 && fit.u.error[1] < 0.001);
    sr_paths_free(&paths);
    sr_motion_free(&table);
    sr_tracks_free(&tracks);
}

TEST(three_bodies_in_an_inertial_frame)
{
    law_follows(-1, 1000);
}

/* The frame of a body is accelerated, be it the first, the last or the lightest. */
TEST(two_bodies_relative_to_a_third)
{
    law_follows(0, 1000);
    law_follows(1, 1000);
    law_follows(2, 1000);
}

TEST(long_systems_are_cut)
{
    law_follows(-1, 200);
}

/* Nothing is judged where a body is not known at the times of the others, or where two rest. */
TEST(paths_need_common_times)
{
    struct sr_tracks tracks;
    struct sr_motion_table table = {0};
    make(&tracks, 0, 1e-4);
    assert_int_equal(sr_motion_make(&tracks, NULL, 2, &table), 0);
    assert_true(sr_motion_judges(&tracks, &table));
    tracks.track[1].t[ROWS - 1] += 1e-3;
    assert_false(sr_motion_judges(&tracks, &table));
    tracks.track[1].t[ROWS - 1] -= 1e-3;
    tracks.track[1].t[ROWS - 1] = tracks.track[0].t[ROWS - 1];
    assert_true(sr_motion_judges(&tracks, &table));
    memset(tracks.track[1].x, 0, DIMS * ROWS * sizeof(double));
    assert_false(sr_motion_judges(&tracks, &table));
    sr_motion_free(&table);
    sr_tracks_free(&tracks);
}

/* Of exact rows that follow m1 m2 / r^2 but for a share of them, the law itself is followed first
 * as long as no paths could tell that share. */
static double preferred_nats(const char *text, double share)
{
    enum { FORCES = 60 };
    double x[3 * FORCES], y[FORCES], weight[FORCES], work[4 * FORCES];
    struct sr_expr expr;
    struct sr_form form;
    for (int k = 0; k < FORCES; k++) {
        const double r = x[k] = 0.4 + 0.2 * k, a = x[FORCES + k] = 3e-4,
                     b = x[2 * FORCES + k] = 1e-7 * (1 + k % 5);
        y[k] = a * b / (r * r) * (1 - share / r);
        weight[k] = r * r * r * r / (a * b);
    }
    const struct sr_data data = {.rows = FORCES, .features = 3, .x = x, .y = y, .weight = weight};
    assert_int_equal(sr_expr_parse(NULL, text, names, 3, &expr), 0);
    sr_form_make(&expr, &form);
    return sr_form_nats(&data, &form, sr_form_fit(&data, 8, &form, work));
}

TEST(laws_that_differ_less_than_paths_can_tell_are_followed_by_their_length)
{
    static const char *const law = "m1 * m2 / r^2", *const longer =
                                                        "m1 * m2 / r^2 * (0.99999999 - 1e-9 / r)";
    assert_true(preferred_nats(law, 3e-8) < preferred_nats(longer, 3e-8));
    assert_true(preferred_nats(law, 1e-5) > preferred_nats(longer, 1e-5));
}

TESTS(NULL, NULL)
