/* vec_loops.c - the loops over rows, written for automatic vectorisation, and their table; see
 * vec.h.
 *
 * Sums run in 16 lanes, row i in lane i % 16, for any vector width: two of the widest vectors, as a
 * single one would wait for its own additions. */
#include <math.h>
#include <string.h>

#include "vec.h"
#include "base/vecmath.h"

/* -DSR_NO_INTRINSICS compiles the AVX-512 loops without intrinsics, to measure their gain. */
#if defined __AVX512F__ && !defined SR_NO_INTRINSICS
#define INTRINSICS
#endif

enum { LANES = 16 };

/* total = sum of TERM over j = 0 .. n-1, in lanes. */
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

/* A function each, which is not inlined: one function of all loops is compiled slowly, and a
 * browser's compiler runs it unoptimised for seconds. Both end with 0 where all results are
 * finite. */
#define SEPARATE __attribute__((noinline))
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
        return bad;                                                                                \
    }
#define OP(id, name, arity, infix, cost, traits, undoes, units, power, value, da, db, ...)         \
    SEPARATE static uint64_t apply_##id(int form, int n, const double *x, const double *y,         \
                                        double *out)                                               \
    {                                                                                              \
        const double first = x[0], second = y[0];                                                  \
        uint64_t bad = 0;                                                                          \
        (void)first, (void)second;                                                                 \
        if ((arity) == 2 && form == SR_VEC_A_NUMBER)                                               \
            LOOP(first, y[i], value)                                                               \
        if ((arity) == 2 && form == SR_VEC_B_NUMBER)                                               \
            LOOP(x[i], second, value)                                                              \
        if ((arity) == 2)                                                                          \
            LOOP(x[i], y[i], value)                                                                \
        LOOP(x[i], 0.0, value)                                                                     \
    }
#include "formula/ops_table.h"
#undef OP
#undef LOOP

