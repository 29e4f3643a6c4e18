/* vec.h - private to the cpu backend: a vector of floats as wide as the machine's registers, and
 * functions of one such vector.
 *
 * AVX-512 and AVX2 with FMA have their own instructions; any other machine gets four lanes of
 * GCC vector arithmetic. Polynomials are minimax fits made for this file; errors were measured
 * against double precision on dense grids with fused multiply-adds (tests/kernels holds them). A
 * NaN input gives a NaN output, so that a diverging run is noticed. */
#ifndef K_CPU_VEC_H
#define K_CPU_VEC_H

#include <stdint.h>
#include <string.h>

#if defined __AVX512F__ || (defined __AVX2__ && defined __FMA__)
#include <immintrin.h>
#endif

#if defined __AVX512F__
#define CPU_LANES 16
#elif defined __AVX2__ && defined __FMA__
#define CPU_LANES 8
#else
#define CPU_LANES 4
#endif

/* A typedef, because C has no other way to name a vector type. */
typedef float cpu_vec __attribute__((vector_size(4 * CPU_LANES)));
typedef int32_t cpu_ivec __attribute__((vector_size(4 * CPU_LANES)));

/* The smallest multiple of the vector width that holds n floats. */
static inline int cpu_round_up(int n)
{
    return (n + CPU_LANES - 1) / CPU_LANES * CPU_LANES;
}

static inline cpu_vec cpu_set(float x)
{
    return x - (cpu_vec){0};
}

static inline cpu_vec cpu_load(const float *p)
{
    cpu_vec v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void cpu_store(float *p, cpu_vec v)
{
    memcpy(p, &v, sizeof v);
}

/* Loads the first n < CPU_LANES floats; the other lanes are 0 and their memory is not read. */
static inline cpu_vec cpu_load_first(const float *p, int n)
{
#if defined __AVX512F__
    return _mm512_maskz_loadu_ps((__mmask16)((1U << n) - 1), p);
#else
    cpu_vec v = {0};
    memcpy(&v, p, (size_t)n * sizeof *p);
    return v;
#endif
}

static inline void cpu_store_first(float *p, cpu_vec v, int n)
{
#if defined __AVX512F__
    _mm512_mask_storeu_ps(p, (__mmask16)((1U << n) - 1), v);
#else
    memcpy(p, &v, (size_t)n * sizeof *p);
#endif
}

/* a b + c, rounded once where the machine has fused multiply-add. */
static inline cpu_vec cpu_fma(cpu_vec a, cpu_vec b, cpu_vec c)
{
#if defined __AVX512F__
    return _mm512_fmadd_ps(a, b, c);
#elif CPU_LANES == 8
    return _mm256_fmadd_ps(a, b, c);
#else
    return a * b + c;
#endif
}

/* Per lane, a where x > y, else b (also where x or y is NaN). */
static inline cpu_vec cpu_select_greater(cpu_vec x, cpu_vec y, cpu_vec a, cpu_vec b)
{
#if defined __AVX512F__
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, y, _CMP_GT_OQ), b, a);
#elif CPU_LANES == 8
    return _mm256_blendv_ps(b, a, _mm256_cmp_ps(x, y, _CMP_GT_OQ));
#else
    const cpu_ivec m = (cpu_ivec)(x > y);
    return (cpu_vec)((m & (cpu_ivec)a) | (~m & (cpu_ivec)b));
#endif
}

/* The larger of a and b per lane; b where either is NaN, so pass the value that may be NaN as b. */
static inline cpu_vec cpu_max(cpu_vec a, cpu_vec b)
{
#if defined __AVX512F__
    return _mm512_max_ps(a, b);
#elif CPU_LANES == 8
    return _mm256_max_ps(a, b);
#else
    return cpu_select_greater(a, b, a, b);
#endif
}

static inline cpu_vec cpu_min(cpu_vec a, cpu_vec b)
{
#if defined __AVX512F__
    return _mm512_min_ps(a, b);
#elif CPU_LANES == 8
    return _mm256_min_ps(a, b);
#else
    return cpu_select_greater(b, a, a, b);
#endif
}

static inline cpu_vec cpu_abs(cpu_vec x)
{
    return (cpu_vec)((cpu_ivec)x & 0x7fffffff);
}

/* Sum over the lanes, in a fixed order. */
static inline float cpu_sum(cpu_vec v)
{
#if defined __AVX512F__
    return _mm512_reduce_add_ps(v);
#else
    float x[CPU_LANES];
    cpu_store(x, v);
    for (int width = CPU_LANES / 2; width > 0; width /= 2)
        for (int i = 0; i < width; i++)
            x[i] += x[i + width];
    return x[0];
#endif
}

static inline float cpu_maximum(cpu_vec v)
{
#if defined __AVX512F__
    return _mm512_reduce_max_ps(v);
#else
    float x[CPU_LANES];
    cpu_store(x, v);
    float m = x[0];
    for (int i = 1; i < CPU_LANES; i++)
        m = x[i] > m ? x[i] : m;
    return m;
#endif
}

