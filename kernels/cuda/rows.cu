/* rows.cu - operations of the CUDA backend on rows: layer norm, positions.
 *
 * Layer norm forward: a warp per row, the row stays in registers where it has at most 2048
 * columns that can be loaded 16 bytes at a time, and is read again (from the cache) otherwise.
 * Statistics are two passes in float: the mean, then the variance around it.
 *
 * Layer norm backward reads everything once: a block takes a range of rows, each thread the same
 * four columns of every row, so that sums down the columns stay in registers; they are written
 * at the end, one line of partial sums per range, and added in order by a second kernel. The
 * number of ranges depends on the shape alone.
 *
 * The output of the forward pass and its gradient may be bf16. */
#include "load_store.h"

#include <limits.h>

enum {
    THREADS = 256,
    ACROSS = 4,      /* columns of a thread in layer norm backward */
    WIDEST = 4096,   /* most columns of a row, for a block of 1024 such threads */
    BATCH = 2,       /* rows processed together, with one barrier for both */
    RANGES = 528,    /* 4 blocks of 256 threads on each of 132 multiprocessors */
    RANGE_LEAST = 4, /* least rows of a range */
};

/* ---- layer norm forward */

static __device__ __forceinline__ float sum4(float4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}

static __device__ __forceinline__ float squares4(float4 v, float mean)
{
    const float x = v.x - mean, y = v.y - mean, z = v.z - mean, w = v.w - mean;
    return (x * x + y * y) + (z * z + w * w);
}

static __device__ __forceinline__ float rstd_of(float squares, int C)
{
    return 1.0f / sqrtf(squares / (float)C + 1e-5f);
}

/* out = (x - mean) rstd gamma + beta of four columns */
static __device__ __forceinline__ float4 normalised4(float4 x, float mean, float rstd, float4 gamma,
                                                     float4 beta)
{
    return make_float4(
        (x.x - mean) * rstd * gamma.x + beta.x, (x.y - mean) * rstd * gamma.y + beta.y,
        (x.z - mean) * rstd * gamma.z + beta.z, (x.w - mean) * rstd * gamma.w + beta.w);
}

/* The arguments of both passes; T: the type of out and dout. */
template <typename T> struct layernorm {
    int N, C;
    const float *x, *gamma, *beta;
    float *mean, *rstd;
    T *out;
    const T *dout;
    float *dx;
    __nv_bfloat16 *copy; /* bf16 copy of dx, or NULL */
    float *partial;      /* (ranges, lines, C): sums of dout h, of dout and, with 3 lines, of dx */
    int ranges, lines;
};

/* Keeps the row in registers: C <= 128 VECS, C % 4 == 0, all pointers aligned to 16 bytes. */
template <int VECS, typename T>
static __global__ void __launch_bounds__(THREADS) layernorm_kept_kernel(const struct layernorm<T> l)
{
    const int lane = (int)(threadIdx.x % K_WARP), vecs = l.C / 4;
    for (size_t n = k_cuda_first() / K_WARP; n < (size_t)l.N; n += k_cuda_step() / K_WARP) {
        const float4 *row = (const float4 *)(l.x + n * (size_t)l.C);
        float4 v[VECS];
        float sum = 0, squares = 0;
#pragma unroll
        for (int k = 0; k < VECS; k++) {
            const int at = lane + k * K_WARP;
            v[k] = at < vecs ? row[at] : make_float4(0, 0, 0, 0);
            sum += sum4(v[k]);
        }
        const float m = k_cuda_warp_sum(sum) / (float)l.C;
#pragma unroll
        for (int k = 0; k < VECS; k++)
            squares += lane + k * K_WARP < vecs ? squares4(v[k], m) : 0;
        const float r = rstd_of(k_cuda_warp_sum(squares), l.C);
        T *to = l.out + n * (size_t)l.C;
#pragma unroll
        for (int k = 0; k < VECS; k++) {
            const int at = lane + k * K_WARP;
            if (at < vecs)
                k_cuda_put4(to + 4 * at,
                            normalised4(v[k], m, r, __ldg((const float4 *)l.gamma + at),
                                        __ldg((const float4 *)l.beta + at)));
        }
        if (lane == 0) {
            l.mean[n] = m;
            l.rstd[n] = r;
        }
    }
}

