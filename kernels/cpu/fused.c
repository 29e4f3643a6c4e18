/* fused.c - fused attention: laying out and packing a head, products of strips and blocks, and
 * the forward pass. See fused.h for the method, fused_backward.c for backward.
 *
 * Forward keeps the strip of phi over all blocks, so that softplus is evaluated once per element:
 * scores of a block, phi with sums and maxima; then theta and 1 / height of each row; then
 * the powers of a block and their product with its values (LSSAR Eqs. (4), (5)).
 *
 * Products are tiles of tile.h. Rates in GFLOP/s of tiles and of oneDNN 2.6's matmul for d = 64
 * on one core of a Zen 4, whose peak is 117.8 GFLOP/s (best of 40 times 100 runs):
 *   scores, (64, 64) x (64, 384)                     113, 105 (113 from panels too)
 *   weights and values, (64, 384) x (384, 64)        116, 116
 *   dK and dV, (384, 64) x (64, 64), a transposed    117, 106
 * oneDNN is not faster, and tiles can stop at the diagonal. */
#include <math.h>

#include "attention.h"
#include "base/base.h"
#include "cpu.h"
#include "fused.h"
#include "head.h"

enum { ROWS = CPU_TILE_ROWS };

static const double log2_e = 1.4426950408889634;

bool k_cpu_fused_serves(const struct k_attention_shape *shape)
{
    return k_attention_has_fused(shape->variant) && shape->D <= CPU_FUSED_LARGEST_D;
}

struct cpu_fused k_cpu_fused_head(const struct k_attention_shape *shape, bool backward)
{
    const size_t H = (size_t)shape->H, D = (size_t)shape->D;
    const struct k_math_rule rule =
        k_math_rule(shape->variant, shape->T, shape->D, shape->window, shape->power);
    const int T = k_attention_end(shape);
    return (struct cpu_fused){
        .backward = backward,
        .first = shape->first,
        .T = T,
        .D = shape->D,
        .Tp = (T + CPU_PANEL - 1) / CPU_PANEL * CPU_PANEL,
        .Dp = cpu_round_up(shape->D),
        .window = rule.window,
        .rule = rule,
        .qkv_stride = 3 * H * D,
        .out_stride = H * D,
        .plane = (size_t)shape->B * H * (size_t)shape->T,
    };
}

/* The factors of q in the scores except 1 / |q|, for all heads of a worker. */
static void make_scales(const struct cpu_fused *h)
{
    const double log_d = log(h->D), root_d = sqrt(h->D);
    for (int i = 0; i < h->T; i++) /* LSSAR Eq. (4) */
        h->scale[i] = (float)(cpu_fused_cosine(h) ? log2_e * log_d * log(k_math_keys(&h->rule, i))
                                                  : log2_e / root_d);
}

size_t k_cpu_fused_lay_out(void *plan, char *scratch)
{
    struct cpu_fused *h = plan;
    const size_t D = (size_t)h->Dp, all = (size_t)h->Tp * D, strip = CPU_STRIP * D;
    const size_t block = (size_t)CPU_STRIP * CPU_BLOCK;
    const size_t row = block * (size_t)((h->Tp + CPU_BLOCK - 1) / CPU_BLOCK);
    /* variants that pass over all blocks twice keep the whole strip for the second pass */
    const size_t kept = h->rule.reweight ? row : block;
    const size_t slope = h->rule.reweight ? row : 0;
    const struct {
        float **piece;
        size_t forward, backward;
    } pieces[] = {
        {&h->kt, all, all},
        {&h->v, all, 0},
        {&h->rows, CPU_PANEL * D, CPU_PANEL * D},
        {&h->scale, (size_t)h->Tp, (size_t)h->Tp},
        {&h->q, strip, strip},
        {&h->o, strip, strip},
        {&h->x, row, block},
        {&h->vt, 0, all},
        {&h->k, 0, all},
        {&h->dk, 0, all},
        {&h->dv, 0, all},
        {&h->dout, 0, strip},
        {&h->d, 0, kept},
        {&h->turned, 0, 2 * strip},
        {&h->slope, 0, slope},
    };
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        if (scratch)
            *pieces[i].piece = (float *)(void *)(scratch + bytes);
        bytes +=
            k_cpu_lines((h->backward ? pieces[i].backward : pieces[i].forward) * sizeof(float));
    }
    if (scratch)
        make_scales(h);
    return bytes;
}

