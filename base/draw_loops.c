/* draw_loops.c - exp, log and pow of one number, and draws that use them; see draw.h. */
#include "draw.h"

#include <math.h>

#include "vecmath.h"

static double exp_of(double x)
{
    return vm_exp(x);
}

static double log_of(double x)
{
    return vm_log(x);
}

static double power(double a, double b)
{
    return vm_pow(a, b);
}

/* ---- normal: the ziggurat of Marsaglia & Tsang (2000), Journal of Statistical Software 5(8), with
 * the changes of Doornik (2005), "An improved ziggurat method to generate normal random samples":
 * strip and position use different random bits, and positions have 53 bits. */

/* The tail beyond the ziggurat: Marsaglia (1964), Technometrics 6, 101. */
static double normal_tail(gsl_rng *rng)
{
    double x, y;
    do {
        x = -vm_log(gsl_rng_uniform_pos(rng)) / ORR_TAIL_FROM;
        y = -vm_log(gsl_rng_uniform_pos(rng));
    } while (2 * y < x * x);
    return ORR_TAIL_FROM + x;
}

static double normal(gsl_rng *rng)
{
    const struct orr_strips *strips = &orr_strips;
    for (;;) {
        const uint64_t high = gsl_rng_get(rng), bits = high << 32 | gsl_rng_get(rng);
        const size_t i = bits % ORR_STRIPS;
        const double u = (double)(bits >> 11) * 0x1p-52 - 1, x = u * strips->edge[i];
        if (fabs(u) < strips->share[i])
            return x;
        if (i == 0)
            return copysign(normal_tail(rng), u);
        const double above = vm_exp(-0.5 * (strips->edge[i + 1] * strips->edge[i + 1] - x * x));
        const double below = vm_exp(-0.5 * (strips->edge[i] * strips->edge[i] - x * x));
        if (above + gsl_rng_uniform(rng) * (below - above) < 1)
            return x;
    }
}

/* ---- gamma and beta */

/* A gamma of shape >= 1: Marsaglia & Tsang (2000), ACM TOMS 26, 363, section 4. */
static double large_gamma(gsl_rng *rng, double shape)
{
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = normal(rng), t = 1 + c * x, v = t * t * t, square = x * x;
        if (t <= 0)
            continue;
        const double u = gsl_rng_uniform_pos(rng);
        if (u < 1 - 0.0331 * square * square || vm_log(u) < 0.5 * square + d * (1 - v + vm_log(v)))
            return d * v;
    }
}

/* A gamma draw as a number and the logarithm of a factor. A draw of shape a < 1 is one of shape a +
 * 1 times u^(1/a) (section 6), a factor that may underflow a double. */
static double gamma_parts(gsl_rng *rng, double shape, double *log_factor)
{
    *log_factor = shape < 1 ? vm_log(gsl_rng_uniform_pos(rng)) / shape : 0;
    return large_gamma(rng, shape < 1 ? shape + 1 : shape);
}

static double gamma_of(gsl_rng *rng, double shape)
{
    double log_factor;
    const double value = gamma_parts(rng, shape, &log_factor);
    return log_factor < 0 ? value * vm_exp(log_factor) : value;
}

static double beta_of(gsl_rng *rng, double a, double b)
{
    double of_a, of_b;
    double x = gamma_parts(rng, a, &of_a), y = gamma_parts(rng, b, &of_b);
    if (of_a < of_b) /* divide both by the larger factor: shapes near 0 would give 0 / 0 */
        x *= vm_exp(of_a - of_b);
    else if (of_b < of_a)
        y *= vm_exp(of_b - of_a);
    return x / (x + y);
}

/* ---- Philox4x32-10, a block in each lane */

static void blocks_of(const uint32_t key[2], uint64_t index, uint64_t first, uint32_t *out)
{
    uint32_t c0[ORR_BLOCKS], c1[ORR_BLOCKS], c2[ORR_BLOCKS], c3[ORR_BLOCKS];
    for (uint64_t b = 0; b < ORR_BLOCKS; b++) {
        c0[b] = (uint32_t)(first + b);
        c1[b] = (uint32_t)((first + b) >> 32);
        c2[b] = (uint32_t)index;
        c3[b] = (uint32_t)(index >> 32);
    }
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
#pragma omp simd
        for (int b = 0; b < ORR_BLOCKS; b++) {
            const uint64_t p0 = (uint64_t)0xD2511F53u * c0[b], p1 = (uint64_t)0xCD9E8D57u * c2[b];
            c0[b] = (uint32_t)(p1 >> 32) ^ c1[b] ^ k0;
            c1[b] = (uint32_t)p1;
            c2[b] = (uint32_t)(p0 >> 32) ^ c3[b] ^ k1;
            c3[b] = (uint32_t)p0;
        }
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    for (int b = 0; b < ORR_BLOCKS; b++) {
        out[4 * b] = c0[b];
        out[4 * b + 1] = c1[b];
        out[4 * b + 2] = c2[b];
        out[4 * b + 3] = c3[b];
    }
}

const struct orr_draws orr_draws = {exp_of, log_of, power, normal, gamma_of, beta_of, blocks_of};
