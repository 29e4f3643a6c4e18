/* loss.c - loss functions, and the outer scale that minimises them. */
#include "vec.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/statistics.h"

static bool is_smooth(const struct sr_loss *loss) /* the scale has no closed form */
{
    return loss->kind == ORR_SR_HUBER || loss->kind == ORR_SR_LOGCOSH;
}

static struct sr_vec_loss sum_of(const struct sr_loss *loss)
{
    return (struct sr_vec_loss){.kind = loss->kind,
                                .parameter = loss->parameter,
                                .t = loss->data->y,
                                .weight = loss->weight};
}

/* A user-defined loss of some rows, which is their weighted mean, as a part of that of all rows. Of
 * each row counts what it exceeds its value at p = t by. */
static double custom_part(const struct sr_loss *loss, size_t first, size_t rows, const double *p,
                          double scale)
{
    const struct sr_data *data = loss->data;
    const double *const weight = data->weight ? data->weight + first : NULL;
    const double mean = sr_custom_loss(data->language, rows, p, data->y + first, weight, scale);
    if (rows == data->rows && !loss->least)
        return mean;
    double total = 0, least = 0;
    for (size_t i = 0; i < rows; i++) {
        const double w = weight ? weight[i] : 1;
        total += w;
        least += loss->least ? w * loss->least[first + i] : 0;
    }
    return total > 0 ? (mean - least / total) * (total / loss->total) : 0;
}

/* The part of some rows whose targets are intervals. */
static double interval_part(const struct sr_loss *loss, size_t first, size_t rows, const double *p,
                            double scale)
{
    double nearest[SR_TILE], sum = 0;
    for (size_t at = 0; at < rows; at += SR_TILE) {
        const size_t n = sr_block_at(rows, at, SR_TILE);
        sr_interval_nearest(loss->data, first + at, n, p + at, scale, nearest);
        const struct sr_vec_loss of = {.kind = loss->kind,
                                       .t = nearest,
                                       .weight = loss->weight ? loss->weight + first + at : NULL};
        sum += sr_vec_best()->loss(&of, p + at, scale, n);
    }
    return sum / loss->total;
}

double sr_loss_part(const struct sr_loss *loss, size_t first, size_t rows, const double *p,
                    double scale)
{
    if (loss->data->low)
        return interval_part(loss, first, rows, p, scale);
    if (loss->kind == ORR_SR_CUSTOM)
        return custom_part(loss, first, rows, p, scale);
    struct sr_vec_loss sum = sum_of(loss);
    sum.t += first;
    sum.weight = sum.weight ? sum.weight + first : NULL;
    return sr_vec_best()->loss(&sum, p, scale, rows) / loss->total;
}

double sr_loss_value(const struct sr_loss *loss, const double *p, double scale)
{
    return sr_loss_part(loss, 0, loss->data->rows, p, scale);
}

double sr_weighted_median(double *value, double *weight, size_t n)
{
    return n ? sr_vec_quantile(sr_vec_best(), value, weight, n, 0.5) : NAN;
}

/* ---- the outer scale */

/* Weighted quantile of t / p: each ratio has the weight |p| w; a share q of it lies below where p
 * is positive, and 1 - q where p is negative. */
static double best_ratio(const struct sr_loss *loss, const struct sr_vec *vec, const double *p,
                         double *scratch)
{
    const size_t n = loss->data->rows;
    const double *t = loss->data->y, *w = loss->weight;
    const double q = loss->kind == ORR_SR_QUANTILE ? loss->parameter : 0.5;
    double *ratio = scratch, *weight = scratch + n, total = 0, goal = 0;
    if (!w && loss->kind != ORR_SR_QUANTILE)
        return sr_vec_median_ratio(vec, p, t, n, scratch);
    for (size_t i = 0; i < n; i++) {
        ratio[i] = p[i] == 0.0 ? 0.0 : t[i] / p[i];
        weight[i] = fabs(p[i]) * (w ? w[i] : 1.0);
        total += weight[i];
        goal += (p[i] > 0 ? q : 1 - q) * weight[i];
    }
    return total > 0 ? sr_vec_quantile(vec, ratio, weight, n, goal / total) : NAN;
}

