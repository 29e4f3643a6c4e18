/* integrate.c - motion under any law: GSL's Runge-Kutta Prince-Dormand 8(9) with its own step
 * control, which measures errors against the smallest distance and its rate of change. */
#include "sim.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>

/* Relative error of a step in distance and speed: close to rounding, so that the error accumulated
 * over a sequence stays below 1e-10. */
#define TOLERANCE 1e-14
enum { MAX_BODIES = SIM_PLANETS + 1, STEPS_MAX = 1000000 };

/* A close encounter: the distance of two planets is below CLOSE times their distance from the star,
 * in CLOSE_STEPS steps of a sequence. Planets that pass each other need some hundred such steps.
 * For planets that almost collide, positions are rounded to more than TOLERANCE of their distance,
 * and steps become ever shorter. */
#define CLOSE 1e-4
enum { CLOSE_STEPS = 50000 };

/* The pair that limits a step: a body and the nearest neighbour that its error is measured
 * against. */
struct limit {
    size_t body, nearest;
    int axes; /* of positions, which the step control reads here */
};

struct sim_integrator {
    struct sim_dynamics *dynamics;
    int bodies; /* 1: relative motion of the two masses mass[0], mass[1] */
    int axes;   /* d; a state has 2 d numbers */
    double mass[MAX_BODIES];
    double bad_r, bad_force; /* distance and force where the force was not finite */
    struct limit bad;        /* the pair with that force, of several bodies */
    long close_steps;        /* in this sequence so far */
    gsl_odeiv2_system system;
    gsl_odeiv2_step *step;
    gsl_odeiv2_control *control;
    gsl_odeiv2_evolve *evolve;
};

/* ----------------------------------------------------------------------- the right-hand side */

static int pair_rates(struct sim_integrator *g, const double y[], double dydt[])
{
    bool finite = true;
    sim_law_acceleration(g->dynamics, g->mass[0], g->mass[1], y, dydt + g->axes);
    for (int c = 0; c < g->axes; c++) {
        dydt[c] = y[g->axes + c];
        finite = finite && isfinite(dydt[g->axes + c]);
    }
    if (finite)
        return GSL_SUCCESS;
    g->bad_r = sim_length(y, g->axes);
    const double F =
        g->dynamics->law->force(&g->dynamics->params, g->mass[0], g->mass[1], g->bad_r);
    g->bad_force = isnan(F) ? NAN : F; /* without the sign of NaN */
    return GSL_EBADFUNC;
}

/* axes: d, a constant where this is inlined, so that its loops are unrolled. */
static inline int bodies_rates(struct sim_integrator *g, const double y[], double dydt[],
                               const int axes)
{
    const struct sim_dynamics *d = g->dynamics;
    const int width = 2 * axes;
    for (int i = 0; i < g->bodies; i++)
        for (int c = 0; c < axes; c++) {
            dydt[width * i + c] = y[width * i + axes + c];
            dydt[width * i + axes + c] = 0;
        }
    for (int i = 0; i < g->bodies; i++)
        for (int j = i + 1; j < g->bodies; j++) {
            double x[SIM_AXES] = {0};
            for (int c = 0; c < axes; c++)
                x[c] = y[width * i + c] - y[width * j + c];
            const double r = sim_length(x, axes);
            const double F = d->law->force(&d->params, g->mass[i], g->mass[j], r), f = F / r;
            if (!isfinite(f)) {
                g->bad_r = r;
                g->bad_force = isnan(F) ? NAN : F; /* without the sign of NaN */
                g->bad = (struct limit){(size_t)i, (size_t)j, axes};
                return GSL_EBADFUNC;
            }
            for (int c = 0; c < axes; c++) {
                dydt[width * i + axes + c] -= f * x[c] / g->mass[i];
                dydt[width * j + axes + c] += f * x[c] / g->mass[j];
            }
        }
    return GSL_SUCCESS;
}

static int compute_rates(double t, const double y[], double dydt[], void *integrator)
{
    struct sim_integrator *g = integrator;
    (void)t; /* no law depends on time */
    if (g->bodies == 1)
        return pair_rates(g, y, dydt);
    return g->axes == 2 ? bodies_rates(g, y, dydt, 2) : bodies_rates(g, y, dydt, 3);
}

/* -------------------------------------------------------------------------- step control */

