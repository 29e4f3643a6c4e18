/* test_law.c - forces: against a second writing of them, against their potentials, equal and
 * opposite, in their limits; expressions; settings that can not work. */
#include "stage/provenance.h"
#include "laws.h"

#include <xxhash.h>

static const double radii[] = {0.0137, 0.31, 0.97, 1, 2.385, 7.7, 31.9, 412.7};
static const double masses[][2] = {{1, 1}, {0.731, 2.385}, {3.003e-6, 1.1}, {1e-9, 0.13}};
enum { RADII = sizeof radii / sizeof *radii, MASSES = sizeof masses / sizeof *masses };

static void close_to(double found, long double expected, long double tolerance, const char *what)
{
    if (!(fabsl(found - expected) <= tolerance * fabsl(expected)))
        fail_msg("%s: %.17g, expected %.17Lg (%.2Lg)", what, found, expected,
                 fabsl(found / expected - 1));
}

/* The registry: names in the order of the preset's choices, and every parameter a key. */
TEST(test_registry)
{
    struct orr_settings p;
    for (int law = 0; law < ORR_LAWS; law++) {
        char text[128];
        snprintf(text, sizeof text, "orbits.law=%s", orr_force_laws[law].name);
        orr_settings_defaults(&p);
        assert_int_equal(p.orbits.law, ORR_LAW_NEWTON);
        assert_int_equal(orr_settings_set(&p, text), 0);
        assert_int_equal(p.orbits.law, law);
        assert_non_null(sim_laws[law].force);
        assert_true(*orr_force_laws[law].help);
        snprintf(text, sizeof text, "%s", orr_force_laws[law].settings);
        for (char *rest, *key = strtok_r(text, " ", &rest); key; key = strtok_r(NULL, " ", &rest)) {
            char set[160];
            snprintf(set, sizeof set, "%s=1", key);
            assert_int_equal(orr_settings_set(&p, set), 0);
        }
    }
    assert_int_equal(orr_settings_set(&p, "orbits.law=newtn"), ORR_EUSAGE);
    error_names("orbits.law", "power", "expression", "newtn", NULL);
}

/* The same force to 1e-14, powers and exponentials of our own included. */
TEST(test_force)
{
    for (int law = 0; law < ORR_LAWS; law++) {
        struct sim_dynamics d;
        law_create(&d, law);
        for (int i = 0; i < RADII; i++)
            for (int k = 0; k < MASSES; k++) {
                const double m1 = masses[k][0], m2 = masses[k][1], r = radii[i];
                const long double expected = force_reference(&d, m1, m2, r);
                const long double newton = force_reference(
                    &(struct sim_dynamics){.law = sim_laws, .params = d.params}, m1, m2, r);
                /* lambda: a difference of two */
                const long double noise = 1e-15L * fabsl(newton / expected);
                close_to(d.law->force(&d.params, m1, m2, r), expected, 5e-15L + noise,
                         sim_law_name(&d));
            }
        sim_dynamics_free(&d);
    }
    struct sim_dynamics d;
    law_create(&d, ORR_LAW_POWER);
    for (double n = -2.99; n < 10; n += 0.2537) { /* whole and broken powers */
        d.params.law_exponent = n;
        for (int i = 0; i < RADII; i++)
            close_to(d.law->force(&d.params, 1, 1, radii[i]), SIM_G * powl(radii[i], n), 3e-14L,
                     "power");
        d.params.law_exponent = rint(n);
        for (int i = 0; i < RADII; i++)
            close_to(d.law->force(&d.params, 1, 1, radii[i]), SIM_G * powl(radii[i], rintl(n)),
                     1e-14L, "power");
    }
    sim_dynamics_free(&d);
}

