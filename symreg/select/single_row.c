/* single_row.c - formulas with a pole or a peak at a single row that is far off from simpler
 * ones. */
#include "select.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_statistics_double.h>

enum { FIT_STEPS = 40 };
/* The largest of the residuals is far off where it is this unlikely in normal noise. */
static const double unlikely = 1e-3;
/* A formula is steep at a row if a step of this many standard deviations of a column takes away
 * this share of what it explains there. */
static const double step = 0.01, taken_away = 0.5;

/* The square of a deviation, in the weights of the loss, and in units of a count's variance. */
static double square_at(const struct sr_loss *loss, const double *value, size_t i)
{
    const double d = value[i] - loss->data->y[i], own = loss->weight ? loss->weight[i] : 1;
    const double w =
        sr_loss_is_deviance(loss->kind) ? own * sr_deviance_weight(loss->kind, value[i]) : own;
    return w * d * d * (sr_loss_of_squares(loss->kind) ? 1 : w);
}

/* The row with the largest deviation, if that is above `limit` in units of the others' rms; else
 * rows. */
static size_t find_far(const struct sr_loss *loss, const double *value, size_t count, double limit)
{
    const size_t rows = loss->data->rows;
    double most = 0, total = 0;
    size_t far = rows;
    for (size_t i = 0; i < rows; i++) {
        const double square = square_at(loss, value, i);
        total += square;
        if (square > most) {
            most = square;
            far = i;
        }
    }
    if (count < 3 || !(total < HUGE_VAL) || !(most > 0))
        return rows;
    const double others = fmax(total - most, DBL_MIN);
    return sqrt(((double)count - 1) * (most / others)) > limit ? far : rows;
}

double sr_loss_without(const struct sr_loss *loss, double *value, size_t row)
{
    const double kept = value[row];
    value[row] = loss->data->y[row];
    const double without = sr_loss_value(loss, value, 1);
    value[row] = kept;
    return without;
}

static double log_of(const struct sr_loss *loss, double value)
{
    return orr_log(fmax(value, fmax(loss->noise, DBL_MIN)));
}

/* Whether a step in any column takes away what `expr` explains at the row, where it has `value` and
 * simpler formulas have `before`. */
static bool is_steep(const struct sr_data *data, const struct sr_expr *expr, size_t row,
                     double value, double before)
{
    double x[SR_FEATURES][2], moved[2];
    const struct sr_data near = {
        .language = data->language, .rows = 2, .features = data->features, .x = *x, .y = moved};
    for (int f = 0; f < data->features; f++)
        x[f][0] = x[f][1] = data->x[(size_t)f * data->rows + row];
    for (int f = 0; f < data->features; f++) {
        const double at = x[f][0], *const column = data->x + (size_t)f * data->rows;
        const double mean = gsl_stats_mean(column, 1, data->rows);
        const double by = step * gsl_stats_sd_with_fixed_mean(column, 1, data->rows, mean);
        x[f][0] = at - by;
        x[f][1] = at + by;
        const bool there = sr_eval(expr, &near, moved);
        const double change = fmax(fabs(moved[0] - value), fabs(moved[1] - value));
        if (!there || !(change < taken_away * fabs(value - before)))
            return true;
        x[f][0] = x[f][1] = at;
    }
    return false;
}

/* The smallest loss without a row of the first `count` formulas of a front. */
static double least_without(const struct sr_front *front, int count, const struct sr_loss *loss,
                            size_t row, double *value)
{
    double least = HUGE_VAL;
    for (int i = 0; i < count; i++)
        if (sr_eval(&front->expr[i], loss->data, value))
            least = fmin(least, sr_loss_without(loss, value, row));
    return least;
}

/* Whether formula i of the front has a pole or a peak at row `far`. `value` has the values of the
 * formula before, and is overwritten. */
static bool is_pole(const struct sr_front *front, int i, const struct sr_loss *loss, size_t far,
                    double *value)
{
    const double before = value[far], square = square_at(loss, value, far),
                 loss_before = sr_loss_value(loss, value, 1);
    if (!sr_eval(&front->expr[i], loss->data, value) || square_at(loss, value, far) > square / 4 ||
        !is_steep(loss->data, &front->expr[i], far, value[far], before))
        return false;
    const double gain = log_of(loss, loss_before) - log_of(loss, sr_loss_value(loss, value, 1)),
                 rest = log_of(loss, sr_loss_without(loss, value, far)),
                 kept = log_of(loss, least_without(front, i, loss, far, value)) - rest;
    return kept < gain / 2;
}

/* The table without the row. weight: (rows) storage of its weights */
static struct sr_data without_row(const struct sr_data *data, size_t row, double *weight)
{
    struct sr_data others = *data;
    for (size_t i = 0; i < others.rows; i++)
        weight[i] = i == row ? 0 : sr_row_weight(data, i);
    others.weight = weight;
    return others;
}

/* Whether the formula stays within `most` of the row's target where any of its constants is two
 * standard errors off, as one with a pole beside the row does not, whatever its derivatives say. */
