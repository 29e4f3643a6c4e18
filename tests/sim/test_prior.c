/* test_prior.c - how systems are drawn, against the distributions of the protocols.
 *
 * At fixed seeds: Kolmogorov-Smirnov as in ks.h, counts by chi-square at the 0.9999 quantile. */
#include "base/scratch.h"
#include "ks.h"
#include "sim.h"

#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_statistics.h>
#include <xxhash.h>

static double cdf_flat(double x, const void *range)
{
    const double *r = range;
    return fmin(fmax((x - r[0]) / (r[1] - r[0]), 0), 1);
}

static double cdf_log_flat(double x, const void *range)
{
    const double *r = range;
    return fmin(fmax(log(x / r[0]) / log(r[1] / r[0]), 0), 1);
}

/* Beta(r[0], r[1]) cut at r[2]. */
static double cdf_beta(double x, const void *range)
{
    const double *r = range;
    return gsl_cdf_beta_P(fmin(fmax(x, 0), r[2]), r[0], r[1]) / gsl_cdf_beta_P(r[2], r[0], r[1]);
}

/* Clamped: below the clamp nothing, at it a jump, at the upper clamp everything. */
static double cdf_star(double x, const void *none)
{
    (void)none;
    return x < 0.1  ? 0
           : x >= 5 ? 1
                    : gsl_cdf_lognormal_P(x + 0.6793710468, log(1.627161491), 0.200446077);
}

static double cdf_planet(double x, const void *none)
{
    (void)none;
    if (x < 1e-9)
        return 0;
    const double above = x - 6.009815e-08;
    return x >= 1e-3 ? 1 : above <= 0 ? 0 : gsl_cdf_gamma_P(above, 0.3202016969, 0.001105594925);
}

static double cdf_normal(double x, const void *sigma)
{
    return gsl_cdf_gaussian_P(x, *(const double *)sigma);
}

static const double turn[] = {0, 2 * M_PI};

/* ------------------------------------------------------------------- protocol vafa2025 */

enum { SYSTEMS = 100000, MOST = SYSTEMS * SIM_PLANETS };
static double a[MOST], e[MOST], phase[MOST], omega[MOST], mass[MOST];
static double star[SYSTEMS], com[2][SYSTEMS];

/* Systems of the training set: planets go to a, e, phase, omega and mass, all of one system beside
 * each other, systems to star and com. Returns the number of planets. */
static size_t draw_study(const struct orr_settings *p, int planets[11], int *slow)
{
    size_t n = 0;
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    for (uint64_t i = 0; i < SYSTEMS; i++) {
        struct sim_system s;
        assert_int_equal(sim_system_draw(p, SIM_SPLIT_TRAIN, i, rng, &s), 0);
        assert_in_range(s.planets, 1, 10);
        planets[s.planets]++;
        *slow += s.dt_token;
        assert_true(s.dt_yr == (s.dt_token ? 180 : 7) * 0.0027);
        assert_int_equal(s.star_moves, s.planets == 1);
        star[i] = s.star_mass;
        com[0][i] = s.com_au[0];
        com[1][i] = s.com_au[1];
        for (int k = 0; k < s.planets; k++, n++) {
            a[n] = s.orbit[k].a_au;
            e[n] = s.orbit[k].e;
            phase[n] = s.orbit[k].phase_rad;
            omega[n] = s.orbit[k].omega_rad;
            mass[n] = s.mass[k];
        }
    }
    gsl_rng_free(rng);
    return n;
}

