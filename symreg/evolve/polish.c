/* polish.c - improves the hall of fame: tries every small change of its formulas, and rounds
 * constants. */
#include "search.h"

#include <math.h>
#include <string.h>

enum { FIT_STEPS = 30, FIT_RESTARTS = 2, NEIGHBOUR_STEPS = 8 };

/* Whether the epoch has fitted this formula, whatever its numbers were before: with few exceptions
 * fits of one form end at the same numbers. */
static bool was_fitted(struct sr_worker *w, const struct sr_expr *expr)
{
    struct sr_expr form;
    sr_expr_copy(&form, expr);
    for (int i = 0; i < form.count; i++)
        if (sr_is_number(&form.node[i]))
            form.node[i].value = 0;
    const uint64_t hash = sr_expr_hash(&form);
    uint64_t *const slot = &w->fitted[hash % SR_SEEN];
    const bool known = *slot == hash;
    *slot = hash;
    return known;
}

/* Twice the smallest loss of formulas that are not longer with an outer scale: a fit that stays
 * above it is for nothing, and is no alternative either (sr_front_alternatives()). 0 where formulas
 * of larger losses are kept, too. */
static double loss_wanted(const struct sr_worker *w, const struct sr_expr *expr)
{
    const int most = sr_expr_complexity(w->settings->language, expr) + 2;
    double rival = HUGE_VAL;
    for (int c = 1; c <= most && c <= SR_NODES; c++)
        rival = fmin(rival, w->island->hall->loss[c]);
    return w->settings->penalty || !(rival < HUGE_VAL) ? 0 : 2 * rival;
}

static void offer_neighbour(struct sr_worker *w, struct sr_expr *expr, int steps, int restarts)
{
    struct sr_member member;
    if (w->settings->form && !sr_template_admits(w->settings->form, expr))
        return;
    sr_expr_copy(&member.expr, expr);
    sr_rewrite(w->settings, &member.expr);
    if (!restarts && was_fitted(w, &member.expr))
        return;
    w->thread->work.enough = restarts ? 0 : loss_wanted(w, &member.expr);
    const bool evaluates = sr_member_fit(w, &member, steps, restarts);
    w->thread->work.enough = 0;
    if (evaluates)
        sr_member_evaluate(w, &member);
}

/* Puts `nodes` in place of the subtree that ends at i. */
static void replace_subtree(struct sr_worker *w, const struct sr_expr *whole, int i,
                            const struct sr_node *nodes, int count)
{
    struct sr_expr expr;
    sr_expr_copy(&expr, whole);
    if (sr_expr_splice(w->settings->language, &expr, sr_expr_start(whole, i), whole->node[i].size,
                       nodes, count, w->settings->maxsize))
        offer_neighbour(w, &expr, NEIGHBOUR_STEPS, 0);
}

/* Replaces the subtree at i by one of its operands, a constant or a feature. */
static void shrink_subtree(struct sr_worker *w, const struct sr_expr *whole, int i)
{
    const struct sr_node *node = &whole->node[i];
    for (int f = -1; f < w->view->loss->data->features; f++) {
        const struct sr_node piece = sr_leaf_node(f);
        if (node->op == SR_CONSTANT && f < 0)
            continue;
        replace_subtree(w, whole, i, &piece, 1);
    }
    int operand = i - 1;
    for (int k = 0; k < sr_expr_arity(whole, i); k++) {
        replace_subtree(w, whole, i, whole->node + sr_expr_start(whole, operand),
                        whole->node[operand].size);
        operand -= whole->node[operand].size;
    }
}

/* Puts an operator above the subtree at i: a unary one, or a binary one with a leaf. */
static void grow_subtree(struct sr_worker *w, const struct sr_expr *whole, int i)
{
    const struct sr_settings *s = w->settings;
    const int size = whole->node[i].size;
    struct sr_node piece[SR_NODES + 2];
    if (size + 2 > SR_NODES || whole->count + 1 > s->maxsize)
        return;
    const struct sr_node *subtree = whole->node + sr_expr_start(whole, i);
    memcpy(piece, subtree, (size_t)size * sizeof *piece);
    for (int k = 0; k < s->unary_count; k++) {
        piece[size] = sr_op_node((int)s->unary[k]);
        replace_subtree(w, whole, i, piece, size + 1);
    }
    for (int k = 0; k < s->binary_count && whole->count + 2 <= s->maxsize; k++)
        for (int f = -1; f < w->view->loss->data->features; f++) {
            piece[size] = sr_leaf_node(f);
            piece[size + 1] = sr_op_node((int)s->binary[k]);
            replace_subtree(w, whole, i, piece, size + 2);
        }
}

static void exchange_operator(struct sr_worker *w, const struct sr_expr *whole, int i)
{
    const struct sr_settings *s = w->settings;
    const int arity = sr_expr_arity(whole, i);
    const int count = arity == 2 ? s->binary_count : arity ? s->unary_count : 0;
    for (int k = 0; k < count; k++) {
        struct sr_expr expr = *whole;
        expr.node[i].op = (uint8_t)(arity == 2 ? s->binary[k] : s->unary[k]);
        if (expr.node[i].op != whole->node[i].op)
            offer_neighbour(w, &expr, NEIGHBOUR_STEPS, 0);
    }
}

