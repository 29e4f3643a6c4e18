/* loss.cu - losses of the CUDA backend and their gradients.
 *
 * Losses of rows are added in double, in an order that depends on the shape alone. The sum of
 * the weights is computed on the device, so that the host need not wait.
 *
 * Cross entropy: a block per row. Where rows are aligned to 16 bytes and have at most 8192
 * classes, the row stays in registers: one read, one exponential per class, one write. Otherwise
 * one pass finds maximum and sum together and a second writes the gradient.
 *
 * The head computes logits for one chunk of rows at a time (256 MiB), so that they are never all
 * in memory. The classes of a channel are padded to a multiple of 8 with classes whose weights
 * are 0 and that are never targets, so that all rows of logits are aligned to 32 bytes for the
 * matrix products and the loss. Where products are in bf16, the gradients of logits are written
 * in bf16, once for both products, and inputs and weights are rounded once for all chunks.
 *
 * A target that is not below V, in a row with non-zero weight, makes the loss NaN: it cannot be
 * reported as an error, since the host does not see it. */
#include "matmul.h"
#include "load_store.h"

#include <float.h>
#include <math.h>

enum {
    THREADS = 256,
    TOTAL = 1024,  /* threads of the block that adds all losses */
    KEPT = 8,      /* 16-byte pieces of a row that a thread keeps */
    PIECES = 1056, /* most blocks, and partial sums, of regression */
    PIECE = 1024,  /* elements per block where there are fewer blocks */
    ALIGN = 8,     /* the classes of a channel of a head are padded to a multiple of this */
    CHUNK = 64,    /* the rows of a chunk of logits are a multiple of this */
};
#ifdef K_CUDA_HOST
static const size_t chunk_bytes = 64 << 10; /* small, so that tests have several chunks */
#else
static const size_t chunk_bytes = 256 << 20;
#endif

