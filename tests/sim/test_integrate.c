/* test_integrate.c - integrated motion: what is conserved, a second integrator in long double,
 * closed forms of orbits, apsidal angles, post-Newtonian precession, a jump of G, many bodies. */
#include "laws.h"

#include <gsl/gsl_math.h>

enum { N = 1000 };
static double states[4 * 200001];

/* ------------------------------------------------------------- what orbits conserve */

/* Energy per reduced mass; 1PN: Kidder (1995), Eq. (2.7a). */
static double energy(const struct sim_dynamics *d, double m1, double m2, const double s[4])
{
    const double r = hypot(s[0], s[1]), mu = m1 * m2 / (m1 + m2), eta = mu / (m1 + m2);
    const double v2 = s[2] * s[2] + s[3] * s[3], k = d->params.gravity * (m1 + m2) / r;
    const double E = v2 / 2 + d->law->potential(&d->params, m1, m2, r) / mu;
    if (!d->law->correct)
        return E;
    const double rate = (s[0] * s[2] + s[1] * s[3]) / r;
    return E + (0.375 * (1 - 3 * eta) * v2 * v2 + 0.5 * (3 + eta) * v2 * k +
                0.5 * eta * rate * rate * k + 0.5 * k * k) /
                   (d->params.light_au_yr * d->params.light_au_yr);
}

/* Angular momentum per reduced mass; 1PN: Kidder (1995), Eq. (2.9a). */
static double momentum(const struct sim_dynamics *d, double m1, double m2, const double s[4])
{
    const double J = s[0] * s[3] - s[1] * s[2], eta = m1 * m2 / (m1 + m2) / (m1 + m2);
    if (!d->law->correct)
        return J;
    const double v2 = s[2] * s[2] + s[3] * s[3], k = d->params.gravity * (m1 + m2);
    return J * (1 + (0.5 * (1 - 3 * eta) * v2 + (3 + eta) * k / hypot(s[0], s[1])) /
                        (d->params.light_au_yr * d->params.light_au_yr));
}

/* Largest change of energy and angular momentum, relative to their size at the start. */
static void drift(const struct sim_dynamics *d, double m1, double m2, size_t n, double worst[2])
{
    const double E = energy(d, m1, m2, states), J = momentum(d, m1, m2, states);
    const double r = hypot(states[0], states[1]);
    /* energies of growing potentials may be near 0 */
    const double size =
        fmax(fabs(E), r * d->law->force(&d->params, m1, m2, r) * (m1 + m2) / (m1 * m2));
    worst[0] = worst[1] = 0;
    for (size_t k = 1; k < n; k++) {
        worst[0] = fmax(worst[0], fabs(energy(d, m1, m2, states + 4 * k) - E) / size);
        worst[1] = fmax(worst[1], fabs(momentum(d, m1, m2, states + 4 * k) / J - 1));
    }
}

/* A sequence as long as the study's, from all eccentricities. */
TEST(test_conserved)
{
    for (int law = 0; law < ORR_LAWS; law++) {
        struct sim_dynamics d;
        law_create(&d, law);
        for (int i = 0; i < 6; i++) {
            const double e = (const double[]){0, 0.3, 0.6, 0.9, 0.99, 0.999}[i];
            const struct sim_elements el = {1.37, e, 0.7, 2.385, false, false, 0, 0};
            double worst[2] = {0, 0};
            assert_int_equal(sim_start(&d, &el, 0.31, 0.83, states), 0);
            assert_int_equal(sim_integrate_pair(&d, 0.31, 0.83, 0.05, N, states), 0);
            if (d.law->correct && e > 0.9) /* c^-4 terms, which 1PN lacks, show at periapsis */
                continue;
            if (d.law->potential)
                drift(&d, 0.31, 0.83, N, worst);
            for (size_t k = 1; k < N && !d.law->potential; k++)
                worst[1] =
                    fmax(worst[1],
                         fabs(momentum(&d, 1, 1, states + 4 * k) / momentum(&d, 1, 1, states) - 1));
            if (getenv("VERBOSE"))
                printf("%s e = %.2f: energy %.1e, momentum %.1e\n", sim_law_name(&d), e, worst[0],
                       worst[1]);
            if (!(worst[0] <= 1e-10 && worst[1] <= 1e-10))
                fail_msg("%s, e = %g: energy changes by %.2g, angular momentum by %.2g",
                         sim_law_name(&d), e, worst[0], worst[1]);
        }
        sim_dynamics_free(&d);
    }
}

