/* vecmath.h - inside symreg/: elementary functions in double precision without branches, so that a
 * loop over them becomes vector code.
 *
 * Only IEEE operations in a fixed order, without fused multiply-adds and without libm: every
 * instruction set gives the same bits. Polynomials are Chebyshev interpolations of the functions
 * named beside them, in Estrin's form. Largest errors against long double, measured on dense grids
 * by tests/symreg/test_vec.c (ulp = unit in the last place of the result):
 *   exp 1.0, log 0.8, sin and cos 2.4 for |x| <= 1e5, tan 3.3, atan 1.7, asin 2.4, acos 2.3,
 *   sinh 1.6, cosh 1.4, tanh 1.8, pow 1.1 where |b log a| <= 40, 9 up to 700
 * Outside the domain the result is NaN, or infinite where the limit is. */
#ifndef SR_VECMATH_H
#define SR_VECMATH_H

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

#define VM_SIGN       ((uint64_t)1 << 63)
#define VM_MAGIC      0x1.8p52 /* adding it rounds to an integer, which is then in the low bits */
#define VM_MAGIC_BITS 0x4338000000000000u
#define VM_LN2_HIGH   0x1.62e42fefa2000p-1 /* 40 bits: products with exponents are exact */
#define VM_LN2_LOW    0x1.9ef35793c7673p-41
#define VM_LOG2E      0x1.71547652b82fep+0
#define VM_TRIG_MAX   1e5 /* sin and cos of larger angles are for the caller */

VM_INLINE double vm_with_sign(double size, double sign)
{
    return vm_from_bits(vm_bits(size) | (vm_bits(sign) & VM_SIGN));
}

/* ---- exponentials */

/* exp(r) - 1 on |r| <= ln(2) / 2: r + r^2 q(r), error of q 1.3e-17. */
VM_INLINE double vm_expm1_small(double r)
{
    const double z = r * r, z2 = z * z;
    const double low = (0x1.0000000000001p-1 + r * 0x1.5555555555556p-3) +
                       z * (0x1.5555555553d63p-5 + r * 0x1.11111111109b3p-7);
    const double middle = (0x1.6c16c1788bd90p-10 + r * 0x1.a01a01a7c41d5p-13) +
                          z * (0x1.a019b90d2ae7ap-16 + r * 0x1.71de0dae63bb3p-19);
    const double high = 0x1.289185613a3d6p-22 + r * 0x1.af38a9b0ec855p-26;
    return r + z * (low + z2 * (middle + z2 * high));
}

/* p 2^k for the k in the low bits of k + VM_MAGIC, in two factors: results may be denormal. */
VM_INLINE double vm_scale(double p, double shifted)
{
    const uint64_t k = vm_bits(shifted) - VM_MAGIC_BITS + 2048, half = k >> 1;
    return p * vm_from_bits((half - 1) << 52) * vm_from_bits((k - half - 1) << 52);
}

/* exp(x + tail), |tail| << |x|. */
VM_INLINE double vm_exp_sum(double x, double tail)
{
    x = x < -746.0 ? -746.0 : x;
    x = x > 710.0 ? 710.0 : x;
    const double shifted = x * VM_LOG2E + VM_MAGIC, k = shifted - VM_MAGIC;
    const double r = (x - k * VM_LN2_HIGH) + (tail - k * VM_LN2_LOW);
    return vm_scale(1.0 + vm_expm1_small(r), shifted);
}

VM_INLINE double vm_exp(double x)
{
    return vm_exp_sum(x, 0.0);
}

/* exp(x) - 1 = (scale - 1) + scale * result, scale = 2^k; 0 <= x <= 711. */
VM_INLINE double vm_expm1_parts(double x, double *shifted)
{
    *shifted = x * VM_LOG2E + VM_MAGIC;
    const double k = *shifted - VM_MAGIC;
    return vm_expm1_small((x - k * VM_LN2_HIGH) - k * VM_LN2_LOW);
}

VM_INLINE double vm_tanh(double x)
{
    double shifted, size = fabs(x);
    size = size > 20.0 ? 20.0 : size;
    const double small = vm_expm1_parts(2.0 * size, &shifted);
    const double scale = vm_from_bits((vm_bits(shifted) + 1023) << 52);
    const double e = (scale - 1.0) + scale * small;
    return vm_with_sign(e / (e + 2.0), x);
}

/* With q = (exp |x| - 1) / 4: nothing overflows before the result does. */
VM_INLINE double vm_sinh(double x)
{
    double shifted, size = fabs(x);
    size = size > 710.6 ? 710.6 : size;
    const double small = vm_expm1_parts(size, &shifted);
    const double scale = vm_from_bits((vm_bits(shifted) + 1021) << 52);
    const double q = (scale - 0.25) + scale * small;
    return vm_with_sign(2.0 * (q + q / (4.0 * q + 1.0)), x);
}

