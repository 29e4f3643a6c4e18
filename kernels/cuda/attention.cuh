/* attention.cuh - tiles of attention scores; internal to the generic attention of this folder.
 *
 * A block owns TILE rows of one side, queries or keys, of one head, and goes through the tiles
 * of the other side that attend them or that they attend. `own` is the side of its rows and
 * results, `other` the side of the columns. A tile of scores holds the dot products of rows of
 * both sides, summed over TILE columns of D at a time; weights or gradients made of the scores
 * then multiply rows of `other`. Own rows are queries in the forward pass and for dq, keys for
 * dk and dv. Tiles of scores exist in shared memory only.
 *
 * Threads are mapped to a tile in two ways. In products a thread has ROWS x COLS numbers (rows
 * tile_row, columns tx + 16 j of scores or 4 tx + j of results). Between products a thread has
 * half a row, which its lane selects. Both mappings give a warp the same 16 rows, so that no
 * data passes between warps. Rows are STRIDE floats apart: 8 of them, read as float4, touch all
 * banks once, and so do the 4-row steps in which scores are written. */
#ifndef K_CUDA_ATTENTION_CUH
#define K_CUDA_ATTENTION_CUH

#include "cuda.h"
#include "kernels/attention_math.h"
#include "row_stats.h"

enum {
    TILE = 64,
    STRIDE = TILE + 4,
    THREADS = 128,
    ROWS = 8,
    COLS = 4,
    HALF = TILE / 2,
    QUADS = HALF / 4, /* float4 in half a row */
};

/* The arguments of all kernels. */
struct problem {
    struct k_math_rule rule;
    int B, T, H, D, tiles, chunks; /* tiles of T, chunks of TILE columns of D */
    bool quads;                    /* whether rows of D can be moved as float4 */
    size_t rows;                   /* B H T */
    const float *qkv, *dout, *out_given;
    float *out, *dqkv;
    float *row_stats; /* (ROW_STATS, B H T): row_stats.h */
    float *centre;    /* scratch (2, B H T): outer and inner of k_math_centre */
};

enum { OUTER, INNER, CENTRES };
enum { QUERY, KEY, VALUE };

/* attention_bf16.cu: calls the entry `run`, which takes float tensors, on bf16 tensors */
typedef int k_cuda_attention_forward(float *, float *, const float *,
                                     const struct k_attention_shape *);
typedef int k_cuda_attention_backward(float *, const float *, const float *, const float *,
                                      const float *, const struct k_attention_shape *);
int k_cuda_widened_forward(k_cuda_attention_forward *run, float *out, float *row_stats,
                           const float *qkv, const struct k_attention_shape *shape);
int k_cuda_widened_backward(k_cuda_attention_backward *run, float *dqkv, const float *dout,
                            const float *out, const float *row_stats, const float *qkv,
                            const struct k_attention_shape *shape);
/* attention_forward.cu */
int k_cuda_attention_rows_forward(const struct problem *p);
/* attention_backward.cu */
int k_cuda_attention_centres(const struct problem *p);
int k_cuda_attention_values(const struct problem *p);             /* dv */
int k_cuda_attention_vectors(const struct problem *p, int which); /* dq or dk */

static inline unsigned blocks_of(const struct problem *p, int chunks)
{
    return (unsigned)((size_t)p->tiles * (size_t)p->B * (size_t)p->H * (size_t)chunks);
}

/* ---- what a block owns */

struct block {
    int b, h, chunk; /* sequence, head; results are columns [chunk TILE, ...) */
    int own;         /* first own row */
    int first, last; /* tiles of the other side, inclusive */
    size_t head;     /* (b H + h) T: offset of the head's rows in row_stats */
};

