/* compose.c - h H(a f + b g + c): pairs of small formulas meet in the middle.
 *
 * With z = H^-1(y / h) at the bank's rows, the best a, b, c of a pair follow from three
 * correlations: R^2 = (rf^2 + rg^2 - 2 rf rg rfg) / (1 - rfg^2). The correlations rfg of all pairs
 * are computed once; a target costs one pass over them. */
#include "collapse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "symreg/value/vec.h"

enum {
    BASIS = 500,            /* formulas f and g of pairs, without constants */
    SINGLES = 20480,        /* formulas f that stand alone, with constants, too */
    INVERSES = 16,          /* ways H, at most */
    BLOCK = SR_VEC_COLUMNS, /* of them at a time: divides SINGLES */
    KEPT = 8,               /* singles and pairs of each target, each */
};

/* ---- operators with an inverse */

/* H as one or two operators, the inner first; the second may be SR_CONSTANT for none. */
struct outer {
    enum sr_op inner, last;
};

/* Finite where v is. */
static bool invert(struct outer h, double v, double *z)
{
    double middle;
    return sr_op_invert(h.last, v, &middle) && sr_op_invert(h.inner, middle, z);
}

/* The identity, each invertible operator, and inv, square over sqrt and the like. */
static int list_outer(const struct sr_settings *s, struct outer list[INVERSES])
{
    double z;
    int n = 0;
    list[n++] = (struct outer){SR_CONSTANT, SR_CONSTANT};
    for (int i = 0; i < s->unary_count && n < INVERSES; i++)
        if (sr_op_invert(s->unary[i], 0.5, &z))
            list[n++] = (struct outer){s->unary[i], SR_CONSTANT};
    const int single = n;
    for (int i = 1; i < single; i++) /* the inverse of one of them */
        for (int k = 1; k < single && n < INVERSES; k++)
            if (i != k && list[k].inner == SR_INV)
                list[n++] = (struct outer){list[i].inner, SR_INV};
    return n;
}

/* ---- the basis */

struct basis {
    int count, singles;
    int index[BASIS], single_index[SINGLES]; /* in the bank */
    double unit[BASIS][SR_ROWS];             /* mean 0, length 1 */
    float single[SR_ROWS][SINGLES];          /* the same, row by row */
    float (*correlation)[BASIS];
};

/* Mean 0 and length 1; false when there is hardly any variation. */
static bool normalise(const double *value, double *unit, double *mean, double *length)
{
    double sum = 0, square = 0, size = 0;
    for (int i = 0; i < SR_ROWS; i++)
        sum += value[i];
    sum /= SR_ROWS;
    for (int i = 0; i < SR_ROWS; i++) {
        unit[i] = value[i] - sum;
        square += unit[i] * unit[i];
        size = fmax(size, fabs(value[i]));
    }
    if (!(square > 1e-20 * size * size) || !isfinite(square))
        return false;
    *mean = sum;
    *length = sqrt(square);
    for (int i = 0; i < SR_ROWS; i++)
        unit[i] /= *length;
    return true;
}