VM_INLINE double vm_cosh(double x)
{
    double shifted, size = fabs(x);
    size = size > 710.6 ? 710.6 : size;
    const double small = vm_expm1_parts(size, &shifted);
    const double scale = vm_from_bits((vm_bits(shifted) + 1021) << 52);
    const double q = scale + scale * small;
    return 2.0 * q + 0.125 / q;
}

/* ---- logarithms and powers */

#define VM_ROOT_HALF 0x3fe6a09e667f3bcdu /* bits of sqrt(1/2) */

/* x = m 2^k with m in [sqrt(1/2), sqrt(2)); x positive, denormal or not. */
VM_INLINE double vm_split(double x, double *k)
{
    const double denormal = x < 0x1p-1022 ? 54.0 : 0.0;
    const double y = x < 0x1p-1022 ? x * 0x1p54 : x;
    const uint64_t u = vm_bits(y) + (0x3ff0000000000000u - VM_ROOT_HALF);
    *k = (vm_from_bits(u >> 52 | 0x4330000000000000u) - (0x1p52 + 1023.0)) - denormal;
    return vm_from_bits((u & 0x000fffffffffffffu) + VM_ROOT_HALF);
}

/* log((1 + s) / (1 - s)) = 2 s + s R(s^2) on |s| <= 0.1716, relative error 5.4e-19. */
VM_INLINE double vm_log_series(double w)
{
    const double w2 = w * w;
    const double low = (0x1.5555555555555p-1 + w * 0x1.9999999999a3ap-2) +
                       w2 * (0x1.2492492476765p-2 + w * 0x1.c71c7201f207cp-3);
    const double high = (0x1.745cf8c4c7bcap-3 + w * 0x1.3b1c42e3df02cp-3) +
                        w2 * (0x1.0fbd2bafa02d6p-3 + w * 0x1.0c1263e1bac13p-3);
    return w * (low + w2 * w2 * high);
}

VM_INLINE double vm_log(double x)
{
    double k;
    const double m = vm_split(x, &k), f = m - 1.0, s = f / (2.0 + f), h = 0.5 * f * f;
    const double sum = s * (h + vm_log_series(s * s)) + k * VM_LN2_LOW;
    double result = k * VM_LN2_HIGH - ((h - sum) - f);
    result = x < HUGE_VAL ? result : x;
    const double limit = x == 0.0 ? -HUGE_VAL : (double)NAN;
    return x > 0.0 ? result : limit;
}

/* The upper 26 bits: products of two such numbers are exact. */
VM_INLINE double vm_upper(double x)
{
    return vm_from_bits(vm_bits(x) & ~(uint64_t)0x7ffffff);
}

/* log of a positive number as a sum of two, error 2^-59 of it. */
VM_INLINE double vm_log_pair(double x, double *low)
{
    double k;
    const double m = vm_split(x, &k), f = m - 1.0, d = m + 1.0, inverse = 1.0 / d;
    const double s = f * inverse, sh = vm_upper(s), dh = vm_upper(d);
    const double dl = (d - dh) + (m - (d - 1.0));
    const double sl = ((f - sh * dh) - sh * dl) * inverse;
    const double first = k * VM_LN2_HIGH, second = 2.0 * sh, sum = first + second;
    const double closer = sh + sl;
    const double series = closer * vm_log_series(closer * closer);
    const double rest = ((first - sum) + second) + (2.0 * sl + (series + k * VM_LN2_LOW));
    const double high = sum + rest;
    *low = rest - (high - sum);
    return high;
}

/* a^b of finite a and b, as pow() has it; NaN where one of them is not finite. */
VM_INLINE double vm_pow(double a, double b)
{
    double low;
    const double size = fabs(a), t = fabs(b);
    const double high = vm_log_pair(size, &low);
    double y = b < -1e25 ? -1e25 : b;
    y = y > 1e25 ? 1e25 : y;
    const double yh = vm_upper(y), lh = vm_upper(high), lr = (high - lh) + low;
    const double first = yh * lh, second = y * lr + (y - yh) * lh, sum = first + second;
    const double tail = fabs(sum) < 800.0 ? second - (sum - first) : 0.0;
    double result = vm_exp_sum(sum, tail);
    const double at_zero = b < 0.0 ? HUGE_VAL : b > 0.0 ? 0.0 : 1.0;
    result = size > 0.0 ? result : at_zero;
    /* negative bases: the sign of odd powers, no value between whole powers */
    const double whole = t < 0x1p52 ? (t + 0x1p52) - 0x1p52 : t;
    const double half = 0.5 * t, even = half < 0x1p52 ? (half + 0x1p52) - 0x1p52 : half;
    const double negative = whole == t ? (even == half ? result : -result) : (double)NAN;
    const double kept = a < 0.0 ? negative : result;
    return size < HUGE_VAL && t < HUGE_VAL ? kept : (double)NAN;
}

