/* fused_backward.cu - fused attention, backward: see fused.cuh. */
#include "fused.cuh"

/* Two tiles of the own side, two of each of the two other tensors, and numbers of their rows. */
template <int W> static __host__ __device__ constexpr size_t shared_of(void)
{
    return tile_bytes<W>(2 * OWN + 4 * KEYS) + 2 * KEYS * sizeof(struct fused_row);
}

template <int W> static __host__ __device__ constexpr int blocks_of(void)
{
    return W <= 64 ? 3 : 1;
}

/* Columns of 8 that are worked on at a time, and whether the own rows stay in registers or are read
 * again for each of these parts: re-weighted elements need the registers (measured on an H100,
 * T 999, W 64: softmax 0.96 ms, lssar 1.34; the other way round 0.99 and 1.39). */
template <enum fused_kind KIND> static __host__ __device__ constexpr int part_of(void)
{
    return fused_sharpened(KIND) ? 4 : 2;
}

template <enum fused_kind KIND> static __host__ __device__ constexpr bool own_stays(void)
{
    return !fused_sharpened(KIND);
}

/* ---- dq: own rows are queries */

/* Scores and gradients by weights to d s or, of re-weighted rows, to the two parts of it that the
 * row's inner joins: slope steep (d - outer) in s, slope in d; rest sums steep (d - outer). */
template <enum fused_kind KIND, bool CAREFUL>
static __device__ __forceinline__ void
query_gradients(const struct fused &p, const struct fused_row r[2], float s[part_of<KIND>()][4],
                float d[part_of<KIND>()][4], float rest[2])
{
    constexpr int NUMBERS = 4 * part_of<KIND>();
    float slope[NUMBERS], z[NUMBERS], power[NUMBERS];
#pragma unroll
    for (int j = 0; j < NUMBERS; j++) {
        const struct fused_row &q = r[j % 4 / 2];
        float u = 0.0f;
        if (fused_cosine(KIND)) {
            const float y = fused_softplus<CAREFUL>(s[j / 4][j % 4], &u);
            slope[j] = fused_logistic(u);
            z[j] = fmaxf(fmaf(q.x, y, -q.y), 0.0f);
        } else {
            slope[j] = fast_exp2(fmaf(s[j / 4][j % 4], p.unit, -q.x));
            z[j] = fmaxf(slope[j] - q.y, 0.0f);
        }
    }
    if (fused_sharpened(KIND))
        fused_powers<NUMBERS>(p.rule, z, power);
#pragma unroll
    for (int j = 0; j < NUMBERS; j++) {
        const struct fused_row &q = r[j % 4 / 2];
        float e = d[j / 4][j % 4] - q.outer;
        if (KIND == LSSA)
            e *= q.y;
        if (fused_sharpened(KIND)) {
            e *= power[j] * (KIND == LSSAR ? p.rule.p * LOG2_E * q.x : p.rule.p);
            rest[j % 4 / 2] += e;
            d[j / 4][j % 4] = slope[j];
        }
        s[j / 4][j % 4] = slope[j] * e;
    }
}

/* Takes away what a gradient by a unit vector has along it. own: the tile with the vector, `row`
 * its row there; x: the thread's columns of the gradient. */
template <int W>
static __device__ __forceinline__ void project(float x[W / 8][4], int half, unsigned own, int row)
{
    const int lane = (int)threadIdx.x % 4;
    float along = 0.0f, square = 0.0f;
#pragma unroll
    for (int c = 0; c < W / 8; c++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const float u = tile_number<W>(own, row, 8 * c + 2 * lane + i);
            along = fmaf(u, x[c][2 * half + i], along);
            square = fmaf(u, u, square);
        }
    along = row_sum(along);
    square = row_sum(square);
    const float part = square > 0.0f ? along / square : 0.0f;
#pragma unroll
    for (int c = 0; c < W / 8; c++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const float u = tile_number<W>(own, row, 8 * c + 2 * lane + i);
            x[c][2 * half + i] = fmaf(-part, u, x[c][2 * half + i]);
        }
}

