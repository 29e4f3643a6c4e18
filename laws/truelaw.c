/* truelaw.c - is a formula k m1 m2 / r^2? Decided by numbers, not by shape. */
#include "analysis.h"

#include <math.h>

enum { POINTS = 384 };

/* Halton's sequence in base b, i >= 1: low-discrepancy points in (0, 1). */
static double halton(int i, int base)
{
    double value = 0, share = 1;
    for (; i > 0; i /= base) {
        share /= base;
        value += share * (i % base);
    }
    return value;
}

bool law_check(const struct sr_expr *expr, const double low[3], const double high[3],
               double tolerance, double *k)
{
    static const int base[3] = {2, 3, 5};
    double x[3 * POINTS], value[POINTS], mean = 0, smallest = HUGE_VAL, largest = -HUGE_VAL;
    for (int f = 0; f < 3; f++) {
        if (!(low[f] > 0) || !(high[f] >= low[f]))
            return false;
        const double from = orr_log(low[f] / 2), to = orr_log(2 * high[f]);
        for (int i = 0; i < POINTS; i++)
            x[f * POINTS + i] = orr_exp(from + (to - from) * halton(i + 1, base[f]));
    }
    const struct sr_data data = {.rows = POINTS, .features = 3, .x = x};
    for (int i = 0; i < expr->count; i++)
        if (expr->node[i].op == SR_FEATURE && expr->node[i].feature >= 3)
            return false;
    if (!sr_eval(expr, &data, value))
        return false;
    for (int i = 0; i < POINTS; i++) {
        const double r = x[i], m1 = x[POINTS + i], m2 = x[2 * POINTS + i];
        const double ratio = value[i] * r * r / (m1 * m2);
        mean += ratio / POINTS;
        smallest = fmin(smallest, ratio);
        largest = fmax(largest, ratio);
    }
    if (!isfinite(mean) || !(mean > 0) || !(largest - smallest <= tolerance * mean))
        return false;
    *k = mean;
    return true;
}

int law_find(const struct sr_front *front, const double low[3], const double high[3],
             double tolerance, double *k)
{
    for (int i = 0; i < front->count; i++)
        if (law_check(&front->expr[i], low, high, tolerance, k))
            return i;
    return -1;
}
