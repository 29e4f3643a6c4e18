/* vec_avx512.h - inside symreg/: what compilers do not find by themselves, with AVX-512; included by
 * vec_loops.c.
 *
 * The same operations in the same order as the loops there and in vecmath.h, and so the same bits.
 * Here is only what gains more than 15% over these loops compiled for AVX-512 (512 rows; ns):
 * exp 312 for 727 and log 373 for 839 by tables of 16 numbers in registers and scaling by a power
 * of two in one instruction; split 33 for 45 by masks; keep_pairs 84 for 202 by compression. */
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
    x = _mm512_max_pd(W(-746.0), x); /* NaN stays */
    x = _mm512_min_pd(W(710.0), x);
    const __m512d shifted = WFMA(x, W(VM_LOG2E), W(VM_EXP_MAGIC));
    const __m512d k = _mm512_sub_pd(shifted, W(VM_EXP_MAGIC));
    const __m512d r = WFNMA(k, W(VM_LN2_REST), WFNMA(k, W(VM_LN2), x)), z = _mm512_mul_pd(r, r);
    const __m512d high = WFMA(z, W(VM_EXP_4), WFMA(r, W(VM_EXP_3), W(VM_EXP_2)));
    const __m512d q = WFMA(z, high, WFMA(r, W(VM_EXP_1), W(VM_EXP_0))), p = WFMA(z, q, r);
    const __m512i sixteenths = _mm512_castpd_si512(shifted); /* the magic ends in zeros */
    const __m512d t = wide_entry(vm_exp_table[0], sixteenths);
    const __m512d y = _mm512_add_pd(t, WFMA(t, p, wide_entry(vm_exp_table[1], sixteenths)));
    return _mm512_scalef_pd(y, k); /* by 2^floor(k), rounded once */
}

/* Of positive normal numbers. */
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

/* Lanes whose logarithm is for the scalar function. */
WIDE_INLINE __mmask8 wide_log_cares(__m512d x)
{
    const __m512i above =
        _mm512_sub_epi64(_mm512_castpd_si512(x), _mm512_set1_epi64(0x0010000000000000));
    return _mm512_cmpge_epu64_mask(above, _mm512_set1_epi64(0x7fe0000000000000));
}

/* Eight values; *bad is not 0 in lanes that are not finite. */
WIDE_INLINE __m512d wide_eight(int op, __m512d x, __m512d *bad)
{
    __m512d v = op == SR_EXP ? wide_exp(x) : wide_log(x);
    const unsigned cares = op == SR_EXP ? 0 : wide_log_cares(x);
    if (__builtin_expect(cares != 0, 0)) {
        double a[8], out[8];
        _mm512_storeu_pd(a, x);
        _mm512_storeu_pd(out, v);
        for (int l = 0; l < 8; l++)
            out[l] = cares >> l & 1 ? vm_log(a[l]) : out[l];
        v = _mm512_loadu_pd(out);
    }
    *bad = _mm512_or_pd(*bad, _mm512_sub_pd(v, v)); /* not finite: not 0 from itself */
    return v;
}

/* The last rows are filled up with ones, where both are finite. */
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
    if (op == SR_EXP)
        return wide_apply(SR_EXP, n, a, out);
    if (op == SR_LOG)
        return wide_apply(SR_LOG, n, a, out);
    return apply(op, form, n, a, b, out);
}

/* ---- selections */

/* Eight rows: their part of the sums of both ends, and the bits of those between the ends. */
WIDE_INLINE unsigned split_eight(__m512d p, __m512d t, const __m512d end[2], __m512d sum[2])
{
    const __m512d sign = W(-0.0);
    const __m512d one = WFNMA(end[0], p, t), two = WFNMA(end[1], p, t);
    sum[0] = _mm512_add_pd(sum[0], _mm512_xor_pd(p, _mm512_and_pd(one, sign)));
    sum[1] = _mm512_add_pd(sum[1], _mm512_xor_pd(p, _mm512_and_pd(two, sign)));
    return _mm512_movepi64_mask(_mm512_castpd_si512(_mm512_xor_pd(one, two)));
}

/* Sixteen rows, of which those behind the last are read as 0, which adds 0: the lanes of split() in
 * two registers for each end. */
WIDE_INLINE void split_lanes(const double *p, const double *t, unsigned rows, const __m512d end[2],
                             __m512d sum[2][2], unsigned char *inside)
{
    for (int k = 0; k < 2; k++) {
        const __mmask8 here = (__mmask8)(rows >> 8 * k);
        const bool whole = rows == 0xffff; /* known where this is inlined */
        const __m512d x =
            whole ? _mm512_loadu_pd(p + 8 * k) : _mm512_maskz_loadu_pd(here, p + 8 * k);
        const __m512d y =
            whole ? _mm512_loadu_pd(t + 8 * k) : _mm512_maskz_loadu_pd(here, t + 8 * k);
        const unsigned bits = split_eight(x, y, end, sum[k]);
        if (inside)
            inside[k] = (unsigned char)bits; /* x86 has the low bits of a word in its first bytes */
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
    inside[(n - 1) / 64] = 0; /* LANES divides 64: the last rows stay within this word */
    split_rows(p, t, n, end, excess, (unsigned char *)inside);
}

static size_t keep_pairs_avx512(double *value, double *weight, size_t n, double low, double high)
{
    const __m512d lows = W(low), highs = W(high);
    size_t i = 0, kept = 0;
    for (; i + 8 <= n; i += 8) { /* what is overwritten has been read */
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