/* The distance between two bodies' positions in y. */
static double body_distance(const double y[], size_t i, size_t j, int axes)
{
    const size_t width = 2 * (size_t)axes;
    return sim_distance(y + width * i, y + width * j, axes);
}

/* Scales of the errors of body i: the distance to its nearest neighbour, whose index is returned,
 * and the rate at which that distance changes or would change by acceleration alone. A single
 * "body" is the difference of two. */
static size_t error_scales(const double y[], const double yp[], size_t bodies, int axes, size_t i,
                           double scale[2])
{
    const size_t half = (size_t)axes, width = 2 * half;
    size_t nearest = i;
    double d = INFINITY;
    for (size_t j = 0; j < bodies; j++) {
        const double r = body_distance(y, i, j, axes);
        if (j != i && r < d) {
            d = r;
            nearest = j;
        }
    }
    double rel[SIM_STATE] = {0}, acc[SIM_AXES] = {0};
    for (size_t c = 0; c < width; c++)
        rel[c] = y[width * i + c] - (nearest == i ? 0 : y[width * nearest + c]);
    for (size_t c = 0; c < half; c++)
        acc[c] = yp[width * i + half + c] - (nearest == i ? 0 : yp[width * nearest + half + c]);
    scale[0] = sim_length(rel, axes);
    scale[1] = sim_length(rel + half, axes) + sqrt(scale[0] * sim_length(acc, axes));
    return nearest;
}

static int adjust_step(void *state, size_t dim, unsigned int order, const double y[],
                       const double error[], const double yp[], double *h)
{
    struct limit *limit = state;
    const int axes = limit->axes;
    const size_t width = 2 * (size_t)axes;
    double worst = 0;
    (void)order; /* 8: the three square roots below give equal bits on any CPU */
    for (size_t i = 0; i < dim / width; i++) {
        const double *wrong = error + width * i;
        double scale[2];
        const size_t nearest = error_scales(y, yp, dim / width, axes, i, scale);
        const double share =
            fmax(sim_length(wrong, axes) / scale[0], sim_length(wrong + axes, axes) / scale[1]);
        if (share > worst) {
            worst = share;
            *limit = (struct limit){i, nearest, axes};
        }
    }
    const double ratio = worst / TOLERANCE;
    if (!(ratio > 0.5 && ratio <= 1.1)) {
        const double factor = 0.9 / sqrt(sqrt(sqrt(ratio)));
        if (!(ratio <= 1.1)) { /* also true for NaN */
            *h *= fmax(factor, 0.2);
            return GSL_ODEIV_HADJ_DEC;
        }
        if (factor > 1) {
            *h *= fmin(factor, 5);
            return GSL_ODEIV_HADJ_INC;
        }
    }
    return GSL_ODEIV_HADJ_NIL;
}

/* Functions that a control object of GSL must have. Only adjust_step() controls steps. */
static void *control_alloc(void)
{
    return calloc(1, sizeof(struct limit));
}

static int control_init(void *state, double a, double b, double c, double d)
{
    (void)state, (void)a, (void)b, (void)c, (void)d;
    return GSL_SUCCESS;
}

static int control_level(void *state, const double y, const double yp, const double h,
                         const size_t index, double *level)
{
    (void)state, (void)yp, (void)h, (void)index;
    *level = TOLERANCE * fmax(fabs(y), DBL_MIN / TOLERANCE);
    return GSL_SUCCESS;
}

static int control_driver(void *state, const gsl_odeiv2_driver *driver)
{
    (void)state, (void)driver;
    return GSL_SUCCESS;
}

static const gsl_odeiv2_control_type control_type = {
    "nearest distance", control_alloc,  control_init, adjust_step,
    control_level,      control_driver, free,
};

/* ------------------------------------------------------------------------------- memory */

static void release_integrator(struct sim_integrator *g)
{
    if (g && g->evolve)
        gsl_odeiv2_evolve_free(g->evolve);
    if (g && g->control)
        gsl_odeiv2_control_free(g->control);
    if (g && g->step)
        gsl_odeiv2_step_free(g->step);
    free(g);
}

void sim_dynamics_free(struct sim_dynamics *d)
{
    sim_expression_free(d->params.expression);
    release_integrator(d->integrator);
    memset(d, 0, sizeof *d);
}

