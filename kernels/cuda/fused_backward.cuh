/* fused_backward.cuh - the parts of fused attention's backward pass that do not depend on the
 * kind of tensor cores: elements, projections, turns, results. See fused.cuh and
 * fused_backward.cu. */
#ifndef K_CUDA_FUSED_BACKWARD_CUH
#define K_CUDA_FUSED_BACKWARD_CUH

#include "fused.cuh"

enum { BACK_WARPS = 8, BACK_BLOCK = BACK_WARPS * K_WARP, OWN = 16 * BACK_WARPS };

template <int W> static __host__ __device__ constexpr int queries_of(void)
{
    return W <= 64 ? 128 : 64;
}

/* Columns of dq that a warp sums; with 64 queries per tile, two warps share rows. */
template <int W> static __host__ __device__ constexpr int columns_of(void)
{
    return W * queries_of<W>() / OWN;
}

/* The rows of a tile of dq of which a thread has numbers, and the warp's first column. */
struct query_rows {
    int first; /* the other is first + 8 */
    int column;
};

template <int W> static __device__ __forceinline__ struct query_rows query_rows_of(void)
{
    constexpr int warps = queries_of<W>() / 16;
    const int warp = (int)threadIdx.x / K_WARP;
    return {warp % warps * 16 + (int)threadIdx.x % K_WARP / 4, warp / warps * columns_of<W>()};
}

/* ---- elements */

/* Replaces scores by final weights and gradients with respect to these by d s; numbers: those of
 * the part's queries. */
template <enum fused_kind KIND, int PART, bool CAREFUL>
static __device__ __forceinline__ void key_gradients(const struct fused &p,
                                                     const struct fused_row *numbers,
                                                     float s[PART][4], float d[PART][4])
{
    constexpr int NUMBERS = 4 * PART;
    float slope[NUMBERS], z[NUMBERS], power[NUMBERS];
    numbers += (int)threadIdx.x % 4 * 2;
#pragma unroll
    for (int j = 0; j < NUMBERS; j++) {
        const float2 r = *(const float2 *)&numbers[j / 4 * 8 + j % 2];
        float u = 0.0f;
        if (fused_cosine(KIND)) {
            const float y = fused_softplus<CAREFUL>(s[j / 4][j % 4], &u);
            slope[j] = fused_logistic(u);
            z[j] = KIND == LSSA ? r.x * y : __saturatef(fmaf(r.x, y, -r.y));
        } else {
            z[j] = slope[j] = fast_exp2(fmaf(s[j / 4][j % 4], p.unit, -r.x));
            if (KIND == RW_SOFTMAX)
                z[j] = fmaxf(slope[j] - r.y, 0.0f);
        }
    }
    if (fused_reweighted(KIND))
        fused_powers<NUMBERS>(p.rule, z, power);
#pragma unroll
    for (int j = 0; j < NUMBERS; j++) {
        const struct fused_row r = numbers[j / 4 * 8 + j % 2];
        float e = d[j / 4][j % 4] - r.outer;
        if (KIND == LSSA)
            e *= r.y;
        if (fused_reweighted(KIND))
            e = fmaf(e, power[j] * (KIND == LSSAR ? p.rule.power * LOG2_E * r.x : p.rule.power), -r.inner);
        d[j / 4][j % 4] = slope[j] * e;
        s[j / 4][j % 4] = fused_reweighted(KIND) ? power[j] * z[j] : z[j];
    }
}

/* Whether a query of the part has a flat row (fused_flat). */
template <enum fused_kind KIND, int PART>
static __device__ __forceinline__ bool careful_part(const struct fused_row *numbers)
{
    if (KIND != LSSAR)
        return KIND == LSSA;
    return __any_sync(0xffffffffu, fused_flat(numbers[threadIdx.x % (8 * PART)].x));
}

/* ---- projection: a gradient with respect to a unit vector is orthogonal to the vector */

/* The sums of u x and of u u over the thread's columns, from `first` on, of row `row`; own: the
 * tile that has the vectors u, in the layout of TILE. */
