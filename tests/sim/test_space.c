/* test_space.c - orbits in space (orbits.dimensions = 3): orientations, what is conserved, and that
 * they are the orbits of the plane, turned. */
#include "base/scratch.h"
#include "laws.h"
#include "sim/data/dataset.h"
#include "vec.h"

#include <float.h>

#include <gsl/gsl_math.h>

static void space_preset(struct orr_settings *p, int dimensions)
{
    orr_settings_defaults(p);
    p->seed = 37;
    p->orbits.protocol = ORR_PROTOCOL_IDENTIFIABLE;
    p->orbits.output = ORR_OUTPUT_CONTINUOUS;
    p->orbits.mass_prior = ORR_MASS_UNIFORM;
    p->orbits.positions = 48; /* cuts the last time step in two */
    p->orbits.a_min_au = 0.7;
    p->orbits.a_max_au = 2.3;
    p->orbits.train = p->orbits.train_files = 6;
    p->orbits.two_body_train = p->orbits.two_body_val = p->orbits.two_body_test = 5;
    p->orbits.val = p->orbits.test = 3;
    p->planets.enabled = true;
    p->planets.train = p->planets.val = p->planets.test = 4;
    p->orbits.dimensions = dimensions;
    assert_int_equal(orr_settings_check(p), 0);
}

static void cross(const double s[SIM_STATE], double L[3])
{
    const double *v = s + 3;
    for (int c = 0; c < 3; c++)
        L[c] = s[(c + 1) % 3] * v[(c + 2) % 3] - s[(c + 2) % 3] * v[(c + 1) % 3];
}

/* ------------------------------------------------------------------------- orientations */

/* Inclination and node say where the normal points; radii are those of the plane. */
TEST(test_elements)
{
    enum { N = 64 };
    double flat[4 * N], s[SIM_STATE * N], place[3][N];
    double *const to[1][SIM_AXES] = {{place[0], place[1], place[2]}};
    const double i_rad = 0.83, node_rad = 4.1, share = -0.3, origin[3] = {0.2, -1.1, 3.7};
    struct sim_elements el = {2.1, 0.43, 1.7, 1.3, false, false, 0, 0};
    assert_int_equal(sim_orbit_states(&el, 1.1, 0.05, N, flat), 0);
    el.in_space = true;
    assert_int_equal(sim_orbit_states(&el, 1.1, 0.05, N, s), 0);
    for (int k = 0; k < N; k++) /* without inclination: the same numbers, and z = 0 */
        for (int c = 0; c < 6; c++)
            assert_true(s[6 * k + c] == (c % 3 == 2 ? 0 : flat[4 * k + c % 3 + c / 3 * 2]));
    el.inclination_rad = i_rad;
    el.node_rad = node_rad;
    assert_int_equal(sim_orbit_states(&el, 1.1, 0.05, N, s), 0);
    assert_int_equal(sim_orbit_places(&el, 1.1, 0.05, N, 1, &share, origin, to), 0);
    const double normal[3] = {sin(i_rad) * sin(node_rad), -sin(i_rad) * cos(node_rad), cos(i_rad)};
    for (int k = 0; k < N; k++) {
        const double *at = s + 6 * k;
        double L[3];
        cross(at, L);
        for (int c = 0; c < 3; c++) {
            assert_true(fabs(L[c] / sim_length(L, 3) - normal[c]) < 1e-14);
            assert_true(fabs(place[c][k] - origin[c] - share * at[c]) < 2e-15);
        }
        assert_true(fabs(sim_length(at, 3) - sim_length(flat + 4 * k, 2)) < 1e-14);
        assert_true(fabs(sim_length(at + 3, 3) / sim_length(flat + 4 * k + 2, 2) - 1) < 1e-14);
    }
    /* periapsis: omega from the ascending node, where z rises from 0 */
    el.omega_rad = el.phase_rad = 0;
    assert_int_equal(sim_orbit_states(&el, 1.1, 0.05, 1, s), 0);
    const double r = 2.1 * (1 - 0.43), at[3] = {r * cos(node_rad), r * sin(node_rad), 0};
    for (int c = 0; c < 3; c++)
        assert_true(fabs(s[c] - at[c]) < 1e-14);
    assert_true(s[5] > 0);
}

/* Normals of drawn orbits are uniform on the sphere: each coordinate has mean 0, variance 1/3 and
 * fourth moment 1/5, none correlates with another. */
