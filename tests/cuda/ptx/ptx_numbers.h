/* ptx_numbers.h - the arithmetic of PTX on integers, floats and doubles (PTX ISA 9.0, 9.7.1 to
 * 9.7.7). A function has the name of its instruction without the type, .rn, .ftz and .sat; it is
 * compiled without contraction, so that a product and a sum stay two operations.
 *
 * Approximations (ex2, lg2, rcp, rsqrt, div) give the nearest float, which is within what PTX
 * allows them to be off. */
#ifndef PTX_NUMBERS_H
#define PTX_NUMBERS_H

/* ---- floats */

static inline float ptx_flush(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x;
}
template <typename T> static inline T ptx_sat(T x)
{
    return !(x > 0) ? (T)0 : x > 1 ? (T)1 : x;
}

#define PTX_BOTH(T, suffix)                                                                        \
    static inline T ptx_add(T a, T b)                                                              \
    {                                                                                              \
        return a + b;                                                                              \
    }                                                                                              \
    static inline T ptx_sub(T a, T b)                                                              \
    {                                                                                              \
        return a - b;                                                                              \
    }                                                                                              \
    static inline T ptx_mul(T a, T b)                                                              \
    {                                                                                              \
        return a * b;                                                                              \
    }                                                                                              \
    static inline T ptx_div(T a, T b)                                                              \
    {                                                                                              \
        return a / b;                                                                              \
    }                                                                                              \
    static inline T ptx_fma(T a, T b, T c)                                                         \
    {                                                                                              \
        return __builtin_fma##suffix(a, b, c);                                                     \
    }                                                                                              \
    static inline T ptx_neg(T a)                                                                   \
    {                                                                                              \
        return -a;                                                                                 \
    }                                                                                              \
    static inline T ptx_abs(T a)                                                                   \
    {                                                                                              \
        return __builtin_fabs##suffix(a);                                                          \
    }                                                                                              \
    static inline T ptx_sqrt(T a)                                                                  \
    {                                                                                              \
        return __builtin_sqrt##suffix(a);                                                          \
    }                                                                                              \
    static inline T ptx_rcp(T a)                                                                   \
    {                                                                                              \
        return 1 / a;                                                                              \
    }                                                                                              \
    /* the magnitude of b with the sign of a */                                                    \
    static inline T ptx_copysign(T a, T b)                                                         \
    {                                                                                              \
        return __builtin_copysign##suffix(b, a);                                                   \
    }                                                                                              \
    /* -0 is less than +0; a NaN is passed over */                                                 \
    static inline T ptx_min(T a, T b)                                                              \
    {                                                                                              \
        return isnan(a) ? b : isnan(b) ? a : a < b || (a == b && signbit(a)) ? a : b;              \
    }                                                                                              \
    static inline T ptx_max(T a, T b)                                                              \
    {                                                                                              \
        return isnan(a) ? b : isnan(b) ? a : a > b || (a == b && !signbit(a)) ? a : b;             \
    }                                                                                              \
    static inline bool ptx_testp_finite(T a)                                                       \
    {                                                                                              \
        return isfinite(a);                                                                        \
    }                                                                                              \
    static inline bool ptx_testp_infinite(T a)                                                     \
    {                                                                                              \
        return isinf(a);                                                                           \
    }                                                                                              \
    static inline bool ptx_testp_notanumber(T a)                                                   \
    {                                                                                              \
        return isnan(a);                                                                           \
    }                                                                                              \
    static inline bool ptx_testp_number(T a)                                                       \
    {                                                                                              \
        return !isnan(a);                                                                          \
    }
PTX_BOTH(float, f)
PTX_BOTH(double, )
#undef PTX_BOTH
static inline float ptx_min_NaN(float a, float b)
{
    return isnan(a) || isnan(b) ? NAN : ptx_min(a, b);
}
static inline float ptx_max_NaN(float a, float b)
{
    return isnan(a) || isnan(b) ? NAN : ptx_max(a, b);
}

/* A sum of doubles that are exact, in another direction: what is lost by the sum in double says on
 * which side of a float it is. */