/* The same bits whatever was integrated before: nothing of another sequence is kept. */
TEST(test_no_memory)
{
    static double first[4 * 200], again[4 * 200];
    const struct sim_elements el = {1.37, 0.4, 0.7, 2.385, false, false, 0, 0},
                              another = {0.2, 0.9, 1, 0.1, false, false, 0, 0};
    for (int law = 0; law < ORR_LAWS; law++) {
        struct sim_dynamics d;
        law_create(&d, law);
        assert_int_equal(sim_start(&d, &el, 0.31, 0.83, first), 0);
        memcpy(again, first, 4 * sizeof *first);
        assert_int_equal(sim_integrate_pair(&d, 0.31, 0.83, 0.05, 200, first), 0);
        assert_int_equal(sim_start(&d, &another, 0.31, 0.83, states), 0);
        assert_int_equal(sim_integrate_pair(&d, 0.31, 0.83, 0.05, 20, states), 0);
        assert_int_equal(sim_integrate_pair(&d, 0.31, 0.83, 0.05, 200, again), 0);
        assert_memory_equal(first, again, sizeof first);
        sim_dynamics_free(&d);
    }
}

/* ------------------------------------------------- a second integrator, in long double */

static void rates(const struct sim_dynamics *d, long double m1, long double m2,
                  const long double y[4], long double f[4])
{
    f[0] = y[2];
    f[1] = y[3];
    acceleration_reference(d, m1, m2, y, f + 2);
}

/* Gauss-Legendre, 3 stages, order 6 (Hairer, Norsett, Wanner, Table II.7.4); fixed step. */
static void gauss_step(const struct sim_dynamics *d, long double m1, long double m2, long double h,
                       long double y[4])
{
    const long double q = sqrtl(15);
    const long double A[3][3] = {{5 / 36.0L, 2 / 9.0L - q / 15, 5 / 36.0L - q / 30},
                                 {5 / 36.0L + q / 24, 2 / 9.0L, 5 / 36.0L - q / 24},
                                 {5 / 36.0L + q / 30, 2 / 9.0L + q / 15, 5 / 36.0L}};
    const long double b[3] = {5 / 18.0L, 4 / 9.0L, 5 / 18.0L};
    long double f[3][4];
    for (int s = 0; s < 3; s++)
        rates(d, m1, m2, y, f[s]);
    for (int round = 0; round < 14; round++)
        for (int s = 0; s < 3; s++) {
            long double at[4];
            for (int c = 0; c < 4; c++)
                at[c] = y[c] + h * (A[s][0] * f[0][c] + A[s][1] * f[1][c] + A[s][2] * f[2][c]);
            rates(d, m1, m2, at, f[s]);
        }
    for (int c = 0; c < 4; c++)
        y[c] += h * (b[0] * f[0][c] + b[1] * f[1][c] + b[2] * f[2][c]);
}

TEST(test_second_integrator)
{
    enum { STEPS = 40, INNER = 100 };
    const double m1 = 0.31, m2 = 0.83, dt = 0.05;
    for (int law = 0; law < ORR_LAWS; law++) {
        struct sim_dynamics d;
        law_create(&d, law);
        d.params.light_au_yr = 40; /* the corrections of post_newtonian are a few percent */
        const struct sim_elements el = {1.37, 0.37, 0.7, 2.385, false, false, 0, 0};
        assert_int_equal(sim_start(&d, &el, m1, m2, states), 0);
        long double y[4];
        for (int c = 0; c < 4; c++)
            y[c] = states[c];
        assert_int_equal(sim_integrate_pair(&d, m1, m2, dt, STEPS, states), 0);
        double worst = 0;
        for (int k = 1; k < STEPS; k++) {
            for (int i = 0; i < INNER; i++)
                gauss_step(&d, m1, m2, (long double)dt / INNER, y);
            for (int c = 0; c < 4; c++)
                worst = fmax(worst, (double)fabsl(states[4 * k + c] - y[c]));
        }
        if (getenv("VERBOSE"))
            printf("%s: %.1e from the second integrator\n", sim_law_name(&d), worst);
        if (!(worst < 1e-9)) /* AU and AU/yr, of the order of 1 and 10 */
            fail_msg("%s: %.3g from the second integrator", sim_law_name(&d), worst);
        sim_dynamics_free(&d);
    }
}

