/* time_dependence.c - whether equations that were searched without the time need it. Before the
 * choice: all formulas of a front leave much more of the derivative than its errors. After it: an
 * equation of a driven system follows its track only with a term that depends on the time. A
 * parabola of the time is added to one equation after the other, and the system is fitted anew: it
 * counts where the tracks support it, and of several equations that where it explains most. A fit
 * without the parabola may be cut off by its seconds: it never counts for worse than the system
 * that was chosen, or the time would seem to act on any. */
#include <stdlib.h>

#include "weak.h"

/* The parabola counts where an equation is better by more nats. */
static const double better = 10;

/* Appends a number that no fit changes. */
static void put_fixed(struct sr_expr *out, double value)
{
    struct sr_node node = sr_constant_node(value);
    node.feature = SR_FIXED;
    sr_put_node(out, node);
}

/* Adds a u + b u^2, where u is the time, 0 in the middle of all tracks and 1 at their ends. */
static bool add_parabola(const struct sr_states *s, const struct sr_language *language,
                         struct sr_expr *expr)
{
    double begin = HUGE_VAL, end = -HUGE_VAL;
    for (size_t k = 0; k < s->count; k++) {
        begin = fmin(begin, s->track[k].t[0]);
        end = fmax(end, s->track[k].t[s->track[k].n - 1]);
    }
    for (int power = 1; power <= 2; power++) {
        sr_put_constant(expr, 0);
        for (int k = 0; k < power; k++) {
            sr_put_node(expr, sr_feature_node(sr_states_time(s)));
            put_fixed(expr, begin + (end - begin) / 2);
            sr_put_op(expr, SR_SUB);
            put_fixed(expr, 2 / (end - begin));
            sr_put_op(expr, SR_MUL);
            sr_put_op(expr, SR_MUL);
        }
        sr_put_op(expr, SR_ADD);
    }
    return sr_put_end(language, expr, SR_NODES);
}

/* The nats that a parabola in equation d gains, without what the longer formula costs: its two
 * numbers cost half the logarithm of the rows each. */
static int measure_gain(const struct sr_judge *c, const struct sr_judged *without, int d,
                        double *gain)
{
    struct sr_judged *const with = orr_alloc(1, sizeof *with);
    int rc = with ? 0 : ORR_ENOMEM;
    *gain = 0;
    if (!rc) {
        sr_judged_copy(without, with);
        if (add_parabola(c->states, c->language, &with->expr[d]))
            rc = sr_judge_fit(c, with);
        if (!rc && with->nats < HUGE_VAL)
            *gain = 0.5 * with->spare *
                        orr_log(fmax(without->misfit, c->exact) / fmax(with->misfit, c->exact)) -
                    orr_log(with->spare);
        orr_trace("a parabola of the time in equation %d gains %.2f nats", d + 1, *gain);
    }
    free(with);
    return rc;
}

static bool is_any_alone(const struct sr_states *s, const struct sr_system *system)
{
    for (int d = 0; d < s->dims; d++)
        if (system->alone[d])
            return true;
    return false;
}

int sr_system_time(const struct sr_states *s, const struct sr_language *language, double seconds,
                   struct sr_system *system)
{
    struct sr_judge judge = {0};
    struct sr_judged *const without = orr_alloc(1, sizeof *without);
    double most = better, gain;
    int rc = without ? sr_judge_create(s, language, seconds, &judge) : ORR_ENOMEM;
    system->follows_time = -1;
    if (!rc) {
        memcpy(without->expr, system->expr, sizeof without->expr);
        without->each = system->each;
        rc = sr_judge_fit(&judge, without);
    }
    if (!rc && !is_any_alone(s, system))
        without->misfit = fmin(without->misfit, system->residual * system->residual);
    for (int d = 0; !rc && d < s->dims && without->nats < HUGE_VAL && !orr_signal_seen(); d++) {
        rc = measure_gain(&judge, without, d, &gain);
        if (!rc && gain > most) {
            most = gain;
            system->follows_time = d;
        }
    }
    if (judge.track)
        sr_judge_free(&judge);
    free(without);
    return rc;
}

/* Mean squared residual of the derivatives, in variances of their errors, from which on a front
 * lacks something: errors of derivatives are known to some ten percent. Those of exact tracks are
 * far below what rows are weighted by, and known to a factor. */
static const double much = 4;

