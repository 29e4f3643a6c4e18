/* fused_forward.cu - fused attention, forward: see fused.cuh. */
#include "fused_forward.cuh"

/* Of queries, and two tiles of keys and values each. */
template <int W, enum fused_kind KIND> static __host__ __device__ constexpr size_t shared_of(void)
{
    return tile_bytes<W>(rows_of<W, KIND>() + 4 * KEYS);
}

/* What a warp's scores of a tile need. */
struct rows_place {
    int warp; /* the warp's first row, in the block */
    int row;  /* the thread's first */
};

/* Whether the warp has rows that may attend the tile: none whose keys all come later. */
template <int MT>
static __device__ __forceinline__ bool reaches(const struct fused_place &at,
                                               const struct rows_place &here, int tile)
{
    return tile * KEYS <= at.own + here.warp + 16 * MT - 1;
}

/* Of 8 N keys from `key` on, which are the first of `keys`. */
template <int W, int MT, int N>
static __device__ __forceinline__ void
masked_scores(const struct fused &p, const struct fused_place &at, const struct rows_place &here,
              float s[MT][N][4], const unsigned a[MT][W / 16][4], unsigned keys, int key)
{
    tile_scores<W, MT, N>(s, a, keys);
    if (fused_edge(p, at.own + here.warp, 16 * MT, key, 8 * N))
#pragma unroll
        for (int m = 0; m < MT; m++)
            fused_mask<N, false>(p, s[m], here.row + 16 * m, key + (int)threadIdx.x % 4 * 2);
}

/* Where the tiles of a block are in shared memory: queries, two of keys, two of values. */
template <int W, enum fused_kind KIND>
struct forward_places {
    static constexpr unsigned queries = 0,
    keys = tile_bytes<W>(rows_of<W, KIND>()),
    one = tile_bytes<W>(KEYS),
    values = keys + 2 * one;
};

/* The sums of re-weighted rows, by a pass over the keys; `buffer` of the tile that comes next. */
template <int W, enum fused_kind KIND, bool SPREAD, int MT>
static __device__ __forceinline__ void
sum_rows(const struct fused &p, const struct fused_place &at, const struct rows_place &here,
         unsigned a[MT][W / 16][4], struct forward_rows<W, KIND, SPREAD> &r, unsigned &buffer)
{
    typedef struct forward_places<W, KIND> place;
    const bf16 *const k = fused_head(p.k, at), *const v = fused_head(p.v, at);
    for (int tile = at.first; tile <= at.last; tile++) {
        const int next = tile < at.last ? tile + 1 : at.first;
        const unsigned now = buffer;
        buffer = place::one - buffer;
        tensor_wait<0>();
        __syncthreads(); /* the tile is there, and nobody reads the one before */
        tile_fetch<W, KEYS, BLOCK>(place::keys + buffer, k, p.k.row, next * KEYS, p.T);
        if (tile == at.last)
            tile_fetch<W, KEYS, BLOCK>(place::values + buffer, v, p.v.row, next * KEYS, p.T);
        tensor_fetched();
        if (tile == at.first)
#pragma unroll
            for (int m = 0; m < MT; m++)
                tile_take<W>(a[m], place::queries, here.warp + 16 * m);
        if (!reaches<MT>(at, here, tile))
            continue;
        float s[MT][KEYS / 8][4];
        masked_scores<W, MT, KEYS / 8>(p, at, here, s, a, place::keys + now, tile * KEYS);
#pragma unroll
        for (int m = 0; m < MT; m++)
            add_scores<KIND>(p, s[m], r.sums[m]);
    }
}

