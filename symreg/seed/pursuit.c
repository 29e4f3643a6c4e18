/* pursuit.c - fits h H(a f + b g + c k + d), sums of up to three small formulas.
 *
 * pairs.c solves all pairs at few rows. Here the third term is found as in matching pursuit (Mallat
 * & Zhang, IEEE Trans. Signal Process. 41 (1993) 3397): it is the formula closest to the residual
 * of the others, at enough rows that chance matches are unlikely. Then each term is exchanged for
 * the best one given the other two, as long as that improves the fit. */
#include "base/stop.h"
#include "stages.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "dictionary.h"
#include "shared.h"

enum {
    ROWS = SR_DICTIONARY_ROWS,
    COLUMNS = SR_DICTIONARY,
    BLOCK = SR_DICTIONARY_BLOCK,
    TERMS = SR_TERMS,
    OUTERS = 8,   /* H: the identity and operators with an inverse */
    FACTORS = 12, /* factors h tried by the pursuit, the costliest step */
    SWEEPS = 3,   /* sweeps of exchanges */
    /* variants of every sum: nearly equal weights joined or not, with and without d */
    VARIANTS = 4,
    FIT_STEPS = 15,
    PER_SIZE = 8, /* seeds of each size */
};

static const double promising = 0.3; /* 1 - R^2 */

/* Numbers of leading columns (the simplest formulas) to search. All triples are tried among the
 * first SR_DICTIONARY_SMALL columns, and separately among the first 64, because under noise larger
 * formulas fit slightly better. With more columns the pursuit may prefer large formulas that cover
 * two terms at once, so several numbers are tried. */
static const int limit[] = {64, SR_DICTIONARY_SMALL, 1536, COLUMNS};
enum { LIMITS = sizeof limit / sizeof *limit };

struct sum {
    const struct sr_expr *factor;
    struct sr_outer outer;
    int columns, terms, term[TERMS];   /* columns: how many leading columns may be terms */
    double z[ROWS], weight[TERMS + 1]; /* the last weight is d */
    double rest;                       /* 1 - R^2 */
};

/* ---- pursuit */

static void round_to_float(const double *from, float *to)
{
    for (int i = 0; i < ROWS; i++)
        to[i] = (float)from[i];
}

/* Residual of the target after projection on all terms but `without`, and their orthonormal span; q
 * holds up to TERMS vectors. */
static int project_target(const struct sr_dictionary *d, const struct sum *s, int without,
                          double *rest, double q[TERMS][ROWS])
{
    int n = 0;
    sr_dictionary_unit(s->z, rest);
    for (int k = 0; k < s->terms; k++) {
        if (k == without || !sr_dictionary_unit(d->value[s->term[k]], q[n]))
            continue;
        for (int j = 0; j < n; j++) {
            const double r = sr_dot(q[n], q[j], ROWS);
            for (int i = 0; i < ROWS; i++)
                q[n][i] -= r * q[j][i];
        }
        const double length = sqrt(sr_dot(q[n], q[n], ROWS));
        if (!(length > 1e-5))
            continue;
        for (int i = 0; i < ROWS; i++)
            q[n][i] /= length;
        const double r = sr_dot(rest, q[n], ROWS);
        for (int i = 0; i < ROWS; i++)
            rest[i] -= r * q[n][i];
        n++;
    }
    return n;
}

/* The column that reduces `rest` most, given the span q; *left is the remaining share. */
static int best_column(const struct sr_dictionary *d, int columns, const double *rest,
                       const double q[TERMS][ROWS], int n, double *left)
{
    const struct sr_vec *vec = sr_vec_best();
    float v[1 + TERMS][ROWS], gain = 0; /* the rest, the span */
    int best = -1;
    round_to_float(rest, v[0]);
    for (int k = 0; k < n; k++)
        round_to_float(q[k], v[1 + k]);
    for (int first = 0; first < columns; first += BLOCK) {
        float with[1 + TERMS][BLOCK], free[BLOCK], *const c = with[0];
        vec->correlate(1 + n, v[0], ROWS, d->column[first / BLOCK][0], ROWS, c);
        for (int f = 0; f < BLOCK; f++)
            free[f] = 1;
        for (int k = 1; k <= n; k++)
            for (int f = 0; f < BLOCK; f++)
                free[f] -= with[k][f] * with[k][f];
        for (int f = 0; f < BLOCK && first + f < columns; f++)
            if (free[f] > 1e-3F && c[f] * c[f] > gain * free[f]) {
                gain = c[f] * c[f] / free[f];
                best = first + f;
            }
    }
    *left = sr_dot(rest, rest, ROWS) - (double)gain;
    return best;
}

