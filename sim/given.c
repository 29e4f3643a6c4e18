/* given.c - bodies from starts of their own: positions and velocities are taken as they are, under
 * any law, so that the same throw can be compared between laws. */
#include "sim.h"

#include <stdlib.h>

/* Two bodies: their relative motion, and a centre of mass that moves evenly. The laws that correct
 * an acceleration by velocities are equations of that motion. */
static int integrate_two(struct sim_dynamics *d, const double mass[2], const double start[8],
                         double dt_yr, size_t n, double out[])
{
    const double share = mass[1] / (mass[0] + mass[1]);
    double *relative = orr_alloc(n, 4 * sizeof *relative);
    if (!relative)
        return ORR_ENOMEM;
    for (int c = 0; c < 4; c++)
        relative[c] = start[c] - start[4 + c];
    const int rc = sim_integrate_pair(d, mass[0], mass[1], dt_yr, n, relative);
    for (size_t k = 0; k < n && !rc; k++)
        for (int c = 0; c < 4; c++) {
            const double drift = c < 2 ? (double)k * dt_yr : 0;
            const double centre =
                share * start[4 + c] + (1 - share) * start[c] +
                drift * (share * start[4 + (c + 2) % 4] + (1 - share) * start[(c + 2) % 4]);
            out[4 * k + (size_t)c] = centre + share * relative[4 * k + (size_t)c];
            out[4 * (n + k) + (size_t)c] = centre - (1 - share) * relative[4 * k + (size_t)c];
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
