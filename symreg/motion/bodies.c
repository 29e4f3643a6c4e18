/* bodies.c - bodies that attract each other by a law, integrated by the pair of Dormand and Prince,
 * each arc by steps of its own; one call of the formula serves the pairs of all arcs. Derivatives
 * by start and parameters follow from the variational equations through the same stages. */
#include "bodies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "symreg/value/vec.h"

enum { STEPS = 20000, MOST_COLUMNS = SR_PATH_STATES + SR_NODES }; /* steps of an arc, at most */

bool sr_arcs_over(double until_s)
{
    return orr_signal_seen() || (until_s > 0 && orr_time_s() > until_s);
}

/* ---- the law */

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

/* Where a pair stands: from its other body, or the origin, to its body. Returns the distance. */
static double separation(const struct sr_paths *p, const struct sr_pair *pair, const double *z,
                         double away[SR_MOTION_DIMS])
{
    const size_t dims = (size_t)p->dims;
    double sum = 0;
    for (size_t d = 0; d < dims; d++) {
        away[d] = z[pair->a * dims + d] - (pair->b < 0 ? 0 : z[(size_t)pair->b * dims + d]);
        sum += away[d] * away[d];
    }
    const double r = sqrt(sum);
    for (size_t d = 0; d < dims; d++)
        away[d] /= r;
    return r;
}

/* Evaluates the formula for all pairs of arcs on their way, at z or at the trial of each. */
static bool evaluate(struct sr_arcs *s, bool trial)
{
    const struct sr_paths *p = s->paths;
    const size_t n = s->pairs;
    const struct sr_data data = {
        .rows = n, .features = p->features, .x = s->x, .y = s->value, .language = p->language};
    for (size_t i = 0; i < s->active; i++) {
        const struct sr_arc *arc = &s->arc[s->list[i]];
        const struct sr_path *path = arc->path;
        for (size_t k = 0; k < path->pairs; k++) {
            const struct sr_pair *pair = &path->pair[k];
            double away[SR_MOTION_DIMS];
            const double r = separation(p, pair, trial ? arc->trial : arc->z, away);
            /* a step that went astray, which is not taken */
            const double at[3] = {fmin(fmax(r, 1e-9 * path->size), 1e9 * path->size), pair->m1,
                                  pair->m2};
            for (size_t f = 0; f < 3; f++)
                if (p->column[f] >= 0)
                    s->x[(size_t)p->column[f] * n + arc->pair + k] = at[f];
        }
    }
    if (!sr_eval_slopes(&s->form->expr, &data, s->value, s->slope) ||
        (s->form->numbers && !sr_eval_jacobian(&s->form->expr, &data, s->value, s->jacobian)))
        return false;
    sr_form_collect(s->form, n, s->jacobian);
    return true;
}

/* Subtracts what pulls on one body from the rates of its velocities: in the state and the
 * tangents. */
static void pull(const struct sr_arc *arc, size_t dims, size_t body, double share, const double *f,
                 const double *by, double *rate)
{
    const size_t first = arc->states / 2 + body * dims, K = arc->columns;
    for (size_t d = 0; d < dims; d++)
        rate[first + d] -= share * f[d];
    sr_vec_best()->subtract(share, by, dims * K, rate + arc->states + first * K);
}

/* Adds what one pair does to the rates of its arc at z; i: its row of the formula. added: zeros, of
 * which the last, by parameters, change. */
