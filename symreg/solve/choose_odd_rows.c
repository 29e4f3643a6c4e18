/* choose_odd_rows.c - rows that mislead a search, as fill values and misprints do, are found by two
 * short searches before the main one, with and without them, and left out. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve.h"
#include "symreg/evolve/search.h"

/* Marks rows that may be odd by the table alone; *count: how many, 0 where they are too many.
 * Three rows and more that are far from their neighbours are tails (huber_tails.c). */
static int suspect(const struct sr_data *data, bool *suspects, size_t *count)
{
    const size_t most = sr_odd_most(data->rows);
    size_t beside = 0;
    *count = 0;
    if (!most)
        return 0;
    bool *far = orr_alloc(data->rows, sizeof *far);
    int rc = far ? sr_rows_outside(data, suspects) : ORR_ENOMEM;
    if (!rc && !sr_tails_suspected(data))
        rc = sr_rows_far(data, far);
    if (!rc)
        sr_rows_filled(data, suspects);
    for (size_t i = 0; i < data->rows && !rc; i++) {
        *count += suspects[i];
        beside += far[i] && !suspects[i];
    }
    for (size_t i = 0; i < data->rows && !rc && *count + beside <= most; i++)
        suspects[i] = suspects[i] || far[i];
    *count = *count + beside <= most ? *count + beside : *count <= most ? *count : 0;
    free(far);
    return rc;
}

/* Losses and descriptions of a front on all rows, with the constants fitted to them or (`fitted`)
 * as they are; formulas that have no value in a row go. */
static int measure(const struct sr_loss *loss, bool fitted, struct sr_front *front)
{
    enum { FIT_STEPS = 20 };
    struct sr_work work = {0};
    int kept = 0;
    TRY(sr_front_work(sr_front_constants(front), loss->data, &work));
    for (int i = 0; i < front->count; i++) {
        struct sr_expr expr = front->expr[i];
        const double reached =
            fitted ? sr_eval_plain(&expr, loss, &work)
                   : sr_constants_fit(loss, &expr, false, FIT_STEPS, 0, NULL, &work);
        if (!isfinite(reached))
            continue;
        front->expr[kept] = expr;
        front->complexity[kept] = front->complexity[i];
        front->loss[kept] = front->compared[kept] = reached > loss->noise ? reached : 0;
        kept++;
    }
    front->count = kept;
    sr_work_free(&work);
    return sr_front_measure(loss, loss->data, front);
}

/* The front of a short search. */
static int search_front(const struct sr_table *table, const struct sr_csv_setup *setup, int threads,
                        struct sr_front *front)
{
    struct sr_table sample = {0};
    struct sr_fit *fit = NULL;
    const int rc = sr_search_briefly(table, setup, threads, &sample, &fit);
    if (!rc)
        *front = fit->front;
    sr_table_free(&sample);
    sr_fit_free(fit);
    return rc;
}

/* How much longer than with the suspects a description without them may seem, in nats, if all of
 * them hold fill values: what sr_front_find_odd() asks for, as these numbers name the rows. */
static int margin_of(const struct sr_data *data, const bool *marked, double *nats)
{
    bool *filled = orr_alloc(data->rows, sizeof *filled);
    TRY(filled ? 0 : ORR_ENOMEM);
    sr_rows_filled(data, filled);
    *nats = SR_ODD_NATS;
    for (size_t i = 0; i < data->rows; i++)
        if (marked[i] && !filled[i])
            *nats = 0;
    free(filled);
    return 0;
}

/* Searches without the suspects, and with them where a formula of the others is far from some.
 * Marks these rows where it describes the table in so much less than those of a search with them;
 * *count: how many. */
