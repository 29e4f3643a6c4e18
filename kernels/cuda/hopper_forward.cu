/* hopper_forward.cu - fused attention, forward, on tensor cores of compute capability 9.0: what
 * fused_forward.cu does, with products of 64 rows that read shared memory themselves (hopper.cuh). */
#include "fused_forward.cuh"
#include "hopper.cuh"
#include "hopper.h"

/* Of queries, and two tiles of keys and values each; a barrier for each of the two; what it takes
 * to begin at a multiple of 1,024. */
template <int W, enum fused_kind KIND> static __host__ __device__ constexpr size_t shared_of(void)
{
    return tile_bytes<W>(rows_of<W, KIND>() + 4 * KEYS) + HOPPER_BARRIERS + HOPPER_SLACK;
}

struct forward_maps {
    CUtensorMap q, k, v;
};

/* Where the tiles are. */
template <int W, int ROWS> struct forward_places {
    static constexpr unsigned one = tile_bytes<W>(KEYS);
    unsigned queries, keys, values, barriers;

    __device__ __forceinline__ explicit forward_places(unsigned base)
        : queries(base), keys(base + tile_bytes<W>(ROWS)), values(keys + 2 * one),
          barriers(values + 2 * one)
    {
    }
};

/* By one thread: a tile of keys and, where they are asked for, of values into a buffer; more: bytes
 * that come beside them. */
template <int W, int ROWS>
static __device__ __forceinline__ void
fetch_keys(const struct fused &p, const struct forward_maps &maps, const struct fused_place &at,
           const struct forward_places<W, ROWS> &to, int buffer, int tile, bool values,
           unsigned more)
{
    typedef struct hopper_tile<W, KEYS> keys;
    const unsigned barrier = to.barriers + (unsigned)buffer * 8, off = (unsigned)buffer * to.one;
    hopper_expect(barrier, (values ? 2 : 1) * to.one + more);
    keys::fetch(to.keys + off, &maps.k, hopper_heads_first(p.k, p.H), tile * KEYS, at.h, at.b,
                barrier);
    if (values)
        keys::fetch(to.values + off, &maps.v, hopper_heads_first(p.v, p.H), tile * KEYS, at.h, at.b,
                    barrier);
}

/* Products of the block's queries and the keys of a tile are under way. */
template <int W, int ROWS, int M>
static __device__ __forceinline__ void
begin_scores(float s[M][KEYS / 8][4], const struct forward_places<W, ROWS> &at, int buffer)
{
    typedef struct hopper_tile<W, ROWS> queries;
    typedef struct hopper_tile<W, KEYS> keys;
    const uint64_t b = keys::descriptor(at.keys + (unsigned)buffer * at.one, 0);
    hopper_ready();
#pragma unroll
    for (int m = 0; m < M; m++) {
        hopper_scores<queries, keys, W, KEYS / 8>(s[m], queries::descriptor(at.queries, 64 * m), b);
        hopper_close();
    }
}

template <int N>
static __device__ __forceinline__ void mask_scores(const struct fused &p, int warp, int row,
                                                   float s[N][4], int key)
{
    if (fused_edge(p, warp, 16, key, 8 * N))
        fused_mask<N, false>(p, s, row, key + (int)threadIdx.x % 4 * 2);
}

/* The sums of re-weighted rows, by a pass over the keys; `count` tiles so far. */
template <int W, enum fused_kind KIND, bool SPREAD, int ROWS>
static __device__ __forceinline__ void
sum_rows(const struct fused &p, const struct forward_maps &maps, const struct fused_place &at,
         const struct forward_places<W, ROWS> &here, int warp, int row,
         struct forward_rows<W, KIND, SPREAD> &r, int &count)
{
    constexpr int M = tiles_of<W, KIND>();
    for (int tile = at.first; tile <= at.last; tile++, count++) {
        const int buffer = count % 2;
        __syncthreads(); /* nobody reads the tile before */
        if (threadIdx.x == 0)
            fetch_keys<W, ROWS>(p, maps, at, here, 1 - buffer, tile < at.last ? tile + 1 : at.first,
                                tile == at.last, 0);
        hopper_await(here.barriers + (unsigned)buffer * 8, (unsigned)count / 2);
        float s[M][KEYS / 8][4];
        begin_scores<W, ROWS, M>(s, here, buffer);
        hopper_wait<0>();
#pragma unroll
        for (int m = 0; m < M; m++) {
            hopper_hold<KEYS / 8>(s[m]);
            mask_scores<KEYS / 8>(p, warp + 64 * m, row + 64 * m, s[m], tile * KEYS);
            add_scores<KIND>(p, s[m], r.sums[m]);
        }
    }
}

