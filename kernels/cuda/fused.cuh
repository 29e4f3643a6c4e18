/* fused.cuh - fused attention on tensor cores: softmax, lssa, and both re-weighted, at bf16.
 *
 * After FlashAttention-2 (Dao 2023): a warp has 16 or 32 rows of one side, queries or keys, the
 * block goes through the tiles of the other side, and scores live in registers alone. What
 * differs for cosine scores and for re-weighted rows (LSSAR Eqs. (4), (5)):
 *
 *   prepare    vectors are rounded to bf16 once. For cosine scores, queries are multiplied by the
 *              score's factors and log2 e, and keys are divided by their lengths: the product of
 *              both is the score in units of log 2, without factors in the loops. Dot products
 *              have one common factor; bf16 tensors of the model are then read in place
 *   forward    re-weighted rows need the mean and the maximum of x first: a first pass over the
 *              keys, with products of queries and keys alone, finds them, and a second pass makes
 *              the weights and their sum
 *   backward   in re-weighted rows d s = slope (steep (d - outer) - inner), where inner is the mean
 *              of steep (d - outer) over the row. It follows from <dout, spread>, where the forward
 *              pass computes spread = sum z^(p-1) (v - out). One pass with the five necessary
 *              products (scores, d, dv, dk, dq) is therefore enough (fused_backward.cu)
 *
 * Sums over blocks have a fixed order, so that results are reproducible to the bit. Sums are
 * float. Queries, keys, values, dout, weights, powers and d s are rounded once, to bf16, for the
 * products; spread is bf16. `row_stats` begins with the planes of the generic path
 * (row_stats.h), followed by spread for re-weighted rows.
 *
 * The backward pass reduces a query's row to four numbers (struct fused_row, made by
 * fused_row_of). z includes factor^(1/p), so that z^p is the final weight. z is at most 1 in
 * both passes: the largest z of a row is 1 before the factor, and the factor is at most 1. */
#ifndef K_CUDA_FUSED_CUH
#define K_CUDA_FUSED_CUH

#include <limits.h>

#include "kernels/attention_math.h"
#include "row_stats.h"
#include "tensor.cuh"

enum fused_kind { SOFTMAX, LSSA, RW_SOFTMAX, LSSAR };

constexpr float LOG2_E = 1.44269504f, LN_2 = 0.693147181f;

enum {
    WARPS = 4,
    BLOCK = WARPS * K_WARP,
    KEYS = 64,     /* forward: keys of a tile */
    WIDEST = 128,  /* the largest D */
#ifdef K_CUDA_HOST /* smaller for tests, which have few heads */
    CACHE = 16 << 10,
#else
    /* bytes of keys and values to keep in the L2 cache: a third of an H100's, two fifths of an
     * A100's */
    CACHE = 16 << 20,
#endif
};

/* Vectors (B, H, T) of W numbers: copies, or the vectors in a tensor of the model. */
struct fused_rows {
    const bf16 *at;
    /* written by fused_prepare.cu; otherwise the model's, read in place */
    bool made;
    ptrdiff_t sequence, head, row; /* strides, in numbers */
};

/* The numbers of a query's row for the backward pass: see fused_row_of in fused_prepare.cu. */
struct fused_row {
    float x, y, outer, inner;
};

struct fused {
    struct k_math_rule rule;
    enum fused_kind kind;
    int width; /* W, at least D: 32, 64 or 128 */
    int B, T, H, D;
    size_t rows; /* B H T */
    float unit;  /* factor from dot products to scores in units of log 2; 1 for cosines */
    bool low;    /* of cosine scores: the product of two e^score fits in a float */
    struct fused_rows q, k, v, g; /* g: dout */
    float *row_stats;             /* (ROW_STATS, B H T): row_stats.h */
    bf16 *spread;                 /* (B, T, H, D) of re-weighted rows; NULL: not needed */
    struct fused_row *numbers;    /* (B H T) */
    float *sums;                  /* partial sums of dq of tiles of queries: k_cuda_fused_turns() */
    /* backward: number of blocks started; turns done, for each tile and warp */
    unsigned *started, *done;
    bool bf16_tensors; /* whether out and dqkv are bf16 */
    /* whether two neighbouring numbers of them can be written at once */
    bool pairs;
    void *out;  /* (B, T, H, D) */
    void *dqkv; /* (B, T, 3, H, D) */
};

/* fused_prepare.cu: the first copies vectors of qkv to q, k, v and writes the factors of cosines
 * in row_stats; the second copies dout to g and computes the numbers of the rows. */
int k_cuda_fused_prepare(const struct fused *p, const void *qkv);
int k_cuda_fused_prepare_backward(const struct fused *p, const void *dout, const void *out);
/* fused_forward.cu, fused_backward.cu */
int k_cuda_fused_forward(const struct fused *p);
int k_cuda_fused_backward(const struct fused *p);
/* Bytes of shared memory of a block of the backward pass, which needs more than any other
 * kernel. */
size_t k_cuda_fused_shared(int width);
/* Number of counts by which blocks take turns, which must be zero before the backward pass;
 * *sums = floats in p->sums. */
