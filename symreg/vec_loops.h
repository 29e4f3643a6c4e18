/* vec_loops.h - inside symreg/: the loops of vec.h, inlined into every variant of vec.c.
 *
 * Written so that a compiler makes vector code of them. Sums run in 16 lanes, row i in lane i % 16,
 * for any width of vectors: two of the widest, as one alone would wait for its own additions. */
#ifndef SR_VEC_LOOPS_H
#define SR_VEC_LOOPS_H

#include <math.h>

#include "vec.h"
#include "vecmath.h"

enum { LANES = 16 };

/* total = the sum of TERM over j = 0 .. n-1, in lanes. */
#define LANE_SUM(total, n, TERM)                                                                   \
    do {                                                                                           \
        double lane_[LANES] = {0};                                                                 \
        size_t i_ = 0;                                                                             \
        for (; i_ + LANES <= (n); i_ += LANES)                                                     \
            for (size_t l_ = 0; l_ < LANES; l_++) {                                                \
                const size_t j = i_ + l_;                                                          \
                lane_[l_] += (TERM);                                                               \
            }                                                                                      \
        for (size_t l_ = 0; i_ + l_ < (n); l_++) {                                                 \
            const size_t j = i_ + l_;                                                              \
            lane_[l_] += (TERM);                                                                   \
        }                                                                                          \
        (total) = sum_lanes(lane_);                                                                \
    } while (0)

VM_INLINE double sum_lanes(const double *lane)
{
    double four[4];
    for (int l = 0; l < 4; l++)
        four[l] = (lane[l] + lane[l + 4]) + (lane[l + 8] + lane[l + 12]);
    return (four[0] + four[1]) + (four[2] + four[3]);
}

/* ---- operators */

VM_INLINE bool all_below(size_t n, const double *x, double limit)
{
    uint64_t bad = 0;
    for (size_t i = 0; i < n; i++)
        bad |= fabs(x[i]) < limit ? 0u : 1u;
    return !bad;
}

#define LOOP(A, B, value)                                                                          \
    {                                                                                              \
        _Pragma("omp simd reduction(|:bad)") for (int i = 0; i < n; i++)                           \
        {                                                                                          \
            const double a = (A), b = (B);                                                         \
            (void)b;                                                                               \
            const double result = (value);                                                         \
            out[i] = result;                                                                       \
            bad |= vm_bits(result - result); /* 0 where it is finite, else NaN */                  \
        }                                                                                          \
        break;                                                                                     \
    }
#define OP(id, name, arity, infix, value, da, db)                                                  \
    case id:                                                                                       \
        if ((arity) == 2 && form == SR_VEC_A_NUMBER)                                               \
            LOOP(first, y[i], value)                                                               \
        if ((arity) == 2 && form == SR_VEC_B_NUMBER)                                               \
            LOOP(x[i], second, value)                                                              \
        if ((arity) == 2)                                                                          \
            LOOP(x[i], y[i], value)                                                                \
        LOOP(x[i], 0.0, value)
VM_INLINE bool apply(int op, int form, int n, const double *x, const double *y, double *out)
{
    const double first = x[0], second = y[0];
    uint64_t bad = 0;
    double same[SR_TILE], angle[SR_TILE];
    const bool large = op >= SR_SIN && op <= SR_TAN && !all_below((size_t)n, x, VM_TRIG_MAX);
    if (large) /* out may be x */
        memcpy(angle, x, (size_t)n * sizeof *x);
    if (op == SR_POW && form != SR_VEC_ROWS) { /* gcc makes no vector code of that loop */
        for (int i = 0; i < n; i++)
            same[i] = form == SR_VEC_A_NUMBER ? first : second;
        x = form == SR_VEC_A_NUMBER ? same : x;
        y = form == SR_VEC_B_NUMBER ? same : y;
        form = SR_VEC_ROWS;
    }
    switch (op) {
#include "ops_table.h"
    default:
        break;
    }
    for (int i = 0; i < n && large; i++) {
        if (!(fabs(angle[i]) < VM_TRIG_MAX))
            out[i] = sr_op_table[op].value(angle[i], 0);
        bad = (i ? bad : 0) | vm_bits(out[i] - out[i]);
    }
    return !bad;
}
#undef OP
#undef LOOP

#define LOOP(slope)                                                                                \
    {                                                                                              \
        _Pragma("omp simd") for (int i = 0; i < n; i++)                                            \
        {                                                                                          \
            const double a = x[i], b = y[i], v = values[i];                                        \
            (void)a, (void)b, (void)v;                                                             \
            d[i] = outer[i] * (slope);                                                             \
        }                                                                                          \
        break;                                                                                     \
    }
