/* test_emulation.cc - the emulation of CUDA itself: closed forms for what it must compute, and one
 * wrong kernel of every kind that it must report. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels/cuda/cuda.h"

extern "C" {
#include <cmocka.h>
}

#include "cuda_host_internal.h"

enum { N = 1000 };

static float *device(size_t n)
{
    void *memory;
    assert_int_equal(cudaMalloc(&memory, n * sizeof(float)), cudaSuccess);
    return (float *)memory;
}

static void put(void *to, const void *from, size_t bytes)
{
    assert_int_equal(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), cudaSuccess);
}

static void get(void *to, const void *from, size_t bytes)
{
    assert_int_equal(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
}

/* Runs the rest of a test in every order. */
#define IN_EVERY_ORDER                                                                             \
    for (int order_ = 0;                                                                           \
         cuda_host_set_order(order_ < CUDA_HOST_ORDERS ? order_ : 0), order_ < CUDA_HOST_ORDERS;   \
         order_++)

/* ---- what it must compute */

static __global__ void k_squares(float *out, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        out[i] = (float)i * (float)i;
}

static void grid_stride_loops(void **)
{
    float *x = device(N), host[N];
    IN_EVERY_ORDER
    {
        assert_int_equal(cudaMemset(x, 0, N * sizeof(float)), cudaSuccess);
        assert_int_equal(K_LAUNCH(k_squares, 3, 96, 0, x, (size_t)N), 0);
        get(host, x, sizeof(host));
        for (int i = 0; i < N; i++)
            assert_true(host[i] == (float)i * (float)i);
    }
    cudaFree(x);
}

/* Every thread of a grid of three dimensions writes its own number. */
static __global__ void k_numbers(int *out)
{
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned i = block * blockDim.x * blockDim.y * blockDim.z + thread;
    out[i] = (int)i;
}

static void three_dimensions(void **)
{
    const dim3 grid(3, 4, 5), block(5, 3, 2);
    int *x = (int *)device(60 * 30), host[60 * 30];
    IN_EVERY_ORDER
    {
        assert_int_equal(cudaMemset(x, 0xff, sizeof(host)), cudaSuccess);
        assert_int_equal(K_LAUNCH(k_numbers, grid, block, 0, x), 0);
        get(host, x, sizeof(host));
        for (int i = 0; i < 60 * 30; i++)
            assert_int_equal(host[i], i);
    }
    cudaFree(x);
}

/* Sum over a block: shuffles, then the warps' sums in shared memory. */
static __global__ void k_block_sum(double *out, const float *x, int n)
{
    __shared__ double warps[32];
    double sum = 0;
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
        sum += x[i];
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
        for (unsigned d = 16; d; d /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, d);
        if (threadIdx.x == 0)
            out[blockIdx.x] = sum;
    }
}

static void block_reduction(void **)
{
    float *x = device(N), host[N];
    double *sums = (double *)device(8), got[4];
    for (int i = 0; i < N; i++)
        host[i] = (float)(i + 1);
    put(x, host, sizeof(host));
    IN_EVERY_ORDER
    {
        for (int block = 32; block <= 1024; block *= 2) {
            assert_int_equal(K_LAUNCH(k_block_sum, 4, block, 0, sums, x, (int)N), 0);
            get(got, sums, sizeof(got));
            for (int i = 0; i < 4; i++)
                assert_true(got[i] == N * (N + 1) / 2.0);
        }
    }
    cudaFree(x);
    cudaFree(sums);
}

/* Inclusive scan of one block. */
static __global__ void k_scan(int *x)
{
    __shared__ int warps[32];
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    int sum = x[threadIdx.x];
    for (unsigned d = 1; d < 32; d *= 2) {
        const int left = __shfl_up_sync(0xffffffffu, sum, d);
        if (lane >= (int)d)
            sum += left;
    }
    if (lane == 31)
        warps[warp] = sum;
    __syncthreads();
    for (int w = 0; w < warp; w++)
        sum += warps[w];
    x[threadIdx.x] = sum;
}

