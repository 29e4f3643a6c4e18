/* attention_rows.c - phi, normalisation, transform and re-weighting of one row, forward
 * and backward.
 *
 * attention_math.h decides the theta, height and factor of a row, which rows are degenerate, and
 * where phi is relative to the largest score. This file has the loops over vectors. Weights stay
 * unnormalised: the caller multiplies outputs by the factor of the row.
 *
 * A new phi needs one case in phi_vec and one in phi_row. phi and its slope must be 0 at
 * K_CPU_MASKED. */
#include <float.h>
#include <math.h>

#include "attention.h"
#include "vec.h"

struct k_cpu_attention_rule k_cpu_attention_rule(const struct k_attention_shape *shape)
{
    const struct k_attention *v = shape->variant;
    const struct k_math_rule math = k_math_rule(v, shape->T, shape->D, shape->window, shape->power);
    return (struct k_cpu_attention_rule){
        .math = math,
        .takes_both_signs = k_math_signed(v->phi),
        .masked = v->phi == K_PHI_IDENTITY ? 0.0f : K_CPU_MASKED,
        .refine = v->score == K_SCORE_DOT && (v->reweight || v->phi != K_PHI_EXP),
        /* the slope of e^s is e^s itself, which the weights still hold with an l1 alone */
        .needs_slope = v->phi != K_PHI_EXP || v->norm != K_NORM_L1 || math.two_steps,
        .needs_steepness = math.two_steps,
    };
}

void k_cpu_attention_row_mask(const struct k_cpu_row *row, float value, float *x)
{
    const int first = row->first, end = row->first + row->n;
    const cpu_vec masked = cpu_set(value);
    for (int v = end / CPU_LANES; v < row->vecs; v++) {
        const cpu_vec column = cpu_lane_numbers((float)(v * CPU_LANES));
        const cpu_vec kept = cpu_load(x + v * CPU_LANES);
        cpu_store(x + v * CPU_LANES, cpu_select_greater(cpu_set((float)end), column, kept, masked));
    }
    for (int v = 0; v * CPU_LANES < first; v++) {
        const cpu_vec column = cpu_lane_numbers((float)(v * CPU_LANES));
        const cpu_vec kept = cpu_load(x + v * CPU_LANES);
        cpu_store(x + v * CPU_LANES,
                  cpu_select_greater(cpu_set((float)first), column, masked, kept));
    }
}

/* ---- phi: x = phi(score), its slope, the sum of |x| and the largest x (at least 0); the `top` of
 * the sums is not needed, since phi_row sees the whole row */

static struct k_math_sums row_sums(float sum, float largest)
{
    return (struct k_math_sums){.sum = sum, .largest = largest};
}

static float row_maximum(int vecs, const float *x)
{
    cpu_vec top = cpu_load(x);
    for (int v = 1; v < vecs; v++)
        top = cpu_max(top, cpu_load(x + v * CPU_LANES));
    return cpu_maximum(top);
}

/* e^(s - max s), for variants with an l1 after it. */
static struct k_math_sums exp_row(int vecs, float *x, float *slope)
{
    const cpu_vec largest = cpu_set(row_maximum(vecs, x));
    cpu_vec sum = {0};
    for (int v = 0; v < vecs; v++) {
        const cpu_vec y = cpu_exp(cpu_load(x + v * CPU_LANES) - largest);
        cpu_store(x + v * CPU_LANES, y);
        if (slope)
            cpu_store(slope + v * CPU_LANES, y);
        sum += y;
    }
    return row_sums(cpu_sum(sum), 1.0f); /* e^0, at the largest score */
}

/* phi of one vector. `scale` multiplies scores where phi is RELU2. phi is a compile-time
 * constant after inlining. K_PHI_EXP is the clamped form without an l1 (attention.h). */
