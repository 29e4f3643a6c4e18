/* shorten_formulas.c - parts of formulas that the tracks do not support are left out: a search on
 * derivatives explains their errors, too. */
#include <math.h>
#include <stdlib.h>

#include "judge.h"

/* Nats of the likelihood that may be lost where a term goes whose coefficient is within two
 * standard errors of 0. */
static const double by_zero = 2;
/* ... where a constant becomes a fraction. */
static const double by_fraction = 0.5;

double sr_judge_lost(const struct sr_judge *c, const struct sr_judged *f,
                     const struct sr_judged *to)
{
    return f->nats < HUGE_VAL
               ? 0.5 * to->spare *
                     (orr_log(fmax(f->misfit, c->exact)) - orr_log(fmax(to->misfit, c->exact)))
               : HUGE_VAL;
}

bool sr_judge_loses_little(const struct sr_judge *c, const struct sr_judged *f,
                           const struct sr_judged *to, int fixed)
{
    return sr_judge_lost(c, f, to) <= by_fraction * fixed;
}

bool sr_judge_without(const struct sr_judge *c, int at, int operand, struct sr_expr *expr)
{
    const int start = sr_expr_start(expr, at);
    struct sr_expr part = {.count = 0};
    for (int i = sr_expr_start(expr, operand); i <= operand; i++)
        sr_put_node(&part, expr->node[i]);
    if (!sr_put_end(c->language, &part, SR_NODES))
        return false;
    if (expr->node[at].op == SR_SUB && operand == at - 1)
        sr_expr_scale(&part, -1); /* 0 - x is not x */
    if (!sr_expr_splice(c->language, expr, start, at - start + 1, part.node, part.count, SR_NODES))
        return false;
    sr_expr_simplify(c->language, expr);
    return true;
}

/* Tries the system with a shorter formula of state d: that whose node `at` is replaced by its
 * operand that ends at node `operand`. *shorter: it is better, or loses at most `most` nats of the
 * likelihood, and *best. */
static int try_shorter(const struct sr_judge *c, int d, int at, int operand, double most,
                       struct sr_judged *best, bool *shorter)
{
    struct sr_judged *trial = orr_alloc(1, sizeof *trial);
    if (!trial)
        return ORR_ENOMEM;
    sr_judged_copy(best, trial);
    int rc = 0;
    *shorter = false;
    if (sr_judge_without(c, at, operand, &trial->expr[d])) {
        rc = sr_judge_fit(c, trial);
        orr_trace("equation %d, without a part: %.2f nats, residual %.4g", d + 1, trial->nats,
                  sqrt(trial->misfit));
        *shorter = !rc && (trial->nats < best->nats || sr_judge_lost(c, trial, best) <= most);
        if (*shorter)
            *best = *trial;
    }
    free(trial);
    return rc;
}

/* Whether all values of a constant of each category are within two standard errors of 0. */
static bool may_be_zero_each(const struct sr_judge *c, const struct sr_judged *f, int k)
{
    bool may = true;
    for (int i = 0; i < c->states->categories; i++)
        may = may && fabs(f->each.value[k][i]) < 2 * f->each_error.value[k][i];
    return may;
}

/* Whether the part of the formula of state d that ends at node i is a fitted number that may be 0,
 * or a product with one. */
static bool may_be_zero(const struct sr_judge *c, const struct sr_judged *f, int d, int i)
{
    const struct sr_expr *const expr = &f->expr[d];
    int number = 0;
    if (expr->node[i].op == SR_MUL)
        return may_be_zero(c, f, d, i - 1) || may_be_zero(c, f, d, sr_expr_left(expr, i));
    if (sr_is_each(&expr->node[i]))
        return may_be_zero_each(c, f, expr->node[i].feature - SR_EACH_FIRST);
    if (!sr_is_number(&expr->node[i]))
        return false;
    for (int k = 0; k < i; k++)
        number += sr_is_number(&expr->node[k]);
    for (int k = 0; k < f->constants; k++)
        if (f->equation[k] == d && f->number[k] == number)
            return fabs(f->value[k]) < 2 * f->error[k];
    return false;
}

/* That need not cost less: a term that is none makes the errors of other constants larger, which
 * these then cost less by. There are few, so that the seconds do not count. */
int sr_judge_drop_zeros(const struct sr_judge *c, struct sr_judged *best)
{
    bool shorter = false;
    for (int d = 0; d < c->states->dims; d += !shorter) {
        shorter = false;
        for (int i = best->expr[d].count - 1; i > 1 && !shorter; i--) {
            const int op = best->expr[d].node[i].op, left = sr_expr_left(&best->expr[d], i);
            if (op != SR_ADD && op != SR_SUB)
                continue;
            if (may_be_zero(c, best, d, i - 1))
                TRY(try_shorter(c, d, i, left, by_zero, best, &shorter));
            else if (may_be_zero(c, best, d, left))
                TRY(try_shorter(c, d, i, i - 1, by_zero, best, &shorter));
        }
    }
    return 0;
}

int sr_judge_shorten(const struct sr_judge *c, const bool *held, struct sr_judged *best)
{
    bool shorter = false;
    TRY(sr_judge_drop_zeros(c, best));
    for (int d = 0; d < c->states->dims; d += !shorter) {
        shorter = false;
        const int last = held && held[d] ? 0 : best->expr[d].count - 1;
        for (int i = last; i > 0 && !shorter; i--) {
            const int arity = sr_expr_arity(&best->expr[d], i);
            if (arity == 0 || sr_judge_over(c))
                continue;
            TRY(try_shorter(c, d, i, i - 1, -HUGE_VAL, best, &shorter));
            if (arity == 2 && !shorter)
                TRY(try_shorter(c, d, i, sr_expr_left(&best->expr[d], i), -HUGE_VAL, best,
                                &shorter));
        }
    }
    return 0;
}
