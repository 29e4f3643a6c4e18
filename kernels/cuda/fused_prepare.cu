/* fused_prepare.cu - what fused attention reads, rounded to bf16, and the numbers of its rows.
 *
 * A vector belongs to W / 8 neighbouring threads, eight numbers each; its copy is W wide, zeros
 * from D on. */
#include "fused.cuh"

enum { THREADS = 256 };

struct prepared {
    struct fused p;
    const void *from, *out; /* qkv; dout and the output it belongs to */
    bf16 *q, *k, *v, *g;    /* of fused_rows; NULL: is read where it is */
    int count;              /* vectors of a row that are copied: queries and keys, or values too */
    bool quads;             /* vectors of `from` and `out` can be moved 16 bytes at a time */
};

/* Eight numbers of a vector of D from `column` on. */
static __device__ __forceinline__ void take(const struct prepared &a, const void *from, size_t at,
                                            int column, float x[PIECE])
{
    const int D = a.p.D;
#pragma unroll
    for (int i = 0; i < PIECE; i++)
        x[i] = 0.0f;
    if (a.quads && column + PIECE <= D) {
        if (a.p.narrow) {
            uint4 packed = *(const uint4 *)((const bf16 *)from + at + column);
            const unsigned pair[4] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
            for (int i = 0; i < 4; i++) {
                x[2 * i] = __uint_as_float(pair[i] << 16);
                x[2 * i + 1] = __uint_as_float(pair[i] & 0xffff0000u);
            }
            return;
        }
        const float4 low = *(const float4 *)((const float *)from + at + column);
        const float4 high = *(const float4 *)((const float *)from + at + column + 4);
        x[0] = low.x;
        x[1] = low.y;
        x[2] = low.z;
        x[3] = low.w;
        x[4] = high.x;
        x[5] = high.y;
        x[6] = high.z;
        x[7] = high.w;
        return;
    }
#pragma unroll
    for (int i = 0; i < PIECE; i++)
        if (column + i < D)
            x[i] = a.p.narrow ? __bfloat162float(((const bf16 *)from)[at + column + i])
                              : ((const float *)from)[at + column + i];
}

static __device__ __forceinline__ void give(bf16 *to, const float x[PIECE])
{
    *(uint4 *)to = make_uint4(tensor_pair(x[0], x[1]), tensor_pair(x[2], x[3]),
                              tensor_pair(x[4], x[5]), tensor_pair(x[6], x[7]));
}

/* The sum over the W / 8 threads of a vector. */
template <int W> static __device__ __forceinline__ float vector_sum(float x)
{
#pragma unroll
    for (int lanes = W / PIECE / 2; lanes > 0; lanes /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, lanes);
    return x;
}

/* The first `count` vectors of the rows of qkv (B, T, 3, H, D), one after the other. */
template <int W, bool COSINE>
static __global__ void __launch_bounds__(THREADS) fused_vectors(const struct prepared a)
{
    constexpr int parts = W / PIECE;
    const struct fused &p = a.p;
    const size_t H = (size_t)p.H, T = (size_t)p.T, count = (size_t)a.count, n = count * p.rows;
    const size_t step = (size_t)gridDim.x * THREADS / parts;
    const int column = (int)(threadIdx.x % parts) * PIECE;
    /* warps stay together: the last of them repeat the last vector */
    const size_t rounds = (n + step - 1) / step;
    size_t at = ((size_t)blockIdx.x * THREADS + threadIdx.x) / parts;
    for (size_t round = 0; round < rounds; round++, at += step) {
        const size_t vector = at < n ? at : n - 1;
        const size_t h = vector % H, which = vector / H % count, bt = vector / H / count;
        const size_t row = (bt / T * H + h) * T + bt % T;
        float x[PIECE];
        take(a, a.from, ((bt * 3 + which) * H + h) * (size_t)p.D, column, x);
        if (COSINE && which < 2) {
            float square = 0.0f;
#pragma unroll
            for (int i = 0; i < PIECE; i++)
                square = fmaf(x[i], x[i], square);
            const float length = sqrtf(vector_sum<W>(square));
            float factor = length < (float)K_L2_EPSILON ? 0.0f : 1.0f / length;
            if (which == 0)
                factor *= k_math_scale(&p.rule, k_math_keys(&p.rule, (int)(bt % T)));
            if (column == 0)
                p.saved[(which == 0 ? QUERY_SCALE : KEY_SCALE) * p.rows + row] = factor;
            if (which == 0)
                factor *= LOG2_E;
#pragma unroll
            for (int i = 0; i < PIECE; i++)
                x[i] *= factor;
        }
        give((which == 0 ? a.q : which == 1 ? a.k : a.v) + row * W + (size_t)column, x);
    }
}