static size_t up_to(size_t n, size_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* ---- sums, by one block */

/* *total = sum of the weights; N without weights. */
static __global__ void __launch_bounds__(TOTAL)
    weight_total_kernel(double *total, const float *weight, int N)
{
    __shared__ double shared[K_WARP];
    double sum = 0;
    for (int n = (int)threadIdx.x; weight && n < N; n += TOTAL)
        sum += (double)weight[n];
    sum = k_cuda_block_sum(sum, shared);
    if (threadIdx.x == 0)
        *total = weight ? sum : N;
}

static __global__ void __launch_bounds__(TOTAL)
    loss_total_kernel(double *loss, const double *parts, size_t n)
{
    __shared__ double shared[K_WARP];
    double sum = 0;
    for (size_t i = threadIdx.x; i < n; i += TOTAL)
        sum += parts[i];
    sum = k_cuda_block_sum(sum, shared);
    if (threadIdx.x == 0)
        *loss = sum;
}

/* ---- cross entropy of rows of one or several channels */

struct cross_entropy {
    /* (N, channels) contribution of each row and channel to the loss */
    double *parts;
    const double *total;         /* sum of the weights */
    float *dlogits;              /* NULL: loss only; or logits */
    __nv_bfloat16 *dlogits_bf16; /* or NULL: in place of dlogits */
    const float *logits;
    const uint16_t *target;
    const float *weight;
    size_t stride, at; /* stride of rows of logits; first class */
    size_t padded;     /* stride of channels; classes V .. padded - 1 get gradient 0 */
    int target_stride, N, V, channels;
};

/* One row of one channel: its location, its weight in the loss, and its target. */
struct row {
    const float *x;
    float *d;              /* or NULL */
    __nv_bfloat16 *d_bf16; /* or NULL: in place of d */
    double share;
    int answer;
    float logit; /* logit of the answer; NaN where the answer is not a class */
};

static __device__ __forceinline__ struct row row_of(const struct cross_entropy *e, size_t i)
{
    const size_t n = i / (size_t)e->channels, channel = i - n * (size_t)e->channels;
    const size_t at = n * e->stride + e->at + channel * e->padded;
    struct row r;
    r.x = e->logits + at;
    r.d = e->dlogits ? e->dlogits + at : NULL;
    r.d_bf16 = e->dlogits_bf16 ? e->dlogits_bf16 + at : NULL;
    r.answer = e->target[n * (size_t)e->target_stride + channel];
    const double weight = e->weight ? (double)e->weight[n] : 1, total = *e->total;
    r.share = total > 0 ? weight / (total * e->channels) : 0;
    r.logit = r.share != 0 && r.answer < e->V ? r.x[r.answer] : NAN;
    return r;
}

static __device__ __forceinline__ void put_slope(const struct row *r, size_t v, float d)
{
    if (r->d_bf16)
        k_cuda_put(r->d_bf16 + v, d);
    else if (r->d)
        r->d[v] = d;
}

/* Writes the gradient and loss of a row with weight 0: zeros. */
static __device__ __forceinline__ void no_row(const struct cross_entropy *e, size_t i,
                                              const struct row *r)
{
    for (size_t v = threadIdx.x; v < e->padded; v += blockDim.x)
        put_slope(r, v, 0);
    if (threadIdx.x == 0)
        e->parts[i] = 0;
}

static __device__ __forceinline__ void row_loss(const struct cross_entropy *e, size_t i,
                                                const struct row *r, float largest, float sum)
{
    if (threadIdx.x == 0)
        e->parts[i] = r->share * (log((double)sum) + (double)largest - (double)r->logit);
}

/* Gradient of class v, given exponential = e^(logit - largest) and factor = share / sum of
 * exponentials. */
static __device__ __forceinline__ float slope(const struct row *r, float exponential, float factor,
                                              int v)
{
    return exponential * factor - (v == r->answer ? (float)r->share : 0.0f);
}

/* Keeps the row in registers: padded <= 4 VECS threads, and all pointers are aligned to 16
 * bytes. */
template <int VECS>
static __global__ void __launch_bounds__(THREADS)
    cross_entropy_kept_kernel(const struct cross_entropy e)
{
    __shared__ float shared[K_WARP];
    const int vecs = (int)(e.padded / 4);
    for (size_t i = blockIdx.x; i < (size_t)e.N * (size_t)e.channels; i += gridDim.x) {
        const struct row r = row_of(&e, i);
        if (r.share == 0) {
            no_row(&e, i, &r);
            continue;
        }
        float x[VECS][4], largest = -INFINITY, sum = 0;
#pragma unroll
        for (int k = 0; k < VECS; k++) {
            const int at = (int)(threadIdx.x + (unsigned)k * blockDim.x);
            const float4 v = at < vecs ? ((const float4 *)r.x)[at] : make_float4(0, 0, 0, 0);
            x[k][0] = v.x, x[k][1] = v.y, x[k][2] = v.z, x[k][3] = v.w;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                x[k][j] = 4 * at + j < e.V ? x[k][j] : -INFINITY; /* e^x is 0 for padding */
                largest = k_cuda_larger(largest, x[k][j]);
            }
        }
        /* also a barrier: all threads have read the logit of the answer */
        largest = k_cuda_block_max(largest, shared);
#pragma unroll
        for (int k = 0; k < VECS; k++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                sum += x[k][j] = expf(x[k][j] - largest);
        sum = k_cuda_block_sum(sum, shared);
        row_loss(&e, i, &r, largest, sum);
        const float factor = (float)r.share / sum;
#pragma unroll
        for (int k = 0; k < VECS; k++) {
            const int at = (int)(threadIdx.x + (unsigned)k * blockDim.x), v = 4 * at;
            const float4 d =
                make_float4(slope(&r, x[k][0], factor, v), slope(&r, x[k][1], factor, v + 1),
                            slope(&r, x[k][2], factor, v + 2), slope(&r, x[k][3], factor, v + 3));
            if (r.d_bf16 && at < vecs)
                k_cuda_put4(r.d_bf16 + v, d);
            else if (r.d && at < vecs)
                k_cuda_put4(r.d + v, d);
        }
    }
}

/* Any V, any alignment. */
static __global__ void __launch_bounds__(THREADS) cross_entropy_kernel(const struct cross_entropy e)
{
    __shared__ float shared[K_WARP];
    for (size_t i = blockIdx.x; i < (size_t)e.N * (size_t)e.channels; i += gridDim.x) {
        const struct row r = row_of(&e, i);
        if (r.share == 0) {
            no_row(&e, i, &r);
            continue;
        }
        float own = -FLT_MAX, sum = 0; /* the largest so far; the sum of e^(x - own) */
        for (int v = (int)threadIdx.x; v < e.V; v += (int)blockDim.x) {
            const float x = r.x[v];
            if (x <= own) {
                sum += expf(x - own);
            } else { /* or x is NaN, and the sum becomes NaN */
                sum = sum * expf(own - x) + 1;
                own = x;
            }
        }
        const float largest = k_cuda_block_max(own, shared);
        sum = k_cuda_block_sum(sum * expf(own - largest), shared);
        row_loss(&e, i, &r, largest, sum);
        const float factor = (float)r.share / sum;
        for (int v = (int)threadIdx.x; (r.d || r.d_bf16) && v < (int)e.padded; v += (int)blockDim.x)
            put_slope(&r, (size_t)v, v < e.V ? slope(&r, expf(r.x[v] - largest), factor, v) : 0);
    }
}

static int cross_entropy_rows(const struct cross_entropy *e)
{
    const size_t quarter = up_to((e->padded + 3) / 4, K_WARP); /* threads that keep 4 classes */
    const int threads = quarter < (size_t)THREADS ? (int)quarter : THREADS;
    const int blocks = k_cuda_blocks((size_t)e->N * (size_t)e->channels * (size_t)threads, threads);
    const bool wide = e->stride % 4 == 0 && e->at % 4 == 0 && e->padded % 4 == 0 &&
                      k_cuda_aligned(e->logits) && k_cuda_aligned(e->dlogits) &&
                      k_cuda_aligned(e->dlogits_bf16);
    if (wide && e->padded <= 4 * THREADS)
        return K_LAUNCH(cross_entropy_kept_kernel<1>, blocks, threads, 0, *e);
    if (wide && e->padded <= 4 * KEPT * THREADS)
        return K_LAUNCH(cross_entropy_kept_kernel<KEPT>, blocks, threads, 0, *e);
    return K_LAUNCH(cross_entropy_kernel, blocks, threads, 0, *e);
}

static int loss_total(double *result, const double *parts, size_t n)
{
    return K_LAUNCH(loss_total_kernel, 1, TOTAL, 0, result, parts, n);
}

/* Reserves scratch memory for the sum of the weights and, after it, `parts` numbers, and
 * computes the sum. */
static int weight_total(double **total, size_t parts, const float *weight, int N)
{
    void *memory;
    TRY(k_cuda_scratch(K_CUDA_SLOT_PARTIAL, (parts + 1) * sizeof(double), &memory));
    *total = (double *)memory;
    return K_LAUNCH(weight_total_kernel, 1, TOTAL, 0, *total, weight, N);
}

static int cuda_cross_entropy(double *loss, const struct k_cross_entropy *of)
{
    double *result, *total;
    TRY(k_cuda_result(loss, &result));
    TRY(weight_total(&total, (size_t)of->N, of->weight, of->N));
    struct cross_entropy e = {};
    e.parts = total + 1, e.total = total;
    e.dlogits = of->dlogits, e.logits = of->logits, e.target = of->target, e.weight = of->weight;
    e.stride = (size_t)of->stride, e.at = (size_t)of->at, e.padded = (size_t)of->V;
    e.target_stride = of->target_stride, e.N = of->N, e.V = of->V, e.channels = 1;
    if (of->N > 0)
        TRY(cross_entropy_rows(&e));
    return loss_total(result, e.parts, (size_t)of->N);
}

/* ---- a head of several channels */

struct head : k_token_head {
    int padded; /* classes of a channel */
    int rows;   /* of a chunk */
    /* scratch memory */
    double *total, *parts; /* (1), (N, channels) */
    float *w_padded, *dw_padded,
        *logits; /* (channels padded, C) twice where padded; (rows, channels padded) */
    /* bf16 copies of w, inp and the gradient of the logits where products are in bf16, else NULL */
    __nv_bfloat16 *w_bf16, *inp_bf16, *dlogits;
    int stride; /* stride of rows of the first two */
};

/* Copies plain weights into padded ones or, with ADD, adds the padded gradient to the plain one. */
template <bool ADD>
static __global__ void __launch_bounds__(THREADS)
    head_pad_kernel(float *plain_sum, float *padded, const float *plain, const struct head h)
{
    const size_t C = (size_t)h.C, width = (size_t)h.padded * C, used = (size_t)h.V * C;
    for (size_t i = k_cuda_first(); i < (size_t)h.channels * width; i += k_cuda_step()) {
        const size_t channel = i / width, at = i - channel * width;
        if (!ADD)
            padded[i] = at < used ? plain[channel * used + at] : 0;
        else if (at < used)
            plain_sum[channel * used + at] += padded[i];
    }
}

/* Rows start .. start + rows - 1. dw receives their gradient; `add`: it is added to dw,
 * otherwise it overwrites dw. */
static int head_chunk(const struct head *h, float *dw, bool add, int start, int rows)
{
    const int OC = h->padded * h->channels;
    const size_t first = (size_t)start, C = (size_t)h->C;
    struct k_cuda_matmul m = {};
    m.precision = k_cuda_precision();
    m.M = rows, m.N = OC, m.K = h->C;
    const __nv_bfloat16 *inp = h->inp_bf16 ? h->inp_bf16 + first * (size_t)h->stride : NULL;
    m.a = h->inp + first * C, m.a_bf16 = inp, m.a_stride = h->stride;
    m.b = h->w_padded, m.b_bf16 = h->w_bf16, m.b_stride = h->stride, m.b_transposed = true;
    m.out = h->logits;
    TRY(k_cuda_matmul(&m));
    struct cross_entropy e = {};
    e.parts = h->parts + first * (size_t)h->channels, e.total = h->total;
    e.dlogits = h->logits, e.logits = h->logits, e.dlogits_bf16 = h->dlogits;
    e.target = h->target + first * (size_t)h->channels;
    e.weight = h->weight ? h->weight + first : NULL;
    e.stride = (size_t)OC, e.padded = (size_t)h->padded;
    e.target_stride = h->channels, e.N = rows, e.V = h->V, e.channels = h->channels;
    TRY(cross_entropy_rows(&e));
    m.N = h->C, m.K = OC;
    m.a = h->logits, m.a_bf16 = h->dlogits, m.a_stride = OC, m.b_transposed = false;
    m.out = h->dinp + first * C;
    TRY(k_cuda_matmul(&m));
    m.M = OC, m.K = rows;
    m.a_transposed = true, m.b = h->inp + first * C, m.b_bf16 = inp;
    m.out = dw, m.add = add ? dw : NULL;
    return k_cuda_matmul(&m);
}

/* Chooses the chunk size and reserves scratch memory. */
static int head_prepare(struct head *h)
{
    h->padded = (int)up_to((size_t)h->V, ALIGN);
    const size_t OC = (size_t)h->padded * (size_t)h->channels, N = (size_t)h->N;
    const size_t most = up_to(chunk_bytes / (OC * sizeof(float)) + 1, CHUNK);
    const size_t chunks = (N + most - 1) / most;
    h->rows = (int)up_to((N + chunks - 1) / chunks, CHUNK); /* chunks of about equal size */
    const size_t parts = up_to(N * (size_t)h->channels + 1, 2) * sizeof(double);
    const size_t weights = h->padded != h->V ? OC * (size_t)h->C : 0;
    const size_t logits = ((size_t)h->rows < N ? (size_t)h->rows : N) * OC;
    const bool bf16 = k_cuda_precision() == K_PRECISION_BF16;
    void *memory;
    TRY(k_cuda_scratch(K_CUDA_SLOT_LOGITS,
                       (up_to(weights, 8) * 2 + logits) * sizeof(float) + parts +
                           (bf16 ? logits * sizeof(__nv_bfloat16) : 0),
                       &memory));
    /* sizes are multiples of 16 bytes, so that all parts are aligned */
    h->logits = (float *)memory;
    float *after = h->logits + logits;
    if (bf16) {
        h->dlogits = (__nv_bfloat16 *)(void *)after;
        after += logits / 2;
    }
    h->w_padded = after;
    h->dw_padded = h->w_padded + up_to(weights, 8);
    h->total = (double *)(h->dw_padded + up_to(weights, 8));
    h->parts = h->total + 1;
    return 0;
}

/* Rounds the operands that all chunks share, once. */
static int head_round(struct head *h)
{
    const int OC = h->padded * h->channels;
    if (!h->dlogits)
        return 0;
    TRY(k_cuda_round(K_CUDA_SLOT_HEAD_W, h->w_padded, OC, h->C, &h->w_bf16, &h->stride));
    return k_cuda_round(K_CUDA_SLOT_HEAD_INP, h->inp, h->N, h->C, &h->inp_bf16, &h->stride);
}

static int cuda_head_cross_entropy(double *loss, const struct k_token_head *of)
{
    struct head h = {};
    static_cast<k_token_head &>(h) = *of;
    double *result;
    TRY(k_cuda_result(loss, &result));
    if (h.N == 0)
        return loss_total(result, NULL, 0);
    TRY(head_prepare(&h));
    const bool padded = h.padded != h.V;
    const int blocks = k_cuda_blocks((size_t)h.padded * (size_t)h.channels * (size_t)h.C, THREADS);
    if (padded)
        TRY(K_LAUNCH(head_pad_kernel<false>, blocks, THREADS, 0, (float *)NULL, h.w_padded, h.w,
                     h));
    else
        h.w_padded = (float *)h.w; /* only read */
    TRY(head_round(&h));
    TRY(K_LAUNCH(weight_total_kernel, 1, TOTAL, 0, h.total, h.weight, h.N));
    for (int start = 0; start < h.N; start += h.rows) {
        const int rows = h.N - start < h.rows ? h.N - start : h.rows;
        TRY(head_chunk(&h, padded ? h.dw_padded : h.dw, !padded || start > 0, start, rows));
    }
    if (padded)
        TRY(K_LAUNCH(head_pad_kernel<true>, blocks, THREADS, 0, h.dw, h.dw_padded,
                     (const float *)NULL, h));
    return loss_total(result, h.parts, (size_t)h.N * (size_t)h.channels);
}

/* ---- regression */

/* sqrt(1 + s^2 / delta^2) of the row that begins at `first`. Each element's thread sums its
 * whole row, because rows are short: two coordinates or a force. */
static __device__ __forceinline__ double row_root(const struct k_regression &r, size_t first)
{
    double square = 0;
    for (int c = 0; c < r.C; c++) {
        const double d = (double)r.pred[first + (size_t)c] - (double)r.target[first + (size_t)c];
        square += d * d;
    }
    return sqrt(1 + square / (r.delta * r.delta));
}

static __global__ void __launch_bounds__(THREADS)
    regression_kernel(double *parts, const double *total, const struct k_regression r)
{
    __shared__ double shared[K_WARP];
    const size_t C = (size_t)r.C;
    double sum = 0;
    for (size_t i = k_cuda_first(); i < (size_t)r.N * C; i += k_cuda_step()) {
        const double w = r.weight ? (double)r.weight[i / C] : 1;
        const double share = *total > 0 ? w / (*total * r.C) : 0;
        /* a row of weight 0 may hold infinity for "no label" */
        const double difference = share != 0 ? (double)r.pred[i] - (double)r.target[i] : 0;
        const double root = r.delta > 0 && share != 0 ? row_root(r, i - i % C) : 1;
        /* the row's loss is share 2 s^2 / (root + 1), and s^2 is the sum of these squares */
        sum += share * difference * difference * 2 / (root + 1);
        if (r.dpred)
            r.dpred[i] = (float)(2 * share / root * difference);
    }
    sum = k_cuda_block_sum(sum, shared);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
}

static int cuda_regression(double *loss, const struct k_regression *r)
{
    const size_t n = (size_t)r->N * (size_t)r->C, wanted = n / PIECE + 1;
    const int pieces = (int)(wanted < (size_t)PIECES ? wanted : (size_t)PIECES);
    double *result, *total;
    TRY(k_cuda_result(loss, &result));
    TRY(weight_total(&total, (size_t)pieces, r->weight, r->N));
    double *const parts = total + 1;
    TRY(K_LAUNCH(regression_kernel, pieces, THREADS, 0, parts, (const double *)total, *r));
    return loss_total(result, parts, (size_t)pieces);
}

void k_cuda_install_loss(struct k_ops *ops)
{
    ops->cross_entropy = cuda_cross_entropy;
    ops->head_cross_entropy = cuda_head_cross_entropy;
    ops->regression = cuda_regression;
}
