/* hopper_backward.cu - fused attention, backward, on tensor cores of compute capability 9.0: what
 * fused_backward.cu does, with products of 64 rows that read shared memory themselves (hopper.cuh).
 * Two groups of four warps have 64 of the block's keys each. */
#include "fused_backward.cuh"
#include "hopper.cuh"
#include "hopper.h"

enum { GROUP = 64 }; /* keys, or queries of dq, of four warps */

/* Columns of 8 of scores that are made at a time, and of those whose elements are worked on. */
template <int W> static __host__ __device__ constexpr int part_of(void)
{
    return W <= 64 ? 8 : 4;
}
enum { HALF = 4 };

struct backward_maps {
    CUtensorMap q, k, v, g;
};

/* Where what is in shared memory is: keys, values, two tiles each of queries and gradients, d s of
 * a tile, numbers of two tiles of rows, two sums by row that groups exchange, barriers and the
 * block's number. */
template <int W> struct backward_places {
    static constexpr int Q = queries_of<W>();
    static constexpr unsigned own = tile_bytes<W>(OWN), one = tile_bytes<W>(Q),
                              numbers_one = Q * sizeof(struct fused_row);
    static constexpr size_t bytes = 2 * own + 4 * one + tile_bytes<Q>(OWN) + 2 * numbers_one +
                                    2 * Q * sizeof(float2) + HOPPER_BARRIERS + 16;
    unsigned keys, values, queries, gradients, ds, numbers, exchange, barriers, number;

    __device__ __forceinline__ explicit backward_places(unsigned base)
        : keys(base), values(keys + own), queries(values + own), gradients(queries + 2 * one),
          ds(gradients + 2 * one), numbers(ds + tile_bytes<Q>(OWN)),
          exchange(numbers + 2 * numbers_one),
          barriers(exchange + (unsigned)(2 * Q * sizeof(float2))),
          number(barriers + HOPPER_BARRIERS)
    {
    }
};

/* By one thread: queries and gradients of a tile into a buffer; more: bytes that come beside them. */
template <int W>
static __device__ __forceinline__ void
fetch_queries(const struct fused &p, const struct backward_maps &maps, const struct fused_place &at,
              const struct backward_places<W> &to, int buffer, int tile, unsigned more)
{
    constexpr int Q = queries_of<W>();
    const unsigned barrier = to.barriers + (unsigned)buffer * 8, off = (unsigned)buffer * to.one;
    hopper_expect(barrier, 2 * to.one + more);
    hopper_tile<W, Q>::fetch(to.queries + off, &maps.q, hopper_heads_first(p.q, p.H), tile * Q,
                             at.h, at.b, barrier);
    hopper_tile<W, Q>::fetch(to.gradients + off, &maps.g, hopper_heads_first(p.g, p.H), tile * Q,
                             at.h, at.b, barrier);
}

/* d s of 16 keys and 16 queries as it was rounded, for both groups. */
template <int Q>
static __device__ __forceinline__ void put_ds(unsigned ds, int key, int query, const unsigned w[4])
{
    const int lane = (int)threadIdx.x % K_WARP;
    const unsigned at =
        ds + hopper_tile<Q, OWN>::place(key + lane / 4, query / PIECE) + (unsigned)(lane % 4 * 4);
    const unsigned eight = tile_bytes<hopper_span<Q>()>(8);
    hopper_store(at, w[0]);
    hopper_store(at + eight, w[1]);
    hopper_store(at ^ 16u, w[2]);
    hopper_store((at ^ 16u) + eight, w[3]);
}

/* x (64 queries, columns from `column` on) = d s transposed times the keys. */
template <int W>
static __device__ __forceinline__ void query_product(float x[columns_of<W>() / 8][4],
                                                     const struct backward_places<W> &here,
                                                     int query, int column)
{
    constexpr int Q = queries_of<W>(), COLUMNS = columns_of<W>();
    typedef struct hopper_tile<Q, OWN> ds;
    typedef struct hopper_tile<W, OWN> keys;
    const uint64_t a = ds::descriptor(here.ds + (unsigned)(query / 64) * hopper_part<Q, OWN>(), 0);
    const uint64_t b =
        keys::descriptor(here.keys + (unsigned)(column / 64) * hopper_part<W, OWN>(), 0);
    hopper_ready();
#pragma unroll
    for (int k = 0; k < OWN / 16; k++)
        hopper_multiply<COLUMNS, true>(x, a + ds::rows(k), b + keys::rows(k), k > 0);
    hopper_close();
    hopper_wait<0>();
    hopper_hold<COLUMNS / 8>(x);
}

/* Weights and d s of the warp's 16 keys from `key` on and 8 PART queries, as they are rounded, by
 * products of the tiles with these descriptors. */
template <int W, enum fused_kind KIND, int PART>
static __device__ __forceinline__ void
part_gradients(const struct fused &p, int key, int query, const struct fused_row *numbers,
               uint64_t keys, uint64_t values, uint64_t queries, uint64_t gradients,
               unsigned weights[PART / 2][4], unsigned w[PART / 2][4])
{
    typedef struct hopper_tile<W, OWN> own_tile;
    typedef struct hopper_tile<W, queries_of<W>()> query_tile;
    const int lane = (int)threadIdx.x % K_WARP;
    float s[PART][4], d[PART][4];
    hopper_ready();
    hopper_scores<own_tile, query_tile, W, PART>(s, keys, queries);
    hopper_scores<own_tile, query_tile, W, PART>(d, values, gradients);
    hopper_close();
    hopper_wait<0>();
    hopper_hold<PART>(s);
    hopper_hold<PART>(d);
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
        tensor_round<HALF>(w + n / 2, d + n);
    }
}

