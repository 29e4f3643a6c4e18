/* embed.cu - the embedding of the CUDA backend: rows of a table by token.
 *
 * Backward adds rows of dout from anywhere in the batch, without atomics on floats. A stable
 * counting sort orders the positions by token; each warp counts its own range of positions, so
 * that the order does not depend on timing. The sorted list is divided into pieces of 32
 * positions, and a warp adds the rows of a piece, token by token. A token that spans several
 * pieces leaves one sum per piece, which a last kernel adds in order.
 *
 * A token that is not below V cannot be reported as an error, since the host does not see it.
 * Its row of the output is NaN, which makes the loss NaN, and its gradient is dropped. */
#include "reduce.h"

#include <math.h>

enum {
    THREADS = 256,
    PIECE = K_WARP, /* sorted positions in a piece */
    RANGES = 64,    /* most ranges of positions that are counted separately */
    RANGE = 128,    /* positions per range where there are fewer ranges */
    SCAN = 1024,    /* threads of the prefix sum of the counts */
};

/* ---- forward */

template <bool WIDE>
static __global__ void __launch_bounds__(THREADS) embed_kernel(const struct k_embedding e)
{
    const int lane = (int)(threadIdx.x % K_WARP);
    for (size_t n = k_cuda_first() / K_WARP; n < (size_t)e.N; n += k_cuda_step() / K_WARP) {
        const int t = e.token[n * (size_t)e.token_stride];
        const float *from = e.table + (size_t)t * (size_t)e.C;
        float *to = e.out + n * (size_t)e.stride + e.at;
        if (WIDE)
            for (int i = lane; i < e.C / 4; i += K_WARP)
                ((float4 *)to)[i] =
                    t < e.V ? ((const float4 *)from)[i] : make_float4(NAN, NAN, NAN, NAN);
        else
            for (int c = lane; c < e.C; c += K_WARP)
                to[c] = t < e.V ? from[c] : NAN;
    }
}

static bool wide_rows(const struct k_embedding *e, const float *table, const float *rows)
{
    return e->C % 4 == 0 && e->stride % 4 == 0 && e->at % 4 == 0 && k_cuda_aligned(table) &&
           k_cuda_aligned(rows);
}

static int cuda_embed_forward(const struct k_embedding *e)
{
    if (e->N == 0)
        return 0;
    const int blocks = k_cuda_blocks((size_t)e->N * K_WARP, THREADS);
    if (wide_rows(e, e->table, e->out))
        return K_LAUNCH(embed_kernel<true>, blocks, THREADS, 0, *e);
    return K_LAUNCH(embed_kernel<false>, blocks, THREADS, 0, *e);
}

/* ---- backward */

struct embed_backward : k_embedding {
    /* (pieces, 2, C): sum of the token that began in an earlier piece, and of the token that
     * continues in the next */
    float *partial;
    int ranges, pieces;
    /* (ranges, V) counts, then the number of a token's positions in earlier ranges */
    unsigned *count;
    unsigned *start;  /* (V + 1) where each token's positions begin in `order` */
    unsigned *order;  /* (N) positions, sorted by token */
    uint16_t *sorted; /* (N) their tokens */
};

/* The lanes that hold the same token; 0 for lanes without a token. */
static __device__ __forceinline__ unsigned lanes_of_token(unsigned token, bool there)
{
    unsigned peers = __ballot_sync(K_CUDA_ALL_LANES, there);
#pragma unroll
    for (int bit = 0; bit < 16; bit++) {
        const bool set = (token >> bit & 1U) != 0;
        const unsigned lanes = __ballot_sync(K_CUDA_ALL_LANES, set);
        peers &= set ? lanes : ~lanes;
    }
    return there ? peers : 0;
}

/* One warp goes through range number blockIdx.x, 32 positions at a time. It counts the tokens of
 * the range or, with PLACE, writes the positions in sorted order. */
template <bool PLACE> static __global__ void embed_sort_kernel(const struct embed_backward e)
{
    const size_t range = blockIdx.x, N = (size_t)e.N, end = (range + 1) * N / gridDim.x;
    unsigned *count = e.count + range * (size_t)e.V;
    const unsigned lane = threadIdx.x, below = (1U << lane) - 1;
    for (size_t first = range * N / gridDim.x; first < end; first += K_WARP) {
        const size_t n = first + lane;
        const unsigned t = n < end ? e.token[n * (size_t)e.token_stride] : 0;
        const bool there = n < end && t < (unsigned)e.V;
        const unsigned peers = lanes_of_token(t, there);
        const bool leader = there && (peers & below) == 0;
        if (PLACE && there) {
            const size_t to = e.start[t] + count[t] + (size_t)__popc(peers & below);
            e.order[to] = (unsigned)n;
            e.sorted[to] = (uint16_t)t;
        }
        __syncwarp(); /* counts are read before they change */
        if (leader)
            count[t] += (unsigned)__popc(peers);
        __syncwarp(); /* and changed before they are read for the next 32 positions */
    }
}

