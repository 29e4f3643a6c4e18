/* loss.c - losses, and the outer scale that minimises them.
 *
 * All sums run in eight fixed lanes: vector code of any width gives the same bits. */
#include "symreg.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 8 };

/* Differences below this count as 0 in the study's loss. */
static const double study_dead_zone = 1e-8;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__)
#define FOR_MANY_CPUS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_MANY_CPUS
#endif

/* total = the sum of TERM over j = 0 .. n-1, in lanes. */
#define LANE_SUM(total, n, TERM)                                                                   \
    do {                                                                                           \
        double lane_[LANES] = {0};                                                                 \
        size_t i_ = 0;                                                                             \
        for (; i_ + LANES <= (n); i_ += LANES)                                                     \
            for (size_t l_ = 0; l_ < LANES; l_++) {                                                \
                const size_t j = i_ + l_;                                                          \
                lane_[l_] += (TERM);                                                               \
            }                                                                                      \
        for (size_t j = i_; j < (n); j++)                                                          \
            lane_[0] += (TERM);                                                                    \
        (total) = ((lane_[0] + lane_[1]) + (lane_[2] + lane_[3])) +                                \
                  ((lane_[4] + lane_[5]) + (lane_[6] + lane_[7]));                                 \
    } while (0)

/* ---- values */

FOR_MANY_CPUS static double sum_absolute(const double *p, const double *t, double scale, size_t n)
{
    double total;
    LANE_SUM(total, n, fabs(scale * p[j] - t[j]));
    return total;
}

FOR_MANY_CPUS static double sum_study(const double *p, const double *t, double scale, size_t n)
{
    const double dead = study_dead_zone;
    double total;
    LANE_SUM(total, n, fabs(scale * p[j] - t[j]) > dead ? fabs(scale * p[j] - t[j]) - dead : 0.0);
    return total;
}

FOR_MANY_CPUS static double sum_weighted(const double *p, const double *t, const double *w,
                                         double scale, size_t n)
{
    double total;
    LANE_SUM(total, n, fabs(scale * p[j] - t[j]) * w[j]);
    return total;
}

FOR_MANY_CPUS static double sum_squares(const double *p, const double *t, double scale, size_t n)
{
    double total;
    LANE_SUM(total, n, (scale * p[j] - t[j]) * (scale * p[j] - t[j]));
    return total;
}

FOR_MANY_CPUS static double sum_product(const double *a, const double *b, size_t n)
{
    double total;
    LANE_SUM(total, n, a[j] * b[j]);
    return total;
}

double sr_loss_value(const struct sr_loss *loss, const double *p, double scale)
{
    const size_t n = loss->data->rows;
    const double *t = loss->data->y;
    double total = 0;
    switch (loss->kind) {
    case ORR_SR_L1:
        total = sum_absolute(p, t, scale, n);
        break;
    case ORR_SR_L2:
        total = sum_squares(p, t, scale, n);
        break;
    case ORR_SR_STUDY:
        total = sum_study(p, t, scale, n);
        break;
    case ORR_SR_RELATIVE:
        total = sum_weighted(p, t, loss->weight, scale, n);
        break;
    case ORR_SR_CUSTOM:
        return sr_custom_loss(n, p, t, loss->data->weight, scale);
    }
    return total / (double)n;
}

/* ---- weighted median */

FOR_MANY_CPUS static double weight_below(const double *value, const double *weight, double limit,
                                         size_t n)
{
    double total;
    LANE_SUM(total, n, value[j] < limit ? weight[j] : 0.0);
    return total;
}

FOR_MANY_CPUS static double sum(const double *x, size_t n)
{
    double total;
    LANE_SUM(total, n, x[j]);
    return total;
}

/* Shell sort of pairs by value. */
static void sort_pairs(double *value, double *weight, size_t n)
{
    size_t gap = 1;
    while (gap < n / 3)
        gap = 3 * gap + 1;
    for (; gap; gap /= 3)
        for (size_t i = gap; i < n; i++) {
            const double v = value[i], w = weight[i];
            size_t k = i;
            for (; k >= gap && value[k - gap] > v; k -= gap) {
                value[k] = value[k - gap];
                weight[k] = weight[k - gap];
            }
            value[k] = v;
            weight[k] = w;
        }
}

/* Keeps the pairs with low <= value < high, in order. */
static size_t keep_between(double *value, double *weight, size_t n, double low, double high)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const double v = value[i], w = weight[i];
        value[kept] = v;
        weight[kept] = w;
        kept += v >= low && v < high;
    }
    return kept;
}