template <int W, enum fused_kind KIND>
static __global__ void __launch_bounds__(BACK_BLOCK, 1)
    hopper_backward(const struct fused p, const __grid_constant__ struct backward_maps maps)
{
    constexpr int PART = part_of<W>(), Q = queries_of<W>();
    typedef struct hopper_tile<W, OWN> own_tile;
    typedef struct hopper_tile<W, Q> query_tile;
    const struct backward_places<W> here(hopper_base());
    const bool fetches = threadIdx.x == 0;
    if (fetches) {
        hopper_barriers_make(here.barriers);
        *(unsigned *)(tensor_shared() + here.number) = atomicAdd(p.started, 1u);
    }
    __syncthreads();
    const int number = (int)*(const unsigned *)(tensor_shared() + here.number);
    const struct fused_place at = fused_keys_of<OWN, Q>(p, number);
    const int group = (int)threadIdx.x / (4 * K_WARP) * GROUP, window = p.rule.window;
    const int warp_row = (int)threadIdx.x / K_WARP * 16;
    const int row = at.own + warp_row + (int)threadIdx.x % K_WARP / 4;
    const struct fused_row *const rows = p.numbers + at.head;
    const uint64_t keys = own_tile::descriptor(here.keys, group),
                   values = own_tile::descriptor(here.values, group);
    float dk[W / 8][4] = {}, dv[W / 8][4] = {};
    if (fetches) {
        fetch_queries<W>(p, maps, at, here, 0, at.first, 2 * here.own);
        own_tile::fetch(here.keys, &maps.k, hopper_heads_first(p.k, p.H), at.own, at.h, at.b,
                        here.barriers);
        own_tile::fetch(here.values, &maps.v, hopper_heads_first(p.v, p.H), at.own, at.h, at.b,
                        here.barriers);
    }
    fetch_numbers<Q>(here.numbers, rows, at.first * Q, p.T);
    tensor_fetched();
    for (int tile = at.first; tile <= at.last; tile++) {
        const int count = tile - at.first, buffer = count % 2;
        const unsigned off = (unsigned)buffer * here.one;
        tensor_wait<0>();
        __syncthreads(); /* the numbers are there; nobody reads the tile before, or its d s */
        if (tile < at.last) {
            if (fetches)
                fetch_queries<W>(p, maps, at, here, 1 - buffer, tile + 1, 0);
            fetch_numbers<Q>(here.numbers + (unsigned)(1 - buffer) * here.numbers_one, rows,
                             (tile + 1) * Q, p.T);
            tensor_fetched();
        }
        hopper_await(here.barriers + (unsigned)buffer * 8, (unsigned)count / 2);
#pragma unroll 1
        for (int part = 0; part < Q; part += 8 * PART) {
            const int query = tile * Q + part, first = at.own + group;
            const bool attended = query + 8 * PART > first && query < p.T &&
                                  (window <= 0 || query < first + GROUP - 1 + window);
            const uint64_t queries = query_tile::descriptor(here.queries + off, part),
                           gradients = query_tile::descriptor(here.gradients + off, part);
            unsigned weights[PART / 2][4], w[PART / 2][4] = {};
            if (attended) {
                const struct fused_row *const numbers =
                    (const struct fused_row *)(tensor_shared() + here.numbers +
                                               (unsigned)buffer * here.numbers_one) +
                    part;
                part_gradients<W, KIND, PART>(p, at.own + warp_row, query, numbers, keys, values,
                                              queries, gradients, weights, w);
            }
#pragma unroll
            for (int k = 0; k < PART / 2; k++)
                put_ds<Q>(here.ds, warp_row, part + 16 * k, w[k]);
            if (attended) {
                hopper_ready();
                hopper_add<query_tile, W, PART>(dv, weights, gradients);
                hopper_add<query_tile, W, PART>(dk, w, queries);
                hopper_close();
                hopper_wait<0>();
                hopper_hold<W / 8>(dv);
                hopper_hold<W / 8>(dk);
            }
        }
        hopper_stored();
        __syncthreads(); /* all d s is there */
        const struct query_rows r = query_rows_of<W>();
        float x[columns_of<W>() / 8][4];
        query_product<W>(x, here, r.first, r.column);
        add_queries<W, KIND, query_tile>(p, at, x, here.queries + off, here.exchange, tile);
        if (fused_cosine(KIND))
            hopper_stored(); /* they were read: the next but one is fetched over them */
    }
    put_keys<W, KIND, own_tile>(p, at, row, dk, dv, here.keys);
}

template <int W, enum fused_kind KIND> static int launch(const struct fused *p)
{
    constexpr size_t shared = backward_places<W>::bytes + HOPPER_SLACK;
    const unsigned blocks = (unsigned)((p->T + OWN - 1) / OWN) * (unsigned)(p->B * p->H);
    struct backward_maps maps;
    TRY(k_cuda_hopper_map(&maps.q, p, &p->q, queries_of<W>()));
    TRY(k_cuda_hopper_map(&maps.g, p, &p->g, queries_of<W>()));
    TRY(k_cuda_hopper_map(&maps.k, p, &p->k, OWN));
    TRY(k_cuda_hopper_map(&maps.v, p, &p->v, OWN));
    TRY(K_SHARED_LIMIT((hopper_backward<W, KIND>), shared));
    return K_LAUNCH((hopper_backward<W, KIND>), blocks, BACK_BLOCK, shared, *p, maps);
}

int k_cuda_hopper_backward(const struct fused *p)
{
    FUSED_DISPATCH(launch, p, p);
}
