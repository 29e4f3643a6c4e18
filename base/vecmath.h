/* vecmath.h - elementary functions in double precision without branches, so that a loop over them
 * becomes vector code. The loops of symreg/ and base/draw_loops.c inline them; the loops of sim/
 * use only the access to the bits of doubles.
 *
 * They use only IEEE operations in a fixed order, so every instruction set gives equal bits in
 * folders compiled with -ffp-contract=off. Fused multiply-adds occur only where they are written.
 * IEEE defines their bits, so the instruction, libm's fma() and its emulation agree. On CPUs
 * without the instruction (before 2013) libm emulates it, tens of times slower. Polynomials are
 * Chebyshev interpolations of the functions named beside them, in Estrin's form. Largest errors
 * against long double, measured on dense grids by tests/symreg/test_vec.c (ulp = unit in the last
 * place of the result):
 *   exp 0.8, log 1.1, sin and cos 2.2, tan 3.2, atan 1.7, asin 2.7, acos 2.3,
 *   sinh 2.3, cosh 1.4, tanh 2.1, log10 0.6, cbrt 0.8, hypot 0.9, atan2 2.0,
 *   pow 1.1 where |b log a| <= 40, 9 up to 700
 * Outside the domain the result is NaN, or infinite where the limit is. */
#ifndef ORR_VECMATH_H
#define ORR_VECMATH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define VM_INLINE static inline __attribute__((always_inline))

VM_INLINE double vm_from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

VM_INLINE uint64_t vm_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* x, or 0 where the condition does not hold. */
VM_INLINE double vm_if(bool condition, double x)
{
    return vm_from_bits(vm_bits(x) & (0 - (uint64_t)condition));
}

/* a b + c, rounded once; a target without the instruction may define another way to the same bits
 * (lab/port/fma.h). */
#ifndef VM_FMA
#define VM_FMA __builtin_fma
#endif
VM_INLINE double vm_fma(double a, double b, double c)
{
    return VM_FMA(a, b, c);
}

#define VM_SIGN       ((uint64_t)1 << 63)
#define VM_MAGIC      0x1.8p52 /* adding it rounds to an integer, held in the low bits */
#define VM_MAGIC_BITS 0x4338000000000000u
#define VM_LN2_HIGH   0x1.62e42fefa2000p-1 /* 40 bits: products with exponents are exact */
#define VM_LN2_LOW    0x1.9ef35793c7673p-41
#define VM_LOG2E      0x1.71547652b82fep+0
#define VM_TRIG_MAX   1e5 /* the caller handles sin and cos of larger angles */

VM_INLINE double vm_with_sign(double size, double sign)
{
    return vm_from_bits(vm_bits(size) | (vm_bits(sign) & VM_SIGN));
}

/* ---- exponentials */

/* exp(r) - 1 on |r| <= ln(2) / 2: r + r^2 q(r), error of q 1.3e-17. */
VM_INLINE double vm_expm1_small(double r)
{
    const double z = r * r, z2 = z * z;
    const double low = vm_fma(z, vm_fma(r, 0x1.11111111109b3p-7, 0x1.5555555553d63p-5),
                              vm_fma(r, 0x1.5555555555556p-3, 0x1.0000000000001p-1));
    const double middle = vm_fma(z, vm_fma(r, 0x1.71de0dae63bb3p-19, 0x1.a019b90d2ae7ap-16),
                                 vm_fma(r, 0x1.a01a01a7c41d5p-13, 0x1.6c16c1788bd90p-10));
    const double high = vm_fma(r, 0x1.af38a9b0ec855p-26, 0x1.289185613a3d6p-22);
    return vm_fma(z, vm_fma(z2, vm_fma(z2, high, middle), low), r);
}

/* p 2^exponent, |exponent| < 2048, by two factors, so that denormal results are rounded only
 * once. */
VM_INLINE double vm_scale(double p, uint64_t exponent)
{
    const uint64_t k = exponent + 2048, half = k >> 1;
    return p * vm_from_bits((half - 1) << 52) * vm_from_bits((k - half - 1) << 52);
}

/* exp(x + tail), |tail| << |x|. */
VM_INLINE double vm_exp_sum(double x, double tail)
{
    x = x < -746.0 ? -746.0 : x;
    x = x > 710.0 ? 710.0 : x;
    const double shifted = vm_fma(x, VM_LOG2E, VM_MAGIC), k = shifted - VM_MAGIC;
    const double r = vm_fma(-k, VM_LN2_HIGH, x) + vm_fma(-k, VM_LN2_LOW, tail);
    return vm_scale(1.0 + vm_expm1_small(r), vm_bits(shifted) - VM_MAGIC_BITS);
}