/* Prepares the integrator for a number of bodies, and reuses it while that number stays. */
static int prepare_integrator(struct sim_dynamics *d, int bodies, const double mass[], int masses)
{
    const int axes = sim_dynamics_axes(d);
    if (bodies > MAX_BODIES)
        return ORR_FAIL(ORR_EINVAL, "integrator: at most %d bodies, found %d", MAX_BODIES, bodies);
    for (int i = 0; i < masses; i++)
        if (!(mass[i] > 0))
            return ORR_FAIL(
                ORR_EDOM,
                "body %d: expected a mass above 0, found %g: massless test particles are "
                "not simulated, as forces are of two masses",
                i + 1, mass[i]);
    struct sim_integrator *g = d->integrator;
    if (!g || g->bodies != bodies || g->axes != axes) {
        release_integrator(g);
        d->integrator = g = calloc(1, sizeof *g);
        if (g) {
            const size_t dim = 2 * (size_t)axes * (size_t)bodies;
            g->bodies = bodies;
            g->axes = axes;
            g->system = (gsl_odeiv2_system){compute_rates, NULL, dim, g};
            g->step = gsl_odeiv2_step_alloc(gsl_odeiv2_step_rk8pd, dim);
            g->control = gsl_odeiv2_control_alloc(&control_type);
            g->evolve = gsl_odeiv2_evolve_alloc(dim);
            if (g->control)
                ((struct limit *)g->control->state)->axes = axes;
        }
        if (!g || !g->step || !g->control || !g->evolve)
            return ORR_FAIL(ORR_ENOMEM, "integrator of %d bodies: out of memory", bodies);
    }
    g->dynamics = d;
    memcpy(g->mass, mass, (size_t)masses * sizeof *mass);
    return 0;
}

/* ------------------------------------------------------------------------------ encounters */

/* Whether the pair are two planets in a close encounter. */
static bool is_close(const struct sim_integrator *g, const double y[], const struct limit *pair)
{
    const size_t star = (size_t)g->bodies - 1, i = pair->body, j = pair->nearest;
    return i != j && i < star && j < star &&
           body_distance(y, i, j, g->axes) < CLOSE * body_distance(y, i, star, g->axes);
}

/* " between bodies 2 and 5", numbered as in the rows of a sequence; "" for the relative motion of
 * two. */
static const char *name_pair(const struct sim_integrator *g, const struct limit *pair,
                             char name[64])
{
    const size_t low = pair->body < pair->nearest ? pair->body : pair->nearest;
    const size_t high = pair->body + pair->nearest - low;
    name[0] = '\0';
    if (g->bodies > 1)
        snprintf(name, 64, " between bodies %zu and %zu%s", low + 1, high + 1,
                 high + 1 == (size_t)g->bodies ? " (the star)" : "");
    return name;
}

static int fail_meeting(struct sim_integrator *g, const double y[], const struct limit *pair,
                        double t)
{
    char name[64];
    g->dynamics->met = true;
    return ORR_FAIL(ORR_EDOM,
                    "a close encounter%s, %.3g AU apart at t = %.6g yr, which the integrator can "
                    "not follow",
                    name_pair(g, pair, name), body_distance(y, pair->body, pair->nearest, g->axes),
                    t);
}

static int fail_force(struct sim_integrator *g, const double y[], double t)
{
    char name[64];
    if (is_close(g, y, &g->bad))
        return fail_meeting(g, y, &g->bad, t);
    return ORR_FAIL(ORR_EDOM, "the force is not finite at r = %.9g AU: F = %g, t = %.6g yr%s",
                    g->bad_r, g->bad_force, t, name_pair(g, &g->bad, name));
}

static int fail_step(struct sim_integrator *g, const double y[], size_t k, double t)
{
    char name[64];
    const struct limit *pair = g->control->state;
    if (is_close(g, y, pair))
        return fail_meeting(g, y, pair, t);
    const double r = g->bodies > 1 ? body_distance(y, pair->body, pair->nearest, g->axes)
                                   : sim_length(y, g->axes);
    return ORR_FAIL(ORR_EDOM,
                    "law %s: the integrator can not pass t = %.9g yr, step %zu, r = %.6g AU%s",
                    sim_law_name(g->dynamics), t, k, r, name_pair(g, pair, name));
}

/* --------------------------------------------------------------------------- integration */

