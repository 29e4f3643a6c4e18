/* noise.c - noise in proportion to the target: how residuals grow with predictions, and a short
 * search that finds out before the main one; also the weights of a search with errors in x. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "solve.h"
#include "symreg/evolve/search.h"

/* Median of the absolute values of some rows. */
static double median_of(const double *from, const size_t *order, size_t count, double *work)
{
    for (size_t i = 0; i < count; i++)
        work[i] = fabs(from[order[i]]);
    return orr_median(work, count);
}

enum {
    ROWS = 1000,      /* of the short search, at most */
    NEIGHBOURS = 250, /* rows of a quarter compared with each other, at most */
};
static const double wide_target = 10; /* size of large values beside small ones, at least */

/* How little the relative errors of rows resemble those of their neighbours: the median square of
 * half the difference, over that of the errors. 1 for independent errors, near 0 where a formula
 * misses something smooth. The scale of each feature is that of all rows. */
static double roughness(const struct sr_data *data, const double *error, const size_t *of,
                        size_t count, const double *scale, double *work)
{
    for (size_t i = 0; i < count; i++) {
        double nearest = HUGE_VAL;
        size_t other = i;
        for (size_t j = 0; j < count; j++) {
            double square = 0;
            for (int f = 0; f < data->features && j != i && square < nearest; f++) {
                const double *x = data->x + (size_t)f * data->rows;
                const double d = (x[of[i]] - x[of[j]]) * scale[f];
                square += d * d;
            }
            if (j != i && square < nearest) {
                nearest = square;
                other = j;
            }
        }
        const double difference = error[of[i]] - error[of[other]];
        work[i] = difference * difference / 2;
        work[count + i] = error[of[i]] * error[of[i]];
    }
    const double between = orr_median(work, count), own = orr_median(work + count, count);
    return own > 0 ? between / own : 0;
}

/* 1 / (difference between the quantiles 3/4 and 1/4) of every feature, from at most ROWS rows; 0
 * for a constant one. */
static void feature_scales(const struct sr_data *data, double *work, double *scale)
{
    const size_t n = data->rows < ROWS ? data->rows : ROWS;
    for (int f = 0; f < data->features; f++) {
        for (size_t i = 0; i < n; i++)
            work[i] = data->x[(size_t)f * data->rows + i * data->rows / n];
        gsl_sort(work, 1, n);
        const double width = work[n - 1 - n / 4] - work[n / 4];
        scale[f] = width > 0 ? 1 / width : 0;
    }
}

int sr_quarters_measure(const struct sr_data *data, const struct sr_expr *expr,
                        struct sr_quarters *q)
{
    const size_t n = data->rows, count = n / 4;
    const size_t compared = count < NEIGHBOURS ? count : NEIGHBOURS;
    double *size = orr_alloc(4 * n, sizeof *size), scale[SR_FEATURES];
    size_t *order = orr_alloc(n, sizeof *order);
    const bool there = size && order && sr_eval(expr, data, size);
    double *const residual = there ? size + n : NULL, *const ratio = there ? residual + n : NULL;
    double *const work = there ? ratio + n : NULL;
    for (size_t i = 0; there && i < n; i++) {
        residual[i] = data->y[i] - size[i];
        size[i] = fabs(size[i]);
        ratio[i] = residual[i] / fmax(size[i], SR_NO_SIZE);
    }
    if (there) {
        gsl_sort_index(order, size, 1, n);
        feature_scales(data, work, scale);
    }
    for (int k = 0; there && k < 2; k++) {
        size_t *const of = order + (k ? n - count : 0);
        q->size[k] = median_of(size, of, count, work);
        q->residual[k] = median_of(residual, of, count, work);
        q->ratio[k] = median_of(ratio, of, count, work);
        for (size_t i = 0; i < compared; i++)
            of[i] = of[i * count / compared];
        q->roughness[k] = roughness(data, ratio, of, compared, scale, work);
    }
    free(size);
    free(order);
    return there ? 0 : ORR_ENOMEM;
}

static bool grows(const struct sr_quarters *q)
{
    const double least = 1e-4, most = 0.25, growth = q->size[1] / q->size[0];
    return growth >= wide_target &&
           q->residual[1] >= sqrt(growth * sqrt(growth)) * q->residual[0] &&
           fmin(q->ratio[0], q->ratio[1]) >= least && fmax(q->ratio[0], q->ratio[1]) <= most;
}

bool sr_quarters_proportional(const struct sr_quarters *q)
{
    const double rougher = 0.25; /* the smallest predictions than the largest, at most */
    return grows(q) && q->roughness[0] <= q->roughness[1] + rougher;
}

/* ---- the short search */

