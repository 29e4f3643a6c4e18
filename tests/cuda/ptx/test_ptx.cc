/* test_ptx.cc - translated PTX itself: kernels written by hand whose answers are known (half.ptx;
 * the numbers below were computed with fractions), accesses that have to end a launch (spaces.ptx),
 * and products of a warpgroup (hopper.ptx, which nvcc wrote). The kernels here have the names
 * alone; ORR_CUDA_HOST_PTX has the bodies. */
#include "tests/cuda/host/hopper_test.h"

static __global__ void halves(unsigned *, unsigned, unsigned, unsigned)
{
}
static __global__ void roundings(float *, float, float, float)
{
}
static __global__ void words(unsigned *, unsigned long, unsigned long)
{
}
static __global__ void shuffle(unsigned *)
{
}
static __global__ void leftover(unsigned *)
{
}
static __global__ void fetch(unsigned *, const char *, unsigned long)
{
}
static __global__ void place(unsigned *, unsigned)
{
}
static __global__ void copy(unsigned *, const unsigned *, unsigned)
{
}
static __global__ void count(unsigned *)
{
}
static __global__ void await(unsigned *)
{
}
struct two {
    CUtensorMap a, b;
};
static __global__ void products(float *, const __grid_constant__ struct two, const unsigned *,
                                uint64_t, unsigned, unsigned)
{
}
static __global__ void without_ptx(unsigned *)
{
}

enum { ROOM = 64 };
static unsigned *out, host[ROOM];

/* The first words of what a kernel wrote; all of them 9 before it. */
static void prepare(void)
{
    for (int i = 0; i < ROOM; i++)
        host[i] = 9;
    assert_int_equal(cudaMemcpy(out, host, sizeof(host), cudaMemcpyHostToDevice), cudaSuccess);
}

static void expect(const unsigned *wanted, int n)
{
    assert_int_equal(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost), cudaSuccess);
    for (int i = 0; i < n; i++)
        if (host[i] != wanted[i])
            fail_msg("word %d is %08x instead of %08x", i, host[i], wanted[i]);
    for (int i = n; i < ROOM; i++)
        assert_int_equal(host[i], 9);
}

/* The launch ended with this in its message, of this kernel. */
static void expect_trap(int code, const char *kernel, const char *what)
{
    assert_int_equal(code, ORR_EDEVICE);
    if (!strstr(orr_error(), kernel) || !strstr(orr_error(), what))
        fail_msg("'%s' has no '%s'", orr_error(), what);
    cudaGetLastError();
}

/* ---- numbers */

static void half_precision(void **)
{
    const unsigned wanted[] = {0xbe744049, 0x3d69411e, 0xb3a24248, 0x806004f2,
                               0x424842c2, 0x40490000, 0x3e74c049, 0x00004049};
    prepare();
    assert_int_equal(K_LAUNCH(halves, 1, 1, 0, out, __float_as_uint(3.1415927f),
                              __float_as_uint(-0.2385f), __float_as_uint(2.4e-5f)),
                     0);
    expect(wanted, 8);
}

static void directed_rounding(void **)
{
    const unsigned wanted[] = {0xbf602e8e, 0xbf602e8d, 0xbf602e8d, 0x3f9e883f,
                               0xbf6030b7, 0xbf602e8d, 0x00000000, 0x3f800000};
    prepare();
    assert_int_equal(K_LAUNCH(roundings, 1, 1, 0, (float *)out, 1.2385f, -0.7071f, 3.3e-5f), 0);
    expect(wanted, 8);
    /* a sum in double does not see what is added: one float below 1 all the same */
    const unsigned tiny[] = {0x3f7fffff, 0x3f800000, 0x3f800000, 0x3f7fffff,
                             0x3f800000, 0x3f800000, 0x00000000, 0x3f800000};
    prepare();
    assert_int_equal(K_LAUNCH(roundings, 1, 1, 0, (float *)out, 1.0f, 1.0f, -0x1p-60f), 0);
    expect(tiny, 8);
}

static void carries_and_bits(void **)
{
    const unsigned wanted[] = {0x65c7db50, 0x14da1c99, 0x7f53afdc, 0x9d8375c5,
                               0x7709b5fb, 0x60a540df, 0xff325410, 0x7f4a7215,
                               0xb97531ec, 0x00000018, 0xffffffff, 0x7fffffff};
    prepare();
    assert_int_equal(K_LAUNCH(words, 1, 1, 0, out, 0xfedcba98f6543210u, 0x9e3779b97f4a7c15u), 0);
    expect(wanted, 12);
}

static void shuffles_stay_in_their_segment(void **)
{
    unsigned wanted[32];
    for (unsigned lane = 0; lane < 32; lane++)
        wanted[lane] = lane % 16 < 3 ? lane : lane - 3 + 100;
    wanted[0] = 0x00070007;
    for (int order = 0; order < CUDA_HOST_ORDERS; order++) {
        cuda_host_set_order(order);
        prepare();
        assert_int_equal(K_LAUNCH(shuffle, 1, 32, 0, out), 0);
        expect(wanted, 32);
    }
    cuda_host_set_order(0);
}

