/* states.c - states of the planets of a system: in closed form for Newton's law, otherwise
 * integrated from a start similar to the Newtonian one. */
#include "sim.h"

#include <math.h>
#include <string.h>

/* The height of the potential barrier outside r, which an orbit of less energy cannot cross.
 * Searched up to 1e18 r, which stands for infinity. */
static double barrier_outside(const struct sim_dynamics *d, double m1, double m2, double r)
{
    const double start = d->law->potential(&d->params, m1, m2, r);
    double highest = start;
    for (int k = 0; k < 360; k++) {
        r *= 1.125;
        highest = fmax(highest, d->law->potential(&d->params, m1, m2, r));
    }
    return highest - start;
}

/* States with as many coordinates as the dynamics have: an orbit without a plane of its own lies in
 * the x, y plane. */
static int orbit_states(const struct sim_dynamics *d, const struct sim_elements *given,
                        double total_mass, double dt_yr, size_t n, double state[])
{
    struct sim_elements el = *given;
    el.in_space = d->in_space;
    return sim_orbit_states(&el, total_mass, dt_yr, n, state);
}

int sim_start(struct sim_dynamics *d, const struct sim_elements *el, double m1, double m2,
              double state[])
{
    const int axes = sim_dynamics_axes(d);
    double *const v = state + axes;
    const int rc = orbit_states(d, el, m1 + m2, 0, 1, state);
    if (rc || d->law == &sim_laws[ORR_LAW_NEWTON] || d->law->correct)
        return rc;
    sim_dynamics_seek(d, 0);
    const double r = sim_length(state, axes);
    const double F = d->law->force(&d->params, m1, m2, r), newton = sim_force(m1, m2, r);
    if (!(F > 0 && isfinite(F)))
        return ORR_FAIL(ORR_EDOM,
                        "law %s: expected an attraction where the orbit starts, found F = %g at "
                        "r = %.9g AU",
                        sim_law_name(d), isnan(F) ? NAN : F, r);
    /* The circular speed has q = 1; a Newtonian ellipse lies in 0 < q < 2. */
    const double reduced = m1 * m2 / (m1 + m2);
    const double q = sim_dot(v, v, axes) * reduced / (newton * r);
    double like = q; /* equal fraction of the circular speed squared */
    if (d->law->potential) {
        const double rise = barrier_outside(d, m1, m2, r);
        if (!(rise > 0))
            return ORR_FAIL(ORR_EDOM, "law %s: no orbit that starts at r = %.9g AU is bound",
                            sim_law_name(d), r);
        const double escape = 2 * rise / (F * r); /* Newton: 2 */
        if (escape >= 1 && escape < 2)
            like = 1 + (q - 1) * (escape - 1); /* circles stay circles, all others are bound */
        else if (escape < 1)
            like = q * 0.5 * escape;
    }
    const double factor = sqrt(like / q * (F / newton));
    for (int c = 0; c < axes; c++)
        v[c] *= factor;
    return 0;
}

/* Integrates all bodies around the barycentre at rest, the star last. */
static int many_states(struct sim_dynamics *d, const struct sim_system *s, size_t steps,
                       double states[])
{
    const int star = s->planets, width = 2 * sim_dynamics_axes(d);
    double start[SIM_STATE * (SIM_PLANETS + 1)] = {0}, mass[SIM_PLANETS + 1], total = s->star_mass;
    mass[star] = s->star_mass;
    for (int i = 0; i < s->planets; i++) {
        const int rc = sim_start(d, &s->orbit[i], s->mass[i], s->star_mass, start + width * i);
        if (rc)
            return rc;
        mass[i] = s->mass[i];
        total += s->mass[i];
    }
    for (int c = 0; c < width; c++) {
        double moment = 0;
        for (int i = 0; i < s->planets; i++)
            moment += mass[i] * start[width * i + c];
        for (int i = 0; i <= s->planets; i++)
            start[width * i + c] -= moment / total;
    }
    return sim_integrate_bodies(d, s->planets + 1, mass, start, s->dt_yr, steps, true, states);
}

bool sim_states_closed(const struct sim_dynamics *d, const struct sim_system *s)
{
    return d->law == &sim_laws[ORR_LAW_NEWTON] && d->jump_step == 0 &&
           !(d->nbody && s->planets > 1);
}

int sim_states(struct sim_dynamics *d, const struct sim_system *s, size_t steps, double states[])
{
    const bool closed = sim_states_closed(d, s);
    if (d->nbody && s->planets > 1)
        return many_states(d, s, steps, states);
    for (int i = 0; i < s->planets; i++) {
        double *state = states + 2 * (size_t)sim_dynamics_axes(d) * (size_t)i * steps;
        int rc;
        if (closed) {
            rc = orbit_states(d, &s->orbit[i], s->mass[i] + s->star_mass, s->dt_yr, steps, state);
        } else {
            rc = sim_start(d, &s->orbit[i], s->mass[i], s->star_mass, state);
            if (!rc)
                rc = sim_integrate_pair(d, s->mass[i], s->star_mass, s->dt_yr, steps, state);
        }
        if (rc)
            return rc;
    }
    return 0;
}
