/* attention.c - any line of the attention table, forward and backward, row by row.
 *
 * A row's scores, its weights A (row.c), out = sum_j A_j v_j. Arithmetic is double in both
 * builds; backward recomputes everything and needs nothing saved. */
#include "ref.h"
#include "row.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"

/* Scratch of one head: a row and the vectors that make its scores. */
struct scratch {
    struct k_ref_row row;
    double *qh, *kh;             /* (D) query, (T, D) keys: unit vectors, or the plain ones */
    double *q_length, *k_length; /* (1), (T); 0 = shorter than K_L2_EPSILON */
    double *block;
};

static int scratch_create(struct scratch *r, int T, int D)
{
    const size_t t = (size_t)T, d = (size_t)D;
    r->block = orr_alloc(6 * t + d + t * d + 1 + t, sizeof *r->block);
    if (!r->block)
        return ORR_ENOMEM;
    double *at = r->block;
    double **const parts[] = {&r->row.s, &r->row.x, &r->row.a, &r->row.z, &r->row.A, &r->row.d};
    for (int i = 0; i < 6; i++, at += t)
        *parts[i] = at;
    r->qh = at;
    r->kh = at + d;
    r->q_length = r->kh + t * d;
    r->k_length = r->q_length + 1;
    return 0;
}

/* Row t of q (which = 0), k (1) or v (2) of head h of sequence b in qkv (B, T, 3, H, D). */
static size_t at(const struct k_attention_shape *s, int b, int t, int which, int h)
{
    return ((((size_t)b * (size_t)s->T + (size_t)t) * 3 + (size_t)which) * (size_t)s->H +
            (size_t)h) *
           (size_t)s->D;
}

/* to = from, or its unit vector (the zero vector when shorter than K_L2_EPSILON). */
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

/* The factor of <q,k>, or of the cosine, in a row with n keys. */
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

/* Everything of row i (0-based) up to the weights; the keys' vectors are in place. Returns the
 * first attended key. */
