/* target_interval.c - targets that are known to lie between two numbers: the nearest number of an
 * interval to a prediction, and the likelihood of intervals with normal noise. */
#include "value.h"

#include <float.h>
#include <math.h>

#include "base/elementary.h"

static const double log_turn = 1.8378770664093453; /* ln 2 pi */

void sr_interval_nearest(const struct sr_data *data, size_t first, size_t n, const double *p,
                         double scale, double *nearest)
{
    for (size_t i = 0; i < n; i++)
        nearest[i] = fmin(fmax(scale * p[i], data->low[first + i]), data->high[first + i]);
}

double sr_interval_middle(double low, double high)
{
    return isinf(low) ? high : isinf(high) ? low : low + (high - low) / 2;
}

bool sr_interval_is_closed(const struct sr_data *data, size_t row)
{
    return isfinite(data->low[row]) && isfinite(data->high[row]);
}

/* ---- the probability of an interval */

/* ln of the probability above z >= 0 of a normal variable, to 1.2e-7 of the probability: Chebyshev
 * approximation of erfc (Press et al., Numerical Recipes in C, 2nd ed., section 6.2). */
static double log_tail(double z)
{
    static const double c[] = {-1.26551223, 1.00002368,  0.37409196, 0.09678418,  -0.18628806,
                               0.27886807,  -1.13520398, 1.48851587, -0.82215223, 0.17087277};
    const double x = z * 0.70710678118654752, t = 1 / (1 + 0.5 * x);
    double sum = 0;
    for (int k = 9; k >= 0; k--)
        sum = sum * t + c[k];
    return isinf(z) ? -HUGE_VAL : orr_log(t / 2) - x * x + sum;
}

/* ln of the integral of the normal density from a to b <= a + 2, by eight points of Gauss and
 * Legendre. */
static double log_narrow(double a, double b)
{
    static const double at[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                0.9602898564975363},
                        of[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                0.1012285362903763};
    const double middle = a + (b - a) / 2, half = (b - a) / 2;
    const double nearest = a > 0 ? a : b < 0 ? b : 0, most = -nearest * nearest / 2;
    double sum = 0;
    for (int k = 0; k < 8; k++) {
        const double z = middle + (k % 2 ? half : -half) * at[k / 2];
        sum += of[k / 2] * orr_exp(fmax(-z * z / 2 - most, -700));
    }
    return most - log_turn / 2 + orr_log(half * sum);
}

/* ln of the probability of a normal variable between a and b. */
static double log_between(double a, double b)
{
    if (b - a <= 2)
        return log_narrow(a, b);
    if (a < 0 && b > 0)
        return orr_log(1 - orr_exp(fmax(log_tail(-a), -700)) - orr_exp(fmax(log_tail(b), -700)));
    const double near = log_tail(a >= 0 ? a : -b), far = log_tail(a >= 0 ? b : -a);
    return near + orr_log(1 - orr_exp(fmax(far - near, -700)));
}

/* The normal density at z over a probability whose logarithm is given; 0 at infinity. */
static double density_over(double z, double log_p)
{
    return isinf(z) ? 0 : orr_exp(fmin(fmax(-z * z / 2 - log_turn / 2 - log_p, -700), 700));
}

/* What a row says of a formula that predicts p, with noise of standard deviation sigma. */
struct row {
    double log_p;       /* ln of the probability of the interval, or of the density of a number */
    double expected;    /* of the target in the interval, less p, over sigma */
    double information; /* about p, times sigma^2 */
};
static struct row row_at(const struct sr_data *data, size_t i, double p, double sigma)
{
    const double a = (data->low[i] - p) / sigma, b = (data->high[i] - p) / sigma;
    if (!(data->high[i] > data->low[i]))
        return (struct row){-a * a / 2 - log_turn / 2 - orr_log(sigma), a, 1};
    const double log_p = log_between(a, b);
    const double at_a = density_over(a, log_p), at_b = density_over(b, log_p);
    const double pull = at_a - at_b;
    const double bent = (isinf(a) ? 0 : a * at_a) - (isinf(b) ? 0 : b * at_b);
    /* far outside, differences of densities lose digits: the nearest end is all that counts */
    return (struct row){log_p, pull, fmin(fmax(pull * pull - bent, 0), 1)};
}

/* The standard deviation of a row where that of a row of weight 1 is sigma. */
static double sigma_of(const struct sr_data *data, size_t i, double sigma)
{
    return data->weight ? sigma / sqrt(data->weight[i]) : sigma;
}

