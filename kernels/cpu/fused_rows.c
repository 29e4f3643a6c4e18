/* fused_rows.c - the row functions of the fused attention kernels: phi, weights and gradients
 * from scores in base 2.
 *
 * e^s: x = 2^(s - top); softplus: x = log2(1 + 2^s), the softplus of the natural score over ln 2,
 * a unit that cancels in z = relu(x - theta) / (max x - theta) and in every l1 (LSSAR Eqs. (4),
 * (5)). One exponential and one logarithm per element forward; backward recomputes them and takes
 * the slope from the same exponential. */
#include "fused.h"

/* 2^x for x <= 127: relative error 1.5e-7 for x >= -125, within one rounding of 1 near 0 (where
 * rows are almost uniform); 0 for x <= -150. */
static inline cpu_vec exp2_vec(cpu_vec x)
{
#if defined __AVX512F__
    const cpu_vec n = _mm512_roundscale_ps(x, 8); /* to nearest */
#else
    x = cpu_max(cpu_set(-126.99f), x);
    const cpu_vec magic = cpu_set(0x1.8p23f); /* adding it rounds to an integer */
    const cpu_vec t = x + magic, n = t - magic;
#endif
    const cpu_vec r = x - n;
    cpu_vec y = cpu_set(1.326512004e-03f);
    y = cpu_fma(y, r, cpu_set(9.671499809e-03f));
    y = cpu_fma(y, r, cpu_set(5.550732301e-02f));
    y = cpu_fma(y, r, cpu_set(2.402224236e-01f));
    y = cpu_fma(y, r, cpu_set(6.931469788e-01f));
    y = cpu_fma(y, r, cpu_set(1.0f));
#if defined __AVX512F__
    return _mm512_scalef_ps(y, n);
#else
    const cpu_vec scaled = (cpu_vec)((cpu_ivec)y + ((cpu_ivec)t << 23));
    return cpu_select_greater(cpu_set(-125.0f), x, cpu_set(0), scaled);
#endif
}

/* log2(1 + u) for 0 <= u <= 1, relative error 1.5e-7. */
static inline cpu_vec log2_1p_unit(cpu_vec u)
{
    cpu_vec y = cpu_set(7.553013651e-03f);
    y = cpu_fma(y, u, cpu_set(-4.258337484e-02f));
    y = cpu_fma(y, u, cpu_set(1.128847978e-01f));
    y = cpu_fma(y, u, cpu_set(-1.971455912e-01f));
    y = cpu_fma(y, u, cpu_set(2.756555272e-01f));
    y = cpu_fma(y, u, cpu_set(-3.584127196e-01f));
    y = cpu_fma(y, u, cpu_set(4.806936354e-01f));
    y = cpu_fma(y, u, cpu_set(-7.213402566e-01f));
    y = cpu_fma(y, u, cpu_set(1.442694998e+00f));
    return y * u;
}

/* 1 / (1 + u) for 0 <= u <= 1, relative error 1.5e-7. */
static inline cpu_vec inverse_1p(cpu_vec u)
{
    const cpu_vec a = 1.0f + u;
#if defined __AVX512F__
    const cpu_vec y = _mm512_rcp14_ps(a);
    return cpu_fma(y, cpu_fma(-a, y, cpu_set(1.0f)), y);
#else
    return 1.0f / a;
#endif
}

/* z^p for z in [0, 1] and *lower = z^(p-1), both 0 at z = 0. `integer` is a compile-time
 * constant after inlining: the default power, 1 for any other whole power, 0 for a real one. */
static inline __attribute__((always_inline)) cpu_vec
power(const struct k_math_rule *rule, const int integer, cpu_vec z, cpu_vec *lower)
{
    const cpu_vec zero = {0};
    if (integer == 15) {
        const cpu_vec z2 = z * z, z3 = z2 * z, z6 = z3 * z3, z7 = z6 * z;
        *lower = z7 * z7;
        return *lower * z;
    }
    cpu_vec y;
    if (integer)
        y = cpu_power_integer(z, rule->power_integer - 1);
    else
        y = cpu_exp((rule->power - 1.0f) * cpu_log(cpu_max(cpu_set(0x1p-126f), z)));
    *lower = cpu_select_greater(z, zero, y, zero); /* z^0 is also 0 at z = 0 */
    return *lower * z;
}

/* ---- forward */

static void softplus_first(int vecs, float *x, struct cpu_fused_row *row)
{
    cpu_vec sum = row->sum, largest = row->largest;
    for (int v = 0; v < vecs; v++) {
        const cpu_vec s = cpu_load(x + v * CPU_LANES);
        const cpu_vec y = cpu_max(cpu_set(0), s) + log2_1p_unit(exp2_vec(-cpu_abs(s)));
        cpu_store(x + v * CPU_LANES, y);
        sum += y;
        largest = cpu_max(largest, y);
    }
    row->sum = sum;
    row->largest = largest;
}

void k_cpu_fused_row_first(const struct k_math_rule *rule, int vecs, float *x,
                           struct cpu_fused_row *row)
{
    if (rule->phi == K_PHI_SOFTPLUS) {
        softplus_first(vecs, x, row);
        return;
    }
    cpu_vec largest = row->largest;
    for (int v = 0; v < vecs; v++)
        largest = cpu_max(largest, cpu_load(x + v * CPU_LANES));
    row->largest = largest;
}

