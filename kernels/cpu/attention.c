/* attention.c - the generic path of attention, for any variant.
 *
 * One worker computes one (sequence, head) in its own scratch memory, without a T x T tensor.
 * Forward goes through tiles of CPU_TILE_ROWS query rows: scores of the tile, its rows one by
 * one, weights times values. Backward does the same for strips of STRIP_ROWS rows, recomputes
 * the weights (nothing needs to be saved), and adds the strip to the gradients of keys and
 * values. Columns beyond the diagonal or outside the window are skipped by whole vectors and
 * masked within one. */
#include <math.h>

#include "base/base.h"
#include "cpu.h"
#include "attention.h"
#include "head.h"
#include "tile.h"

enum { STRIP_ROWS = 32, ROWS = CPU_TILE_ROWS };

/* One head; rows and columns padded with zeros to whole vectors: Tp, Dp. */
struct head {
    const float *qkv, *dout_given; /* inputs; the next line has the outputs */
    float *out, *row_stats, *dqkv;
    bool backward;
    int first, T, H, D, Tp, Dp, window, strip_rows; /* rows from `first` to T - 1 are computed */
    struct k_cpu_attention_rule rule;
    size_t token_stride; /* of qkv, from one position to the next */
    size_t out_stride;   /* of out */
    float *q, *k, *v;    /* (Tp, Dp): q scaled for scores, k as unit vectors for cosine scores */
    float *kt, *vt;      /* (Dp, Tp) */
    float *inverse_q, *inverse_k; /* (Tp) inverse lengths, cosine scores only */
    float *o;                     /* (ROWS, Dp) */
    float *x;                     /* (strip, Tp) scores, then weights */
    /* backward only */
    float *slope, *steepness, *d; /* (strip, Tp) */
    float *dout, *dk, *dv;        /* (Tp, Dp) */
};

static size_t head_lay_out(void *plan, char *scratch)
{
    struct head *h = plan;
    const size_t T = (size_t)h->Tp, D = (size_t)h->Dp, strip = (size_t)h->strip_rows;
    float **const pieces[] = {&h->q,         &h->k, &h->v,    &h->kt, &h->inverse_q,
                              &h->inverse_k, &h->o, &h->x,    &h->vt, &h->slope,
                              &h->steepness, &h->d, &h->dout, &h->dk, &h->dv};
    const size_t counts[] = {T * D,     T * D,     T * D,     T * D, T,
                             T,         ROWS * D,  strip * T, T * D, strip * T,
                             strip * T, strip * T, T * D,     T * D, T * D};
    enum { ALL = sizeof counts / sizeof counts[0], FORWARD = 8 };
    size_t bytes = 0;
    for (int i = 0; i < (h->backward ? ALL : FORWARD); i++) {
        if (scratch)
            *pieces[i] = (float *)(void *)(scratch + bytes);
        bytes += k_cpu_lines(counts[i] * sizeof(float));
    }
    return bytes;
}

static struct head head_of(const struct k_attention_shape *shape, bool backward)
{
    const struct k_cpu_attention_rule rule = k_cpu_attention_rule(shape);
    const int T = k_attention_end(shape);
    return (struct head){
        .backward = backward,
        .first = shape->first,
        .T = T,
        .H = shape->H,
        .D = shape->D,
        .Tp = cpu_round_up(T),
        .Dp = cpu_round_up(shape->D),
        .window = rule.math.window,
        .strip_rows = backward ? STRIP_ROWS : ROWS,
        .rule = rule,
        .token_stride = 3 * (size_t)shape->H * (size_t)shape->D,
        .out_stride = (size_t)shape->H * (size_t)shape->D,
    };
}

/* The factor of q in the scores of a row of n keys, without the 1 / |q| of cosine scores. For
 * dot products it is rounded twice, the rule's 1 / sqrt(d) once. They differ by an ulp at some
 * head sizes; this form is kept so that trained models give the same bits. */
static float score_scale(const struct head *h, int n)
{
    const struct k_math_rule *rule = &h->rule.math;
    return rule->score == K_SCORE_DOT ? 1.0f / sqrtf((float)h->D) : k_math_scale(rule, n);
}

