/* attention.cu - generic attention, for any line of the table: the entries of the backend, and
 * the kernels that work on single vectors. attention_forward.cu and attention_backward.cu have
 * the kernels that work on tiles.
 *
 * Beside inputs and results, a pass needs memory for 8 numbers per row; nothing grows with T x
 * T. Cosine scores are dot products times the inverse lengths of their vectors. Gradients with
 * respect to unit vectors are converted to those with respect to the vectors at the end. */
#include "attention.cuh"
#include "fused.h"
#include "reduce.h"

static struct problem problem_of(const float *qkv, float *row_stats,
                                 const struct k_attention_shape *shape)
{
    struct problem p;
    memset(&p, 0, sizeof p);
    p.rule = k_math_rule(shape->variant, shape->T, shape->D, shape->window, shape->power);
    p.B = shape->B;
    p.T = shape->T;
    p.H = shape->H;
    p.D = shape->D;
    p.tiles = (p.T + TILE - 1) / TILE;
    p.chunks = (p.D + TILE - 1) / TILE;
    p.rows = (size_t)p.B * (size_t)p.H * (size_t)p.T;
    p.qkv = qkv;
    p.row_stats = row_stats;
    return p;
}

/* ---- one warp per vector */

/* The factors that q (first half of the warps' work) and k of each row contribute to their
 * products: the score's scale, and 1 / |q| and 1 / |k| for cosines. */
static __global__ void __launch_bounds__(THREADS) lengths(const struct problem p)
{
    const int lane = (int)threadIdx.x % K_WARP;
    const size_t warps = (size_t)gridDim.x * (THREADS / K_WARP);
    for (size_t v = (size_t)blockIdx.x * (THREADS / K_WARP) + threadIdx.x / K_WARP; v < 2 * p.rows;
         v += warps) {
        const bool key = v >= p.rows;
        const size_t row = key ? v - p.rows : v, T = (size_t)p.T, H = (size_t)p.H;
        const size_t t = row % T, h = row / T % H, b = row / T / H;
        float factor = key ? 1.0f : k_math_scale(&p.rule, k_math_keys(&p.rule, (int)t));
        if (p.rule.score == K_SCORE_COS_LOGN) {
            const float *x = p.qkv + (((b * T + t) * 3 + key) * H + h) * (size_t)p.D;
            float sum = 0.0f;
            for (int c = lane; c < p.D; c += K_WARP)
                sum = fmaf(x[c], x[c], sum);
            const float length = sqrtf(k_cuda_warp_sum(sum));
            factor = length < (float)K_L2_EPSILON ? 0.0f : factor / length;
        }
        if (lane == 0)
            p.row_stats[(key ? KEY_SCALE : QUERY_SCALE) * p.rows + row] = factor;
    }
}

/* dqkv of q and k holds g / |x|, where g is the gradient with respect to the unit vector u.
 * Subtracts u <u, g / |x|>, which gives the gradient with respect to x. */
static __global__ void __launch_bounds__(THREADS) unit_vectors_backward(const struct problem p)
{
    const int lane = (int)threadIdx.x % K_WARP;
    const size_t warps = (size_t)gridDim.x * (THREADS / K_WARP);
    for (size_t v = (size_t)blockIdx.x * (THREADS / K_WARP) + threadIdx.x / K_WARP; v < 2 * p.rows;
         v += warps) {
        const size_t H = (size_t)p.H, h = v % H, which = v / H % 2, bt = v / H / 2;
        const size_t at = ((bt * 3 + which) * H + h) * (size_t)p.D;
        const float *x = p.qkv + at;
        float *g = p.dqkv + at, along = 0.0f, square = 0.0f;
        for (int c = lane; c < p.D; c += K_WARP) {
            square = fmaf(x[c], x[c], square);
            along = fmaf(x[c], g[c], along);
        }
        square = k_cuda_warp_sum(square);
        along = k_cuda_warp_sum(along);
        const float part = square > 0.0f ? along / square : 0.0f;
        for (int c = lane; c < p.D; c += K_WARP)
            g[c] = fmaf(-part, x[c], g[c]);
    }
}

static int vector_blocks(const struct problem *p)
{
    return k_cuda_blocks(2 * p->rows * K_WARP, THREADS);
}

/* ---- degenerate rows */

enum { DEGENERATE_THREADS = 256 };