/* Replaces count (ranges, V) by the number of occurrences in earlier ranges; start[t] = total
 * occurrences of token t. */
static __global__ void embed_count_kernel(const struct embed_backward e)
{
    for (size_t t = k_cuda_first(); t < (size_t)e.V; t += k_cuda_step()) {
        unsigned sum = 0;
        for (int range = 0; range < e.ranges; range++) {
            unsigned *count = e.count + (size_t)range * (size_t)e.V + t;
            const unsigned here = *count;
            *count = sum;
            sum += here;
        }
        e.start[t] = sum;
    }
}

/* Replaces start (V + 1) by its exclusive prefix sums. One block of SCAN threads. */
static __global__ void __launch_bounds__(SCAN) embed_scan_kernel(unsigned *start, int V)
{
    __shared__ unsigned sums[SCAN / K_WARP];
    const int share = (V + SCAN - 1) / SCAN, lane = (int)(threadIdx.x % K_WARP);
    const int begin = min((int)threadIdx.x * share, V), end = min(begin + share, V);
    const unsigned warp = threadIdx.x / K_WARP;
    unsigned own = 0;
    for (int t = begin; t < end; t++)
        own += start[t];
    unsigned sum = own; /* sum over this and the lower lanes */
#pragma unroll
    for (int by = 1; by < K_WARP; by *= 2) {
        const unsigned lower = __shfl_up_sync(K_CUDA_ALL_LANES, sum, (unsigned)by);
        sum += lane >= by ? lower : 0;
    }
    if (lane == K_WARP - 1)
        sums[warp] = sum;
    __syncthreads();
    sum -= own;
    for (unsigned w = 0; w < warp; w++)
        sum += sums[w];
    for (int t = begin; t < end; t++) {
        const unsigned here = start[t];
        start[t] = sum;
        sum += here;
    }
    if (threadIdx.x == SCAN - 1)
        start[V] = sum;
}

/* T: the columns of a lane, float or float4. */
static __device__ __forceinline__ void columns_add(float *to, float x)
{
    *to += x;
}

static __device__ __forceinline__ void columns_add(float4 *to, float4 x)
{
    to->x += x.x, to->y += x.y, to->z += x.z, to->w += x.w;
}

/* Stores the sum of a token in a piece, columns from c on: into the table, or among the partial
 * sums where the token spans several pieces. */
template <typename T>
static __device__ __forceinline__ void put_sum(const struct embed_backward *e, size_t piece,
                                               unsigned token, int c, T sum)
{
    const size_t begin = piece * PIECE, C = (size_t)e->C;
    const size_t start = e->start[token], end = e->start[token + 1];
    const bool before = start < begin;
    if (c >= e->C)
        return;
    if (before || end > begin + PIECE)
        *(T *)(e->partial + (2 * piece + (before ? 0 : 1)) * C + (size_t)c) = sum;
    else
        columns_add((T *)(e->dtable + (size_t)token * C + (size_t)c), sum);
}

/* A warp takes a piece of 32 sorted positions and one group of columns, one T per lane. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) embed_sum_kernel(const struct embed_backward e)
{
    const int across = (int)(sizeof(T) / sizeof(float)), lane = (int)(threadIdx.x % K_WARP);
    const size_t tiles = ((size_t)e.C + K_WARP * across - 1) / (size_t)(K_WARP * across);
    const size_t entries = e.start[e.V];
    enum { AHEAD = 4 }; /* rows being loaded at once */
    for (size_t i = k_cuda_first() / K_WARP; i < (size_t)e.pieces * tiles;
         i += k_cuda_step() / K_WARP) {
        const size_t piece = i / tiles, begin = piece * PIECE;
        const int c = ((int)(i - piece * tiles) * K_WARP + lane) * across;
        const int count = (int)min(entries > begin ? entries - begin : 0, (size_t)PIECE);
        const unsigned row = lane < count ? e.order[begin + lane] : 0;
        const unsigned token = lane < count ? e.sorted[begin + lane] : 0;
        T sum = {};
        for (int first = 0; first < count; first += AHEAD) {
            T x[AHEAD] = {};
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                const size_t n = __shfl_sync(K_CUDA_ALL_LANES, row, (first + k) % K_WARP);
                if (first + k < count && c < e.C)
                    x[k] = *(const T *)(e.dout + n * (size_t)e.stride + e.at + c);
            }
            for (int k = 0; k < AHEAD && first + k < count; k++) {
                const int j = first + k;
                const unsigned t = __shfl_sync(K_CUDA_ALL_LANES, token, j);
                const unsigned next = __shfl_sync(K_CUDA_ALL_LANES, token, (j + 1) % K_WARP);
                columns_add(&sum, x[k]);
                if (j + 1 == count || next != t) {
                    put_sum(&e, piece, t, c, sum);
                    sum = {};
                }
            }
        }
    }
}

