/* test_orbit_fit.c - orbits from places: against the closed form, with and without noise. */
#include <math.h>
#include <stdlib.h>

#include "testing.h"

#include "model/evaluate/orbit_fit.h"
#include "model/evaluate/orbit_plane.h"
#include "sim/sim.h"

enum { STEPS = 16 };

static void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("expected %.12g within %.3g, found %.12g", expected, tolerance, found);
}

static const struct sim_elements orbits[] = {{1, 0, 0, 0.3, false, false, 0, 0},
                                             {0.8, 0.5, 2.2, 3.0, false, false, 0, 0},
                                             {2.1, 0.85, -1.0, 0.2, true, false, 0, 0},
                                             {1.5, 0.1, 0.7, 5.5, false, false, 0, 0}};
enum { ORBITS = sizeof orbits / sizeof *orbits };

/* Places of planet and star around a barycentre that is not the origin. */
static void places_of(const struct sim_elements *el, double m1, double m2, double dt,
                      double place[(STEPS + 1) * 4])
{
    double state[4 * (STEPS + 1)];
    assert_int_equal(sim_orbit_states(el, m1 + m2, dt, STEPS + 1, state), 0);
    for (int k = 0; k <= STEPS; k++)
        for (int c = 0; c < 2; c++) {
            const double centre = c ? -0.03 : 0.05, r = state[4 * k + c];
            place[4 * k + c] = centre + m2 / (m1 + m2) * r;
            place[4 * k + 2 + c] = centre - m1 / (m1 + m2) * r;
        }
}

TEST(advance_is_the_closed_form)
{
    for (int i = 0; i < ORBITS; i++) {
        double states[4 * 3], moved[4];
        assert_int_equal(sim_orbit_states(&orbits[i], 1.7, 0.9, 3, states), 0);
        for (int k = 0; k < 4; k++)
            moved[k] = states[k];
        for (int step = 1; step < 3; step++) {
            assert_true(gpt_orbit_advance(1.7 * SIM_G, 0.9, 2, moved));
            for (int k = 0; k < 4; k++)
                assert_near(moved[k], states[4 * step + k], 1e-10);
        }
    }
    /* unbound, and so slow that it is nearly parabolic: energy and angular momentum stay */
    for (int i = 0; i < 2; i++) {
        double s[4] = {1, 0.2, i ? 3 : 0.1, i ? 9 : sqrt(2 * SIM_G / 1.02)};
        const double energy = 0.5 * (s[2] * s[2] + s[3] * s[3]) - SIM_G / hypot(s[0], s[1]);
        const double momentum = s[0] * s[3] - s[1] * s[2];
        assert_true(gpt_orbit_advance(SIM_G, 0.7, 2, s));
        assert_near(0.5 * (s[2] * s[2] + s[3] * s[3]) - SIM_G / hypot(s[0], s[1]), energy, 1e-9);
        assert_near(s[0] * s[3] - s[1] * s[2], momentum, 1e-11);
    }
}

/* Three places of both bodies determine the orbit, whatever was assumed. */
TEST(places_determine_the_next)
{
    const struct gpt_orbit_prior prior = gpt_orbit_wide_prior();
    for (int i = 0; i < ORBITS; i++)
        for (int steps = 4; steps <= STEPS; steps += 4) {
            double place[(STEPS + 1) * 4], p[GPT_ORBIT_PARAMETERS], next[2];
            places_of(&orbits[i], 0.6, 1.1, 0.04, place);
            assert_int_equal(gpt_orbit_fit(steps, place, 1e-7, &prior, p, false, next), 0);
            for (int c = 0; c < 2; c++)
                assert_near(next[c], place[4 * steps + c], 2e-6);
            if (steps == STEPS) {
                const double r = hypot(place[0] - place[2], place[1] - place[3]);
                assert_near(exp(p[GPT_ORBIT_RATE]) * r * r * r / (0.04 * 0.04), 1.7 * SIM_G,
                            1e-3 * SIM_G);
                assert_near(p[GPT_ORBIT_SHARE], 1.1 / 1.7, 1e-4);
            }
        }
}