/* Lane i of the result is lane index[i] of the concatenation of a and b. */
static inline cpu_vec cpu_shuffle(cpu_vec a, cpu_vec b, cpu_ivec index)
{
#ifdef __clang__
    cpu_vec v = {0};
    for (int i = 0; i < CPU_LANES; i++)
        v[i] = index[i] < CPU_LANES ? a[index[i]] : b[index[i] - CPU_LANES];
    return v;
#else
    return __builtin_shuffle(a, b, index);
#endif
}

/* Lane numbers 0, 1, ... plus `first`, as floats. */
static inline cpu_vec cpu_lane_numbers(float first)
{
    cpu_vec v = {0};
    for (int i = 0; i < CPU_LANES; i++)
        v[i] = first + (float)i;
    return v;
}

/* ---- functions; relative errors are the largest seen */

/* e^x, 7e-8 for -87 <= x <= 88.7; 0 below -104, capped at 3.3e38 above. */
static inline cpu_vec cpu_exp(cpu_vec x)
{
    const cpu_vec magic = cpu_set(0x1.8p23f); /* adding it rounds to an integer */
    x = cpu_min(cpu_set(88.72f), cpu_max(cpu_set(-104.0f), x));
    const cpu_vec t = cpu_fma(x, cpu_set(0x1.715476p+0f), magic);
    const cpu_vec n = t - magic;
    cpu_vec r = cpu_fma(n, cpu_set(-0x1.62e4p-1f), x); /* ln 2 in two parts */
    r = cpu_fma(n, cpu_set(-0x1.7f7d1cp-20f), r);
    cpu_vec y = cpu_set(1.381459879e-03f);
    y = cpu_fma(y, r, cpu_set(8.368716575e-03f));
    y = cpu_fma(y, r, cpu_set(4.166838899e-02f));
    y = cpu_fma(y, r, cpu_set(1.666652113e-01f));
    y = cpu_fma(y, r, cpu_set(4.999999404e-01f));
    y = cpu_fma(y * r, r, r) + 1.0f;
#if defined __AVX512F__
    return _mm512_scalef_ps(y, n);
#else
    const cpu_vec scaled = (cpu_vec)((cpu_ivec)y + ((cpu_ivec)t << 23));
    return cpu_select_greater(cpu_set(-87.0f), x, cpu_set(0), scaled);
#endif
}

/* log(1 + u) for 0 <= u <= 1, relative error 1.5e-7. */
static inline cpu_vec cpu_log1p_unit(cpu_vec u)
{
    cpu_vec y = cpu_set(-3.244025167e-03f);
    y = cpu_fma(y, u, cpu_set(1.985146292e-02f));
    y = cpu_fma(y, u, cpu_set(-5.695953593e-02f));
    y = cpu_fma(y, u, cpu_set(1.060365513e-01f));
    y = cpu_fma(y, u, cpu_set(-1.530559212e-01f));
    y = cpu_fma(y, u, cpu_set(1.967593879e-01f));
    y = cpu_fma(y, u, cpu_set(-2.495413423e-01f));
    y = cpu_fma(y, u, cpu_set(3.332996368e-01f));
    y = cpu_fma(y, u, cpu_set(-4.999990165e-01f));
    y = cpu_fma(y, u, cpu_set(1.0f));
    return y * u;
}

/* log(1 + e^x), 2e-7; *slope = its derivative, the logistic function, 2e-7. */
static inline cpu_vec cpu_softplus_slope(cpu_vec x, cpu_vec *slope)
{
    const cpu_vec u = cpu_exp(-cpu_abs(x));
    const cpu_vec inverse = 1.0f / (1.0f + u);
    *slope = cpu_select_greater(cpu_set(0), x, u * inverse, inverse);
    return cpu_max(cpu_set(0), x) + cpu_log1p_unit(u);
}

/* Natural logarithm of normal positive x: 1e-7 relative or absolute, whichever is larger. */
static inline cpu_vec cpu_log(cpu_vec x)
{
    const int32_t root_half = 0x3f3504f3; /* bits of sqrt(1/2): mantissas in [0.71, 1.41) */
    const cpu_ivec i = (cpu_ivec)x - root_half;
    const cpu_ivec e = i >> 23;
    const cpu_vec f = (cpu_vec)((i & 0x7fffff) + root_half) - 1.0f;
    const cpu_vec n = __builtin_convertvector(e, cpu_vec);
    cpu_vec y = cpu_set(-7.634510100e-02f);
    y = cpu_fma(y, f, cpu_set(1.276157796e-01f));
    y = cpu_fma(y, f, cpu_set(-1.316017807e-01f));
    y = cpu_fma(y, f, cpu_set(1.420175731e-01f));
    y = cpu_fma(y, f, cpu_set(-1.662335843e-01f));
    y = cpu_fma(y, f, cpu_set(2.000122666e-01f));
    y = cpu_fma(y, f, cpu_set(-2.500081956e-01f));
    y = cpu_fma(y, f, cpu_set(3.333333135e-01f));
    y = cpu_fma(y, f, cpu_set(-0.5f));
    y = cpu_fma(y, f * f, n * 0x1.7f7d1cp-20f);
    return cpu_fma(n, cpu_set(0x1.62e4p-1f), y + f);
}

