/* vec.c - the variants of the loops over rows, and the choice among them; see vec.h. */
#include "vec_loops.h"

#if defined __x86_64__ && defined __GNUC__
#include <immintrin.h>
#endif

/* ---- selections that compilers make no vector code of */

static void split_any(const double *p, const double *t, size_t n, const double end[2],
                      double excess[2], uint64_t *inside)
{
    double lane[2][LANES] = {{0}};
    split_rest(p, t, n, end, excess, inside, 0, lane);
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
#define AVX512 __attribute__((target("fma,avx512f,avx512vl,avx512dq" WIDE)))
#include "vec_wide.h"
#include "vec_sums.h"

AVX512 static inline __attribute__((always_inline)) bool
apply_wide(int op, int form, int n, const double *a, const double *b, double *out)
{
    return is_wide(op) ? wide_apply(op, form, n, a, b, out) : apply(op, form, n, a, b, out);
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
    for (; i + 8 <= n; i += 8) { /* what is overwritten has been read */
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
#define VARIANT(suffix, attribute, APPLY, LOSS, PRODUCTS, SPLIT, KEEP_PAIRS, BETWEEN)              \
    attribute static bool apply_##suffix(int op, int form, int n, const double *a,                 \
                                         const double *b, double *out)                             \
    {                                                                                              \
        return APPLY(op, form, n, a, b, out);                                                      \
    }                                                                                              \
    attribute static void chain_##suffix(int op, int operand, int n, const double *a,              \
                                         const double *b, const double *v, const double *outer,    \
                                         double *d)                                                \
    {                                                                                              \
        chain(op, operand, n, a, b, v, outer, d);                                                  \
    }                                                                                              \
    attribute static double loss_##suffix(const struct sr_vec_loss *loss, const double *p,         \
                                          double scale, size_t n)                                  \
    {                                                                                              \
        return LOSS(loss, p, scale, n);                                                            \
    }                                                                                              \
    attribute static void slopes_##suffix(const struct sr_vec_loss *loss, const double *p,         \
                                          double scale, size_t n, double slope[2])                 \
    {                                                                                              \
        slopes(loss, p, scale, n, slope);                                                          \
    }                                                                                              \
    attribute static void products_##suffix(const double *p, const double *t, const double *w,     \
                                            size_t n, double s[2])                                 \
    {                                                                                              \
        PRODUCTS(p, t, w, n, s);                                                                   \
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
    static const struct sr_vec vec_##suffix = {                                                    \
        #suffix,          apply_##suffix,    chain_##suffix,  slopes_##suffix,                     \
        loss_##suffix,    products_##suffix, sum_##suffix,    residuals_##suffix,                  \
        reweigh_##suffix, weigh_##suffix,    dot_##suffix,    SPLIT,                               \
        KEEP_PAIRS,       below_##suffix,    divide_##suffix, BETWEEN};

/* NOLINTEND(bugprone-macro-parentheses) */

VARIANT(plain, , apply, loss_sum, products, split_any, keep_pairs_any, between_any)

#if defined __x86_64__ && defined __GNUC__
VARIANT(avx2, __attribute__((target("avx2,fma"))), apply, loss_sum, products, split_any,
        keep_pairs_any, between_any)
VARIANT(avx512, AVX512, apply_wide, loss_wide, products_wide, split_wide, keep_pairs_wide,
        between_wide)

const struct sr_vec *sr_vec_variant(enum sr_vec_variant variant)
{
    switch (variant) {
    case SR_VEC_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("fma")
                   ? &vec_avx512
                   : NULL;
    case SR_VEC_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &vec_avx2 : NULL;
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