static int compare(const struct sr_table *table, const struct sr_csv_setup *setup, int threads,
                   bool *marked, size_t *count)
{
    const size_t rows = table->data.rows;
    struct sr_table others = *table;
    struct sr_loss loss;
    struct sr_front *with = orr_alloc(2, sizeof *with), *const without = with ? with + 1 : NULL;
    double *weight = orr_alloc(rows, sizeof *weight), rival = HUGE_VAL, margin = 0;
    others.line = NULL;
    others.odds = 0;
    int rc = with && weight ? margin_of(&table->data, marked, &margin) : ORR_ENOMEM;
    if (!rc)
        rc = sr_table_leave_out(&others, marked, *count);
    *count = 0;
    if (!rc)
        rc = search_front(&others, setup, threads, without);
    free(others.without);
    if (!rc)
        rc = sr_loss_init(&loss, ORR_SR_L2, &table->data);
    if (rc)
        goto out;
    rc = measure(&loss, true, without);
    if (!rc)
        rc = sr_front_find_odd(without, &loss, HUGE_VAL, weight);
    if (!rc && without->odds) { /* else no search with the suspects has to be compared */
        rc = search_front(table, setup, threads, with);
        if (!rc)
            rc = measure(&loss, false, with);
        for (int i = 0; i < with->count; i++)
            rival = fmin(rival, with->mdl[i] + margin);
        if (!rc)
            rc = sr_front_find_odd(without, &loss, rival, weight);
    }
    for (size_t i = 0; i < rows && !rc && without->odds; i++) {
        marked[i] = !(weight[i] > 0) && sr_row_weight(&table->data, i) > 0;
        *count += marked[i];
    }
    sr_loss_free(&loss);
out:
    free(with);
    free(weight);
    return rc;
}

int sr_odd_choose(struct sr_table *table, const struct sr_csv_options *options,
                  struct sr_csv_setup *setup, int threads)
{
    struct sr_settings *s = &setup->settings;
    const struct sr_data *data = &table->data;
    const double started = orr_time_s();
    size_t count = 0;
    if (s->loss != ORR_SR_L2 || table->category || data->x_variance || data->low ||
        options->permutations || options->tolerance || !sr_has_time_before(s))
        return 0;
    bool *marked = orr_alloc(data->rows, sizeof *marked);
    int rc = marked ? suspect(data, marked, &count) : ORR_ENOMEM;
    if (!rc && count && !setup->recall)
        s->recall = setup->recall = sr_recall_create(); /* of the search of all rows */
    if (!rc && count)
        rc = compare(table, setup, threads, marked, &count);
    if (!rc && count)
        rc = sr_table_leave_out(table, marked, count);
    free(marked);
    s->spent_s += orr_time_s() - started;
    return rc == ORR_EINTR ? 0 : rc; /* the main search sees the signal, too */
}

/* Marks the rows among those left out that are far from the formula, by all rows. */
static int mark_again(const struct sr_table *table, const struct sr_expr *expr, bool *marked,
                      size_t *count)
{
    const struct sr_data *all = &table->whole;
    double *residual = orr_alloc(2 * all->rows, sizeof *residual);
    bool *far = orr_alloc(all->rows, sizeof *far);
    struct sr_loss loss;
    size_t found = 0;
    int rc = residual && far ? sr_loss_init(&loss, ORR_SR_L2, all) : ORR_ENOMEM;
    *count = (size_t)table->odds;
    if (rc)
        goto out;
    if (isfinite(sr_far_scale(all, expr, residual, residual + all->rows))) {
        rc = sr_far_mark(all, residual, 1e3 * sqrt(fmax(loss.noise, DBL_MIN)), far, &found);
        *count = 0;
        for (int k = 0; k < table->odds; k++) {
            marked[table->odd[k] - 1] = far[table->odd[k] - 1];
            *count += far[table->odd[k] - 1];
        }
    }
    sr_loss_free(&loss);
out:
    free(residual);
    free(far);
    return rc;
}

int sr_odd_review(struct sr_table *table, struct sr_fit *fit, bool *changed)
{
    const int best = sr_front_select(&fit->front, SR_BEST);
    size_t count;
    *changed = false;
    if (!table->odds || best < 0)
        return 0;
    bool *marked = orr_alloc(table->whole.rows, sizeof *marked);
    int rc = marked ? mark_again(table, &fit->front.expr[best], marked, &count) : ORR_ENOMEM;
    if (!rc && count < (size_t)table->odds) {
        *changed = true;
        sr_table_restore(table);
        rc = count ? sr_table_leave_out(table, marked, count) : 0;
        fit->data = table->data;
    }
    free(marked);
    return rc;
}

int sr_odd_leave(struct sr_table *table, const struct sr_csv_options *options, struct sr_fit *fit,
                 bool *changed)
{
    const struct sr_front *front = &fit->front;
    *changed = front->odds > 0 && front->odds <= SR_ODDS && !table->odds && !table->category &&
               !options->permutations;
    if (!*changed)
        return 0;
    bool *marked = orr_alloc(table->data.rows, sizeof *marked);
    for (int k = 0; k < front->odds && marked; k++)
        marked[front->odd[k] - 1] = true;
    const int rc = marked ? sr_table_leave_out(table, marked, (size_t)front->odds) : ORR_ENOMEM;
    table->odds_late = !rc;
    fit->data = table->data;
    free(marked);
    return rc;
}
