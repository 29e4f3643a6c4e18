/* fused_prepare.cu - the inputs of the fused attention kernels: vectors rounded to bf16, and the
 * numbers of the rows.
 *
 * A vector belongs to W / 8 neighbouring threads, eight numbers each. Its copy has W numbers,
 * with zeros from D on. */
#include "fused.cuh"
#include "load_store.h"

enum { THREADS = 256 };

struct prepared {
    struct fused p;
    const void *from, *out; /* qkv; dout and the output it belongs to */
    int count;              /* vectors of a row that are copied: queries and keys, or also values */
    bool quads;             /* vectors of `from` and `out` can be moved 16 bytes at a time */
    bool spread_quads;      /* whether p.spread can be moved 16 bytes at a time */
};

/* Loads eight numbers of a vector of D from `column` on. */
template <typename T>
static __device__ __forceinline__ struct k_cuda_eight take_of(const T *vector, int column, int D,
                                                              bool quads)
{
    struct k_cuda_eight e = {};
    if (quads && column + PIECE <= D)
        return k_cuda_get8(vector + column);
#pragma unroll
    for (int i = 0; i < PIECE; i++)
        if (column + i < D)
            e.x[i] = k_cuda_get(vector + column + i);
    return e;
}

static __device__ __forceinline__ struct k_cuda_eight take(const struct prepared &a,
                                                           const void *from, size_t at, int column)
{
    return a.p.bf16_tensors ? take_of((const bf16 *)from + at, column, a.p.D, a.quads)
                            : take_of((const float *)from + at, column, a.p.D, a.quads);
}

/* Where vector (b, h, t) is stored. */
static __device__ __forceinline__ bf16 *to_make(const struct fused_rows &r, ptrdiff_t b,
                                                ptrdiff_t h, ptrdiff_t t)
{
    return (bf16 *)r.at + b * r.sequence + h * r.head + t * r.row;
}

/* The sum over the W / 8 threads of a vector. */
template <int W> static __device__ __forceinline__ float vector_sum(float x)
{
#pragma unroll
    for (int lanes = W / PIECE / 2; lanes > 0; lanes /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, lanes);
    return x;
}

/* Prepares the first `count` vectors of the rows of qkv (B, T, 3, H, D), one after the other. */
template <int W, bool COSINE>
static __global__ void __launch_bounds__(THREADS) fused_vectors(const struct prepared a)
{
    constexpr int parts = W / PIECE;
    const struct fused &p = a.p;
    const size_t H = (size_t)p.H, T = (size_t)p.T, count = (size_t)a.count, n = count * p.rows;
    const size_t step = (size_t)gridDim.x * THREADS / parts;
    const int column = (int)(threadIdx.x % parts) * PIECE;
    /* all threads of a warp take part in shuffles: threads beyond the end repeat the last vector */
    const size_t rounds = (n + step - 1) / step;
    size_t at = ((size_t)blockIdx.x * THREADS + threadIdx.x) / parts;
    for (size_t round = 0; round < rounds; round++, at += step) {
        const size_t vector = at < n ? at : n - 1;
        const size_t h = vector % H, which = vector / H % count, bt = vector / H / count;
        const size_t row = (bt / T * H + h) * T + bt % T;
        struct k_cuda_eight e = take(a, a.from, ((bt * 3 + which) * H + h) * (size_t)p.D, column);
        if (COSINE && which < 2) {
            float square = 0.0f;
#pragma unroll
            for (int i = 0; i < PIECE; i++)
                square = fmaf(e.x[i], e.x[i], square);
            const float length = sqrtf(vector_sum<W>(square));
            float factor = length < (float)K_L2_EPSILON ? 0.0f : 1.0f / length;
            if (which == 0)
                factor *= k_math_scale(&p.rule, k_math_keys(&p.rule, (int)(bt % T)));
            if (column == 0 && at < n)
                p.row_stats[(which == 0 ? QUERY_SCALE : KEY_SCALE) * p.rows + row] = factor;
            if (which == 0)
                factor *= LOG2_E;
#pragma unroll
            for (int i = 0; i < PIECE; i++)
                e.x[i] *= factor;
        }
        const struct fused_rows &to = which == 0 ? p.q : which == 1 ? p.k : p.v;
        if (at < n) /* in place, a repeated vector has already been replaced */
            k_cuda_put8(
                to_make(to, (ptrdiff_t)(bt / T), (ptrdiff_t)h, (ptrdiff_t)(bt % T)) + column, e);
    }
}

/* The numbers of a row for the backward kernels. The final weight w and d s of an element with
 * score s (in units of log 2) are
 *
 *   softmax     w = y,              d s = w (d - outer)                  y = 2^(s - x)
 *   lssa        w = x y,            d s = v slope (d - outer)
 *                                                           y = log2(1 + 2^s), v = x / ln 2
 *   rw_softmax  w = z^p,            d s = y (p z^(p-1) (d - outer) - inner)   y = 2^(s - x),
 *                                                                         z = relu(y - v)
 *   lssar       w = z^p,            d s = slope (p x / ln 2 z^(p-1) (d - outer) - inner)
 *                                                           y as of lssa, z = relu(x y - v)
 *
 * with v = row.y: the factor of the row is in x, its p-th root for z. inner is the mean over the
 * row of the term before it in the bracket. It is p factor along / height for lssar and p factor
 * along / factor^(1/p) for rw_softmax. along = <dout, spread> divided by the number of keys
 * where the row is shifted, otherwise 0. A degenerate row has weights 0. */
