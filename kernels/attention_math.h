/* attention_math.h - the arithmetic of one element and of one row of attention weights, shared
 * by the cpu and CUDA backends.
 *
 * Only k_math_rule turns a line of the attention table into the rule that kernels follow. The
 * cpu backend takes positions, biases, norms, shifts, degenerate rows and factors from here, and
 * has its own vector code for phi and its powers. The reference backend states the formulas
 * independently, in double (ref/row.c); both other backends are tested against it.
 *
 * A kernel receives a row of scores in pieces, in any order, and decides how the pieces are
 * made. This file holds the state of the row between pieces and the arithmetic of an element.
 * With x = phi(s) a row has up to three passes over its keys:
 *
 *   sums      sum and maximum of x, while the largest score may still rise: k_math_sums_*
 *   weights   w = x, x - theta, or ((x - theta) / height)^p (LSSAR Eq. (5)): the final weights are
 *             factor * w, where factor may need sum |w|: k_math_row_*, k_math_weight
 *   gradient with respect to w, x and the score, from two weighted row means: k_math_means_*,
 *             k_math_gradient
 *
 * The first l1 of a re-weighted or re-centred variant cancels: theta is the mean of x. Where an
 * l1 follows, a constant factor of the row cancels. Rows whose phi would overflow or underflow
 * in float (exponentials, squares, and phi far below 0) therefore evaluate it relative to the
 * largest score, `top`. A sum below the smallest normal float counts as 0. A NaN input gives a
 * NaN output.
 *
 * The caller handles masked elements and never passes them to these functions. */
#ifndef K_ATTENTION_MATH_H
#define K_ATTENTION_MATH_H

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "attention.h"

#ifdef __CUDACC__
#define K_MATH static __host__ __device__ __forceinline__
#else
#define K_MATH static inline
#endif

enum { K_MATH_LARGEST_INTEGER_P = 64 };

/* A variant in the form that the functions below use; k_math_rule fills it. */
struct k_math_rule {
    enum k_score score;
    enum k_bias bias;
    enum k_phi phi;
    enum k_norm norm;
    enum k_transform transform;
    bool reweight;
    bool needs_top; /* phi is evaluated relative to the largest score, at least in some rows */
    bool two_steps; /* theta depends on the sums of the whole row, so weights need a second pass */
    int unshifted_rows;
    int T;
    int window; /* 0 = all keys; otherwise less than T, so that window + position cannot overflow */
    float power;
    int power_integer; /* p when it is a small whole number, else 0 */
    float tail;  /* where all scores of a row are below it, phi is replaced by its asymptote */
    float scale; /* factor of dot products, 1 / sqrt(d), or of cosines, ln d (times ln n) */
};

/* The numbers from which a row's weights are computed; saved for the backward pass. */
struct k_math_row {
    float top;     /* the largest score where the rule needs it, else 0 */
    float theta;   /* is subtracted from x */
    float inverse; /* 1 / (max x - theta) of re-weighted rows */
    float factor;  /* multiplies w; 0 for a degenerate row */
};

/* Sums over part of a row; k_math_sums_join adds up the parts. */
struct k_math_sums {
    float top;     /* largest score so far, to which x is relative; -INFINITY before the first */
    float sum;     /* sum of |x| */
    float largest; /* largest x, at least 0 */
};

/* Sums of the backward pass over part of a row. d is the gradient with respect to the final
 * weights, `guess` an estimate of the weighted mean of d. */
struct k_math_means {
    float weighted; /* sum of u (d - sign(u) guess), u = w or x */
    float rest;     /* sum of steepness (d - sign(u) guess) */
    float steep;    /* sum of steepness sign(u) */
};

/* The two weighted means of a row that its gradients need. */
struct k_math_centre {
    float outer; /* weighted mean of d for the l1 after re-weighting or re-centring */
    float inner; /* weighted mean for the l1, or the mean, before it */
};

/* ---- the rule of a variant */

/* Whether phi has values of both signs. */
static inline bool k_math_signed(enum k_phi phi)
{
    return phi == K_PHI_IDENTITY || phi == K_PHI_GELU || phi == K_PHI_MISH;
}