/* 2^(j/16) as a sum of two doubles. */
static const double vm_exp_table[2][16] = {
    {0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
     0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
     0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
     0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0},
    {0x0.0p+0, 0x1.8a62e4adc610bp-54, -0x1.19041b9d78a76p-55, 0x1.9b07eb6c70573p-54,
     0x1.6f46ad23182e4p-55, 0x1.ada0911f09ebcp-55, 0x1.d4397afec42e2p-56, 0x1.6324c054647adp-54,
     -0x1.bdd3413b26456p-54, -0x1.41577ee04992fp-55, 0x1.6e9f156864b27p-54, 0x1.c7c46b071f2bep-56,
     0x1.7a1cd345dcc81p-54, 0x1.11065895048ddp-55, 0x1.2ed02d75b3707p-55, -0x1.e9c23179c2893p-54},
};
#define VM_EXP_MAGIC      0x1.8p48 /* rounds to sixteenths */
#define VM_EXP_MAGIC_BITS 0x42f8000000000000u
#define VM_LN2            0x1.62e42fefa39efp-1
#define VM_LN2_REST       0x1.abc9e3b39803fp-56

/* (exp(r) - 1 - r) / r^2 on |r| <= ln(2) / 32, relative error of exp 2.9e-17. */
#define VM_EXP_0 0x1.0000000000000p-1
#define VM_EXP_1 0x1.55555554dcc9bp-3
#define VM_EXP_2 0x1.55555555190f9p-5
#define VM_EXP_3 0x1.11120b77051e7p-7
#define VM_EXP_4 0x1.6c17bbd1f560ap-10

/* 2^floor(k) 2^(j/16) exp(r), with x = (k + r) ln(2) and k in sixteenths. */
VM_INLINE double vm_exp(double x)
{
    x = x < -746.0 ? -746.0 : x;
    x = x > 710.0 ? 710.0 : x;
    const double shifted = vm_fma(x, VM_LOG2E, VM_EXP_MAGIC), k = shifted - VM_EXP_MAGIC;
    const double r = vm_fma(-k, VM_LN2_REST, vm_fma(-k, VM_LN2, x)), z = r * r;
    const double high = vm_fma(z, VM_EXP_4, vm_fma(r, VM_EXP_3, VM_EXP_2));
    const double q = vm_fma(z, high, vm_fma(r, VM_EXP_1, VM_EXP_0)), p = vm_fma(z, q, r);
    const uint64_t sixteenths = vm_bits(shifted) - VM_EXP_MAGIC_BITS;
    const double t = vm_exp_table[0][sixteenths & 15];
    const double y = t + vm_fma(t, p, vm_exp_table[1][sixteenths & 15]);
    return vm_scale(y, ((sixteenths + 16 * 2048) >> 4) - 2048);
}

/* exp(x) - 1 = (scale - 1) + scale * result, scale = 2^k; 0 <= x <= 711. */
VM_INLINE double vm_expm1_parts(double x, double *shifted)
{
    *shifted = vm_fma(x, VM_LOG2E, VM_MAGIC);
    const double k = *shifted - VM_MAGIC;
    return vm_expm1_small(vm_fma(-k, VM_LN2_REST, vm_fma(-k, VM_LN2, x)));
}

VM_INLINE double vm_tanh(double x)
{
    double shifted, size = fabs(x);
    size = size > 20.0 ? 20.0 : size;
    const double small = vm_expm1_parts(2.0 * size, &shifted);
    const double scale = vm_from_bits((vm_bits(shifted) + 1023) << 52);
    const double e = vm_fma(scale, small, scale - 1.0);
    return vm_with_sign(e / (e + 2.0), x);
}

/* Computes with q = (exp |x| - 1) / 4, so that nothing overflows before the result does. */
VM_INLINE double vm_sinh(double x)
{
    double shifted, size = fabs(x);
    size = size > 710.6 ? 710.6 : size;
    const double small = vm_expm1_parts(size, &shifted);
    const double scale = vm_from_bits((vm_bits(shifted) + 1021) << 52);
    const double q = vm_fma(scale, small, scale - 0.25);
    return vm_with_sign(2.0 * (q + q / vm_fma(4.0, q, 1.0)), x);
}

