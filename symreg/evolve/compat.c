/* compat.c - what SymbolicRegression.jl does otherwise: its start.
 *
 * Constants from github.com/MilesCranmer/SymbolicRegression.jl, today's defaults of PySR. Formulas
 * are judged as they stand, without an outer scale; there is no enumeration and no polish; a child
 * may be infinitely bad (island.c); mutations have other weights (mutate.c); constants are fitted
 * by BFGS or Newton's method (compat_fit.c). */
#include "search.h"

#include <string.h>

enum { START_APPENDS = 3 };

void sr_compat_random(const struct sr_settings *settings, int features, gsl_rng *rng,
                      struct sr_expr *expr)
{
    expr->count = 1;
    expr->node[0] = (struct sr_node){.op = SR_CONSTANT, .size = 1, .value = 1};
    for (int k = 0; k < START_APPENDS; k++)
        sr_append(settings, features, rng, expr);
}
