/* choose.c - which formulas of the fronts the tracks support together. A system is judged by its
 * solutions: its constants are refitted to the tracks by integrating (flow.h), and of two systems
 * the likelier one is better, formulas and constants counted as in the evidence of a front
 * (symreg/select/evidence.c). From what the search selects for each equation on, the rows of one
 * front after the other are tried, all other equations fixed, as long as that finds better ones. */
#include "dynamics.h"

#include <math.h>
#include <stdlib.h>

#include "judge.h"

enum { SWEEPS = 3 }; /* through all equations, at most */
/* A formula whose loss on the derivatives is so many times that of what the search selects explains
 * no track better. */
static const double hopeless = 20;

/* Tries row `row` of the front of equation d in the place of what *best has. */
static int try_row(const struct sr_judge *c, const struct sr_equations_found *found, int d, int row,
                   struct sr_judged *best, int *choice)
{
    if (found->loss[row] > hopeless * found->loss[found->best])
        return 0;
    struct sr_judged *trial = orr_alloc(1, sizeof *trial);
    if (!trial)
        return ORR_ENOMEM;
    memcpy(trial->expr, best->expr, sizeof trial->expr);
    trial->expr[d] = found->expr[row];
    const int rc = sr_judge_fit(c, trial);
    orr_trace("equation %d, row %d: %.2f nats, residual %.4g", d + 1, row + 1, trial->nats,
              sqrt(trial->misfit));
    if (!rc && trial->nats < best->nats) {
        *best = *trial;
        *choice = row;
    }
    free(trial);
    return rc;
}

/* Tries the rows of one front: sums of products, which are known to be short; simpler formulas than
 * the present one, which follow tracks quickly and are likelier the fewer they need; then longer
 * ones. The nearest first. */
static int improve_equation(const struct sr_judge *c, const struct sr_equations_found *found, int d,
                            struct sr_judged *best, int *choice)
{
    const int from = *choice;
    for (int row = found->count - 1; row >= 0 && !sr_judge_over(c); row--)
        if (found->loss[row] <= 0 && row != from)
            TRY(try_row(c, found, d, row, best, choice));
    for (int row = from - 1; row >= 0 && !sr_judge_over(c); row--)
        if (found->loss[row] > 0)
            TRY(try_row(c, found, d, row, best, choice));
    for (int row = from + 1; row < found->count && !sr_judge_over(c); row++)
        if (found->loss[row] > 0)
            TRY(try_row(c, found, d, row, best, choice));
    return 0;
}

/* The node of a formula's number, counted from 0. */
static struct sr_node *node_of(struct sr_expr *expr, int number)
{
    int i = 0;
    for (int n = -1; i < expr->count; i++)
        if (sr_is_number(&expr->node[i]) && ++n == number)
            break;
    return &expr->node[i];
}

/* Writes constants that may be fractions as these, where the tracks do not contradict: the others
 * are fitted again. */
static int simplify(const struct sr_judge *c, struct sr_judged *best)
{
    struct sr_node *node[SR_NODES];
    int fixed = 0;
    struct sr_judged *trial = orr_alloc(1, sizeof *trial);
    if (!trial)
        return ORR_ENOMEM;
    memcpy(trial->expr, best->expr, sizeof trial->expr);
    for (int k = 0; k < best->constants; k++)
        node[k] = node_of(&trial->expr[best->equation[k]], best->number[k]);
    for (int k = 0; k < best->constants; k++) {
        if (isnan(best->simple[k]))
            continue;
        node[k]->value = best->simple[k];
        node[k]->feature = SR_FIXED;
        fixed++;
    }
    const int rc = fixed ? sr_judge_fit(c, trial) : 0;
    for (int k = 0; k < best->constants; k++)
        node[k]->feature = 0;
    const double worse =
        0.5 * best->spare *
        (orr_log(fmax(trial->misfit, c->exact)) - orr_log(fmax(best->misfit, c->exact)));
    if (!rc && fixed && trial->nats < HUGE_VAL && worse <= 2 * fixed + 2) {
        /* fixed numbers were no numbers for the list of constants */
        for (int k = 0, free_one = 0; k < best->constants; k++)
            if (isnan(best->simple[k]))
                best->error[k] = trial->error[free_one++];
            else
                best->error[k] = NAN;
        memcpy(best->expr, trial->expr, sizeof best->expr);
        best->misfit = trial->misfit;
    }
    free(trial);
    return rc;
}

/* Rounds constants to a hundredth of their standard errors. */
static void round_constants(struct sr_judged *best)
{
    for (int k = 0; k < best->constants; k++) {
        struct sr_node *node = node_of(&best->expr[best->equation[k]], best->number[k]);
        if (best->error[k] > 0 && node->value != 0)
            node->value =
                sr_fewest_digits(node->value, 0.01 * best->error[k] / fabs(node->value), 17);
    }
}

