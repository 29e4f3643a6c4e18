/* member.c - evaluates a formula of an island: its loss, its cost, and whether it enters the
 * hall. */
#include "search.h"
#include "symreg/value/vec.h"

#include <math.h>

static const double screen_margin = 0.25; /* relative error allowed for a loss on few rows */
static const double category_margin = 2;  /* the same where one category stands for all */
enum {
    PLAIN_STEPS = 6,    /* fit steps for formulas without an outer scale */
    PART_STEPS = 3,     /* fit steps for formulas of a template */
    CATEGORY_STEPS = 8, /* fit steps, and restarts, in each category */
    CATEGORY_RESTARTS = 4,
};

static double without_noise(const struct sr_loss *loss, double value)
{
    return value <= loss->noise ? 0 : value;
}

/* The penalty that the user's rules add to a formula, in the units of the loss. */
static double charge_rules(const struct sr_worker *w, const struct sr_expr *expr, bool whole)
{
    const struct sr_settings *s = w->settings;
    return s->penalty ? s->penalty(expr, whole, s->context) * fmax(w->view->loss->base, 0) : 0;
}

/* The penalty with a free outer factor; infinite where the rules or the operators
 * do not admit the formula. */
static double penalty_of(const struct sr_worker *w, const struct sr_expr *expr)
{
    const struct sr_settings *s = w->settings;
    struct sr_expr scaled;
    if (s->algorithm->scales_parts) { /* units are those of the functions with their factors */
        scaled = *expr;
        sr_parts_scale(s, &scaled);
        expr = &scaled;
    }
    if (!sr_settings_allow(s, expr) || (s->admissible && !s->admissible(expr, s->context)))
        return HUGE_VAL;
    return charge_rules(w, expr, false);
}

/* Whether a formula with this loss on the screen's rows may still enter the front, as it stands or
 * with an outer scale. */
static bool worth_while(const struct sr_worker *w, const struct sr_expr *expr, double screened,
                        double margin)
{
    const int most = sr_expr_complexity(w->settings->language, expr) + 2;
    double rival = HUGE_VAL;
    for (int c = 1; c <= most && c <= SR_NODES; c++)
        rival = fmin(rival, w->island->hall->loss[c]);
    return screened <= (1 + margin) * rival;
}

/* Whether the hall or the alternatives want a formula of this complexity and loss. */
static bool is_wanted(const struct sr_worker *w, int complexity, double loss)
{
    const struct sr_island *island = w->island;
    return complexity <= SR_NODES && (loss < island->hall->loss[complexity] ||
                                      (sr_near_wants(w->view->near, complexity, loss) &&
                                       sr_near_wants(island->near, complexity, loss)));
}

/* Offers a formula to the hall and to the near-best formulas. Its loss contains the penalty with a
 * free outer factor; a formula of the front has no free factor, so the difference in penalty is
 * added. */
static void offer_to_hall(struct sr_worker *w, const struct sr_expr *expr, double loss)
{
    const struct sr_settings *s = w->settings;
    if ((s->whole && !s->whole(expr, s->context)) ||
        (s->algorithm->polishes && is_wanted(w, sr_expr_complexity(s->language, expr), loss) &&
         !sr_waves_known(expr, w->view->loss->data, w->thread->work.trial)))
        return;
    loss += charge_rules(w, expr, true) - charge_rules(w, expr, false);
    sr_hall_of_fame_offer(w->island->hall, s->language, expr, loss);
    if (sr_near_wants(w->view->near, sr_expr_complexity(s->language, expr), loss))
        sr_near_offer(w->island->near, s->language, expr, loss);
}

/* Offers a formula without an outer scale; its values are in the worker's arrays. `fitted` is the
 * loss with the best scale, a lower bound of the loss without one. */
static void offer_plain(struct sr_worker *w, const struct sr_expr *expr, double fitted,
                        double penalty)
{
    const int size = sr_expr_complexity(w->settings->language, expr);
    if (!is_wanted(w, size, fitted))
        return;
    const double plain =
        without_noise(w->view->loss, sr_loss_value(w->view->loss, w->thread->work.value, 1));
    if (isfinite(plain))
        offer_to_hall(w, expr, plain + penalty);
}