static const char chosen_weights[] = "--weights=" SR_WEIGHTS_CHOSEN;
static const char chosen_loss[] = "symreg.loss=4"; /* huber, as a checkpoint records it */
_Static_assert(ORR_SR_HUBER == 4, "the number that checkpoints record");

enum { FEW = 80, FEW_OF_ONE = 60, FEW_TAILS = 30, EVALUATIONS = 3000 };
static const double few_enumerated = 2e4;
static const double few_seconds = 4; /* a search of less has no time for another before it */

bool sr_has_time_before(const struct sr_settings *s)
{
    return !(s->max_seconds > 0 && s->max_seconds < few_seconds) &&
           !(s->max_evaluations > 0 && s->max_evaluations < EVALUATIONS) &&
           s->algorithm->proposes && s->enumerate > 0 && !s->form;
}

/* Whether the table may have a short search that chooses weights or a loss. */
static bool may_search(const struct sr_table *table, const struct sr_csv_options *o,
                       const struct sr_settings *s)
{
    return !table->data.low && !table->weights && !o->weights && !o->log_target &&
           !table->category && table->data.rows >= FEW_TAILS && sr_has_time_before(s);
}

/* Whether the target is wide enough for residuals to tell how they grow with it. */
static bool is_wide(const struct sr_data *data)
{
    const size_t n = data->rows;
    double *size = orr_alloc(n, sizeof *size);
    for (size_t i = 0; i < n && size; i++)
        size[i] = fabs(data->y[i]);
    if (size)
        gsl_sort(size, 1, n);
    const bool wide = size && size[n - 1 - n / 8] >= wide_target * size[n / 8];
    free(size);
    return wide;
}

int sr_search_briefly(const struct sr_table *table, const struct sr_csv_setup *setup, int threads,
                      struct sr_table *sample, struct sr_fit **fit)
{
    struct sr_settings s = setup->settings;
    *sample = (struct sr_table){0};
    *fit = orr_alloc(1, sizeof **fit);
    TRY(*fit ? 0 : ORR_ENOMEM);
    if (table->data.rows > ROWS)
        TRY(sr_table_sample(table, ROWS, s.seed, sample));
    (*fit)->data = sample->block ? sample->data : table->data;
    (*fit)->data.x_variance = NULL;
    s.max_evaluations = EVALUATIONS;
    if (table->data.rows < FEW) /* without pairs of formulas, which take most of the time */
        s.enumerate = fmin(s.enumerate, few_enumerated);
    s.max_seconds = 0;
    s.iterations = 0; /* the same for every --iterations, as a search may be resumed with more */
    s.alternatives = 0;
    s.restarts_fresh = s.resume = false;
    s.checkpoint = NULL;
    s.observe = NULL;
    return sr_search(&s, *fit, 1, threads, NULL);
}

/* Looks at the residuals of the most accurate formula. */
static int find_proportional(const struct sr_fit *fit, struct sr_expr *by, bool *proportional)
{
    struct sr_quarters q;
    double ln_ratio = 0;
    *by = fit->front.expr[fit->front.count - 1];
    *proportional = !sr_quarters_measure(&fit->data, by, &q) && sr_quarters_proportional(&q);
    /* residuals of a formula that lacks something grow, too, whatever the noise */
    const int rc = *proportional ? sr_noise_evidence(&fit->data, &ln_ratio) : 0;
    *proportional = *proportional && ln_ratio >= 0;
    return rc;
}

/* In a table of one column another short search, with the weights 1 / y^2: where rows near a pole
 * make up all squares, as of (t - t0)^-1.2, the first one ends in a formula for these alone. Its
 * residuals must not resemble their neighbours', so that nothing is missing but noise. */
static int find_relative(const struct sr_table *table, const struct sr_csv_setup *setup,
                         int threads, struct sr_expr *by, bool *proportional)
{
    static const double independent = 0.5; /* roughness, 1 for independent errors */
    struct sr_table weighed = *table, sample = {0};
    struct sr_fit *fit = NULL;
    struct sr_quarters q;
    if (table->data.features > 1 || !sr_table_weigh(&weighed, NULL))
        return 0;
    int rc = sr_search_briefly(&weighed, setup, threads, &sample, &fit);
    if (!rc && fit->front.count) {
        *by = fit->front.expr[fit->front.count - 1];
        rc = sr_quarters_measure(&fit->data, by, &q);
        *proportional = !rc && grows(&q) && fmin(q.roughness[0], q.roughness[1]) >= independent;
    }
    sr_table_free(&sample);
    sr_fit_free(fit);
    return rc;
}