static inline float ptx_directed(double a, double b, double direction)
{
    const double sum = a + b, back = sum - a, lost = (a - (sum - back)) + (b - back);
    const float near = (float)sum;
    if (!isfinite(near) || !isfinite(sum))
        return near;
    const double off = (double)near - sum;
    if (direction < 0 && (off > 0 || (off == 0 && lost < 0)))
        return nextafterf(near, -INFINITY);
    if (direction > 0 && (off < 0 || (off == 0 && lost > 0)))
        return nextafterf(near, INFINITY);
    return near;
}
static inline float ptx_toward_zero(double a, double b)
{
    return ptx_directed(a, b, a + b > 0 ? -1 : 1);
}
#define PTX_DIRECTED(name, a, b)                                                                   \
    static inline float ptx_##name##_rm(PTX_ARGUMENTS)                                             \
    {                                                                                              \
        return ptx_directed(a, b, -1);                                                             \
    }                                                                                              \
    static inline float ptx_##name##_rp(PTX_ARGUMENTS)                                             \
    {                                                                                              \
        return ptx_directed(a, b, 1);                                                              \
    }                                                                                              \
    static inline float ptx_##name##_rz(PTX_ARGUMENTS)                                             \
    {                                                                                              \
        return ptx_toward_zero(a, b);                                                              \
    }
#define PTX_ARGUMENTS float x, float y
PTX_DIRECTED(add, x, y)
PTX_DIRECTED(sub, x, -(double)y)
PTX_DIRECTED(mul, (double)x *y, 0)
#undef PTX_ARGUMENTS
#define PTX_ARGUMENTS float x, float y, float z
PTX_DIRECTED(fma, (double)x *y, z)
#undef PTX_ARGUMENTS
#undef PTX_DIRECTED

static inline float ptx_ex2_approx(float a)
{
    return (float)exp2((double)a);
}
static inline float ptx_lg2_approx(float a)
{
    return (float)log2((double)a);
}
static inline float ptx_rcp_approx(float a)
{
    return 1 / a;
}
static inline float ptx_sqrt_approx(float a)
{
    return sqrtf(a);
}
static inline float ptx_rsqrt_approx(float a)
{
    return (float)(1 / sqrt((double)a));
}
static inline float ptx_div_full(float a, float b)
{
    return a / b;
}
/* Divisors above 2^126 give 0, or NaN. */
static inline float ptx_div_approx(float a, float b)
{
    if (fabsf(b) > 0x1p126f && isfinite(b))
        return isinf(a) ? NAN : a * copysignf(0.0f, b);
    return a / b;
}
/* Of the upper half of a double, to the upper half. */
static inline double ptx_rcp_approx_ftz(double a)
{
    const uint64_t upper = ~(uint64_t)0 << 32;
    return ptx_as<double>(ptx_as<uint64_t>(1 / ptx_as<double>(ptx_as<uint64_t>(a) & upper)) &
                          upper);
}

/* ---- integers: sums and products wrap */