/* Offers a formula with its outer scale, absorbed into a constant or written as two more nodes. */
static void offer_scaled(struct sr_worker *w, const struct sr_expr *expr, double scale, double loss)
{
    const struct sr_language *const language = w->settings->language;
    const int maxsize = w->settings->maxsize, size = sr_expr_complexity(language, expr);
    const bool fits =
        expr->count + 2 <= maxsize && is_wanted(w, size + sr_scale_complexity(language), loss);
    if (scale == 0 || (!fits && !is_wanted(w, size, loss)))
        return;
    struct sr_expr whole = *expr;
    if (sr_expr_scale(&whole, scale) && whole.count <= maxsize)
        offer_to_hall(w, &whole, loss);
}

double sr_member_cost(const struct sr_epoch_view *view, const struct sr_member *member)
{
    return member->loss / view->settings->algorithm->unit(view->loss->base) +
           view->settings->parsimony * member->expr.count;
}

/* Reuses the loss of a formula that was already evaluated and offered in this epoch. */
static bool recall_loss(struct sr_worker *w, struct sr_member *member, uint64_t hash)
{
    const size_t slot = hash % SR_SEEN;
    if (w->seen.hash[slot] != hash)
        return false;
    member->loss = w->seen.loss[slot];
    member->cost = sr_member_cost(w->view, member);
    return true;
}

static void remember_loss(struct sr_worker *w, struct sr_member *member, uint64_t hash)
{
    const size_t slot = hash % SR_SEEN;
    member->cost = sr_member_cost(w->view, member);
    w->seen.hash[slot] = hash;
    w->seen.loss[slot] = member->loss;
}

bool sr_member_fit(struct sr_worker *w, struct sr_member *member, int steps, int restarts)
{
    const bool scaled = w->settings->algorithm->scaled;
    if (w->view->screen) {
        const double penalty = penalty_of(w, &member->expr);
        member->loss =
            penalty + sr_constants_fit(&w->view->screen->loss, &member->expr, scaled, steps,
                                       restarts, w->thread->rng, &w->thread->work);
        member->cost = sr_member_cost(w->view, member);
        if (!worth_while(w, &member->expr, member->loss, screen_margin)) {
            w->island->screened++;
            return false;
        }
    }
    /* with screening, the first fit runs on few rows and is not restarted on all rows */
    sr_constants_fit(w->view->loss, &member->expr, scaled, steps, w->view->screen ? 0 : restarts,
                     w->thread->rng, &w->thread->work);
    return true;
}

void sr_member_evaluate_plain(struct sr_worker *w, struct sr_member *member, double penalty)
{
    w->island->evaluations++;
    const double loss = sr_eval_plain(&member->expr, w->view->loss, &w->thread->work);
    member->loss = loss + fmax(penalty, charge_rules(w, &member->expr, true));
    if (isfinite(loss))
        offer_to_hall(w, &member->expr, without_noise(w->view->loss, loss) + penalty);
}

void sr_member_evaluate_scaled(struct sr_worker *w, struct sr_member *member, double penalty)
{
    const struct sr_loss *loss = w->view->loss;
    double scale = 0, fitted = HUGE_VAL;
    bool worth = true;
    if (w->view->screen) {
        fitted = sr_screen_loss(w->view->screen, &member->expr, &w->thread->work);
        member->loss = fitted + penalty;
        worth = worth_while(w, &member->expr, member->loss, screen_margin);
        w->island->screened += !worth;
    }
    if (worth) {
        w->island->evaluations++;
        member->loss = HUGE_VAL;
        fitted = sr_eval_loss(&member->expr, loss, &w->thread->work, &scale);
    }
    if (worth && isfinite(fitted)) {
        member->loss = without_noise(loss, fitted) + penalty;
        offer_plain(w, &member->expr, member->loss, penalty);
        offer_scaled(w, &member->expr, scale, member->loss);
    }
}

/* Fits and offers a formula of a template without some factors of its functions. `bound` is the
 * loss with all factors. */
static void offer_without(struct sr_worker *w, const struct sr_expr *scaled, unsigned factors,
                          double bound)
{
    struct sr_expr expr = *scaled;
    sr_parts_unscale(w->settings, factors, &expr);
    if (!is_wanted(w, sr_expr_complexity(w->settings->language, &expr), bound))
        return;
    const double loss =
        sr_constants_fit(w->view->loss, &expr, false, PART_STEPS, 0, NULL, &w->thread->work);
    if (isfinite(loss))
        offer_to_hall(w, &expr, without_noise(w->view->loss, loss) + charge_rules(w, &expr, false));
}

