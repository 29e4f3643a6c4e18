/* closest_points.c - tables with errors in x: the points of a formula that are closest to the rows.
 * */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"

enum { STEPS = 40 };
static const double settled = 1e-13; /* a relative gain below which a row stays */

/* The search for the closest points, all rows at once. The distance of a row is
 * w (y - f(x + d))^2 + sum over the columns of d^2 / v. */
struct search {
    const struct sr_expr *expr;
    const struct sr_data *data;
    double scale;
    size_t rows, cells; /* cells: of all columns */
    /* (features, rows) the points and the slopes there, of the best so far and of a trial */
    double *x, *slope, *trial_x, *trial_slope;
    /* (rows) values and distances likewise; the share of a full step, 0 for a row that stays */
    double *value, *distance, *trial_value, *share;
};

/* Values and slopes of the scaled formula at points. */
static bool measure(const struct search *s, const double *x, double *value, double *slope)
{
    struct sr_data at = *s->data;
    at.x = x;
    if (!sr_eval_slopes(s->expr, &at, value, slope))
        return false;
    for (size_t i = 0; i < s->rows && s->scale != 1; i++)
        value[i] *= s->scale;
    for (size_t i = 0; i < s->cells && s->scale != 1; i++)
        slope[i] *= s->scale;
    return true;
}

static double distance_of(const struct search *s, size_t i, const double *x, double value)
{
    const struct sr_data *data = s->data;
    const double d = value - data->y[i];
    double sum = sr_row_weight(data, i) * d * d;
    for (size_t at = i; at < s->cells; at += s->rows)
        if (data->x_variance[at] > 0)
            sum += (x[at] - data->x[at]) * (x[at] - data->x[at]) / data->x_variance[at];
    return sum;
}

/* The residual of row i, y extrapolated along the tangent to the measured x, and the variance of
 * it; 0 where the row has no weight. */
static double tangent_of(const struct search *s, size_t i, double *residual)
{
    const struct sr_data *data = s->data;
    const double weight = sr_row_weight(data, i);
    double variance = weight > 0 ? 1 / weight : 0;
    *residual = data->y[i] - s->value[i];
    for (size_t at = i; at < s->cells && weight > 0; at += s->rows) {
        *residual += s->slope[at] * (s->x[at] - data->x[at]);
        variance += s->slope[at] * s->slope[at] * data->x_variance[at];
    }
    return variance;
}

/* Moves the rows that do not stay by their shares of the step to the closest point of the tangent.
 * False where all stay. */
static bool propose(const struct search *s)
{
    bool any = false;
    memcpy(s->trial_x, s->x, s->cells * sizeof *s->x);
    for (size_t i = 0; i < s->rows; i++) {
        double residual;
        const double variance = s->share[i] > 0 ? tangent_of(s, i, &residual) : 0;
        if (!(variance > 0) || !isfinite(variance))
            continue;
        any = true;
        for (size_t at = i; at < s->cells; at += s->rows) {
            const double to =
                s->data->x[at] + s->data->x_variance[at] * s->slope[at] * residual / variance;
            s->trial_x[at] += s->share[i] * (to - s->x[at]);
        }
    }
    return any;
}

/* Takes the rows that have come closer; others try a quarter of the step. */
static void take(const struct search *s)
{
    for (size_t i = 0; i < s->rows; i++) {
        const double before = s->distance[i],
                     distance = s->share[i] > 0 ? distance_of(s, i, s->trial_x, s->trial_value[i])
                                                : before;
        if (!(distance < before)) {
            s->share[i] = s->share[i] > 0.01 ? s->share[i] / 4 : 0;
            continue;
        }
        for (size_t at = i; at < s->cells; at += s->rows) {
            s->x[at] = s->trial_x[at];
            s->slope[at] = s->trial_slope[at];
        }
        s->value[i] = s->trial_value[i];
        s->distance[i] = distance;
        s->share[i] = before - distance > settled * before ? 1 : 0;
    }
}

/* False where the formula is not finite at the measured x. */
static bool find_points(const struct search *s)
{
    memcpy(s->x, s->data->x, s->cells * sizeof *s->x);
    if (!measure(s, s->x, s->value, s->slope))
        return false;
    for (size_t i = 0; i < s->rows; i++) {
        s->distance[i] = distance_of(s, i, s->x, s->value[i]);
        s->share[i] = s->distance[i] > 0;
    }
    for (int k = 0; k < STEPS && propose(s); k++) {
        if (measure(s, s->trial_x, s->trial_value, s->trial_slope)) {
            take(s);
            continue;
        }
        for (size_t i = 0; i < s->rows; i++) /* some row has left where the formula is finite */
            s->share[i] = s->share[i] > 0.01 ? s->share[i] / 4 : 0;
    }
    return true;
}

bool sr_closest_make(const struct sr_expr *expr, const struct sr_data *data, double scale,
                     struct sr_closest *closest)
{
    *closest = (struct sr_closest){.data = *data, .loss = NAN, .steeper = 1};
    if (!data->x_variance)
        return true;
    const size_t rows = data->rows, cells = (size_t)data->features * rows;
    double *const block = orr_alloc_unset(4 * cells + 4 * rows, sizeof *block);
    if (!block)
        return false;
    const struct search s = {.expr = expr,
                             .data = data,
                             .scale = scale,
                             .rows = rows,
                             .cells = cells,
                             .x = block,
                             .value = block + cells,
                             .distance = block + cells + rows,
                             .trial_value = block + cells + 2 * rows,
                             .share = block + cells + 3 * rows,
                             .slope = block + cells + 4 * rows,
                             .trial_x = block + 2 * cells + 4 * rows,
                             .trial_slope = block + 3 * cells + 4 * rows};
    double sum = 0, total = 0, logs = 0, weighted = 0;
    bool ok = find_points(&s);
    for (size_t i = 0; i < rows && ok; i++) {
        double residual;
        const double variance = tangent_of(&s, i, &residual);
        sum += s.distance[i];
        total += sr_row_weight(data, i);
        weighted += variance > 0;
        logs += variance > 0 ? orr_log(variance * sr_row_weight(data, i)) : 0;
        s.trial_value[i] = s.value[i] + residual; /* y */
        s.share[i] = variance > 0 ? 1 / variance : 0;
    }
    ok = ok && isfinite(sum);
    closest->storage = block;
    closest->loss = sum / total;
    closest->steeper = orr_exp(logs / weighted);
    closest->data.x = s.x;
    closest->data.y = s.trial_value;
    closest->data.weight = s.share;
    closest->data.x_variance = NULL;
    if (!ok)
        sr_closest_free(closest);
    return ok;
}

void sr_closest_free(struct sr_closest *closest)
{
    free(closest->storage);
    *closest = (struct sr_closest){0};
}
