/* test_kepler.c - Kepler's equation, closed orbits, conserved quantities, and Newton's equations
 * integrated by GSL. */
#include "base/scratch.h"
#include "vec.h"

#include <float.h>
#include <math.h>

#include <gsl/gsl_math.h>
#include <gsl/gsl_odeiv2.h>

static const double eccentricities[] = {0, 1e-9, 0.017, 0.2056, 0.5, 0.7351, 0.9, 0.98, 0.999};
enum { ECCENTRICITIES = sizeof eccentricities / sizeof *eccentricities };

/* Residual of E - e sin E = M in long double: what remains is the rounding of E itself. */
static double residual(double M, double e, double E)
{
    return (double)fabsl((long double)E - (long double)e * sinl((long double)E) - (long double)M);
}

/* |M| <= pi, near 0 and pi too: a few units in the last place of E, and E is odd in M. */
TEST(test_residual)
{
    static const double near[] = {0, 1e-300, 1e-18, 1e-12, 3e-8, 1e-5, 1e-3, 0.0213};
    enum { GRID = 20011, NEAR = sizeof near / sizeof *near };
    static double M[GRID + 2 * NEAR], E[GRID + 2 * NEAR];
    size_t n = 0;
    for (int i = 0; i < GRID; i++)
        M[n++] = M_PI * (2.0 * i / (GRID - 1) - 1);
    for (int i = 0; i < NEAR; i++) {
        M[n++] = near[i];
        M[n++] = M_PI - near[i];
    }
    double worst = 0;
    for (int k = 0; k < ECCENTRICITIES; k++) {
        const double e = eccentricities[k];
        assert_int_equal(sim_kepler_solve(n, M, e, E), 0);
        for (size_t i = 0; i < n; i++) {
            worst = fmax(worst, residual(M[i], e, E[i]));
            assert_true(fabs(E[i] - M[i]) <= e + 4 * DBL_EPSILON);
        }
        for (int i = 0; i < GRID; i++)
            assert_true(fabs(E[i] + E[GRID - 1 - i]) * (1 - e) < 1e-15 * M_PI);
    }
    print_message("largest residual, |M| <= pi: %.2g\n", worst);
    assert_true(worst < 1e-14 / 8); /* 3 ulp of pi */
}

/* Beyond pi: whole turns are added; the rounding of M and of the turns adds to the residual. */
TEST(test_many_turns)
{
    enum { N = 4001 };
    static double M[N], E[N];
    for (int i = 0; i < N; i++)
        M[i] = (i - N / 2) * 1.2345;
    for (int k = 0; k < ECCENTRICITIES; k++) {
        assert_int_equal(sim_kepler_solve(N, M, eccentricities[k], E), 0);
        for (int i = 0; i < N; i++)
            assert_true(residual(M[i], eccentricities[k], E[i]) <
                        1e-14 + 2 * DBL_EPSILON * fabs(M[i]));
    }
}

/* In place, none, and the domain of e. */
TEST(test_arguments)
{
    double M[3] = {0.3, -2.385, 7}, E[3];
    assert_int_equal(sim_kepler_solve(3, M, 0.61, E), 0);
    assert_int_equal(sim_kepler_solve(3, M, 0.61, M), 0);
    assert_memory_equal(M, E, sizeof E);
    assert_int_equal(sim_kepler_solve(0, M, 0.61, M), 0);
    static const double bad[] = {1, 1.2, -0.01, INFINITY, NAN};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(sim_kepler_solve(3, M, bad[i], E), ORR_EDOM);
        error_names("eccentricity", "[0, 1)", NULL);
    }
}