/* F = dU/dr, by differences of order 4. */
TEST(test_potential)
{
    int with = 0;
    for (int law = 0; law < ORR_LAWS; law++) {
        struct sim_dynamics d;
        law_create(&d, law);
        for (int exponent = 0; exponent < 3 && d.law->potential; exponent++) {
            d.params.law_exponent = (const double[]){-1.385, -1, 2}[exponent]; /* -1: a logarithm */
            for (int i = 0; i < RADII; i++) {
                const double r = radii[i], h = 2e-3 * r, m1 = 0.731, m2 = 2.385;
                double U[4];
                for (int k = 0; k < 4; k++)
                    U[k] = d.law->potential(&d.params, m1, m2,
                                            r + h * (const double[]){-2, -1, 1, 2}[k]);
                const double slope = (U[0] - 8 * U[1] + 8 * U[2] - U[3]) / (12 * h);
                const double F = d.law->force(&d.params, m1, m2, r);
                const double noise = 1e-15 * fabs(U[1]) / h;
                if (!(fabs(slope - F) <= 3e-10 * fmax(fabs(F), fabs(U[1]) / r) + 4 * noise))
                    fail_msg("%s at %g: F %.12g, dU/dr %.12g", sim_law_name(&d), r, F, slope);
            }
            with += exponent == 0;
        }
        sim_dynamics_free(&d);
    }
    assert_int_equal(with, ORR_LAWS - 1); /* all but the expression */
}

/* What body 1 feels, body 2 feels reversed; along the line that joins them. */
TEST(test_equal_and_opposite)
{
    for (int law = 0; law < ORR_LAWS; law++) {
        struct sim_dynamics d;
        law_create(&d, law);
        for (int k = 0; k < MASSES; k++) {
            const double rel[4] = {0.731, -1.2, 3.1, 2.385};
            const double back[4] = {-0.731, 1.2, -3.1, -2.385};
            double a[2], b[2];
            const double m1 = masses[k][0], m2 = masses[k][1];
            const double F = sim_law_force(&d, 0, m1, m2, rel, a);
            assert_true(F == hypot(a[0], a[1]) || fabs(F / hypot(a[0], a[1]) - 1) < 1e-14);
            assert_true(fabs(sim_law_force(&d, 0, m2, m1, back, b) / F - 1) < 1e-14);
            for (int c = 0; c < 2; c++)
                assert_true(fabs(a[c] + b[c]) <= 1e-14 * F);
            assert_true(a[0] * rel[0] + a[1] * rel[1] < 0); /* attraction at this distance */
            if (!d.law->correct)
                assert_true(fabs(a[0] * rel[1] - a[1] * rel[0]) <= 1e-14 * F);
            double acc[2]; /* and the relative acceleration is F / reduced mass */
            sim_law_acceleration(&d, m1, m2, rel, acc);
            for (int c = 0; c < 2; c++)
                assert_true(fabs(acc[c] * m1 * m2 / (m1 + m2) - a[c]) <= 1e-14 * F);
        }
        sim_dynamics_free(&d);
    }
}