#define OP(id, name, arity, infix, value, da, db)                                                  \
    case id:                                                                                       \
        if ((arity) == 2 && operand == 1)                                                          \
            LOOP(db)                                                                               \
        LOOP(da)
VM_INLINE void chain(int op, int operand, int n, const double *x, const double *y,
                     const double *values, const double *outer, double *d)
{
    switch (op) {
#include "ops_table.h"
    default:
        break;
    }
}
#undef OP
#undef LOOP

/* ---- sums */

VM_INLINE double study(double d)
{
    const double size = fabs(d);
    return size <= SR_DEAD_ZONE ? 0.0 : size - SR_DEAD_ZONE; /* NaN stays NaN */
}

VM_INLINE double huber(double d, double delta)
{
    const double size = fabs(d);
    return size <= delta ? 0.5 * d * d : delta * (size - 0.5 * delta);
}

#define WEIGHTED_SUM(TERM)                                                                         \
    do {                                                                                           \
        if (w)                                                                                     \
            LANE_SUM(total, n, (TERM)*w[j]);                                                       \
        else                                                                                       \
            LANE_SUM(total, n, TERM);                                                              \
    } while (0)
#define D vm_fma(scale, p[j], -t[j])
VM_INLINE double loss_sum(const struct sr_vec_loss *loss, const double *p, double scale, size_t n)
{
    const double *const t = loss->t, *const w = loss->weight;
    const double parameter = loss->parameter;
    double total = 0;
    switch (loss->kind) {
    case ORR_SR_L1:
    case ORR_SR_RELATIVE:
        WEIGHTED_SUM(fabs(D));
        break;
    case ORR_SR_L2:
        WEIGHTED_SUM(D * D);
        break;
    case ORR_SR_STUDY:
        WEIGHTED_SUM(study(D));
        break;
    case ORR_SR_HUBER:
        WEIGHTED_SUM(huber(D, parameter));
        break;
    case ORR_SR_LOGCOSH:
        WEIGHTED_SUM(parameter * parameter * vm_log_cosh(D / parameter));
        break;
    case ORR_SR_QUANTILE:
        WEIGHTED_SUM(D < 0.0 ? -parameter * D : (1.0 - parameter) * D);
        break;
    case ORR_SR_CUSTOM: /* sr_custom_loss() */
        break;
    }
    return total;
}
#undef D
#undef WEIGHTED_SUM

#define D      vm_fma(scale, p[j], -t[j])
#define WEIGHT (w ? w[j] : 1.0)
VM_INLINE void slopes(const struct sr_vec_loss *loss, const double *p, double scale, size_t n,
                      double slope[2])
{
    const double *const t = loss->t, *const w = loss->weight;
    const double delta = loss->parameter;
    if (loss->kind == ORR_SR_HUBER) {
        LANE_SUM(slope[0], n, (D > delta ? delta : D < -delta ? -delta : D) * p[j] * WEIGHT);
        LANE_SUM(slope[1], n, vm_if(fabs(D) <= delta, p[j] * p[j] * WEIGHT));
    } else {
        LANE_SUM(slope[0], n, delta * vm_tanh(D / delta) * p[j] * WEIGHT);
        LANE_SUM(slope[1], n,
                 (1.0 - vm_tanh(D / delta) * vm_tanh(D / delta)) * p[j] * p[j] * WEIGHT);
    }
}
#undef WEIGHT
#undef D

/* Rows from `first`, a multiple of LANES, where the sums of those before are in the lanes. */
VM_INLINE void products_rest(const double *p, const double *t, const double *w, size_t n,
                             double sum[2], size_t first, double pp[LANES], double pt[LANES])
{
    size_t i = first;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) {
            const double a = p[i + l], aw = w ? a * w[i + l] : a;
            pp[l] = vm_fma(aw, a, pp[l]);
            pt[l] = vm_fma(aw, t[i + l], pt[l]);
        }
    for (size_t l = 0; i + l < n; l++) {
        const double a = p[i + l], aw = w ? a * w[i + l] : a;
        pp[l] = vm_fma(aw, a, pp[l]);
        pt[l] = vm_fma(aw, t[i + l], pt[l]);
    }
    sum[0] = sum_lanes(pp);
    sum[1] = sum_lanes(pt);
}

VM_INLINE void products(const double *p, const double *t, const double *w, size_t n, double sum[2])
{
    double pp[LANES] = {0}, pt[LANES] = {0};
    products_rest(p, t, w, n, sum, 0, pp, pt);
}

VM_INLINE double sum(const double *x, size_t n)
{
    double total;
    LANE_SUM(total, n, x[j]);
    return total;
}

