/* test_motion.c - quantities of orbits against closed forms, drifts of paths whose drift is known,
 * and changes of a toy whose answer is known. */
#include "base/scratch.h"

#include <math.h>
#include <string.h>

#include "probe/orbits/motion.h"
#include "probe/orbits/quantities.h"
#include "probe/intervene/steer.h"

static struct probe_arena arena;

#define assert_near(found, expected, tolerance)                                                    \
    assert_true(fabs((found) - (expected)) <= (tolerance))

static double number(const double *all, const char *name, int component)
{
    const int q = probe_quantity_find(name);
    assert_true(q >= 0 && component < probe_quantity_size(2, q));
    return all[probe_quantity_at(2, q) + component];
}

static void force_of(const double s[6], double force[2])
{
    const double r = hypot(s[0], s[1]);
    for (int c = 0; c < 2; c++)
        force[c] = -SIM_G * s[4] * s[5] / (r * r * r) * s[c];
}

TEST(test_table)
{
    int numbers = 0;
    for (int q = 0; q < PROBE_QUANTITIES; q++) {
        assert_int_equal(probe_quantity_find(probe_quantities[q].name), q);
        assert_true(q == 0 || probe_quantities[q].kepler >= probe_quantities[q - 1].kepler);
        numbers += probe_quantities[q].size[0];
    }
    assert_int_equal(numbers, probe_numbers(2));
    assert_int_equal(probe_numbers(3), PROBE_NUMBERS);
    assert_int_equal(probe_quantity_find("phlogiston"), -1);
}

TEST(test_circle)
{
    const double a = 1.7, m1 = 0.4, m2 = 1.9, mu = SIM_G * (m1 + m2), v = sqrt(mu / a);
    const double s[6] = {0, a, -v, 0, m1, m2}; /* counter-clockwise, on +y */
    double force[2], n[PROBE_NUMBERS];
    force_of(s, force);
    assert_true(probe_quantities_of(2, s, force, n));
    assert_near(number(n, "log force", 0), log(SIM_G * m1 * m2 / (a * a)), 1e-13);
    assert_near(number(n, "force direction", 1), -1, 1e-15);
    assert_near(number(n, "acceleration", 1), -SIM_G * m2 / (a * a), 1e-12);
    assert_near(number(n, "velocity", 0), -v, 0);
    assert_near(number(n, "log distance", 0), log(a), 1e-15);
    assert_near(number(n, "1/r^2", 0), 1 / (a * a), 1e-15);
    assert_near(number(n, "log m1", 0), log(m1), 0);
    assert_near(number(n, "log m2", 0), log(m2), 0);
    assert_near(number(n, "log m1 m2", 0), log(m1 * m2), 1e-15);
    assert_near(number(n, "semi-major axis", 0), a, 1e-13);
    assert_near(number(n, "semi-minor axis", 0), a, 1e-13);
    assert_near(number(n, "eccentricity", 0), 0, 1e-14);
    assert_near(number(n, "orientation", 0), 0, 0);
    assert_near(number(n, "mean motion", 0), v / a, 1e-12);
    assert_near(number(n, "energy", 0), -mu / (2 * a), 1e-12);
    assert_near(number(n, "angular momentum", 0), a * v, 1e-12);
}

/* An ellipse anywhere on its way, by the simulator's own closed form. */
TEST(test_ellipse)
{
    const struct sim_elements el = {.a_au = 2.385, .e = 0.61, .omega_rad = 0.9, .phase_rad = 1.3};
    const double m1 = 2.1, m2 = 0.3, mu = SIM_G * (m1 + m2), e = el.e, a = el.a_au;
    double path[5][4];
    assert_int_equal(sim_orbit_states(&el, m1 + m2, 0.31, 5, &path[0][0]), 0);
    for (int k = 0; k < 5; k++) {
        const double s[6] = {path[k][0], path[k][1], path[k][2], path[k][3], m1, m2};
        double force[2], n[PROBE_NUMBERS];
        force_of(s, force);
        assert_true(probe_quantities_of(2, s, force, n));
        assert_near(number(n, "semi-major axis", 0), a, 1e-11);
        assert_near(number(n, "eccentricity", 0), e, 1e-12);
        assert_near(number(n, "semi-minor axis", 0), a * sqrt(1 - e * e), 1e-11);
        assert_near(number(n, "Runge-Lenz vector", 0), e * cos(0.9), 1e-12);
        assert_near(number(n, "Runge-Lenz vector", 1), e * sin(0.9), 1e-12);
        assert_near(number(n, "orientation", 0), cos(0.9), 1e-12);
        assert_near(number(n, "orientation", 1), sin(0.9), 1e-12);
        assert_near(number(n, "mean motion", 0),
                    2 * 3.14159265358979323846 / sim_period_yr(a, m1 + m2), 1e-11);
        assert_near(number(n, "energy", 0), -mu / (2 * a), 1e-10);
        assert_near(number(n, "angular momentum", 0), sqrt(mu * a * (1 - e * e)), 1e-10);
    }
    double n[PROBE_NUMBERS];
    const double fast[6] = {1, 0, 0, 1.001 * sqrt(2 * mu), m1, m2}; /* above the escape velocity */
    assert_false(probe_quantities_of(2, fast, (double[]){-1, 0}, n));
    assert_true(isnan(number(n, "semi-major axis", 0)) && isfinite(number(n, "log distance", 0)));
}

