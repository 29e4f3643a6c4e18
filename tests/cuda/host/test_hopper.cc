/* test_hopper.cc - what the emulation has of compute capability 9.0: products of warpgroups from
 * tiles that copies of tensors brought, against plain loops; a pipeline of barriers; and what is
 * late. */
#include "hopper_test.h"

static void get(void *to, const void *from, size_t bytes)
{
    assert_int_equal(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
}

/* ---- where a copy puts the pieces of a box: piece p of row r (docs of CUtensorMapSwizzle) */

enum { BOX_ROWS = 16, BOX_HEADS = 2 };

static __global__ void k_dump(bf16 *to, const __grid_constant__ CUtensorMap map, int c0,
                              unsigned bytes)
{
    K_SHARED(bf16, shared);
    cuda_host_barrier_init(0, 1);
    cuda_host_barrier_expect(0, bytes);
    cuda_host_tensor_copy(1024, &map, c0, 3, -1, 1, 0);
    while (!cuda_host_barrier_done(0, 0))
        continue;
    memcpy(to, shared + 512, bytes);
}

static void copies_are_swizzled(void **)
{
    static const unsigned spans[] = {128, 64, 32, 16};
    struct tensor x = make_tensor(48, 14, 2, 2, 3);
    bf16 host[BOX_ROWS * BOX_HEADS * 64], *on_device = (bf16 *)device(sizeof(host));
    for (int which = 0; which < 8; which++) {
        const int c0 = which < 4 ? 8 : -5;
        const int span = (int)spans[which % 4], bytes = span * BOX_ROWS * BOX_HEADS;
        const CUtensorMap map =
            make_map(&x, (unsigned)span / 2, BOX_ROWS, BOX_HEADS, spans[which % 4]);
        assert_int_equal(K_LAUNCH(k_dump, 1, 1, 8192, on_device, map, c0, (unsigned)bytes), 0);
        get(host, on_device, (size_t)bytes);
        for (int r = 0; r < BOX_ROWS * BOX_HEADS; r++)
            for (int i = 0; i < span / 2; i++) {
                const int turn = span == 128  ? r % 8
                                 : span == 64 ? r / 2 % 4
                                 : span == 32 ? r / 4 % 2
                                              : 0;
                const int place = r * span / 2 + (i / 8 ^ turn) * 8 + i % 8;
                const float expected = at(&x, c0 + i, 3 + r % BOX_ROWS, -1 + r / BOX_ROWS, 1);
                assert_true(__bfloat162float(host[place]) == expected);
            }
    }
    free_tensor(&x);
    cudaFree(on_device);
}

/* ---- products */

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

/* readers: how many of the 256 threads say that they have read a tile. */
static __global__ void k_pipeline(float *sums, const __grid_constant__ CUtensorMap map, int steps,
                                  int readers)
{
    const int thread = (int)threadIdx.x;
    if (thread == 0)
        for (unsigned i = 0; i < STAGES; i++) {
            cuda_host_barrier_init(FULL + 8 * i, 1);
            cuda_host_barrier_init(EMPTY + 8 * i, (unsigned)readers);
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
        if (thread - 128 < readers)
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
        if (K_LAUNCH(k_pipeline, 2, 384, 1024 + STAGES * BOX, sums, map, (int)STEPS, 256))
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
    /* nobody waits for the second warpgroup: tiles are gone before it reads them */
    cuda_host_set_order(CUDA_HOST_FORWARD);
    assert_int_equal(K_LAUNCH(k_pipeline, 1, 384, 1024 + STAGES * BOX, sums, map, (int)STEPS, 128),
                     ORR_EDEVICE);
    assert_non_null(strstr(orr_error(), "waits for ever"));
    cudaGetLastError();
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_swizzled),
        cmocka_unit_test(products),
        cmocka_unit_test(a_pipeline_of_barriers),
        cmocka_unit_test(what_is_late),
    };
    if (cudaFuncSetAttribute(k_product, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED) !=
        cudaSuccess)
        return 1;
    return cmocka_run_group_tests_name("compute capability 9.0", tests, NULL, NULL);
}