static void scan(void **)
{
    int host[256], *x = (int *)device(256);
    IN_EVERY_ORDER
    {
        for (int i = 0; i < 256; i++)
            host[i] = i + 1;
        put(x, host, sizeof(host));
        assert_int_equal(K_LAUNCH(k_scan, 1, 256, 0, x), 0);
        get(host, x, sizeof(host));
        for (int i = 0; i < 256; i++)
            assert_int_equal(host[i], (i + 1) * (i + 2) / 2);
    }
    cudaFree(x);
}

template <int SIDE> static __global__ void k_transpose(float *out, const float *in, int n)
{
    K_SHARED(float, tile);
    const int row = (int)(blockIdx.y * SIDE + threadIdx.y);
    const int col = (int)(blockIdx.x * SIDE + threadIdx.x);
    tile[threadIdx.y * (SIDE + 1) + threadIdx.x] = row < n && col < n ? in[row * n + col] : 0;
    __syncthreads();
    const int to_row = (int)(blockIdx.x * SIDE + threadIdx.y);
    const int to_col = (int)(blockIdx.y * SIDE + threadIdx.x);
    if (to_row < n && to_col < n)
        out[to_row * n + to_col] = tile[threadIdx.x * (SIDE + 1) + threadIdx.y];
}

static void transpose(void **)
{
    enum { M = 37, SIDE = 16 };
    float *in = device(M * M), *out = device(M * M), host[M * M], got[M * M];
    for (int i = 0; i < M * M; i++)
        host[i] = (float)i;
    put(in, host, sizeof(host));
    IN_EVERY_ORDER
    {
        const dim3 grid((M + SIDE - 1) / SIDE, (M + SIDE - 1) / SIDE), block(SIDE, SIDE);
        assert_int_equal(
            K_LAUNCH(k_transpose<SIDE>, grid, block, SIDE * (SIDE + 1) * sizeof(float), out, in, M),
            0);
        get(got, out, sizeof(got));
        for (int i = 0; i < M * M; i++)
            assert_true(got[i] == host[i % M * M + i / M]);
    }
    cudaFree(in);
    cudaFree(out);
}

/* Votes, shuffles within halves of a warp, and halves that go different ways. */
static __global__ void k_votes(unsigned *out)
{
    const int lane = (int)threadIdx.x;
    out[lane] = __ballot_sync(0xffffffffu, lane % 3 == 0);
    out[32 + lane] =
        (unsigned)(__any_sync(0xffffffffu, lane == 7) * 2 + __all_sync(0xffffffffu, lane < 31));
    out[64 + lane] = (unsigned)__shfl_sync(0xffffffffu, lane, 3, 16);
    if (lane < 16)
        out[96 + lane] = __ballot_sync(0x0000ffffu, 1);
    else
        out[96 + lane] = (unsigned)__shfl_xor_sync(0xffff0000u, lane, 1);
    __syncwarp();
    out[128 + lane] = (unsigned)__shfl_down_sync(0xffffffffu, lane, 4, 8);
    out[160 + lane] = (unsigned)__syncthreads_count(lane < 5);
}

static void votes(void **)
{
    unsigned host[192], *x = (unsigned *)device(192);
    IN_EVERY_ORDER
    {
        assert_int_equal(K_LAUNCH(k_votes, 1, 32, 0, x), 0);
        get(host, x, sizeof(host));
        for (unsigned i = 0; i < 32; i++) {
            assert_int_equal(host[i], 0x49249249u);
            assert_int_equal(host[32 + i], 2);
            assert_int_equal(host[64 + i], i < 16 ? 3 : 19);
            assert_int_equal(host[96 + i], i < 16 ? 0xffffu : i ^ 1);
            assert_int_equal(host[128 + i], i % 8 < 4 ? i + 4 : i);
            assert_int_equal(host[160 + i], 5);
        }
    }
    cudaFree(x);
}

static void bfloat16(void **)
{
    static const struct {
        float in, out;
    } known[] = {
        {1.0f, 1.0f},          {1.00390625f, 1.0f},   {1.01171875f, 1.015625f},
        {1.0040f, 1.0078125f}, {-2.385f, -2.390625f}, {3.4e38f, INFINITY},
        {INFINITY, INFINITY},  {1e-40f, 9.1835e-41f}, {0.0f, 0.0f},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        const float got = __bfloat162float(__float2bfloat16_rn(known[i].in));
        assert_true(got == known[i].out || fabsf(got - known[i].out) < 1e-43f);
    }
    assert_true(isnan(__bfloat162float(__float2bfloat16_rn(NAN))));
}