static inline __attribute__((always_inline)) cpu_vec phi_vec(const enum k_phi phi, cpu_vec s,
                                                             cpu_vec scale, cpu_vec *slope)
{
    const cpu_vec zero = {0}, one = cpu_set(1.0f);
    switch (phi) {
    case K_PHI_EXP: {
        const cpu_vec limit = cpu_set((float)K_EXP_LARGEST), y = cpu_exp(cpu_min(limit, s));
        *slope = cpu_select_greater(s, limit, zero, y);
        return y;
    }
    case K_PHI_SOFTPLUS:
        return cpu_softplus_slope(s, slope);
    case K_PHI_IDENTITY:
        *slope = one;
        return s;
    case K_PHI_RELU:
        *slope = cpu_select_greater(s, zero, one, zero);
        return cpu_max(zero, s);
    case K_PHI_RELU2: {
        const cpu_vec y = cpu_max(zero, s * scale);
        *slope = 2.0f * y * scale;
        return y * y;
    }
    case K_PHI_RELU6: {
        const cpu_vec six = cpu_set(6.0f);
        *slope = cpu_select_greater(s, zero, cpu_select_greater(six, s, one, zero), zero);
        return cpu_min(six, cpu_max(zero, s));
    }
    case K_PHI_GELU: {
        cpu_vec density;
        const cpu_vec cdf = cpu_normal_cdf(s, &density);
        *slope = cpu_fma(s, density, cdf);
        return s * cdf;
    }
    case K_PHI_SIGMOID: {
        cpu_vec rest;
        const cpu_vec y = cpu_logistic(s, &rest);
        *slope = y * rest;
        return y;
    }
    case K_PHI_MISH:
        return cpu_mish_slope(s, slope);
    }
    return s;
}

static inline __attribute__((always_inline)) struct k_math_sums
phi_loop(const enum k_phi phi, int vecs, float scale, float *x, float *slope)
{
    cpu_vec sum = {0}, top = {0};
    const cpu_vec scales = cpu_set(scale);
    for (int v = 0; v < vecs; v++) {
        cpu_vec d;
        const cpu_vec y = phi_vec(phi, cpu_load(x + v * CPU_LANES), scales, &d);
        cpu_store(x + v * CPU_LANES, y);
        if (slope)
            cpu_store(slope + v * CPU_LANES, d);
        sum += cpu_abs(y);
        top = cpu_max(top, y);
    }
    return row_sums(cpu_sum(sum), cpu_maximum(top));
}

/* Factor of the scores before they are squared: 1 / largest score where an l1 follows, else 1. */
static float square_scale(const struct k_cpu_attention_rule *rule, int vecs, const float *x)
{
    if (rule->math.norm != K_NORM_L1)
        return 1.0f;
    const float largest = row_maximum(vecs, x);
    return largest < FLT_MIN ? 0.0f : 1.0f / largest;
}

/* phi divided by approximately its value at the largest score. */
static struct k_math_sums tail_row(enum k_phi phi, int vecs, float largest, float *x, float *slope)
{
    if (phi != K_PHI_GELU && phi != K_PHI_MISH)
        return exp_row(vecs, x, slope);
    cpu_vec sum = {0};
    for (int v = 0; v < vecs; v++) {
        const cpu_vec s = cpu_load(x + v * CPU_LANES), below = s - largest;
        cpu_vec e, y, d;
        if (phi == K_PHI_GELU) {
            const cpu_vec tail = cpu_normal_tail(s);
            e = cpu_exp(-0.5f * (below * (s + largest)));
            y = s * tail;
            d = cpu_fma(s, cpu_set(0.398942280f), tail);
        } else {
            e = cpu_exp(below);
            y = s;
            d = 1.0f + s;
        }
        cpu_store(x + v * CPU_LANES, e * y);
        if (slope)
            cpu_store(slope + v * CPU_LANES, e * d);
        sum += cpu_abs(e * y);
    }
    return row_sums(cpu_sum(sum), 0.0f);
}

static struct k_math_sums phi_row(const struct k_cpu_attention_rule *rule, int vecs, float *x,
                                  float *slope)
{
    if (isfinite(rule->math.tail)) {
        const float largest = row_maximum(vecs, x);
        if (largest < rule->math.tail)
            return tail_row(rule->math.phi, vecs, largest, x, slope);
    }
    const enum k_phi phi = rule->math.phi;
    if (phi == K_PHI_EXP && rule->math.norm == K_NORM_L1)
        return exp_row(vecs, x, slope);
    const float scale = phi == K_PHI_RELU2 ? square_scale(rule, vecs, x) : 1;
#define CASE(PHI)                                                                                  \
    case PHI:                                                                                      \
        return phi_loop(PHI, vecs, scale, x, slope);
    switch (phi) {
        CASE(K_PHI_EXP)
        CASE(K_PHI_SOFTPLUS)
        CASE(K_PHI_IDENTITY)
        CASE(K_PHI_RELU)
        CASE(K_PHI_RELU2)
        CASE(K_PHI_RELU6)
        CASE(K_PHI_GELU)
        CASE(K_PHI_SIGMOID)
        CASE(K_PHI_MISH)
    }
#undef CASE
    return row_sums(0, 0);
}

