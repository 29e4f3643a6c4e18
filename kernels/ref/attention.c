/* attention.c - attention of any variant in the table, forward and backward, row by row.
 *
 * A row has scores, weights A (row.c) and out = sum_j A_j v_j. Arithmetic is double in both
 * builds; backward recomputes everything, so that nothing is saved. */
#include "ref.h"
#include "row.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"

/* One head: the inputs of its pass, and scratch memory for one row and for the vectors of its
 * scores. */
struct head {
    const struct k_attention_shape *shape;
    const real *qkv, *dout;
    real *dqkv;
    int b, h;  /* sequence, head */
    bool unit; /* scores use unit vectors */
    struct k_ref_row row;
    double *qh, *kh;             /* (D) query, (T, D) keys: unit vectors where `unit`, else plain */
    double *dqh, *dkh;           /* (D), (T, D) gradients with respect to them */
    double *q_length, *k_length; /* (1), (T); 0 = shorter than K_L2_EPSILON */
    double *block;
};

static int head_create(struct head *w, const struct k_attention_shape *shape, const real *qkv)
{
    const size_t T = (size_t)shape->T, D = (size_t)shape->D;
    *w = (struct head){.shape = shape,
                       .qkv = qkv,
                       .unit = shape->variant->score == K_SCORE_COS_LOGN,
                       .block = orr_alloc(7 * T + 2 * (D + T * D) + 1, sizeof *w->block)};
    if (!w->block)
        return ORR_ENOMEM;
    struct k_ref_row *r = &w->row;
    double *at = w->block;
    double **const parts[] = {&r->s, &r->x, &r->a, &r->z, &r->A, &r->d, &w->k_length};
    for (int i = 0; i < 7; i++, at += T)
        *parts[i] = at;
    w->qh = at;
    w->kh = w->qh + D;
    w->dqh = w->kh + T * D;
    w->dkh = w->dqh + D;
    w->q_length = w->dkh + T * D;
    return 0;
}

/* Row t of q (which = 0), k (1) or v (2) of the head in qkv (B, T, 3, H, D). */
static size_t vector_at(const struct head *w, int t, int which)
{
    const struct k_attention_shape *s = w->shape;
    const size_t row = (size_t)w->b * (size_t)s->T + (size_t)t;
    return ((row * 3 + (size_t)which) * (size_t)s->H + (size_t)w->h) * (size_t)s->D;
}

/* Row t of the head in out (B, T, H, D). */
static size_t out_at(const struct head *w, int t)
{
    const struct k_attention_shape *s = w->shape;
    const size_t row = (size_t)w->b * (size_t)s->T + (size_t)t;
    return (row * (size_t)s->H + (size_t)w->h) * (size_t)s->D;
}

/* to = from or, with `unit`, its unit vector (0 when shorter than K_L2_EPSILON). Returns the
 * length, 0 when shorter. */
static double take_vector(double *to, const real *from, int D, bool unit)
{
    double square = 0;
    for (int c = 0; c < D; c++) {
        to[c] = (double)from[c];
        square += to[c] * to[c];
    }
    double length = sqrt(square);
    if (!unit)
        return length;
    if (length < K_L2_EPSILON)
        length = 0;
    for (int c = 0; c < D; c++)
        to[c] = length > 0 ? to[c] / length : 0;
    return length;
}

/* The factor that multiplies <q,k>, or the cosine, in a row with n keys. */
static double score_scale(const struct k_attention_shape *s, int n)
{
    if (s->variant->score == K_SCORE_COS_LOGN)
        return log((double)s->D) * log((double)n);
    return 1 / sqrt((double)s->D);
}

static double score_bias(const struct k_attention_shape *s, int n)
{
    switch (s->variant->bias) {
    case K_BIAS_NONE:
        break;
    case K_BIAS_LOG_LENGTH:
        return -log((double)s->T);
    case K_BIAS_LOG_ROW:
        return -log((double)n);
    }
    return 0;
}

/* Computes row i (0-based) up to its weights, from the keys' vectors. Returns the first attended
 * key. */
static int row_weights(struct head *w, int i)
{
    const struct k_attention_shape *shape = w->shape;
    const int first = shape->window > 0 && i + 1 > shape->window ? i + 1 - shape->window : 0;
    struct k_ref_row *r = &w->row;
    r->n = i + 1 - first;
    *w->q_length = take_vector(w->qh, w->qkv + vector_at(w, i, 0), shape->D, w->unit);
    const double scale = score_scale(shape, r->n), bias = score_bias(shape, r->n);
    for (int j = 0; j < r->n; j++) {
        const double *k = w->kh + (size_t)(first + j) * (size_t)shape->D;
        double dot = 0;
        for (int c = 0; c < shape->D; c++)
            dot += w->qh[c] * k[c];
        r->s[j] = scale * dot + bias;
    }
    k_ref_row_forward(r, shape);
    return first;
}

/* Moves on to head h of sequence b, and loads its keys. */
static void take_keys(struct head *w, int b, int h)
{
    w->b = b;
    w->h = h;
    const int D = w->shape->D;
    for (int t = 0; t < k_attention_end(w->shape); t++)
        w->k_length[t] =
            take_vector(w->kh + (size_t)t * (size_t)D, w->qkv + vector_at(w, t, 1), D, w->unit);
}