template <class TILE, int N>
static __device__ __forceinline__ float2 along_row(const float x[N][4], int half, unsigned own,
                                                   int row, int first)
{
    float2 sums = make_float2(0.0f, 0.0f);
#pragma unroll
    for (int c = 0; c < N; c++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const float u = TILE::number(own, row, first + 8 * c + (int)threadIdx.x % 4 * 2 + i);
            sums.x = fmaf(u, x[c][2 * half + i], sums.x);
            sums.y = fmaf(u, u, sums.y);
        }
    return make_float2(row_sum(sums.x), row_sum(sums.y));
}

template <class TILE, int N>
static __device__ __forceinline__ void project(float x[N][4], int half, unsigned own, int row,
                                               int first, float2 sums)
{
    const float part = sums.y > 0.0f ? sums.x / sums.y : 0.0f;
#pragma unroll
    for (int c = 0; c < N; c++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const float u = TILE::number(own, row, first + 8 * c + (int)threadIdx.x % 4 * 2 + i);
            x[c][2 * half + i] = fmaf(-part, u, x[c][2 * half + i]);
        }
}

/* Writes a row of results to vector `which` (0 query, 1 key, 2 value) of position i. */
template <int N>
static __device__ __forceinline__ void put_row(const struct fused &p, const struct fused_place &at,
                                               int which, int i, const float x[N][4], int half,
                                               int first)
{
    if (i >= p.T)
        return;
    const size_t to =
        ((((size_t)at.b * (size_t)p.T + (size_t)i) * 3 + (size_t)which) * (size_t)p.H +
         (size_t)at.h) *
        (size_t)p.D;
    fused_put<N>(p, p.dqkv, to, x, half, 1.0f, first);
}

/* ---- turns */

/* Waits until `turn` blocks have added their parts; called by whole warps. */
static __device__ __forceinline__ void turn_await(const unsigned *done, unsigned turn)
{
    if (threadIdx.x % K_WARP == 0) {
        while (*(const volatile unsigned *)done != turn)
            __nanosleep(64);
        __threadfence();
    }
    __syncwarp();
}

static __device__ __forceinline__ void turn_pass(unsigned *done, unsigned turn)
{
    __syncwarp();
    if (threadIdx.x % K_WARP == 0) {
        __threadfence();
        *(volatile unsigned *)done = turn + 1;
    }
}

/* ---- results of a tile and of the block */

/* Adds the partial sum of the blocks that had turns before this one (unless first), and stores
 * the new partial sum (unless last). */
template <int N>
static __device__ __forceinline__ void leave(float x[N][4], float *sums, bool first, bool last)
{
    float4 *const at = (float4 *)sums + threadIdx.x;
    if (!first) {
#pragma unroll
        for (int n = 0; n < N; n++) {
            const float4 before = __ldcg(at + n * BACK_BLOCK);
            x[n][0] += before.x;
            x[n][1] += before.y;
            x[n][2] += before.z;
            x[n][3] += before.w;
        }
    }
    if (!last)
#pragma unroll
        for (int n = 0; n < N; n++)
            __stcg(at + n * BACK_BLOCK, make_float4(x[n][0], x[n][1], x[n][2], x[n][3]));
}

/* Adds x, the part of this block's keys in dq of a tile, to the partial sum; the block with the
 * last turn writes the result. queries: the tile's queries in shared memory, in the layout of
 * TILE. */
