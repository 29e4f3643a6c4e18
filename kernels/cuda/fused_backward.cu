/* fused_backward.cu - fused attention, backward, in one pass of five products: see fused.cuh.
 *
 * A block owns keys and goes through the queries that attend them; dk and dv stay in registers. Of
 * dq, which sums over blocks, it makes its part of each tile of queries and adds it to what the
 * block of the next keys has left in device memory: blocks take turns in the order of the keys, the
 * last keys first, so that sums have one order. Under a causal mask that is how they come by
 * themselves: the block of the last keys of a tile of queries has it as its first, the block before
 * as its second or later. Blocks are numbered as they start, so that one waits for earlier ones
 * alone. The block of the first keys of a tile finishes it. */
#include "fused.cuh"

enum { BACK_WARPS = 8, BACK_BLOCK = BACK_WARPS * K_WARP, OWN = 16 * BACK_WARPS };

/* Queries of a tile. */
template <int W> static __host__ __device__ constexpr int queries_of(void)
{
    return W <= 64 ? 128 : 64;
}

/* Columns of dq that a warp sums; with 64 queries, two warps share their rows. */
template <int W> static __host__ __device__ constexpr int columns_of(void)
{
    return W * queries_of<W>() / OWN;
}

/* Keys and values, two tiles each of queries and gradients, d s of a tile, numbers of two tiles of
 * rows, and two sums by row that pairs of warps exchange. */
template <int W> static __host__ __device__ constexpr size_t shared_of(void)
{
    constexpr int Q = queries_of<W>();
    return tile_bytes<W>(2 * OWN + 4 * Q) + tile_bytes<Q>(OWN) + 2 * Q * sizeof(struct fused_row) +
           2 * Q * sizeof(float2);
}

/* Columns of 8 that are worked on at a time, and whether keys and values stay in registers or are
 * read again for each of these parts. */
template <int W> static __host__ __device__ constexpr int part_of(void)
{
    return W <= 64 ? 4 : 2;
}

template <int W> static __host__ __device__ constexpr bool own_stays(void)
{
    return W <= 64;
}

/* ---- elements */

/* Scores to final weights, gradients by these to d s; numbers: of the queries of the part. */
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
    if (fused_sharpened(KIND))
        fused_powers<NUMBERS>(p.rule, z, power);
#pragma unroll
    for (int j = 0; j < NUMBERS; j++) {
        const struct fused_row r = numbers[j / 4 * 8 + j % 2];
        float e = d[j / 4][j % 4] - r.outer;
        if (KIND == LSSA)
            e *= r.y;
        if (fused_sharpened(KIND))
            e = fmaf(e, power[j] * (KIND == LSSAR ? p.rule.p * LOG2_E * r.x : p.rule.p), -r.inner);
        d[j / 4][j % 4] = slope[j] * e;
        s[j / 4][j % 4] = fused_sharpened(KIND) ? power[j] * z[j] : z[j];
    }
}

/* Whether a query of the part has a flat row. */
template <enum fused_kind KIND, int PART>
static __device__ __forceinline__ bool careful_part(const struct fused_row *numbers)
{
    if (KIND != LSSAR)
        return KIND == LSSA;
    return __any_sync(0xffffffffu, fused_flat(numbers[threadIdx.x % (8 * PART)].x));
}

/* ---- a gradient by a unit vector has nothing along it */

/* The sums of u x and of u u over the thread's columns, from `first` on, of row `row`; own: the
 * tile with the vectors u. */
template <int W, int N>
static __device__ __forceinline__ float2 along_row(const float x[N][4], int half, unsigned own,
                                                   int row, int first)
{
    float2 sums = make_float2(0.0f, 0.0f);
#pragma unroll
    for (int c = 0; c < N; c++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const float u = tile_number<W>(own, row, first + 8 * c + (int)threadIdx.x % 4 * 2 + i);
            sums.x = fmaf(u, x[c][2 * half + i], sums.x);
            sums.y = fmaf(u, u, sums.y);
        }
    return make_float2(row_sum(sums.x), row_sum(sums.y));
}

