/* fused_backward.cu - fused attention, backward, in one pass of five products: see fused.cuh.
 *
 * A block owns keys and goes through the queries that attend them; dk and dv stay in registers. Of
 * dq, which sums over blocks, it makes its part of each tile of queries and adds it to what the
 * block of the next keys has left in device memory: blocks take turns in the order of the keys, the
 * last keys first, so that sums have one order. Under a causal mask that is how they come by
 * themselves: the block of the last keys of a tile of queries has it as its first, the block before
 * as its second or later. Blocks are numbered as they start, so that one waits for earlier ones
 * alone. The block of the first keys of a tile finishes it. */
#include "fused_backward.cuh"

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

/* Rows of W numbers, as tile_place has them. */
template <int W> struct rows_tile {
    static __device__ __forceinline__ float number(unsigned tile, int row, int column)
    {
        return tile_number<W>(tile, row, column);
    }
};

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

/* ---- the block */

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
        const struct query_rows r = query_rows_of<W>();
        float x[columns_of<W>() / 8][4];
        query_product<W, columns_of<W>() / 8>(x, ds, keys, r.first / 16 * 16, r.column);
        add_queries<W, KIND, rows_tile<W>>(p, at, x, queries + here, exchange, tile);
    }
    put_keys<W, KIND, rows_tile<W>>(p, at, row, dk[0], dv[0], keys);
}

/* ---- launches */

template <int W, enum fused_kind KIND> static int launch(const struct fused *p)
{
    const unsigned blocks = (unsigned)((p->T + OWN - 1) / OWN) * (unsigned)(p->B * p->H);
    TRY(K_SHARED_LIMIT((fused_backward<W, KIND>), shared_of<W>()));
    return K_LAUNCH((fused_backward<W, KIND>), blocks, BACK_BLOCK, shared_of<W>(), *p);
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
