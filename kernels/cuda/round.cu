/* round.cu - inputs of matmuls as bf16, and a plain product for what the library does not do. */
#include "matmul.h"

enum { THREADS = 256, TILE = 16, PACK = 8 };

/* ---- rounding */

/* Eight numbers to a thread: 32 bytes in, 16 bytes out. n: number of eights. */
static __global__ void __launch_bounds__(THREADS)
    k_round_packed(uint4 *__restrict__ out, const float4 *__restrict__ x, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const float4 a = x[2 * i], b = x[2 * i + 1];
        __nv_bfloat162 h[4];
        h[0] = __floats2bfloat162_rn(a.x, a.y);
        h[1] = __floats2bfloat162_rn(a.z, a.w);
        h[2] = __floats2bfloat162_rn(b.x, b.y);
        h[3] = __floats2bfloat162_rn(b.z, b.w);
        uint4 packed;
        memcpy(&packed, h, sizeof(packed));
        out[i] = packed;
    }
}

/* Any shape: row by row, the padding of a row left as it is (no product reads it). */
static __global__ void __launch_bounds__(THREADS)
    k_round_rows(__nv_bfloat16 *__restrict__ out, const float *__restrict__ x, int rows, int cols,
                 int stride)
{
    for (int row = (int)blockIdx.x; row < rows; row += (int)gridDim.x)
        for (int c = (int)threadIdx.x; c < cols; c += (int)blockDim.x)
            out[(size_t)row * (size_t)stride + (size_t)c] =
                __float2bfloat16_rn(x[(size_t)row * (size_t)cols + (size_t)c]);
}

int k_cuda_round(enum k_cuda_slot slot, const float *x, int rows, int cols, __nv_bfloat16 **copy,
                 int *stride)
{
    void *memory;
    *stride = (cols + PACK - 1) / PACK * PACK;
    const size_t n = (size_t)rows * (size_t)*stride;
    const int rc = k_cuda_scratch(slot, n * sizeof(__nv_bfloat16), &memory);
    if (rc)
        return rc;
    *copy = (__nv_bfloat16 *)memory;
    if (*stride == cols && (uintptr_t)x % sizeof(float4) == 0)
        return K_LAUNCH(k_round_packed, k_cuda_blocks(n / PACK, THREADS), THREADS, 0,
                        (uint4 *)memory, (const float4 *)x, n / PACK);
    const int threads = cols <= 32 ? 32 : cols <= 64 ? 64 : cols <= 128 ? 128 : (int)THREADS;
    return K_LAUNCH(k_round_rows, k_cuda_blocks(n, THREADS), threads, 0, *copy, x, rows, cols,
                    *stride);
}

/* ---- the plain product */

struct plain {
    int M, N, K;
    const float *a, *b, *add, *bias;
    float *out;
    size_t a_row, a_col, b_row, b_col; /* distances of neighbours */
};

/* A tile of out to a block, one number to a thread; K in steps of a tile. */
static __global__ void __launch_bounds__(TILE *TILE) k_plain(struct plain p)
{
    __shared__ float a[TILE][TILE + 1], b[TILE][TILE + 1];
    const int x = (int)threadIdx.x, y = (int)threadIdx.y;
    const int tiles_n = (p.N + TILE - 1) / TILE, tiles_m = (p.M + TILE - 1) / TILE;
    for (int tile = (int)blockIdx.x; tile < tiles_n * tiles_m; tile += (int)gridDim.x) {
        const int m = tile / tiles_n * TILE + y, n = tile % tiles_n * TILE + x;
        float sum = 0;
        for (int k = 0; k < p.K; k += TILE) {
            a[y][x] =
                m < p.M && k + x < p.K ? p.a[(size_t)m * p.a_row + (size_t)(k + x) * p.a_col] : 0;
            b[y][x] =
                n < p.N && k + y < p.K ? p.b[(size_t)(k + y) * p.b_row + (size_t)n * p.b_col] : 0;
            __syncthreads();
            for (int i = 0; i < TILE; i++)
                sum = fmaf(a[y][i], b[i][x], sum);
            __syncthreads();
        }
        if (m < p.M && n < p.N) {
            const size_t at = (size_t)m * (size_t)p.N + (size_t)n;
            if (p.add)
                sum += p.add[at];
            p.out[at] = p.bias ? sum + p.bias[n] : sum;
        }
    }
}

int k_cuda_matmul_plain(const struct k_cuda_matmul *m)
{
    struct plain p = {};
    p.M = m->M;
    p.N = m->N;
    p.K = m->K;
    p.a = m->a;
    p.b = m->b;
    p.add = m->add;
    p.bias = m->bias;
    p.out = m->out;
    p.a_row = m->a_transposed ? 1 : (size_t)m->K;
    p.a_col = m->a_transposed ? (size_t)m->M : 1;
    p.b_row = m->b_transposed ? 1 : (size_t)m->N;
    p.b_col = m->b_transposed ? (size_t)m->K : 1;
    const size_t n = (size_t)m->M * (size_t)m->N;
    return K_LAUNCH(k_plain, k_cuda_blocks(n + TILE * TILE, TILE * TILE), dim3(TILE, TILE), 0, p);
}

/* ---- biases that do not ride along */

static __global__ void __launch_bounds__(THREADS)
    k_add_bias(float *__restrict__ out, const float *__restrict__ bias, int rows, int columns)
{
    for (int row = (int)blockIdx.x; row < rows; row += (int)gridDim.x)
        for (int c = (int)threadIdx.x; c < columns; c += (int)blockDim.x)
            out[(size_t)row * (size_t)columns + (size_t)c] += bias[c];
}

int k_cuda_matmul_then_bias(const struct k_cuda_matmul *m)
{
    struct k_cuda_matmul bare = *m;
    bare.bias = NULL;
    const int rc = k_cuda_matmul(&bare);
    return rc ? rc : K_LAUNCH(k_add_bias, m->M, THREADS, 0, m->out, m->bias, m->M, m->N);
}
