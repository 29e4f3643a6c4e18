/* test_track.c - paths of planets against circles and ellipses whose errors are known in closed
 * form, and against the simulator's own sequences. */
#include "finetune/tiny.h"

#include "probe/planets/track.h"

#include <gsl/gsl_math.h>

static struct probe_arena arena;

#define assert_near(found, expected, tolerance)                                                    \
    assert_true(fabs((found) - (expected)) <= (tolerance))

enum { STEPS = 49, ORBIT = 40 };

/* ------------------------------------------------------------------------- made-up planets */

static struct {
    double a_au, e, mass, inclination_rad, node_rad, speed, wave_au;
} made;

static double period_yr(void)
{
    return sim_period_yr(made.a_au, 1 + made.mass);
}

/* Turns a place in the orbit's own plane into space. */
static void incline(const double flat[3], double place[3])
{
    const double ci = cos(made.inclination_rad), si = sin(made.inclination_rad);
    const double cn = cos(made.node_rad), sn = sin(made.node_rad);
    const double y = ci * flat[1] - si * flat[2];
    place[0] = cn * flat[0] - sn * y;
    place[1] = sn * flat[0] + cn * y;
    place[2] = si * flat[1] + ci * flat[2];
}

/* A circle, `speed` times as fast as Kepler's, with a wave of z. */
static int circle(int planet, double t_yr, double place[3])
{
    const double angle = 0.385 + made.speed * 2 * M_PI * t_yr / period_yr();
    const double flat[3] = {made.a_au * cos(angle), made.a_au * sin(angle),
                            made.wave_au * sin(2 * angle)};
    (void)planet;
    incline(flat, place);
    return 0;
}

static int ellipse(int planet, double t_yr, double place[3])
{
    const struct sim_elements el = {
        .a_au = made.a_au, .e = made.e, .omega_rad = 0.7, .phase_rad = 2.385};
    /* the phase at t: one step of length t from the phase at 0 */
    double state[8];
    assert_int_equal(sim_orbit_states(&el, 1 + made.mass, t_yr, 2, state), 0);
    const double flat[3] = {state[4], state[5], 0};
    (void)planet;
    incline(flat, place);
    return 0;
}

/* In space a track keeps the frame of the places: the distances of all predictors are those of the
 * plane. */
TEST(test_space)
{
    struct probe_track flat, t, orbit;
    float rows[3 * (1 + 2 * STEPS)];
    double place[3], at[3];
    made.a_au = 1.7321, made.e = 0.2385, made.mass = 0.00385, made.speed = 1, made.wave_au = 0;
    made.inclination_rad = 0.922, made.node_rad = 0.84;
    const double dt = period_yr() / ORBIT;
    assert_int_equal(probe_track_make(&arena, &flat, 2, 0, made.mass, STEPS, ORBIT, dt, ellipse),
                     0);
    assert_int_equal(probe_track_make(&arena, &t, 3, 0, made.mass, STEPS, ORBIT, dt, ellipse), 0);
    assert_int_equal(probe_track_osculate(&arena, &orbit, &t), 0);
    assert_near(t.scale_au, flat.scale_au, 1e-14);
    probe_track_rows(&t, rows);
    assert_true(rows[0] == (float)orr_log(dt) && rows[1] == 0 && rows[2] == 0);
    for (int k = 0; k < STEPS; k++) {
        assert_int_equal(ellipse(0, k * dt, place), 0);
        assert_memory_equal(t.state + 6 * k, place, sizeof place);
        probe_track_place(&orbit, k, at);
        for (int c = 0; c < 3; c++) {
            const double unit = place[c] / ((1 + made.mass) * t.scale_au);
            assert_near(at[c], unit, 1e-7); /* of a velocity by differences */
            assert_near((double)rows[3 * (1 + 2 * k) + c], unit, 1e-7);
            assert_near((double)rows[3 * (2 + 2 * k) + c], -made.mass * unit, 1e-9);
        }
    }
    for (int k = 1; k < STEPS; k++) {
        assert_near(probe_track_stays(&t, k), probe_track_stays(&flat, k), 1e-14);
        assert_near(probe_track_osculates(&t, k), 0, 1e-8);
    }
    probe_rewind(&arena, 0);
}