TEST(test_isotropic)
{
    enum { N = 20000 };
    struct orr_settings p;
    struct sim_system s;
    double moment[3][3] = {{0}}, mixed[3] = {0};
    space_preset(&p, 3);
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    for (uint64_t i = 0; i < N; i++) {
        assert_int_equal(sim_system_draw(&p, SIM_SPLIT_TRAIN, i, rng, &s), 0);
        const struct sim_elements *el = &s.orbit[0];
        assert_true(el->in_space && el->inclination_rad >= 0 && el->inclination_rad <= M_PI);
        const double sine = sin(el->inclination_rad);
        const double n[3] = {sine * sin(el->node_rad), -sine * cos(el->node_rad),
                             cos(el->inclination_rad)};
        for (int c = 0; c < 3; c++) {
            moment[0][c] += n[c] / N;
            moment[1][c] += n[c] * n[c] / N;
            moment[2][c] += n[c] * n[c] * n[c] * n[c] / N;
            mixed[c] += n[c] * n[(c + 1) % 3] / N;
        }
    }
    gsl_rng_free(rng);
    for (int c = 0; c < 3; c++) { /* five standard errors */
        assert_true(fabs(moment[0][c]) < 5 * sqrt(1 / 3.0 / N));
        assert_true(fabs(moment[1][c] - 1 / 3.0) < 5 * sqrt(4 / 45.0 / N));
        assert_true(fabs(moment[2][c] - 1 / 5.0) < 5 * sqrt(16 / 225.0 / N));
        assert_true(fabs(mixed[c]) < 5 * sqrt(1 / 15.0 / N));
    }
}

/* Bodies of the solar system keep their inclinations, for every seed. */
TEST(test_solar)
{
    struct orr_settings p;
    struct sim_system s;
    space_preset(&p, 3);
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    for (uint64_t body = 0; body < SIM_SUN_BODIES; body++)
        for (p.seed = 0; p.seed < 3; p.seed++) {
            const uint64_t index = body + (p.seed << 48);
            assert_int_equal(sim_system_draw(&p, SIM_SPLIT_PLANETS_SOLAR, index, rng, &s), 0);
            assert_true(fabs(s.orbit[0].inclination_rad * 180 / M_PI -
                             sim_sun_bodies[body].inclination_deg) < 1e-9);
        }
    assert_true(sim_sun_bodies[11].inclination_deg > 90); /* Halley goes backwards */
    gsl_rng_free(rng);
}

/* ------------------------------------------------------------------------------- twins */

/* A sequence in space is the one of the plane, turned: distances, speeds, masses, forces and scale
 * agree to the rounding of its numbers, and forces point at the other body. */
TEST(test_twins)
{
    static const enum sim_split splits[] = {SIM_SPLIT_TWO_BODY_TEST, SIM_SPLIT_PLANETS_SOLAR,
                                            SIM_SPLIT_PLANETS_TRAIN};
    for (int law = ORR_LAW_NEWTON; law <= ORR_LAW_YUKAWA; law++)
        for (size_t k = 0; k < sizeof splits / sizeof *splits; k++) {
            struct orr_settings p[2];
            struct sim_sequence q[2];
            double off = 0; /* out of the x, y plane */
            for (int d = 0; d < 2; d++) {
                space_preset(&p[d], 2 + d);
                p[d].orbits.law = (enum orr_law)law;
                p[d].orbits.law_exponent = -1.6;
                assert_int_equal(sim_sequence_create(&q[d], &p[d], splits[k]), 0);
                assert_int_equal(sim_sequence_make(&q[d], &p[d], splits[k], 1), 0);
            }
            assert_true(fabsf(q[0].scale / q[1].scale - 1) < 4 * FLT_EPSILON);
            assert_true(q[0].coords[0] == q[1].coords[0]);
            for (int t = 3; t < q[0].positions; t += 2) {
                /* distance between the bodies of a step */
                const double a = sim_row_distance(q[0].coords + 2 * t, q[0].coords + 2 * t + 2, 2);
                const double b = sim_row_distance(q[1].coords + 3 * t, q[1].coords + 3 * t + 3, 3);
                if (t + 1 < q[0].positions)
                    assert_true(fabs(a - b) < 1e-6 * (1 + a));
            }
            for (int t = 0; t < q[0].positions && q[0].full_state; t++) {
                const float *a = q[0].full_state + 6 * t, *b = q[1].full_state + 8 * t;
                const float *fa = q[0].force_vector + 2 * t, *fb = q[1].force_vector + 3 * t;
                assert_true(fabs(sim_row_length(a, 2) - sim_row_length(b, 3)) <
                            1e-6 * sim_row_length(a, 2) + 1e-30);
                assert_true(fabs(sim_row_length(a + 2, 2) - sim_row_length(b + 3, 3)) <
                            1e-6 * sim_row_length(a + 2, 2) + 1e-30);
                assert_true(a[4] == b[6] && a[5] == b[7]);
                assert_true(q[0].state[5 * t + 4] == q[1].state[7 * t + 6]);
                off = fmax(off, fabs((double)b[2]));
                if (!isfinite(q[0].force_magnitude[t])) {
                    assert_false(isfinite(q[1].force_magnitude[t]) || isfinite(fb[2]));
                    continue;
                }
                assert_true(fabsf(q[0].force_magnitude[t] / q[1].force_magnitude[t] - 1) < 1e-6f);
                assert_true(fabs(sim_row_length(fa, 2) / sim_row_length(fb, 3) - 1) < 1e-6);
                for (int c = 0; c < 3; c++)
                    assert_true(fabs((double)fb[c] / sim_row_length(fb, 3) +
                                     (double)b[c] / sim_row_length(b, 3)) < 1e-6);
            }
            assert_true(!q[0].full_state || off > 0.001);
            for (int d = 0; d < 2; d++)
                sim_sequence_free(&q[d]);
        }
}

