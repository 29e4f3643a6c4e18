/* derived.c - searches tables derived from a table, and takes over what is found there. */
#include "base/stop.h"
#include "derived.h"

#include <math.h>
#include <stdlib.h>

enum {
    PHI_SIZE = 20, /* nodes of a formula of a derived table, at most */
    FIT_STEPS = 20,
    ADDED = 3 * SR_SEEDS /* evaluations that sr_derived_add() takes, at most */
};

/* Shortens a formula of the table, also by moving columns into a sum where that has the same loss,
 * up to rounding. */
static bool shorten(struct sr_proposal *p, struct sr_expr *expr)
{
    static const double same = 1e-9;
    struct sr_work *work = &p->thread[0].work;
    struct sr_expr moved = *expr;
    double scale;
    if (sr_expr_into_sum(p->settings->language, &moved, p->operators) &&
        sr_proposal_take(p, 2) == 2) {
        const double before = sr_eval_loss(expr, p->loss, work, &scale);
        const double after = sr_eval_loss(&moved, p->loss, work, &scale);
        if (isfinite(before) && after <= fmax(before * (1 + same), p->loss->noise))
            *expr = moved;
    }
    return sr_proposal_shorten(p, expr);
}

/* Writes a formula in the table's columns; one that would be too long once more without factors
 * that are likely 1. */
static bool write_short(struct sr_proposal *p, const struct sr_loss *own, const struct sr_expr *phi,
                        sr_derived_write *write, const void *derived, struct sr_expr *out)
{
    static const double near_one = 0.02; /* what the other constants can make up for */
    struct sr_expr shorter = *phi;
    struct sr_work *work = &p->thread[0].work;
    double scale;
    if (write(p, derived, phi, out) && shorten(p, out))
        return true;
    if (!isfinite(sr_eval_loss(&shorter, own, work, &scale)) ||
        (fabs(scale - 1) > near_one && !sr_expr_scale(&shorter, scale)))
        return false;
    sr_constants_fit(own, &shorter, false, FIT_STEPS, 0, NULL, work);
    sr_constants_round(own, &shorter, SR_ROUND_LIKELY, work);
    sr_drop_ones(p->settings->language, &shorter);
    return write(p, derived, &shorter, out) && shorten(p, out);
}

int sr_derived_add(struct sr_proposal *p, const struct sr_loss *own, const struct sr_seeds *found,
                   int per_size, sr_derived_write *write, const void *derived, double *least)
{
    const int before = p->seeds->count;
    struct sr_expr *expr = orr_alloc((size_t)found->count + 1, sizeof *expr);
    double *loss = orr_alloc((size_t)found->count + 1, sizeof *loss), scale;
    int count = 0;
    if (expr && loss) {
        const int most = sr_proposal_take(p, found->count);
        for (int i = 0; i < found->count && count < most && !orr_signal_seen(); i++)
            if (isfinite(found->loss[i]) &&
                write_short(p, own, &found->expr[i], write, derived, &expr[count])) {
                loss[count] = sr_eval_loss(&expr[count], p->loss, &p->thread[0].work, &scale);
                count++;
            }
        sr_proposal_add(p, expr, loss, count, per_size, true, false);
        sr_proposal_fit(p, before, FIT_STEPS, true);
        for (int i = before; i < p->seeds->count; i++)
            *least = fmin(*least, p->seeds->loss[i]);
    }
    const int rc = expr && loss ? 0 : ORR_ENOMEM;
    free(expr);
    free(loss);
    return rc;
}

struct sr_settings sr_derived_settings(const struct sr_settings *of_table)
{
    struct sr_settings s = *of_table;
    s.maxsize = s.maxsize < PHI_SIZE ? s.maxsize : PHI_SIZE;
    s.admissible = s.whole = NULL;
    s.units = NULL;
    s.penalty = NULL;
    s.guesses = 0;
    return s;
}

/* Some evaluations are left for sr_derived_add(), without which the others were in vain. */
int sr_derived_run(struct sr_proposal *p, struct sr_proposal *own, unsigned stages)
{
    const double left = p->limit.evaluations - p->seeds->evaluations;
    own->limit =
        (struct sr_limit){.until_s = p->limit.until_s, .evaluations = left - fmin(left / 4, ADDED)};
    own->seeds->count = 0;
    own->seeds->evaluations = 0;
    TRY(sr_proposal_run(own, stages));
    p->seeds->evaluations += own->seeds->evaluations;
    return 0;
}