void sr_polish_row(struct sr_worker *w, int c)
{
    struct sr_expr whole = w->view->best->expr[c];
    offer_neighbour(w, &whole, FIT_STEPS, FIT_RESTARTS);
    if (w->view->best->loss[c] <= 0)
        return;
    for (int i = 0; i < whole.count && !sr_island_over(w->island); i++) {
        shrink_subtree(w, &whole, i);
        exchange_operator(w, &whole, i);
        grow_subtree(w, &whole, i);
    }
}

/* Rounds and simplifies a formula as it will be reported, and returns its loss; infinite where the
 * rules do not allow the result. */
static double finish_row(const struct sr_run *run, const struct sr_tidy *tidy, struct sr_expr *expr,
                         struct sr_work *work)
{
    const struct sr_settings *s = run->view.settings;
    double reached = sr_tidy(tidy, expr, work);
    if (!s->penalty && !s->form && isfinite(reached))
        sr_run_fewest_digits(run, tidy, sr_snap_limit(run->loss, reached), expr, &reached, work);
    struct sr_expr shorter = *expr;
    if (sr_rewrite(s, &shorter) && (!s->whole || s->whole(&shorter, s->context))) {
        *expr = shorter; /* the product 1 x may have a dimension that x alone does not have */
        reached = sr_snap(run->loss, expr, work);
    }
    if (s->whole && !s->whole(expr, s->context))
        return HUGE_VAL;
    return reached +
           (s->penalty ? s->penalty(expr, true, s->context) * fmax(run->loss->base, 0) : 0);
}

/* Loss without an outer scale, 0 where only rounding is left. */
static double plain_loss(const struct sr_run *run, const struct sr_expr *expr, struct sr_work *work)
{
    const double loss = sr_eval_plain(expr, run->loss, work);
    return loss <= run->loss->noise ? 0 : loss;
}

void sr_fit_front(const struct sr_run *run, struct sr_work *work)
{
    const struct sr_settings *s = run->view.settings;
    struct sr_hall_of_fame *hall = run->best;
    for (int c = 1; c <= s->maxsize && !sr_fit_over(work); c++) {
        struct sr_expr expr = hall->expr[c];
        if (!(hall->loss[c] < HUGE_VAL) || sr_expr_constants(&expr, NULL) == 0)
            continue;
        const double before = plain_loss(run, &expr, work);
        if (!(before > 0 && before < HUGE_VAL))
            continue;
        sr_constants_fit(run->loss, &expr, false, FIT_STEPS, 0, NULL, work);
        const double after = plain_loss(run, &expr, work);
        if (after < before && (!s->whole || s->whole(&expr, s->context))) {
            hall->expr[c] = expr;
            hall->loss[c] -= before - after; /* a penalty stays */
        }
    }
}

/* Frequencies that the rows cannot tell from lower ones become these. A formula that gets longer by
 * its phase leaves its place. */
static void fold_front(const struct sr_run *run, struct sr_work *work)
{
    const struct sr_settings *s = run->view.settings;
    struct sr_hall_of_fame *hall = run->best;
    for (int c = 1; c <= s->maxsize && !s->form; c++) {
        struct sr_expr expr = hall->expr[c];
        if (!(hall->loss[c] < HUGE_VAL) ||
            !sr_fold_waves(run->loss->data, sr_settings_operators(s), s->maxsize, &expr))
            continue;
        const double before = plain_loss(run, &hall->expr[c], work);
        sr_constants_fit(run->loss, &expr, false, FIT_STEPS, 0, NULL, work);
        const double after = plain_loss(run, &expr, work), loss = hall->loss[c] - before + after;
        /* two standard errors of a constant: what a higher frequency gains by rounding */
        const double share = fmax(1e-3, 4 / (double)run->loss->data->rows);
        if (!(after <= before * (1 + share) + run->loss->noise) ||
            (s->whole && !s->whole(&expr, s->context)))
            continue;
        hall->loss[c] = HUGE_VAL;
        sr_hall_of_fame_offer(hall, s->language, &expr, loss);
    }
}

void sr_polish_front(const struct sr_run *run, struct sr_work *work)
{
    const struct sr_settings *s = run->view.settings;
    const struct sr_tidy tidy = {.language = s->language,
                                 .loss = run->loss,
                                 .operators = sr_settings_operators(s),
                                 .maxsize = s->maxsize,
                                 .allowed = s->whole,
                                 .context = s->context};
    struct sr_hall_of_fame *hall = run->best;
    double smallest = HUGE_VAL;
    fold_front(run, work);
    for (int c = 1; c <= s->maxsize && !orr_signal_seen(); c++) {
        if (!(hall->loss[c] < smallest))
            continue;
        struct sr_expr expr = hall->expr[c];
        sr_rewrite(s, &expr);
        sr_expr_reduce_phases(&expr, NULL, false);
        const double reached = finish_row(run, &tidy, &expr, work);
        if (isfinite(reached)) {
            /* after rounding, a row stays only if it is still better than every shorter formula */
            hall->loss[c] = HUGE_VAL;
            if (reached < smallest * (1 - sr_snap_share(run->loss->data->rows))) {
                sr_hall_of_fame_offer(hall, s->language, &expr, reached);
                smallest = reached;
            }
        }
        smallest = fmin(smallest, hall->loss[c]);
    }
}