/* Any C, any alignment. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) layernorm_kernel(const struct layernorm<T> l)
{
    const int lane = (int)(threadIdx.x % K_WARP), C = l.C;
    for (size_t n = k_cuda_first() / K_WARP; n < (size_t)l.N; n += k_cuda_step() / K_WARP) {
        const float *row = l.x + n * (size_t)C;
        T *to = l.out + n * (size_t)C;
        float sum = 0, squares = 0;
        for (int c = lane; c < C; c += K_WARP)
            sum += row[c];
        const float m = k_cuda_warp_sum(sum) / (float)C;
        for (int c = lane; c < C; c += K_WARP)
            squares += (row[c] - m) * (row[c] - m);
        const float r = rstd_of(k_cuda_warp_sum(squares), C);
        for (int c = lane; c < C; c += K_WARP)
            k_cuda_put(to + c, (row[c] - m) * r * l.gamma[c] + l.beta[c]);
        if (lane == 0) {
            l.mean[n] = m;
            l.rstd[n] = r;
        }
    }
}

template <typename T> static int layernorm_forward(const struct layernorm<T> &l)
{
    if (l.N == 0)
        return 0;
    const int blocks = k_cuda_blocks((size_t)l.N * K_WARP, THREADS);
    const bool wide = l.C % 4 == 0 && k_cuda_aligned(l.out) && k_cuda_aligned(l.x) &&
                      k_cuda_aligned(l.gamma) && k_cuda_aligned(l.beta);
    const int vecs = wide ? (l.C + 4 * K_WARP - 1) / (4 * K_WARP) : INT_MAX;
    if (vecs <= 1)
        return K_LAUNCH((layernorm_kept_kernel<1, T>), blocks, THREADS, 0, l);
    if (vecs <= 2)
        return K_LAUNCH((layernorm_kept_kernel<2, T>), blocks, THREADS, 0, l);
    if (vecs <= 4)
        return K_LAUNCH((layernorm_kept_kernel<4, T>), blocks, THREADS, 0, l);
    if (vecs <= 6)
        return K_LAUNCH((layernorm_kept_kernel<6, T>), blocks, THREADS, 0, l);
    if (vecs <= 8)
        return K_LAUNCH((layernorm_kept_kernel<8, T>), blocks, THREADS, 0, l);
    if (vecs <= 16)
        return K_LAUNCH((layernorm_kept_kernel<16, T>), blocks, THREADS, 0, l);
    return K_LAUNCH(layernorm_kernel<T>, blocks, THREADS, 0, l);
}

/* ---- layer norm backward: with h = (x - mean) rstd and g = dout gamma,
 * dx += rstd (g - mean(g) - h mean(g h)); dgamma += dout h; dbeta += dout */

/* Column number k of the four of this thread. */
template <bool WIDE> static __device__ __forceinline__ unsigned column(int k)
{
    return WIDE ? ACROSS * threadIdx.x + (unsigned)k : threadIdx.x + (unsigned)k * blockDim.x;
}

/* Loads the thread's four columns of a row; 0 beyond the last. */
template <bool WIDE, typename T>
static __device__ __forceinline__ void load_columns(float to[ACROSS], const T *row, int C)
{
    if (WIDE) {
        const float4 v = column<WIDE>(0) < (unsigned)C ? k_cuda_get4(row + column<WIDE>(0))
                                                       : make_float4(0, 0, 0, 0);
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else {
#pragma unroll
        for (int k = 0; k < ACROSS; k++)
            to[k] = column<WIDE>(k) < (unsigned)C ? k_cuda_get(row + column<WIDE>(k)) : 0;
    }
}

template <bool WIDE, typename T>
static __device__ __forceinline__ void store_columns(T *row, const float from[ACROSS], int C)
{
    if (WIDE) {
        if (column<WIDE>(0) < (unsigned)C)
            k_cuda_put4(row + column<WIDE>(0), make_float4(from[0], from[1], from[2], from[3]));
    } else {
#pragma unroll
        for (int k = 0; k < ACROSS; k++)
            if (column<WIDE>(k) < (unsigned)C)
                k_cuda_put(row + column<WIDE>(k), from[k]);
    }
}

/* Sums BATCH pairs of numbers over the block, with one barrier. The next call uses the other
 * half of `shared`, which is free when every thread has passed this call's barrier. */
static __device__ __forceinline__ void batch_sums(float sum[BATCH][2],
                                                  float shared[BATCH][2][K_WARP])
{
    const unsigned lane = threadIdx.x % K_WARP, warp = threadIdx.x / K_WARP;
#pragma unroll
    for (int i = 0; i < BATCH; i++)
#pragma unroll
        for (int k = 0; k < 2; k++) {
            sum[i][k] = k_cuda_warp_sum(sum[i][k]);
            if (lane == 0)
                shared[i][k][warp] = sum[i][k];
        }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BATCH; i++)
#pragma unroll
        for (int k = 0; k < 2; k++)
            sum[i][k] = k_cuda_warp_sum(lane < blockDim.x / K_WARP ? shared[i][k][lane] : 0.0f);
}

