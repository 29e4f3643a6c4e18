/* vec_median.c - exact weighted quantiles in little more than one pass.
 *
 * Ranks in a small sample give a bracket that contains the quantile with high probability. One pass
 * keeps the pairs inside and sums the weight below. A bracket that misses is widened on that side.
 * After two rounds few pairs are left, and the ranks of all of them decide. Samples are taken at
 * fixed positions, so the result depends only on the pairs. */
#include <math.h>

#include "vec.h"
#include "base/vecmath.h"

enum { FEW = SR_VEC_FEW }; /* pairs of a sample, and pairs whose ranks are all computed */
/* Half-width of the bracket around the quantile, as a share of the sample's weight: 1.7 standard
 * deviations of a median's rank. */
static const double reach_first = 0.125, reach_next = 0.15;

/* Sample values on both sides of the quantile `share`; infinite at the ends. */
static void bracket_quantile(const struct sr_vec *vec, const double *value, const double *weight,
                             double share, double reach, double found[2])
{
    const double total = vec->sum(weight, FEW);
    vec->between(value, weight, (share - reach) * total, (share + reach) * total, found);
}

/* The largest value with less than `goal` of the weight below it; the goal is reached at that
 * value. */
static double select_few(const struct sr_vec *vec, const double *value, const double *weight,
                         size_t n, double goal)
{
    double v[FEW], w[FEW], found[2];
    for (size_t k = 0; k < FEW; k++) {
        v[k] = k < n ? value[k] : HUGE_VAL;
        w[k] = k < n ? weight[k] : 0.0;
    }
    vec->between(v, w, goal, -HUGE_VAL, found);
    return found[0] > -HUGE_VAL && found[0] < HUGE_VAL ? found[0] : found[1]; /* the goal is 0 */
}

/* Keeps the pairs in the part that contains the goal (before low, between low and high, or after
 * high), and subtracts the weight before that part from the goal. */
static size_t narrow_pairs(const struct sr_vec *vec, double *value, double *weight, size_t n,
                           double low, double high, double *goal)
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
        bracket_quantile(vec, v, w, total > 0 ? goal / total : 0, reach_next, end);
        last = v[0];
        size_t kept = narrow_pairs(vec, value, weight, n, end[0], end[1], &goal);
        if (kept == n) { /* ties: split at a single value */
            const double next = nextafter(last, HUGE_VAL);
            if (vec->below(value, weight, n, last) < goal &&
                vec->below(value, weight, n, next) >= goal)
                return last;
            kept = narrow_pairs(vec, value, weight, n, last, next, &goal);
            if (kept == n) /* NaN values */
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

/* Collects the rows whose bits are set: t, with the sign for positive p, and |p|. The bits may be
 * stored after the weights, which never overwrite bits still to be read. */
static size_t gather_rows(const double *p, const double *t, size_t n, const uint64_t *inside,
                          double *value, double *weight)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i += 64)
        for (uint64_t word = inside[i / 64]; word; word &= word - 1) {
            const size_t row = i + (size_t)__builtin_ctzll(word);
            value[kept] = vm_from_bits(vm_bits(t[row]) ^ (vm_bits(p[row]) & VM_SIGN));
            weight[kept++] = fabs(p[row]);
        }
    return kept;
}

static size_t count_bits(const uint64_t *inside, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i += 64)
        count += (size_t)__builtin_popcountll(inside[i / 64]);
    return count;
}

/* The median is at least low and below high; excess as in struct sr_vec. */
struct around {
    double low, high, excess[2];
};

/* Updates the bracket from a split at two ends. Returns whether the median lies between them. */
static bool take_split(struct around *around, const double end[2], const double excess[2])
{
    if (!(excess[0] > 0)) {
        around->high = end[0];
        around->excess[1] = excess[0];
        return false;
    }
    around->low = end[0];
    around->excess[0] = excess[0];
    if (excess[1] > 0) {
        around->low = end[1];
        around->excess[0] = excess[1];
        return false;
    }
    around->high = end[1];
    around->excess[1] = excess[1];
    return true;
}