/* Forces become Newton's where their parameters say so, and MOND's 1/r far out. */
TEST(test_limits)
{
    static const enum orr_law near[] = {ORR_LAW_NEWTON,        ORR_LAW_POWER,   ORR_LAW_YUKAWA,
                                        ORR_LAW_MOND,          ORR_LAW_PLUMMER, ORR_LAW_LAMBDA,
                                        ORR_LAW_POST_NEWTONIAN};
    struct sim_dynamics d;
    law_create(&d, ORR_LAW_NEWTON);
    struct sim_law_params p = d.params;
    for (int i = 0; i < RADII; i++) {
        const double r = radii[i], m1 = 0.731, m2 = 2.385, newton = sim_force(m1, m2, r);
        p = d.params;
        p.law_alpha = p.law_a0 = p.law_softening_au = p.law_constant = 0;
        p.law_exponent = -2;
        for (size_t n = 0; n < sizeof near / sizeof *near; n++)
            close_to(sim_laws[near[n]].force(&p, m1, m2, r), newton, 2e-15L,
                     orr_force_laws[near[n]].name);
        p.law_exponent = 1;
        close_to(sim_laws[ORR_LAW_POWER].force(&p, m1, m2, r),
                 sim_laws[ORR_LAW_HOOKE].force(&p, m1, m2, r), 1e-15L, "power 1");
        for (double eps = 1e-2; eps > 1e-6; eps /= 10) { /* F = newton (1 - 1.5 (eps / r)^2) */
            p.law_softening_au = eps * r;
            const double lack = 1 - sim_laws[ORR_LAW_PLUMMER].force(&p, m1, m2, r) / newton;
            assert_true(fabs(lack - 1.5 * eps * eps) < 3 * eps * eps * eps * eps + 1e-15);
        }
        const double g = SIM_G * (m1 + m2) / (r * r), mu = m1 * m2 / (m1 + m2);
        p.law_a0 = 1e-8 * g; /* F = newton (1 + a0 / g_N) */
        close_to(sim_laws[ORR_LAW_MOND].force(&p, m1, m2, r), newton * (1 + 1e-8L), 1e-15L, "mond");
        p.law_a0 = 1e12 * g; /* sqrt(g_N a0) ~ 1 / r */
        close_to(sim_laws[ORR_LAW_MOND].force(&p, m1, m2, r) / mu * r,
                 sqrtl((long double)SIM_G * (m1 + m2) * p.law_a0), 1e-6L, "deep mond");
    }
    sim_dynamics_free(&d);
}

/* The value of an expression at m1, m2, r. */
static double at(const char *text, double m1, double m2, double r)
{
    struct sim_expression *e;
    if (sim_expression_create(&e, text))
        fail_msg("%s: %s", text, orr_error());
    const double force = sim_expression_force(e, m1, m2, r);
    sim_expression_free(e);
    return force;
}

TEST(test_expression)
{
    static const struct {
        const char *text, *position, *why;
    } bad[] = {
        {"m1*m2/r^", "character 9 ", "a name, an operator or a number"},
        {"m1*q", "character 4 ", "found \"q\""},
        {"", "character 1 ", "a name, an operator or a number"},
        {"r=2", "character 2 ", "expected \"==\" or the end"},
        {"1,2", "character 2 ", "the end"},
        {"sin(r", "character 6 ", "\")\""},
        {"m1*\"a\"", "character 4 ", "a name"},
        {"m1 m2", "character 4 ", "the end"},
        {"r ? 1", "character 6 ", "\":\""},
        {"r < 1 &&", "character 9 ", "a name"},
        {"m1*sum(r, m2)", "character 4 ", "write sum(a, b) as a + b"},
        {"0 < r < 2", "character 7 ", "a < b && b < c"},
        {"2*pi*r", "character 3 ", "write pi as _pi"},
        {"pow(r, 2)", "character 1 ", "write pow(a, b) as a^b"},
        {"avg(r, m2)", "character 1 ", "write avg(a, b) as (a + b) / 2"},
    };
    struct sim_expression *e;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(sim_expression_create(&e, bad[i].text), ORR_EUSAGE);
        assert_null(e);
        error_names("orbits.expression", bad[i].position, bad[i].why, "expected an expression of r",
                    NULL);
    }
    assert_int_equal(sim_expression_create(&e, "39.4784176043574*m1*m2/r^2"), 0);
    for (int i = 0; i < RADII; i++)
        for (int k = 0; k < MASSES; k++)
            close_to(sim_expression_force(e, masses[k][0], masses[k][1], radii[i]),
                     sim_force(masses[k][0], masses[k][1], radii[i]), 4e-15L, "expression");
    sim_expression_free(e);
    sim_expression_free(NULL);
    close_to(at("4*_pi^2*m1*m2/r^2", 0.861, 1.13, 2.385), sim_force(0.861, 1.13, 2.385), 4e-15L,
             "_pi");
}