/* The grid is linear, with the longest rows first. keys: own rows are keys. */
static __device__ __forceinline__ struct block block_of(const struct problem &p, bool keys)
{
    struct block k;
    const int heads = p.B * p.H;
    const int tile = (int)(blockIdx.x / (unsigned)(heads * p.chunks));
    const int rest = (int)(blockIdx.x % (unsigned)(heads * p.chunks));
    const int head = rest / p.chunks, window = p.rule.window;
    k.chunk = rest % p.chunks;
    k.b = head / p.H;
    k.h = head % p.H;
    k.head = (size_t)head * (size_t)p.T;
    k.own = (keys ? tile : p.tiles - 1 - tile) * TILE;
    if (keys) {
        const int end =
            window > 0 && window - 1 < p.T - k.own - TILE ? k.own + TILE + window - 1 : p.T;
        k.first = k.own / TILE;
        k.last = (end - 1) / TILE;
    } else {
        k.first = window > 0 && k.own + 1 > window ? (k.own + 1 - window) / TILE : 0;
        k.last = k.own / TILE;
    }
    return k;
}

/* block_of in shared memory: addresses are recomputed for every tile and occupy no registers in
 * between. */
static __device__ __forceinline__ void take_block(const struct problem &p, bool keys,
                                                  struct block *shared)
{
    if (threadIdx.x == 0)
        *shared = block_of(p, keys);
    __syncthreads();
}

/* ---- rows in memory */

struct rows {
    const float *at; /* row 0 of this head */
    int stride;
};

static __device__ __forceinline__ size_t vector_place(const struct problem &p,
                                                      const struct block &k, int which)
{
    return (((size_t)k.b * (size_t)p.T * 3 + (size_t)which) * (size_t)p.H + (size_t)k.h) *
           (size_t)p.D;
}

/* Rows of q, k or v of the block's head. */
static __device__ __forceinline__ struct rows vectors(const struct problem &p,
                                                      const struct block &k, int which)
{
    return {p.qkv + vector_place(p, k, which), 3 * p.H * p.D};
}

static __device__ __forceinline__ size_t out_place(const struct problem &p, const struct block &k)
{
    return ((size_t)k.b * (size_t)p.T * (size_t)p.H + (size_t)k.h) * (size_t)p.D;
}

static __device__ __forceinline__ struct rows out_rows(const struct problem &p,
                                                       const struct block &k, const float *out)
{
    return {out + out_place(p, k), p.H * p.D};
}

/* Copies rows [first, first + TILE) and at most TILE columns from `column` on into shared
 * memory; zeros beyond T, and beyond D up to a multiple of 4. */
static __device__ __forceinline__ void stage(const struct problem &p, float *to, struct rows from,
                                             int first, int column)
{
    const int width = p.D - column < TILE ? p.D - column : TILE;
    const int tid = (int)threadIdx.x;
    from.at += column;
    if (p.quads) {
        const int c = tid % (TILE / 4) * 4;
#pragma unroll 4 /* eight loads in flight would need too many registers */
        for (int r = tid / (TILE / 4); c < width && r < TILE; r += THREADS / (TILE / 4)) {
            float4 x = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (first + r < p.T)
                x = *(const float4 *)(from.at + (ptrdiff_t)(first + r) * from.stride + c);
            *(float4 *)(to + r * STRIDE + c) = x;
        }
        return;
    }
    const int c = tid % TILE;
#pragma unroll 1
    for (int r = tid / TILE; c < (width + 3) / 4 * 4 && r < TILE; r += THREADS / TILE)
        to[r * STRIDE + c] =
            c < width && first + r < p.T ? from.at[(ptrdiff_t)(first + r) * from.stride + c] : 0.0f;
}

/* ---- products: a thread has ROWS x COLS numbers */

static __device__ __forceinline__ int tile_row(int i)
{
    const int half_warp = (int)threadIdx.x / 16;
    return half_warp / 2 * 16 + half_warp % 2 * 4 + (i & 3) + (i >> 2) * 8;
}

static __device__ __forceinline__ void clear(float x[ROWS][COLS])
{
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLS; j++)
            x[i][j] = 0.0f;
}