/* A warp takes a piece in which a token begins that continues in the next piece. It adds the
 * partial sums of that token from this and the later pieces. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) embed_over_kernel(const struct embed_backward e)
{
    const int across = (int)(sizeof(T) / sizeof(float)), lane = (int)(threadIdx.x % K_WARP);
    const size_t tiles = ((size_t)e.C + K_WARP * across - 1) / (size_t)(K_WARP * across);
    const size_t entries = e.start[e.V], C = (size_t)e.C;
    for (size_t i = k_cuda_first() / K_WARP; i < (size_t)e.pieces * tiles;
         i += k_cuda_step() / K_WARP) {
        const size_t piece = i / tiles, begin = piece * PIECE;
        const int c = ((int)(i - piece * tiles) * K_WARP + lane) * across;
        if (begin + PIECE >= entries || c >= e.C)
            continue;
        const unsigned token = e.sorted[begin + PIECE - 1];
        const size_t start = e.start[token], end = e.start[token + 1];
        if (start < begin || end <= begin + PIECE)
            continue;
        T sum = *(const T *)(e.partial + (2 * piece + 1) * C + (size_t)c);
        for (size_t p = piece + 1; p * PIECE < end; p++)
            columns_add(&sum, *(const T *)(e.partial + 2 * p * C + (size_t)c));
        columns_add((T *)(e.dtable + (size_t)token * C + (size_t)c), sum);
    }
}

/* Divides the scratch memory; the partial sums come first, since they need the largest
 * alignment. */
static int embed_scratch(struct embed_backward *e)
{
    const size_t N = (size_t)e->N, V = (size_t)e->V;
    const size_t partial = 2 * (size_t)e->pieces * (size_t)e->C;
    const size_t counts = (size_t)e->ranges * V;
    void *memory;
    TRY(k_cuda_scratch(K_CUDA_SLOT_PARTIAL, 4 * (partial + counts + V + 1 + N) + 2 * N, &memory));
    e->partial = (float *)memory;
    e->count = (unsigned *)(e->partial + partial);
    e->start = e->count + counts;
    e->order = e->start + V + 1;
    e->sorted = (uint16_t *)(e->order + N);
    return k_cuda_check(cudaMemsetAsync(e->count, 0, counts * sizeof *e->count, k_cuda_stream()),
                        "clearing the counts of the embedding");
}

template <typename T> static int embed_sums(const struct embed_backward *e)
{
    const size_t lanes =
        ((size_t)e->C * sizeof(float) + sizeof(T) * K_WARP - 1) / (sizeof(T) * K_WARP) * K_WARP;
    const int blocks = k_cuda_blocks((size_t)e->pieces * lanes, THREADS);
    TRY(K_LAUNCH(embed_sum_kernel<T>, blocks, THREADS, 0, *e));
    return K_LAUNCH(embed_over_kernel<T>, blocks, THREADS, 0, *e);
}

static int cuda_embed_backward(const struct k_embedding *embedding)
{
    const int N = embedding->N, V = embedding->V;
    if (N == 0)
        return 0;
    struct embed_backward e = {};
    static_cast<k_embedding &>(e) = *embedding;
    e.ranges = N / RANGE + 1 < RANGES ? N / RANGE + 1 : RANGES;
    e.pieces = (N + PIECE - 1) / PIECE;
    TRY(embed_scratch(&e));
    TRY(K_LAUNCH(embed_sort_kernel<false>, e.ranges, K_WARP, 0, e));
    TRY(K_LAUNCH(embed_count_kernel, k_cuda_blocks((size_t)V, THREADS), THREADS, 0, e));
    TRY(K_LAUNCH(embed_scan_kernel, 1, SCAN, 0, e.start, V));
    TRY(K_LAUNCH(embed_sort_kernel<true>, e.ranges, K_WARP, 0, e));
    return wide_rows(&e, e.dtable, e.dout) ? embed_sums<float4>(&e) : embed_sums<float>(&e);
}

void k_cuda_install_embed(struct k_ops *ops)
{
    ops->embed_forward = cuda_embed_forward;
    ops->embed_backward = cuda_embed_backward;
}