TEST(test_circle)
{
    struct probe_track t;
    for (int retrograde = 0; retrograde < 2; retrograde++) {
        made.a_au = 1.7321, made.e = 0, made.mass = 0.00385, made.speed = 1, made.wave_au = 0;
        made.inclination_rad = retrograde ? 2.61 : 0.31, made.node_rad = 1.17;
        const double dt = period_yr() / ORBIT, w = 2 * M_PI / period_yr();
        assert_int_equal(probe_track_make(&arena, &t, 2, 0, made.mass, STEPS, ORBIT, dt, circle),
                         0);
        assert_near(t.scale_au, made.a_au, 1e-14);
        assert_near(t.out_of_plane, 0, 1e-12);
        for (int k = 0; k < STEPS; k++) {
            const double *s = t.state + 4 * k;
            assert_near(hypot(s[0], s[1]), made.a_au, 1e-12);
            /* counter-clockwise, at Kepler's speed; differences err by (w dt / 8)^6 / 140 */
            assert_near(s[2], -w * s[1], 1e-11);
            assert_near(s[3], w * s[0], 1e-11);
        }
        for (int k = 1; k < STEPS; k++) {
            /* a chord, around the barycentre in units of the distance from the star */
            assert_near(probe_track_stays(&t, k), 2 * sin(M_PI / ORBIT) / (1 + made.mass), 1e-12);
            assert_near(probe_track_osculates(&t, k), 0, 1e-11);
        }
        probe_rewind(&arena, 0);
    }
}

/* The x axis of the plane is the projection of that of space: of an orbit in the plane of x and y,
 * x itself, whatever the planet's first place. */
TEST(test_axes)
{
    struct probe_track t;
    made.a_au = 0.77, made.mass = 0, made.speed = 1, made.wave_au = 0;
    made.inclination_rad = made.node_rad = 0;
    assert_int_equal(probe_track_make(&arena, &t, 2, 0, 0, 3, ORBIT, period_yr() / ORBIT, circle),
                     0);
    assert_near(t.state[0], 0.77 * cos(0.385), 1e-14);
    assert_near(t.state[1], 0.77 * sin(0.385), 1e-14);
    probe_rewind(&arena, 0);
    made.inclination_rad = 0.4; /* about the x axis: x stays */
    assert_int_equal(probe_track_make(&arena, &t, 2, 0, 0, 3, ORBIT, period_yr() / ORBIT, circle),
                     0);
    assert_near(t.state[0], 0.77 * cos(0.385), 1e-13);
    assert_near(t.state[1], 0.77 * sin(0.385), 1e-13);
    probe_rewind(&arena, 0);
}

/* An osculating orbit of a planet that is too fast on its circle bends too little: by
 * (speed^2 - 1) a (w dt)^2 / 2 to the second order in dt. */
TEST(test_wrong_speed)
{
    struct probe_track t;
    made.a_au = 5.2, made.mass = 0.001, made.speed = 1.013, made.wave_au = 0;
    made.inclination_rad = 0.02, made.node_rad = 4.1;
    const double dt = period_yr() / 400, turn = 2 * M_PI / 400;
    const double bend = (made.speed * made.speed - 1) * turn * turn / 2 / (1 + made.mass);
    assert_int_equal(probe_track_make(&arena, &t, 2, 0, made.mass, STEPS, 400, dt, circle), 0);
    for (int k = 1; k < STEPS; k++)
        assert_near(probe_track_osculates(&t, k) / bend, 1, 2e-3);
    probe_rewind(&arena, 0);
}