/* What expressions written for muParser 2.3 gave, which read them before. Conditions: a number is
 * true where it is not 0, and what is not chosen may be undefined. */
TEST(expressions_keep_their_meaning)
{
    static const struct {
        const char *text;
        double value; /* at m1 = 5, m2 = 7, r = 2.25 */
    } known[] = {
        {"_pi", 3.14159265358979323846},
        {"_e", 2.71828182845904523536},
        {"G", SIM_G},
        {"2^3^2", 512},
        {"-2^2", -4},
        {"2^-1", 0.5},
        {"2--3", 5},
        {"r < 2 ? m1 : r >= 3 ? m2 : sqrt(r-2)", 0.5},
        {"r > 3 ? sqrt(r-3) : m1", 5},
        {"r < 3 ? m1 : sqrt(r-3)", 5},
        {"r > 3 ? ln(r-3) : r > 5 ? 1/0 : m2", 7},
        {"r ? m1 : m2", 5},
        {"r-2.25 ? m1 : m2", 7},
        {"-r ? m1 : m2", 5},
        {"r < 2.25", 0},
        {"r <= 2.25", 1},
        {"r > 2.25", 0},
        {"r >= 2.25", 1},
        {"r == 2.25", 1},
        {"r != 2.25", 0},
        {"r != m1", 1},
        {"1 < m1 == 1", 1},
        {"(3 > r) > 1", 0},
        {"r < m1 && m1 < m2", 1},
        {"r < m1 && m1 > m2", 0},
        {"r > m1 || m1 < m2", 1},
        {"r > m1 || m1 > m2", 0},
        {"1 || 0 && 0", 1},
        {"m1 && -m2", 1},
        {"1 && 0 ? 2 : 3", 3},
        {"(r < m1)*5 + 1", 6},
        {"r < m1 + m2 ? 1 + 1 : 2 + 2", 2},
        {"min(m1, r, m2)", 2.25},
        {"max(m1, r, m2)", 7},
        {"sign(r-3)*abs(-m1)", -5},
        {"rint(r)", 2},
        {"log10(100)", 2},
        {"log2(8)", 3},
        {"log(_e) + ln(_e)", 2},
        {"atan2(0, -1)", 3.14159265358979323846},
        {"r^2 - r*r + r^3 - r*r*r + r^0.5 - sqrt(r) + r^-1 - 1/r", 0},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const double found = at(known[i].text, 5, 7, 2.25);
        if (!(fabs(found - known[i].value) <= 1e-15 * fabs(known[i].value)))
            fail_msg("%s is %.17g, expected %.17g", known[i].text, found, known[i].value);
    }
    assert_true(isnan(at("sqrt(-r)", 5, 7, 2.25)) && isnan(at("max(1, ln(-r))", 5, 7, 2.25)));
    assert_true(isnan(at("sqrt(-r) > 1 ? m1 : m2", 5, 7, 2.25)));
}

/* Inverse hyperbolic functions, which formulas of the table's functions give, near 0 as well. */
TEST(inverse_hyperbolic_functions_are_accurate)
{
    for (int k = -60; k <= 12; k++)
        for (int s = -1; s <= 1; s += 2) {
            const double x = s * exp2(k / 2.0 + 1) / 3;
            close_to(at("asinh(r)", 1, 1, x), asinhl(x), 1e-15L, "asinh");
            close_to(at("acosh(1+r)", 1, 1, fabs(x)), acoshl((long double)(1 + fabs(x))), 2e-15L,
                     "acosh");
            if (fabs(x) < 1)
                close_to(at("atanh(r)", 1, 1, x), atanhl(x), 1e-15L, "atanh");
        }
}