template <int W, enum fused_kind KIND, class TILE>
static __device__ __forceinline__ void
add_queries(const struct fused &p, const struct fused_place &at, float x[columns_of<W>() / 8][4],
            unsigned queries, unsigned exchange, int tile)
{
    constexpr int Q = queries_of<W>(), COLUMNS = columns_of<W>(), N = COLUMNS / 8;
    constexpr bool paired = COLUMNS < W;
    const struct query_rows rows = query_rows_of<W>();
    const int tiles = (p.T + Q - 1) / Q, after = (tile * Q + Q < p.T ? tile * Q + Q : p.T) - 1;
    const size_t place = (size_t)(at.b * p.H + at.h) * (size_t)tiles + (size_t)tile;
    unsigned *const done = p.done + place * BACK_WARPS + threadIdx.x / K_WARP;
    /* number of blocks that have turns before this one */
    const unsigned turn = (unsigned)(after / OWN - at.own / OWN);
    const bool last = at.own / OWN == fused_first_key_of(p, tile * Q) / OWN;
    if (turn > 0)
        turn_await(done, turn);
    leave<N>(x, p.sums + place * (size_t)(Q * W), turn == 0, last);
    if (!last) {
        turn_pass(done, turn);
        return;
    }
    float2 sums[2];
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const float scale = fused_scale<KIND>(p, at, false, tile * Q + rows.first + 8 * half);
#pragma unroll
        for (int c = 0; c < N; c++)
#pragma unroll
            for (int j = 2 * half; j < 2 * half + 2; j++)
                x[c][j] *= scale;
        if (fused_cosine(KIND))
            sums[half] = along_row<TILE, N>(x, half, queries, rows.first + 8 * half, rows.column);
    }
    if (fused_cosine(KIND) && paired) {
        float2 *const shared = (float2 *)(tensor_shared() + exchange);
#pragma unroll
        for (int half = 0; half < 2; half++)
            if (threadIdx.x % 4 == 0)
                shared[(rows.column > 0) * Q + rows.first + 8 * half] = sums[half];
        __syncthreads();
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const float2 other = shared[(rows.column == 0) * Q + rows.first + 8 * half];
            sums[half] = make_float2(sums[half].x + other.x, sums[half].y + other.y);
        }
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
        if (fused_cosine(KIND))
            project<TILE, N>(x, half, queries, rows.first + 8 * half, rows.column, sums[half]);
        put_row<N>(p, at, 0, tile * Q + rows.first + 8 * half, x, half, rows.column);
    }
}

/* Fetches the numbers of a tile of queries, 16 bytes at a time. */
template <int Q>
static __device__ __forceinline__ void fetch_numbers(unsigned to, const struct fused_row *from,
                                                     int first, int rows)
{
    const int r = (int)threadIdx.x;
    if (r < Q)
        tensor_fetch(to + (unsigned)(r * (int)sizeof(*from)), from + first + r, first + r < rows);
}

/* Writes dk and dv of the thread's two rows, `row` and `row` + 8. keys: the block's keys, in the
 * layout of TILE. */
template <int W, enum fused_kind KIND, class TILE>
static __device__ __forceinline__ void put_keys(const struct fused &p, const struct fused_place &at,
                                                int row, float dk[W / 8][4],
                                                const float dv[W / 8][4], unsigned keys)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int i = row + 8 * half;
        const float scale = fused_scale<KIND>(p, at, true, i);
#pragma unroll
        for (int c = 0; c < W / 8; c++)
#pragma unroll
            for (int j = 2 * half; j < 2 * half + 2; j++)
                dk[c][j] *= scale;
        if (fused_cosine(KIND))
            project<TILE, W / 8>(dk, half, keys, i - at.own, 0,
                                 along_row<TILE, W / 8>(dk, half, keys, i - at.own, 0));
        put_row<W / 8>(p, at, 1, i, dk, half, 0);
        put_row<W / 8>(p, at, 2, i, dv, half, 0);
    }
}

/* Rounded weights and d s, from scores and from gradients with respect to weights, of the warp's
 * 16 keys from `key` on and of 8 PART queries. HALF columns of 8 are computed at a time.
 * numbers: those of the queries. */
template <enum fused_kind KIND, int PART, int HALF>
static __device__ __forceinline__ void
part_gradients(const struct fused &p, int key, int query, const struct fused_row *numbers,
               float s[PART][4], float d[PART][4], unsigned weights[PART / 2][4],
               unsigned ds[PART / 2][4])
{
    const int lane = (int)threadIdx.x % K_WARP;
    if (fused_edge(p, query, 8 * PART, key, 16))
        fused_mask<PART, true>(p, s, key + lane / 4, query + lane % 4 * 2);
#pragma unroll
    for (int n = 0; n < PART; n += HALF) {
        const struct fused_row *const r = numbers + 8 * n;
        if (careful_part<KIND, HALF>(r))
            key_gradients<KIND, HALF, true>(p, r, s + n, d + n);
        else
            key_gradients<KIND, HALF, false>(p, r, s + n, d + n);
        tensor_round<HALF>(weights + n / 2, s + n);
        tensor_round<HALF>(ds + n / 2, d + n);
    }
}

