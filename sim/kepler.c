/* kepler.c - Kepler's equation and two-body states in closed form.
 * Murray & Dermott, Solar System Dynamics, section 2.4. */
#include "sim.h"

#include <math.h>

#include <gsl/gsl_math.h>

/* |M| <= pi. Halley steps from Danby's start; the root lies within e of M, and a step that leaves
 * the bracket is replaced by its middle. */
static double solve_one(double M, double e)
{
    double low = M - e, high = M + e, E = M + copysign(0.85 * e, M);
    for (int i = 0; i < 64; i++) {
        const double s = e * sin(E), c = e * cos(E), f = E - s - M, slope = 1 - c;
        if (f > 0)
            high = E;
        else
            low = E;
        double step = f / slope;
        step = f / (slope - 0.5 * step * s);
        double next = E - step;
        if (!(next >= low && next <= high))
            next = 0.5 * (low + high);
        if (fabs(next - E) <= 1e-16 * fmax(1, fabs(E)) || fabs(f) <= 2e-16)
            return fabs(f) <= 2e-16 ? E : next;
        E = next;
    }
    return E;
}

int sim_kepler_solve(size_t n, const double M[], double e, double E[])
{
    if (!(e >= 0 && e < 1))
        return ORR_FAIL(ORR_EDOM, "Kepler's equation: eccentricity must be in [0, 1), found %g", e);
    for (size_t i = 0; i < n; i++) {
        const double turns = 2 * M_PI * rint(M[i] / (2 * M_PI));
        E[i] = turns + solve_one(M[i] - turns, e);
    }
    return 0;
}

double sim_period_yr(double a_au, double total_mass)
{
    return sqrt(a_au * a_au * a_au / total_mass);
}

double sim_force(double m1, double m2, double r_au)
{
    return SIM_G * m1 * m2 / (r_au * r_au);
}

int sim_orbit_states(const struct sim_elements *el, double total_mass, double dt_yr, size_t n,
                     double state[], double work[])
{
    const double motion = 2 * M_PI / sim_period_yr(el->a_au, total_mass); /* mean motion */
    for (size_t k = 0; k < n; k++)
        work[k] = fmod(el->phase_rad + motion * dt_yr * (double)k, 2 * M_PI);
    int rc = sim_kepler_solve(n, work, el->e, work);
    if (rc)
        return rc;
    const double ratio = sqrt((1 - el->e) * (1 + el->e)); /* semi-minor / semi-major axis */
    const double co = cos(el->omega_rad), so = sin(el->omega_rad);
    for (size_t k = 0; k < n; k++) {
        const double c = cos(work[k]), s = sin(work[k]);
        const double x = el->a_au * (c - el->e), y = el->a_au * ratio * s;
        const double rate = el->a_au * motion / (1 - el->e * c); /* a dE/dt */
        const double vx = -rate * s, vy = rate * ratio * c;
        state[4 * k] = co * x - so * y;
        state[4 * k + 1] = so * x + co * y;
        state[4 * k + 2] = co * vx - so * vy;
        state[4 * k + 3] = so * vx + co * vy;
    }
    return 0;
}
