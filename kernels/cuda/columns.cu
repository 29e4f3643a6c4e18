/* columns.cu - one pass over the gradient of a linear layer's output. It computes the column
 * sums (the gradient of the bias), the bf16 copy that both products read, and before them the
 * gradient of GELU.
 *
 * A block of 8 warps takes 256 columns of a chunk of rows: a lane takes 8 columns, a warp every
 * eighth row. The sums of the warps are added in order and written as one line of partial sums
 * per chunk; a second kernel adds the chunks in order. The number of chunks depends on the shape
 * alone. */
#include "kernels/scalar.h"
#include "matmul.h"
#include "load_store.h"

enum {
    THREADS = 256,
    WARPS = THREADS / K_WARP,
    ACROSS = K_WARP * K_EIGHT, /* columns of a block */
    BLOCKS = 660,              /* 5 blocks on each of 132 multiprocessors: all run at once */
    LEAST = 4 * WARPS,         /* rows of a chunk */
};

struct columns {
    int rows, columns, chunk, stride; /* chunk: rows of a block; stride: of the copy */
    __nv_bfloat16 *copy;              /* or NULL */
    float *partial;                   /* (chunks, columns) or NULL */
};

/* Column number k of the eight of this lane. */
template <bool WIDE> static __device__ __forceinline__ int column(int k)
{
    const int first = (int)(blockIdx.x * ACROSS), lane = (int)(threadIdx.x % K_WARP);
    return first + (WIDE ? K_EIGHT * lane + k : lane + K_WARP * k);
}

/* Loads the lane's columns of a row, whose first column is at `row`; 0 beyond the last. */
template <bool WIDE, typename T>
static __device__ __forceinline__ struct k_cuda_eight load(const T *row, int columns)
{
    struct k_cuda_eight e = {};
    if (WIDE) {
        if (column<WIDE>(0) < columns)
            e = k_cuda_get8(row + column<WIDE>(0));
    } else {
#pragma unroll
        for (int k = 0; k < K_EIGHT; k++)
            if (column<WIDE>(k) < columns)
                e.x[k] = k_cuda_get(row + column<WIDE>(k));
    }
    return e;
}

template <bool WIDE, typename T>
static __device__ __forceinline__ void store(T *row, const struct k_cuda_eight &e, int columns)
{
    if (WIDE) {
        if (column<WIDE>(0) < columns)
            k_cuda_put8(row + column<WIDE>(0), e);
    } else {
#pragma unroll
        for (int k = 0; k < K_EIGHT; k++)
            if (column<WIDE>(k) < columns)
                k_cuda_put(row + column<WIDE>(k), e.x[k]);
    }
}

/* Writes a line of partial sums, added up over the warps. */
template <bool WIDE>
static __device__ __forceinline__ void finish_chunk(const struct columns &c,
                                                    const struct k_cuda_eight &sum)
{
    __shared__ float sums[WARPS][ACROSS];
    const int first = (int)(blockIdx.x * ACROSS);
#pragma unroll
    for (int k = 0; k < K_EIGHT; k++)
        sums[threadIdx.x / K_WARP][column<WIDE>(k) - first] = sum.x[k];
    __syncthreads();
    const int mine = first + (int)threadIdx.x;
    if (mine >= c.columns)
        return;
    float all = sums[0][threadIdx.x];
    for (int w = 1; w < WARPS; w++)
        all += sums[w][threadIdx.x];
    c.partial[(size_t)blockIdx.y * (size_t)c.columns + (size_t)mine] = all;
}

template <typename T> static __device__ __forceinline__ float slope_of(float x)
{
    return sizeof(T) == sizeof(float) ? k_gelu_slope(x) : k_gelu_slope_bf16(x);
}