template <int W, int N>
static __device__ __forceinline__ void project(float x[N][4], int half, unsigned own, int row,
                                               int first, float2 sums)
{
    const float part = sums.y > 0.0f ? sums.x / sums.y : 0.0f;
#pragma unroll
    for (int c = 0; c < N; c++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const float u = tile_number<W>(own, row, first + 8 * c + (int)threadIdx.x % 4 * 2 + i);
            x[c][2 * half + i] = fmaf(-part, u, x[c][2 * half + i]);
        }
}

/* A row of results to vector `which` (0 query, 1 key, 2 value) of position i. */
template <int W, int N>
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

/* Waits until as many blocks as `turn` have added theirs; whole warps. */
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

/* ---- dq of a tile */

/* sums (16 queries, 8 N columns) = d s (OWN keys, Q queries) transposed times the keys. */
template <int W, int N>
static __device__ __forceinline__ void query_product(float sums[N][4], unsigned ds, unsigned keys,
                                                     int query, int column)
{
    constexpr int Q = queries_of<W>();
    const int lane = (int)threadIdx.x % K_WARP;
    const unsigned from =
        ds + (tile_place<Q>(lane / 16 * 8 + lane % 8, lane / 8 % 2) ^ (unsigned)(query * 2));
    const unsigned by = tile_place<W>(lane % 16, lane / 16);
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            sums[n][i] = 0.0f;
#pragma unroll
    for (int k = 0; k < OWN / 16; k++) {
        unsigned a[4];
        tensor_load_across(a, from + tile_bytes<Q>(16 * k));
#pragma unroll
        for (int n = 0; n < N; n += 2) {
            unsigned b[4];
            tensor_load_across(b, keys + tile_bytes<W>(16 * k) +
                                      (by ^ (unsigned)(2 * column + 16 * n)));
            tensor_multiply(sums[n], a, b[0], b[1]);
            tensor_multiply(sums[n + 1], a, b[2], b[3]);
        }
    }
}

/* What the blocks after this one have left of the thread's numbers is added, and left again. */
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

/* The part of this block's keys in dq of a tile. queries: the tile's in shared memory; numbers: of
 * dq so far; done: counts, one for each warp; turn: blocks that come before. */
template <int W, enum fused_kind KIND>
static __device__ __forceinline__ void
query_gradients(const struct fused &p, const struct fused_place &at, unsigned ds, unsigned keys,
                unsigned queries, unsigned exchange, int tile, float *numbers, unsigned *done,
                unsigned turn, bool last)
{
    constexpr int Q = queries_of<W>(), COLUMNS = columns_of<W>(), N = COLUMNS / 8;
    constexpr bool paired = COLUMNS < W;
    const int warp = (int)threadIdx.x / K_WARP;
    const int query = warp % (Q / 16) * 16, column = warp / (Q / 16) * COLUMNS;
    const int own_row = query + (int)threadIdx.x % K_WARP / 4;
    float x[N][4];
    query_product<W, N>(x, ds, keys, query, column);
    if (turn > 0)
        turn_await(done + warp, turn);
    leave<N>(x, numbers, turn == 0, last);
    if (!last) {
        turn_pass(done + warp, turn);
        return;
    }
    float2 sums[2];
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const float scale = fused_scale<KIND>(p, at, false, tile * Q + own_row + 8 * half);
#pragma unroll
        for (int c = 0; c < N; c++)
#pragma unroll
            for (int j = 2 * half; j < 2 * half + 2; j++)
                x[c][j] *= scale;
        if (fused_cosine(KIND))
            sums[half] = along_row<W, N>(x, half, queries, own_row + 8 * half, column);
    }
    if (fused_cosine(KIND) && paired) {
        float2 *const shared = (float2 *)(tensor_shared() + exchange);
#pragma unroll
        for (int half = 0; half < 2; half++)
            if (threadIdx.x % 4 == 0)
                shared[(column > 0) * Q + own_row + 8 * half] = sums[half];
        __syncthreads();
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const float2 other = shared[(column == 0) * Q + own_row + 8 * half];
            sums[half] = make_float2(sums[half].x + other.x, sums[half].y + other.y);
        }
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
        if (fused_cosine(KIND))
            project<W, N>(x, half, queries, own_row + 8 * half, column, sums[half]);
        put_row<W, N>(p, at, 0, tile * Q + own_row + 8 * half, x, half, column);
    }
}