static bool is_held(const struct sr_expr *expr, const struct sr_data *row,
                    const struct sr_uncertainty *u, double most)
{
    double constant[SR_NODES], value;
    const int count = sr_expr_constants(expr, constant);
    struct sr_expr moved = *expr;
    for (int k = 0; k < 2 * count; k++) {
        const double own = constant[k / 2];
        constant[k / 2] += (k % 2 ? 2 : -2) * sqrt(u->covariance[k / 2][k / 2]);
        sr_expr_set_constants(&moved, constant);
        constant[k / 2] = own;
        if (!sr_eval(&moved, row, &value) || !(fabs(value - row->y[0]) < most))
            return false;
    }
    return true;
}

/* Whether the other rows tell what a formula has at the row, as they do of the law of a steep
 * table: the prediction from them is nearer to the row by half than `before` is, also where it is
 * two standard errors off. A formula whose loss without the row exceeds `most` tells nothing of it.
 * weight: (rows) work array */
static int is_predicted(const struct sr_expr *expr, const struct sr_loss *loss, size_t row,
                        double before, double most, double *weight, bool *predicted)
{
    const struct sr_data *data = loss->data;
    const struct sr_data others = without_row(data, row, weight);
    const double y = data->y[row];
    struct sr_expr fitted = *expr, fixed;
    int place[SR_NODES];
    struct sr_uncertainty u;
    struct sr_loss without;
    struct sr_work work = {0};
    double x[SR_FEATURES], value, jacobian[SR_NODES], variance;
    struct sr_data one = {.rows = 1, .features = data->features, .language = data->language};
    *predicted = false;
    if (loss->kind != ORR_SR_L2)
        return 0;
    TRY(sr_loss_init_with(&without, loss->kind, loss->parameter, &others));
    int rc = sr_work_init(&work, sr_block_rows(&others), 2 * sr_expr_constants(expr, NULL) + 2);
    rc = rc ? rc : sr_constants_uncertainty(expr, &others, 0, &u);
    if (!rc && sr_is_singular(&u) && sr_fix_ones(expr, &fixed, place)) /* 1 / (a x + b) */
        fitted = fixed;
    const double least =
        rc ? HUGE_VAL : sr_constants_fit(&without, &fitted, false, FIT_STEPS, 0, NULL, &work);
    rc = rc ? rc : sr_constants_uncertainty(&fitted, &others, 0, &u);
    for (int f = 0; f < data->features; f++)
        x[f] = data->x[(size_t)f * data->rows + row];
    one.x = x;
    one.y = &y;
    if (!rc && least <= most && sr_predict_variance(&fitted, &one, &u, &value, jacobian, &variance))
        *predicted = fabs(value - y) + 2 * sqrt(variance) < 0.5 * fabs(before - y) &&
                     is_held(&fitted, &one, &u, 0.5 * fabs(before - y));
    sr_work_free(&work);
    sr_loss_free(&without);
    return rc;
}

/* The row at which a formula of the front has a pole or a peak; rows: none. work: (2 rows) */
static int find_row(const struct sr_front *front, const struct sr_loss *loss, double *work,
                    size_t *row)
{
    const size_t none = loss->data->rows;
    const double count = (double)front->rows,
                 limit = sr_interval_factor(1 - unlikely / count, count - 1);
    double *const value = work, *const weight = work + none;
    *row = none;
    for (int i = 1; i < front->count; i++) {
        if (!sr_eval(&front->expr[i - 1], loss->data, value))
            continue;
        const size_t far = find_far(loss, value, front->rows, limit);
        const double before = far < none ? value[far] : 0;
        bool predicted = false;
        if (far == none || !is_pole(front, i, loss, far, value))
            continue;
        const double least = least_without(front, front->count, loss, far, value),
                     most = fmax(2 * least * count / (count - 1), loss->noise);
        for (int j = i; j < front->count; j++) {
            TRY(is_predicted(&front->expr[j], loss, far, before, most, weight, &predicted));
            if (predicted)
                break;
        }
        if (predicted)
            continue;
        *row = far;
        return 0;
    }
    return 0;
}

/* The losses without the row, for which the constants are fitted again: they were fitted to the row
 * as well. weight: (rows) work array */
static int compare_without(struct sr_front *front, const struct sr_loss *loss, size_t row,
                           double *weight)
{
    const struct sr_data others = without_row(loss->data, row, weight);
    struct sr_loss without;
    struct sr_work work = {0};
    TRY(sr_loss_init_with(&without, loss->kind, loss->parameter, &others));
    const int rc = sr_work_init(&work, sr_block_rows(&others), 2 * sr_front_constants(front) + 2);
    for (int i = 0; i < front->count && !rc; i++) {
        struct sr_expr expr = front->expr[i];
        const double least = sr_constants_fit(&without, &expr, false, FIT_STEPS, 0, NULL, &work);
        double with;
        if (front->loss[i] > 0 &&
            sr_eval_parts(&front->expr[i], loss, 1, work.rows, work.value, &with, NULL))
            front->compared[i] = least > without.noise ? front->loss[i] * (least / with) : 0;
    }
    sr_work_free(&work);
    sr_loss_free(&without);
    return rc;
}

int sr_front_find_pole(struct sr_front *front, const struct sr_loss *loss)
{
    const size_t rows = loss->data->rows;
    double *work = orr_alloc_unset(2 * rows, sizeof *work);
    size_t row;
    if (!work)
        return ORR_ENOMEM;
    int rc = find_row(front, loss, work, &row);
    front->without = !rc && row < rows ? row + 1 : 0;
    if (front->without)
        rc = compare_without(front, loss, row, work);
    free(work);
    return rc;
}
