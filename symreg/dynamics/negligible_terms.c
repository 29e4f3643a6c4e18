/* negligible_terms.c - terms that are no part of a system as far as its tracks can tell: over all
 * of a track they change its state by less than what counts as exact, as 1e-11 beside x or in x /
 * (1e-10 + x). A fit that gains nothing by them keeps them where the seconds ended before shorter
 * formulas were tried. Of uniform motion a whole equation is such a term. */
#include <math.h>
#include <stdlib.h>

#include "judge.h"

/* How much a derivative may change, at most, without being felt: over the longest track it changes
 * the state by the error that is as good as none. */
static double unfelt(const struct sr_judge *c, int d)
{
    double longest = 0, weights = 0, rows = 0;
    for (size_t k = 0; k < c->tracks; k++) {
        const struct sr_flow_track *const track = &c->track[k];
        longest = fmax(longest, track->t[track->n - 1] - track->t[0]);
        for (size_t i = 0; i < track->n; i++, rows++) {
            const double sigma = track->sigma[(size_t)d * track->n + i];
            weights += 1 / (sigma * sigma);
        }
    }
    const double span = c->states->order == 1 ? longest : longest * longest / 2;
    return sqrt(c->exact * rows / weights) / span;
}

/* Values of a formula at the probes of all categories: value (categories, probes). */
static bool fill(const struct sr_judge *c, const struct sr_expr *expr, const struct sr_each *each,
                 double *value)
{
    const struct sr_data data = {
        .rows = c->probes, .features = c->states->names, .x = c->probe, .language = c->language};
    const int categories = c->states->categories ? c->states->categories : 1;
    for (int k = 0; k < categories; k++) {
        struct sr_expr settled = *expr;
        sr_each_settle(each, (size_t)k, &settled);
        if (!sr_eval(&settled, &data, value + (size_t)k * c->probes))
            return false;
    }
    return true;
}

/* Takes one operand of a sum from the formula of state d that changes it too little. work:
 * (2, categories, probes). */
static bool drop(const struct sr_judge *c, int d, const struct sr_each *each, struct sr_expr *expr,
                 double *work)
{
    const size_t n = c->probes * (size_t)(c->states->categories ? c->states->categories : 1);
    const double least = unfelt(c, d);
    struct sr_expr shorter;
    if (!fill(c, expr, each, work))
        return false;
    for (int i = expr->count - 1; i > 1; i--) {
        const int op = expr->node[i].op;
        for (int side = 0; side < 2 && (op == SR_ADD || op == SR_SUB); side++) {
            double most = 0;
            shorter = *expr;
            if (!sr_judge_without(c, i, side ? i - 1 : sr_expr_left(expr, i), &shorter) ||
                !fill(c, &shorter, each, work + n))
                continue;
            for (size_t k = 0; k < n; k++)
                most = fmax(most, fabs(work[n + k] - work[k]));
            if (!(most < least))
                continue;
            *expr = shorter;
            return true;
        }
    }
    return false;
}

int sr_judge_drop_unfelt(const struct sr_judge *c, struct sr_judged *best)
{
    struct sr_judged *const trial = orr_alloc(1, sizeof *trial);
    const size_t categories = (size_t)(c->states->categories ? c->states->categories : 1);
    double *const work = orr_alloc(2 * categories * c->probes, sizeof *work);
    bool dropped = false;
    int rc = trial && work ? 0 : ORR_ENOMEM;
    if (!rc)
        sr_judged_copy(best, trial);
    for (int d = 0; d < c->states->dims && !rc; d++)
        while (drop(c, d, &trial->each, &trial->expr[d], work))
            dropped = true;
    if (!rc && dropped)
        rc = sr_judge_fit(c, trial);
    if (!rc && dropped && !(trial->misfit > fmax(best->misfit, c->exact)))
        *best = *trial;
    free(work);
    free(trial);
    return rc;
}

/* ---- equations */

/* By how much the equation of state d moves the state along a track at most: its largest value
 * there all the time; infinite where it has none. */
static int find_move(const struct sr_states *s, const struct sr_state_track *track,
                     const struct sr_language *language, const struct sr_system *system, int d,
                     double *move)
{
    const size_t n = track->n, names = (size_t)s->names;
    const double length = track->t[n - 1] - track->t[0];
    double *const table = orr_alloc((names + 1) * n, sizeof *table), largest = 0;
    if (!table)
        return ORR_ENOMEM;
    for (size_t name = 0; name < names; name++)
        for (size_t i = 0; i < n; i++)
            table[name * n + i] = sr_state_value(s, track, (int)name, i);
    const struct sr_data data = {.rows = n, .features = s->names, .x = table, .language = language};
    struct sr_expr expr = system->expr[d];
    sr_each_settle(&system->each, track->category, &expr);
    if (!sr_eval(&expr, &data, table + names * n))
        largest = HUGE_VAL;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(table[names * n + i]));
    free(table);
    *move = largest * (s->order == 1 ? length : length * length / 2);
    return 0;
}

/* Whether the equation of state d moves it by less than what counts as exact: by the noise of each
 * row, as a noisy track says nothing about an exact one. */
static int find_rest(const struct sr_states *s, const struct sr_language *language,
                     const struct sr_system *system, int d, bool *rests)
{
    double squares = 0; /* moves in standard deviations of the noise */
    for (size_t k = 0; k < s->count; k++) {
        const struct sr_state_track *const track = &s->track[k];
        double move;
        TRY(find_move(s, track, language, system, d, &move));
        for (size_t i = 0; i < track->n && move > 0; i++)
            squares += pow(move / track->sigma[(size_t)d * track->n + i], 2);
    }
    *rests = squares < SR_EXACTLY * (double)s->rows;
    return 0;
}

int sr_system_rest(const struct sr_states *s, const struct sr_language *language,
                   struct sr_system *system)
{
    bool rests[SR_STATES], all = true;
    for (int d = 0; d < s->dims; d++) {
        TRY(find_rest(s, language, system, d, &rests[d]));
        all = all && rests[d];
    }
    if (system->symmetry.vectors && !all)
        return 0; /* components share their constants */
    for (int d = 0; d < s->dims; d++)
        if (rests[d]) {
            system->expr[d].count = 0;
            sr_put_constant(&system->expr[d], 0);
            sr_put_end(language, &system->expr[d], SR_NODES);
            system->error[d][0] = system->low[d][0] = system->high[d][0] = NAN;
        }
    if (all)
        system->symmetry = (struct sr_symmetry){0};
    return 0;
}
