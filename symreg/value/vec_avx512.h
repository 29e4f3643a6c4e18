/* vec_avx512.h - inside symreg/: hand-written AVX-512 code where compilers do not find it; included
 * by vec_loops.c.
 *
 * The code performs the same operations in the same order as the loops in vec_loops.c and
 * vecmath.h, so the bits are equal. It contains only what gains about 15% or more over those loops
 * compiled for AVX-512 (ns on one core of an AMD EPYC; 512 rows, 32 for `between`): exp 312 for 727
 * and log 373 for 839, tables of 16 numbers in registers and scaling by a power of two in one
 * instruction; sin 299 for 353 and cos 331 for 374, angles checked in the same pass; split 33 for
 * 45, masks; keep_pairs 84 for 202, compression; between 73 for 96, all ranks in registers. */
#ifndef SR_VEC_AVX512_H
#define SR_VEC_AVX512_H

#include <immintrin.h>

#define WIDE_INLINE    static inline __attribute__((always_inline))
#define W(x)           _mm512_set1_pd(x)
#define WFMA(a, b, c)  _mm512_fmadd_pd(a, b, c)
#define WFNMA(a, b, c) _mm512_fnmadd_pd(a, b, c) /* c - a b */

/* ---- exp and log */

/* Entry i mod 16 of a table. */
WIDE_INLINE __m512d wide_entry(const double table[16], __m512i i)
{
    return _mm512_permutex2var_pd(_mm512_loadu_pd(table), i, _mm512_loadu_pd(table + 8));
}

WIDE_INLINE __m512d wide_exp(__m512d x)
{
    x = _mm512_max_pd(W(-746.0), x); /* NaN is kept */
    x = _mm512_min_pd(W(710.0), x);
    const __m512d shifted = WFMA(x, W(VM_LOG2E), W(VM_EXP_MAGIC));
    const __m512d k = _mm512_sub_pd(shifted, W(VM_EXP_MAGIC));
    const __m512d r = WFNMA(k, W(VM_LN2_REST), WFNMA(k, W(VM_LN2), x)), z = _mm512_mul_pd(r, r);
    const __m512d high = WFMA(z, W(VM_EXP_4), WFMA(r, W(VM_EXP_3), W(VM_EXP_2)));
    const __m512d q = WFMA(z, high, WFMA(r, W(VM_EXP_1), W(VM_EXP_0))), p = WFMA(z, q, r);
    const __m512i sixteenths = _mm512_castpd_si512(shifted); /* the magic number ends in zeros */
    const __m512d t = wide_entry(vm_exp_table[0], sixteenths);
    const __m512d y = _mm512_add_pd(t, WFMA(t, p, wide_entry(vm_exp_table[1], sixteenths)));
    return _mm512_scalef_pd(y, k); /* by 2^floor(k), rounded once */
}

/* The logarithm of positive normal numbers. */
WIDE_INLINE __m512d wide_log(__m512d x)
{
    const __m512i bits = _mm512_castpd_si512(x);
    const __m512i u = _mm512_sub_epi64(bits, _mm512_set1_epi64(VM_LOG_FIRST));
    const __m512i interval = _mm512_srli_epi64(u, 48);
    const __m512i k52 = _mm512_andnot_si512(_mm512_set1_epi64(VM_MANTISSA), u); /* k 2^52 */
    const __m512d m = _mm512_castsi512_pd(_mm512_sub_epi64(bits, k52));
    const __m512d k = _mm512_cvtepi64_pd(k52);
    const __m512d r = WFMA(m, wide_entry(vm_log_table[0], interval), W(-1.0));
    const __m512d z = _mm512_mul_pd(r, r);
    const __m512d high =
        WFMA(z, WFMA(r, W(VM_LOG_7), W(VM_LOG_6)), WFMA(r, W(VM_LOG_5), W(VM_LOG_4)));
    const __m512d low = WFMA(z, WFMA(z, high, WFMA(r, W(VM_LOG_3), W(VM_LOG_2))),
                             WFMA(r, W(VM_LOG_1), W(VM_LOG_0)));
    const __m512d first = WFMA(k, W(VM_LN2_HIGH * 0x1p-52), wide_entry(vm_log_table[1], interval));
    const __m512d sum = _mm512_add_pd(first, r);
    const __m512d rest =
        WFMA(k, W(VM_LN2_LOW * 0x1p-52), _mm512_add_pd(_mm512_sub_pd(first, sum), r));
    return _mm512_add_pd(sum, WFMA(z, low, rest));
}

/* Lanes whose logarithm the scalar function must compute. */
WIDE_INLINE __mmask8 wide_log_cares(__m512d x)
{
    const __m512i above =
        _mm512_sub_epi64(_mm512_castpd_si512(x), _mm512_set1_epi64(0x0010000000000000));
    return _mm512_cmpge_epu64_mask(above, _mm512_set1_epi64(0x7fe0000000000000));
}

