/* test_hopper.cc - what the emulation has of compute capability 9.0: products of warpgroups from
 * tiles that copies of tensors brought, against plain loops; a pipeline of barriers; and one wrong
 * kernel of every kind that it must report. */
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

static void *device(size_t bytes)
{
    void *memory;
    assert_int_equal(cudaMalloc(&memory, bytes), cudaSuccess);
    return memory;
}

static void get(void *to, const void *from, size_t bytes)
{
    assert_int_equal(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
}

/* ---- tensors (B, T, H, D) with padding between their rows, on the device and here */

enum { PADDING = 8 };
struct tensor {
    int size[4];   /* innermost first */
    int stride[4]; /* numbers */
    size_t count;
    bf16 *host, *device;
};

static struct tensor make_tensor(int d, int t, int h, int b, unsigned seed)
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

static void free_tensor(struct tensor *x)
{
    free(x->host);
    cudaFree(x->device);
}

static float at(const struct tensor *x, int c0, int c1, int c2, int c3)
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

static PFN_cuTensorMapEncodeTiled_v12000 encoder(void)
{
    void *function = NULL;
    enum cudaDriverEntryPointQueryResult status;
    assert_int_equal(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                      cudaEnableDefault, &status),
                     cudaSuccess);
    assert_int_equal(status, cudaDriverEntryPointSuccess);
    return (PFN_cuTensorMapEncodeTiled_v12000)function;
}

static CUtensorMapSwizzle swizzle_of(unsigned span)
{
    return span == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
           : span == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
           : span == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                        : CU_TENSOR_MAP_SWIZZLE_NONE;
}

/* Boxes of `columns` numbers, `rows` rows and `heads` heads. */
static CUtensorMap make_map(const struct tensor *x, unsigned columns, unsigned rows, unsigned heads,
                            unsigned span)
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

/* ---- where a copy puts the pieces of a box: piece p of row r (docs of CUtensorMapSwizzle) */

enum { BOX_ROWS = 16, BOX_HEADS = 2 };

static __global__ void k_dump(bf16 *to, const __grid_constant__ CUtensorMap map, unsigned bytes)
{
    K_SHARED(bf16, shared);
    cuda_host_barrier_init(0, 1);
    cuda_host_barrier_expect(0, bytes);
    cuda_host_tensor_copy(1024, &map, 8, 3, -1, 1, 0);
    while (!cuda_host_barrier_done(0, 0))
        continue;
    memcpy(to, shared + 512, bytes);
}

static void copies_are_swizzled(void **)
{
    static const unsigned spans[] = {128, 64, 32, 16};
    struct tensor x = make_tensor(48, 14, 2, 2, 3);
    bf16 host[BOX_ROWS * BOX_HEADS * 64], *on_device = (bf16 *)device(sizeof(host));
    for (int which = 0; which < 4; which++) {
        const int span = (int)spans[which], bytes = span * BOX_ROWS * BOX_HEADS;
        const CUtensorMap map = make_map(&x, (unsigned)span / 2, BOX_ROWS, BOX_HEADS, spans[which]);
        assert_int_equal(K_LAUNCH(k_dump, 1, 1, 8192, on_device, map, (unsigned)bytes), 0);
        get(host, on_device, (size_t)bytes);
        for (int r = 0; r < BOX_ROWS * BOX_HEADS; r++)
            for (int i = 0; i < span / 2; i++) {
                const int turn = span == 128  ? r % 8
                                 : span == 64 ? r / 2 % 4
                                 : span == 32 ? r / 4 % 2
                                              : 0;
                const int place = r * span / 2 + (i / 8 ^ turn) * 8 + i % 8;
                const float expected = at(&x, 8 + i, 3 + r % BOX_ROWS, -1 + r / BOX_ROWS, 1);
                assert_true(__bfloat162float(host[place]) == expected);
            }
    }
    free_tensor(&x);
    cudaFree(on_device);
}

/* ---- products */

static uint64_t descriptor(unsigned start, unsigned leading, unsigned stride, unsigned span)
{
    const uint64_t swizzle = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
    return (uint64_t)(start >> 4) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 |
           swizzle << 62;
}

struct side { /* one of A (64 rows) and B (n rows), `k` columns */
    int rows, across;
    unsigned span;
    int row, column; /* of the tensor, where the tile begins */
};
struct shape {
    struct side a, b;
    int k, registers, add, groups;
};
enum { H = 2, B = 2, HEAD = 1, BATCH = 1, TILE_A = 1024, K_MOST = 128 };
enum { TILE_B = TILE_A + 64 * K_MOST * 2, SHARED = TILE_B + 128 * K_MOST * 2 };

