/* choose.c - which formulas of the fronts the tracks support together. A system is tested by its
 * solutions: its constants are refitted to the tracks by integrating (flow.h), and of two systems
 * the likelier one is better, formulas and constants counted as in the evidence of a front
 * (symreg/select/evidence.c). First the rows of each front are fitted with the other states known
 * (single_equation.c), which is quick and does not depend on other equations that may be wrong;
 * then the likeliest of each equation are tried together, as long as that finds better systems. */
#include "dynamics.h"

#include <math.h>
#include <stdlib.h>

#include "judge.h"

enum {
    SWEEPS = 3, /* through all equations, at most */
    MOST_CANDIDATES = 2 * SR_EQUATIONS_FOUND,
    CANDIDATES = 24,       /* of an equation that are tried with the others */
    EXACT_CANDIDATES = 12, /* likewise, of exact tracks, which tell them apart alone */
    AGAIN = 24,            /* that are fitted again along the solutions */
};
/* A formula of one equation, fitted with the other states known; the likeliest first. */
struct candidate {
    double nats;
    double behind; /* nats that the system with it was last behind the best */
    int row;       /* of the front */
    struct sr_expr expr;
    struct sr_each_own each; /* its constants of each category */
};
struct candidates {
    int count, first; /* first: of the equation's constants of each category */
    struct candidate item[MOST_CANDIDATES];
    /* the likeliest with constants rounded, their standard errors, and what it leaves */
    struct sr_expr own;
    double error[SR_NODES], misfit;
    struct sr_each_own own_each, each_error;
    bool held; /* it is not changed while the other equations are chosen */
};
/* A formula whose loss on the derivatives is so many times that of what the search selects explains
 * no track better. */
static const double hopeless = 20;
/* In nats: of formulas of one equation that are worse by more, the other states known, none is
 * better together with the other equations. */
static const double nearly = 50;
/* ... or a row of them, where that is more: smoothed states have errors that all rows share. */
static const double nearly_a_row = 0.05;
/* ... and of those that were worse by more together with them, when others have changed. */
static const double nearly_again = 15;
/* A system that leaves more standard deviations of the noise has a wrong equation; one that leaves
 * less, the other states known, is right. */
static const double far_off = 3, explained = 1.5;
/* The squares that a formula may leave of those that are left by noise, and nats by which a formula
 * has to be worse to be left out unseen. */
static const double noise_left = 0.85, margin = 25;
/* Formulas become shorter in this share of the seconds, at the end of a choice. */
static const double share_shorter = 0.15;
/* What is left for the last fits, at least, which leave out zeros and make fractions: a share of
 * the seconds, and seconds. */
static const double share_last = 0.05, least_last = 0.3;
/* The choices of single equations take this share of the seconds, each time. */
static const double share_alone = 0.3, share_alone_exact = 0.4;
/* The choice along the solutions of the first one takes this share, and what that left. */
static const double share_again = 0.45;

/* Keeps the formula of equation d that was fitted, but for copies of others. */
static void keep(struct candidates *kept, const struct sr_judged *f, int d, int row)
{
    const double nats = f->nats;
    if (!kept || !(nats < HUGE_VAL) || kept->count == MOST_CANDIDATES)
        return;
    int at = kept->count;
    for (int k = 0; k < kept->count; k++)
        if (fabs(kept->item[k].nats - nats) < 1e-6)
            return;
    for (; at > 0 && kept->item[at - 1].nats > nats; at--)
        kept->item[at] = kept->item[at - 1];
    kept->item[at] = (struct candidate){.nats = nats, .row = row, .expr = f->expr[d]};
    memcpy(&kept->item[at].each, f->each.value[kept->first], sizeof kept->item[at].each);
    kept->count++;
}

static bool loosen(const struct sr_judge *c, const struct sr_equations_found *found, int d,
                   struct sr_judged *f)
{
    return sr_equation_loosen(c->language, c->states->categories, found->first,
                              c->states->categories ? &f->each : NULL, &f->expr[d]);
}

/* Whether a formula of equation d costs so much that it cannot be better than what *best has there,
 * even if it left as little of the tracks as errors do: each number of it at least 2 nats. */
