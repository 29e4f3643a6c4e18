/* cuda_host.h - the part of CUDA C++ that kernels/cuda uses, on the CPU, for tests.
 *
 * A grid's blocks run one after the other, and of a block one thread at a time, each on a stack of
 * its own (a fiber) until it waits at a barrier or in a warp-wide operation. That is legal CUDA,
 * and slow; what it is for is to test kernels without a GPU, and to see mistakes:
 *
 * - a race shows when the order of threads or blocks changes: cuda_host_set_order runs them
 *   forward, in reverse or shuffled, and a kernel without races gives the same bits in each;
 * - a barrier that some threads of a block never reach, and lanes of one warp that wait in
 *   different operations, fail the launch with the kernel named;
 * - device memory can be touched by kernels and copies alone: the host that dereferences a device
 *   pointer gets a segmentation fault. Guard pages and patterns around every allocation catch
 *   accesses out of bounds and fail the launch; under AddressSanitizer its redzones do, exactly;
 * - dynamic shared memory holds NaNs at the start of every block;
 * - what an asynchronous copy or product brings is NaN until it was waited for, and a thread that
 *   returns with one under way fails the launch.
 *
 * Work is done at once, in the order of the calls; between cudaStreamBeginCapture and
 * cudaStreamEndCapture it is kept instead, and cudaGraphLaunch does it. One host thread. */
#ifndef CUDA_HOST_H
#define CUDA_HOST_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tuple>

/* ---- the language */

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __constant__    static
#define __shared__      static /* one block at a time: every block has the same one */
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};
struct uint3 {
    unsigned x, y, z;
};
extern uint3 threadIdx, blockIdx; /* of the thread that runs */
extern dim3 blockDim, gridDim;
static const int warpSize = 32;

#define CUDA_HOST_VECTOR(T, name, bytes)                                                           \
    struct __attribute__((aligned(2 * (bytes)))) name##2                                           \
    {                                                                                              \
        T x, y;                                                                                    \
    };                                                                                             \
    struct name##3                                                                                 \
    {                                                                                              \
        T x, y, z;                                                                                 \
    };                                                                                             \
    struct __attribute__((aligned((bytes) < 8 ? 4 * (bytes) : 16))) name##4                        \
    {                                                                                              \
        T x, y, z, w;                                                                              \
    };                                                                                             \
    static inline name##2 make_##name##2(T x, T y)                                                 \
    {                                                                                              \
        return {x, y};                                                                             \
    }                                                                                              \
    static inline name##3 make_##name##3(T x, T y, T z)                                            \
    {                                                                                              \
        return {x, y, z};                                                                          \
    }                                                                                              \
    static inline name##4 make_##name##4(T x, T y, T z, T w)                                       \
    {                                                                                              \
        return {x, y, z, w};                                                                       \
    }
CUDA_HOST_VECTOR(float, float, 4)
CUDA_HOST_VECTOR(int, int, 4)
CUDA_HOST_VECTOR(double, double, 8)
#undef CUDA_HOST_VECTOR
struct __attribute__((aligned(8))) uint2 {
    unsigned x, y;
};
struct __attribute__((aligned(16))) uint4 {
    unsigned x, y, z, w;
};
static inline uint2 make_uint2(unsigned x, unsigned y)
{
    return {x, y};
}
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return {x, y, z, w};
}
struct __attribute__((aligned(4))) ushort2 {
    unsigned short x, y;
};
struct __attribute__((aligned(8))) ushort4 {
    unsigned short x, y, z, w;
};

/* ---- barriers and warps */

void __syncthreads(void);
int __syncthreads_or(int predicate);
int __syncthreads_and(int predicate);
int __syncthreads_count(int predicate);
void __syncwarp(unsigned mask = 0xffffffffu);
unsigned __ballot_sync(unsigned mask, int predicate);
static inline int __any_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}
static inline void __threadfence(void)
{
}
static inline void __threadfence_block(void)
{
}
[[noreturn]] void __trap(void);
/* Blocks that have run are over, and nothing changes while one waits for those that have not. */
[[noreturn]] static inline void __nanosleep(unsigned ns)
{
    (void)ns;
    __trap();
}

enum cuda_host_shuffle { CUDA_HOST_IDX, CUDA_HOST_XOR, CUDA_HOST_DOWN, CUDA_HOST_UP };
/* The bits that the source lane gave; those of a lane that takes no part are all 1 (NaN). */
uint64_t cuda_host_shuffle_bits(unsigned mask, uint64_t bits, int lane, int width,
                                enum cuda_host_shuffle how);