/* Standard normal distribution function, absolute 1e-7; *density = its derivative.
 * Phi(-z sqrt 2) = erfc(z) / 2 = e^(-z^2) P(t) / 2 with t = 1 / (1 + 0.45 z), z >= 0. */
static inline cpu_vec cpu_normal_cdf(cpu_vec x, cpu_vec *density)
{
    const cpu_vec z = cpu_abs(x) * 0x1.6a09e6p-1f;
    const cpu_vec t = 1.0f / cpu_fma(z, cpu_set(0.45f), cpu_set(1.0f));
    const cpu_vec g = cpu_exp(x * x * -0.5f);
    cpu_vec y = cpu_set(9.144364297e-02f);
    y = cpu_fma(y, t, cpu_set(-4.877468050e-01f));
    y = cpu_fma(y, t, cpu_set(8.418707848e-01f));
    y = cpu_fma(y, t, cpu_set(-3.554743528e-01f));
    y = cpu_fma(y, t, cpu_set(4.440599084e-01f));
    y = cpu_fma(y, t, cpu_set(2.086222023e-01f));
    y = cpu_fma(y, t, cpu_set(2.570041418e-01f));
    y = cpu_fma(y, t, cpu_set(2.204548218e-04f));
    const cpu_vec tail = y * g * 0.5f;
    *density = g * 0.398942280f;
    return cpu_select_greater(x, cpu_set(0), 1.0f - tail, tail);
}

/* Phi(x) / e^(-x^2/2) for all x <= -2, relative error 5e-7: z erfcx(z) fitted in t = 1 / (1 +
 * 0.4 z). */
static inline cpu_vec cpu_normal_tail(cpu_vec x)
{
    const cpu_vec t = 1.0f / cpu_fma(x, cpu_set(-0.4f * 0x1.6a09e6p-1f), cpu_set(1.0f));
    cpu_vec y = cpu_set(-5.207170833e-02f);
    y = cpu_fma(y, t, cpu_set(3.098880087e-02f));
    y = cpu_fma(y, t, cpu_set(7.006885955e-02f));
    y = cpu_fma(y, t, cpu_set(1.185600227e-01f));
    y = cpu_fma(y, t, cpu_set(1.722722673e-01f));
    y = cpu_fma(y, t, cpu_set(2.075463783e-01f));
    y = cpu_fma(y, t, cpu_set(2.256784743e-01f));
    y = cpu_fma(y, t, cpu_set(2.256758188e-01f));
    return y * t * 0.5f;
}

/* 1 / (1 + e^-x), relative error 3e-7 for x >= -87, and 0 below -104; *rest = 1 minus the
 * result, equally precise. */
static inline cpu_vec cpu_logistic(cpu_vec x, cpu_vec *rest)
{
    const cpu_vec u = cpu_exp(-cpu_abs(x));
    const cpu_vec high = 1.0f / (1.0f + u), low = u * high;
    *rest = cpu_select_greater(cpu_set(0), x, high, low);
    return cpu_select_greater(cpu_set(0), x, low, high);
}

/* x tanh(log(1 + e^x)), 4e-7 for x >= -87; *slope = its derivative, absolute 3e-7.
 * With u = e^-|x|, tanh is (1 + 2u) / (1 + 2u + 2u^2) above 0 and u (u + 2) / (u (u + 2) + 2)
 * below. */
static inline cpu_vec cpu_mish_slope(cpu_vec x, cpu_vec *slope)
{
    const cpu_vec zero = {0}, u = cpu_exp(-cpu_abs(x));
    const cpu_vec top = cpu_select_greater(zero, x, u * (u + 2.0f), 1.0f + 2.0f * u);
    const cpu_vec rest = cpu_select_greater(zero, x, cpu_set(2.0f), 2.0f * u * u);
    const cpu_vec inverse = 1.0f / (top + rest), t = top * inverse;
    const cpu_vec logistic = cpu_select_greater(zero, x, u, cpu_set(1.0f)) / (1.0f + u);
    *slope = cpu_fma(x * (rest * inverse), (1.0f + t) * logistic, t);
    return x * t;
}

/* x^n for n >= 0 by repeated squaring. */
static inline cpu_vec cpu_power_integer(cpu_vec x, int n)
{
    cpu_vec y = n & 1 ? x : cpu_set(1.0f);
    for (n >>= 1; n > 0; n >>= 1) {
        x *= x;
        if (n & 1)
            y *= x;
    }
    return y;
}

#endif