/* ------------------------------------------------------------------------ closed forms */

TEST(test_newton)
{
    static double closed[4 * N];
    struct sim_dynamics d;
    law_create(&d, ORR_LAW_NEWTON);
    for (double e = 0; e < 0.96; e += 0.19) {
        const struct sim_elements el = {1.1, e, 1.7, -0.6, false, false, 0, 0};
        assert_int_equal(sim_orbit_states(&el, 1.3, 0.03, 500, closed), 0);
        memcpy(states, closed, 4 * sizeof *closed);
        assert_int_equal(sim_integrate_pair(&d, 0.2, 1.1, 0.03, 500, states), 0);
        double worst = 0;
        for (size_t i = 0; i < 4 * 500; i++) { /* relative to the greatest speed */
            const double size = i % 4 < 2 ? 1 : 2 * M_PI / (1 - e);
            worst = fmax(worst, fabs(states[i] - closed[i]) / size);
        }
        if (!(worst < 1e-9))
            fail_msg("e = %g: %.3g from the closed form", e, worst);
    }
    sim_dynamics_free(&d);
}

/* Hooke: x0 cos wt + v0 / w sin wt, an ellipse around the centre; w^2 = G M. */
TEST(test_hooke)
{
    struct sim_dynamics d;
    const struct sim_elements el = {2.1, 0.43, 0.3, 1.1, false, false, 0, 0};
    law_create(&d, ORR_LAW_HOOKE);
    assert_int_equal(sim_start(&d, &el, 0.4, 0.8, states), 0);
    assert_int_equal(sim_integrate_pair(&d, 0.4, 0.8, 0.0137, N, states), 0);
    const double w = sqrt(SIM_G * 1.2);
    for (size_t k = 0; k < N; k++) {
        const double t = 0.0137 * (double)k, c = cos(w * t), s = sin(w * t);
        for (size_t i = 0; i < 2; i++)
            assert_true(fabs(states[4 * k + i] - (states[i] * c + states[2 + i] / w * s)) < 1e-10);
    }
    sim_dynamics_free(&d);
}

/* Start: Newton's, times sqrt(F / F_newton); bound where escape is easy. */
TEST(test_start)
{
    struct sim_dynamics d;
    const struct sim_elements el = {2.1, 0.43, 0.3, 1.1, false, false, 0, 0};
    double newton[4], s[4];
    assert_int_equal(sim_orbit_states(&el, 1.2, 1, 1, newton), 0);
    const double r = hypot(newton[0], newton[1]);
    for (int law = 0; law < ORR_LAWS; law++) {
        law_create(&d, law);
        assert_int_equal(sim_start(&d, &el, 0.4, 0.8, s), 0);
        const double F = (double)force_reference(&d, 0.4L, 0.8L, r);
        const double factor = sqrt(F / sim_force(0.4, 0.8, r));
        const bool narrowed = law == ORR_LAW_YUKAWA || law == ORR_LAW_LAMBDA;
        assert_memory_equal(s, newton, 2 * sizeof *s);
        for (int c = 2; c < 4 && !narrowed; c++)
            assert_true(fabs(s[c] / newton[c] - factor) < 1e-14 * factor);
        sim_dynamics_free(&d);
    }
    law_create(&d, ORR_LAW_POWER);
    for (double n = -2.9; n < -1.4; n += 0.2)
        for (double e = 0.05; e < 1; e += 0.3)
            for (double phase = 0; phase < 6; phase += 0.5) {
                d.params.law_exponent = n;
                const struct sim_elements any = {2.1, e, 0.3, phase, false, false, 0, 0};
                assert_int_equal(sim_start(&d, &any, 0.4, 0.8, s), 0);
                assert_true(energy(&d, 0.4, 0.8, s) < 0);
            }
    sim_dynamics_free(&d);
    law_create(&d, ORR_LAW_LAMBDA); /* repulsion where the orbit starts */
    d.params.law_constant = 1000;
    assert_int_equal(sim_start(&d, &el, 0.4, 0.8, s), ORR_EDOM);
    error_names("lambda", "attraction", "r = ", NULL);
    for (double share = 0.05; share < 0.99; share += 0.05) { /* of the barrier's distance */
        d.params.law_constant = SIM_G * 1.2 * pow(share / 2.1, 3);
        const struct sim_elements circle = {2.1, 0, 0.3, 1.1, false, false, 0, 0};
        if (sim_start(&d, &circle, 0.4, 0.8, s)) {
            error_names("lambda", "bound", "r = 2.1", NULL);
            assert_true(share > 0.9);
            continue;
        }
        const double top = 2.1 / share, at_top[4] = {top, 0, 0, 0};
        assert_true(energy(&d, 0.4, 0.8, s) < energy(&d, 0.4, 0.8, at_top));
    }
    sim_dynamics_free(&d);
}

