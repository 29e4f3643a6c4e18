/* truelaw.c - is a formula the run's own law times a constant? Decided by numbers, not by shape. */
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

/* The points as columns r, m1, m2; false when there is no range. */
static bool place_points(const double low[3], const double high[3], double x[3 * POINTS])
{
    static const int base[3] = {2, 3, 5};
    for (int f = 0; f < 3; f++) {
        if (!(low[f] > 0) || !(high[f] >= low[f]))
            return false;
        const double from = orr_log(low[f] / 2), to = orr_log(2 * high[f]);
        for (int i = 0; i < POINTS; i++)
            x[f * POINTS + i] = orr_exp(from + (to - from) * halton(i + 1, base[f]));
    }
    return true;
}

/* Whether values at the points are the law, on the side of a jump that `own` is at, times *k.
 * Newton's is the unit of all, so that nothing is rounded that need not be. */
static bool is_multiple(const struct law_own *own, const double x[3 * POINTS],
                        const double value[POINTS], double tolerance, double *k)
{
    double ratio[POINTS], mean = 0, smallest = HUGE_VAL, largest = -HUGE_VAL;
    int n = 0;
    for (int i = 0; i < POINTS; i++) {
        const double r = x[i], m1 = x[POINTS + i], m2 = x[2 * POINTS + i];
        double newtons = value[i] * r * r / (m1 * m2);
        if (!own->newton) {
            const double force = law_own_force(own, m1, m2, r);
            if (!(force > 0) || !isfinite(force))
                continue; /* the law does not attract here, and has no labels */
            newtons /= force * r * r / (m1 * m2);
        }
        ratio[n++] = newtons;
        smallest = fmin(smallest, newtons);
        largest = fmax(largest, newtons);
    }
    if (n < POINTS / 4)
        return false;
    for (int i = 0; i < n; i++)
        mean += ratio[i] / n;
    if (!isfinite(mean) || !(mean > 0) || !(largest - smallest <= tolerance * mean))
        return false;
    *k = mean;
    return true;
}

bool law_check(struct law_own *own, const struct sr_expr *expr, const double low[3],
               const double high[3], double tolerance, double *k)
{
    double x[3 * POINTS], value[POINTS];
    bool is = false;
    if (!place_points(low, high, x))
        return false;
    const struct sr_data data = {.rows = POINTS, .features = 3, .x = x};
    for (int i = 0; i < expr->count; i++)
        if (expr->node[i].op == SR_FEATURE && expr->node[i].feature >= 3)
            return false;
    if (!sr_eval(expr, &data, value))
        return false;
    for (int side = 0; side < own->sides && !is; side++) {
        law_own_side(own, side);
        is = is_multiple(own, x, value, tolerance, k);
    }
    law_own_side(own, 0);
    return is;
}

int law_find(struct law_own *own, const struct sr_front *front, const double low[3],
             const double high[3], double tolerance, double *k)
{
    for (int i = 0; i < front->count; i++)
        if (law_check(own, &front->expr[i], low, high, tolerance, k))
            return i;
    return -1;
}