/* ----------------------------------------------------------------------------- conserved */

/* Two bodies: energy and the vector of angular momentum, under every law with a potential. */
TEST(test_conserved)
{
    enum { N = 400 };
    static double s[SIM_STATE * N];
    for (int law = 0; law < ORR_LAWS; law++) {
        struct sim_dynamics d;
        double L0[3], E0 = 0;
        law_create(&d, law);
        if (!d.law->potential || d.law->correct) {
            sim_dynamics_free(&d);
            continue;
        }
        d.in_space = true;
        const struct sim_elements el = {1.37, 0.6, 0.7, 2.385, false, true, 2.1, 0.4};
        const double m1 = 0.7, m2 = 1.9, mu = m1 * m2 / (m1 + m2);
        assert_int_equal(sim_start(&d, &el, m1, m2, s), 0);
        assert_int_equal(sim_integrate_pair(&d, m1, m2, 0.05, N, s), 0);
        cross(s, L0);
        for (int k = 0; k < N; k++) {
            const double *at = s + SIM_STATE * k, r = sim_length(at, 3);
            const double E =
                sim_dot(at + 3, at + 3, 3) / 2 + d.law->potential(&d.params, m1, m2, r) / mu;
            double L[3];
            cross(at, L);
            E0 = k ? E0 : E;
            assert_true(fabs(E - E0) < 1e-10 * (1 + fabs(E0)));
            for (int c = 0; c < 3; c++)
                assert_true(fabs(L[c] - L0[c]) < 1e-10 * sim_length(L0, 3));
        }
        sim_dynamics_free(&d);
    }
}

/* Bodies that all attract each other: total energy, momentum and angular momentum. */
static void totals(int bodies, const double mass[], const double *states, size_t n, size_t k,
                   double sum[7])
{
    for (int c = 0; c < 7; c++)
        sum[c] = 0;
    for (int i = 0; i < bodies; i++) {
        const double *at = states + SIM_STATE * ((size_t)i * n + k);
        double L[3];
        cross(at, L);
        sum[0] += mass[i] * sim_dot(at + 3, at + 3, 3) / 2;
        for (int c = 0; c < 3; c++) {
            sum[1 + c] += mass[i] * at[3 + c];
            sum[4 + c] += mass[i] * L[c];
        }
        for (int j = 0; j < i; j++)
            sum[0] -= SIM_G * mass[i] * mass[j] /
                      sim_distance(at, states + SIM_STATE * ((size_t)j * n + k), 3);
    }
}

TEST(test_bodies)
{
    enum { N = 200, BODIES = 4 };
    static double out[BODIES * SIM_STATE * N];
    static const double mass[BODIES] = {0.03, 0.02, 0.01, 1.1};
    static const double start[BODIES * SIM_STATE] = {1,    0.1,  0.3,  0.2, 6.1, 1.4, -2,  0.4,
                                                     -0.5, -0.3, -4.1, 0.9, 0.2, 3.3, 1,   -3.2,
                                                     0.1,  0.5,  0,    0,   0,   0.1, 0.2, -0.3};
    struct orr_settings p;
    struct sim_dynamics d;
    double first[7], now[7];
    space_preset(&p, 3);
    assert_int_equal(sim_dynamics_create(&d, &p), 0);
    assert_int_equal(sim_integrate_given(&d, BODIES, mass, start, 0.03, N, out), 0);
    totals(BODIES, mass, out, N, 0, first);
    for (size_t k = 0; k < N; k++) {
        totals(BODIES, mass, out, N, k, now);
        for (int c = 0; c < 7; c++)
            assert_true(fabs(now[c] - first[c]) < 1e-11 * (1 + fabs(first[0])));
    }
    assert_true(fabs(out[SIM_STATE * (N - 1) + 2] - start[2]) > 0.01);
    sim_dynamics_free(&d);
}