void sr_member_evaluate_parts(struct sr_worker *w, struct sr_member *member, double penalty)
{
    const struct sr_settings *s = w->settings;
    struct sr_expr scaled = member->expr;
    const unsigned factors = sr_parts_scale(s, &scaled);
    if (w->view->screen) {
        member->loss = penalty + sr_constants_fit(&w->view->screen->loss, &scaled, false,
                                                  PART_STEPS, 0, NULL, &w->thread->work);
        if (!worth_while(w, &scaled, member->loss, screen_margin)) {
            w->island->screened++;
            return;
        }
    }
    w->island->evaluations++;
    const double fitted =
        sr_constants_fit(w->view->loss, &scaled, false, PART_STEPS, 0, NULL, &w->thread->work);
    member->loss = without_noise(w->view->loss, fitted) + penalty;
    if (!isfinite(fitted))
        return;
    member->expr = scaled;
    sr_parts_unscale(s, factors, &member->expr);
    offer_without(w, &scaled, 0, member->loss);
    for (int k = 0; k < s->form->parts; k++)
        if (factors >> k & 1 && factors != 1U << k)
            offer_without(w, &scaled, 1U << k, member->loss);
    if (factors)
        offer_without(w, &scaled, factors, member->loss);
}

/* Offers a form with fitted constants of each category; returns its loss. */
static double offer_form(struct sr_worker *w, struct sr_expr *form, double penalty)
{
    const struct sr_categories *c = w->view->categories;
    const int size = sr_expr_complexity(w->settings->language, form);
    if (form->count > w->settings->maxsize || size > SR_NODES)
        return HUGE_VAL;
    double rival = HUGE_VAL;
    for (int k = 1; k <= size; k++)
        rival = fmin(rival, w->island->hall->loss[k]);
    double loss = sr_categories_fit(c, form, CATEGORY_STEPS, CATEGORY_RESTARTS, rival,
                                    &w->thread->work, NULL);
    loss = loss <= c->noise ? 0 : loss;
    if (isfinite(loss) && loss < rival)
        offer_to_hall(w, form, loss + penalty);
    return loss;
}

/* Evaluates a formula in the reference category, and where it may enter the hall, in all: with its
 * outer scale, and where that takes nodes, without. */
static void evaluate_categories(struct sr_worker *w, struct sr_member *member, double penalty)
{
    const struct sr_categories *c = w->view->categories;
    const struct sr_loss *loss = &c->loss[c->reference];
    double scale;
    w->island->evaluations++;
    const double fitted = sr_eval_loss(&member->expr, loss, &w->thread->work, &scale);
    if (!isfinite(fitted) || scale == 0)
        return;
    member->loss = (loss->base > 0 ? fitted / loss->base * c->base : fitted) + penalty;
    if (!worth_while(w, &member->expr, member->loss, category_margin)) {
        w->island->screened++;
        return;
    }
    struct sr_expr plain = member->expr, scaled = member->expr;
    if (!sr_expr_scale(&scaled, scale))
        return;
    const bool absorbed = scaled.count == plain.count;
    const double with = offer_form(w, &scaled, penalty);
    const double without = absorbed ? HUGE_VAL : offer_form(w, &plain, penalty);
    member->loss = fmin(with, without) + penalty;
}

void sr_member_evaluate(struct sr_worker *w, struct sr_member *member)
{
    const uint64_t hash = sr_expr_hash(&member->expr);
    if (recall_loss(w, member, hash))
        return;
    const double penalty = penalty_of(w, &member->expr);
    member->loss = member->cost = HUGE_VAL;
    if (!isfinite(penalty))
        return;
    if (w->view->categories)
        evaluate_categories(w, member, penalty);
    else
        w->settings->algorithm->evaluate(w, member, penalty);
    remember_loss(w, member, hash);
}

void sr_member_offer_plain(struct sr_worker *w, const struct sr_member *member)
{
    struct sr_member plain = *member;
    if (sr_expr_constants(&plain.expr, NULL) == 0)
        return;
    sr_constants_fit(w->view->loss, &plain.expr, false, PLAIN_STEPS, 0, w->thread->rng,
                     &w->thread->work);
    sr_member_evaluate(w, &plain);
}

void sr_offer_constant(struct sr_worker *w)
{
    struct sr_expr expr = {.count = 1, .node = {{.op = SR_CONSTANT, .size = 1}}};
    double *one = w->thread->work.value;
    sr_fill(one, w->view->loss->data->rows, 1);
    expr.node[0].value = sr_loss_scale(w->view->loss, one, w->thread->work.scratch);
    const double loss = w->view->categories ? w->view->categories->base
                                            : sr_loss_value(w->view->loss, one, expr.node[0].value);
    if (isfinite(loss))
        offer_to_hall(w, &expr, without_noise(w->view->loss, loss) + penalty_of(w, &expr));
}
