/* phases.c - moves phases of sines, cosines and tangents by whole periods. */
#include "expr.h"

#include <gsl/gsl_math.h>

/* The operand of node i that is a constant: its index; *other: the last node of the other operand.
 * -1 where there is none, or two. */
static int constant_beside(const struct sr_expr *expr, int i, int *other)
{
    if (sr_expr_arity(expr, i) != 2)
        return -1;
    const int left = sr_expr_left(expr, i), right = i - 1;
    const bool first = expr->node[left].op == SR_CONSTANT;
    *other = first ? right : left;
    return first == (expr->node[right].op == SR_CONSTANT) ? -1 : first ? left : right;
}

/* The factor by which node i multiplies its other operand; *other: the last node of that. */
static double factor_beside(const struct sr_expr *expr, int i, int *other)
{
    const int op = expr->node[i].op, constant = constant_beside(expr, i, other);
    if (constant < 0 || (op != SR_MUL && (op != SR_DIV || constant != i - 1)))
        return NAN;
    return op == SR_MUL ? expr->node[constant].value : 1 / expr->node[constant].value;
}

void sr_expr_reduce_phases(struct sr_expr *expr, const struct sr_expr *around, bool in_products)
{
    for (int i = 1; i < expr->count; i++) {
        const int op = expr->node[i].op;
        if (op != SR_SIN && op != SR_COS && op != SR_TAN)
            continue;
        int sum = i - 1, other = sum;
        double period = op == SR_TAN ? M_PI : 2 * M_PI;
        const double factor = in_products ? factor_beside(expr, sum, &other) : (double)NAN;
        if (isfinite(factor) && factor != 0) {
            period /= fabs(factor);
            sum = other;
        }
        if (expr->node[sum].op != SR_ADD && expr->node[sum].op != SR_SUB)
            continue;
        const int phase = constant_beside(expr, sum, &other);
        if (phase < 0 || !sr_is_number(&expr->node[phase]) || !isfinite(period))
            continue;
        double *const value = &expr->node[phase].value;
        const double centre = around ? around->node[phase].value : 0;
        if (fabs(*value - centre) > period / 2)
            *value = centre + remainder(*value - centre, period);
    }
}
