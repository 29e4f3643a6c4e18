/* huber_tails.c - rows far from what the others say: whether a table has them, and where the loss
 * huber turns linear. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "base/statistics.h"
#include "solve.h"

enum {
    ROWS = 1000,    /* looked at, at most */
    NEIGHBOURS = 6, /* of a row that is compared with the nearest ones */
    LEAST = 3,
    ONE_IN = 100, /* far rows, at least */
    FIT_STEPS = 40
};
static const double far_spreads = 5, most_far = 0.2;
static const double bend =
    1.345; /* 95% efficient for normal noise (Huber, Robust Statistics, 1981) */
static const double finest = 1e-9; /* parameter of an exact formula */

/* Whether the target of row i is far from those of its neighbours, which agree. */
static bool is_far(const double *rank, const struct sr_data *data, size_t i)
{
    size_t near[NEIGHBOURS];
    double y[NEIGHBOURS], spread = 0;
    sr_ranks_nearest(rank, data, i, NEIGHBOURS, near);
    for (size_t k = 0; k < NEIGHBOURS; k++)
        y[k] = data->y[near[k]];
    const double middle = orr_median(y, NEIGHBOURS);
    for (size_t k = 0; k < NEIGHBOURS; k++)
        spread = fmax(spread, fabs(y[k] - middle));
    return fabs(data->y[i] - middle) > far_spreads * spread;
}

int sr_rows_far(const struct sr_data *data, bool *far)
{
    if (data->features > SR_NEAR_COLUMNS || data->rows <= NEIGHBOURS)
        return 0;
    double *rank = orr_alloc((size_t)data->features * data->rows, sizeof *rank);
    const int rc = rank ? sr_ranks_make(data, rank) : ORR_ENOMEM;
    for (size_t i = 0; i < data->rows && !rc; i++)
        far[i] = far[i] || is_far(rank, data, i);
    free(rank);
    return rc;
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
    if (all->features > SR_NEAR_COLUMNS || all->rows <= NEIGHBOURS ||
        take_rows(all, &data, &storage))
        return false;
    double *rank = orr_alloc((size_t)data.features * data.rows, sizeof *rank);
    if (rank && !sr_ranks_make(&data, rank))
        for (size_t i = 0; i < data.rows; i++)
            far += is_far(rank, &data, i);
    free(rank);
    free(storage);
    return are_many(far, data.rows);
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
        const double found = sr_far_scale(data, &expr, residual, work);
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
    if (!rc && best.count && isfinite(sr_far_scale(&fit->data, &best, residual, residual + n))) {
        rc = sr_far_mark(&fit->data, residual, 0, far, &tails->far);
        rc = rc ? rc : sr_far_alone(&fit->data, far, tails->far, &tails->alone);
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
        least = fmin(least, sr_far_scale(&rows, &fit->front.expr[i], work, work + rows.rows));
    if (!rc)
        rc = work ? 0 : ORR_ENOMEM;
    if (!rc)
        rc = set_bend(s, data, least, at);
    *changed = s->loss_parameter < same * before;
    free(work);
    free(storage);
    return rc;
}