/* ------------------------------------------------------------------------- apsidal angles */

/* Angles (unwrapped) of the places where the distance is smallest or largest. A sample next to
 * one is moved there by a Newton step of d/dt (r . v) = v^2 + r . a. Returns how many. */
static int apsides(const struct sim_dynamics *d, double m1, double m2, size_t n, double angle[],
                   int most)
{
    int count = 0;
    double turned = 0, last = atan2(states[1], states[0]);
    for (size_t k = 1; k < n && count < most; k++) {
        const double *s = states + 4 * k, *b = s - 4;
        double here = atan2(s[1], s[0]), a[2];
        turned += here - last < -M_PI ? 1 : here - last > M_PI ? -1 : 0;
        last = here;
        here += 2 * M_PI * turned;
        const double f = s[0] * s[2] + s[1] * s[3], before = b[0] * b[2] + b[1] * b[3];
        if (before == 0 || (f > 0) == (before > 0))
            continue;
        sim_law_acceleration(d, m1, m2, s, a);
        const double slope = s[2] * s[2] + s[3] * s[3] + s[0] * a[0] + s[1] * a[1];
        const double t = -f / slope, r2 = s[0] * s[0] + s[1] * s[1];
        angle[count++] = here + t * (s[0] * s[3] - s[1] * s[2]) / r2 * (1 - t * f / r2);
    }
    return count;
}

/* Mean angle between apsides of a power law; speed = share of the circular one. */
static double apsidal_angle(double exponent, double share)
{
    struct sim_dynamics d;
    double angle[9];
    law_create(&d, ORR_LAW_POWER);
    d.params.law_exponent = exponent;
    const double v = share * sqrt(SIM_G * 2);
    memcpy(states, (double[]){1, 0, 0, v}, 4 * sizeof *states);
    assert_int_equal(sim_integrate_pair(&d, 1, 1, 1e-4, 80000, states), 0);
    assert_int_equal(apsides(&d, 1, 1, 80000, angle, 5), 5);
    sim_dynamics_free(&d);
    return (angle[4] - angle[0]) / 4;
}

/* Near the circle pi / sqrt(3 + n); only for n = -2 and n = 1 at all eccentricities (Bertrand). */
TEST(test_apsides)
{
    static const double exponent[] = {-2, 1, -1, -2.5, -1.5, 0, 2};
    for (int i = 0; i < 7; i++) {
        const double expected = M_PI / sqrt(3 + exponent[i]);
        const double near = apsidal_angle(exponent[i], 1.001);
        const double far = apsidal_angle(exponent[i], 0.8);
        if (!(fabs(near - expected) < 1e-5))
            fail_msg("r^%g: apsidal angle %.9g, expected %.9g", exponent[i], near, expected);
        if (i < 2 ? fabs(far - expected) > 1e-8 : fabs(far - expected) < 1e-3)
            fail_msg("r^%g: apsidal angle %.9g at v = 0.8 of the circle's", exponent[i], far);
    }
}

/* 1PN: periapsis advances by 6 pi G M / (a c^2 (1 - e^2)) per orbit, to first order. */
TEST(test_precession)
{
    static const double ratio[] = {0.01, 1};
    for (int i = 0; i < 4; i++) {
        struct sim_dynamics d;
        double angle[12];
        const double e = i % 2 ? 0.21 : 0.6, m2 = 1.3, m1 = ratio[i / 2] * m2, M = m1 + m2;
        const struct sim_elements el = {1, e, 0.3, M_PI / 2, false, false, 0, 0};
        law_create(&d, ORR_LAW_POST_NEWTONIAN);
        d.params.light_au_yr = 6324; /* a tenth of the true one */
        assert_int_equal(sim_start(&d, &el, m1, m2, states), 0);
        assert_int_equal(sim_integrate_pair(&d, m1, m2, 1e-4 / sqrt(M), 60000, states), 0);
        assert_true(apsides(&d, m1, m2, 60000, angle, 12) >= 11);
        const double advance = (angle[10] - angle[0]) / 5 - 2 * M_PI;
        const double c2 = d.params.light_au_yr * d.params.light_au_yr;
        const double expected = 6 * M_PI * SIM_G * M / (c2 * (1 - e * e));
        if (!(fabs(advance / expected - 1) < 1e-4))
            fail_msg("precession %.8g, expected %.8g", advance, expected);
        sim_dynamics_free(&d);
    }
}

