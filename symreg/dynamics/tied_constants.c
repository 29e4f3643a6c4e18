/* tied_constants.c - which constants have a value in each category, and which have one for all. A
 * search on derivatives decides by their errors; the tracks themselves know constants better. */
#include <stdlib.h>

#include "judge.h"

void sr_judged_copy(const struct sr_judged *from, struct sr_judged *to)
{
    memcpy(to->expr, from->expr, sizeof to->expr);
    to->each = from->each;
    to->held = from->held;
}

void sr_judged_put(struct sr_judged *f, int d, const struct sr_expr *expr, int first,
                   const struct sr_each_own *each)
{
    f->expr[d] = *expr;
    memcpy(f->each.value[first], each, sizeof *each);
}

/* Replaces constant `k` of each category by a number, its mean. */
static bool make_number(const struct sr_judge *c, int k, struct sr_expr *expr,
                        const struct sr_each *each)
{
    const int categories = c->states->categories;
    double mean = 0;
    for (int i = 0; i < categories; i++)
        mean += each->value[k][i] / categories;
    for (int i = 0; i < expr->count; i++)
        if (sr_is_each(&expr->node[i]) && expr->node[i].feature == SR_EACH_FIRST + k)
            expr->node[i] = sr_constant_node(mean);
    sr_expr_simplify(c->language, expr);
    return expr->count > 0;
}

/* Replaces the number at node i by a constant of each category that the formula does not have. */
static bool make_each(const struct sr_judge *c, int first, int i, struct sr_expr *expr,
                      struct sr_each *each)
{
    const uint32_t used = sr_each_used(expr);
    const struct sr_node *const next = i + 1 < expr->count ? &expr->node[i + 1] : NULL;
    int k = first;
    if (!sr_is_number(&expr->node[i]) ||
        (next && next->op == SR_POW && sr_is_whole(expr->node[i].value)))
        return false;
    while (k < first + SR_EACH_OWN && used >> k & 1)
        k++;
    if (k == first + SR_EACH_OWN)
        return false;
    for (int m = 0; m < c->states->categories; m++)
        each->value[k][m] = expr->node[i].value;
    expr->node[i] = sr_feature_node(SR_EACH_FIRST + k);
    return true;
}

/* Tries a change of equation d, number `way`: one of its own constants of each category, then one
 * of its nodes. False behind the last. */
static bool change(const struct sr_judge *c, int d, int first, int way, struct sr_judged *trial,
                   bool *fits)
{
    struct sr_expr *const expr = &trial->expr[d];
    *fits = false;
    if (way < SR_EACH_OWN)
        *fits = sr_each_used(expr) >> (first + way) & 1 &&
                make_number(c, first + way, expr, &trial->each);
    else if (way - SR_EACH_OWN < expr->count)
        *fits = make_each(c, first, way - SR_EACH_OWN, expr, &trial->each);
    else
        return false;
    return true;
}

/* Changes the equation in all ways again and again, as long as that costs less. */
static int tie(const struct sr_judge *c, int d, int first, struct sr_judged *best)
{
    struct sr_judged *const trial = orr_alloc(1, sizeof *trial);
    int rc = trial ? 0 : ORR_ENOMEM;
    for (bool changed = true; changed && !rc;) {
        bool fits = true;
        changed = false;
        for (int way = 0; !rc && !sr_judge_over(c); way++) {
            sr_judged_copy(best, trial);
            if (!change(c, d, first, way, trial, &fits))
                break;
            if (!fits)
                continue;
            rc = sr_judge_fit(c, trial);
            orr_trace("equation %d, %s: %.2f nats, residual %.4g", d + 1,
                      way < SR_EACH_OWN ? "a number for all categories" : "one of each category",
                      trial->nats, sqrt(trial->misfit));
            if (!rc && trial->nats < best->nats) {
                *best = *trial;
                changed = true;
            }
        }
    }
    free(trial);
    return rc;
}

int sr_judge_tie(const struct sr_judge *c, int d, int first, struct sr_judged *best)
{
    if (!c->states->categories)
        return 0;
    struct sr_judged *const loose = orr_alloc(1, sizeof *loose);
    int rc = loose ? tie(c, d, first, best) : ORR_ENOMEM;
    if (!rc && !sr_judge_over(c)) {
        sr_judged_copy(best, loose);
        if (sr_equation_loosen(c->language, c->states->categories, first, &loose->each,
                               &loose->expr[d])) {
            rc = sr_judge_fit(c, loose);
            if (!rc && loose->nats < HUGE_VAL)
                rc = tie(c, d, first, loose);
            if (!rc && loose->nats < best->nats)
                *best = *loose;
        }
    }
    free(loose);
    return rc;
}

void sr_system_number(const struct sr_states *s, struct sr_system *system)
{
    struct sr_each each = system->each, error = system->each_error;
    int number[SR_EACH];
    for (int k = 0; k < SR_EACH; k++)
        number[k] = -1;
    system->constants = 0;
    for (int d = 0; d < s->dims; d++)
        for (int i = 0; i < system->expr[d].count; i++) {
            struct sr_node *const node = &system->expr[d].node[i];
            if (!sr_is_each(node))
                continue;
            int *const to = &number[node->feature - SR_EACH_FIRST];
            if (*to < 0) {
                *to = system->constants++;
                memcpy(system->each.value[*to], each.value[to - number], sizeof *each.value);
                memcpy(system->each_error.value[*to], error.value[to - number],
                       sizeof *error.value);
            }
            *node = sr_feature_node(SR_EACH_FIRST + *to);
        }
}
