/* draw.c - draws from distributions, with the same bits on every CPU. */
#include "base.h"

#include <math.h>

/* ---- normal: the ziggurat of Marsaglia & Tsang (2000), Journal of Statistical Software 5(8), as
 * Doornik (2005), "An improved ziggurat method to generate normal random samples", has it: strip
 * and place come from different bits, and places have 53 of them. */

enum { STRIPS = 128 };
static const double tail_from = 3.442619855899, strip_area = 9.91256303526217e-3;
static double edge[STRIPS + 1], share[STRIPS]; /* right ends of strips; of these what lies inside */

__attribute__((constructor)) static void make_strips(void)
{
    double density = orr_exp(-0.5 * tail_from * tail_from);
    edge[0] = strip_area / density;
    edge[1] = tail_from;
    for (int i = 2; i < STRIPS; i++) {
        edge[i] = sqrt(-2 * orr_log(strip_area / edge[i - 1] + density));
        density = orr_exp(-0.5 * edge[i] * edge[i]);
    }
    for (int i = 0; i < STRIPS; i++)
        share[i] = edge[i + 1] / edge[i];
}

/* Marsaglia (1964), Technometrics 6, 101. */
static double normal_tail(gsl_rng *rng)
{
    double x, y;
    do {
        x = -orr_log(gsl_rng_uniform_pos(rng)) / tail_from;
        y = -orr_log(gsl_rng_uniform_pos(rng));
    } while (2 * y < x * x);
    return tail_from + x;
}

double orr_draw_normal(gsl_rng *rng)
{
    for (;;) {
        const uint64_t high = gsl_rng_get(rng), bits = high << 32 | gsl_rng_get(rng);
        const size_t i = bits % STRIPS;
        const double u = (double)(bits >> 11) * 0x1p-52 - 1, x = u * edge[i];
        if (fabs(u) < share[i])
            return x;
        if (i == 0)
            return copysign(normal_tail(rng), u);
        const double above = orr_exp(-0.5 * (edge[i + 1] * edge[i + 1] - x * x));
        const double below = orr_exp(-0.5 * (edge[i] * edge[i] - x * x));
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
        const double x = orr_draw_normal(rng), t = 1 + c * x, v = t * t * t, square = x * x;
        if (t <= 0)
            continue;
        const double u = gsl_rng_uniform_pos(rng);
        if (u < 1 - 0.0331 * square * square ||
            orr_log(u) < 0.5 * square + d * (1 - v + orr_log(v)))
            return d * v;
    }
}

/* A gamma as a number and the logarithm of a factor: one of shape a < 1 is one of shape a + 1 times
 * u^(1/a) (section 6), which may be too small for a double. */
static double gamma_parts(gsl_rng *rng, double shape, double *log_factor)
{
    *log_factor = shape < 1 ? orr_log(gsl_rng_uniform_pos(rng)) / shape : 0;
    return large_gamma(rng, shape < 1 ? shape + 1 : shape);
}

double orr_draw_gamma(gsl_rng *rng, double shape)
{
    double log_factor;
    const double value = gamma_parts(rng, shape, &log_factor);
    return log_factor < 0 ? value * orr_exp(log_factor) : value;
}

double orr_draw_beta(gsl_rng *rng, double a, double b)
{
    double of_a, of_b;
    double x = gamma_parts(rng, a, &of_a), y = gamma_parts(rng, b, &of_b);
    if (of_a < of_b) /* the larger factor divides both: shapes near 0 do not end in 0 / 0 */
        x *= orr_exp(of_a - of_b);
    else if (of_b < of_a)
        y *= orr_exp(of_b - of_a);
    return x / (x + y);
}

/* ---- Poisson */

/* Knuth, TAOCP 2, section 3.4.1: uniforms are multiplied until the product is below exp(-mean). A
 * large mean is a sum of small ones, whose exponentials are not 0. */
unsigned orr_draw_poisson(gsl_rng *rng, double mean)
{
    const double most = 10;
    unsigned count = 0;
    for (; mean > 0; mean -= most) {
        const double limit = orr_exp(-fmin(mean, most));
        for (double product = gsl_rng_uniform(rng); product > limit;
             product *= gsl_rng_uniform(rng))
            count++;
    }
    return count;
}