/* Chooses the next ends: around the interpolated zero of the excess, or beyond the known end. False
 * where doubles do not resolve a further step. */
static bool next_ends(const struct around *a, double half, double step, double end[2])
{
    const double share = a->excess[0] / (a->excess[0] - a->excess[1]), width = a->high - a->low;
    if (a->low > -HUGE_VAL && a->high < HUGE_VAL) {
        end[0] = fmax(a->low, a->low + width * (share - half));
        end[1] = fmin(a->high, a->low + width * (share + half));
        return end[0] < end[1] && (end[0] > a->low || end[1] < a->high);
    }
    const bool is_below = a->high < HUGE_VAL;
    end[0] = is_below ? a->high - step : a->low;
    end[1] = is_below ? a->high : a->low + step;
    return end[0] < end[1] && end[1] - end[0] < HUGE_VAL;
}

/* Chooses ends that probably enclose the median. */
static void sample_ratios(const struct sr_vec *vec, const double *p, const double *t, size_t n,
                          double end[2])
{
    double v[FEW], w[FEW], size[FEW];
    for (size_t k = 0; k < FEW; k++) {
        const size_t i = k * n / FEW;
        v[k] = t[i];
        w[k] = p[i];
        size[k] = fabs(p[i]);
    }
    vec->divide(v, w, FEW, v);
    bracket_quantile(vec, v, size, 0.5, reach_first, end);
}

/* Collects the rows that may be the median, and the weight that they must reach; all rows where no
 * bracket is known. */
static size_t gather_candidates(const struct sr_vec *vec, const double *p, const double *t,
                                size_t n, const struct around *around, bool is_split,
                                uint64_t *inside, double *value, double *weight, double *goal)
{
    double end[2] = {around->low, around->high}, excess[2] = {around->excess[0], 0};
    const bool is_bounded = end[0] > -HUGE_VAL && end[1] < HUGE_VAL;
    if (is_bounded && !is_split)
        vec->split(p, t, n, end, excess, inside);
    for (size_t i = 0; i < n && !is_bounded; i += 64) {
        inside[i / 64] = 0;
        for (size_t l = 0; l < 64 && i + l < n; l++)
            inside[i / 64] |= (uint64_t)(p[i + l] != 0) << l;
    }
    const size_t kept = gather_rows(p, t, n, inside, value, weight);
    *goal = 0.5 * (is_bounded ? excess[0] : vec->sum(weight, kept));
    return kept;
}

double sr_vec_median_ratio(const struct sr_vec *vec, const double *p, const double *t, size_t n,
                           double *scratch)
{
    enum { ROUNDS = 12, MOST = 2 * FEW, AIM = 12 };
    double *value = scratch, *weight = scratch + n, end[2] = {0, 0}, excess[2], goal;
    void *const last = scratch + 2 * n + SR_SCRATCH - (n + 63) / 64; /* the end of the weights */
    uint64_t *const inside = last;
    struct around around = {-HUGE_VAL, HUGE_VAL, {0, 0}};
    bool is_between = false;
    if (n > MOST)
        sample_ratios(vec, p, t, n, end);
    double step = end[1] - end[0];
    size_t count = n;
    for (int round = 0; round < ROUNDS && step > 0 && step < HUGE_VAL; round++) {
        const bool is_first = round == 0 && n > 4 * MOST; /* only to narrow the bracket */
        vec->split(p, t, n, end, excess, is_first ? NULL : inside);
        is_between = take_split(&around, end, excess) && !is_first;
        count = is_between ? count_bits(inside, n) : is_first ? n / 4 : count / 2;
        if (is_between && count <= MOST)
            break;
        if (!next_ends(&around, AIM / (double)(count + 1), step, end))
            break;
        step *= 4;
    }
    const size_t kept =
        gather_candidates(vec, p, t, n, &around, is_between, inside, value, weight, &goal);
    if (!kept || !(goal > 0 && goal < HUGE_VAL))
        return kept && goal >= 0 && goal < HUGE_VAL ? around.low : (double)NAN;
    vec->divide(value, weight, kept, value);
    return select_goal(vec, value, weight, kept, goal);
}