/* Energy -GM/2a and angular momentum sqrt(GM a (1 - e^2)) at every sampled time. */
TEST(test_conserved)
{
    enum { N = 997 };
    static double s[4 * N];
    double worst_energy = 0, worst_momentum = 0;
    for (int k = 0; k < ECCENTRICITIES; k++) {
        const struct sim_elements el = {3.217, eccentricities[k], 1.1, 4.3, false, false, 0, 0};
        const double mass = 1.371, mu = SIM_G * mass, dt = 0.0713;
        assert_int_equal(sim_orbit_states(&el, mass, dt, N, s), 0);
        const double energy = -mu / (2 * el.a_au);
        const double momentum = sqrt(mu * el.a_au * (1 - el.e) * (1 + el.e));
        for (int i = 0; i < N; i++) {
            const double *q = s + 4 * i, r = hypot(q[0], q[1]);
            /* errors in units of the terms that are subtracted from one another */
            const double kinetic = 0.5 * (q[2] * q[2] + q[3] * q[3]);
            worst_energy = fmax(worst_energy, fabs(kinetic - mu / r - energy) / (mu / r));
            const double L = q[0] * q[3] - q[1] * q[2];
            worst_momentum = fmax(worst_momentum, fabs(L / momentum - 1) * sqrt(1 - el.e));
            assert_true(r > el.a_au * (1 - el.e) * (1 - 1e-12));
            assert_true(r < el.a_au * (1 + el.e) * (1 + 1e-12));
        }
    }
    print_message("energy %.2g, angular momentum %.2g\n", worst_energy, worst_momentum);
    assert_true(worst_energy < 1e-12 && worst_momentum < 1e-12);
}

/* Kepler III: after P = sqrt(a^3/M) the body is back, after P/2 it is at the other apse; the
 * periods of the planets. */
TEST(test_period)
{
    assert_true(fabs(sim_period_yr(1, 1) - 1) < 1e-15);
    assert_true(fabs(sim_period_yr(5.203, 1) - 11.868) < 1e-3);
    assert_true(fabs(sim_period_yr(1, 4) - 0.5) < 1e-15);
    for (int k = 0; k < ECCENTRICITIES; k++) {
        double s[4 * 3];
        struct sim_elements el = {0.7351, eccentricities[k], 2.2, 0, false, false, 0, 0};
        const double mass = 0.61, period = sim_period_yr(el.a_au, mass);
        assert_int_equal(sim_orbit_states(&el, mass, period / 2, 3, s), 0);
        const double near = el.a_au * (1 - el.e), far = el.a_au * (1 + el.e);
        assert_true(fabs(s[0] - near * cos(2.2)) < 1e-14 && fabs(s[1] - near * sin(2.2)) < 1e-14);
        assert_true(fabs(s[4] + far * cos(2.2)) < 1e-13 && fabs(s[5] + far * sin(2.2)) < 1e-13);
        for (int c = 0; c < 2; c++) /* an error d of M moves periapsis by d * speed / motion */
            assert_true(fabs(s[8 + c] - s[c]) < 1e-15 * 100 / sqrt(1 - el.e));
        el.phase_rad = 1.7;
        assert_int_equal(sim_orbit_states(&el, mass, period, 3, s), 0);
        for (int c = 0; c < 2; c++)
            assert_true(fabs(s[8 + c] - s[c]) < 1e-13);
    }
}

static int newton(double t, const double q[], double dq[], void *mu)
{
    const double r = hypot(q[0], q[1]), a = -*(const double *)mu / (r * r * r);
    (void)t;
    dq[0] = q[2];
    dq[1] = q[3];
    dq[2] = a * q[0];
    dq[3] = a * q[1];
    return GSL_SUCCESS;
}

/* From the first state on, Newton's equations give the other states: order 8, tolerance 1e-13. */
TEST(test_against_integration)
{
    enum { N = 120 };
    static double s[4 * N];
    double worst = 0;
    for (int k = 0; k < 7; k++) {
        const struct sim_elements el = {1.913, eccentricities[k], 5.1, 2.9, false, false, 0, 0};
        double mu = SIM_G * 0.87, t = 0, q[4];
        const double dt = 0.0487; /* about 2 periods */
        assert_int_equal(sim_orbit_states(&el, 0.87, dt, N, s), 0);
        gsl_odeiv2_system ode = {newton, NULL, 4, &mu};
        gsl_odeiv2_driver *driver =
            gsl_odeiv2_driver_alloc_y_new(&ode, gsl_odeiv2_step_rk8pd, 1e-4, 1e-13, 1e-13);
        assert_non_null(driver);
        memcpy(q, s, sizeof q);
        for (int i = 1; i < N; i++) {
            assert_int_equal(gsl_odeiv2_driver_apply(driver, &t, i * dt, q), GSL_SUCCESS);
            for (int c = 0; c < 2; c++) {
                worst = fmax(worst, fabs(q[c] - s[4 * i + c]) / el.a_au);
                worst = fmax(worst, fabs(q[2 + c] - s[4 * i + 2 + c]) * dt / el.a_au);
            }
        }
        gsl_odeiv2_driver_free(driver);
    }
    print_message("largest distance from the integrated orbit: %.2g a\n", worst);
    assert_true(worst < 1e-9);
}