int k_ref_attention_forward(real *out, real *row_stats, const real *qkv,
                            const struct k_attention_shape *shape)
{
    struct head w;
    TRY(head_create(&w, shape, qkv));
    const struct k_ref_row *r = &w.row;
    for (int head = 0; head < shape->B * shape->H; head++, row_stats += shape->T) {
        take_keys(&w, head / shape->H, head % shape->H);
        for (int i = shape->first; i < k_attention_end(shape); i++) {
            const int first = row_weights(&w, i);
            row_stats[i] = r->degenerate ? 0 : 1;
            for (int c = 0; c < shape->D; c++) {
                double sum = 0;
                for (int j = 0; j < r->n; j++)
                    sum += r->A[j] * (double)qkv[vector_at(&w, first + j, 2) + (size_t)c];
                out[out_at(&w, i) + (size_t)c] = (real)sum;
            }
        }
    }
    free(w.block);
    return 0;
}

int k_attention_weights(double *weights, const real *qkv, const struct k_attention_shape *shape,
                        int b, int h, int first, int rows)
{
    struct head w;
    TRY(head_create(&w, shape, qkv));
    take_keys(&w, b, h);
    for (int i = first; i < first + rows; i++, weights += shape->T) {
        const int from = row_weights(&w, i);
        for (int j = 0; j < shape->T; j++)
            weights[j] = j < from || j > i ? 0 : w.row.A[j - from];
    }
    free(w.block);
    return 0;
}

/* Adds the gradient with respect to a vector, from the gradient g with respect to its unit
 * vector u; nothing for length 0. */
static void add_unit_gradient(real *to, const double *g, const double *u, double length, int D)
{
    double along = 0;
    for (int c = 0; c < D; c++)
        along += g[c] * u[c];
    for (int c = 0; c < D && length > 0; c++)
        to[c] = (real)((double)to[c] + (g[c] - u[c] * along) / length);
}

/* Computes dqh of row i, and adds to dkh and dv. */
static void row_backward(struct head *w, int i)
{
    const int first = row_weights(w, i), D = w->shape->D;
    const real *g = w->dout + out_at(w, i);
    struct k_ref_row *r = &w->row;
    for (int j = 0; j < r->n; j++) {
        const real *v = w->qkv + vector_at(w, first + j, 2);
        real *dv = w->dqkv + vector_at(w, first + j, 2);
        r->d[j] = 0;
        for (int c = 0; c < D; c++) {
            r->d[j] += (double)g[c] * (double)v[c];
            dv[c] = (real)((double)dv[c] + r->A[j] * (double)g[c]);
        }
    }
    k_ref_row_backward(r, w->shape);
    const double scale = score_scale(w->shape, r->n);
    for (int c = 0; c < D; c++)
        w->dqh[c] = 0;
    for (int j = 0; j < r->n; j++)
        for (int c = 0; c < D; c++) {
            const size_t k = (size_t)(first + j) * (size_t)D + (size_t)c;
            w->dqh[c] += scale * r->d[j] * w->kh[k];
            w->dkh[k] += scale * r->d[j] * w->qh[c];
        }
}

/* to (D) = the gradient with respect to a vector, from g, the gradient with respect to the
 * vector u that the scores use. */
static void put_gradient(const struct head *w, real *to, const double *g, const double *u,
                         double length)
{
    const int D = w->shape->D;
    if (w->unit)
        add_unit_gradient(to, g, u, length, D);
    for (int c = 0; c < D && !w->unit; c++)
        to[c] = (real)g[c];
}

static void head_backward(struct head *w)
{
    const int T = w->shape->T;
    const size_t D = (size_t)w->shape->D;
    for (size_t c = 0; c < (size_t)T * D; c++)
        w->dkh[c] = 0;
    for (int i = 0; i < T; i++) {
        row_backward(w, i);
        put_gradient(w, w->dqkv + vector_at(w, i, 0), w->dqh, w->qh, *w->q_length);
    }
    for (int t = 0; t < T; t++)
        put_gradient(w, w->dqkv + vector_at(w, t, 1), w->dkh + (size_t)t * D, w->kh + (size_t)t * D,
                     w->k_length[t]);
}

int k_ref_attention_backward(real *dqkv, const real *dout, const real *out, const real *row_stats,
                             const real *qkv, const struct k_attention_shape *shape)
{
    (void)out;
    (void)row_stats;
    const size_t T = (size_t)shape->T, D = (size_t)shape->D;
    for (size_t n = 0; n < (size_t)shape->B * T * 3 * (size_t)shape->H * D; n++)
        dqkv[n] = 0;
    struct head w;
    TRY(head_create(&w, shape, qkv));
    w.dout = dout;
    w.dqkv = dqkv;
    for (int head = 0; head < shape->B * shape->H; head++) {
        take_keys(&w, head / shape->H, head % shape->H);
        head_backward(&w);
    }
    free(w.block);
    return 0;
}