size_t k_cpu_fused_scratch(const struct k_attention_shape *shape, bool backward)
{
    struct cpu_fused h = k_cpu_fused_head(shape, backward);
    return k_cpu_fused_lay_out(&h, NULL);
}

/* ---- loading rows into scratch */

void k_cpu_fused_pack(const struct cpu_fused *h, float *to, float *rows, const float *from,
                      float *found, const float *inverse)
{
    const size_t Dp = (size_t)h->Dp;
    for (int t = 0; t < h->Tp; t += CPU_PANEL) {
        const int used = h->T - t < CPU_PANEL ? h->T - t : CPU_PANEL;
        float *panel = rows ? rows + (size_t)t * Dp : h->rows;
        const int padded = cpu_round_up(used);
        cpu_rows_gather(panel, from + (size_t)t * h->qkv_stride, h->qkv_stride, used, padded, h->D,
                        h->Dp);
        for (int r = 0; found && r < used; r++)
            found[t + r] = cpu_row_inverse_length(panel + (size_t)r * Dp, h->Dp);
        for (int r = 0; inverse && r < used; r++)
            cpu_row_scale(panel + (size_t)r * Dp, inverse[t + r], h->Dp);
        cpu_transpose(to + (size_t)t * Dp, CPU_PANEL, panel, Dp, padded, h->Dp);
    }
}

void k_cpu_fused_strip(const struct cpu_fused *h, struct cpu_strip *s, int at)
{
    s->at = at;
    s->end = at + CPU_STRIP < h->T ? at + CPU_STRIP : h->T;
    const int first = h->window > 0 && at >= h->window ? at - h->window + 1 : 0;
    s->first_block = first / CPU_BLOCK;
    s->end_block = (s->end - 1) / CPU_BLOCK + 1;
}

void k_cpu_fused_take_q(const struct cpu_fused *h, const struct cpu_strip *s, const float *q,
                        float *found, const float *inverse)
{
    const int rows = s->end - s->at;
    cpu_rows_gather(h->q, q + (size_t)s->at * h->qkv_stride, h->qkv_stride, rows, CPU_STRIP, h->D,
                    h->Dp);
    for (int r = 0; r < rows; r++) {
        float *row = h->q + (size_t)r * (size_t)h->Dp;
        const float scale = h->scale[s->at + r];
        if (found)
            found[s->at + r] = cpu_row_inverse_length(row, h->Dp);
        cpu_row_scale(row, inverse ? scale * inverse[s->at + r] : scale, h->Dp);
    }
}

/* ---- products of a strip and a block */

void k_cpu_fused_scores(const struct cpu_fused *h, const struct cpu_strip *s, int block,
                        const float *a, const float *panels, float *x)
{
    const size_t Dp = (size_t)h->Dp;
    for (int panel = 0; panel < CPU_BLOCK_PANELS; panel++) {
        const int vec = panel * CPU_TILE_VECS;
        const size_t key = (size_t)block * CPU_BLOCK + (size_t)panel * CPU_PANEL;
        for (int at = s->at; at < s->end; at += ROWS) {
            const struct cpu_fused_span span = cpu_fused_span(h, at, block);
            const size_t row = (size_t)(at - s->at);
            const int first = span.first > vec ? span.first - vec : 0;
            const int end = span.end - vec < CPU_TILE_VECS ? span.end - vec : CPU_TILE_VECS;
            const struct cpu_tile tile = {.a = a + row * Dp,
                                          .a_row = Dp,
                                          .a_k = 1,
                                          .b = panels + key * Dp,
                                          .b_row = CPU_PANEL,
                                          .c = x + row * CPU_BLOCK + panel * CPU_PANEL,
                                          .c_row = CPU_BLOCK,
                                          .K = h->D};
            cpu_tile_run(&tile, first, end, false);
        }
    }
}

