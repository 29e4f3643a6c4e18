/* fused_forward.cu - fused attention, forward: see fused.cuh. */
#include "fused.cuh"

/* Rows of a warp in tiles of 16: two share what is read of keys and values, where the registers
 * allow it. Re-weighted rows have more to do for an element than for what is read, and gain more by
 * more warps (measured on an H100, T 999, W 64: 0.43 and 0.77 ms of softmax and lssar; with one
 * tile 0.44 and, with two, 0.82). */
template <int W, enum fused_kind KIND> static __host__ __device__ constexpr int tiles_of(void)
{
    return W > 64 || fused_sharpened(KIND) ? 1 : 2;
}

/* Blocks that a multiprocessor is to have at a time. SPREAD: the pass makes that, too. */
template <int W, enum fused_kind KIND, bool SPREAD>
static __host__ __device__ constexpr int blocks_of(void)
{
    return W > 64 ? 1 : SPREAD ? 3 : fused_sharpened(KIND) ? 4 : 2;
}

template <int W, enum fused_kind KIND> static __host__ __device__ constexpr int rows_of(void)
{
    return WARPS * 16 * tiles_of<W, KIND>();
}

/* Of queries, and two tiles of keys and values each. */
template <int W, enum fused_kind KIND> static __host__ __device__ constexpr size_t shared_of(void)
{
    return tile_bytes<W>(rows_of<W, KIND>() + 4 * KEYS);
}

/* Of a row so far: the largest score, and over the thread's columns the sum of x, relative to top
 * where it is an exponential, in units of log 2 where it is a softplus (top is then that of the
 * thread's columns, and kept of lssar alone). */
struct sums {
    float top, sum;
};

/* The largest score of the two rows of fragments, and what everything so far is multiplied by. */
static __device__ __forceinline__ float raise(float unit, float s[KEYS / 8][4], int half,
                                              struct sums *r)
{
    float top = -INFINITY;
#pragma unroll
    for (int n = 0; n < KEYS / 8; n++)
        top = fmaxf(top, fmaxf(s[n][2 * half], s[n][2 * half + 1]));
    top = fmaxf(r->top, unit * row_largest(top));
    if (top == r->top)
        return 1.0f;
    const float ratio = fast_exp2(r->top - top); /* 0 at first */
    r->top = top;
    r->sum *= ratio;
    return ratio;
}

/* Scores to x, and their sum. */
template <enum fused_kind KIND, bool CAREFUL>
static __device__ __forceinline__ void add_row(float unit, float s[KEYS / 8][4], int half,
                                               struct sums *r)
{
    const float top = r->top == -INFINITY ? 0.0f : r->top;
#pragma unroll
    for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; i++) {
            float u;
            s[n][i] = fused_cosine(KIND) ? fused_softplus<CAREFUL>(s[n][i], &u)
                                         : fast_exp2(fmaf(s[n][i], unit, -top));
            r->sum += s[n][i];
        }
}

/* The sums of the two rows of fragments. Of lssar, with care only while some thread of the warp has
 * seen small numbers alone: the others' sums are not small. */
template <enum fused_kind KIND>
static __device__ __forceinline__ void add_rows(float unit, float s[KEYS / 8][4], struct sums r[2])
{
    bool careful = true;
    if (KIND == LSSAR) {
#pragma unroll
        for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                r[i / 2].top = fmaxf(r[i / 2].top, s[n][i]);
        careful = __any_sync(0xffffffffu, fminf(r[0].top, r[1].top) < -11.0f);
    }
    if (careful) {
        add_row<KIND, true>(unit, s, 0, &r[0]);
        add_row<KIND, true>(unit, s, 1, &r[1]);
    } else {
        add_row<KIND, false>(unit, s, 0, &r[0]);
        add_row<KIND, false>(unit, s, 1, &r[1]);
    }
}

/* What makes z of a score: x * scale - shift, or 2^(s - top) * scale - shift; sums of z^p and of
 * z^(p-1). */
struct weigh {
    float top, scale, shift, total, powers;
};

/* Two numbers rounded for a product, and their sum as they are then. */
static __device__ __forceinline__ unsigned round_pair(float x, float y, float *sum)
{
    const unsigned pair = tensor_pair(x, y);
    *sum += __uint_as_float(pair << 16) + __uint_as_float(pair & 0xffff0000U);
    return pair;
}

/* Scores to weights z^p and, with SPREAD, to z^(p-1), as fragments A. Sums are of what products will
 * see: then the mean of d with these weights, outer, is exact where one weight is nearly all, and p
 * and small differences of d would enlarge its rounding. */
