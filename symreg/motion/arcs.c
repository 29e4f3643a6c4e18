/* arcs.c - a law fitted to paths by integrating it: least squares of the positions, by damped steps
 * of Gauss and Newton. The starts of the arcs are free. Each is eliminated from the equations of
 * its arc, so that a step costs as much as the arcs are long, and no more for many of them. */
#include "bodies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { S = SR_PATH_STATES };

/* ---- forms */

void sr_form_make(const struct sr_expr *expr, struct sr_form *form)
{
    *form = (struct sr_form){.expr = *expr};
    form->numbers = sr_expr_fitted(expr, false, &form->params, form->param);
}

void sr_form_get(const struct sr_form *form, double value[SR_NODES])
{
    double all[SR_NODES];
    sr_expr_constants(&form->expr, all);
    for (int k = 0; k < form->numbers; k++)
        if (form->param[k] >= 0)
            value[form->param[k]] = all[k];
}

void sr_form_set(struct sr_form *form, const double *value)
{
    double all[SR_NODES];
    sr_expr_constants(&form->expr, all);
    for (int k = 0; k < form->numbers; k++)
        if (form->param[k] >= 0)
            all[k] = value[form->param[k]];
    sr_expr_set_constants(&form->expr, all);
}

/* Eliminates the starts: A (params, params) and b (params) are the equations of the parameters.
 * False where an arc does not determine its start. */
static bool eliminate(struct sr_arcs *s, double damping, double *A, double *b)
{
    const size_t C = (size_t)s->form->params;
    memset(A, 0, C * C * sizeof *A);
    memset(b, 0, C * sizeof *b);
    for (size_t p = 0; p < s->count; p++) {
        const struct sr_arc *arc = &s->arc[p];
        const size_t S2 = arc->states, K = arc->columns;
        double L[S * S], column[S];
        for (size_t i = 0; i < S2; i++)
            for (size_t j = 0; j <= i; j++)
                L[i * S2 + j] = arc->normal[i * K + j] * (i == j ? 1 + damping : 1);
        if (!sr_cholesky(L, S2, S2, 0))
            return false;
        for (size_t c = 0; c <= C; c++) {
            for (size_t i = 0; i < S2; i++)
                column[i] = c < C ? arc->normal[(S2 + c) * K + i] : arc->gradient[i];
            sr_cholesky_solve(L, S2, S2, column);
            for (size_t i = 0; i < S2; i++)
                arc->solved[i * (C + 1) + c] = column[i];
        }
        for (size_t a = 0; a < C; a++) {
            const double *const row = arc->normal + (S2 + a) * K;
            b[a] += arc->gradient[S2 + a];
            for (size_t i = 0; i < S2; i++)
                b[a] -= row[i] * arc->solved[i * (C + 1) + C];
            for (size_t c = 0; c <= a; c++) {
                A[a * C + c] += row[S2 + c];
                for (size_t i = 0; i < S2; i++)
                    A[a * C + c] -= row[i] * arc->solved[i * (C + 1) + c];
            }
        }
    }
    return true;
}

/* The next starts, of `other`, and parameters. *gain: what chi2 would fall by if all were linear,
 * or more. */
static bool solve(struct sr_arcs *s, double damping, const double *value, struct sr_arcs *other,
                  double *next, double *gain)
{
    const size_t C = (size_t)s->form->params;
    double A[SR_NODES * SR_NODES], b[SR_NODES], right[SR_NODES];
    if (!eliminate(s, damping, A, b))
        return false;
    for (size_t a = 0; a < C; a++)
        A[a * C + a] *= 1 + damping;
    memcpy(right, b, C * sizeof *b);
    if (C && !sr_cholesky(A, C, C, 0))
        return false;
    sr_cholesky_solve(A, C, C, b);
    *gain = 0;
    bool finite = true;
    for (size_t a = 0; a < C; a++) {
        next[a] = value[a] + b[a];
        *gain += b[a] * right[a];
        finite = finite && isfinite(next[a]);
    }
    for (size_t p = 0; p < s->count; p++)
        for (size_t i = 0; i < s->arc[p].states; i++) {
            const double *const row = s->arc[p].solved + i * (C + 1);
            double change = row[C];
            *gain += row[C] * s->arc[p].gradient[i];
            for (size_t c = 0; c < C; c++)
                change -= row[c] * b[c];
            other->arc[p].start[i] = s->arc[p].start[i] + change;
            finite = finite && isfinite(change);
        }
    return finite;
}