TEST(test_ellipse)
{
    struct probe_track t, orbit;
    made.a_au = 0.387, made.e = 0.2385, made.mass = 1.7e-4;
    made.inclination_rad = 0.122, made.node_rad = 0.84;
    const double dt = period_yr() / ORBIT;
    assert_int_equal(probe_track_make(&arena, &t, 2, 0, made.mass, STEPS, ORBIT, dt, ellipse), 0);
    assert_int_equal(probe_track_osculate(&arena, &orbit, &t), 0);
    for (int k = 1; k < STEPS; k++) {
        assert_near(probe_track_osculates(&t, k), 0, 1e-8);
        assert_near(orbit.state[4 * k], t.state[4 * k], 1e-7);
        assert_near(orbit.state[4 * k + 3], t.state[4 * k + 3], 1e-5);
    }
    assert_near(orbit.scale_au, t.scale_au, 0);
    probe_rewind(&arena, 0);
}

/* z = h sin 2 w t adds nothing to the mean plane of a whole orbit. */
TEST(test_out_of_plane)
{
    struct probe_track t;
    made.a_au = 2, made.mass = 0, made.speed = 1, made.wave_au = 0.002;
    made.inclination_rad = 0.9, made.node_rad = 2.2;
    assert_int_equal(
        probe_track_make(&arena, &t, 2, 0, 0, ORBIT, ORBIT, period_yr() / ORBIT, circle), 0);
    assert_true(t.out_of_plane > 0.98e-3 && t.out_of_plane <= 1e-3);
    probe_rewind(&arena, 0);
}

/* ------------------------------------------------------------------------------- the simulator */

static struct sim_system drawn;

static int simulated(int planet, double t_yr, double place[3])
{
    double state[8];
    (void)planet;
    assert_int_equal(sim_orbit_states(&drawn.orbit[0], drawn.mass[0] + 1, t_yr, 2, state), 0);
    place[0] = state[4], place[1] = state[5], place[2] = 0;
    return 0;
}

TEST(test_rows)
{
    struct orr_settings settings;
    struct sim_sequence q;
    struct probe_track t;
    float rows[2 * (1 + 2 * 25)];
    tiny_preset(&settings, false);
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    assert_int_equal(sim_sequence_create(&q, &settings, SIM_SPLIT_PLANETS_SOLAR), 0);
    for (uint64_t i = 0; i < SIM_SUN_PLANETS; i++) {
        assert_int_equal(sim_system_draw(&settings, SIM_SPLIT_PLANETS_SOLAR, i, rng, &drawn), 0);
        assert_int_equal(sim_sequence_make(&q, &settings, SIM_SPLIT_PLANETS_SOLAR, i), 0);
        assert_int_equal(
            probe_track_make(&arena, &t, 2, 0, drawn.mass[0], 25, 40, drawn.dt_yr, simulated), 0);
        probe_track_rows(&t, rows);
        assert_int_equal(q.positions, 51);
        for (int k = 0; k < 2 * q.positions; k++)
            assert_near((double)rows[k], (double)q.coords[k], 3e-7);
        assert_near(t.scale_au / (double)q.scale, 1, 1e-7);
        probe_rewind(&arena, 0);
    }
    sim_sequence_free(&q);
    gsl_rng_free(rng);
}

/* ------------------------------------------------------------------------------------ errors */

static int straight(int planet, double t_yr, double place[3])
{
    (void)planet;
    place[0] = 1 + t_yr, place[1] = 2 * (1 + t_yr), place[2] = 0;
    return 0;
}

static int unknown(int planet, double t_yr, double place[3])
{
    (void)t_yr, (void)place;
    return ORR_FAIL(ORR_EMISSING, "no planet %d", planet);
}

TEST(test_errors)
{
    struct probe_track t;
    assert_int_equal(probe_track_make(&arena, &t, 2, 0, 0, STEPS, ORBIT, 0.1, straight), ORR_EDOM);
    assert_non_null(strstr(orr_error(), "no plane"));
    assert_int_equal(probe_track_make(&arena, &t, 2, 7, 0, STEPS, ORBIT, 0.1, unknown),
                     ORR_EMISSING);
    assert_non_null(strstr(orr_error(), "no planet 7"));
    probe_rewind(&arena, 0); /* what failed is the arena's, too */
    assert_null(arena.block);
}

TESTS(NULL, NULL)
