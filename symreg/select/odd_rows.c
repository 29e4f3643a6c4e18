/* odd_rows.c - rows without which another formula is chosen: fill values, misprints, a wrong
 * unit. */
#include "select.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_math.h>
#include <gsl/gsl_sort.h>

enum {
    LEAST_ROWS = 10,
    MOST_ROWS = 4096,
    ONE_IN = 20, /* rows that may be odd */
    FEW = 3,     /* as many in small tables */
    FIT_STEPS = 20
};
struct search {
    const struct sr_loss *loss;
    size_t most;    /* odd rows */
    double *weight; /* (rows) those of the data, 0 for rows that are left out */
    double *residual, *scratch;
    bool *far;
    bool *outside; /* (rows) beyond what the others span in a column, by more than they span */
    size_t outsiders;
    struct sr_work work;
    double range; /* nats of a row that is spread evenly over the targets, beside a normal one */
};

/* Marks the rows that are far from a formula; *count: how many, 0 where it has no value. */
static int mark(const struct search *s, const struct sr_expr *expr, size_t *count)
{
    const struct sr_data *data = s->loss->data;
    *count = 0;
    if (!isfinite(sr_far_scale(data, expr, s->residual, s->scratch)))
        return 0;
    return sr_far_mark(data, s->residual, 1e3 * sqrt(fmax(s->loss->noise, DBL_MIN)), s->far, count);
}

/* Fits the constants without the marked rows; returns the loss of the others. */
static int fit_others(struct search *s, struct sr_expr *expr, double *least)
{
    struct sr_data others = *s->loss->data;
    struct sr_loss loss;
    for (size_t i = 0; i < others.rows; i++)
        s->weight[i] = s->far[i] ? 0 : sr_row_weight(s->loss->data, i);
    others.weight = s->weight;
    TRY(sr_loss_init_with(&loss, s->loss->kind, s->loss->parameter, &others));
    *least = sr_constants_fit(&loss, expr, false, FIT_STEPS, 0, NULL, &s->work);
    *least = fmax(*least, fmax(loss.noise, DBL_MIN));
    sr_loss_free(&loss);
    return 0;
}

/* Fits the constants to absolute deviations, which a few rows do not bend. */
static int fit_robustly(struct search *s, struct sr_expr *expr)
{
    struct sr_loss loss;
    TRY(sr_loss_init(&loss, ORR_SR_L1, s->loss->data));
    sr_constants_fit(&loss, expr, false, FIT_STEPS, 0, NULL, &s->work);
    sr_loss_free(&loss);
    return 0;
}

/* Nats that name `count` of so many rows. */
static double nats_of_names(double rows, size_t count)
{
    double nats = 0;
    for (size_t k = 0; k < count; k++)
        nats += orr_log((rows - (double)k) / (double)(k + 1));
    return nats;
}

/* Nats of row i, which is far from a formula, beside a normal one: spread evenly over the targets,
 * or at its own with the decimal point of a number in a column moved, where that brings it to the
 * formula. If the row is outside, such a mistake is likely by itself. */
static double nats_of_row(const struct search *s, const struct sr_expr *expr, size_t i,
                          double least)
{
    static const double moved[] = {10, 0.1, 100, 0.01, 1000, 0.001};
    enum { MOVES = sizeof moved / sizeof *moved };
    const struct sr_data *data = s->loss->data;
    const int features = data->features;
    double x[SR_FEATURES], value, nearest = HUGE_VAL;
    struct sr_data row = {.rows = 1, .features = features, .language = data->language, .x = x};
    for (int f = 0; f < features; f++)
        x[f] = data->x[(size_t)f * data->rows + i];
    for (int k = 0; k < MOVES * features; k++) {
        double *const at = &x[k / MOVES], own = *at;
        *at *= moved[k % MOVES];
        if (sr_eval(expr, &row, &value))
            nearest = fmin(nearest, fabs(value - data->y[i]));
        *at = own;
    }
    const double square = sr_row_weight(data, i) * nearest * nearest / least;
    return fmin(s->range, 0.5 * orr_log(least) + 0.5 * (square - 1) + orr_log(MOVES * features) -
                              (s->outside[i] ? SR_ODD_NATS : 0));
}