VM_INLINE double vm_cosh(double x)
{
    double shifted, size = fabs(x);
    size = size > 710.6 ? 710.6 : size;
    const double small = vm_expm1_parts(size, &shifted);
    const double scale = vm_from_bits((vm_bits(shifted) + 1021) << 52);
    const double q = vm_fma(scale, small, scale);
    return 2.0 * q + 0.125 / q;
}

/* ---- logarithms and powers */

#define VM_ROOT_HALF 0x3fe6a09e667f3bcdu /* bits of sqrt(1/2) */
#define VM_LOG_FIRST 0x3fe6500000000000u /* 0.697: the first interval of the table */
#define VM_MANTISSA  0x000fffffffffffffu

/* x = m 2^k with m in [f, 2 f), where the bits of f, near 0.7, are `from`; x is positive and may be
 * denormal. */
VM_INLINE double vm_split(double x, uint64_t from, double *k)
{
    const double denormal = x < 0x1p-1022 ? 54.0 : 0.0;
    const double y = x < 0x1p-1022 ? x * 0x1p54 : x;
    const uint64_t u = vm_bits(y) + (0x3ff0000000000000u - from);
    *k = (vm_from_bits(u >> 52 | 0x4330000000000000u) - (0x1p52 + 1023.0)) - denormal;
    return vm_from_bits((u & VM_MANTISSA) + from);
}

/* log((1 + s) / (1 - s)) = 2 s + s R(s^2) on |s| <= 0.1716, relative error 5.4e-19. */
VM_INLINE double vm_log_series(double w)
{
    const double w2 = w * w;
    const double low = vm_fma(w2, vm_fma(w, 0x1.c71c7201f207cp-3, 0x1.2492492476765p-2),
                              vm_fma(w, 0x1.9999999999a3ap-2, 0x1.5555555555555p-1));
    const double high = vm_fma(w2, vm_fma(w, 0x1.0c1263e1bac13p-3, 0x1.0fbd2bafa02d6p-3),
                               vm_fma(w, 0x1.3b1c42e3df02cp-3, 0x1.745cf8c4c7bcap-3));
    return w * vm_fma(w2 * w2, high, low);
}

/* 1 / c and log(c) for c near the middle of each of 16 intervals of m; the interval around 1 has c
 * = 1. Each c is chosen so that log(c) is a multiple of 2^-42 to within 2^-62, and k log(2) +
 * log(c) is then exact. */
static const double vm_log_table[2][16] = {
    {0x1.671a1c0979e4dp+0, 0x1.5805643fd2f43p+0, 0x1.4a281814181c8p+0, 0x1.3d5dc5595f67dp+0,
     0x1.3187826909ef4p+0, 0x1.268b1507902bfp+0, 0x1.1c51fa4ece241p+0, 0x1.12c897ec8c0e5p+0,
     0x1.09dd7f6cc47fep+0, 0x1.0000000000000p+0, 0x1.e741db9a3fc49p-1, 0x1.cbe710dd78709p-1,
     0x1.b37448d298643p-1, 0x1.9d79fa12adfd9p-1, 0x1.899c35f5e0a00p-1, 0x1.7790480a0887fp-1},
    {-0x1.5a8d21aeed000p-2, -0x1.2e9e38340c000p-2, -0x1.047ebb7c37000p-2, -0x1.b81290902a000p-3,
     -0x1.6a39f3d3d2000p-3, -0x1.1f3aa097ae000p-3, -0x1.adc47ce4b0000p-4, -0x1.2205ce6570000p-4,
     -0x1.35c1a5f0b0000p-5, 0x0.0p+0, 0x1.95c4f4db68000p-5, 0x1.b78a9486b4000p-4,
     0x1.4ba488bb44000p-3, 0x1.b5b4ef4476000p-3, 0x1.0d46511806000p-2, 0x1.3d5595f0d0000p-2},
};

/* (log(1 + r) - r) / r^2 on |r| <= 0.0298, relative error of log(1 + r) 1.5e-17. */
#define VM_LOG_0 (-0x1.ffffffffffff7p-2)
#define VM_LOG_1 0x1.555555555554dp-2
#define VM_LOG_2 (-0x1.000000004c40cp-2)
#define VM_LOG_3 0x1.9999999a243eap-3
#define VM_LOG_4 (-0x1.5555482f06c42p-3)
#define VM_LOG_5 0x1.24923d303adc1p-3
#define VM_LOG_6 (-0x1.005cdd45c833bp-3)
#define VM_LOG_7 0x1.c7c54a95911d8p-4