/* ---- sine and cosine */

/* sin(x - k pi), negated where the last bit of `odd` is set. */
WIDE_INLINE __m512d wide_sin_less(__m512d x, __m512d k, __m512i odd)
{
    const __m512d first = WFNMA(k, W(VM_PI_REST), WFNMA(k, W(VM_PI), x));
    const __m512d r = WFNMA(k, W(VM_PI_LAST), first);
    const __m512d z = _mm512_mul_pd(r, r), z2 = _mm512_mul_pd(z, z);
    const __m512d high =
        WFMA(z2, WFMA(z, W(VM_SIN_7), W(VM_SIN_6)), WFMA(z, W(VM_SIN_5), W(VM_SIN_4)));
    const __m512d low = WFMA(z2, WFMA(z2, high, WFMA(z, W(VM_SIN_3), W(VM_SIN_2))),
                             WFMA(z, W(VM_SIN_1), W(VM_SIN_0)));
    const __m512d s = WFMA(_mm512_mul_pd(r, z), low, r);
    return _mm512_castsi512_pd(
        _mm512_xor_si512(_mm512_castpd_si512(s), _mm512_slli_epi64(odd, 63)));
}

WIDE_INLINE __m512d wide_sin(__m512d x)
{
    const __m512d shifted = WFMA(x, W(VM_INVERSE_PI), W(VM_MAGIC));
    return wide_sin_less(x, _mm512_sub_pd(shifted, W(VM_MAGIC)), _mm512_castpd_si512(shifted));
}

WIDE_INLINE __m512d wide_cos(__m512d x)
{
    /* one more than in vm_cos(), whose last bit has the opposite meaning */
    const __m512d shifted = _mm512_add_pd(WFMA(x, W(VM_INVERSE_PI), W(-0.5)), W(VM_MAGIC));
    const __m512d k = _mm512_add_pd(_mm512_sub_pd(shifted, W(VM_MAGIC)), W(0.5));
    const __m512i odd = _mm512_add_epi64(_mm512_castpd_si512(shifted), _mm512_set1_epi64(1));
    return wide_sin_less(x, k, odd);
}

WIDE_INLINE __mmask8 wide_angle_cares(__m512d x)
{
    return _mm512_cmp_pd_mask(_mm512_abs_pd(x), W(VM_TRIG_MAX), _CMP_NLT_UQ);
}

/* ---- one operator of all rows */

WIDE_INLINE __m512d wide_value(int op, __m512d x)
{
    return op == SR_EXP   ? wide_exp(x)
           : op == SR_LOG ? wide_log(x)
           : op == SR_SIN ? wide_sin(x)
                          : wide_cos(x);
}

/* Lanes that the scalar function must compute. */
WIDE_INLINE unsigned wide_cares(int op, __m512d x)
{
    return op == SR_EXP ? 0 : op == SR_LOG ? wide_log_cares(x) : wide_angle_cares(x);
}

__attribute__((noinline)) static __m512d one_by_one(int op, unsigned lanes, __m512d x, __m512d v)
{
    double a[8], out[8];
    _mm512_storeu_pd(a, x);
    _mm512_storeu_pd(out, v);
    for (int l = 0; l < 8; l++)
        if (lanes >> l & 1)
            out[l] = sr_op_table[op].value(a[l], 0);
    return _mm512_loadu_pd(out);
}

/* Eight values; *bad is nonzero in lanes that are not finite. */
WIDE_INLINE __m512d wide_eight(int op, __m512d x, __m512d *bad)
{
    __m512d v = wide_value(op, x);
    const unsigned cares = wide_cares(op, x);
    if (__builtin_expect(cares != 0, 0))
        v = one_by_one(op, cares, x, v);
    *bad = _mm512_or_pd(*bad, _mm512_sub_pd(v, v)); /* v - v is not 0 where v is not finite */
    return v;
}

/* The last block is padded with ones, which give finite values. */
WIDE_INLINE bool wide_apply(int op, int n, const double *x, double *out)
{
    const int whole = n & ~7;
    const __mmask8 rest = (__mmask8)((1u << (n - whole)) - 1);
    __m512d bad = _mm512_setzero_pd();
    for (int i = 0; i < whole; i += 8)
        _mm512_storeu_pd(out + i, wide_eight(op, _mm512_loadu_pd(x + i), &bad));
    if (rest)
        _mm512_mask_storeu_pd(out + whole, rest,
                              wide_eight(op, _mm512_mask_loadu_pd(W(1.0), rest, x + whole), &bad));
    return !_mm512_test_epi64_mask(_mm512_castpd_si512(bad), _mm512_castpd_si512(bad));
}

