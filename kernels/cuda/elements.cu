/* elements.cu - operations of the CUDA backend on single elements: sums, factors, the gradient of
 * GELU, output gates, RoPE.
 *
 * They are limited by memory bandwidth: they move 16 bytes at a time where the pointers are
 * aligned, and the last few elements one by one. */
#include "reduce.h"
#include "kernels/scalar.h"

enum { THREADS = 256 };

/* ---- out = f(a, b); out may be a or b: the thread that writes an element has read it before */

enum element { ADD, SCALE, GELU_BACKWARD, GATE_SIGMOID, GATE_SOFTPLUS };

template <enum element F> static __device__ __forceinline__ float element_of(float a, float b)
{
    switch (F) {
    case ADD:
        return a + b;
    case SCALE:
        return a * b;
    case GELU_BACKWARD: /* dout, pre */
        return a * k_gelu_slope(b);
    case GATE_SIGMOID: /* y, pre */
        return a * k_gate_of(K_GATE_SIGMOID, b);
    case GATE_SOFTPLUS:
        return a * k_gate_of(K_GATE_SOFTPLUS, b);
    }
    return 0;
}

/* When b is NULL, `factor` is used in its place. */
template <enum element F, bool WIDE>
static __global__ void element_kernel(float *out, const float *a, const float *b, float factor,
                                      size_t n)
{
    size_t done = 0;
    if (WIDE) {
        for (size_t i = k_cuda_first(); i < n / 4; i += k_cuda_step()) {
            const float4 x = ((const float4 *)a)[i];
            const float4 y =
                b ? ((const float4 *)b)[i] : make_float4(factor, factor, factor, factor);
            ((float4 *)out)[i] = make_float4(element_of<F>(x.x, y.x), element_of<F>(x.y, y.y),
                                             element_of<F>(x.z, y.z), element_of<F>(x.w, y.w));
        }
        done = n / 4 * 4;
    }
    for (size_t i = done + k_cuda_first(); i < n; i += k_cuda_step())
        out[i] = element_of<F>(a[i], b ? b[i] : factor);
}

template <enum element F>
static int element_run(float *out, const float *a, const float *b, float factor, size_t n)
{
    if (n == 0)
        return 0;
    if (k_cuda_aligned(out) && k_cuda_aligned(a) && k_cuda_aligned(b))
        return K_LAUNCH((element_kernel<F, true>), k_cuda_blocks((n + 3) / 4, THREADS), THREADS, 0,
                        out, a, b, factor, n);
    return K_LAUNCH((element_kernel<F, false>), k_cuda_blocks(n, THREADS), THREADS, 0, out, a, b,
                    factor, n);
}

static int cuda_gelu_backward(float *dpre, const float *dout, const float *pre, size_t n)
{
    return element_run<GELU_BACKWARD>(dpre, dout, pre, 0, n);
}

static int cuda_add(float *out, const float *a, const float *b, size_t n)
{
    return element_run<ADD>(out, a, b, 0, n);
}

static int cuda_scale(float *x, double factor, size_t n)
{
    return element_run<SCALE>(x, x, NULL, (float)factor, n);
}

/* ---- output gates */

static int copy_tensor(float *to, const float *from, size_t n)
{
    if (to == from || n == 0)
        return 0;
    return k_cuda_check(
        cudaMemcpyAsync(to, from, n * sizeof *to, cudaMemcpyDeviceToDevice, k_cuda_stream()),
        "copying a tensor");
}

static int cuda_gate_forward(const struct k_gating *g)
{
    switch (g->act) {
    case K_GATE_SIGMOID:
        return element_run<GATE_SIGMOID>(g->out, g->y, g->pre, 0, g->n);
    case K_GATE_SOFTPLUS:
        return element_run<GATE_SOFTPLUS>(g->out, g->y, g->pre, 0, g->n);
    case K_GATE_NONE:
        break;
    }
    return copy_tensor(g->out, g->y, g->n);
}

/* dy may be dout: the thread that writes an element of dy has read dout before. */
template <enum k_gate ACT>
static __device__ __forceinline__ void gate_backward_of(float *dy, float *dpre, float d, float y,
                                                        float pre)
{
    *dpre = d * y * k_gate_slope(ACT, pre);
    *dy = d * k_gate_of(ACT, pre);
}