void k_cpu_fused_combine(const struct cpu_fused *h, const struct cpu_strip *s, int block,
                         const float *x, const float *b, float *o)
{
    const size_t Dp = (size_t)h->Dp;
    for (int at = s->at; at < s->end; at += ROWS) {
        const struct cpu_fused_span span = cpu_fused_span(h, at, block);
        const int first = span.first * CPU_LANES, right = at + ROWS - block * CPU_BLOCK;
        const int end = right < CPU_BLOCK ? right : CPU_BLOCK;
        if (first >= end)
            continue;
        const size_t row = (size_t)(at - s->at), key = (size_t)block * CPU_BLOCK + (size_t)first;
        const struct cpu_tile tile = {.a = x + row * CPU_BLOCK + first,
                                      .a_row = CPU_BLOCK,
                                      .a_k = 1,
                                      .b = b + key * Dp,
                                      .b_row = Dp,
                                      .c = o + row * Dp,
                                      .c_row = Dp,
                                      .K = end - first};
        cpu_tile_run(&tile, 0, h->Dp / CPU_LANES, true);
    }
}

void k_cpu_fused_mask(const struct cpu_fused *h, int i, int block, struct cpu_fused_span span,
                      float *x)
{
    const int first = i + 1 - k_math_keys(&h->rule, i) - block * CPU_BLOCK;
    const int end = i + 1 - block * CPU_BLOCK;
    const cpu_vec masked = cpu_set(CPU_FUSED_MASKED);
    for (int v = end > span.first * CPU_LANES ? end / CPU_LANES : span.first; v < span.end; v++) {
        const cpu_vec column = cpu_lane_numbers((float)(v * CPU_LANES));
        const cpu_vec kept = cpu_load(x + v * CPU_LANES);
        cpu_store(x + v * CPU_LANES, cpu_select_greater(cpu_set((float)end), column, kept, masked));
    }
    for (int v = span.first; v * CPU_LANES < first && v < span.end; v++) {
        const cpu_vec column = cpu_lane_numbers((float)(v * CPU_LANES));
        const cpu_vec kept = cpu_load(x + v * CPU_LANES);
        cpu_store(x + v * CPU_LANES,
                  cpu_select_greater(cpu_set((float)first), column, masked, kept));
    }
}

/* ---- forward */

static float *strip_block(float *strip, const struct cpu_strip *s, int block)
{
    return strip + (size_t)(block - s->first_block) * CPU_STRIP * CPU_BLOCK;
}

enum pass { PASS_FIRST, PASS_EXP, PASS_REWEIGHT };

static void block_rows(const struct cpu_fused *h, struct cpu_strip *s, int block, enum pass pass)
{
    float *x = strip_block(h->x, s, block);
    for (int i = s->at; i < s->end; i++) {
        const struct cpu_fused_span span = cpu_fused_span(h, i / ROWS * ROWS, block);
        struct cpu_fused_row *row = &s->row[i - s->at];
        float *to = x + (size_t)(i - s->at) * CPU_BLOCK;
        if (span.first >= span.end)
            continue;
        if (pass == PASS_FIRST)
            k_cpu_fused_mask(h, i, block, span, to);
        to += span.first * CPU_LANES;
        const int vecs = span.end - span.first;
        if (pass == PASS_FIRST)
            k_cpu_fused_row_first(&h->rule, vecs, to, row);
        else if (pass == PASS_EXP)
            k_cpu_fused_row_exp(vecs, to, row);
        else
            k_cpu_fused_row_reweight(&h->rule, vecs, to, row);
    }
}

/* Computes theta and the height of a re-weighted row from the sums of phi, and resets its sum. */
static void row_shift(const struct cpu_fused *h, int i, struct cpu_fused_row *row)
{
    const struct k_math_sums sums = {
        .sum = cpu_sum(row->sum),
        .largest = h->rule.phi == K_PHI_EXP ? 1.0f : cpu_maximum(row->largest)};
    const struct k_math_row begun = k_math_row_begin(&h->rule, k_math_keys(&h->rule, i), &sums);
    row->theta = begun.theta;
    row->inverse = begun.inverse;
    row->sum = cpu_set(0);
}

/* Every fused variant ends with an l1; a degenerate row has no weights, and its sum is 0. */
static void row_end(const struct cpu_fused *h, int i, struct cpu_fused_row *row)
{
    row->factor = k_math_norm(&h->rule, k_math_keys(&h->rule, i), cpu_sum(row->sum));
}