static void atomics_and_votes(void **)
{
    const unsigned wanted[] = {9 + 64 * 63 / 2, 63, 40};
    prepare();
    assert_int_equal(K_LAUNCH(count, 1, 64, 0, out), 0);
    expect(wanted, 3);
}

/* Blocks run one after the other: a kernel that waits for one that comes later would for ever. */
static void waiting_for_later_blocks_fails(void **)
{
    const unsigned wanted[] = {2}, one = 1;
    prepare();
    expect_trap(K_LAUNCH(await, 1, 1, 0, out), "kernel await", "waits for another block");
    prepare();
    assert_int_equal(cudaMemcpy(out, &one, sizeof(one), cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(K_LAUNCH(await, 1, 1, 0, out), 0);
    expect(wanted, 1);
}

/* ---- memory */

static void shared_memory_is_spoilt_between_blocks(void **)
{
    const unsigned wanted[] = {~0u, ~0u, ~0u};
    prepare();
    assert_int_equal(K_LAUNCH(leftover, 3, 1, 0, out), 0);
    expect(wanted, 3);
}

static void wrong_addresses_are_named(void **)
{
    const unsigned table[] = {0x04030201};
    void *memory;
    assert_int_equal(cudaMalloc(&memory, 22), cudaSuccess);
    const char *x = (const char *)memory;
    prepare();
    assert_int_equal(K_LAUNCH(fetch, 1, 1, 0, out, x, 16ul), 0);
    assert_int_equal(K_LAUNCH(fetch, 1, 1, 0, out, x, 1000ul), 0);
    expect(table, 1);
    expect_trap(K_LAUNCH(fetch, 1, 1, 0, out, x, 2ul), "kernel fetch",
                "ld.global.u32 %r1, [%rd4]: address 0x");
    expect_trap(K_LAUNCH(fetch, 1, 1, 0, out, x, 2ul), "kernel fetch", "is not a multiple of 4");
    /* half of this word is behind the end, where the emulation's guards do not look */
    expect_trap(K_LAUNCH(fetch, 1, 1, 0, out, x, 20ul), "kernel fetch",
                "byte 20 of an allocation of 22 bytes");
    expect_trap(K_LAUNCH(fetch, 1, 1, 0, out, x, (unsigned long)-4), "kernel fetch",
                "4 bytes before");
    expect_trap(K_LAUNCH(fetch, 1, 1, 0, out, (const char *)host, 0ul), "kernel fetch",
                "4 bytes at 0x");
    cudaFree(memory);
}

static void shared_memory_has_an_end(void **)
{
    const unsigned wanted[] = {77};
    for (unsigned at = 0; at < 16 + 24; at += 4) {
        prepare();
        assert_int_equal(K_LAUNCH(place, 1, 1, 24, out, at), 0);
        expect(wanted, 1);
    }
    expect_trap(K_LAUNCH(place, 1, 1, 24, out, 40u), "kernel place",
                "address 0x28: shared memory has 40 bytes");
    expect_trap(K_LAUNCH(place, 1, 1, 24, out, 6u), "kernel place", "st.shared.u32");
    expect_trap(K_LAUNCH(place, 1, 1, 24, out, ~3u), "kernel place", "shared memory has 40 bytes");
}

static void copies_arrive_when_waited_for(void **)
{
    const unsigned numbers[] = {1, 2, 3, 4}, early[] = {~0u, 2}, waited[] = {2, 2};
    void *memory;
    assert_int_equal(cudaMalloc(&memory, sizeof(numbers)), cudaSuccess);
    assert_int_equal(cudaMemcpy(memory, numbers, sizeof(numbers), cudaMemcpyHostToDevice),
                     cudaSuccess);
    for (unsigned wait = 0; wait < 3; wait++) {
        prepare();
        assert_int_equal(K_LAUNCH(copy, 1, 1, 16, out, (const unsigned *)memory, wait), 0);
        expect(wait == 1 ? waited : early, 2);
    }
    expect_trap(K_LAUNCH(copy, 1, 1, 16, out, (const unsigned *)memory + 1, 0u), "kernel copy",
                "cp.async");
    expect_trap(K_LAUNCH(copy, 1, 1, 8, out, (const unsigned *)memory, 0u), "kernel copy",
                "8 bytes");
    cudaFree(memory);
}

/* ---- products of a warpgroup */

enum { TILE_ROWS = 64, TILE_COLUMNS = 64, B_ROWS = 32, BYTES = 1024 + 8192 + 4096 };

/* What hopper.ptx multiplies: element (row, column) of the tiles A and B. */
static float of_a(const struct tensor *a, int row, int column)
{
    return at(a, 8 + column, row - 3, 1, 1);
}

static float of_b(const struct tensor *b, int row, int column)
{
    return at(b, column, 5 + row, 1, 1);
}

/* Word i of a thread: d = A B', e = rows A, d += A' B'. */
static float expected_word(const struct tensor *a, const struct tensor *b, const bf16 *rows,
                           int thread, int i)
{
    const int at_e = i >= 16 && i < 48, j = i < 16 ? i : at_e ? i - 16 : i - 48;
    const int row = thread / 32 * 16 + thread % 32 / 4 + j % 4 / 2 * 8;
    const int column = j / 4 * 8 + thread % 4 * 2 + j % 2;
    float sum = 0;
    for (int k = 0; k < 64; k++) {
        if (at_e) {
            sum += __bfloat162float(rows[row * 64 + k]) * of_a(a, k, column);
            continue;
        }
        sum += of_a(a, row, k) * of_b(b, column, k);
        if (i >= 48)
            sum += of_a(a, k, row) * of_b(b, column, k);
    }
    return sum;
}

static void products_of_a_warpgroup(void **)
{
    static float got[128 * 64];
    static bf16 rows[TILE_ROWS * TILE_COLUMNS];
    struct tensor a = make_tensor(68, 57, 2, 2, 3), b = make_tensor(61, 30, 2, 2, 8);
    const struct two maps = {make_map(&a, 64, TILE_ROWS, 1, 128), make_map(&b, 64, B_ROWS, 1, 128)};
    float *sums = (float *)device(sizeof(got));
    unsigned *on_device = (unsigned *)device(sizeof(rows));
    for (int i = 0; i < TILE_ROWS * TILE_COLUMNS; i++)
        rows[i] = __float2bfloat16_rn((float)(i * 5 % 27 - 13) / 4.0f);
    assert_int_equal(cudaMemcpy(on_device, rows, sizeof(rows), cudaMemcpyHostToDevice),
                     cudaSuccess);
    IN_EVERY_ORDER
    {
        if (K_LAUNCH(products, 1, 128, BYTES, sums, maps, on_device, (uint64_t)0, 0u, ~0u))
            fail_msg("%s", orr_error());
        assert_int_equal(cudaMemcpy(got, sums, sizeof(got), cudaMemcpyDeviceToHost), cudaSuccess);
        for (int i = 0; i < 128 * 64; i++) {
            const float wanted = expected_word(&a, &b, rows, i / 64, i % 64);
            if (got[i] != wanted)
                fail_msg("word %d of thread %d is %g instead of %g", i % 64, i / 64, got[i],
                         wanted);
        }
    }
    expect_trap(K_LAUNCH(products, 1, 128, BYTES, sums, maps, on_device, (uint64_t)1 << 49, 0u, 0u),
                "kernel products", "descriptor of B has a base offset");
    expect_trap(K_LAUNCH(products, 1, 128, BYTES, sums, maps, on_device, (uint64_t)0, 16u, 0u),
                "kernel products", "copies bring 12288 bytes, and 12272 are expected");
    expect_trap(K_LAUNCH(products, 1, 128, BYTES, sums, maps, on_device, (uint64_t)0, 0u - 16u, 0u),
                "kernel products", "waits for ever at barrier 0x0");
    expect_trap(K_LAUNCH(products, 1, 128, BYTES - 16, sums, maps, on_device, (uint64_t)0, 0u, 0u),
                "kernel products", "shared memory has 13296 bytes");
    expect_trap(K_LAUNCH(products, 1, 128, BYTES, sums, maps, on_device, (uint64_t)0, 0u, 1u),
                "kernel products", "stored without fence.proxy.async after it");
    assert_int_equal(setenv("ORR_CUDA_HOST_CAPABILITY", "80", 1), 0);
    expect_trap(K_LAUNCH(products, 1, 128, BYTES, sums, maps, on_device, (uint64_t)0, 0u, 0u),
                "kernel products", "mbarrier.init needs compute capability 9.0");
    assert_int_equal(unsetenv("ORR_CUDA_HOST_CAPABILITY"), 0);
    free_tensor(&a);
    free_tensor(&b);
    cudaFree(sums);
    cudaFree(on_device);
}

static void other_kernels_are_refused(void **)
{
    assert_int_equal(K_LAUNCH(without_ptx, 1, 1, 0, out), ORR_EDEVICE);
    assert_non_null(strstr(orr_error(), "no PTX of it"));
    cudaGetLastError();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_precision),
        cmocka_unit_test(directed_rounding),
        cmocka_unit_test(carries_and_bits),
        cmocka_unit_test(shuffles_stay_in_their_segment),
        cmocka_unit_test(atomics_and_votes),
        cmocka_unit_test(waiting_for_later_blocks_fails),
        cmocka_unit_test(shared_memory_is_spoilt_between_blocks),
        cmocka_unit_test(wrong_addresses_are_named),
        cmocka_unit_test(shared_memory_has_an_end),
        cmocka_unit_test(copies_arrive_when_waited_for),
        cmocka_unit_test(products_of_a_warpgroup),
        cmocka_unit_test(other_kernels_are_refused),
    };
    void *memory;
    if (cudaMalloc(&memory, sizeof(host)) != cudaSuccess)
        return 1;
    out = (unsigned *)memory;
    return cmocka_run_group_tests_name("translated PTX", tests, NULL, NULL);
}