/* A rotation of space: columns are where x, y and z go. */
static const double frame[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};

static void rotate(const double v[2], double to[3])
{
    for (int c = 0; c < 3; c++)
        to[c] = frame[c][0] * v[0] + frame[c][1] * v[1];
}

/* In space: numbers are those of the plane, vectors are turned, and the angular momentum is a
 * vector along the normal. */
TEST(test_space)
{
    const double s[6] = {1.2, -0.4, 1.9, 4.4, 0.4, 1.9};
    double t[8] = {[6] = 0.4, [7] = 1.9}, force[2], pull[3], n[PROBE_NUMBERS], m[PROBE_NUMBERS];
    force_of(s, force);
    rotate(s, t);
    rotate(s + 2, t + 3);
    rotate(force, pull);
    assert_true(probe_quantities_of(2, s, force, n));
    assert_true(probe_quantities_of(3, t, pull, m));
    for (int q = 0; q < PROBE_QUANTITIES; q++) {
        const double *flat = n + probe_quantity_at(2, q), *tall = m + probe_quantity_at(3, q);
        double expected[3] = {flat[0], 0, 0};
        if (probe_quantity_size(2, q) == 2)
            rotate(flat, expected);
        else if (probe_quantity_size(3, q) == 3)
            for (int c = 0; c < 3; c++)
                expected[c] = flat[0] * frame[c][2];
        for (int c = 0; c < probe_quantity_size(3, q); c++)
            if (!(fabs(tall[c] - expected[c]) < 1e-11))
                fail_msg("%s %d: expected %g, found %g", probe_quantities[q].name, c, expected[c],
                         tall[c]);
    }
}

/* ------------------------------------------------------------------------------------ drifts */

enum { STEPS = 9 };
static const double dt_yr = 0.07;

/* Path of both bodies, the second one moving too. */
static void fill_path(double *path, double (*place)(double t, int c))
{
    memset(path, 0, (size_t)(1 + 2 * STEPS) * 2 * sizeof *path);
    for (int k = 0; k < STEPS; k++)
        for (int c = 0; c < 2; c++) {
            const double t = k * dt_yr, star = 0.3 * t * t - c;
            path[2 * (2 + 2 * k) + c] = star;
            path[2 * (1 + 2 * k) + c] = star + place(t, c);
        }
}

static double straight(double t, int c)
{
    return c ? 0.4 - 0.9 * t : 1.5 + 2.385 * t;
}

static double quartic(double t, int c)
{
    return c ? 1 + t * t * t * t : 2 * t - t * t * t;
}

TEST(test_differences)
{
    double path[(1 + 2 * STEPS) * 2], s[4];
    fill_path(path, quartic);
    for (int k = PROBE_REACH; k < STEPS - PROBE_REACH; k++) {
        const double t = k * dt_yr;
        probe_path_state(path, 2, k, dt_yr, s);
        assert_near(s[0], quartic(t, 0), 1e-14);
        assert_near(s[1], quartic(t, 1), 1e-14);
        assert_near(s[2], 2 - 3 * t * t, 1e-12);
        assert_near(s[3], 4 * t * t * t, 1e-12);
    }
}