size_t k_cuda_fused_turns(const struct fused *p, size_t *sums);

/* ---- kinds */

static __host__ __device__ constexpr bool fused_cosine(enum fused_kind kind)
{
    return kind == LSSA || kind == LSSAR;
}

static __host__ __device__ constexpr bool fused_reweighted(enum fused_kind kind)
{
    return kind == RW_SOFTMAX || kind == LSSAR;
}

/* Calls FUNCTION<W, kind>(ARGUMENT) with the kind of the problem. */
#define FUSED_KINDS(FUNCTION, W, problem, ARGUMENT)                                                \
    ((problem)->kind == SOFTMAX      ? FUNCTION<W, SOFTMAX>(ARGUMENT)                              \
     : (problem)->kind == LSSA       ? FUNCTION<W, LSSA>(ARGUMENT)                                 \
     : (problem)->kind == RW_SOFTMAX ? FUNCTION<W, RW_SOFTMAX>(ARGUMENT)                           \
                                     : FUNCTION<W, LSSAR>(ARGUMENT))
#define FUSED_DISPATCH(FUNCTION, problem, ARGUMENT)                                                \
    ((problem)->width == 32   ? FUSED_KINDS(FUNCTION, 32, problem, ARGUMENT)                       \
     : (problem)->width == 64 ? FUSED_KINDS(FUNCTION, 64, problem, ARGUMENT)                       \
                              : FUSED_KINDS(FUNCTION, 128, problem, ARGUMENT))

/* ---- an element; s: the score in units of log 2 (for dot products: the product). s is
 * -INFINITY where masked; x and slope are then 0 */

/* log2(1 + 2^s) = ln(1 + e^score) / ln 2; *u = e^score. Cosine scores are at most ln D ln T, and
 * k_cuda_fused ensures that e^score fits in a float. CAREFUL: full relative precision for small
 * results; otherwise the absolute error is 2^-22. That suffices for re-weighted rows that are
 * not flat: z takes differences of these numbers, in units of the row's height. */
template <bool CAREFUL> static __device__ __forceinline__ float fused_softplus(float s, float *u)
{
    const float e = fast_exp2(s), y = fast_log2(1.0f + e);
    *u = e;
    if (!CAREFUL)
        return y;
    return e < 0.0078125f ? e * fmaf(e, fmaf(e, 0.480898347f, -0.721347520f), LOG2_E) : y;
}

/* Whether a row is flat, from the inverse of its height (in units of log 2, times a root of its
 * factor): an error of 2^-22 in y is then an error of 2^-14 or more in z. */
static __device__ __forceinline__ bool fused_flat(float scale)
{
    return scale > 256.0f;
}

/* d ln(1 + e^score) / d score */
static __device__ __forceinline__ float fused_logistic(float u)
{
    return u * fast_inverse(1.0f + u);
}