TEST(test_study)
{
    struct orr_settings p;
    int planets[11] = {0}, slow = 0;
    const double unit = 1;
    orr_settings_defaults(&p);
    const size_t n = draw_study(&p, planets, &slow);
    double chi = 0, clamped = 0;
    for (int k = 1; k <= 10; k++)
        chi += pow(planets[k] - SYSTEMS / 10.0, 2) / (SYSTEMS / 10.0);
    assert_true(chi < gsl_cdf_chisq_Pinv(0.9999, 9));
    assert_true(abs(slow - SYSTEMS / 2) < 4 * (int)sqrt(SYSTEMS / 4.0));
    for (size_t i = 0; i < n; i++)
        clamped += mass[i] == 1e-3;
    clamped /= (double)n; /* the share that the specification states */
    assert_true(fabs(clamped - 0.105) < 4 * sqrt(0.105 * 0.895 / (double)n) + 5e-4);
    check_ks("a", n, a, cdf_flat, (double[]){0.3, 32});
    check_ks("e", n, e, cdf_beta, (double[]){0.867, 3.03, 0.999});
    check_ks("phase", n, phase, cdf_flat, turn);
    check_ks("omega", n, omega, cdf_flat, turn);
    check_ks("planet mass", n, mass, cdf_planet, NULL);
    check_ks("star mass", SYSTEMS, star, cdf_star, NULL);
    check_ks("com x", SYSTEMS, com[0], cdf_normal, &unit);
    check_ks("com y", SYSTEMS, com[1], cdf_normal, &unit);
}

/* No planet of one system is a planet of another: the published seeds repeated a quarter of them,
 * which is what is counted with their switch. */
TEST(test_no_duplicates)
{
    struct orr_settings p;
    orr_settings_defaults(&p);
    for (int repeated = 0; repeated < 2; repeated++) {
        int planets[11] = {0}, slow = 0;
        p.orbits.compat_repeated_planets = repeated;
        const size_t n = draw_study(&p, planets, &slow);
        qsort(a, n, sizeof *a, ascending);
        size_t same = 0;
        for (size_t i = 1; i < n; i++)
            same += a[i] == a[i - 1];
        if (!repeated)
            assert_int_equal(same, 0);
        else /* 1.3 of the 5.5 planets of a system */
            assert_true(fabs((double)same / (double)n - 1.3 / 5.5) < 0.01);
    }
}

/* The switch that brings them back: planets 6 to 10 are those of the next system, 24% of all. */
TEST(test_repeated_planets)
{
    struct orr_settings p;
    struct sim_system s, next;
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    long all = 0, repeated = 0;
    orr_settings_defaults(&p);
    p.orbits.compat_repeated_planets = true;
    assert_int_equal(sim_system_draw(&p, SIM_SPLIT_TRAIN, 0, rng, &s), 0);
    for (uint64_t i = 1; i < 20000; i++, s = next) {
        assert_int_equal(sim_system_draw(&p, SIM_SPLIT_TRAIN, i, rng, &next), 0);
        all += s.planets;
        for (int k = 5; k < s.planets && k - 5 < next.planets; k++, repeated++) {
            assert_true(s.mass[k] == next.mass[k - 5]);
            assert_memory_equal(&s.orbit[k], &next.orbit[k - 5], sizeof s.orbit[k]);
        }
        for (int k = 1; k < s.planets; k++) /* not within a system */
            assert_true(s.orbit[k].a_au != s.orbit[k - 1].a_au);
    }
    gsl_rng_free(rng);
    const double share = (double)repeated / (double)all; /* 1.3 of 5.5 planets */
    assert_true(fabs(share - 1.3 / 5.5) < 0.01);
}

/* --------------------------------------------------------------- protocol identifiable */

static void identifiable(struct orr_settings *p)
{
    orr_settings_defaults(p);
    p->orbits.protocol = ORR_PROTOCOL_IDENTIFIABLE;
    p->orbits.output = ORR_OUTPUT_CONTINUOUS;
    p->orbits.mass_prior = ORR_MASS_UNIFORM;
    p->orbits.m_min = 0.1;
    p->orbits.m_max = 2;
    p->orbits.a_min_au = 0.7;
    p->orbits.a_max_au = 2.3;
    p->orbits.e_max = 0.9;
    p->orbits.com_sigma_au = 0.37;
    p->planets.enabled = true;
    p->planets.train = 1000;
    p->planets.val = 10;
    assert_int_equal(orr_settings_check(p), 0);
}

/* m1 and m2 are exchangeable: the first is the lighter one in half of n systems (binomial). */
static void check_orders(const char *what, size_t lighter, size_t n)
{
    if (!(fabs((double)lighter - (double)n / 2) < 4 * sqrt((double)n / 4)))
        fail_msg("%s: m1 < m2 in %zu of %zu systems", what, lighter, n);
}