/* Tries the fronts one after the other, as long as another one has changed since. */
static int sweep(const struct sr_judge *c, const struct sr_equations_found *found,
                 struct sr_judged *best, int *choice)
{
    const int dims = c->states->dims;
    for (int d = 0, unchanged = 0; d < SWEEPS * dims && unchanged < dims; d++) {
        const int before = choice[d % dims];
        TRY(improve_equation(c, &found[d % dims], d % dims, best, &choice[d % dims]));
        unchanged = before == choice[d % dims] ? unchanged + 1 : 1;
    }
    return 0;
}

/* Tries the system with a shorter formula of state d: that whose node `at` is replaced by its
 * operand that ends at node `operand`. *shorter: it is better, and *best. */
static int try_shorter(const struct sr_judge *c, int d, int at, int operand, struct sr_judged *best,
                       bool *shorter)
{
    struct sr_judged *trial = orr_alloc(1, sizeof *trial);
    struct sr_expr part = {.count = 0};
    if (!trial)
        return ORR_ENOMEM;
    memcpy(trial->expr, best->expr, sizeof trial->expr);
    struct sr_expr *const expr = &trial->expr[d];
    for (int i = sr_expr_start(expr, operand); i <= operand; i++)
        sr_put_node(&part, expr->node[i]);
    const int start = sr_expr_start(expr, at);
    int rc = 0;
    *shorter = false;
    if (sr_expr_splice(c->language, expr, start, at - start + 1, part.node, part.count, SR_NODES)) {
        sr_expr_simplify(c->language, expr);
        rc = sr_judge_fit(c, trial);
        orr_trace("equation %d, without a part: %.2f nats, residual %.4g", d + 1, trial->nats,
                  sqrt(trial->misfit));
        *shorter = !rc && trial->nats < best->nats;
        if (*shorter)
            *best = *trial;
    }
    free(trial);
    return rc;
}

/* Takes away parts of the formulas, the largest first, as long as that makes the system better: a
 * search on derivatives explains their errors, too. */
static int shorten(const struct sr_judge *c, struct sr_judged *best)
{
    bool shorter = false;
    for (int d = 0; d < c->states->dims; d += !shorter) {
        shorter = false;
        for (int i = best->expr[d].count - 1; i > 0 && !shorter; i--) {
            const int arity = sr_expr_arity(&best->expr[d], i);
            if (arity == 0 || sr_judge_over(c))
                continue;
            TRY(try_shorter(c, d, i, i - 1, best, &shorter));
            if (arity == 2 && !shorter)
                TRY(try_shorter(c, d, i, sr_expr_left(&best->expr[d], i), best, &shorter));
        }
    }
    return 0;
}

/* Takes away factors 1 from a formula. Errors stay with their numbers, in the order of these. */
static void drop_ones(const struct sr_judge *c, struct sr_expr *expr, double error[SR_NODES])
{
    double before[SR_NODES], after[SR_NODES];
    const int numbers = sr_expr_constants(expr, before);
    if (!sr_drop_ones(c->language, expr))
        return;
    const int left = sr_expr_constants(expr, after);
    for (int k = 0, from = 0; k < left && from < numbers; k++, from++) {
        while (from < numbers - 1 && (before[from] < after[k] || before[from] > after[k]))
            from++;
        error[k] = error[from];
    }
}

static int choose(const struct sr_judge *c, const struct sr_equations_found *found,
                  struct sr_system *system)
{
    struct sr_judged *best = orr_alloc(1, sizeof *best);
    if (!best)
        return ORR_ENOMEM;
    memcpy(best->expr, system->expr, sizeof best->expr);
    int rc = sr_judge_fit(c, best);
    orr_trace("equations of the search: %.2f nats, residual %.4g", best->nats, sqrt(best->misfit));
    if (!rc)
        rc = sweep(c, found, best, system->choice);
    if (!rc && best->nats < HUGE_VAL)
        rc = shorten(c, best);
    if (!rc && best->nats < HUGE_VAL) {
        rc = simplify(c, best);
        round_constants(best);
        system->by_track = true;
        system->residual = sqrt(best->misfit);
        system->segments = best->starts;
        memcpy(system->expr, best->expr, sizeof best->expr);
        for (int k = 0; k < best->constants; k++)
            system->error[best->equation[k]][best->number[k]] = best->error[k];
        for (int d = 0; d < c->states->dims; d++)
            drop_ones(c, &system->expr[d], system->error[d]);
    }
    free(best);
    return rc;
}

int sr_system_choose(const struct sr_states *s, const struct sr_language *language,
                     const struct sr_equations_found *found, double seconds,
                     struct sr_system *system)
{
    struct sr_judge judge;
    *system = (struct sr_system){.residual = NAN};
    for (int d = 0; d < s->dims; d++) {
        system->choice[d] = found[d].best;
        system->expr[d] = found[d].expr[found[d].best];
        for (int k = 0; k < SR_NODES; k++)
            system->error[d][k] = NAN;
    }
    int rc = sr_judge_create(s, language, seconds, &judge);
    if (!rc)
        rc = choose(&judge, found, system);
    sr_judge_free(&judge);
    return rc;
}