/* All boxes of a tile, each of a span times all rows that are not contiguous; their bytes. */
static unsigned fetch(unsigned to, const CUtensorMap *map, const struct side *s, int k)
{
    const int per = (int)s->span / 2, along = s->across ? s->rows : k,
              other = s->across ? k : s->rows;
    unsigned bytes = 0;
    for (int i = 0; i < along; i += per) {
        cuda_host_tensor_copy(to + bytes, map, (s->across ? s->row : s->column) + i,
                              s->across ? s->column : s->row, HEAD, BATCH, 0);
        bytes += (unsigned)other * s->span;
    }
    return bytes;
}

/* The descriptor of columns k .. k + 15. */
static uint64_t tile(unsigned start, const struct side *s, int k, int all)
{
    const unsigned per = s->span / 2, column = (unsigned)k;
    if (s->span == 16 && s->across) /* pieces of 8 rows, all columns each */
        return descriptor(start + column * 16, 128, (unsigned)all * 16, 16);
    if (s->span == 16) /* pieces of 8 columns, all rows each */
        return descriptor(start + column / 8 * (unsigned)s->rows * 16, (unsigned)s->rows * 16, 128,
                          16);
    if (s->across)
        return descriptor(start + column * s->span, (unsigned)all * s->span, 8 * s->span, s->span);
    return descriptor(start + column / per * (unsigned)s->rows * s->span + column % per * 2, 16,
                      8 * s->span, s->span);
}

