/* hopper_backward.cu - fused attention, backward, on tensor cores of compute capability 9.0: the
 * algorithm of fused_backward.cu, with products of 64 rows that read shared memory themselves
 * (hopper.cuh). Each of two groups of four warps has 64 of the block's keys. */
#include "fused_backward.cuh"
#include "hopper.cuh"
#include "hopper.h"

enum { GROUP = 64 }; /* keys, or queries of dq, of four warps */

struct backward_maps {
    CUtensorMap q, k, v, g;
};

/* An engine in which one thread starts all fetches, with one barrier for each of the two
 * buffers, and four warps share a product. */
template <int W> struct hopper_backward_engine {
    static constexpr int Q = queries_of<W>(), PART = W <= 64 ? 8 : 4, ROWS = GROUP;
    static constexpr int HALF = 4; /* columns of 8 whose elements are computed at a time */
    static constexpr unsigned own = tile_bytes<W>(OWN), one = tile_bytes<W>(Q);
    static constexpr size_t shared = 2 * own + 4 * one + tile_bytes<Q>(OWN) +
                                     2 * Q * sizeof(struct fused_row) + 2 * Q * sizeof(float2) +
                                     HOPPER_BARRIERS + 16 + HOPPER_SLACK;
    typedef struct hopper_tile<W, OWN> own_tile;
    typedef struct hopper_tile<W, Q> query_tile;
    typedef struct hopper_tile<Q, OWN> ds_tile;

    const struct fused &p;
    const struct backward_maps &maps;
    const struct fused_place &at;
    /* offsets in shared memory: keys and values, two tiles each of queries and gradients, d s of
     * a tile, the numbers of two tiles of rows, two sums per row that groups exchange, barriers */
    const unsigned keys, values, queries, gradients_at, ds, numbers, exchange, barriers;
    const bool fetches;
    /* key: the first key of the four warps, counted in the block and in the head */
    const int group, key;
    const uint64_t key_rows, value_rows;
    unsigned here = 0; /* offset in bytes of the current tile's buffer */

    static __device__ __forceinline__ unsigned barriers_of(unsigned base)
    {
        return base + (unsigned)(shared - HOPPER_BARRIERS - 16 - HOPPER_SLACK);
    }

    __device__ __forceinline__ hopper_backward_engine(const struct fused &problem,
                                                      const struct backward_maps &of,
                                                      const struct fused_place &place,
                                                      unsigned base)
        : p(problem), maps(of), at(place), keys(base), values(keys + own), queries(values + own),
          gradients_at(queries + 2 * one), ds(gradients_at + 2 * one),
          numbers(ds + tile_bytes<Q>(OWN)),
          exchange(numbers + (unsigned)(2 * Q * sizeof(struct fused_row))),
          barriers(barriers_of(base)), fetches(threadIdx.x == 0),
          group((int)threadIdx.x / (4 * K_WARP) * GROUP), key(at.own + group),
          key_rows(own_tile::descriptor(keys, group)),
          value_rows(own_tile::descriptor(values, group))
    {
    }

    /* more: bytes of other fetches that the barrier must also wait for. */
    __device__ __forceinline__ void fetch_tile(int buffer, int tile, unsigned more) const
    {
        const unsigned barrier = barriers + (unsigned)buffer * 8, off = (unsigned)buffer * one;
        hopper_expect(barrier, 2 * one + more);
        query_tile::fetch(queries + off, &maps.q, hopper_heads_first(p.q, p.H), tile * Q, at.h,
                          at.b, barrier);
        query_tile::fetch(gradients_at + off, &maps.g, hopper_heads_first(p.g, p.H), tile * Q, at.h,
                          at.b, barrier);
    }

    __device__ __forceinline__ void fetch(int buffer, int tile) const
    {
        if (fetches)
            fetch_tile(buffer, tile, 0);
    }

    __device__ __forceinline__ void begin(void) const
    {
        if (!fetches)
            return;
        fetch_tile(0, at.first, 2 * own);
        own_tile::fetch(keys, &maps.k, hopper_heads_first(p.k, p.H), at.own, at.h, at.b, barriers);
        own_tile::fetch(values, &maps.v, hopper_heads_first(p.v, p.H), at.own, at.h, at.b,
                        barriers);
    }

    __device__ __forceinline__ void await(int count)
    {
        here = (unsigned)(count % 2) * one;
        hopper_await(barriers + (unsigned)(count % 2) * 8, (unsigned)count / 2);
    }

    template <enum fused_kind KIND>
    __device__ __forceinline__ void
    gradients(const struct fused &, int warp_key, int query, int part, const struct fused_row *r,
              unsigned weights[PART / 2][4], unsigned w[PART / 2][4], float (*)[W / 8][4],
              float (*)[W / 8][4]) const
    {
        float s[PART][4], d[PART][4];
        hopper_ready();
        hopper_scores<own_tile, query_tile, W, PART>(s, key_rows,
                                                     query_tile::descriptor(queries + here, part));
        hopper_scores<own_tile, query_tile, W, PART>(
            d, value_rows, query_tile::descriptor(gradients_at + here, part));
        hopper_close();
        hopper_wait<0>();
        hopper_hold<PART>(s);
        hopper_hold<PART>(d);
        part_gradients<KIND, PART, HALF>(p, warp_key, query, r, s, d, weights, w);
    }

    __device__ __forceinline__ void add(int part, unsigned weights[PART / 2][4],
                                        unsigned w[PART / 2][4], float dv[1][W / 8][4],
                                        float dk[1][W / 8][4]) const
    {
        hopper_ready();
        hopper_add<query_tile, W, PART>(dv[0], weights,
                                        query_tile::descriptor(gradients_at + here, part));
        hopper_add<query_tile, W, PART>(dk[0], w, query_tile::descriptor(queries + here, part));
        hopper_close();
        hopper_wait<0>();
        hopper_hold<W / 8>(dv[0]);
        hopper_hold<W / 8>(dk[0]);
    }

    __device__ __forceinline__ void put_ds(int row, int query, const unsigned w[4]) const
    {
        const int lane = (int)threadIdx.x % K_WARP;
        const unsigned to =
            ds + ds_tile::place(row + lane / 4, query / PIECE) + (unsigned)(lane % 4 * 4);
        const unsigned eight = tile_bytes<hopper_span<Q>()>(8);
        hopper_store(to, w[0]);
        hopper_store(to + eight, w[1]);
        hopper_store(to ^ 16u, w[2]);
        hopper_store((to ^ 16u) + eight, w[3]);
    }

    __device__ __forceinline__ void stored(void) const
    {
        hopper_stored();
    }

    /* x (64 queries, columns from the warp's first on) = the transpose of d s times the keys. */
    __device__ __forceinline__ void query_product(float x[columns_of<W>() / 8][4],
                                                  const struct query_rows &r) const
    {
        constexpr int COLUMNS = columns_of<W>();
        const uint64_t a =
            ds_tile::descriptor(ds + (unsigned)(r.first / 64) * hopper_part<Q, OWN>(), 0);
        const uint64_t b =
            own_tile::descriptor(keys + (unsigned)(r.column / 64) * hopper_part<W, OWN>(), 0);
        hopper_ready();
#pragma unroll
        for (int k = 0; k < OWN / 16; k++)
            hopper_multiply<COLUMNS, true>(x, a + ds_tile::rows(k), b + own_tile::rows(k), k > 0);
        hopper_close();
        hopper_wait<0>();
        hopper_hold<COLUMNS / 8>(x);
    }
};

