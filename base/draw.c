/* draw.c - elementary functions and random draws with equal bits on every CPU, one number at a
 * time. */
#include "elementary.h"
#include "log.h"
#include "random.h"
#include "draw.h"

#include <math.h>
#include <stdlib.h>

static const struct orr_draws *of_this_cpu(void)
{
    return orr_draws_of(orr_isa());
}

/* ---- elementary functions */

double orr_exp(double x)
{
    return of_this_cpu()->exp(x);
}

double orr_log(double x)
{
    return of_this_cpu()->log(x);
}

/* a^n by repeated squaring, n >= 0. */
static double whole_power(double a, int n)
{
    double result = 1;
    for (; n > 0; n >>= 1, a *= a)
        if (n & 1)
            result *= a;
    return result;
}

double orr_pow(double a, double b)
{
    if (b == 0.5)
        return sqrt(a);
    if (rint(b) == b && fabs(b) <= 8) {
        const double size = whole_power(a, abs((int)b)), result = b < 0 ? 1 / size : size;
        if (isnormal(result)) /* use logarithms where products overflow or lose bits */
            return result;
    }
    return of_this_cpu()->power(a, b);
}

/* ---- draws */

struct orr_strips orr_strips;

__attribute__((constructor)) static void make_strips(void)
{
    const double strip_area = 9.91256303526217e-3;
    double *edge = orr_strips.edge, density = orr_exp(-0.5 * ORR_TAIL_FROM * ORR_TAIL_FROM);
    edge[0] = strip_area / density;
    edge[1] = ORR_TAIL_FROM;
    for (int i = 2; i < ORR_STRIPS; i++) {
        edge[i] = sqrt(-2 * orr_log(strip_area / edge[i - 1] + density));
        density = orr_exp(-0.5 * edge[i] * edge[i]);
    }
    for (int i = 0; i < ORR_STRIPS; i++)
        orr_strips.share[i] = edge[i + 1] / edge[i];
}

double orr_draw_normal(gsl_rng *rng)
{
    return of_this_cpu()->normal(rng);
}

double orr_draw_gamma(gsl_rng *rng, double shape)
{
    return of_this_cpu()->gamma(rng, shape);
}

double orr_draw_beta(gsl_rng *rng, double a, double b)
{
    return of_this_cpu()->beta(rng, a, b);
}

/* Knuth, TAOCP 2, section 3.4.1: multiplies uniforms until the product is below exp(-mean). A large
 * mean is split into parts of at most 10, so that the exponential does not underflow. */
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
