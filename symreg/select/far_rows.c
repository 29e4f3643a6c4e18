/* far_rows.c - rows that are far from a formula or from each other, whatever the scales of the
 * columns. */
#include "select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "base/statistics.h"

/* Rows of smaller and of larger predictions that give a residual its scale. */
enum { BESIDE = 10 };
static const double far_scales = 8; /* 1 in 1e15 normal residuals, 3 in 1e4 of Laplace's */
static const double most_beside = 1. / 3;

int sr_ranks_make(const struct sr_data *data, double *rank)
{
    const size_t n = data->rows;
    size_t *order = orr_alloc(n, sizeof *order);
    if (!order)
        return ORR_ENOMEM;
    for (int f = 0; f < data->features; f++) {
        gsl_sort_index(order, data->x + (size_t)f * n, 1, n);
        for (size_t i = 0; i < n; i++)
            rank[(size_t)f * n + order[i]] = (double)i;
    }
    free(order);
    return 0;
}

void sr_ranks_nearest(const double *rank, const struct sr_data *data, size_t i, size_t count,
                      size_t *near)
{
    double square[SR_NEAREST];
    size_t found = 0;
    for (size_t j = 0; j < data->rows; j++) {
        double d = 0;
        for (int f = 0; f < data->features; f++) {
            const double step = rank[(size_t)f * data->rows + i] - rank[(size_t)f * data->rows + j];
            d += step * step;
        }
        if (j == i || (found == count && d >= square[count - 1]))
            continue;
        found += found < count;
        size_t at = found - 1;
        for (; at > 0 && square[at - 1] > d; at--) {
            square[at] = square[at - 1];
            near[at] = near[at - 1];
        }
        square[at] = d;
        near[at] = j;
    }
}

double sr_far_scale(const struct sr_data *data, const struct sr_expr *expr, double *residual,
                    double *work)
{
    const size_t n = data->rows, constants = (size_t)sr_expr_constants(expr, NULL);
    if (n < 2 * constants + 2 || !sr_eval(expr, data, residual))
        return HUGE_VAL;
    for (size_t i = 0; i < n; i++) {
        residual[i] -= data->y[i];
        work[i] = fabs(residual[i]);
    }
    return SR_NORMAL_SCALE * orr_median(work, n) * sqrt((double)n / (double)(n - constants));
}

int sr_far_mark(const struct sr_data *data, const double *residual, double finest, bool *far,
                size_t *count)
{
    const size_t n = data->rows;
    double *value = orr_alloc(n, sizeof *value), beside[2 * BESIDE + 1], size[2 * BESIDE + 1];
    size_t *order = orr_alloc(n, sizeof *order);
    const bool there = value && order;
    *count = 0;
    for (size_t i = 0; i < n && there; i++)
        value[i] = residual[i] + data->y[i];
    if (there)
        gsl_sort_index(order, value, 1, n);
    for (size_t k = 0; k < n && there; k++) {
        const size_t most = n < 2 * BESIDE + 1 ? n : 2 * BESIDE + 1, from = k < BESIDE ? 0
                                                                            : k + BESIDE >= n
                                                                                ? n - most
                                                                                : k - BESIDE;
        for (size_t b = 0; b < most; b++) {
            beside[b] = fabs(residual[order[from + b]]);
            size[b] = fabs(value[order[from + b]]);
        }
        /* at the ends a row may be larger than all others, and its noise with it */
        const double own = fabs(value[order[k]]), middle = orr_median(size, most);
        const double larger = own > middle && middle > 0 ? own / middle : 1;
        const double scale = fmax(SR_NORMAL_SCALE * orr_median(beside, most) * larger, finest);
        far[order[k]] = fabs(residual[order[k]]) > far_scales * scale;
        *count += far[order[k]];
    }
    free(value);
    free(order);
    return there ? 0 : ORR_ENOMEM;
}

/* Whether a marked row lies outside of what the others span in some column, by more than they
 * span. */
static bool is_outside(const struct sr_data *data, const bool *far, size_t row)
{
    for (int f = 0; f < data->features; f++) {
        const double *x = data->x + (size_t)f * data->rows;
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (size_t i = 0; i < data->rows; i++) {
            low = far[i] ? low : fmin(low, x[i]);
            high = far[i] ? high : fmax(high, x[i]);
        }
        if (x[row] > high + (high - low) || x[row] < low - (high - low))
            return true;
    }
    return false;
}

int sr_far_alone(const struct sr_data *data, const bool *far, size_t count, bool *alone)
{
    double *rank = orr_alloc((size_t)data->features * data->rows, sizeof *rank);
    size_t beside = 0, inside = 0, near[1];
    int rc = rank ? sr_ranks_make(data, rank) : ORR_ENOMEM;
    for (size_t i = 0; i < data->rows && !rc; i++) {
        if (!far[i] || is_outside(data, far, i))
            continue;
        inside++;
        sr_ranks_nearest(rank, data, i, 1, near);
        beside += far[near[0]];
    }
    *alone = (double)beside <= most_beside * (double)count &&
             (!inside || data->features <= SR_NEAR_COLUMNS);
    free(rank);
    return rc;
}