/* ---- the block */

/* Numbers of a tile of queries, as pieces of 16 bytes. */
template <int Q>
static __device__ __forceinline__ void fetch_numbers(unsigned to, const struct fused_row *from,
                                                     int first, int rows)
{
    const int r = (int)threadIdx.x;
    if (r < Q)
        tensor_fetch(to + (unsigned)(r * (int)sizeof(*from)), from + first + r, first + r < rows);
}

/* d s of 16 keys and 16 queries as it was rounded, for other warps. */
template <int Q>
static __device__ __forceinline__ void put_ds(unsigned ds, int key, int query, const unsigned w[4])
{
    const int lane = (int)threadIdx.x % K_WARP;
    const unsigned at = ds + tile_bytes<Q>(key) +
                        (tile_place<Q>(lane / 4, 0) ^ (unsigned)(2 * query)) +
                        (unsigned)(lane % 4 * 4);
    tensor_store(at, w[0]);
    tensor_store(at + tile_bytes<Q>(8), w[1]);
    tensor_store(at ^ 16u, w[2]);
    tensor_store((at ^ 16u) + tile_bytes<Q>(8), w[3]);
}

template <int W, enum fused_kind KIND>
static __global__ void __launch_bounds__(BACK_BLOCK, 1) fused_backward(const struct fused p)
{
    constexpr int PART = part_of<W>(), Q = queries_of<W>();
    constexpr unsigned own = tile_bytes<W>(OWN), one = tile_bytes<W>(Q);
    constexpr unsigned keys = 0, values = own, queries = 2 * own, gradients = queries + 2 * one;
    constexpr unsigned ds = gradients + 2 * one, numbers = ds + tile_bytes<Q>(OWN);
    constexpr unsigned numbers_one = Q * sizeof(struct fused_row);
    constexpr unsigned exchange = numbers + 2 * numbers_one;
    __shared__ unsigned number;
    if (threadIdx.x == 0)
        number = atomicAdd(p.started, 1u);
    __syncthreads();
    const struct fused_place at = fused_keys_of<OWN, Q>(p, (int)number);
    const int warp_row = (int)threadIdx.x / K_WARP * 16, window = p.rule.window;
    const int row = at.own + warp_row + (int)threadIdx.x % K_WARP / 4;
    const int tiles = (p.T + Q - 1) / Q;
    const bf16 *const q = fused_head(p.q, at), *const g = fused_head(p.g, at);
    const struct fused_row *const rows = p.numbers + at.head;
    unsigned a[1][W / 16][4], v[1][W / 16][4];
    float dk[1][W / 8][4] = {}, dv[1][W / 8][4] = {};
    tile_fetch<W, OWN, BACK_BLOCK>(keys, fused_head(p.k, at), p.k.row, at.own, p.T);
    tile_fetch<W, OWN, BACK_BLOCK>(values, fused_head(p.v, at), p.v.row, at.own, p.T);
    tile_fetch<W, Q, BACK_BLOCK>(queries, q, p.q.row, at.first * Q, p.T);
    tile_fetch<W, Q, BACK_BLOCK>(gradients, g, p.g.row, at.first * Q, p.T);
    fetch_numbers<Q>(numbers, rows, at.first * Q, p.T);
    tensor_fetched();
    for (int tile = at.first; tile <= at.last; tile++) {
        const unsigned buffer = (unsigned)((tile - at.first) % 2);
        const unsigned here = buffer * one, there = one - here;
        tensor_wait<0>();
        __syncthreads(); /* the tile is there, and nobody reads the one before, or its d s */
        if (tile < at.last) {
            tile_fetch<W, Q, BACK_BLOCK>(queries + there, q, p.q.row, (tile + 1) * Q, p.T);
            tile_fetch<W, Q, BACK_BLOCK>(gradients + there, g, p.g.row, (tile + 1) * Q, p.T);
            fetch_numbers<Q>(numbers + (1 - buffer) * numbers_one, rows, (tile + 1) * Q, p.T);
            tensor_fetched();
        }
        if (own_stays<W>() && tile == at.first) {
            tile_take<W>(a[0], keys, warp_row);
            tile_take<W>(v[0], values, warp_row);
        }
#pragma unroll 1
        for (int part = 0; part < Q; part += 8 * PART) {
            const int query = tile * Q + part, first = at.own + warp_row;
            unsigned w[1][PART / 2][4] = {};
            if (query + 8 * PART > first && query < p.T &&
                (window <= 0 || query < first + 15 + window)) {
                float s[1][PART][4], d[1][PART][4];
                if (!own_stays<W>()) {
                    tile_take<W>(a[0], keys, warp_row);
                    tile_take<W>(v[0], values, warp_row);
                }
                tile_scores<W, 1, PART>(s, a, queries + here + tile_bytes<W>(part));
                tile_scores<W, 1, PART>(d, v, gradients + here + tile_bytes<W>(part));
                if (fused_edge(p, query, 8 * PART, first, 16))
                    fused_mask<PART, true>(p, s[0], row, query + (int)threadIdx.x % 4 * 2);
                const struct fused_row *const r =
                    (const struct fused_row *)(tensor_shared() + numbers + buffer * numbers_one) +
                    part;
                if (careful_part<KIND, PART>(r))
                    key_gradients<KIND, PART, true>(p, r, s[0], d[0]);
                else
                    key_gradients<KIND, PART, false>(p, r, s[0], d[0]);
                tensor_round<PART>(w[0], s[0]);
                tile_add<W, 1, PART>(dv, w, gradients + here + tile_bytes<W>(part));
                tensor_round<PART>(w[0], d[0]);
                tile_add<W, 1, PART>(dk, w, queries + here + tile_bytes<W>(part));
            }
#pragma unroll
            for (int k = 0; k < PART / 2; k++)
                put_ds<Q>(ds, warp_row, part + 16 * k, w[0][k]);
        }
        __syncthreads(); /* all d s is there */
        const size_t place = (size_t)(at.b * p.H + at.h) * (size_t)tiles + (size_t)tile;
        const int first = fused_first_key_of(p, tile * Q) / OWN;
        const int after = (tile * Q + Q < p.T ? tile * Q + Q : p.T) - 1;
        query_gradients<W, KIND>(p, at, ds, keys, queries + here, exchange, tile,
                                 p.sums + place * (size_t)(Q * W), p.done + place * BACK_WARPS,
                                 (unsigned)(after / OWN - at.own / OWN), at.own / OWN == first);
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int i = row + 8 * half;
        const float scale = fused_scale<KIND>(p, at, true, i);
#pragma unroll
        for (int c = 0; c < W / 8; c++)
#pragma unroll
            for (int j = 2 * half; j < 2 * half + 2; j++)
                dk[0][c][j] *= scale;
        if (fused_cosine(KIND))
            project<W, W / 8>(dk[0], half, keys, i - at.own, 0,
                              along_row<W, W / 8>(dk[0], half, keys, i - at.own, 0));
        put_row<W, W / 8>(p, at, 1, i, dk[0], half, 0);
        put_row<W, W / 8>(p, at, 2, i, dv[0], half, 0);
    }
}

/* ---- launches */

template <int W, enum fused_kind KIND> static int launch(const struct fused *p)
{
    const unsigned blocks = (unsigned)((p->T + OWN - 1) / OWN) * (unsigned)(p->B * p->H);
    const int rc = K_SHARED_LIMIT((fused_backward<W, KIND>), shared_of<W>());
    return rc ? rc : K_LAUNCH((fused_backward<W, KIND>), blocks, BACK_BLOCK, shared_of<W>(), *p);
}

size_t k_cuda_fused_turns(const struct fused *p, size_t *sums)
{
    const int Q = p->width <= 64 ? queries_of<64>() : queries_of<128>();
    const size_t tiles = (size_t)p->B * (size_t)p->H * (size_t)((p->T + Q - 1) / Q);
    *sums = tiles * (size_t)(Q * p->width);
    return 1 + tiles * BACK_WARPS;
}

size_t k_cuda_fused_shared(int width)
{
    return width == 32 ? shared_of<32>() : width == 64 ? shared_of<64>() : shared_of<128>();
}

int k_cuda_fused_backward(const struct fused *p)
{
    FUSED_DISPATCH(launch, p, p);
}