/* 1 where every lane of the mask is here with a predicate that is not 0. */
int __all_sync(unsigned mask, int predicate);

template <typename T>
static inline T cuda_host_shuffle_value(unsigned mask, T value, int lane, int width,
                                        enum cuda_host_shuffle how)
{
    static_assert(sizeof(T) <= 8, "shuffles move 8 bytes at most");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof(T));
    bits = cuda_host_shuffle_bits(mask, bits, lane, width, how);
    memcpy(&value, &bits, sizeof(T));
    return value;
}
template <typename T> static inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32)
{
    return cuda_host_shuffle_value(mask, value, lane, width, CUDA_HOST_IDX);
}
template <typename T>
static inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32)
{
    return cuda_host_shuffle_value(mask, value, lanes, width, CUDA_HOST_XOR);
}
template <typename T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned lanes, int width = 32)
{
    return cuda_host_shuffle_value(mask, value, (int)lanes, width, CUDA_HOST_DOWN);
}
template <typename T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned lanes, int width = 32)
{
    return cuda_host_shuffle_value(mask, value, (int)lanes, width, CUDA_HOST_UP);
}

/* ---- loads, numbers, bits */

template <typename T> static inline T __ldg(const T *p)
{
    return *p;
}
template <typename T> static inline T __ldcs(const T *p)
{
    return *p;
}
template <typename T> static inline T __ldcg(const T *p)
{
    return *p;
}
template <typename T> static inline void __stcg(T *p, T value)
{
    *p = value;
}
template <typename T> static inline void __stcs(T *p, T value)
{
    *p = value;
}
#define CUDA_HOST_MIN_MAX(T)                                                                       \
    static inline T min(T a, T b)                                                                  \
    {                                                                                              \
        return b < a ? b : a;                                                                      \
    }                                                                                              \
    static inline T max(T a, T b)                                                                  \
    {                                                                                              \
        return a < b ? b : a;                                                                      \
    }
CUDA_HOST_MIN_MAX(int)
CUDA_HOST_MIN_MAX(unsigned)
CUDA_HOST_MIN_MAX(long)
CUDA_HOST_MIN_MAX(unsigned long)
CUDA_HOST_MIN_MAX(long long)
CUDA_HOST_MIN_MAX(unsigned long long)
#undef CUDA_HOST_MIN_MAX
static inline float min(float a, float b)
{
    return fminf(a, b);
}
static inline float max(float a, float b)
{
    return fmaxf(a, b);
}
static inline double min(double a, double b)
{
    return fmin(a, b);
}
static inline double max(double a, double b)
{
    return fmax(a, b);
}
/* Of NaN 0. */
static inline float __saturatef(float x)
{
    return x > 0.0f ? fminf(x, 1.0f) : 0.0f;
}
static inline float rsqrtf(float x)
{
    return 1.0f / sqrtf(x);
}
static inline double rsqrt(double x)
{
    return 1.0 / sqrt(x);
}
static inline int __float_as_int(float x)
{
    int i;
    memcpy(&i, &x, 4);
    return i;
}
static inline unsigned __float_as_uint(float x)
{
    unsigned i;
    memcpy(&i, &x, 4);
    return i;
}
static inline float __int_as_float(int i)
{
    float x;
    memcpy(&x, &i, 4);
    return x;
}
static inline float __uint_as_float(unsigned i)
{
    float x;
    memcpy(&x, &i, 4);
    return x;
}
static inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
static inline int __clz(int x)
{
    return x ? __builtin_clz((unsigned)x) : 32;
}
static inline int __ffs(int x)
{
    return __builtin_ffs(x);
}
/* Integers only: sums of floats in no fixed order are not wanted. */
template <typename T> static inline T atomicAdd(T *p, T value)
{
    static_assert((T)1 / 2 == 0, "integers only");
    const T old = *p;
    *p = (T)(old + value);
    return old;
}
static inline int atomicMax(int *p, int value)
{
    const int old = *p;
    *p = max(old, value);
    return old;
}

/* ---- bfloat16: the upper half of a float */

