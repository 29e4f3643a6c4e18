/* single_row.c - what a single row far off adds to the losses of a front. */
#include "select.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

/* Rows this unlikely in normal noise are far off. */
static const double unlikely = 1e-3;

/* The row with the largest residual if it is far off, else rows: its square is compared with the
 * others', in Student's distribution, for the largest of `count` rows. */
static size_t find_far(const struct sr_data *data, const double *value, size_t count)
{
    double most = 0, total = 0;
    size_t far = data->rows;
    for (size_t i = 0; i < data->rows; i++) {
        const double d = value[i] - data->y[i], square = sr_row_weight(data, i) * d * d;
        total += square;
        if (square > most) {
            most = square;
            far = i;
        }
    }
    const double freedom = (double)count - 1;
    if (count < 3 || !(total < HUGE_VAL) || !(most > 0))
        return data->rows;
    const double t = sqrt(freedom * most / fmax(total - most, DBL_MIN));
    return 2 * (double)count * gsl_cdf_tdist_Q(t, freedom) < unlikely ? far : data->rows;
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

int sr_front_discount_row(struct sr_front *front, const struct sr_loss *loss)
{
    const size_t all = loss->data->rows;
    double *value = orr_alloc(2 * all, sizeof *value), *before = value + all;
    double *const memory = value;
    bool any = false;
    if (!value)
        return ORR_ENOMEM;
    for (int i = 0; i < front->count; i++) {
        if (!sr_eval(&front->expr[i], loss->data, value))
            continue;
        const size_t far = any ? find_far(loss->data, before, front->rows) : all;
        if (far < all) {
            const double gain = log_loss(loss, before, all) - log_loss(loss, value, all),
                         kept = log_loss(loss, before, far) - log_loss(loss, value, far);
            front->alone[i] = kept < gain / 2 ? gain - kept : 0;
        }
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