/* 1PN energy and angular momentum change by c^-4 only; Newton's by c^-2. */
TEST(test_post_newtonian_energy)
{
    double worst[2][2], newton[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        struct sim_dynamics d;
        law_create(&d, ORR_LAW_POST_NEWTONIAN);
        d.params.light_au_yr = i ? 1000 : 500;
        const struct sim_elements el = {1, 0.5, 0.3, 1, false, false, 0, 0};
        assert_int_equal(sim_start(&d, &el, 0.7, 1.3, states), 0);
        assert_int_equal(sim_integrate_pair(&d, 0.7, 1.3, 0.01, N, states), 0);
        drift(&d, 0.7, 1.3, N, worst[i]);
        d.law = &sim_laws[ORR_LAW_NEWTON];
        double plain[2];
        drift(&d, 0.7, 1.3, N, plain);
        newton[i] = plain[0];
        sim_dynamics_free(&d);
    }
    for (int c = 0; c < 2; c++)
        if (!(worst[0][c] / worst[1][c] > 15 && worst[0][c] / worst[1][c] < 17))
            fail_msg("%s: %.3g and %.3g at half the c", c ? "angular momentum" : "energy",
                     worst[1][c], worst[0][c]);
    assert_true(newton[0] / newton[1] > 3.9 && newton[0] / newton[1] < 4.1);
    assert_true(newton[1] > 100 * worst[1][0]);
}

/* ---------------------------------------------------------------------- a jump of G */

/* Before the step the old orbit, after it one of the new period; labels know. */
TEST(test_jump)
{
    enum { STEPS = 150, JUMP = 37, LATER = 50 };
    struct orr_settings p;
    struct sim_dynamics d, plain;
    const double m1 = 0.4, m2 = 0.9, factor = 1.7, GM = SIM_G * (m1 + m2) * factor;
    struct sim_system s = {.planets = 1,
                           .star_mass = m2,
                           .mass = {m1},
                           .orbit = {{.a_au = 1.3, .e = 0.31, .omega_rad = 0.4, .phase_rad = 2}},
                           .star_moves = true};
    double old[4 * STEPS], f[2], at[4], time = 0;
    orr_settings_defaults(&p);
    assert_int_equal(sim_dynamics_create(&plain, &p), 0);
    p.orbits.jump_step = JUMP;
    p.orbits.jump_factor = factor;
    assert_int_equal(sim_dynamics_create(&d, &p), 0);
    for (int i = 0; i < 60; i++) { /* dt is a fiftieth of the new period, which depends on it */
        s.dt_yr = i ? time / LATER : 0.02;
        struct sim_elements el = s.orbit[0];
        el.phase_rad += 2 * M_PI * JUMP * s.dt_yr / sim_period_yr(el.a_au, m1 + m2);
        assert_int_equal(sim_orbit_states(&el, m1 + m2, 0, 1, at), 0);
        const double E = 0.5 * (at[2] * at[2] + at[3] * at[3]) - GM / hypot(at[0], at[1]);
        time = 2 * M_PI * GM / pow(-2 * E, 1.5); /* a = -GM / 2E, Kepler III */
    }
    assert_int_equal(sim_states(&plain, &s, STEPS, old), 0);
    assert_int_equal(sim_states(&d, &s, STEPS, states), 0);
    for (size_t i = 0; i < 4 * (JUMP + 1); i++)
        assert_true(fabs(states[i] - old[i]) < 1e-10);
    for (size_t i = 4 * JUMP; i < 4 * (STEPS - LATER); i++)
        if (!(fabs(states[i + 4 * LATER] - states[i]) < 1e-9))
            fail_msg("step %zu: not back after the new period", i / 4);
    for (size_t k = JUMP - 1; k <= JUMP; k++) {
        const double *rel = states + 4 * k;
        const double F = sim_force(m1, m2, hypot(rel[0], rel[1])) * (k < JUMP ? 1 : factor);
        assert_true(fabs(sim_law_force(&d, k, m1, m2, rel, f) / F - 1) < 1e-14);
    }
    sim_dynamics_free(&d);
    /* every law feels it */
    for (int law = 0; law < ORR_LAWS; law++) {
        law_preset(&p, law);
        p.orbits.jump_step = 2;
        p.orbits.jump_factor = 3;
        assert_int_equal(sim_dynamics_create(&d, &p), 0);
        const double before = sim_law_force(&d, 1, 1, 1, at, f);
        assert_true(sim_law_force(&d, 2, 1, 1, at, f) > 1.5 * before);
        sim_dynamics_free(&d);
    }
    sim_dynamics_free(&plain);
}

