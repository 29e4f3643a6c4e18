/* phases.c - moves phases of sines, cosines and tangents to the period around 0. */
#include "expr.h"

#include <gsl/gsl_math.h>

/* The operand of node i that is a number: its index; *other: the last node of the other operand. -1
 * where there is none, or two. */
static int number_beside(const struct sr_expr *expr, int i, int *other)
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
    const int op = expr->node[i].op, number = number_beside(expr, i, other);
    if (number < 0 || (op != SR_MUL && (op != SR_DIV || number != i - 1)))
        return NAN;
    return op == SR_MUL ? expr->node[number].value : 1 / expr->node[number].value;
}

void sr_expr_reduce_phases(struct sr_expr *expr)
{
    for (int i = 1; i < expr->count; i++) {
        const int op = expr->node[i].op;
        if (op != SR_SIN && op != SR_COS && op != SR_TAN)
            continue;
        int sum = i - 1, other = sum;
        double period = op == SR_TAN ? M_PI : 2 * M_PI;
        const double factor = factor_beside(expr, sum, &other);
        if (isfinite(factor) && factor != 0) {
            period /= fabs(factor);
            sum = other;
        }
        if (expr->node[sum].op != SR_ADD && expr->node[sum].op != SR_SUB)
            continue;
        const int phase = number_beside(expr, sum, &other);
        if (phase >= 0 && isfinite(period) && fabs(expr->node[phase].value) > period / 2)
            expr->node[phase].value = remainder(expr->node[phase].value, period);
    }
}
