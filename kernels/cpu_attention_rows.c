/* cpu_attention_rows.c - phi, normalisation and sharpening of one row, forward and backward.
 *
 * Weights stay unnormalised (the caller multiplies outputs by the factor 1 / sum), and the first
 * l1 of a sharpened variant cancels: with x = phi(S), theta = [n > free_rows] mean(x) and
 * y = max(x) - theta, the row is l1(z^p) with z = relu(x - theta) / y. LSSAR Eq. (5).
 *
 * A new phi is one case in phi_row and, when its slope is not itself, one in the rule. */
#include <math.h>

#include "cpu_attention.h"
#include "cpu_vec.h"

enum { LARGEST_INTEGER_P = 64 };

struct k_cpu_attention_rule k_cpu_attention_rule(const struct k_attention *variant, double p)
{
    const bool whole = p >= 1 && p <= LARGEST_INTEGER_P && p == floor(p);
    return (struct k_cpu_attention_rule){
        .phi = variant->phi,
        .norm = variant->norm,
        .sharpen = variant->sharpen,
        .free_rows = variant->free_rows,
        .p = (float)p,
        .p_integer = whole ? (int)p : 0,
        /* e^s is its own slope: the weights hold it until they are sharpened */
        .needs_slope = variant->phi != K_PHI_EXP || variant->sharpen,
        .needs_steepness = variant->sharpen,
    };
}

/* ---- phi: x = phi(score), its slope, sum and largest value */

struct row_sums {
    float sum, largest;
};

static struct row_sums exp_row(int vecs, bool shift, float *x, float *slope)
{
    cpu_vec top = cpu_load(x), sum = {0};
    for (int v = 1; shift && v < vecs; v++)
        top = cpu_max(top, cpu_load(x + v * CPU_LANES));
    const cpu_vec largest = cpu_set(shift ? cpu_maximum(top) : 0.0f);
    for (int v = 0; v < vecs; v++) {
        const cpu_vec y = cpu_exp(cpu_load(x + v * CPU_LANES) - largest);
        cpu_store(x + v * CPU_LANES, y);
        if (slope)
            cpu_store(slope + v * CPU_LANES, y);
        sum += y;
    }
    float most = 1.0f; /* e^0 */
    if (!shift) {
        cpu_vec m = cpu_load(x);
        for (int v = 1; v < vecs; v++)
            m = cpu_max(m, cpu_load(x + v * CPU_LANES));
        most = cpu_maximum(m);
    }
    return (struct row_sums){cpu_sum(sum), most};
}

static struct row_sums softplus_row(int vecs, float *x, float *slope)
{
    cpu_vec sum = {0}, top = {0};
    for (int v = 0; v < vecs; v++) {
        const cpu_vec s = cpu_load(x + v * CPU_LANES);
        cpu_vec y;
        if (slope) {
            cpu_vec d;
            y = cpu_softplus_slope(s, &d);
            cpu_store(slope + v * CPU_LANES, d);
        } else {
            y = cpu_softplus(s);
        }
        cpu_store(x + v * CPU_LANES, y);
        sum += y;
        top = cpu_max(top, y);
    }
    return (struct row_sums){cpu_sum(sum), cpu_maximum(top)};
}

static struct row_sums phi_row(const struct k_cpu_attention_rule *rule, int vecs, float *x,
                               float *slope)
{
    switch (rule->phi) {
    case K_PHI_SOFTPLUS:
        return softplus_row(vecs, x, slope);
    default:
        break;
    }
    /* the row maximum may be taken out of e^s only where a sum divides it away */
    return exp_row(vecs, rule->norm == K_NORM_L1, x, slope);
}

/* ---- sharpening */

/* z^p for z in [0, 1], and *lower = z^(p-1), both 0 at z = 0. */
static inline cpu_vec power(const struct k_cpu_attention_rule *rule, cpu_vec z, cpu_vec *lower)
{
    const cpu_vec zero = {0};
    cpu_vec y;
    if (rule->p_integer > 0) {
        y = cpu_power_integer(z, rule->p_integer - 1);
    } else {
        const cpu_vec tiny = cpu_set(0x1p-126f);
        y = cpu_exp((rule->p - 1.0f) * cpu_log(cpu_max(tiny, z)));
    }
    *lower = cpu_select_greater(z, zero, y, zero);
    return *lower * z;
}