static int row_weights(struct scratch *w, const struct k_attention_shape *shape, const real *qkv,
                       int b, int h, int i)
{
    const bool unit = shape->variant->score == K_SCORE_COS_LOGN;
    const int first = shape->window > 0 && i + 1 > shape->window ? i + 1 - shape->window : 0;
    struct k_ref_row *r = &w->row;
    r->n = i + 1 - first;
    *w->q_length = take_vector(w->qh, qkv + at(shape, b, i, 0, h), shape->D, unit);
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

static void take_keys(struct scratch *w, const struct k_attention_shape *shape, const real *qkv,
                      int b, int h)
{
    const bool unit = shape->variant->score == K_SCORE_COS_LOGN;
    for (int t = 0; t < k_attention_end(shape); t++)
        w->k_length[t] = take_vector(w->kh + (size_t)t * (size_t)shape->D,
                                     qkv + at(shape, b, t, 1, h), shape->D, unit);
}

static size_t out_at(const struct k_attention_shape *s, int b, int t, int h)
{
    return (((size_t)b * (size_t)s->T + (size_t)t) * (size_t)s->H + (size_t)h) * (size_t)s->D;
}

int k_ref_attention_forward(real *out, real *saved, const real *qkv,
                            const struct k_attention_shape *shape)
{
    struct scratch w = {0};
    TRY(scratch_create(&w, shape->T, shape->D));
    const struct k_ref_row *r = &w.row;
    for (int b = 0; b < shape->B; b++)
        for (int h = 0; h < shape->H; h++) {
            take_keys(&w, shape, qkv, b, h);
            for (int i = shape->first; i < k_attention_end(shape); i++) {
                const int first = row_weights(&w, shape, qkv, b, h, i);
                saved[i] = r->silent ? 0 : 1;
                for (int c = 0; c < shape->D; c++) {
                    double sum = 0;
                    for (int j = 0; j < r->n; j++)
                        sum += r->A[j] * (double)qkv[at(shape, b, first + j, 2, h) + (size_t)c];
                    out[out_at(shape, b, i, h) + (size_t)c] = (real)sum;
                }
            }
            saved += shape->T;
        }
    free(w.block);
    return 0;
}

int k_attention_weights(double *weights, const real *qkv, const struct k_attention_shape *shape,
                        int b, int h, int first, int rows)
{
    struct scratch w = {0};
    TRY(scratch_create(&w, shape->T, shape->D));
    take_keys(&w, shape, qkv, b, h);
    for (int i = first; i < first + rows; i++, weights += shape->T) {
        const int from = row_weights(&w, shape, qkv, b, h, i);
        for (int j = 0; j < shape->T; j++)
            weights[j] = j < from || j > i ? 0 : w.row.A[j - from];
    }
    free(w.block);
    return 0;
}

/* Gradient of a vector of which the unit vector u was used; length 0 = gradient 0. */
static void add_unit_gradient(real *to, const double *g, const double *u, double length, int D)
{
    double along = 0;
    for (int c = 0; c < D; c++)
        along += g[c] * u[c];
    for (int c = 0; c < D && length > 0; c++)
        to[c] = (real)((double)to[c] + (g[c] - u[c] * along) / length);
}

/* Adds to dk, dq (double rows dqh (D), dkh (T, D)) and dv. */
static void row_backward(struct scratch *w, const struct k_attention_shape *shape, real *dqkv,
                         const real *dout, const real *qkv, int b, int h, int i, double *dqh,
                         double *dkh)
{
    const int first = row_weights(w, shape, qkv, b, h, i), D = shape->D;
    const real *g = dout + out_at(shape, b, i, h);
    struct k_ref_row *r = &w->row;
    for (int j = 0; j < r->n; j++) {
        const real *v = qkv + at(shape, b, first + j, 2, h);
        real *dv = dqkv + at(shape, b, first + j, 2, h);
        r->d[j] = 0;
        for (int c = 0; c < D; c++) {
            r->d[j] += (double)g[c] * (double)v[c];
            dv[c] = (real)((double)dv[c] + r->A[j] * (double)g[c]);
        }
    }
    k_ref_row_backward(r, shape);
    const double scale = score_scale(shape, r->n);
    for (int c = 0; c < D; c++)
        dqh[c] = 0;
    for (int j = 0; j < r->n; j++)
        for (int c = 0; c < D; c++) {
            const size_t k = (size_t)(first + j) * (size_t)D + (size_t)c;
            dqh[c] += scale * r->d[j] * w->kh[k];
            dkh[k] += scale * r->d[j] * w->qh[c];
        }
}

static void head_backward(struct scratch *w, const struct k_attention_shape *shape, real *dqkv,
                          const real *dout, const real *qkv, int b, int h, double *dqh, double *dkh)
{
    const int T = shape->T, D = shape->D;
    const bool unit = shape->variant->score == K_SCORE_COS_LOGN;
    for (size_t c = 0; c < (size_t)T * (size_t)D; c++)
        dkh[c] = 0;
    take_keys(w, shape, qkv, b, h);
    for (int i = 0; i < T; i++) {
        row_backward(w, shape, dqkv, dout, qkv, b, h, i, dqh, dkh);
        real *dq = dqkv + at(shape, b, i, 0, h);
        if (unit)
            add_unit_gradient(dq, dqh, w->qh, *w->q_length, D);
        for (int c = 0; c < D && !unit; c++)
            dq[c] = (real)dqh[c];
    }
    for (int t = 0; t < T; t++) {
        real *dk = dqkv + at(shape, b, t, 1, h);
        const double *g = dkh + (size_t)t * (size_t)D;
        if (unit)
            add_unit_gradient(dk, g, w->kh + (size_t)t * (size_t)D, w->k_length[t], D);
        for (int c = 0; c < D && !unit; c++)
            dk[c] = (real)g[c];
    }
}

int k_ref_attention_backward(real *dqkv, const real *dout, const real *out, const real *saved,
                             const real *qkv, const struct k_attention_shape *shape)
{
    (void)out;
    (void)saved;
    const size_t T = (size_t)shape->T, D = (size_t)shape->D;
    for (size_t n = 0; n < (size_t)shape->B * T * 3 * (size_t)shape->H * D; n++)
        dqkv[n] = 0;
    struct scratch w = {0};
    const int rc = scratch_create(&w, shape->T, shape->D);
    double *gradients = orr_alloc(D + T * D, sizeof *gradients);
    if (rc || !gradients) {
        free(w.block);
        free(gradients);
        return ORR_ENOMEM;
    }
    for (int b = 0; b < shape->B; b++)
        for (int h = 0; h < shape->H; h++)
            head_backward(&w, shape, dqkv, dout, qkv, b, h, gradients, gradients + D);
    free(gradients);
    free(w.block);
    return 0;
}

int k_ref_rope(real *qkv, const struct k_rope *r)
{
    const struct k_attention_shape shape = {.B = r->B, .T = r->T, .H = r->H, .D = r->D};
    const int half = r->D / 2;
    for (int b = 0; b < r->B; b++)
        for (int t = 0; t < r->T; t++)
            for (int which = 0; which < 2; which++) /* q, then k */
                for (int h = 0; h < r->H; h++)
                    for (int m = 0; m < half; m++) {
                        const double angle = (t + r->offset) * pow(r->base, -2.0 * m / r->D);
                        const double cosine = cos(angle), sine = sin(r->inverse ? -angle : angle);
                        real *x = qkv + at(&shape, b, t, which, h) + m;
                        const double u = (double)x[0], v = (double)x[half];
                        x[0] = (real)(u * cosine - v * sine);
                        x[half] = (real)(u * sine + v * cosine);
                    }
    return 0;
}
