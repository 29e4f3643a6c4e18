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
    BASIS = 500,            /* formulas f and g of pairs, without constants */
    SINGLES = 20480,        /* formulas f used alone, also with constants */
    OUTERS = 16,            /* outer operators H, at most */
    BLOCK = SR_VEC_COLUMNS, /* formulas processed at a time; divides SINGLES */
    TOGETHER = 4,           /* targets that are */
    KEPT = 8,               /* single formulas, and pairs, kept for each target */
    /* in tables of less than SR_FEW_FOR_PAIRS rows: formulas of pairs and alone, and factors h
     * beside which pairs are tried; candidates */
    FEW_BASIS = BASIS / 2,
    FEW_SINGLES = SINGLES / 2,
    FEW_CLOSE = SR_CLOSE / 3,
    FEW_CANDIDATES = SR_CANDIDATES / 2
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
static void basis_init(struct basis *basis, const struct sr_enumeration *all, bool few)
{
    const int most = few ? FEW_BASIS : BASIS, singles = few ? FEW_SINGLES : SINGLES;
    for (int e = 0; e < all->count && basis->singles < singles; e++) {
        const int n = basis->count;
        double unit[SR_ROWS];
        if (!sr_unit(all->value[e], SR_ROWS, least_variance, unit))
            continue;
        for (int i = 0; i < SR_ROWS; i++)
            basis->single[basis->singles / BLOCK][i][basis->singles % BLOCK] = (float)unit[i];
        basis->single_index[basis->singles++] = e;
        if (n == most || all->entry[e].constants)
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

/* A factor h as a formula, with its values. */
struct divisor {
    struct sr_expr expr; /* count 0: the factor 1 */
    double value[SR_ROWS];
};

struct found {
    double rest; /* 1 - R^2 */
    int f, g;    /* entries of the bank; g < 0: a f + c */
};
struct target {
    const struct divisor *divisor;
    struct sr_outer outer;
    bool with_pairs;
    int singles, pairs; /* 0 for a target that is not usable */
    struct found single[KEPT], pair[KEPT];
    double z[SR_ROWS];
};

/* The R^2 that a formula must exceed to enter the list. */
static float limit_of(const struct found list[KEPT], int count)
{
    return count < KEPT ? 0 : (float)(1 - list[KEPT - 1].rest);
}

static void keep_found(struct found list[KEPT], int *count, float r2, int f, int g)
{
    const struct found item = {1 - (double)r2, f, g};
    sr_best_insert(list, sizeof item, count, KEPT, &item);
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
                if (c[k][f] * c[k][f] > limit_of(t[k]->single, t[k]->singles))
                    keep_found(t[k]->single, &t[k]->singles, c[k][f] * c[k][f],
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
        if (vec->pair_row(r, basis->correlation[f], f, r2) <= limit_of(t->pair, t->pairs))
            continue;
        for (int g = 0; g < f; g++)
            if (r2[g] > limit_of(t->pair, t->pairs))
                keep_found(t->pair, &t->pairs, r2[g], basis->index[f], basis->index[g]);
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
static void pursue_pairs(const struct basis *basis, const struct sr_enumeration *all,
                         const double unit[SR_ROWS], struct target *t)
{
    for (int k = 0; k < t->singles; k++) {
        int f = t->single[k].f, g = -1, next;
        float reached = 0, r2;
        while ((next = best_beside(basis, unit, all->value[f], &r2)) >= 0 && r2 > reached) {
            g = f;
            f = next;
            reached = r2;
        }
        bool seen = g < 0;
        for (int i = 0; i < t->pairs && !seen; i++)
            seen = (t->pair[i].f == f && t->pair[i].g == g) ||
                   (t->pair[i].f == g && t->pair[i].g == f);
        if (!seen)
            keep_found(t->pair, &t->pairs, reached, f, g);
    }
}

/* Solves `count` targets, at most TOGETHER. */
static void solve_targets(const struct sr_bank *bank, const struct basis *basis,
                          struct target *const t[TOGETHER], int count)
{
    double unit[TOGETHER][SR_ROWS];
    float narrow[TOGETHER][SR_ROWS];
    struct target *usable[TOGETHER];
    int n = 0;
    for (int k = 0; k < count; k++) {
        if (!sr_sum_target(SR_ROWS, bank->y, t[k]->divisor->value, t[k]->outer, t[k]->z) ||
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
            if (!usable[k]->divisor->expr.count)
                pursue_pairs(basis, &bank->all, unit[k], usable[k]);
        }
}

/* ---- formulas */

/* Weights of z = a f + b g + c; w[SR_TERMS] is c. False when f and g are collinear. */
static bool weigh_terms(const struct sr_bank *bank, const struct target *t,
                        const struct found *found, double w[SR_TERMS + 1])
{
    const bool pair = found->g >= 0;
    const double *const value[SR_TERMS] = {bank->all.value[found->f],
                                           pair ? bank->all.value[found->g] : NULL};
    return sr_sum_weigh(SR_ROWS, pair ? 2 : 1, value, t->z, w);
}

/* The variants of a f + b g + c that are written: complete; without c; f + b g + c; f + b g; f + g;
 * f + g + c. Where f has no weight, the other weights are divided by a. */
static const struct shape {
    bool plain_f, plain_g, offset, of_single;
} shapes[] = {
    {false, false, true, true}, {false, false, false, true}, {true, false, true, false},
    {true, false, false, true}, {true, true, false, false},  {true, true, true, false},
};

static void add_shapes(const struct sr_proposal *p, const struct target *t,
                       const struct found *found, struct sr_candidates *out)
{
    const struct sr_bank *bank = &p->bank;
    struct sr_expr f, g = {.count = 0};
    double weight[SR_TERMS + 1] = {0};
    const bool pair = found->g >= 0, subtracts = sr_has(p->operators, SR_SUB);
    if (!weigh_terms(bank, t, found, weight) || !sr_bank_expr(bank, found->f, &f) ||
        (pair && !sr_bank_expr(bank, found->g, &g)))
        return;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const struct shape shape = shapes[k];
        const double unit = shape.plain_f ? weight[0] : 1;
        const bool minus = shape.plain_g && weight[0] * weight[1] < 0 && subtracts;
        const struct sr_sum sum = {
            .factor = &t->divisor->expr,
            .outer = t->outer,
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

struct offer {
    const struct target *target;
    const struct found *found;
};

/* The unexplained share of y by h H(a f + b g + c), or the squared deviation of their ratio from 1,
 * whichever is smaller. */
static double rate_closeness(const struct sr_bank *bank, const struct target *t,
                             const struct found *found)
{
    double w[SR_TERMS + 1], absolute = 0, relative = 0;
    if (!weigh_terms(bank, t, found, w))
        return HUGE_VAL;
    for (int i = 0; i < SR_ROWS; i++) {
        double v = w[0] * bank->all.value[found->f][i] + w[SR_TERMS];
        if (found->g >= 0)
            v += w[1] * bank->all.value[found->g][i];
        v = sr_outer_value(t->outer, v) * t->divisor->value[i] - bank->y[i];
        absolute += v * v;
        relative += v * bank->inverse[i] * v * bank->inverse[i];
    }
    const double score = fmin(absolute / bank->yy, relative / SR_ROWS);
    return isfinite(score) ? score : HUGE_VAL;
}

static int offer_best(const struct sr_proposal *p, const struct target *target, int targets,
                      int most, struct sr_candidates *candidates)
{
    const struct sr_bank *bank = &p->bank;
    const struct sr_entry *entry = bank->all.entry;
    struct offer *offer = orr_alloc((size_t)targets * 2 * KEPT, sizeof *offer);
    double *score = orr_alloc((size_t)targets * 2 * KEPT, sizeof *score);
    size_t *order = NULL, n = 0;
    for (const struct target *t = target; t < target + targets && offer && score; t++)
        for (int k = 0; k < t->singles + t->pairs; k++, n++) {
            const struct found *found = k < t->singles ? &t->single[k] : &t->pair[k - t->singles];
            const double size = entry[found->f].size + (found->g < 0 ? 0 : entry[found->g].size);
            score[n] = rate_closeness(bank, t, found) * (1 + 0.1 * size);
            offer[n] = (struct offer){t, found};
        }
    if (offer && score)
        order = sr_order(score, n);
    for (size_t i = 0; i < n && order && score[order[i]] < 1 && candidates->count < most; i++)
        add_shapes(p, offer[order[i]].target, offer[order[i]].found, candidates);
    free(offer);
    free(score);
    const int rc = order ? 0 : ORR_ENOMEM;
    free(order);
    return rc;
}

/* ---- all targets */

/* Lists the factor 1 and the factors of factors.c. Close factors also become candidates themselves.
 * Returns how many. */
static int list_divisors(const struct sr_proposal *p, struct divisor list[SR_FACTORS + 1],
                         int *close, struct sr_candidates *candidates)
{
    const struct sr_bank *bank = &p->bank;
    struct sr_factor factor[SR_FACTORS];
    const bool divides = sr_has(p->operators, SR_DIV);
    const int n = sr_factors_find(bank, divides, factor, close);
    list[0].expr.count = 0;
    sr_fill(list[0].value, SR_ROWS, 1);
    for (int k = 0; k < n; k++) {
        struct divisor *h = &list[k + 1];
        const double *a = bank->all.value[factor[k].a];
        memcpy(h->value, a, sizeof h->value);
        if (factor[k].b >= 0)
            sr_op_apply(NULL, factor[k].op, SR_ROWS, a, bank->all.value[factor[k].b], h->value);
        sr_factor_expr(bank, &factor[k], &h->expr);
        if (k < *close && h->expr.count <= p->settings->maxsize &&
            candidates->count < SR_CANDIDATES)
            candidates->expr[candidates->count++] = h->expr;
    }
    return n + 1;
}

/* Solves the targets h H: with every H where h is one of the `close` first divisors. Returns how
 * many there are. list: storage for as many. */
static int solve_all(const struct sr_proposal *p, const struct basis *basis,
                     const struct divisor *divisor, int divisors, int close, struct target *target,
                     struct target **list)
{
    struct sr_outer outer[OUTERS];
    const int outers = sr_outer_list(p->settings, OUTERS, outer);
    const int targets = outers * divisors;
    int wanted = 0;
    for (int i = 0; i < targets; i++) {
        target[i].divisor = &divisor[i / outers];
        target[i].outer = outer[i % outers];
        target[i].with_pairs = i / outers <= close;
        if (target[i].with_pairs || target[i].outer.last == SR_CONSTANT)
            list[wanted++] = &target[i];
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads) copyin(orr_stop_of_call)
    for (int i = 0; i < wanted; i += TOGETHER)
        if (!orr_signal_seen())
            solve_targets(&p->bank, basis, list + i, wanted - i < TOGETHER ? wanted - i : TOGETHER);
    return targets;
}

struct pairs {
    struct basis basis;
    struct divisor divisor[SR_FACTORS + 1];
    struct target target[OUTERS * (SR_FACTORS + 1)], *list[OUTERS * (SR_FACTORS + 1)];
};

int sr_pairs_offer(const struct sr_proposal *p, struct sr_candidates *candidates)
{
    const bool few = p->loss->data->rows < SR_FEW_FOR_PAIRS;
    int close;
    if (!sr_has(p->operators, SR_ADD) || !sr_has(p->operators, SR_MUL))
        return 0;
    struct pairs *w = orr_alloc(1, sizeof *w);
    if (!w)
        return ORR_ENOMEM;
    basis_init(&w->basis, &p->bank.all, few);
    const int divisors = list_divisors(p, w->divisor, &close, candidates);
    const int beside = few && close > FEW_CLOSE ? FEW_CLOSE : close;
    const int targets = solve_all(p, &w->basis, w->divisor, divisors, beside, w->target, w->list);
    const int rc =
        offer_best(p, w->target, targets, few ? FEW_CANDIDATES : SR_CANDIDATES, candidates);
    free(w);
    return rc;
}