/* With a window of samples that never rejects, the marginals are the priors. */
static void check_identifiable(enum orr_mass_prior prior, cdf_function *cdf)
{
    struct orr_settings p;
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    double *m1 = mass, *m2 = mass + SYSTEMS;
    size_t lighter = 0;
    identifiable(&p);
    p.orbits.mass_prior = prior;
    p.orbits.samples_min = 2;
    p.orbits.samples_max = 1e9;
    for (uint64_t i = 0; i < SYSTEMS; i++) {
        struct sim_system s;
        assert_int_equal(sim_system_draw(&p, SIM_SPLIT_TWO_BODY_TRAIN, i, rng, &s), 0);
        assert_int_equal(s.planets, 1);
        assert_true(s.star_moves && s.dt_yr == 0.04);
        a[i] = s.orbit[0].a_au;
        e[i] = s.orbit[0].e;
        phase[i] = s.orbit[0].phase_rad;
        omega[i] = s.orbit[0].omega_rad;
        m1[i] = s.mass[0];
        m2[i] = s.star_mass;
        lighter += m1[i] < m2[i];
        com[0][i] = s.com_au[0];
        com[1][i] = s.com_au[1];
    }
    gsl_rng_free(rng);
    /* about their own means: sorting leaves the sum of products as it is */
    const double r = gsl_stats_correlation(m1, 1, m2, 1, SYSTEMS);
    if (!(fabs(r) < 4 / sqrt(SYSTEMS)))
        fail_msg("correlation of m1 and m2: %g", r);
    check_orders("all draws", lighter, SYSTEMS);
    check_ks("m1", SYSTEMS, m1, cdf, (double[]){0.1, 2}); /* the same distribution */
    check_ks("m2", SYSTEMS, m2, cdf, (double[]){0.1, 2});
    check_ks("a", SYSTEMS, a, cdf_flat, (double[]){0.7, 2.3});
    check_ks("e", SYSTEMS, e, cdf_beta, (double[]){0.867, 3.03, 0.9});
    check_ks("phase", SYSTEMS, phase, cdf_flat, turn);
    check_ks("omega", SYSTEMS, omega, cdf_flat, turn);
    check_ks("com x", SYSTEMS, com[0], cdf_normal, &p.orbits.com_sigma_au);
    check_ks("com y", SYSTEMS, com[1], cdf_normal, &p.orbits.com_sigma_au);
}

TEST(test_identifiable_uniform)
{
    check_identifiable(ORR_MASS_UNIFORM, cdf_flat);
}

TEST(test_identifiable_loguniform)
{
    check_identifiable(ORR_MASS_LOGUNIFORM, cdf_log_flat);
}

/* With the real window every orbit has 10 to 60 samples, and dt is the same for all. */
TEST(test_identifiable_window)
{
    struct orr_settings p;
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    identifiable(&p);
    double least = INFINITY, most = 0;
    size_t lighter = 0;
    for (uint64_t i = 0; i < SYSTEMS; i++) {
        struct sim_system s;
        assert_int_equal(sim_system_draw(&p, SIM_SPLIT_TRAIN, i, rng, &s), 0);
        lighter += s.mass[0] < s.star_mass; /* the window treats both alike */
        const double total = s.mass[0] + s.star_mass;
        const double samples = sim_period_yr(s.orbit[0].a_au, total) / s.dt_yr;
        assert_true(s.dt_yr == p.orbits.dt_yr);
        least = fmin(least, samples);
        most = fmax(most, samples);
    }
    assert_true(least >= 10 && least < 11 && most <= 60 && most > 55);
    check_orders("draws inside the window", lighter, SYSTEMS);
    p.orbits.dt_yr = 1e4; /* no orbit can have 10 samples */
    struct sim_system s;
    assert_int_equal(sim_system_draw(&p, SIM_SPLIT_TRAIN, 0, rng, &s), ORR_EUSAGE);
    error_names("orbits.dt_yr", "orbits.m_min", NULL);
    p.orbits.dt_yr = 0.04; /* masses of 0.01 need less than 0.53 AU: an end, and those masses */
    p.orbits.m_min = p.orbits.m_max = 0.01;
    assert_int_equal(sim_system_draw(&p, SIM_SPLIT_TRAIN, 0, rng, &s), ORR_EUSAGE);
    error_names("orbits.m_min", "0.01 and 0.01", "0.7 to 2.3 AU", NULL);
    gsl_rng_free(rng);
}

