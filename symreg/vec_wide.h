/* vec_wide.h - inside symreg/: the default operators with AVX-512, included by vec.c.
 *
 * The same operations in the same order as vecmath.h and so the same bits, with what compilers do
 * not find by themselves: tables of 16 numbers held in registers, scaling by a power of two in one
 * instruction, and the search for what is not finite in the same pass. Eight rows at a time;
 * arguments that need more care than the vector form takes are done one by one. */
#ifndef SR_VEC_WIDE_H
#define SR_VEC_WIDE_H

#include "vec.h"
#include "vecmath.h"

#define WIDE_INLINE    AVX512 static inline __attribute__((always_inline))
#define W(x)           _mm512_set1_pd(x)
#define WFMA(a, b, c)  _mm512_fmadd_pd(a, b, c)
#define WFNMA(a, b, c) _mm512_fnmadd_pd(a, b, c) /* c - a b */

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

WIDE_INLINE __mmask8 wide_log_cares(__m512d x)
{
    const __m512i above =
        _mm512_sub_epi64(_mm512_castpd_si512(x), _mm512_set1_epi64(0x0010000000000000));
    return _mm512_cmpge_epu64_mask(above, _mm512_set1_epi64(0x7fe0000000000000));
}

/* sin(x - k pi), its sign changed where the last bit of `odd` is set. */
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
    /* one more than in vm_cos(), which leaves the last bit as it is to be */
    const __m512d shifted = _mm512_add_pd(WFMA(x, W(VM_INVERSE_PI), W(-0.5)), W(VM_MAGIC));
    const __m512d k = _mm512_add_pd(_mm512_sub_pd(shifted, W(VM_MAGIC)), W(0.5));
    const __m512i odd = _mm512_add_epi64(_mm512_castpd_si512(shifted), _mm512_set1_epi64(1));
    return wide_sin_less(x, k, odd);
}

WIDE_INLINE __mmask8 wide_angle_cares(__m512d x)
{
    return _mm512_cmp_pd_mask(_mm512_abs_pd(x), W(VM_TRIG_MAX), _CMP_NLT_UQ);
}

/* The values of these rows again, by the scalar functions. */
__attribute__((noinline)) static void one_by_one(int op, unsigned rows, const double x[8],
                                                 double out[8])
{
    for (int l = 0; l < 8; l++)
        if (rows >> l & 1)
            out[l] = sr_op_table[op].value(x[l], 0);
}

AVX512 __attribute__((noinline)) static __m512d wide_care(int op, __mmask8 rows, __m512d x,
                                                          __m512d v)
{
    double a[8], out[8];
    _mm512_storeu_pd(a, x);
    _mm512_storeu_pd(out, v);
    one_by_one(op, rows, a, out);
    return _mm512_loadu_pd(out);
}

/* Not finite is what differs from itself by more than 0. */
#define GROUPS(A, B, VALUE, CARES)                                                                 \
    do {                                                                                           \
        for (int i = 0; i < n; i += 8) {                                                           \
            const __m512d a = (A), b = (B);                                                        \
            const __mmask8 cares = (CARES);                                                        \
            __m512d v = (VALUE);                                                                   \
            (void)b;                                                                               \
            if (__builtin_expect(cares, 0))                                                        \
                v = wide_care(op, cares, a, v);                                                    \
            _mm512_storeu_pd(out + i, v);                                                          \
            bad = _mm512_or_pd(bad, _mm512_sub_pd(v, v));                                          \
        }                                                                                          \
    } while (0)
#define X _mm512_loadu_pd(x + i)
#define Y _mm512_loadu_pd(y + i)
#define UNARY(id, VALUE, CARES)                                                                    \
    case id:                                                                                       \
        GROUPS(X, a, VALUE, CARES);                                                                \
        break;
#define BINARY(id, VALUE)                                                                          \
    case id:                                                                                       \
        if (form == SR_VEC_A_NUMBER)                                                               \
            GROUPS(first, Y, VALUE, 0);                                                            \
        else if (form == SR_VEC_B_NUMBER)                                                          \
            GROUPS(X, second, VALUE, 0);                                                           \
        else                                                                                       \
            GROUPS(X, Y, VALUE, 0);                                                                \
        break;

/* n is a multiple of 8. Are all values finite? */
AVX512 static bool wide_groups(int op, int form, int n, const double *x, const double *y,
                               double *out)
{
    const __m512d first = W(x[0]), second = W(y[0]);
    __m512d bad = _mm512_setzero_pd();
    switch (op) {
        BINARY(SR_ADD, _mm512_add_pd(a, b))
        BINARY(SR_SUB, _mm512_sub_pd(a, b))
        BINARY(SR_MUL, _mm512_mul_pd(a, b))
        BINARY(SR_DIV, _mm512_div_pd(a, b))
        UNARY(SR_INV, _mm512_div_pd(W(1.0), a), 0)
        UNARY(SR_SQUARE, _mm512_mul_pd(a, a), 0)
        UNARY(SR_SQRT, _mm512_sqrt_pd(a), 0)
        UNARY(SR_EXP, wide_exp(a), 0)
        UNARY(SR_LOG, wide_log(a), wide_log_cares(a))
        UNARY(SR_SIN, wide_sin(a), wide_angle_cares(a))
        UNARY(SR_COS, wide_cos(a), wide_angle_cares(a))
    default:
        break;
    }
    return !_mm512_test_epi64_mask(_mm512_castpd_si512(bad), _mm512_castpd_si512(bad));
}
#undef BINARY
#undef UNARY
#undef X
#undef Y
#undef GROUPS
#undef WFNMA
#undef WFMA
#undef W

static bool is_wide(int op)
{
    switch (op) {
    case SR_ADD:
    case SR_SUB:
    case SR_MUL:
    case SR_DIV:
    case SR_INV:
    case SR_SQUARE:
    case SR_SQRT:
    case SR_EXP:
    case SR_LOG:
    case SR_SIN:
    case SR_COS:
        return true;
    default:
        return false;
    }
}

/* The last rows are filled up with ones, where all of these operators are finite. */
AVX512 static bool wide_apply(int op, int form, int n, const double *x, const double *y,
                              double *out)
{
    const int whole = n & ~7, rest = n - whole;
    const size_t bytes = (size_t)rest * sizeof *x;
    double a[8] = {1, 1, 1, 1, 1, 1, 1, 1}, b[8] = {1, 1, 1, 1, 1, 1, 1, 1}, last[8];
    if (rest) { /* out may be x or y */
        memcpy(a, form == SR_VEC_A_NUMBER ? x : x + whole,
               form == SR_VEC_A_NUMBER ? sizeof *x : bytes);
        memcpy(b, form == SR_VEC_B_NUMBER ? y : y + whole,
               form == SR_VEC_B_NUMBER ? sizeof *y : bytes);
    }
    const bool is_finite = !whole || wide_groups(op, form, whole, x, y, out);
    if (!rest)
        return is_finite;
    const bool is_last_finite = wide_groups(op, form, 8, a, b, last);
    memcpy(out + whole, last, bytes);
    return is_finite && is_last_finite;
}

#endif