/* Scores below which phi is replaced by its asymptote. At -60, e^s equals ln(1 + e^s), 1 / (1 +
 * e^-s) and mish(s) / s to 1e-26 relative. At -2, the normal distribution function begins to
 * lose precision. Cosine scores need no asymptote: they are at least -ln d ln L. */
static inline float k_math_tail(const struct k_attention *v)
{
    if (v->norm != K_NORM_L1)
        return -INFINITY;
    if (v->phi == K_PHI_GELU)
        return -2.0f;
    if (v->phi == K_PHI_SIGMOID || v->phi == K_PHI_MISH)
        return -60.0f;
    return v->phi == K_PHI_SOFTPLUS && v->score == K_SCORE_DOT ? -60.0f : -INFINITY;
}

static inline struct k_math_rule k_math_rule(const struct k_attention *v, int T, int D, int window,
                                             double p)
{
    struct k_math_rule r;
    const bool l1 = v->norm == K_NORM_L1;
    r.score = v->score;
    r.bias = v->bias;
    r.phi = v->phi;
    r.norm = v->norm;
    r.transform = v->transform;
    r.reweight = v->reweight;
    r.tail = k_math_tail(v);
    r.needs_top = (l1 && (v->phi == K_PHI_EXP || v->phi == K_PHI_RELU2)) || r.tail > -INFINITY;
    r.two_steps = v->reweight || v->transform == K_TRANSFORM_RECENTRED ||
                  v->transform == K_TRANSFORM_RECENTRED_L1;
    r.unshifted_rows = v->unshifted_rows;
    r.T = T;
    r.window = window < T ? window : 0;
    r.power = (float)p;
    r.power_integer = p >= 1 && p <= K_MATH_LARGEST_INTEGER_P && p == floor(p) ? (int)p : 0;
    r.scale = (float)(v->score == K_SCORE_DOT ? 1 / sqrt((double)D) : log((double)D));
    return r;
}

/* ---- positions, from 0 */

/* Number of keys that row i attends: the last n up to i. */
K_MATH int k_math_keys(const struct k_math_rule *r, int i)
{
    return r->window > 0 && i + 1 > r->window ? r->window : i + 1;
}

/* The factor that multiplies <q,k>, or the cosine, in a row of n keys (LSSAR Eq. (4)). */
K_MATH float k_math_scale(const struct k_math_rule *r, int n)
{
    return r->score == K_SCORE_COS_LOGN ? r->scale * logf((float)n) : r->scale;
}

K_MATH float k_math_bias(const struct k_math_rule *r, int n)
{
    if (r->bias == K_BIAS_NONE)
        return 0.0f;
    return -logf((float)(r->bias == K_BIAS_LOG_ROW ? n : r->T));
}

/* Whether a row of n keys is shifted or re-centred. */
K_MATH bool k_math_shifted(const struct k_math_rule *r, int n)
{
    return r->two_steps && n > r->unshifted_rows;
}

/* Whether the weights of the row, after theta is subtracted, are divided by their sum. */
K_MATH bool k_math_outer_l1(const struct k_math_rule *r, int n)
{
    return r->reweight || (r->transform == K_TRANSFORM_RECENTRED_L1 && n > r->unshifted_rows);
}

/* ---- phi */

/* max(0, x); NaN when x is NaN. */
K_MATH float k_math_relu(float x)
{
    return x <= 0.0f ? 0.0f : x;
}

K_MATH float k_math_sign(float x)
{
    return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : 0.0f;
}

/* 1 / x for x from 1 to 1e30, to an ulp. CUDA's exact division handles all x, by a call that
 * costs a kernel registers. */
K_MATH float k_math_inverse(float x)
{
#ifdef __CUDA_ARCH__
    const float y = __fdividef(1.0f, x);
    return fmaf(fmaf(-x, y, 1.0f), y, y);
#else
    return 1.0f / x;
#endif
}

/* ln(1 + e^s); *slope = the logistic function of s. */
K_MATH float k_math_softplus(float s, float *slope)
{
    const float u = expf(-fabsf(s)), high = k_math_inverse(1.0f + u);
    *slope = s < 0.0f ? u * high : high;
    return k_math_relu(s) + log1pf(u);
}

