/* noise.c - noise in proportion to the target: how residuals grow with predictions, and a short
 * search that finds out before the main one. */
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort.h>

#include "output.h"
#include "symreg/evolve/evolve.h"

static double median_of(const double *from, const size_t *order, size_t count, double *work)
{
    for (size_t i = 0; i < count; i++)
        work[i] = from[order[i]];
    return orr_median(work, count);
}

static const double wide_target = 10; /* size of large values beside small ones, at least */

int sr_quarters_measure(const struct sr_data *data, const struct sr_expr *expr,
                        struct sr_quarters *q)
{
    const size_t n = data->rows, count = n / 4;
    double *size = orr_alloc(4 * n, sizeof *size);
    size_t *order = orr_alloc(n, sizeof *order);
    const bool there = size && order && sr_eval(expr, data, size);
    double *const residual = size ? size + n : NULL, *const ratio = size ? residual + n : NULL;
    for (size_t i = 0; there && i < n; i++) {
        residual[i] = fabs(data->y[i] - size[i]);
        size[i] = fabs(size[i]);
        ratio[i] = residual[i] / fmax(size[i], SR_NO_SIZE);
    }
    if (there)
        gsl_sort_index(order, size, 1, n);
    for (int k = 0; there && k < 2; k++) {
        const size_t *const of = order + (k ? n - count : 0);
        q->size[k] = median_of(size, of, count, ratio + n);
        q->residual[k] = median_of(residual, of, count, ratio + n);
        q->ratio[k] = median_of(ratio, of, count, ratio + n);
    }
    free(size);
    free(order);
    return there ? 0 : ORR_ENOMEM;
}

bool sr_quarters_proportional(const struct sr_quarters *q)
{
    const double least = 1e-4, most = 0.25, growth = q->size[1] / q->size[0];
    return growth >= wide_target &&
           q->residual[1] >= sqrt(growth * sqrt(growth)) * q->residual[0] &&
           fmin(q->ratio[0], q->ratio[1]) >= least && fmax(q->ratio[0], q->ratio[1]) <= most;
}

/* ---- the short search */

enum { ROWS = 1000, FEW = 40, EVALUATIONS = 3000 };
static const double time_share = 0.2; /* of the seconds of the whole search, at most */

/* Whether rows may be weighted, and the target is wide enough for residuals to tell. */
static bool may_choose(const struct sr_table *table, const struct sr_csv_options *o,
                       const struct sr_settings *s)
{
    const double *y = table->data.y;
    const size_t n = table->data.rows;
    double *size;
    if (table->weights || o->weights || o->log_target || table->category || n < FEW ||
        s->loss != ORR_SR_L2 || !sr_algorithm_of(s)->proposes || s->enumerate <= 0)
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
 * number of formulas is what limits it, so that the answer does not depend on the machine; where
 * time does, there is none. */
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
        s.max_evaluations =
            s.max_evaluations > 0 ? fmin(s.max_evaluations, EVALUATIONS) : EVALUATIONS;
        s.max_seconds *= time_share;
        s.alternatives = 0;
        s.restarts_fresh = s.resume = false;
        s.checkpoint = NULL;
        s.observe = NULL;
        rc = sr_search(&s, fit, 1, threads, NULL);
    }
    if (!rc && fit->front.count && fit->end != SR_END_SECONDS) {
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
    if (!may_choose(table, options, s))
        return 0;
    TRY(search_briefly(table, setup, threads, &table->by, &proportional));
    s->spent_s = orr_time_s() - started;
    if (!proportional || !sr_table_weigh(table, &table->by))
        return 0;
    table->chosen = true;
    return sr_csv_setup_weigh(options, setup);
}