double sr_weighted_median(double *value, double *weight, size_t n, double *scratch)
{
    enum { SAMPLES = 33 };
    const double half = sum(weight, n) / 2;
    double before = 0; /* weight of what was cut off below */
    /* bracket the median between quantiles of a sample, by counting weight only */
    while (n > 4 * SAMPLES) {
        for (size_t k = 0; k < SAMPLES; k++)
            scratch[k] = value[k * (n - 1) / (SAMPLES - 1)];
        memset(scratch + SAMPLES, 0, SAMPLES * sizeof *scratch);
        sort_pairs(scratch, scratch + SAMPLES, SAMPLES);
        int low = -1, high = SAMPLES; /* weight below sample[low] <= half < below sample[high] */
        double low_weight = 0;
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            const double w = weight_below(value, weight, scratch[middle], n);
            if (before + w <= half) {
                low = middle;
                low_weight = w;
            } else {
                high = middle;
            }
        }
        const size_t kept = keep_between(value, weight, n, low < 0 ? -HUGE_VAL : scratch[low],
                                         high == SAMPLES ? HUGE_VAL : scratch[high]);
        before += low_weight;
        if (kept == n || !kept) /* ties: nothing to cut */
            break;
        n = kept;
    }
    sort_pairs(value, weight, n);
    for (size_t i = 0; i < n; i++) {
        before += weight[i];
        if (before >= half)
            return value[i];
    }
    return n ? value[n - 1] : NAN;
}

/* ---- the outer scale */

FOR_MANY_CPUS static void ratios(const double *p, const double *t, const double *w, size_t n,
                                 double *ratio, double *weight)
{
    for (size_t i = 0; i < n; i++) {
        ratio[i] = p[i] == 0.0 ? 0.0 : t[i] / p[i];
        weight[i] = fabs(p[i]) * (w ? w[i] : 1.0);
    }
}

/* No closed form: re-weighted least squares from the least-squares scale, as long as the loss
 * falls. */
static double custom_scale(const struct sr_loss *loss, const double *p)
{
    const size_t n = loss->data->rows;
    const double *t = loss->data->y;
    const double pp = sum_product(p, p, n);
    double scale = pp > 0 && isfinite(pp) ? sum_product(p, t, n) / pp : 0;
    double value = sr_loss_value(loss, p, scale);
    for (int step = 0; step < 8; step++) {
        double above = 0, below = 0;
        for (size_t i = 0; i < n; i++) {
            const double w = sr_custom_loss_weight(scale * p[i], t[i]);
            above += w * p[i] * t[i];
            below += w * p[i] * p[i];
        }
        const double next = above / below;
        const double reached = isfinite(next) ? sr_loss_value(loss, p, next) : HUGE_VAL;
        if (!(reached < value))
            break;
        scale = next;
        value = reached;
    }
    return scale;
}

double sr_loss_scale(const struct sr_loss *loss, const double *p, double *scratch)
{
    const size_t n = loss->data->rows;
    const double *t = loss->data->y;
    if (loss->kind == ORR_SR_CUSTOM)
        return custom_scale(loss, p);
    if (loss->kind == ORR_SR_L2) {
        const double pp = sum_product(p, p, n);
        return pp > 0 && isfinite(pp) ? sum_product(p, t, n) / pp : 0;
    }
    double *ratio = scratch, *weight = scratch + n;
    ratios(p, t, loss->weight, n, ratio, weight);
    const double scale = sr_weighted_median(ratio, weight, n, scratch + 2 * n);
    return isfinite(scale) ? scale : 0;
}

/* ---- set-up */

/* Median |y| (all weights equal), else mean |y|, else 1. */
static double typical_size(const struct sr_data *data, double *scratch)
{
    const size_t n = data->rows;
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = fabs(data->y[i]);
        scratch[n + i] = 1;
        total += scratch[i];
    }
    const double median = sr_weighted_median(scratch, scratch + n, n, scratch + 2 * n);
    if (median > 0)
        return median;
    return total > 0 ? total / (double)n : 1;
}

/* What rounding alone leaves of a formula that is exact. */
static double rounding_loss(const struct sr_loss *loss)
{
    const size_t n = loss->data->rows;
    const double eps = 16 * DBL_EPSILON;
    double mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        mean += fabs(loss->data->y[i]) / (double)n;
        square += loss->data->y[i] * loss->data->y[i] / (double)n;
    }
    if (loss->kind == ORR_SR_L2)
        return eps * eps * square;
    if (loss->kind == ORR_SR_CUSTOM)
        return sr_custom_loss(n, loss->data->y, loss->data->y, NULL, 1 + eps);
    return loss->kind == ORR_SR_RELATIVE ? eps : eps * mean;
}

int sr_loss_init(struct sr_loss *loss, enum orr_symreg_loss kind, const struct sr_data *data)
{
    const size_t n = data->rows;
    *loss = (struct sr_loss){.kind = kind, .data = data};
    double *scratch = orr_alloc(3 * n + SR_SCRATCH, sizeof *scratch);
    loss->weight = kind == ORR_SR_RELATIVE ? orr_alloc(n, sizeof *loss->weight) : NULL;
    if (!scratch || (kind == ORR_SR_RELATIVE && !loss->weight)) {
        free(scratch);
        sr_loss_free(loss);
        return ORR_ENOMEM;
    }
    loss->unit = typical_size(data, scratch);
    for (size_t i = 0; i < n && loss->weight; i++)
        loss->weight[i] = 1 / fmax(fabs(data->y[i]), 1e-12 * loss->unit);
    double *one = scratch + 2 * n + SR_SCRATCH;
    for (size_t i = 0; i < n; i++)
        one[i] = 1;
    loss->base = sr_loss_value(loss, one, sr_loss_scale(loss, one, scratch));
    loss->noise = rounding_loss(loss);
    free(scratch);
    return 0;
}

void sr_loss_free(struct sr_loss *loss)
{
    free(loss->weight);
    loss->weight = NULL;
}