/* 1 / (1 + e^-s); *slope = its derivative, precise on both sides. */
K_MATH float k_math_logistic(float s, float *slope)
{
    const float u = expf(-fabsf(s)), high = k_math_inverse(1.0f + u), low = u * high;
    *slope = high * low;
    return s < 0.0f ? low : high;
}

/* s tanh(ln(1 + e^s)): with u = e^-|s|, tanh is (1 + 2u) / (1 + 2u + 2u^2) above 0 and u (u + 2)
 * / (u (u + 2) + 2) below; tanh' is rest (1 + tanh), where rest = 1 - tanh has the same
 * denominator. */
K_MATH float k_math_mish(float s, float *slope)
{
    const float u = expf(-fabsf(s));
    const float top = s < 0.0f ? u * (u + 2.0f) : 1.0f + 2.0f * u;
    const float rest = s < 0.0f ? 2.0f : 2.0f * u * u;
    const float inverse = k_math_inverse(top + rest), t = top * inverse;
    const float logistic = (s < 0.0f ? u : 1.0f) * k_math_inverse(1.0f + u);
    *slope = fmaf(s * (rest * inverse), (1.0f + t) * logistic, t);
    return s * t;
}

/* s Phi(s), Phi the normal distribution function. */
K_MATH float k_math_gelu(float s, float *slope)
{
    const float cdf = 0.5f * erfcf(s * -0.707106781f);
    *slope = fmaf(s, 0.398942280f * expf(-0.5f * s * s), cdf);
    return s * cdf;
}

/* Phi(s) / e^(-s^2/2) for s <= -2, with an error of 5e-7: z erfcx(z) fitted in
 * t = 1 / (1 + 0.4 z), z = -s / sqrt 2. */
K_MATH float k_math_normal_tail(float s)
{
    const float t = k_math_inverse(fmaf(s, -0.282842712f, 1.0f));
    float y = -5.207170833e-02f;
    y = fmaf(y, t, 3.098880087e-02f);
    y = fmaf(y, t, 7.006885955e-02f);
    y = fmaf(y, t, 1.185600227e-01f);
    y = fmaf(y, t, 1.722722673e-01f);
    y = fmaf(y, t, 2.075463783e-01f);
    y = fmaf(y, t, 2.256784743e-01f);
    y = fmaf(y, t, 2.256758188e-01f);
    return y * t * 0.5f;
}

/* phi of a row whose scores are all below the tail, divided by approximately its value at the
 * largest score, `top`. */
K_MATH float k_math_phi_tail(enum k_phi phi, float s, float top, float *slope)
{
    if (phi == K_PHI_GELU) {
        const float e = expf(-0.5f * ((s - top) * (s + top))), tail = k_math_normal_tail(s);
        *slope = e * fmaf(s, 0.398942280f, tail);
        return e * (s * tail);
    }
    const float e = expf(s - top);
    *slope = phi == K_PHI_MISH ? e * (1.0f + s) : e;
    return phi == K_PHI_MISH ? e * s : e;
}

/* x = phi(s), relative to top where the rule needs it; *slope = dx/ds, 0 where phi has a corner. */
K_MATH float k_math_phi(const struct k_math_rule *r, enum k_phi phi, float s, float top,
                        float *slope)
{
    if (top < r->tail)
        return k_math_phi_tail(phi, s, top, slope);
    switch (phi) {
    case K_PHI_EXP: {
        const bool capped = !r->needs_top && s > (float)K_EXP_LARGEST;
        const float y = expf(capped ? (float)K_EXP_LARGEST : s - top);
        *slope = capped ? 0.0f : y;
        return y;
    }
    case K_PHI_SOFTPLUS:
        return k_math_softplus(s, slope);
    case K_PHI_IDENTITY:
        break;
    case K_PHI_RELU:
        *slope = s <= 0.0f ? 0.0f : 1.0f;
        return k_math_relu(s);
    case K_PHI_RELU2: {
        const float scale = !r->needs_top ? 1.0f : top < FLT_MIN ? 0.0f : 1.0f / top;
        const float y = k_math_relu(s * scale);
        *slope = 2.0f * y * scale;
        return y * y;
    }
    case K_PHI_RELU6:
        *slope = s <= 0.0f || s >= 6.0f ? 0.0f : 1.0f;
        return s >= 6.0f ? 6.0f : k_math_relu(s);
    case K_PHI_GELU:
        return k_math_gelu(s, slope);
    case K_PHI_SIGMOID:
        return k_math_logistic(s, slope);
    case K_PHI_MISH:
        return k_math_mish(s, slope);
    }
    *slope = 1.0f;
    return s;
}

