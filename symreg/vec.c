/* vec.c - loops over rows, written so that a compiler makes vector code of them; see vec.h. */
#include "vec.h"

#include <math.h>

#include "vecmath.h"

#if defined __x86_64__ && defined __GNUC__
#include <immintrin.h>
#endif

enum { LANES = 8 };

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
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
           ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

/* ---- operators */

#define LOOP(A, B, value)                                                                          \
    {                                                                                              \
        _Pragma("omp simd") for (int i = 0; i < n; i++)                                            \
        {                                                                                          \
            const double a = (A), b = (B);                                                         \
            (void)b;                                                                               \
            out[i] = (value);                                                                      \
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
VM_INLINE void apply(int op, int form, int n, const double *x, const double *y, double *out)
{
    const double first = x[0], second = y[0];
    double same[SR_TILE];
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

/* Not finite = all bits of the exponent set. */
VM_INLINE bool finite(size_t n, const double *x)
{
    const uint64_t mask = 0x7ff0000000000000u;
    uint64_t bad = 0;
    for (size_t i = 0; i < n; i++)
        bad |= (vm_bits(x[i]) & mask) == mask ? 1u : 0u;
    return !bad;
}

VM_INLINE bool all_below(size_t n, const double *x, double limit)
{
    uint64_t bad = 0;
    for (size_t i = 0; i < n; i++)
        bad |= fabs(x[i]) < limit ? 0u : 1u;
    return !bad;
}

/* ---- sums */

static const double study_dead_zone = 1e-8; /* differences below count as 0 in the study's loss */

VM_INLINE double study(double d)
{
    const double size = fabs(d);
    return size <= study_dead_zone ? 0.0 : size - study_dead_zone; /* NaN stays NaN */
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
#define D (scale * p[j] - t[j])
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

#define D      (scale * p[j] - t[j])
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

/* One pass: gcc makes vector code of two sums only where they are vectors to begin with. */
typedef double lanes __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

VM_INLINE void products(const double *p, const double *t, const double *w, size_t n, double sum[2])
{
    lanes pp = {0}, pt = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const lanes a = *(const lanes *)(p + i), b = *(const lanes *)(t + i);
        lanes aw = a;
        if (w)
            aw *= *(const lanes *)(w + i);
        pp += aw * a;
        pt += aw * b;
    }
    double one[LANES], two[LANES];
    memcpy(one, &pp, sizeof one);
    memcpy(two, &pt, sizeof two);
    for (size_t l = 0; i + l < n; l++) {
        const double aw = w ? p[i + l] * w[i + l] : p[i + l];
        one[l] += aw * p[i + l];
        two[l] += aw * t[i + l];
    }
    sum[0] = sum_lanes(one);
    sum[1] = sum_lanes(two);
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

/* The lane of row i in the sums is i % LANES, as everywhere. */
VM_INLINE size_t keep(const double *p, const double *t, size_t n, double low, double high,
                      double *kept_t, double *kept_p, double side[2], size_t first, size_t kept,
                      double lane[2][LANES])
{
    for (size_t i = first; i < n; i++) {
        const double size = fabs(p[i]);
        const double u = vm_from_bits(vm_bits(t[i]) ^ (vm_bits(p[i]) & VM_SIGN));
        const bool below = u < low * size;
        lane[0][i % LANES] += below ? size : 0.0;
        lane[1][i % LANES] += size;
        kept_t[kept] = u;
        kept_p[kept] = size;
        kept += !below && u < high * size;
    }
    side[0] = sum_lanes(lane[0]);
    side[1] = sum_lanes(lane[1]);
    return kept;
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

static size_t keep_any(const double *p, const double *t, size_t n, double low, double high,
                       double *kept_t, double *kept_p, double side[2])
{
    double lane[2][LANES] = {{0}};
    return keep(p, t, n, low, high, kept_t, kept_p, side, 0, 0, lane);
}

static size_t keep_pairs_any(double *value, double *weight, size_t n, double low, double high)
{
    return keep_pairs(value, weight, n, low, high, 0, 0);
}

#if defined __x86_64__ && defined __GNUC__
#ifdef __clang__
#define WIDE
#else
#define WIDE ",prefer-vector-width=512"
#endif
#define AVX512 __attribute__((target("avx512f,avx512vl,avx512dq" WIDE)))

/* No compiler finds the compressing store by itself. */
AVX512 static size_t keep_wide(const double *p, const double *t, size_t n, double low, double high,
                               double *kept_t, double *kept_p, double side[2])
{
    const __m512d lows = _mm512_set1_pd(low), highs = _mm512_set1_pd(high);
    const __m512d sign = _mm512_set1_pd(-0.0);
    __m512d below = _mm512_setzero_pd(), all = _mm512_setzero_pd();
    double lane[2][LANES];
    size_t i = 0, kept = 0;
    for (; i + LANES <= n; i += LANES) {
        const __m512d ps = _mm512_loadu_pd(p + i), size = _mm512_andnot_pd(sign, ps);
        const __m512d u = _mm512_xor_pd(_mm512_loadu_pd(t + i), _mm512_and_pd(sign, ps));
        const __mmask8 is_low = _mm512_cmp_pd_mask(u, _mm512_mul_pd(lows, size), _CMP_LT_OQ);
        const __mmask8 is_less = _mm512_cmp_pd_mask(u, _mm512_mul_pd(highs, size), _CMP_LT_OQ);
        const __mmask8 in = (__mmask8)(is_less & ~is_low);
        below = _mm512_mask_add_pd(below, is_low, below, size);
        all = _mm512_add_pd(all, size);
        _mm512_storeu_pd(kept_t + kept, _mm512_maskz_compress_pd(in, u));
        _mm512_storeu_pd(kept_p + kept, _mm512_maskz_compress_pd(in, size));
        kept += (size_t)__builtin_popcount(in);
    }
    _mm512_storeu_pd(lane[0], below);
    _mm512_storeu_pd(lane[1], all);
    return keep(p, t, n, low, high, kept_t, kept_p, side, i, kept, lane);
}

/* The ranks of all stay in four registers. */
AVX512 static void between_wide(const double *value, const double *weight, double low, double high,
                                double found[2])
{
    __m512d v[4], rank[4], first = _mm512_set1_pd(-HUGE_VAL), second = _mm512_set1_pd(HUGE_VAL);
    for (int b = 0; b < 4; b++) {
        v[b] = _mm512_loadu_pd(value + 8 * b);
        rank[b] = _mm512_setzero_pd();
    }
    for (int i = 0; i < SR_VEC_FEW; i++) {
        const __m512d vi = _mm512_set1_pd(value[i]), wi = _mm512_set1_pd(weight[i]);
        for (int b = 0; b < 4; b++)
            rank[b] =
                _mm512_mask_add_pd(rank[b], _mm512_cmp_pd_mask(vi, v[b], _CMP_LT_OQ), rank[b], wi);
    }
    for (int b = 0; b < 4; b++) {
        const __mmask8 is_low = _mm512_cmp_pd_mask(rank[b], _mm512_set1_pd(low), _CMP_LT_OQ) &
                                _mm512_cmp_pd_mask(v[b], first, _CMP_GT_OQ);
        const __mmask8 is_high = _mm512_cmp_pd_mask(rank[b], _mm512_set1_pd(high), _CMP_GT_OQ) &
                                 _mm512_cmp_pd_mask(v[b], second, _CMP_LT_OQ);
        first = _mm512_mask_mov_pd(first, is_low, v[b]);
        second = _mm512_mask_mov_pd(second, is_high, v[b]);
    }
    found[0] = _mm512_reduce_max_pd(first);
    found[1] = _mm512_reduce_min_pd(second);
}

AVX512 static size_t keep_pairs_wide(double *value, double *weight, size_t n, double low,
                                     double high)
{
    const __m512d lows = _mm512_set1_pd(low), highs = _mm512_set1_pd(high);
    size_t i = 0, kept = 0;
    for (; i + LANES <= n; i += LANES) { /* what is overwritten has been read */
        const __m512d v = _mm512_loadu_pd(value + i), w = _mm512_loadu_pd(weight + i);
        const __mmask8 in = (__mmask8)(_mm512_cmp_pd_mask(v, lows, _CMP_GE_OQ) &
                                       _mm512_cmp_pd_mask(v, highs, _CMP_LT_OQ));
        _mm512_storeu_pd(value + kept, _mm512_maskz_compress_pd(in, v));
        _mm512_storeu_pd(weight + kept, _mm512_maskz_compress_pd(in, w));
        kept += (size_t)__builtin_popcount(in);
    }
    return keep_pairs(value, weight, n, low, high, i, kept);
}
#endif

/* ---- variants */

/* The functions of one variant; `attribute` says what instructions they may use.
 * NOLINTBEGIN(bugprone-macro-parentheses): it is no expression. */
#define VARIANT(suffix, attribute, KEEP, KEEP_PAIRS, BETWEEN)                                      \
    attribute static void apply_##suffix(int op, int form, int n, const double *a,                 \
                                         const double *b, double *out)                             \
    {                                                                                              \
        apply(op, form, n, a, b, out);                                                             \
    }                                                                                              \
    attribute static void chain_##suffix(int op, int operand, int n, const double *a,              \
                                         const double *b, const double *v, const double *outer,    \
                                         double *d)                                                \
    {                                                                                              \
        chain(op, operand, n, a, b, v, outer, d);                                                  \
    }                                                                                              \
    attribute static bool finite_##suffix(size_t n, const double *x)                               \
    {                                                                                              \
        return finite(n, x);                                                                       \
    }                                                                                              \
    attribute static bool all_below_##suffix(size_t n, const double *x, double limit)              \
    {                                                                                              \
        return all_below(n, x, limit);                                                             \
    }                                                                                              \
    attribute static double loss_##suffix(const struct sr_vec_loss *loss, const double *p,         \
                                          double scale, size_t n)                                  \
    {                                                                                              \
        return loss_sum(loss, p, scale, n);                                                        \
    }                                                                                              \
    attribute static void slopes_##suffix(const struct sr_vec_loss *loss, const double *p,         \
                                          double scale, size_t n, double slope[2])                 \
    {                                                                                              \
        slopes(loss, p, scale, n, slope);                                                          \
    }                                                                                              \
    attribute static void products_##suffix(const double *p, const double *t, const double *w,     \
                                            size_t n, double s[2])                                 \
    {                                                                                              \
        products(p, t, w, n, s);                                                                   \
    }                                                                                              \
    attribute static double sum_##suffix(const double *x, size_t n)                                \
    {                                                                                              \
        return sum(x, n);                                                                          \
    }                                                                                              \
    attribute static double residuals_##suffix(const double *t, const double *p, double scale,     \
                                               size_t n, double *out)                              \
    {                                                                                              \
        return residuals(t, p, scale, n, out);                                                     \
    }                                                                                              \
    attribute static void reweigh_##suffix(const struct sr_vec_loss *loss, const double *residual, \
                                           double floor, size_t n, double *out)                    \
    {                                                                                              \
        reweigh(loss, residual, floor, n, out);                                                    \
    }                                                                                              \
    attribute static double weigh_##suffix(const double *a, const double *b, const double *c,      \
                                           size_t n, double *out)                                  \
    {                                                                                              \
        return weigh(a, b, c, n, out);                                                             \
    }                                                                                              \
    attribute static double dot_##suffix(const double *a, const double *b, size_t n)               \
    {                                                                                              \
        return dot(a, b, n);                                                                       \
    }                                                                                              \
    attribute static double below_##suffix(const double *value, const double *weight, size_t n,    \
                                           double limit)                                           \
    {                                                                                              \
        return below(value, weight, n, limit);                                                     \
    }                                                                                              \
    attribute static void divide_##suffix(const double *a, const double *b, size_t n, double *out) \
    {                                                                                              \
        divide(a, b, n, out);                                                                      \
    }                                                                                              \
    static const struct sr_vec vec_##suffix = {#suffix,                                            \
                                               apply_##suffix,                                     \
                                               chain_##suffix,                                     \
                                               finite_##suffix,                                    \
                                               all_below_##suffix,                                 \
                                               slopes_##suffix,                                    \
                                               loss_##suffix,                                      \
                                               products_##suffix,                                  \
                                               sum_##suffix,                                       \
                                               residuals_##suffix,                                 \
                                               reweigh_##suffix,                                   \
                                               weigh_##suffix,                                     \
                                               dot_##suffix,                                       \
                                               KEEP,                                               \
                                               KEEP_PAIRS,                                         \
                                               below_##suffix,                                     \
                                               divide_##suffix,                                    \
                                               BETWEEN};