static double dot(const double *a, const double *b)
{
    double lane[4] = {0};
    for (int i = 0; i < SR_ROWS; i += 4)
        for (int l = 0; l < 4; l++)
            lane[l] += a[i + l] * b[i + l];
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

/* The bank's first formulas; of those for pairs none has constants or is an affine image of an
 * earlier one. */
static int basis_init(struct basis *basis, const struct sr_bank *bank)
{
    basis->correlation = orr_alloc(BASIS, sizeof *basis->correlation);
    if (!basis->correlation)
        return ORR_ENOMEM;
    for (int e = 0; e < bank->count && basis->singles < SINGLES; e++) {
        const int n = basis->count;
        double unit[SR_ROWS], mean, length;
        if (!normalise(bank->value[e], unit, &mean, &length))
            continue;
        for (int i = 0; i < SR_ROWS; i++)
            basis->single[i][basis->singles] = (float)unit[i];
        basis->single_index[basis->singles++] = e;
        if (n == BASIS || bank->entry[e].constants)
            continue;
        bool seen = false;
        for (int k = 0; k < n && !seen; k++) {
            const double r = dot(unit, basis->unit[k]);
            basis->correlation[n][k] = basis->correlation[k][n] = (float)r;
            seen = fabs(r) > 1 - 1e-10;
        }
        memcpy(basis->unit[n], unit, sizeof unit);
        basis->correlation[n][n] = 1;
        basis->index[n] = e;
        basis->count += !seen;
    }
    return 0;
}

/* ---- targets */

struct found {
    double r2;
    int f, g; /* of the bank; g < 0: a f + c */
};
struct target {
    struct sr_factor factor;
    struct outer outer;
    bool usable;
    struct found single[KEPT], pair[KEPT];
    double mean, length, z[SR_ROWS];
};

static void keep(struct found list[KEPT], struct found item)
{
    if (!(item.r2 > list[KEPT - 1].r2))
        return;
    int k = KEPT - 1;
    for (; k > 0 && item.r2 > list[k - 1].r2; k--)
        list[k] = list[k - 1];
    list[k] = item;
}

static double factor_value(const struct sr_bank *bank, const struct sr_factor *h, int i)
{
    if (h->a < 0)
        return 1;
    const double a = bank->value[h->a][i];
    if (h->b < 0)
        return a;
    return h->op == SR_MUL ? a * bank->value[h->b][i] : a / bank->value[h->b][i];
}

static void solve_target(const struct sr_bank *bank, const struct basis *basis, bool pairs,
                         struct target *t)
{
    double unit[SR_ROWS];
    float r[BASIS], narrow[SR_ROWS];
    const struct sr_vec *vec = sr_vec_best();
    for (int i = 0; i < SR_ROWS; i++)
        if (!invert(t->outer, bank->y[i] / factor_value(bank, &t->factor, i), &t->z[i]))
            return;
    if (!normalise(t->z, unit, &t->mean, &t->length))
        return;
    t->usable = true;
    for (int i = 0; i < SR_ROWS; i++)
        narrow[i] = (float)unit[i];
    for (int first = 0; first < basis->singles; first += BLOCK) {
        float c[BLOCK];
        const int left = basis->singles - first, n = left < BLOCK ? left : BLOCK;
        vec->correlate(narrow, &basis->single[0][first], SINGLES, SR_ROWS, c);
        for (int f = 0; f < n; f++)
            if (c[f] * c[f] > (float)t->single[KEPT - 1].r2)
                keep(t->single,
                     (struct found){(double)(c[f] * c[f]), basis->single_index[first + f], -1});
    }
    for (int f = 0; f < basis->count && pairs; f++)
        r[f] = (float)dot(unit, basis->unit[f]);
    for (int f = 1; f < basis->count && pairs; f++) {
        float r2[BASIS];
        const float limit = (float)t->pair[KEPT - 1].r2;
        if (vec->pair_row(r, basis->correlation[f], f, r2) <= limit)
            continue;
        for (int g = 0; g < f; g++)
            if (r2[g] > limit)
                keep(t->pair, (struct found){(double)r2[g], basis->index[f], basis->index[g]});
    }
}

/* ---- formulas */

static bool put(struct sr_expr *out, struct sr_node node, int limit)
{
    if (out->count >= limit)
        return false;
    out->node[out->count++] = node;
    return true;
}

static bool put_entry(const struct sr_bank *bank, int index, struct sr_expr *out, int limit)
{
    struct sr_expr piece;
    if (!sr_bank_expr(bank, &bank->entry[index], &piece) || out->count + piece.count > limit)
        return false;
    memcpy(out->node + out->count, piece.node, (size_t)piece.count * sizeof *piece.node);
    out->count += piece.count;
    return true;
}

/* weight * f, the product left out where `plain`. */
static bool put_term(const struct sr_bank *bank, int index, double weight, bool plain,
                     struct sr_expr *out, int limit)
{
    if (plain)
        return put_entry(bank, index, out, limit);
    return put(out, (struct sr_node){.op = SR_CONSTANT, .value = weight}, limit) &&
           put_entry(bank, index, out, limit) && put(out, (struct sr_node){.op = SR_MUL}, limit);
}

/* What of a f + b g + c is written: all; without c; f + b g; f + c; f + g; ... */
struct shape {
    bool plain_f, plain_g, offset;
    enum sr_op join; /* between f and g */
};

static bool put_factor(const struct sr_bank *bank, const struct sr_factor *h, struct sr_expr *out,
                       int limit)
{
    return h->a < 0 || (put_entry(bank, h->a, out, limit) &&
                        (h->b < 0 || (put_entry(bank, h->b, out, limit) &&
                                      put(out, (struct sr_node){.op = (uint8_t)h->op}, limit))));
}

static bool write_shape(const struct sr_bank *bank, const struct target *t,
                        const struct found *found, const double w[3], struct shape shape, int limit,
                        struct sr_expr *out)
{
    const struct sr_node multiply = {.op = SR_MUL}, add = {.op = SR_ADD};
    out->count = 0;
    bool ok = put_factor(bank, &t->factor, out, limit) &&
              put_term(bank, found->f, w[0], shape.plain_f, out, limit);
    if (found->g >= 0)
        ok = ok && put_term(bank, found->g, w[1], shape.plain_g, out, limit) &&
             put(out, (struct sr_node){.op = (uint8_t)shape.join}, limit);
    if (shape.offset)
        ok = ok && put(out, (struct sr_node){.op = SR_CONSTANT, .value = w[2]}, limit) &&
             put(out, add, limit);
    if (t->outer.inner != SR_CONSTANT)
        ok = ok && put(out, (struct sr_node){.op = (uint8_t)t->outer.inner}, limit);
    if (t->outer.last != SR_CONSTANT)
        ok = ok && put(out, (struct sr_node){.op = (uint8_t)t->outer.last}, limit);
    if (t->factor.a >= 0)
        ok = ok && put(out, multiply, limit);
    return ok && sr_expr_measure(out);
}

static bool has(const struct sr_settings *s, enum sr_op op)
{
    for (int i = 0; i < s->binary_count; i++)
        if (s->binary[i] == op)
            return true;
    return false;
}

/* Weights of z = a f + b g + c; false when f and g are one. */
static bool solve_weights(const struct sr_bank *bank, const struct target *t,
                          const struct found *found, double w[3])
{
    double z[SR_ROWS], f[SR_ROWS], g[SR_ROWS], mean[3] = {0}, length[3] = {0};
    if (!normalise(t->z, z, &mean[2], &length[2]) ||
        !normalise(bank->value[found->f], f, &mean[0], &length[0]) ||
        (found->g >= 0 && !normalise(bank->value[found->g], g, &mean[1], &length[1])))
        return false;
    const double rf = dot(z, f), rg = found->g < 0 ? 0 : dot(z, g);
    const double c = found->g < 0 ? 0 : dot(f, g), rest = 1 - c * c;
    if (!(rest > 1e-9))
        return false;
    w[0] = length[2] * (rf - c * rg) / rest / length[0];
    w[1] = found->g < 0 ? 0 : length[2] * (rg - c * rf) / rest / length[1];
    w[2] = mean[2] - w[0] * mean[0] - w[1] * mean[1];
    return w[0] != 0;
}

static void add_shapes(const struct sr_bank *bank, const struct sr_settings *s,
                       const struct target *t, const struct found *found, struct sr_candidates *out)
{
    const int g = found->g;
    double w[3] = {0};
    if (!solve_weights(bank, t, found, w))
        return;
    const double n[3] = {1, w[1] / w[0], w[2] / w[0]};
    const enum sr_op minus = has(s, SR_SUB) ? SR_SUB : SR_ADD;
    const struct {
        struct shape shape;
        const double *weight;
    } row[] = {
        {{false, false, true, SR_ADD}, w},
        {{false, false, false, SR_ADD}, w},
        {{true, false, true, SR_ADD}, n},
        {{true, false, false, SR_ADD}, n},
        {{true, true, false, w[0] * w[1] < 0 ? minus : SR_ADD}, n},
        {{true, true, true, w[0] * w[1] < 0 ? minus : SR_ADD}, n},
        {{true, false, false, SR_ADD}, n}, /* of a single one: no offset */
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        if (g < 0 ? k == 2 || k == 4 || k == 5 || k == 6 : k == 6)
            continue;
        if (out->count < SR_CANDIDATES && write_shape(bank, t, found, row[k].weight, row[k].shape,
                                                      s->maxsize, &out->expr[out->count]))
            out->count++;
    }
}

/* ---- all targets */

/* ---- the best of all targets, by how close they are to y itself */

struct offer {
    double score;
    int order;
    const struct target *target;
    const struct found *found;
};

/* The smaller of the shares of y and of ones that h H(a f + b g + c) and its ratio to y leave. */
static double closeness(const struct sr_bank *bank, const struct target *t,
                        const struct found *found)
{
    double w[3], absolute = 0, relative = 0;
    if (!solve_weights(bank, t, found, w))
        return HUGE_VAL;
    for (int i = 0; i < SR_ROWS; i++) {
        double v = w[0] * bank->value[found->f][i] + w[2];
        if (found->g >= 0)
            v += w[1] * bank->value[found->g][i];
        if (t->outer.inner != SR_CONSTANT)
            v = sr_op_table[t->outer.inner].value(v, v);
        if (t->outer.last != SR_CONSTANT)
            v = sr_op_table[t->outer.last].value(v, v);
        v = v * factor_value(bank, &t->factor, i) - bank->y[i];
        absolute += v * v;
        relative += v * bank->inverse[i] * v * bank->inverse[i];
    }
    const double score = fmin(absolute / bank->yy, relative / SR_ROWS);
    return isfinite(score) ? score : HUGE_VAL;
}

static int by_score(const void *a, const void *b)
{
    const struct offer *p = a, *q = b;
    if (p->score != q->score)
        return p->score < q->score ? -1 : 1;
    return p->order - q->order;
}

static int offer_best(const struct sr_bank *bank, const struct sr_settings *settings,
                      const struct target *target, int targets, struct sr_candidates *candidates)
{
    struct offer *offer = orr_alloc((size_t)targets * 2 * KEPT, sizeof *offer);
    int n = 0;
    if (!offer)
        return ORR_ENOMEM;
    for (int i = 0; i < targets; i++)
        for (int k = 0; k < 2 * KEPT; k++) {
            const struct found *found = k < KEPT ? &target[i].single[k] : &target[i].pair[k - KEPT];
            if (!target[i].usable || !(found->r2 > 0))
                continue;
            const double size =
                bank->entry[found->f].size + (found->g < 0 ? 0 : bank->entry[found->g].size);
            offer[n] = (struct offer){closeness(bank, &target[i], found) * (1 + 0.1 * size), n,
                                      &target[i], found};
            n++;
        }
    qsort(offer, (size_t)n, sizeof *offer, by_score);
    for (int i = 0; i < n && offer[i].score < 1; i++)
        add_shapes(bank, settings, offer[i].target, offer[i].found, candidates);
    free(offer);
    return 0;
}

/* A factor by itself is a formula, too. */
static void add_factors(const struct sr_bank *bank, const struct sr_settings *s,
                        const struct sr_factor *list, int n, struct sr_candidates *out)
{
    for (int i = 0; i < n && out->count < SR_CANDIDATES; i++) {
        struct sr_expr *expr = &out->expr[out->count];
        expr->count = 0;
        if (put_factor(bank, &list[i], expr, s->maxsize) && sr_expr_measure(expr))
            out->count++;
    }
}

int sr_compose(const struct sr_bank *bank, const struct sr_settings *settings, int threads,
               struct sr_candidates *candidates)
{
    struct outer outer[INVERSES];
    struct sr_factor factor[SR_FACTORS];
    if (!has(settings, SR_ADD) || !has(settings, SR_MUL))
        return 0;
    struct basis *basis = orr_alloc(1, sizeof *basis);
    struct target *target = orr_alloc((size_t)INVERSES * (SR_FACTORS + 1), sizeof *target);
    int rc = basis && target ? basis_init(basis, bank) : ORR_ENOMEM, targets = 0, close = 0;
    if (!rc) {
        const int outers = list_outer(settings, outer);
        const int factors = sr_factors_find(bank, has(settings, SR_DIV), factor, &close);
        targets = outers * (factors + 1);
        add_factors(bank, settings, factor, close, candidates);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (int i = 0; i < targets; i++) {
            target[i].factor = (struct sr_factor){-1, -1, SR_MUL, 0};
            if (i / outers)
                target[i].factor = factor[i / outers - 1];
            target[i].outer = outer[i % outers];
            if (i / outers > close && target[i].outer.last != SR_CONSTANT)
                continue;
            solve_target(bank, basis, i / outers <= close, &target[i]);
        }
    }
    if (!rc)
        rc = offer_best(bank, settings, target, targets, candidates);
    if (basis)
        free(basis->correlation);
    free(basis);
    free(target);
    return rc;
}