static bool apply_avx512(int op, int form, int n, const double *a, const double *b, double *out)
{
    switch (op) { /* the operator is a constant after inlining */
    case SR_EXP:
        return wide_apply(SR_EXP, n, a, out);
    case SR_LOG:
        return wide_apply(SR_LOG, n, a, out);
    case SR_SIN:
        return wide_apply(SR_SIN, n, a, out);
    case SR_COS:
        return wide_apply(SR_COS, n, a, out);
    default:
        return apply(op, form, n, a, b, out);
    }
}

/* ---- selections */

/* Eight rows: adds to the sums of both ends, and returns the bits of the rows between the ends. */
WIDE_INLINE unsigned split_eight(__m512d p, __m512d t, const __m512d end[2], __m512d sum[2])
{
    const __m512d sign = W(-0.0);
    const __m512d one = WFNMA(end[0], p, t), two = WFNMA(end[1], p, t);
    sum[0] = _mm512_add_pd(sum[0], _mm512_xor_pd(p, _mm512_and_pd(one, sign)));
    sum[1] = _mm512_add_pd(sum[1], _mm512_xor_pd(p, _mm512_and_pd(two, sign)));
    return _mm512_movepi64_mask(_mm512_castpd_si512(_mm512_xor_pd(one, two)));
}

/* Sixteen rows; rows after the last read as 0 and add 0. The 16 lanes of split() are two registers
 * for each end. */
WIDE_INLINE void split_lanes(const double *p, const double *t, unsigned rows, const __m512d end[2],
                             __m512d sum[2][2], unsigned char *inside)
{
    for (int k = 0; k < 2; k++) {
        const __mmask8 here = (__mmask8)(rows >> 8 * k);
        const bool whole = rows == 0xffff; /* a constant after inlining */
        const __m512d x =
            whole ? _mm512_loadu_pd(p + 8 * k) : _mm512_maskz_loadu_pd(here, p + 8 * k);
        const __m512d y =
            whole ? _mm512_loadu_pd(t + 8 * k) : _mm512_maskz_loadu_pd(here, t + 8 * k);
        const unsigned bits = split_eight(x, y, end, sum[k]);
        if (inside)
            /* x86 stores the low bits of a word in its first bytes */
            inside[k] = (unsigned char)bits;
    }
}

WIDE_INLINE void split_rows(const double *p, const double *t, size_t n, const double end[2],
                            double excess[2], unsigned char *inside)
{
    const __m512d ends[2] = {W(end[0]), W(end[1])};
    __m512d sum[2][2] = {{W(0.0), W(0.0)}, {W(0.0), W(0.0)}};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        split_lanes(p + i, t + i, 0xffff, ends, sum, inside ? inside + i / 8 : NULL);
    if (i < n)
        split_lanes(p + i, t + i, (1u << (n - i)) - 1, ends, sum, inside ? inside + i / 8 : NULL);
    for (int e = 0; e < 2; e++) {
        double lane[LANES];
        _mm512_storeu_pd(lane, sum[0][e]);
        _mm512_storeu_pd(lane + 8, sum[1][e]);
        excess[e] = sum_lanes(lane);
    }
}

static void split_avx512(const double *p, const double *t, size_t n, const double end[2],
                         double excess[2], uint64_t *inside)
{
    if (!inside) {
        split_rows(p, t, n, end, excess, NULL);
        return;
    }
    inside[(n - 1) / 64] = 0; /* LANES divides 64, so the last rows lie in this word */
    split_rows(p, t, n, end, excess, (unsigned char *)inside);
}

/* The ranks of all values stay in four registers. */
static void between_avx512(const double *value, const double *weight, double low, double high,
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

static size_t keep_pairs_avx512(double *value, double *weight, size_t n, double low, double high)
{
    const __m512d lows = W(low), highs = W(high);
    size_t i = 0, kept = 0;
    for (; i + 8 <= n; i += 8) { /* overwritten values were already read */
        const __m512d v = _mm512_loadu_pd(value + i), w = _mm512_loadu_pd(weight + i);
        const __mmask8 in = (__mmask8)(_mm512_cmp_pd_mask(v, lows, _CMP_GE_OQ) &
                                       _mm512_cmp_pd_mask(v, highs, _CMP_LT_OQ));
        _mm512_storeu_pd(value + kept, _mm512_maskz_compress_pd(in, v));
        _mm512_storeu_pd(weight + kept, _mm512_maskz_compress_pd(in, w));
        kept += (size_t)__builtin_popcount(in);
    }
    return keep_pairs_from(i, kept, value, weight, n, low, high);
}

#undef WFNMA
#undef WFMA
#undef W
#undef WIDE_INLINE

#endif
