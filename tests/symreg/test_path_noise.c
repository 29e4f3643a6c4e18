/* test_path_noise.c - paths of which one was smoothed badly: its velocities, or its noise. */
#include "symreg/motion/arcs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>

#include "testing.h"

enum { PATHS = 12, ROWS = 40, BAD = 3, DIMS = 2, STATES = 4 };
static const double GM = 39.5, step = 0.09, noise = 1e-3;

struct made {
    struct sr_paths paths;
    struct sr_path path[PATHS];
    struct sr_pair pair[PATHS];
    double t[ROWS], x[PATHS][DIMS * ROWS], sigma[PATHS], extent[PATHS], chi2[PATHS], sorted[PATHS];
    double state[PATHS * ROWS * STATES];
};

/* Orbits of one body with eccentricities of 0.5 to 0.9, some ten rows each. */
static void make(struct made *m)
{
    gsl_rng *rng = orr_rng_create(3, ORR_STAGE_TEST_SUITE, 75);
    *m = (struct made){.paths = {.dims = DIMS,
                                 .features = 1,
                                 .column = {0, -1, -1},
                                 .count = PATHS,
                                 .bodies = PATHS,
                                 .rows = PATHS * ROWS,
                                 .states = PATHS * ROWS * STATES}};
    m->paths.path = m->path;
    m->paths.state = m->state;
    m->paths.chi2 = m->chi2;
    m->paths.sorted = m->sorted;
    for (int k = 0; k < PATHS; k++) {
        const double e = 0.5 + 0.4 * k / (PATHS - 1), far = 1 + e, slow = sqrt(GM * (1 - e) / far);
        double y[STATES] = {-far * cos(k), far * sin(k), slow * sin(k), slow * cos(k)};
        m->pair[k] = (struct sr_pair){.b = -1, .m1 = 1, .m2 = 1, .share_a = 1};
        m->path[k] = (struct sr_path){.n = ROWS,
                                      .bodies = 1,
                                      .pairs = 1,
                                      .from = (size_t)k * ROWS * STATES,
                                      .t = m->t,
                                      .x = m->x[k],
                                      .sigma = &m->sigma[k],
                                      .extent = &m->extent[k],
                                      .size = 1,
                                      .pair = &m->pair[k]};
        m->sigma[k] = noise;
        m->extent[k] = 1;
        for (int i = 0; i < ROWS; i++) {
            m->t[i] = i * step;
            memcpy(m->state + (k * ROWS + i) * STATES, y, sizeof y);
            for (int d = 0; d < DIMS; d++)
                m->x[k][d * ROWS + i] = y[d] + gsl_ran_gaussian(rng, noise);
            for (int s = 0; s < 20000; s++) { /* leapfrog */
                const double h = step / 20000, mid[2] = {y[0] + h / 2 * y[2], y[1] + h / 2 * y[3]};
                const double r = hypot(mid[0], mid[1]);
                for (int d = 0; d < DIMS; d++) {
                    y[2 + d] -= h * GM * mid[d] / (r * r * r);
                    y[d] = mid[d] + h / 2 * y[2 + d];
                }
            }
        }
    }
    gsl_rng_free(rng);
}

static void make_form(struct sr_form *form)
{
    static const char *const names[] = {"r"};
    struct sr_expr expr;
    assert_int_equal(sr_expr_parse(NULL, "39.4/(r*r)", names, 1, &expr), 0);
    sr_form_make(&expr, form);
}

/* All paths are followed although smoothing took the velocities of most rows of the path that bends
 * most. */
TEST(bad_velocities_are_replaced)
{
    struct made *m = malloc(sizeof *m);
    struct sr_form form;
    struct sr_arcs_fit fit;
    make(m);
    make_form(&form);
    for (int i = 0; i < ROWS; i++) {
        double *const y = m->state + ((PATHS - 1) * ROWS + i) * STATES;
        for (int d = 0; d < DIMS && i % 10 < 6; d++)
            y[DIMS + d] = 0;
    }
    double *solution = malloc(m->paths.states * sizeof *solution);
    memcpy(solution, m->state, m->paths.states * sizeof *solution);
    assert_int_equal(sr_arcs_fit_whole(&m->paths, 5, 0, &form, solution, &fit), 0);
    const double spare = PATHS * (ROWS * DIMS - STATES) - 1;
    assert_true(fit.whole);
    assert_true(fabs(fit.chi2 - spare) < 4 * sqrt(2 * spare));
    assert_true(fabs(fit.value[0] - GM) < 4 * fit.u.error[0]);
    free(solution);
    free(m);
}

/* Noise that was taken as a thousandth of what it is, is corrected, and no other. */
TEST(small_noise_is_corrected)
{
    struct made *m = malloc(sizeof *m);
    struct sr_form form;
    make(m);
    make_form(&form);
    const struct sr_form *const one = &form;
    m->sigma[BAD] = 1e-3 * noise;
    assert_int_equal(sr_paths_correct_noise(&m->paths, &one, 1, 0), 0);
    for (int k = 0; k < PATHS; k++)
        if (k == BAD)
            assert_true(m->sigma[k] > noise / 2 && m->sigma[k] < 2 * noise);
        else
            assert_true(m->sigma[k] == noise);
    free(m);
}

/* A path whose residuals are a hundred times as large as those of the others decides no more than
 * they do: a tenth of its chi^2 is worth as much as a tenth of any other. */
TEST(paths_have_scales_of_their_own)
{
    struct made *m = malloc(sizeof *m);
    const struct sr_arcs_fit fit = {.numbers = PATHS * ROWS * DIMS, .starts = PATHS * STATES};
    double saved[2];
    make(m);
    for (int which = 0; which < 2; which++) {
        for (int k = 0; k < PATHS; k++)
            m->chi2[k] = ROWS * DIMS * (k == BAD ? 1e4 : 1);
        const double before = sr_paths_nats(&m->paths, &fit);
        m->chi2[which ? BAD : BAD + 1] *= 0.9;
        saved[which] = before - sr_paths_nats(&m->paths, &fit);
    }
    const double expected = -0.5 * ROWS * DIMS * log(0.9);
    for (int which = 0; which < 2; which++)
        assert_true(fabs(saved[which] - expected) < 0.1 * expected);
    free(m);
}

/* Positions of single precision are followed exactly: no longer law is preferred by what rounding
 * left. What is above the rounding decides. */
TEST(rounding_decides_nothing)
{
    struct made *m = malloc(sizeof *m);
    const struct sr_arcs_fit fit = {.numbers = PATHS * ROWS * DIMS, .starts = PATHS * STATES};
    double nats[3];
    make(m);
    for (int which = 0; which < 3; which++) {
        for (int k = 0; k < PATHS; k++) {
            m->sigma[k] = 1e-6;
            m->chi2[k] = ROWS * DIMS * (which == 0 ? 1e-3 : which == 1 ? 5e-3 : 0.1);
        }
        nats[which] = sr_paths_nats(&m->paths, &fit);
    }
    assert_true(nats[0] == nats[1] && nats[2] > nats[1] + 100);
    free(m);
}

TESTS(NULL, NULL)
