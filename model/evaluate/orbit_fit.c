/* orbit_fit.c - fits orbits to positions by least squares; see orbit_fit.h. */
#include "orbit_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>

#include "sim/sim.h"

/* ---- universal variables */

/* Stumpff's functions c2 and c3 of z. */
static void stumpff(double z, double *c2, double *c3)
{
    if (fabs(z) < 1e-2) { /* the term z^4 / 10! is below double precision */
        *c2 = 1.0 / 2 - z / 24 * (1 - z / 30 * (1 - z / 56));
        *c3 = 1.0 / 6 - z / 120 * (1 - z / 42 * (1 - z / 72));
    } else if (z > 0) {
        const double root = sqrt(z);
        *c2 = (1 - cos(root)) / z;
        *c3 = (root - sin(root)) / (z * root);
    } else {
        const double root = sqrt(-z);
        *c2 = (1 - cosh(root)) / z;
        *c3 = (sinh(root) - root) / (-z * root);
    }
}

bool gpt_orbit_advance(double mu, double dt_yr, int axes, double state[])
{
    double *const v = state + axes;
    const double root = sqrt(mu), r0 = sim_hypot(state, axes);
    const double radial = sim_dot(state, v, axes) / root;
    const double alpha = 2 / r0 - sim_dot(v, v, axes) / mu; /* 1 / a */
    const double goal = root * dt_yr;
    double chi = goal / r0, c2 = 0, c3 = 0, r = r0;
    bool done = false;
    for (int i = 0; i < 50 && !done; i++) {
        const double z = alpha * chi * chi;
        stumpff(z, &c2, &c3);
        const double f =
            radial * chi * chi * c2 + (1 - alpha * r0) * chi * chi * chi * c3 + r0 * chi - goal;
        r = chi * chi * c2 + radial * chi * (1 - z * c3) + r0 * (1 - z * c2);
        const double slope = radial * (1 - z * c2) + (1 - alpha * r0) * chi * (1 - z * c3);
        /* Laguerre's method with n = 5 converges from any start (Conway 1986) */
        const double under = fabs(16 * r * r - 20 * f * slope);
        const double step = 5 * f / (r + copysign(sqrt(under), r));
        done = fabs(step) <= 1e-14 * fmax(1, fabs(chi));
        chi -= step;
    }
    const double z = alpha * chi * chi;
    if (!done || !isfinite(chi))
        return false;
    stumpff(z, &c2, &c3);
    r = chi * chi * c2 + radial * chi * (1 - z * c3) + r0 * (1 - z * c2);
    const double f = 1 - chi * chi * c2 / r0, g = dt_yr - chi * chi * chi * c3 / root;
    const double df = root / (r * r0) * chi * (z * c3 - 1), dg = 1 - chi * chi * c2 / r;
    for (int c = 0; c < axes; c++) {
        const double x = state[c], speed = v[c];
        state[c] = f * x + g * speed;
        v[c] = df * x + dg * speed;
    }
    return true;
}

/* ---- the fit, in units of the first distance and of one step, in rotated coordinates */

struct problem {
    int steps;
    const double *place; /* (steps, 2, 2) positions, rotated and in these units */
    double sd;
    const struct gpt_orbit_prior *prior;
    double at[GPT_ORBIT_PARAMETERS]; /* of the last residuals */
    bool moved;                      /* whether states are of these parameters */
    double *states;                  /* (steps, 4), and memory of differences() behind them */
};
/* The parameters before are those of the relative motion. */
enum { MOVING = GPT_ORBIT_SHARE };

static const enum gpt_orbit_parameter across[] = {GPT_ORBIT_Y, GPT_ORBIT_VY, GPT_ORBIT_CY};
enum { ACROSS = sizeof across / sizeof *across };

/* Mirrors the orbit at the line from the star to the first position. */
static void mirror_orbit(double p[GPT_ORBIT_PARAMETERS])
{
    for (int k = 0; k < ACROSS; k++)
        p[across[k]] = -p[across[k]];
}