static void add_pair(const struct sr_arcs *s, const struct sr_arc *arc, const struct sr_pair *pair,
                     size_t i, const double *z, double *added, double *rate)
{
    const size_t dims = (size_t)s->paths->dims, K = arc->columns, S = arc->states, n = s->pairs;
    static const double origin[SR_MOTION_DIMS * MOST_COLUMNS];
    const double *const Y = z + S;
    double force[SR_MOTION_DIMS], by[SR_MOTION_DIMS * MOST_COLUMNS];
    struct sr_vec_pull p;
    const double r = separation(s->paths, pair, z, p.away), f = s->value[i];
    p.ratio = f / r;
    p.slope = s->slope[(size_t)s->paths->column[0] * n + i] - p.ratio;
    for (size_t d = 0; d < dims; d++)
        force[d] = f * p.away[d];
    for (size_t c = S; c < K; c++)
        added[c] = s->jacobian[(c - S) * n + i];
    sr_vec_best()->bend((int)dims, &p, K, Y + pair->a * dims * K,
                        pair->b < 0 ? origin : Y + (size_t)pair->b * dims * K, added, by);
    pull(arc, dims, pair->a, pair->share_a, force, by, rate);
    if (pair->b >= 0)
        pull(arc, dims, (size_t)pair->b, -pair->share_b, force, by, rate);
    for (size_t body = 0; body < arc->path->bodies && pair->share_frame > 0; body++)
        pull(arc, dims, body, pair->share_frame, force, by, rate);
}

/* The rates of an arc at z. */
static void find_rates(const struct sr_arcs *s, const struct sr_arc *arc, const double *z,
                       double *rate)
{
    const size_t D = arc->states / 2, K = arc->columns;
    const double *const Y = z + arc->states;
    double *const out = rate + arc->states, added[MOST_COLUMNS] = {0};
    memcpy(rate, z + D, D * sizeof *rate);
    memset(rate + D, 0, D * sizeof *rate);
    memcpy(out, Y + D * K, D * K * sizeof *out);
    memset(out + D * K, 0, D * K * sizeof *out);
    for (size_t k = 0; k < arc->path->pairs; k++)
        add_pair(s, arc, &arc->path->pair[k], arc->pair + k, z, added, rate);
}

/* ---- steps */

/* A thousandth of the noise of a body; in between what is of use. */
static double tolerance(const struct sr_path *path, size_t body)
{
    return fmin(fmax(1e-3 * path->sigma[body] / path->extent[body], 1e-10), 1e-5);
}