/* The grid is `ranges` blocks of at least C / 4 threads, C <= WIDEST. */
template <bool WIDE, typename D>
static __global__ void __launch_bounds__(1024)
    layernorm_backward_kernel(const struct layernorm<D> l)
{
    __shared__ float shared[2][BATCH][2][K_WARP];
    const size_t N = (size_t)l.N, C = (size_t)l.C;
    const size_t end = (blockIdx.x + 1) * N / gridDim.x;
    float gamma[ACROSS], dgamma[ACROSS] = {0}, dbeta[ACROSS] = {0}, dsum[ACROSS] = {0};
    load_columns<WIDE>(gamma, l.gamma, l.C);
    int turn = 0;
    for (size_t n = blockIdx.x * N / gridDim.x; n < end; n += BATCH, turn ^= 1) {
        float d[BATCH][ACROSS], h[BATCH][ACROSS], dx[BATCH][ACROSS];
        float sum[BATCH][2] = {{0}}, r[BATCH];
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            /* beyond the end, any row will do */
            const size_t row = n + (size_t)i < end ? n + (size_t)i : n;
            const float m = l.mean[row];
            r[i] = l.rstd[row];
            load_columns<WIDE>(d[i], l.dout + row * C, l.C);
            load_columns<WIDE>(h[i], l.x + row * C, l.C);
            load_columns<WIDE>(dx[i], l.dx + row * C, l.C);
#pragma unroll
            for (int k = 0; k < ACROSS; k++) {
                h[i][k] = (h[i][k] - m) * r[i];
                const float g = d[i][k] * gamma[k]; /* 0 beyond the last column */
                sum[i][0] += g;
                sum[i][1] += g * h[i][k];
            }
        }
        batch_sums(sum, shared[turn]);
#pragma unroll
        for (int i = 0; i < BATCH && n + (size_t)i < end; i++) {
            const float mean_g = sum[i][0] / (float)l.C, mean_gh = sum[i][1] / (float)l.C;
#pragma unroll
            for (int k = 0; k < ACROSS; k++) {
                dgamma[k] += d[i][k] * h[i][k];
                dbeta[k] += d[i][k];
                dx[i][k] += r[i] * (d[i][k] * gamma[k] - mean_g - h[i][k] * mean_gh);
                dsum[k] += dx[i][k];
            }
            store_columns<WIDE>(l.dx + (n + (size_t)i) * C, dx[i], l.C);
            if (l.copy)
                store_columns<WIDE>(l.copy + (n + (size_t)i) * C, dx[i], l.C);
        }
    }
    float *partial = l.partial + (size_t)blockIdx.x * (size_t)l.lines * C;
    store_columns<WIDE>(partial, dgamma, l.C);
    store_columns<WIDE>(partial + C, dbeta, l.C);
    if (l.lines > 2)
        store_columns<WIDE>(partial + 2 * C, dsum, l.C);
}

