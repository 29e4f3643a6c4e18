/* test_ptx.cc - translated PTX itself: kernels written by hand whose answers are known (half.ptx;
 * the numbers below were computed with fractions), and accesses that have to end a launch
 * (spaces.ptx). The kernels here have the names alone; ORR_CUDA_HOST_PTX has the bodies. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda.h"

extern "C" {
#include <cmocka.h>
}

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
        cmocka_unit_test(other_kernels_are_refused),
    };
    void *memory;
    if (cudaMalloc(&memory, sizeof(host)) != cudaSuccess)
        return 1;
    out = (unsigned *)memory;
    return cmocka_run_group_tests_name("translated PTX", tests, NULL, NULL);
}