#define PTX_INTEGERS(T, U, WIDE)                                                                   \
    static inline T ptx_add(T a, T b)                                                              \
    {                                                                                              \
        return (T)((U)a + (U)b);                                                                   \
    }                                                                                              \
    static inline T ptx_sub(T a, T b)                                                              \
    {                                                                                              \
        return (T)((U)a - (U)b);                                                                   \
    }                                                                                              \
    static inline T ptx_mul_lo(T a, T b)                                                           \
    {                                                                                              \
        return (T)((U)((WIDE)a * (WIDE)b));                                                        \
    }                                                                                              \
    static inline T ptx_mul_hi(T a, T b)                                                           \
    {                                                                                              \
        return (T)(((WIDE)a * (WIDE)b) >> (8 * sizeof(T)));                                        \
    }                                                                                              \
    static inline WIDE ptx_mul_wide(T a, T b)                                                      \
    {                                                                                              \
        return (WIDE)a * (WIDE)b;                                                                  \
    }                                                                                              \
    static inline T ptx_mad_lo(T a, T b, T c)                                                      \
    {                                                                                              \
        return ptx_add(ptx_mul_lo(a, b), c);                                                       \
    }                                                                                              \
    static inline T ptx_mad_hi(T a, T b, T c)                                                      \
    {                                                                                              \
        return ptx_add(ptx_mul_hi(a, b), c);                                                       \
    }                                                                                              \
    static inline WIDE ptx_mad_wide(T a, T b, WIDE c)                                              \
    {                                                                                              \
        return (WIDE)((unsigned __int128)((WIDE)a * (WIDE)b) + (unsigned __int128)c);              \
    }                                                                                              \
    /* by nought: all ones, as the machine has it; PTX leaves it open */                           \
    static inline T ptx_div(T a, T b)                                                              \
    {                                                                                              \
        return b == 0 ? (T) ~(U)0 : (T)((WIDE)a / (WIDE)b);                                        \
    }                                                                                              \
    static inline T ptx_rem(T a, T b)                                                              \
    {                                                                                              \
        return b == 0 ? a : (T)((WIDE)a % (WIDE)b);                                                \
    }                                                                                              \
    static inline T ptx_min(T a, T b)                                                              \
    {                                                                                              \
        return b < a ? b : a;                                                                      \
    }                                                                                              \
    static inline T ptx_max(T a, T b)                                                              \
    {                                                                                              \
        return a < b ? b : a;                                                                      \
    }                                                                                              \
    static inline T ptx_neg(T a)                                                                   \
    {                                                                                              \
        return (T)((U)0 - (U)a);                                                                   \
    }                                                                                              \
    static inline T ptx_abs(T a)                                                                   \
    {                                                                                              \
        return a < 0 ? ptx_neg(a) : a;                                                             \
    }                                                                                              \
    static inline T ptx_and(T a, T b)                                                              \
    {                                                                                              \
        return (T)(a & b);                                                                         \
    }                                                                                              \
    static inline T ptx_or(T a, T b)                                                               \
    {                                                                                              \
        return (T)(a | b);                                                                         \
    }                                                                                              \
    static inline T ptx_xor(T a, T b)                                                              \
    {                                                                                              \
        return (T)(a ^ b);                                                                         \
    }                                                                                              \
    static inline T ptx_not(T a)                                                                   \
    {                                                                                              \
        return (T)~a;                                                                              \
    }                                                                                              \
    static inline T ptx_shl(T a, uint32_t n)                                                       \
    {                                                                                              \
        return n >= 8 * sizeof(T) ? (T)0 : (T)((U)a << n);                                         \
    }                                                                                              \
    static inline T ptx_shr(T a, uint32_t n)                                                       \
    {                                                                                              \
        return n >= 8 * sizeof(T) ? (T)(a < 0 ? -1 : 0) : (T)(a >> n);                             \
    }                                                                                              \
    static inline uint32_t ptx_popc(T a)                                                           \
    {                                                                                              \
        return (uint32_t)__builtin_popcountll((U)a);                                               \
    }                                                                                              \
    static inline uint32_t ptx_clz(T a)                                                            \
    {                                                                                              \
        return a ? (uint32_t)__builtin_clzll((U)a) - (64 - 8 * (uint32_t)sizeof(T))                \
                 : 8 * (uint32_t)sizeof(T);                                                        \
    }
PTX_INTEGERS(uint16_t, uint16_t, uint32_t)
PTX_INTEGERS(int16_t, uint16_t, int32_t)
PTX_INTEGERS(uint32_t, uint32_t, uint64_t)
PTX_INTEGERS(int32_t, uint32_t, int64_t)
PTX_INTEGERS(uint64_t, uint64_t, unsigned __int128)
PTX_INTEGERS(int64_t, uint64_t, __int128)
#undef PTX_INTEGERS

static inline bool ptx_and(bool a, bool b)
{
    return a && b;
}
static inline bool ptx_or(bool a, bool b)
{
    return a || b;
}
static inline bool ptx_xor(bool a, bool b)
{
    return a != b;
}
static inline bool ptx_not(bool a)
{
    return !a;
}

/* Funnel shifts: the upper word of b:a shifted left, the lower one shifted right. */
static inline uint32_t ptx_shf_l_wrap(uint32_t a, uint32_t b, uint32_t n)
{
    return (uint32_t)(((uint64_t)b << 32 | a) << (n & 31) >> 32);
}
static inline uint32_t ptx_shf_r_wrap(uint32_t a, uint32_t b, uint32_t n)
{
    return (uint32_t)(((uint64_t)b << 32 | a) >> (n & 31));
}
static inline uint32_t ptx_shf_l_clamp(uint32_t a, uint32_t b, uint32_t n)
{
    return n >= 32 ? a : ptx_shf_l_wrap(a, b, n);
}
static inline uint32_t ptx_shf_r_clamp(uint32_t a, uint32_t b, uint32_t n)
{
    return n >= 32 ? b : ptx_shf_r_wrap(a, b, n);
}

