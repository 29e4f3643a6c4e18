/* fused_backward.cu - fused attention, backward, in one pass of five products: see fused.cuh.
 *
 * A block owns keys and goes through the queries that attend them; dk and dv stay in registers.
 * dq is a sum over blocks: a block computes its part for each tile of queries and adds it to the
 * partial sum in device memory. Blocks take turns in a fixed order, the last keys first, so that
 * the sum is deterministic. Under a causal mask blocks rarely wait: a tile of queries is the
 * first tile of the block with its last keys, and a later tile of the blocks with earlier keys.
 * Blocks are numbered as they start, so that a block only waits for blocks that started before
 * it. The block with the first keys of a tile writes the result. */
#include "fused_backward.cuh"

/* Access to tiles of W columns in the layout of tile_place. */
template <int W> struct rows_tile {
    static __device__ __forceinline__ float number(unsigned tile, int row, int column)
    {
        return tile_number<W>(tile, row, column);
    }
};

/* An engine whose threads all fetch tiles and whose products are computed by single warps. */
template <int W> struct fused_backward_engine {
    static constexpr int Q = queries_of<W>(), PART = W <= 64 ? 4 : 2, ROWS = 16;
    /* keys and values stay in registers, or are read again for each part */
    static constexpr bool own_stays = W <= 64;
    /* shared memory holds: keys and values, two tiles each of queries and gradients, d s of a
     * tile, the numbers of two tiles of rows, and two sums per row that pairs of warps exchange */
    static constexpr unsigned own = tile_bytes<W>(OWN), one = tile_bytes<W>(Q), keys = 0,
                              values = own, queries = 2 * own, gradients_at = queries + 2 * one,
                              ds = gradients_at + 2 * one, numbers = ds + tile_bytes<Q>(OWN),
                              exchange = numbers + 2 * Q * sizeof(struct fused_row);
    static constexpr size_t shared = exchange + 2 * Q * sizeof(float2);
    typedef struct rows_tile<W> query_tile, own_tile;

    const struct fused &p;
    const struct fused_place &at;
    const bf16 *const q, *const g;
    const int warp_row, key;
    unsigned here = 0; /* offset in bytes of the current tile's buffer */
    unsigned a[1][W / 16][4], v[1][W / 16][4];

    __device__ __forceinline__ fused_backward_engine(const struct fused &problem,
                                                     const struct fused_place &place)
        : p(problem), at(place), q(fused_head(p.q, at)), g(fused_head(p.g, at)),
          warp_row((int)threadIdx.x / K_WARP * 16), key(at.own + warp_row)
    {
    }

    __device__ __forceinline__ void fetch(int buffer, int tile) const
    {
        const unsigned to = (unsigned)buffer * one;
        tile_fetch<W, Q, BACK_BLOCK>(queries + to, q, p.q.row, tile * Q, p.T);
        tile_fetch<W, Q, BACK_BLOCK>(gradients_at + to, g, p.g.row, tile * Q, p.T);
    }

    __device__ __forceinline__ void begin(void) const
    {
        tile_fetch<W, OWN, BACK_BLOCK>(keys, fused_head(p.k, at), p.k.row, at.own, p.T);
        tile_fetch<W, OWN, BACK_BLOCK>(values, fused_head(p.v, at), p.v.row, at.own, p.T);
        fetch(0, at.first);
    }

    __device__ __forceinline__ void take_own(void)
    {
        tile_take<W>(a[0], keys, warp_row);
        tile_take<W>(v[0], values, warp_row);
    }

    __device__ __forceinline__ void await(int count)
    {
        here = (unsigned)(count % 2) * one;
        if (own_stays && count == 0)
            take_own();
    }

    template <enum fused_kind KIND>
    __device__ __forceinline__ void
    gradients(const struct fused &, int, int query, int part, const struct fused_row *r,
              unsigned weights[PART / 2][4], unsigned w[PART / 2][4], float dv[1][W / 8][4],
              float dk[1][W / 8][4])
    {
        const unsigned to = here + tile_bytes<W>(part);
        float s[1][PART][4], d[1][PART][4];
        if (!own_stays)
            take_own();
        tile_scores<W, 1, PART>(s, a, queries + to);
        tile_scores<W, 1, PART>(d, v, gradients_at + to);
        part_gradients<KIND, PART, PART>(p, key, query, r, s[0], d[0], weights, w);
        tile_add<W, 1, PART>(dv, (const unsigned(*)[PART / 2][4]) weights, gradients_at + to);
        tile_add<W, 1, PART>(dk, (const unsigned(*)[PART / 2][4]) w, queries + to);
    }

    __device__ __forceinline__ void add(int, unsigned (*)[4], unsigned (*)[4], float (*)[W / 8][4],
                                        float (*)[W / 8][4]) const
    {
    }

    __device__ __forceinline__ void put_ds(int row, int query, const unsigned w[4]) const
    {
        const int lane = (int)threadIdx.x % K_WARP;
        const unsigned to = ds + tile_bytes<Q>(row) +
                            (tile_place<Q>(lane / 4, 0) ^ (unsigned)(2 * query)) +
                            (unsigned)(lane % 4 * 4);
        tensor_store(to, w[0]);
        tensor_store(to + tile_bytes<Q>(8), w[1]);
        tensor_store(to ^ 16u, w[2]);
        tensor_store((to ^ 16u) + tile_bytes<Q>(8), w[3]);
    }

    __device__ __forceinline__ void stored(void) const
    {
    }

    /* x (16 queries, columns from the warp's first on) = the transpose of d s times the keys. */
    __device__ __forceinline__ void query_product(float x[columns_of<W>() / 8][4],
                                                  const struct query_rows &r) const
    {
        constexpr int N = columns_of<W>() / 8;
        const int lane = (int)threadIdx.x % K_WARP, query = r.first / 16 * 16;
        const unsigned from =
            ds + (tile_place<Q>(lane / 16 * 8 + lane % 8, lane / 8 % 2) ^ (unsigned)(query * 2));
        const unsigned by = tile_place<W>(lane % 16, lane / 16);
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[n][i] = 0.0f;
#pragma unroll
        for (int k = 0; k < OWN / 16; k++) {
            unsigned left[4];
            tensor_load_across(left, from + tile_bytes<Q>(16 * k));
#pragma unroll
            for (int n = 0; n < N; n += 2) {
                unsigned b[4];
                tensor_load_across(b, keys + tile_bytes<W>(16 * k) +
                                          (by ^ (unsigned)(2 * r.column + 16 * n)));
                tensor_multiply(x[n], left, b[0], b[1]);
                tensor_multiply(x[n + 1], left, b[2], b[3]);
            }
        }
    }
};

template <int W, enum fused_kind KIND>
static __global__ void __launch_bounds__(BACK_BLOCK, 1) fused_backward(const struct fused p)
{
    typedef struct fused_backward_engine<W> engine;
    __shared__ unsigned number;
    if (threadIdx.x == 0)
        number = atomicAdd(p.started, 1u);
    __syncthreads();
    const struct fused_place at = fused_keys_of<OWN, queries_of<W>()>(p, (int)number);
    engine e(p, at);
    backward_block<engine, W, KIND>(p, at, e);
}

/* ---- launches */

template <int W, enum fused_kind KIND> static int launch(const struct fused *p)
{
    constexpr size_t shared = fused_backward_engine<W>::shared;
    TRY(K_SHARED_LIMIT((fused_backward<W, KIND>), shared));
    return K_LAUNCH((fused_backward<W, KIND>), fused_blocks(p, OWN), BACK_BLOCK, shared, *p);
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
    return width == 32   ? fused_backward_engine<32>::shared
           : width == 64 ? fused_backward_engine<64>::shared
                         : fused_backward_engine<128>::shared;
}

int k_cuda_fused_backward(const struct fused *p)
{
    return FUSED_DISPATCH(launch, p, p);
}