/* Whether the residuals of the other rows follow each other, as those of a formula that lacks
 * something do, in this table and not in a few rows. */
static int are_smooth(const struct search *s, const struct sr_expr *expr, double least,
                      bool *smooth)
{
    struct sr_data others = *s->loss->data;
    struct sr_front *one = orr_alloc(1, sizeof *one);
    if (!one)
        return ORR_ENOMEM;
    others.weight = s->weight;
    one->count = 1;
    one->expr[0] = *expr;
    one->loss[0] = least > 1.5 * s->loss->noise ? least : 0;
    const int rc = sr_front_count_independent(one, &others);
    *smooth = one->independent > 0;
    free(one);
    return rc;
}

/* The description length of a formula of the front, with these constants, without the rows that are
 * far from it; infinite where there are none, or too many. */
static int length_at(struct search *s, const struct sr_front *front, int i, struct sr_expr *expr,
                     double *length)
{
    const double rows = (double)front->rows;
    size_t count;
    double least;
    bool alone, smooth;
    TRY(mark(s, expr, &count));
    if (!count || count > s->most)
        return 0;
    TRY(sr_far_alone(s->loss->data, s->far, count, &alone));
    if (!alone)
        return 0;
    TRY(fit_others(s, expr, &least));
    TRY(are_smooth(s, expr, least, &smooth));
    if (smooth)
        return 0;
    const double odd = (double)count, constants = sr_expr_constants(expr, NULL);
    const double finer = orr_log(front->loss[i]) - orr_log(least);
    if (isfinite(least) && isfinite(front->cost[i]))
        *length = 0.5 * (rows - odd) * orr_log(least) + nats_of_names(rows, count) +
                  front->cost[i] + 0.5 * constants * fmax(finer, 0);
    for (size_t k = 0; k < s->loss->data->rows && isfinite(*length); k++)
        *length += s->far[k] ? nats_of_row(s, expr, k, least) : 0;
    return 0;
}

/* The smallest such length of row i of the front, from constants that few wrong targets do not
 * bend, and from those of the rows that are not outside. weight: of that length. */
static int length_without(struct search *s, const struct sr_front *front, int i, double *weight,
                          double *length)
{
    const size_t n = s->loss->data->rows;
    struct sr_expr expr = front->expr[i];
    double unused, other = HUGE_VAL;
    size_t count;
    *length = HUGE_VAL;
    TRY(mark(s, &expr, &count));
    if (count && count <= 2 * s->most) {
        TRY(fit_robustly(s, &expr));
        TRY(length_at(s, front, i, &expr, length));
        memcpy(weight, s->weight, n * sizeof *weight);
    }
    if (!s->outsiders)
        return 0;
    expr = front->expr[i];
    memcpy(s->far, s->outside, n * sizeof *s->far);
    TRY(fit_others(s, &expr, &unused));
    TRY(length_at(s, front, i, &expr, &other));
    if (!(other < *length))
        return 0;
    *length = other;
    memcpy(weight, s->weight, n * sizeof *weight);
    return 0;
}

/* Marks the rows at the upper, or with `sign` -1 the lower, end of a column that are outside. */
static void mark_end(struct search *s, const double *x, double sign)
{
    const size_t n = s->loss->data->rows;
    for (size_t i = 0; i < n; i++)
        s->scratch[i] = sign * x[i];
    gsl_sort(s->scratch, 1, n);
    for (size_t t = 1; t <= s->most && t < n / 2; t++) {
        const double last = s->scratch[n - 1 - t];
        if (!(s->scratch[n - t] - last > last - s->scratch[0]))
            continue;
        for (size_t i = 0; i < n; i++) {
            const bool is = sign * x[i] > last;
            s->outsiders += is && !s->outside[i];
            s->outside[i] = s->outside[i] || is;
        }
        return;
    }
}