/* What the backward kernels need of a row: its final weights and d s of an element with score s (in
 * units of log 2) are
 *
 *   softmax     w = y,              d s = w (d - outer)                  y = 2^(s - x)
 *   lssa        w = x y,            d s = v slope (d - outer)
 *                                                           y = log2(1 + 2^s), v = x / ln 2
 *   rw_softmax  w = z^p,            d s = y (p z^(p-1) (d - outer) - inner)   y = 2^(s - x),
 *                                                                         z = relu(y - v)
 *   lssar       w = z^p,            d s = slope (p x / ln 2 z^(p-1) (d - outer) - inner)
 *                                                           y as of lssa, z = relu(x y - v)
 *
 * with v = row.y: the factor of the row is in x, its p-th root for z. A silent row has weights
 * 0. */
template <enum fused_kind KIND>
static __device__ __forceinline__ struct fused_row fused_row_of(const struct fused &p, size_t row,
                                                                float outer)
{
    const float factor = p.saved[FACTOR * p.rows + row], top = p.saved[TOP * p.rows + row];
    const float theta = p.saved[THETA * p.rows + row], inverse = p.saved[INVERSE * p.rows + row];
    const bool silent = factor == 0.0f;
    if (KIND == SOFTMAX)
        return {silent ? INFINITY : fmaf(top, LOG2_E, -log2f(factor)), 0.0f, outer, 0.0f};
    if (KIND == LSSA)
        return {factor * LN_2, factor, outer, 0.0f};
    const float scale = silent ? 0.0f : inverse * exp2f(log2f(factor) / p.rule.p);
    const float shift = theta * scale;
    if (KIND == LSSAR)
        return {scale * LN_2, shift, silent ? 0.0f : outer, 0.0f};
    return {silent ? INFINITY : fmaf(top, LOG2_E, -log2f(scale)), shift, silent ? 0.0f : outer,
            0.0f};
}

/* Rows of dout (B, T, H, D), and their numbers; outer = <dout, out> of dout as it is rounded. */
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
        float g[PIECE], o[PIECE], along = 0.0f;
        take(a, a.from, vector * (size_t)p.D, column, g);
        take(a, a.out, vector * (size_t)p.D, column, o);
#pragma unroll
        for (int i = 0; i < PIECE; i++)
            along = fmaf(tensor_rounded(g[i]), o[i], along);
        along = vector_sum<W>(along);
        if (a.g)
            give(a.g + row * W + (size_t)column, g);
        if (column == 0)
            p.numbers[row] = fused_row_of<KIND>(p, row, along);
    }
}

/* ---- launches */

static bool aligned(const void *pointer)
{
    return (uintptr_t)pointer % 16 == 0;
}

static bool quads(const struct fused *p, const void *pointer)
{
    return p->D % (p->narrow ? 8 : 4) == 0 && aligned(pointer);
}

/* NULL where the rows are those of the model's tensor. */
static bf16 *copy_of(const struct fused_rows &r)
{
    return r.copied ? (bf16 *)r.at : NULL;
}

template <int W> static int vectors(const struct prepared *a)
{
    const size_t threads = (size_t)a->count * a->p.rows * (W / PIECE);
    const unsigned blocks = (unsigned)k_cuda_blocks(threads, THREADS);
    if (a->p.rule.score == K_SCORE_COS_LOGN)
        return K_LAUNCH((fused_vectors<W, true>), blocks, THREADS, 0, *a);
    return K_LAUNCH((fused_vectors<W, false>), blocks, THREADS, 0, *a);
}

int k_cuda_fused_prepare(const struct fused *p, const void *qkv, int width)
{
    struct prepared a;
    memset(&a, 0, sizeof(a));
    a.p = *p;
    a.from = qkv;
    a.q = copy_of(p->q);
    a.k = copy_of(p->k);
    a.v = copy_of(p->v);
    a.count = a.v ? 3 : a.q ? 2 : 0;
    a.quads = quads(p, qkv);
    if (a.count == 0)
        return 0;
    return width == 32 ? vectors<32>(&a) : width == 64 ? vectors<64>(&a) : vectors<128>(&a);
}

template <int W, enum fused_kind KIND> static int gradients(const struct prepared *p)
{
    const unsigned blocks = (unsigned)k_cuda_blocks(p->p.rows * (W / PIECE), THREADS);
    return K_LAUNCH((fused_gradients<W, KIND>), blocks, THREADS, 0, *p);
}

static int dispatch(const struct prepared *p, enum fused_kind kind, int width)
{
    FUSED_DISPATCH(gradients);
}

int k_cuda_fused_prepare_backward(const struct fused *p, const void *dout, const void *out,
                                  enum fused_kind kind, int width)
{
    struct prepared a;
    memset(&a, 0, sizeof(a));
    a.p = *p;
    a.from = dout;
    a.out = out;
    a.g = copy_of(p->g);
    a.quads = quads(p, dout) && quads(p, out);
    return dispatch(&a, kind, width);
}
