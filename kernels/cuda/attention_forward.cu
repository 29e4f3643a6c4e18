/* attention_forward.cu - rows of any line of the attention table, forward.
 *
 * A block has TILE queries of one head and TILE columns of their outputs. Where weights are
 * factor * phi (softmax, relu, ...), one pass over the keys sums x and x v, and rescales both
 * where the largest score rises. Re-weighted and re-centred rows need their mean first: one pass
 * for the sums, one for w and w v. */
#include "attention.cuh"

/* Factors of the scores of the thread's query. */
struct query {
    float scale, bias;
};

/* The numbers of its queries that a block keeps in shared memory, since products need the
 * registers. */
enum { Q_SCALE, Q_BIAS, Q_TOP, Q_THETA, Q_INVERSE, Q_FACTOR, Q_NUMBERS };

/* Writes the numbers of the thread's row, for the threads of its warp. */
static __device__ __forceinline__ void stage_query(const struct problem &p, const struct block &k,
                                                   float numbers[Q_NUMBERS][TILE])
{
    const int row = my_row(), i = k.own + row;
    if (my_column() == 0) {
        numbers[Q_SCALE][row] =
            i < p.T ? p.row_stats[QUERY_SCALE * p.rows + k.head + (size_t)i] : 0.0f;
        numbers[Q_BIAS][row] = k_math_bias(&p.rule, k_math_keys(&p.rule, i));
    }
    __syncwarp();
}

static __device__ __forceinline__ struct query query_of(const float numbers[Q_NUMBERS][TILE])
{
    return {numbers[Q_SCALE][my_row()], numbers[Q_BIAS][my_row()]};
}

static __device__ __forceinline__ void stage_row(const struct k_math_row &row,
                                                 float numbers[Q_NUMBERS][TILE])
{
    __syncwarp();
    if (my_column() == 0) {
        numbers[Q_TOP][my_row()] = row.top;
        numbers[Q_THETA][my_row()] = row.theta;
        numbers[Q_INVERSE][my_row()] = row.inverse;
        numbers[Q_FACTOR][my_row()] = row.factor;
    }
    __syncwarp();
}

static __device__ __forceinline__ struct k_math_row row_of(const float numbers[Q_NUMBERS][TILE])
{
    const int row = my_row();
    return {numbers[Q_TOP][row], numbers[Q_THETA][row], numbers[Q_INVERSE][row],
            numbers[Q_FACTOR][row]};
}

/* Turns four products of a half row into scores. */
static __device__ __forceinline__ void scores4(const struct query &q, const float *products,
                                               const float *scale, float s[4])
{
    float key[4];
    take4(s, products);
    take4(key, scale);
#pragma unroll
    for (int c = 0; c < 4; c++)
        s[c] = fmaf(s[c], q.scale * key[c], q.bias);
}

/* The largest attended score of a half row. */
static __device__ __forceinline__ float top_of(const struct query &q, struct span span,
                                               const float *half, const float *scale)
{
    float top = -INFINITY;
    for (int g = first_group(span); g <= last_group(span); g++) {
        float s[4];
        scores4(q, half + 4 * g, scale + 4 * g, s);
#pragma unroll
        for (int c = 0; c < 4; c++)
            if (4 * g + c >= span.lo && 4 * g + c <= span.hi)
                top = fmaxf(top, s[c]);
    }
    return top;
}

/* Adds half a row of products to the sums of the row. KEEP: products are replaced by x, 0 where
 * not attended, and both halves use the same top. Returns the factor for the sum of x v so far. */
template <bool KEEP>
static __device__ __forceinline__ float sums_tile(const struct problem &p, const struct query &q,
                                                  struct span span, struct k_math_sums *sums,
                                                  float *half, const float *scale)
{
    float ratio = 1.0f, part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    if (p.rule.needs_top) {
        float top = top_of(q, span, half, scale);
        if (KEEP)
            top = fmaxf(top, other_half(top));
        ratio = k_math_sums_raise(&p.rule, sums, top);
    }
    const float t = k_math_top(&p.rule, sums), tops[4] = {t, t, t, t};
    const int first = first_group(span), last = last_group(span);
    for (int g = KEEP ? 0 : first; g < (KEEP ? QUADS : last + 1); g++) {
        float s[4], x[4] = {0.0f, 0.0f, 0.0f, 0.0f}, slope[4];
        if (!KEEP || (g >= first && g <= last)) {
            scores4(q, half + 4 * g, scale + 4 * g, s);
            phi4(p.rule, s, tops, x, slope);
#pragma unroll
            for (int c = 0; c < 4; c++) {
                if (4 * g + c < span.lo || 4 * g + c > span.hi)
                    x[c] = 0.0f;
                part[c] += fabsf(x[c]);
                sums->largest = fmaxf(sums->largest, x[c]);
            }
        }
        if (KEEP)
            give4(half + 4 * g, x);
    }
    sums->sum += (part[0] + part[1]) + (part[2] + part[3]);
    return ratio;
}