template <int W, enum fused_kind KIND>
static __global__ void __launch_bounds__(BACK_BLOCK, 1)
    hopper_backward(const struct fused p, const __grid_constant__ struct backward_maps maps)
{
    typedef struct hopper_backward_engine<W> engine;
    const unsigned base = hopper_base(), barriers = engine::barriers_of(base);
    unsigned *const number = (unsigned *)(tensor_shared() + barriers + HOPPER_BARRIERS);
    if (threadIdx.x == 0) {
        hopper_barriers_make(barriers);
        *number = atomicAdd(p.started, 1u);
    }
    __syncthreads();
    const struct fused_place at = fused_keys_of<OWN, queries_of<W>()>(p, (int)*number);
    engine e(p, maps, at, base);
    backward_block<engine, W, KIND>(p, at, e);
}

template <int W, enum fused_kind KIND> static int launch(const struct fused *p)
{
    typedef struct hopper_backward_engine<W> engine;
    struct backward_maps maps;
    TRY(k_cuda_hopper_map(&maps.q, p, &p->q, engine::Q));
    TRY(k_cuda_hopper_map(&maps.g, p, &p->g, engine::Q));
    TRY(k_cuda_hopper_map(&maps.k, p, &p->k, OWN));
    TRY(k_cuda_hopper_map(&maps.v, p, &p->v, OWN));
    TRY(K_SHARED_LIMIT((hopper_backward<W, KIND>), engine::shared));
    return K_LAUNCH((hopper_backward<W, KIND>), fused_blocks(p, OWN), BACK_BLOCK, engine::shared,
                    *p, maps);
}

int k_cuda_hopper_backward(const struct fused *p)
{
    return FUSED_DISPATCH(launch, p, p);
}