void gpt_orbit_prior_turn(int n, double (*p)[GPT_ORBIT_PARAMETERS], struct gpt_orbit_prior *prior)
{
    int clockwise = 0;
    for (int i = 0; i < n; i++)
        clockwise += p[i][GPT_ORBIT_VY] < 0;
    prior->both_ways = 20 * clockwise >= n && 20 * (n - clockwise) >= n;
    prior->most_clockwise = 2 * clockwise > n;
    for (int i = 0; i < n && prior->both_ways; i++)
        if (p[i][GPT_ORBIT_VY] < 0)
            mirror_orbit(p[i]);
}

/* The prior for orbits with the sense of rotation of these positions. */
static struct gpt_orbit_prior prior_of(const struct gpt_orbit_prior *prior, int steps,
                                       const double *place)
{
    struct gpt_orbit_prior own = *prior;
    const bool clockwise = steps > 1 ? place[5] - place[7] < 0 : prior->most_clockwise;
    if (prior->both_ways && clockwise)
        mirror_orbit(own.mean);
    return own;
}

/* mu and the relative state at the first step; false where the parameters are not an orbit. */
static bool first_state(const double p[GPT_ORBIT_PARAMETERS], double *mu, double state[4])
{
    *mu = exp(p[GPT_ORBIT_RATE]);
    const double speed = sqrt(*mu);
    state[0] = p[GPT_ORBIT_X];
    state[1] = p[GPT_ORBIT_Y];
    state[2] = p[GPT_ORBIT_VX] * speed;
    state[3] = p[GPT_ORBIT_VY] * speed;
    return isfinite(*mu) && *mu > 0 && hypot(state[0], state[1]) > 0;
}

/* The relative states of all steps, which depend on the parameters before MOVING alone. */
static int move_along(const struct problem *o, const double p[GPT_ORBIT_PARAMETERS], double *states)
{
    double mu;
    if (!first_state(p, &mu, states))
        return GSL_EDOM;
    for (int k = 1; k < o->steps; k++) {
        memcpy(states + 4 * k, states + 4 * (k - 1), 4 * sizeof *states);
        if (!gpt_orbit_advance(mu, 1, 2, states + 4 * k))
            return GSL_EDOM;
    }
    return GSL_SUCCESS;
}

/* Residual i of the prior, then of the coordinates of planet and star at each step. */
static void take_residuals(const struct problem *o, const double p[GPT_ORBIT_PARAMETERS],
                           const double *states, double f[], size_t stride)
{
    size_t at = GPT_ORBIT_PARAMETERS;
    for (size_t i = 0; i < at; i++)
        f[stride * i] = (p[i] - o->prior->mean[i]) / o->prior->sd[i];
    for (int k = 0; k < o->steps; k++)
        for (int body = 0; body < 2; body++)
            for (int c = 0; c < 2; c++) {
                const double share = p[GPT_ORBIT_SHARE] - body;
                const double model = p[GPT_ORBIT_CX + c] + share * states[4 * k + c];
                f[stride * at++] = (o->place[4 * k + 2 * body + c] - model) / o->sd;
            }
}

static int residuals(const gsl_vector *x, void *given, gsl_vector *f)
{
    struct problem *o = given;
    for (size_t i = 0; i < GPT_ORBIT_PARAMETERS; i++)
        o->at[i] = gsl_vector_get(x, i);
    o->moved = move_along(o, o->at, o->states) == GSL_SUCCESS;
    if (!o->moved)
        return GSL_EDOM;
    take_residuals(o, o->at, o->states, f->data, f->stride);
    return GSL_SUCCESS;
}

/* Forward differences with GSL's steps. GSL would integrate the orbit for each parameter; three of
 * the eight do not move it, and the last residuals were taken at x. */