/* A row of results to vector `which` (0 query, 1 key, 2 value) of position i. */
template <int W>
static __device__ __forceinline__ void put_row(const struct fused &p, const struct fused_place &at,
                                               int which, int i, const float x[W / 8][4], int half)
{
    if (i >= p.T)
        return;
    const size_t to =
        ((((size_t)at.b * (size_t)p.T + (size_t)i) * 3 + (size_t)which) * (size_t)p.H +
         (size_t)at.h) *
        (size_t)p.D;
    fused_put<W>(p, p.dqkv, to, x, half, 1.0f);
}

template <int W, enum fused_kind KIND>
static __global__ void __launch_bounds__(BLOCK, blocks_of<W>()) fused_queries(const struct fused p)
{
    constexpr int SUMS = fused_sharpened(KIND) ? 2 : 1, PART = part_of<KIND>();
    constexpr unsigned own = tile_bytes<W>(OWN), one = tile_bytes<W>(KEYS);
    constexpr unsigned queries = 0, gradients = own, keys = 2 * own, values = keys + 2 * one;
    const struct fused_place at = fused_place_of<W>(p, false, OWN);
    const int warp_row = (int)threadIdx.x / K_WARP * 16;
    const int row = at.own + warp_row + (int)threadIdx.x % K_WARP / 4;
    const bf16 *const k = fused_head(p.k, at), *const v = fused_head(p.v, at);
    unsigned a[1][W / 16][4], g[1][W / 16][4];
    float sums[SUMS][W / 8][4] = {}, rest[2] = {};
    struct fused_row numbers[2];
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int i = row + 8 * half;
        numbers[half] = p.numbers[at.head + (size_t)(i < p.T ? i : 0)];
    }
    const bool flat = fused_flat(numbers[0].x) || fused_flat(numbers[1].x);
    const bool careful = KIND == LSSA || (KIND == LSSAR && __any_sync(0xffffffffu, flat));
    tile_fetch<W, OWN, BLOCK>(queries, fused_head(p.q, at), p.q.row, at.own, p.T);
    tile_fetch<W, OWN, BLOCK>(gradients, fused_head(p.g, at), p.g.row, at.own, p.T);
    tile_fetch<W, KEYS, BLOCK>(keys, k, p.k.row, at.first * KEYS, p.T);
    tile_fetch<W, KEYS, BLOCK>(values, v, p.v.row, at.first * KEYS, p.T);
    tensor_fetched();
    for (int tile = at.first; tile <= at.last; tile++) {
        const unsigned here = (unsigned)((tile - at.first) % 2) * one, there = one - here;
        tensor_wait<0>();
        __syncthreads();
        if (tile < at.last) {
            tile_fetch<W, KEYS, BLOCK>(keys + there, k, p.k.row, (tile + 1) * KEYS, p.T);
            tile_fetch<W, KEYS, BLOCK>(values + there, v, p.v.row, (tile + 1) * KEYS, p.T);
            tensor_fetched();
        }
        if (own_stays<KIND>() && tile == at.first) {
            tile_take<W>(a[0], queries, warp_row);
            tile_take<W>(g[0], gradients, warp_row);
        }
#pragma unroll 1
        for (int part = 0; part < KEYS; part += 8 * PART) {
            const int key = tile * KEYS + part;
            if (key > at.own + warp_row + 15)
                break; /* all of them come later */
            float s[1][PART][4], d[1][PART][4];
            if (!own_stays<KIND>()) {
                tile_take<W>(a[0], queries, warp_row);
                tile_take<W>(g[0], gradients, warp_row);
            }
            tile_scores<W, 1, PART>(s, a, keys + here + tile_bytes<W>(part));
            tile_scores<W, 1, PART>(d, g, values + here + tile_bytes<W>(part));
            if (fused_edge(p, at.own + warp_row, 16, key, 8 * PART))
                fused_mask<PART, false>(p, s[0], row, key + (int)threadIdx.x % 4 * 2);
            if (careful)
                query_gradients<KIND, true>(p, numbers, s[0], d[0], rest);
            else
                query_gradients<KIND, false>(p, numbers, s[0], d[0], rest);
            unsigned w[SUMS][PART / 2][4];
            tensor_round<PART>(w[0], s[0]);
            if (SUMS == 2)
                tensor_round<PART>(w[SUMS - 1], d[0]);
            tile_add<W, SUMS, PART>(sums, w, keys + here + tile_bytes<W>(part));
        }
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int i = row + 8 * half, n = k_math_keys(&p.rule, i);
        const float sum = row_sum(rest[half]);
        const float inner =
            fused_sharpened(KIND) && k_math_shifted(&p.rule, n) ? sum / (float)n : 0.0f;
        const float scale = fused_scale<KIND>(p, at, false, i);
#pragma unroll
        for (int c = 0; c < W / 8; c++)
#pragma unroll
            for (int j = 2 * half; j < 2 * half + 2; j++)
                sums[0][c][j] =
                    scale *
                    (SUMS == 2 ? fmaf(-inner, sums[SUMS - 1][c][j], sums[0][c][j]) : sums[0][c][j]);
        if (fused_cosine(KIND))
            project<W>(sums[0], half, queries, i - at.own);
        put_row<W>(p, at, 0, i, sums[0], half);
        if (fused_sharpened(KIND) && i < p.T && threadIdx.x % 4 == 0)
            p.numbers[at.head + (size_t)i].inner = inner;
    }
}