static void find_errors(struct sr_arcs *s, struct sr_arcs_fit *fit)
{
    const size_t C = (size_t)s->form->params;
    double A[SR_NODES * SR_NODES], b[SR_NODES];
    fit->u.constants = (int)C;
    const bool determined = eliminate(s, 0, A, b) && sr_cholesky(A, C, C, 0);
    for (size_t a = 0; a < C; a++) {
        memset(b, 0, sizeof b);
        b[a] = 1;
        if (determined)
            sr_cholesky_solve(A, C, C, b);
        for (size_t c = 0; c < C; c++)
            fit->u.covariance[a][c] = determined ? b[c] : NAN;
        fit->u.error[a] = sqrt(fit->u.covariance[a][a]);
    }
}

/* The next start of an arc, with the parameters as they are; false: it has none. */
static bool step_start(const struct sr_arc *arc, double *next, double *gain)
{
    const size_t S2 = arc->states, K = arc->columns;
    double L[S * S], change[S];
    for (size_t i = 0; i < S2; i++)
        for (size_t j = 0; j <= i; j++)
            L[i * S2 + j] = arc->normal[i * K + j] * (i == j ? 1 + arc->damping : 1);
    memcpy(change, arc->gradient, S2 * sizeof *change);
    if (!sr_cholesky(L, S2, S2, 0))
        return false;
    sr_cholesky_solve(L, S2, S2, change);
    *gain = 0;
    for (size_t i = 0; i < S2; i++) {
        *gain += change[i] * arc->gradient[i];
        next[i] = arc->start[i] + change[i];
    }
    return isfinite(*gain);
}

void sr_arcs_take(struct sr_arcs *s, struct sr_arcs *other, size_t p)
{
    const struct sr_arc kept = s->arc[p];
    const size_t S2 = kept.states, from = kept.path->from + kept.first * S2;
    s->arc[p] = other->arc[p];
    other->arc[p] = kept;
    memcpy(s->state + from, other->state + from,
           (kept.last + 1 - kept.first) * S2 * sizeof *s->state);
}

/* One that goes astray does not hold the others. */
void sr_arcs_settle(struct sr_arcs *s, struct sr_arcs *other)
{
    enum { MOST = 12 };
    const double enough = 0.1;
    size_t moving = s->count;
    sr_arcs_follow(s);
    for (size_t p = 0; p < s->count; p++) {
        s->arc[p].damping = 1e-3;
        s->arc[p].idle = !(s->arc[p].chi2 < HUGE_VAL);
    }
    for (int i = 0; i < MOST && moving; i++) {
        if (sr_arcs_over(s->until_s))
            break;
        moving = 0;
        for (size_t p = 0; p < s->count; p++) {
            struct sr_arc *arc = &s->arc[p];
            double gain;
            arc->idle = arc->idle || !step_start(arc, other->arc[p].start, &gain) ||
                        gain < enough + 1e-3 * arc->chi2;
            other->arc[p].idle = arc->idle;
            moving += !arc->idle;
        }
        sr_arcs_follow(other);
        for (size_t p = 0; p < s->count; p++) {
            struct sr_arc *arc = &s->arc[p];
            const double damping = arc->damping;
            if (arc->idle)
                continue;
            if (other->arc[p].chi2 < arc->chi2) {
                sr_arcs_take(s, other, p);
                s->arc[p].damping = fmax(damping / 10, 1e-9);
            } else {
                arc->damping = fmax(10 * damping, 1e-3);
            }
        }
    }
    for (size_t p = 0; p < s->count; p++)
        s->arc[p].idle = other->arc[p].idle = false;
    sr_arcs_add_up(s);
}