/* The largest error of the step that was tried over what is tolerated. */
static double step_error(const struct sr_arcs *s, const struct sr_arc *arc, double h)
{
    const size_t dims = (size_t)s->paths->dims, D = arc->states / 2;
    double worst = 0;
    for (size_t k = 0; k < arc->states; k++) {
        const size_t body = k % D / dims;
        double error = 0;
        for (int j = 0; j < SR_DP_STAGES; j++)
            error += sr_dp_difference[j] * arc->rate[j][k];
        const double size = k < D ? arc->path->extent[body] : arc->peak[body];
        worst = fmax(worst, fabs(h * error) / (tolerance(arc->path, body) * size));
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

static void find_peaks(const struct sr_paths *p, struct sr_arc *arc)
{
    const size_t dims = (size_t)p->dims, D = arc->states / 2;
    for (size_t k = 0; k < D; k++)
        arc->peak[k / dims] = fmax(arc->peak[k / dims], fabs(arc->z[D + k]));
}

/* Adds the residuals of the row that the arc has reached. */
static void add_residuals(struct sr_arcs *s, struct sr_arc *arc)
{
    const size_t dims = (size_t)s->paths->dims, K = arc->columns, D = arc->states / 2;
    const struct sr_path *path = arc->path;
    memcpy(s->state + path->from + arc->row * arc->states, arc->z, arc->states * sizeof *arc->z);
    for (size_t k = 0; k < D; k++) {
        const double sigma = path->sigma[k / dims], weight = 1 / (sigma * sigma),
                     off = path->x[k * path->n + arc->row] - arc->z[k];
        const double *const by = arc->z + arc->states + k * K;
        arc->chi2 += weight * off * off;
        for (size_t a = 0; a < K; a++) {
            arc->gradient[a] += weight * by[a] * off;
            sr_vec_best()->subtract(-(weight * by[a]), by, a + 1, arc->normal + a * K);
        }
    }
    arc->row++;
}

/* How long the next step of an arc is: to the next row at most. */
static double step_of(const struct sr_arc *arc, bool *last)
{
    const double left = arc->path->t[arc->row] - arc->t;
    *last = 1.000001 * arc->step >= left;
    return *last ? left : arc->step;
}

/* Tries a step with every arc on its way; the rates at z are known. */
static bool try_steps(struct sr_arcs *s)
{
    for (int stage = 1; stage < SR_DP_STAGES; stage++) {
        for (size_t i = 0; i < s->active; i++) {
            struct sr_arc *arc = &s->arc[s->list[i]];
            bool last;
            const double h = step_of(arc, &last), *rate[SR_DP_STAGES];
            double weight[SR_DP_STAGES];
            int parts = 0;
            for (int j = 0; j < stage; j++)
                if ((weight[parts] = h * sr_dp_part[stage][j]) != 0)
                    rate[parts++] = arc->rate[j];
            sr_vec_best()->advance(parts, weight, rate, arc->z, arc->width, arc->trial);
        }
        if (!evaluate(s, true))
            return false;
        for (size_t i = 0; i < s->active; i++) {
            const struct sr_arc *arc = &s->arc[s->list[i]];
            find_rates(s, arc, arc->trial, arc->rate[stage]);
        }
    }
    return true;
}

/* Takes the step that was tried where its error is small enough. */
static void take_step(struct sr_arcs *s, struct sr_arc *arc)
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
    find_peaks(s->paths, arc);
    arc->t = last ? arc->path->t[arc->row] : arc->t + h;
    if (last)
        add_residuals(s, arc);
}

/* Puts every arc at its start. */
static void begin(struct sr_arcs *s)
{
    s->active = s->pairs = 0;
    for (size_t p = 0; p < s->count; p++) {
        struct sr_arc *arc = &s->arc[p];
        if (arc->idle)
            continue;
        const size_t K = arc->columns;
        memset(arc->z, 0, arc->width * sizeof *arc->z);
        memset(arc->normal, 0, K * K * sizeof *arc->normal);
        memset(arc->gradient, 0, K * sizeof *arc->gradient);
        memset(arc->peak, 0, arc->path->bodies * sizeof *arc->peak);
        memcpy(arc->z, arc->start, arc->states * sizeof *arc->z);
        for (size_t k = 0; k < arc->states; k++)
            arc->z[arc->states + k * K + k] = 1;
        arc->row = arc->first;
        arc->chi2 = 0;
        arc->t = arc->path->t[arc->first];
        find_peaks(s->paths, arc);
        arc->step = 0.1 * (arc->path->t[arc->first + 1] - arc->t);
        add_residuals(s, arc);
        arc->pair = s->pairs;
        s->pairs += arc->path->pairs;
        s->list[s->active++] = p;
    }
}

void sr_arcs_add_up(struct sr_arcs *s)
{
    s->chi2 = 0;
    for (size_t p = 0; p < s->count; p++)
        s->chi2 += s->arc[p].chi2;
}

/* Keeps the arcs that have rows left on the list. */
static void keep_active(struct sr_arcs *s)
{
    size_t kept = 0;
    s->pairs = 0;
    for (size_t i = 0; i < s->active; i++) {
        struct sr_arc *arc = &s->arc[s->list[i]];
        if (!(arc->step > 1e-9 * (arc->path->t[arc->last] - arc->path->t[arc->first])))
            arc->chi2 = HUGE_VAL;
        else if (arc->row <= arc->last) {
            s->list[kept++] = s->list[i];
            arc->pair = s->pairs;
            s->pairs += arc->path->pairs;
        }
    }
    s->active = kept;
}

void sr_arcs_follow(struct sr_arcs *s)
{
    begin(s);
    bool fine = !s->active || evaluate(s, false);
    for (size_t i = 0; i < s->active && fine; i++) {
        const struct sr_arc *arc = &s->arc[s->list[i]];
        find_rates(s, arc, arc->z, arc->rate[0]);
    }
    for (int steps = 0; s->active && fine; steps++) {
        fine = steps < STEPS && !sr_arcs_over(s->until_s) && try_steps(s);
        for (size_t i = 0; i < s->active && fine; i++)
            take_step(s, &s->arc[s->list[i]]);
        if (fine)
            keep_active(s);
    }
    for (size_t i = 0; i < s->active; i++) /* the formula has no value for one of these */
        s->arc[s->list[i]].chi2 = HUGE_VAL;
    for (size_t p = 0; p < s->count; p++)
        s->arc[p].chi2 = isfinite(s->arc[p].chi2) ? s->arc[p].chi2 : HUGE_VAL;
    sr_arcs_add_up(s);
}

/* ---- memory */

/* Arcs of a path: of about so many rows. */
static size_t arcs_of(const struct sr_path *path, size_t rows)
{
    const size_t count = path->n / rows;
    return count > 1 ? count : 1;
}

/* The numbers of an arc, whose arrays begin at `at`; returns their end. */
static double *place_arc(struct sr_arc *arc, double *at)
{
    const size_t K = arc->columns, S = arc->states;
    double **const array[] = {&arc->z,      &arc->trial,    &arc->peak,  &arc->start,
                              &arc->normal, &arc->gradient, &arc->solved};
    const size_t size[] = {arc->width, arc->width, arc->path->bodies, S, K * K, K, S * (K - S + 1)};
    for (size_t a = 0; a < sizeof array / sizeof *array; at += size[a++])
        *array[a] = at;
    for (int a = 0; a < SR_DP_STAGES; a++, at += arc->width)
        arc->rate[a] = at;
    return at;
}

static size_t numbers_of(const struct sr_arc *arc)
{
    const size_t K = arc->columns, S = arc->states;
    return (2 + SR_DP_STAGES) * arc->width + arc->path->bodies + S + K * K + K + S * (K - S + 1);
}

int sr_arcs_create(const struct sr_paths *paths, const struct sr_form *form, size_t rows,
                   struct sr_arcs *s)
{
    *s = (struct sr_arcs){.paths = paths, .form = form};
    for (size_t k = 0; k < paths->count; k++)
        s->count += arcs_of(&paths->path[k], rows);
    s->arc = orr_alloc(s->count, sizeof *s->arc);
    s->list = orr_alloc(s->count, sizeof *s->list);
    if (!s->arc || !s->list)
        return ORR_ENOMEM;
    size_t numbers = paths->states, pairs = 0, p = 0;
    for (size_t k = 0; k < paths->count; k++) {
        const struct sr_path *path = &paths->path[k];
        const size_t count = arcs_of(path, rows);
        const size_t states = 2 * path->bodies * (size_t)paths->dims,
                     columns = states + (size_t)form->params;
        for (size_t i = 0; i < count; i++) {
            struct sr_arc *arc = &s->arc[p++];
            *arc = (struct sr_arc){.path = path,
                                   .first = i * path->n / count,
                                   .last = (i + 1) * path->n / count - 1,
                                   .states = states,
                                   .columns = columns,
                                   .width = states * (1 + columns)};
            numbers += numbers_of(arc);
            pairs += path->pairs;
        }
    }
    const size_t features = (size_t)paths->features;
    double *at = s->block =
        orr_alloc(numbers + pairs * (2 * features + 1 + (size_t)form->numbers), sizeof *at);
    if (!at)
        return ORR_ENOMEM;
    double **const array[] = {&s->state, &s->x, &s->slope, &s->value, &s->jacobian};
    const size_t size[] = {paths->states, pairs * features, pairs * features, pairs,
                           pairs * (size_t)form->numbers};
    for (size_t a = 0; a < sizeof array / sizeof *array; at += size[a++])
        *array[a] = at;
    for (p = 0; p < s->count; p++)
        at = place_arc(&s->arc[p], at);
    return 0;
}

void sr_arcs_free(struct sr_arcs *s)
{
    free(s->arc);
    free(s->list);
    free(s->block);
}
