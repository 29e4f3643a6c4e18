/* quantities.c - see quantities.h. */
#include "quantities.h"

#include <math.h>
#include <string.h>

#include "sim/sim.h"

/* Quantities that span orders of magnitude over the systems of a preset are read as logarithms. */
const struct probe_quantity probe_quantities[PROBE_QUANTITIES] = {
    {"log force", 1, false},       {"force", 2, false},
    {"force direction", 2, false}, {"acceleration", 2, false},
    {"velocity", 2, false},        {"log distance", 1, false},
    {"1/r^2", 1, false},           {"log m1", 1, false},
    {"log m2", 1, false},          {"log m1 m2", 1, false},
    {"semi-major axis", 1, true},  {"eccentricity", 1, true},
    {"semi-minor axis", 1, true},  {"Runge-Lenz vector", 2, true},
    {"orientation", 2, true},      {"mean motion", 1, true},
    {"energy", 1, true},           {"angular momentum", 1, true},
};

int probe_quantity_at(int q)
{
    int at = 0;
    for (int i = 0; i < q; i++)
        at += probe_quantities[i].size;
    return at;
}

int probe_quantity_find(const char *name)
{
    for (int q = 0; q < PROBE_QUANTITIES; q++)
        if (!strcmp(probe_quantities[q].name, name))
            return q;
    return -1;
}

struct probe_constants probe_constants_of(double mu, const double s[4])
{
    const double r = hypot(s[0], s[1]), h = s[0] * s[3] - s[1] * s[2];
    return (struct probe_constants){
        .energy = (s[2] * s[2] + s[3] * s[3]) / 2 - mu / r,
        .angular_momentum = h,
        .runge_lenz = {s[3] * h / mu - s[0] / r, -s[2] * h / mu - s[1] / r}};
}

static void newtonian_numbers(const double s[6], const double force[2], double *to)
{
    const double r = hypot(s[0], s[1]), F = hypot(force[0], force[1]);
    *to++ = log(F);
    *to++ = force[0];
    *to++ = force[1];
    *to++ = force[0] / F;
    *to++ = force[1] / F;
    *to++ = force[0] / s[4]; /* acceleration of body 1 */
    *to++ = force[1] / s[4];
    *to++ = s[2];
    *to++ = s[3];
    *to++ = log(r);
    *to++ = 1 / (r * r);
    *to++ = log(s[4]);
    *to++ = log(s[5]);
    *to++ = log(s[4] * s[5]);
}

static bool keplerian_numbers(const double s[6], double *to)
{
    const double mu = SIM_G * (s[4] + s[5]);
    const struct probe_constants c = probe_constants_of(mu, s);
    const double e = hypot(c.runge_lenz[0], c.runge_lenz[1]), a = -mu / (2 * c.energy);
    const bool bound = c.energy < 0 && isfinite(a);
    *to++ = bound ? a : NAN;
    *to++ = bound ? e : NAN;
    *to++ = bound ? a * sqrt(fmax(1 - e * e, 0)) : NAN;
    for (int k = 0; k < 2; k++)
        *to++ = bound ? c.runge_lenz[k] : NAN;
    for (int k = 0; k < 2; k++) /* a circular orbit has no orientation */
        *to++ = !bound ? NAN : e > 1e-6 ? c.runge_lenz[k] / e : 0;
    *to++ = bound ? sqrt(mu / (a * a * a)) : NAN;
    *to++ = bound ? c.energy : NAN;
    *to++ = bound ? c.angular_momentum : NAN;
    return bound;
}

bool probe_quantities_of(const double state[6], const double force[2], double number[PROBE_NUMBERS])
{
    newtonian_numbers(state, force, number);
    return keplerian_numbers(state, number + probe_quantity_at(10));
}