/* In space the orbit is fitted by the coordinates of its plane, wherever that lies. */
TEST(places_in_space_determine_the_next)
{
    const struct gpt_orbit_prior prior = gpt_orbit_wide_prior();
    static const double ci = 0.453596, si = 0.891207, cn = -0.227202, sn = 0.973848;
    for (int i = 0; i < ORBITS; i++) {
        double flat[(STEPS + 1) * 4], place[(STEPS + 1) * 6], found[4 * STEPS];
        double p[GPT_ORBIT_PARAMETERS], next[2], at[3];
        places_of(&orbits[i], 0.6, 1.1, 0.04, flat);
        for (int k = 0; k < 2 * (STEPS + 1); k++) {
            const double x = flat[2 * k], y = ci * flat[2 * k + 1];
            place[3 * k] = cn * x - sn * y + 0.3; /* and not through the origin */
            place[3 * k + 1] = sn * x + cn * y - 0.2;
            place[3 * k + 2] = si * flat[2 * k + 1] + 0.77;
        }
        const struct gpt_orbit_plane plane = gpt_orbit_flatten(3, STEPS, place, found);
        for (int k = 0; k < 2 * STEPS; k++) {
            gpt_orbit_lift(&plane, found + 2 * k, plane.height, at);
            for (int c = 0; c < 3; c++)
                assert_near(at[c], place[3 * k + c], 1e-5);
        }
        assert_int_equal(gpt_orbit_fit(STEPS, found, 1e-7, &prior, p, false, next), 0);
        gpt_orbit_lift(&plane, next, plane.height, at);
        for (int c = 0; c < 3; c++)
            assert_near(at[c], place[6 * STEPS + c], 1e-5);
        assert_near(p[GPT_ORBIT_SHARE], 1.1 / 1.7, 1e-4);
    }
}

/* One place leaves all open: the prior's circle is followed. Two leave the mass. */
TEST(few_places_follow_the_prior)
{
    struct gpt_orbit_prior prior = gpt_orbit_wide_prior();
    const double dt = 0.04, mu = 1.7 * SIM_G;
    double place[(STEPS + 1) * 4], p[GPT_ORBIT_PARAMETERS], next[2];
    places_of(&orbits[0], 0.6, 1.1, dt, place);
    prior.mean[GPT_ORBIT_RATE] = log(mu * dt * dt);
    prior.mean[GPT_ORBIT_SHARE] = 1.1 / 1.7;
    prior.sd[GPT_ORBIT_CX] = prior.sd[GPT_ORBIT_CY] = 0.1;
    assert_int_equal(gpt_orbit_fit(1, place, 1e-7, &prior, p, false, next), 0);
    for (int c = 0; c < 2; c++)
        assert_near(next[c], place[4 + c], 0.02);
    const double moved = hypot(place[4] - place[0], place[5] - place[1]);
    assert_true(hypot(next[0] - place[4], next[1] - place[5]) < 0.2 * moved);
    assert_int_equal(gpt_orbit_fit(2, place, 1e-7, &prior, p, false, next), 0);
    assert_true(hypot(next[0] - place[8], next[1] - place[9]) < 0.02 * moved);
}

/* Where orbits go both ways, two places tell which, and what is expected of the one that goes
 * clockwise is the mirror image of what is expected of the other. */