static int differences(const gsl_vector *x, void *given, gsl_matrix *jacobian)
{
    struct problem *o = given;
    const size_t n = jacobian->size1;
    double p[GPT_ORBIT_PARAMETERS], *base = o->states + 4 * (size_t)o->steps, *states = base + n;
    for (size_t i = 0; i < GPT_ORBIT_PARAMETERS; i++) {
        p[i] = gsl_vector_get(x, i);
        o->moved = o->moved && p[i] == o->at[i];
    }
    if (!o->moved && move_along(o, p, o->states) != GSL_SUCCESS)
        return GSL_EDOM;
    take_residuals(o, p, o->states, base, 1);
    for (size_t j = 0; j < GPT_ORBIT_PARAMETERS; j++) {
        const double here = p[j];
        double *column = jacobian->data + j, step = GSL_SQRT_DBL_EPSILON * fabs(here);
        step = step > 0 ? step : GSL_SQRT_DBL_EPSILON;
        p[j] = here + step;
        if (j < MOVING && move_along(o, p, states) != GSL_SUCCESS)
            return GSL_EDOM;
        take_residuals(o, p, j < MOVING ? states : o->states, column, jacobian->tda);
        for (size_t i = 0; i < n; i++)
            column[jacobian->tda * i] = (column[jacobian->tda * i] - base[i]) * (1 / step);
        p[j] = here;
    }
    return GSL_SUCCESS;
}

struct gpt_orbit_prior gpt_orbit_wide_prior(void)
{
    struct gpt_orbit_prior prior = {.mean = {1, 0, 0, 1, -3, 0.5, 0, 0},
                                    .sd = {1, 1, 1, 1, 3, 1, 10, 10}};
    return prior;
}

/* Start parameters from the positions: velocity and acceleration by differences, the share from
 * the motion of planet and star; the prior's means where there are too few positions. */
static void suggest_start(const struct problem *o, double p[GPT_ORBIT_PARAMETERS])
{
    const double *x = o->place;
    double r[3][2], along = 0, square = 0;
    memcpy(p, o->prior->mean, sizeof o->prior->mean);
    if (o->steps < 3)
        return;
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 2; c++)
            r[k][c] = x[4 * k + c] - x[4 * k + 2 + c];
    for (int k = 1; k < o->steps; k++)
        for (int c = 0; c < 2; c++) {
            const double planet = x[4 * k + c] - x[c], star = x[4 * k + 2 + c] - x[2 + c];
            along += planet * (planet - star);
            square += (planet - star) * (planet - star);
        }
    const double ax = r[2][0] - 2 * r[1][0] + r[0][0], ay = r[2][1] - 2 * r[1][1] + r[0][1];
    const double middle = hypot(r[1][0], r[1][1]);
    const double mu = fmax(hypot(ax, ay), 1e-9) * middle * middle;
    p[GPT_ORBIT_RATE] = log(mu);
    p[GPT_ORBIT_VX] = (r[1][0] - r[0][0] - ax / 2) / sqrt(mu);
    p[GPT_ORBIT_VY] = (r[1][1] - r[0][1] - ay / 2) / sqrt(mu);
    if (square > 0)
        p[GPT_ORBIT_SHARE] = along / square;
    for (int c = 0; c < 2; c++)
        p[GPT_ORBIT_CX + c] = x[c] - p[GPT_ORBIT_SHARE] * r[0][c];
}

/* Moves the parameters to a nearby minimum of the sum of squares; *cost = the sum there, per
 * residual. */
static int descend_from(struct problem *o, double p[GPT_ORBIT_PARAMETERS], double *cost)
{
    const size_t n = GPT_ORBIT_PARAMETERS + 4 * (size_t)o->steps;
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf fdf = {
        .f = residuals, .df = differences, .n = n, .p = GPT_ORBIT_PARAMETERS, .params = o};
    gsl_vector_view start = gsl_vector_view_array(p, GPT_ORBIT_PARAMETERS);
    int info;
    how.trs = gsl_multifit_nlinear_trs_lm;
    *cost = INFINITY; /* in case the parameters are not an orbit */
    gsl_multifit_nlinear_workspace *w =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, n, GPT_ORBIT_PARAMETERS);
    if (!w)
        return ORR_FAIL(ORR_ENOMEM, "fit of an orbit to %d steps: out of memory", o->steps);
    if (gsl_multifit_nlinear_init(&start.vector, &fdf, w) == GSL_SUCCESS) {
        gsl_multifit_nlinear_driver(60, 1e-12, 1e-12, 0, NULL, NULL, &info, w);
        const gsl_vector *x = gsl_multifit_nlinear_position(w);
        const double length = gsl_blas_dnrm2(gsl_multifit_nlinear_residual(w));
        *cost = isfinite(length) ? length * length / (double)n : INFINITY;
        for (int i = 0; i < GPT_ORBIT_PARAMETERS; i++)
            p[i] = gsl_vector_get(x, (size_t)i);
    }
    gsl_multifit_nlinear_free(w);
    return 0;
}