VM_INLINE double residuals(const double *t, const double *p, double scale, size_t n, double *out)
{
    double total;
    for (size_t i = 0; i < n; i++)
        out[i] = t[i] - scale * p[i];
    LANE_SUM(total, n, fabs(out[j]));
    return total;
}

VM_INLINE double weigh(const double *a, const double *b, const double *c, size_t n, double *out)
{
    double total;
    for (size_t i = 0; i < n; i++)
        out[i] = a[i] * b[i];
    LANE_SUM(total, n, out[j] * c[j]);
    return total;
}

VM_INLINE double not_below(double x, double floor)
{
    return x > floor ? x : floor;
}

/* Slope of the loss over the residual. */
VM_INLINE void reweigh(const struct sr_vec_loss *loss, const double *residual, double floor,
                       size_t n, double *out)
{
    const double *const w = loss->weight;
    const double parameter = loss->parameter;
    switch (loss->kind) {
    case ORR_SR_L2:
        for (size_t i = 0; i < n; i++)
            out[i] = 1.0;
        break;
    case ORR_SR_HUBER:
        for (size_t i = 0; i < n; i++)
            out[i] = parameter / not_below(fabs(residual[i]), parameter);
        break;
    case ORR_SR_LOGCOSH:
        for (size_t i = 0; i < n; i++) {
            const double d = not_below(fabs(residual[i]) / parameter, 1e-9);
            out[i] = vm_tanh(d) / d;
        }
        break;
    case ORR_SR_QUANTILE:
        for (size_t i = 0; i < n; i++)
            out[i] = (residual[i] > 0.0 ? parameter : 1.0 - parameter) /
                     not_below(fabs(residual[i]), floor);
        break;
    default:
        for (size_t i = 0; i < n; i++)
            out[i] = 1.0 / not_below(fabs(residual[i]), floor);
        break;
    }
    for (size_t i = 0; i < n && w; i++)
        out[i] *= w[i];
}

VM_INLINE double dot(const double *a, const double *b, size_t n)
{
    double total;
    LANE_SUM(total, n, a[j] * b[j]);
    return total;
}

/* ---- selection */

VM_INLINE void divide(const double *a, const double *b, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = a[i] / b[i];
}

VM_INLINE void between(const double *value, const double *weight, double low, double high,
                       double found[2])
{
    double rank[SR_VEC_FEW] = {0}, first = -HUGE_VAL, second = HUGE_VAL;
    for (int i = 0; i < SR_VEC_FEW; i++)
        for (int k = 0; k < SR_VEC_FEW; k++)
            rank[k] += value[i] < value[k] ? weight[i] : 0.0;
    for (int k = 0; k < SR_VEC_FEW; k++) {
        first = rank[k] < low && value[k] > first ? value[k] : first;
        second = rank[k] > high && value[k] < second ? value[k] : second;
    }
    found[0] = first;
    found[1] = second;
}

/* p, with its sign changed where the ratio t / p is not below `end`: |p| or -|p|. */
VM_INLINE double excess_of(double p, double t, double end)
{
    return vm_from_bits(vm_bits(p) ^ (vm_bits(vm_fma(-end, p, t)) & VM_SIGN));
}

/* Rows from `first`, a multiple of 64, where the sums of those before are in the lanes. */
VM_INLINE void split_rest(const double *p, const double *t, size_t n, const double end[2],
                          double excess[2], uint64_t *inside, size_t first, double lane[2][LANES])
{
    for (size_t i = first; i < n; i += 64) {
        const size_t rows = n - i < 64 ? n - i : 64;
        uint64_t word = 0;
        for (size_t l = 0; l < rows; l++) {
            const double a = excess_of(p[i + l], t[i + l], end[0]);
            const double b = excess_of(p[i + l], t[i + l], end[1]);
            lane[0][l % LANES] += a;
            lane[1][l % LANES] += b;
            word |= (vm_bits(a) ^ vm_bits(b)) >> 63 << l;
        }
        if (inside)
            inside[i / 64] = word;
    }
    excess[0] = sum_lanes(lane[0]);
    excess[1] = sum_lanes(lane[1]);
}

VM_INLINE size_t keep_pairs(double *value, double *weight, size_t n, double low, double high,
                            size_t first, size_t kept)
{
    for (size_t i = first; i < n; i++) {
        const double v = value[i], w = weight[i];
        value[kept] = v;
        weight[kept] = w;
        kept += v >= low && v < high;
    }
    return kept;
}

VM_INLINE double below(const double *value, const double *weight, size_t n, double limit)
{
    double total;
    LANE_SUM(total, n, vm_if(value[j] < limit, weight[j]));
    return total;
}

static void between_any(const double *value, const double *weight, double low, double high,
                        double found[2])
{
    between(value, weight, low, high, found);
}

#endif