/* ---- trigonometry */

/* sin(r) on |r| <= pi / 2, relative error 2.3e-17. */
VM_INLINE double vm_sin_small(double r)
{
    const double z = r * r, z2 = z * z;
    const double low = (-0x1.5555555555555p-3 + z * 0x1.1111111111107p-7) +
                       z2 * (-0x1.a01a01a018aa6p-13 + z * 0x1.71de3a54562a8p-19);
    const double high = (-0x1.ae6455a1a9e7ep-26 + z * 0x1.6124014cbe2fcp-33) +
                        z2 * (-0x1.ae513415aadccp-41 + z * 0x1.89a3f16388edcp-49);
    return r + r * z * (low + z2 * z2 * high);
}

/* x - k pi for k a multiple of 1/2 up to 2^16: pi in parts of 36, 36 and 53 bits. */
VM_INLINE double vm_less_pi(double x, double k)
{
    const double a = x - k * 0x1.921fb54440000p+1, b = k * 0x1.68c234c4c0000p-38;
    const double r = a - b;
    return r + (((a - r) - b) - k * 0x1.98a2e03707345p-76);
}

#define VM_INVERSE_PI 0x1.45f306dc9c883p-2

VM_INLINE double vm_sin(double x)
{
    const double shifted = x * VM_INVERSE_PI + VM_MAGIC;
    const double s = vm_sin_small(vm_less_pi(x, shifted - VM_MAGIC));
    return vm_from_bits(vm_bits(s) ^ vm_bits(shifted) << 63);
}

VM_INLINE double vm_cos(double x)
{
    const double shifted = (x * VM_INVERSE_PI - 0.5) + VM_MAGIC;
    const double s = vm_sin_small(vm_less_pi(x, (shifted - VM_MAGIC) + 0.5));
    return vm_from_bits(vm_bits(s) ^ ~vm_bits(shifted) << 63);
}

VM_INLINE double vm_tan(double x)
{
    return vm_sin(x) / vm_cos(x);
}

/* atan(z) = z + z^3 p(z^2) on |z| <= tan(pi / 8), relative error 3.3e-18; by 45 or 90 degrees for
 * the others. */
VM_INLINE double vm_atan(double x)
{
    const double t = fabs(x);
    const double third = 0x1.3504f333f9de6p+1, first = 0x1.a827999fcef32p-2; /* of 3/8, 1/8 pi */
    const double middle_num = t > first ? t - 1.0 : t, middle_den = t > first ? t + 1.0 : 1.0;
    const double num = t > third ? -1.0 : middle_num, den = t > third ? t : middle_den;
    const double middle = t > first ? 0x1.921fb54442d18p-1 : 0.0;
    const double angle = t > third ? 0x1.921fb54442d18p+0 : middle,
                 rest = angle * 0x1.678afae35cdd1p-55;
    const double z = num / den, w = z * z, w2 = w * w, w4 = w2 * w2;
    const double p0 = (-0x1.5555555555555p-2 + w * 0x1.9999999999952p-3) +
                      w2 * (-0x1.249249248d684p-3 + w * 0x1.c71c71c2f37e8p-4);
    const double p1 = (-0x1.745d165a9c002p-4 + w * 0x1.3b139279535a8p-4) +
                      w2 * (-0x1.110e81459346ep-4 + w * 0x1.e19978381e052p-5);
    const double p2 = (-0x1.ac761b5db4f38p-5 + w * 0x1.74c9760b1bea4p-5) +
                      w2 * (-0x1.1aff6533dd0e5p-5 + w * 0x1.0a5f8c60d732bp-6);
    const double p = p0 + w4 * (p1 + w4 * p2);
    return vm_with_sign(angle + (z + (z * w * p + rest)), x);
}

VM_INLINE double vm_asin(double x)
{
    return vm_atan(x / sqrt((1.0 - x) * (1.0 + x)));
}

VM_INLINE double vm_acos(double x)
{
    return 2.0 * vm_atan(sqrt((1.0 - x) / (1.0 + x)));
}

/* ---- log cosh, of the loss of that name: a series near 0, where the logarithm cancels */
VM_INLINE double vm_log_cosh(double x)
{
    const double t = fabs(x), z = t * t;
    const double series =
        z * (0.5 + z * (-1.0 / 12 + z * (1.0 / 45 + z * (-17.0 / 2520 + z * (31.0 / 14175)))));
    const double whole = t + (vm_log(1.0 + vm_exp(-2.0 * t)) - (VM_LN2_HIGH + VM_LN2_LOW));
    return t < 0.1 ? series : whole;
}

#endif
