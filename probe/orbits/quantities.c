/* quantities.c - see quantities.h. */
#include "quantities.h"

#include <math.h>
#include <string.h>

#include "sim/sim.h"

/* Quantities that span orders of magnitude over the systems of a preset are read as logarithms. */
const struct probe_quantity probe_quantities[PROBE_QUANTITIES] = {
    {"log force", {1, 1}, false},       {"force", {2, 3}, false},
    {"force direction", {2, 3}, false}, {"acceleration", {2, 3}, false},
    {"velocity", {2, 3}, false},        {"log distance", {1, 1}, false},
    {"1/r^2", {1, 1}, false},           {"log m1", {1, 1}, false},
    {"log m2", {1, 1}, false},          {"log m1 m2", {1, 1}, false},
    {"semi-major axis", {1, 1}, true},  {"eccentricity", {1, 1}, true},
    {"semi-minor axis", {1, 1}, true},  {"Runge-Lenz vector", {2, 3}, true},
    {"orientation", {2, 3}, true},      {"mean motion", {1, 1}, true},
    {"energy", {1, 1}, true},           {"angular momentum", {1, 3}, true},
};

int probe_quantity_size(int axes, int q)
{
    return probe_quantities[q].size[axes == 3];
}

int probe_quantity_at(int axes, int q)
{
    int at = 0;
    for (int i = 0; i < q; i++)
        at += probe_quantity_size(axes, i);
    return at;
}

int probe_numbers(int axes)
{
    return probe_quantity_at(axes, PROBE_QUANTITIES);
}

int probe_quantity_find(const char *name)
{
    for (int q = 0; q < PROBE_QUANTITIES; q++)
        if (!strcmp(probe_quantities[q].name, name))
            return q;
    return -1;
}

/* In the plane h lies along z, and h x, h y are 0. */
struct probe_constants probe_constants_of(double mu, int axes, const double s[])
{
    const double *v = s + axes, r = sim_hypot(s, axes), z = axes == 3 ? s[2] : 0;
    const double vz = axes == 3 ? v[2] : 0;
    const double h[3] = {s[1] * vz - z * v[1], z * v[0] - s[0] * vz, s[0] * v[1] - s[1] * v[0]};
    return (struct probe_constants){.energy = sim_dot(v, v, axes) / 2 - mu / r,
                                    .angular_momentum = {h[0], h[1], h[2]},
                                    .runge_lenz = {(v[1] * h[2] - vz * h[1]) / mu - s[0] / r,
                                                   (vz * h[0] - v[0] * h[2]) / mu - s[1] / r,
                                                   (v[0] * h[1] - v[1] * h[0]) / mu - z / r}};
}

static void newtonian_numbers(int axes, const double s[], const double force[], double *to)
{
    const double r = sim_hypot(s, axes), F = sim_hypot(force, axes), *mass = s + 2 * axes;
    *to++ = log(F);
    for (int c = 0; c < axes; c++)
        *to++ = force[c];
    for (int c = 0; c < axes; c++)
        *to++ = force[c] / F;
    for (int c = 0; c < axes; c++) /* acceleration of body 1 */
        *to++ = force[c] / mass[0];
    for (int c = 0; c < axes; c++)
        *to++ = s[axes + c];
    *to++ = log(r);
    *to++ = 1 / (r * r);
    *to++ = log(mass[0]);
    *to++ = log(mass[1]);
    *to++ = log(mass[0] * mass[1]);
}

static bool keplerian_numbers(int axes, const double s[], double *to)
{
    const double mu = SIM_G * (s[2 * axes] + s[2 * axes + 1]);
    const struct probe_constants c = probe_constants_of(mu, axes, s);
    const double e = sim_hypot(c.runge_lenz, axes), a = -mu / (2 * c.energy);
    const bool bound = c.energy < 0 && isfinite(a);
    *to++ = bound ? a : NAN;
    *to++ = bound ? e : NAN;
    *to++ = bound ? a * sqrt(fmax(1 - e * e, 0)) : NAN;
    for (int k = 0; k < axes; k++)
        *to++ = bound ? c.runge_lenz[k] : NAN;
    for (int k = 0; k < axes; k++) /* a circular orbit has no orientation */
        *to++ = !bound ? NAN : e > 1e-6 ? c.runge_lenz[k] / e : 0;
    *to++ = bound ? sqrt(mu / (a * a * a)) : NAN;
    *to++ = bound ? c.energy : NAN;
    for (int k = axes == 3 ? 0 : 2; k < 3; k++)
        *to++ = bound ? c.angular_momentum[k] : NAN;
    return bound;
}

bool probe_quantities_of(int axes, const double state[], const double force[],
                         double number[PROBE_NUMBERS])
{
    newtonian_numbers(axes, state, force, number);
    return keplerian_numbers(axes, state, number + probe_quantity_at(axes, 10));
}