static bool is_too_long(const struct sr_judge *c, const struct sr_judged *best, int d,
                        const struct sr_expr *expr)
{
    const int names = c->states->names - !c->states->explicit_time;
    const double least = fmin(best->misfit, 1) * noise_left;
    double value[SR_NODES];
    if (!(best->nats < HUGE_VAL) || sr_state_is_exact(c->states, d))
        return false;
    const double longer = sr_equation_nats(expr, names) + 2 * sr_expr_constants(expr, value) -
                          sr_equation_nats(&best->expr[d], names) -
                          2 * sr_expr_constants(&best->expr[d], value);
    const double rows = best->spare;
    return longer >
           0.5 * rows * orr_log(fmax(best->misfit, c->exact) / fmax(least, c->exact)) + margin;
}

/* Tries row `row` of the front of equation d in the place of what *best has, and where that
 * formula's terms share constants, with a constant of each term (separate_constants.c); row -1: the
 * present formula, with a constant of each term. kept (or NULL) receives what was fitted. */
static int try_row(const struct sr_judge *c, const struct sr_equations_found *found, int d, int row,
                   struct sr_judged *best, int *choice, struct candidates *kept)
{
    /* with constants of each category long formulas explain all errors of smoothing */
    if (row >= 0 && !c->states->categories &&
        found->loss[row] > hopeless * found->loss[found->best])
        return 0;
    if (row >= 0 && is_too_long(c, best, d, &found->expr[row]))
        return 0;
    struct sr_judged *trial = orr_alloc(1, sizeof *trial);
    if (!trial)
        return ORR_ENOMEM;
    sr_judged_copy(best, trial);
    if (row >= 0)
        sr_judged_put(trial, d, &found->expr[row], found->first, &found->each[row]);
    const int from = row >= 0 ? row : *choice;
    bool fits = row >= 0 || loosen(c, found, d, trial);
    int rc = 0;
    for (int k = 0; fits && !rc && k < 3; k++) { /* a sum of terms may come back in another order */
        rc = sr_judge_fit(c, trial);
        orr_trace("equation %d, row %d: %.2f nats, residual %.4g", d + 1, from + 1, trial->nats,
                  sqrt(trial->misfit));
        if (!rc)
            keep(kept, trial, d, from);
        if (!rc && trial->nats < best->nats) {
            *best = *trial;
            *choice = from;
        }
        fits = !sr_judge_over(c) && loosen(c, found, d, trial);
    }
    free(trial);
    return rc;
}

/* Tries the rows of one front: the present formula with a constant of each term; sums of products,
 * which are known to be short; simpler formulas than the present one, which follow tracks quickly
 * and are likelier the fewer they need; then longer ones. The nearest first. */