/* ------------------------------------------------------------------------ many bodies */

enum { BODIES = 4, TIMES = 400 };
static double many[BODIES][TIMES][4];

TEST(test_bodies)
{
    static const double mass[BODIES] = {0.01, 0.003, 0.02, 1.1};
    static const double start[BODIES][4] = {
        {1, 0.1, -0.3, 6.4}, {-2, 0.4, -0.9, -4.6}, {0.3, 3.5, -3.4, 0.2}, {0.1, -0.2, 0.03, 0.4}};
    for (int law = 0; law < ORR_LAWS; law++) {
        struct sim_dynamics d;
        double first[4] = {0}; /* energy, momentum x, y, angular momentum */
        if (sim_laws[law].correct)
            continue;
        law_create(&d, law);
        assert_int_equal(sim_integrate_bodies(&d, BODIES, mass, &start[0][0], 0.05, TIMES, false,
                                              &many[0][0][0]),
                         0);
        for (size_t k = 0; k < TIMES; k++) {
            double sum[4] = {0}, size[4] = {0};
            for (int i = 0; i < BODIES; i++) {
                const double *s = many[i][k], m = mass[i];
                const double one[4] = {0.5 * m * (s[2] * s[2] + s[3] * s[3]), m * s[2], m * s[3],
                                       m * (s[0] * s[3] - s[1] * s[2])};
                for (int c = 0; c < 4; c++) {
                    sum[c] += one[c];
                    size[c] += fabs(one[c]);
                }
                for (int j = i + 1; j < BODIES && d.law->potential; j++)
                    sum[0] += d.law->potential(&d.params, m, mass[j],
                                               hypot(s[0] - many[j][k][0], s[1] - many[j][k][1]));
            }
            for (int c = 0; c < 4; c++) {
                if (k == 0)
                    first[c] = sum[c];
                if ((c > 0 || d.law->potential) && !(fabs(sum[c] - first[c]) <= 1e-10 * size[c]))
                    fail_msg("%s, step %zu: quantity %d was %.15g, is %.15g", sim_law_name(&d), k,
                             c, first[c], sum[c]);
            }
        }
        sim_dynamics_free(&d);
    }
}

/* nbody: Kepler when planets weigh next to nothing, otherwise not; the star moves. */
TEST(test_nbody_states)
{
    enum { STEPS = 200, PLANETS = 3 };
    static double free_states[4 * STEPS * PLANETS], nbody[4 * STEPS * PLANETS];
    struct orr_settings p;
    struct sim_dynamics d, plain;
    struct sim_system s = {.planets = PLANETS,
                           .star_mass = 1.1,
                           .orbit = {{.a_au = 1.3, .e = 0.31, .omega_rad = 0.4, .phase_rad = 2},
                                     {.a_au = 2.7, .e = 0.1, .omega_rad = 1, .phase_rad = 1},
                                     {.a_au = 0.6, .e = 0.2, .omega_rad = 2, .phase_rad = 3}},
                           .dt_yr = 0.05};
    double worst[2] = {0};
    orr_settings_defaults(&p);
    assert_int_equal(sim_dynamics_create(&plain, &p), 0);
    p.orbits.nbody = true;
    assert_int_equal(sim_dynamics_create(&d, &p), 0);
    for (int heavy = 0; heavy < 2; heavy++) {
        for (int i = 0; i < PLANETS; i++)
            s.mass[i] = heavy ? 1e-3 : 1e-18;
        assert_int_equal(sim_states(&plain, &s, STEPS, free_states), 0);
        assert_int_equal(sim_states(&d, &s, STEPS, nbody), 0);
        for (int i = 0; i < 4 * STEPS * PLANETS; i++)
            worst[heavy] = fmax(worst[heavy], fabs(nbody[i] - free_states[i]));
    }
    if (!(worst[0] < 1e-9 && worst[1] > 1e-3))
        fail_msg("massless planets: %.3g from Kepler, heavy ones: %.3g", worst[0], worst[1]);
    /* one planet: nothing else attracts it */
    s.planets = 1;
    assert_int_equal(sim_states(&plain, &s, STEPS, free_states), 0);
    assert_int_equal(sim_states(&d, &s, STEPS, nbody), 0);
    assert_memory_equal(nbody, free_states, 4 * STEPS * sizeof *nbody);
    sim_dynamics_free(&d);
    sim_dynamics_free(&plain);
}