/* Counts the degenerate rows; launched with one block. */
static __global__ void __launch_bounds__(DEGENERATE_THREADS)
    count_degenerate(double *result, const float *row_stats, size_t rows)
{
    __shared__ int part[DEGENERATE_THREADS / K_WARP];
    int count = 0;
    for (size_t i = threadIdx.x; i < rows; i += DEGENERATE_THREADS)
        count += row_stats[i] == 0.0f;
    for (int lanes = K_WARP / 2; lanes > 0; lanes /= 2)
        count += __shfl_xor_sync(0xffffffffu, count, lanes);
    if (threadIdx.x % K_WARP == 0)
        part[threadIdx.x / K_WARP] = count;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    double sum = 0;
    for (int w = 0; w < DEGENERATE_THREADS / K_WARP; w++)
        sum += part[w];
    *result = sum;
}

static int cuda_attention_degenerate(long *rows, const float *row_stats,
                                     const struct k_attention_shape *shape)
{
    double *result;
    const size_t n = (size_t)shape->B * (size_t)shape->H * (size_t)shape->T;
    TRY(k_cuda_result_long(rows, &result));
    return K_LAUNCH(count_degenerate, 1, DEGENERATE_THREADS, 0, result, row_stats, n);
}

/* ---- the entries */

static int cuda_attention_generic_forward(float *out, float *row_stats, const float *qkv,
                                          const struct k_attention_shape *shape)
{
    if (shape->bf16)
        return k_cuda_widened_forward(cuda_attention_generic_forward, out, row_stats, qkv, shape);
    struct problem p = problem_of(qkv, row_stats, shape);
    p.out = out;
    p.quads = p.D % 4 == 0 && k_cuda_aligned(qkv) && k_cuda_aligned(out);
    TRY(K_LAUNCH(lengths, (unsigned)vector_blocks(&p), THREADS, 0, p));
    return k_cuda_attention_rows_forward(&p);
}

static int cuda_attention_generic_backward(float *dqkv, const float *dout, const float *out,
                                           const float *row_stats, const float *qkv,
                                           const struct k_attention_shape *shape)
{
    if (shape->bf16)
        return k_cuda_widened_backward(cuda_attention_generic_backward, dqkv, dout, out, row_stats,
                                       qkv, shape);
    /* only the forward kernels write row_stats; both passes share the struct */
    struct problem p = problem_of(qkv, (float *)row_stats, shape);
    p.dqkv = dqkv;
    p.dout = dout;
    p.out_given = out;
    p.quads = p.D % 4 == 0 && k_cuda_aligned(qkv) && k_cuda_aligned(dqkv) && k_cuda_aligned(dout);
    void *memory;
    TRY(k_cuda_scratch(K_CUDA_SLOT_ATTENTION, CENTRES * p.rows * sizeof(float), &memory));
    p.centre = (float *)memory;
    TRY(k_cuda_attention_centres(&p));
    TRY(k_cuda_attention_values(&p));
    TRY(k_cuda_attention_vectors(&p, QUERY));
    TRY(k_cuda_attention_vectors(&p, KEY));
    if (p.rule.score != K_SCORE_COS_LOGN)
        return 0;
    return K_LAUNCH(unit_vectors_backward, (unsigned)vector_blocks(&p), THREADS, 0, p);
}

static int cuda_attention_forward(float *out, float *row_stats, const float *qkv,
                                  const struct k_attention_shape *shape)
{
    return k_cuda_fused(shape) ? k_cuda_fused_attention_forward(out, row_stats, qkv, shape)
                               : cuda_attention_generic_forward(out, row_stats, qkv, shape);
}

static int cuda_attention_backward(float *dqkv, const float *dout, const float *out,
                                   const float *row_stats, const float *qkv,
                                   const struct k_attention_shape *shape)
{
    return k_cuda_fused(shape)
               ? k_cuda_fused_attention_backward(dqkv, dout, out, row_stats, qkv, shape)
               : cuda_attention_generic_backward(dqkv, dout, out, row_stats, qkv, shape);
}

void k_cuda_install_attention(struct k_ops *ops)
{
    ops->attention_forward = cuda_attention_forward;
    ops->attention_backward = cuda_attention_backward;
    ops->attention_generic_forward = cuda_attention_generic_forward;
    ops->attention_generic_backward = cuda_attention_generic_backward;
    ops->attention_degenerate = cuda_attention_degenerate;
}