/* Starts at p with `start`, then at the parameters that the positions suggest, then at the
 * prior's means, until one fit explains the positions within their errors. The best fit counts. */
static int descend_from_all(struct problem *o, double p[GPT_ORBIT_PARAMETERS], bool start)
{
    enum { GIVEN, SUGGESTED, MEANS };
    /* sum of squared residuals, in units of their standard deviations, per residual */
    const double enough = 4;
    double best[GPT_ORBIT_PARAMETERS], least = INFINITY, cost;
    memcpy(best, p, sizeof best);
    for (int from = start ? GIVEN : SUGGESTED; from <= MEANS && !(least <= enough); from++) {
        if (from == SUGGESTED)
            suggest_start(o, p);
        if (from == MEANS)
            memcpy(p, o->prior->mean, sizeof best);
        TRY(descend_from(o, p, &cost));
        if (cost < least || from == (start ? GIVEN : SUGGESTED)) {
            least = cost;
            memcpy(best, p, sizeof best);
        }
    }
    memcpy(p, best, sizeof best);
    return 0;
}

int gpt_orbit_fit_ahead(int steps, const double place[], double sd,
                        const struct gpt_orbit_prior *prior, double p[GPT_ORBIT_PARAMETERS],
                        bool start, int ahead, double next[][2])
{
    const double dx = place[0] - place[2], dy = place[1] - place[3], r = hypot(dx, dy);
    const double cosine = dx / r, sine = dy / r;
    double mu = 1, state[4], own[4 * 64], *turned = own;
    if (!(r > 0))
        return ORR_FAIL(ORR_EDOM, "fit of an orbit: planet and star have the same position");
    if (steps > 64 && !(turned = orr_alloc(4 * (size_t)steps, sizeof *turned)))
        return ORR_ENOMEM;
    for (int i = 0; i < 2 * steps; i++) {
        const double x = place[2 * i] / r, y = place[2 * i + 1] / r;
        turned[2 * i] = cosine * x + sine * y;
        turned[2 * i + 1] = cosine * y - sine * x;
    }
    const struct gpt_orbit_prior own_prior = prior_of(prior, steps, turned);
    struct problem o = {.steps = steps, .place = turned, .sd = sd / r, .prior = &own_prior};
    int rc = ORR_ENOMEM;
    if ((o.states = orr_alloc(12 * (size_t)steps + GPT_ORBIT_PARAMETERS, sizeof *o.states)))
        rc = descend_from_all(&o, p, start);
    free(o.states);
    bool there = !rc && first_state(p, &mu, state);
    for (int k = 1; k < steps && there; k++)
        there = gpt_orbit_advance(mu, 1, 2, state);
    for (int k = 0; k < ahead; k++) {
        double at[2];
        there = there && gpt_orbit_advance(mu, 1, 2, state);
        for (int c = 0; c < 2; c++) /* without an orbit: persistence */
            at[c] = there ? p[GPT_ORBIT_CX + c] + p[GPT_ORBIT_SHARE] * state[c]
                          : turned[4 * ((size_t)steps - 1) + (size_t)c];
        next[k][0] = r * (cosine * at[0] - sine * at[1]);
        next[k][1] = r * (sine * at[0] + cosine * at[1]);
    }
    if (turned != own)
        free(turned);
    return rc;
}

int gpt_orbit_fit(int steps, const double place[], double sd, const struct gpt_orbit_prior *prior,
                  double p[GPT_ORBIT_PARAMETERS], bool start, double next[2])
{
    double places[1][2] = {{0, 0}};
    const int rc = gpt_orbit_fit_ahead(steps, place, sd, prior, p, start, 1, places);
    next[0] = places[0][0];
    next[1] = places[0][1];
    return rc;
}