/* Takes at most so many steps from *s; `other` is as large. */
static void descend(struct sr_arcs *s, struct sr_arcs *other, int steps, struct sr_form *form,
                    struct sr_arcs_fit *fit)
{
    enum { REJECTIONS = 8 };
    const double enough = 0.01; /* chi2 */
    double damping = 1e-4, gain, next[SR_NODES];
    for (int i = 0, rejected = 0; i < steps && rejected < REJECTIONS && s->chi2 < HUGE_VAL; i++) {
        if (sr_arcs_over(s->until_s) || !solve(s, damping, fit->value, other, next, &gain))
            break;
        sr_form_set(form, next);
        sr_arcs_follow(other);
        const double fall = s->chi2 - other->chi2;
        fit->converged = gain < enough + 1e-6 * s->chi2;
        if (fall > 0) {
            const struct sr_arcs kept = *s;
            *s = *other;
            *other = kept;
            memcpy(fit->value, next, (size_t)form->params * sizeof *next);
            damping = fmax(damping / 10, 1e-9);
            rejected = 0;
        } else {
            damping = fmax(10 * damping, 1e-3);
            rejected++;
        }
        if (fit->converged)
            break;
    }
    sr_form_set(form, fit->value);
}

int sr_arcs_fit(const struct sr_paths *paths, size_t rows, int steps, double until_s,
                struct sr_form *form, double *state, struct sr_arcs_fit *fit)
{
    struct sr_arcs s, other;
    *fit = (struct sr_arcs_fit){.chi2 = HUGE_VAL};
    sr_form_get(form, fit->value);
    int rc = sr_arcs_create(paths, form, rows, &s);
    const int second = sr_arcs_create(paths, form, rows, &other);
    rc = rc ? rc : second;
    s.until_s = other.until_s = until_s;
    for (size_t p = 0; p < s.count && !rc; p++) {
        const struct sr_arc *arc = &s.arc[p];
        memcpy(arc->start, state + arc->path->from + arc->first * arc->states,
               arc->states * sizeof *state);
        fit->starts += arc->states;
    }
    if (!rc) {
        sr_arcs_settle(&s, &other);
        rc = sr_arcs_regrow(&s, &other, form);
        descend(&s, &other, steps, form, fit);
        fit->chi2 = s.chi2;
        fit->numbers = paths->rows * (size_t)paths->dims;
    }
    memset(paths->chi2, 0, paths->count * sizeof *paths->chi2);
    for (size_t p = 0; p < s.count && !rc; p++)
        paths->chi2[s.arc[p].path - paths->path] += s.arc[p].chi2;
    if (!rc && s.chi2 < HUGE_VAL) {
        find_errors(&s, fit);
        memcpy(state, s.state, paths->states * sizeof *state);
    }
    sr_arcs_free(&s);
    sr_arcs_free(&other);
    return rc;
}

int sr_arcs_fit_whole(const struct sr_paths *paths, size_t rows, double until_s,
                      struct sr_form *form, double *state, struct sr_arcs_fit *fit)
{
    enum { BRIEF = 5, LONG = 12 }; /* steps of arcs, of whole paths */
    size_t longest = 0;
    for (size_t k = 0; k < paths->count; k++)
        longest = paths->path[k].n > longest ? paths->path[k].n : longest;
    *fit = (struct sr_arcs_fit){.chi2 = HUGE_VAL};
    for (bool last = false; !last && !sr_arcs_over(until_s); rows *= 2) {
        last = rows > longest / 2;
        TRY(sr_arcs_fit(paths, last ? longest : rows, last ? LONG : BRIEF, until_s, form, state,
                        fit));
        if (!(fit->chi2 < HUGE_VAL))
            return 0;
        fit->whole = last && !sr_arcs_over(until_s);
    }
    return 0;
}
