/* solve.c - the way from a problem to its answer: every step between a table that was read and a
 * front that can be printed, in the one order in which they give the right result. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve.h"

/* Whether the user stopped the program or this call. */
static bool is_stopped(const struct sr_problem *p)
{
    return orr_signal_number() || atomic_load(&p->stop->asked);
}

/* Rows that are left out, and weights, by short first searches; weights of the second table,
 * too. */
static int choose_rows_and_weights(const struct sr_problem *p)
{
    struct sr_table *table = p->table, *second = p->second;
    TRY(sr_odd_choose(table, p->options, p->setup, p->threads));
    TRY(sr_noise_choose(table, p->options, p->setup, p->threads));
    if (!table->by.count || !second || second->weights) /* it has its own */
        return 0;
    second->by = table->by;
    return sr_table_weigh(second, &table->by)
               ? 0
               : ORR_FAIL(ORR_EINVAL,
                          "%s: column \"%s\": the formula that gives rows their weights is 0 or "
                          "not finite here; --weights equal does without",
                          p->second_file, table->target);
}

/* The rows to search on: all, or a sample. */
static int choose_rows(const struct sr_problem *p, struct sr_table *sample, struct sr_fit *fit)
{
    const struct sr_csv_setup *setup = p->setup;
    struct sr_table all = *p->table; /* with the weights of the search */
    if (all.x_weight)
        all.data.weight = all.x_weight;
    all.data.x_variance = NULL; /* constants and losses by it come after the search */
    fit->data = all.data;
    sr_category_give(p->table, fit);
    if (!setup->batch)
        return 0;
    TRY(sr_table_sample(&all, setup->batch, setup->settings.seed, sample));
    fit->data = sample->data;
    sr_category_give(sample, fit);
    return 0;
}

static int search_alone(void *context, const struct sr_problem *p, struct sr_fit *fit)
{
    (void)context;
    return sr_search(&p->setup->settings, fit, 1, p->threads, NULL);
}

/* Searches, within the limit of time. *stopped: by the user. */
static int search_rows(const struct sr_problem *p, struct sr_fit *fit, double started_s,
                       bool *stopped)
{
    struct sr_table sample = {0};
    sr_searcher *const search = p->search ? p->search : search_alone;
    int rc = choose_rows(p, &sample, fit);
    p->stop->until_s = sr_time_limit(p->setup->settings.max_seconds, SR_LIMIT_OF_SEARCH, started_s);
    if (!rc)
        rc = search(p->context, p, fit);
    sr_table_free(&sample);
    *stopped = rc == ORR_EINTR && is_stopped(p);
    return rc == ORR_EINTR ? 0 : rc; /* results so far are shown and saved */
}

/* The loss huber turns linear where the residuals of the search's front say. */
static int follow_tails(const struct sr_problem *p, struct sr_solution *solution, bool *refits)
{
    bool changed = false;
    TRY(sr_tails_follow(&p->setup->settings, solution->fit, &p->table->data, &changed,
                        &solution->bend));
    *refits = *refits || changed;
    return 0;
}

/* Constants on all rows, and what the front is worth. */
static int finish_front(const struct sr_problem *p, double seconds, double started_s, bool refits,
                        struct sr_fit *fit)
{
    const struct sr_settings *s = &p->setup->settings;
    struct sr_table *table = p->table;
    const bool categories = table->category, cut = is_stopped(p);
    const bool longer = categories || table->data.x_variance;
    const double now = orr_time_s();
    p->stop->until_s =
        cut ? now + (longer ? SR_CATEGORIES_AFTER_STOP_S : SR_AFTER_STOP_S)
            : sr_time_limit(seconds, longer ? SR_LIMIT_OF_CATEGORIES : SR_LIMIT_OF_ALL, started_s);
    const double forms_until_s = cut ? now : sr_time_limit(seconds, SR_LIMIT_OF_ALL, started_s);
    TRY(categories ? sr_category_finish(s, forms_until_s, table, fit)
                   : sr_front_finish(s, &table->data, refits, fit));
    p->stop->until_s = 0; /* the remaining steps are not interrupted */
    if (categories)
        return 0;
    TRY(sr_front_judge(s, &table->data, &fit->front));
    table->data.independent = fit->front.independent;
    return 0;
}

/* The parameter of a loss that has one; 0: it has none. */
static double parameter_of(const struct sr_settings *s)
{
    const bool has =
        s->loss == ORR_SR_HUBER || s->loss == ORR_SR_LOGCOSH || s->loss == ORR_SR_QUANTILE;
    return has ? s->loss_parameter : 0;
}

/* Who judges the front after the table, in what is left of the seconds; NULL: nobody. */
static const struct sr_further_judge *further_judge(const struct sr_problem *p)
{
    const struct sr_settings *s = &p->setup->settings;
    const bool plain = s->loss == ORR_SR_L2 && !s->form && !s->penalty && !p->table->category &&
                       !p->options->log_target && s->algorithm->kind != ORR_SR_PYSR;
    return plain ? p->options->judge : NULL;
}

static int judge_further(const struct sr_problem *p, double seconds, double started_s,
                         struct sr_fit *fit)
{
    const struct sr_further_judge *judge = further_judge(p);
    const double left = seconds - (orr_time_s() - started_s);
    if (!judge || is_stopped(p) || !fit->front.count)
        return 0;
    return judge->judge(judge->context, p, seconds > 0 ? fmax(left, 0.1 * seconds) : 0, fit);
}

