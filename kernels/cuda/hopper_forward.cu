/* hopper_forward.cu - fused attention, forward, on tensor cores of compute capability 9.0: the
 * algorithm of fused_forward.cu, with products of 64 rows that read shared memory themselves
 * (hopper.cuh). */
#include "fused_forward.cuh"
#include "hopper.cuh"
#include "hopper.h"

struct forward_maps {
    CUtensorMap q, k, v;
};

/* An engine in which one thread starts all fetches, with one barrier for each of the two
 * buffers. Four warps share a product, which runs while the elements of the product before are
 * computed. */
template <int W, enum fused_kind KIND, bool SPREAD>
struct hopper_forward_engine {
    static constexpr int M = tiles_of<W, KIND>(),
    ROWS = rows_of<W, KIND>(),
    STEP = 64;
    static constexpr int COLUMNS = KEYS / 8;
    static constexpr unsigned one = tile_bytes<W>(KEYS);
    static constexpr size_t shared = tile_bytes<W>(ROWS) + 4 * one + HOPPER_BARRIERS + HOPPER_SLACK;
    typedef struct hopper_tile<W, ROWS>
        query_tile;
    typedef struct hopper_tile<W, KEYS>
        key_tile;

    const struct fused & p;
    const struct forward_maps & maps;
    const struct fused_place & at;
    const unsigned queries, keys, values, barriers; /* offsets in shared memory */
    const int warp, row;                            /* first row of the warp, of the thread */
    const bool fetches;
    int count = 0;    /* tiles so far; they alternate between two buffers */
    unsigned now = 0; /* offset in bytes of the current tile */

    __device__ __forceinline__ hopper_forward_engine(
        const struct fused &problem, const struct forward_maps &of, const struct fused_place &place,
        unsigned base) : p(problem),
    maps(of),
    at(place),
    queries(base),
    keys(base + tile_bytes<W>(ROWS)),
    values(keys + 2 * one),
    barriers(values + 2 * one),
    warp(at.own + (int)threadIdx.x / K_WARP * 16),
    row(warp + (int)threadIdx.x % K_WARP / 4),
    fetches(threadIdx.x == 0){}

    /* Called by one thread; more: bytes of other fetches that the barrier must also wait for. */
    __device__ __forceinline__ void fetch(int buffer, int tile, bool with_values, unsigned more)
        const {
            const unsigned barrier = barriers + (unsigned)buffer * 8, off = (unsigned)buffer *one;
            hopper_expect(barrier, (with_values ? 2 : 1) * one + more); key_tile::fetch(
                keys + off, &maps.k, hopper_heads_first(p.k, p.H), tile *KEYS, at.h, at.b, barrier);
            if (with_values) key_tile::fetch(values + off, &maps.v, hopper_heads_first(p.v, p.H),
                                             tile *KEYS, at.h, at.b, barrier);}

__device__ __forceinline__ void begin(bool with_values) const
{
    if (!fetches)
        return;
    hopper_barriers_make(barriers);
    fetch(0, at.first, with_values, tile_bytes<W>(ROWS));
    query_tile::fetch(queries, &maps.q, hopper_heads_first(p.q, p.H), at.own, at.h, at.b, barriers);
}

__device__ __forceinline__ void step(bool more, int next, bool with_values, bool)
{
    const int buffer = count % 2;
    __syncthreads(); /* no thread still reads the tile before */
    if (fetches && more)
        fetch(1 - buffer, next, with_values, 0);
    hopper_await(barriers + (unsigned)buffer * 8, (unsigned)count / 2);
    now = (unsigned)buffer * one;
    count++;
}

/* Four warps share a product, so that none of them may skip it. */
__device__ __forceinline__ bool reaches(int) const
{
    return true;
}

template <int N> __device__ __forceinline__ void scores(float s[M][N][4], int, int) const
{
    const uint64_t b = key_tile::descriptor(keys + now, 0);
    hopper_ready();
#pragma unroll
    for (int m = 0; m < M; m++) {
        hopper_scores<query_tile, key_tile, W, N>(s[m], query_tile::descriptor(queries, 64 * m), b);
        hopper_close();
    }
}

template <int N> __device__ __forceinline__ void scores_of(float s[N][4], int m, int tile) const
{
    hopper_wait<M - 1>(); /* the scores are complete; one later product may be running */
    hopper_hold<N>(s);
    if (fused_edge(p, warp + 64 * m, 16, tile * KEYS, 8 * N))
        fused_mask<N, false>(p, s, row + 64 * m, tile * KEYS + (int)threadIdx.x % 4 * 2);
}

__device__ __forceinline__ void add_tile(struct forward_rows<W, KIND, SPREAD> &r, int m,
                                         unsigned w[KEYS / 16][4],
                                         unsigned powers[KEYS / 16][4]) const
{
    const uint64_t b = key_tile::descriptor(values + now, 0);
    hopper_ready();
    hopper_add<key_tile, W, KEYS / 8>(r.o[m], w, b);
    if constexpr (SPREAD)
        hopper_add<key_tile, W, KEYS / 8>(r.spread[m], powers, b);
    hopper_close();
}

__device__ __forceinline__ void add(struct forward_rows<W, KIND, SPREAD> &r,
                                    unsigned (*)[KEYS / 16][4], unsigned (*)[KEYS / 16][4],
                                    int) const
{
    hopper_wait<0>();
#pragma unroll
    for (int m = 0; m < M; m++) {
        hopper_hold<W / 8>(r.o[m]);
        hopper_hold<(SPREAD ? W / 8 : 1)>(r.spread[m]);
    }
}
}
;

template <int W, enum fused_kind KIND, bool SPREAD>
static __global__ void __launch_bounds__(BLOCK, blocks_of<W, KIND, SPREAD>())
    hopper_forward(const struct fused p, const __grid_constant__ struct forward_maps maps)
{
    typedef struct hopper_forward_engine<W, KIND, SPREAD> engine;
    const struct fused_place at = fused_queries_of<W>(p, engine::ROWS);
    engine e(p, maps, at, hopper_base());
    forward_block<engine, W, KIND, SPREAD>(p, at, e);
}

template <int W, enum fused_kind KIND, bool SPREAD> static int launch_as(const struct fused *p)
{
    typedef struct hopper_forward_engine<W, KIND, SPREAD> engine;
    struct forward_maps maps;
    TRY(k_cuda_hopper_map(&maps.q, p, &p->q, engine::ROWS));
    TRY(k_cuda_hopper_map(&maps.k, p, &p->k, KEYS));
    TRY(k_cuda_hopper_map(&maps.v, p, &p->v, KEYS));
    TRY(K_SHARED_LIMIT((hopper_forward<W, KIND, SPREAD>), engine::shared));
    return K_LAUNCH((hopper_forward<W, KIND, SPREAD>), fused_blocks(p, engine::ROWS), BLOCK,
                    engine::shared, *p, maps);
}

int k_cuda_hopper_forward(const struct fused *p)
{
    return FUSED_DISPATCH(launch, p, p);
}