/* k log(2) + log(c) + log(1 + r), with x = 2^k c (1 + r). */
VM_INLINE double vm_log(double x)
{
    double k;
    const double m = vm_split(x, VM_LOG_FIRST, &k);
    const uint64_t interval = (vm_bits(m) - VM_LOG_FIRST) >> 48 & 15;
    const double r = vm_fma(m, vm_log_table[0][interval], -1.0), z = r * r;
    const double high = vm_fma(z, vm_fma(r, VM_LOG_7, VM_LOG_6), vm_fma(r, VM_LOG_5, VM_LOG_4));
    const double low =
        vm_fma(z, vm_fma(z, high, vm_fma(r, VM_LOG_3, VM_LOG_2)), vm_fma(r, VM_LOG_1, VM_LOG_0));
    const double first = vm_fma(k, VM_LN2_HIGH, vm_log_table[1][interval]), sum = first + r;
    const double rest = vm_fma(k, VM_LN2_LOW, (first - sum) + r);
    double result = sum + vm_fma(z, low, rest);
    result = x < HUGE_VAL ? result : x;
    const double limit = x == 0.0 ? -HUGE_VAL : (double)NAN;
    return x > 0.0 ? result : limit;
}

/* log of a positive number as a sum of two doubles, relative error 2^-59. */
VM_INLINE double vm_log_pair(double x, double *low)
{
    double k;
    const double m = vm_split(x, VM_ROOT_HALF, &k), f = m - 1.0, d = m + 1.0, inverse = 1.0 / d;
    const double s = f * inverse, dl = m - (d - 1.0);
    const double sl = vm_fma(-s, dl, vm_fma(-s, d, f)) * inverse; /* f / (m + 1) - s */
    const double first = k * VM_LN2_HIGH, second = 2.0 * s, sum = first + second;
    const double closer = s + sl, series = closer * vm_log_series(closer * closer);
    const double rest = ((first - sum) + second) + vm_fma(2.0, sl, vm_fma(k, VM_LN2_LOW, series));
    const double high = sum + rest;
    *low = rest - (high - sum);
    return high;
}

/* a^b with pow()'s special cases, but NaN where a or b is. */
VM_INLINE double vm_pow(double a, double b)
{
    double low;
    const double size = fabs(a), t = fabs(b);
    const double high = vm_log_pair(size, &low);
    double y = b < -1e25 ? -1e25 : b;
    y = y > 1e25 ? 1e25 : y;
    const double product = y * high;
    const double rest = vm_fma(y, low, vm_fma(y, high, -product));
    double result = vm_exp_sum(product, fabs(product) < 800.0 ? rest : 0.0);
    const double at_zero = b < 0.0 ? HUGE_VAL : b > 0.0 ? 0.0 : 1.0;
    const double at_infinity = b < 0.0 ? 0.0 : b > 0.0 ? HUGE_VAL : 1.0;
    result = size > 0.0 ? result : at_zero;
    result = size < HUGE_VAL ? result : at_infinity;
    /* negative bases: odd powers are negative, powers that are not whole are NaN but for -inf */
    const double whole = t < 0x1p52 ? (t + 0x1p52) - 0x1p52 : t;
    const double half = 0.5 * t, even = half < 0x1p52 ? (half + 0x1p52) - 0x1p52 : half;
    const double not_whole = size < HUGE_VAL ? (double)NAN : result;
    const double negative = whole == t ? (even == half ? result : -result) : not_whole;
    const double kept = a < 0.0 ? negative : result;
    return size <= HUGE_VAL && t <= HUGE_VAL ? kept : (double)NAN;
}

/* The exact product of VM_LOG10E with the pair, so that powers of ten have whole logarithms. */
#define VM_LOG10E      0x1.bcb7b1526e50ep-2
#define VM_LOG10E_REST 0x1.95355baaafad3p-57
VM_INLINE double vm_log10(double x)
{
    double low;
    const double high = vm_log_pair(x, &low), product = high * VM_LOG10E;
    const double rest =
        vm_fma(high, VM_LOG10E, -product) + vm_fma(high, VM_LOG10E_REST, low * VM_LOG10E);
    const double limit = x == 0.0 ? -HUGE_VAL : (double)NAN;
    const double result = x < HUGE_VAL ? product + rest : x;
    return x > 0.0 ? result : limit;
}

