/* judge.c - how well a system of equations explains the tracks: its constants are refitted to these
 * by integrating (flow.h), and it costs the nats of what its solutions leave, of its formulas
 * (formula_prior.c) and of its constants, as in the evidence of a front (symreg/select/evidence.c).
 * */
#include "judge.h"

#include <math.h>
#include <stdlib.h>

#include "symreg/value/cholesky.h"

enum {
    ITERATIONS = 25,    /* of a fit */
    PARTS_OF_TIME = 20, /* a fit takes at most this part of the seconds */
    PROBES = 100,
};

/* How far inputs are from lines between their rows, as a share of their spread (rms): a quarter of
 * how far rows are from lines between their neighbours. */
static double error_of_inputs(const struct sr_states *s, const struct sr_state_track *track)
{
    const size_t n = track->n;
    double most = 0;
    for (size_t k = 0; k < (size_t)s->inputs; k++) {
        const double *u = track->input + k * n, *t = track->t;
        double mean = 0, spread = 0, off = 0;
        for (size_t i = 0; i < n; i++)
            mean += u[i] / (double)n;
        for (size_t i = 0; i < n; i++)
            spread += (u[i] - mean) * (u[i] - mean);
        for (size_t i = 1; i + 1 < n; i++) {
            const double share = (t[i] - t[i - 1]) / (t[i + 1] - t[i - 1]);
            const double line = u[i - 1] + share * (u[i + 1] - u[i - 1]);
            off += (u[i] - line) * (u[i] - line) / 16;
        }
        most = spread > 0 ? fmax(most, sqrt(off / spread)) : most;
    }
    return most;
}

/* Standard deviations of the states of a track with those that the inputs' errors give, too: they
 * are known at rows alone, and solutions take lines between these. *exact becomes at least the
 * largest share of a variance that they make. */
static double *widen_sigmas(const struct sr_states *s, const struct sr_state_track *track,
                            double *exact)
{
    const size_t n = track->n;
    const double share = error_of_inputs(s, track);
    double *sigma = orr_alloc((size_t)s->dims * n, sizeof *sigma);
    for (size_t d = 0; d < (size_t)s->dims && sigma; d++) {
        const double *x = track->x + d * n;
        double mean = 0, spread = 0;
        for (size_t i = 0; i < n; i++)
            mean += x[i] / (double)n;
        for (size_t i = 0; i < n; i++)
            spread += (x[i] - mean) * (x[i] - mean) / (double)n;
        for (size_t i = 0; i < n; i++) {
            const double own = track->sigma[d * n + i];
            sigma[d * n + i] = sqrt(own * own + share * share * spread);
            *exact = fmax(*exact, 1 - own * own / (sigma[d * n + i] * sigma[d * n + i]));
        }
    }
    return sigma;
}

/* ---- amounts */

/* Nats of an equation by which an amount becomes negative. */
static const double unnatural = 3;
/* It does where its derivative is negative at so small a share of the amount, at this share of the
 * rows. */
static const double nothing = 1e-6, often = 0.2;

/* Populations, concentrations and the like are positive, and mostly measured with an error in
 * proportion. Fills in which states are such, and rows at which equations are asked. */
static int find_amounts(const struct sr_states *s, struct sr_judge *judge)
{
    const size_t each = (s->rows + PROBES - 1) / PROBES;
    size_t row = 0;
    judge->probes = (s->rows + each - 1) / each;
    judge->probe = orr_alloc(((size_t)s->names + 2) * judge->probes, sizeof *judge->probe);
    if (!judge->probe)
        return ORR_ENOMEM;
    for (int d = 0; d < s->dims; d++)
        judge->amount[d] = s->order == 1 && s->proportional[d];
    for (size_t k = 0; k < s->count; k++)
        for (size_t i = 0; i < s->track[k].n; i++, row++) {
            for (int d = 0; d < s->dims; d++)
                judge->amount[d] = judge->amount[d] && sr_state_value(s, &s->track[k], d, i) > 0;
            for (int name = 0; name < s->names && row % each == 0; name++)
                judge->probe[(size_t)name * judge->probes + row / each] =
                    sr_state_value(s, &s->track[k], name, i);
        }
    return 0;
}

