/* compose.c - h H(a f + b g + c): pairs of small formulas meet in the middle.
 *
 * With z = H^-1(y / h) at the bank's rows, the best a, b, c of a pair follow from three
 * correlations: R^2 = (rf^2 + rg^2 - 2 rf rg rfg) / (1 - rfg^2). The correlations rfg of all pairs
 * are computed once; a target costs one pass over them. */
#include "enumerate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BASIS = 600,   /* formulas f and g */
    FACTORS = 96,  /* formulas h */
    INVERSES = 16, /* ways H, at most */
    KEPT = 3,      /* singles and pairs of each target, each */
};

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__)
#define FOR_MANY_CPUS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_MANY_CPUS
#endif

/* ---- operators with an inverse */

/* H as one or two operators, the inner first; the second may be SR_CONSTANT for none. */
struct outer {
    enum sr_op inner, last;
};

static bool invert_one(enum sr_op op, double v, double *z)
{
    switch (op) {
    case SR_CONSTANT:
        *z = v;
        break;
    case SR_INV:
        *z = 1 / v;
        break;
    case SR_SQUARE:
        *z = sqrt(v);
        break;
    case SR_CUBE:
        *z = cbrt(v);
        break;
    case SR_SQRT:
        *z = v >= 0 ? v * v : NAN;
        break;
    case SR_EXP:
        *z = log(v);
        break;
    case SR_LOG:
        *z = exp(v);
        break;
    case SR_TANH:
        *z = atanh(v);
        break;
    case SR_SIN:
        *z = asin(v);
        break;
    case SR_COS:
        *z = acos(v);
        break;
    default:
        return false;
    }
    return isfinite(*z);
}

static bool invert(struct outer h, double v, double *z)
{
    double middle;
    return invert_one(h.last, v, &middle) && invert_one(h.inner, middle, z);
}

