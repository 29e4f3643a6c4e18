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

/* The phase in the operand of node i, as in sin(x + c), with `in_products` also as in
 * sin(a (x + c)): its index, or -1. *factor: a, or 1; below 0 where the phase is subtracted. */
static int phase_of(const struct sr_expr *expr, int i, bool in_products, double *factor)
{
    int sum = i - 1, other = sum;
    const double a = in_products ? factor_beside(expr, sum, &other) : (double)NAN;
    *factor = 1;
    if (isfinite(a) && a != 0) {
        *factor = a;
        sum = other;
    }
    if (expr->node[sum].op != SR_ADD && expr->node[sum].op != SR_SUB)
        return -1;
    const int phase = constant_beside(expr, sum, &other);
    if (phase == sum - 1 && expr->node[sum].op == SR_SUB)
        *factor = -*factor;
    return phase >= 0 && sr_is_number(&expr->node[phase]) && isfinite(1 / *factor) ? phase : -1;
}

void sr_expr_reduce_phases(struct sr_expr *expr, const struct sr_expr *around, bool in_products)
{
    for (int i = 1; i < expr->count; i++) {
        const int op = expr->node[i].op;
        double factor;
        if (op != SR_SIN && op != SR_COS && op != SR_TAN)
            continue;
        const int phase = phase_of(expr, i, in_products, &factor);
        if (phase < 0)
            continue;
        const double period = (op == SR_TAN ? M_PI : 2 * M_PI) / fabs(factor);
        const double centre = around ? around->node[phase].value : 0;
        double *const value = &expr->node[phase].value;
        if (fabs(*value - centre) > period / 2)
            *value = centre + remainder(*value - centre, period);
    }
}

bool sr_expr_exchange_wave(struct sr_expr *expr, int i, enum sr_wave to)
{
    const int op = expr->node[i].op;
    double factor;
    const int phase = op == SR_SIN || op == SR_COS ? phase_of(expr, i, true, &factor) : -1;
    if (phase < 0)
        return false;
    const double shift = to == SR_OPPOSITE                    ? M_PI
                         : (op == SR_SIN) == (to == SR_OTHER) ? -M_PI_2
                                                              : M_PI_2;
    if (to != SR_OPPOSITE)
        expr->node[i].op = op == SR_SIN ? SR_COS : SR_SIN;
    expr->node[phase].value += shift / factor;
    return true;
}
