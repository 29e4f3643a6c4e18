/* fused_forward.cuh - the parts of fused attention's forward pass that do not depend on the kind
 * of tensor cores. Scores are in fragments of sums (tensor.cuh). See fused.cuh. */
#ifndef K_CUDA_FUSED_FORWARD_CUH
#define K_CUDA_FUSED_FORWARD_CUH

#include "fused.cuh"

/* Tiles of 16 rows per warp. Two tiles share the keys and values that are read, where the
 * registers allow it. Re-weighted rows spend more time on elements than on reading, and gain
 * more from more warps (measured on an H100, T 999, W 64: 0.43 ms for softmax and 0.77 ms for
 * lssar; 0.44 ms for softmax with one tile, 0.82 ms for lssar with two). On the tensor cores of
 * compute capability 9.0 a tile is a product of 64 rows; with two tiles, one product runs while
 * the other's elements are computed. */
template <int W, enum fused_kind KIND> static __host__ __device__ constexpr int tiles_of(void)
{
    return W > 64 || fused_reweighted(KIND) ? 1 : 2;
}

/* Blocks that a multiprocessor should hold at a time. SPREAD: the pass also computes spread. */
template <int W, enum fused_kind KIND, bool SPREAD>
static __host__ __device__ constexpr int blocks_of(void)
{
    return W > 64 ? 1 : SPREAD ? 3 : fused_reweighted(KIND) ? 4 : 2;
}

template <int W, enum fused_kind KIND> static __host__ __device__ constexpr int rows_of(void)
{
    return WARPS * 16 * tiles_of<W, KIND>();
}

/* State of a row so far: the largest score, and the sum of x over the thread's columns. x is
 * relative to top where it is an exponential, and in units of log 2 where it is a softplus. For
 * softplus, top covers the thread's columns alone and is kept only for lssar. */
struct sums {
    float top, sum;
};

/* Raises r->top to the largest score of a row of the fragments; returns the factor for
 * everything summed before. */
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
    const float ratio = fast_exp2(r->top - top); /* 0 the first time */
    r->top = top;
    r->sum *= ratio;
    return ratio;
}

/* Replaces scores by x and adds them to the sum. */
template <enum fused_kind KIND>
static __device__ __forceinline__ void add_row(float unit, float s[KEYS / 8][4], int half,
                                               struct sums *r)
{
    const float top = r->top == -INFINITY ? 0.0f : r->top;
#pragma unroll
    for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; i++) {
            float u;
            s[n][i] = fused_cosine(KIND) ? fused_softplus<true>(s[n][i], &u)
                                         : fast_exp2(fmaf(s[n][i], unit, -top));
            r->sum += s[n][i];
        }
}

/* Adds the sum of ln(1 + e^score) / ln 2 of cosine scores, in pairs, as the logarithm of a
 * product. */
static __device__ __forceinline__ void add_cosines(const float s[KEYS / 8][4], int half,
                                                   struct sums *r)
{
#pragma unroll
    for (int n = 0; n < KEYS / 8; n++) {
        const float one = 1.0f + fast_exp2(s[n][2 * half]);
        r->sum += fast_log2(fmaf(fast_exp2(s[n][2 * half + 1]), one, one));
    }
}

/* Adds the two rows of fragments to their sums. For lssar, the careful form is used only while
 * some thread of the warp has seen small numbers alone; otherwise the sums are not small. */
template <enum fused_kind KIND>
static __device__ __forceinline__ void add_rows(const struct fused &p, float s[KEYS / 8][4],
                                                struct sums r[2])
{
    bool careful = true;
    if (KIND == LSSAR) {
#pragma unroll
        for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                r[i / 2].top = fmaxf(r[i / 2].top, s[n][i]);
        careful = __any_sync(0xffffffffu, !p.low || fminf(r[0].top, r[1].top) < -11.0f);
    }
    if (careful) {
        add_row<KIND>(p.unit, s, 0, &r[0]);
        add_row<KIND>(p.unit, s, 1, &r[1]);
    } else {
        add_cosines(s, 0, &r[0]);
        add_cosines(s, 1, &r[1]);
    }
}