/* Replaces half a row of products by weights w, 0 where not attended; returns sum |w|. */
static __device__ __forceinline__ float weights_tile(const struct problem &p, const struct query &q,
                                                     struct span span, const struct k_math_row &row,
                                                     float *half, const float *scale)
{
    const float tops[4] = {row.top, row.top, row.top, row.top};
    float part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int g = 0; g < QUADS; g++) {
        float s[4], w[4] = {0.0f, 0.0f, 0.0f, 0.0f}, x[4], slope[4], steepness;
        if (g >= first_group(span) && g <= last_group(span)) {
            scores4(q, half + 4 * g, scale + 4 * g, s);
            phi4(p.rule, s, tops, x, slope);
#pragma unroll
            for (int c = 0; c < 4; c++) {
                if (4 * g + c >= span.lo && 4 * g + c <= span.hi)
                    w[c] = k_math_weight(&p.rule, row.theta, row.inverse, x[c], &steepness);
                part[c] += fabsf(w[c]);
            }
        }
        give4(half + 4 * g, w);
    }
    return (part[0] + part[1]) + (part[2] + part[3]);
}

static __device__ __forceinline__ struct k_math_sums join_halves(const struct problem &p,
                                                                 struct k_math_sums sums)
{
    struct k_math_sums other;
    other.top = other_half(sums.top);
    other.sum = other_half(sums.sum);
    other.largest = other_half(sums.largest);
    /* in the same order in both threads */
    return my_column() == 0 ? k_math_sums_join(&p.rule, sums, other)
                            : k_math_sums_join(&p.rule, other, sums);
}

static __device__ __forceinline__ void save_row(const struct problem &p, const struct block &k,
                                                const struct k_math_row &row)
{
    const int i = k.own + my_row();
    if (k.chunk != 0 || my_column() != 0 || i >= p.T)
        return;
    float *at = p.row_stats + k.head + (size_t)i;
    at[FACTOR * p.rows] = row.factor;
    at[TOP * p.rows] = row.top;
    at[THETA * p.rows] = row.theta;
    at[INVERSE * p.rows] = row.inverse;
}

/* Computes the products of the block's queries and the keys of tile t in b, where threads read
 * the rows of their own warp. scale = the keys' factors. */
static __device__ __forceinline__ void tile_products(const struct problem &p, const struct block &k,
                                                     int t, float *a, float *b, float *scale)
{
    float x[ROWS][COLS];
    const int tid = (int)threadIdx.x, key = t * TILE + tid;
    products(p, x, a, b, vectors(p, k, QUERY), k.own, vectors(p, k, KEY), t * TILE);
    if (tid < TILE)
        scale[tid] = key < p.T ? p.row_stats[KEY_SCALE * p.rows + k.head + (size_t)key] : 0.0f;
    __syncthreads();
    put(b, x);
    __syncwarp();
}

/* The first pass: the sums of the thread's row over all its keys. */
static __device__ __forceinline__ struct k_math_sums
sums_of_rows(const struct problem &p, const struct block &k, float *a, float *b, float *scale,
             const float numbers[Q_NUMBERS][TILE])
{
    struct k_math_sums sums = k_math_sums_none();
    for (int t = k.first; t <= k.last; t++) {
        tile_products(p, k, t, a, b, scale);
        sums_tile<false>(p, query_of(numbers), span_of(p, k, false, t * TILE), &sums,
                         b + my_row() * STRIDE + my_column(), scale + my_column());
    }
    return join_halves(p, sums);
}

template <bool TWO_STEPS>
static __global__ void __launch_bounds__(THREADS, 4) rows_forward(const struct problem p)
{
    __shared__ __align__(16) float a[TILE * STRIDE], b[TILE * STRIDE], scale[TILE];
    __shared__ float numbers[Q_NUMBERS][TILE];
    __shared__ struct block k;
    take_block(p, false, &k);
    const int n = k_math_keys(&p.rule, k.own + my_row());
    struct k_math_sums sums = k_math_sums_none();
    float o[ROWS][COLS], total = 0.0f;
    stage_query(p, k, numbers);
    if (TWO_STEPS) {
        sums = sums_of_rows(p, k, a, b, scale, numbers);
        stage_row(k_math_row_begin(&p.rule, n, &sums), numbers);
    }
    clear(o);
    for (int t = k.first; t <= k.last; t++) {
        float *half = b + my_row() * STRIDE + my_column();
        tile_products(p, k, t, a, b, scale);
        stage(p, a, vectors(p, k, VALUE), t * TILE, k.chunk * TILE);
        const struct span span = span_of(p, k, false, t * TILE);
        const struct query q = query_of(numbers);
        if (TWO_STEPS) {
            total += weights_tile(p, q, span, row_of(numbers), half, scale + my_column());
        } else {
            const float ratio = sums_tile<true>(p, q, span, &sums, half, scale + my_column());
            if (my_column() == 0)
                numbers[Q_FACTOR][my_row()] = ratio;
        }
        __syncthreads();
        if (!TWO_STEPS && p.rule.needs_top)
            multiply_by_rows(o, numbers[Q_FACTOR]);
        multiply(p, k, o, b, a, t * TILE);
    }
    if (!TWO_STEPS)
        sums = join_halves(p, sums);
    struct k_math_row row = TWO_STEPS ? row_of(numbers) : k_math_row_begin(&p.rule, n, &sums);
    k_math_row_end(&p.rule, n, total + other_half(total), &row);
    save_row(p, k, row);
    stage_row(row, numbers);
    multiply_by_rows(o, numbers[Q_FACTOR]);
    store(p, k, p.out + out_place(p, k), p.H * p.D, o);
}

int k_cuda_attention_rows_forward(const struct problem *p)
{
    const unsigned blocks = blocks_of(p, p->chunks);
    if (p->rule.two_steps)
        return K_LAUNCH(rows_forward<true>, blocks, THREADS, 0, *p);
    return K_LAUNCH(rows_forward<false>, blocks, THREADS, 0, *p);
}