static int improve_equation(const struct sr_judge *c, const struct sr_equations_found *found, int d,
                            struct sr_judged *best, int *choice, struct candidates *kept)
{
    const int from = *choice;
    TRY(try_row(c, found, d, -1, best, choice, kept));
    for (int row = found->count - 1; row >= 0 && !sr_judge_over(c); row--)
        if (found->loss[row] <= 0 && row != from)
            TRY(try_row(c, found, d, row, best, choice, kept));
    for (int row = from - 1; row >= 0 && !sr_judge_over(c); row--)
        if (found->loss[row] > 0)
            TRY(try_row(c, found, d, row, best, choice, kept));
    for (int row = from + 1; row < found->count && !sr_judge_over(c); row++)
        if (found->loss[row] > 0)
            TRY(try_row(c, found, d, row, best, choice, kept));
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

/* Fits the system with the constants that may be fractions written as these. */
static int fit_fractions(const struct sr_judge *c, const struct sr_judged *best,
                         struct sr_judged *trial)
{
    struct sr_node *node[SR_NODES];
    sr_judged_copy(best, trial);
    for (int k = 0; k < best->constants; k++)
        node[k] = node_of(&trial->expr[best->equation[k]], best->number[k]);
    for (int k = 0; k < best->constants; k++) {
        if (isnan(best->simple[k]))
            continue;
        node[k]->value = best->simple[k];
        node[k]->feature = SR_FIXED;
    }
    const int rc = sr_judge_fit(c, trial);
    for (int k = 0; k < best->constants; k++)
        node[k]->feature = 0;
    return rc;
}

/* Takes a trial with fractions: fixed numbers were no numbers for its list of constants. */
static void take_fractions(const struct sr_judged *trial, struct sr_judged *best)
{
    for (int k = 0, free_one = 0; k < best->constants; k++)
        if (isnan(best->simple[k])) {
            best->alone[k] = trial->alone[free_one];
            best->error[k] = trial->error[free_one++];
        } else {
            best->alone[k] = best->error[k] = NAN;
        }
    sr_judged_copy(trial, best);
    best->each_error = trial->each_error;
    best->each_alone = trial->each_alone;
    best->misfit = trial->misfit;
}

/* Writes constants that may be fractions as these, as far as the tracks do not contradict
 * (sr_judge_loses_little()): the others are fitted again. */
static int simplify(const struct sr_judge *c, struct sr_judged *best)
{
    struct sr_judged *const trial = orr_alloc(1, sizeof *trial);
    int rc = trial ? 0 : ORR_ENOMEM;
    while (!rc) {
        int fixed = 0, farthest = -1;
        double most = 0;
        for (int k = 0; k < best->constants; k++) {
            const double off = fabs(best->simple[k] - best->value[k]) / best->error[k];
            if (isnan(best->simple[k]))
                continue;
            fixed++;
            if (farthest < 0 || off > most) {
                farthest = k;
                most = off;
            }
        }
        if (!fixed)
            break;
        rc = fit_fractions(c, best, trial);
        if (!rc && sr_judge_loses_little(c, trial, best, fixed)) {
            take_fractions(trial, best);
            break;
        }
        best->simple[farthest] = NAN;
    }
    free(trial);
    return rc;
}

/* Rounds constants. */
static void round_constants(const struct sr_judge *c, struct sr_judged *best)
{
    for (int k = 0; k < SR_EACH; k++)
        for (int i = 0; i < c->states->categories; i++)
            best->each.value[k][i] =
                sr_judged_round(best->each.value[k][i], best->each_alone.value[k][i]);
    for (int k = 0; k < best->constants; k++) {
        struct sr_node *node = node_of(&best->expr[best->equation[k]], best->number[k]);
        node->value = sr_judged_round(node->value, best->alone[k]);
    }
}

/* Tries formulas of equation d that explain its state, the other states known, nearly as well as
 * the best. choice: its row; place: its place among them, or -1. */
static int try_candidates(const struct sr_judge *c, struct candidates *kept, int d,
                          struct sr_judged *best, int *choice, int *place)
{
    struct sr_judged *const trial = orr_alloc(1, sizeof *trial);
    int rc = trial ? 0 : ORR_ENOMEM;
    const int from = *place, count = sr_states_are_exact(c->states) ? EXACT_CANDIDATES : CANDIDATES;
    const double most = kept->item[0].nats + fmax(nearly, nearly_a_row * (double)c->states->rows);
    for (int k = 0; k < kept->count && k < count && !rc && !sr_judge_over(c); k++) {
        struct candidate *const item = &kept->item[k];
        if (k == from || item->nats > most || item->behind > nearly_again)
            continue;
        sr_judged_copy(best, trial);
        sr_judged_put(trial, d, &item->expr, kept->first, &item->each);
        rc = sr_judge_fit(c, trial);
        orr_trace("equation %d, candidate %d of row %d: %.2f nats, residual %.4g", d + 1, k + 1,
                  item->row + 1, trial->nats, sqrt(trial->misfit));
        item->behind = trial->nats - best->nats;
        if (!rc && trial->nats < best->nats) {
            *best = *trial;
            *choice = item->row;
            *place = k;
        }
    }
    free(trial);
    return rc;
}

/* Tries other formulas of the equations one after the other, as long as another one has changed
 * since: the candidates of each, or where there are none its front. */
static int sweep(const struct sr_judge *c, const struct sr_equations_found *found,
                 struct candidates *kept, struct sr_judged *best, int *choice)
{
    const int dims = c->states->dims;
    int place[SR_STATES];
    for (int d = 0; d < dims; d++)
        place[d] = -1;
    for (int k = 0, unchanged = 0; k < SWEEPS * dims && unchanged < dims; k++) {
        const int d = k % dims;
        const double before = best->nats;
        if (kept[d].held)
            ;
        else if (kept[d].count)
            TRY(try_candidates(c, &kept[d], d, best, &choice[d], &place[d]));
        else
            TRY(improve_equation(c, &found[d], d, best, &choice[d], NULL));
        unchanged = best->nats < before ? 1 : unchanged + 1;
    }
    return 0;
}

/* Shortens the equations that are not held. */
static int shorten(const struct sr_judge *c, const struct candidates *kept, struct sr_judged *best)
{
    bool held[SR_STATES];
    for (int d = 0; d < c->states->dims; d++)
        held[d] = kept[d].held;
    return sr_judge_shorten(c, held, best);
}

/* Takes away factors 1 from a formula. Errors stay with their numbers, in the order of these. Of
 * tracks with noise a factor 1 was measured, and stays: a term without a number says that it has
 * none. */
static void drop_ones(const struct sr_judge *c, int d, struct sr_expr *expr, double error[SR_NODES])
{
    double before[SR_NODES], after[SR_NODES];
    const int numbers = sr_expr_constants(expr, before);
    if (!sr_state_is_exact(c->states, d) || !sr_drop_ones(c->language, true, expr))
        return;
    const int left = sr_expr_constants(expr, after);
    for (int k = 0, from = 0; k < left && from < numbers; k++, from++) {
        while (from < numbers - 1 && (before[from] < after[k] || before[from] > after[k]))
            from++;
        error[k] = error[from];
    }
}

/* Chooses the formula of state d alone, the other states known, and writes it into *system. */
static int choose_one(const struct sr_judge *c, const struct sr_equations_found *found, int d,
                      struct sr_judged *system, int *choice, struct candidates *kept)
{
    const struct sr_states *const s = c->states;
    struct sr_states alone = {0};
    struct sr_judge judge = {0};
    const double share = sr_states_are_exact(s) ? share_alone_exact : share_alone;
    int number[SR_STATE_NAMES], own = *choice;
    struct sr_equations_found *const renamed = orr_alloc(1, sizeof *renamed);
    struct sr_judged *const best = orr_alloc(1, sizeof *best);
    int rc = renamed && best ? 0 : ORR_ENOMEM;
    if (!rc) {
        *renamed = *found;
        rc = sr_states_alone(s, d, &alone, number);
    }
    for (int k = 0; k < found->count && !rc; k++)
        sr_equation_rename(&renamed->expr[k], number, s->names, false);
    if (!rc)
        rc = sr_judge_create(&alone, c->language, c->seconds * share / s->dims, &judge);
    if (!rc) {
        kept->first = found->first;
        sr_judged_put(best, 0, &renamed->expr[own], found->first, &found->each[own]);
        rc = sr_judge_fit(&judge, best);
    }
    if (!rc) {
        keep(kept, best, 0, own);
        rc = improve_equation(&judge, renamed, 0, best, &own, kept);
    }
    if (!rc)
        rc = sr_judge_tie(&judge, 0, found->first, best);
    if (!rc && best->nats < HUGE_VAL)
        rc = sr_judge_shorten(&judge, NULL, best);
    if (!rc && best->nats < HUGE_VAL) {
        keep(kept, best, 0, own);
        orr_trace("equation %d alone: row %d, %.2f nats, residual %.4g", d + 1, own + 1, best->nats,
                  sqrt(best->misfit));
        rc = simplify(&judge, best);
        round_constants(&judge, best);
        kept->own = best->expr[0];
        memcpy(&kept->own_each, best->each.value[kept->first], sizeof kept->own_each);
        memcpy(&kept->each_error, best->each_error.value[kept->first], sizeof kept->each_error);
        kept->misfit = best->misfit;
        for (int k = 0; k < SR_NODES; k++)
            kept->error[k] = NAN;
        for (int k = 0; k < best->constants; k++)
            kept->error[best->number[k]] = best->error[k];
        sr_equation_rename(&kept->own, number, s->names, true);
        for (int k = 0; k < kept->count; k++)
            sr_equation_rename(&kept->item[k].expr, number, s->names, true);
        sr_judged_put(system, d, &kept->item[0].expr, kept->first, &kept->item[0].each);
        *choice = kept->item[0].row;
    }
    if (judge.track)
        sr_judge_free(&judge);
    sr_states_free(&alone);
    free(renamed);
    free(best);
    return rc;
}

/* Chooses each formula alone, where there are others. Takes the system that this makes where it is
 * better than *best. */
static int choose_each(const struct sr_judge *c, const struct sr_equations_found *found,
                       struct candidates *kept, struct sr_judged *best, int *choice)
{
    const struct sr_states *const s = c->states;
    int own[SR_STATES];
    if (s->dims < 2 || !sr_states_may_be_alone(s))
        return 0;
    struct sr_judged *const trial = orr_alloc(1, sizeof *trial);
    int rc = trial ? 0 : ORR_ENOMEM;
    if (!rc)
        sr_judged_copy(best, trial);
    memcpy(own, choice, sizeof own);
    for (int d = 0; d < s->dims && !rc; d++)
        rc = choose_one(c, &found[d], d, trial, &own[d], &kept[d]);
    if (!rc)
        rc = sr_judge_fit(c, trial);
    if (!rc) {
        orr_trace("equations chosen alone: %.2f nats, residual %.4g", trial->nats,
                  sqrt(trial->misfit));
        if (trial->nats < best->nats) {
            *best = *trial;
            memcpy(choice, own, sizeof own);
        }
    }
    free(trial);
    return rc;
}

/* Whether an equation explains its state, the others known. */
static bool explains(const struct candidates *kept)
{
    return kept->count && kept->misfit < explained * explained;
}

static bool is_far_off(const struct sr_judged *f)
{
    return !(f->nats < HUGE_VAL) || f->misfit > far_off * far_off;
}

/* Where no system follows the tracks, holds the equations that explain their states, the others
 * known, if there are some and not all: a wrong equation would pull their constants, and terms that
 * they lack would make up for it. */
static int hold(const struct sr_judge *c, struct candidates *kept, struct sr_judged *best,
                int *held)
{
    const int dims = c->states->dims;
    *held = 0;
    for (int d = 0; d < dims && is_far_off(best); d++)
        *held += explains(&kept[d]);
    *held = *held < dims ? *held : 0;
    for (int d = 0; d < dims && *held; d++) {
        kept[d].held = explains(&kept[d]);
        if (kept[d].count)
            sr_judged_put(best, d, kept[d].held ? &kept[d].own : &kept[d].item[0].expr,
                          kept[d].first, kept[d].held ? &kept[d].own_each : &kept[d].item[0].each);
        if (kept[d].held)
            best->held |= sr_each_used(&best->expr[d]);
        for (int i = 0; i < best->expr[d].count && kept[d].held; i++)
            if (sr_is_number(&best->expr[d].node[i]))
                best->expr[d].node[i].feature = SR_FIXED;
    }
    return *held ? sr_judge_fit(c, best) : 0;
}

/* The judge, whose seconds end before those for shorter formulas. */
static struct sr_judge ends_early(const struct sr_judge *c)
{
    struct sr_judge early = *c;
    if (c->until_s > 0)
        early.until_s -= share_shorter * fmax(c->until_s - orr_time_s(), 0);
    return early;
}

/* Chooses the system, some equations of which may be held then. */
static int choose_all(const struct sr_judge *c, const struct sr_equations_found *found,
                      struct candidates *kept, struct sr_judged *best, int *choice)
{
    const struct sr_judge early = ends_early(c);
    int held = 0, rc = choose_each(&early, found, kept, best, choice);
    struct sr_judged *const before = orr_alloc(1, sizeof *before);
    rc = before ? rc : ORR_ENOMEM;
    if (!rc) {
        *before = *best;
        rc = hold(c, kept, best, &held);
    }
    if (!rc && held)
        rc = sweep(&early, found, kept, best, choice);
    if (!rc && held && (!is_far_off(best) || !(best->nats < HUGE_VAL))) {
        /* all follow the tracks, or none: no equation has to be held */
        if (!(best->nats < HUGE_VAL))
            *best = *before;
        for (int d = 0; d < c->states->dims; d++) {
            if (kept[d].held)
                sr_judged_put(best, d, &kept[d].own, kept[d].first, &kept[d].own_each);
            kept[d].held = false;
            for (int k = 0; k < kept[d].count; k++)
                kept[d].item[k].behind = 0;
        }
        held = 0;
        best->held = 0;
        rc = sr_judge_fit(c, best);
    }
    orr_trace("%d equations are held, %.2f nats, residual %.4g", held, best->nats,
              sqrt(best->misfit));
    if (!rc && !held)
        rc = sweep(&early, found, kept, best, choice);
    for (int d = 0; d < c->states->dims && !rc && best->nats < HUGE_VAL; d++)
        rc = kept[d].held ? 0 : sr_judge_tie(c, d, found[d].first, best);
    if (!rc && best->nats < HUGE_VAL)
        rc = shorten(c, kept, best);
    free(before);
    return rc;
}

/* The formulas of equation d that were likeliest, and sums that explain the smoothed tracks of
 * `along`. */
static int list_again(const struct sr_states *along, const struct candidates *kept, int d,
                      const struct sr_expr *present, const struct sr_equations_found *found,
                      struct sr_equations_found *list)
{
    *list = (struct sr_equations_found){.count = 1, .allowed = found->allowed};
    list->expr[0] = *present;
    list->loss[0] = 1;
    for (int k = 0; k < kept->count && k < AGAIN; k++)
        list->expr[list->count++] = kept->item[k].expr;
    struct sr_equations_found *const sums = orr_alloc(1, sizeof *sums);
    int rc = sums ? 0 : ORR_ENOMEM;
    if (!rc && found->allowed)
        rc = sr_states_weak(along, d, found->allowed, found->maxsize, sums);
    for (int k = 0; !rc && k < sums->count; k++)
        list->expr[list->count++] = sums->expr[k];
    free(sums);
    return rc;
}

/* Chooses once more, beginning with *best, which follows the tracks: its solutions are the smoothed
 * tracks now, so that what is known of other states when an equation is chosen alone has hardly an
 * error, and the true one is no longer charged for these. */
static int choose_again(const struct sr_judge *c, const struct sr_equations_found *found,
                        struct candidates *kept, struct sr_judged *best)
{
    const int dims = c->states->dims;
    struct sr_states along = {0};
    struct sr_judge judge = *c;
    bool follows = false;
    int choice[SR_STATES] = {0};
    struct sr_equations_found *const list = orr_alloc((size_t)dims, sizeof *list);
    struct candidates *const again = orr_alloc((size_t)dims, sizeof *again);
    int rc = list && again ? sr_states_resmooth(c, best, &along, &follows) : ORR_ENOMEM;
    judge.states = &along;
    for (int d = 0; d < dims && follows && !rc; d++)
        rc = list_again(&along, &kept[d], d, &best->expr[d], &found[d], &list[d]);
    if (!rc && follows) {
        orr_trace("the equations are chosen along the solutions, from %.2f nats", best->nats);
        const struct sr_judge early = ends_early(&judge);
        rc = choose_each(&early, list, again, best, choice);
        rc = rc ? rc : sweep(&early, list, again, best, choice);
        rc = rc ? rc : shorten(&judge, again, best);
    }
    sr_states_free(&along);
    free(list);
    free(again);
    return rc;
}

/* Takes what the fit of equation d with the other states known gave. */
static void take_own(const struct candidates *kept, int d, struct sr_system *system)
{
    system->alone[d] = true;
    system->expr[d] = kept->own;
    memcpy(system->error[d], kept->error, sizeof kept->error);
    memcpy(system->each.value[kept->first], &kept->own_each, sizeof kept->own_each);
    memcpy(system->each_error.value[kept->first], &kept->each_error, sizeof kept->each_error);
}

/* Rounds constants, and copies the result. */
static int finish(const struct sr_judge *c, const struct candidates *kept, struct sr_judged *best,
                  struct sr_system *system)
{
    struct sr_judge last = *c;
    if (c->until_s > 0) { /* the last fits have to converge */
        last.seconds = fmax(c->seconds, least_last / share_last);
        last.until_s = fmax(c->until_s, orr_time_s() + share_last * last.seconds);
    }
    TRY(sr_judge_drop_zeros(&last, best));
    TRY(sr_judge_drop_unfelt(&last, best));
    system->nats = best->nats;
    TRY(simplify(&last, best));
    round_constants(c, best);
    system->by_track = true;
    system->residual = sqrt(best->misfit);
    system->segments = best->starts;
    memcpy(system->expr, best->expr, sizeof best->expr);
    system->each = best->each;
    system->each_error = best->each_error;
    for (int k = 0; k < best->constants; k++)
        system->error[best->equation[k]][best->number[k]] = best->error[k];
    for (int d = 0; d < c->states->dims; d++) {
        if (kept[d].held)
            take_own(&kept[d], d, system);
        drop_ones(c, d, &system->expr[d], system->error[d]);
    }
    return 0;
}

/* Where no system follows the tracks: the equations that explain their states, the others known. */
static void take_explained(const struct sr_judge *c, const struct candidates *kept,
                           struct sr_system *system)
{
    for (int d = 0; d < c->states->dims; d++) {
        if (!explains(&kept[d]))
            continue;
        system->choice[d] = kept[d].item[0].row;
        take_own(&kept[d], d, system);
        drop_ones(c, d, &system->expr[d], system->error[d]);
    }
}

static int choose(const struct sr_judge *c, const struct sr_equations_found *found,
                  struct sr_system *system)
{
    struct sr_judged *const best = orr_alloc(1, sizeof *best);
    struct candidates *const kept = orr_alloc((size_t)c->states->dims, sizeof *kept);
    const bool rough = !sr_states_are_exact(c->states);
    int rc = best && kept ? 0 : ORR_ENOMEM;
    if (!rc) {
        memcpy(best->expr, system->expr, sizeof best->expr);
        best->each = system->each;
        rc = sr_judge_fit(c, best);
    }
    if (!rc) {
        orr_trace("equations of the search: %.2f nats, residual %.4g", best->nats,
                  sqrt(best->misfit));
        struct sr_judge first = *c;
        if (c->until_s > 0 && rough)
            first.until_s -= share_again * c->seconds;
        rc = choose_all(&first, found, kept, best, system->choice);
    }
    if (!rc && rough && best->nats < HUGE_VAL && best->misfit < explained * explained &&
        !sr_judge_over(c))
        rc = choose_again(c, found, kept, best);
    if (!rc && best->nats < HUGE_VAL)
        rc = finish(c, kept, best, system);
    else if (!rc)
        take_explained(c, kept, system);
    free(kept);
    free(best);
    return rc;
}

int sr_system_choose(const struct sr_states *s, const struct sr_language *language,
                     const struct sr_equations_found *found, double seconds,
                     struct sr_system *system)
{
    struct sr_judge judge;
    *system = (struct sr_system){.residual = NAN, .follows_time = -1, .nats = HUGE_VAL};
    for (int d = 0; d < s->dims; d++) {
        system->choice[d] = found[d].best;
        system->expr[d] = found[d].expr[found[d].best];
        memcpy(system->each.value[found[d].first], &found[d].each[found[d].best],
               sizeof found[d].each[0]);
        for (int k = 0; k < SR_NODES; k++)
            system->error[d][k] = NAN;
    }
    for (int k = 0; k < SR_EACH; k++)
        for (int i = 0; i < SR_CATEGORIES; i++)
            system->each_error.value[k][i] = NAN;
    int rc = sr_judge_create(s, language, seconds, &judge);
    if (!rc)
        rc = choose(&judge, found, system);
    sr_judge_free(&judge);
    sr_system_number(s, system);
    return rc;
}
