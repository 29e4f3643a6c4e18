/* muon.cu - the step of Muon (struct k_muon): matrices of one shape are copied one after the other,
 * divided by their norms, and multiplied in batches. Matrices with more rows than columns are not
 * transposed: their products are X^T X and X B instead of X X^T and B X.
 *
 * In bf16 the operands are rounded copies with float sums, where rows are multiples of 8 numbers,
 * as tensor cores need them; other matrices are multiplied in fp32. */
#include "load_store.h"
#include "matmul.h"
#include "reduce.h"

enum { THREADS = 256 };

/* Which matrices a launch works on: k.at as an argument, because it is the host's. */
struct places {
    size_t at[K_MATRICES];
};

struct job {
    const struct k_muon *k;
    struct places places;
    int r; /* rows of A */
    size_t n, rr;
    bool tall, bf16;
    float *x, *a, *b; /* (count, rows, cols), (count, r, r) twice */
    __nv_bfloat16 *x_bf16, *a_bf16;
};

/* One block for each matrix: x = update / |update|, the sum of squares in double. */
static __global__ void __launch_bounds__(THREADS)
    k_muon_normalise(float *x, const float *update, const struct places places, size_t n)
{
    __shared__ double shared[K_WARP];
    const float *from = update + places.at[blockIdx.x];
    float *to = x + (size_t)blockIdx.x * n;
    double sum = 0;
    for (size_t i = threadIdx.x; i < n; i += THREADS)
        sum += (double)from[i] * (double)from[i];
    sum = k_cuda_block_sum(sum, shared);
    const double scale = sum > 0 ? 1 / sqrt(sum) : 0;
    for (size_t i = threadIdx.x; i < n; i += THREADS)
        to[i] = (float)((double)from[i] * scale);
}

/* b = first a + second b */
static __global__ void __launch_bounds__(THREADS)
    k_muon_combine(float *b, const float *a, size_t n, float first, float second)
{
    for (size_t i = k_cuda_first(); i < n; i += k_cuda_step())
        b[i] = first * a[i] + second * b[i];
}

/* y = factor x */
static __global__ void __launch_bounds__(THREADS)
    k_muon_scaled(float *y, const float *x, size_t n, float factor)
{
    for (size_t i = k_cuda_first(); i < n; i += k_cuda_step())
        y[i] = factor * x[i];
}

/* param = keep param - rate x, for all matrices */
static __global__ void __launch_bounds__(THREADS)
    k_muon_apply(float *param, const float *x, const struct places places, size_t n, size_t all,
                 float keep, float rate)
{
    for (size_t i = k_cuda_first(); i < all; i += k_cuda_step()) {
        float *w = param + places.at[i / n] + i % n;
        *w = keep * *w - rate * x[i];
    }
}

/* Fills in a product's operand: x, or its rounded copy. */
static int take(const struct job *j, const float *x, size_t n, __nv_bfloat16 *rounded,
                const float **to, const __nv_bfloat16 **to_bf16)
{
    *to = x;
    *to_bf16 = j->bf16 ? rounded : NULL;
    return j->bf16 ? k_cuda_to_bf16(rounded, x, n * (size_t)j->k->count) : 0;
}

