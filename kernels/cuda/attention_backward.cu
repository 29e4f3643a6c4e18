/* attention_backward.cu - rows of any line of the attention table, backward.
 *
 * Weights are recomputed from the scores and the saved numbers of their rows. The first kernel
 * computes the two weighted means of every row (centres). Then dv = weights^T dout, dq = ds k
 * and dk = ds^T q, each in a kernel whose blocks own the rows they write: nothing is added
 * across blocks. */
#include "attention.cuh"

/* ---- the means of a row: own rows are queries */

struct row_here {
    int i, n;
    bool outer_l1;
    float scale, bias, guess;
    struct k_math_row row;
};

/* <dout, out> of the thread's row over D; each of the two threads of a row takes every other
 * column. */
static __device__ __forceinline__ float along_row(const struct problem &p, const struct block &k,
                                                  int i)
{
    const struct rows g = out_rows(p, k, p.dout), o = out_rows(p, k, p.out_given);
    float sum = 0.0f;
    for (int c = my_column() / HALF; i < p.T && c < p.D; c += 2)
        sum = fmaf(g.at[(ptrdiff_t)i * g.stride + c], o.at[(ptrdiff_t)i * o.stride + c], sum);
    const float other = other_half(sum);
    return sum + other;
}

static __device__ __forceinline__ struct row_here row_here_of(const struct problem &p,
                                                              const struct block &k)
{
    struct row_here q;
    q.i = k.own + my_row();
    q.n = k_math_keys(&p.rule, q.i);
    q.outer_l1 = k_math_outer_l1(&p.rule, q.n);
    q.bias = k_math_bias(&p.rule, q.n);
    const float *at = p.row_stats + k.head + (size_t)q.i;
    const bool live = q.i < p.T;
    q.scale = live ? at[QUERY_SCALE * p.rows] : 0.0f;
    q.row.factor = live ? at[FACTOR * p.rows] : 0.0f;
    q.row.top = live ? at[TOP * p.rows] : 0.0f;
    q.row.theta = live ? at[THETA * p.rows] : 0.0f;
    q.row.inverse = live ? at[INVERSE * p.rows] : 0.0f;
    q.guess = k_math_guess(q.row.factor, along_row(p, k, q.i));
    return q;
}

/* Adds half a row to the means; scores, gradients: its products of q and k, of dout and v. */
static __device__ __forceinline__ void means_tile(const struct problem &p, const struct row_here &q,
                                                  struct span span, const float *scores,
                                                  const float *gradients, const float *scale,
                                                  struct k_math_means *means)
{
    const float tops[4] = {q.row.top, q.row.top, q.row.top, q.row.top};
    struct k_math_means part = k_math_means_none();
    for (int g = first_group(span); g <= last_group(span); g++) {
        float s[4], d[4], key[4], x[4], slope[4], steepness;
        take4(s, scores + 4 * g);
        take4(d, gradients + 4 * g);
        take4(key, scale + 4 * g);
#pragma unroll
        for (int c = 0; c < 4; c++)
            s[c] = fmaf(s[c], q.scale * key[c], q.bias);
        phi4(p.rule, s, tops, x, slope);
#pragma unroll
        for (int c = 0; c < 4; c++) {
            const float w = k_math_weight(&p.rule, q.row.theta, q.row.inverse, x[c], &steepness);
            if (4 * g + c >= span.lo && 4 * g + c <= span.hi)
                k_math_means_add(&part, q.outer_l1, q.guess, x[c], w, steepness, d[c]);
        }
    }
    means->weighted += part.weighted;
    means->rest += part.rest;
    means->steep += part.steep;
}

static __global__ void __launch_bounds__(THREADS, 4) rows_centres(const struct problem p)
{
    __shared__ __align__(16) float a[TILE * STRIDE], b[TILE * STRIDE], scale[TILE];
    __shared__ struct block k;
    take_block(p, false, &k);
    const struct row_here q = row_here_of(p, k);
    const int half = my_row() * STRIDE + my_column();
    struct k_math_means means = k_math_means_none();
    for (int t = k.first; t <= k.last; t++) {
        float x[ROWS][COLS], d[ROWS][COLS];
        const int key = t * TILE + (int)threadIdx.x;
        products(p, x, a, b, vectors(p, k, QUERY), k.own, vectors(p, k, KEY), t * TILE);
        products(p, d, a, b, out_rows(p, k, p.dout), k.own, vectors(p, k, VALUE), t * TILE);
        if (threadIdx.x < TILE)
            scale[threadIdx.x] =
                key < p.T ? p.row_stats[KEY_SCALE * p.rows + k.head + (size_t)key] : 0.0f;
        __syncthreads();
        put(a, x);
        put(b, d);
        __syncwarp();
        means_tile(p, q, span_of(p, k, false, t * TILE), a + half, b + half, scale + my_column(),
                   &means);
    }
    means.weighted += other_half(means.weighted);
    means.rest += other_half(means.rest);
    means.steep += other_half(means.steep);
    if (q.i >= p.T || my_column() != 0)
        return;
    const struct k_math_centre c = k_math_means_end(&p.rule, q.n, q.row.factor, q.guess, &means);
    const bool degenerate = q.row.factor == 0.0f;
    p.centre[OUTER * p.rows + k.head + (size_t)q.i] = degenerate ? 0.0f : c.outer;
    p.centre[INNER * p.rows + k.head + (size_t)q.i] = degenerate ? 0.0f : c.inner;
}