template <enum k_gate ACT, bool WIDE>
static __global__ void gate_backward_kernel(const struct k_gating g)
{
    size_t done = 0;
    if (WIDE) {
        for (size_t i = k_cuda_first(); i < g.n / 4; i += k_cuda_step()) {
            const float4 d = ((const float4 *)g.dout)[i], v = ((const float4 *)g.y)[i];
            const float4 p = ((const float4 *)g.pre)[i];
            float4 a, b;
            gate_backward_of<ACT>(&a.x, &b.x, d.x, v.x, p.x);
            gate_backward_of<ACT>(&a.y, &b.y, d.y, v.y, p.y);
            gate_backward_of<ACT>(&a.z, &b.z, d.z, v.z, p.z);
            gate_backward_of<ACT>(&a.w, &b.w, d.w, v.w, p.w);
            ((float4 *)g.dpre)[i] = b;
            ((float4 *)g.dy)[i] = a;
        }
        done = g.n / 4 * 4;
    }
    for (size_t i = done + k_cuda_first(); i < g.n; i += k_cuda_step()) {
        float a, b;
        gate_backward_of<ACT>(&a, &b, g.dout[i], g.y[i], g.pre[i]);
        g.dpre[i] = b;
        g.dy[i] = a;
    }
}

template <enum k_gate ACT> static int gate_backward(const struct k_gating *g)
{
    if (g->n == 0)
        return 0;
    if (k_cuda_aligned(g->dy) && k_cuda_aligned(g->dpre) && k_cuda_aligned(g->dout) &&
        k_cuda_aligned(g->y) && k_cuda_aligned(g->pre))
        return K_LAUNCH((gate_backward_kernel<ACT, true>), k_cuda_blocks((g->n + 3) / 4, THREADS),
                        THREADS, 0, *g);
    return K_LAUNCH((gate_backward_kernel<ACT, false>), k_cuda_blocks(g->n, THREADS), THREADS, 0,
                    *g);
}

static int cuda_gate_backward(const struct k_gating *g)
{
    switch (g->act) {
    case K_GATE_SIGMOID:
        return gate_backward<K_GATE_SIGMOID>(g);
    case K_GATE_SOFTPLUS:
        return gate_backward<K_GATE_SOFTPLUS>(g);
    case K_GATE_NONE:
        break;
    }
    TRY(k_cuda_check(cudaMemsetAsync(g->dpre, 0, g->n * sizeof *g->dpre, k_cuda_stream()),
                     "clearing"));
    return copy_tensor(g->dy, g->dout, g->n);
}

/* ---- RoPE: a table of rotations in double, then the multiplications */

/* table (T, D/2) = cosine and sine of the angle of position t. */
static __global__ void rope_table_kernel(float2 *table, const struct k_rope r)
{
    const size_t half = (size_t)r.D / 2;
    for (size_t i = k_cuda_first(); i < (size_t)r.T * half; i += k_cuda_step()) {
        const double frequency = pow(r.base, -2.0 * (double)(i % half) / r.D);
        const double angle = ((double)(i / half) + r.offset) * frequency;
        table[i] = make_float2((float)cos(angle), (float)(r.inverse ? -sin(angle) : sin(angle)));
    }
}

/* A block takes rows n of qkv (N = B T, 3, H, D) and rotates their queries and keys. */
static __global__ void rope_kernel(float *qkv, const float2 *table, size_t N, int T, int H, int D)
{
    const unsigned half = (unsigned)D / 2, pairs = 2 * (unsigned)H * half;
    for (size_t n = blockIdx.x; n < N; n += gridDim.x) {
        const float2 *rotation = table + n % (size_t)T * half;
        float *row = qkv + n * 3 * (size_t)H * (size_t)D;
        for (unsigned i = threadIdx.x; i < pairs; i += blockDim.x) {
            const unsigned head = i / half, m = i - head * half;
            float *x = row + (size_t)head * (size_t)D + m;
            const float u = x[0], v = x[half];
            const float2 r = rotation[m];
            x[0] = u * r.x - v * r.y;
            x[half] = u * r.y + v * r.x;
        }
    }
}

static int cuda_rope(float *qkv, const struct k_rope *r)
{
    const size_t N = (size_t)r->B * (size_t)r->T, count = (size_t)r->T * ((size_t)r->D / 2);
    if (N == 0 || r->H == 0 || count == 0)
        return 0;
    void *table;
    TRY(k_cuda_scratch(K_CUDA_SLOT_PARTIAL, count * sizeof(float2), &table));
    TRY(K_LAUNCH(rope_table_kernel, k_cuda_blocks(count, THREADS), THREADS, 0, (float2 *)table,
                 *r));
    return K_LAUNCH(rope_kernel, k_cuda_blocks(N * THREADS, THREADS), THREADS, 0, qkv,
                    (const float2 *)table, N, r->T, r->H, r->D);
}

void k_cuda_install_elements(struct k_ops *ops)
{
    ops->add = cuda_add;
    ops->scale = cuda_scale;
    ops->gate_forward = cuda_gate_forward;
    ops->gate_backward = cuda_gate_backward;
    ops->rope = cuda_rope;
    ops->gelu_backward = cuda_gelu_backward;
}