/* Whether all rows of the warp in a tile are beyond the existing `rows`. */
static __device__ __forceinline__ bool idle_warp(int rows)
{
    return (int)threadIdx.x / K_WARP * 16 >= rows;
}

/* x += a b^T over `width` columns (a multiple of 4). */
static __device__ __forceinline__ void multiply_rows(float x[ROWS][COLS], const float *a,
                                                     const float *b, int width)
{
    a += tile_row(0) * STRIDE;
    b += (int)threadIdx.x % 16 * STRIDE;
#pragma unroll 1
    for (int c = 0; c < width; c += 4) {
        float4 y[COLS];
#pragma unroll
        for (int j = 0; j < COLS; j++)
            y[j] = *(const float4 *)(b + 16 * j * STRIDE + c);
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const float4 z = *(const float4 *)(a + ((i & 3) + (i >> 2) * 8) * STRIDE + c);
#pragma unroll
            for (int j = 0; j < COLS; j++) {
                x[i][j] = fmaf(z.x, y[j].x, x[i][j]);
                x[i][j] = fmaf(z.y, y[j].y, x[i][j]);
                x[i][j] = fmaf(z.z, y[j].z, x[i][j]);
                x[i][j] = fmaf(z.w, y[j].w, x[i][j]);
            }
        }
    }
}

/* x += a b, added to the results of the block: columns of a times rows of b. The rows of b are
 * those of the other side's tile from row `first` on; a thread has four columns of b. */
static __device__ __forceinline__ void multiply(const struct problem &p, const struct block &k,
                                                float x[ROWS][COLS], const float *a, const float *b,
                                                int first)
{
    const int column = (int)threadIdx.x % 16 * COLS;
    const int terms = p.T - first < TILE ? p.T - first : TILE;
    if (k.chunk * TILE + column >= p.D || idle_warp(p.T - k.own))
        return;
    a += tile_row(0) * STRIDE;
    b += column;
#pragma unroll 1
    for (int k = 0; k < terms; k += 4) {
        float4 y[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            y[j] = *(const float4 *)(b + (k + j) * STRIDE);
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const float4 z = *(const float4 *)(a + ((i & 3) + (i >> 2) * 8) * STRIDE + k);
            const float w[4] = {z.x, z.y, z.z, z.w};
#pragma unroll
            for (int j = 0; j < 4; j++) {
                x[i][0] = fmaf(w[j], y[j].x, x[i][0]);
                x[i][1] = fmaf(w[j], y[j].y, x[i][1]);
                x[i][2] = fmaf(w[j], y[j].z, x[i][2]);
                x[i][3] = fmaf(w[j], y[j].w, x[i][3]);
            }
        }
    }
}

/* x = <own rows, other rows> of a tile. The buffers a and b in shared memory are free once all
 * threads have passed the next barrier. */
static __device__ __forceinline__ void products(const struct problem &p, float x[ROWS][COLS],
                                                float *a, float *b, struct rows own, int own_first,
                                                struct rows other, int other_first)
{
    clear(x);
    for (int c = 0; c < p.D; c += TILE) {
        __syncthreads();
        stage(p, a, own, own_first, c);
        stage(p, b, other, other_first, c);
        __syncthreads();
        const int width = p.D - c < TILE ? p.D - c : TILE;
        if (!idle_warp(p.T - own_first))
            multiply_rows(x, a, b, (width + 3) / 4 * 4);
    }
}

/* Writes a tile of products to shared memory, where threads of the same warp read it. */
static __device__ __forceinline__ void put(float *to, const float x[ROWS][COLS])
{
    to += tile_row(0) * STRIDE + (int)threadIdx.x % 16;
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLS; j++)
            to[((i & 3) + (i >> 2) * 8) * STRIDE + 16 * j] = x[i][j];
}

static __device__ __forceinline__ void multiply_by_rows(float x[ROWS][COLS], const float *factor)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const float f = factor[tile_row(i)];
#pragma unroll
        for (int j = 0; j < COLS; j++)
            x[i][j] *= f;
    }
}