/* The presets of two comparable bodies with their own windows of samples, which redraw a quarter of
 * the orbits: masses are independent and log-uniform in 0.1 to 3 all the same (spec of the study),
 * in training sets as in two-body sets. Redrawing masses with their orbits gave a correlation of
 * -0.17 and sqrt(n) D of 18. */
TEST(test_presets)
{
    static const char *const names[] = {"smoke", "quick", "laptop"};
    static const enum sim_split splits[] = {SIM_SPLIT_TRAIN, SIM_SPLIT_TWO_BODY_TRAIN};
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    for (int k = 0; k < 6; k++) {
        struct orr_settings p;
        size_t lighter = 0, rejected = 0;
        assert_int_equal(orr_settings_load(&p, names[k / 2]), 0);
        for (uint64_t i = 0; i < SYSTEMS; i++) {
            struct sim_system s, first;
            assert_int_equal(sim_system_draw(&p, splits[k % 2], i, rng, &s), 0);
            mass[i] = log(s.mass[0]);
            star[i] = log(s.star_mass);
            lighter += s.mass[0] < s.star_mass;
            struct orr_settings open = p; /* the first axis of the same stream */
            open.orbits.samples_min = 2;
            open.orbits.samples_max = 1e9;
            assert_int_equal(sim_system_draw(&open, splits[k % 2], i, rng, &first), 0);
            rejected += first.orbit[0].a_au != s.orbit[0].a_au;
            assert_true(first.mass[0] == s.mass[0] && first.star_mass == s.star_mass);
        }
        assert_true(rejected > SYSTEMS / 5); /* or the window is not what is tested */
        const double r = gsl_stats_correlation(mass, 1, star, 1, SYSTEMS);
        if (!(fabs(r) < 4 / sqrt(SYSTEMS)))
            fail_msg("%s: correlation of ln m1 and ln m2: %g", names[k / 2], r);
        check_orders(names[k / 2], lighter, SYSTEMS);
        check_ks("ln m1", SYSTEMS, mass, cdf_flat, (double[]){log(0.1), log(3)});
        check_ks("ln m2", SYSTEMS, star, cdf_flat, (double[]){log(0.1), log(3)});
    }
    gsl_rng_free(rng);
}

/* A cut that keeps almost nothing of the Beta still ends, and follows the cut Beta: also where its
 * peak lies far above the cut, and where the density grows without bound at 1. */
TEST(test_small_e_max)
{
    static const double rows[][3] = {
        {0.867, 3.03, 0.01}, {0.867, 3.03, 1e-4}, {0.867, 3.03, 1e-9}, {0.867, 3.03, 0},
        {500, 500, 0.41},    {40, 3, 0.4},        {7, 0.3, 0.19},      {1e6, 1e6, 0.49},
    };
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    struct orr_settings p;
    identifiable(&p);
    for (size_t c = 0; c < sizeof rows / sizeof *rows; c++) {
        enum { N = 1000 };
        p.orbits.e_alpha = rows[c][0];
        p.orbits.e_beta = rows[c][1];
        p.orbits.e_max = rows[c][2];
        for (uint64_t i = 0; i < N; i++) {
            struct sim_system s;
            assert_int_equal(sim_system_draw(&p, SIM_SPLIT_TRAIN, i, rng, &s), 0);
            e[i] = s.orbit[0].e;
            assert_true(e[i] >= 0 && e[i] <= rows[c][2]);
        }
        if (gsl_cdf_beta_P(rows[c][2], rows[c][0], rows[c][1]) > 0)
            check_ks("e", N, e, cdf_beta, rows[c]);
        else if (rows[c][2] > 0) /* GSL has no number for the share: all lie close to the cut */
            assert_true(gsl_stats_min(e, 1, N) > 0.99 * rows[c][2] && gsl_stats_sd(e, 1, N) > 1e-6);
    }
    gsl_rng_free(rng);
}