/* ---- norm, re-weighting, re-centring */

/* z^p for z in [0, 1], and *lower = z^(p-1), both 0 at z = 0. */
static inline cpu_vec power(const struct k_cpu_attention_rule *rule, cpu_vec z, cpu_vec *lower)
{
    const cpu_vec zero = {0};
    cpu_vec y;
    if (rule->math.power_integer > 0) {
        y = cpu_power_integer(z, rule->math.power_integer - 1);
    } else {
        const cpu_vec tiny = cpu_set(0x1p-126f);
        y = cpu_exp((rule->math.power - 1.0f) * cpu_log(cpu_max(tiny, z)));
    }
    *lower = cpu_select_greater(z, zero, y, zero);
    return *lower * z;
}

/* x: phi in, z^p out; steepness: p z^(p-1) / y. */
static void reweight_row(const struct k_cpu_attention_rule *rule, const struct k_cpu_row *row,
                         struct k_math_row *weights, float *x, float *steepness)
{
    const cpu_vec zero = {0}, shift = cpu_set(weights->theta), scale = cpu_set(weights->inverse);
    const float slope = rule->math.power * weights->inverse;
    cpu_vec sum = {0};
    for (int v = 0; v < row->vecs; v++) {
        const cpu_vec z = cpu_max(zero, (cpu_load(x + v * CPU_LANES) - shift) * scale);
        cpu_vec lower;
        const cpu_vec w = power(rule, z, &lower);
        cpu_store(x + v * CPU_LANES, w);
        if (steepness)
            cpu_store(steepness + v * CPU_LANES, lower * slope);
        sum += w;
    }
    /* the largest z is 1, so that the sum of a row that is not degenerate is at least 1 */
    k_math_row_end(&rule->math, row->n, cpu_sum(sum), weights);
}

/* x: phi in, phi - theta out. */
static void recentre_row(const struct k_cpu_attention_rule *rule, const struct k_cpu_row *row,
                         struct k_math_row *weights, float *x)
{
    const cpu_vec shift = cpu_set(weights->theta);
    for (int v = 0; v < row->vecs; v++)
        cpu_store(x + v * CPU_LANES, cpu_load(x + v * CPU_LANES) - shift);
    k_cpu_attention_row_mask(row, 0.0f, x);
    if (!k_math_outer_l1(&rule->math, row->n))
        return;
    cpu_vec sum = {0};
    for (int v = 0; v < row->vecs; v++)
        sum += cpu_abs(cpu_load(x + v * CPU_LANES));
    k_math_row_end(&rule->math, row->n, cpu_sum(sum), weights);
}

float k_cpu_attention_row(const struct k_cpu_attention_rule *rule, const struct k_cpu_row *row,
                          float *x, float *slope, float *steepness)
{
    const struct k_math_sums sums = phi_row(rule, row->vecs, x, slope);
    struct k_math_row weights = k_math_row_begin(&rule->math, row->n, &sums);
    if (rule->math.reweight) {
        reweight_row(rule, row, &weights, x, steepness);
        return weights.factor;
    }
    if (steepness)
        memcpy(steepness, x, (size_t)row->vecs * CPU_LANES * sizeof *x);
    if (weights.theta != 0.0f)
        recentre_row(rule, row, &weights, x);
    return weights.factor;
}

/* ---- backward: with A = factor w and d = factor dA. */

/* sum w d over a row. */
static float row_product(int vecs, const float *w, const float *d)
{
    cpu_vec sum = {0};
    for (int v = 0; v < vecs; v++)
        sum = cpu_fma(cpu_load(w + v * CPU_LANES), cpu_load(d + v * CPU_LANES), sum);
    return cpu_sum(sum);
}

static inline cpu_vec sign(cpu_vec x)
{
    const cpu_vec zero = {0}, one = cpu_set(1.0f);
    return cpu_select_greater(x, zero, one, cpu_select_greater(zero, x, -one, zero));
}

/* D = factor sum w d, the weighted mean of d. In a row with nearly all weight on one key, d - D
 * must cancel exactly there. The rounded 1 / sum is not precise enough, so a second step adds
 * the weighted mean of d - D. */
