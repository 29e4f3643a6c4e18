/* arcs.c - a law fitted to paths by integrating it: least squares of the positions, by damped steps
 * of Gauss and Newton. The starts of the arcs are free. Each is eliminated from the equations of
 * its arc, so that a step costs as much as the arcs are long, and no more for many of them.
 *
 * Solutions are those of the pair of Dormand and Prince, each arc by steps of its own; one call of
 * the formula serves all arcs. Their derivatives by start and parameters follow from the
 * variational equations through the same stages. */
#include "arcs.h"
#include "dormand_prince.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { S = 2 * SR_MOTION_DIMS, STEPS = 20000 }; /* numbers of a start; steps of an arc, at most */

struct arc {
    const struct sr_path *path;
    size_t first, last, row; /* rows; the one that comes next */
    double t, step, peak, tolerance;
    double chi2;    /* of its rows; infinite: it has no solution */
    double damping; /* of its start alone */
    bool idle;      /* is not followed */
    double *z;      /* (width) state, then tangents (states, columns) */
    double *trial, *rate[SR_DP_STAGES];
    double *normal, *gradient; /* (columns, columns), (columns) sums over its residuals */
    double *solved;            /* (states, params + 1) the start's change by parameters, constant */
};
struct shot {
    const struct sr_paths *paths;
    const struct sr_form *form;
    size_t count, active, states, columns, width;
    struct arc *arc;                      /* (count) */
    size_t *list;                         /* (count) those on their way */
    double *x, *value, *slope, *jacobian; /* of the formula, for the arcs on their way */
    double *start;                        /* (count, states) */
    double *state;                        /* (rows, states) along the solution */
    double chi2, until_s;                 /* 0: no limit */
    void *block;
};

/* Whether the time or a signal ends the fit. */
static bool is_over(const struct shot *s)
{
    return orr_signal_seen() || (s->until_s > 0 && orr_time_s() > s->until_s);
}

/* ---- forms */

