/* given_starts.c - bodies from starts of their own: positions and velocities are taken as they are,
 * under any law, so that the same throw can be compared between laws. */
#include "sim.h"

#include <stdlib.h>

/* Two bodies: their relative motion, and a centre of mass that moves evenly. The laws that correct
 * an acceleration by velocities are equations of that motion. */
static int integrate_two(struct sim_dynamics *d, const double mass[2], const double start[],
                         double dt_yr, size_t n, double out[])
{
    const size_t axes = (size_t)sim_dynamics_axes(d), width = 2 * axes;
    const double share = mass[1] / (mass[0] + mass[1]);
    double *relative = orr_alloc(n, width * sizeof *relative);
    if (!relative)
        return ORR_ENOMEM;
    for (size_t c = 0; c < width; c++)
        relative[c] = start[c] - start[width + c];
    const int rc = sim_integrate_pair(d, mass[0], mass[1], dt_yr, n, relative);
    for (size_t k = 0; k < n && !rc; k++)
        for (size_t c = 0; c < width; c++) {
            const double drift = c < axes ? (double)k * dt_yr : 0;
            const size_t v = (c + axes) % width;
            const double centre = share * start[width + c] + (1 - share) * start[c] +
                                  drift * (share * start[width + v] + (1 - share) * start[v]);
            out[width * k + c] = centre + share * relative[width * k + c];
            out[width * (n + k) + c] = centre - (1 - share) * relative[width * k + c];
        }
    free(relative);
    return rc;
}

int sim_integrate_given(struct sim_dynamics *d, int bodies, const double mass[],
                        const double start[], double dt_yr, size_t n, double out[])
{
    if (bodies == 2)
        return integrate_two(d, mass, start, dt_yr, n, out);
    if (d->law->correct)
        return ORR_FAIL(ORR_EINVAL, "law %s: an equation of two bodies, found %d", sim_law_name(d),
                        bodies);
    return sim_integrate_bodies(d, bodies, mass, start, dt_yr, n, false, out);
}
