/* ref_attention.c - any line of the attention table, forward and backward, row by row.
 *
 * One row of one head: scores s_j, x = phi(s), a = norm(x), A = sharpen(a), out = sum_j A_j v_j.
 * Row arithmetic is double in both builds; nothing is kept between forward and backward. */
#include "ref.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"

/* Scratch of one row: n = number of attended keys. */
struct row {
    int n;
    double *s, *x, *a, *z, *A; /* (T) each */
    double *d;                 /* (T) gradient, from dA back to ds in place */
    double x_sum, r_largest, w_sum;
    bool silent;
    double *qh, *kh;             /* (D) query, (T, D) keys: unit vectors, or the plain ones */
    double *q_length, *k_length; /* (1), (T); 0 = shorter than K_L2_EPSILON */
    double *block;
};

static int row_create(struct row *r, int T, int D)
{
    const size_t t = (size_t)T, d = (size_t)D;
    r->block = orr_alloc(6 * t + d + t * d + 1 + t, sizeof *r->block);
    if (!r->block)
        return ORR_ENOMEM;
    double *at = r->block;
    double **const parts[] = {&r->s, &r->x, &r->a, &r->z, &r->A, &r->d};
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

static void phi_and_norm(struct row *r, const struct k_attention *variant)
{
    double shift = 0;
    if (variant->phi == K_PHI_EXP && variant->norm == K_NORM_L1) { /* l1 removes the shift */
        shift = r->s[0];
        for (int j = 1; j < r->n; j++)
            shift = fmax(shift, r->s[j]);
    }
    r->x_sum = 0;
    for (int j = 0; j < r->n; j++) {
        const double s = r->s[j] - shift;
        r->x[j] = variant->phi == K_PHI_EXP ? exp(s) : fmax(s, 0) + log1p(exp(-fabs(s)));
        r->x_sum += fabs(r->x[j]);
    }
    for (int j = 0; j < r->n; j++) {
        r->a[j] = r->x[j];
        if (variant->norm == K_NORM_L1)
            r->a[j] = r->x_sum > 0 ? r->x[j] / r->x_sum : 0;
    }
}

/* A = l1(relu(n a - [n > free])^p). Dividing by the largest before the power changes nothing
 * after the l1 and cannot overflow. LSSAR Eq. (5). */
static void sharpen(struct row *r, const struct k_attention_shape *shape)
{
    const bool shifted = r->n > shape->variant->free_rows;
    r->r_largest = 0;
    for (int j = 0; j < r->n; j++)
        r->r_largest = fmax(r->r_largest, r->n * r->a[j] - (shifted ? 1 : 0));
    r->silent = r->r_largest <= (shifted ? K_SILENT_TOLERANCE : 0);
    r->w_sum = 0;
    for (int j = 0; j < r->n; j++) {
        const double u = r->n * r->a[j] - (shifted ? 1 : 0);
        r->z[j] = r->silent || u <= 0 ? 0 : u / r->r_largest;
        r->A[j] = r->z[j] > 0 ? pow(r->z[j], shape->p) : 0;
        r->w_sum += r->A[j];
    }
    for (int j = 0; j < r->n && !r->silent; j++)
        r->A[j] /= r->w_sum;
}

/* Everything of row i (0-based) up to the weights A; the keys' vectors are in place. */
static int row_weights(struct row *r, const struct k_attention_shape *shape, const real *qkv, int b,
                       int h, int i)
{
    const bool unit = shape->variant->score == K_SCORE_COS_LOGN;
    const int first = shape->window > 0 && i + 1 > shape->window ? i + 1 - shape->window : 0;
    r->n = i + 1 - first;
    *r->q_length = take_vector(r->qh, qkv + at(shape, b, i, 0, h), shape->D, unit);
    const double scale = score_scale(shape, r->n);
    for (int j = 0; j < r->n; j++) {
        const double *k = r->kh + (size_t)(first + j) * (size_t)shape->D;
        double dot = 0;
        for (int c = 0; c < shape->D; c++)
            dot += r->qh[c] * k[c];
        r->s[j] = scale * dot;
    }
    phi_and_norm(r, shape->variant);
    if (shape->variant->sharpen)
        sharpen(r, shape);
    else
        for (int j = 0; j < r->n; j++)
            r->A[j] = r->a[j];
    return first;
}

static void take_keys(struct row *r, const struct k_attention_shape *shape, const real *qkv, int b,
                      int h)
{
    const bool unit = shape->variant->score == K_SCORE_COS_LOGN;
    for (int t = 0; t < shape->T; t++)
        r->k_length[t] = take_vector(r->kh + (size_t)t * (size_t)shape->D,
                                     qkv + at(shape, b, t, 1, h), shape->D, unit);
}

static size_t out_at(const struct k_attention_shape *s, int b, int t, int h)
{
    return (((size_t)b * (size_t)s->T + (size_t)t) * (size_t)s->H + (size_t)h) * (size_t)s->D;
}

int k_ref_attention_forward(real *out, real *saved, const real *qkv,
                            const struct k_attention_shape *shape)
{
    (void)saved;
    struct row r = {0};
    const int rc = row_create(&r, shape->T, shape->D);
    if (rc)
        return rc;
    for (int b = 0; b < shape->B; b++)
        for (int h = 0; h < shape->H; h++) {
            take_keys(&r, shape, qkv, b, h);
            for (int i = 0; i < shape->T; i++) {
                const int first = row_weights(&r, shape, qkv, b, h, i);
                for (int c = 0; c < shape->D; c++) {
                    double sum = 0;
                    for (int j = 0; j < r.n; j++)
                        sum += r.A[j] * (double)qkv[at(shape, b, first + j, 2, h) + (size_t)c];
                    out[out_at(shape, b, i, h) + (size_t)c] = (real)sum;
                }
            }
        }
    free(r.block);
    return 0;
}

/* d: dA -> da, through A = l1(r^p), r = relu(n a - ...). */
static void sharpen_backward(struct row *r, double p)
{
    double mean = 0;
    for (int j = 0; j < r->n; j++)
        mean += r->A[j] * r->d[j];
    for (int j = 0; j < r->n; j++)
        r->d[j] = r->z[j] > 0 ? r->n * p * pow(r->z[j], p - 1) / (r->w_sum * r->r_largest) *
                                    (r->d[j] - mean)
                              : 0;
}

/* d: da -> ds. */
static void norm_and_phi_backward(struct row *r, const struct k_attention *variant)
{
    if (variant->norm == K_NORM_L1) {
        double mean = 0;
        for (int j = 0; j < r->n; j++)
            mean += r->a[j] * r->d[j];
        for (int j = 0; j < r->n; j++)
            r->d[j] = r->x_sum > 0 ? (r->d[j] - copysign(1, r->x[j]) * mean) / r->x_sum : 0;
    }
    for (int j = 0; j < r->n; j++)
        r->d[j] *= variant->phi == K_PHI_EXP ? r->x[j] : 1 / (1 + exp(-r->s[j]));
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

/* Adds to dk, dq (double rows dqh (D), dkh (T, D)) and dv; d holds ds. */
static void row_backward(struct row *r, const struct k_attention_shape *shape, real *dqkv,
                         const real *dout, const real *qkv, int b, int h, int i, double *dqh,
                         double *dkh)
{
    const int first = row_weights(r, shape, qkv, b, h, i), D = shape->D;
    const real *g = dout + out_at(shape, b, i, h);
    for (int c = 0; c < D; c++)
        dqh[c] = 0;
    if (shape->variant->sharpen && r->silent)
        return;
    for (int j = 0; j < r->n; j++) {
        const real *v = qkv + at(shape, b, first + j, 2, h);
        real *dv = dqkv + at(shape, b, first + j, 2, h);
        r->d[j] = 0;
        for (int c = 0; c < D; c++) {
            r->d[j] += (double)g[c] * (double)v[c];
            dv[c] = (real)((double)dv[c] + r->A[j] * (double)g[c]);
        }
    }
    if (shape->variant->sharpen)
        sharpen_backward(r, shape->p);
    norm_and_phi_backward(r, shape->variant);
    const double scale = score_scale(shape, r->n);
    for (int j = 0; j < r->n; j++)
        for (int c = 0; c < D; c++) {
            const size_t k = (size_t)(first + j) * (size_t)D + (size_t)c;
            dqh[c] += scale * r->d[j] * r->kh[k];
            dkh[k] += scale * r->d[j] * r->qh[c];
        }
}

static void head_backward(struct row *r, const struct k_attention_shape *shape, real *dqkv,
                          const real *dout, const real *qkv, int b, int h, double *dqh, double *dkh)
{
    const int T = shape->T, D = shape->D;
    const bool unit = shape->variant->score == K_SCORE_COS_LOGN;
    for (size_t c = 0; c < (size_t)T * (size_t)D; c++)
        dkh[c] = 0;
    take_keys(r, shape, qkv, b, h);
    for (int i = 0; i < T; i++) {
        row_backward(r, shape, dqkv, dout, qkv, b, h, i, dqh, dkh);
        real *dq = dqkv + at(shape, b, i, 0, h);
        if (unit)
            add_unit_gradient(dq, dqh, r->qh, *r->q_length, D);
        for (int c = 0; c < D && !unit; c++)
            dq[c] = (real)dqh[c];
    }
    for (int t = 0; t < T; t++) {
        real *dk = dqkv + at(shape, b, t, 1, h);
        const double *g = dkh + (size_t)t * (size_t)D;
        if (unit)
            add_unit_gradient(dk, g, r->kh + (size_t)t * (size_t)D, r->k_length[t], D);
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
    struct row r = {0};
    const int rc = row_create(&r, shape->T, shape->D);
    double *gradients = orr_alloc(D + T * D, sizeof *gradients);
    if (rc || !gradients) {
        free(r.block);
        free(gradients);
        return ORR_ENOMEM;
    }
    for (int b = 0; b < shape->B; b++)
        for (int h = 0; h < shape->H; h++)
            head_backward(&r, shape, dqkv, dout, qkv, b, h, gradients, gradients + D);
    free(gradients);
    free(r.block);
    return 0;
}

int k_ref_rope(real *qkv, int B, int T, int H, int D, double base, int offset, bool inverse)
{
    const struct k_attention_shape shape = {.B = B, .T = T, .H = H, .D = D};
    const int half = D / 2;
    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++)
            for (int which = 0; which < 2; which++) /* q, then k */
                for (int h = 0; h < H; h++)
                    for (int m = 0; m < half; m++) {
                        const double angle = (t + offset) * pow(base, -2.0 * m / D);
                        const double cosine = cos(angle), sine = sin(inverse ? -angle : angle);
                        real *x = qkv + at(&shape, b, t, which, h) + m;
                        const double u = (double)x[0], v = (double)x[half];
                        x[0] = (real)(u * cosine - v * sine);
                        x[half] = (real)(u * sine + v * cosine);
                    }
    return 0;
}