/* The mean squared residual of a formula; infinite where it has no value. */
static double misfit_of(const struct sr_states *s, const struct sr_language *language, int d,
                        const struct sr_equations_found *found, int row, double least, double *work)
{
    double sum = 0;
    for (size_t k = 0; k < s->count; k++) {
        const struct sr_state_track *track = &s->track[k];
        const size_t n = track->n, dims = (size_t)s->dims, t = (size_t)sr_states_time(s);
        const double *value = (s->order == 1 ? track->rate : track->bend) + (size_t)d * n;
        const double *variance =
            (s->order == 1 ? track->rate_variance : track->bend_variance) + (size_t)d * n;
        double *const table = work + n;
        memcpy(table, track->smooth, dims * n * sizeof *table);
        if (s->order == 2)
            memcpy(table + dims * n, track->rate, dims * n * sizeof *table);
        memcpy(table + t * n, track->t, n * sizeof *table);
        memcpy(table + (t + 1) * n, track->input, (size_t)s->inputs * n * sizeof *table);
        const struct sr_data data = {
            .rows = n, .features = s->names, .x = table, .y = value, .language = language};
        struct sr_expr expr = found->expr[row];
        sr_each_fill(&found->each[row], found->first, track->category, &expr);
        if (!sr_eval(&expr, &data, work))
            return HUGE_VAL;
        for (size_t i = 0; i < n; i++)
            sum += (value[i] - work[i]) * (value[i] - work[i]) / fmax(variance[i], least * least);
    }
    return sum / (double)s->rows;
}

/* What exact derivatives leave by their errors, in the unit of misfit_of(), in which no row counts
 * for more than one with the standard deviation `least`. */
static double left_by_errors(const struct sr_states *s, int d, double least)
{
    double sum = 0;
    for (size_t k = 0; k < s->count; k++) {
        const struct sr_state_track *const track = &s->track[k];
        const double *const variance =
            (s->order == 1 ? track->rate_variance : track->bend_variance) + (size_t)d * track->n;
        for (size_t i = 0; i < track->n; i++)
            sum += variance[i] / fmax(variance[i], least * least);
    }
    return SR_EXACT_ERRORS * sum / (double)s->rows;
}

/* What a formula costs without its misfit: its form, and half the logarithm of the rows for each of
 * its numbers. */
static double length_of(const struct sr_states *s, const struct sr_expr *expr, int names)
{
    return sr_equation_nats(expr, names) +
           0.5 * sr_expr_constants(expr, NULL) * orr_log((double)s->rows);
}

static bool has_time(const struct sr_states *s, const struct sr_expr *expr)
{
    for (int i = 0; i < expr->count; i++)
        if (expr->node[i].op == SR_FEATURE && expr->node[i].feature == sr_states_time(s))
            return true;
    return false;
}

/* Whether a sum with the time explains exact derivatives of equation d and is shorter by more than
 * `better` nats than a formula of such a length: of a state that rises all the time its derivative
 * is a function, though mostly no short one. work: as of misfit_of(). */
static int is_shorter_with_time(const struct sr_states *s, const struct sr_language *language,
                                int d, const struct sr_equations_found *found, double least,
                                double length, double *work, bool *shorter)
{
    struct sr_states timed = *s;
    struct sr_equations_found *const sums = orr_alloc(1, sizeof *sums);
    int rc = sums ? 0 : ORR_ENOMEM;
    *shorter = false;
    timed.explicit_time = true;
    if (!rc)
        rc = sr_states_exact_sums(&timed, d, found->allowed, found->maxsize, sums);
    for (int k = 0; !rc && k < sums->count && !*shorter; k++)
        *shorter = has_time(s, &sums->expr[k]) &&
                   length_of(s, &sums->expr[k], s->names) < length - better &&
                   misfit_of(s, language, d, sums, k, least, work) <= left_by_errors(s, d, least);
    free(sums);
    return rc;
}

int sr_states_lack(const struct sr_states *s, const struct sr_language *language, int d,
                   const struct sr_equations_found *found, bool *lack)
{
    const bool exact = sr_state_is_exact(s, d);
    double least, misfit = HUGE_VAL, length = HUGE_VAL;
    size_t longest = 0;
    bool by_sum = false;
    TRY(sr_states_least(s, d, &least));
    for (size_t k = 0; k < s->count; k++)
        longest = s->track[k].n > longest ? s->track[k].n : longest;
    double *const work = orr_alloc((1 + (size_t)s->names) * longest, sizeof *work);
    if (!work)
        return ORR_ENOMEM;
    const double enough = exact ? left_by_errors(s, d, least) : much;
    for (int i = 0; i < found->count; i++) {
        const double left = misfit_of(s, language, d, found, i, least, work);
        misfit = fmin(misfit, left);
        if (left > enough)
            continue;
        length = fmin(length, length_of(s, &found->expr[i], s->names - 1));
        by_sum = by_sum || !(found->loss[i] > 0);
    }
    orr_trace("formulas of equation %d leave %.4g variances of the derivative", d + 1, misfit);
    *lack = misfit > enough;
    int rc = 0;
    if (!*lack && exact && !by_sum && found->allowed && !s->categories)
        rc = is_shorter_with_time(s, language, d, found, least, length, work, lack);
    free(work);
    return rc;
}
