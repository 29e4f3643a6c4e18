/* law.c - the force laws; names and settings: stage/force_laws.h; equations and sources:
 * docs/laws.md. */
#include "sim.h"

#include <math.h>

/* ------------------------------------------------------------------------------ the laws */

static double newton_force(const struct sim_law_params *p, double m1, double m2, double r)
{
    return p->gravity * m1 * m2 / (r * r);
}

static double newton_potential(const struct sim_law_params *p, double m1, double m2, double r)
{
    return -p->gravity * m1 * m2 / r;
}

/* The unit of r is AU: all powers agree at 1 AU. */
static double power_force(const struct sim_law_params *p, double m1, double m2, double r)
{
    return p->gravity * m1 * m2 * orr_pow(r, p->law_exponent);
}

static double power_potential(const struct sim_law_params *p, double m1, double m2, double r)
{
    const double n = p->law_exponent + 1;
    return p->gravity * m1 * m2 * (n == 0 ? orr_log(r) : orr_pow(r, n) / n);
}

static double yukawa_force(const struct sim_law_params *p, double m1, double m2, double r)
{
    const double u = r / p->law_lambda_au;
    return newton_force(p, m1, m2, r) * (1 + p->law_alpha * (1 + u) * orr_exp(-u));
}

static double yukawa_potential(const struct sim_law_params *p, double m1, double m2, double r)
{
    return newton_potential(p, m1, m2, r) * (1 + p->law_alpha * orr_exp(-r / p->law_lambda_au));
}

static double reduced_mass(double m1, double m2)
{
    return m1 * (m2 / (m1 + m2));
}

/* g solves g * g / (g + a0) = g_N: the simple interpolation x / (1 + x) of x = g / a0. */
static double mond_force(const struct sim_law_params *p, double m1, double m2, double r)
{
    const double half = 0.5 * p->gravity * (m1 + m2) / (r * r);
    return reduced_mass(m1, m2) * (half + sqrt(half * half + 2 * half * p->law_a0));
}

static double mond_potential(const struct sim_law_params *p, double m1, double m2, double r)
{
    const double k = p->gravity * (m1 + m2), q = 2 * sqrt(p->law_a0 / k), u = q * r;
    const double root = sqrt(1 + u * u), arsinh = orr_log(u + root);
    return 0.5 * k * reduced_mass(m1, m2) * (q * arsinh - (1 + root) / r);
}

static double plummer_force(const struct sim_law_params *p, double m1, double m2, double r)
{
    const double d2 = r * r + p->law_softening_au * p->law_softening_au;
    return p->gravity * m1 * m2 * r / (d2 * sqrt(d2));
}

static double plummer_potential(const struct sim_law_params *p, double m1, double m2, double r)
{
    return -p->gravity * m1 * m2 / sqrt(r * r + p->law_softening_au * p->law_softening_au);
}

/* The velocity-dependent rest beside Newton's force: Blanchet (2014), Eqs. (219), (220a). */
static void post_newtonian(const struct sim_law_params *p, double m1, double m2, int d,
                           const double rel[], double acc[])
{
    const double *v = rel + d, r = sim_length(rel, d), k = p->gravity * (m1 + m2) / r;
    const double nu = m1 / (m1 + m2) * (m2 / (m1 + m2)), c2 = p->light_au_yr * p->light_au_yr;
    const double rate = sim_dot(rel, v, d) / r, v2 = sim_dot(v, v, d);
    const double A = ((1 + 3 * nu) * v2 - 1.5 * nu * rate * rate - (4 + 2 * nu) * k) / c2;
    const double B = -(4 - 2 * nu) * rate / c2;
    for (int c = 0; c < d; c++)
        acc[c] -= k / r * (A * rel[c] / r + B * v[c]);
}

static double hooke_force(const struct sim_law_params *p, double m1, double m2, double r)
{
    return p->gravity * m1 * m2 * r;
}

static double hooke_potential(const struct sim_law_params *p, double m1, double m2, double r)
{
    return 0.5 * p->gravity * m1 * m2 * r * r;
}

static double lambda_force(const struct sim_law_params *p, double m1, double m2, double r)
{
    return newton_force(p, m1, m2, r) - p->law_constant * reduced_mass(m1, m2) * r;
}