void k_cpu_fused_row_exp(int vecs, float *x, struct cpu_fused_row *row)
{
    const cpu_vec top = cpu_set(row->top);
    cpu_vec sum = row->sum;
    for (int v = 0; v < vecs; v++) {
        const cpu_vec y = exp2_vec(cpu_load(x + v * CPU_LANES) - top);
        cpu_store(x + v * CPU_LANES, y);
        sum += y;
    }
    row->sum = sum;
}

static inline __attribute__((always_inline)) void reweight(const struct k_math_rule *rule,
                                                           const int integer, int vecs, float *x,
                                                           struct cpu_fused_row *row)
{
    const cpu_vec zero = {0}, theta = cpu_set(row->theta), inverse = cpu_set(row->inverse);
    cpu_vec sum = row->sum;
    for (int v = 0; v < vecs; v++) {
        cpu_vec lower;
        const cpu_vec z = cpu_max(zero, (cpu_load(x + v * CPU_LANES) - theta) * inverse);
        const cpu_vec w = power(rule, integer, z, &lower);
        cpu_store(x + v * CPU_LANES, w);
        sum += w;
    }
    row->sum = sum;
}

void k_cpu_fused_row_reweight(const struct k_math_rule *rule, int vecs, float *x,
                              struct cpu_fused_row *row)
{
    if (rule->power_integer == 15)
        reweight(rule, 15, vecs, x, row);
    else if (rule->power_integer > 0)
        reweight(rule, 1, vecs, x, row);
    else
        reweight(rule, 0, vecs, x, row);
}

/* ---- backward: with A = factor w and d = factor dA, the gradient with respect to phi is e = w'
 * (d - D), D = sum A d = <dO, O> times the factor; the mean of e is subtracted in shifted rows. */

/* phi of scores, and its slope with respect to base-2 scores; for e^s without its factor ln 2,
 * which unit_of (fused_backward.c) supplies. */
static inline cpu_vec phi_slope(const bool is_exp, cpu_vec s, cpu_vec top, cpu_vec *slope)
{
    if (is_exp) {
        *slope = exp2_vec(s - top);
        return *slope;
    }
    const cpu_vec zero = {0};
    const cpu_vec u = exp2_vec(-cpu_abs(s));
    *slope = inverse_1p(u) * cpu_select_greater(zero, s, u, cpu_set(1.0f));
    return cpu_max(zero, s) + log2_1p_unit(u);
}

static inline __attribute__((always_inline)) void
plain_backward(const bool is_exp, int vecs, float *x, float *d, const struct cpu_fused_row *row)
{
    const cpu_vec top = cpu_set(row->top), centre = cpu_set(row->centre);
    for (int v = 0; v < vecs; v++) {
        const int at = v * CPU_LANES;
        cpu_vec slope;
        cpu_store(x + at, phi_slope(is_exp, cpu_load(x + at), top, &slope));
        cpu_store(d + at, slope * (cpu_load(d + at) - centre));
    }
}

static inline __attribute__((always_inline)) void
reweighted_backward(const struct k_math_rule *rule, const bool is_exp, const int integer, int vecs,
                    float *x, float *d, float *slope, struct cpu_fused_row *row)
{
    const cpu_vec zero = {0}, top = cpu_set(row->top), centre = cpu_set(row->centre);
    const cpu_vec theta = cpu_set(row->theta), inverse = cpu_set(row->inverse);
    const cpu_vec steepness = cpu_set(rule->power * row->inverse);
    cpu_vec sum = row->sum;
    for (int v = 0; v < vecs; v++) {
        const int at = v * CPU_LANES;
        cpu_vec rise, lower;
        const cpu_vec y = phi_slope(is_exp, cpu_load(x + at), top, &rise);
        const cpu_vec z = cpu_max(zero, (y - theta) * inverse);
        cpu_store(x + at, power(rule, integer, z, &lower));
        const cpu_vec e = lower * steepness * (cpu_load(d + at) - centre);
        cpu_store(d + at, e);
        cpu_store(slope + at, rise);
        sum += e;
    }
    row->sum = sum;
}

void k_cpu_fused_row_backward(const struct k_math_rule *rule, int vecs, float *x, float *d,
                              float *slope, struct cpu_fused_row *row)
{
    const bool is_exp = rule->phi == K_PHI_EXP;
    if (!rule->reweight && is_exp)
        plain_backward(true, vecs, x, d, row);
    else if (!rule->reweight)
        plain_backward(false, vecs, x, d, row);
    else if (rule->power_integer == 15 && is_exp)
        reweighted_backward(rule, true, 15, vecs, x, d, slope, row);
    else if (rule->power_integer == 15)
        reweighted_backward(rule, false, 15, vecs, x, d, slope, row);
    else if (rule->power_integer > 0)
        reweighted_backward(rule, is_exp, 1, vecs, x, d, slope, row);
    else
        reweighted_backward(rule, is_exp, 0, vecs, x, d, slope, row);
}

void k_cpu_fused_row_finish(int vecs, const float *slope, float *d, float centre)
{
    const cpu_vec middle = cpu_set(centre);
    for (int v = 0; v < vecs; v++) {
        const int at = v * CPU_LANES;
        cpu_store(d + at, cpu_load(slope + at) * (cpu_load(d + at) - middle));
    }
}
