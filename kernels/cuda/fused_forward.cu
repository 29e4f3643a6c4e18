/* fused_forward.cu - fused attention, forward: see fused.cuh. */
#include "fused_forward.cuh"

/* An engine whose threads all fetch tiles and whose products are computed by single warps. */
template <int W, enum fused_kind KIND, bool SPREAD>
struct fused_forward_engine {
    static constexpr int M = tiles_of<W, KIND>(),
    ROWS = rows_of<W, KIND>(),
    STEP = 16;
    /* re-weighted rows need weights and powers, and use fewer columns to save registers */
    static constexpr int COLUMNS = fused_reweighted(KIND) ? KEYS / 16 : KEYS / 8;
    /* shared memory holds: queries, two tiles of keys, two of values */
    static constexpr unsigned queries = 0,
    keys = tile_bytes<W>(ROWS),
    one = tile_bytes<W>(KEYS),
    values = keys + 2 * one;
    static constexpr size_t shared = values + 2 * one;

    const struct fused & p;
    const struct fused_place & at;
    const bf16 *const k, *const v;
    const int warp; /* the warp's first row, in the block */
    const int row;
    unsigned now = 0, buffer = 0; /* offsets of the current tile and of the next tile's buffer */
    unsigned a[M][W / 16][4];     /* the queries */

    __device__ __forceinline__ fused_forward_engine(const struct fused &problem,
                                                    const struct fused_place &place) : p(problem),
    at(place),
    k(fused_head(p.k, at)),
    v(fused_head(p.v, at)),
    warp((int)threadIdx.x / K_WARP * 16 * M),
    row(at.own + warp + (int)threadIdx.x % K_WARP / 4){}

    __device__ __forceinline__ void fetch(int tile, bool with_values) const {
        tile_fetch<W, KEYS, BLOCK>(keys + buffer, k, p.k.row, tile *KEYS, p.T);
        if (with_values) tile_fetch<W, KEYS, BLOCK>(values + buffer, v, p.v.row, tile *KEYS, p.T);
        tensor_fetched();}

__device__ __forceinline__ void begin(bool with_values) const
{
    tile_fetch<W, ROWS, BLOCK>(queries, fused_head(p.q, at), p.q.row, at.own, p.T);
    fetch(at.first, with_values);
}

__device__ __forceinline__ void step(bool more, int next, bool with_values, bool first)
{
    now = buffer;
    buffer = one - buffer;
    tensor_wait<0>();
    __syncthreads(); /* the tile is there, and no thread still reads the tile before */
    if (more)
        fetch(next, with_values);
    if (first)
#pragma unroll
        for (int m = 0; m < M; m++)
            tile_take<W>(a[m], queries, warp + 16 * m);
}

__device__ __forceinline__ bool reaches(int tile) const
{
    return tile * KEYS <= at.own + warp + 16 * M - 1;
}

template <int N> __device__ __forceinline__ void scores(float s[M][N][4], int tile, int part) const
{
    const int key = tile * KEYS + part;
    tile_scores<W, M, N>(s, a, keys + now + tile_bytes<W>(part));
    if (fused_edge(p, at.own + warp, 16 * M, key, 8 * N))
#pragma unroll
        for (int m = 0; m < M; m++)
            fused_mask<N, false>(p, s[m], row + 16 * m, key + (int)threadIdx.x % 4 * 2);
}

template <int N> __device__ __forceinline__ void scores_of(float (*)[4], int, int) const
{
}

__device__ __forceinline__ void add_tile(struct forward_rows<W, KIND, SPREAD> &, int,
                                         unsigned (*)[4], unsigned (*)[4]) const
{
}

template <int PAIRS>
__device__ __forceinline__ void add(struct forward_rows<W, KIND, SPREAD> &r,
                                    unsigned w[M][PAIRS][4], unsigned powers[M][PAIRS][4],
                                    int part) const
{
    tile_add<W, M, 2 * PAIRS>(r.o, w, values + now + tile_bytes<W>(part));
    if constexpr (SPREAD)
        tile_add<W, M, 2 * PAIRS>(r.spread, powers, values + now + tile_bytes<W>(part));
}
}
;

template <int W, enum fused_kind KIND, bool SPREAD>
static __global__ void __launch_bounds__(BLOCK, blocks_of<W, KIND, SPREAD>())
    fused_forward(const struct fused p)
{
    typedef struct fused_forward_engine<W, KIND, SPREAD> engine;
    const struct fused_place at = fused_queries_of<W>(p, engine::ROWS);
    engine e(p, at);
    forward_block<engine, W, KIND, SPREAD>(p, at, e);
}

template <int W, enum fused_kind KIND, bool SPREAD> static int launch_as(const struct fused *p)
{
    typedef struct fused_forward_engine<W, KIND, SPREAD> engine;
    TRY(K_SHARED_LIMIT((fused_forward<W, KIND, SPREAD>), engine::shared));
    return K_LAUNCH((fused_forward<W, KIND, SPREAD>), fused_blocks(p, engine::ROWS), BLOCK,
                    engine::shared, *p);
}

int k_cuda_fused_forward(const struct fused *p)
{
    return FUSED_DISPATCH(launch, p, p);
}