/* NOLINTEND(bugprone-macro-parentheses) */

VARIANT(plain, , keep_any, keep_pairs_any, between_any)

#if defined __x86_64__ && defined __GNUC__
VARIANT(avx2, __attribute__((target("avx2"))), keep_any, keep_pairs_any, between_any)
VARIANT(avx512, AVX512, keep_wide, keep_pairs_wide, between_wide)

const struct sr_vec *sr_vec_variant(enum sr_vec_variant variant)
{
    switch (variant) {
    case SR_VEC_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                       __builtin_cpu_supports("avx512dq")
                   ? &vec_avx512
                   : NULL;
    case SR_VEC_AVX2:
        return __builtin_cpu_supports("avx2") ? &vec_avx2 : NULL;
    default:
        return variant == SR_VEC_PLAIN ? &vec_plain : NULL;
    }
}
#else
const struct sr_vec *sr_vec_variant(enum sr_vec_variant variant)
{
    return variant == SR_VEC_PLAIN ? &vec_plain : NULL;
}
#endif

static const struct sr_vec *forced;

void sr_vec_force(const struct sr_vec *vec)
{
    forced = vec;
}

const struct sr_vec *sr_vec_best(void)
{
    const struct sr_vec *vec = forced;
    for (int v = SR_VEC_VARIANTS - 1; v >= 0 && !vec; v--)
        vec = sr_vec_variant((enum sr_vec_variant)v);
    return vec;
}