/* Counter-clockwise, and turned by omega as a whole. */
TEST(test_orientation)
{
    enum { N = 50 };
    double s[4 * N], turned[4 * N];
    struct sim_elements el = {2.1, 0.43, 0, 1.3, false, false, 0, 0};
    assert_int_equal(sim_orbit_states(&el, 1.1, 0.05, N, s), 0);
    el.omega_rad = 0.77;
    assert_int_equal(sim_orbit_states(&el, 1.1, 0.05, N, turned), 0);
    for (int i = 0; i < N; i++) {
        assert_true(s[4 * i] * s[4 * i + 3] - s[4 * i + 1] * s[4 * i + 2] > 0);
        for (int c = 0; c < 4; c += 2) {
            const double x = s[4 * i + c], y = s[4 * i + c + 1];
            assert_true(fabs(turned[4 * i + c] - x * cos(0.77) + y * sin(0.77)) < 1e-13);
            assert_true(fabs(turned[4 * i + c + 1] - x * sin(0.77) - y * cos(0.77)) < 1e-13);
        }
    }
}

/* A clockwise orbit is the other one mirrored at its major axis, here the x axis: places too. */
TEST(test_clockwise)
{
    enum { N = 64 }; /* whole groups of steps */
    double s[4 * N], back[4 * N], x[N], y[N], *const place[1][SIM_AXES] = {{x, y}};
    static const double share = 1, origin_au[2] = {0, 0};
    struct sim_elements el = {2.1, 0.43, 0, 1.3, false, false, 0, 0};
    assert_int_equal(sim_orbit_states(&el, 1.1, 0.05, N, s), 0);
    el.clockwise = true;
    assert_int_equal(sim_orbit_states(&el, 1.1, 0.05, N, back), 0);
    assert_int_equal(sim_orbit_places(&el, 1.1, 0.05, N, 1, &share, origin_au, place), 0);
    for (int i = 0; i < N; i++) {
        for (int c = 0; c < 4; c++)
            assert_true(fabs(back[4 * i + c] - (c % 2 ? -1 : 1) * s[4 * i + c]) < 1e-12);
        assert_true(fabs(x[i] - s[4 * i]) < 1e-13 && fabs(y[i] + s[4 * i + 1]) < 1e-13);
    }
}

/* The force is the reduced mass times the relative acceleration, by second differences. */
TEST(test_force)
{
    double s[4 * 3];
    const struct sim_elements el = {1.3, 0.3, 0.4, 2.0, false, false, 0, 0};
    const double m1 = 0.7, m2 = 1.9, dt = 1e-4, reduced = m1 * m2 / (m1 + m2);
    assert_int_equal(sim_orbit_states(&el, m1 + m2, dt, 3, s), 0);
    const double ax = (s[0] - 2 * s[4] + s[8]) / (dt * dt);
    const double ay = (s[1] - 2 * s[5] + s[9]) / (dt * dt);
    const double F = sim_force(m1, m2, hypot(s[4], s[5]));
    assert_true(fabs(reduced * hypot(ax, ay) / F - 1) < 1e-5);
    assert_true(ax * s[4] + ay * s[5] < 0); /* attraction */
    assert_true(fabs(sim_force(1, 1, 1) - 4 * M_PI * M_PI) < 1e-14);
    assert_true(fabs(sim_force(2, 3, 5) - 4 * M_PI * M_PI * 6 / 25) < 1e-14);
}

TESTS(NULL, NULL)
