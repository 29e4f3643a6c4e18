/* round.cu - rounds matmul inputs to bf16; a plain product for shapes that the library does not
 * support. */
#include "matmul.h"
#include "load_store.h"

enum { THREADS = 256, TILE = 16 };

/* ---- rounding */

/* A thread takes eight numbers where the pointers are aligned; the remaining numbers are taken
 * one by one. */
template <bool WIDE>
static __global__ void __launch_bounds__(THREADS)
    k_round(__nv_bfloat16 *__restrict__ out, const float *__restrict__ x, size_t n)
{
    size_t done = 0;
    if (WIDE) {
        for (size_t i = k_cuda_first(); i < n / K_EIGHT; i += k_cuda_step())
            k_cuda_put8(out + K_EIGHT * i, k_cuda_get8(x + K_EIGHT * i));
        done = n / K_EIGHT * K_EIGHT;
    }
    for (size_t i = done + k_cuda_first(); i < n; i += k_cuda_step())
        k_cuda_put(out + i, x[i]);
}

int k_cuda_to_bf16(void *out, const float *x, size_t n)
{
    __nv_bfloat16 *const to = (__nv_bfloat16 *)out;
    if (!n)
        return 0;
    if (k_cuda_aligned(out) && k_cuda_aligned(x))
        return K_LAUNCH(k_round<true>, k_cuda_blocks((n + K_EIGHT - 1) / K_EIGHT, THREADS), THREADS,
                        0, to, x, n);
    return K_LAUNCH(k_round<false>, k_cuda_blocks(n, THREADS), THREADS, 0, to, x, n);
}

/* Any shape; rows of float or bf16 with stride `from`. Rows are taken one by one, and the
 * padding of a row is not written, because no product reads it. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    k_round_rows(__nv_bfloat16 *__restrict__ out, const T *__restrict__ x, int rows, int cols,
                 int from, int stride)
{
    for (int row = (int)blockIdx.x; row < rows; row += (int)gridDim.x)
        for (int c = (int)threadIdx.x; c < cols; c += (int)blockDim.x)
            out[(size_t)row * (size_t)stride + (size_t)c] =
                __float2bfloat16_rn(k_cuda_get(x + (size_t)row * (size_t)from + (size_t)c));
}

static int threads_for(int cols)
{
    return cols <= 32 ? 32 : cols <= 64 ? 64 : cols <= 128 ? 128 : (int)THREADS;
}

int k_cuda_round(enum k_cuda_slot slot, const float *x, int rows, int cols, __nv_bfloat16 **copy,
                 int *stride)
{
    void *memory;
    *stride = k_cuda_round_stride(cols);
    const size_t n = (size_t)rows * (size_t)*stride;
    TRY(k_cuda_scratch(slot, n * sizeof(__nv_bfloat16), &memory));
    *copy = (__nv_bfloat16 *)memory;
    if (*stride == cols)
        return k_cuda_to_bf16(memory, x, n);
    return K_LAUNCH(k_round_rows<float>, k_cuda_blocks(n, THREADS), threads_for(cols), 0, *copy, x,
                    rows, cols, cols, *stride);
}

/* Prepares one operand, float or bf16, which is (rows, cols) in memory. */
static int take_operand(enum k_cuda_slot slot, const float *x, const __nv_bfloat16 *x_bf16,
                        int from, int rows, int cols, struct k_cuda_operand *o)
{
    void *memory;
    __nv_bfloat16 *copy;
    o->x = x_bf16;
    o->stride = from;
    if (!x_bf16) {
        TRY(k_cuda_round(slot, x, rows, cols, &copy, &o->stride));
        o->x = copy;
        return 0;
    }
    if (from % K_EIGHT == 0 && k_cuda_aligned(x_bf16))
        return 0;
    o->stride = k_cuda_round_stride(cols);
    const size_t n = (size_t)rows * (size_t)o->stride;
    TRY(k_cuda_scratch(slot, n * sizeof(__nv_bfloat16), &memory));
    o->x = copy = (__nv_bfloat16 *)memory;
    return K_LAUNCH(k_round_rows<__nv_bfloat16>, k_cuda_blocks(n, THREADS), threads_for(cols), 0,
                    copy, x_bf16, rows, cols, from, o->stride);
}

int k_cuda_operands(const struct k_cuda_matmul *m, struct k_cuda_operand *a,
                    struct k_cuda_operand *b)
{
    TRY(take_operand(K_CUDA_SLOT_A, m->a, m->a_bf16, m->a_stride, m->a_transposed ? m->K : m->M,
                     m->a_transposed ? m->M : m->K, a));
    return take_operand(K_CUDA_SLOT_B, m->b, m->b_bf16, m->b_stride, m->b_transposed ? m->N : m->K,
                        m->b_transposed ? m->K : m->N, b);
}

static bool cuda_has_bf16_tensors(void)
{
    return k_cuda_precision() == K_PRECISION_BF16;
}

void k_cuda_install_round(struct k_ops *ops)
{
    ops->has_bf16_tensors = cuda_has_bf16_tensors;
    ops->to_bf16 = k_cuda_to_bf16;
}