/* dpre may be x: the thread that writes a number has read it before. */
template <typename T, bool GELU, bool WIDE>
static __global__ void __launch_bounds__(THREADS)
    k_columns(const struct columns c, T *dpre, const T *x, const T *pre)
{
    const int first = (int)blockIdx.y * c.chunk, end = min(first + c.chunk, c.rows);
    struct k_cuda_eight sum = {};
#pragma unroll 2
    for (int row = first + (int)(threadIdx.x / K_WARP); row < end; row += WARPS) {
        const size_t at = (size_t)row * (size_t)c.columns;
        struct k_cuda_eight v = load<WIDE>(x + at, c.columns);
        if (GELU) {
            const struct k_cuda_eight p = load<WIDE>(pre + at, c.columns);
#pragma unroll
            for (int k = 0; k < K_EIGHT; k++)
                v.x[k] *= slope_of<T>(p.x[k]);
            store<WIDE>(dpre + at, v, c.columns);
        }
        if (c.copy)
            store<WIDE>(c.copy + (size_t)row * (size_t)c.stride, v, c.columns);
#pragma unroll
        for (int k = 0; k < K_EIGHT; k++)
            sum.x[k] += v.x[k];
    }
    if (c.partial)
        finish_chunk<WIDE>(c, sum);
}

/* out (columns) += sums of partial (chunks, columns). A block takes 32 columns: warp w adds chunks
 * w, w + 8, ..., then the first warp adds the sums of the warps in order. */
static __global__ void __launch_bounds__(THREADS)
    k_columns_finish(float *__restrict__ out, const float *__restrict__ partial, int chunks,
                     int columns)
{
    __shared__ float sums[WARPS][K_WARP];
    const int lane = (int)(threadIdx.x % K_WARP), warp = (int)(threadIdx.x / K_WARP);
    const int c = (int)blockIdx.x * K_WARP + lane;
    float sum = 0;
    for (int i = warp; c < columns && i < chunks; i += WARPS)
        sum += partial[(size_t)i * (size_t)columns + (size_t)c];
    sums[warp][lane] = sum;
    __syncthreads();
    if (warp != 0 || c >= columns)
        return;
    for (int w = 1; w < WARPS; w++)
        sum += sums[w][lane];
    out[c] += sum;
}

template <typename T, bool GELU>
static int launch(const struct k_cuda_columns *k, const struct columns *c, dim3 grid)
{
    const bool wide = c->columns % K_EIGHT == 0 && k_cuda_aligned(k->x) && k_cuda_aligned(k->pre) &&
                      k_cuda_aligned(k->dpre);
    if (wide)
        return K_LAUNCH((k_columns<T, GELU, true>), grid, THREADS, 0, *c, (T *)k->dpre,
                        (const T *)k->x, (const T *)k->pre);
    return K_LAUNCH((k_columns<T, GELU, false>), grid, THREADS, 0, *c, (T *)k->dpre,
                    (const T *)k->x, (const T *)k->pre);
}

int k_cuda_columns(const struct k_cuda_columns *k)
{
    struct columns c = {};
    if (!k->rows || !k->columns)
        return 0;
    const int across = (k->columns + ACROSS - 1) / ACROSS;
    const int wanted = across < BLOCKS ? BLOCKS / across : 1;
    const int even = (k->rows + wanted - 1) / wanted;
    c.rows = k->rows;
    c.columns = k->columns;
    c.chunk = even > LEAST ? even : (int)LEAST;
    c.stride = k_cuda_round_stride(k->columns);
    c.copy = k->copy;
    const int chunks = (k->rows + c.chunk - 1) / c.chunk;
    if (k->sums) {
        void *memory;
        TRY(k_cuda_scratch(K_CUDA_SLOT_PARTIAL, (size_t)chunks * (size_t)k->columns * sizeof(float),
                           &memory));
        c.partial = (float *)memory;
    }
    const dim3 grid((unsigned)across, (unsigned)chunks);
    if (k->pre)
        TRY((k->bf16 ? launch<__nv_bfloat16, true>(k, &c, grid)
                     : launch<float, true>(k, &c, grid)));
    else
        TRY((k->bf16 ? launch<__nv_bfloat16, false>(k, &c, grid)
                     : launch<float, false>(k, &c, grid)));
    if (!k->sums)
        return 0;
    return K_LAUNCH(k_columns_finish, (k->columns + K_WARP - 1) / K_WARP, THREADS, 0, k->sums,
                    (const float *)c.partial, chunks, k->columns);
}
