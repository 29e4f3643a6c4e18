/* test_matmul.cc - matmul.cu on the stand-in for cuBLASLt: every layout, precision and extra beside
 * sums in double; shapes of the presets; no algorithm; a failure of every call of the library. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/matmul.h"

extern "C" {
#include "stage/settings.h"
#include "kernels/kernels.h"
#include <cmocka.h>
}

#include "cublasLt.h"

static const struct k_ops *ops;

static float draw(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) * 0x1p-23f - 1.0f;
}

/* ---- a product on the device and on the host */

enum { OUT, A, B, ADD, BIAS, TENSORS };
struct test_case {
    int M, N, K;
    enum k_precision precision;
    bool a_transposed, b_transposed, add, in_place, bias, a_bf16, b_bf16, out_bf16;
    size_t shift; /* numbers that operands are off their alignment */
};

struct tensors {
    void *memory[TENSORS], *bf16[TENSORS];
    float *host[TENSORS]; /* as the device has it, rounded where it is bf16 */
    size_t n[TENSORS];
};

static size_t length(const struct test_case *c, int tensor)
{
    const size_t M = (size_t)c->M, N = (size_t)c->N, K = (size_t)c->K;
    const size_t n[TENSORS] = {M * N, M * K, K * N, M * N, N};
    return n[tensor];
}

static void *device(const void *from, size_t bytes, size_t shift)
{
    void *memory;
    assert_int_equal(cudaMalloc(&memory, bytes + shift), cudaSuccess);
    memory = (char *)memory + shift;
    if (from)
        assert_int_equal(cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice), cudaSuccess);
    return memory;
}

static void make(const struct test_case *c, struct tensors *t)
{
    uint32_t state = 7;
    const bool bf16[TENSORS] = {c->out_bf16, c->a_bf16, c->b_bf16, false, c->out_bf16};
    memset(t, 0, sizeof(*t));
    for (int i = 0; i < TENSORS; i++) {
        const size_t n = length(c, i);
        t->n[i] = n;
        t->host[i] = (float *)calloc(n, sizeof(float));
        __nv_bfloat16 *h = (__nv_bfloat16 *)calloc(n, sizeof(*h));
        for (size_t k = 0; k < n; k++) {
            h[k] = __float2bfloat16_rn(t->host[i][k] = draw(&state));
            if (bf16[i])
                t->host[i][k] = __bfloat162float(h[k]);
        }
        /* the output is NaN before: beta = 0 must not read it */
        t->memory[i] = device(i == OUT && !c->in_place ? NULL : t->host[i], n * sizeof(float),
                              c->shift * sizeof(float));
        if (bf16[i])
            t->bf16[i] = device(i == OUT ? NULL : h, n * sizeof(*h), c->shift * sizeof(*h));
        free(h);
    }
}

static void drop(const struct test_case *c, struct tensors *t)
{
    for (int i = 0; i < TENSORS; i++) {
        cudaFree((char *)t->memory[i] - c->shift * sizeof(float));
        if (t->bf16[i])
            cudaFree((char *)t->bf16[i] - c->shift * sizeof(__nv_bfloat16));
        free(t->host[i]);
    }
}

static struct k_cuda_matmul matmul_of(const struct test_case *c, const struct tensors *t)
{
    struct k_cuda_matmul m = {};
    m.M = c->M;
    m.N = c->N;
    m.K = c->K;
    m.precision = c->precision;
    m.a_transposed = c->a_transposed;
    m.b_transposed = c->b_transposed;
    m.a = (const float *)t->memory[A];
    m.b = (const float *)t->memory[B];
    m.a_bf16 = (const __nv_bfloat16 *)t->bf16[A];
    m.b_bf16 = (const __nv_bfloat16 *)t->bf16[B];
    m.a_stride = c->a_transposed ? c->M : c->K;
    m.b_stride = c->b_transposed ? c->K : c->N;
    m.out = (float *)t->memory[OUT];
    m.out_bf16 = (__nv_bfloat16 *)t->bf16[OUT];
    m.add = c->in_place ? m.out : c->add ? (const float *)t->memory[ADD] : NULL;
    m.bias = c->bias ? (const float *)t->memory[BIAS] : NULL;
    m.bias_bf16 = c->bias ? (const __nv_bfloat16 *)t->bf16[BIAS] : NULL;
    return m;
}

/* Bits that inputs keep: each rounding is half a unit of these, and there are two in a product. */
static double unit_of(const struct test_case *c)
{
    return c->precision == K_PRECISION_BF16 || c->a_bf16 || c->b_bf16 ? 0x1p-8
           : c->precision == K_PRECISION_TF32                         ? 0x1p-11
                                                                      : 0;
}