/* Loads q, k, v of one head into scratch, scaled so that the scores are q k^T. */
static void head_gather(struct head *h, const float *qkv)
{
    const size_t part = h->out_stride, Dp = (size_t)h->Dp;
    float *const to[] = {h->q, h->k, h->v};
    for (size_t i = 0; i < 3; i++)
        cpu_rows_gather(to[i], qkv + i * part, h->token_stride, h->T, h->Tp, h->D, h->Dp);
    for (int t = 0; t < h->T; t++) {
        float *q = h->q + (size_t)t * Dp, *k = h->k + (size_t)t * Dp;
        float scale = score_scale(h, k_math_keys(&h->rule.math, t));
        if (h->rule.math.score == K_SCORE_COS_LOGN) {
            h->inverse_q[t] = cpu_row_inverse_length(q, h->Dp);
            h->inverse_k[t] = cpu_row_inverse_length(k, h->Dp);
            scale *= h->inverse_q[t];
            cpu_row_scale(k, h->inverse_k[t], h->Dp);
        }
        cpu_row_scale(q, scale, h->Dp);
    }
    cpu_transpose(h->kt, (size_t)h->Tp, h->k, Dp, h->Tp, h->Dp);
}

/* ---- tiles of ROWS query rows from row `at` */

/* The vectors of columns that a tile touches are [tile_first, tile_end). */
static int tile_first(const struct head *h, int at)
{
    return h->window > 0 && at >= h->window ? (at - h->window + 1) / CPU_LANES : 0;
}

static int tile_end(const struct head *h, int at)
{
    const int end = at + ROWS < h->Tp ? at + ROWS : h->Tp;
    return (end + CPU_LANES - 1) / CPU_LANES;
}

/* x (ROWS, Tp) = rows of `a` (Dp wide) times bt (D, Tp), in the columns that the tile touches. */
static void tile_scores(const struct head *h, int at, const float *a, const float *bt, float *x)
{
    const struct cpu_tile tile = {.a = a + (size_t)at * (size_t)h->Dp,
                                  .a_row = (size_t)h->Dp,
                                  .a_k = 1,
                                  .b = bt,
                                  .b_row = (size_t)h->Tp,
                                  .c = x,
                                  .c_row = (size_t)h->Tp,
                                  .K = h->D};
    cpu_tile_run(&tile, tile_first(h, at), tile_end(h, at), false);
}

/* o (ROWS, Dp) = weights x (ROWS, Tp) times rows of b (Tp, Dp). */
static void tile_combine(const struct head *h, int at, const float *x, const float *b)
{
    const int first = tile_first(h, at) * CPU_LANES;
    const int end = at + ROWS < h->Tp ? at + ROWS : h->Tp;
    const struct cpu_tile tile = {.a = x + first,
                                  .a_row = (size_t)h->Tp,
                                  .a_k = 1,
                                  .b = b + (size_t)first * (size_t)h->Dp,
                                  .b_row = (size_t)h->Dp,
                                  .c = h->o,
                                  .c_row = (size_t)h->Dp,
                                  .K = end - first};
    cpu_tile_run(&tile, 0, h->Dp / CPU_LANES, false);
}

/* Row i within the vectors of its tile, the first of which is tile_first. */
static struct k_cpu_row row_of(const struct head *h, int i)
{
    const int at = i / ROWS * ROWS, first = tile_first(h, at), n = k_math_keys(&h->rule.math, i);
    return (struct k_cpu_row){tile_end(h, at) - first, i + 1 - n - first * CPU_LANES, n};
}

/* Scores to weights for row i; x, slope, steepness are its rows in the strip. */
static float row_weights(const struct head *h, int i, float *x, float *slope, float *steepness)
{
    const struct k_cpu_row row = row_of(h, i);
    const size_t skip = (size_t)tile_first(h, i / ROWS * ROWS) * CPU_LANES;
    x += skip;
    if (h->rule.math.bias != K_BIAS_NONE) {
        const cpu_vec bias = cpu_set(k_math_bias(&h->rule.math, row.n));
        for (int v = 0; v < row.vecs; v++)
            cpu_store(x + v * CPU_LANES, cpu_load(x + v * CPU_LANES) + bias);
    }
    k_cpu_attention_row_mask(&row, h->rule.masked, x);
    return k_cpu_attention_row(&h->rule, &row, x, slope ? slope + skip : NULL,
                               steepness ? steepness + skip : NULL);
}

/* ---- all heads */