/* One Newton step corrects the rounded exponent 1 / 3. */
VM_INLINE double vm_cbrt(double x)
{
    const double size = fabs(x), z = vm_pow(size, 1.0 / 3);
    const double root = z - (z - size / (z * z)) / 3;
    return vm_with_sign(size > 0.0 && size < HUGE_VAL ? root : size, x);
}

/* sqrt(a^2 + b^2), scaled by a power of two where squares would overflow or lose bits. */
VM_INLINE double vm_hypot(double a, double b)
{
    const double p = fabs(a), q = fabs(b), big = p < q ? q : p, small = p < q ? p : q;
    const double down = big > 0x1p500 ? 0x1p-600 : 1.0, scale = big < 0x1p-500 ? 0x1p600 : down;
    const double up = big > 0x1p500 ? 0x1p600 : 1.0, unscale = big < 0x1p-500 ? 0x1p-600 : up;
    const double x = big * scale, y = small * scale;
    return sqrt(vm_fma(x, x, y * y)) * unscale;
}

/* ---- trigonometry */

/* (sin(r) - r) / r^3 as a polynomial of r^2 on |r| <= pi / 2, relative error of sin 2.3e-17. */
#define VM_SIN_0 (-0x1.5555555555555p-3)
#define VM_SIN_1 0x1.1111111111107p-7
#define VM_SIN_2 (-0x1.a01a01a018aa6p-13)
#define VM_SIN_3 0x1.71de3a54562a8p-19
#define VM_SIN_4 (-0x1.ae6455a1a9e7ep-26)
#define VM_SIN_5 0x1.6124014cbe2fcp-33
#define VM_SIN_6 (-0x1.ae513415aadccp-41)
#define VM_SIN_7 0x1.89a3f16388edcp-49

VM_INLINE double vm_sin_series(double z)
{
    const double z2 = z * z;
    const double high = vm_fma(z2, vm_fma(z, VM_SIN_7, VM_SIN_6), vm_fma(z, VM_SIN_5, VM_SIN_4));
    return vm_fma(z2, vm_fma(z2, high, vm_fma(z, VM_SIN_3, VM_SIN_2)),
                  vm_fma(z, VM_SIN_1, VM_SIN_0));
}

VM_INLINE double vm_sin_small(double r)
{
    const double z = r * r;
    return vm_fma(r * z, vm_sin_series(z), r);
}

/* pi as a sum of three doubles; x - k pi is exact in its first difference for the nearest k. */
#define VM_PI         0x1.921fb54442d18p+1
#define VM_PI_REST    0x1.1a62633145c07p-53
#define VM_PI_LAST    (-0x1.f1976b7ed8fbcp-109)
#define VM_INVERSE_PI 0x1.45f306dc9c883p-2

/* x - k pi for k a multiple of 1/2. */
VM_INLINE double vm_less_pi(double x, double k)
{
    return vm_fma(-k, VM_PI_LAST, vm_fma(-k, VM_PI_REST, vm_fma(-k, VM_PI, x)));
}

VM_INLINE double vm_sin(double x)
{
    const double shifted = vm_fma(x, VM_INVERSE_PI, VM_MAGIC);
    const double s = vm_sin_small(vm_less_pi(x, shifted - VM_MAGIC));
    return vm_from_bits(vm_bits(s) ^ vm_bits(shifted) << 63);
}

VM_INLINE double vm_cos(double x)
{
    const double shifted = vm_fma(x, VM_INVERSE_PI, -0.5) + VM_MAGIC;
    const double s = vm_sin_small(vm_less_pi(x, (shifted - VM_MAGIC) + 0.5));
    return vm_from_bits(vm_bits(s) ^ ~vm_bits(shifted) << 63);
}

VM_INLINE double vm_tan(double x)
{
    return vm_sin(x) / vm_cos(x);
}

/* atan(z) = z + z^3 p(z^2) on |z| <= tan(pi / 8), relative error 3.3e-18; other arguments are
 * reduced by 45 or 90 degrees. */