/* -------------------------------------------------------------------------- planet runs */

/* 10 to 60 samples; half of the planets light, log-uniform. */
TEST(test_planet_runs)
{
    struct orr_settings p;
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    size_t light = 0;
    double least = INFINITY, most = 0;
    identifiable(&p);
    for (uint64_t i = 0; i < SYSTEMS; i++) {
        struct sim_system s;
        assert_int_equal(sim_system_draw(&p, SIM_SPLIT_PLANETS_TRAIN, i, rng, &s), 0);
        const double ratio = s.mass[0] / s.star_mass;
        const double samples = sim_period_yr(s.orbit[0].a_au, s.mass[0] + s.star_mass) / s.dt_yr;
        assert_true(samples >= 10 && samples <= 60 && ratio <= 1 && s.star_moves);
        least = fmin(least, s.orbit[0].a_au);
        most = fmax(most, s.orbit[0].a_au);
        phase[i] = s.orbit[0].phase_rad;
        omega[i] = s.orbit[0].omega_rad;
        if (ratio < 1e-2)
            mass[light++] = ratio;
    }
    assert_true(fabs((double)light - SYSTEMS / 2.0) < 4 * sqrt(SYSTEMS / 4.0));
    assert_true(least < 0.387 && most > 30.069); /* Mercury to Neptune */
    for (uint64_t i = 0; i < 1000; i++) {        /* training, validation, test: no system twice */
        static const enum sim_split splits[] = {SIM_SPLIT_PLANETS_TRAIN, SIM_SPLIT_PLANETS_VAL,
                                                SIM_SPLIT_PLANETS_TEST};
        struct sim_system s[3];
        for (int k = 0; k < 3; k++)
            assert_int_equal(sim_system_draw(&p, splits[k], i, rng, &s[k]), 0);
        for (int k = 0; k < 3; k++)
            assert_true(s[k].orbit[0].a_au != s[(k + 1) % 3].orbit[0].a_au);
    }
    check_ks("m1/m2", light, mass, cdf_log_flat, (double[]){1e-7, 1e-2});
    check_ks("phase", SYSTEMS, phase, cdf_flat, turn);
    check_ks("omega", SYSTEMS, omega, cdf_flat, turn);
    gsl_rng_free(rng);
}

/* R^2 of ln T on ln dt from its definition: the square of their correlation. */
static double period_r2(const struct orr_settings *p, enum sim_split split)
{
    double sum[5] = {0};
    const double n = SIM_PRIOR_SYSTEMS;
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    for (uint64_t i = 0; i < SIM_PRIOR_SYSTEMS; i++) {
        struct sim_system s;
        assert_int_equal(sim_system_draw(p, split, i, rng, &s), 0);
        const double x = log(s.dt_yr), a_au = s.orbit[0].a_au; /* Kepler's third law */
        const double y = 0.5 * log(a_au * a_au * a_au / (s.mass[0] + s.star_mass));
        const double term[5] = {x, y, x * x, y * y, x * y};
        for (int k = 0; k < 5; k++)
            sum[k] += term[k] / n;
    }
    gsl_rng_free(rng);
    const double xy = sum[4] - sum[0] * sum[1];
    return xy * xy / ((sum[2] - sum[0] * sum[0]) * (sum[3] - sum[1] * sum[1]));
}

/* What the time step tells of the period: nothing in the protocols, nearly all in planet runs,
 * where a window of 10 to 60 samples ties both, less where that window is wider. */