static void pursue_terms(const struct sr_dictionary *d, struct sum *s)
{
    double rest[ROWS], q[TERMS][ROWS], left = 1;
    for (s->terms = 0; s->terms < TERMS;) {
        const int n = project_target(d, s, -1, rest, q);
        const int best = best_column(d, s->columns, rest, (const double(*)[ROWS])q, n, &left);
        if (best < 0)
            break;
        s->term[s->terms++] = best;
    }
    s->rest = left;
}

/* The largest share of the target explained by g and some k < g next to f, from dot products
 * orthogonalised to f; *third is that k. */
static double best_third(int g, const double *r, const double *gram_g, const double *own,
                         double least, int *third)
{
    double gain[SR_DICTIONARY_SMALL];
    for (int k = 0; k < g; k++) {
        const double determinant = own[g] * own[k] - gram_g[k] * gram_g[k];
        const double above =
            r[g] * r[g] * own[k] + r[k] * r[k] * own[g] - 2 * r[g] * r[k] * gram_g[k];
        gain[k] = determinant > 1e-6 ? above / determinant : 0;
    }
    for (int k = 0; k < g; k++)
        if (gain[k] > least) {
            least = gain[k];
            *third = k;
        }
    return least;
}

static void solve_triples(const struct sr_dictionary *d, struct sum *s)
{
    double z[ROWS], all[SR_DICTIONARY_SMALL], r[SR_DICTIONARY_SMALL], own[SR_DICTIONARY_SMALL];
    double gram[SR_DICTIONARY_SMALL], best = 0;
    sr_dictionary_unit(s->z, z);
    for (int k = 0; k < s->columns; k++)
        all[k] = sr_dot(z, d->unit[k], ROWS);
    for (int f = 2; f < s->columns; f++) {
        for (int k = 0; k < f; k++) {
            r[k] = all[k] - all[f] * d->gram[f][k];
            own[k] = 1 - d->gram[f][k] * d->gram[f][k];
        }
        for (int g = 1; g < f; g++) {
            int third = -1;
            for (int k = 0; k < g; k++)
                gram[k] = d->gram[g][k] - d->gram[f][g] * d->gram[f][k];
            const double taken = best_third(g, r, gram, own, best - all[f] * all[f], &third);
            if (third < 0)
                continue;
            best = all[f] * all[f] + taken;
            s->terms = 3;
            s->term[0] = f;
            s->term[1] = g;
            s->term[2] = third;
        }
    }
    s->rest = 1 - best;
}

static void exchange_terms(const struct sr_dictionary *d, struct sum *s)
{
    double rest[ROWS], q[TERMS][ROWS], left;
    bool better = true;
    for (int sweep = 0; sweep < SWEEPS && better; sweep++) {
        better = false;
        for (int k = 0; k < s->terms; k++) {
            const int n = project_target(d, s, k, rest, q);
            const int best = best_column(d, s->columns, rest, (const double(*)[ROWS])q, n, &left);
            if (best >= 0 && best != s->term[k] && left < s->rest * (1 - 1e-3)) {
                s->term[k] = best;
                s->rest = left;
                better = true;
            }
        }
    }
}

/* ---- formulas */

/* Writes one variant: bit 0 joins terms of nearly equal weight, bit 1 omits d. */
static bool write_sum(const struct sr_proposal *p, const struct sr_dictionary *d,
                      const struct sum *s, int variant, struct sr_expr *out)
{
    const enum sr_op outer = s->outer.inner;
    const bool homogeneous =
        outer == SR_CONSTANT || outer == SR_INV || outer == SR_SQUARE || outer == SR_SQRT;
    const double unit = homogeneous ? fabs(s->weight[0]) : 1;
    struct sr_sum sum = {.factor = s->factor,
                         .outer = s->outer,
                         .divide = sr_has(p->operators, SR_DIV),
                         .terms = s->terms,
                         .weight_last = true,
                         .offset = !(variant & 2),
                         .d = s->weight[TERMS] / unit};
    for (int k = 0; k < s->terms; k++) {
        const double weight = s->weight[k] / unit;
        const bool whole = fabs(fabs(weight) - 1) < (variant & 1 ? 0.15 : 1e-6);
        const bool minus = whole && weight < 0 && k > 0 && sr_has(p->operators, SR_SUB);
        sum.term[k] = (struct sr_written_term){
            &d->expr[s->term[k]], weight, whole && (weight > 0 || minus), minus ? SR_SUB : SR_ADD};
    }
    return sr_sum_write(p->settings->language, &sum, SR_NODES, out) && sr_proposal_shorten(p, out);
}