/* The factor that turns values of phi relative to `from` into values relative to `to` >= from. */
K_MATH float k_math_rescale(const struct k_math_rule *r, float from, float to)
{
    if (!r->needs_top || from == to || from == -INFINITY) /* -INFINITY: nothing is summed yet */
        return 1.0f;
    if (r->phi == K_PHI_RELU2) {
        const float ratio = from < FLT_MIN ? 0.0f : from / to;
        return ratio * ratio;
    }
    if (r->phi == K_PHI_EXP)
        return expf(from - to);
    if (!(from < r->tail))
        return 1.0f;
    const bool still = to < r->tail; /* still in the tail; otherwise phi is no longer scaled */
    if (r->phi == K_PHI_GELU)
        return expf(still ? -0.5f * ((from - to) * (from + to)) : -0.5f * from * from);
    return expf(still ? from - to : from);
}

/* ---- sums of a row */

K_MATH struct k_math_sums k_math_sums_none(void)
{
    struct k_math_sums s;
    s.top = -INFINITY;
    s.sum = s.largest = 0.0f;
    return s;
}

/* Sets s->top to the larger of s->top and `top`. Returns the factor for everything summed
 * before. */
K_MATH float k_math_sums_raise(const struct k_math_rule *r, struct k_math_sums *s, float top)
{
    if (!(top > s->top))
        return 1.0f;
    const float ratio = k_math_rescale(r, s->top, top);
    s->top = top;
    s->sum *= ratio;
    s->largest *= ratio;
    return ratio;
}

K_MATH struct k_math_sums k_math_sums_join(const struct k_math_rule *r, struct k_math_sums a,
                                           struct k_math_sums b)
{
    k_math_sums_raise(r, &a, b.top);
    k_math_sums_raise(r, &b, a.top);
    a.sum += b.sum;
    a.largest = b.largest > a.largest ? b.largest : a.largest;
    return a;
}

/* The argument `top` for k_math_phi. */
K_MATH float k_math_top(const struct k_math_rule *r, const struct k_math_sums *s)
{
    return r->needs_top ? s->top : 0.0f;
}

/* ---- weights of a row */

/* The factor 1 / norm that multiplies x. */
K_MATH float k_math_norm(const struct k_math_rule *r, int n, float sum)
{
    switch (r->norm) {
    case K_NORM_NONE:
        break;
    case K_NORM_L1:
        return sum < FLT_MIN ? 0.0f : 1.0f / sum;
    case K_NORM_LENGTH:
        return 1.0f / (float)r->T;
    case K_NORM_ROOT_ROW:
        return 1.0f / sqrtf((float)n * 0.5f);
    }
    return 1.0f;
}

/* The numbers of a row of n keys from its sums. Where k_math_outer_l1 holds, k_math_row_end must
 * still divide the factor by sum |w|. */
K_MATH struct k_math_row k_math_row_begin(const struct k_math_rule *r, int n,
                                          const struct k_math_sums *s)
{
    struct k_math_row row;
    const bool shifted = k_math_shifted(r, n);
    row.top = k_math_top(r, s);
    row.theta = row.inverse = 0.0f;
    if (r->reweight) {
        row.theta = shifted ? s->sum / (float)n : 0.0f;
        const float height = s->largest - row.theta;
        const bool degenerate = shifted && height <= (float)K_DEGENERATE_TOLERANCE * row.theta;
        row.inverse = degenerate || height < FLT_MIN ? 0.0f : 1.0f / height;
        row.factor = row.inverse == 0.0f ? 0.0f : 1.0f;
        return row;
    }
    row.factor = k_math_norm(r, n, s->sum);
    if (shifted && row.factor != 0.0f) {
        row.theta = 1.0f / ((float)n * row.factor);
        if (k_math_outer_l1(r, n))
            row.factor =
                s->largest - row.theta <= (float)K_DEGENERATE_TOLERANCE * row.theta ? 0.0f : 1.0f;
    }
    if (r->transform == K_TRANSFORM_INVERSE)
        row.factor = -row.factor;
    return row;
}