int k_cpu_each_head(const struct k_attention_shape *shape, void *plan, size_t plan_bytes,
                    size_t (*lay_out)(void *plan, char *scratch),
                    void (*run)(void *plan, const struct k_cpu_head_at *at))
{
    const size_t own = k_cpu_lines(plan_bytes);
    TRY(k_cpu_scratch_reserve(0, own + lay_out(plan, NULL)));
    const size_t H = (size_t)shape->H, T = (size_t)shape->T, D = (size_t)shape->D;
    const int heads = shape->B * shape->H;
    /* heads of a sequence share cache lines, which two workers would take from each other; with few
     * sequences heads are dealt out singly, so that no worker is idle */
    const int together = shape->B >= 4 * k_cpu_threads() ? shape->H : 1;
#pragma omp parallel num_threads(k_cpu_threads())
    {
        char *mine = k_cpu_scratch_local();
        memcpy(mine, plan, plan_bytes);
        lay_out(mine, mine + own);
#pragma omp for schedule(dynamic, together)
        for (int i = 0; i < heads; i++) {
            const size_t b = (size_t)i / H, head = (size_t)i % H, row = b * T * H * D + head * D;
            run(mine, &(struct k_cpu_head_at){row + 2 * b * T * H * D, row, (size_t)i * T});
        }
    }
    return 0;
}

/* ---- forward */

static void head_forward(void *plan, const struct k_cpu_head_at *to)
{
    struct head *h = plan;
    float *out = h->out + to->out, *row_stats = h->row_stats + to->row;
    head_gather(h, h->qkv + to->qkv);
    for (int at = h->first / ROWS * ROWS; at < h->T; at += ROWS) {
        const int rows = h->T - at < ROWS ? h->T - at : ROWS;
        float factor[ROWS] = {0};
        tile_scores(h, at, h->q, h->kt, h->x);
        for (int r = 0; r < rows; r++)
            factor[r] = row_weights(h, at + r, h->x + (size_t)r * (size_t)h->Tp, NULL, NULL);
        tile_combine(h, at, h->x, h->v);
        for (int r = 0; r < rows; r++)
            cpu_row_store(out + (size_t)(at + r) * h->out_stride, h->o + (size_t)r * (size_t)h->Dp,
                          factor[r], h->D);
        memcpy(row_stats + at, factor, (size_t)rows * sizeof *row_stats);
    }
}

int k_cpu_attention_generic_forward(float *out, float *row_stats, const float *qkv,
                                    const struct k_attention_shape *shape)
{
    struct head plan = head_of(shape, false);
    plan.out = out;
    plan.row_stats = row_stats;
    plan.qkv = qkv;
    return k_cpu_each_head(shape, &plan, sizeof plan, head_lay_out, head_forward);
}

/* ---- backward */

/* One tile of a strip: its weights, its gradients with respect to the scores in d, and dq of its
 * rows. The rows of dout are already multiplied by the factors of the rows. */
static void tile_backward(struct head *h, int strip, int at, float *dq)
{
    const size_t Tp = (size_t)h->Tp, Dp = (size_t)h->Dp, row0 = (size_t)(at - strip) * Tp;
    const int rows = h->T - at < ROWS ? h->T - at : ROWS;
    const size_t skip = (size_t)tile_first(h, at) * CPU_LANES;
    float factor[ROWS];
    tile_scores(h, at, h->q, h->kt, h->x + row0);
    for (int r = 0; r < rows; r++) {
        const size_t row = row0 + (size_t)r * Tp;
        factor[r] = row_weights(h, at + r, h->x + row, h->rule.needs_slope ? h->slope + row : NULL,
                                h->rule.needs_steepness ? h->steepness + row : NULL);
        cpu_row_scale(h->dout + (size_t)(at + r) * Dp, factor[r], h->Dp);
    }
    tile_scores(h, at, h->dout, h->vt, h->d + row0);
    for (int r = 0; r < rows; r++) {
        const size_t row = row0 + (size_t)r * Tp + skip;
        const struct k_cpu_row part = row_of(h, at + r);
        k_cpu_attention_row_backward(&h->rule, &part, factor[r], h->x + row, h->slope + row,
                                     h->steepness + row, h->d + row);
    }
    tile_combine(h, at, h->d + row0, h->k);
    for (int r = 0; r < rows; r++) {
        const int i = at + r;
        float *o = h->o + (size_t)r * Dp, *to = dq + (size_t)i * h->token_stride;
        const float scale = score_scale(h, k_math_keys(&h->rule.math, i));
        if (h->rule.math.score == K_SCORE_COS_LOGN) {
            /* q here is scale u, u the unit vector: dq = (g - u <u, g>) / |q|, g = scale o */
            const float *q = h->q + (size_t)i * Dp;
            const float along = scale > 0 ? cpu_row_dot(q, o, h->Dp) / (scale * scale) : 0.0f;
            for (int d = 0; d < h->Dp; d += CPU_LANES)
                cpu_store(o + d, cpu_load(o + d) - cpu_load(q + d) * along);
            cpu_row_store(to, o, scale * h->inverse_q[i], h->D);
        } else {
            cpu_row_store(to, o, scale, h->D);
        }
    }
}