/* The numbers that turn a score into z: z = x * scale - shift, or 2^(s - top) * scale - shift. */
struct weigh {
    float top, scale, shift;
};

/* Turns scores into weights z^p and, with SPREAD, into z^(p-1), as fragments A. */
template <enum fused_kind KIND, bool CAREFUL, bool SPREAD, int N>
static __device__ __forceinline__ void
weigh_scores(const struct fused &p, const float s[N][4], const struct weigh r[2],
             unsigned weights[N / 2][4], unsigned powers[N / 2][4])
{
    float z[4 * N], power[4 * N], u;
#pragma unroll
    for (int j = 0; j < 4 * N; j++) {
        const struct weigh &w = r[j % 4 / 2];
        const float x = KIND == LSSAR ? fused_softplus<CAREFUL>(s[j / 4][j % 4], &u)
                                      : fast_exp2(fmaf(s[j / 4][j % 4], p.unit, -w.top));
        z[j] = __saturatef(fmaf(x, w.scale, -w.shift));
    }
    fused_powers<4 * N>(p.rule, z, power);
#pragma unroll
    for (int j = 0; j < 4 * N; j += 2) { /* two neighbours form word j / 2 of the fragments */
        weights[j / 8][j / 2 % 4] = tensor_pair(power[j] * z[j], power[j + 1] * z[j + 1]);
        if (SPREAD)
            powers[j / 8][j / 2 % 4] = tensor_pair(power[j], power[j + 1]);
    }
}

/* Adds the row sums of the rounded weights to sums, each in the first number of its half. With
 * these sums, the mean of d, outer, is exact where nearly all weight is on one key; p and small
 * differences of d would otherwise magnify its rounding error. */
template <int N>
static __device__ __forceinline__ void add_weights(float sums[4], const unsigned w[N / 2][4])
{
    const unsigned ones = 0x3f803f80U; /* two, of bf16 */
#pragma unroll
    for (int k = 0; k < N / 2; k++)
        tensor_multiply(sums, w[k], ones, ones);
}

/* Converts the sums of a row to the units of the generic path. */
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

/* Writes the thread's columns of row i of the output, and of spread, which uses the output as
 * rounded for the backward pass. */
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
            x[j] =
                fmaf(-powers, p.bf16_tensors ? tensor_rounded(out) : out, spread[c][2 * half + j]);
        }
        if (8 * c + column < p.D)
            *(unsigned *)(p.spread + to + (size_t)(8 * c + column)) = tensor_pair(x[0], x[1]);
    }
}

/* Sets the numbers that turn the scores of re-weighted row i into weights; returns whether the
 * row is flat. */
template <enum fused_kind KIND>
static __device__ __forceinline__ bool begin_weights(const struct fused &p, int i,
                                                     const struct sums &sums, struct weigh *w)
{
    const struct k_math_row r = begin_row<KIND>(p, i, sums);
    const float scale = r.inverse * (fused_cosine(KIND) ? LN_2 : 1.0f);
    *w = {r.top * LOG2_E, scale, r.theta * r.inverse};
    return KIND == LSSAR && fused_flat(scale);
}

/* Writes row i: the saved numbers, the output and spread. total, powers: for re-weighted rows,
 * the sums of weights and of z^(p-1). */
template <int W, enum fused_kind KIND, bool SPREAD>
static __device__ __forceinline__ void
put_forward_row(const struct fused &p, const struct fused_place &at, int i, const struct sums &sums,
                float total, float o[W / 8][4], float spread[SPREAD ? W / 8 : 1][4], int half,
                float powers)
{
    struct k_math_row r = begin_row<KIND>(p, i, sums);
    k_math_row_end(&p.rule, k_math_keys(&p.rule, i), total, &r);
    if (i >= p.T)
        return;
    if (threadIdx.x % 4 == 0) {
        float *to = p.row_stats + at.head + (size_t)i;
        to[FACTOR * p.rows] = r.factor;
        to[TOP * p.rows] = r.top;
        to[THETA * p.rows] = r.theta;
        to[INVERSE * p.rows] = r.inverse;
    }
    const float factor = r.factor * (KIND == LSSA ? LN_2 : 1.0f);
    put_output<W, SPREAD>(p, at, i, o, spread, half, factor, powers);
}