/* ---- gradients: own rows are queries (dq) or keys (dv, dk) */

/* The numbers of TILE queries that are kept in shared memory. */
enum { N_FACTOR, N_TOP, N_THETA, N_INVERSE, N_SCALE, N_BIAS, N_OUTER, N_INNER, NUMBERS };

static __device__ __forceinline__ void stage_queries(const struct problem &p, const struct block &k,
                                                     int first, bool with_centres,
                                                     float numbers[NUMBERS][TILE])
{
    const int c = (int)threadIdx.x % TILE, i = first + c;
    for (int w = (int)threadIdx.x / TILE; w < NUMBERS; w += THREADS / TILE) {
        float x = 0.0f;
        if (i < p.T) {
            const size_t at = k.head + (size_t)i;
            if (w == N_BIAS)
                x = k_math_bias(&p.rule, k_math_keys(&p.rule, i));
            else if (w < N_BIAS)
                x = p.row_stats[(size_t)w * p.rows + at];
            else if (with_centres)
                x = p.centre[(size_t)(w - N_OUTER) * p.rows + at];
        }
        numbers[w][c] = x;
    }
}

static __device__ __forceinline__ void stage_keys(const struct problem &p, const struct block &k,
                                                  int first, float *scale)
{
    const int c = (int)threadIdx.x;
    if (c < TILE)
        scale[c] =
            first + c < p.T ? p.row_stats[KEY_SCALE * p.rows + k.head + (size_t)(first + c)] : 0.0f;
}

/* Copies the numbers of the queries of four elements in a row: one query, or four where queries
 * are columns. */
template <bool KEYS>
static __device__ __forceinline__ void take_queries(float to[4], const float *numbers, int row,
                                                    int column)
{
    if (KEYS) {
        take4(to, numbers + column);
        return;
    }
    to[0] = to[1] = to[2] = to[3] = numbers[row];
}

template <bool KEYS>
static __device__ __forceinline__ void scores4(const float numbers[NUMBERS][TILE],
                                               const float *scale, int column, float s[4],
                                               float other[4])
{
    float query[4], key[4], bias[4];
    const int row = my_row();
    take_queries<KEYS>(query, numbers[N_SCALE], row, column);
    take_queries<KEYS>(bias, numbers[N_BIAS], row, column);
    take_queries<!KEYS>(key, scale, row, column);
#pragma unroll
    for (int c = 0; c < 4; c++) {
        s[c] = fmaf(s[c], query[c] * key[c], bias[c]);
        other[c] = KEYS ? query[c] : key[c];
    }
}