/* Every number within what roundings of inputs, float sums and the output's rounding may do. */
static void check_numbers(const struct test_case *c, const struct tensors *t)
{
    const size_t M = (size_t)c->M, N = (size_t)c->N, K = (size_t)c->K, n = M * N;
    float *found = (float *)calloc(n, sizeof(float));
    __nv_bfloat16 *h = (__nv_bfloat16 *)calloc(n, sizeof(*h));
    if (c->out_bf16)
        cudaMemcpy(h, t->bf16[OUT], n * sizeof(*h), cudaMemcpyDeviceToHost);
    else
        cudaMemcpy(found, t->memory[OUT], n * sizeof(float), cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < n; i++) {
        double sum = 0, sizes = 0;
        for (size_t k = 0; k < K; k++) {
            const double x = (double)t->host[A][c->a_transposed ? k * M + i / N : i / N * K + k] *
                             (double)t->host[B][c->b_transposed ? i % N * K + k : k * N + i % N];
            sum += x;
            sizes += fabs(x);
        }
        sum += (c->in_place ? (double)t->host[OUT][i] : 0) +
               (c->add ? (double)t->host[ADD][i] : 0) +
               (c->bias ? (double)t->host[BIAS][i % N] : 0);
        const double x = (double)(c->out_bf16 ? __bfloat162float(h[i]) : found[i]);
        const double allowed = sizes * (2.01 * unit_of(c) / 2 + 0x1p-23 * (double)(K / 32 + 34)) +
                               0x1p-22 + (c->out_bf16 ? 0x1p-8 * fabs(sum) : 0);
        if (!(fabs(x - sum) <= allowed))
            fail_msg("(%d, %d, %d), precision %d, across %d %d: number %zu is %g, not %g within %g",
                     c->M, c->N, c->K, (int)c->precision, c->a_transposed, c->b_transposed, i, x,
                     sum, allowed);
    }
    free(found);
    free(h);
}

static void run(const struct test_case *c)
{
    struct tensors t;
    make(c, &t);
    const struct k_cuda_matmul m = matmul_of(c, &t);
    if (k_cuda_matmul(&m))
        fail_msg("%s", orr_error());
    check_numbers(c, &t);
    drop(c, &t);
}

static const enum k_precision precisions[] = {K_PRECISION_FP32, K_PRECISION_TF32, K_PRECISION_BF16};

/* One of 96 cases: layouts, precisions, what is added, which tensors are bf16. */
static struct test_case nth(int i, int M, int N, int K)
{
    struct test_case c = {M,
                          N,
                          K,
                          precisions[i % 3],
                          (i / 3) % 2 != 0,
                          (i / 6) % 2 != 0,
                          false,
                          false,
                          false,
                          false,
                          false,
                          false,
                          0};
    const int extra = i / 12;
    c.add = extra == 1;
    c.in_place = extra == 2;
    c.bias = extra == 3 || extra == 5 || extra == 6;
    c.a_bf16 = extra >= 4;
    c.b_bf16 = extra >= 5;
    c.out_bf16 = extra >= 6;
    return c;
}
enum { CASES = 96 };

/* ---- what it computes */

static void every_kind_of_product(void **)
{
    static const int shapes[][3] = {{33, 24, 40}, {8, 16, 65}, {1, 8, 8}, {70, 1, 3}, {5, 40, 129}};
    for (const int *s : shapes)
        for (int i = 0; i < CASES; i++) {
            struct test_case c = nth(i, s[0], s[1], s[2]);
            run(&c);
            if (i % 7 == 0) { /* operands that are not aligned as kernels want them */
                c.shift = 1;
                run(&c);
            }
        }
}

/* The plain product and the bias by a kernel of its own stand in. */
static void no_algorithm(void **)
{
    const long before = cublaslt_host_products();
    ops->close();
    assert_int_equal(ops->open(1, K_PRECISION_BF16), 0);
    cublaslt_host_choose(CUBLASLT_HOST_NONE);
    for (int i = 0; i < CASES; i++) {
        const struct test_case c = nth(i, 19, 24, 33);
        run(&c);
    }
    assert_int_equal(cublaslt_host_products(), before);
    cublaslt_host_choose(CUBLASLT_HOST_MOST);
}

/* A plan is of a shape; the bias and the operands are of the call. */
static void plans_are_not_stale(void **)
{
    struct test_case c = nth(36, 64, 64, 64);
    for (int round = 0; round < 3; round++) {
        struct tensors t;
        make(&c, &t);
        float *bias = t.host[BIAS];
        for (int i = 0; i < c.N; i++)
            bias[i] = (float)(round + 1) * 100 + (float)i;
        cudaMemcpy(t.memory[BIAS], bias, (size_t)c.N * sizeof(float), cudaMemcpyHostToDevice);
        const struct k_cuda_matmul m = matmul_of(&c, &t);
        const long before = cublaslt_host_products();
        assert_int_equal(k_cuda_matmul(&m), 0);
        assert_int_equal(cublaslt_host_products(), before + 1);
        check_numbers(&c, &t);
        if (round != 1) /* the next ones lie elsewhere */
            drop(&c, &t);
    }
}