/* Combinations refused, and every key part of the digest of data sets where it has an effect. */
TEST(test_settings)
{
    static const struct {
        const char *beside, *set;
    } keys[] = {
        {"law=newton", "law=power"},
        {"law=power", "law_exponent=-1"},
        {"law=yukawa", "law_alpha=0.2"},
        {"law=yukawa", "law_lambda_au=3"},
        {"law=mond", "law_a0=1"},
        {"law=newton", "nbody=true"},
        {"law=plummer", "law_softening_au=1"},
        {"law=lambda", "law_constant=1"},
        {"jump_factor=2", "jump_step=20"},
        {"jump_step=20", "jump_factor=2"},
        {"law=expression", "expression=r"},
    };
    struct orr_settings p;
    law_preset(&p, ORR_LAW_POWER);
    p.orbits.law_exponent = -3;
    assert_int_equal(orr_settings_check(&p), ORR_EUSAGE);
    error_names("orbits.law_exponent", "above -3", "found -3", NULL);
    p.orbits.law = ORR_LAW_NEWTON; /* not used: not in the way */
    assert_int_equal(orr_settings_check(&p), 0);
    law_preset(&p, ORR_LAW_POST_NEWTONIAN);
    p.orbits.nbody = true;
    assert_int_equal(orr_settings_check(&p), ORR_EUSAGE);
    error_names("orbits.nbody", "post_newtonian", NULL);
    char before[ORR_DIGEST], after[ORR_DIGEST];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char set[64];
        orr_settings_defaults(&p);
        snprintf(set, sizeof set, "orbits.%s", keys[i].beside);
        assert_int_equal(orr_settings_set(&p, set), 0);
        assert_int_equal(orr_set_made(&p, "train", before, NULL), 0);
        snprintf(set, sizeof set, "orbits.%s", keys[i].set);
        assert_int_equal(orr_settings_set(&p, set), 0);
        assert_int_equal(orr_set_made(&p, "train", after, NULL), 0);
        assert_string_not_equal(after, before);
    }
}

/* Every bit of forces and potentials, which no CPU may change (tests.mk runs this program again
 * with other variants of the C library's functions). */
TEST(test_same_bits)
{
    uint64_t hash = 0;
    for (int law = 0; law < ORR_LAW_EXPRESSION; law++) {
        struct sim_dynamics d;
        law_create(&d, law);
        for (int i = 0; i < 20000; i++) {
            const double r = 0.01 + 0.00137 * i, rel[4] = {0.6 * r, 0.81 * r, 0.3, 1.7};
            double value[5] = {d.law->force(&d.params, 1.1, 0.37, r),
                               d.law->potential(&d.params, 1.1, 0.37, r)};
            value[2] = sim_law_force(&d, 0, 1.1, 0.37, rel, value + 3);
            hash = XXH64(value, sizeof value, hash);
        }
        sim_dynamics_free(&d);
    }
    if (hash != 0xfb0e3d3a03e05020)
        fail_msg("forces have hash %016llx", (unsigned long long)hash);
    static const char *const texts[] = {"exp(-r/20) + ln(r) + r^1.3 + m1^r",
                                        "sin(r) + cos(r) + tan(r) + asin(1/(1+r)) + acos(r/30)",
                                        "atan(r) + atan2(m1, r) + sinh(r/5) + cosh(r/5) + tanh(r)",
                                        "log2(r) + log10(r) + cbrt(r)",
                                        "asinh(r) + acosh(1+r) + atanh(r/30)",
                                        "r < 3 ? G*m1*m2/r^2.1 : rint(r) + hypot(m2, r)"};
    hash = 0;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        struct sim_expression *e;
        assert_int_equal(sim_expression_create(&e, texts[k]), 0);
        for (int i = 0; i < 20000; i++) {
            const double value = sim_expression_force(e, 1.1, 0.37, 0.01 + 0.00137 * i);
            assert_true(isfinite(value));
            hash = XXH64(&value, sizeof value, hash);
        }
        sim_expression_free(e);
    }
    if (hash != 0xf5d3805a29fd365b)
        fail_msg("expressions have hash %016llx", (unsigned long long)hash);
}

TESTS(NULL, NULL)
