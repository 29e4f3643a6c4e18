/* table_digits.c - the accuracy that the digits of a table allow: a formula that deviates from the
 * rows by no more than their rounding cannot be improved. */
#include "select.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

/* Half a unit of the last digit of a column's value. */
static double half_unit(const struct sr_digits *digits, double value)
{
    if (!digits->significant)
        return 0;
    const double size = fabs(digits->logarithm ? orr_exp(value) : value);
    double last = digits->last;
    if (size > 0)
        last = fmax(last, floor(orr_log(size) / orr_log(10)) - digits->significant + 1);
    const double half = 0.5 * orr_pow(10, last);
    return digits->logarithm ? half / size : half;
}

/* error[i]: the largest change of residual i when every column of row i changes by half a unit.
 * moved (rows) and x (features, rows) are scratch. False where a node is not finite. */
static bool errors_of(const struct sr_expr *expr, const struct sr_data *data, const double *value,
                      double *error, double *moved, double *x)
{
    static const double step = 1e-6; /* relative to the feature's value */
    const size_t n = data->rows;
    struct sr_data near = *data;
    near.x = x;
    for (size_t i = 0; i < n; i++)
        error[i] =
            half_unit(&data->digits[data->features], data->y[i]) + 8 * DBL_EPSILON * fabs(value[i]);
    memcpy(x, data->x, (size_t)data->features * n * sizeof *x);
    for (int f = 0; f < data->features; f++) {
        double *column = x + (size_t)f * n;
        const double *own = data->x + (size_t)f * n;
        if (!data->digits[f].significant)
            continue;
        for (size_t i = 0; i < n; i++)
            column[i] += fmax(step * fabs(own[i]), half_unit(&data->digits[f], own[i]));
        if (!sr_eval(expr, &near, moved))
            return false;
        for (size_t i = 0; i < n; i++)
            error[i] += fabs((moved[i] - value[i]) / (column[i] - own[i])) *
                        half_unit(&data->digits[f], own[i]);
        memcpy(column, own, n * sizeof *x);
    }
    return true;
}

/* Residuals divided by these errors, over rows of positive weight: the mean square, the largest,
 * and the share of rows below 0.01. */
struct misses {
    double square, largest, tiny, rows;
};
static struct misses misses_of(const struct sr_data *data, const double *value, const double *error)
{
    struct misses m = {0};
    for (size_t i = 0; i < data->rows; i++) {
        if (!(sr_row_weight(data, i) > 0))
            continue;
        const double d = fabs(value[i] - data->y[i]);
        const double ratio = error[i] > 0 ? d / error[i] : d > 0 ? HUGE_VAL : 0;
        m.square += ratio * ratio;
        m.largest = fmax(m.largest, ratio);
        m.tiny += ratio < 0.01;
        m.rows++;
    }
    m.square /= m.rows;
    m.tiny /= m.rows;
    return m;
}

/* A rounding error is half a unit times a uniform deviate, whose mean square is 1/3; the mean over
 * n rows has the standard deviation 0.3 / sqrt(n). Errors of several columns are smaller than their
 * sum. */
static bool is_within(const struct misses *m)
{
    return m->largest <= 2 && m->square <= 1.0 / 3 + 0.9 / sqrt(m->rows);
}

/* Refits the constants so that every row counts by its rounding error. The loss may leave the last
 * digits of the constants to the few rows of largest weight. */
static int refit_constants(const struct sr_data *data, const double *error, double *weight,
                           struct sr_work *work, struct sr_expr *expr)
{
    enum { STEPS = 20 };
    struct sr_data weighted = *data;
    struct sr_loss loss;
    /* smaller errors count as this share of the largest: squares of weights stay numbers */
    const double smallest = 1e-120;
    double least = HUGE_VAL, most = 0;
    for (size_t i = 0; i < data->rows; i++) {
        least = error[i] > 0 ? fmin(least, error[i]) : least;
        most = fmax(most, error[i]);
    }
    least = fmax(least, smallest * most);
    for (size_t i = 0; i < data->rows; i++) {
        const double share = error[i] > least ? least / error[i] : 1;
        weight[i] = sr_row_weight(data, i) > 0 ? share * share : 0;
    }
    weighted.weight = weight;
    TRY(sr_loss_init_with(&loss, ORR_SR_L2, 0.5, &weighted));
    loss.noise = 0; /* loss.noise is set by the largest rows, which would hide the others */
    sr_constants_fit(&loss, expr, false, STEPS, 0, NULL, work);
    sr_loss_free(&loss);
    return 0;
}