/* Whether equation d takes from an amount that is nearly gone. */
static bool takes_from_nothing(const struct sr_judge *c, const struct sr_expr *expr, int d)
{
    const struct sr_states *const s = c->states;
    const size_t n = c->probes;
    double *const column = c->probe + (size_t)d * n, *const value = c->probe + (size_t)s->names * n;
    double *const kept = value + n, squares = 0;
    const struct sr_data data = {
        .rows = n, .features = s->names, .x = c->probe, .language = c->language};
    if (!c->amount[d] || !sr_eval(expr, &data, value))
        return false;
    for (size_t i = 0; i < n; i++) {
        squares += value[i] * value[i] / (double)n;
        kept[i] = column[i];
        column[i] *= nothing;
    }
    size_t falls = 0;
    if (sr_eval(expr, &data, value))
        for (size_t i = 0; i < n; i++)
            falls += value[i] < -1e-3 * sqrt(squares);
    memcpy(column, kept, n * sizeof *kept);
    return (double)falls > often * (double)n;
}

int sr_judge_create(const struct sr_states *s, const struct sr_language *language, double seconds,
                    struct sr_judge *judge)
{
    *judge = (struct sr_judge){.states = s,
                               .language = language,
                               .exact = SR_EXACTLY,
                               .seconds = seconds,
                               .until_s = seconds > 0 ? orr_time_s() + seconds : 0,
                               .track = orr_alloc(s->count, sizeof *judge->track)};
    if (!judge->track)
        return ORR_ENOMEM;
    TRY(find_amounts(s, judge));
    for (size_t k = 0; k < s->count; k++) {
        const struct sr_state_track *from = &s->track[k];
        double *const widened = s->inputs ? widen_sigmas(s, from, &judge->exact) : NULL;
        if (s->inputs && !widened)
            return ORR_ENOMEM;
        judge->track[judge->tracks++] =
            (struct sr_flow_track){.n = from->n,
                                   .category = from->category,
                                   .t = from->t,
                                   .x = from->x,
                                   .sigma = widened ? widened : from->sigma,
                                   .input = s->inputs ? from->input : NULL,
                                   .guess = from->smooth};
    }
    return 0;
}

void sr_judge_free(struct sr_judge *judge)
{
    for (size_t k = 0; k < judge->tracks && judge->states->inputs; k++)
        free((void *)(uintptr_t)judge->track[k].sigma);
    free(judge->track);
    free(judge->probe);
}

bool sr_judge_over(const struct sr_judge *c)
{
    return orr_signal_seen() || (c->until_s > 0 && orr_time_s() > c->until_s);
}

/* Lists numbers that equations share where they first stand. */
static void list_shared(const struct sr_states *s, struct sr_judged *f)
{
    for (int d = 0; d < s->dims; d++) {
        double value[SR_NODES];
        const int count = sr_expr_constants(&f->expr[d], value);
        for (int k = 0; k < count; k++) {
            const int shared = f->group[d][k];
            for (; shared >= f->constants; f->constants++)
                f->equation[f->constants] = -1;
            if (shared >= 0 && f->equation[shared] < 0) {
                f->equation[shared] = d;
                f->number[shared] = k;
            }
        }
    }
}

/* Which numbers of the formulas a fit has changed (sr_flow_fit()): all but whole exponents. */
static bool list_constants(const struct sr_states *s, struct sr_judged *f)
{
    f->constants = 0;
    if (f->group)
        list_shared(s, f);
    for (int d = 0; d < s->dims && !f->group; d++) {
        int of[SR_NODES], fitted = f->constants;
        const int count = sr_expr_fitted(&f->expr[d], false, &fitted, of);
        if (fitted > SR_NODES)
            return false;
        for (int k = 0; k < count; k++) {
            if (of[k] < 0)
                continue;
            f->equation[of[k]] = d;
            f->number[of[k]] = k;
        }
        f->constants = fitted;
    }
    return true;
}

/* The covariance of constants of categories, given the `shared` ones, which come first: categories
 * are then independent. The caller frees it; NULL: out of memory. */
static double *given_shared(const struct sr_flow_result *r)
{
    const size_t n = (size_t)r->constants, shared = (size_t)r->shared;
    double *const c = orr_alloc(n * n, sizeof *c);
    if (!c)
        return NULL;
    memcpy(c, r->covariance, n * n * sizeof *c);
    for (size_t s = 0; s < shared; s++)
        for (size_t a = s + 1; a < n; a++)
            for (size_t b = s + 1; b < n; b++)
                c[a * n + b] -= c[a * n + s] * (c[s * n + b] / c[s * n + s]);
    return c;
}

