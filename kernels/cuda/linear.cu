/* linear.cu - linear layers: matmuls, and what cuBLASLt's epilogues do not give.
 *
 * out (N, OC) = inp (N, C) W^T: W is (OC, C), so B is transposed; dinp = dout W is plain; dW =
 * dout^T inp has A transposed and adds to itself. Biases and residuals ride along in the product.
 * GELU does not: the library's epilogue is the tanh approximation and this project's is the exact
 * form, so that models are the same on every backend. The bias of such a layer is added by the
 * GELU's kernel, which reads the numbers anyway. */
#include <math.h>

#include "matmul.h"

enum { THREADS = 256, SUM_COLUMNS = 32, SUM_ROWS = 8, SUM_CHUNK = 64, SUM_CHUNKS = 128 };

/* ---- GELU */

/* x Phi(x); erfc keeps the digits of the lower tail. */
static __device__ __forceinline__ float gelu(float x)
{
    return 0.5f * x * erfcf(-0.70710678f * x);
}

/* pre += bias, out = gelu(pre); rows of `columns` numbers, a block to a row. */
static __global__ void __launch_bounds__(THREADS)
    k_bias_gelu(float *__restrict__ out, float *__restrict__ pre, const float *__restrict__ bias,
                int rows, int columns)
{
    for (int row = (int)blockIdx.x; row < rows; row += (int)gridDim.x)
        for (int c = (int)threadIdx.x; c < columns; c += (int)blockDim.x) {
            const size_t i = (size_t)row * (size_t)columns + (size_t)c;
            const float x = pre[i] + (bias ? bias[c] : 0);
            if (bias)
                pre[i] = x;
            out[i] = gelu(x);
        }
}

/* The same, four numbers to a thread; columns: in fours. */
static __global__ void __launch_bounds__(THREADS)
    k_bias_gelu4(float4 *__restrict__ out, float4 *__restrict__ pre,
                 const float4 *__restrict__ bias, int rows, int columns)
{
    for (int row = (int)blockIdx.x; row < rows; row += (int)gridDim.x)
        for (int c = (int)threadIdx.x; c < columns; c += (int)blockDim.x) {
            const size_t i = (size_t)row * (size_t)columns + (size_t)c;
            float4 x = pre[i];
            if (bias) {
                const float4 b = bias[c];
                x = make_float4(x.x + b.x, x.y + b.y, x.z + b.z, x.w + b.w);
                pre[i] = x;
            }
            out[i] = make_float4(gelu(x.x), gelu(x.y), gelu(x.z), gelu(x.w));
        }
}

static bool aligned(const void *p)
{
    return (uintptr_t)p % sizeof(float4) == 0;
}

/* Whole warps, not many more threads than a row has numbers. */
static int threads_for(int columns)
{
    const int threads = (columns + K_WARP - 1) / K_WARP * K_WARP;
    return threads < THREADS ? threads : (int)THREADS;
}

static int bias_gelu(float *out, float *pre, const float *bias, int N, int OC)
{
    if (OC % 4 == 0 && aligned(out) && aligned(pre) && aligned(bias))
        return K_LAUNCH(k_bias_gelu4, N, threads_for(OC / 4), 0, (float4 *)out, (float4 *)pre,
                        (const float4 *)bias, N, OC / 4);
    return K_LAUNCH(k_bias_gelu, N, threads_for(OC), 0, out, pre, bias, N, OC);
}

/* ---- sums of columns: chunks of rows, then the chunks, always in this order */

/* partial (chunks, columns): block (x, y) sums `chunk` rows of 32 columns. Threads (32, 8): each
 * takes every eighth row. */
static __global__ void __launch_bounds__(SUM_COLUMNS *SUM_ROWS)
    k_column_partial(float *__restrict__ partial, const float *__restrict__ x, int rows,
                     int columns, int chunk)
{
    __shared__ float sums[SUM_ROWS][SUM_COLUMNS];
    const int column = (int)(blockIdx.x * SUM_COLUMNS + threadIdx.x);
    const int first = (int)blockIdx.y * chunk, end = min(first + chunk, rows);
    float sum = 0;
    if (column < columns)
        for (int row = first + (int)threadIdx.y; row < end; row += SUM_ROWS)
            sum += x[(size_t)row * (size_t)columns + (size_t)column];
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || column >= columns)
        return;
    for (int i = 1; i < SUM_ROWS; i++)
        sum += sums[i][threadIdx.x];
    partial[(size_t)blockIdx.y * (size_t)columns + (size_t)column] = sum;
}