TEST(test_period_from_dt)
{
    struct orr_settings p;
    double r2;
    identifiable(&p);
    assert_int_equal(sim_prior_period_r2(&p, SIM_SPLIT_TWO_BODY_TRAIN, &r2), 0);
    assert_true(r2 == 0);
    assert_int_equal(sim_prior_period_r2(&p, SIM_SPLIT_PLANETS_TRAIN, &r2), 0);
    assert_true(fabs(r2 - period_r2(&p, SIM_SPLIT_PLANETS_TRAIN)) < 1e-9);
    const double narrow = r2;
    p.planets.samples_min = 2;
    p.planets.samples_max = 600;
    assert_int_equal(sim_prior_period_r2(&p, SIM_SPLIT_PLANETS_TRAIN, &r2), 0);
    assert_true(fabs(r2 - period_r2(&p, SIM_SPLIT_PLANETS_TRAIN)) < 1e-9);
    assert_true(r2 < narrow && narrow < 1);
    orr_settings_defaults(&p);
    assert_int_equal(sim_prior_period_r2(&p, SIM_SPLIT_TRAIN, &r2), 0);
    assert_true(r2 * SIM_PRIOR_SYSTEMS < 16); /* n R^2 is chi-square of 1: 4 sigma */
}

/* What independent draws of axis and time step come to when those with fewer than 10 or more than
 * 60 samples per orbit are rejected, for given masses: log a and log dt are uniform in a rectangle
 * and the band 10 <= P / dt <= 60 crosses it. `room` is the length of the band in log dt. */
struct band {
    double a[2], dt_yr[2], mass;
};

static double band_room(const struct band *b, double log_a, double *low)
{
    const double period_yr = sim_period_yr(exp(log_a), b->mass);
    *low = log(fmax(b->dt_yr[0], period_yr / 60));
    return fmax(log(fmin(b->dt_yr[1], period_yr / 10)) - *low, 0);
}

/* The share of the band below log_a; `room` is linear between its kinks, so that the sums of
 * trapezia are off by the square of a step at most at these four. */
static double band_below(const struct band *b, double log_a)
{
    enum { STEPS = 400 };
    const double first = log(b->a[0]), width = log(b->a[1] / b->a[0]);
    double sum[2] = {0}, low;
    for (int part = 0; part < 2; part++) {
        const double h = (part ? width : log_a - first) / STEPS;
        for (int i = 0; i <= STEPS; i++)
            sum[part] += (i % STEPS ? 1 : 0.5) * h * band_room(b, first + i * h, &low);
    }
    return sum[0] / sum[1];
}

/* dt is drawn independently of the period: for every pair of masses, whatever their distribution,
 * the place of log a in its distribution and that of log dt in the band are uniform and independent
 * of each other and of the masses. A dt made from the period is another distribution (drawn as
 * P / U(10, 60), it crowds at short steps: sqrt(n) D is then 30). */
TEST(test_planet_dt)
{
    enum { N = 20000, CELLS = 10 };
    struct orr_settings p;
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    double *const u = e, *const v = a, product[2] = {0}, masses[2] = {0}, chi = 0;
    int cells[CELLS][CELLS] = {0};
    identifiable(&p);
    for (uint64_t i = 0; i < N; i++) {
        struct sim_system s;
        assert_int_equal(sim_system_draw(&p, SIM_SPLIT_PLANETS_TRAIN, i, rng, &s), 0);
        /* 0.3 to 32 AU; the steps that these have with masses of 0.1 to 5 */
        const struct band band = {
            .a = {0.3, 32},
            .dt_yr = {sim_period_yr(0.3, 5) / 60, sim_period_yr(32, 0.1) / 10},
            .mass = s.mass[0] + s.star_mass};
        double low;
        const double room = band_room(&band, log(s.orbit[0].a_au), &low);
        u[i] = (log(s.dt_yr) - low) / room;
        v[i] = band_below(&band, log(s.orbit[0].a_au));
        mass[i] = log(band.mass);
        masses[0] += mass[i] / N;
        masses[1] += mass[i] * mass[i] / N;
    }
    gsl_rng_free(rng);
    const double spread = sqrt(masses[1] - masses[0] * masses[0]);
    for (size_t i = 0; i < N; i++) {
        assert_true(u[i] >= 0 && u[i] < 1 && v[i] >= 0 && v[i] < 1);
        cells[(int)(CELLS * u[i])][(int)(CELLS * v[i])]++;
        product[0] += (u[i] - 0.5) * sqrt(12) * (mass[i] - masses[0]) / spread;
        product[1] += (v[i] - 0.5) * sqrt(12) * (mass[i] - masses[0]) / spread;
    }
    for (int k = 0; k < 2; k++) /* correlations, each normal with deviation 1 / sqrt(N) */
        assert_true(fabs(product[k]) / sqrt(N) < 4);
    for (int k = 0; k < CELLS * CELLS; k++)
        chi += pow(cells[k / CELLS][k % CELLS] - (double)N / (CELLS * CELLS), 2) /
               ((double)N / (CELLS * CELLS));
    check_ks("log dt in its band", N, u, cdf_flat, (double[]){0, 1});
    check_ks("log a", N, v, cdf_flat, (double[]){0, 1});
    assert_true(chi < gsl_cdf_chisq_Pinv(0.9999, CELLS * CELLS - 1));
}