/* A body that goes straight on keeps its angular momentum, and gains energy as it climbs. */
TEST(test_constant_velocity)
{
    const double mu = 31, truth[4] = {1.5, 0.4, 2.385, -0.9};
    double path[(1 + 2 * STEPS) * 2], drift[PROBE_DRIFTS];
    fill_path(path, straight);
    const double r0 = hypot(1.5, 0.4), kinetic = (2.385 * 2.385 + 0.9 * 0.9) / 2;
    for (int k = PROBE_REACH; k < STEPS - PROBE_REACH; k++) {
        const double x = straight(k * dt_yr, 0), y = straight(k * dt_yr, 1), r = hypot(x, y);
        probe_drift(mu, 2, truth, path, k, dt_yr, drift);
        assert_near(drift[0], (mu / r0 - mu / r) / (mu / r0 - kinetic), 1e-12);
        assert_near(drift[1], 0, 1e-12);
        /* v x h stays, so that the vector turns as the place does */
        assert_near(drift[2], hypot(x / r - 1.5 / r0, y / r - 0.4 / r0), 1e-12);
    }
}

/* Drifts of a path in space are those of the path in the plane. */
TEST(test_drifts_in_space)
{
    const double mu = 31, truth[4] = {1.5, 0.4, 2.385, -0.9};
    double path[(1 + 2 * STEPS) * 2], tall[(1 + 2 * STEPS) * 3], turned[6];
    fill_path(path, quartic);
    for (int row = 0; row < 1 + 2 * STEPS; row++)
        rotate(path + 2 * row, tall + 3 * row);
    rotate(truth, turned);
    rotate(truth + 2, turned + 3);
    for (int k = PROBE_REACH; k < STEPS - PROBE_REACH; k++) {
        double flat[PROBE_DRIFTS], drift[PROBE_DRIFTS];
        probe_drift(mu, 2, truth, path, k, dt_yr, flat);
        probe_drift(mu, 3, turned, tall, k, dt_yr, drift);
        for (int d = 0; d < PROBE_DRIFTS; d++)
            assert_near(drift[d], flat[d], 1e-10 * (1 + flat[d]));
    }
    /* a motion that leaves the plane drifts, though its size stays */
    for (int row = 0; row < 1 + 2 * STEPS; row++)
        for (int c = 0; c < 3; c++)
            tall[3 * row + c] = c == 2 ? 0 : path[2 * row + c];
    double flat[PROBE_DRIFTS], drift[PROBE_DRIFTS];
    probe_drift(mu, 2, truth, path, PROBE_REACH, dt_yr, flat);
    probe_drift(mu, 3, turned, tall, PROBE_REACH, dt_yr, drift);
    assert_true(drift[1] > flat[1] + 0.1);
}

TEST(test_prefix)
{
    for (int T = 4; T < 70; T++) {
        const int prefix = probe_prefix(T);
        assert_true(prefix % 2 == 1 && prefix < T && abs(2 * prefix - T) <= 2);
    }
    assert_int_equal(probe_prefix(32), 17);
}

/* ----------------------------------------------------------------------------------- changes */

static struct probe_orbit some_orbit(int i)
{
    const double turn = 0.7 * i, mu = SIM_G * (1 + 0.1 * i), r = 1 + 0.05 * i;
    const double v = sqrt(mu / r) * (0.8 + 0.02 * i), slant = 0.3;
    return (struct probe_orbit){.mu = mu,
                                .state = {r * cos(turn), r * sin(turn),
                                          v * (-sin(turn) + slant * cos(turn)),
                                          v * (cos(turn) + slant * sin(turn))},
                                .share = 0.6,
                                .barycentre = {0.2, -0.1},
                                .axes = 2,
                                .dt_yr = 1e-5};
}

/* The orbit turned out of the plane: about x, then about z. */
static struct probe_orbit turned_orbit(int i)
{
    const struct probe_orbit flat = some_orbit(i);
    struct probe_orbit o = flat;
    const double ci = cos(0.7), si = sin(0.7), cn = cos(2.3), sn = sin(2.3);
    o.axes = 3;
    for (int k = 0; k < 2; k++) {
        const double x = flat.state[2 * k], y = flat.state[2 * k + 1];
        o.state[3 * k] = cn * x - sn * ci * y;
        o.state[3 * k + 1] = sn * x + cn * ci * y;
        o.state[3 * k + 2] = si * y;
    }
    return o;
}