/* Writes results to the block's rows, in the columns of this chunk. */
static __device__ __forceinline__ void store(const struct problem &p, const struct block &k,
                                             float *to, int stride, const float x[ROWS][COLS])
{
    const int column = k.chunk * TILE + (int)threadIdx.x % 16 * COLS;
    if (column >= p.D)
        return;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int r = k.own + tile_row(i);
        float *at = to + (ptrdiff_t)r * stride + column;
        if (r >= p.T)
            continue;
        if (p.quads) {
            *(float4 *)at = make_float4(x[i][0], x[i][1], x[i][2], x[i][3]);
            continue;
        }
#pragma unroll
        for (int j = 0; j < COLS; j++)
            if (column + j < p.D)
                at[j] = x[i][j];
    }
}

/* ---- between products: a thread has half a row */

static __device__ __forceinline__ int my_row(void)
{
    return (int)threadIdx.x / K_WARP * 16 + (int)threadIdx.x % 16;
}

/* The first of the thread's HALF columns. */
static __device__ __forceinline__ int my_column(void)
{
    return (int)threadIdx.x / 16 % 2 * HALF;
}

/* The value of x in the thread that has the other half of the row. */
static __device__ __forceinline__ float other_half(float x)
{
    return __shfl_xor_sync(0xffffffffu, x, 16);
}

/* The attended columns of the thread's half row are lo .. hi; none where hi < lo. */
struct span {
    int lo, hi;
};

/* The span in the tile of the other side that starts at row `first`. keys: own rows are keys. */
static __device__ __forceinline__ struct span span_of(const struct problem &p,
                                                      const struct block &k, bool keys, int first)
{
    const int own = k.own + my_row(), window = p.rule.window;
    int lo, hi;
    if (keys) {
        lo = own;
        hi = window > 0 && window <= p.T - 1 - own ? own + window - 1 : p.T - 1;
    } else {
        lo = own + 1 - k_math_keys(&p.rule, own);
        hi = own;
    }
    first += my_column();
    if (own >= p.T)
        return {0, -1};
    return {lo - first, hi - first};
}

/* The groups of four columns of a half row that overlap the span are first_group .. last_group. */
static __device__ __forceinline__ int first_group(struct span s)
{
    return s.lo > 0 ? s.lo / 4 : 0;
}

static __device__ __forceinline__ int last_group(struct span s)
{
    return s.hi < 0 ? -1 : s.hi < HALF ? s.hi / 4 : QUADS - 1;
}

static __device__ __forceinline__ void take4(float to[4], const float *from)
{
    const float4 x = *(const float4 *)from;
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
    to[3] = x.w;
}

static __device__ __forceinline__ void give4(float *to, const float from[4])
{
    *(float4 *)to = make_float4(from[0], from[1], from[2], from[3]);
}

template <enum k_phi PHI>
static __device__ __forceinline__ void phi_case(const struct k_math_rule &r, const float s[4],
                                                const float top[4], float x[4], float slope[4])
{
#pragma unroll
    for (int c = 0; c < 4; c++)
        x[c] = k_math_phi(&r, PHI, s[c], top[c], &slope[c]);
}

/* phi of four scores, with one branch on the kind of phi. */
static __device__ __forceinline__ void phi4(const struct k_math_rule &r, const float s[4],
                                            const float top[4], float x[4], float slope[4])
{
#define CASE(PHI)                                                                                  \
    case PHI:                                                                                      \
        return phi_case<PHI>(r, s, top, x, slope);
    switch (r.phi) {
        CASE(K_PHI_EXP)
        CASE(K_PHI_SOFTPLUS)
        CASE(K_PHI_IDENTITY)
        CASE(K_PHI_RELU)
        CASE(K_PHI_RELU2)
        CASE(K_PHI_RELU6)
        CASE(K_PHI_GELU)
        CASE(K_PHI_SIGMOID)
        CASE(K_PHI_MISH)
    }
#undef CASE
}

#endif