/* --------------------------------------------------------------------- pure functions */

/* The same (seed, split, index) gives the same system after any other draw; each of the three
 * changes it. Two-body sets have one planet in both protocols. */
TEST(test_pure)
{
    struct orr_settings p;
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    for (int protocol = 0; protocol < 2; protocol++) {
        if (protocol)
            identifiable(&p);
        else
            orr_settings_defaults(&p);
        for (int split = 0; split <= SIM_SPLIT_TWO_BODY_TEST; split++) {
            struct sim_system s, t;
            const enum sim_split here = (enum sim_split)split;
            assert_int_equal(sim_system_draw(&p, here, 123456789012, rng, &s), 0);
            assert_int_equal(sim_system_draw(&p, here, 123456789013, rng, &t), 0);
            assert_true(s.orbit[0].a_au != t.orbit[0].a_au);
            p.seed++;
            assert_int_equal(sim_system_draw(&p, here, 123456789012, rng, &t), 0);
            p.seed--;
            assert_true(s.orbit[0].a_au != t.orbit[0].a_au);
            assert_int_equal(
                sim_system_draw(&p, (enum sim_split)((split + 1) % 6), 123456789012, rng, &t), 0);
            assert_true(s.orbit[0].a_au != t.orbit[0].a_au);
            assert_int_equal(sim_system_draw(&p, here, 123456789012, rng, &t), 0);
            assert_memory_equal(s.orbit, t.orbit, sizeof s.orbit);
            assert_memory_equal(s.mass, t.mass, sizeof s.mass);
            if (sim_split_labelled(here))
                assert_int_equal(s.planets, 1);
        }
    }
    gsl_rng_free(rng);
}

/* The table of the solar system, in all of its three sets. */
TEST(test_solar_system)
{
    static const double table[8][3] = {
        {1.652e-7, 0.387, 0.205},  {2.447e-6, 0.723, 0.007},  {3.003e-6, 1.000, 0.017},
        {3.213e-7, 1.524, 0.093},  {9.544e-4, 5.203, 0.048},  {2.857e-4, 9.537, 0.054},
        {4.354e-5, 19.189, 0.047}, {5.165e-5, 30.069, 0.009},
    };
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    struct orr_settings p;
    struct sim_system all, one;
    orr_settings_defaults(&p);
    assert_int_equal(sim_system_draw(&p, SIM_SPLIT_SOLAR_SYSTEM, 0, rng, &all), 0);
    assert_true(all.planets == 8 && !all.star_moves && all.star_mass == 1);
    assert_true(all.dt_yr == 7 * 0.0027 && all.dt_token == 0);
    for (uint64_t i = 0; i < 8; i++) {
        assert_true(all.mass[i] == table[i][0] && all.orbit[i].a_au == table[i][1] &&
                    all.orbit[i].e == table[i][2]);
        for (int split = 0; split < 2; split++) {
            assert_int_equal(
                sim_system_draw(&p,
                                split ? SIM_SPLIT_PLANETS_SOLAR : SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY,
                                i, rng, &one),
                0);
            assert_true(one.planets == 1 && one.star_moves && one.star_mass == 1);
            assert_true(one.mass[0] == table[i][0] && one.orbit[0].a_au == table[i][1] &&
                        one.orbit[0].e == table[i][2]);
            if (split) {
                const double samples = sim_period_yr(table[i][1], 1 + table[i][0]) / one.dt_yr;
                assert_true(samples >= 40 - 1e-12);
            } else {
                const bool slow = i >= 5; /* Saturn's orbit has 60 samples at 180 days */
                assert_true(one.dt_yr == (slow ? 180 : 7) * 0.0027 && one.dt_token == slow);
                p.orbits.compat_solar_dt = true;
                assert_int_equal(sim_system_draw(&p, SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY, i, rng, &one),
                                 0);
                assert_true(one.dt_yr == 180 * 0.0027 && one.dt_token == 1);
                p.orbits.compat_solar_dt = false;
            }
        }
    }
    gsl_rng_free(rng);
}

