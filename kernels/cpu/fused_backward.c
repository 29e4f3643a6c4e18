/* fused_backward.c - backward of the fused attention kernels, see fused.h.
 *
 * Five products per element: scores, dP = dO V^T, dV += W^T dO, dK += dS^T q, dq += dS k. The
 * statistics in `row_stats` give the weights of a block from its scores alone, and D = <dO, O>
 * needs no row. Only the mean of e, which is subtracted in shifted rows, needs the whole row:
 * re-weighted variants keep a strip of e and of phi' over all blocks and finish it in a second
 * pass. The alternative, a vector T_i with E = <dO, T> saved by forward, would cost forward a
 * third product: 2 d operations per element, 1.1 ns at the rates in fused.c. Powers and strips
 * together cost lssar 0.5 ns more than lssa at 1,000 positions and 0.8 to 1.2 at 16,384 (CPU
 * time, one core of a Zen 4). */
#include <math.h>

#include "attention.h"
#include "base/base.h"
#include "cpu.h"
#include "fused.h"
#include "head.h"

enum { ROWS = CPU_TILE_ROWS };

/* Block `block` of a strip buffer, which holds all blocks in re-weighted variants and one
 * otherwise. */
static float *kept_block(const struct cpu_fused *h, float *strip, const struct cpu_strip *s,
                         int block)
{
    return h->rule.reweight ? strip + (size_t)(block - s->first_block) * CPU_STRIP * CPU_BLOCK
                            : strip;
}

/* to (Tp, Dp), rows of the block's keys, adds x (STRIP, BLOCK) transposed times b (STRIP, Dp). */
static void add_transposed(const struct cpu_fused *h, const struct cpu_strip *s, int block,
                           const float *x, const float *b, float *to)
{
    const size_t Dp = (size_t)h->Dp;
    const int key0 = block * CPU_BLOCK;
    const int left = cpu_fused_span(h, s->at, block).first * CPU_LANES;
    const int right = s->end - key0 < CPU_BLOCK ? s->end - key0 : CPU_BLOCK;
    for (int j = left; j < right; j += ROWS) {
        const int key = key0 + j;
        /* a key is attended neither by rows before it nor by rows a window or more after it */
        const int first = key > s->at ? key : s->at;
        int last = s->end;
        if (h->window > 0 && key + ROWS + h->window - 1 < last)
            last = key + ROWS + h->window - 1;
        if (first >= last)
            continue;
        const size_t row = (size_t)(first - s->at);
        const struct cpu_tile tile = {.a = x + row * CPU_BLOCK + j,
                                      .a_row = 1,
                                      .a_k = CPU_BLOCK,
                                      .b = b + row * Dp,
                                      .b_row = Dp,
                                      .c = to + (size_t)key * Dp,
                                      .c_row = Dp,
                                      .K = last - first};
        cpu_tile_run(&tile, 0, h->Dp / CPU_LANES, true);
    }
}

/* D of all rows from dout and from out, which is in o. Sums run in the order of the products dO
 * V^T: where one weight is 1 and O is its value, d - D is exactly 0. */
static void strip_centres(const struct cpu_fused *h, struct cpu_strip *s)
{
    float *a = h->turned, *b = a + (size_t)h->Dp * CPU_STRIP, centre[CPU_STRIP];
    cpu_transpose(a, CPU_STRIP, h->dout, (size_t)h->Dp, CPU_STRIP, h->Dp);
    cpu_transpose(b, CPU_STRIP, h->o, (size_t)h->Dp, CPU_STRIP, h->Dp);
    for (int r = 0; r < CPU_STRIP; r += CPU_LANES) {
        cpu_vec sum = {0};
        for (size_t at = (size_t)r; at < (size_t)h->D * CPU_STRIP; at += CPU_STRIP)
            sum = cpu_fma(cpu_load(a + at), cpu_load(b + at), sum);
        cpu_store(centre + r, sum);
    }
    for (int r = 0; r < CPU_STRIP; r++)
        s->row[r].centre = centre[r];
}

/* Loads the statistics of the strip's rows and dO, multiplies dO by the factor, and computes D =
 * <dO, O>. */