template <enum fused_kind KIND, bool CAREFUL, bool SPREAD>
static __device__ __forceinline__ void
weigh_row(const struct fused &p, const float s[KEYS / 8][4], int half, struct weigh *w,
          unsigned weights[KEYS / 16][4], unsigned powers[KEYS / 16][4])
{
    float z[KEYS / 4], power[KEYS / 4], u;
#pragma unroll
    for (int j = 0; j < KEYS / 4; j++) {
        const float score = s[j / 2][2 * half + j % 2];
        const float x = KIND == LSSAR ? fused_softplus<CAREFUL>(score, &u)
                                      : fast_exp2(fmaf(score, p.unit, -w->top));
        z[j] = fmaxf(fmaf(x, w->scale, -w->shift), 0.0f);
    }
    fused_powers<KEYS / 4>(p.rule, z, power);
#pragma unroll
    for (int n = 0; n < KEYS / 8; n++) {
        const int place = n % 2 * 2 + half;
        weights[n / 2][place] =
            round_pair(power[2 * n] * z[2 * n], power[2 * n + 1] * z[2 * n + 1], &w->total);
        if (SPREAD)
            powers[n / 2][place] = round_pair(power[2 * n], power[2 * n + 1], &w->powers);
    }
}

/* The row in the units of the generic path. */
template <enum fused_kind KIND>
static __device__ __forceinline__ struct k_math_row begin_row(const struct fused &p, int i,
                                                              const struct sums &r)
{
    struct k_math_sums sums;
    const float unit = fused_cosine(KIND) ? LN_2 : 1.0f;
    sums.top = fused_cosine(KIND) ? 0.0f : r.top * LN_2;
    sums.sum = row_sum(r.sum) * unit;
    sums.largest = 1.0f;
    if (fused_cosine(KIND)) {
        float u;
        sums.largest = fused_softplus<true>(row_largest(r.top), &u) * unit;
    }
    return k_math_row_begin(&p.rule, k_math_keys(&p.rule, i), &sums);
}

/* The thread's columns of row i of the output, and of spread, with the output as the backward pass
 * will see it. */
template <int W, bool SPREAD>
static __device__ __forceinline__ void
put_output(const struct fused &p, const struct fused_place &at, int i, float o[W / 8][4],
           float spread[SPREAD ? W / 8 : 1][4], int half, float factor, float powers)
{
    const size_t to =
        (((size_t)at.b * (size_t)p.T + (size_t)i) * (size_t)p.H + (size_t)at.h) * (size_t)p.D;
    fused_put<W / 8>(p, p.out, to, o, half, factor, 0);
    const int column = (int)threadIdx.x % 4 * 2;
#pragma unroll
    for (int c = 0; c < W / 8 && SPREAD; c++) {
        float x[2];
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const float out = factor * o[c][2 * half + j];
            x[j] = fmaf(-powers, p.narrow ? tensor_rounded(out) : out, spread[c][2 * half + j]);
        }
        if (8 * c + column < p.D)
            *(unsigned *)(p.spread + to + (size_t)(8 * c + column)) = tensor_pair(x[0], x[1]);
    }
}