/* What the short search says about weights, else about tails. */
static int choose_by(const struct sr_fit *fit, bool weights, bool tails, bool resumes, int threads,
                     struct sr_table *table, struct sr_csv_setup *setup)
{
    struct sr_expr by = {.count = 0};
    bool proportional = false;
    int rc = 0;
    if (weights)
        rc = find_proportional(fit, &by, &proportional);
    if (!rc && weights && !proportional)
        rc = find_relative(table, setup, threads, &by, &proportional);
    if (!rc && weights && (proportional || resumes) && sr_table_weigh(table, &by)) {
        table->by = by;
    } else if (!rc && tails) {
        rc = sr_tails_choose(setup, fit);
    }
    return rc;
}

/* ---- errors in x */

/* The formula of a front that is the most likely one with errors in x, its constants fitted. */
static int most_likely(const struct sr_data *data, const struct sr_front *front,
                       struct sr_expr *chosen)
{
    enum { FIT_STEPS = 20 };
    struct sr_loss loss;
    struct sr_work work = {0};
    double smallest = HUGE_VAL;
    TRY(sr_loss_init(&loss, ORR_SR_L2, data));
    const int rc = sr_front_work(sr_front_constants(front), data, &work);
    for (int i = 0; i < front->count && !rc; i++) {
        struct sr_expr expr = front->expr[i];
        struct sr_closest closest;
        sr_constants_fit(&loss, &expr, false, FIT_STEPS, 0, NULL, &work);
        if (!sr_closest_make(&expr, data, 1, &closest))
            continue;
        if (closest.loss * closest.steeper < smallest) {
            smallest = closest.loss * closest.steeper;
            *chosen = expr;
        }
        sr_closest_free(&closest);
    }
    sr_loss_free(&loss);
    sr_work_free(&work);
    return rc;
}

int sr_x_errors_weigh(struct sr_table *table, struct sr_csv_setup *setup, int threads)
{
    const size_t rows = table->data.rows;
    const double started = orr_time_s();
    struct sr_table sample = {0};
    struct sr_expr by = {.count = 0};
    struct sr_closest closest;
    if (!table->data.x_variance)
        return 0;
    struct sr_fit *fit = NULL;
    int rc = sr_search_briefly(table, setup, threads, &sample, &fit);
    if (!rc)
        rc = most_likely(&table->data, &fit->front, &by);
    if (!rc && by.count && sr_closest_make(&by, &table->data, 1, &closest)) {
        table->x_weight = orr_alloc(rows, sizeof *table->x_weight);
        rc = table->x_weight ? 0 : ORR_ENOMEM;
        for (size_t i = 0; i < rows && !rc; i++)
            table->x_weight[i] = sr_row_weight(&closest.data, i);
        if (!rc)
            sr_weights_level(table->x_weight, rows);
        sr_closest_free(&closest);
    }
    setup->settings.spent_s += orr_time_s() - started;
    sr_table_free(&sample);
    sr_fit_free(fit);
    return rc == ORR_EINTR ? 0 : rc; /* the main search sees the signal, too */
}

int sr_noise_choose(struct sr_table *table, const struct sr_csv_options *options,
                    struct sr_csv_setup *setup, int threads)
{
    struct sr_settings *s = &setup->settings;
    const double started = orr_time_s();
    const bool resumes = s->resume && orr_exists(s->checkpoint); /* it goes on as it began */
    const bool squares = s->loss == ORR_SR_L2 && !options->loss && !table->data.x_variance,
               may = may_search(table, options, s);
    struct sr_table sample = {0};
    struct sr_fit *fit = NULL;
    const bool weights =
        resumes ? sr_checkpoint_says(s->checkpoint, chosen_weights)
                : may && s->loss == ORR_SR_L2 &&
                      table->data.rows >= (size_t)(table->data.features > 1 ? FEW : FEW_OF_ONE) &&
                      is_wide(&table->data);
    const bool tails = s->follows ? may
                       : resumes  ? squares && sr_checkpoint_says(s->checkpoint, chosen_loss)
                                  : may && squares && sr_tails_suspected(&table->data);
    if (!weights && !tails)
        return 0;
    if (!setup->recall) /* a search without it computes everything again */
        s->recall = setup->recall = sr_recall_create();
    int rc = sr_search_briefly(table, setup, threads, &sample, &fit);
    sr_recall_close(s->recall);
    if (!rc && fit->front.count)
        rc = choose_by(fit, weights, tails, resumes, threads, table, setup);
    s->spent_s += orr_time_s() - started;
    if (rc == ORR_EINTR && !resumes)
        rc = 0; /* the main search sees the signal, too */
    if (!rc && table->by.count)
        rc = sr_csv_setup_weigh(options, setup);
    sr_table_free(&sample);
    sr_fit_free(fit);
    return rc;
}
