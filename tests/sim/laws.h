/* laws.h - what the tests of laws share: every law with parameters at which it differs from
 * Newton's, and its force written a second time, in long double. */
#ifndef TESTS_SIM_LAWS_H
#define TESTS_SIM_LAWS_H

#include "base/scratch.h"
#include "sim.h"

#include <math.h>

#define TEST_EXPRESSION "39.4784176043574*m1*m2/r^2*(1+0.05*r)"

/* Every law as a preset; the same parameters for all. */
static inline void law_preset(struct orr_settings *p, int law)
{
    orr_settings_defaults(p);
    p->orbits.law = (enum orr_law)law;
    p->orbits.law_exponent = -1.385;
    p->orbits.law_alpha = 0.43;
    p->orbits.law_lambda_au = 2.385;
    p->orbits.law_a0 = 7.3;
    p->orbits.law_softening_au = 0.31;
    p->orbits.law_constant = 0.23;
    strcpy(p->orbits.expression, TEST_EXPRESSION);
}

static inline void law_create(struct sim_dynamics *d, int law)
{
    struct orr_settings p;
    law_preset(&p, law);
    assert_int_equal(orr_settings_check(&p), 0);
    assert_int_equal(sim_dynamics_create(d, &p), 0);
}

/* MOND from its definition, by bisection: g mu(g / a0) = g_N, mu(x) = x / (1 + x). */
static inline long double mond_reference(long double newton, long double a0)
{
    long double low = 0, high = 2 * newton + 2 * a0 + 1;
    for (int i = 0; i < 200; i++) {
        const long double g = (low + high) / 2;
        if (g * (g / a0) / (1 + g / a0) < newton)
            low = g;
        else
            high = g;
    }
    return low;
}

/* The attraction between m1 and m2 at r, from docs/laws.md. */
static inline long double force_reference(const struct sim_dynamics *d, long double m1,
                                          long double m2, long double r)
{
    const struct sim_law_params *p = &d->params;
    const long double G = p->gravity, mu = m1 * m2 / (m1 + m2), newton = G * m1 * m2 / (r * r);
    switch ((int)(d->law - sim_laws)) {
    case ORR_LAW_POWER:
        return G * m1 * m2 * powl(r, p->law_exponent);
    case ORR_LAW_YUKAWA:
        return newton +
               newton * p->law_alpha * (1 + r / p->law_lambda_au) * expl(-r / p->law_lambda_au);
    case ORR_LAW_MOND:
        return mu * mond_reference(newton / mu, p->law_a0);
    case ORR_LAW_PLUMMER:
        return G * m1 * m2 * r / powl(r * r + powl(p->law_softening_au, 2), 1.5L);
    case ORR_LAW_HOOKE:
        return G * m1 * m2 * r;
    case ORR_LAW_LAMBDA:
        return newton - mu * p->law_constant * r;
    case ORR_LAW_EXPRESSION:
        return 39.4784176043574L * p->jump * m1 * m2 / (r * r) * (1 + 0.05L * r);
    default:
        return newton;
    }
}

/* d2/dt2 of the relative place; 1PN as in Kidder (1995), Eq. (2.2b). */
static inline void acceleration_reference(const struct sim_dynamics *d, long double m1,
                                          long double m2, const long double s[4], long double a[2])
{
    const long double r = hypotl(s[0], s[1]), n[2] = {s[0] / r, s[1] / r};
    const long double f = force_reference(d, m1, m2, r) * (m1 + m2) / (m1 * m2);
    const long double GM = d->params.gravity * (m1 + m2), eta = m1 * m2 / powl(m1 + m2, 2);
    const long double v2 = s[2] * s[2] + s[3] * s[3], rate = n[0] * s[2] + n[1] * s[3];
    const bool pn = d->law == &sim_laws[ORR_LAW_POST_NEWTONIAN];
    const long double c2 = powl(d->params.light_au_yr, 2);
    for (int i = 0; i < 2; i++) {
        a[i] = -f * n[i];
        if (pn)
            a[i] -=
                GM / (r * r * c2) *
                (n[i] * ((1 + 3 * eta) * v2 - 2 * (2 + eta) * GM / r - 1.5L * eta * rate * rate) -
                 2 * (2 - eta) * rate * s[2 + i]);
    }
}

#endif
