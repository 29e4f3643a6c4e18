/* vec_median.c - weighted quantiles, exactly, in a little more than one pass.
 *
 * Ranks in a small sample give a bracket that holds the quantile with high probability; one pass
 * keeps what is inside it and adds up the weight below. A bracket that misses is widened on the
 * side it missed. Few are left after two rounds: the ranks of all of them decide. Samples are taken
 * at fixed places: the result depends on nothing but the pairs. */
#include <math.h>

#include "vec.h"
#include "vecmath.h"

enum { FEW = SR_VEC_FEW }; /* pairs of a sample, and of which all ranks are taken */
/* The bracket reaches so far around the quantile, as a share of the sample's weight: 1.7 standard
 * deviations of a median's rank. */
static const double reach = 0.15;

/* A sample's values around `share` of its weight; infinite at the ends. */
static void bracket(const struct sr_vec *vec, const double *value, const double *weight,
                    double share, double found[2])
{
    const double total = vec->sum(weight, FEW);
    vec->between(value, weight, (share - reach) * total, (share + reach) * total, found);
}

/* The largest value with less than `goal` of the weight below: at it, the goal is reached. */
static double select_few(const struct sr_vec *vec, const double *value, const double *weight,
                         size_t n, double goal)
{
    double v[FEW], w[FEW], found[2];
    for (size_t k = 0; k < FEW; k++) {
        v[k] = k < n ? value[k] : HUGE_VAL;
        w[k] = k < n ? weight[k] : 0.0;
    }
    vec->between(v, w, goal, -HUGE_VAL, found);
    return found[0] > -HUGE_VAL && found[0] < HUGE_VAL ? found[0] : found[1]; /* goal 0 */
}

/* Keeps the part of the pairs that the goal is in - before low, before high, or behind - and takes
 * the weight before it off the goal. */
static size_t narrow(const struct sr_vec *vec, double *value, double *weight, size_t n, double low,
                     double high, double *goal)
{
    const double under = vec->below(value, weight, n, low);
    if (under >= *goal)
        return vec->keep_pairs(value, weight, n, -HUGE_VAL, low);
    const double over = vec->below(value, weight, n, high);
    if (over < *goal) {
        *goal -= over;
        return vec->keep_pairs(value, weight, n, high, HUGE_VAL);
    }
    *goal -= under;
    return vec->keep_pairs(value, weight, n, low, high);
}

/* The smallest value at which `goal` is reached. */
static double select_goal(const struct sr_vec *vec, double *value, double *weight, size_t n,
                          double goal)
{
    double last = NAN;
    if (!(fabs(goal) < HUGE_VAL))
        return NAN;
    while (n > FEW) {
        double v[FEW], w[FEW], end[2];
        for (size_t k = 0; k < FEW; k++) {
            v[k] = value[k * n / FEW];
            w[k] = weight[k * n / FEW];
        }
        const double total = vec->sum(weight, n);
        bracket(vec, v, w, total > 0 ? goal / total : 0, end);
        last = v[0];
        size_t kept = narrow(vec, value, weight, n, end[0], end[1], &goal);
        if (kept == n) { /* ties: cut at a single value */
            const double next = nextafter(last, HUGE_VAL);
            if (vec->below(value, weight, n, last) < goal &&
                vec->below(value, weight, n, next) >= goal)
                return last;
            kept = narrow(vec, value, weight, n, last, next, &goal);
            if (kept == n) /* no numbers */
                return last;
        }
        n = kept;
    }
    return n ? select_few(vec, value, weight, n, goal) : last;
}

double sr_vec_quantile(const struct sr_vec *vec, double *value, double *weight, size_t n,
                       double share)
{
    return select_goal(vec, value, weight, n, share * vec->sum(weight, n));
}

double sr_vec_median_ratio(const struct sr_vec *vec, const double *p, const double *t, size_t n,
                           double *scratch)
{
    double *value = scratch, *weight = scratch + n;
    double low = -HUGE_VAL, high = HUGE_VAL, side[2];
    if (n > 4 * FEW) {
        double v[FEW], w[FEW], end[2];
        for (size_t k = 0; k < FEW; k++) {
            const size_t i = k * n / FEW;
            v[k] = t[i] / p[i];
            w[k] = fabs(p[i]);
        }
        bracket(vec, v, w, 0.5, end);
        low = end[0];
        high = end[1];
    }
    size_t kept = vec->keep(p, t, n, low, high, value, weight, side);
    double goal = 0.5 * side[1] - side[0];
    if (!(side[1] > 0 && side[1] < HUGE_VAL))
        return NAN;
    if (goal <= 0 && low > -HUGE_VAL) {
        kept = vec->keep(p, t, n, -HUGE_VAL, low, value, weight, side);
        goal = 0.5 * side[1];
    } else if (vec->sum(weight, kept) < goal) {
        kept = vec->keep(p, t, n, high, HUGE_VAL, value, weight, side);
        goal = 0.5 * side[1] - side[0];
    }
    if (!kept)
        return low > -HUGE_VAL ? low : high;
    vec->divide(value, weight, kept, value);
    return select_goal(vec, value, weight, kept, goal);
}