static double closed_form(const struct sr_loss *loss, const struct sr_vec *vec, const double *p)
{
    double sum[2];
    vec->products(p, loss->data->y, loss->weight, loss->data->rows, sum);
    return sum[0] > 0 && isfinite(sum[0]) ? sum[1] / sum[0] : 0;
}

/* The first and second derivative of the sum of losses by the scale, up to a common factor. */
static void slopes_at(const struct sr_loss *loss, const struct sr_vec *vec, const double *p,
                      double scale, double slope[2])
{
    const struct sr_data *data = loss->data;
    const struct sr_vec_loss sum = sum_of(loss);
    if (!data->low) {
        vec->slopes(&sum, p, scale, data->rows, slope);
        return;
    }
    slope[0] = slope[1] = 0;
    for (size_t i = 0; i < data->rows; i++) {
        const double at = scale * p[i], w = loss->weight ? loss->weight[i] : 1;
        const double off = at - fmin(fmax(at, data->low[i]), data->high[i]);
        slope[0] += w * p[i] * off;
        slope[1] += fabs(off) > 0 ? w * p[i] * p[i] : 0;
    }
}

/* The root of the derivative, which increases with the scale. Newton steps within a bracket that is
 * first doubled until it contains the root, and bisected where a step leaves it. */
static double newton_scale(const struct sr_loss *loss, const struct sr_vec *vec, const double *p,
                           double scale)
{
    enum { STEPS = 100 };
    double low = -HUGE_VAL, high = HUGE_VAL, slope[2], reach = fmax(fabs(scale), DBL_MIN);
    for (int step = 0; step < STEPS; step++) {
        slopes_at(loss, vec, p, scale, slope);
        if (!(fabs(slope[0]) > 0))
            break;
        if (slope[0] > 0)
            high = scale;
        else
            low = scale;
        double next = scale - slope[0] / slope[1];
        if (next >= scale && next <= scale) /* the step is below the last digit */
            break;
        if (!(next > low && next < high)) {
            reach *= 2;
            next = isinf(low) ? high - reach : isinf(high) ? low + reach : low + 0.5 * (high - low);
        }
        const double moved = fabs(next - scale);
        scale = next;
        if (moved <= 1e-12 * fabs(scale))
            break;
    }
    return scale;
}

/* The scale that makes the mean deviance of counts, or of relative deviations, smallest. */
static double deviance_scale(const struct sr_loss *loss, const double *p)
{
    const double *t = loss->data->y;
    double above = 0, below = 0;
    for (size_t i = 0; i < loss->data->rows; i++) {
        const double w = sr_row_weight(loss->data, i);
        above += loss->kind == ORR_SR_GAMMA && w > 0 ? w * (t[i] / p[i]) : w * t[i];
        below += loss->kind == ORR_SR_GAMMA ? w : w * p[i];
    }
    return above / below;
}

/* A scale of probabilities from which steps begin: that of their sum, but none of them above 1. */
static double probable_scale(const struct sr_loss *loss, const double *p)
{
    const double inside = 0.999, scale = deviance_scale(loss, p);
    double most = 0;
    for (size_t i = 0; i < loss->data->rows; i++)
        most = fmax(most, scale * p[i]);
    return most > inside ? scale * (inside / most) : scale;
}

/* Iteratively re-weighted least squares, for a loss without a closed form, user-defined or of
 * probabilities: continues as long as the loss falls. */