/* Every change of an orbit by 31% moves its own quantity alone. */
static void change_orbit(const struct probe_orbit *was, enum probe_change change)
{
    const int d = was->axes;
    struct probe_orbit is = *was;
    const double by = 0.31 * probe_change_value(was, change);
    assert_true(probe_change_orbit(&is, change, by));
    const double *a = was->state, *b = is.state;
    assert_memory_equal(a, b, (size_t)d * sizeof *a);
    if (change == PROBE_CHANGE_PULL) {
        assert_near(is.mu / was->mu, 1.31, 1e-14);
        assert_memory_equal(a, b, 2 * (size_t)d * sizeof *a);
        return;
    }
    assert_true(is.mu == was->mu);
    assert_near(probe_change_value(&is, change), probe_change_value(was, change) + by,
                1e-13 * fabs(by));
    if (change != PROBE_CHANGE_MOMENTUM)
        return;
    /* the radial velocity stays, and in space the plane */
    assert_near(sim_dot(a, b + d, d) / sim_dot(a, a, d), sim_dot(a, a + d, d) / sim_dot(a, a, d),
                1e-13);
    const struct probe_constants m = probe_constants_of(was->mu, d, a),
                                 n = probe_constants_of(is.mu, d, b);
    for (int c = 0; c < 3; c++)
        assert_near(n.angular_momentum[c], 1.31 * m.angular_momentum[c], 1e-12);
}

TEST(test_changed_orbits)
{
    const struct probe_orbit of[] = {some_orbit(3), turned_orbit(3)};
    for (int k = 0; k < 2; k++) {
        assert_int_equal(probe_changes(of[k].axes), 4 + k);
        for (int q = 0; q < probe_changes(of[k].axes); q++)
            change_orbit(&of[k], probe_change_at(of[k].axes, q));
        assert_string_equal(probe_change_name[probe_change_at(of[k].axes, 2)],
                            k ? "velocity z" : "angular momentum");
    }
    struct probe_orbit against = turned_orbit(2); /* a size below 0 is that of no orbit */
    const double h = probe_change_value(&against, PROBE_CHANGE_MOMENTUM);
    assert_false(probe_change_orbit(&against, PROBE_CHANGE_MOMENTUM, -1.01 * h));
    struct probe_orbit none = some_orbit(1);
    const double all = probe_change_value(&none, PROBE_CHANGE_PULL);
    assert_false(probe_change_orbit(&none, PROBE_CHANGE_PULL, -1.01 * all));
}

TEST(test_slopes)
{
    const struct probe_moved moved[2] = {{0.6, 1, 0.4}, {-0.1, 0.5, 0.2}};
    const unsigned short once[] = {1, 1}, first[] = {3, 0}, none[] = {0, 0};
    assert_near(probe_slope(moved, 2, once), 0.5 / 1.5, 1e-15);
    assert_near(probe_slope(moved, 2, first), 0.6, 1e-15);
    assert_near(probe_cosine(moved, 2, once), 0.5 / sqrt(0.6 * 1.5), 1e-15);
    assert_true(isnan(probe_slope(moved, 2, none)) && isnan(probe_cosine(moved, 2, none)));
}

/* A toy: its state (3 numbers) holds the velocity in the first two, times 2 and times 5, and it
 * goes on in a straight line; what is added to the velocity counts `gain` times. */
enum { TOYS = 12, WIDTH = 3, TOY_HORIZONS = 2 };
static const int toy_horizon[TOY_HORIZONS] = {1, 3};
struct toy {
    struct probe_orbit orbit[TOYS];
    double gain;
    bool asked[4]; /* for layers */
};

static int toy_follow(void *of, int layer, const real *vector, double *place)
{
    struct toy *toy = of;
    toy->asked[layer] = true;
    for (int i = 0; i < TOYS; i++)
        for (int h = 0; h < TOY_HORIZONS; h++)
            for (int c = 0; c < 2; c++) {
                const struct probe_orbit *o = &toy->orbit[i];
                double velocity = o->state[2 + c];
                if (vector)
                    velocity += toy->gain * (double)vector[i * WIDTH + c] / (c ? 5 : 2);
                place[2 * (i * TOY_HORIZONS + h) + c] =
                    o->state[c] + o->share * toy_horizon[h] * o->dt_yr * velocity;
            }
    return 0;
}