struct __nv_bfloat16 {
    uint16_t x;
};
struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};
static inline float __bfloat162float(__nv_bfloat16 h)
{
    return __uint_as_float((unsigned)h.x << 16);
}
/* To nearest, ties to even; NaN stays NaN. */
static inline __nv_bfloat16 __float2bfloat16_rn(float x)
{
    const unsigned u = __float_as_uint(x);
    if ((u & 0x7fffffffu) > 0x7f800000u)
        return {0x7fff};
    return {(uint16_t)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16)};
}
static inline __nv_bfloat16 __float2bfloat16(float x)
{
    return __float2bfloat16_rn(x);
}
static inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y)
{
    return {__float2bfloat16_rn(x), __float2bfloat16_rn(y)};
}
static inline __nv_bfloat162 __float22bfloat162_rn(float2 v)
{
    return __floats2bfloat162_rn(v.x, v.y);
}
static inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y)
{
    return {x, y};
}
static inline float2 __bfloat1622float2(__nv_bfloat162 h)
{
    return {__bfloat162float(h.x), __bfloat162float(h.y)};
}
static inline float __low2float(__nv_bfloat162 h)
{
    return __bfloat162float(h.x);
}
static inline float __high2float(__nv_bfloat162 h)
{
    return __bfloat162float(h.y);
}

/* ---- tensor cores and copies that are under way, with the meaning of PTX's instructions
 * (kernels/cuda/tensor.cuh); cuda_host_tensor.cc */

/* mma.m16n8k16 of bf16 with float sums: sums += A B. All lanes of the warp. */
void cuda_host_mma(float sums[4], const unsigned a[4], const unsigned b[2]);
/* ldmatrix.x4, with across as .trans; row: 16 bytes of shared memory, aligned. */
void cuda_host_ldmatrix(unsigned to[4], const void *row, bool across);
/* cp.async of 16 bytes, the first `bytes` (0 or 16) from `from`, the rest zeros. What is there is
 * NaN until the thread has waited for the copy's group. */
void cuda_host_copy_async(void *to, const void *from, int bytes);
void cuda_host_copy_commit(void);
/* Waits for all groups but the last `later`. */
void cuda_host_copy_wait(int later);

#include "cuda_host_runtime.h"

/* ---- warpgroups, barriers in shared memory and copies of tensors, of compute capability 9.0 alone
 * (PTX ISA 9.0); cuda_host_hopper.cc, cuda_host_barrier.cc. Addresses are bytes from
 * k_cuda_host_shared(). */

/* wgmma.mma_async.m64nNk16 of bf16, N = n: sums (n / 8 fragments of mma's; warp w of the four has
 * rows 16 w .. 16 w + 15) = (add ? sums : 0) + A B. a: the thread's fragment A, or NULL: A is the
 * tile that the descriptor a_tile names, as b_tile names B. across_a, across_b: tiles of rows of K
 * (MN-major, tnspA and tnspB); else K-major. Sums are NaN until the group was waited for, and what
 * is multiplied is in shared memory then. All threads of the warpgroup. */
void cuda_host_wgmma(float *sums, int n, const unsigned a[4], uint64_t a_tile, uint64_t b_tile,
                     bool add, bool across_a, bool across_b);
/* wgmma.fence: once at least before the first wgmma and after every wait. */
void cuda_host_wgmma_fence(void);
void cuda_host_wgmma_commit(void);
/* Waits for all groups but the last `later`. */
void cuda_host_wgmma_wait(int later);
/* fence.proxy.async: what the thread stored before it can be multiplied and copied over. */
void cuda_host_fence_async(void);
/* Tells of a store to shared memory, so that a fence that is missing after it fails the launch.
 * Kernels may. */
void cuda_host_shared_written(unsigned at, unsigned bytes);

/* mbarrier.init, .arrive.expect_tx (which arrives as well) and .arrive. */
void cuda_host_barrier_init(unsigned at, unsigned count);
void cuda_host_barrier_expect(unsigned at, unsigned bytes);
void cuda_host_barrier_arrive(unsigned at);
/* try_wait.parity; false: other threads ran meanwhile; ask again. A launch in which nobody can go
 * on fails. */
bool cuda_host_barrier_done(unsigned at, unsigned parity);
/* cp.async.bulk.tensor.4d to shared memory, c0 innermost. What is there is NaN until a thread asked
 * for the barrier's phase after all arrivals. */
void cuda_host_tensor_copy(unsigned to, const CUtensorMap *map, int c0, int c1, int c2, int c3,
                           unsigned barrier);

#endif