/* ------------------------------------------------------------------------- sequences */

static void short_preset(struct orr_settings *p, int law)
{
    law_preset(p, law);
    p->orbits.protocol = ORR_PROTOCOL_IDENTIFIABLE;
    p->orbits.output = ORR_OUTPUT_CONTINUOUS;
    p->orbits.mass_prior = ORR_MASS_LOGUNIFORM;
    p->orbits.positions = 41;
    p->orbits.a_max_au = 3;
    p->orbits.law_constant = 0.01;
}

/* Labels are the law's force at the stored state, at every law; the same in any order. */
TEST(test_labels)
{
    for (int law = 0; law < ORR_LAWS; law++) {
        struct orr_settings p;
        struct sim_sequence q, other;
        int labels = 0;
        short_preset(&p, law);
        p.orbits.jump_step = 12;
        p.orbits.jump_factor = 1.5;
        assert_int_equal(sim_sequence_create(&q, &p, SIM_SPLIT_TWO_BODY_TRAIN), 0);
        assert_int_equal(sim_sequence_create(&other, &p, SIM_SPLIT_TWO_BODY_TRAIN), 0);
        assert_int_equal(sim_sequence_make(&q, &p, SIM_SPLIT_TWO_BODY_TRAIN, 3), 0);
        assert_int_equal(sim_sequence_make(&other, &p, SIM_SPLIT_TWO_BODY_TRAIN, 8), 0);
        assert_int_equal(sim_sequence_make(&q, &p, SIM_SPLIT_TWO_BODY_TRAIN, 8), 0);
        assert_memory_equal(q.coords, other.coords, 41 * 2 * sizeof *q.coords);
        for (size_t row = 1; row < 41; row++) {
            const float *s = q.full_state + 6 * row, *f = q.force_vector + 2 * row;
            const size_t k = (row - 1) / 2;
            if (!isfinite(q.force_magnitude[row]))
                continue;
            labels++;
            sim_dynamics_seek(&q.dynamics, k);
            const long double y[4] = {s[0], s[1], s[2], s[3]}, m1 = s[4], m2 = s[5];
            long double a[2];
            acceleration_reference(&q.dynamics, m1, m2, y, a);
            for (int c = 0; c < 2; c++)
                assert_true(fabsl(a[c] * m1 * m2 / (m1 + m2) - f[c]) <=
                            3e-6L * q.force_magnitude[row]);
            assert_true(fabsf(hypotf(f[0], f[1]) / q.force_magnitude[row] - 1) < 1e-6f);
        }
        assert_int_equal(labels, 12);
        sim_sequence_free(&q);
        sim_sequence_free(&other);
    }
}