static double lambda_potential(const struct sim_law_params *p, double m1, double m2, double r)
{
    return newton_potential(p, m1, m2, r) - 0.5 * p->law_constant * reduced_mass(m1, m2) * r * r;
}

static double expression_force(const struct sim_law_params *p, double m1, double m2, double r)
{
    return p->jump * sim_expression_force(p->expression, m1, m2, r);
}

const struct sim_law sim_laws[ORR_LAWS] = {
    [ORR_LAW_NEWTON] = {newton_force, newton_potential, NULL},
    [ORR_LAW_POWER] = {power_force, power_potential, NULL},
    [ORR_LAW_YUKAWA] = {yukawa_force, yukawa_potential, NULL},
    [ORR_LAW_MOND] = {mond_force, mond_potential, NULL},
    [ORR_LAW_PLUMMER] = {plummer_force, plummer_potential, NULL},
    [ORR_LAW_POST_NEWTONIAN] = {newton_force, newton_potential, post_newtonian},
    [ORR_LAW_HOOKE] = {hooke_force, hooke_potential, NULL},
    [ORR_LAW_LAMBDA] = {lambda_force, lambda_potential, NULL},
    [ORR_LAW_EXPRESSION] = {expression_force, NULL, NULL},
};

const char *sim_law_name(const struct sim_dynamics *d)
{
    return orr_force_laws[d->law - sim_laws].name;
}

/* ------------------------------------------------------------------------------ dynamics */

#define NUMBER(law, key, ...) .key = o->key,
int sim_dynamics_create(struct sim_dynamics *d, const struct orr_settings *settings)
{
    const struct orr_orbits_settings *o = &settings->orbits;
    *d = (struct sim_dynamics){
        .law = &sim_laws[o->law],
        .params = {.gravity = SIM_G,
                   .jump = 1,
                   ORR_FORCE_LAWS(ORR_SETTINGS_OF_LAW, NUMBER, ORR_NO_FORCE_LAW).light_au_yr =
                       SIM_LIGHT_AU_YR},
        .nbody = o->nbody,
        .in_space = o->dimensions == 3,
        .jump_step = o->jump_factor == 1 ? 0 : (size_t)o->jump_step,
        .jump_factor = o->jump_factor,
    };
    if (o->law == ORR_LAW_EXPRESSION)
        return sim_expression_create(&d->params.expression, o->expression);
    return 0;
}

void sim_dynamics_seek(struct sim_dynamics *d, size_t step)
{
    const bool after = d->jump_step > 0 && step >= d->jump_step;
    d->params.jump = after ? d->jump_factor : 1;
    d->params.gravity = SIM_G * d->params.jump;
}

void sim_law_acceleration(const struct sim_dynamics *d, double m1, double m2, const double rel[],
                          double acc[])
{
    const int axes = sim_dynamics_axes(d);
    const double r = sim_length(rel, axes);
    const double F = d->law->force(&d->params, m1, m2, r), scale = -F / reduced_mass(m1, m2) / r;
    for (int c = 0; c < axes; c++)
        acc[c] = scale * rel[c];
    if (d->law->correct)
        d->law->correct(&d->params, m1, m2, axes, rel, acc);
}

double sim_law_force(struct sim_dynamics *d, size_t step, double m1, double m2, const double rel[],
                     double force[])
{
    const int axes = sim_dynamics_axes(d);
    sim_dynamics_seek(d, step);
    if (d->law->correct) {
        sim_law_acceleration(d, m1, m2, rel, force);
        for (int c = 0; c < axes; c++)
            force[c] *= reduced_mass(m1, m2);
        return sim_length(force, axes);
    }
    const double r = sim_length(rel, axes);
    const double F = d->law->force(&d->params, m1, m2, r);
    for (int c = 0; c < axes; c++)
        force[c] = -F * rel[c] / r;
    return fabs(F);
}

double sim_law_force_at(struct sim_dynamics *d, size_t step, double m1, double m2, double r_au)
{
    const double rel[SIM_STATE] = {r_au};
    double force[SIM_AXES];
    return sim_law_force(d, step, m1, m2, rel, force);
}