/* The lower `length` bits of a, in b from `place` on. */
static inline uint32_t ptx_bfi(uint32_t a, uint32_t b, uint32_t place, uint32_t length)
{
    place &= 255;
    length &= 255;
    const uint64_t ones = (length >= 32 ? 0xffffffffu : (1ull << length) - 1);
    const uint64_t mask = place >= 32 ? 0 : ones << place;
    return (uint32_t)((b & ~mask) | (place >= 32 ? 0 : ((uint64_t)a << place & mask)));
}

/* Each digit of `digits` takes a byte of b:a, or with its bit 3 eight times that byte's sign. */
static inline uint32_t ptx_prmt(uint32_t a, uint32_t b, uint32_t digits)
{
    const uint64_t both = (uint64_t)b << 32 | a;
    uint32_t to = 0;
    for (int i = 0; i < 4; i++) {
        const uint32_t digit = digits >> (4 * i) & 15;
        uint32_t byte = (uint32_t)(both >> (8 * (digit & 7))) & 255;
        if (digit & 8)
            byte = byte & 128 ? 255 : 0;
        to |= byte << (8 * i);
    }
    return to;
}

template <typename T> static inline T ptx_plus_carry(T a, T b, bool in, bool *out)
{
    const unsigned __int128 sum = (unsigned __int128)a + b + in;
    *out = (sum >> (8 * sizeof(T))) != 0;
    return (T)sum;
}
template <typename T> static inline T ptx_less_carry(T a, T b, bool in, bool *out)
{
    *out = (unsigned __int128)a < (unsigned __int128)b + in;
    return (T)(a - b - in);
}

/* ---- comparisons: a NaN makes the ordered ones false, and those with a u true */

#define PTX_COMPARE(name, sign)                                                                    \
    template <typename T> static inline bool ptx_##name(T a, T b)                                  \
    {                                                                                              \
        return a sign b;                                                                           \
    }                                                                                              \
    template <typename T> static inline bool ptx_##name##u(T a, T b)                               \
    {                                                                                              \
        return isnan(a) || isnan(b) || a sign b;                                                   \
    }
PTX_COMPARE(eq, ==)
PTX_COMPARE(lt, <)
PTX_COMPARE(le, <=)
PTX_COMPARE(gt, >)
PTX_COMPARE(ge, >=)
#undef PTX_COMPARE
template <typename T> static inline bool ptx_ne(T a, T b)
{
    if constexpr (std::is_floating_point<T>::value)
        return !isnan(a) && !isnan(b) && a != b;
    return a != b;
}
template <typename T> static inline bool ptx_neu(T a, T b)
{
    return a != b;
}
template <typename T> static inline bool ptx_num(T a, T b)
{
    return !isnan(a) && !isnan(b);
}
template <typename T> static inline bool ptx_nan(T a, T b)
{
    return isnan(a) || isnan(b);
}

/* ---- conversions */

/* A float that is whole, as an integer: the nearest end beyond the ends, 0 for NaN. */
template <typename T, typename F> static inline T ptx_whole_number(F x)
{
    const F end = ldexp((F)1, (int)(8 * sizeof(T)) - (std::is_signed<T>::value ? 1 : 0));
    if (isnan(x))
        return 0;
    if (x >= end)
        return std::numeric_limits<T>::max();
    return x < (F)std::numeric_limits<T>::min() ? std::numeric_limits<T>::min() : (T)x;
}
#define PTX_CONVERT(name, function)                                                                \
    template <typename T, typename F> static inline T ptx_cvt_##name(F x)                          \
    {                                                                                              \
        if constexpr (std::is_floating_point<T>::value)                                            \
            return (T)function(x);                                                                 \
        else                                                                                       \
            return ptx_whole_number<T>(function(x));                                               \
    }
PTX_CONVERT(rni, rint)
PTX_CONVERT(rzi, trunc)
PTX_CONVERT(rmi, floor)
PTX_CONVERT(rpi, ceil)
#undef PTX_CONVERT

struct ptx_bf16;
struct ptx_f16;
struct ptx_bf16x2;
struct ptx_f16x2;
/* Between types that C++ converts alike; those of 16 bits are in ptx_half.h. */
template <typename T, typename F> static inline T ptx_cvt(F x)
{
    static_assert(std::is_arithmetic<F>::value && std::is_arithmetic<T>::value &&
                      (std::is_floating_point<T>::value || std::is_integral<F>::value),
                  "a conversion without its direction");
    return (T)x;
}

#endif