/* The answer of a finished front, for those who print and write it. */
static void describe(const struct sr_problem *p, double seconds, struct sr_solution *solution)
{
    const struct sr_csv_options *o = p->options;
    const struct sr_csv_setup *setup = p->setup;
    const struct sr_table *table = p->table;
    struct sr_fit *fit = solution->fit;
    const bool tested = p->second;
    snprintf(solution->target, sizeof solution->target, o->log_target ? "log(%s)" : "%s",
             table->target);
    solution->answer = (struct sr_answer){.file = p->file,
                                          .target = solution->target,
                                          .column = table->target,
                                          .end_name = table->data.low ? table->end_name : NULL,
                                          .loss = setup->loss,
                                          .weights = table->weights,
                                          .dates = &table->dates,
                                          .table = table,
                                          .variance = table->variance,
                                          .variance_factor = o->variance_factor,
                                          .measured = o->judge ? o->judge->measured : NULL,
                                          .remark = o->remark,
                                          .tails = &setup->tails,
                                          .loss_parameter = parameter_of(&setup->settings),
                                          .bend = setup->settings.follows ? solution->bend : 0,
                                          .weight_mean = table->weight_mean,
                                          .by = table->by.count ? &table->by : NULL,
                                          .log_target = o->log_target,
                                          .least_squares = setup->settings.loss == ORR_SR_L2,
                                          .names = table->name,
                                          .data = &table->data,
                                          .line = table->line,
                                          .category = table->category,
                                          .front = &fit->front,
                                          .seed = setup->settings.seed,
                                          .evaluations = fit->evaluations,
                                          .seconds = seconds,
                                          .rule = setup->rule,
                                          .test = tested ? &solution->test : NULL,
                                          .define = setup->define,
                                          .form = setup->settings.form,
                                          .form_text = o->form};
    if (!fit->alternatives)
        return;
    solution->beside = solution->answer;
    solution->beside.front = fit->alternatives;
    solution->beside.beside = true;
    solution->beside.test = tested ? &solution->test_beside : NULL;
    solution->answer.alternatives = &solution->beside;
}

/* Measures the front, and the alternatives where there are some, on the second table. */
static int measure_tests(const struct sr_problem *p, struct sr_solution *solution)
{
    const struct sr_settings *s = &p->setup->settings;
    const struct sr_fit *fit = solution->fit;
    if (!p->second)
        return 0;
    if (p->table->category)
        p->second->data.features = p->table->data.features;
    TRY(sr_test_measure(s, p->table, p->second, p->second_file, &fit->front, &solution->test));
    return fit->alternatives ? sr_test_measure(s, p->table, p->second, p->second_file,
                                               fit->alternatives, &solution->test_beside)
                             : 0;
}

int sr_solve_finish(const struct sr_problem *p, double seconds, double started_s, bool refits,
                    struct sr_solution *solution)
{
    const struct sr_settings *s = &p->setup->settings;
    const struct sr_data *data = &p->table->data;
    struct sr_fit *fit = solution->fit;
    bool more_rows, fewer_rows;
    if (s->follows && !p->table->category)
        TRY(follow_tails(p, solution, &refits));
    TRY(finish_front(p, seconds, started_s, refits, fit));
    TRY(sr_odd_review(p->table, fit, &more_rows));
    TRY(more_rows ? finish_front(p, seconds, started_s, true, fit) : 0);
    TRY(sr_odd_leave(p->table, p->options, fit, &fewer_rows));
    TRY(fewer_rows ? finish_front(p, seconds, started_s, true, fit) : 0);
    TRY(judge_further(p, seconds, started_s, fit));
    TRY(sr_front_alternatives(s, data, fit)); /* before names: they are compared as numbers */
    TRY(sr_front_name(s, data, &fit->front));
    TRY(fit->alternatives ? sr_front_name(s, data, fit->alternatives) : 0);
    if (!fit->front.count)
        return ORR_FAIL(ORR_EINVAL,
                        "%s: no formula is finite on every row and within the constraints",
                        p->file);
    TRY(measure_tests(p, solution));
    describe(p, orr_time_s() - started_s, solution);
    return 0;
}

int sr_solve(const struct sr_problem *p, struct sr_solution *solution)
{
    const double started_s = orr_time_s(), seconds = p->setup->settings.max_seconds;
    *solution = (struct sr_solution){.fit = orr_alloc(1, sizeof *solution->fit)};
    TRY(solution->fit ? 0 : ORR_ENOMEM);
    TRY(choose_rows_and_weights(p));
    TRY(sr_x_errors_weigh(p->table, p->setup, p->threads));
    const struct sr_further_judge *judge = further_judge(p);
    p->setup->settings.max_seconds = (1 - (judge ? judge->share : 0)) * seconds;
    const int rc = search_rows(p, solution->fit, started_s, &solution->stopped);
    p->setup->settings.max_seconds = seconds;
    TRY(rc);
    return sr_solve_finish(p, seconds, started_s, p->setup->batch > 0, solution);
}

int sr_solve_shuffled(const struct sr_problem *p, struct sr_fit *fit, bool *stopped)
{
    const double started_s = orr_time_s(), seconds = p->setup->settings.max_seconds;
    TRY(search_rows(p, fit, started_s, stopped));
    return finish_front(p, seconds, started_s, p->setup->batch > 0, fit);
}

void sr_solution_free(struct sr_solution *solution)
{
    sr_fit_free(solution->fit);
    *solution = (struct sr_solution){0};
}