/* x: phi in, z^p out; steepness: p z^(p-1) / y. Returns 1 / sum z^p, 0 for a silent row. */
static float sharpen_row(const struct k_cpu_attention_rule *rule, int vecs, int n,
                         struct row_sums sums, float *x, float *steepness)
{
    const bool shifted = n > rule->free_rows;
    const float mean = rule->norm == K_NORM_L1 ? sums.sum / (float)n : 1.0f / (float)n;
    const float theta = shifted ? mean : 0.0f, height = sums.largest - theta;
    const bool silent = shifted && height <= (float)K_SILENT_TOLERANCE * theta;
    const float inverse = silent || height <= 0.0f ? 0.0f : 1.0f / height;
    const cpu_vec zero = {0}, shift = cpu_set(theta), scale = cpu_set(inverse);
    const float slope = rule->p * inverse;
    cpu_vec sum = {0};
    for (int v = 0; v < vecs; v++) {
        const cpu_vec z = cpu_max(zero, (cpu_load(x + v * CPU_LANES) - shift) * scale);
        cpu_vec lower;
        const cpu_vec w = power(rule, z, &lower);
        cpu_store(x + v * CPU_LANES, w);
        if (steepness)
            cpu_store(steepness + v * CPU_LANES, lower * slope);
        sum += w;
    }
    /* the largest z is 1, so that the sum of a row that is not silent is at least 1 */
    return inverse == 0.0f ? 0.0f : 1.0f / cpu_sum(sum);
}

float k_cpu_attention_row(const struct k_cpu_attention_rule *rule, int vecs, int n, float *x,
                          float *slope, float *steepness)
{
    const struct row_sums sums = phi_row(rule, vecs, x, slope);
    if (rule->sharpen)
        return sharpen_row(rule, vecs, n, sums, x, steepness);
    if (rule->norm == K_NORM_NONE)
        return 1.0f;
    return sums.sum == 0.0f ? 0.0f : 1.0f / sums.sum;
}

/* ---- backward: with A = factor w and d = factor dA, the gradient by phi is
 * e = steepness (d - D), D = factor sum w d; a shifted row loses the mean of e. */

/* factor sum w d over a row. */
static float row_product(int vecs, float factor, const float *w, const float *d)
{
    cpu_vec sum = {0};
    for (int v = 0; v < vecs; v++)
        sum = cpu_fma(cpu_load(w + v * CPU_LANES), cpu_load(d + v * CPU_LANES), sum);
    return factor * cpu_sum(sum);
}

static void sharpened_backward(const struct k_cpu_attention_rule *rule, int vecs, int n,
                               float centre, const float *slope, const float *steepness, float *d)
{
    const cpu_vec middle = cpu_set(centre);
    cpu_vec sum = {0};
    for (int v = 0; v < vecs; v++) {
        const int at = v * CPU_LANES;
        const cpu_vec e = cpu_load(steepness + at) * (cpu_load(d + at) - middle);
        cpu_store(d + at, e);
        sum += e;
    }
    const bool shifted = n > rule->free_rows && rule->norm == K_NORM_L1;
    const cpu_vec mean = cpu_set(shifted ? cpu_sum(sum) / (float)n : 0.0f);
    for (int v = 0; v < vecs; v++) {
        const int at = v * CPU_LANES;
        cpu_store(d + at, cpu_load(slope + at) * (cpu_load(d + at) - mean));
    }
}

void k_cpu_attention_row_backward(const struct k_cpu_attention_rule *rule, int vecs, int n,
                                  float factor, const float *x, const float *slope,
                                  const float *steepness, float *d)
{
    const bool normalised = rule->sharpen || rule->norm == K_NORM_L1;
    const float centre = normalised ? row_product(vecs, factor, x, d) : 0.0f;
    if (rule->sharpen) {
        sharpened_backward(rule, vecs, n, centre, slope, steepness, d);
        return;
    }
    const cpu_vec middle = cpu_set(centre);
    const float *by_phi = rule->needs_slope ? slope : x;
    for (int v = 0; v < vecs; v++) {
        const int at = v * CPU_LANES;
        cpu_store(d + at, cpu_load(by_phi + at) * (cpu_load(d + at) - middle));
    }
}