static float weighted_mean(const struct k_cpu_attention_rule *rule, int vecs, float factor,
                           const float *w, const float *d)
{
    const float first = factor * row_product(vecs, w, d);
    if (!rule->refine)
        return first;
    const cpu_vec middle = cpu_set(first);
    cpu_vec sum = {0};
    for (int v = 0; v < vecs; v++) {
        const cpu_vec weight = cpu_load(w + v * CPU_LANES);
        sum = cpu_fma(weight, cpu_load(d + v * CPU_LANES) - sign(weight) * middle, sum);
    }
    return first + factor * cpu_sum(sum);
}

/* The gradient with respect to phi is e = steepness (d - D), D = factor sum w d; the mean of e
 * is subtracted in shifted rows. */
static void reweighted_backward(const struct k_cpu_attention_rule *rule,
                                const struct k_cpu_row *row, float centre, const float *slope,
                                const float *steepness, float *d)
{
    const cpu_vec middle = cpu_set(centre);
    cpu_vec sum = {0};
    for (int v = 0; v < row->vecs; v++) {
        const int at = v * CPU_LANES;
        const cpu_vec e = cpu_load(steepness + at) * (cpu_load(d + at) - middle);
        cpu_store(d + at, e);
        sum += e;
    }
    const bool shifted = k_math_shifted(&rule->math, row->n);
    const cpu_vec mean = cpu_set(shifted ? cpu_sum(sum) / (float)row->n : 0.0f);
    for (int v = 0; v < row->vecs; v++) {
        const int at = v * CPU_LANES;
        cpu_store(d + at, cpu_load(slope + at) * (cpu_load(d + at) - mean));
    }
}

/* Backward through l1(x - theta): e = d - sign(w) D, D = factor sum w d. The gradient through
 * theta is the mean of e over the elements where phi is not 0. */
static float recentred_l1_centre(const struct k_cpu_attention_rule *rule,
                                 const struct k_cpu_row *row, float factor, const float *w,
                                 float *d)
{
    const cpu_vec middle = cpu_set(weighted_mean(rule, row->vecs, factor, w, d));
    for (int v = 0; v < row->vecs; v++) {
        const int at = v * CPU_LANES;
        cpu_store(d + at, cpu_load(d + at) - sign(cpu_load(w + at)) * middle);
    }
    k_cpu_attention_row_mask(row, 0.0f, d);
    cpu_vec sum = {0};
    for (int v = 0; v < row->vecs; v++)
        sum += cpu_load(d + v * CPU_LANES);
    return cpu_sum(sum) / (float)row->n;
}

void k_cpu_attention_row_backward(const struct k_cpu_attention_rule *rule,
                                  const struct k_cpu_row *row, float factor, const float *x,
                                  const float *slope, const float *steepness, float *d)
{
    const int vecs = row->vecs;
    if (rule->math.reweight) {
        reweighted_backward(rule, row, weighted_mean(rule, vecs, factor, x, d), slope, steepness,
                            d);
        return;
    }
    /* the gradient with respect to phi is d - sign(phi) D, D = sum phi d / sum |phi| where an l1
     * follows */
    const float *phi = rule->needs_steepness ? steepness : x;
    float centre = 0;
    if (k_math_outer_l1(&rule->math, row->n))
        centre = recentred_l1_centre(rule, row, factor, x, d);
    else if (rule->math.norm == K_NORM_L1)
        centre = weighted_mean(rule, vecs, fabsf(factor), phi, d);
    const cpu_vec middle = cpu_set(centre);
    const float *by_phi = rule->needs_slope ? slope : x;
    for (int v = 0; v < vecs && rule->takes_both_signs; v++) {
        const int at = v * CPU_LANES;
        const cpu_vec e = cpu_load(d + at) - sign(cpu_load(phi + at)) * middle;
        cpu_store(d + at, cpu_load(by_phi + at) * e);
    }
    for (int v = 0; v < vecs && !rule->takes_both_signs; v++) {
        const int at = v * CPU_LANES;
        cpu_store(d + at, cpu_load(by_phi + at) * (cpu_load(d + at) - middle));
    }
    if (rule->math.phi == K_PHI_IDENTITY)
        k_cpu_attention_row_mask(row, 0.0f, d);
}