/* Fills in the errors of constants with all others known. Categories are independent given the
 * shared constants, so that each of them, beside these, tells what it adds to what is known of
 * these. count: constants of a category, in `slot`. */
static int weigh_alone(const struct sr_flow_result *r, int categories, int count, const int *slot,
                       double scale, struct sr_judged *f)
{
    const size_t n = (size_t)r->constants, shared = (size_t)r->shared;
    const size_t most = shared + (size_t)count;
    double *const part = orr_alloc(most * most + 5 * most + 1, sizeof *part);
    if (!part)
        return ORR_ENOMEM;
    double *const inverse = part + most * most, *const all = inverse + most,
                  *const base = all + most, *const work = base + most;
    for (int i = -1; i < (count ? categories : 0); i++) {
        const size_t size = i < 0 ? shared : most;
        const size_t first = shared + (i < 0 ? 0 : (size_t)i * (size_t)count);
        for (size_t a = 0; a < size; a++)
            for (size_t b = 0; b < size; b++) {
                const size_t row = a < shared ? a : first + a - shared;
                const size_t column = b < shared ? b : first + b - shared;
                part[a * size + b] = r->covariance[row * n + column];
            }
        sr_covariance_inverse(part, size, i < 0 ? base : inverse, work);
        for (size_t a = 0; a < shared; a++)
            all[a] = i < 0 ? base[a] : all[a] + inverse[a] - base[a];
        for (size_t a = shared; a < size; a++)
            f->each_alone.value[slot[a - shared]][i] = sqrt(scale / inverse[a]);
    }
    for (size_t a = 0; a < shared; a++)
        f->alone[a] = sqrt(scale / all[a]);
    free(part);
    return 0;
}

/* Adds the nats of constants of each category, which cost what measured numbers do, and fills in
 * their errors. scale: of variances. */
static int weigh_each(const struct sr_flow *flow, const struct sr_flow_result *r, double scale,
                      double rows, struct sr_judged *f, double *nats)
{
    int slot[SR_EACH];
    const int count = flow->each ? sr_each_fitted(flow, slot) : 0;
    const size_t n = (size_t)r->constants;
    TRY(weigh_alone(r, flow->categories, count, slot, scale, f));
    double *const covariance = count ? given_shared(r) : NULL;
    if (count && !covariance)
        return ORR_ENOMEM;
    for (int i = 0; i < flow->categories && count; i++) {
        struct sr_uncertainty u = {.constants = count};
        const size_t first = (size_t)r->shared + (size_t)i * (size_t)count;
        double own, simple[SR_EACH];
        for (size_t a = 0; a < (size_t)count; a++) {
            for (size_t b = 0; b < (size_t)count; b++)
                u.covariance[a][b] = scale * covariance[(first + a) * n + first + b];
            f->each_error.value[slot[a]][i] = sqrt(scale) * r->error[first + a];
        }
        sr_measured_evidence(r->value + first, &u, rows, &own, simple);
        *nats += own;
    }
    free(covariance);
    return 0;
}

/* The nats of a fit. */
static int weigh(const struct sr_judge *c, const struct sr_flow *flow,
                 const struct sr_flow_result *r, struct sr_judged *f)
{
    const struct sr_states *s = c->states;
    const double rows = (double)r->rows;
    const double starts = (double)(r->starts * s->order * s->dims);
    struct sr_uncertainty u = {.constants = r->shared};
    double nats = 0;
    f->misfit = r->chi2 / rows;
    f->starts = (size_t)r->starts;
    f->spare = rows - r->constants - starts;
    if (!(r->chi2 < HUGE_VAL) || !(f->spare >= 1))
        return 0;
    const double scale = fmax(r->chi2 / f->spare, c->exact);
    for (int a = 0; a < r->shared; a++) {
        f->value[a] = r->value[a];
        f->error[a] = sqrt(scale) * r->error[a];
        for (int b = 0; b < r->shared; b++)
            u.covariance[a][b] = scale * r->covariance[a * r->constants + b];
    }
    sr_measured_evidence(f->value, &u, rows, &nats, f->simple);
    TRY(weigh_each(flow, r, scale, rows, f, &nats));
    for (int d = 0; d < s->dims && !f->group; d++) {
        nats += sr_equation_nats(&f->expr[d], s->names - !s->explicit_time);
        nats += takes_from_nothing(c, &f->expr[d], d) ? unnatural : 0;
    }
    nats += f->group ? f->shared_nats : 0;
    /* a start costs what a measured number does, half the logarithm of the rows */
    f->nats = nats + 0.5 * starts * orr_log(rows) + 0.5 * rows * orr_log(fmax(f->misfit, c->exact));
    if (isnan(f->nats))
        f->nats = HUGE_VAL;
    return 0;
}

