/* tails.c - rows far from what the others say: whether a table has them, and where the loss huber
 * turns linear. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "base/statistics.h"
#include "solve.h"

enum {
    ROWS = 1000,    /* looked at, at most */
    COLUMNS = 3,    /* with more columns the nearest rows are far */
    NEIGHBOURS = 6, /* of a row that is compared with the nearest ones */
    BESIDE = 10,    /* rows of smaller and of larger predictions that give a residual its scale */
    LEAST = 3,
    ONE_IN = 100, /* far rows, at least */
    FIT_STEPS = 40
};
static const double far_scales = 8; /* 1 in 1e15 normal residuals, 3 in 1e4 of Laplace's */
static const double far_spreads = 5, most_far = 0.2, most_beside = 1. / 3;
static const double normal_scale = 1.4826; /* of the median deviation */
static const double bend =
    1.345; /* 95% efficient for normal noise (Huber, Robust Statistics, 1981) */
static const double finest = 1e-9; /* parameter of an exact formula */

/* The ranks of the rows in each column, so that scales do not matter. rank: (features, rows) */
static int rank_columns(const struct sr_data *data, double *rank)
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

/* Lists the `count` nearest rows of row i by their ranks, the nearest first. */
static void find_nearest(const double *rank, const struct sr_data *data, size_t i, size_t count,
                         size_t *near)
{
    double square[NEIGHBOURS];
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

/* Whether the target of row i is far from those of its neighbours, which agree. */
static bool is_far(const double *rank, const struct sr_data *data, size_t i)
{
    size_t near[NEIGHBOURS];
    double y[NEIGHBOURS], spread = 0;
    find_nearest(rank, data, i, NEIGHBOURS, near);
    for (size_t k = 0; k < NEIGHBOURS; k++)
        y[k] = data->y[near[k]];
    const double middle = orr_median(y, NEIGHBOURS);
    for (size_t k = 0; k < NEIGHBOURS; k++)
        spread = fmax(spread, fabs(y[k] - middle));
    return fabs(data->y[i] - middle) > far_spreads * spread;
}

/* Evenly spaced rows of a large table; storage is NULL for all rows. */
static int take_rows(const struct sr_data *all, struct sr_data *data, double **storage)
{
    *data = *all;
    *storage = NULL;
    return all->rows > ROWS ? sr_rows_take(all, ROWS, NULL, data, storage) : 0;
}

static bool are_many(size_t far, size_t rows)
{
    return far >= LEAST && far * ONE_IN >= rows;
}

bool sr_tails_suspected(const struct sr_data *all)
{
    struct sr_data data;
    double *storage = NULL;
    size_t far = 0;
    if (all->features > COLUMNS || all->rows <= NEIGHBOURS || take_rows(all, &data, &storage))
        return false;
    double *rank = orr_alloc((size_t)data.features * data.rows, sizeof *rank);
    if (rank && !rank_columns(&data, rank))
        for (size_t i = 0; i < data.rows; i++)
            far += is_far(rank, &data, i);
    free(rank);
    free(storage);
    return are_many(far, data.rows);
}

/* The scale of a formula's residuals, which go to residual (rows); infinite where it has none. */
static double scale_of(const struct sr_data *data, const struct sr_expr *expr, double *residual,
                       double *work)
{
    const size_t n = data->rows, constants = (size_t)sr_expr_constants(expr, NULL);
    if (n < 2 * constants + 2 || !sr_eval(expr, data, residual))
        return HUGE_VAL;
    for (size_t i = 0; i < n; i++) {
        residual[i] -= data->y[i];
        work[i] = fabs(residual[i]);
    }
    return normal_scale * orr_median(work, n) * sqrt((double)n / (double)(n - constants));
}

/* Marks the residuals that are far in units of those of rows with similar predictions. */
static int mark_far(const struct sr_data *data, const double *residual, bool *far, size_t *count)
{
    const size_t n = data->rows;
    double *value = orr_alloc(n, sizeof *value), beside[2 * BESIDE + 1];
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
        for (size_t b = 0; b < most; b++)
            beside[b] = fabs(residual[order[from + b]]);
        const double scale = normal_scale * orr_median(beside, most);
        far[order[k]] = fabs(residual[order[k]]) > far_scales * scale;
        *count += far[order[k]];
    }
    free(value);
    free(order);
    return there ? 0 : ORR_ENOMEM;
}