static void strip_take(const struct cpu_fused *h, struct cpu_strip *s, const float *dout,
                       const float *out, const float *row_stats)
{
    const int rows = s->end - s->at;
    const size_t Dp = (size_t)h->Dp, start = (size_t)s->at * h->out_stride;
    cpu_rows_gather(h->dout, dout + start, h->out_stride, rows, CPU_STRIP, h->D, h->Dp);
    for (int r = 0; r < rows; r++) {
        const float *from = row_stats + s->at + r;
        float *to = h->dout + (size_t)r * Dp;
        struct cpu_fused_row *row = &s->row[r];
        *row = (struct cpu_fused_row){.factor = from[STATS_FACTOR * h->plane],
                                      .top = from[STATS_TOP * h->plane],
                                      .theta = from[STATS_THETA * h->plane],
                                      .inverse = from[STATS_INVERSE * h->plane]};
        cpu_row_scale(to, row->factor, h->Dp);
    }
    cpu_rows_gather(h->o, out + start, h->out_stride, rows, CPU_STRIP, h->D, h->Dp);
    strip_centres(h, s);
}

/* Weights of a block, its part of dV, and the gradient with respect to its scores (re-weighted
 * variants: e and phi'). */
static void block_backward(const struct cpu_fused *h, struct cpu_strip *s, int block)
{
    float *d = kept_block(h, h->d, s, block), *slope = kept_block(h, h->slope, s, block);
    k_cpu_fused_scores(h, s, block, h->q, h->kt, h->x);
    k_cpu_fused_scores(h, s, block, h->dout, h->vt, d);
    for (int i = s->at; i < s->end; i++) {
        const struct cpu_fused_span span = cpu_fused_span(h, i / ROWS * ROWS, block);
        const size_t at = (size_t)(i - s->at) * CPU_BLOCK;
        if (span.first >= span.end)
            continue;
        k_cpu_fused_mask(h, i, block, span, h->x + at);
        const size_t skip = at + (size_t)span.first * CPU_LANES;
        k_cpu_fused_row_backward(&h->rule, span.end - span.first, h->x + skip, d + skip,
                                 slope + skip, &s->row[i - s->at]);
    }
    add_transposed(h, s, block, h->x, h->dout, h->dv);
}

static void block_finish(const struct cpu_fused *h, const struct cpu_strip *s, int block)
{
    float *d = kept_block(h, h->d, s, block);
    const float *slope = kept_block(h, h->slope, s, block);
    for (int i = s->at; i < s->end && h->rule.reweight; i++) {
        const struct cpu_fused_span span = cpu_fused_span(h, i / ROWS * ROWS, block);
        const size_t skip = (size_t)(i - s->at) * CPU_BLOCK + (size_t)span.first * CPU_LANES;
        k_cpu_fused_row_finish(span.end - span.first, slope + skip, d + skip,
                               s->row[i - s->at].centre);
    }
    add_transposed(h, s, block, d, h->q, h->dk);
    k_cpu_fused_combine(h, s, block, d, h->k, h->o);
}

/* Replaces D by the mean of e that is subtracted in each row. */
static void strip_means(const struct cpu_fused *h, struct cpu_strip *s)
{
    for (int i = s->at; i < s->end; i++) {
        struct cpu_fused_row *row = &s->row[i - s->at];
        const int n = k_math_keys(&h->rule, i);
        row->centre = k_math_shifted(&h->rule, n) ? cpu_sum(row->sum) / (float)n : 0.0f;
    }
}

/* Factor of the gradients with respect to base-2 scores: d 2^s / ds = ln 2 2^s, and ln 2 is
 * applied here. */
static float unit_of(const struct cpu_fused *h)
{
    return h->rule.phi == K_PHI_EXP ? 0.693147181f : 1.0f;
}

/* to (D) = scale (g - n <n, g>): the gradient with respect to a vector x from g, the gradient
 * with respect to its unit vector n, where scale includes 1 / |x|. u is length times n; g is
 * overwritten. */
static void store_unit_gradient(const struct cpu_fused *h, float *to, float *g, const float *u,
                                float length, float scale)
{
    const float along = length > 0 ? cpu_row_dot(u, g, h->Dp) / (length * length) : 0.0f;
    for (int d = 0; d < h->Dp; d += CPU_LANES)
        cpu_store(g + d, cpu_load(g + d) - cpu_load(u + d) * along);
    cpu_row_store(to, g, scale, h->D);
}

