/* checkpoint_check.c - validates the state of a run after a checkpoint was read. The file may come
 * from an untrusted source, and its checksum does not prove that the contents are valid. */
#include "search.h"

#include <limits.h>
#include <math.h>

/* Whether expr is a formula of the language over the table's columns with correct subtree sizes. */
static bool is_formula(const struct sr_settings *s, const struct sr_run *run,
                       const struct sr_expr *expr)
{
    struct sr_expr measured = *expr;
    if (expr->count > s->maxsize || !sr_expr_measure(s->language, &measured))
        return false;
    for (int i = 0; i < expr->count; i++)
        if (expr->node[i].size != measured.node[i].size ||
            (expr->node[i].op == SR_FEATURE &&
             expr->node[i].feature >= run->loss->data->features) ||
            (!s->form && expr->node[i].op == SR_CONSTANT && expr->node[i].feature))
            return false; /* only a template has named constants and fixed numbers */
    return !s->form || sr_template_admits(s->form, expr);
}

/* Checks the hall of fame: an entry without a formula has an infinite loss and no polish flag. */
static bool is_hall(const struct sr_settings *s, const struct sr_run *run)
{
    const struct sr_hall_of_fame *hall = run->best;
    for (int c = 0; c <= SR_NODES; c++)
        if (hall->expr[c].count ? !is_formula(s, run, &hall->expr[c]) || isnan(hall->loss[c])
                                : hall->loss[c] != HUGE_VAL || run->view.polish[c])
            return false;
    return true;
}

/* Checks the near-best formulas. */
static bool is_near(const struct sr_settings *s, const struct sr_run *run)
{
    const struct sr_near *near = run->near, *made = run->island->near;
    if (!near)
        return true;
    if (near->each != made->each || near->most != made->most)
        return false;
    for (int c = 0; c <= SR_NODES; c++) {
        const int count = near->count[c];
        if (count < 0 || count > (c >= 1 && c <= near->most ? near->each : 0))
            return false;
        for (int i = 0; i < count; i++)
            if (isnan(sr_near_list(near, c)[i].loss) ||
                !is_formula(s, run, &sr_near_list(near, c)[i].expr))
                return false;
    }
    return true;
}

static bool are_flags(const void *flags, size_t bytes)
{
    const unsigned char *flag = flags;
    for (size_t i = 0; i < bytes; i++)
        if (flag[i] > 1)
            return false;
    return true;
}

static bool is_count(int epochs)
{
    return epochs >= 0 && epochs < INT_MAX / 2;
}

bool sr_run_sound(const struct sr_settings *s, const struct sr_run *run)
{
    if (!are_flags(&run->fresh, sizeof run->fresh) ||
        !are_flags(run->view.polish, sizeof run->view.polish) || !is_count(run->unchanged) ||
        !is_count(run->stale) || !is_hall(s, run) || !is_near(s, run))
        return false;
    for (int k = 0; k < s->populations; k++)
        for (int m = 0; m < s->population_size; m++)
            if (!is_formula(s, run, &run->island[k].member[m].expr))
                return false;
    return true;
}