static __global__ void k_product(float *sums, const __grid_constant__ CUtensorMap map_a,
                                 const __grid_constant__ CUtensorMap map_b, const bf16 *rows,
                                 struct shape s)
{
    const int thread = (int)threadIdx.x, lane = thread % 32, warp = thread / 32, n = s.b.rows;
    float d[64];
    unsigned a[K_MOST / 16][4];
    for (int i = 0; i < n / 2; i++)
        d[i] = 0.125f * (float)i;
    if (thread == 0) {
        cuda_host_barrier_init(0, 1);
        cuda_host_fence_async();
    }
    __syncthreads();
    if (thread == 0) {
        unsigned bytes = fetch(TILE_B, &map_b, &s.b, s.k);
        if (!s.registers)
            bytes += fetch(TILE_A, &map_a, &s.a, s.k);
        cuda_host_barrier_expect(0, bytes);
    }
    while (!cuda_host_barrier_done(0, 0))
        continue;
    cuda_host_wgmma_fence();
    for (int k = 0; k < s.k; k += 16) {
        for (int i = 0; i < 4; i++) {
            const int row = 16 * warp + lane / 4 + i % 2 * 8, column = k + lane % 4 * 2 + i / 2 * 8;
            memcpy(&a[k / 16][i], rows + row * K_MOST + column, 4);
        }
        cuda_host_wgmma(d, n, s.registers ? a[k / 16] : NULL, tile(TILE_A, &s.a, k, s.k),
                        tile(TILE_B, &s.b, k, s.k), s.add || k, s.a.across, s.b.across);
        memset(a[k / 16], 0xff, sizeof(a[0])); /* they were taken */
        if (s.groups)
            cuda_host_wgmma_commit();
    }
    if (s.groups) { /* sums that one group is still to add to */
        cuda_host_wgmma_wait(1);
        sums[64 * n + thread] = d[n / 2 - 1];
    }
    cuda_host_wgmma_commit();
    cuda_host_wgmma_wait(0);
    for (int i = 0; i < n / 2; i++) {
        const int row = 16 * warp + lane / 4 + i % 4 / 2 * 8;
        sums[row * n + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
    }
}

/* Element (row, k) of a side. */
static float element(const struct tensor *x, const struct side *s, int row, int k)
{
    return s->across ? at(x, s->row + row, s->column + k, HEAD, BATCH)
                     : at(x, s->column + k, s->row + row, HEAD, BATCH);
}

static struct tensor tensor_for(const struct side *s, int k, unsigned seed)
{
    /* the last rows and columns lie outside */
    const int d = (s->across ? s->row + s->rows : s->column + k) - 8;
    const int t = (s->across ? s->column + k : s->row + s->rows) - 3;
    return make_tensor(d, t, H, B, seed);
}

static void check_product(const struct shape *s)
{
    enum { ALL = 64 * 128 + 128 };
    static float host[ALL];
    static bf16 rows[64 * K_MOST];
    const int n = s->b.rows;
    struct tensor a = tensor_for(&s->a, s->k, 5), b = tensor_for(&s->b, s->k, 11);
    float *sums = (float *)device(sizeof(host));
    bf16 *on_device = (bf16 *)device(sizeof(rows));
    const CUtensorMap map_a = make_map(&a, s->a.span / 2, s->a.across ? s->k : 64, 1, s->a.span);
    const CUtensorMap map_b = make_map(&b, s->b.span / 2, s->b.across ? s->k : n, 1, s->b.span);
    for (int row = 0; row < 64; row++)
        for (int k = 0; k < s->k; k++)
            rows[row * K_MOST + k] = __float2bfloat16_rn(element(&a, &s->a, row, k));
    assert_int_equal(cudaMemcpy(on_device, rows, sizeof(rows), cudaMemcpyHostToDevice),
                     cudaSuccess);
    IN_EVERY_ORDER
    {
        cudaMemset(sums, 0xff, sizeof(host));
        if (K_LAUNCH(k_product, 1, 128, SHARED, sums, map_a, map_b, on_device, *s))
            fail_msg("%s", orr_error());
        get(host, sums, sizeof(host));
        for (int row = 0; row < 64; row++)
            for (int column = 0; column < n; column++) {
                const int i = column / 8 * 4 + row / 8 % 2 * 2 + column % 2;
                float expected = s->add ? 0.125f * (float)i : 0;
                for (int k = 0; k < s->k; k++)
                    expected += element(&a, &s->a, row, k) * element(&b, &s->b, column, k);
                if (host[row * n + column] != expected)
                    fail_msg("order %d, n %d, spans %u %u, across %d %d, k %d, registers %d: (%d, "
                             "%d) is %g instead of %g",
                             order_, n, s->a.span, s->b.span, s->a.across, s->b.across, s->k,
                             s->registers, row, column, host[row * n + column], expected);
            }
        for (int i = 0; s->groups && i < 128; i++)
            assert_true(isnan(host[64 * n + i]));
    }
    free_tensor(&a);
    free_tensor(&b);
    cudaFree(sums);
    cudaFree(on_device);
}

static void products(void **)
{
    static const unsigned spans[] = {128, 64, 32, 16};
    static const int sizes[] = {32, 64, 128};
    for (int n = 0; n < 3; n++)
        for (int which = 0; which < 4 * 4 * 2 * 3; which++) {
            const int span_a = which % 4, span_b = which / 4 % 4, across_b = which / 16 % 2;
            const int source = which / 32; /* of A: K-major, MN-major, registers */
            struct shape s = {{64, source == 1, spans[span_a], -3, 16},
                              {sizes[n], across_b, spans[span_b], 5, 0},
                              n == 1 ? 64 : 128,
                              source == 2,
                              which % 5 == 0,
                              which % 3 == 0};
            s.a.row = source == 1 ? 8 : -3; /* rows are the inner ones: of 16 bytes each */
            if ((source == 2 && span_a) || (across_b && sizes[n] % (int)(spans[span_b] / 2)))
                continue;
            check_product(&s);
        }
}

/* ---- a pipeline: one thread fetches, two warpgroups multiply, tiles are used in turns */

enum { STAGES = 2, BOX = 64 * 128, FULL = 0, EMPTY = 64 };

static __global__ void k_pipeline(float *sums, const __grid_constant__ CUtensorMap map, int steps)
{
    const int thread = (int)threadIdx.x;
    if (thread == 0)
        for (unsigned i = 0; i < STAGES; i++) {
            cuda_host_barrier_init(FULL + 8 * i, 1);
            cuda_host_barrier_init(EMPTY + 8 * i, 256);
        }
    __syncthreads();
    if (thread < 128) {
        for (int i = 0; thread == 0 && i < steps; i++) {
            const unsigned stage = (unsigned)i % STAGES, round = (unsigned)i / STAGES;
            while (!cuda_host_barrier_done(EMPTY + 8 * stage, (round + 1) % 2))
                continue;
            cuda_host_barrier_expect(FULL + 8 * stage, BOX);
            cuda_host_tensor_copy(1024 + stage * BOX, &map, 0, 64 * i, 0, 0, FULL + 8 * stage);
        }
        return;
    }
    float d[32];
    for (int i = 0; i < steps; i++) {
        const unsigned stage = (unsigned)i % STAGES, round = (unsigned)i / STAGES;
        const unsigned to = 1024 + stage * BOX;
        while (!cuda_host_barrier_done(FULL + 8 * stage, round % 2))
            continue;
        cuda_host_wgmma_fence();
        for (unsigned k = 0; k < 4; k++)
            cuda_host_wgmma(d, 64, NULL, descriptor(to + 32 * k, 16, 1024, 128),
                            descriptor(to + 32 * k, 16, 1024, 128), i || k, false, false);
        cuda_host_wgmma_commit();
        cuda_host_wgmma_wait(0);
        cuda_host_barrier_arrive(EMPTY + 8 * stage);
    }
    for (int i = 0; i < 32; i++)
        sums[(thread - 128) * 32 + i] = d[i];
}

static void a_pipeline_of_barriers(void **)
{
    enum { STEPS = 7 };
    static float host[256 * 32];
    struct tensor x = make_tensor(64, 64 * STEPS - 11, 1, 1, 3);
    const CUtensorMap map = make_map(&x, 64, 64, 1, 128);
    float *sums = (float *)device(sizeof(host));
    assert_int_equal(cudaFuncSetAttribute(k_pipeline, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          1024 + STAGES * BOX),
                     cudaSuccess);
    IN_EVERY_ORDER
    {
        if (K_LAUNCH(k_pipeline, 2, 384, 1024 + STAGES * BOX, sums, map, (int)STEPS))
            fail_msg("%s", orr_error());
        get(host, sums, sizeof(host));
        for (int thread = 0; thread < 256; thread++)
            for (int i = 0; i < 32; i++) {
                const int row = thread % 128 / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8;
                const int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
                float expected = 0;
                for (int step = 0; step < STEPS; step++)
                    for (int k = 0; k < 64; k++)
                        expected +=
                            at(&x, k, 64 * step + row, 0, 0) * at(&x, k, 64 * step + column, 0, 0);
                assert_true(host[thread * 32 + i] == expected);
            }
    }
    free_tensor(&x);
    cudaFree(sums);
}

/* ---- what is late */

/* [0]: a sum before the wait; [1]: after it, of a tile of ones that became twos meanwhile, and of
 * fragments of ones that were spoilt; [2], [3]: what a copy brings, before and after. */
static __global__ void k_late(float *seen, const __grid_constant__ CUtensorMap map)
{
    K_SHARED(uint16_t, shared);
    const int thread = (int)threadIdx.x;
    unsigned a[4] = {0x3f803f80, 0x3f803f80, 0x3f803f80, 0x3f803f80};
    float d[4] = {1, 2, 3, 4};
    for (int i = thread; i < 128; i += 128)
        shared[i] = 0x3f80;
    if (thread == 0)
        cuda_host_barrier_init(512, 1);
    __syncthreads();
    cuda_host_wgmma_fence();
    cuda_host_wgmma(d, 8, a, 0, descriptor(0, 128, 256, 16), true, false, false);
    cuda_host_wgmma_commit();
    seen[0] = d[0];
    memset(a, 0xff, sizeof(a));
    __syncthreads();
    shared[thread] = 0x4000;
    __syncthreads();
    cuda_host_wgmma_wait(0);
    if (thread == 0) {
        seen[1] = d[0];
        cuda_host_barrier_expect(512, 1024);
        cuda_host_tensor_copy(1024, &map, 0, 0, 0, 0, 512);
        seen[2] = __bfloat162float(((bf16 *)shared)[512]);
        while (!cuda_host_barrier_done(512, 0))
            continue;
        seen[3] = __bfloat162float(((bf16 *)shared)[512]);
        seen[4] = cuda_host_barrier_done(512, 0) ? 1.0f : 0.0f; /* it is the last one still */
    }
}

static void what_is_late(void **)
{
    struct tensor x = make_tensor(64, 8, 1, 1, 3);
    const CUtensorMap map = make_map(&x, 64, 8, 1, 128);
    float *seen = (float *)device(20), host[5];
    IN_EVERY_ORDER
    {
        if (K_LAUNCH(k_late, 1, 128, 2048, seen, map))
            fail_msg("%s", orr_error());
        get(host, seen, sizeof(host));
        assert_true(isnan(host[0]));
        assert_true(host[1] == 1 + 16 * 2);
        assert_true(isnan(host[2]));
        assert_true(host[3] == at(&x, 0, 0, 0, 0));
        assert_true(host[4] == 1);
    }
    free_tensor(&x);
    cudaFree(seen);
}

/* ---- mistakes */

enum { BAR = 0, TILE = 1024 };
static const uint64_t GOOD = (uint64_t)1 << 62 | (uint64_t)(1024 >> 4) << 32 | TILE >> 4;

static void multiply(float *d, int n, uint64_t a, uint64_t b, bool across)
{
    cuda_host_wgmma(d, n, NULL, a, b, false, across, across);
}

static void multiply_and_wait(float *d, int n, uint64_t a, uint64_t b, bool across)
{
    cuda_host_wgmma_fence();
    multiply(d, n, a, b, across);
    cuda_host_wgmma_commit();
    cuda_host_wgmma_wait(0);
}

static __global__ void k_wrong_product(int how)
{
    const int thread = (int)threadIdx.x;
    const unsigned a[4] = {0, 0, 0, 0};
    float d[64] = {0};
    if (how == 0) {
        multiply(d, 64, GOOD, GOOD, false);
    } else if (how == 1) {
        multiply_and_wait(d, 64, GOOD, GOOD, false);
        multiply(d, 64, GOOD, GOOD, false);
    } else if (how == 2) {
        cuda_host_wgmma_fence();
        multiply(d, 64, GOOD, GOOD, false);
        cuda_host_wgmma_wait(0);
    } else if (how == 3) {
        cuda_host_wgmma_fence();
        multiply(d, 64, GOOD, GOOD, false);
        cuda_host_wgmma_commit();
        cuda_host_wgmma_wait(1);
    } else if (how == 4) {
        if (thread < 96)
            multiply_and_wait(d, 64, GOOD, GOOD, false);
    } else if (how == 5) {
        multiply_and_wait(d, 64, GOOD, GOOD + (thread < 32 ? 2 : 0), false);
    } else if (how == 6 || how == 7) {
        cuda_host_wgmma_fence();
        multiply(d, 64, GOOD, GOOD, false);
        d[31] = 5;
        if (how == 6)
            multiply(d, 64, GOOD, GOOD, false);
        cuda_host_wgmma_commit();
        cuda_host_wgmma_wait(0);
    } else if (how == 8) {
        cuda_host_wgmma_fence();
        multiply(d, 64, GOOD, GOOD, false);
        multiply(d + 16, 64, GOOD, GOOD, false);
    } else if (how == 9) {
        cuda_host_wgmma_fence();
        cuda_host_wgmma(d, 64, a, 0, GOOD, false, true, false);
    } else if (how == 10) {
        if (thread % 32 < 16)
            multiply_and_wait(d, 64, GOOD, GOOD, false);
        else
            __ballot_sync(0xffffffffu, 1);
    }
}

static __global__ void k_wrong_tile(int n, uint64_t a, uint64_t b, bool across)
{
    float d[128];
    multiply_and_wait(d, n, a, b, across);
}

static void expect_error(int code, const char *kernel, const char *what)
{
    if (code != ORR_EDEVICE)
        fail_msg("%s: '%s' was not found", kernel, what);
    if (!strstr(orr_error(), kernel) || !strstr(orr_error(), what))
        fail_msg("'%s' has no '%s'", orr_error(), what);
    cudaGetLastError();
}

static void wrong_products_are_errors(void **)
{
    static const char *const expected[] = {
        "without wgmma.fence since the last wait",
        "without wgmma.fence since the last wait",
        "that were not committed",
        "that were not waited for",
        "issued 0 wgmma, another one of its warpgroup 1",
        "differ in shape, descriptors or scale-d",
        "sums were written while products were under way",
        "sums were written while products were under way",
        "share a part of their sums",
        "transposed A in registers",
        "meet in different operations",
    };
    IN_EVERY_ORDER
    {
        for (int how = 0; how < 11; how++)
            expect_error(K_LAUNCH(k_wrong_product, 1, 128, TILE + 8192, how), "k_wrong_product",
                         expected[how]);
        assert_int_equal(K_LAUNCH(k_wrong_product, 1, 128, TILE + 8192, 11), 0); /* it goes on */
    }
    expect_error(K_LAUNCH(k_wrong_product, 1, 96, TILE + 8192, 0), "k_wrong_product",
                 "a part of a warpgroup");
    assert_int_equal(setenv("ORR_CUDA_HOST_CAPABILITY", "80", 1), 0);
    expect_error(K_LAUNCH(k_wrong_product, 1, 128, TILE + 8192, 1), "k_wrong_product",
                 "needs compute capability 9.0");
    assert_int_equal(unsetenv("ORR_CUDA_HOST_CAPABILITY"), 0);
}

static void wrong_tiles_are_errors(void **)
{
    const uint64_t one = 1;
    const struct {
        int n;
        uint64_t b;
        bool across;
        const char *what;
    } cases[] = {
        {12, GOOD, false, "wgmma of 12 columns"},
        {264, GOOD, false, "wgmma of 264 columns"},
        {64, GOOD | one << 14, false, "reserved bits"},
        {64, GOOD | one << 31, false, "reserved bits"},
        {64, GOOD | one << 46, false, "reserved bits"},
        {64, GOOD | one << 61, false, "reserved bits"},
        {64, GOOD | one << 49, false, "base offset"},
        {64, GOOD + 8, false, "begins at 0x480, inside the 1024 bytes"},
        {64, GOOD + 1, false, "begins at 0x410, byte 16 of the 128"},
        {64, GOOD + 2, true, "begins at 0x420, byte 32 of the 128"},
        {32, GOOD, true, "no multiple of the 64"},
        {72, GOOD, false, "element (64, 0) of tile B at 0x2400: shared memory has 9216 bytes"},
        {64, GOOD + 64, false, "shared memory has 9216 bytes"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        expect_error(K_LAUNCH(k_wrong_tile, 1, 128, TILE + 8192, cases[i].n, (uint64_t)GOOD,
                              cases[i].b, cases[i].across),
                     "k_wrong_tile", cases[i].what);
    expect_error(K_LAUNCH(k_wrong_tile, 1, 128, TILE + 8192, 64, (uint64_t)(GOOD + 64),
                          (uint64_t)GOOD, false),
                 "k_wrong_tile", "tile A");
    assert_int_equal(K_LAUNCH(k_wrong_tile, 1, 128, TILE + 8192, 64, (uint64_t)(GOOD + 6),
                              (uint64_t)(GOOD + 2), false),
                     0);
}

/* Maps: [0] is right, a box of 1,024 bytes; [1] has 3 dimensions, [2] memory that is not there. */
struct maps {
    CUtensorMap map[3];
};

static __global__ void k_wrong_barrier(int how, const __grid_constant__ struct maps m)
{
    K_SHARED(uint64_t, shared);
    const int thread = (int)threadIdx.x;
    const CUtensorMap *map = &m.map[0];
    if (how == 0)
        cuda_host_barrier_expect(BAR, 16);
    if (how == 1)
        cuda_host_barrier_arrive(BAR);
    if (how == 2)
        cuda_host_barrier_done(BAR, 0);
    if (how == 3)
        cuda_host_tensor_copy(TILE, map, 0, 0, 0, 0, BAR);
    if (how == 4)
        cuda_host_barrier_init(BAR + 4, 1);
    if (how == 5)
        cuda_host_barrier_init(BAR, 0);
    if (how == 6)
        cuda_host_barrier_init(1 << 20, 1);
    if (thread == 0)
        cuda_host_barrier_init(BAR, 1);
    __syncthreads();
    if (how == 7 && thread == 33)
        cuda_host_barrier_init(BAR, 1);
    if (how == 8) { /* 64 threads arrive where one was expected */
        if (thread == 0)
            cuda_host_tensor_copy(TILE, map, 0, 0, 0, 0, BAR);
        __syncthreads();
        cuda_host_barrier_expect(BAR, 1024);
    }
    if (how == 9 && thread == 0) {
        cuda_host_tensor_copy(TILE, map, 0, 0, 0, 0, BAR);
        cuda_host_barrier_arrive(BAR);
    }
    if (how == 10 && thread == 0) {
        cuda_host_barrier_expect(BAR, 1000);
        cuda_host_tensor_copy(TILE, map, 0, 0, 0, 0, BAR);
    }
    if (how == 11 && thread == 0)
        cuda_host_barrier_expect(BAR, 1 << 20);
    if (how == 12 && thread == 5)
        while (!cuda_host_barrier_done(BAR, 0))
            continue;
    if (how == 13 && thread == 0)
        cuda_host_barrier_expect(BAR, 1024);
    if (how == 13)
        while (!cuda_host_barrier_done(BAR, 0))
            continue;
    if (how == 14 && thread == 0) {
        cuda_host_barrier_expect(BAR, 1024);
        cuda_host_tensor_copy(TILE, map, 0, 0, 0, 0, BAR);
    }
    if (how == 15 && thread == 0)
        cuda_host_barrier_expect(BAR, 16);
    if (how == 16) {
        shared[BAR / 8] = 5;
        cuda_host_barrier_done(BAR, 0);
    }
    if (how == 17 && thread == 0) {
        cuda_host_barrier_expect(BAR, 2048);
        cuda_host_tensor_copy(TILE, map, 0, 0, 0, 0, BAR);
        cuda_host_tensor_copy(TILE, map, 0, 0, 0, 0, BAR);
    }
    if (how == 18)
        cuda_host_tensor_copy(TILE + 512, map, 0, 0, 0, 0, BAR);
    if (how == 19)
        cuda_host_tensor_copy(TILE, (const CUtensorMap *)((const char *)map + 16), 0, 0, 0, 0, BAR);
    if (how == 20)
        cuda_host_tensor_copy(TILE, (const CUtensorMap *)((const char *)map + 64), 0, 0, 0, 0, BAR);
    if (how == 21)
        cuda_host_tensor_copy(TILE, &m.map[1], 0, 0, 0, 0, BAR);
    if (how == 22)
        cuda_host_tensor_copy(2 * TILE, map, 0, 0, 0, 0, BAR);
    if (how == 23 && thread == 0) {
        cuda_host_barrier_expect(BAR, 1024);
        cuda_host_tensor_copy(TILE, &m.map[2], 0, 0, 0, 0, BAR);
        cuda_host_barrier_done(BAR, 0);
    }
    if (how == 24)
        cuda_host_barrier_done(BAR, 2);
    if (how == 25) { /* nobody comes to either */
        if (thread < 32)
            while (!cuda_host_barrier_done(BAR, 0))
                continue;
        __syncthreads();
        cuda_host_barrier_arrive(BAR);
    }
    if (how == 26) { /* a phase that is over is not waited for */
        if (thread == 0)
            cuda_host_barrier_arrive(BAR);
        while (!cuda_host_barrier_done(BAR, 1))
            continue;
    }
    if (how == 27 && thread == 0) {
        cuda_host_tensor_copy(BAR, map, 0, 0, 0, 0, BAR);
        cuda_host_barrier_expect(BAR, 1024);
    }
}

static void wrong_barriers_and_copies_are_errors(void **)
{
    static const char *const expected[] = {
        "mbarrier.arrive.expect_tx: no barrier was initialised at 0x0",
        "mbarrier.arrive: no barrier was initialised at 0x0",
        "try_wait.parity: no barrier was initialised at 0x0",
        "cp.async.bulk.tensor: no barrier was initialised at 0x0",
        "not aligned to 8 bytes",
        "for 0 arrivals",
        "shared memory has 2048 bytes",
        "initialised twice",
        "has its 1 arrivals, and its phase is not complete",
        "copies bring 1024 bytes, and 0 are expected",
        "copies bring 1024 bytes, and 1000 are expected",
        "cannot count 1048576 bytes",
        "waits for ever at barrier 0x0 for the phase of parity 0: phase 0 lacks 1 of 1 arrivals",
        "waits for ever at barrier 0x0 for the phase of parity 0: phase 0 lacks 0 of 1 arrivals "
        "and "
        "1024 of 1024 bytes",
        "barrier 0x0: nobody waited for 1024 bytes of copies and 1024 expected bytes",
        "barrier 0x0: nobody waited for 0 bytes of copies and 16 expected bytes",
        "barrier 0x0 was written over",
        "where another copy is under way",
        "not aligned to 1024 bytes",
        "map is not aligned to 64 bytes",
        "cuTensorMapEncodeTiled did not make the map",
        "a tensor of 3 dimensions",
        "1024 bytes at 0x800: shared memory has 2048 bytes",
        "a copy of a tensor reads 128 bytes at",
        "of parity 2",
        "waits for ever at barrier 0x0",
        "waits for ever at barrier 0x0 for the phase of parity 1: phase 1 lacks 1 of 1 arrivals",
        "barrier 0x0 was written over",
    };
    struct tensor x = make_tensor(64, 8, 1, 1, 3), more = x;
    struct maps m;
    const cuuint64_t sizes[3] = {64, 8, 1}, strides[2] = {2 * 72, 8 * 2 * 72};
    const cuuint32_t box[3] = {64, 8, 1}, steps[3] = {1, 1, 1};
    more.size[1] = 9;
    more.device += x.count - (size_t)x.stride[1];
    m.map[0] = make_map(&x, 64, 8, 1, 128);
    m.map[2] = make_map(&more, 64, 8, 1, 128);
    assert_int_equal(encoder()(&m.map[1], CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, x.device, sizes,
                               strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                               CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                     CUDA_SUCCESS);
    IN_EVERY_ORDER
    {
        for (int how = 0; how < 28; how++)
            expect_error(K_LAUNCH(k_wrong_barrier, 2, 64, 2048, how, m), "k_wrong_barrier",
                         expected[how]);
        assert_int_equal(K_LAUNCH(k_wrong_barrier, 2, 64, 2048, 28, m), 0); /* it goes on */
    }
    free_tensor(&x);
}

/* Swizzles ask for their alignments, and for boxes as wide as they are. */
static __global__ void k_place(unsigned to, unsigned bytes, const __grid_constant__ CUtensorMap map)
{
    cuda_host_barrier_init(BAR, 1);
    cuda_host_barrier_expect(BAR, bytes);
    cuda_host_tensor_copy(to, &map, 0, 0, 0, 0, BAR);
    while (!cuda_host_barrier_done(BAR, 0))
        continue;
}

static void places_of_copies(void **)
{
    struct tensor x = make_tensor(64, 8, 1, 1, 3);
    static const unsigned spans[] = {128, 64, 32, 16}, alignments[] = {1024, 512, 256, 128};
    for (int i = 0; i < 4; i++) {
        char text[64];
        const CUtensorMap map = make_map(&x, spans[i] / 2, 8, 1, spans[i]);
        snprintf(text, sizeof(text), "not aligned to %u bytes", alignments[i]);
        assert_int_equal(K_LAUNCH(k_place, 1, 1, 4096, alignments[i], spans[i] * 8, map), 0);
        expect_error(K_LAUNCH(k_place, 1, 1, 4096, alignments[i] / 2, spans[i] * 8, map), "k_place",
                     text);
    }
    const CUtensorMap narrow = make_map(&x, 32, 8, 1, 128);
    expect_error(K_LAUNCH(k_place, 1, 1, 4096, 1024u, 512u, narrow), "k_place",
                 "rows of 64 bytes in a swizzle of 128 are not emulated");
    free_tensor(&x);
}

/* ---- the driver's function */

static void wrong_maps_are_refused(void **)
{
    struct arguments {
        int shift, type, rank, address, size, stride, box, inner, step, interleave, swizzle, fill;
    };
    static const struct arguments cases[] = {
        {0, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, 0, 64, 256, 8, 64, 1, 0, 3, 0},  /* right */
        {64, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, 0, 64, 256, 8, 64, 1, 0, 3, 0}, /* right */
        {16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, 0, 64, 256, 8, 64, 1, 0, 3, 0},
        {0, 14, 4, 0, 64, 256, 8, 64, 1, 0, 3, 0},
        {0, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 0, 0, 64, 256, 8, 64, 1, 0, 3, 0},
        {0, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 6, 0, 64, 256, 8, 64, 1, 0, 3, 0},
        {0, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, 8, 64, 256, 8, 64, 1, 0, 3, 0},
        {0, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, 0, 0, 256, 8, 64, 1, 0, 3, 0},
        {0, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, 0, 64, 264, 8, 64, 1, 0, 3, 0},
        {0, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, 0, 64, -1, 8, 64, 1, 0, 3, 0}, /* 2^40 */
        {0, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, 0, 64, 256, 0, 64, 1, 0, 3, 0},
        {0, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, 0, 64, 256, 257, 64, 1, 0, 3, 0},
        {0, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, 0, 64, 256, 8, 68, 1, 0, 3, 0},
        {0, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, 0, 64, 256, 8, 72, 1, 0, 3, 0},
        {0, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, 0, 64, 256, 8, 60, 1, 0, 0, 0},
        {0, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, 0, 64, 256, 8, 64, 2, 0, 3, 0},
        {0, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, 0, 64, 256, 8, 64, 1, 1, 3, 0},
        {0, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, 0, 64, 256, 8, 64, 1, 0, 4, 0},
        {0, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, 0, 64, 256, 8, 64, 1, 0, 2, 0},
        {0, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, 0, 64, 256, 8, 64, 1, 0, 3, 1},
    };
    static CUtensorMap maps[2];
    char *memory = (char *)device(65536);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct arguments *c = &cases[i];
        const cuuint64_t stride = c->stride < 0 ? (cuuint64_t)1 << 40 : (cuuint64_t)c->stride;
        const cuuint64_t sizes[6] = {64, (cuuint64_t)c->size, 2, 2, 1, 1};
        const cuuint64_t strides[5] = {256, stride, 4096, 8192, 8192};
        const cuuint32_t box[6] = {(cuuint32_t)c->inner, (cuuint32_t)c->box, 1, 1, 1, 1};
        const cuuint32_t steps[6] = {1, 1, (cuuint32_t)c->step, 1, 1, 1};
        const CUresult rc =
            encoder()((CUtensorMap *)((char *)maps + c->shift), (CUtensorMapDataType)c->type,
                      (cuuint32_t)c->rank, memory + c->address, sizes, strides, box, steps,
                      (CUtensorMapInterleave)c->interleave, (CUtensorMapSwizzle)c->swizzle,
                      CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)c->fill);
        if (rc != (i < 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE))
            fail_msg("case %zu gives %d", i, (int)rc);
    }
    cudaFree(memory);
}

static void the_entry_point_is_asked_for(void **)
{
    void *function = &function;
    enum cudaDriverEntryPointQueryResult status;
    assert_int_equal(
        cudaGetDriverEntryPointByVersion("cuTensorMapEncode", &function, 12000, 0, &status),
        cudaSuccess);
    assert_null(function);
    assert_int_equal(status, cudaDriverEntryPointSymbolNotFound);
    assert_int_equal(
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 11080, 0, &status),
        cudaSuccess);
    assert_null(function);
    assert_int_equal(status, cudaDriverEntryPointVersionNotSufficent);
    assert_int_equal(
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 13010, 0, &status),
        cudaErrorInvalidValue);
    cudaGetLastError();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_swizzled),
        cmocka_unit_test(products),
        cmocka_unit_test(a_pipeline_of_barriers),
        cmocka_unit_test(what_is_late),
        cmocka_unit_test(wrong_products_are_errors),
        cmocka_unit_test(wrong_tiles_are_errors),
        cmocka_unit_test(wrong_barriers_and_copies_are_errors),
        cmocka_unit_test(places_of_copies),
        cmocka_unit_test(wrong_maps_are_refused),
        cmocka_unit_test(the_entry_point_is_asked_for),
    };
    if (cudaFuncSetAttribute(k_product, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED) !=
        cudaSuccess)
        return 1;
    return cmocka_run_group_tests_name("emulation of compute capability 9.0", tests, NULL, NULL);
}
