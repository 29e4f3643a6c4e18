/* profile.c - intervals of constants by profiles: a constant is moved away from its best value, and
 * all others are fitted again, until the solutions leave so much more of the tracks that the true
 * value would with a probability of 5%. Where the likelihood is no parabola, as of constants that
 * only the end of a track tells, these intervals are not symmetric, and 1.96 standard errors are
 * wrong. */
#include "judge.h"

#include <math.h>
#include <stdlib.h>

enum { ITERATIONS = 25, TRIES = 8 }; /* of a fit; fits for a bound */
/* The root of what a bound loses, and how near to it a bound is. */
static const double wanted = SR_NORMAL_95, near = 0.02;
/* So many times the symmetric distance on, the tracks give no bound. */
static const double farthest = 10;

struct profile {
    struct sr_judge judge;
    struct sr_flow flow;
    struct sr_expr expr[SR_STATES]; /* with the best constants */
    struct sr_each each;
    int group[SR_STATES][SR_NODES], count; /* fitted numbers of the equations */
    double value[SR_NODES], error[SR_NODES];
    double chi2, scale; /* of the best fit; of variances */
};

/* Numbers that have an error are fitted, those of vectors in all components together. */
static void list_numbers(const struct sr_system *system, struct profile *p)
{
    struct sr_expr written[SR_STATES];
    int shared[SR_STATES][SR_NODES], known[SR_NODES];
    const struct sr_states *const s = p->judge.states;
    const bool vectors =
        system->symmetry.vectors && sr_form_components(s, &system->symmetry.form, written, shared);
    for (int k = 0; k < SR_NODES; k++)
        known[k] = -1;
    for (int d = 0; d < s->dims; d++) {
        double value[SR_NODES];
        const int numbers = sr_expr_constants(&p->expr[d], value);
        for (int k = 0; k < numbers; k++) {
            int *const group = &p->group[d][k];
            *group = system->error[d][k] > 0 && p->count < SR_NODES ? p->count : -1;
            if (*group >= 0 && vectors && known[shared[d][k]] >= 0)
                *group = known[shared[d][k]];
            else if (*group >= 0)
                p->count++;
            if (*group >= 0 && vectors)
                known[shared[d][k]] = *group;
        }
    }
}

/* Fits the flow's numbers in the time that is left. *chi2: infinite where there is no solution. */
static int fit(const struct profile *p, struct sr_flow *flow, struct sr_flow_result *result)
{
    const double until_s = p->judge.until_s;
    const struct sr_flow_options options = {
        .iterations = ITERATIONS, .seconds = until_s > 0 ? fmax(until_s - orr_time_s(), 0.01) : 0};
    return sr_flow_fit(flow, p->judge.tracks, p->judge.track, &options, result);
}

static int fit_best(struct profile *p)
{
    struct sr_flow_result r;
    const struct sr_states *const s = p->judge.states;
    p->flow.group = (const int(*)[SR_NODES])p->group;
    int rc = fit(p, &p->flow, &r);
    const double spare = (double)r.rows - r.constants - (double)(r.starts * s->order * s->dims);
    p->chi2 = !rc && spare >= 1 && !sr_judge_over(&p->judge) ? r.chi2 : HUGE_VAL;
    p->scale = p->chi2 / spare;
    for (int k = 0; k < p->count && p->chi2 < HUGE_VAL; k++) {
        p->value[k] = r.value[k];
        p->error[k] = sqrt(p->scale) * r.error[k];
    }
    /* errors of exact tracks are those of the integration */
    if (!(p->scale > p->judge.exact))
        p->chi2 = HUGE_VAL;
    sr_flow_result_free(&r);
    return rc;
}

/* The root of what the tracks lose, in variances of the noise, with number k at x and all others
 * fitted; infinite where no solution follows them. */