/* ---- graphs */

static __global__ void k_add_to(float *x, const float *y, int n)
{
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < n;
         i += (int)(blockDim.x * gridDim.x))
        x[i] += y[i];
}

static void graphs(void **)
{
    float *x = device(N), *y = device(N), host[N];
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaMemset(x, 0, N * sizeof(float)), cudaSuccess);
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    {
        float *one = x, *other = y; /* gone when the graph runs */
        int n = N;
        assert_int_equal(K_LAUNCH(k_squares, 2, 64, 0, other, (size_t)n), 0);
        assert_int_equal(K_LAUNCH(k_add_to, 2, 64, 0, one, other, n), 0);
        assert_int_equal(cudaMemsetAsync(y, 0, sizeof(float), stream), cudaSuccess);
        one = other = NULL;
        n = 0;
    }
    void *none;
    assert_int_equal(cudaMalloc(&none, 8), cudaErrorStreamCaptureUnsupported);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    get(host, x, sizeof(host));
    assert_true(host[3] == 0); /* kept, not done */
    for (int times = 1; times <= 3; times++) {
        assert_int_equal(cudaGraphLaunch(exec, stream), cudaSuccess);
        get(host, x, sizeof(host));
        for (int i = 0; i < N; i++)
            assert_true(host[i] == (float)times * (float)i * (float)i);
    }
    assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
    cudaGetLastError();
    cudaFree(x);
    cudaFree(y);
}

/* ---- what it must report */

/* Neighbours read what others write, without a barrier between. */
static __global__ void k_race(float *out)
{
    __shared__ float x[64];
    const int i = (int)threadIdx.x;
    x[i] = (float)(i + 1 + (int)blockIdx.x);
    out[blockIdx.x * 64 + (unsigned)i] = x[(i + 1) % 64];
}

/* Blocks that hand something on to the next. */
static __global__ void k_block_race(float *x)
{
    x[blockIdx.x + 1] = x[blockIdx.x] + 1;
}

/* Lanes that read shared memory of others without __syncwarp. */
static __global__ void k_warp_race(float *out)
{
    __shared__ float x[32];
    const int i = (int)threadIdx.x;
    x[i] = (float)i;
    x[i ^ 1] += 100.0f * (float)(i + 1);
    __syncwarp();
    out[i] = x[i];
}

static int launch_race(int which, float *x)
{
    return which == 0   ? K_LAUNCH(k_race, 2, 64, 0, x)
           : which == 1 ? K_LAUNCH(k_block_race, 100, 1, 0, x)
                        : K_LAUNCH(k_warp_race, 1, 32, 0, x);
}

static void a_race_shows(void **)
{
    float *x = device(128), host[CUDA_HOST_ORDERS][128];
    for (int which = 0; which < 3; which++) {
        IN_EVERY_ORDER
        {
            assert_int_equal(cudaMemset(x, 0, sizeof(host[0])), cudaSuccess);
            assert_int_equal(launch_race(which, x), 0);
            get(host[order_], x, sizeof(host[0]));
        }
        assert_memory_not_equal(host[CUDA_HOST_FORWARD], host[CUDA_HOST_REVERSE], sizeof(host[0]));
        assert_memory_not_equal(host[CUDA_HOST_FORWARD], host[CUDA_HOST_SHUFFLE], sizeof(host[0]));
    }
    cudaFree(x);
}

static __global__ void k_divergent(int how)
{
    const int i = (int)threadIdx.x;
    if (how == 0 && i == 5)
        return; /* the others wait for it */
    if (how == 0)
        __syncthreads();
    if (how == 1 && i < 40)
        __syncthreads();
    if (how == 2 && i != 3)
        __shfl_xor_sync(0xffffffffu, i, 1);
    else if (how == 2)
        __syncthreads();
    if (how == 3 && i % 2)
        __ballot_sync(0xffffffffu, 1);
    else if (how == 3)
        __syncwarp();
    if (how == 4 && i == 1)
        __syncwarp(1);
    if (how == 5)
        __trap();
}