/* out (columns) += sums of partial (chunks, columns). */
static __global__ void __launch_bounds__(THREADS)
    k_column_finish(float *__restrict__ out, const float *__restrict__ partial, int chunks,
                    int columns)
{
    const int step = (int)(gridDim.x * blockDim.x);
    for (int c = (int)(blockIdx.x * blockDim.x + threadIdx.x); c < columns; c += step) {
        float sum = 0;
        for (int i = 0; i < chunks; i++)
            sum += partial[(size_t)i * (size_t)columns + (size_t)c];
        out[c] += sum;
    }
}

static int add_column_sums(float *out, const float *x, int N, int OC)
{
    void *partial;
    const int even = (N + SUM_CHUNKS - 1) / SUM_CHUNKS;
    const int chunk = even > SUM_CHUNK ? even : (int)SUM_CHUNK;
    const int chunks = (N + chunk - 1) / chunk;
    int rc =
        k_cuda_scratch(K_CUDA_SLOT_PARTIAL, (size_t)chunks * (size_t)OC * sizeof(float), &partial);
    if (!rc)
        rc = K_LAUNCH(k_column_partial,
                      dim3((unsigned)((OC + SUM_COLUMNS - 1) / SUM_COLUMNS), (unsigned)chunks),
                      dim3(SUM_COLUMNS, SUM_ROWS), 0, (float *)partial, x, N, OC, chunk);
    if (!rc)
        rc = K_LAUNCH(k_column_finish, k_cuda_blocks((size_t)OC, THREADS), THREADS, 0, out,
                      (const float *)partial, chunks, OC);
    return rc;
}

/* ---- the entries */

static enum k_precision precision_of(const struct k_linear *l)
{
    return l->exact ? K_PRECISION_FP32 : k_cuda_precision();
}

static int cuda_linear_forward(const struct k_linear *l)
{
    struct k_cuda_matmul m = {};
    m.M = l->N;
    m.N = l->OC;
    m.K = l->C;
    m.a = l->inp;
    m.b = l->w;
    m.b_transposed = true;
    m.add = l->residual;
    m.bias = l->pre ? NULL : l->b;
    m.out = l->pre ? l->pre : l->out;
    m.precision = precision_of(l);
    const int rc = k_cuda_matmul(&m);
    return rc || !l->pre ? rc : bias_gelu(l->out, l->pre, l->b, l->N, l->OC);
}

static int cuda_linear_backward(const struct k_linear *l)
{
    struct k_cuda_matmul weights = {}, inputs = {};
    weights.M = l->OC;
    weights.N = l->C;
    weights.K = l->N;
    weights.a = l->dout;
    weights.a_transposed = true;
    weights.b = l->inp;
    weights.add = weights.out = l->dw;
    weights.precision = precision_of(l);
    int rc = k_cuda_matmul(&weights);
    if (!rc && l->db)
        rc = add_column_sums(l->db, l->dout, l->N, l->OC);
    inputs.M = l->N;
    inputs.N = l->C;
    inputs.K = l->OC;
    inputs.a = l->dout;
    inputs.b = l->w;
    inputs.out = l->dinp;
    inputs.precision = weights.precision;
    if (!rc && l->dinp)
        rc = k_cuda_matmul(&inputs);
    if (!rc && l->dinp && l->inp_pre)
        rc = k_cuda_gelu_backward(l->dinp, l->dinp, l->inp_pre, (size_t)l->N * (size_t)l->C);
    return rc;
}

void k_cuda_install_linear(struct k_ops *ops)
{
    ops->linear_forward = cuda_linear_forward;
    ops->linear_backward = cuda_linear_backward;
}
