/* force_bounds.c - how large the force of a pair may be, before the forces of the pairs are known.
 *
 * Two limits that no law of force enters:
 *   - the heaviest body's pulls on the other bodies, per product of masses, at their distances. At
 *     another distance the pull is extrapolated by the slope that these pulls themselves have over
 *     all times (d log pull / d log r), or by that of an inverse square where they have none;
 *   - the relative acceleration of the two bodies, times their reduced mass: what pulls one of
 *     them harder shows in its track. */
#include "motion.h"

#include <math.h>
#include <string.h>

/* Distance between two bodies, or the size of the difference of other vectors (dims, n) of them. */
static double size_between(const struct sr_track *a, size_t i, const double *of_a,
                           const struct sr_track *b, size_t j, const double *of_b, int dims)
{
    double sum = 0;
    for (size_t d = 0; d < (size_t)dims; d++) {
        const double off = of_a[d * a->n + i] - of_b[d * b->n + j];
        sum += off * off;
    }
    return sqrt(sum);
}

static double distance(const struct sr_track *track, const size_t *at, size_t a, size_t b, int dims)
{
    return size_between(&track[a], at[a], track[a].smooth, &track[b], at[b], track[b].smooth, dims);
}

static double relative(const struct sr_track *track, const size_t *at, size_t a, size_t b, int dims)
{
    return size_between(&track[a], at[a], track[a].acceleration, &track[b], at[b],
                        track[b].acceleration, dims);
}

/* Whether a body that is not much lighter is nearer to body k than the heaviest one: then the
 * acceleration of k is not the heaviest body's pull. */
static bool is_disturbed(const struct sr_track *track, const size_t *at, size_t bodies, int dims,
                         size_t heavy, size_t k, double r)
{
    for (size_t j = 0; j < bodies; j++)
        if (j != k && j != heavy && track[j].mass > 0.1 * track[k].mass &&
            distance(track, at, j, k, dims) < r)
            return true;
    return false;
}

void sr_pulls_measure(const struct sr_track *track, const size_t *at, size_t bodies, int dims,
                      struct sr_pulls *pulls)
{
    size_t heavy = 0;
    for (size_t k = 1; k < bodies; k++)
        heavy = track[k].mass > track[heavy].mass ? k : heavy;
    pulls->count = 0;
    for (int disturbed = 0; disturbed < 2 && !pulls->count; disturbed++)
        for (size_t k = 0; k < bodies; k++) {
            const double r = k == heavy ? 0 : distance(track, at, k, heavy, dims);
            const double a = k == heavy ? 0 : relative(track, at, k, heavy, dims);
            if (!(r > 0) || !(a > 0) ||
                (!disturbed && is_disturbed(track, at, bodies, dims, heavy, k, r)))
                continue;
            double inward = 0;
            for (size_t d = 0; d < (size_t)dims; d++) {
                const struct sr_track *b = &track[k], *h = &track[heavy];
                const size_t i = d * b->n + at[k], j = d * h->n + at[heavy];
                inward += (b->acceleration[i] - h->acceleration[j]) * (h->smooth[j] - b->smooth[i]);
            }
            pulls->sign[pulls->count] = inward < 0 ? -1 : 1;
            pulls->r[pulls->count] = r;
            pulls->pull[pulls->count++] = a / (track[k].mass + track[heavy].mass);
            pulls->disturbed = disturbed;
        }
}

/* ---- the slope over all times */

void sr_slope_add(struct sr_slope *slope, const struct sr_pulls *pulls)
{
    for (size_t k = 0; k < pulls->count && !pulls->disturbed; k++) {
        const double x = orr_log(pulls->r[k]), y = orr_log(pulls->pull[k]);
        if (!(slope->n > 0)) {
            slope->x0 = x;
            slope->y0 = y;
        }
        const double u = x - slope->x0, v = y - slope->y0;
        slope->n++;
        slope->x += u;
        slope->y += v;
        slope->xx += u * u;
        slope->xy += u * v;
        slope->yy += v * v;
    }
}

double sr_slope_value(const struct sr_slope *slope)
{
    const double inverse_square = -2, sure = 0.3;
    const double n = slope->n, xx = slope->xx - slope->x * slope->x / n,
                 xy = slope->xy - slope->x * slope->y / n, yy = slope->yy - slope->y * slope->y / n;
    if (!(n > 2) || !(xx > 1e-6 * n))
        return inverse_square;
    /* the scatter around the line, as a share of the spread of log r: a bound of the slope's error
     * that does not rely on many times, whose disturbances are alike */
    return sqrt(fmax(0, yy - xy * xy / xx) / xx) < sure ? xy / xx : inverse_square;
}

/* ---- the limits of a pair */

/* The pull at distance r: the logarithm of the nearest one's, along the slope. *far: the factor
 * between the distances. */
static double pull_at(const struct sr_pulls *pulls, double slope, double r, double *far,
                      double *sign)
{
    double nearest = HUGE_VAL, pull = 0;
    for (size_t k = 0; k < pulls->count; k++) {
        const double off = orr_log(r / pulls->r[k]);
        if (fabs(off) < nearest) {
            nearest = fabs(off);
            *sign = pulls->disturbed ? 0 : pulls->sign[k];
            pull = pulls->pull[k] * orr_exp(slope * off);
        }
    }
    *far = orr_exp(nearest);
    return pull;
}

/* The force that would be all of the largest relative acceleration of the two bodies, to each other
 * and to the heaviest one. */
static double force_of_accelerations(const struct sr_track *track, const size_t *at, size_t bodies,
                                     int dims, size_t a, size_t b)
{
    size_t heavy = 0;
    for (size_t k = 1; k < bodies; k++)
        heavy = track[k].mass > track[heavy].mass ? k : heavy;
    const double most =
        fmax(relative(track, at, a, b, dims),
             fmax(relative(track, at, a, heavy, dims), relative(track, at, b, heavy, dims)));
    return most * track[a].mass * track[b].mass / (track[a].mass + track[b].mass);
}

double sr_pulls_expect(const struct sr_track *track, const size_t *at, size_t bodies, int dims,
                       const struct sr_pulls *pulls, double slope, size_t a, size_t b,
                       double *widest, double *middle)
{
    double far, sign = 0;
    const double r = distance(track, at, a, b, dims);
    const double most = force_of_accelerations(track, at, bodies, dims, a, b);
    const double expected = pull_at(pulls, slope, r, &far, &sign) * track[a].mass * track[b].mass;
    /* a slope that is wrong by 1 / 2 */
    *widest = fmin(most, expected * sqrt(far));
    *middle = sign * fmin(most, expected);
    return fmin(most, expected);
}