static void a_barrier_not_reached_is_an_error(void **)
{
    static const char *const expected[] = {"have returned",        "have returned",   "never come",
                                           "different operations", "not in its mask", "__trap"};
    IN_EVERY_ORDER
    {
        for (int how = 0; how < 6; how++) {
            assert_int_equal(K_LAUNCH(k_divergent, 2, 64, 0, how), ORR_EDEVICE);
            assert_non_null(strstr(orr_error(), "k_divergent"));
            assert_non_null(strstr(orr_error(), expected[how]));
        }
        assert_int_equal(K_LAUNCH(k_divergent, 2, 64, 0, 6), 0); /* and it goes on */
    }
}

static void a_bad_launch_is_an_error(void **)
{
    assert_int_equal(K_LAUNCH(k_divergent, 0, 64, 0, 6), ORR_EDEVICE);
    assert_int_equal(K_LAUNCH(k_divergent, 1, 1025, 0, 6), ORR_EDEVICE);
    assert_int_equal(K_LAUNCH(k_divergent, 1, 64, 48 * 1024 + 1, 6), ORR_EDEVICE);
    assert_int_equal(
        cudaFuncSetAttribute(k_divergent, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024),
        cudaSuccess);
    assert_int_equal(K_LAUNCH(k_divergent, 1, 64, 100 * 1024, 6), 0);
    cudaGetLastError();
}

static __global__ void k_write_at(float *x, long i)
{
    x[i] = 1;
}

static __global__ void k_write_shared(int i, float *out)
{
    K_SHARED(float, x);
    x[i] = 1;
    out[0] = x[i];
}

/* What must end this process with a signal or a report of AddressSanitizer. */
static void dies(void (*what)(float *, int), float *x, int i)
{
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        signal(SIGSEGV, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr))
            _exit(0);
        what(x, i);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
}

static void write_on_host(float *x, int i)
{
    ((volatile float *)x)[i] = 1;
}

static void write_in_kernel(float *x, int i)
{
    K_LAUNCH(k_write_at, 1, 1, 0, x, (long)i);
}

static void write_shared(float *x, int i)
{
    K_LAUNCH(k_write_shared, 1, 1, 400, i, x);
}

static void out_of_bounds_is_an_error(void **)
{
    float *x = device(100);
    static const long places[] = {100, 101, 127, 128, 1000, -1, -100, -1500};
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        if (CUDA_HOST_ASAN) {
            if (labs(places[i]) <= 101)
                dies(write_in_kernel, x, (int)places[i]);
            continue;
        }
        assert_int_equal(K_LAUNCH(k_write_at, 1, 1, 0, x, places[i]), ORR_EDEVICE);
        assert_non_null(strstr(orr_error(), "k_write_at"));
        assert_non_null(strstr(orr_error(), "an allocation of 400 bytes"));
    }
    assert_int_equal(K_LAUNCH(k_write_at, 1, 1, 0, x, 99l), 0);
    /* dynamic shared memory */
    assert_int_equal(K_LAUNCH(k_write_shared, 1, 1, 400, 99, x), 0);
    if (CUDA_HOST_ASAN)
        dies(write_shared, x, 100);
    else
        assert_int_equal(K_LAUNCH(k_write_shared, 1, 1, 400, 100, x), ORR_EDEVICE);
    dies(write_on_host, x, 0);
    cudaGetLastError();
    cudaFree(x);
}

