/* formula_pairs.c - fits h H(a f + b g + c) over all pairs of small formulas.
 *
 * With z = H^-1(y / h) at the bank's rows, the best a, b, c of a pair follow from three
 * correlations: R^2 = (rf^2 + rg^2 - 2 rf rg rfg) / (1 - rfg^2). The correlations rfg of all pairs
 * are computed once, and each target costs one pass over them. */
#include "base/stop.h"
#include "sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shared.h"
#include "stages.h"

static const double least_variance = 1e-20; /* variance of a column relative to its mean square */

enum {
    BASIS = 500,     /* formulas f and g of pairs, without constants */
    SINGLES = 20480, /* formulas f used alone, also with constants */
    OUTERS = 16,     /* outer operators H, at most */
    TARGETS = OUTERS * SR_FACTORS,
    BLOCK = SR_VEC_COLUMNS,  /* formulas processed at a time; divides SINGLES */
    TOGETHER = 4,            /* targets that are */
    KEPT = 8,                /* single formulas, and pairs, kept for each target */
    FEW_CLOSE = SR_CLOSE / 3 /* factors beside which pairs are tried in tables of few rows */
};

/* ---- the basis */

struct basis {
    /* unit vectors of the single formulas; first, as aligned as memory is */
    float single[SINGLES / BLOCK][SR_ROWS][BLOCK];
    int count, singles;
    int index[BASIS], single_index[SINGLES]; /* entries of the bank */
    double unit[BASIS][SR_ROWS];             /* mean 0, length 1 */
    float correlation[BASIS][BASIS];
};

/* Collects the bank's first formulas. Those for pairs have no constants, and are not affine images
 * of earlier ones. */
static void basis_init(struct basis *basis, const struct sr_bank *bank, int most, int singles)
{
    for (int e = 0; e < bank->count && basis->singles < singles; e++) {
        const int n = basis->count;
        double unit[SR_ROWS];
        if (!sr_unit(bank->value[e], SR_ROWS, least_variance, unit))
            continue;
        for (int i = 0; i < SR_ROWS; i++)
            basis->single[basis->singles / BLOCK][i][basis->singles % BLOCK] = (float)unit[i];
        basis->single_index[basis->singles++] = e;
        if (n == most || bank->entry[e].constants)
            continue;
        bool seen = false;
        for (int k = 0; k < n && !seen; k++) {
            const double r = sr_dot(unit, basis->unit[k], SR_ROWS);
            basis->correlation[n][k] = basis->correlation[k][n] = (float)r;
            seen = fabs(r) > 1 - 1e-10;
        }
        memcpy(basis->unit[n], unit, sizeof unit);
        basis->correlation[n][n] = 1;
        basis->index[n] = e;
        basis->count += !seen;
    }
}

/* ---- targets */

struct found {
    double rest; /* 1 - R^2 */
    int f, g;    /* entries of the bank; g < 0: a f + c */
    const struct target *target;
    double weight[SR_TERMS + 1]; /* a, b; c is the last: set by rate_closeness() */
};
struct best {
    int count;
    struct found found[KEPT];
};
struct target {
    const struct sr_factor *factor;
    struct sr_outer outer;
    bool with_pairs;
    struct best single, pair; /* empty for a target that is not usable */
    double z[SR_ROWS];
};

/* The R^2 that a formula must exceed to enter the list. */
static float limit_of(const struct best *best)
{
    return best->count < KEPT ? 0 : (float)(1 - best->found[KEPT - 1].rest);
}

static void keep_found(const struct target *t, struct best *best, float r2, int f, int g)
{
    const struct found item = {1 - (double)r2, f, g, t, {0}};
    sr_best_insert(best->found, sizeof item, &best->count, KEPT, &item);
}

/* The formulas alone that are nearest to each of a few targets, which share the loads. `usable`
 * targets have a unit vector. */
static void solve_singles(const struct basis *basis, const float narrow[TOGETHER][SR_ROWS],
                          int usable, struct target *const t[TOGETHER])
{
    for (int first = 0; first < basis->singles; first += BLOCK) {
        float c[TOGETHER][BLOCK];
        const int left = basis->singles - first, n = left < BLOCK ? left : BLOCK;
        sr_vec_best()->correlate(usable, narrow[0], SR_ROWS, basis->single[first / BLOCK][0],
                                 SR_ROWS, c[0]);
        for (int k = 0; k < usable; k++)
            for (int f = 0; f < n; f++)
                if (c[k][f] * c[k][f] > limit_of(&t[k]->single))
                    keep_found(t[k], &t[k]->single, c[k][f] * c[k][f],
                               basis->single_index[first + f], -1);
    }
}

static void solve_pairs(const struct basis *basis, const double unit[SR_ROWS], struct target *t)
{
    const struct sr_vec *vec = sr_vec_best();
    float r[BASIS];
    for (int f = 0; f < basis->count; f++)
        r[f] = (float)sr_dot(unit, basis->unit[f], SR_ROWS);
    for (int f = 1; f < basis->count; f++) {
        float r2[BASIS];
        if (vec->pair_row(r, basis->correlation[f], f, r2) <= limit_of(&t->pair))
            continue;
        for (int g = 0; g < f; g++)
            if (r2[g] > limit_of(&t->pair))
                keep_found(t, &t->pair, r2[g], basis->index[f], basis->index[g]);
    }
}