/* Rows of more than WIDEST columns: dx with a warp per row ... */
template <typename D>
static __global__ void layernorm_backward_rows_kernel(const struct layernorm<D> l)
{
    const int lane = (int)(threadIdx.x % K_WARP);
    for (size_t n = k_cuda_first() / K_WARP; n < (size_t)l.N; n += k_cuda_step() / K_WARP) {
        const D *dout = l.dout + n * (size_t)l.C;
        const float *x = l.x + n * (size_t)l.C;
        float *dx = l.dx + n * (size_t)l.C, sum_g = 0, sum_gh = 0;
        const float m = l.mean[n], r = l.rstd[n];
        for (int c = lane; c < l.C; c += K_WARP) {
            const float g = k_cuda_get(dout + c) * l.gamma[c];
            sum_g += g;
            sum_gh += g * ((x[c] - m) * r);
        }
        const float mean_g = k_cuda_warp_sum(sum_g) / (float)l.C;
        const float mean_gh = k_cuda_warp_sum(sum_gh) / (float)l.C;
        for (int c = lane; c < l.C; c += K_WARP) {
            dx[c] += r * (k_cuda_get(dout + c) * l.gamma[c] - mean_g - (x[c] - m) * r * mean_gh);
            if (l.copy)
                k_cuda_put(l.copy + n * (size_t)l.C + c, dx[c]);
        }
    }
}

/* ... and the partial sums with a thread per column and range of rows. */
template <typename D>
static __global__ void layernorm_backward_columns_kernel(const struct layernorm<D> l)
{
    const size_t C = (size_t)l.C, N = (size_t)l.N, ranges = (size_t)l.ranges;
    for (size_t i = k_cuda_first(); i < ranges * C; i += k_cuda_step()) {
        const size_t range = i / C, c = i - range * C, end = (range + 1) * N / ranges;
        float dgamma = 0, dbeta = 0, dsum = 0;
        for (size_t n = range * N / ranges; n < end; n++) {
            const float d = k_cuda_get(l.dout + n * C + c);
            dgamma += d * ((l.x[n * C + c] - l.mean[n]) * l.rstd[n]);
            dbeta += d;
            dsum += l.dx[n * C + c];
        }
        float *partial = l.partial + range * (size_t)l.lines * C + c;
        partial[0] = dgamma;
        partial[C] = dbeta;
        if (l.lines > 2)
            partial[2 * C] = dsum;
    }
}

/* Adds the columns of partial (ranges, lines C) to dgamma, dbeta and, with 3 lines, dx_sums. A
 * block takes 32 columns; warp w adds ranges w, w + warps, ..., then the first warp adds the
 * sums of the warps in order. */
static __global__ void layernorm_partial_kernel(float *dgamma, float *dbeta, float *dx_sums,
                                                const float *partial, int ranges, int lines, int C)
{
    __shared__ float sums[THREADS / K_WARP][K_WARP];
    const size_t width = (size_t)lines * (size_t)C;
    const size_t c = (size_t)blockIdx.x * K_WARP + threadIdx.x % K_WARP;
    const int lane = (int)(threadIdx.x % K_WARP), warp = (int)(threadIdx.x / K_WARP);
    float sum = 0;
    for (int i = warp; c < width && i < ranges; i += THREADS / K_WARP)
        sum += partial[(size_t)i * width + c];
    sums[warp][lane] = sum;
    __syncthreads();
    if (warp != 0 || c >= width)
        return;
    for (int w = 1; w < THREADS / K_WARP; w++)
        sum += sums[w][lane];
    if (c < (size_t)C)
        dgamma[c] += sum;
    else if (c < 2 * (size_t)C)
        dbeta[c - (size_t)C] += sum;
    else
        dx_sums[c - 2 * (size_t)C] += sum;
}

/* Number of ranges of rows for blocks of `threads` threads: more where blocks are small. */
static int range_count(int N, int threads)
{
    const int most = RANGES * (threads < THREADS ? THREADS / threads : 1);
    const int wanted = (N - 1) / RANGE_LEAST + 1;
    return wanted < most ? wanted : most;
}