VM_INLINE double vm_atan(double x)
{
    const double t = fabs(x);
    /* tan(3/8 pi) and tan(1/8 pi) */
    const double third = 0x1.3504f333f9de6p+1, first = 0x1.a827999fcef32p-2;
    const double middle_num = t > first ? t - 1.0 : t, middle_den = t > first ? t + 1.0 : 1.0;
    const double num = t > third ? -1.0 : middle_num, den = t > third ? t : middle_den;
    const double middle = t > first ? 0x1.921fb54442d18p-1 : 0.0;
    const double angle = t > third ? 0x1.921fb54442d18p+0 : middle,
                 rest = angle * 0x1.678afae35cdd1p-55;
    const double z = num / den, w = z * z, w2 = w * w, w4 = w2 * w2;
    const double p0 = vm_fma(w2, vm_fma(w, 0x1.c71c71c2f37e8p-4, -0x1.249249248d684p-3),
                             vm_fma(w, 0x1.9999999999952p-3, -0x1.5555555555555p-2));
    const double p1 = vm_fma(w2, vm_fma(w, 0x1.e19978381e052p-5, -0x1.110e81459346ep-4),
                             vm_fma(w, 0x1.3b139279535a8p-4, -0x1.745d165a9c002p-4));
    const double p2 = vm_fma(w2, vm_fma(w, 0x1.0a5f8c60d732bp-6, -0x1.1aff6533dd0e5p-5),
                             vm_fma(w, 0x1.74c9760b1bea4p-5, -0x1.ac761b5db4f38p-5));
    const double p = vm_fma(w4, vm_fma(w4, p2, p1), p0);
    return vm_with_sign(angle + (z + vm_fma(z * w, p, rest)), x);
}

VM_INLINE double vm_asin(double x)
{
    return vm_atan(x / sqrt((1.0 - x) * (1.0 + x)));
}

VM_INLINE double vm_acos(double x)
{
    return 2.0 * vm_atan(sqrt((1.0 - x) / (1.0 + x)));
}

/* The angle of the point (x, y), from the ratio of the smaller coordinate to the larger. */
VM_INLINE double vm_atan2(double y, double x)
{
    const double p = fabs(y), q = fabs(x), big = p > q ? p : q, small = p > q ? q : p;
    const double ratio = small / (big == 0.0 ? 1.0 : big);
    const double part = vm_atan(small == HUGE_VAL ? 1.0 : ratio); /* NaN stays */
    const double steep = VM_PI / 2 - part + VM_PI_REST / 2, angle = p > q ? steep : part;
    const double left = VM_PI - angle + VM_PI_REST;
    return vm_with_sign(vm_bits(x) >> 63 ? left : angle, y);
}

/* ---- anomalies of an orbit: Kepler's equation E - e sin E = M, 0 <= e < 1, else NaN
 *
 * Markley (1995), Celestial Mechanics and Dynamical Astronomy 63, 101: a cubic for the start, which
 * is right to 4e-4 or better, and one correction of the fifth order. Differences that cancel for e
 * near 1 (E - sin E, 1 - e cos E) are written without cancellation. */

/* 1 - e cos x for |x| <= pi, of half = x / 2. */
VM_INLINE double vm_less_cosine(double half, double e)
{
    const double s = vm_sin_small(half);
    return vm_fma(2.0 * e * s, s, 1.0 - e);
}

/* The eccentric anomaly in [0, pi] of a mean anomaly M in [0, pi]. */
VM_INLINE double vm_kepler(double M, double e)
{
    const double below = 1.0 - e, squared = 1.0 / (VM_PI * VM_PI - 6.0);
    const double alpha =
        (3.0 * VM_PI * VM_PI + 1.6 * VM_PI * (VM_PI - M) / (1.0 + e)) * squared; /* (20) */
    const double d = vm_fma(alpha, e, 3.0 * below), square = M * M;              /* (5) */
    const double q = vm_fma(2.0 * alpha * d, below, -square);                    /* (9) */
    const double r = M * vm_fma(3.0 * alpha * d, d - below, square);             /* (10) */
    const double root = vm_cbrt(r + sqrt(vm_fma(q * q, q, r * r))), w = root * root;
    const double start = (2.0 * r * w / (w * w + w * q + q * q) + M) / d; /* (14), (15) */
    const double E = start < VM_PI ? start : VM_PI;
    const bool far = E > VM_PI / 2;
    const double near = far ? VM_PI - E + VM_PI_REST : E, z = near * near;
    const double rest = -near * z * vm_sin_series(z), sine = near - rest; /* near - sin E */
    const double f0 = vm_fma(below, E, e * (far ? E - sine : rest)) - M;
    const double f1 = vm_less_cosine(0.5 * E, e), f2 = e * sine, f3 = 1.0 - f1;
    const double d3 = -f0 / (f1 - 0.5 * f0 * f2 / f1); /* (21) to (25) */
    const double d4 = -f0 / (f1 + d3 * (0.5 * f2 + d3 * f3 / 6.0));
    const double d5 = -f0 / (f1 + d4 * (0.5 * f2 + d4 * (f3 / 6.0 - d4 * f2 / 24.0)));
    return E + d5;
}

