/* load_store.h - loads and stores of eight, four or one numbers, from tensors of float or of
 * bf16.
 *
 * Kernels are templates over the type in memory and compute in float. Eight floats are two loads
 * of 16 bytes and eight bf16 are one; both need pointers aligned to 16 bytes (k_cuda_aligned). */
#ifndef K_CUDA_LOAD_STORE_H
#define K_CUDA_LOAD_STORE_H

#include "reduce.h"

enum { K_EIGHT = 8 };

struct k_cuda_eight {
    float x[K_EIGHT];
};

/* ---- one number */

static __device__ __forceinline__ float k_cuda_get(const float *p)
{
    return *p;
}

static __device__ __forceinline__ float k_cuda_get(const __nv_bfloat16 *p)
{
    return __bfloat162float(*p);
}

static __device__ __forceinline__ void k_cuda_put(float *p, float x)
{
    *p = x;
}

static __device__ __forceinline__ void k_cuda_put(__nv_bfloat16 *p, float x)
{
    *p = __float2bfloat16_rn(x);
}

/* ---- four numbers. A bf16 is the upper half of a float; of two bf16 in a word, the first is in
 * the lower half. */

static __device__ __forceinline__ float4 k_cuda_get4(const float *p)
{
    return *(const float4 *)p;
}

static __device__ __forceinline__ float4 k_cuda_get4(const __nv_bfloat16 *p)
{
    const uint2 v = *(const uint2 *)p;
    return make_float4(__uint_as_float(v.x << 16), __uint_as_float(v.x & 0xffff0000U),
                       __uint_as_float(v.y << 16), __uint_as_float(v.y & 0xffff0000U));
}

static __device__ __forceinline__ void k_cuda_put4(float *p, float4 v)
{
    *(float4 *)p = v;
}

static __device__ __forceinline__ void k_cuda_put4(__nv_bfloat16 *p, float4 v)
{
    const __nv_bfloat162 h[] = {__floats2bfloat162_rn(v.x, v.y), __floats2bfloat162_rn(v.z, v.w)};
    uint2 packed;
    memcpy(&packed, h, sizeof(packed));
    *(uint2 *)p = packed;
}

/* ---- eight numbers */

static __device__ __forceinline__ struct k_cuda_eight k_cuda_get8(const float *p)
{
    const float4 a = ((const float4 *)p)[0], b = ((const float4 *)p)[1];
    return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
}

static __device__ __forceinline__ struct k_cuda_eight k_cuda_get8(const __nv_bfloat16 *p)
{
    const uint4 v = *(const uint4 *)p;
    const unsigned word[] = {v.x, v.y, v.z, v.w};
    struct k_cuda_eight e;
#pragma unroll
    for (int i = 0; i < K_EIGHT / 2; i++) {
        e.x[2 * i] = __uint_as_float(word[i] << 16);
        e.x[2 * i + 1] = __uint_as_float(word[i] & 0xffff0000U);
    }
    return e;
}

static __device__ __forceinline__ void k_cuda_put8(float *p, const struct k_cuda_eight &e)
{
    ((float4 *)p)[0] = make_float4(e.x[0], e.x[1], e.x[2], e.x[3]);
    ((float4 *)p)[1] = make_float4(e.x[4], e.x[5], e.x[6], e.x[7]);
}

static __device__ __forceinline__ void k_cuda_put8(__nv_bfloat16 *p, const struct k_cuda_eight &e)
{
    __nv_bfloat162 h[K_EIGHT / 2];
    uint4 v;
#pragma unroll
    for (int i = 0; i < K_EIGHT / 2; i++)
        h[i] = __floats2bfloat162_rn(e.x[2 * i], e.x[2 * i + 1]);
    memcpy(&v, h, sizeof(v));
    *(uint4 *)p = v;
}

#endif
