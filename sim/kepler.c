/* kepler.c - Kepler's equation and two-body states in closed form.
 * Murray & Dermott, Solar System Dynamics, section 2.4. */
#include "vec.h"

#include <math.h>

#include <gsl/gsl_math.h>

#define MANY_TURNS 1e9 /* radians, below the 2^28 turns of sim_vec.reduce */

/* Halley's method from Danby's start. The root lies within e of M; a step that leaves the bracket
 * is replaced by its midpoint. */
double sim_kepler_bracketed(const struct sim_vec *vec, double M, double e)
{
    double low = M - e, high = M + e, E = M + copysign(0.85 * e, M);
    for (int i = 0; i < 64; i++) {
        double sine, cosine;
        vec->sincos(1, &E, &sine, &cosine);
        const double s = e * sine, c = e * cosine, f = E - s - M, slope = 1 - c;
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

/* Solves a block: from M, at most `largest` in size, to E, cos E and sin E. M and turns are left as
 * by sim_vec.reduce. */
static void solve_block(const struct sim_vec *vec, struct sim_vec_block *block, size_t n, double e,
                        double largest)
{
    for (size_t k = 0; k < n && largest > MANY_TURNS; k++) /* M is too large to count its turns */
        block->M[k] = fmod(block->M[k], 2 * M_PI);
    vec->reduce(block, n);
    if (vec->kepler(block, n, e) == 0)
        return;
    for (size_t k = 0; k < n; k++)
        if (isnan(block->E[k])) {
            block->E[k] = sim_kepler_bracketed(vec, block->M[k], e);
            vec->sincos(1, &block->E[k], &block->sine[k], &block->cosine[k]);
        }
}

static int check_eccentricity(double e)
{
    if (!(e >= 0 && e < 1))
        return ORR_FAIL(ORR_EDOM, "Kepler's equation: eccentricity must be in [0, 1), found %g", e);
    return 0;
}

int sim_kepler_solve(size_t n, const double M[], double e, double E[])
{
    const struct sim_vec *vec = sim_vec_best();
    struct sim_vec_block block;
    const int rc = check_eccentricity(e);
    for (size_t from = 0; from < n && !rc; from += SIM_VEC_BLOCK) {
        const size_t count = n - from < SIM_VEC_BLOCK ? n - from : SIM_VEC_BLOCK;
        double largest = 0;
        for (size_t k = 0; k < sim_vec_whole(count); k++) {
            block.M[k] = k < count ? M[from + k] : 0;
            largest = fabs(block.M[k]) > largest ? fabs(block.M[k]) : largest;
        }
        solve_block(vec, &block, count, e, largest);
        for (size_t k = 0; k < count; k++)
            E[from + k] =
                block.turns[k] * SIM_TURN_HIGH + (block.turns[k] * SIM_TURN_LOW + block.E[k]);
    }
    return rc;
}

double sim_period_yr(double a_au, double total_mass)
{
    return sqrt(a_au * a_au * a_au / total_mass);
}

double sim_force(double m1, double m2, double r_au)
{
    return SIM_G * m1 * m2 / (r_au * r_au);
}

/* The quantities that all steps of an orbit share. */
struct orbit {
    const struct sim_vec *vec;
    double e, phase_rad, step_rad, motion;   /* radians, radians per step and per year */
    double ratio;                            /* semi-minor / semi-major axis */
    int axes;                                /* coordinates of a position */
    double major[SIM_AXES], minor[SIM_AXES]; /* axis vectors, turned by omega, AU */
};

/* Turns a vector of the x, y plane, whose x axis then is the line of nodes, into the plane of the
 * orbit (Murray & Dermott, Eq. 2.121). */
static void turn_plane(const struct orbit *o, const struct sim_elements *el, double v[SIM_AXES])
{
    const double angle[2] = {fmod(el->node_rad, 2 * M_PI), fmod(el->inclination_rad, 2 * M_PI)};
    double sine[2], cosine[2];
    o->vec->sincos(2, angle, sine, cosine);
    const double x = v[0], y = v[1];
    v[0] = cosine[0] * x - sine[0] * cosine[1] * y;
    v[1] = sine[0] * x + cosine[0] * cosine[1] * y;
    v[2] = sine[1] * y;
}

static int orbit_init(struct orbit *o, const struct sim_elements *el, double total_mass,
                      double dt_yr)
{
    const double omega_rad = fmod(el->omega_rad, 2 * M_PI);
    double so, co;
    o->vec = sim_vec_best();
    o->vec->sincos(1, &omega_rad, &so, &co);
    o->e = el->e;
    o->motion = 2 * M_PI / sim_period_yr(el->a_au, total_mass);
    o->phase_rad = el->phase_rad;
    o->step_rad = o->motion * dt_yr;
    o->ratio = sqrt((1 - el->e) * (1 + el->e));
    o->major[0] = el->a_au * co;
    o->major[1] = el->a_au * so;
    const double minor_au = el->clockwise ? -el->a_au * o->ratio : el->a_au * o->ratio;
    o->minor[0] = -minor_au * so;
    o->minor[1] = minor_au * co;
    o->axes = sim_elements_axes(el);
    if (el->in_space) {
        turn_plane(o, el, o->major);
        turn_plane(o, el, o->minor);
    }
    return check_eccentricity(el->e);
}

/* Solves Kepler's equation for steps from .. from + count - 1. */
static void orbit_solve(const struct orbit *o, size_t from, size_t count,
                        struct sim_vec_block *block)
{
    o->vec->anomalies(block, count, o->phase_rad, o->step_rad, (double)from);
    solve_block(o->vec, block, count, o->e,
                fabs(o->phase_rad) + fabs(o->step_rad) * (double)(from + count));
}

int sim_orbit_places(const struct sim_elements *el, double total_mass, double dt_yr, size_t n,
                     int bodies, const double share[], const double origin_au[],
                     double *const to[][SIM_AXES])
{
    struct orbit o;
    struct sim_vec_block block;
    const int rc = orbit_init(&o, el, total_mass, dt_yr);
    for (size_t from = 0; from < n && !rc; from += SIM_VEC_BLOCK) {
        const size_t count = n - from < SIM_VEC_BLOCK ? n - from : SIM_VEC_BLOCK;
        orbit_solve(&o, from, count, &block);
        for (int i = 0; i < bodies; i++)
            for (int c = 0; c < o.axes; c++)
                o.vec->combine(&block, count, o.e, share[i] * o.major[c], share[i] * o.minor[c],
                               origin_au[c], to[i][c] + from);
    }
    return rc;
}

int sim_orbit_states(const struct sim_elements *el, double total_mass, double dt_yr, size_t n,
                     double state[])
{
    struct orbit o;
    struct sim_vec_block block;
    const int rc = orbit_init(&o, el, total_mass, dt_yr);
    for (size_t from = 0; from < n && !rc; from += SIM_VEC_BLOCK) {
        const size_t count = n - from < SIM_VEC_BLOCK ? n - from : SIM_VEC_BLOCK;
        orbit_solve(&o, from, count, &block);
        for (size_t k = 0; k < count; k++) {
            const double c = block.cosine[k], s = block.sine[k], near = c - o.e;
            const double rate = o.motion / (1 - o.e * c); /* dE/dt */
            double *row = state + 2 * (size_t)o.axes * (from + k);
            for (int i = 0; i < o.axes; i++) {
                row[i] = o.major[i] * near + o.minor[i] * s;
                row[o.axes + i] = rate * (o.minor[i] * c - o.major[i] * s);
            }
        }
    }
    return rc;
}