/* One step by the polynomial p from x to `next`; both (count, rows, cols). */
static int newton_schulz(const struct job *j, struct k_muon_polynomial p, float *x, float *next)
{
    const int rows = j->k->rows, cols = j->k->cols, r = j->r;
    const size_t rr = j->rr * (size_t)j->k->count, n = j->n * (size_t)j->k->count;
    struct k_cuda_matmul m = {};
    const float *operand, *gram;
    const __nv_bfloat16 *operand_bf16, *gram_bf16;
    m.batch = j->k->count;
    m.precision =
        j->bf16 || k_cuda_precision() != K_PRECISION_BF16 ? k_cuda_precision() : K_PRECISION_FP32;
    TRY(take(j, x, j->n, j->x_bf16, &operand, &operand_bf16));
    m.M = m.N = r;
    m.K = j->tall ? rows : cols;
    m.a_transposed = j->tall;
    m.b_transposed = !j->tall;
    m.a = m.b = operand;
    m.a_bf16 = m.b_bf16 = operand_bf16;
    m.a_stride = m.b_stride = cols;
    m.out = j->a;
    TRY(k_cuda_matmul(&m));
    TRY(take(j, j->a, j->rr, j->a_bf16, &gram, &gram_bf16));
    m.K = r;
    m.a_transposed = m.b_transposed = false;
    m.a = m.b = gram;
    m.a_bf16 = m.b_bf16 = gram_bf16;
    m.a_stride = m.b_stride = r;
    m.out = j->b;
    TRY(k_cuda_matmul(&m));
    TRY(K_LAUNCH(k_muon_combine, k_cuda_blocks(rr, THREADS), THREADS, 0, j->b, j->a, rr, (float)p.b,
                 (float)p.c));
    TRY(K_LAUNCH(k_muon_scaled, k_cuda_blocks(n, THREADS), THREADS, 0, next, x, n, (float)p.a));
    TRY(take(j, j->b, j->rr, j->a_bf16, &gram, &gram_bf16));
    m.M = rows;
    m.N = cols;
    m.a = j->tall ? operand : gram;
    m.b = j->tall ? gram : operand;
    m.a_bf16 = j->tall ? operand_bf16 : gram_bf16;
    m.b_bf16 = j->tall ? gram_bf16 : operand_bf16;
    m.a_stride = j->tall ? cols : r;
    m.b_stride = j->tall ? r : cols;
    m.add = m.out = next;
    return k_cuda_matmul(&m);
}

/* Lays out scratch memory: two tensors that take turns, A, B, and bf16 copies. */
static int lay_out(struct job *j, float **next)
{
    const size_t count = (size_t)j->k->count;
    /* whole pieces of 16 bytes */
    const size_t n = (count * j->n + 7) / 8 * 8, rr = (count * j->rr + 7) / 8 * 8;
    void *memory;
    TRY(k_cuda_scratch(K_CUDA_SLOT_MUON,
                       2 * (n + rr) * sizeof(float) + (n + rr) * sizeof(__nv_bfloat16), &memory));
    j->x = (float *)memory;
    *next = j->x + n;
    j->a = *next + n;
    j->b = j->a + rr;
    j->x_bf16 = (__nv_bfloat16 *)(j->b + rr);
    j->a_bf16 = j->x_bf16 + n;
    return 0;
}

static int cuda_muon(float *param, float *update, const struct k_muon *k)
{
    struct job j = {};
    float *x, *next;
    if (k->count < 1)
        return 0;
    j.k = k;
    j.r = k->rows < k->cols ? k->rows : k->cols;
    j.n = (size_t)k->rows * (size_t)k->cols;
    j.rr = (size_t)j.r * (size_t)j.r;
    j.tall = k->rows > k->cols;
    j.bf16 = k_cuda_precision() == K_PRECISION_BF16 && k->rows % 8 == 0 && k->cols % 8 == 0;
    for (int i = 0; i < k->count; i++)
        j.places.at[i] = k->at[i];
    TRY(lay_out(&j, &next));
    x = j.x;
    TRY(K_LAUNCH(k_muon_normalise, k->count, THREADS, 0, x, (const float *)update, j.places, j.n));
    for (int step = 0; step < k->steps; step++) {
        TRY(newton_schulz(&j, k_muon_polynomial(step), x, next));
        float *const last = x;
        x = next;
        next = last;
    }
    const size_t all = j.n * (size_t)k->count;
    return K_LAUNCH(k_muon_apply, k_cuda_blocks(all, THREADS), THREADS, 0, param, (const float *)x,
                    j.places, j.n, all, (float)k->keep, (float)k->rate);
}

void k_cuda_install_muon(struct k_ops *ops)
{
    ops->muon = cuda_muon;
}