static int lose(const struct profile *p, int k, double x, double *root)
{
    struct sr_flow flow = p->flow;
    struct sr_expr expr[SR_STATES];
    struct sr_each each = p->each;
    struct sr_flow_result r;
    int group[SR_STATES][SR_NODES];
    memcpy(expr, p->expr, sizeof expr);
    memcpy(group, p->group, sizeof group);
    for (int d = 0; d < flow.dims; d++) {
        double value[SR_NODES];
        const int numbers = sr_expr_constants(&expr[d], value);
        for (int i = 0; i < numbers; i++) {
            value[i] = group[d][i] == k ? x : value[i];
            group[d][i] -= group[d][i] > k;
            if (p->group[d][i] == k)
                group[d][i] = -1;
        }
        sr_expr_set_constants(&expr[d], value);
    }
    flow.equation = expr;
    flow.each = flow.each ? &each : NULL;
    flow.group = (const int(*)[SR_NODES])group;
    const int rc = fit(p, &flow, &r);
    *root = rc ? HUGE_VAL : sqrt(fmax(r.chi2 - p->chi2, 0) / p->scale);
    sr_flow_result_free(&r);
    return rc;
}

/* One bound of number k; NAN where the tracks give none, or the seconds end. side: -1 or 1. */
static int find_bound(const struct profile *p, int k, int side, double *bound)
{
    double at = wanted, low = 0, low_root = 0, high = HUGE_VAL, high_root = HUGE_VAL, root;
    *bound = NAN;
    for (int i = 0; i < TRIES && at < farthest * wanted; i++) {
        const double x = p->value[k] + side * at * p->error[k];
        TRY(lose(p, k, x, &root));
        if (sr_judge_over(&p->judge)) /* in the midst of a fit, perhaps */
            break;
        if (fabs(root - wanted) < near) {
            *bound = x;
            return 0;
        }
        if (root < wanted) {
            low = at;
            low_root = root;
        } else {
            high = at;
            high_root = root;
        }
        if (high_root < HUGE_VAL)
            at = low + (high - low) * (wanted - low_root) / (high_root - low_root);
        else
            at = high < HUGE_VAL ? 0.5 * (low + high) : at * fmin(2, wanted / fmax(root, 0.1));
    }
    return 0;
}

static int find_bounds(struct profile *p, struct sr_system *system)
{
    double bound[2];
    TRY(fit_best(p));
    for (int n = 0; n < p->count && p->chi2 < HUGE_VAL; n++) {
        TRY(find_bound(p, n, -1, &bound[0]));
        TRY(find_bound(p, n, 1, &bound[1]));
        orr_trace("constant %d, %.6g +- %.2g: from %.6g to %.6g", n + 1, p->value[n], p->error[n],
                  bound[0], bound[1]);
        for (int d = 0; d < p->flow.dims; d++)
            for (int k = 0; k < SR_NODES; k++)
                if (p->group[d][k] == n) {
                    system->low[d][k] = bound[0];
                    system->high[d][k] = bound[1];
                }
    }
    return 0;
}

int sr_system_profile(const struct sr_states *s, const struct sr_language *language, double seconds,
                      struct sr_system *system)
{
    bool followed = system->by_track;
    for (int d = 0; d < SR_STATES; d++) {
        followed = followed && !system->alone[d];
        for (int k = 0; k < SR_NODES; k++)
            system->low[d][k] = system->high[d][k] = NAN;
    }
    if (!followed)
        return 0;
    struct profile *const p = orr_alloc(1, sizeof *p);
    if (!p)
        return ORR_ENOMEM;
    memset(p->group, -1, sizeof p->group);
    memcpy(p->expr, system->expr, sizeof p->expr);
    p->each = system->each;
    int rc = sr_judge_create(s, language, seconds, &p->judge);
    p->flow = (struct sr_flow){.dims = s->dims,
                               .order = s->order,
                               .inputs = s->inputs,
                               .language = language,
                               .equation = p->expr,
                               .each = s->categories ? &p->each : NULL,
                               .categories = s->categories};
    if (!rc) {
        list_numbers(system, p);
        rc = find_bounds(p, system);
    }
    if (p->judge.track)
        sr_judge_free(&p->judge);
    free(p);
    return rc;
}