TEST(directions_are_alike)
{
    enum { N = 40 };
    double p[N][GPT_ORBIT_PARAMETERS];
    struct gpt_orbit_prior prior = gpt_orbit_wide_prior();
    assert_false(prior.both_ways);
    for (int few = 1; few <= 2; few++) { /* a fortieth, and a twentieth */
        for (int i = 0; i < N; i++)
            for (int k = 0; k < GPT_ORBIT_PARAMETERS; k++)
                p[i][k] = (k == GPT_ORBIT_VY ? 1.25 : 0.5) * (i < few ? -1 : 1);
        gpt_orbit_prior_turn(N, p, &prior);
        assert_int_equal(prior.both_ways, few == 2);
        assert_false(prior.most_clockwise);
        assert_near(p[0][GPT_ORBIT_VY], few == 2 ? 1.25 : -1.25, 0);
        assert_near(p[0][GPT_ORBIT_CY], few == 2 ? 0.5 : -0.5, 0);
        assert_near(p[0][GPT_ORBIT_VX], -0.5, 0);
    }
    prior.mean[GPT_ORBIT_VY] = 1.1;
    prior.sd[GPT_ORBIT_VY] = 0.12;
    prior.sd[GPT_ORBIT_CX] = prior.sd[GPT_ORBIT_CY] = 0.1;
    for (int i = 0; i < ORBITS; i++) {
        double place[2][(STEPS + 1) * 4], next[2][2], error[2];
        places_of(&orbits[i], 0.6, 1.1, 0.04, place[0]);
        for (int k = 0; k < (STEPS + 1) * 4; k++)
            place[1][k] = k % 2 ? -place[0][k] : place[0][k];
        for (int steps = 1; steps <= 3; steps++) {
            for (int k = 0; k < 2; k++) {
                assert_int_equal(gpt_orbit_fit(steps, place[k], 1e-7, &prior, p[0], false, next[k]),
                                 0);
                error[k] =
                    hypot(next[k][0] - place[k][4 * steps], next[k][1] - place[k][4 * steps + 1]);
            }
            if (steps > 1)
                assert_near(error[0], error[1], 0.06 * error[0] + 1e-6); /* forward differences */
        }
        for (int k = 0; k < 2; k++) { /* before the second place: as most go */
            prior.most_clockwise = k;
            assert_int_equal(gpt_orbit_fit(1, place[0], 1e-7, &prior, p[0], false, next[k]), 0);
        }
        const double dx = place[0][0] - place[0][2], dy = place[0][1] - place[0][3];
        for (int k = 0; k < 2; k++) /* seen from the star, to the left or to the right */
            assert_true((dx * (next[k][1] - place[0][1]) - dy * (next[k][0] - place[0][0]) < 0) ==
                        k);
    }
}

/* Noise of 0.002 in every place: the extrapolation is off by little more. */
TEST(noise_is_averaged)
{
    const struct gpt_orbit_prior prior = gpt_orbit_wide_prior();
    double sum = 0;
    int n = 0;
    for (int i = 0; i < ORBITS; i++)
        for (int draw = 0; draw < 20; draw++) {
            double place[(STEPS + 1) * 4], p[GPT_ORBIT_PARAMETERS], next[2];
            places_of(&orbits[i], 0.6, 1.1, 0.04, place);
            const double true_next[2] = {place[4 * STEPS], place[4 * STEPS + 1]};
            for (int k = 0; k < STEPS * 4; k++) {
                const uint64_t bits =
                    orr_rng_hash(1, ORR_STAGE_INIT, (uint64_t)(20 * i + draw), (uint64_t)k);
                place[k] += 0.002 * sqrt(12) * ((double)(bits >> 11) * 0x1p-53 - 0.5);
            }
            assert_int_equal(gpt_orbit_fit(STEPS, place, 0.002, &prior, p, false, next), 0);
            sum += hypot(next[0] - true_next[0], next[1] - true_next[1]);
            n++;
        }
    assert_true(sum / n < 0.004);
    assert_true(sum / n > 0.0005); /* noise was there */
}

TEST(one_place_for_both_is_an_error)
{
    const struct gpt_orbit_prior prior = gpt_orbit_wide_prior();
    const double place[4] = {1, 2, 1, 2};
    double p[GPT_ORBIT_PARAMETERS], next[2];
    assert_int_equal(gpt_orbit_fit(1, place, 1e-3, &prior, p, false, next), ORR_EDOM);
}

TESTS(NULL, NULL)