/* More shapes than there is room for, and back to the first. */
static void many_shapes(void **)
{
    for (int round = 0; round < 2; round++)
        for (int k = 1; k <= 500; k++) {
            const struct test_case c = nth(k % 2 ? 0 : 37, 2, 8, k);
            if (round == 0 || k % 50 == 1)
                run(&c);
        }
    assert_true(cublaslt_host_alive() < 4 * 400);
}

/* ---- shapes of the presets, which are checked and not computed */

/* (nothing is read or written, and all operands are one piece of memory) */
static void product(int M, int N, int K, const char *preset)
{
    void *memory = device(NULL, 256, 0);
    for (int i = 0; i < CASES; i++) {
        const struct test_case c = nth(i, M, N, K);
        struct tensors t = {};
        const int bf16 = c.a_bf16 && c.b_bf16;
        if (c.precision == K_PRECISION_BF16 && !bf16) /* a kernel would round the operands */
            continue;
        if (c.a_bf16 != c.b_bf16 || ((c.a_transposed ? M : K) | (c.b_transposed ? K : N)) % 8)
            continue;
        for (int k = 0; k < TENSORS; k++)
            t.memory[k] = memory;
        t.bf16[A] = c.a_bf16 ? memory : NULL;
        t.bf16[B] = c.b_bf16 ? memory : NULL;
        t.bf16[OUT] = t.bf16[BIAS] = c.out_bf16 ? memory : NULL;
        const struct k_cuda_matmul m = matmul_of(&c, &t);
        const long before = cublaslt_host_products();
        if (k_cuda_matmul(&m))
            fail_msg("%s, (%d, %d, %d): %s", preset, M, N, K, orr_error());
        assert_int_equal(cublaslt_host_products(), before + 1);
    }
    cudaFree(memory);
}

static void shapes_of_the_presets(void **)
{
    static const char *const names[] = {"smoke", "quick", "laptop", "gpu", "vafa2025"};
    cublaslt_host_choose(CUBLASLT_HOST_ALL);
    cublaslt_host_only_check(1);
    for (const char *name : names) {
        struct orr_settings p;
        if (orr_settings_load(&p, name))
            fail_msg("%s", orr_error());
        const int rows = p.pretrain.batch * (p.orbits.positions - 1), C = p.model.width,
                  V = p.orbits.bins;
        product(rows, 3 * C, C, name);
        product(rows, C, C, name);
        product(rows, 4 * C, C, name);
        product(rows, C, 4 * C, name);
        product(C, 4 * C, rows, name);
        product(4 * C, C, rows, name);
        product(1024, (V + 7) / 8 * 8, C, name); /* a chunk of a head's rows */
    }
    cublaslt_host_only_check(0);
    cublaslt_host_choose(CUBLASLT_HOST_MOST);
}

/* ---- failures */

/* The n-th call of the library fails, for every n: an error each time, nothing is lost, and the
 * next product is right. */
static void every_call_fails(void **)
{
    static const int statuses[] = {CUBLAS_STATUS_INTERNAL_ERROR, CUBLAS_STATUS_ALLOC_FAILED};
    const struct test_case c = nth(39, 24, 40, 33); /* with a bias: the most calls */
    struct tensors t;
    int calls[2] = {0, 0};
    make(&c, &t);
    const struct k_cuda_matmul m = matmul_of(&c, &t);
    for (int s = 0; s < 2; s++)
        for (int n = 1;; n++) {
            ops->close();
            assert_int_equal(cublaslt_host_alive(), 0);
            assert_int_equal(ops->open(1, K_PRECISION_FP32), 0);
            cublaslt_host_fail(n, statuses[s]);
            const int rc = k_cuda_matmul(&m);
            if (cublaslt_host_calls() < n) { /* no call was left to fail */
                assert_int_equal(rc, 0);
                calls[s] = n - 1;
                break;
            }
            assert_int_equal(rc, s ? ORR_ENOMEM : ORR_EDEVICE);
            assert_non_null(strstr(orr_error(), "cuBLASLt"));
            cublaslt_host_fail(0, 0);
            assert_int_equal(k_cuda_matmul(&m), 0);
            check_numbers(&c, &t);
        }
    cublaslt_host_fail(0, 0);
    assert_true(calls[0] >= 16 && calls[0] == calls[1]);
    drop(&c, &t);
}

static int open_backend(void **)
{
    return k_find("cuda", &ops) || ops->open(1, K_PRECISION_FP32);
}

static int close_backend(void **)
{
    ops->close();
    return cublaslt_host_alive();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_product), cmocka_unit_test(no_algorithm),
        cmocka_unit_test(plans_are_not_stale),   cmocka_unit_test(many_shapes),
        cmocka_unit_test(shapes_of_the_presets), cmocka_unit_test(every_call_fails),
    };
    return cmocka_run_group_tests_name("products by the library", tests, open_backend,
                                       close_backend);
}
