/* silent.c - terms that are no part of a system as far as its tracks can tell: over all of a track
 * they change its state by less than what counts as exact. A fit that gains nothing by them keeps
 * them where the seconds ended before shorter formulas were tried. */
#include <math.h>
#include <stdlib.h>

#include "judge.h"

/* How much a derivative may change, at most, without being felt: over the longest track it changes
 * the state by the error that is as good as none, of the least standard deviation. */
static double unfelt(const struct sr_judge *c, int d)
{
    double longest = 0, sigma = HUGE_VAL;
    for (size_t k = 0; k < c->tracks; k++) {
        const struct sr_flow_track *const track = &c->track[k];
        longest = fmax(longest, track->t[track->n - 1] - track->t[0]);
        for (size_t i = 0; i < track->n; i++)
            sigma = fmin(sigma, track->sigma[(size_t)d * track->n + i]);
    }
    const double span = c->states->order == 1 ? longest : longest * longest / 2;
    return sqrt(c->exact) * sigma / span;
}

/* The largest value of the term that ends at node i; infinite where it has none. */
static double largest_of(const struct sr_judge *c, const struct sr_expr *expr, int i,
                         const struct sr_each *each, double *value)
{
    const struct sr_data data = {
        .rows = c->probes, .features = c->states->names, .x = c->probe, .language = c->language};
    struct sr_expr term = {.count = 0};
    double most = 0;
    for (int k = sr_expr_start(expr, i); k <= i; k++)
        sr_put_node(&term, expr->node[k]);
    if (!sr_put_end(c->language, &term, SR_NODES))
        return HUGE_VAL;
    for (int category = 0; category < (c->states->categories ? c->states->categories : 1);
         category++) {
        struct sr_expr settled = term;
        sr_each_settle(each, (size_t)category, &settled);
        if (!sr_eval(&settled, &data, value))
            return HUGE_VAL;
        for (size_t r = 0; r < c->probes; r++)
            most = fmax(most, fabs(value[r]));
    }
    return most;
}

/* Takes one such term from the sum that ends at node i of a formula, or from a sum that is a term
 * of it. */
static bool drop_from(const struct sr_judge *c, struct sr_expr *expr, int i, double least,
                      const struct sr_each *each, double *value)
{
    const int op = expr->node[i].op;
    if (op != SR_ADD && op != SR_SUB)
        return false;
    const int left = sr_expr_left(expr, i);
    for (int side = 0; side < 2; side++) {
        const int at = side ? left : i - 1, other = side ? i - 1 : left;
        struct sr_expr rest = {.count = 0};
        if (!(largest_of(c, expr, at, each, value) < least))
            continue;
        for (int k = sr_expr_start(expr, other); k <= other; k++)
            sr_put_node(&rest, expr->node[k]);
        if (!sr_put_end(c->language, &rest, SR_NODES))
            return false;
        if (side && op == SR_SUB)
            sr_expr_scale(&rest, -1);
        const int start = sr_expr_start(expr, i);
        if (!sr_expr_splice(c->language, expr, start, i - start + 1, rest.node, rest.count,
                            SR_NODES))
            return false;
        sr_expr_simplify(c->language, expr);
        return true;
    }
    return drop_from(c, expr, left, least, each, value) ||
           drop_from(c, expr, i - 1, least, each, value);
}

int sr_judge_drop_silent(const struct sr_judge *c, struct sr_judged *best)
{
    struct sr_judged *const trial = orr_alloc(1, sizeof *trial);
    double *const value = orr_alloc(c->probes, sizeof *value);
    bool dropped = false;
    int rc = trial && value ? 0 : ORR_ENOMEM;
    if (!rc)
        sr_judged_copy(best, trial);
    for (int d = 0; d < c->states->dims && !rc; d++)
        for (bool again = true; again; dropped = dropped || again)
            again = drop_from(c, &trial->expr[d], trial->expr[d].count - 1, unfelt(c, d),
                              &trial->each, value);
    if (!rc && dropped)
        rc = sr_judge_fit(c, trial);
    if (!rc && dropped && trial->nats < best->nats)
        *best = *trial;
    free(value);
    free(trial);
    return rc;
}
