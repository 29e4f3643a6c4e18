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

/* The row at which a formula of the front has a pole or a peak; rows: none. value: (rows) work
 * array */
static size_t find_row(const struct sr_front *front, const struct sr_loss *loss, double *value)
{
    const size_t none = loss->data->rows;
    const double count = (double)front->rows,
                 limit = sr_interval_factor(1 - unlikely / count, count - 1);
    for (int i = 1; i < front->count; i++) {
        if (!sr_eval(&front->expr[i - 1], loss->data, value))
            continue;
        const size_t far = find_far(loss, value, front->rows, limit);
        if (far < none && is_pole(front, i, loss, far, value))
            return far;
    }
    return none;
}

/* The losses without the row, for which the constants are fitted again: they were fitted to the row
 * as well. weight: (rows) work array */
static int compare_without(struct sr_front *front, const struct sr_loss *loss, size_t row,
                           double *weight)
{
    struct sr_data others = *loss->data;
    struct sr_loss without;
    struct sr_work work = {0};
    for (size_t i = 0; i < others.rows; i++)
        weight[i] = i == row ? 0 : sr_row_weight(loss->data, i);
    others.weight = weight;
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
    double *work = orr_alloc_unset(rows, sizeof *work);
    if (!work)
        return ORR_ENOMEM;
    const size_t row = find_row(front, loss, work);
    front->without = row < rows ? row + 1 : 0;
    const int rc = front->without ? compare_without(front, loss, row, work) : 0;
    free(work);
    return rc;
}