static void strip_phi(const struct cpu_fused *h, struct cpu_strip *s)
{
    for (int r = 0; r < s->end - s->at; r++)
        s->row[r] = (struct cpu_fused_row){.largest = cpu_set(CPU_FUSED_MASKED)};
    for (int block = s->first_block; block < s->end_block; block++) {
        k_cpu_fused_scores(h, s, block, h->q, h->kt, strip_block(h->x, s, block));
        block_rows(h, s, block, PASS_FIRST);
    }
    for (int r = 0; h->rule.phi == K_PHI_EXP && r < s->end - s->at; r++)
        s->row[r].top = cpu_maximum(s->row[r].largest);
    if (!h->rule.reweight)
        return;
    for (int b = s->first_block; h->rule.phi == K_PHI_EXP && b < s->end_block; b++)
        block_rows(h, s, b, PASS_EXP);
    for (int i = s->at; i < s->end; i++)
        row_shift(h, i, &s->row[i - s->at]);
}

static void strip_forward(const struct cpu_fused *h, struct cpu_strip *s, float *out,
                          float *row_stats)
{
    const size_t Dp = (size_t)h->Dp;
    strip_phi(h, s);
    memset(h->o, 0, CPU_STRIP * Dp * sizeof *h->o);
    for (int block = s->first_block; block < s->end_block; block++) {
        if (h->rule.reweight)
            block_rows(h, s, block, PASS_REWEIGHT);
        else if (h->rule.phi == K_PHI_EXP)
            block_rows(h, s, block, PASS_EXP);
        k_cpu_fused_combine(h, s, block, strip_block(h->x, s, block), h->v, h->o);
    }
    for (int i = s->at; i < s->end; i++) {
        struct cpu_fused_row *row = &s->row[i - s->at];
        if (i + CPU_ROWS_AHEAD < s->end)
            cpu_row_foresee_write(out + (size_t)(i + CPU_ROWS_AHEAD) * h->out_stride, h->D);
        row_end(h, i, row);
        const float statistics[] = {row->factor, row->top, row->theta, row->inverse};
        for (size_t plane = 0; plane < 4; plane++)
            row_stats[plane * h->plane + (size_t)i] = statistics[plane];
        cpu_row_store(out + (size_t)i * h->out_stride, h->o + (size_t)(i - s->at) * Dp, row->factor,
                      h->D);
    }
}

static void head_forward(void *plan, const struct k_cpu_head_at *to)
{
    const struct cpu_fused *h = plan;
    const size_t part = h->out_stride;
    const float *qkv = h->qkv + to->qkv;
    float *row_stats = h->row_stats + to->row;
    float *inverse_q = cpu_fused_cosine(h) ? row_stats + STATS_INVERSE_Q * h->plane : NULL;
    float *inverse_k = cpu_fused_cosine(h) ? row_stats + STATS_INVERSE_K * h->plane : NULL;
    k_cpu_fused_pack(h, h->kt, NULL, qkv + part, inverse_k, inverse_k);
    cpu_rows_gather(h->v, qkv + 2 * part, h->qkv_stride, h->T, h->Tp, h->D, h->Dp);
    for (int at = h->first / ROWS * ROWS; at < h->T; at += CPU_STRIP) {
        struct cpu_strip s;
        k_cpu_fused_strip(h, &s, at);
        k_cpu_fused_take_q(h, &s, qkv, inverse_q, inverse_q);
        strip_forward(h, &s, h->out + to->out, row_stats);
    }
}

static int cpu_attention_forward(float *out, float *row_stats, const float *qkv,
                                 const struct k_attention_shape *shape)
{
    if (!k_cpu_fused_serves(shape))
        return k_cpu_attention_generic_forward(out, row_stats, qkv, shape);
    struct cpu_fused plan = k_cpu_fused_head(shape, false);
    plan.out = out;
    plan.row_stats = row_stats;
    plan.qkv = qkv;
    return k_cpu_each_head(shape, &plan, sizeof plan, k_cpu_fused_lay_out, head_forward);
}

void k_cpu_install_fused(struct k_ops *ops)
{
    ops->attention_forward = cpu_attention_forward;
    ops->attention_backward = k_cpu_fused_attention_backward;
}