static double toy_slope(struct toy *toy, enum probe_change change, const double *direction,
                        bool random, int h)
{
    const struct probe_subject subject = {.n = TOYS,
                                          .width = WIDTH,
                                          .horizons = TOY_HORIZONS,
                                          .horizon = toy_horizon,
                                          .of = toy,
                                          .follow = toy_follow};
    double base[TOYS * TOY_HORIZONS * 2];
    struct probe_moved moved[TOY_HORIZONS * TOYS];
    unsigned short once[TOYS];
    for (int i = 0; i < TOYS; i++)
        once[i] = 1;
    toy_follow(toy, 0, NULL, base);
    const struct probe_steering how = {.change = change,
                                       .layer = 2,
                                       .direction = direction,
                                       .sd = 0.8,
                                       .orbit = toy->orbit,
                                       .base = base,
                                       .random = random,
                                       .seed = 5};
    assert_int_equal(probe_steer(&arena, &subject, &how, moved), 0);
    /* t = -3 .. 3: 2 (1 + 4 + 9) sd^2, of velocities */
    const double step = toy->orbit[1].share * toy_horizon[h] * toy->orbit[1].dt_yr * how.sd;
    if (change <= PROBE_CHANGE_VY && direction[0] + direction[1] > 0)
        assert_near(moved[h * TOYS + 1].bb, 28 * step * step, 1e-3 * 28 * step * step);
    return probe_slope(moved + h * TOYS, TOYS, once);
}

TEST(test_toy)
{
    /* readouts that undo the factors: state / 2 and state / 5 */
    static const double weight[WIDTH * 2] = {1 / 2.0, 0, 0, 1 / 5.0, 0, 0};
    double x[WIDTH], y[WIDTH];
    struct toy toy = {.gain = 1};
    for (int i = 0; i < TOYS; i++)
        toy.orbit[i] = some_orbit(i);
    probe_steer_shortest(weight, WIDTH, 2, x);
    probe_steer_shortest(weight + 1, WIDTH, 2, y);
    assert_true(x[0] == 2 && x[1] == 0 && y[0] == 0 && x[2] == 0);
    assert_near(y[1], 5, 1e-14);
    for (int h = 0; h < TOY_HORIZONS; h++) { /* straight lines for orbits: to about dt */
        toy.gain = 1;
        assert_near(toy_slope(&toy, PROBE_CHANGE_VX, x, false, h), 1, 1e-4);
        assert_near(toy_slope(&toy, PROBE_CHANGE_VY, y, false, h), 1, 1e-4);
        assert_near(toy_slope(&toy, PROBE_CHANGE_VX, y, false, h), 0, 1e-4);
        toy.gain = -0.37;
        assert_near(toy_slope(&toy, PROBE_CHANGE_VY, y, false, h), -0.37, 1e-4);
        /* of 72 random directions of three dimensions, the mean is not far from 0 */
        toy.gain = 1;
        assert_true(fabs(toy_slope(&toy, PROBE_CHANGE_VX, x, true, h)) < 0.4);
    }
    assert_true(toy.asked[2] && !toy.asked[1]);
    const double has_no_direction[WIDTH] = {0};
    assert_true(isnan(toy_slope(&toy, PROBE_CHANGE_VX, has_no_direction, false, 0)));
}

/* States whose numbers go together: the likeliest change follows them, and holds what it should. */
TEST(test_likeliest)
{
    enum { MANY = 500 };
    static double x[MANY * WIDTH], y[MANY * 2];
    double d[WIDTH];
    for (int i = 0; i < MANY; i++) {
        const double a = sin(1.7 * i), b = cos(2.9 * i + 1);
        x[i * WIDTH] = a + 3;
        x[i * WIDTH + 1] = b - 1;
        x[i * WIDTH + 2] = 4 * a + 0.5 * b; /* follows the others, read by nobody */
        y[2 * i] = x[i * WIDTH];
        y[2 * i + 1] = x[i * WIDTH] + x[i * WIDTH + 1];
    }
    static const int both[] = {0, 1}, other[] = {1, 0}, twice[] = {0, 0};
    assert_int_equal(probe_steer_likeliest(&arena, MANY, WIDTH, x, 2, y, 2, both, d), 0);
    assert_near(d[0], 1, 1e-10); /* a + 1, b - 1 */
    assert_near(d[1], -1, 1e-10);
    assert_near(d[2], 3.5, 1e-10);
    assert_int_equal(probe_steer_likeliest(&arena, MANY, WIDTH, x, 2, y, 2, other, d), 0);
    assert_near(d[0], 0, 1e-10);
    assert_near(d[1], 1, 1e-10);
    assert_near(d[2], 0.5, 1e-10);
    /* a readout that is held and raised: no such way */
    assert_int_equal(probe_steer_likeliest(&arena, MANY, WIDTH, x, 2, y, 2, twice, d), 0);
    assert_true(d[0] == 0 && d[1] == 0 && d[2] == 0);
}

TESTS(NULL, NULL)