template <int W, enum fused_kind KIND, bool SPREAD>
static __global__ void __launch_bounds__(BLOCK, blocks_of<W, KIND, SPREAD>())
    fused_forward(const struct fused p)
{
    typedef struct forward_places<W, KIND> place;
    constexpr int MT = tiles_of<W, KIND>(), ROWS = rows_of<W, KIND>();
    constexpr bool reweighted = fused_reweighted(KIND);
    constexpr int N = reweighted ? KEYS / 16 : KEYS / 8; /* of the second pass: fewer registers */
    const struct fused_place at = fused_queries_of<W>(p, ROWS);
    const int warp_row = (int)threadIdx.x / K_WARP * 16 * MT;
    const struct rows_place here = {warp_row, at.own + warp_row + (int)threadIdx.x % K_WARP / 4};
    const bf16 *const k = fused_head(p.k, at), *const v = fused_head(p.v, at);
    unsigned a[MT][W / 16][4];
    struct forward_rows<W, KIND, SPREAD> r;
    unsigned buffer = 0; /* of the tile that comes next */
    tile_fetch<W, ROWS, BLOCK>(place::queries, fused_head(p.q, at), p.q.row, at.own, p.T);
    tile_fetch<W, KEYS, BLOCK>(place::keys, k, p.k.row, at.first * KEYS, p.T);
    if (!reweighted)
        tile_fetch<W, KEYS, BLOCK>(place::values, v, p.v.row, at.first * KEYS, p.T);
    tensor_fetched();
    if (reweighted)
        sum_rows<W, KIND, SPREAD, MT>(p, at, here, a, r, buffer);
    const bool careful = reweighted && begin_all_weights(p, here.row, 16, r);
    for (int tile = at.first; tile <= at.last; tile++) {
        const unsigned now = buffer;
        buffer = place::one - buffer;
        tensor_wait<0>();
        __syncthreads();
        if (tile < at.last) {
            tile_fetch<W, KEYS, BLOCK>(place::keys + buffer, k, p.k.row, (tile + 1) * KEYS, p.T);
            tile_fetch<W, KEYS, BLOCK>(place::values + buffer, v, p.v.row, (tile + 1) * KEYS, p.T);
            tensor_fetched();
        }
        if (!reweighted && tile == at.first)
#pragma unroll
            for (int m = 0; m < MT; m++)
                tile_take<W>(a[m], place::queries, warp_row + 16 * m);
        if (!reaches<MT>(at, here, tile))
            continue;
#pragma unroll
        for (int part = 0; part < KEYS; part += 8 * N) {
            float s[MT][N][4];
            unsigned w[MT][N / 2][4], powers[MT][N / 2][4];
            masked_scores<W, MT, N>(p, at, here, s, a, place::keys + now + tile_bytes<W>(part),
                                    tile * KEYS + part);
#pragma unroll
            for (int m = 0; m < MT; m++) {
                if constexpr (reweighted)
                    weigh_tile<N>(p, careful, s[m], r, m, w[m], powers[m]);
                else
                    take_scores<W, KIND>(p, s[m], r.sums[m], r.o[m], w[m]);
            }
            tile_add<W, MT, N>(r.o, w, place::values + now + tile_bytes<W>(part));
            if constexpr (SPREAD)
                tile_add<W, MT, N>(r.spread, powers, place::values + now + tile_bytes<W>(part));
        }
    }
    put_forward_rows(p, at, here.row, 16, r);
}

template <int W, enum fused_kind KIND, bool SPREAD> static int launch_as(const struct fused *p)
{
    constexpr int rows = rows_of<W, KIND>();
    constexpr size_t shared = shared_of<W, KIND>();
    const unsigned tiles = (unsigned)((p->T + rows - 1) / rows);
    TRY(K_SHARED_LIMIT((fused_forward<W, KIND, SPREAD>), shared));
    return K_LAUNCH((fused_forward<W, KIND, SPREAD>), tiles * (unsigned)(p->B * p->H), BLOCK,
                    shared, *p);
}

template <int W, enum fused_kind KIND> static int launch(const struct fused *p)
{
    if constexpr (fused_reweighted(KIND))
        if (p->spread)
            return launch_as<W, KIND, true>(p);
    return launch_as<W, KIND, false>(p);
}

int k_cuda_fused_forward(const struct fused *p)
{
    FUSED_DISPATCH(launch, p, p);
}