static double weighted_scale(const struct sr_loss *loss, const struct sr_vec *vec, const double *p,
                             double *weight)
{
    const size_t n = loss->data->rows;
    const double *t = loss->data->y, *own = loss->data->weight;
    const bool custom = loss->kind == ORR_SR_CUSTOM;
    double scale = custom ? closed_form(loss, vec, p) : probable_scale(loss, p);
    double value = sr_loss_value(loss, p, scale);
    for (int step = 0; step < 8; step++) {
        double above = 0, below = 0;
        if (custom)
            sr_custom_loss_weights(loss->data->language, n, p, t, scale, weight);
        for (size_t i = 0; i < n; i++) {
            const double of_loss =
                custom ? weight[i] : sr_deviance_weight(loss->kind, scale * p[i]);
            const double w = of_loss * (own ? own[i] : 1);
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
    const struct sr_vec *vec = sr_vec_best();
    double scale;
    if (loss->kind == ORR_SR_CUSTOM || loss->kind == ORR_SR_BERNOULLI)
        scale = weighted_scale(loss, vec, p, scratch);
    else if (sr_loss_is_deviance(loss->kind))
        scale = deviance_scale(loss, p);
    else if (loss->kind == ORR_SR_L2 || is_smooth(loss))
        scale = closed_form(loss, vec, p);
    else
        scale = best_ratio(loss, vec, p, scratch);
    if ((is_smooth(loss) || loss->data->low) && scale != 0)
        scale = newton_scale(loss, vec, p, scale);
    return isfinite(scale) ? scale : 0;
}

/* ---- set-up */

/* Median |y| (unweighted), else mean |y|, else 1; size (rows) is overwritten. */
static double typical_size(const struct sr_data *data, double *size)
{
    const size_t n = data->rows;
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        size[i] = fabs(data->y[i]);
        total += size[i];
    }
    if (n)
        orr_select(size, n, (n - 1) / 2);
    if (n && size[(n - 1) / 2] > 0)
        return size[(n - 1) / 2];
    return total > 0 ? total / (double)n : 1;
}

/* Whether the best constant is a quantile, which orders the rows. */
static bool has_quantile(enum orr_symreg_loss kind)
{
    return !sr_loss_of_squares(kind);
}

/* The best constant of a loss of absolute values: sr_loss_scale() of predictions 1, with fewer
 * arrays. work: (2, rows) */
static double best_quantile(const struct sr_loss *loss, double *work)
{
    const size_t n = loss->data->rows;
    const double q = loss->kind == ORR_SR_QUANTILE ? loss->parameter : 0.5;
    double *const value = work, *const weight = work + n, total = 0, goal = 0;
    for (size_t i = 0; i < n; i++) {
        value[i] = loss->data->y[i];
        weight[i] = loss->weight ? loss->weight[i] : 1;
        total += weight[i];
        goal += q * weight[i];
    }
    const double constant =
        total > 0 ? sr_vec_quantile(sr_vec_best(), value, weight, n, goal / total) : NAN;
    return isfinite(constant) ? constant : 0;
}

/* The loss of the best constant. work: (rows), or (2, rows) for quantiles and user-defined
 * losses. */
static double constant_loss(const struct sr_loss *loss, double *work)
{
    const size_t n = loss->data->rows;
    double constant = has_quantile(loss->kind) ? best_quantile(loss, work) : 0;
    sr_fill(work, n, 1);
    if (!has_quantile(loss->kind)) /* scratch is for user-defined losses */
        constant = sr_loss_scale(loss, work, work + n);
    return sr_loss_value(loss, work, constant);
}

/* Of a user-defined loss: at predictions that are off by rounding, and of differences from its
 * values at p = t. */
static double custom_rounding(const struct sr_loss *loss, double eps)
{
    const struct sr_data *data = loss->data;
    double mean = 0, size = 0;
    const double off = sr_custom_loss(data->language, data->rows, data->y, data->y, NULL, 1 + eps);
    for (size_t i = 0; i < data->rows && loss->least; i++) {
        mean += loss->least[i] / (double)data->rows;
        size += fabs(loss->least[i]) / (double)data->rows;
    }
    return loss->least ? fmax(off - mean, eps * size) : off;
}

/* The loss of an exact formula that rounding alone causes. */
static double rounding_loss(const struct sr_loss *loss)
{
    const size_t n = loss->data->rows;
    const double eps = 16 * DBL_EPSILON;
    double mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        const double share = sr_row_weight(loss->data, i) / loss->total;
        mean += share * fabs(loss->data->y[i]);
        square += share * loss->data->y[i] * loss->data->y[i];
    }
    if (loss->kind == ORR_SR_L2 || is_smooth(loss))
        return eps * eps * square;
    if (loss->kind == ORR_SR_CUSTOM)
        return custom_rounding(loss, eps);
    if (sr_loss_is_deviance(loss->kind))
        return eps * eps * (loss->kind == ORR_SR_POISSON ? mean : 1);
    return loss->kind == ORR_SR_RELATIVE ? eps : eps * mean;
}