void sr_form_make(const struct sr_expr *expr, struct sr_form *form)
{
    *form = (struct sr_form){.expr = *expr};
    for (int i = 0; i < expr->count; i++) {
        if (!sr_is_number(&expr->node[i]))
            continue;
        const bool exponent = i + 1 < expr->count && expr->node[i + 1].op == SR_POW &&
                              sr_is_whole(expr->node[i].value);
        form->param[form->numbers++] = exponent ? -1 : form->params++;
    }
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

void sr_form_collect(const struct sr_form *form, size_t rows, double *jacobian)
{
    int seen = 0;
    for (int k = 0; k < form->numbers; k++) {
        const int to = form->param[k];
        const double *const by = jacobian + (size_t)k * rows;
        double *const sum = jacobian + (size_t)(to < 0 ? 0 : to) * rows;
        if (to < 0 || to == k) {
            seen = to == k ? k + 1 : seen;
            continue;
        }
        if (to >= seen) { /* the first number of a parameter; those before it have been read */
            memcpy(sum, by, rows * sizeof *sum);
            seen = to + 1;
            continue;
        }
        for (size_t i = 0; i < rows; i++)
            sum[i] += by[i];
    }
}

/* ---- solutions */

static double distance(const struct shot *s, const double *z)
{
    double sum = 0;
    for (size_t d = 0; d < s->states / 2; d++)
        sum += z[d] * z[d];
    return sqrt(sum);
}

/* Evaluates the formula for all arcs on their way, at z or at the trial of each. */
static bool evaluate(struct shot *s, bool trial)
{
    const struct sr_paths *p = s->paths;
    const size_t n = s->active;
    const struct sr_data data = {
        .rows = n, .features = p->features, .x = s->x, .y = s->value, .language = p->language};
    for (size_t i = 0; i < n; i++) {
        const struct arc *arc = &s->arc[s->list[i]];
        const double r = distance(s, trial ? arc->trial : arc->z);
        /* a step that went astray, which is not taken */
        const double at[3] = {fmin(fmax(r, 1e-9 * arc->path->size), 1e9 * arc->path->size),
                              arc->path->m1, arc->path->m2};
        for (size_t f = 0; f < 3; f++)
            if (p->column[f] >= 0)
                s->x[(size_t)p->column[f] * n + i] = at[f];
    }
    if (!sr_eval_slopes(&s->form->expr, &data, s->value, s->slope) ||
        (s->form->numbers && !sr_eval_jacobian(&s->form->expr, &data, s->value, s->jacobian)))
        return false;
    sr_form_collect(s->form, n, s->jacobian);
    return true;
}

/* The rates of arc i of the list at z. */
static void find_rates(const struct shot *s, size_t i, const double *z, double *rate)
{
    const struct arc *arc = &s->arc[s->list[i]];
    const size_t n = s->active, dims = s->states / 2, K = s->columns, S2 = s->states;
    const double r = distance(s, z), f = -arc->path->share * s->value[i],
                 slope = -arc->path->share * s->slope[(size_t)s->paths->column[0] * n + i];
    double away[SR_MOTION_DIMS];
    for (size_t d = 0; d < dims; d++) {
        away[d] = z[d] / r;
        rate[d] = z[dims + d];
        rate[dims + d] = f * away[d];
    }
    const double *const Y = z + S2;
    double *const out = rate + S2;
    memcpy(out, Y + dims * K, dims * K * sizeof *out);
    for (size_t c = 0; c < K; c++) {
        double along = 0;
        for (size_t d = 0; d < dims; d++)
            along += away[d] * Y[d * K + c];
        const double more = along * (slope - f / r) -
                            (c < S2 ? 0 : arc->path->share * s->jacobian[(c - S2) * n + i]);
        for (size_t d = 0; d < dims; d++)
            out[(dims + d) * K + c] = f / r * Y[d * K + c] + more * away[d];
    }
}

/* The largest error of the step that was tried over what is tolerated. */
static double step_error(const struct shot *s, const struct arc *arc, double h)
{
    const size_t dims = s->states / 2;
    double worst = 0;
    for (size_t k = 0; k < s->states; k++) {
        double error = 0;
        for (int j = 0; j < SR_DP_STAGES; j++)
            error += sr_dp_difference[j] * arc->rate[j][k];
        const double size = k < dims ? arc->path->size : arc->peak;
        worst = fmax(worst, fabs(h * error) / (arc->tolerance * size));
        if (!isfinite(arc->trial[k]) || !isfinite(error))
            return HUGE_VAL;
    }
    return worst;
}

static void exchange(double **a, double **b)
{
    double *const kept = *a;
    *a = *b;
    *b = kept;
}

/* Adds the residuals of the row that the arc has reached. */
static void add_residuals(struct shot *s, struct arc *arc)
{
    const size_t dims = s->states / 2, K = s->columns;
    const struct sr_path *path = arc->path;
    const double weight = 1 / (path->sigma * path->sigma);
    memcpy(s->state + (path->from + arc->row) * s->states, arc->z, s->states * sizeof *arc->z);
    for (size_t d = 0; d < dims; d++) {
        const double *const by = arc->z + s->states + d * K,
                            off = path->x[d * path->n + arc->row] - arc->z[d];
        arc->chi2 += weight * off * off;
        for (size_t a = 0; a < K; a++) {
            arc->gradient[a] += weight * by[a] * off;
            for (size_t b = 0; b <= a; b++)
                arc->normal[a * K + b] += weight * by[a] * by[b];
        }
    }
    arc->row++;
}

/* How long the next step of an arc is: to the next row at most. */
static double step_of(const struct arc *arc, bool *last)
{
    const double left = arc->path->t[arc->row] - arc->t;
    *last = 1.000001 * arc->step >= left;
    return *last ? left : arc->step;
}

/* Tries a step with every arc on its way; the rates at z are known. */
static bool try_steps(struct shot *s)
{
    for (int stage = 1; stage < SR_DP_STAGES; stage++) {
        for (size_t i = 0; i < s->active; i++) {
            struct arc *arc = &s->arc[s->list[i]];
            bool last;
            const double h = step_of(arc, &last);
            memcpy(arc->trial, arc->z, s->width * sizeof *arc->z);
            for (int j = 0; j < stage; j++) {
                const double weight = h * sr_dp_part[stage][j], *const rate = arc->rate[j];
                for (size_t k = 0; k < s->width && weight != 0; k++)
                    arc->trial[k] += weight * rate[k];
            }
        }
        if (!evaluate(s, true))
            return false;
        for (size_t i = 0; i < s->active; i++)
            find_rates(s, i, s->arc[s->list[i]].trial, s->arc[s->list[i]].rate[stage]);
    }
    return true;
}

/* Takes the step that was tried where its error is small enough. */
static void take_step(struct shot *s, struct arc *arc)
{
    bool last;
    const double h = step_of(arc, &last), error = step_error(s, arc, h);
    /* the rule of Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I,
     * Springer 1993, eq. (II.4.13) */
    const double factor = error == 0         ? 5
                          : error < HUGE_VAL ? fmin(5, fmax(0.2, 0.9 * orr_pow(error, -0.2)))
                                             : 0.2;
    if (!(error <= 1)) {
        arc->step = h * fmin(factor, 0.9);
        return;
    }
    exchange(&arc->z, &arc->trial);
    exchange(&arc->rate[0], &arc->rate[SR_DP_STAGES - 1]);
    arc->step = last ? fmax(arc->step, h * factor) : h * factor;
    for (size_t k = s->states / 2; k < s->states; k++)
        arc->peak = fmax(arc->peak, fabs(arc->z[k]));
    arc->t = last ? arc->path->t[arc->row] : arc->t + h;
    if (last)
        add_residuals(s, arc);
}

/* Puts every arc at its start. */
static void begin(struct shot *s)
{
    s->active = 0;
    for (size_t p = 0; p < s->count; p++) {
        struct arc *arc = &s->arc[p];
        if (arc->idle)
            continue;
        const size_t K = s->columns;
        memset(arc->z, 0, s->width * sizeof *arc->z);
        memset(arc->normal, 0, K * K * sizeof *arc->normal);
        memset(arc->gradient, 0, K * sizeof *arc->gradient);
        memcpy(arc->z, s->start + p * s->states, s->states * sizeof *arc->z);
        for (size_t k = 0; k < s->states; k++)
            arc->z[s->states + k * K + k] = 1;
        arc->row = arc->first;
        arc->chi2 = 0;
        arc->t = arc->path->t[arc->first];
        arc->peak = 0;
        for (size_t k = s->states / 2; k < s->states; k++)
            arc->peak = fmax(arc->peak, fabs(arc->z[k]));
        arc->step = 0.1 * (arc->path->t[arc->first + 1] - arc->t);
        add_residuals(s, arc);
        s->list[s->active++] = p;
    }
}

static void add_up(struct shot *s)
{
    s->chi2 = 0;
    for (size_t p = 0; p < s->count; p++)
        s->chi2 += s->arc[p].chi2;
}

/* Follows all arcs but idle ones from their starts. chi2 is infinite where one has no solution, or
 * none in time. */
static void follow(struct shot *s)
{
    begin(s);
    bool fine = !s->active || evaluate(s, false);
    for (size_t i = 0; i < s->active && fine; i++)
        find_rates(s, i, s->arc[s->list[i]].z, s->arc[s->list[i]].rate[0]);
    for (int steps = 0; s->active && fine; steps++) {
        fine = steps < STEPS && !is_over(s) && try_steps(s);
        size_t kept = 0;
        for (size_t i = 0; i < s->active && fine; i++) {
            struct arc *arc = &s->arc[s->list[i]];
            take_step(s, arc);
            if (!(arc->step > 1e-9 * (arc->path->t[arc->last] - arc->path->t[arc->first])))
                arc->chi2 = HUGE_VAL;
            else if (arc->row <= arc->last)
                s->list[kept++] = s->list[i];
        }
        s->active = fine ? kept : s->active;
    }
    for (size_t i = 0; i < s->active; i++) /* the formula has no value for one of these */
        s->arc[s->list[i]].chi2 = HUGE_VAL;
    for (size_t p = 0; p < s->count; p++)
        s->arc[p].chi2 = isfinite(s->arc[p].chi2) ? s->arc[p].chi2 : HUGE_VAL;
    add_up(s);
}

/* ---- the fit */

static void free_shot(struct shot *s)
{
    free(s->arc);
    free(s->list);
    free(s->block);
}

/* Arcs of a path: of about so many rows. */
static size_t arcs_of(const struct sr_path *path, size_t rows)
{
    const size_t count = path->n / rows;
    return count > 1 ? count : 1;
}

static void place_arcs(struct shot *s, size_t rows, double *at)
{
    const size_t K = s->columns;
    size_t p = 0;
    for (size_t k = 0; k < s->paths->count; k++) {
        const struct sr_path *path = &s->paths->path[k];
        const size_t count = arcs_of(path, rows);
        for (size_t i = 0; i < count; i++) {
            struct arc *arc = &s->arc[p++];
            /* a thousandth of the noise; in between what is of use */
            const double tolerance = fmin(fmax(1e-3 * path->sigma / path->size, 1e-10), 1e-5);
            *arc = (struct arc){.path = path,
                                .first = i * path->n / count,
                                .last = (i + 1) * path->n / count - 1,
                                .tolerance = tolerance};
            double **const array[] = {&arc->z, &arc->trial};
            for (size_t a = 0; a < 2; a++, at += s->width)
                *array[a] = at;
            for (int a = 0; a < SR_DP_STAGES; a++, at += s->width)
                arc->rate[a] = at;
            arc->normal = at;
            arc->gradient = at + K * K;
            arc->solved = arc->gradient + K;
            at = arc->solved + s->states * (K - s->states + 1);
        }
    }
}

static int create_shot(const struct sr_paths *paths, const struct sr_form *form, size_t rows,
                       struct shot *s)
{
    const size_t S2 = 2 * (size_t)paths->dims, C = (size_t)form->params, K = S2 + C;
    *s = (struct shot){
        .paths = paths, .form = form, .states = S2, .columns = K, .width = S2 + S2 * K};
    for (size_t k = 0; k < paths->count; k++)
        s->count += arcs_of(&paths->path[k], rows);
    const size_t formula = 2 * (size_t)paths->features + 1 + (size_t)form->numbers;
    const size_t each = (2 + SR_DP_STAGES) * s->width + K * K + K + S2 * (C + 1) + formula + S2;
    double *at = s->block = orr_alloc(each * s->count + S2 * paths->rows, sizeof *at);
    s->arc = orr_alloc(s->count, sizeof *s->arc);
    s->list = orr_alloc(s->count, sizeof *s->list);
    if (!at || !s->arc || !s->list)
        return ORR_ENOMEM;
    double **const array[] = {&s->start, &s->x, &s->slope, &s->value, &s->jacobian};
    const size_t size[] = {S2, (size_t)paths->features, (size_t)paths->features, 1,
                           (size_t)form->numbers};
    for (size_t a = 0; a < sizeof array / sizeof *array; at += size[a++] * s->count)
        *array[a] = at;
    s->state = at;
    place_arcs(s, rows, at + S2 * paths->rows);
    return 0;
}

/* Eliminates the starts: A (params, params) and b (params) are the equations of the parameters.
 * False where an arc does not determine its start. */
static bool eliminate(struct shot *s, double damping, double *A, double *b)
{
    const size_t S2 = s->states, K = s->columns, C = K - S2;
    memset(A, 0, C * C * sizeof *A);
    memset(b, 0, C * sizeof *b);
    for (size_t p = 0; p < s->count; p++) {
        const struct arc *arc = &s->arc[p];
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

/* The next starts and parameters. *gain: what chi2 would fall by if all were linear, or more. */
static bool solve(struct shot *s, double damping, const double *value, double *next_start,
                  double *next, double *gain)
{
    const size_t S2 = s->states, K = s->columns, C = K - S2;
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
        for (size_t i = 0; i < S2; i++) {
            const double *const row = s->arc[p].solved + i * (C + 1);
            double change = row[C];
            *gain += row[C] * s->arc[p].gradient[i];
            for (size_t c = 0; c < C; c++)
                change -= row[c] * b[c];
            next_start[p * S2 + i] = s->start[p * S2 + i] + change;
            finite = finite && isfinite(change);
        }
    return finite;
}

static void find_errors(struct shot *s, struct sr_arcs_fit *fit)
{
    const size_t C = s->columns - s->states;
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
static bool step_start(const struct shot *s, const struct arc *arc, const double *start,
                       double *next, double *gain)
{
    const size_t S2 = s->states, K = s->columns;
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
        next[i] = start[i] + change[i];
    }
    return isfinite(*gain);
}

/* Moves an arc of `other` to *s, with its start and solution. */
static void take_arc(struct shot *s, struct shot *other, size_t p)
{
    const struct arc kept = s->arc[p];
    const size_t S2 = s->states, from = (kept.path->from + kept.first) * S2;
    s->arc[p] = other->arc[p];
    other->arc[p] = kept;
    memcpy(s->start + p * S2, other->start + p * S2, S2 * sizeof *s->start);
    memcpy(s->state + from, other->state + from,
           (kept.last + 1 - kept.first) * S2 * sizeof *s->state);
}

/* Fits the start of every arc alone, so that one that goes astray does not hold the others. */
static void settle(struct shot *s, struct shot *other)
{
    enum { MOST = 12 };
    const double enough = 0.1;
    size_t moving = s->count;
    follow(s);
    for (size_t p = 0; p < s->count; p++) {
        s->arc[p].damping = 1e-3;
        s->arc[p].idle = !(s->arc[p].chi2 < HUGE_VAL);
    }
    for (int i = 0; i < MOST && moving; i++) {
        if (is_over(s))
            break;
        moving = 0;
        for (size_t p = 0; p < s->count; p++) {
            struct arc *arc = &s->arc[p];
            double gain;
            arc->idle = arc->idle ||
                        !step_start(s, arc, s->start + p * s->states, other->start + p * s->states,
                                    &gain) ||
                        gain < enough + 1e-3 * arc->chi2;
            other->arc[p].idle = arc->idle;
            moving += !arc->idle;
        }
        follow(other);
        for (size_t p = 0; p < s->count; p++) {
            struct arc *arc = &s->arc[p];
            const double damping = arc->damping;
            if (arc->idle)
                continue;
            if (other->arc[p].chi2 < arc->chi2) {
                take_arc(s, other, p);
                s->arc[p].damping = fmax(damping / 10, 1e-9);
            } else {
                arc->damping = fmax(10 * damping, 1e-3);
            }
        }
    }
    for (size_t p = 0; p < s->count; p++)
        s->arc[p].idle = other->arc[p].idle = false;
    add_up(s);
}

/* Takes at most so many steps from *s; `other` is as large. */
static void descend(struct shot *s, struct shot *other, int steps, struct sr_form *form,
                    struct sr_arcs_fit *fit)
{
    enum { REJECTIONS = 8 };
    const double enough = 0.01; /* chi2 */
    double damping = 1e-4, gain, next[SR_NODES];
    settle(s, other);
    for (int i = 0, rejected = 0; i < steps && rejected < REJECTIONS && s->chi2 < HUGE_VAL; i++) {
        if (is_over(s) || !solve(s, damping, fit->value, other->start, next, &gain))
            break;
        sr_form_set(form, next);
        follow(other);
        const double fall = s->chi2 - other->chi2;
        fit->converged = gain < enough + 1e-6 * s->chi2;
        if (fall > 0) {
            const struct shot kept = *s;
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
    struct shot s, other;
    *fit = (struct sr_arcs_fit){.chi2 = HUGE_VAL};
    sr_form_get(form, fit->value);
    int rc = create_shot(paths, form, rows, &s);
    const int second = create_shot(paths, form, rows, &other);
    rc = rc ? rc : second;
    s.until_s = other.until_s = until_s;
    for (size_t p = 0; p < s.count && !rc; p++)
        memcpy(s.start + p * s.states, state + (s.arc[p].path->from + s.arc[p].first) * s.states,
               s.states * sizeof *state);
    if (!rc) {
        descend(&s, &other, steps, form, fit);
        fit->chi2 = s.chi2;
        fit->numbers = paths->rows * (size_t)paths->dims;
        fit->starts = s.count * s.states;
    }
    if (!rc && s.chi2 < HUGE_VAL) {
        find_errors(&s, fit);
        memcpy(state, s.state, paths->rows * s.states * sizeof *state);
    }
    free_shot(&s);
    free_shot(&other);
    return rc;
}
