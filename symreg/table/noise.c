/* noise.c - noise in proportion to the target: how residuals grow with predictions, and a short
 * search that finds out before the main one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "output.h"
#include "symreg/evolve/search.h"

static double median_of(const double *from, const size_t *order, size_t count, double *work)
{
    for (size_t i = 0; i < count; i++)
        work[i] = from[order[i]];
    return orr_median(work, count);
}

static const double wide_target = 10; /* size of large values beside small ones, at least */

/* How little the relative errors of rows resemble those of their neighbours: the median square of
 * half the difference, over that of the errors. 1 for independent errors, near 0 where a formula
 * misses something smooth. The scale of each feature is that of all rows. */
enum { NEIGHBOURS = 250 }; /* rows of a quarter compared with each other, at most */
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

/* 1 / (difference between the quantiles 3/4 and 1/4) of every feature; 0 for a constant one. */
static void feature_scales(const struct sr_data *data, double *work, double *scale)
{
    const size_t n = data->rows;
    for (int f = 0; f < data->features; f++) {
        memcpy(work, data->x + (size_t)f * n, n * sizeof *work);
        gsl_sort(work, 1, n);
        const double width = work[n - 1 - n / 4] - work[n / 4];
        scale[f] = width > 0 ? 1 / width : 0;
    }
}

int sr_quarters_measure(const struct sr_data *data, const struct sr_expr *expr,
                        struct sr_quarters *q)
{
    const size_t n = data->rows, count = n / 4;
    double *value = orr_alloc(5 * n, sizeof *value), scale[SR_FEATURES];
    size_t *order = orr_alloc(n, sizeof *order);
    const bool there = value && order && sr_eval(expr, data, value);
    double *const size = there ? value + n : NULL, *const residual = there ? size + n : NULL;
    double *const ratio = there ? residual + n : NULL, *const work = there ? ratio + n : NULL;
    for (size_t i = 0; there && i < n; i++) {
        size[i] = fabs(value[i]);
        residual[i] = fabs(data->y[i] - value[i]);
        ratio[i] = residual[i] / fmax(size[i], SR_NO_SIZE);
    }
    if (there)
        gsl_sort_index(order, size, 1, n);
    for (int k = 0; there && k < 2; k++) {
        const size_t *const of = order + (k ? n - count : 0);
        q->size[k] = median_of(size, of, count, work);
        q->residual[k] = median_of(residual, of, count, work);
        q->ratio[k] = median_of(ratio, of, count, work);
    }
    if (there)
        feature_scales(data, work, scale);
    for (size_t i = 0; there && i < n; i++)
        ratio[i] = (data->y[i] - value[i]) / fmax(size[i], SR_NO_SIZE);
    const size_t compared = count < NEIGHBOURS ? count : NEIGHBOURS;
    for (int k = 0; there && k < 2; k++) {
        size_t *const of = order + (k ? n - count : 0);
        for (size_t i = 0; i < compared; i++)
            of[i] = of[i * count / compared];
        q->roughness[k] = roughness(data, ratio, of, compared, scale, work);
    }
    free(value);
    free(order);
    return there ? 0 : ORR_ENOMEM;
}

bool sr_quarters_proportional(const struct sr_quarters *q)
{
    const double least = 1e-4, most = 0.25, growth = q->size[1] / q->size[0];
    const double rougher = 0.25; /* the smallest predictions than the largest, at most */
    return growth >= wide_target && q->roughness[0] <= q->roughness[1] + rougher &&
           q->residual[1] >= sqrt(growth * sqrt(growth)) * q->residual[0] &&
           fmin(q->ratio[0], q->ratio[1]) >= least && fmax(q->ratio[0], q->ratio[1]) <= most;
}

/* ---- the short search */

static const char chosen_weights[] = "--weights=" SR_WEIGHTS_CHOSEN;

enum { ROWS = 1000, FEW = 80, EVALUATIONS = 3000 };
static const double few_seconds = 4; /* a search of less has no time for another before it */

/* Whether rows may be weighted, and the target is wide enough for residuals to tell. */
static bool may_choose(const struct sr_table *table, const struct sr_csv_options *o,
                       const struct sr_settings *s)
{
    const double *y = table->data.y;
    const size_t n = table->data.rows;
    double *size;
    if (table->weights || o->weights || o->log_target || table->category || n < FEW ||
        (s->max_seconds > 0 && s->max_seconds < few_seconds) ||
        (s->max_evaluations > 0 && s->max_evaluations < EVALUATIONS) || s->loss != ORR_SR_L2 ||
        !sr_algorithm_of(s)->proposes || s->enumerate <= 0)
        return false;
    size = orr_alloc(n, sizeof *size);
    for (size_t i = 0; i < n && size; i++)
        size[i] = fabs(y[i]);
    if (size)
        gsl_sort(size, 1, n);
    const bool wide = size && size[n - 1 - n / 8] >= wide_target * size[n / 8];
    free(size);
    return wide;
}

/* Searches for a moment on some rows, and looks at the residuals of the most accurate formula. The
 * number of formulas limits it, so that the answer does not depend on the machine. */
static int search_briefly(const struct sr_table *table, const struct sr_csv_setup *setup,
                          int threads, struct sr_expr *by, bool *proportional)
{
    struct sr_settings s = setup->settings;
    struct sr_table sample = {0};
    struct sr_quarters q;
    struct sr_fit *fit = orr_alloc(1, sizeof *fit);
    int rc = fit ? 0 : ORR_ENOMEM;
    if (!rc && table->data.rows > ROWS)
        rc = sr_table_sample(table, ROWS, s.seed, &sample);
    if (!rc) {
        fit->data = sample.block ? sample.data : table->data;
        s.max_evaluations = EVALUATIONS;
        s.max_seconds = 0;
        s.alternatives = 0;
        s.restarts_fresh = s.resume = false;
        s.checkpoint = NULL;
        s.observe = NULL;
        rc = sr_search(&s, fit, 1, threads, NULL);
    }
    if (!rc && fit->front.count) {
        *by = fit->front.expr[fit->front.count - 1];
        *proportional = !sr_quarters_measure(&fit->data, by, &q) && sr_quarters_proportional(&q);
    }
    sr_table_free(&sample);
    sr_fit_free(fit);
    return rc == ORR_EINTR ? 0 : rc; /* the main search sees the signal, too */
}

int sr_noise_choose(struct sr_table *table, const struct sr_csv_options *options,
                    struct sr_csv_setup *setup, int threads)
{
    struct sr_settings *s = &setup->settings;
    const double started = orr_time_s();
    bool proportional = false;
    const bool resumes = s->resume && s->checkpoint && orr_exists(s->checkpoint);
    if (resumes && !sr_checkpoint_says(s->checkpoint, chosen_weights))
        return 0; /* a search goes on as it began */
    if (!resumes && !may_choose(table, options, s))
        return 0;
    TRY(search_briefly(table, setup, threads, &table->by, &proportional));
    s->spent_s = orr_time_s() - started;
    if (!(proportional || resumes) || !sr_table_weigh(table, &table->by))
        return 0;
    table->chosen = true;
    return sr_csv_setup_weigh(options, setup);
}