/* Tokens under nbody: the barycentre of all bodies stays where it is, to the size of bins. */
TEST(test_nbody_sequence)
{
    struct orr_settings p;
    struct sim_sequence q;
    struct sim_system s;
    orr_settings_defaults(&p);
    p.orbits.nbody = true;
    p.orbits.bins = 60000;
    p.orbits.positions = 301;
    assert_int_equal(sim_sequence_create(&q, &p, SIM_SPLIT_SOLAR_SYSTEM), 0);
    assert_int_equal(sim_system_draw(&p, SIM_SPLIT_SOLAR_SYSTEM, 0, q.rng, &s), 0);
    s.mass[s.planets] = s.star_mass;
    assert_int_equal(sim_sequence_make(&q, &p, SIM_SPLIT_SOLAR_SYSTEM, 0), 0);
    bool moved = false;
    for (size_t row = 1; row + 8 < 301; row += 9)
        for (size_t c = 0; c < 2; c++) {
            double moment = 0, total = 0;
            for (size_t i = 0; i < 9; i++) {
                moment += s.mass[i] * ((q.tokens[2 * (row + i) + c] + 0.5) * 100 / 60000 - 50);
                total += s.mass[i];
            }
            assert_true(fabs(moment / total - s.com_au[c]) < 100.0 / 60000);
            moved |= q.tokens[2 * (row + 8) + c] != q.tokens[2 * 9 + c];
        }
    assert_true(moved);
    sim_sequence_free(&q);
}

/* A force that is not finite names sequence and r; a bad expression is refused at once. */
TEST(test_errors)
{
    struct orr_settings p;
    struct sim_sequence q;
    short_preset(&p, ORR_LAW_EXPRESSION);
    strcpy(p.orbits.expression, "r < 0.5 ? 1/0 : 40*m1*m2/r^2");
    assert_int_equal(sim_sequence_create(&q, &p, SIM_SPLIT_TRAIN), 0);
    int failures = 0; /* the start is further out */
    for (uint64_t i = 0; i < 200; i++)
        if (sim_sequence_make(&q, &p, SIM_SPLIT_TRAIN, i)) {
            char sequence[64];
            snprintf(sequence, sizeof sequence, "sequence %d of train", (int)i);
            error_names(sequence, "r = 0.", "AU", NULL);
            failures += strstr(orr_error(), "not finite") != NULL;
        }
    assert_true(failures > 0);
    sim_sequence_free(&q);
    strcpy(p.orbits.expression, "-m1*m2/r^2");
    assert_int_equal(sim_sequence_create(&q, &p, SIM_SPLIT_TRAIN), 0);
    assert_int_equal(sim_sequence_make(&q, &p, SIM_SPLIT_TRAIN, 5), ORR_EDOM);
    error_names("sequence 5 of train", "attraction", "r = ", NULL);
    sim_sequence_free(&q);
    strcpy(p.orbits.expression, "m1*m2/r^");
    assert_int_equal(sim_sequence_create(&q, &p, SIM_SPLIT_TRAIN), ORR_EUSAGE);
    error_names("orbits.expression", "character 9", NULL);
    struct sim_dynamics d;
    law_create(&d, ORR_LAW_NEWTON);
    const double mass[20] = {1};
    assert_int_equal(sim_integrate_bodies(&d, 20, mass, states, 1, 2, true, states), ORR_EINVAL);
    const double massless[2] = {0, 1}, start[8] = {1, 0, 0, 6};
    assert_int_equal(sim_integrate_bodies(&d, 2, massless, start, 0.1, 2, true, states), ORR_EDOM);
    error_names("body 1", "massless test particles", NULL);
    sim_dynamics_free(&d);
}

/* Planets on one circle: those that meet head-on are named within a bounded number of steps, those
 * that pass each other, or stay together as Trojans do, are followed. Body 2 stays aside. */
TEST(test_encounters)
{
    const double mass[4] = {1e-3, 1e-9, 2e-3, 1}, v = 2 * M_PI;
    struct sim_dynamics d;
    law_create(&d, ORR_LAW_NEWTON);
    for (int i = 0; i < 3; i++) { /* 0: head-on, 1: ahead by 60 degrees, 2: clockwise, apart */
        const double angle = i == 1 ? M_PI / 3 : 0.3, turn = i == 1 ? 1 : -1, r = i == 2 ? 1.01 : 1;
        const double c = cos(angle), s = sin(angle), u = turn * v / sqrt(r);
        const double start[16] = {c,     -s,    v * s,  v * c, 20, 0, 0, v / sqrt(20.0),
                                  r * c, r * s, -u * s, u * c};
        const int rc = sim_integrate_bodies(&d, 4, mass, start, 0.02, 40, true, states);
        assert_int_equal(rc, i == 0 ? ORR_EDOM : 0);
        assert_int_equal(d.met, i == 0);
        if (i == 0)
            error_names("between bodies 1 and 3", "AU apart at t = 0.04", NULL);
    }
    sim_dynamics_free(&d);
}

TESTS(NULL, NULL)