/* ------------------------------------------------------------------------ the same bits */

static void hash_doubles(uint64_t *hash, const double *x, size_t n)
{
    *hash = XXH64(x, n * sizeof *x, *hash);
}

/* Every bit of systems of all priors, which no CPU may change: tests.mk runs this program again
 * with other variants of the C library's functions. A new prior has a new hash. */
TEST(test_same_bits)
{
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    uint64_t hash = 0;
    for (int prior = 0; prior < 3; prior++) {
        struct orr_settings p;
        if (prior)
            identifiable(&p);
        else
            orr_settings_defaults(&p);
        p.orbits.mass_prior = ORR_MASS_LOGUNIFORM;
        const enum sim_split split = prior < 2 ? SIM_SPLIT_TRAIN : SIM_SPLIT_PLANETS_TRAIN;
        for (uint64_t i = 0; i < 20000; i++) {
            struct sim_system s;
            p.orbits.e_max = i < 19990 ? 0.9 : 1e-5;
            assert_int_equal(sim_system_draw(&p, split, i, rng, &s), 0);
            hash_doubles(&hash, (double[]){s.dt_yr, s.star_mass, s.com_au[0], s.com_au[1]}, 4);
            hash_doubles(&hash, s.mass, (size_t)s.planets);
            for (int k = 0; k < s.planets; k++)
                hash_doubles(&hash,
                             (double[]){s.orbit[k].a_au, s.orbit[k].e, s.orbit[k].phase_rad,
                                        s.orbit[k].omega_rad},
                             4);
        }
    }
    gsl_rng_free(rng);
    if (hash != 0x23a7cbc4e97d9d76)
        fail_msg("systems have hash %016llx", (unsigned long long)hash);
}

/* orbits.clockwise is the share of orbits that go so, of every prior; nothing else changes but the
 * draws after it, and the solar system goes as it does. */
TEST(test_clockwise)
{
    static const enum sim_split splits[] = {SIM_SPLIT_TRAIN, SIM_SPLIT_PLANETS_TRAIN};
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    for (int k = 0; k < 3; k++) { /* of the study, of two bodies, of planet runs */
        struct orr_settings p;
        long clockwise = 0, orbits = 0;
        identifiable(&p);
        if (k == 0)
            assert_int_equal(orr_settings_set(&p, "orbits.protocol=vafa2025"), 0);
        assert_int_equal(orr_settings_set(&p, "orbits.clockwise=0.25"), 0);
        for (uint64_t i = 0; i < 4000; i++) {
            struct sim_system s;
            assert_int_equal(sim_system_draw(&p, splits[k == 2], i, rng, &s), 0);
            for (int b = 0; b < s.planets; b++)
                clockwise += s.orbit[b].clockwise;
            orbits += s.planets;
        }
        const double n = (double)orbits;
        assert_true(fabs((double)clockwise - 0.25 * n) < 4 * sqrt(0.25 * 0.75 * n));
        assert_int_equal(orr_settings_set(&p, "orbits.clockwise=1"), 0);
        struct sim_system all, planet;
        assert_int_equal(sim_system_draw(&p, splits[k == 2], 5, rng, &all), 0);
        for (int b = 0; b < all.planets; b++)
            assert_true(all.orbit[b].clockwise);
        assert_int_equal(sim_system_draw(&p, SIM_SPLIT_PLANETS_SOLAR, 5, rng, &planet), 0);
        assert_false(planet.orbit[0].clockwise);
    }
    gsl_rng_free(rng);
}

TESTS(NULL, NULL)