static void strip_store(const struct cpu_fused *h, const struct cpu_strip *s, float *dq,
                        const float *inverse_q)
{
    for (int i = s->at; i < s->end; i++) {
        const size_t at = (size_t)(i - s->at) * (size_t)h->Dp;
        float *to = dq + (size_t)i * h->qkv_stride;
        if (i + CPU_ROWS_AHEAD < s->end)
            cpu_row_foresee_write(to + CPU_ROWS_AHEAD * h->qkv_stride, h->D);
        const float scale = h->scale[i];
        if (cpu_fused_cosine(h))
            store_unit_gradient(h, to, h->o + at, h->q + at, scale,
                                scale * unit_of(h) * inverse_q[i]);
        else
            cpu_row_store(to, h->o + at, scale * unit_of(h), h->D);
    }
}

static void head_store(const struct cpu_fused *h, float *dk, float *dv, const float *inverse_k)
{
    for (int t = 0; t < h->T; t++) {
        const size_t at = (size_t)t * (size_t)h->Dp, to = (size_t)t * h->qkv_stride;
        const size_t ahead = to + CPU_ROWS_AHEAD * h->qkv_stride;
        if (t + CPU_ROWS_AHEAD < h->T) {
            cpu_row_foresee_write(dk + ahead, h->D);
            cpu_row_foresee_write(dv + ahead, h->D);
        }
        if (cpu_fused_cosine(h))
            store_unit_gradient(h, dk + to, h->dk + at, h->k + at, 1.0f, unit_of(h) * inverse_k[t]);
        else
            cpu_row_store(dk + to, h->dk + at, unit_of(h), h->D);
        cpu_row_store(dv + to, h->dv + at, 1.0f, h->D);
    }
}

static void head_backward(void *plan, const struct k_cpu_head_at *from)
{
    const struct cpu_fused *h = plan;
    const size_t part = h->out_stride, Dp = (size_t)h->Dp, all = (size_t)h->Tp * Dp;
    const float *qkv = h->qkv + from->qkv, *row_stats = h->row_stats + from->row;
    float *dqkv = h->dqkv + from->qkv;
    const float *inverse_q = row_stats + STATS_INVERSE_Q * h->plane;
    const float *inverse_k = row_stats + STATS_INVERSE_K * h->plane;
    k_cpu_fused_pack(h, h->kt, h->k, qkv + part, NULL, cpu_fused_cosine(h) ? inverse_k : NULL);
    k_cpu_fused_pack(h, h->vt, NULL, qkv + 2 * part, NULL, NULL);
    memset(h->dk, 0, all * sizeof *h->dk);
    memset(h->dv, 0, all * sizeof *h->dv);
    for (int at = 0; at < h->T; at += CPU_STRIP) {
        struct cpu_strip s;
        k_cpu_fused_strip(h, &s, at);
        k_cpu_fused_take_q(h, &s, qkv, NULL, cpu_fused_cosine(h) ? inverse_q : NULL);
        strip_take(h, &s, h->dout_given + from->out, h->out_given + from->out, row_stats);
        memset(h->o, 0, CPU_STRIP * Dp * sizeof *h->o);
        for (int block = s.first_block; block < s.end_block; block++) {
            block_backward(h, &s, block);
            if (!h->rule.reweight)
                block_finish(h, &s, block);
        }
        if (h->rule.reweight) {
            strip_means(h, &s);
            for (int block = s.first_block; block < s.end_block; block++)
                block_finish(h, &s, block);
        }
        strip_store(h, &s, dqkv, inverse_q);
    }
    head_store(h, dqkv + part, dqkv + 2 * part, inverse_k);
}

int k_cpu_fused_attention_backward(float *dqkv, const float *dout, const float *out,
                                   const float *row_stats, const float *qkv,
                                   const struct k_attention_shape *shape)
{
    if (!k_cpu_fused_serves(shape))
        return k_cpu_attention_generic_backward(dqkv, dout, out, row_stats, qkv, shape);
    struct cpu_fused plan = k_cpu_fused_head(shape, true);
    plan.dqkv = dqkv;
    plan.dout_given = dout;
    plan.out_given = out;
    plan.row_stats = (float *)(uintptr_t)row_stats; /* the backward pass only reads it */
    plan.qkv = qkv;
    return k_cpu_each_head(shape, &plan, sizeof plan, k_cpu_fused_lay_out, head_backward);
}
