/* scalar.h - functions of one number that GPU and host kernels share: the normal distribution
 * function, GELU, the logistic function, softplus, gates of a block.
 *
 * Compiled by C, C++ and nvcc; float throughout. They keep relative precision in the tails (a
 * GELU computed from 1 + erf has none below -4) and do not overflow. A NaN input gives a NaN
 * output. tests/kernels/test_scalar.c bounds the errors. */
#ifndef K_SCALAR_H
#define K_SCALAR_H

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif
#include "kernels/attention.h"
#ifdef __cplusplus
}
#endif

#ifdef __CUDACC__
#define K_HD static __host__ __device__ __forceinline__
#else
#define K_HD static inline
#endif

/* Phi(x) = erfc(-x / sqrt 2) / 2 */
K_HD float k_normal_cdf(float x)
{
    return 0.5f * erfcf(-0.707106781f * x);
}

/* x Phi(x). Hendrycks & Gimpel 2016. */
K_HD float k_gelu(float x)
{
    return x * k_normal_cdf(x);
}

/* d/dx x Phi(x) = Phi(x) + x phi(x), phi(x) = e^(-x^2 / 2) / sqrt(2 pi) */
K_HD float k_gelu_slope(float x)
{
    return k_normal_cdf(x) + x * (0.398942280f * expf(-0.5f * x * x));
}

/* 1 / (1 + e^-x) = 1 - k_logistic(-x); as precise near 0 as near 1. */
K_HD float k_logistic(float x)
{
    const float u = expf(-fabsf(x)), high = 1.0f / (1.0f + u);
    return x < 0.0f ? u * high : high;
}

/* ---- GELU for numbers that are rounded to bf16 afterwards (a relative error of 2^-9): to 2^-14
 * of the value, with a third of the operations, so that a GPU is again limited by memory
 * bandwidth */

/* *exponential = e^(-x^2 / 2); returns Phi(-|x|) = e^(-x^2 / 2) t Q(t), t = 1 / (1 + 0.33 |x|).
 * Q interpolates at the Chebyshev nodes of (0, 1), with a relative error of 2.9e-5. The form
 * follows Abramowitz & Stegun 7.1.26, whose Q minimises the absolute error. */
K_HD float k_normal_tail_bf16(float x, float *exponential)
{
#ifdef __CUDA_ARCH__
    const float t = __fdividef(1.0f, 1.0f + 0.33f * fabsf(x)), e = __expf(-0.5f * x * x);
#else
    const float t = 1.0f / (1.0f + 0.33f * fabsf(x)), e = expf(-0.5f * x * x);
#endif
    float q = -0.0622954597f;
    q = q * t + 0.111219488f;
    q = q * t + 0.0672140767f;
    q = q * t + 0.120769666f;
    q = q * t + 0.131425847f;
    q = q * t + 0.131653886f;
    *exponential = e;
    return e * (t * q);
}

K_HD float k_gelu_bf16(float x)
{
    float e;
    const float tail = k_normal_tail_bf16(x, &e);
    return x * (x > 0.0f ? 1.0f - tail : tail);
}

K_HD float k_gelu_slope_bf16(float x)
{
    float e;
    const float tail = k_normal_tail_bf16(x, &e);
    return (x > 0.0f ? 1.0f - tail : tail) + x * (0.398942280f * e);
}

/* ln(1 + e^x) */
K_HD float k_softplus(float x)
{
    return (x > 0.0f ? x : 0.0f) + log1pf(expf(-fabsf(x)));
}

/* act(x) of the output gate of a block, and its derivative. */
K_HD float k_gate_of(enum k_gate act, float x)
{
    if (act == K_GATE_SOFTPLUS)
        return k_softplus(x);
    return act == K_GATE_SIGMOID ? k_logistic(x) : 1.0f;
}

K_HD float k_gate_slope(enum k_gate act, float x)
{
    if (act == K_GATE_SOFTPLUS)
        return k_logistic(x);
    return act == K_GATE_SIGMOID ? k_logistic(x) * k_logistic(-x) : 0.0f;
}

#endif