template <enum fused_kind KIND>
static __device__ __forceinline__ struct fused_row fused_row_of(const struct fused &p, size_t row,
                                                                float outer, float along)
{
    const float factor = p.row_stats[FACTOR * p.rows + row], top = p.row_stats[TOP * p.rows + row];
    const float theta = p.row_stats[THETA * p.rows + row],
                inverse = p.row_stats[INVERSE * p.rows + row];
    const bool degenerate = factor == 0.0f;
    if (KIND == SOFTMAX)
        return {degenerate ? INFINITY : fmaf(top, LOG2_E, -log2f(factor)), 0.0f, outer, 0.0f};
    if (KIND == LSSA)
        return {factor * LN_2, factor, outer, 0.0f};
    if (degenerate)
        return {KIND == LSSAR ? 0.0f : INFINITY, 0.0f, 0.0f, 0.0f};
    const float root = exp2f(log2f(factor) / p.rule.power), scale = inverse * root;
    const float shift = theta * scale, times = p.rule.power * factor * along;
    if (KIND == LSSAR)
        return {scale * LN_2, shift, outer, times * inverse};
    return {fmaf(top, LOG2_E, -log2f(scale)), shift, outer, times / root};
}

/* Copies rows of dout (B, T, H, D) and computes the numbers of the rows; outer = <dout, out>
 * with dout as rounded. */
template <int W, enum fused_kind KIND>
static __global__ void __launch_bounds__(THREADS) fused_gradients(const struct prepared a)
{
    constexpr int parts = W / PIECE;
    const struct fused &p = a.p;
    const size_t H = (size_t)p.H, T = (size_t)p.T, n = p.rows;
    const size_t step = (size_t)gridDim.x * THREADS / parts, rounds = (n + step - 1) / step;
    const int column = (int)(threadIdx.x % parts) * PIECE;
    size_t at = ((size_t)blockIdx.x * THREADS + threadIdx.x) / parts;
    for (size_t round = 0; round < rounds; round++, at += step) {
        const size_t vector = at < n ? at : n - 1;
        const size_t h = vector % H, t = vector / H % T, b = vector / H / T;
        const size_t row = (b * H + h) * T + t;
        const struct k_cuda_eight g = take(a, a.from, vector * (size_t)p.D, column);
        const struct k_cuda_eight o = take(a, a.out, vector * (size_t)p.D, column);
        struct k_cuda_eight s = {};
        if (fused_reweighted(KIND))
            s = take_of(p.spread + vector * (size_t)p.D, column, p.D, a.spread_quads);
        float outer = 0.0f, along = 0.0f;
#pragma unroll
        for (int i = 0; i < PIECE; i++) {
            outer = fmaf(tensor_rounded(g.x[i]), o.x[i], outer);
            along = fmaf(tensor_rounded(g.x[i]), s.x[i], along);
        }
        outer = vector_sum<W>(outer);
        if (fused_reweighted(KIND)) {
            const int keys = k_math_keys(&p.rule, (int)t);
            along = vector_sum<W>(along);
            along = k_math_shifted(&p.rule, keys) ? along / (float)keys : 0.0f;
        }
        if (p.g.made)
            k_cuda_put8(to_make(p.g, (ptrdiff_t)b, (ptrdiff_t)h, (ptrdiff_t)t) + column, g);
        if (column == 0)
            p.numbers[row] = fused_row_of<KIND>(p, row, outer, along);
    }
}

/* ---- launches */

static bool quads(const struct fused *p, const void *pointer)
{
    return p->D % (p->bf16_tensors ? 8 : 4) == 0 && k_cuda_aligned(pointer);
}

template <int W> static int vectors(const struct prepared *a)
{
    const size_t threads = (size_t)a->count * a->p.rows * (W / PIECE);
    const unsigned blocks = (unsigned)k_cuda_blocks(threads, THREADS);
    if (a->p.rule.score == K_SCORE_COS_LOGN)
        return K_LAUNCH((fused_vectors<W, true>), blocks, THREADS, 0, *a);
    return K_LAUNCH((fused_vectors<W, false>), blocks, THREADS, 0, *a);
}

int k_cuda_fused_prepare(const struct fused *p, const void *qkv)
{
    struct prepared a;
    memset(&a, 0, sizeof(a));
    a.p = *p;
    a.from = qkv;
    a.count = p->v.made ? 3 : p->q.made ? 2 : 0;
    a.quads = quads(p, qkv);
    if (a.count == 0)
        return 0;
    return p->width == 32 ? vectors<32>(&a) : p->width == 64 ? vectors<64>(&a) : vectors<128>(&a);
}

template <int W, enum fused_kind KIND> static int gradients(const struct prepared *p)
{
    const unsigned blocks = (unsigned)k_cuda_blocks(p->p.rows * (W / PIECE), THREADS);
    return K_LAUNCH((fused_gradients<W, KIND>), blocks, THREADS, 0, *p);
}

int k_cuda_fused_prepare_backward(const struct fused *p, const void *dout, const void *out)
{
    struct prepared a;
    memset(&a, 0, sizeof(a));
    a.p = *p;
    a.from = dout;
    a.out = out;
    a.quads = quads(p, dout) && quads(p, out);
    a.spread_quads = p->D % 8 == 0 && k_cuda_aligned(p->spread);
    return FUSED_DISPATCH(gradients, p, &a);
}