_Static_assert(SR_COS == SR_SIN + 1 && SR_TAN == SR_SIN + 2, "operators of large angles");
static bool apply(int op, int form, int n, const double *x, const double *y, double *out)
{
    const double number = form == SR_VEC_A_NUMBER ? x[0] : y[0];
    uint64_t bad = 0;
    double same[SR_TILE], angle[SR_TILE];
    const bool large = op >= SR_SIN && op <= SR_TAN && !all_below((size_t)n, x, VM_TRIG_MAX);
    if (large) /* out may be x */
        memcpy(angle, x, (size_t)n * sizeof *x);
    if (op == SR_POW && form != SR_VEC_ROWS) { /* gcc does not vectorise this loop */
        for (int i = 0; i < n; i++)
            same[i] = number;
        x = form == SR_VEC_A_NUMBER ? same : x;
        y = form == SR_VEC_B_NUMBER ? same : y;
        form = SR_VEC_ROWS;
    }
    switch (op) {
#define OP(id, ...)                                                                                \
    case id:                                                                                       \
        bad = apply_##id(form, n, x, y, out);                                                      \
        break;
#include "formula/ops_table.h"
#undef OP
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

#define LOOP(slope)                                                                                \
    {                                                                                              \
        _Pragma("omp simd") for (int i = 0; i < n; i++)                                            \
        {                                                                                          \
            const double a = x[i], b = y[i], v = values[i];                                        \
            (void)a, (void)b, (void)v;                                                             \
            d[i] = outer[i] * (slope);                                                             \
        }                                                                                          \
        return;                                                                                    \
    }
#define OP(id, name, arity, infix, cost, traits, undoes, units, power, value, da, db, ...)         \
    SEPARATE static void chain_##id(int operand, int n, const double *x, const double *y,          \
                                    const double *values, const double *outer, double *d)          \
    {                                                                                              \
        if ((arity) == 2 && operand == 1)                                                          \
            LOOP(db)                                                                               \
        LOOP(da)                                                                                   \
    }
#include "formula/ops_table.h"
#undef OP
#undef LOOP

static void chain(int op, int operand, int n, const double *x, const double *y,
                  const double *values, const double *outer, double *d)
{
    switch (op) {
#define OP(id, ...)                                                                                \
    case id:                                                                                       \
        chain_##id(operand, n, x, y, values, outer, d);                                            \
        break;
#include "formula/ops_table.h"
#undef OP
    default:
        break;
    }
}

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

/* x - ln(1 + x), without cancellation where x is small; infinite for x = -1. */
VM_INLINE double excess(double x)
{
    const double whole = x - vm_log(1.0 + x), y = x * x;
    const double series =
        y * (1.0 / 2 - x / 3 + y * (1.0 / 4 - x / 5 + y * (1.0 / 6 - x / 7 + y * (1.0 / 8))));
    return fabs(x) < 0.01 ? series : whole;
}

/* t ln(t / p) - t + p, infinite where p is not positive, but 0 for p = t = 0. */
VM_INLINE double counted(double t, double p)
{
    const double some = t * excess((p - t) / t), none = t == 0.0 ? p : HUGE_VAL;
    const double found = t > 0.0 ? some : none;
    return p >= 0.0 ? found : HUGE_VAL;
}

/* t / p - 1 - ln(t / p) */
VM_INLINE double scaled(double t, double p)
{
    return p > 0.0 && t > 0.0 ? excess((t - p) / p) : HUGE_VAL;
}

#define WEIGHTED_SUM(TERM)                                                                         \
    do {                                                                                           \
        if (w)                                                                                     \
            LANE_SUM(total, n, (TERM)*w[j]);                                                       \
        else                                                                                       \
            LANE_SUM(total, n, TERM);                                                              \
    } while (0)
#define D vm_fma(scale, p[j], -t[j])
static double loss_sum(const struct sr_vec_loss *loss, const double *p, double scale, size_t n)
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
    case ORR_SR_POISSON:
        WEIGHTED_SUM(2.0 * counted(t[j], scale * p[j]));
        break;
    case ORR_SR_GAMMA:
        WEIGHTED_SUM(2.0 * scaled(t[j], scale * p[j]));
        break;
    case ORR_SR_BERNOULLI:
        WEIGHTED_SUM(2.0 * (counted(t[j], scale * p[j]) + counted(1.0 - t[j], 1.0 - scale * p[j])));
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
static void slopes(const struct sr_vec_loss *loss, const double *p, double scale, size_t n,
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

static void products(const double *p, const double *t, const double *w, size_t n, double sum[2])
{
    double pp[LANES] = {0}, pt[LANES] = {0};
    size_t i = 0;
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

static double sum(const double *x, size_t n)
{
    double total;
    LANE_SUM(total, n, x[j]);
    return total;
}

static double residuals(const double *t, const double *p, double scale, size_t n, double *out)
{
    double total;
    for (size_t i = 0; i < n; i++)
        out[i] = t[i] - scale * p[i];
    LANE_SUM(total, n, fabs(out[j]));
    return total;
}

static double weigh(const double *a, const double *b, const double *c, size_t n, double *out)
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

/* Derivative of the loss divided by the residual. */
static void reweigh(const struct sr_vec_loss *loss, const double *residual, double floor, size_t n,
                    double *out)
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
    case ORR_SR_POISSON:
    case ORR_SR_GAMMA:
    case ORR_SR_BERNOULLI:
        for (size_t i = 0; i < n; i++)
            out[i] = 2.0 * sr_deviance_weight(loss->kind, loss->t[i] - residual[i]);
        break;
    default:
        for (size_t i = 0; i < n; i++)
            out[i] = 1.0 / not_below(fabs(residual[i]), floor);
        break;
    }
    for (size_t i = 0; i < n && w; i++)
        out[i] *= w[i];
}

static double dot(const double *a, const double *b, size_t n)
{
    double total;
    LANE_SUM(total, n, a[j] * b[j]);
    return total;
}

/* ---- selection */

static void divide(const double *a, const double *b, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = a[i] / b[i];
}

#ifndef INTRINSICS
static void between(const double *value, const double *weight, double low, double high,
                    double found[2])
{
    double rank[SR_VEC_FEW] = {0}, first[SR_VEC_FEW], second[SR_VEC_FEW];
    for (int i = 0; i < SR_VEC_FEW; i++) {
        const double v = value[i], w = weight[i];
        for (int k = 0; k < SR_VEC_FEW; k++)
            rank[k] += vm_if(v < value[k], w);
    }
    for (int k = 0; k < SR_VEC_FEW; k++) {
        first[k] = rank[k] < low ? value[k] : -HUGE_VAL;
        second[k] = rank[k] > high ? value[k] : HUGE_VAL;
    }
    for (int width = SR_VEC_FEW / 2; width > 0; width /= 2)
        for (int k = 0; k < width; k++) {
            first[k] = first[k + width] > first[k] ? first[k + width] : first[k];
            second[k] = second[k + width] < second[k] ? second[k + width] : second[k];
        }
    found[0] = first[0];
    found[1] = second[0];
}
#endif

#ifndef INTRINSICS
/* |p| where the ratio t / p is not below `end`, else -|p|. */
VM_INLINE double excess_of(double p, double t, double end)
{
    return vm_from_bits(vm_bits(p) ^ (vm_bits(vm_fma(-end, p, t)) & VM_SIGN));
}

/* `rows` <= LANES rows from p and t: adds to the sums of both ends, and returns a bit for each
 * row. */
VM_INLINE uint64_t split_rows(const double *p, const double *t, size_t rows, const double end[2],
                              double lane[2][LANES], bool with_bits)
{
    uint64_t word = 0;
    for (size_t l = 0; l < rows; l++) {
        const double a = excess_of(p[l], t[l], end[0]), b = excess_of(p[l], t[l], end[1]);
        lane[0][l] += a;
        lane[1][l] += b;
        word |= with_bits ? (vm_bits(a) ^ vm_bits(b)) >> 63 << l : 0;
    }
    return word;
}

VM_INLINE void split_all(const double *p, const double *t, size_t n, const double end[2],
                         double excess[2], uint64_t *inside)
{
    double lane[2][LANES] = {{0}};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const uint64_t word = split_rows(p + i, t + i, LANES, end, lane, inside);
        if (inside)
            inside[i / 64] = (i % 64 ? inside[i / 64] : 0) | word << i % 64;
    }
    if (i < n) {
        const uint64_t word = split_rows(p + i, t + i, n - i, end, lane, inside);
        if (inside)
            inside[i / 64] = (i % 64 ? inside[i / 64] : 0) | word << i % 64;
    }
    excess[0] = sum_lanes(lane[0]);
    excess[1] = sum_lanes(lane[1]);
}

