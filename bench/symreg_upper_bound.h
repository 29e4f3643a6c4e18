/* symreg_upper_bound.h - could the law have stood on the front that was found?
 *
 * Forms of the law are collected: its formula as given, every formula of any run so far that
 * recovers it (runs without noise come first), and each of these with one more constant, as a
 * factor of or a summand to a part. A form is fitted to the noisy table with the loss and the
 * weights of the search, from the constants that it has in the law. It would stand on a front
 * when its loss is below that of every row that is no longer, the front's own rule, and when it
 * then recovers the law.
 *
 * A run's upper bound is met when it recovered the law or a form would stand. A run without either
 * is not identifiable: on its table something no longer than any known form fits at least as well
 * as the law with its best constants, and the front, which keeps the smallest loss of every size,
 * can not hold the law. This is given the front found and the forms known: a longer search can only
 * lower the rows and with them the upper bound, a shorter form than those known could raise it. */
#ifndef SYMREG_UPPER_BOUND_H
#define SYMREG_UPPER_BOUND_H

#include "symreg/evolve/search.h"
#include "symreg_judge.h"

enum { FORMS = 64, FORM_STEPS = 100, FORM_RESTARTS = 4 };

/* Of one problem, shortest first; constants as in the law without noise. */
struct forms {
    int count;
    struct sr_expr form[FORMS];
};

/* What a run left. */
struct outcome {
    int sample;
    bool recovered;
    struct sr_front front;
};

/* The same operators and features at the same places. */
static inline bool same_shape(const struct sr_expr *a, const struct sr_expr *b)
{
    bool same = a->count == b->count;
    for (int i = 0; i < a->count && same; i++)
        same = a->node[i].op == b->node[i].op && a->node[i].feature == b->node[i].feature;
    return same;
}

/* Adds a formula that a search with these settings could write and that can be the law. */
static inline void forms_add(struct forms *forms, struct truth *t, const struct sr_settings *s,
                             const struct sr_expr *expr)
{
    struct sr_expr form = *expr;
    const uint64_t others = ~sr_settings_operators(s);
    sr_constants_fit(&t->loss, &form, false, FORM_STEPS, 0, t->rng, &t->work);
    if (form.count > s->maxsize || (sr_expr_operators(&form) & others) || !recovers(t, &form, 0))
        return;
    for (int i = 0; i < forms->count; i++)
        if (same_shape(&forms->form[i], &form))
            return;
    int k = forms->count;
    for (; k > 0 && form.count < forms->form[k - 1].count; k--)
        if (k < FORMS)
            forms->form[k] = forms->form[k - 1];
    if (k < FORMS)
        forms->form[k] = form;
    forms->count += forms->count < FORMS;
}

/* The problem's own formula, as written and rewritten with the operators of the search. */
static inline void forms_begin(struct forms *forms, struct truth *t, const struct sr_settings *s)
{
    struct sr_expr expr = t->expr;
    forms->count = 0;
    forms_add(forms, t, s, &expr);
    sr_expr_rewrite(NULL, &expr, sr_settings_operators(s));
    forms_add(forms, t, s, &expr);
}

static inline void forms_add_front(struct forms *forms, struct truth *t,
                                   const struct sr_settings *s, const struct sr_front *front,
                                   double noise)
{
    for (int i = 0; i < front->count; i++)
        if (recovers(t, &front->expr[i], noise))
            forms_add(forms, t, s, &front->expr[i]);
}

/* The form that comes closest to standing: its loss to the smallest of the rows that are no longer,
 * below 1 where it stands. */
struct standing {
    double ratio;
    struct sr_expr expr; /* fitted to the table */
};

/* Fits a form to the table of `loss` and compares it with the front. */
static inline void form_try(const struct sr_expr *form, struct truth *t, double noise,
                            const struct sr_front *front, const struct sr_loss *loss,
                            struct sr_work *work, struct standing *best)
{
    struct sr_expr expr = *form;
    double rival = HUGE_VAL;
    const double reached =
        sr_constants_fit(loss, &expr, false, FORM_STEPS, FORM_RESTARTS, t->rng, work);
    for (int i = 0; i < front->count; i++)
        if (sr_expr_complexity(NULL, &front->expr[i]) <= sr_expr_complexity(NULL, &expr))
            rival = front->loss[i];
    const double ratio = rival > 0 ? reached / rival : HUGE_VAL;
    if (ratio < best->ratio && recovers(t, &expr, noise)) {
        best->ratio = ratio;
        best->expr = expr;
    }
}

/* Puts c * part, or c + part, in place of the part that ends at i. */
static inline bool add_constant(struct sr_expr *expr, int i, enum sr_op op, int maxsize)
{
    struct sr_node part[SR_NODES + 2];
    const int start = sr_expr_start(expr, i), size = expr->node[i].size;
    memcpy(part, expr->node + start, (size_t)size * sizeof *part);
    part[size] = (struct sr_node){.op = SR_CONSTANT, .value = op == SR_MUL};
    part[size + 1] = (struct sr_node){.op = (uint8_t)op};
    return size + 2 <= SR_NODES && sr_expr_splice(NULL, expr, start, size, part, size + 2, maxsize);
}

/* Over all forms and their longer ones. */
static inline struct standing forms_try(const struct forms *forms, struct truth *t, double noise,
                                        const struct sr_settings *s, const struct sr_front *front,
                                        const struct sr_loss *loss, struct sr_work *work)
{
    static const enum sr_op join[] = {SR_MUL, SR_ADD};
    struct standing best = {.ratio = HUGE_VAL};
    for (int k = 0; k < forms->count; k++) {
        form_try(&forms->form[k], t, noise, front, loss, work, &best);
        for (int i = 0; i < 2 * forms->form[k].count; i++) {
            struct sr_expr longer = forms->form[k];
            const bool may = (sr_settings_operators(s) >> join[i % 2] & 1) != 0;
            if (may && add_constant(&longer, i / 2, join[i % 2], s->maxsize))
                form_try(&longer, t, noise, front, loss, work, &best);
        }
    }
    return best;
}

static inline void print_standing(const struct truth *t, int sample, const struct standing *law)
{
    char text[SR_TEXT];
    sr_expr_print(NULL, &law->expr, t->problem->feature, text, sizeof text);
    printf("    table %d, the law: %d nodes, %.5f of the loss of the front  %s\n", sample,
           sr_expr_complexity(NULL, &law->expr), law->ratio, text);
}

#endif
