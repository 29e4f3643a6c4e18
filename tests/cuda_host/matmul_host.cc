/* matmul_host.cc - matmul.h without a GPU: loops, with the rounding that was asked for. */
#include "kernels/cuda/matmul.h"

#include <stdlib.h>
#include <time.h>

enum { PLAIN = 20000, CHUNK = 64, PEAK = 256 };

/* TF32 keeps 10 bits of the fraction. */
static float tf32(float x)
{
    const unsigned u = __float_as_uint(x);
    return isfinite(x) ? __uint_as_float((u + 0xfffu + ((u >> 13) & 1u)) & ~0x1fffu) : x;
}

struct product {
    struct k_cuda_matmul m;
    const __nv_bfloat16 *a, *b; /* NULL: m.a, m.b */
    int a_stride, b_stride;
};

static float element(const struct k_cuda_matmul *m, const float *x, const __nv_bfloat16 *h,
                     size_t at, size_t at_rounded)
{
    return h                                  ? __bfloat162float(h[at_rounded])
           : m->precision == K_PRECISION_TF32 ? tf32(x[at])
                                              : x[at];
}

/* (rows, cols) in the order of the product, from (rows, cols) or its transpose. */
static float *gather(const struct k_cuda_matmul *m, const float *x, const __nv_bfloat16 *h,
                     int stride, bool transposed, size_t rows, size_t cols)
{
    float *y = (float *)malloc(rows * cols * sizeof(float));
    if (!y)
        abort();
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            y[r * cols + c] = transposed ? element(m, x, h, c * rows + r, c * (size_t)stride + r)
                                         : element(m, x, h, r * cols + c, r * (size_t)stride + c);
    return y;
}

/* Float sums of 64 products, added up: about as a GPU does it. */
static void multiply(const void *arguments)
{
    const struct product *p = (const struct product *)arguments;
    const struct k_cuda_matmul *m = &p->m;
    const size_t M = (size_t)m->M, N = (size_t)m->N, K = (size_t)m->K;
    float *a = gather(m, m->a, p->a, p->a_stride, m->a_transposed, M, K);
    float *b = gather(m, m->b, p->b, p->b_stride, m->b_transposed, K, N);
    float *sum = (float *)malloc(2 * N * sizeof(float)), *part = sum + N;
    if (!sum)
        abort();
    for (size_t i = 0; i < M; i++) {
        memset(sum, 0, N * sizeof(float));
        for (size_t from = 0; from < K; from += CHUNK) {
            memset(part, 0, N * sizeof(float));
            for (size_t k = from; k < K && k < from + CHUNK; k++) {
                const float x = a[i * K + k];
                for (size_t n = 0; n < N; n++)
                    part[n] += x * b[k * N + n];
            }
            for (size_t n = 0; n < N; n++)
                sum[n] += part[n];
        }
        for (size_t n = 0; n < N; n++) {
            float x = m->add ? sum[n] + m->add[i * N + n] : sum[n];
            if (m->bias && m->out_narrow)
                x += __bfloat162float(m->bias_narrow[n]);
            else if (m->bias)
                x += m->bias[n];
            if (m->out_narrow)
                m->out_narrow[i * N + n] = __float2bfloat16_rn(x);
            else
                m->out[i * N + n] = x;
        }
    }
    free(a);
    free(b);
    free(sum);
}

int k_cuda_matmul(const struct k_cuda_matmul *m)
{
    struct product p = {};
    p.m = *m;
    if (!m->M || !m->N)
        return 0;
    if (!k_cuda_bias_rides(m))
        return k_cuda_matmul_then_bias(m);
    /* what the GPU's library refuses takes this way */
    const bool unrounded =
        k_cuda_is_bf16(m) ? m->a_narrow && m->b_narrow : m->precision == K_PRECISION_FP32;
    if (unrounded && (double)m->M * m->N * m->K <= PLAIN)
        return k_cuda_matmul_plain(m);
    if (!k_cuda_is_bf16(m))
        return cuda_host_do("matmul", multiply, &p, sizeof(p));
    struct k_cuda_operand a, b;
    const int rc = k_cuda_operands(m, &a, &b);
    if (rc)
        return rc;
    p.a = a.x;
    p.b = b.x;
    p.a_stride = a.stride;
    p.b_stride = b.stride;
    return cuda_host_do("matmul", multiply, &p, sizeof(p));
}

int k_cuda_matmul_peak(double *gflops)
{
    void *memory;
    int rc = k_cuda_check(cudaMalloc(&memory, 3 * PEAK * PEAK * sizeof(float)), "peak");
    if (rc)
        return rc;
    struct k_cuda_matmul m = {};
    m.M = m.N = m.K = PEAK;
    m.a = (float *)memory;
    m.b = m.a + PEAK * PEAK;
    m.out = (float *)memory + 2 * PEAK * PEAK;
    struct timespec from, to;
    rc = k_cuda_check(cudaMemset(memory, 0, 3 * PEAK * PEAK * sizeof(float)), "peak");
    clock_gettime(CLOCK_MONOTONIC, &from);
    if (!rc)
        rc = k_cuda_matmul(&m);
    clock_gettime(CLOCK_MONOTONIC, &to);
    const double ns = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
    *gflops = 2.0 * PEAK * PEAK * PEAK / ns;
    cudaFree(memory);
    return rc;
}

void k_cuda_matmul_close(void)
{
}