/* Turns scores of rows that are not re-weighted into weights, as fragments A; rescales the
 * output so far where the largest score rises. */
template <int W, enum fused_kind KIND>
static __device__ __forceinline__ void take_scores(const struct fused &p, float s[KEYS / 8][4],
                                                   struct sums sums[2], float o[W / 8][4],
                                                   unsigned weights[KEYS / 16][4])
{
    if (!fused_cosine(KIND))
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const float ratio = raise(p.unit, s, half, &sums[half]);
            if (__any_sync(0xffffffffu, ratio != 1.0f))
#pragma unroll
                for (int n = 0; n < W / 8; n++) {
                    o[n][2 * half] *= ratio;
                    o[n][2 * half + 1] *= ratio;
                }
        }
    add_rows<KIND>(p, s, sums);
    tensor_round<KEYS / 8>(weights, s);
}

/* ---- all rows of a thread: the first is `row`; those of the next tile are `step` later */

template <int W, enum fused_kind KIND, bool SPREAD>
struct forward_rows {
    static constexpr int M = tiles_of<W, KIND>();
    float o[M][W / 8][4] = {}, spread[M][SPREAD ? W / 8 : 1][4] = {}; struct sums sums[M][2];
    float totals[M][4] = {}, more[M][4] = {}; /* sums of weights and of powers */
    struct weigh weigh[M][2] = {};

    __device__ __forceinline__ forward_rows(){
#pragma unroll
        for (int m = 0; m < M; m++)
#pragma unroll
            for (int half = 0; half < 2; half++) sums[m][half] = {-INFINITY, 0.0f};}
}
;

/* Adds the scores of re-weighted rows to the rows' sums. */
template <enum fused_kind KIND>
static __device__ __forceinline__ void add_scores(const struct fused &p, float s[KEYS / 8][4],
                                                  struct sums sums[2])
{
    if (!fused_cosine(KIND))
#pragma unroll
        for (int half = 0; half < 2; half++)
            (void)raise(p.unit, s, half, &sums[half]);
    add_rows<KIND>(p, s, sums);
}