static int check_loss(enum orr_symreg_loss kind, double parameter, const struct sr_data *data,
                      double *total)
{
    const bool bends = kind == ORR_SR_HUBER || kind == ORR_SR_LOGCOSH;
    if (bends && !(parameter > 0 && isfinite(parameter)))
        return ORR_FAIL(ORR_EINVAL, "symreg.loss_parameter: expected a positive number, found %g",
                        parameter);
    if (kind == ORR_SR_QUANTILE && !(parameter > 0 && parameter < 1))
        return ORR_FAIL(ORR_EINVAL,
                        "symreg.loss_parameter: expected a quantile in (0, 1), found %g",
                        parameter);
    if (kind == ORR_SR_CUSTOM && !(data->language && data->language->loss.count))
        return ORR_FAIL(ORR_EINVAL, "loss: the language has no loss of its own");
    if (data->low && kind != ORR_SR_L2)
        return ORR_FAIL(ORR_EINVAL, "loss: targets that are intervals need the loss l2");
    *total = data->weight ? 0 : (double)data->rows;
    for (size_t i = 0; i < data->rows && data->weight; i++) {
        if (!(data->weight[i] >= 0 && isfinite(data->weight[i])))
            return ORR_FAIL(ORR_EINVAL, "weight of row %zu: expected >= 0 and finite, found %g",
                            i + 1, data->weight[i]);
        *total += data->weight[i];
    }
    if (!(*total > 0) && data->rows)
        return ORR_FAIL(ORR_EINVAL, "weights: expected a positive sum, found %g", *total);
    return 0;
}

static bool is_repeated(const struct sr_data *data, size_t row)
{
    for (size_t i = 0; i < row; i++) {
        bool same = sr_row_weight(data, i) > 0;
        for (int f = 0; f < data->features && same; f++) {
            const double *x = data->x + (size_t)f * data->rows;
            same = x[i] >= x[row] && x[i] <= x[row];
        }
        if (same)
            return true;
    }
    return false;
}

/* Counts different rows of positive weight. */
static size_t count_cases(const struct sr_data *data)
{
    enum { COMPARED = 256 };
    size_t cases = 0;
    for (size_t i = 0; i < data->rows; i++)
        cases += sr_row_weight(data, i) > 0 && !(data->rows <= COMPARED && is_repeated(data, i));
    return cases;
}

double sr_weights_level(double *weight, size_t rows)
{
    double total = 0;
    for (size_t i = 0; i < rows; i++)
        total += weight[i] / (double)rows;
    for (size_t i = 0; i < rows; i++)
        weight[i] /= total;
    return total;
}

bool sr_loss_decides(const struct sr_loss *loss, const struct sr_expr *expr)
{
    return (size_t)sr_expr_constants(expr, NULL) + 2 <= loss->cases;
}