/* Computes z^(p-1) of all z >= 0; 0 stays 0. All threads take the same branch. */
template <int N>
static __device__ __forceinline__ void fused_powers(const struct k_math_rule &r, const float z[N],
                                                    float power[N])
{
    if (r.power_integer == 15) { /* the published p, with the multiplications of the general case */
#pragma unroll
        for (int i = 0; i < N; i++) {
            const float third = z[i] * z[i] * z[i], seventh = third * third * z[i];
            power[i] = seventh * seventh;
        }
        return;
    }
    if (r.power_integer == 0) {
#pragma unroll
        for (int i = 0; i < N; i++)
            power[i] = z[i] > 0.0f ? fast_exp2((r.power - 1.0f) * fast_log2(z[i])) : 0.0f;
        return;
    }
    const unsigned n = (unsigned)r.power_integer - 1;
    if (n == 0) {
#pragma unroll
        for (int i = 0; i < N; i++)
            power[i] = z[i] > 0.0f ? 1.0f : 0.0f;
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        power[i] = z[i];
    for (int bit = 30 - __clz((int)n); bit >= 0; bit--) {
#pragma unroll
        for (int i = 0; i < N; i++)
            power[i] *= power[i];
        if (n >> bit & 1)
#pragma unroll
            for (int i = 0; i < N; i++)
                power[i] *= z[i];
    }
}

/* ---- where a block is */

struct fused_place {
    int b, h, own, first, last; /* first own row; tiles of the other side, inclusive */
    size_t head;                /* (b H + h) T */
};

static __device__ __forceinline__ int fused_first_key_of(const struct fused &p, int query)
{
    return p.rule.window > 0 && query + 1 > p.rule.window ? query + 1 - p.rule.window : 0;
}

/* Number of blocks when each has `rows` rows of one head. */
static inline unsigned fused_blocks(const struct fused *p, int rows)
{
    return (unsigned)((p->T + rows - 1) / rows) * (unsigned)(p->B * p->H);
}

/* The `rows` queries of this block. Heads come in groups whose keys and values fit in the cache;
 * within a group, the blocks with most work come first. */
template <int W>
static __device__ __forceinline__ struct fused_place fused_queries_of(const struct fused &p,
                                                                      int rows)
{
    struct fused_place at;
    const int heads = p.B * p.H, tiles = (p.T + rows - 1) / rows;
    const int fit = (int)(CACHE / (2 * tile_bytes<W>(1) * (unsigned)p.T)), most = fit > 1 ? fit : 1;
    const int group = (int)blockIdx.x / (most * tiles), rest = (int)blockIdx.x % (most * tiles);
    const int left = heads - group * most, together = left < most ? left : most;
    const int tile = rest / together, head = group * most + rest % together;
    at.b = head / p.H;
    at.h = head % p.H;
    at.head = (size_t)head * (size_t)p.T;
    at.own = (tiles - 1 - tile) * rows;
    const int end = at.own + rows < p.T ? at.own + rows : p.T; /* end of the own rows */
    at.first = fused_first_key_of(p, at.own) / KEYS;
    at.last = (end - 1) / KEYS;
    return at;
}

/* The OWN keys of the block that starts as number `number`, and its tiles of Q queries. Within a
 * head, the last keys come first. */
template <int OWN, int Q>
static __device__ __forceinline__ struct fused_place fused_keys_of(const struct fused &p,
                                                                   int number)
{
    struct fused_place at;
    const int tiles = (p.T + OWN - 1) / OWN, head = number / tiles, window = p.rule.window;
    at.b = head / p.H;
    at.h = head % p.H;
    at.head = (size_t)head * (size_t)p.T;
    at.own = (tiles - 1 - number % tiles) * OWN;
    at.first = at.own / Q;
    const int end = at.own + OWN < p.T ? at.own + OWN : p.T;
    const int query = window > 0 && end + window - 2 < p.T ? end + window - 2 : p.T - 1;
    at.last = query / Q;
    return at;
}

static __device__ __forceinline__ const bf16 *fused_head(const struct fused_rows &r,
                                                         const struct fused_place &at)
{
    return r.at + at.b * r.sequence + at.h * r.head;
}

/* The factor that turns a sum of d s times vectors of the other side into the gradient with
 * respect to row i. */
template <enum fused_kind KIND>
static __device__ __forceinline__ float fused_scale(const struct fused &p,
                                                    const struct fused_place &at, bool keys, int i)
{
    if (!fused_cosine(KIND))
        return p.rule.scale;
    if (i >= p.T)
        return 0.0f;
    const float scale =
        p.row_stats[(keys ? KEY_SCALE : QUERY_SCALE) * p.rows + at.head + (size_t)i];
    return keys ? LN_2 * scale : scale;
}

/* Whether some query of [query, query + queries) does not attend some key of [key, key + keys).
 * Rows beyond T need no mask: they come after all others, and are zeros. */
static __device__ __forceinline__ bool fused_edge(const struct fused &p, int query, int queries,
                                                  int key, int keys)
{
    return key + keys - 1 > query ||
           (p.rule.window > 0 && key <= query + queries - 1 - p.rule.window);
}

/* Masks scores of rows (queries) and columns (keys), where `row` and `column` are those of the
 * thread's first number. ROWS_ARE_KEYS: rows are keys, columns queries. */
template <int N, bool ROWS_ARE_KEYS>
static __device__ __forceinline__ void fused_mask(const struct fused &p, float s[N][4], int row,
                                                  int column)
{
    const int away = row - column, window = p.rule.window;
    if (ROWS_ARE_KEYS) /* a query attends the last `window` keys up to its own position */
        tensor_mask<N>(s, away - 1, window > 0 ? away + window - 1 : INT_MAX);
    else
        tensor_mask<N>(s, window > 0 ? away - window : INT_MIN, away);
}

/* ---- results */

static __device__ __forceinline__ void fused_put_pair(const struct fused &p, void *to, size_t place,
                                                      float first, float second)
{
    if (p.bf16_tensors) {
        bf16 *const at = (bf16 *)to + place;
        if (p.pairs) {
            *(unsigned *)at = tensor_pair(first, second);
        } else {
            at[0] = __float2bfloat16_rn(first);
            at[1] = __float2bfloat16_rn(second);
        }
        return;
    }
    float *const at = (float *)to + place;
    if (p.pairs) {
        *(float2 *)at = make_float2(first, second);
    } else {
        at[0] = first;
        at[1] = second;
    }
}

/* Writes the thread's columns of row `half` to a row of a tensor of the model, which begins at
 * `place`. x has 8 N columns from column `begin` on; columns from D on are not written. */
template <int N>
static __device__ __forceinline__ void fused_put(const struct fused &p, void *to, size_t place,
                                                 const float x[N][4], int half, float factor,
                                                 int begin)
{
    const int column = begin + (int)threadIdx.x % 4 * 2;
    place += (size_t)column;
#pragma unroll
    for (int c = 0; c < N; c++) {
        const float first = factor * x[c][2 * half], second = factor * x[c][2 * half + 1];
        if (8 * c + column < p.D)
            fused_put_pair(p, to, place + (size_t)(8 * c), first, second);
    }
}

#endif