/* Prepares the weights of all rows from their sums; returns whether the warp has a flat row. */
template <int W, enum fused_kind KIND, bool SPREAD>
static __device__ __forceinline__ bool begin_all_weights(const struct fused &p, int row, int step,
                                                         struct forward_rows<W, KIND, SPREAD> &r)
{
    bool careful = false;
#pragma unroll
    for (int m = 0; m < r.M; m++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            careful |= begin_weights<KIND>(p, row + step * m + 8 * half, r.sums[m][half],
                                           &r.weigh[m][half]);
    return KIND == LSSAR && __any_sync(0xffffffffu, careful);
}

/* Turns scores of re-weighted rows of tile m into weights and, with SPREAD, powers, and adds
 * them to their sums. */
template <int N, int W, enum fused_kind KIND, bool SPREAD>
static __device__ __forceinline__ void
weigh_tile(const struct fused &p, bool careful, const float s[N][4],
           struct forward_rows<W, KIND, SPREAD> &r, int m, unsigned weights[N / 2][4],
           unsigned powers[N / 2][4])
{
    if (careful)
        weigh_scores<KIND, true, SPREAD, N>(p, s, r.weigh[m], weights, powers);
    else
        weigh_scores<KIND, false, SPREAD, N>(p, s, r.weigh[m], weights, powers);
    add_weights<N>(r.totals[m], weights);
    if (SPREAD)
        add_weights<N>(r.more[m], powers);
}

template <int W, enum fused_kind KIND, bool SPREAD>
static __device__ __forceinline__ void
put_forward_rows(const struct fused &p, const struct fused_place &at, int row, int step,
                 struct forward_rows<W, KIND, SPREAD> &r)
{
#pragma unroll
    for (int m = 0; m < r.M; m++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            put_forward_row<W, KIND, SPREAD>(p, at, row + step * m + 8 * half, r.sums[m][half],
                                             r.totals[m][2 * half], r.o[m], r.spread[m], half,
                                             r.more[m][2 * half]);
}

/* ---- the pass, by the tiles and products of ENGINE (fused_forward.cu, hopper_forward.cu):
 *
 *   COLUMNS  groups of 8 columns of scores that are computed at a time
 *   STEP     rows from one tile of a thread's rows to the next; `row`: the thread's first row
 *   begin    starts to fetch the queries and the first tile of keys, with or without its values
 *   step     waits for the next tile; with `more`, starts to fetch tile `next`, with or without its
 *            values; first: there was no tile before
 *   reaches  whether the warp has rows that may attend the tile
 *   scores   starts the scores of the tile's keys from `part` on; scores_of: waits for those of
 *            tile m of rows, and masks them
 *   add_tile, add    add weights times values to the rows' sums: of tile m of rows, of all */

template <class ENGINE, int W, enum fused_kind KIND, bool SPREAD>
static __device__ __forceinline__ void forward_block(const struct fused &p,
                                                     const struct fused_place &at, ENGINE &e)
{
    constexpr int M = tiles_of<W, KIND>(), N = ENGINE::COLUMNS, HALF = KEYS / 16;
    constexpr bool reweighted = fused_reweighted(KIND);
    struct forward_rows<W, KIND, SPREAD> r;
    e.begin(!reweighted);
    /* first pass: the sums of the rows */
    for (int tile = at.first; reweighted && tile <= at.last; tile++) {
        e.step(true, tile < at.last ? tile + 1 : at.first, tile == at.last, tile == at.first);
        if (!e.reaches(tile))
            continue;
        float s[M][KEYS / 8][4];
        e.template scores<KEYS / 8>(s, tile, 0);
#pragma unroll
        for (int m = 0; m < M; m++) {
            e.template scores_of<KEYS / 8>(s[m], m, tile);
            add_scores<KIND>(p, s[m], r.sums[m]);
        }
    }
    const bool careful = reweighted && begin_all_weights(p, e.row, ENGINE::STEP, r);
    for (int tile = at.first; tile <= at.last; tile++) {
        e.step(tile < at.last, tile + 1, true, !reweighted && tile == at.first);
        if (!e.reaches(tile))
            continue;
#pragma unroll
        for (int part = 0; part < KEYS; part += 8 * N) {
            float s[M][N][4];
            unsigned w[M][N / 2][4], powers[M][N / 2][4];
            e.template scores<N>(s, tile, part);
#pragma unroll
            for (int m = 0; m < M; m++) {
                e.template scores_of<N>(s[m], m, tile);
                if constexpr (reweighted)
#pragma unroll
                    for (int n = 0; n < N; n += HALF)
                        weigh_tile<HALF>(p, careful, s[m] + n, r, m, w[m] + n / 2,
                                         powers[m] + n / 2);
                else
                    take_scores<W, KIND>(p, s[m], r.sums[m], r.o[m], w[m]);
                e.add_tile(r, m, w[m], powers[m]);
            }
            e.add(r, w, powers, part);
        }
    }
    put_forward_rows(p, at, e.row, ENGINE::STEP, r);
}

/* The kernel launch, defined by the file that includes this one. */
template <int W, enum fused_kind KIND, bool SPREAD> static int launch_as(const struct fused *p);

template <int W, enum fused_kind KIND> static int launch(const struct fused *p)
{
    if constexpr (fused_reweighted(KIND))
        if (p->spread)
            return launch_as<W, KIND, true>(p);
    return launch_as<W, KIND, false>(p);
}

#endif
