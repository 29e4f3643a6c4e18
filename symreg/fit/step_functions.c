/* step_functions.c - constants inside floor, round, mod, greater and cond, by which derivatives are
 * 0 or nothing is known between the jumps.
 *
 * Two ways: Levenberg-Marquardt on a formula without jumps, which has a - 1/2 for floor(a) and a
 * for round(a), as they are on the average; and a search along one constant after the other, with
 * steps that shrink. */
#include "fit.h"

#include <float.h>
#include <math.h>

static const uint64_t jumps = UINT64_C(1) << SR_FLOOR | UINT64_C(1) << SR_ROUND |
                              UINT64_C(1) << SR_MOD | UINT64_C(1) << SR_GREATER |
                              UINT64_C(1) << SR_COND;

bool sr_has_steps(const struct sr_expr *expr)
{
    return (sr_expr_operators(expr) & jumps) != 0;
}

/* The formula without its jumps, whose numbers are those of *expr in their order; false where there
 * is none. */
static bool smooth_form(const struct sr_language *language, const struct sr_expr *expr,
                        struct sr_expr *smooth)
{
    struct sr_node half = sr_constant_node(0.5);
    half.feature = SR_FIXED;
    smooth->count = 0;
    for (int i = 0; i < expr->count; i++) {
        const int op = expr->node[i].op;
        if (op == SR_FLOOR) {
            sr_put_node(smooth, half);
            sr_put_op(smooth, SR_SUB);
        } else if (op != SR_ROUND) {
            sr_put_node(smooth, expr->node[i]);
        }
    }
    return smooth->count != expr->count && sr_put_end(language, smooth, SR_NODES);
}

static double loss_of(const struct sr_loss *loss, const struct sr_expr *expr, struct sr_work *work)
{
    double reached;
    return sr_eval_parts(expr, loss, 1, work->rows, work->value, &reached, NULL) &&
                   isfinite(reached)
               ? reached
               : HUGE_VAL;
}

/* Tries constant c at both sides of its value; true where the loss falls. */
static bool try_sides(const struct sr_loss *loss, struct sr_expr *expr, double *constant, int c,
                      double step, double *reached, struct sr_work *work)
{
    const double from = constant[c];
    for (int side = 0; side < 2; side++) {
        constant[c] = from + (side ? -step : step);
        sr_expr_set_constants(expr, constant);
        const double here = loss_of(loss, expr, work);
        if (here < *reached) {
            *reached = here;
            return true;
        }
    }
    constant[c] = from;
    sr_expr_set_constants(expr, constant);
    return false;
}

/* Moves one constant after the other, by shares of it that double where they help and fall to a
 * third where they do not. */
static double search_along(const struct sr_loss *loss, struct sr_expr *expr, double reached,
                           int tries, struct sr_work *work)
{
    static const double first = 0.2, last = 1e-6;
    double constant[SR_NODES], share[SR_NODES];
    const int n = sr_expr_constants(expr, constant);
    for (int c = 0; c < n; c++)
        share[c] = first;
    for (bool any = true; any && tries > 0 && reached > loss->noise;) {
        any = false;
        for (int c = 0; c < n && tries > 0 && !sr_fit_over(work); c++) {
            const double size = fabs(constant[c]) > 0 ? fabs(constant[c]) : 1;
            if (share[c] < last)
                continue;
            any = true;
            tries -= 2;
            share[c] *=
                try_sides(loss, expr, constant, c, share[c] * size, &reached, work) ? 2 : 1.0 / 3;
        }
    }
    return reached;
}

double sr_steps_fit(const struct sr_loss *loss, struct sr_expr *expr, double reached,
                    int iterations, struct sr_work *work)
{
    const struct sr_language *const language = loss->data->language;
    struct sr_expr smooth, moved = *expr;
    double constant[SR_NODES];
    const int n = sr_expr_constants(expr, NULL);
    if (smooth_form(language, expr, &smooth)) {
        sr_constants_fit_others(loss, &smooth, 0, iterations, work);
        sr_expr_constants(&smooth, constant);
        sr_expr_set_constants(&moved, constant);
        const double here = loss_of(loss, &moved, work);
        if (here < reached) {
            reached = here;
            *expr = moved;
        }
    }
    return search_along(loss, expr, reached, 4 * n * iterations, work);
}