static double length_at(const struct sr_data *data, const double *p, double sigma)
{
    double length = 0;
    for (size_t i = 0; i < data->rows; i++)
        if (sr_row_weight(data, i) > 0)
            length -= row_at(data, i, p[i], sigma_of(data, i, sigma)).log_p;
    return length;
}

/* ---- the likeliest noise */

/* The standard deviations between which the likeliest one lies. False where none is needed: all
 * intervals contain their predictions, and none is a number. */
static bool find_range(const struct sr_data *data, const double *p, double *least, double *most)
{
    double square = 0;
    bool needed = false;
    *most = 0;
    for (size_t i = 0; i < data->rows; i++) {
        const double root = sqrt(sr_row_weight(data, i));
        const double width = sr_interval_is_closed(data, i) ? data->high[i] - data->low[i] : 0;
        if (!(root > 0))
            continue;
        needed = needed || !(width > 0 || !sr_interval_is_closed(data, i)) || p[i] < data->low[i] ||
                 p[i] > data->high[i];
        square += data->y[i] * data->y[i] / (double)data->rows;
        *most = fmax(*most, root * (fabs(p[i] - data->y[i]) + width));
    }
    *least = fmax(16 * DBL_EPSILON * sqrt(square), 1e-290);
    *most = fmax(*most, 2 * *least);
    return needed;
}

void sr_interval_measure(const struct sr_data *data, const double *p, struct sr_interval_noise *n)
{
    enum { GRID = 24, STEPS = 30 };
    const double golden = 0.6180339887498949;
    double least, most, shortest = HUGE_VAL;
    int best = 0;
    *n = (struct sr_interval_noise){.sigma = 0};
    if (!find_range(data, p, &least, &most))
        return;
    if (data->variance > 0) {
        n->sigma = sqrt(data->variance);
        n->length = length_at(data, p, n->sigma);
        return;
    }
    const double from = orr_log(least), step = (orr_log(most) - from) / GRID;
    for (int k = 0; k <= GRID; k++) {
        const double length = length_at(data, p, orr_exp(from + k * step));
        if (length < shortest) {
            shortest = length;
            best = k;
        }
    }
    double low = from + fmax(best - 1, 0) * step, high = from + fmin(best + 1, GRID) * step;
    double one = high - golden * (high - low), two = low + golden * (high - low);
    double at_one = length_at(data, p, orr_exp(one)), at_two = length_at(data, p, orr_exp(two));
    for (int k = 0; k < STEPS; k++) {
        if (at_one < at_two) {
            high = two, two = one, at_two = at_one;
            one = high - golden * (high - low);
            at_one = length_at(data, p, orr_exp(one));
        } else {
            low = one, one = two, at_one = at_two;
            two = low + golden * (high - low);
            at_two = length_at(data, p, orr_exp(two));
        }
    }
    n->sigma = orr_exp(at_one < at_two ? one : two);
    n->length = fmin(at_one, at_two);
}

double sr_interval_weigh(const struct sr_data *data, const double *p,
                         const struct sr_interval_noise *n, double *weight)
{
    double level = 0, closed = 0;
    for (size_t i = 0; i < data->rows; i++) {
        const double sigma = sigma_of(data, i, n->sigma), width = data->high[i] - data->low[i];
        weight[i] = 0;
        if (!(sr_row_weight(data, i) > 0))
            continue;
        if (sr_interval_is_closed(data, i)) {
            weight[i] = 1 / fmax(sigma * sigma + width * width / 12, DBL_MIN);
            level += 1 / weight[i];
            closed++;
        } else if (sigma > 0) {
            weight[i] = row_at(data, i, p[i], sigma).information / (sigma * sigma);
        }
    }
    const double variance = closed > 0 ? level / closed : n->sigma * n->sigma;
    for (size_t i = 0; i < data->rows; i++)
        weight[i] *= variance;
    return variance;
}

void sr_interval_expect(const struct sr_data *data, const double *p,
                        const struct sr_interval_noise *n, double *expected)
{
    for (size_t i = 0; i < data->rows; i++) {
        const double sigma = sigma_of(data, i, n->sigma);
        expected[i] = fmin(fmax(p[i], data->low[i]), data->high[i]);
        if (sigma > 0 && isfinite(sigma))
            expected[i] =
                fmin(fmax(p[i] + sigma * row_at(data, i, p[i], sigma).expected, data->low[i]),
                     data->high[i]);
    }
}