/* ---- dk and dv: own rows are keys */

/* Scores to final weights, gradients by these to d s; numbers: of the queries of the part. */
template <enum fused_kind KIND, bool CAREFUL>
static __device__ __forceinline__ void
key_gradients(const struct fused &p, const struct fused_row *numbers, float s[part_of<KIND>()][4],
              float d[part_of<KIND>()][4])
{
    constexpr int NUMBERS = 4 * part_of<KIND>();
    float slope[NUMBERS], z[NUMBERS], power[NUMBERS];
    numbers += (int)threadIdx.x % 4 * 2;
#pragma unroll
    for (int j = 0; j < NUMBERS; j++) {
        const float2 r = *(const float2 *)&numbers[j / 4 * 8 + j % 2];
        float u = 0.0f;
        if (fused_cosine(KIND)) {
            const float y = fused_softplus<CAREFUL>(s[j / 4][j % 4], &u);
            slope[j] = fused_logistic(u);
            z[j] = KIND == LSSA ? r.x * y : fmaxf(fmaf(r.x, y, -r.y), 0.0f);
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
template <enum fused_kind KIND>
static __device__ __forceinline__ bool careful_part(const struct fused_row *numbers)
{
    if (KIND != LSSAR)
        return KIND == LSSA;
    const int lane = (int)threadIdx.x % K_WARP;
    static_assert(8 * part_of<LSSAR>() == K_WARP, "a query for each lane");
    return __any_sync(0xffffffffu, fused_flat(numbers[lane].x));
}

/* Numbers of a tile of queries, as pieces of 16 bytes. */
static __device__ __forceinline__ void fetch_numbers(unsigned to, const struct fused_row *from,
                                                     int first, int rows)
{
    const int r = (int)threadIdx.x;
    if (r < KEYS)
        tensor_fetch(to + (unsigned)(r * (int)sizeof(*from)), from + first + r, first + r < rows);
}

template <int W, enum fused_kind KIND>
static __global__ void __launch_bounds__(BLOCK, blocks_of<W>()) fused_keys(const struct fused p)
{
    constexpr int PART = part_of<KIND>();
    constexpr unsigned own = tile_bytes<W>(OWN), one = tile_bytes<W>(KEYS);
    constexpr unsigned keys = 0, values = own, queries = 2 * own, gradients = queries + 2 * one;
    constexpr unsigned numbers = gradients + 2 * one, numbers_one = KEYS * sizeof(struct fused_row);
    const struct fused_place at = fused_place_of<W>(p, true, OWN);
    const int warp_row = (int)threadIdx.x / K_WARP * 16;
    const int row = at.own + warp_row + (int)threadIdx.x % K_WARP / 4, window = p.rule.window;
    const bf16 *const q = fused_head(p.q, at), *const g = fused_head(p.g, at);
    const struct fused_row *const rows = p.numbers + at.head;
    unsigned a[1][W / 16][4], v[1][W / 16][4];
    float dk[1][W / 8][4] = {}, dv[1][W / 8][4] = {};
    tile_fetch<W, OWN, BLOCK>(keys, fused_head(p.k, at), p.k.row, at.own, p.T);
    tile_fetch<W, OWN, BLOCK>(values, fused_head(p.v, at), p.v.row, at.own, p.T);
    tile_fetch<W, KEYS, BLOCK>(queries, q, p.q.row, at.first * KEYS, p.T);
    tile_fetch<W, KEYS, BLOCK>(gradients, g, p.g.row, at.first * KEYS, p.T);
    fetch_numbers(numbers, rows, at.first * KEYS, p.T);
    tensor_fetched();
    for (int tile = at.first; tile <= at.last; tile++) {
        const unsigned buffer = (unsigned)((tile - at.first) % 2);
        const unsigned here = buffer * one, there = one - here;
        tensor_wait<0>();
        __syncthreads();
        if (tile < at.last) {
            tile_fetch<W, KEYS, BLOCK>(queries + there, q, p.q.row, (tile + 1) * KEYS, p.T);
            tile_fetch<W, KEYS, BLOCK>(gradients + there, g, p.g.row, (tile + 1) * KEYS, p.T);
            fetch_numbers(numbers + (1 - buffer) * numbers_one, rows, (tile + 1) * KEYS, p.T);
            tensor_fetched();
        }
        if (own_stays<KIND>() && tile == at.first) {
            tile_take<W>(a[0], keys, warp_row);
            tile_take<W>(v[0], values, warp_row);
        }
#pragma unroll 1
        for (int part = 0; part < KEYS; part += 8 * PART) {
            const int query = tile * KEYS + part, first = at.own + warp_row;
            if (query + 8 * PART <= first || query >= p.T ||
                (window > 0 && query >= first + 15 + window))
                continue; /* none attends a key of the warp */
            float s[1][PART][4], d[1][PART][4];
            if (!own_stays<KIND>()) {
                tile_take<W>(a[0], keys, warp_row);
                tile_take<W>(v[0], values, warp_row);
            }
            tile_scores<W, 1, PART>(s, a, queries + here + tile_bytes<W>(part));
            tile_scores<W, 1, PART>(d, v, gradients + here + tile_bytes<W>(part));
            if (fused_edge(p, query, 8 * PART, first, 16))
                fused_mask<PART, true>(p, s[0], row, query + (int)threadIdx.x % 4 * 2);
            const struct fused_row *const r =
                (const struct fused_row *)(tensor_shared() + numbers + buffer * numbers_one) + part;
            if (careful_part<KIND>(r))
                key_gradients<KIND, true>(p, r, s[0], d[0]);
            else
                key_gradients<KIND, false>(p, r, s[0], d[0]);
            unsigned w[1][PART / 2][4];
            tensor_round<PART>(w[0], s[0]);
            tile_add<W, 1, PART>(dv, w, gradients + here + tile_bytes<W>(part));
            tensor_round<PART>(w[0], d[0]);
            tile_add<W, 1, PART>(dk, w, queries + here + tile_bytes<W>(part));
        }
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
            project<W>(dk[0], half, keys, i - at.own);
        put_row<W>(p, at, 1, i, dk[0], half);
        put_row<W>(p, at, 2, i, dv[0], half);
    }
}

/* ---- launches */

static unsigned grid_of(const struct fused *p)
{
    return (unsigned)((p->T + OWN - 1) / OWN) * (unsigned)(p->B * p->H);
}

template <int W, enum fused_kind KIND> static int queries(const struct fused *p)
{
    const int rc = K_SHARED_LIMIT((fused_queries<W, KIND>), shared_of<W>());
    return rc ? rc : K_LAUNCH((fused_queries<W, KIND>), grid_of(p), BLOCK, shared_of<W>(), *p);
}

template <int W, enum fused_kind KIND> static int keys(const struct fused *p)
{
    const int rc = K_SHARED_LIMIT((fused_keys<W, KIND>), shared_of<W>());
    return rc ? rc : K_LAUNCH((fused_keys<W, KIND>), grid_of(p), BLOCK, shared_of<W>(), *p);
}

int k_cuda_fused_queries(const struct fused *p)
{
    FUSED_DISPATCH(queries, p, p);
}

int k_cuda_fused_keys(const struct fused *p)
{
    FUSED_DISPATCH(keys, p, p);
}