/* ---- the stage */

static bool set_target(const struct sr_dictionary *d, const struct sr_expr *factor,
                       struct sr_outer outer, int columns, struct sum *s)
{
    double h[ROWS], unit[ROWS];
    *s = (struct sum){.factor = factor, .outer = outer, .columns = columns, .rest = HUGE_VAL};
    return (!factor->count || sr_eval(factor, &d->data, h)) &&
           sr_sum_target(ROWS, d->data.y, factor->count ? h : NULL, outer, s->z) &&
           sr_dictionary_unit(s->z, unit);
}

static bool weigh_terms(const struct sr_dictionary *d, struct sum *s)
{
    const double *value[TERMS] = {NULL};
    for (int k = 0; k < s->terms; k++)
        value[k] = d->value[s->term[k]];
    return sr_sum_weigh(ROWS, s->terms, value, s->z, s->weight);
}

/* Fits one target over its leading columns and writes its variants. */
static void fit_target(const struct sr_proposal *p, const struct sr_dictionary *d, struct sum *s,
                       struct sr_expr expr[VARIANTS], double reached[VARIANTS])
{
    struct sr_thread *own = &p->thread[omp_get_thread_num()];
    if (orr_signal_seen())
        return;
    if (s->columns <= SR_DICTIONARY_SMALL)
        solve_triples(d, s);
    else
        pursue_terms(d, s);
    if (s->rest < promising && s->columns > SR_DICTIONARY_SMALL)
        exchange_terms(d, s);
    if (s->terms < 2 || !weigh_terms(d, s))
        return;
    for (int v = 0; v < VARIANTS; v++)
        if (write_sum(p, d, s, v, &expr[v]))
            reached[v] =
                sr_constants_fit(p->loss, &expr[v], true, FIT_STEPS, 0, own->rng, &own->work);
}

/* Searches sums over the first limit[l] columns for each l. */
static int search_sums(struct sr_proposal *p, const struct sr_dictionary *d)
{
    struct sr_outer outer[OUTERS];
    const int outers = sr_outer_list(p->settings, false, OUTERS, outer);
    const int factors = d->factors < FACTORS ? d->factors : FACTORS;
    const int targets = sr_proposal_take(p, factors * outers * LIMITS * VARIANTS) / VARIANTS;
    const int count = targets * VARIANTS;
    struct sum *sum = orr_alloc((size_t)targets + 1, sizeof *sum);
    struct sr_expr *expr = orr_alloc((size_t)count + 1, sizeof *expr);
    double *reached = orr_alloc((size_t)count + 1, sizeof *reached);
    const int rc = sum && expr && reached ? 0 : ORR_ENOMEM;
    if (!rc) {
        sr_fill(reached, (size_t)count, HUGE_VAL);
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads) copyin(orr_stop_of_call)
        for (int t = 0; t < targets; t++) {
            const int pair = t / LIMITS, l = t % LIMITS;
            const int before = l ? limit[l - 1] : 0;
            const int columns = d->count < limit[l] ? d->count : limit[l];
            if (columns > before &&
                set_target(d, &d->factor[pair / outers], outer[pair % outers], columns, &sum[t]))
                fit_target(p, d, &sum[t], expr + (size_t)t * VARIANTS,
                           reached + (size_t)t * VARIANTS);
        }
        sr_proposal_add(p, expr, reached, count, PER_SIZE, false, false);
    }
    free(sum);
    free(expr);
    free(reached);
    return rc;
}

int sr_pursuit_find(struct sr_proposal *p)
{
    struct sr_dictionary d = {0};
    sr_proposal_fill(p, p->settings->enumerate);
    int rc = sr_dictionary_init(&d, &p->bank, p->early, p->operators, p->loss->data);
    if (!rc && d.count)
        rc = search_sums(p, &d);
    sr_dictionary_free(&d);
    return rc;
}