/* Replaces products of keys (rows) and queries (columns) by final weights, in place. */
static __device__ __forceinline__ void weights_tile(const struct problem &p, const struct block &k,
                                                    const float numbers[NUMBERS][TILE],
                                                    const float *scale, int first, float *tile)
{
    const struct span span = span_of(p, k, true, first);
    float *half = tile + my_row() * STRIDE + my_column();
    for (int g = 0; g < QUADS; g++) {
        float s[4], x[4], slope[4], top[4], theta[4], inverse[4], factor[4], other[4], steepness;
        float w[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        if (g >= first_group(span) && g <= last_group(span)) {
            const int column = my_column() + 4 * g;
            take4(s, half + 4 * g);
            scores4<true>(numbers, scale, column, s, other);
            take4(top, numbers[N_TOP] + column);
            take4(theta, numbers[N_THETA] + column);
            take4(inverse, numbers[N_INVERSE] + column);
            take4(factor, numbers[N_FACTOR] + column);
            phi4(p.rule, s, top, x, slope);
#pragma unroll
            for (int c = 0; c < 4; c++)
                if (4 * g + c >= span.lo && 4 * g + c <= span.hi)
                    w[c] =
                        factor[c] * k_math_weight(&p.rule, theta[c], inverse[c], x[c], &steepness);
        }
        give4(half + 4 * g, w);
    }
}

static __global__ void __launch_bounds__(THREADS, 4) values_backward(const struct problem p)
{
    __shared__ __align__(16) float a[TILE * STRIDE], b[TILE * STRIDE];
    __shared__ __align__(16) float numbers[NUMBERS][TILE], scale[TILE];
    __shared__ struct block k;
    take_block(p, true, &k);
    float dv[ROWS][COLS];
    clear(dv);
    stage_keys(p, k, k.own, scale);
    for (int t = k.first; t <= k.last; t++) {
        float x[ROWS][COLS];
        products(p, x, a, b, vectors(p, k, KEY), k.own, vectors(p, k, QUERY), t * TILE);
        stage_queries(p, k, t * TILE, false, numbers);
        __syncthreads();
        put(b, x);
        stage(p, a, out_rows(p, k, p.dout), t * TILE, k.chunk * TILE);
        __syncwarp();
        weights_tile(p, k, numbers, scale, t * TILE, b);
        __syncthreads();
        multiply(p, k, dv, b, a, t * TILE);
    }
    store(p, k, p.dqkv + vector_place(p, k, VALUE), 3 * p.H * p.D, dv);
}

/* Replaces the products of q and k in `tile` by ds times the factor of the other side's vectors.
 * `gradients` has the products of dout and v. */
template <bool KEYS>
static __device__ __forceinline__ void
gradients_tile(const struct problem &p, const struct block &k, const float numbers[NUMBERS][TILE],
               const float *scale, int first, float *tile, const float *gradients)
{
    const struct span span = span_of(p, k, KEYS, first);
    const int row = my_row(), half = row * STRIDE + my_column();
    for (int g = 0; g < QUADS; g++) {
        float s[4], d[4], x[4], slope[4], top[4], theta[4], inverse[4], factor[4], outer[4];
        float inner[4], other[4], ds[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        if (g >= first_group(span) && g <= last_group(span)) {
            const int column = my_column() + 4 * g;
            take4(s, tile + half + 4 * g);
            take4(d, gradients + half + 4 * g);
            scores4<KEYS>(numbers, scale, column, s, other);
            take_queries<KEYS>(top, numbers[N_TOP], row, column);
            take_queries<KEYS>(theta, numbers[N_THETA], row, column);
            take_queries<KEYS>(inverse, numbers[N_INVERSE], row, column);
            take_queries<KEYS>(factor, numbers[N_FACTOR], row, column);
            take_queries<KEYS>(outer, numbers[N_OUTER], row, column);
            take_queries<KEYS>(inner, numbers[N_INNER], row, column);
            phi4(p.rule, s, top, x, slope);
#pragma unroll
            for (int c = 0; c < 4; c++) {
                float steepness;
                const float w = k_math_weight(&p.rule, theta[c], inverse[c], x[c], &steepness);
                const float y = k_math_gradient(factor[c], outer[c], inner[c], x[c], w, slope[c],
                                                steepness, d[c]);
                if (factor[c] != 0.0f && 4 * g + c >= span.lo && 4 * g + c <= span.hi)
                    ds[c] = y * other[c];
            }
        }
        give4(tile + half + 4 * g, ds);
    }
}

template <bool KEYS>
static __global__ void __launch_bounds__(THREADS, 3) vectors_backward(const struct problem p)
{
    __shared__ __align__(16) float a[TILE * STRIDE], b[TILE * STRIDE];
    __shared__ __align__(16) float numbers[NUMBERS][TILE], scale[TILE];
    __shared__ struct block k;
    take_block(p, KEYS, &k);
    const struct rows own = vectors(p, k, KEYS ? KEY : QUERY);
    const struct rows other = vectors(p, k, KEYS ? QUERY : KEY);
    const struct rows dout = out_rows(p, k, p.dout), v = vectors(p, k, VALUE);
    float y[ROWS][COLS];
    clear(y);
    if (KEYS)
        stage_keys(p, k, k.own, scale);
    else
        stage_queries(p, k, k.own, true, numbers);
    for (int t = k.first; t <= k.last; t++) {
        float x[ROWS][COLS], d[ROWS][COLS];
        products(p, x, a, b, own, k.own, other, t * TILE);
        products(p, d, a, b, KEYS ? v : dout, k.own, KEYS ? dout : v, t * TILE);
        if (KEYS)
            stage_queries(p, k, t * TILE, true, numbers);
        else
            stage_keys(p, k, t * TILE, scale);
        __syncthreads();
        put(a, x);
        put(b, d);
        __syncwarp();
        gradients_tile<KEYS>(p, k, numbers, scale, t * TILE, a, b);
        __syncthreads();
        stage(p, b, other, t * TILE, k.chunk * TILE);
        __syncthreads();
        multiply(p, k, y, a, b, t * TILE);
    }
    multiply_by_rows(y, KEYS ? scale : numbers[N_SCALE]);
    store(p, k, p.dqkv + vector_place(p, k, KEYS ? KEY : QUERY), 3 * p.H * p.D, y);
}

int k_cuda_attention_centres(const struct problem *p)
{
    struct problem whole = *p;
    whole.chunks = 1;
    return K_LAUNCH(rows_centres, blocks_of(&whole, 1), THREADS, 0, whole);
}

int k_cuda_attention_values(const struct problem *p)
{
    return K_LAUNCH(values_backward, blocks_of(p, p->chunks), THREADS, 0, *p);
}

int k_cuda_attention_vectors(const struct problem *p, int which)
{
    const unsigned blocks = blocks_of(p, p->chunks);
    if (which == KEY)
        return K_LAUNCH(vectors_backward<true>, blocks, THREADS, 0, *p);
    return K_LAUNCH(vectors_backward<false>, blocks, THREADS, 0, *p);
}