/* The identity, each invertible operator, and inv, square over sqrt and the like. */
static int list_outer(const struct sr_settings *s, struct outer list[INVERSES])
{
    double z;
    int n = 0;
    list[n++] = (struct outer){SR_CONSTANT, SR_CONSTANT};
    for (int i = 0; i < s->unary_count && n < INVERSES; i++)
        if (invert_one(s->unary[i], 0.5, &z))
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
    int count;
    int index[BASIS];            /* in the bank */
    double unit[BASIS][SR_ROWS]; /* mean 0, length 1 */
    double mean[BASIS], length[BASIS];
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

/* The bank's first formulas without constants that are no affine image of an earlier one. */
static int basis_init(struct basis *basis, const struct sr_bank *bank)
{
    basis->correlation = orr_alloc(BASIS, sizeof *basis->correlation);
    if (!basis->correlation)
        return ORR_ENOMEM;
    for (int e = 0; e < bank->count && basis->count < BASIS; e++) {
        const int n = basis->count;
        if (bank->entry[e].constant ||
            !normalise(bank->value[e], basis->unit[n], &basis->mean[n], &basis->length[n]))
            continue;
        bool seen = false;
        for (int k = 0; k < n && !seen; k++) {
            const double r = dot(basis->unit[n], basis->unit[k]);
            basis->correlation[n][k] = basis->correlation[k][n] = (float)r;
            seen = fabs(r) > 1 - 1e-10;
        }
        basis->correlation[n][n] = 1;
        basis->index[n] = e;
        basis->count += !seen;
    }
    return 0;
}

/* ---- targets */

struct found {
    double r2;
    int f, g; /* of the basis; g < 0: a f + c */
};
struct target {
    int factor; /* of the bank, -1: none */
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

/* R^2 of formula f with every g before it; returns the largest. */
FOR_MANY_CPUS static float pair_row(const float *r, const float *rfg, int f, float *r2)
{
    const float rf = r[f];
    float best = 0;
    for (int g = 0; g < f; g++) {
        const float rest = 1 - rfg[g] * rfg[g];
        r2[g] = (rf * rf + r[g] * r[g] - 2 * rf * r[g] * rfg[g]) / (rest + 1e-5F);
    }
    for (int g = 0; g < f; g++)
        best = r2[g] > best ? r2[g] : best;
    return best;
}

static void solve_target(const struct sr_bank *bank, const struct basis *basis, struct target *t)
{
    double unit[SR_ROWS];
    float r[BASIS];
    for (int i = 0; i < SR_ROWS; i++) {
        const double h = t->factor < 0 ? 1 : bank->value[t->factor][i];
        if (!invert(t->outer, bank->y[i] / h, &t->z[i]))
            return;
    }
    if (!normalise(t->z, unit, &t->mean, &t->length))
        return;
    t->usable = true;
    for (int f = 0; f < basis->count; f++) {
        const double c = dot(unit, basis->unit[f]);
        r[f] = (float)c;
        keep(t->single, (struct found){c * c, f, -1});
    }
    for (int f = 1; f < basis->count; f++) {
        float r2[BASIS];
        const float limit = (float)t->pair[KEPT - 1].r2;
        if (pair_row(r, basis->correlation[f], f, r2) <= limit)
            continue;
        for (int g = 0; g < f; g++)
            if (r2[g] > limit)
                keep(t->pair, (struct found){(double)r2[g], f, g});
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

static bool write_shape(const struct sr_bank *bank, const struct basis *basis,
                        const struct target *t, const struct found *found, const double w[3],
                        struct shape shape, int limit, struct sr_expr *out)
{
    const struct sr_node multiply = {.op = SR_MUL}, add = {.op = SR_ADD};
    bool ok = true;
    out->count = 0;
    if (t->factor >= 0)
        ok = put_entry(bank, t->factor, out, limit);
    ok = ok && put_term(bank, basis->index[found->f], w[0], shape.plain_f, out, limit);
    if (found->g >= 0)
        ok = ok && put_term(bank, basis->index[found->g], w[1], shape.plain_g, out, limit) &&
             put(out, (struct sr_node){.op = (uint8_t)shape.join}, limit);
    if (shape.offset)
        ok = ok && put(out, (struct sr_node){.op = SR_CONSTANT, .value = w[2]}, limit) &&
             put(out, add, limit);
    if (t->outer.inner != SR_CONSTANT)
        ok = ok && put(out, (struct sr_node){.op = (uint8_t)t->outer.inner}, limit);
    if (t->outer.last != SR_CONSTANT)
        ok = ok && put(out, (struct sr_node){.op = (uint8_t)t->outer.last}, limit);
    if (t->factor >= 0)
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

static void add_shapes(const struct sr_bank *bank, const struct basis *basis,
                       const struct sr_settings *s, const struct target *t,
                       const struct found *found, struct sr_candidates *out)
{
    const int f = found->f, g = found->g;
    const double *z = t->z;
    double unit[SR_ROWS], mean, length, w[3] = {0};
    if (!normalise(z, unit, &mean, &length))
        return;
    const double rf = dot(unit, basis->unit[f]), rg = g < 0 ? 0 : dot(unit, basis->unit[g]);
    const double c = g < 0 ? 0 : (double)basis->correlation[f][g], rest = 1 - c * c;
    if (g >= 0 && !(rest > 1e-9))
        return;
    w[0] = length * (rf - c * rg) / rest / basis->length[f];
    w[1] = g < 0 ? 0 : length * (rg - c * rf) / rest / basis->length[g];
    w[2] = mean - w[0] * basis->mean[f] - (g < 0 ? 0 : w[1] * basis->mean[g]);
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
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        if (g < 0 && (k == 1 || k > 3))
            continue;
        if (out->count < SR_CANDIDATES &&
            write_shape(bank, basis, t, found, row[k].weight, row[k].shape, s->maxsize,
                        &out->expr[out->count]))
            out->count++;
    }
}

/* ---- all targets */

/* No factor, and the formulas without constants to which y is closest in ratio. */
static int list_factors(const struct sr_bank *bank, int factor[FACTORS])
{
    double score[FACTORS];
    int n = 0;
    for (int e = 0; e < bank->count; e++) {
        double sum = 0, square = 0;
        if (bank->entry[e].constant)
            continue;
        for (int i = 0; i < SR_ROWS; i++) {
            const double q = log(fabs(bank->y[i] / bank->value[e][i]));
            sum += q;
            square += q * q;
        }
        const double spread = square / SR_ROWS - sum * sum / (SR_ROWS * SR_ROWS);
        const double value = spread * (1 + 0.25 * bank->entry[e].size);
        if (!isfinite(value))
            continue;
        int k = n < FACTORS ? n++ : FACTORS;
        for (; k > 0 && value < score[k - 1]; k--)
            if (k < FACTORS) {
                score[k] = score[k - 1];
                factor[k] = factor[k - 1];
            }
        if (k < FACTORS) {
            score[k] = value;
            factor[k] = e;
        }
    }
    return n;
}

int sr_compose(const struct sr_bank *bank, const struct sr_settings *settings, int threads,
               struct sr_candidates *candidates)
{
    struct outer outer[INVERSES];
    int factor[FACTORS];
    if (!has(settings, SR_ADD) || !has(settings, SR_MUL))
        return 0;
    const int outers = list_outer(settings, outer), factors = list_factors(bank, factor);
    const int targets = outers * (factors + 1);
    struct basis *basis = orr_alloc(1, sizeof *basis);
    struct target *target = orr_alloc((size_t)targets, sizeof *target);
    int rc = basis && target ? basis_init(basis, bank) : ORR_ENOMEM;
    if (!rc) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (int i = 0; i < targets; i++) {
            target[i].factor = i / outers ? factor[i / outers - 1] : -1;
            target[i].outer = outer[i % outers];
            solve_target(bank, basis, &target[i]);
        }
    }
    /* the best of every target first: none of them is left out when there is no room for all */
    for (int k = 0; k < KEPT && !rc; k++)
        for (int i = 0; i < targets; i++) {
            if (target[i].usable && target[i].single[k].r2 > 0.3)
                add_shapes(bank, basis, settings, &target[i], &target[i].single[k], candidates);
            if (target[i].usable && target[i].pair[k].r2 > 0.3)
                add_shapes(bank, basis, settings, &target[i], &target[i].pair[k], candidates);
        }
    if (basis)
        free(basis->correlation);
    free(basis);
    free(target);
    return rc;
}