/* Chooses a first step far below the shortest time scale of the system. */
static int first_step(struct sim_integrator *g, const double y[], double dt, double *h)
{
    double yp[SIM_STATE * MAX_BODIES];
    if (compute_rates(0, y, yp, g))
        return fail_force(g, y, 0);
    *h = dt;
    for (size_t i = 0; i < (size_t)g->bodies; i++) {
        double scale[2];
        error_scales(y, yp, (size_t)g->bodies, g->axes, i, scale);
        if (scale[1] > 0)
            *h = fmin(*h, 0.01 * scale[0] / scale[1]);
    }
    return 0;
}

/* Integrates from step k - 1 to step k. */
static int advance_step(struct sim_integrator *g, size_t k, double dt, double y[], double *h)
{
    double t = (double)(k - 1) * dt;
    const double end = (double)k * dt;
    for (int i = 0; t < end; i++) {
        const double before = t;
        const int status =
            gsl_odeiv2_evolve_apply(g->evolve, g->control, g->step, &g->system, &t, end, h, y);
        if (status == GSL_EBADFUNC)
            return fail_force(g, y, t);
        if (status || i == STEPS_MAX || !(t > before))
            return fail_step(g, y, k, t);
        if (is_close(g, y, g->control->state) && ++g->close_steps == CLOSE_STEPS)
            return fail_meeting(g, y, g->control->state, t);
    }
    return 0;
}

/* Integrates y (bodies, 2 d) in place over n times; put() stores the state at time k. */
static int integrate_steps(struct sim_integrator *g, double dt, size_t n, double y[],
                           void (*put)(const double y[], size_t k, void *to), void *to)
{
    double h;
    g->dynamics->met = false;
    g->close_steps = 0;
    sim_dynamics_seek(g->dynamics, 0);
    int rc = first_step(g, y, dt, &h);
    gsl_odeiv2_evolve_reset(g->evolve);
    put(y, 0, to);
    for (size_t k = 1; k < n && !rc; k++) {
        if (g->dynamics->jump_step > 0 && k == g->dynamics->jump_step + 1) {
            sim_dynamics_seek(g->dynamics, k - 1);
            gsl_odeiv2_evolve_reset(g->evolve); /* forgets the rates before the jump */
        }
        rc = advance_step(g, k, dt, y, &h);
        put(y, k, to);
    }
    return rc;
}

struct pair_out {
    double *state;
    size_t width;
};

static void put_pair(const double y[], size_t k, void *to)
{
    const struct pair_out *p = to;
    memcpy(p->state + p->width * k, y, p->width * sizeof *y);
}

int sim_integrate_pair(struct sim_dynamics *d, double m1, double m2, double dt_yr, size_t n,
                       double state[])
{
    const double mass[2] = {m1, m2};
    struct pair_out to = {state, 2 * (size_t)sim_dynamics_axes(d)};
    double y[SIM_STATE];
    memcpy(y, state, to.width * sizeof *y);
    const int rc = prepare_integrator(d, 1, mass, 2);
    return rc ? rc : integrate_steps(d->integrator, dt_yr, n, y, put_pair, &to);
}

struct bodies_out {
    double *out;
    size_t n, width;
    int bodies;
    bool heliocentric;
};

static void put_bodies(const double y[], size_t k, void *to)
{
    const struct bodies_out *b = to;
    const double *star = y + b->width * (size_t)(b->bodies - 1);
    for (int i = 0; i < b->bodies - b->heliocentric; i++)
        for (size_t c = 0; c < b->width; c++)
            b->out[b->width * ((size_t)i * b->n + k) + c] =
                y[b->width * (size_t)i + c] - (b->heliocentric ? star[c] : 0);
}

int sim_integrate_bodies(struct sim_dynamics *d, int bodies, const double mass[],
                         const double start[], double dt_yr, size_t n, bool heliocentric,
                         double out[])
{
    struct bodies_out to = {out, n, 2 * (size_t)sim_dynamics_axes(d), bodies, heliocentric};
    double y[SIM_STATE * MAX_BODIES];
    const int rc = prepare_integrator(d, bodies, mass, bodies);
    if (rc)
        return rc;
    memcpy(y, start, to.width * (size_t)bodies * sizeof *y);
    return integrate_steps(d->integrator, dt_yr, n, y, put_bodies, &to);
}