template <int W, enum fused_kind KIND, bool SPREAD>
static __global__ void __launch_bounds__(BLOCK, blocks_of<W, KIND, SPREAD>())
    fused_forward(const struct fused p)
{
    constexpr int MT = tiles_of<W, KIND>(), ROWS = rows_of<W, KIND>();
    constexpr unsigned queries = 0, keys = tile_bytes<W>(ROWS), one = tile_bytes<W>(KEYS);
    constexpr unsigned values = keys + 2 * one;
    const struct fused_place at = fused_queries_of<W>(p, ROWS);
    const int warp_row = (int)threadIdx.x / K_WARP * 16 * MT;
    const int row = at.own + warp_row + (int)threadIdx.x % K_WARP / 4; /* of the thread's first */
    const bf16 *const q = fused_head(p.q, at), *const k = fused_head(p.k, at),
                      *const v = fused_head(p.v, at);
    unsigned a[MT][W / 16][4];
    float o[MT][W / 8][4] = {}, spread[MT][SPREAD ? W / 8 : 1][4] = {};
    struct sums sums[MT][2];
    struct weigh weigh[MT][2] = {};
#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            sums[m][half] = {-INFINITY, 0.0f};
    tile_fetch<W, ROWS, BLOCK>(queries, q, p.q.row, at.own, p.T);
    constexpr int passes = fused_sharpened(KIND) ? 2 : 1;
    const int count = at.last - at.first + 1;
    bool careful = false;
    tile_fetch<W, KEYS, BLOCK>(keys, k, p.k.row, at.first * KEYS, p.T);
    if (passes == 1)
        tile_fetch<W, KEYS, BLOCK>(values, v, p.v.row, at.first * KEYS, p.T);
    tensor_fetched();
    for (int step = 0; step < passes * count; step++) {
        const int tile = at.first + step % count, next = at.first + (step + 1) % count;
        const unsigned here = (unsigned)(step % 2) * one, there = one - here;
        const bool second = step >= count;
        tensor_wait<0>();
        __syncthreads(); /* the tile is there, and nobody reads the one before */
        if (step + 1 < passes * count) {
            tile_fetch<W, KEYS, BLOCK>(keys + there, k, p.k.row, next * KEYS, p.T);
            if (passes == 1 || step + 1 >= count)
                tile_fetch<W, KEYS, BLOCK>(values + there, v, p.v.row, next * KEYS, p.T);
            tensor_fetched();
        }
        if (step == 0) {
#pragma unroll
            for (int m = 0; m < MT; m++)
                tile_take<W>(a[m], queries, warp_row + 16 * m);
        }
        if (second && step == count) {
#pragma unroll
            for (int m = 0; m < MT; m++)
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const struct k_math_row r =
                        begin_row<KIND>(p, row + 16 * m + 8 * half, sums[m][half]);
                    const float scale = r.inverse * (fused_cosine(KIND) ? LN_2 : 1.0f);
                    weigh[m][half] = {r.top * LOG2_E, scale, r.theta * r.inverse, 0.0f, 0.0f};
                    careful |= KIND == LSSAR && fused_flat(scale);
                }
            careful = __any_sync(0xffffffffu, careful);
        }
        /* a warp whose rows all come before the tile has nothing to do */
        if (tile * KEYS > at.own + warp_row + 16 * MT - 1)
            continue;
        float s[MT][KEYS / 8][4];
        unsigned w[MT][KEYS / 16][4], powers[MT][KEYS / 16][4];
        tile_scores<W, MT, KEYS / 8>(s, a, keys + here);
        if (fused_edge(p, at.own + warp_row, 16 * MT, tile * KEYS, KEYS))
#pragma unroll
            for (int m = 0; m < MT; m++)
                fused_mask<KEYS / 8, false>(p, s[m], row + 16 * m,
                                            tile * KEYS + (int)threadIdx.x % 4 * 2);
#pragma unroll
        for (int m = 0; m < MT; m++) {
            if (!second && !fused_cosine(KIND))
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const float ratio = raise(p.unit, s[m], half, &sums[m][half]);
                    if (passes == 1 && __any_sync(0xffffffffu, ratio != 1.0f))
#pragma unroll
                        for (int n = 0; n < W / 8; n++) {
                            o[m][n][2 * half] *= ratio;
                            o[m][n][2 * half + 1] *= ratio;
                        }
                }
            if (!second) {
                add_rows<KIND>(p.unit, s[m], sums[m]);
                if (passes == 1)
                    tensor_round<KEYS / 8>(w[m], s[m]);
            } else {
#pragma unroll
                for (int half = 0; half < 2; half++)
                    if (careful)
                        weigh_row<KIND, true, SPREAD>(p, s[m], half, &weigh[m][half], w[m],
                                                      powers[m]);
                    else
                        weigh_row<KIND, false, SPREAD>(p, s[m], half, &weigh[m][half], w[m],
                                                       powers[m]);
            }
        }
        if (passes == 2 && !second)
            continue;
        tile_add<W, MT, KEYS / 8>(o, w, values + here);
        if constexpr (SPREAD)
            tile_add<W, MT, KEYS / 8>(spread, powers, values + here);
    }
#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int i = row + 16 * m + 8 * half, n = k_math_keys(&p.rule, i);
            struct k_math_row r = begin_row<KIND>(p, i, sums[m][half]);
            k_math_row_end(&p.rule, n, row_sum(weigh[m][half].total), &r);
            const float sum = SPREAD ? row_sum(weigh[m][half].powers) : 0.0f;
            if (i >= p.T)
                continue;
            if (threadIdx.x % 4 == 0) {
                float *to = p.saved + at.head + (size_t)i;
                to[FACTOR * p.rows] = r.factor;
                to[TOP * p.rows] = r.top;
                to[THETA * p.rows] = r.theta;
                to[INVERSE * p.rows] = r.inverse;
            }
            const float factor = r.factor * (KIND == LSSA ? LN_2 : 1.0f);
            put_output<W, SPREAD>(p, at, i, o[m], spread[m], half, factor, sum);
        }
}

template <int W, enum fused_kind KIND, bool SPREAD> static int launch_as(const struct fused *p)
{
    constexpr int rows = rows_of<W, KIND>();
    constexpr size_t shared = shared_of<W, KIND>();
    const unsigned tiles = (unsigned)((p->T + rows - 1) / rows);
    const int rc = K_SHARED_LIMIT((fused_forward<W, KIND, SPREAD>), shared);
    return rc ? rc
              : K_LAUNCH((fused_forward<W, KIND, SPREAD>), tiles * (unsigned)(p->B * p->H), BLOCK,
                         shared, *p);
}

template <int W, enum fused_kind KIND> static int launch(const struct fused *p)
{
    if constexpr (fused_sharpened(KIND))
        if (p->spread)
            return launch_as<W, KIND, true>(p);
    return launch_as<W, KIND, false>(p);
}

int k_cuda_fused_forward(const struct fused *p)
{
    FUSED_DISPATCH(launch, p, p);
}