/* The mean squared residual, in variances of the noise, of the solutions that start at the smoothed
 * tracks; `widest` where there is none. A start that the tracks must determine much better than
 * they measure it leaves a large one. */
static int from_smoothed(const struct sr_judge *c, const struct sr_flow *flow, double widest,
                         double *misfit)
{
    const size_t states = (size_t)sr_flow_states(flow), dims = (size_t)flow->dims;
    struct sr_expr settled[SR_STATES];
    struct sr_flow plain = *flow;
    double sum = 0, rows = 0;
    plain.equation = settled;
    for (size_t k = 0; k < c->tracks; k++) {
        const struct sr_flow_track *track = &c->track[k];
        double start[2 * SR_STATES], *x = orr_alloc(states * track->n, sizeof *x);
        if (!x)
            return ORR_ENOMEM;
        for (size_t d = 0; d < states; d++)
            start[d] = track->guess[d * track->n];
        for (size_t d = 0; d < dims; d++) {
            settled[d] = flow->equation[d];
            if (flow->each)
                sr_each_settle(flow->each, track->category, &settled[d]);
        }
        if (sr_flow_solve(&plain, start, track->n, track->t, track->input, 1e-6, x))
            orr_error_recover();
        for (size_t i = 0; i < dims * track->n; i++, rows++) {
            const double off = (x[i] - track->x[i]) / track->sigma[i];
            sum += isfinite(off) ? fmin(off * off, widest) : widest;
        }
        free(x);
    }
    *misfit = sum / rows;
    return 0;
}

/* What exact starts cost: solutions that follow the tracks from no other start explain them by
 * chance more easily than those that follow them from any start nearby. */
static int charge_starts(const struct sr_judge *c, const struct sr_flow *flow, struct sr_judged *f)
{
    static const double widest = 1e8;
    double misfit;
    /* far from the tracks there is nothing to explain, and a solution may take for ever */
    if (!(f->nats < HUGE_VAL) || f->misfit > 1e-2 * widest)
        return 0;
    TRY(from_smoothed(c, flow, widest, &misfit));
    f->nats += 0.5 * (double)f->starts * sr_flow_states(flow) *
               fmax(0, orr_log(fmax(misfit, c->exact) / fmax(f->misfit, c->exact)));
    return 0;
}

double sr_judged_round(double value, double alone)
{
    return alone > 0 && value != 0 ? sr_fewest_digits(value, 0.01 * alone / fabs(value), 17)
                                   : value;
}

int sr_judge_fit(const struct sr_judge *c, struct sr_judged *f)
{
    const struct sr_states *s = c->states;
    struct sr_flow flow = {.dims = s->dims,
                           .order = s->order,
                           .inputs = s->inputs,
                           .language = c->language,
                           .equation = f->expr,
                           .group = f->group,
                           .each = s->categories ? &f->each : NULL,
                           .categories = s->categories,
                           .held = f->held};
    struct sr_flow_options options = {.iterations = ITERATIONS};
    struct sr_flow_result result;
    f->nats = HUGE_VAL;
    if (!list_constants(s, f))
        return 0;
    if (c->until_s > 0)
        options.seconds = fmax(fmin(c->until_s - orr_time_s(), c->seconds / PARTS_OF_TIME), 0.02);
    int rc = sr_flow_fit(&flow, c->tracks, c->track, &options, &result);
    if (!rc)
        rc = weigh(c, &flow, &result, f);
    sr_flow_result_free(&result);
    if (!rc)
        rc = charge_starts(c, &flow, f);
    return rc;
}