/* Divides the factor by total = sum |w| of the row where k_math_outer_l1 holds. */
K_MATH void k_math_row_end(const struct k_math_rule *r, int n, float total, struct k_math_row *row)
{
    if (k_math_outer_l1(r, n) && row->factor != 0.0f)
        row->factor = 1.0f / total;
}

/* z^(p-1), 0 at z = 0. */
K_MATH float k_math_power(const struct k_math_rule *r, float z)
{
    if (z <= 0.0f)
        return 0.0f;
    if (r->power_integer == 0)
        return expf((r->power - 1.0f) * logf(z));
    float y = 1.0f;
    for (int n = r->power_integer - 1; n > 0; n >>= 1, z *= z)
        y = n & 1 ? y * z : y;
    return y;
}

/* w from x; *steepness = dw/dx at fixed theta and height of the row. */
K_MATH float k_math_weight(const struct k_math_rule *r, float theta, float inverse, float x,
                           float *steepness)
{
    if (!r->reweight) {
        *steepness = 1.0f;
        return x - theta;
    }
    const float z = k_math_relu((x - theta) * inverse), lower = k_math_power(r, z);
    *steepness = r->power * inverse * lower;
    return lower * z;
}

/* ---- gradient of a row: from d, the gradient with respect to its final weights, to ds
 *
 * With an outer l1, e = steepness (d - sign(w) outer), outer = factor sum w d, and the gradient
 * with respect to x is e - sign(x) mean(e) in shifted rows. Otherwise e = d and the gradient is
 * e - sign(x) inner, with inner = |factor| sum x d where the norm is an l1.
 *
 * The factor is applied last. In a row with nearly all weight on one key, d - outer must cancel
 * exactly there; a factor applied before the difference could be rounded in one place and fused
 * into a multiply-add in another. The rounded 1 / sum would also spoil the cancellation, so the
 * sums are taken of d - guess, where guess = <dout, out> equals the mean up to rounding. */

/* The guess of a row from along = <dout, out>. */
K_MATH float k_math_guess(float factor, float along)
{
    return factor < 0.0f ? -along : along;
}

K_MATH struct k_math_means k_math_means_none(void)
{
    struct k_math_means m;
    m.weighted = m.rest = m.steep = 0.0f;
    return m;
}

/* Adds one element; outer_l1: k_math_outer_l1 of the row. */
K_MATH void k_math_means_add(struct k_math_means *m, bool outer_l1, float guess, float x, float w,
                             float steepness, float d)
{
    const float u = outer_l1 ? w : x, sign = k_math_sign(u), e = d - sign * guess;
    m->weighted = fmaf(u, e, m->weighted);
    m->rest = fmaf(steepness, e, m->rest);
    m->steep = fmaf(steepness, sign, m->steep);
}

K_MATH struct k_math_centre k_math_means_end(const struct k_math_rule *r, int n, float factor,
                                             float guess, const struct k_math_means *m)
{
    struct k_math_centre c;
    c.outer = c.inner = 0.0f;
    if (k_math_outer_l1(r, n)) {
        c.outer = fmaf(factor, m->weighted, guess);
        if (k_math_shifted(r, n))
            c.inner = (m->rest - (c.outer - guess) * m->steep) / (float)n;
    } else if (r->norm == K_NORM_L1) {
        c.inner = fmaf(fabsf(factor), m->weighted, guess);
    }
    return c;
}

/* Gradient with respect to the score of an element. */
K_MATH float k_math_gradient(float factor, float outer, float inner, float x, float w, float slope,
                             float steepness, float d)
{
    const float e = steepness * (d - k_math_sign(w) * outer);
    return factor * slope * (e - k_math_sign(x) * inner);
}

#endif