/* What a user-defined loss is at p = t in each row; NULL where it is 0 in all, or not finite. */
static int find_least(struct sr_loss *loss)
{
    const struct sr_data *data = loss->data;
    bool any = false;
    loss->least = orr_alloc(data->rows, sizeof *loss->least);
    if (!loss->least)
        return ORR_ENOMEM;
    const size_t known = sr_custom_loss_least(data->language, data->rows, data->y, loss->least);
    for (size_t i = 0; i < known; i++)
        any = any || fabs(loss->least[i]) > 0;
    if (any && known == data->rows)
        return 0;
    free(loss->least);
    loss->least = NULL;
    return 0;
}

int sr_loss_init_with(struct sr_loss *loss, enum orr_symreg_loss kind, double parameter,
                      const struct sr_data *data)
{
    const size_t n = data->rows;
    const bool weighs = kind == ORR_SR_RELATIVE || data->weight;
    *loss = (struct sr_loss){.kind = kind, .data = data, .parameter = parameter};
    TRY(check_loss(kind, parameter, data, &loss->total));
    const size_t columns = has_quantile(kind) || kind == ORR_SR_CUSTOM ? 2 : 1;
    double *scratch = orr_alloc_unset(columns * n, sizeof *scratch);
    loss->weight = weighs ? orr_alloc(n, sizeof *loss->weight) : NULL;
    if (!scratch || (weighs && !loss->weight)) {
        free(scratch);
        sr_loss_free(loss);
        return ORR_ENOMEM;
    }
    const int unknown = kind == ORR_SR_CUSTOM ? find_least(loss) : 0;
    if (unknown) {
        free(scratch);
        sr_loss_free(loss);
        return unknown;
    }
    loss->cases = count_cases(data);
    loss->unit = typical_size(data, scratch);
    if (is_smooth(loss))
        loss->parameter *= loss->unit;
    for (size_t i = 0; i < n && weighs; i++) {
        loss->weight[i] = sr_row_weight(data, i);
        if (kind == ORR_SR_RELATIVE)
            loss->weight[i] /= fabs(data->y[i]) > SR_NO_SIZE ? fabs(data->y[i]) : loss->unit;
    }
    loss->base = constant_loss(loss, scratch);
    loss->noise = rounding_loss(loss);
    free(scratch);
    const int failed = sr_columns_init(loss);
    if (failed)
        sr_loss_free(loss);
    return failed;
}

int sr_loss_init_like(struct sr_loss *loss, const struct sr_loss *like, const struct sr_data *data)
{
    return sr_loss_init_with(
        loss, like->kind, is_smooth(like) ? like->parameter / like->unit : like->parameter, data);
}

int sr_loss_init(struct sr_loss *loss, enum orr_symreg_loss kind, const struct sr_data *data)
{
    return sr_loss_init_with(loss, kind, 0.5, data);
}

void sr_loss_free(struct sr_loss *loss)
{
    free(loss->weight);
    free(loss->least);
    loss->weight = loss->least = NULL;
    sr_columns_free(loss);
}

int sr_deviance_check(enum orr_symreg_loss kind, const struct sr_data *data, const char *file,
                      const size_t *line, const char *column)
{
    const bool positive = kind == ORR_SR_GAMMA;
    const double most = kind == ORR_SR_BERNOULLI ? 1 : HUGE_VAL;
    char number[SR_NUMBER];
    for (size_t i = 0; i < data->rows && sr_loss_is_deviance(kind); i++) {
        const double t = data->y[i];
        if ((positive ? t > 0 : t >= 0) && t <= most)
            continue;
        sr_number_print(t, number);
        return ORR_FAIL(ORR_EUSAGE,
                        "%s%s--loss %s: expected targets %s, found %s in %s %zu of \"%s\"",
                        file ? file : "", file ? ": " : "",
                        kind == ORR_SR_POISSON ? "poisson"
                        : positive             ? "gamma"
                                               : "bernoulli",
                        positive   ? "above 0"
                        : most > 1 ? "of at least 0"
                                   : "from 0 to 1",
                        number, line && line[0] ? "line" : "row", line ? line[i] : i + 1, column);
    }
    return 0;
}