/* The single formula that takes most of what f leaves of a unit vector; its R^2 together with f. */
static int best_beside(const struct basis *basis, const double unit[SR_ROWS], const double *value,
                       float *r2)
{
    double q[SR_ROWS];
    float v[2][SR_ROWS];
    int best = -1;
    if (!sr_unit(value, SR_ROWS, least_variance, q))
        return -1;
    const double share = sr_dot(unit, q, SR_ROWS);
    for (int i = 0; i < SR_ROWS; i++) {
        v[0][i] = (float)q[i];
        v[1][i] = (float)(unit[i] - share * q[i]);
    }
    *r2 = 0;
    for (int first = 0; first < basis->singles; first += BLOCK) {
        float c[2][BLOCK];
        sr_vec_best()->correlate(2, v[0], SR_ROWS, basis->single[first / BLOCK][0], SR_ROWS, c[0]);
        for (int f = 0; f < BLOCK && first + f < basis->singles; f++) {
            const float own = 1 - c[0][f] * c[0][f];
            if (own > 1e-3F && c[1][f] * c[1][f] > *r2 * own) {
                *r2 = c[1][f] * c[1][f] / own;
                best = basis->single_index[first + f];
            }
        }
    }
    *r2 += (float)(share * share);
    return best;
}

/* Pairs of all formulas of the bank: the best ones alone with the best beside each, and the best
 * beside that, as long as R^2 grows (matching pursuit: Mallat & Zhang, IEEE Trans. Signal Process.
 * 41 (1993) 3397). */
static void pursue_pairs(const struct basis *basis, const struct sr_bank *bank,
                         const double unit[SR_ROWS], struct target *t)
{
    for (int k = 0; k < t->single.count; k++) {
        int f = t->single.found[k].f, g = -1, next;
        float reached = 0, r2;
        while ((next = best_beside(basis, unit, bank->value[f], &r2)) >= 0 && r2 > reached) {
            g = f;
            f = next;
            reached = r2;
        }
        bool seen = g < 0;
        for (int i = 0; i < t->pair.count && !seen; i++) {
            const struct found *other = &t->pair.found[i];
            seen = (other->f == f && other->g == g) || (other->f == g && other->g == f);
        }
        if (!seen)
            keep_found(t, &t->pair, reached, f, g);
    }
}

static void solve_targets(const struct sr_bank *bank, const struct basis *basis,
                          struct target *const t[TOGETHER], int count)
{
    double unit[TOGETHER][SR_ROWS];
    float narrow[TOGETHER][SR_ROWS];
    struct target *usable[TOGETHER];
    int n = 0;
    for (int k = 0; k < count; k++) {
        if (!sr_sum_target(SR_ROWS, bank->y, t[k]->factor->value, t[k]->outer, t[k]->z) ||
            !sr_unit(t[k]->z, SR_ROWS, least_variance, unit[n]))
            continue;
        for (int i = 0; i < SR_ROWS; i++)
            narrow[n][i] = (float)unit[n][i];
        usable[n++] = t[k];
    }
    solve_singles(basis, (const float(*)[SR_ROWS])narrow, n, usable);
    for (int k = 0; k < n; k++)
        if (usable[k]->with_pairs) {
            solve_pairs(basis, unit[k], usable[k]);
            if (!usable[k]->factor->expr.count)
                pursue_pairs(basis, bank, unit[k], usable[k]);
        }
}

/* ---- formulas */

/* The variants of a f + b g + c that are written: complete; without c; f + b g + c; f + b g; f + g;
 * f + g + c. Where f has no weight, the other weights are divided by a. */
static const struct shape {
    bool plain_f, plain_g, offset, of_single;
} shapes[] = {
    {false, false, true, true}, {false, false, false, true}, {true, false, true, false},
    {true, false, false, true}, {true, true, false, false},  {true, true, true, false},
};

static void add_shapes(const struct sr_proposal *p, const struct found *found,
                       struct sr_candidates *out)
{
    struct sr_expr f = {.count = 0}, g = {.count = 0};
    const double *const weight = found->weight;
    const bool pair = found->g >= 0, subtracts = sr_has(p->operators, SR_SUB);
    sr_bank_put(&p->bank, found->f, &f);
    if (pair)
        sr_bank_put(&p->bank, found->g, &g);
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const struct shape shape = shapes[k];
        const double unit = shape.plain_f ? weight[0] : 1;
        const bool minus = shape.plain_g && weight[0] * weight[1] < 0 && subtracts;
        const struct sr_sum sum = {
            .factor = &found->target->factor->expr,
            .outer = found->target->outer,
            .terms = pair ? 2 : 1,
            .term = {{&f, weight[0] / unit, shape.plain_f, SR_ADD},
                     {&g, weight[1] / unit, shape.plain_g, minus ? SR_SUB : SR_ADD}},
            .offset = shape.offset,
            .d = weight[SR_TERMS] / unit,
        };
        if ((pair || shape.of_single) && out->count < SR_CANDIDATES)
            out->count += sr_sum_write(p->settings->language, &sum, p->settings->maxsize,
                                       sr_candidates_next(out));
    }
}