/* Whether most of the marked rows have a neighbour that is not. */
static int are_alone(const struct sr_data *data, const bool *far, size_t count, bool *alone)
{
    double *rank = orr_alloc((size_t)data->features * data->rows, sizeof *rank);
    size_t beside = 0, near[1];
    int rc = rank ? rank_columns(data, rank) : ORR_ENOMEM;
    for (size_t i = 0; i < data->rows && !rc; i++) {
        if (!far[i])
            continue;
        find_nearest(rank, data, i, 1, near);
        beside += far[near[0]];
    }
    *alone = (double)beside <= most_beside * (double)count;
    free(rank);
    return rc;
}

/* The formula of the front with the smallest scale of residuals, with constants of l1. */
static int find_closest(const struct sr_fit *fit, double *residual, double *work, double *scale,
                        struct sr_expr *best)
{
    struct sr_loss loss;
    struct sr_work fitting = {0};
    const struct sr_data *data = &fit->data;
    TRY(sr_loss_init(&loss, ORR_SR_L1, data));
    const int rc = sr_work_init(&fitting, data->rows, 2 * sr_front_constants(&fit->front) + 2);
    *scale = HUGE_VAL;
    for (int i = 0; i < fit->front.count && !rc; i++) {
        struct sr_expr expr = fit->front.expr[i];
        sr_constants_fit(&loss, &expr, false, FIT_STEPS, 0, NULL, &fitting);
        const double found = scale_of(data, &expr, residual, work);
        if (!(found < *scale))
            continue;
        *scale = found;
        *best = expr;
    }
    sr_work_free(&fitting);
    sr_loss_free(&loss);
    return rc;
}

int sr_tails_measure(const struct sr_fit *fit, struct sr_tails *tails)
{
    const size_t n = fit->data.rows;
    double *residual = orr_alloc(2 * n, sizeof *residual);
    bool *far = orr_alloc(n, sizeof *far);
    struct sr_expr best = {.count = 0};
    *tails = (struct sr_tails){.scale = HUGE_VAL, .rows = n};
    int rc = residual && far ? 0 : ORR_ENOMEM;
    if (!rc)
        rc = find_closest(fit, residual, residual + n, &tails->scale, &best);
    if (!rc && best.count && isfinite(scale_of(&fit->data, &best, residual, residual + n))) {
        rc = mark_far(&fit->data, residual, far, &tails->far);
        rc = rc ? rc : are_alone(&fit->data, far, tails->far, &tails->alone);
    }
    free(residual);
    free(far);
    return rc;
}

/* Sets the parameter, at most as it is; *at: the deviation that it means. */
static int set_bend(struct sr_settings *s, const struct sr_data *data, double scale, double *at)
{
    struct sr_loss loss;
    TRY(sr_loss_init(&loss, ORR_SR_L1, data));
    const double parameter = bend * scale / loss.unit;
    if (parameter < s->loss_parameter)
        s->loss_parameter = fmax(parameter, finest);
    *at = s->loss_parameter * loss.unit;
    sr_loss_free(&loss);
    return 0;
}

int sr_tails_choose(struct sr_csv_setup *setup, const struct sr_fit *fit)
{
    struct sr_settings *s = &setup->settings;
    struct sr_tails tails;
    double at;
    TRY(sr_tails_measure(fit, &tails));
    if (!isfinite(tails.scale))
        return 0;
    if (!s->follows) {
        if (!are_many(tails.far, tails.rows) || !tails.alone ||
            (double)tails.far > most_far * (double)tails.rows)
            return 0;
        s->loss = ORR_SR_HUBER;
        s->loss_parameter = 0.5;
        s->follows = true;
        setup->tails = tails;
        snprintf(setup->loss, sizeof setup->loss, "huber");
    }
    return set_bend(s, &fit->data, tails.scale, &at);
}

int sr_tails_follow(struct sr_settings *s, const struct sr_fit *fit, const struct sr_data *data,
                    bool *changed, double *at)
{
    const double before = s->loss_parameter, same = 0.98;
    struct sr_data rows;
    double *storage = NULL, least = HUGE_VAL;
    int rc = take_rows(data, &rows, &storage);
    double *work = rc ? NULL : orr_alloc(2 * rows.rows, sizeof *work);
    for (int i = 0; i < fit->front.count && work; i++)
        least = fmin(least, scale_of(&rows, &fit->front.expr[i], work, work + rows.rows));
    if (!rc)
        rc = work ? 0 : ORR_ENOMEM;
    if (!rc)
        rc = set_bend(s, data, least, at);
    *changed = s->loss_parameter < same * before;
    free(work);
    free(storage);
    return rc;
}
