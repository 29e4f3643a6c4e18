/* reduce.h - sums and maxima over the threads of a warp or of a block, in a fixed order.
 *
 * All threads of the warp (or block) call a function together, and all receive the same bits.
 * Blocks are one-dimensional and have whole warps, at most 1024 threads. */
#ifndef K_CUDA_REDUCE_H
#define K_CUDA_REDUCE_H

#include "cuda.h"

#define K_CUDA_ALL_LANES 0xffffffffU

/* The larger of a and b; NaN where either is NaN, so that a diverging run is noticed (fmaxf
 * drops NaN). */
static __device__ __forceinline__ float k_cuda_larger(float a, float b)
{
    return a > b || isnan(a) ? a : b;
}

/* ---- a warp: each step adds the value of the lane whose number differs in one bit. Since a + b
 * equals b + a, all lanes compute the same sum */

template <typename T> static __device__ __forceinline__ T k_cuda_warp_sum(T x)
{
#pragma unroll
    for (int bit = K_WARP / 2; bit > 0; bit /= 2)
        x += __shfl_xor_sync(K_CUDA_ALL_LANES, x, bit);
    return x;
}

static __device__ __forceinline__ float k_cuda_warp_max(float x)
{
#pragma unroll
    for (int bit = K_WARP / 2; bit > 0; bit /= 2)
        x = k_cuda_larger(x, __shfl_xor_sync(K_CUDA_ALL_LANES, x, bit));
    return x;
}

/* ---- a block: warps exchange their sums through `shared`, and each warp then adds up these
 * sums. The next call may reuse `shared` at once */

template <typename T> static __device__ __forceinline__ T k_cuda_block_sum(T x, T shared[K_WARP])
{
    const unsigned lane = threadIdx.x % K_WARP, warp = threadIdx.x / K_WARP;
    x = k_cuda_warp_sum(x);
    __syncthreads(); /* an earlier call may still be reading */
    if (lane == 0)
        shared[warp] = x;
    __syncthreads();
    return k_cuda_warp_sum(lane < blockDim.x / K_WARP ? shared[lane] : T(0));
}

static __device__ __forceinline__ float k_cuda_block_max(float x, float shared[K_WARP])
{
    const unsigned lane = threadIdx.x % K_WARP, warp = threadIdx.x / K_WARP;
    x = k_cuda_warp_max(x);
    __syncthreads();
    if (lane == 0)
        shared[warp] = x;
    __syncthreads();
    return k_cuda_warp_max(lane < blockDim.x / K_WARP ? shared[lane] : -INFINITY);
}

/* ---- wide loads: 16 bytes at a time, where every pointer and every row of `columns` floats is
 * aligned. NULL counts as aligned */

static inline bool k_cuda_aligned(const void *p)
{
    return (uintptr_t)p % sizeof(float4) == 0;
}

/* The number of this thread in the grid, and the number of threads: for (i = first; i < n; i +=
 * step). */
static __device__ __forceinline__ size_t k_cuda_first(void)
{
    return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ size_t k_cuda_step(void)
{
    return (size_t)gridDim.x * blockDim.x;
}

#endif
