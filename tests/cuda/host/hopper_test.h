/* hopper_test.h - tensors on the device, maps of them and descriptors of tiles, for the tests of
 * what the emulation has of compute capability 9.0. */
#ifndef HOPPER_TEST_H
#define HOPPER_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda.h"

extern "C" {
#include <cmocka.h>
}

#include "cuda_host_internal.h"

typedef __nv_bfloat16 bf16;

/* Runs the rest of a test in every order. */
#define IN_EVERY_ORDER                                                                             \
    for (int order_ = 0;                                                                           \
         cuda_host_set_order(order_ < CUDA_HOST_ORDERS ? order_ : 0), order_ < CUDA_HOST_ORDERS;   \
         order_++)

static inline void *device(size_t bytes)
{
    void *memory;
    assert_int_equal(cudaMalloc(&memory, bytes), cudaSuccess);
    return memory;
}

/* ---- tensors (B, T, H, D) with padding between their rows, on the device and here */

enum { PADDING = 8 };
struct tensor {
    int size[4];   /* innermost first */
    int stride[4]; /* numbers */
    size_t count;
    bf16 *host, *device;
};

static inline struct tensor make_tensor(int d, int t, int h, int b, unsigned seed)
{
    const int row = (d + 7) / 8 * 8 + PADDING; /* a multiple of 16 bytes */
    struct tensor x = {{d, t, h, b}, {1, h * row, row, 0}, 0, NULL, NULL};
    x.stride[3] = t * x.stride[1];
    x.count = (size_t)b * (size_t)x.stride[3];
    x.host = (bf16 *)malloc(x.count * sizeof(bf16));
    for (size_t i = 0; i < x.count; i++) /* multiples of 1/8 whose sums are exact */
        x.host[i] = __float2bfloat16_rn((float)((i * 7919 + seed) % 61) / 8.0f - 3.625f);
    x.device = (bf16 *)device(x.count * sizeof(bf16));
    assert_int_equal(cudaMemcpy(x.device, x.host, x.count * sizeof(bf16), cudaMemcpyHostToDevice),
                     cudaSuccess);
    return x;
}

static inline void free_tensor(struct tensor *x)
{
    free(x->host);
    cudaFree(x->device);
}

static inline float at(const struct tensor *x, int c0, int c1, int c2, int c3)
{
    const int c[4] = {c0, c1, c2, c3};
    size_t place = 0;
    for (int i = 0; i < 4; i++) {
        if (c[i] < 0 || c[i] >= x->size[i])
            return 0;
        place += (size_t)c[i] * (size_t)x->stride[i];
    }
    return __bfloat162float(x->host[place]);
}

static inline PFN_cuTensorMapEncodeTiled_v12000 encoder(void)
{
    void *function = NULL;
    enum cudaDriverEntryPointQueryResult status;
    assert_int_equal(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                      cudaEnableDefault, &status),
                     cudaSuccess);
    assert_int_equal(status, cudaDriverEntryPointSuccess);
    return (PFN_cuTensorMapEncodeTiled_v12000)function;
}

static inline CUtensorMapSwizzle swizzle_of(unsigned span)
{
    return span == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
           : span == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
           : span == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                        : CU_TENSOR_MAP_SWIZZLE_NONE;
}

/* Boxes of `columns` numbers, `rows` rows and `heads` heads. */
static inline CUtensorMap make_map(const struct tensor *x, unsigned columns, unsigned rows,
                                   unsigned heads, unsigned span)
{
    CUtensorMap map;
    const cuuint64_t sizes[4] = {(cuuint64_t)x->size[0], (cuuint64_t)x->size[1],
                                 (cuuint64_t)x->size[2], (cuuint64_t)x->size[3]};
    const cuuint64_t strides[3] = {2 * (cuuint64_t)x->stride[1], 2 * (cuuint64_t)x->stride[2],
                                   2 * (cuuint64_t)x->stride[3]};
    const cuuint32_t box[4] = {columns, rows, heads, 1}, steps[4] = {1, 1, 1, 1};
    assert_int_equal(encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, x->device, sizes, strides,
                               box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_of(span),
                               CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                     CUDA_SUCCESS);
    return map;
}

/* ---- tiles */

static inline uint64_t descriptor(unsigned start, unsigned leading, unsigned stride, unsigned span)
{
    const uint64_t swizzle = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
    return (uint64_t)(start >> 4) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 |
           swizzle << 62;
}

#endif
