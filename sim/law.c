/* law.c - the force laws: one row each in sim_laws[]. Equations and sources: docs/laws.md. */
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
    return p->gravity * m1 * m2 * orr_pow(r, p->exponent);
}

static double power_potential(const struct sim_law_params *p, double m1, double m2, double r)
{
    const double n = p->exponent + 1;
    return p->gravity * m1 * m2 * (n == 0 ? orr_log(r) : orr_pow(r, n) / n);
}

static double yukawa_force(const struct sim_law_params *p, double m1, double m2, double r)
{
    const double u = r / p->lambda_au;
    return newton_force(p, m1, m2, r) * (1 + p->alpha * (1 + u) * orr_exp(-u));
}

static double yukawa_potential(const struct sim_law_params *p, double m1, double m2, double r)
{
    return newton_potential(p, m1, m2, r) * (1 + p->alpha * orr_exp(-r / p->lambda_au));
}

static double reduced_mass(double m1, double m2)
{
    return m1 * (m2 / (m1 + m2));
}

/* g solves g * g / (g + a0) = g_N: the simple interpolation x / (1 + x) of x = g / a0. */
static double mond_force(const struct sim_law_params *p, double m1, double m2, double r)
{
    const double half = 0.5 * p->gravity * (m1 + m2) / (r * r);
    return reduced_mass(m1, m2) * (half + sqrt(half * half + 2 * half * p->a0));
}

static double mond_potential(const struct sim_law_params *p, double m1, double m2, double r)
{
    const double k = p->gravity * (m1 + m2), q = 2 * sqrt(p->a0 / k), u = q * r;
    const double root = sqrt(1 + u * u), arsinh = orr_log(u + root);
    return 0.5 * k * reduced_mass(m1, m2) * (q * arsinh - (1 + root) / r);
}

static double plummer_force(const struct sim_law_params *p, double m1, double m2, double r)
{
    const double d2 = r * r + p->softening_au * p->softening_au;
    return p->gravity * m1 * m2 * r / (d2 * sqrt(d2));
}

static double plummer_potential(const struct sim_law_params *p, double m1, double m2, double r)
{
    return -p->gravity * m1 * m2 / sqrt(r * r + p->softening_au * p->softening_au);
}

/* The velocity-dependent rest beside Newton's force: Blanchet (2014), Eqs. (219), (220a). */
static void post_newtonian(const struct sim_law_params *p, double m1, double m2,
                           const double rel[4], double acc[2])
{
    const double x = rel[0], y = rel[1], vx = rel[2], vy = rel[3];
    const double r = sqrt(x * x + y * y), k = p->gravity * (m1 + m2) / r;
    const double nu = m1 / (m1 + m2) * (m2 / (m1 + m2)), c2 = p->light_au_yr * p->light_au_yr;
    const double rate = (x * vx + y * vy) / r, v2 = vx * vx + vy * vy;
    const double A = ((1 + 3 * nu) * v2 - 1.5 * nu * rate * rate - (4 + 2 * nu) * k) / c2;
    const double B = -(4 - 2 * nu) * rate / c2;
    acc[0] -= k / r * (A * x / r + B * vx);
    acc[1] -= k / r * (A * y / r + B * vy);
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
    return newton_force(p, m1, m2, r) - p->constant * reduced_mass(m1, m2) * r;
}

static double lambda_potential(const struct sim_law_params *p, double m1, double m2, double r)
{
    return newton_potential(p, m1, m2, r) - 0.5 * p->constant * reduced_mass(m1, m2) * r * r;
}

static double expression_force(const struct sim_law_params *p, double m1, double m2, double r)
{
    return p->jump * sim_expression_force(p->expression, m1, m2, r);
}

/* To add a law: a row here, its name in enum orr_law (stage/settings.h), its parameters in
 * stage/settings_table.c. */
/* clang-format off */
const struct sim_law sim_laws[] = {
    {"newton", "", newton_force, newton_potential, NULL, "F = G m1 m2 / r^2"},
    {"power", "orbits.law_exponent", power_force, power_potential, NULL, "F = G m1 m2 r^n, n > -3"},
    {"yukawa", "orbits.law_alpha orbits.law_lambda_au", yukawa_force, yukawa_potential, NULL, "Newton and a force of finite range"},
    {"mond", "orbits.law_a0", mond_force, mond_potential, NULL, "modified dynamics, simple interpolation"},
    {"plummer", "orbits.law_softening_au", plummer_force, plummer_potential, NULL, "softened Newton"},
    {"post_newtonian", "", newton_force, newton_potential, post_newtonian, "first post-Newtonian order, harmonic coordinates"},
    {"hooke", "", hooke_force, hooke_potential, NULL, "F = G m1 m2 r"},
    {"lambda", "orbits.law_constant", lambda_force, lambda_potential, NULL, "Newton and a linear repulsion"},
    {"expression", "orbits.expression", expression_force, NULL, NULL, "F as an expression of r, m1, m2, G"},
};
/* clang-format on */
_Static_assert(sizeof sim_laws / sizeof *sim_laws == ORR_LAWS, "one line per enum orr_law");

/* ------------------------------------------------------------------------------ dynamics */

int sim_dynamics_create(struct sim_dynamics *d, const struct orr_settings *preset)
{
    const struct orr_orbits_settings *o = &preset->orbits;
    *d = (struct sim_dynamics){
        .law = &sim_laws[o->law],
        .params = {.gravity = SIM_G,
                   .jump = 1,
                   .exponent = o->law_exponent,
                   .alpha = o->law_alpha,
                   .lambda_au = o->law_lambda_au,
                   .a0 = o->law_a0,
                   .softening_au = o->law_softening_au,
                   .constant = o->law_constant,
                   .light_au_yr = SIM_LIGHT_AU_YR},
        .nbody = o->nbody,
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

void sim_law_acceleration(const struct sim_dynamics *d, double m1, double m2, const double rel[4],
                          double acc[2])
{
    const double r = sqrt(rel[0] * rel[0] + rel[1] * rel[1]);
    const double F = d->law->force(&d->params, m1, m2, r), scale = -F / reduced_mass(m1, m2) / r;
    acc[0] = scale * rel[0];
    acc[1] = scale * rel[1];
    if (d->law->correct)
        d->law->correct(&d->params, m1, m2, rel, acc);
}

double sim_law_force(struct sim_dynamics *d, size_t step, double m1, double m2, const double rel[4],
                     double force[2])
{
    sim_dynamics_seek(d, step);
    if (d->law->correct) {
        sim_law_acceleration(d, m1, m2, rel, force);
        force[0] *= reduced_mass(m1, m2);
        force[1] *= reduced_mass(m1, m2);
        return sqrt(force[0] * force[0] + force[1] * force[1]);
    }
    const double r = sqrt(rel[0] * rel[0] + rel[1] * rel[1]);
    const double F = d->law->force(&d->params, m1, m2, r);
    force[0] = -F * rel[0] / r;
    force[1] = -F * rel[1] / r;
    return fabs(F);
}
