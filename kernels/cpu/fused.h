/* fused.h - private to the cpu backend: fused attention for softmax, lssa, lssar and rw_softmax,
 * that is for variants with phi = exp or softplus, an l1 and optional re-weighting. All others
 * take the generic path of attention.c.
 *
 * A head is worked through in strips of CPU_STRIP query rows against blocks of CPU_BLOCK keys,
 * so that the operands of a product stay in the L1 and L2 caches at any length. Scores are in
 * base 2: log2(e) is folded into q, and it cancels in every l1. `row_stats` keeps the planes
 * below, from which backward recomputes the weights of any block without the rest of the row
 * (memory: O(T D) per worker). */
#ifndef K_CPU_FUSED_H
#define K_CPU_FUSED_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/attention_math.h"
#include "tile.h"
#include "vec.h"

struct k_attention_shape;

#define CPU_PANEL (CPU_TILE_VECS * CPU_LANES) /* keys in a panel of transposed rows */
enum {
    CPU_STRIP = 64,
    CPU_BLOCK_PANELS = 8,
    CPU_BLOCK = CPU_BLOCK_PANELS * CPU_PANEL,
    CPU_BLOCK_VECS = CPU_BLOCK / CPU_LANES,
    CPU_FUSED_LARGEST_D = 256,
};

/* Planes of `row_stats`, B H T numbers each. A row's weights are factor w(s): with x = phi(s),
 * w = x, or z^p with z = relu(x - theta) inverse when re-weighted; e^s is taken as 2^(s - top). */
enum {
    STATS_FACTOR, /* 1 / sum of w; 0 for a degenerate row */
    STATS_TOP,    /* largest score of the row (phi = exp) */
    STATS_THETA,
    STATS_INVERSE, /* 1 / (max x - theta) */
    STATS_INVERSE_Q,
    STATS_INVERSE_K, /* inverse lengths of q and k; 1 for scores that are not cosines */
};

/* The statistics of one row, and their partial sums per lane. */
struct cpu_fused_row {
    cpu_vec sum, largest;
    float factor, top, theta, inverse;
    float centre; /* backward: D = <dO, O> times the factor of the row, later the mean of e */
};

/* One head. Rows from `first` to T - 1 are computed. Tp: T rounded up to whole panels; Dp: D
 * rounded up to whole vectors. */
struct cpu_fused {
    const float *qkv, *dout_given, *out_given; /* inputs; the next line has the outputs */
    float *out, *dqkv, *row_stats;
    bool backward;
    int first, T;
    int D, Tp, Dp, window;
    struct k_math_rule rule;
    size_t qkv_stride, out_stride; /* from one position to the next */
    size_t plane;                  /* numbers in a plane of row_stats */
    float *kt;                     /* (Tp / PANEL, Dp, PANEL) keys, transposed in panels */
    float *v;                      /* (Tp, Dp), forward only */
    float *rows;                   /* (PANEL, Dp) buffer for rows before they are transposed */
    float *scale;                  /* (T) factor of q in the scores of a row, including log2(e) */
    float *q, *o;                  /* (STRIP, Dp); in the backward pass o is dq */
    float *x;                      /* (blocks or 1, STRIP, BLOCK) scores, then weights */
    /* backward only */
    float *vt;          /* layout as kt */
    float *k, *dk, *dv; /* (Tp, Dp) */
    float *dout;        /* (STRIP, Dp) dout times the factor of the row */
    float *turned;      /* (2, Dp, STRIP) */
    float *d; /* (blocks or 1, STRIP, BLOCK) gradients with respect to weights, then to scores */
    float *slope; /* (blocks or 1, STRIP, BLOCK) phi' in variants that subtract the mean of e */
};

/* Whether the fused kernels run this shape. */
bool k_cpu_fused_serves(const struct k_attention_shape *shape);

/* The entry attention_backward (fused_backward.c); shapes that are not served take the generic
 * path. */
int k_cpu_fused_attention_backward(float *dqkv, const float *dout, const float *out,
                                   const float *row_stats, const float *qkv,
                                   const struct k_attention_shape *shape);

/* ---- one strip (fused.c) */

/* Rows [at, end) of the head against blocks [first_block, end_block). */
struct cpu_strip {
    int at, end, first_block, end_block;
    struct cpu_fused_row row[CPU_STRIP];
};