template <int W, enum fused_kind KIND, bool SPREAD>
static __global__ void __launch_bounds__(BLOCK, blocks_of<W, KIND, SPREAD>())
    hopper_forward(const struct fused p, const __grid_constant__ struct forward_maps maps)
{
    constexpr int M = tiles_of<W, KIND>(), ROWS = rows_of<W, KIND>();
    constexpr bool reweighted = fused_reweighted(KIND);
    constexpr int N = KEYS / 16; /* columns of 8 whose weights are made at a time, if re-weighted */
    typedef struct hopper_tile<W, KEYS> tiles;
    const struct forward_places<W, ROWS> here(hopper_base());
    const struct fused_place at = fused_queries_of<W>(p, ROWS);
    const int warp = at.own + (int)threadIdx.x / K_WARP * 16;
    const int row = warp + (int)threadIdx.x % K_WARP / 4;
    const bool fetches = threadIdx.x == 0;
    struct forward_rows<W, KIND, SPREAD> r;
    int count = 0; /* tiles so far: in two buffers, by turns */
    if (fetches) {
        hopper_barriers_make(here.barriers);
        fetch_keys<W, ROWS>(p, maps, at, here, 0, at.first, !reweighted, tile_bytes<W>(ROWS));
        hopper_tile<W, ROWS>::fetch(here.queries, &maps.q, hopper_heads_first(p.q, p.H), at.own,
                                    at.h, at.b, here.barriers);
    }
    if (reweighted)
        sum_rows<W, KIND, SPREAD, ROWS>(p, maps, at, here, warp, row, r, count);
    const bool careful = reweighted && begin_all_weights(p, row, 64, r);
    for (int tile = at.first; tile <= at.last; tile++, count++) {
        const int buffer = count % 2;
        __syncthreads();
        if (fetches && tile < at.last)
            fetch_keys<W, ROWS>(p, maps, at, here, 1 - buffer, tile + 1, true, 0);
        hopper_await(here.barriers + (unsigned)buffer * 8, (unsigned)count / 2);
        const uint64_t values = tiles::descriptor(here.values + (unsigned)buffer * here.one, 0);
        float s[M][KEYS / 8][4];
        unsigned w[M][KEYS / 16][4], powers[M][KEYS / 16][4];
        begin_scores<W, ROWS, M>(s, here, buffer);
#pragma unroll
        for (int m = 0; m < M; m++) {
            hopper_wait<M - 1>(); /* the scores are there; one product may be under way */
            hopper_hold<KEYS / 8>(s[m]);
            mask_scores<KEYS / 8>(p, warp + 64 * m, row + 64 * m, s[m], tile * KEYS);
            if constexpr (reweighted)
#pragma unroll
                for (int n = 0; n < KEYS / 8; n += N)
                    weigh_tile<N>(p, careful, s[m] + n, r, m, w[m] + n / 2, powers[m] + n / 2);
            else
                take_scores<W, KIND>(p, s[m], r.sums[m], r.o[m], w[m]);
            hopper_ready();
            hopper_add<tiles, W, KEYS / 8>(r.o[m], w[m], values);
            if constexpr (SPREAD)
                hopper_add<tiles, W, KEYS / 8>(r.spread[m], powers[m], values);
            hopper_close();
        }
        hopper_wait<0>();
#pragma unroll
        for (int m = 0; m < M; m++) {
            hopper_hold<W / 8>(r.o[m]);
            hopper_hold<(SPREAD ? W / 8 : 1)>(r.spread[m]);
        }
    }
    put_forward_rows(p, at, row, 64, r);
}

template <int W, enum fused_kind KIND, bool SPREAD> static int launch_as(const struct fused *p)
{
    constexpr int rows = rows_of<W, KIND>();
    constexpr size_t shared = shared_of<W, KIND>();
    const unsigned tiles = (unsigned)((p->T + rows - 1) / rows);
    struct forward_maps maps;
    TRY(k_cuda_hopper_map(&maps.q, p, &p->q, rows));
    TRY(k_cuda_hopper_map(&maps.k, p, &p->k, KEYS));
    TRY(k_cuda_hopper_map(&maps.v, p, &p->v, KEYS));
    TRY(K_SHARED_LIMIT((hopper_forward<W, KIND, SPREAD>), shared));
    return K_LAUNCH((hopper_forward<W, KIND, SPREAD>), tiles * (unsigned)(p->B * p->H), BLOCK,
                    shared, *p, maps);
}

template <int W, enum fused_kind KIND> static int launch(const struct fused *p)
{
    if constexpr (fused_reweighted(KIND))
        if (p->spread)
            return launch_as<W, KIND, true>(p);
    return launch_as<W, KIND, false>(p);
}

int k_cuda_hopper_forward(const struct fused *p)
{
    FUSED_DISPATCH(launch, p, p);
}
