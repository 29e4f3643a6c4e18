/* single_row.c - poles and peaks at a single row that is far off from simpler formulas. */
#include "select.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

/* Rows this unlikely in normal noise are far off. */
static const double unlikely = 1e-3;
/* A formula is steep at a row if a step of this many standard deviations of a column takes away
 * this share of what it explains there. */
static const double step = 0.01, taken_away = 0.5;

/* The square of a deviation, in the weights of the loss. */
static double square_at(const struct sr_loss *loss, const double *value, size_t i)
{
    const double d = value[i] - loss->data->y[i], w = loss->weight ? loss->weight[i] : 1;
    const bool of_deviations = loss->kind == ORR_SR_L1 || loss->kind == ORR_SR_QUANTILE ||
                               loss->kind == ORR_SR_RELATIVE || loss->kind == ORR_SR_STUDY;
    return w * d * d * (of_deviations ? w : 1);
}

/* The row with the largest deviation if it is far off, else rows: its square is compared with the
 * others', in Student's distribution, for the largest of `count` rows. */
static size_t find_far(const struct sr_loss *loss, const double *value, size_t count)
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
    const double freedom = (double)count - 1;
    if (count < 3 || !(total < HUGE_VAL) || !(most > 0))
        return rows;
    const double t = sqrt(freedom * most / fmax(total - most, DBL_MIN));
    return 2 * (double)count * gsl_cdf_tdist_Q(t, freedom) < unlikely ? far : rows;
}

/* ln of the loss, and of that in which row i has no residual. */
static double log_loss(const struct sr_loss *loss, double *value, size_t i)
{
    const double kept = i < loss->data->rows ? value[i] : 0;
    if (i < loss->data->rows)
        value[i] = loss->data->y[i];
    const double log = orr_log(fmax(sr_loss_value(loss, value, 1), fmax(loss->noise, DBL_MIN)));
    if (i < loss->data->rows)
        value[i] = kept;
    return log;
}

static double deviation_of(const double *x, size_t rows)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < rows; i++)
        mean += x[i] / (double)rows;
    for (size_t i = 0; i < rows; i++)
        square += (x[i] - mean) * (x[i] - mean) / (double)rows;
    return sqrt(square);
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
        const double at = x[f][0];
        const double by = step * deviation_of(data->x + (size_t)f * data->rows, data->rows);
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

double sr_single_row_gain(const struct sr_loss *loss, size_t rows, double *before,
                          const struct sr_expr *expr, double *value)
{
    const size_t all = loss->data->rows, far = find_far(loss, before, rows);
    if (far == all)
        return 0;
    if (square_at(loss, value, far) > square_at(loss, before, far) / 4)
        return 0;
    const double gain = log_loss(loss, before, all) - log_loss(loss, value, all),
                 kept = log_loss(loss, before, far) - log_loss(loss, value, far);
    return kept < gain / 2 && is_steep(loss->data, expr, far, value[far], before[far]) ? gain - kept
                                                                                       : 0;
}

int sr_front_discount_row(struct sr_front *front, const struct sr_loss *loss)
{
    double *value = orr_alloc(2 * loss->data->rows, sizeof *value);
    double *before = value + loss->data->rows, *const memory = value;
    bool any = false;
    if (!value)
        return ORR_ENOMEM;
    for (int i = 0; i < front->count; i++) {
        if (!sr_eval(&front->expr[i], loss->data, value))
            continue;
        if (any)
            front->alone[i] = sr_single_row_gain(loss, front->rows, before, &front->expr[i], value);
        if (front->alone[i] <= 0) {
            double *const swapped = before;
            before = value;
            value = swapped;
            any = true;
        }
    }
    free(memory);
    return 0;
}