/* |M| less the nearest whole turns, at most pi in size; *turns: twice their number. Beyond the
 * numbers that know their turn it is 0, and the anomalies are M. */
VM_INLINE double vm_turned(double M, double *turns)
{
    const double size = fabs(M);
    *turns = 2.0 * (vm_fma(size, 0.5 * VM_INVERSE_PI, VM_MAGIC) - VM_MAGIC);
    const double left = vm_less_pi(size, *turns);
    *turns = size < 1e15 ? *turns : size * VM_INVERSE_PI;
    return size < 1e15 ? left : size - size; /* NaN stays */
}

/* E(M, e), which grows with M through all turns. */
VM_INLINE double vm_eccentric(double M, double e)
{
    double turns;
    const double left = vm_turned(M, &turns), size = fabs(left);
    const double E = vm_with_sign(vm_kepler(size < VM_PI ? size : VM_PI, e), left);
    return e >= 0.0 && e < 1.0 ? vm_with_sign(vm_less_pi(E, -turns), M) : (double)NAN;
}

/* The true anomaly nu(M, e) = E + 2 atan(b sin E / (1 - b cos E)), b = e / (1 + sqrt(1 - e^2))
 * (Broucke & Cefola 1973, Celestial Mechanics 7, 388), which grows through all turns. */
VM_INLINE double vm_true(double M, double e)
{
    double turns;
    const double left = vm_turned(M, &turns), size = fabs(left);
    const double E = vm_kepler(size < VM_PI ? size : VM_PI, e);
    const double root = sqrt((1.0 - e) * (1.0 + e)), b = e / (1.0 + root);
    const double sine = vm_sin_small(E > VM_PI / 2 ? VM_PI - E + VM_PI_REST : E);
    const double s = vm_sin_small(0.5 * E), less = (1.0 - e + root) / (1.0 + root); /* 1 - b */
    const double angle = E + 2.0 * vm_atan(b * sine / vm_fma(2.0 * b * s, s, less));
    const double nu = vm_less_pi(vm_with_sign(angle, left), -turns);
    return e >= 0.0 && e < 1.0 ? vm_with_sign(nu, M) : (double)NAN;
}

/* Derivatives by M and by e, of the eccentric anomaly E and of the true one nu. */
VM_INLINE double vm_eccentric_by_M(double E, double e)
{
    double turns;
    return 1.0 / vm_less_cosine(0.5 * vm_turned(E, &turns), e);
}

VM_INLINE double vm_eccentric_by_e(double E, double e)
{
    double turns;
    const double left = vm_turned(E, &turns);
    return vm_with_sign(1.0, E) * vm_sin(left) / vm_less_cosine(0.5 * left, e);
}

VM_INLINE double vm_true_by_M(double nu, double e)
{
    double turns;
    const double c = vm_cos(0.5 * vm_turned(nu, &turns)), whole = (1.0 - e) * (1.0 + e);
    const double plus = vm_fma(2.0 * e * c, c, 1.0 - e); /* 1 + e cos nu */
    return plus * plus / (whole * sqrt(whole));
}

VM_INLINE double vm_true_by_e(double nu, double e)
{
    double turns;
    const double left = vm_turned(nu, &turns);
    return vm_with_sign(1.0, nu) * vm_sin(left) * vm_fma(e, vm_cos(left), 2.0) /
           ((1.0 - e) * (1.0 + e));
}

/* ---- log cosh, of the loss of that name: a series near 0, where the logarithm loses digits */
VM_INLINE double vm_log_cosh(double x)
{
    const double t = fabs(x), z = t * t;
    const double series =
        z * (0.5 + z * (-1.0 / 12 + z * (1.0 / 45 + z * (-17.0 / 2520 + z * (31.0 / 14175)))));
    const double whole = t + (vm_log(1.0 + vm_exp(-2.0 * t)) - (VM_LN2_HIGH + VM_LN2_LOW));
    return t < 0.1 ? series : whole;
}

#endif