template <typename D>
static int layernorm_backward(struct layernorm<D> l, float *dgamma, float *dbeta, float *dx_sums)
{
    const int C = l.C;
    if (l.N == 0)
        return 0;
    const int threads =
        C <= WIDEST ? (C + ACROSS * K_WARP - 1) / (ACROSS * K_WARP) * K_WARP : THREADS;
    void *partial;
    l.ranges = range_count(l.N, threads);
    l.lines = dx_sums ? 3 : 2;
    TRY(k_cuda_scratch(K_CUDA_SLOT_PARTIAL,
                       (size_t)l.ranges * (size_t)l.lines * (size_t)C * sizeof(float), &partial));
    l.partial = (float *)partial;
    if (C > WIDEST) {
        TRY(K_LAUNCH(layernorm_backward_rows_kernel<D>,
                     k_cuda_blocks((size_t)l.N * K_WARP, THREADS), THREADS, 0, l));
        TRY(K_LAUNCH(layernorm_backward_columns_kernel<D>,
                     k_cuda_blocks((size_t)l.ranges * (size_t)C, THREADS), THREADS, 0, l));
    } else if (C % 4 == 0 && k_cuda_aligned(l.dx) && k_cuda_aligned(l.copy) &&
               k_cuda_aligned(l.dout) && k_cuda_aligned(l.x) && k_cuda_aligned(l.gamma)) {
        TRY(K_LAUNCH((layernorm_backward_kernel<true, D>), l.ranges, threads, 0, l));
    } else {
        TRY(K_LAUNCH((layernorm_backward_kernel<false, D>), l.ranges, threads, 0, l));
    }
    return K_LAUNCH(layernorm_partial_kernel, (l.lines * C + K_WARP - 1) / K_WARP, THREADS, 0,
                    dgamma, dbeta, dx_sums, (const float *)partial, l.ranges, l.lines, C);
}

/* ---- the entries */

template <typename T> static struct layernorm<T> layernorm_of(const struct k_layernorm *norm) {
    struct layernorm<T> l = {
    };
    l.N = norm->N, l.C = norm->C;
    l.x = norm->x, l.gamma = norm->gamma, l.beta = norm->beta;
    l.mean = norm->mean, l.rstd = norm->rstd;
    l.out = (T *)(void *)norm->out;
    l.dout = (const T *)(const void *)norm->dout;
    l.dx = norm->dx;
    return l;
}

static int
cuda_layernorm_forward(const struct k_layernorm *norm)
{
    return norm->bf16 ? layernorm_forward(layernorm_of<__nv_bfloat16>(norm))
                      : layernorm_forward(layernorm_of<float>(norm));
}

static int cuda_layernorm_backward(const struct k_layernorm *norm)
{
    if (!norm->bf16)
        return layernorm_backward(layernorm_of<float>(norm), norm->dgamma, norm->dbeta, NULL);
    struct layernorm<__nv_bfloat16> l = layernorm_of<__nv_bfloat16>(norm);
    l.copy = (__nv_bfloat16 *)norm->dx_bf16;
    return layernorm_backward(l, norm->dgamma, norm->dbeta, norm->dx_sums);
}

/* ---- positions: a thread has one element of the table (T, C) and goes through the batch. Since
 * rows are n = b T + t, element j of the table belongs to elements j + b T C of x. */

static __global__ void position_forward_kernel(float *x, const float *table, size_t n, size_t width)
{
    for (size_t j = k_cuda_first(); j < width; j += k_cuda_step()) {
        const float add = table[j];
        for (size_t i = j; i < n; i += width)
            x[i] += add;
    }
}

static __global__ void position_backward_kernel(float *dtable, const float *dx, size_t n,
                                                size_t width)
{
    for (size_t j = k_cuda_first(); j < width; j += k_cuda_step()) {
        float sum = 0;
        for (size_t i = j; i < n; i += width)
            sum += dx[i];
        dtable[j] += sum;
    }
}

static int cuda_position_forward(float *x, const float *table, int N, int T, int C)
{
    const size_t width = (size_t)T * (size_t)C, n = (size_t)N * (size_t)C;
    if (n == 0)
        return 0;
    return K_LAUNCH(position_forward_kernel, k_cuda_blocks(width, THREADS), THREADS, 0, x, table, n,
                    width);
}

static int cuda_position_backward(float *dtable, const float *dx, int N, int T, int C)
{
    const size_t width = (size_t)T * (size_t)C, n = (size_t)N * (size_t)C;
    if (n == 0)
        return 0;
    return K_LAUNCH(position_backward_kernel, k_cuda_blocks(width, THREADS), THREADS, 0, dtable, dx,
                    n, width);
}

void k_cuda_install_rows(struct k_ops *ops)
{
    ops->layernorm_forward = cuda_layernorm_forward;
    ops->layernorm_backward = cuda_layernorm_backward;
    ops->position_forward = cuda_position_forward;
    ops->position_backward = cuda_position_backward;
}
