/* algorithm.c - the search algorithms: the engine's default, also for templates, and the one of
 * SymbolicRegression.jl.
 *
 * Both use the mutation weights of github.com/MilesCranmer/SymbolicRegression.jl. The compatible
 * algorithm evaluates formulas without an outer scale, does not enumerate or polish, admits
 * children with an infinite loss, and fits constants by BFGS or Newton's method (pysr_fit.c). */
#include "search.h"

#include <math.h>

/* clang-format off */
#define WEIGHTS                                                                                    \
    [SR_ROTATE] = 4.26, [SR_ADD_LEAF] = 1.235, [SR_ADD_ROOT] = 1.235, [SR_DELETE] = 0.870,         \
    [SR_OPERATOR] = 0.293, [SR_SWAP] = 0.198, [SR_MOVE_FEATURE] = 0.1,                             \
    [SR_MOVE_CONSTANT] = 0.0346, [SR_INSERT] = 0.0112, [SR_RANDOMISE] = 0.000502
/* clang-format on */

/* ---- the engine's default */

static double orrery_unit(double base)
{
    return base > 0 ? base : 1;
}

static void orrery_start(const struct sr_settings *settings, int features, gsl_rng *rng,
                         struct sr_expr *expr)
{
    sr_random_expr(settings, features, rng, 3 + (int)(gsl_rng_uniform(rng) * 6), expr);
}

static bool orrery_fit(struct sr_worker *w, struct sr_member *member)
{
    enum { STEPS = 8, RESTARTS = 1 };
    return sr_member_fit(w, member, STEPS, RESTARTS);
}

static double orrery_factor(gsl_rng *rng)
{
    const double base = 1.1 + 0.129 * gsl_rng_uniform(rng);
    return orr_pow(base, 4 * gsl_rng_uniform(rng));
}

const struct sr_algorithm sr_algorithm_orrery = {
    .kind = ORR_SR_ORRERY,
    .proposes = true,
    .screens = true,
    .polishes = true,
    .patient = true,
    .scaled = true,
    .knows_constant = true,
    .unit = orrery_unit,
    .start = orrery_start,
    .evaluate = sr_member_evaluate_scaled,
    .fit = orrery_fit,
    .constant_factor = orrery_factor,
    .weight = {WEIGHTS},
};

const struct sr_algorithm sr_algorithm_parts = {
    .kind = ORR_SR_ORRERY,
    .proposes = true,
    .screens = true,
    .polishes = true,
    .patient = true,
    .scales_parts = true,
    .unit = orrery_unit,
    .start = orrery_start,
    .evaluate = sr_member_evaluate_parts,
    .fit = orrery_fit,
    .constant_factor = orrery_factor,
    .weight = {WEIGHTS},
};

/* ---- SymbolicRegression.jl's */

static double pysr_unit(double base)
{
    return fmax(base, 0.01);
}

static void pysr_start(const struct sr_settings *settings, int features, gsl_rng *rng,
                       struct sr_expr *expr)
{
    enum { APPENDS = 3 };
    expr->count = 1;
    expr->node[0] = sr_constant_node(1);
    for (int k = 0; k < APPENDS; k++)
        sr_append(settings, features, rng, expr);
}

static bool pysr_fit(struct sr_worker *w, struct sr_member *member)
{
    sr_compat_constants(w->view->loss, &member->expr, w->thread);
    return true;
}

static double pysr_factor(gsl_rng *rng)
{
    return orr_pow(1.1 + 0.129, gsl_rng_uniform(rng));
}

const struct sr_algorithm sr_algorithm_pysr = {
    .kind = ORR_SR_PYSR,
    .keeps_infinite = true,
    .unit = pysr_unit,
    .start = pysr_start,
    .evaluate = sr_member_evaluate_plain,
    .fit = pysr_fit,
    .constant_factor = pysr_factor,
    .weight = {WEIGHTS, [SR_NOTHING] = 0.273, [SR_SIMPLIFY] = 0.00209},
};