/* Two bodies of starts of their own are those of the pair, turned: a rotation of the start rotates
 * the motion, and the centre of mass moves evenly. */
TEST(test_given)
{
    enum { N = 40 };
    static const double mass[2] = {0.3, 0.9};
    static const double turn[3][3] = {/* a rotation: 36, 48, 80 / 100 */
                                      {0.36, 0.48, -0.8},
                                      {-0.8, 0.6, 0},
                                      {0.48, 0.64, 0.6}};
    static const double flat[8] = {1, 0.2, -0.4, 4.3, -0.3, 0.1, 0.2, -0.7};
    double start[2 * SIM_STATE] = {0}, plane[8 * N], out[2 * SIM_STATE * N];
    struct sim_dynamics d;
    law_create(&d, ORR_LAW_YUKAWA);
    assert_int_equal(sim_integrate_given(&d, 2, mass, flat, 0.04, N, plane), 0);
    for (int half = 0; half < 4; half++)
        for (int c = 0; c < 3; c++)
            start[3 * half + c] = turn[c][0] * flat[2 * half] + turn[c][1] * flat[2 * half + 1];
    d.in_space = true;
    assert_int_equal(sim_integrate_given(&d, 2, mass, start, 0.04, N, out), 0);
    for (int k = 0; k < 2 * N; k++)
        for (int half = 0; half < 2; half++)
            for (int c = 0; c < 3; c++) {
                const double *at = plane + 4 * k + 2 * half;
                assert_true(fabs(out[6 * k + 3 * half + c] - turn[c][0] * at[0] -
                                 turn[c][1] * at[1]) < 1e-10);
            }
    sim_dynamics_free(&d);
}

/* ------------------------------------------------------------------------------ data sets */

TEST(test_files)
{
    struct orr_settings p;
    struct sim_dataset set;
    char dir[4096];
    space_preset(&p, 3);
    scratch_path(dir, scratch_dir, "space");
    assert_int_equal(sim_dataset_write(&p, dir, 1, false, true), 0);
    assert_int_equal(sim_dataset_check(dir), 0);
    assert_int_equal(sim_dataset_open(&set, &p, dir, SIM_SPLIT_TWO_BODY_TRAIN), 0);
    assert_int_equal(set.dimensions, 3);
    struct sim_sequence q;
    assert_int_equal(sim_sequence_create(&q, &p, SIM_SPLIT_TWO_BODY_TRAIN), 0);
    assert_int_equal(sim_sequence_make(&q, &p, SIM_SPLIT_TWO_BODY_TRAIN, 3), 0);
    const size_t P = (size_t)q.positions;
    assert_memory_equal(sim_dataset_coords(&set, 3), q.coords, 3 * P * sizeof *q.coords);
    assert_memory_equal(set.full_state + 8 * 3 * P, q.full_state, 8 * P * sizeof *q.full_state);
    assert_memory_equal(set.force_vector + 3 * 3 * P, q.force_vector, 3 * P * sizeof(float));
    sim_sequence_free(&q);
    sim_dataset_close(&set);
    assert_int_equal(sim_dataset_open_any(&set, dir, SIM_SPLIT_TRAIN), 0);
    assert_int_equal(set.dimensions, 3);
    sim_dataset_close(&set);
    p.orbits.dimensions = 2; /* files of other dimensions */
    assert_int_equal(sim_dataset_open(&set, &p, dir, SIM_SPLIT_TRAIN), ORR_EFORMAT);
    error_names("coords_train.npy", NULL);
}

TEST(test_refused)
{
    struct orr_settings p;
    orr_settings_defaults(&p);
    p.orbits.dimensions = 3;
    assert_int_equal(orr_settings_check(&p), ORR_EUSAGE);
    error_names("orbits.dimensions: expected 2 with orbits.output = tokens", NULL);
    space_preset(&p, 3);
    p.orbits.clockwise = 0.5;
    assert_int_equal(orr_settings_check(&p), ORR_EUSAGE);
    error_names("orbits.clockwise: expected 0 with orbits.dimensions = 3", "0.5", NULL);
}

TESTS(scratch_setup, scratch_teardown)