/* ---- the plain product */

struct plain {
    int M, N, K, batch;
    const float *a, *b, *add, *bias;
    const __nv_bfloat16 *a_bf16, *b_bf16; /* NULL: a, b */
    float *out;
    __nv_bfloat16 *out_bf16;           /* NULL: out */
    size_t a_row, a_col, b_row, b_col; /* strides of rows and columns */
};

static __device__ __forceinline__ float element(const float *x, const __nv_bfloat16 *x_bf16,
                                                size_t at)
{
    return x_bf16 ? k_cuda_get(x_bf16 + at) : x[at];
}

/* A block computes a tile of out, one number per thread; K in steps of a tile. */
static __global__ void __launch_bounds__(TILE *TILE) k_plain(struct plain p)
{
    __shared__ float a[TILE][TILE + 1], b[TILE][TILE + 1];
    const int x = (int)threadIdx.x, y = (int)threadIdx.y;
    const int tiles_n = (p.N + TILE - 1) / TILE, tiles_m = (p.M + TILE - 1) / TILE;
    const int tiles = tiles_n * tiles_m;
    for (int i = (int)blockIdx.x; i < tiles * p.batch; i += (int)gridDim.x) {
        const int tile = i % tiles;
        const int m = tile / tiles_n * TILE + y, n = tile % tiles_n * TILE + x;
        const size_t first_a = (size_t)(i / tiles) * (size_t)p.M * (size_t)p.K;
        const size_t first_b = (size_t)(i / tiles) * (size_t)p.K * (size_t)p.N;
        float sum = 0;
        for (int k = 0; k < p.K; k += TILE) {
            const size_t at_a = first_a + (size_t)m * p.a_row + (size_t)(k + x) * p.a_col;
            const size_t at_b = first_b + (size_t)(k + y) * p.b_row + (size_t)n * p.b_col;
            a[y][x] = m < p.M && k + x < p.K ? element(p.a, p.a_bf16, at_a) : 0;
            b[y][x] = n < p.N && k + y < p.K ? element(p.b, p.b_bf16, at_b) : 0;
            __syncthreads();
            for (int i = 0; i < TILE; i++)
                sum = fmaf(a[y][i], b[i][x], sum);
            __syncthreads();
        }
        if (m < p.M && n < p.N) {
            const size_t at =
                ((size_t)(i / tiles) * (size_t)p.M + (size_t)m) * (size_t)p.N + (size_t)n;
            if (p.add)
                sum += p.add[at];
            if (p.bias)
                sum += p.bias[n];
            if (p.out_bf16)
                k_cuda_put(p.out_bf16 + at, sum);
            else
                p.out[at] = sum;
        }
    }
}

int k_cuda_matmul_plain(const struct k_cuda_matmul *m)
{
    struct plain p = {};
    const size_t a_stride = (size_t)(m->a_bf16 ? m->a_stride : m->a_transposed ? m->M : m->K);
    const size_t b_stride = (size_t)(m->b_bf16 ? m->b_stride : m->b_transposed ? m->K : m->N);
    p.M = m->M;
    p.N = m->N;
    p.K = m->K;
    p.batch = m->batch > 1 ? m->batch : 1;
    p.a = m->a;
    p.b = m->b;
    p.a_bf16 = m->a_bf16;
    p.b_bf16 = m->b_bf16;
    p.add = m->add;
    p.bias = m->bias;
    p.out = m->out;
    p.out_bf16 = m->out_bf16;
    p.a_row = m->a_transposed ? 1 : a_stride;
    p.a_col = m->a_transposed ? a_stride : 1;
    p.b_row = m->b_transposed ? 1 : b_stride;
    p.b_col = m->b_transposed ? b_stride : 1;
    const size_t n = (size_t)m->M * (size_t)m->N * (size_t)p.batch;
    return K_LAUNCH(k_plain, k_cuda_blocks(n + TILE * TILE, TILE * TILE), dim3(TILE, TILE), 0, p);
}

/* ---- biases that are not added by the epilogue */

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    k_add_bias(T *__restrict__ out, const float *__restrict__ bias, int rows, int columns)
{
    for (int row = (int)blockIdx.x; row < rows; row += (int)gridDim.x)
        for (int c = (int)threadIdx.x; c < columns; c += (int)blockDim.x) {
            T *at = out + (size_t)row * (size_t)columns + (size_t)c;
            k_cuda_put(at, k_cuda_get(at) + bias[c]);
        }
}

int k_cuda_matmul_then_bias(const struct k_cuda_matmul *m)
{
    struct k_cuda_matmul bare = *m;
    bare.bias = NULL;
    bare.bias_bf16 = NULL;
    TRY(k_cuda_matmul(&bare));
    if (m->out_bf16)
        return K_LAUNCH(k_add_bias<__nv_bfloat16>, m->M, THREADS, 0, m->out_bf16, m->bias, m->M,
                        m->N);
    return K_LAUNCH(k_add_bias<float>, m->M, THREADS, 0, m->out, m->bias, m->M, m->N);
}