struct cpu_fused k_cpu_fused_head(const struct k_attention_shape *shape, bool backward);
/* The lay_out callback of k_cpu_each_head. */
size_t k_cpu_fused_lay_out(void *plan, char *scratch);
/* Bytes of scratch that a worker needs for the shape. */
size_t k_cpu_fused_scratch(const struct k_attention_shape *shape, bool backward);
/* to = transposed panels of T rows, which are qkv_stride apart. Unless inverse (T) is NULL, rows
 * are multiplied by these inverse lengths; unless `found` is NULL, the lengths are computed
 * first and stored there. rows (Tp, Dp) = the untransposed rows unless NULL. */
void k_cpu_fused_pack(const struct cpu_fused *h, float *to, float *rows, const float *from,
                      float *found, const float *inverse);
void k_cpu_fused_strip(const struct cpu_fused *h, struct cpu_strip *s, int at);
/* h->q = the strip's rows of q, scaled for scores in base 2; found and inverse as in
 * k_cpu_fused_pack. */
void k_cpu_fused_take_q(const struct cpu_fused *h, const struct cpu_strip *s, const float *q,
                        float *found, const float *inverse);
/* x (STRIP, BLOCK) = a (STRIP, Dp) times the panels of the block, in the tiles that the strip
 * attends. */
void k_cpu_fused_scores(const struct cpu_fused *h, const struct cpu_strip *s, int block,
                        const float *a, const float *panels, float *x);
/* o (STRIP, Dp) adds x (STRIP, BLOCK) times the block's rows of b (Tp, Dp). */
void k_cpu_fused_combine(const struct cpu_fused *h, const struct cpu_strip *s, int block,
                         const float *x, const float *b, float *o);

/* Vectors [first, end) of a block that the tile of rows from `at` touches. */
struct cpu_fused_span {
    int first, end;
};
static inline struct cpu_fused_span cpu_fused_span(const struct cpu_fused *h, int at, int block)
{
    const int left = h->window > 0 && at >= h->window ? (at - h->window + 1) / CPU_LANES : 0;
    const int right = (at + CPU_TILE_ROWS + CPU_LANES - 1) / CPU_LANES;
    struct cpu_fused_span span = {left - block * CPU_BLOCK_VECS, right - block * CPU_BLOCK_VECS};
    span.first = span.first > 0 ? span.first : 0;
    span.end = span.end < CPU_BLOCK_VECS ? span.end : CPU_BLOCK_VECS;
    return span;
}

/* Masks the scores x (BLOCK) of row i outside its keys, within the vectors of its tile. */
void k_cpu_fused_mask(const struct cpu_fused *h, int i, int block, struct cpu_fused_span span,
                      float *x);

static inline bool cpu_fused_cosine(const struct cpu_fused *h)
{
    return h->rule.score == K_SCORE_COS_LOGN;
}

/* ---- rows of `vecs` vectors of one block (fused_rows.c). phi and its slope are exactly 0 at
 * the masked score CPU_FUSED_MASKED. */

#define CPU_FUSED_MASKED (-1e30f)

/* Accumulates sums and largest values. softplus replaces scores by x = phi(s); exp keeps the
 * scores. */
void k_cpu_fused_row_first(const struct k_math_rule *rule, int vecs, float *x,
                           struct cpu_fused_row *row);
/* exp: replaces scores by x = 2^(s - top) and accumulates their sum. */
void k_cpu_fused_row_exp(int vecs, float *x, struct cpu_fused_row *row);
/* Replaces phi by z^p and accumulates the sum of z^p. */
void k_cpu_fused_row_reweight(const struct k_math_rule *rule, int vecs, float *x,
                              struct cpu_fused_row *row);
/* x: in, scores; out, weights without the factor. d: in, the gradient with respect to the
 * weights, times the factor; out, the gradient with respect to the scores. Re-weighted variants
 * leave e in d, which k_cpu_fused_row_finish multiplies by the slope. */
void k_cpu_fused_row_backward(const struct k_math_rule *rule, int vecs, float *x, float *d,
                              float *slope, struct cpu_fused_row *row);
/* d = slope (d - centre). */
void k_cpu_fused_row_finish(int vecs, const float *slope, float *d, float centre);

#endif