enum { JUDGED = 4096 }; /* rows judged, evenly over the table */

struct scratch {
    struct sr_data data; /* the judged rows */
    struct sr_work work;
    double *rows, *value, *error, *moved, *x;
};

static int make_scratch(const struct sr_data *all, struct scratch *s)
{
    const size_t n = all->rows < JUDGED ? all->rows : JUDGED;
    TRY(sr_work_init(&s->work, n, SR_NODES));
    TRY(sr_rows_take(all, n, NULL, &s->data, &s->rows));
    s->data.digits = all->digits;
    s->value = orr_alloc(((size_t)all->features + 3) * n, sizeof *s->value);
    s->error = s->value + n;
    s->moved = s->error + n;
    s->x = s->moved + n;
    return s->value ? 0 : ORR_ENOMEM;
}

/* *within: the formula, refitted if needed, deviates by no more than the digits allow. *tiny: share
 * of rows below 0.01, before refitting. */
static int judge_row(const struct sr_expr *expr, struct scratch *s, bool *within, double *tiny)
{
    const struct sr_data *data = &s->data;
    static const double near = 1000; /* in errors: the largest deviation that a refit may repair */
    struct sr_expr fitted = *expr;
    *within = false;
    *tiny = 0;
    for (int turn = 0; turn < 2 && !*within; turn++) {
        if (!sr_eval(&fitted, data, s->value) ||
            !errors_of(&fitted, data, s->value, s->error, s->moved, s->x))
            break;
        const struct misses m = misses_of(data, s->value, s->error);
        *within = is_within(&m);
        if (turn == 0)
            *tiny = m.tiny;
        if (turn == 0 && !(m.largest < near))
            break;
        if (turn == 0 && !*within)
            TRY(refit_constants(data, s->error, s->moved, &s->work, &fitted));
    }
    return 0;
}

/* Different targets of the judged rows. */
static int targets_of(struct scratch *s)
{
    int different = 0;
    memcpy(s->moved, s->data.y, s->data.rows * sizeof *s->moved);
    gsl_sort(s->moved, 1, s->data.rows);
    for (size_t i = 0; i < s->data.rows; i++)
        different += !i || s->moved[i] > s->moved[i - 1];
    return different;
}

/* The number of rows up to the first formula within the digits. *exact: a later formula reproduces
 * all digits, so that the columns are not rounded; it has fewer constants than there are targets,
 * which are few where a wave has a whole number of rows. */
static int find_cut(const struct sr_front *front, const struct sr_loss *loss, struct scratch *s,
                    int *last, bool *exact)
{
    *last = front->count;
    *exact = false;
    for (int i = 0; i < front->count && !*exact; i++) {
        bool within;
        double tiny;
        if (!sr_loss_decides(loss, &front->expr[i]))
            continue;
        TRY(judge_row(&front->expr[i], s, &within, &tiny));
        if (within && *last == front->count)
            *last = i + 1;
        *exact = i >= *last && tiny > 0.9 &&
                 sr_expr_constants(&front->expr[i], NULL) + 1 < targets_of(s);
    }
    return 0;
}

int sr_front_cut(struct sr_front *front, const struct sr_loss *loss)
{
    struct scratch s = {0};
    struct sr_digits digits[SR_FEATURES + 1] = {{0}}; /* all features exact */
    int last = front->count;
    bool exact = false;
    if (!loss->data->digits)
        return 0;
    int rc = make_scratch(loss->data, &s);
    rc = rc ? rc : find_cut(front, loss, &s, &last, &exact);
    if (!rc && exact) { /* only the target may be rounded */
        digits[loss->data->features] = loss->data->digits[loss->data->features];
        s.data.digits = digits;
        rc = find_cut(front, loss, &s, &last, &exact);
    }
    if (!rc && !exact)
        front->count = last;
    free(s.rows);
    free(s.value);
    sr_work_free(&s.work);
    return rc;
}