/* Marks the rows outside in any column, the target's too; none where they are too many. */
static void mark_outside(struct search *s)
{
    const struct sr_data *data = s->loss->data;
    for (int f = 0; f <= data->features; f++)
        for (int sign = -1; sign <= 1; sign += 2)
            mark_end(s, f < data->features ? data->x + (size_t)f * data->rows : data->y, sign);
    if (s->outsiders > s->most)
        s->outsiders = 0;
}

static int start(struct search *s, const struct sr_front *front, double *weight)
{
    const struct sr_data *data = s->loss->data;
    const size_t n = data->rows;
    double low = HUGE_VAL, high = -HUGE_VAL;
    s->most = sr_odd_most(front->rows);
    s->weight = weight;
    s->residual = orr_alloc(2 * n, sizeof *s->residual);
    s->far = orr_alloc(2 * n, sizeof *s->far);
    if (!s->residual || !s->far)
        return ORR_ENOMEM;
    s->scratch = s->residual + n;
    s->outside = s->far + n;
    mark_outside(s);
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, data->y[i]);
        high = fmax(high, data->y[i]);
    }
    s->range = orr_log(fmax(high - low, DBL_MIN)) - 0.5 * orr_log(2 * M_PI * M_E);
    return sr_work_init(&s->work, n, 2 * sr_front_constants(front) + 2);
}

/* Lists the rows that are left out in the front. */
static void list_odd(struct sr_front *front, const struct sr_data *data, const double *weight)
{
    for (size_t i = 0; i < data->rows; i++)
        if (!(weight[i] > 0) && sr_row_weight(data, i) > 0 && front->odds < SR_ODDS)
            front->odd[front->odds++] = i + 1;
}

size_t sr_odd_most(size_t rows)
{
    const size_t share = rows / ONE_IN;
    return rows < LEAST_ROWS || rows > MOST_ROWS ? 0
           : share < FEW                         ? FEW
           : share < SR_ODDS                     ? share
                                                 : SR_ODDS;
}

int sr_rows_outside(const struct sr_data *data, bool *outside)
{
    const struct sr_loss loss = {.data = data};
    struct search s = {.loss = &loss, .most = sr_odd_most(data->rows), .outside = outside};
    s.scratch = orr_alloc(data->rows, sizeof *s.scratch);
    if (!s.scratch)
        return ORR_ENOMEM;
    mark_outside(&s);
    free(s.scratch);
    for (size_t i = 0; i < data->rows && !s.outsiders; i++)
        outside[i] = false;
    return 0;
}

int sr_front_find_odd(struct sr_front *front, const struct sr_loss *loss, double rival,
                      double *weight)
{
    struct search s = {.loss = loss};
    const size_t n = loss->data->rows;
    double shortest = rival, least = HUGE_VAL, length;
    front->odds = 0;
    if (front->rows < LEAST_ROWS || n > MOST_ROWS || !front->count)
        return 0;
    double *tried = orr_alloc(2 * n, sizeof *tried), *const kept = tried ? tried + n : NULL;
    int rc = tried ? start(&s, front, tried) : ORR_ENOMEM;
    for (int i = 0; i < front->count; i++)
        shortest = fmin(shortest, front->mdl[i]);
    for (int i = 0; i < front->count && !rc && front->loss[front->count - 1] > 0; i++) {
        rc = length_without(&s, front, i, kept, &length);
        if (rc || !(length < least))
            continue;
        least = length;
        memcpy(weight, kept, n * sizeof *weight);
    }
    if (!rc && least < shortest - SR_ODD_NATS)
        list_odd(front, loss->data, weight);
    sr_work_free(&s.work);
    free(s.residual);
    free(s.far);
    free(tried);
    return rc;
}