/* ---- the pass, by the tiles and products of ENGINE (fused_backward.cu, hopper_backward.cu):
 *
 *   ROWS, PART  keys of a product, the first of which is `key`; columns of 8 scores at a time
 *   keys, queries, numbers, exchange   offsets of these in shared memory, in buffer 0
 *   begin        starts to fetch keys, values, and the first tile of queries and gradients
 *   fetch        starts to fetch a tile into a buffer; await: waits for tile `count`
 *   gradients    computes weights and d s of 8 PART queries, rounded; may also add dv and dk
 *   put_ds       stores d s of 16 queries for other warps
 *   stored       makes stored d s visible to all, after a barrier
 *   add          adds dv and dk, unless `gradients` has added them
 *   query_product    computes the part of the block's keys in dq of a tile */

template <class ENGINE, int W, enum fused_kind KIND>
static __device__ __forceinline__ void backward_block(const struct fused &p,
                                                      const struct fused_place &at, ENGINE &e)
{
    constexpr int PART = ENGINE::PART, Q = queries_of<W>();
    constexpr unsigned numbers_one = Q * sizeof(struct fused_row);
    const int warp_row = (int)threadIdx.x / K_WARP * 16, window = p.rule.window;
    const struct fused_row *const rows = p.numbers + at.head;
    float dk[1][W / 8][4] = {}, dv[1][W / 8][4] = {};
    e.begin();
    fetch_numbers<Q>(e.numbers, rows, at.first * Q, p.T);
    tensor_fetched();
    for (int tile = at.first; tile <= at.last; tile++) {
        const int buffer = (tile - at.first) % 2;
        tensor_wait<0>();
        /* the numbers are there, and no thread still reads the tile before or its d s */
        __syncthreads();
        if (tile < at.last) {
            e.fetch(1 - buffer, tile + 1);
            fetch_numbers<Q>(e.numbers + (unsigned)(1 - buffer) * numbers_one, rows, (tile + 1) * Q,
                             p.T);
            tensor_fetched();
        }
        e.await(tile - at.first);
#pragma unroll 1
        for (int part = 0; part < Q; part += 8 * PART) {
            const int query = tile * Q + part;
            const bool attended = query + 8 * PART > e.key && query < p.T &&
                                  (window <= 0 || query < e.key + ENGINE::ROWS - 1 + window);
            const struct fused_row *const numbers =
                (const struct fused_row *)(tensor_shared() + e.numbers +
                                           (unsigned)buffer * numbers_one) +
                part;
            unsigned weights[PART / 2][4], ds[PART / 2][4] = {};
            if (attended)
                e.template gradients<KIND>(p, at.own + warp_row, query, part, numbers, weights, ds,
                                           dv, dk);
#pragma unroll
            for (int k = 0; k < PART / 2; k++)
                e.put_ds(warp_row, part + 16 * k, ds[k]);
            if (attended)
                e.add(part, weights, ds, dv, dk);
        }
        e.stored();
        __syncthreads(); /* all of d s is stored */
        const struct query_rows r = query_rows_of<W>();
        float x[columns_of<W>() / 8][4];
        e.query_product(x, r);
        add_queries<W, KIND, typename ENGINE::query_tile>(
            p, at, x, e.queries + (unsigned)buffer * ENGINE::one, e.exchange, tile);
        if (fused_cosine(KIND))
            /* queries and keys were read: the next but one tile may be fetched over them */
            e.stored();
    }
    put_keys<W, KIND, typename ENGINE::own_tile>(
        p, at, at.own + warp_row + (int)threadIdx.x % K_WARP / 4, dk[0], dv[0], e.keys);
}

#endif
