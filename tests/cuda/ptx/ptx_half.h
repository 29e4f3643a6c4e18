/* ptx_half.h - bf16 and f16, alone and in pairs: an operation is done in float, which is exact for
 * sums and products up to one rounding (fma: in double), and rounded once. */
#ifndef PTX_HALF_H
#define PTX_HALF_H

struct ptx_bf16 {
    uint16_t bits;
};
struct ptx_f16 {
    uint16_t bits;
};
struct ptx_bf16x2 {
    struct ptx_bf16 low, high;
};
struct ptx_f16x2 {
    struct ptx_f16 low, high;
};

static inline double ptx_widen(struct ptx_bf16 x)
{
    return (double)ptx_as<float>((uint32_t)x.bits << 16);
}
static inline double ptx_widen(struct ptx_f16 x)
{
    const int exponent = x.bits >> 10 & 31, fraction = x.bits & 1023;
    const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                        : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                       : ldexp(fraction, -24);
    return x.bits & 0x8000 ? -size : size;
}

/* To `digits` digits and exponents from `least` on, ties to even; NaN stays NaN. */
static inline double ptx_round_to(double x, int digits, int least)
{
    if (!isfinite(x) || x == 0)
        return x;
    int exponent;
    frexp(x, &exponent);
    const int unit = (exponent > least ? exponent : least) - digits;
    return ldexp(nearbyint(ldexp(x, -unit)), unit);
}
static inline struct ptx_bf16 ptx_narrow_bf16(double x)
{
    if (isnan(x))
        return {0x7fff};
    const double y = ptx_round_to(x, 8, -125);
    return {
        (uint16_t)(ptx_as<uint32_t>((float)y) >> 16)}; /* what is too large is infinite in float */
}
static inline struct ptx_f16 ptx_narrow_f16(double x)
{
    if (isnan(x))
        return {0x7fff};
    const double y = fabs(ptx_round_to(x, 11, -13));
    const uint16_t sign = signbit(x) ? 0x8000 : 0;
    if (y >= 65536)
        return {(uint16_t)(sign | 0x7c00)};
    if (y < 0x1p-14)
        return {(uint16_t)(sign | (int)ldexp(y, 24))};
    int exponent;
    const int digits = (int)ldexp(frexp(y, &exponent), 11);
    return {(uint16_t)(sign | (exponent + 14) << 10 | (digits & 1023))};
}

/* ---- arithmetic */

#define PTX_HALF(T, T2, narrow)                                                                    \
    static inline T ptx_fma(T a, T b, T c) /* the product is exact, their sum to 53 digits */      \
    {                                                                                              \
        return narrow(ptx_widen(a) * ptx_widen(b) + ptx_widen(c));                                 \
    }                                                                                              \
    static inline T ptx_add(T a, T b)                                                              \
    {                                                                                              \
        return narrow(ptx_widen(a) + ptx_widen(b));                                                \
    }                                                                                              \
    static inline T ptx_sub(T a, T b)                                                              \
    {                                                                                              \
        return narrow(ptx_widen(a) - ptx_widen(b));                                                \
    }                                                                                              \
    static inline T ptx_mul(T a, T b)                                                              \
    {                                                                                              \
        return narrow(ptx_widen(a) * ptx_widen(b));                                                \
    }                                                                                              \
    static inline T ptx_min(T a, T b)                                                              \
    {                                                                                              \
        return narrow(ptx_min(ptx_widen(a), ptx_widen(b)));                                        \
    }                                                                                              \
    static inline T ptx_max(T a, T b)                                                              \
    {                                                                                              \
        return narrow(ptx_max(ptx_widen(a), ptx_widen(b)));                                        \
    }                                                                                              \
    static inline T ptx_neg(T a)                                                                   \
    {                                                                                              \
        return {(uint16_t)(a.bits ^ 0x8000)};                                                      \
    }                                                                                              \
    static inline T ptx_abs(T a)                                                                   \
    {                                                                                              \
        return {(uint16_t)(a.bits & 0x7fff)};                                                      \
    }                                                                                              \
    static inline T2 ptx_fma(T2 a, T2 b, T2 c)                                                     \
    {                                                                                              \
        return {ptx_fma(a.low, b.low, c.low), ptx_fma(a.high, b.high, c.high)};                    \
    }                                                                                              \
    static inline T2 ptx_neg(T2 a)                                                                 \
    {                                                                                              \
        return {ptx_neg(a.low), ptx_neg(a.high)};                                                  \
    }                                                                                              \
    static inline T2 ptx_abs(T2 a)                                                                 \
    {                                                                                              \
        return {ptx_abs(a.low), ptx_abs(a.high)};                                                  \
    }                                                                                              \
    PTX_HALF_PAIR(T2, add)                                                                         \
    PTX_HALF_PAIR(T2, sub)                                                                         \
    PTX_HALF_PAIR(T2, mul)                                                                         \
    PTX_HALF_PAIR(T2, min)                                                                         \
    PTX_HALF_PAIR(T2, max)
#define PTX_HALF_PAIR(T2, name)                                                                    \
    static inline T2 ptx_##name(T2 a, T2 b)                                                        \
    {                                                                                              \
        return {ptx_##name(a.low, b.low), ptx_##name(a.high, b.high)};                             \
    }
PTX_HALF(ptx_bf16, ptx_bf16x2, ptx_narrow_bf16)
PTX_HALF(ptx_f16, ptx_f16x2, ptx_narrow_f16)
#undef PTX_HALF
#undef PTX_HALF_PAIR

/* ---- conversions; of pairs, the first operand goes to the upper half */

template <> inline ptx_bf16 ptx_cvt<ptx_bf16, float>(float x)
{
    return ptx_narrow_bf16((double)x);
}
template <> inline ptx_f16 ptx_cvt<ptx_f16, float>(float x)
{
    return ptx_narrow_f16((double)x);
}
template <> inline float ptx_cvt<float, ptx_bf16>(ptx_bf16 x)
{
    return (float)ptx_widen(x);
}
template <> inline float ptx_cvt<float, ptx_f16>(ptx_f16 x)
{
    return (float)ptx_widen(x);
}
template <typename T> static inline T ptx_cvt(float high, float low)
{
    if constexpr (std::is_same<T, ptx_bf16x2>::value)
        return T{ptx_narrow_bf16((double)low), ptx_narrow_bf16((double)high)};
    else
        return T{ptx_narrow_f16((double)low), ptx_narrow_f16((double)high)};
}

#endif