/* ---- the best of all targets, by their distance from y */

/* Weighs f and g. The unexplained share of y by h H(a f + b g + c), or the squared deviation of
 * their ratio from 1, whichever is smaller; larger by a penalty per node. */
static double rate_closeness(const struct sr_bank *bank, struct found *found)
{
    const struct target *t = found->target;
    const bool pair = found->g >= 0;
    const int size = bank->entry[found->f].size + (pair ? bank->entry[found->g].size : 0);
    const double *const value[SR_TERMS] = {bank->value[found->f],
                                           pair ? bank->value[found->g] : NULL};
    double *const w = found->weight, absolute = 0, relative = 0;
    if (!sr_sum_weigh(SR_ROWS, pair ? 2 : 1, value, t->z, w)) /* f and g are collinear */
        return HUGE_VAL;
    for (int i = 0; i < SR_ROWS; i++) {
        double v = w[0] * value[0][i] + w[SR_TERMS];
        if (pair)
            v += w[1] * value[1][i];
        v = sr_outer_value(t->outer, v) * t->factor->value[i] - bank->y[i];
        absolute += v * v;
        relative += v * bank->inverse[i] * v * bank->inverse[i];
    }
    const double score = fmin(absolute / bank->yy, relative / SR_ROWS);
    return isfinite(score) ? score * (1 + 0.1 * size) : HUGE_VAL;
}

struct pairs {
    struct basis basis;
    struct sr_factor factor[SR_FACTORS];
    struct target target[TARGETS], *list[TARGETS];
    struct found *found[TARGETS * 2 * KEPT];
    double score[TARGETS * 2 * KEPT];
};

static int offer_best(const struct sr_proposal *p, struct pairs *w, int targets, int most,
                      struct sr_candidates *candidates)
{
    size_t n = 0;
    for (int i = 0; i < targets; i++)
        for (int pair = 0; pair < 2; pair++) {
            struct best *best = pair ? &w->target[i].pair : &w->target[i].single;
            for (int k = 0; k < best->count; k++, n++) {
                w->found[n] = &best->found[k];
                w->score[n] = rate_closeness(&p->bank, w->found[n]);
            }
        }
    size_t *order = sr_order(w->score, n);
    if (!order)
        return ORR_ENOMEM;
    for (size_t i = 0; i < n && w->score[order[i]] < 1 && candidates->count < most; i++)
        add_shapes(p, w->found[order[i]], candidates);
    free(order);
    return 0;
}

/* ---- all targets */

/* Solves the targets h H: with every H where h is 1 or close to y. Returns how many there are. */
static int solve_all(const struct sr_proposal *p, struct pairs *w, int factors, int close)
{
    struct sr_outer outer[OUTERS];
    const int outers = sr_outer_list(p->settings, OUTERS, outer), targets = outers * factors;
    int wanted = 0;
    for (int i = 0; i < targets; i++) {
        struct target *t = &w->target[i];
        t->factor = &w->factor[i / outers];
        t->outer = outer[i % outers];
        t->with_pairs = i / outers <= close;
        if (t->with_pairs || t->outer.last == SR_CONSTANT)
            w->list[wanted++] = t;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads) copyin(orr_stop_of_call)
    for (int i = 0; i < wanted; i += TOGETHER)
        if (!orr_signal_seen())
            solve_targets(&p->bank, &w->basis, w->list + i,
                          wanted - i < TOGETHER ? wanted - i : TOGETHER);
    return targets;
}

int sr_pairs_offer(const struct sr_proposal *p, struct sr_candidates *candidates)
{
    const bool few = p->loss->data->rows < SR_FEW_FOR_PAIRS;
    const int part = few ? 2 : 1; /* by which all numbers of formulas are divided */
    int close;
    if (!sr_has(p->operators, SR_ADD) || !sr_has(p->operators, SR_MUL))
        return 0;
    struct pairs *w = orr_alloc(1, sizeof *w);
    if (!w)
        return ORR_ENOMEM;
    basis_init(&w->basis, &p->bank, BASIS / part, SINGLES / part);
    const int factors = sr_factors_find(&p->bank, sr_has(p->operators, SR_DIV), w->factor, &close);
    for (int k = 1; k <= close && candidates->count < SR_CANDIDATES; k++)
        if (w->factor[k].expr.count <= p->settings->maxsize)
            candidates->expr[candidates->count++] = w->factor[k].expr;
    const int beside = few && close > FEW_CLOSE ? FEW_CLOSE : close;
    const int targets = solve_all(p, w, factors, beside);
    const int rc = offer_best(p, w, targets, SR_CANDIDATES / part, candidates);
    free(w);
    return rc;
}
