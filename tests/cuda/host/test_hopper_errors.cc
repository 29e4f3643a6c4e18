/* test_hopper_errors.cc - one wrong kernel of every kind that the emulation of compute capability
 * 9.0 must report, and what cuTensorMapEncodeTiled must refuse. */
#include "hopper_test.h"

/* ---- products */

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
        cuda_host_wgmma_fence();
        if (thread % 32 < 16) {
            multiply(d, 64, GOOD, GOOD, false);
            __ballot_sync(0xffffffffu, 1);
        } else {
            __ballot_sync(0xffffffffu, 1);
            multiply(d, 64, GOOD, GOOD, false);
        }
    } else if (how == 11 || how == 12) {
        cuda_host_fence_async();
        if (thread == 7)
            cuda_host_shared_written(TILE + 16, 4);
        if (how == 12)
            cuda_host_fence_async();
        multiply_and_wait(d, 64, GOOD, GOOD, false);
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
        "wgmma of 0x410, which thread 7 stored without fence.proxy.async after it",
    };
    IN_EVERY_ORDER
    {
        for (int how = 0; how < 12; how++)
            expect_error(K_LAUNCH(k_wrong_product, 1, 128, TILE + 8192, how), "k_wrong_product",
                         expected[how]);
        assert_int_equal(K_LAUNCH(k_wrong_product, 1, 128, TILE + 8192, 12), 0); /* it goes on */
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

/* ---- barriers and copies */

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
    if (how == 28 && thread == 0) {
        cuda_host_barrier_init(BAR + 8, 3);
        for (int i = 0; i < 4; i++)
            cuda_host_barrier_arrive(BAR + 8);
    }
    if (how == 29 && thread == 0) {
        cuda_host_shared_written(TILE + 1020, 8);
        cuda_host_tensor_copy(TILE, map, 0, 0, 0, 0, BAR);
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
        "barrier 0x8: 1 of the 3 arrivals of phase 1 were made at the end",
        "cp.async.bulk.tensor of 0x7fc, which thread 0 stored without fence.proxy.async after it",
    };
    struct tensor x = make_tensor(64, 8, 1, 1, 3), more = x;
    struct maps m;
    const cuuint64_t sizes[3] = {64, 8, 1}, strides[2] = {2 * 72, 8 * 2 * 72};
    const cuuint32_t box[3] = {64, 8, 1}, steps[3] = {1, 1, 1};
    more.size[1] = 1;
    more.device += x.count - (size_t)x.stride[1] + 24; /* 8 numbers of a row are not there */
    m.map[0] = make_map(&x, 64, 8, 1, 128);
    m.map[2] = make_map(&more, 64, 8, 1, 128);
    assert_int_equal(encoder()(&m.map[1], CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, x.device, sizes,
                               strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                               CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                     CUDA_SUCCESS);
    IN_EVERY_ORDER
    {
        for (int how = 0; how < 30; how++)
            expect_error(K_LAUNCH(k_wrong_barrier, 2, 64, 2048, how, m), "k_wrong_barrier",
                         expected[how]);
        assert_int_equal(K_LAUNCH(k_wrong_barrier, 2, 64, 2048, 30, m), 0); /* it goes on */
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
        cmocka_unit_test(wrong_products_are_errors),
        cmocka_unit_test(wrong_tiles_are_errors),
        cmocka_unit_test(wrong_barriers_and_copies_are_errors),
        cmocka_unit_test(places_of_copies),
        cmocka_unit_test(wrong_maps_are_refused),
        cmocka_unit_test(the_entry_point_is_asked_for),
    };
    return cmocka_run_group_tests_name("errors of compute capability 9.0", tests, NULL, NULL);
}