static void split(const double *p, const double *t, size_t n, const double end[2], double excess[2],
                  uint64_t *inside)
{
    if (inside)
        split_all(p, t, n, end, excess, inside);
    else
        split_all(p, t, n, end, excess, NULL);
}
#endif

/* Continues from row i, with `kept` pairs kept so far. */
static size_t keep_pairs_from(size_t i, size_t kept, double *value, double *weight, size_t n,
                              double low, double high)
{
    for (; i < n; i++) {
        const double v = value[i], w = weight[i];
        value[kept] = v;
        weight[kept] = w;
        kept += v >= low && v < high;
    }
    return kept;
}

#ifndef INTRINSICS
static size_t keep_pairs(double *value, double *weight, size_t n, double low, double high)
{
    return keep_pairs_from(0, 0, value, weight, n, low, high);
}
#endif

static double below(const double *value, const double *weight, size_t n, double limit)
{
    double total;
    LANE_SUM(total, n, vm_if(value[j] < limit, weight[j]));
    return total;
}

/* ---- formulas compared at few rows */

static float pair_row(const float *r, const float *rfg, int f, float *r2)
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

static float dot_rows(const float *a, const float *b)
{
    float lane[16] = {0};
    for (int i = 0; i < SR_ROWS; i += 16)
        for (int l = 0; l < 16; l++)
            lane[l] += a[i + l] * b[i + l];
    float sum = 0;
    for (int l = 0; l < 16; l++)
        sum += lane[l];
    return sum;
}

static void add_up(const double *p, const double *y, const double *inverse, double total[5])
{
    enum { GROUP = 8 };
    double sum[5][GROUP] = {0};
    for (int i = 0; i < SR_ROWS; i += GROUP)
        for (int l = 0; l < GROUP; l++) {
            const double v = p[i + l], q = v * inverse[i + l];
            sum[0][l] += v * v;
            sum[1][l] += v * y[i + l];
            sum[2][l] += q;
            sum[3][l] += q * q;
            sum[4][l] += v;
        }
    for (int k = 0; k < 5; k++)
        total[k] = ((sum[k][0] + sum[k][1]) + (sum[k][2] + sum[k][3])) +
                   ((sum[k][4] + sum[k][5]) + (sum[k][6] + sum[k][7]));
}

#ifdef INTRINSICS
#include "vec_avx512.h"
#define BEST(name) name##_avx512
#else
#define BEST(name) name
#endif

const struct sr_vec sr_vec = {
    .apply = BEST(apply),
    .chain = chain,
    .slopes = slopes,
    .loss = loss_sum,
    .products = products,
    .sum = sum,
    .residuals = residuals,
    .reweigh = reweigh,
    .weigh = weigh,
    .dot = dot,
    .split = BEST(split),
    .keep_pairs = BEST(keep_pairs),
    .below = below,
    .divide = divide,
    .between = BEST(between),
    .pair_row = pair_row,
    .correlate = sr_vec_correlate,
    .dot_rows = dot_rows,
    .add_up = add_up,
    .factorise = sr_vec_factorise,
    .invert = sr_vec_invert,
    .advance = sr_vec_advance,
    .subtract = sr_vec_subtract,
    .bend = sr_vec_bend,
};