/* dv adds weights^T dout and dk adds d^T q, over the rows [strip, end). */
static void strip_add(struct head *h, int strip, int end)
{
    const size_t Tp = (size_t)h->Tp, Dp = (size_t)h->Dp;
    for (int j = tile_first(h, strip) * CPU_LANES; j < end; j += ROWS) {
        const int first = j > strip ? j : strip; /* rows before j do not attend it */
        int last = end;
        if (h->window > 0 && j + ROWS + h->window - 1 < end)
            last = j + ROWS + h->window - 1;
        if (first >= last)
            continue;
        const size_t row = (size_t)(first - strip) * Tp + (size_t)j;
        struct cpu_tile tile = {.a = h->x + row,
                                .a_row = 1,
                                .a_k = Tp,
                                .b = h->dout + (size_t)first * Dp,
                                .b_row = Dp,
                                .c = h->dv + (size_t)j * Dp,
                                .c_row = Dp,
                                .K = last - first};
        cpu_tile_run(&tile, 0, h->Dp / CPU_LANES, true);
        tile.a = h->d + row;
        tile.b = h->q + (size_t)first * Dp;
        tile.c = h->dk + (size_t)j * Dp;
        cpu_tile_run(&tile, 0, h->Dp / CPU_LANES, true);
    }
}

static void head_backward(void *plan, const struct k_cpu_head_at *from)
{
    struct head *h = plan;
    const size_t Dp = (size_t)h->Dp, part = h->out_stride;
    float *dqkv = h->dqkv + from->qkv;
    head_gather(h, h->qkv + from->qkv);
    cpu_rows_gather(h->dout, h->dout_given + from->out, part, h->T, h->Tp, h->D, h->Dp);
    cpu_transpose(h->vt, (size_t)h->Tp, h->v, Dp, h->Tp, h->Dp);
    memset(h->dk, 0, (size_t)h->Tp * Dp * sizeof *h->dk);
    memset(h->dv, 0, (size_t)h->Tp * Dp * sizeof *h->dv);
    for (int strip = 0; strip < h->T; strip += h->strip_rows) {
        const int end = strip + h->strip_rows < h->T ? strip + h->strip_rows : h->T;
        for (int at = strip; at < end; at += ROWS)
            tile_backward(h, strip, at, dqkv);
        strip_add(h, strip, end);
    }
    for (int t = 0; t < h->T; t++) {
        const size_t row = (size_t)t * Dp;
        float *dk = h->dk + row, *to = dqkv + (size_t)t * h->token_stride + part;
        float scale = 1.0f;
        if (h->rule.math.score == K_SCORE_COS_LOGN) {
            const float along = cpu_row_dot(h->k + row, dk, h->Dp);
            for (int d = 0; d < h->Dp; d += CPU_LANES)
                cpu_store(dk + d, cpu_load(dk + d) - cpu_load(h->k + row + d) * along);
            scale = h->inverse_k[t];
        }
        cpu_row_store(to, dk, scale, h->D);
        cpu_row_store(to + part, h->dv + row, 1.0f, h->D);
    }
}

int k_cpu_attention_generic_backward(float *dqkv, const float *dout, const float *out,
                                     const float *row_stats, const float *qkv,
                                     const struct k_attention_shape *shape)
{
    (void)out;
    (void)row_stats;
    struct head plan = head_of(shape, true);
    plan.dqkv = dqkv;
    plan.dout_given = dout;
    plan.qkv = qkv;
    return k_cpu_each_head(shape, &plan, sizeof plan, head_lay_out, head_backward);
}

void k_cpu_install_attention(struct k_ops *ops)
{
    ops->attention_generic_forward = k_cpu_attention_generic_forward;
    ops->attention_generic_backward = k_cpu_attention_generic_backward;
}