static void copies_out_of_bounds_are_errors(void **)
{
    float *x = device(100), host[101] = {0};
    assert_int_equal(cudaMemcpy(x, host, 404, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(host, x + 1, 400, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(host, host, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(x, x, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaMemset(x, 0, 401), cudaErrorInvalidValue);
    assert_int_equal(cudaFree(x + 1), cudaErrorInvalidValue);
    get(host, x, 400);
    assert_true(isnan(host[0])); /* nobody wrote to it yet */
    cudaGetLastError();
    cudaFree(x);
}

/* ---- speed: a test with a barrier per thread must not take long */

static __global__ void k_barriers(float *x, int times)
{
    __shared__ float y[256];
    float sum = 0;
    for (int i = 0; i < times; i++) {
        y[threadIdx.x] = sum + 1;
        __syncthreads();
        sum += y[(threadIdx.x + 1) % 256];
        __syncthreads();
    }
    x[threadIdx.x] = sum;
}

static void speed(void **)
{
    enum { TIMES = 2000 };
    float *x = device(256);
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    assert_int_equal(K_LAUNCH(k_barriers, 1, 256, 0, x, (int)TIMES), 0);
    clock_gettime(CLOCK_MONOTONIC, &to);
    const double ns = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
    print_message("a barrier costs %.0f ns a thread\n", ns / (2.0 * TIMES * 256));
    cudaFree(x);
}

/* ---- tensor cores and copies under way */

/* Where piece 0 or 1 of a row of 32 bytes lies, so that eight rows read at once touch all banks. */
static int swizzled(int row, int piece)
{
    return row * 16 + (piece ^ row / 4 % 2) * 8;
}

/* a (16, 16) and b (8, 16) row by row, of small whole numbers; sums (16, 8) = a b^T. */
static __global__ void k_tensor(float *sums, const __nv_bfloat16 *a, const __nv_bfloat16 *b)
{
    K_SHARED(__nv_bfloat16, tile);
    const int lane = (int)threadIdx.x;
    cuda_host_copy_async(tile + swizzled(lane / 2, lane % 2), a + 8 * lane, 16);
    if (lane < 16)
        cuda_host_copy_async(tile + 256 + swizzled(lane / 2, lane % 2), b + 8 * lane, 16);
    cuda_host_copy_commit();
    cuda_host_copy_wait(0);
    __syncthreads();
    unsigned x[4], y[4];
    float c[4] = {0, 0, 0, 0};
    cuda_host_ldmatrix(x, tile + swizzled(lane % 16, lane / 16), false);
    cuda_host_ldmatrix(y, tile + 256 + swizzled(lane % 8, lane / 8 % 2), false);
    cuda_host_mma(c, x, y);
    for (int i = 0; i < 4; i++)
        sums[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = c[i];
}

/* Column g and rows 2t, 2t + 1 of a matrix (8, 8) whose numbers say where they are. */
static __global__ void k_across(int *wrong)
{
    K_SHARED(uint16_t, tile);
    const int lane = (int)threadIdx.x;
    tile[lane] = (uint16_t)lane;
    tile[lane + 32] = (uint16_t)(lane + 32);
    __syncthreads();
    unsigned x[4];
    cuda_host_ldmatrix(x, tile + lane % 8 * 8, true);
    const unsigned first = (unsigned)(lane % 4 * 2 * 8 + lane / 4);
    wrong[lane] = x[0] != (first | (first + 8) << 16);
}

static void tensor_cores(void **)
{
    __nv_bfloat16 a[256], b[128];
    float *sums = device(128), *on_device = device(192), host[128];
    int wrong[32];
    for (int i = 0; i < 256; i++)
        a[i] = __float2bfloat16_rn((float)(i * 7 % 23 - 11));
    for (int i = 0; i < 128; i++)
        b[i] = __float2bfloat16_rn((float)(i * 5 % 19 - 9));
    put(on_device, a, sizeof(a));
    put(on_device + 128, b, sizeof(b));
    IN_EVERY_ORDER
    {
        assert_int_equal(K_LAUNCH(k_tensor, 1, 32, 1024, sums, (const __nv_bfloat16 *)on_device,
                                  (const __nv_bfloat16 *)(on_device + 128)),
                         0);
        get(host, sums, sizeof(host));
        for (int row = 0; row < 16; row++)
            for (int column = 0; column < 8; column++) {
                float expected = 0;
                for (int k = 0; k < 16; k++)
                    expected +=
                        __bfloat162float(a[row * 16 + k]) * __bfloat162float(b[column * 16 + k]);
                assert_true(host[row * 8 + column] == expected);
            }
        assert_int_equal(K_LAUNCH(k_across, 1, 32, 128, (int *)sums), 0);
        get(wrong, sums, sizeof(wrong));
        for (int i = 0; i < 32; i++)
            assert_int_equal(wrong[i], 0);
    }
    cudaFree(sums);
    cudaFree(on_device);
}

/* What a thread sees of its copy while it waits for `later` groups too few, and after. */
static __global__ void k_early(float *seen, const float *from, int later)
{
    K_SHARED(float, tile);
    cuda_host_copy_async(tile, from, 16);
    cuda_host_copy_commit();
    cuda_host_copy_async(tile + 4, from, 0);
    cuda_host_copy_commit();
    cuda_host_copy_wait(later);
    seen[0] = tile[0];
    seen[1] = tile[4];
    cuda_host_copy_wait(0);
    seen[2] = tile[4];
}

static __global__ void k_left(const float *from)
{
    K_SHARED(float, tile);
    cuda_host_copy_async(tile, from, 16);
}

static __global__ void k_unaligned(const float *from)
{
    K_SHARED(float, tile);
    cuda_host_copy_async(tile + 1, from, 16);
}

/* Rows of 32 bytes one behind the other: rows 0 and 4 lie in the same banks. */
static __global__ void k_conflict(int copies, const float *from)
{
    K_SHARED(uint16_t, tile);
    const int lane = (int)threadIdx.x;
    unsigned x[4];
    if (copies) {
        cuda_host_copy_async(tile + lane % 8 * 16 + lane / 8 * 8, from, 16);
        cuda_host_copy_commit();
        cuda_host_copy_wait(0);
    } else {
        cuda_host_ldmatrix(x, tile + lane % 8 * 16 + lane / 8 % 2 * 8, false);
    }
}

static void conflicts_of_banks(void **)
{
    float *from = device(4);
    for (int copies = 0; copies < 2; copies++) {
        assert_int_equal(K_LAUNCH(k_conflict, 1, 32, 512, copies, (const float *)from),
                         ORR_EDEVICE);
        assert_non_null(strstr(orr_error(), copies ? "cp.async of eight lanes to the same banks"
                                                   : "ldmatrix of rows that share banks"));
        cudaGetLastError();
    }
    cudaFree(from);
}

static void copies_under_way(void **)
{
    const float numbers[4] = {5, 6, 7, 8};
    float *from = device(4), *seen = device(3), host[3];
    put(from, numbers, sizeof(numbers));
    assert_int_equal(K_LAUNCH(k_early, 1, 1, 32, seen, (const float *)from, 2), 0);
    get(host, seen, sizeof(host));
    assert_true(isnan(host[0]) && isnan(host[1]) && host[2] == 0);
    assert_int_equal(K_LAUNCH(k_early, 1, 1, 32, seen, (const float *)from, 1), 0);
    get(host, seen, sizeof(host));
    assert_true(host[0] == 5 && isnan(host[1]) && host[2] == 0);
    assert_int_equal(K_LAUNCH(k_left, 1, 1, 16, (const float *)from), ORR_EDEVICE);
    assert_non_null(strstr(orr_error(), "copies under way"));
    assert_int_equal(K_LAUNCH(k_unaligned, 1, 1, 32, (const float *)from), ORR_EDEVICE);
    assert_non_null(strstr(orr_error(), "not aligned"));
    cudaGetLastError();
    cudaFree(from);
    cudaFree(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grid_stride_loops),
        cmocka_unit_test(three_dimensions),
        cmocka_unit_test(block_reduction),
        cmocka_unit_test(scan),
        cmocka_unit_test(transpose),
        cmocka_unit_test(votes),
        cmocka_unit_test(bfloat16),
        cmocka_unit_test(graphs),
        cmocka_unit_test(tensor_cores),
        cmocka_unit_test(copies_under_way),
        cmocka_unit_test(conflicts_of_banks),
        cmocka_unit_test(a_race_shows),
        cmocka_unit_test(a_barrier_not_reached_is_an_error),
        cmocka_unit_test(a_bad_launch_is_an_error),
        cmocka_unit_test(out_of_bounds_is_an_error),
        cmocka_unit_test(copies_out_of_bounds_are_errors),
        cmocka_unit_test(speed),
    };
    return cmocka_run_group_tests_name("emulation", tests, NULL, NULL);
}
