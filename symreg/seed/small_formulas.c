/* small_formulas.c - fits the candidates of enumeration and of pairs: all to a few rows, then the
 * best of every size to all rows. */
#include "base/stop.h"
#include "stages.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "shared.h"

enum { FIT_STEPS = 20, QUICK_STEPS = 5 };

/* Formulas tried in the first pass, which takes milliseconds. Tables with fewer rows than a sample
 * have only this pass: among millions of formulas with free constants many fit a few rows by
 * chance. */
static const double first_large = 2e4, first_small = 5e4;
/* Share of --enumerate that tables of few rows for pairs have. */
static const double few_share = 0.3;

/* ---- a few rows */

int sr_subsample_init(struct sr_subsample *sample, const struct sr_loss *loss,
                      const size_t row[SR_ROWS])
{
    *sample = (struct sr_subsample){0};
    TRY(sr_rows_take(loss->data, SR_ROWS, row, &sample->data, &sample->x));
    if (!sr_rows_weighted(&sample->data)) /* the rows count alike */
        sample->data.weight = NULL;
    return sr_loss_init_like(&sample->loss, loss, &sample->data);
}

void sr_subsample_free(struct sr_subsample *sample)
{
    sr_loss_free(&sample->loss);
    free(sample->x);
}

/* ---- fits */

static int fit_candidates(struct sr_proposal *p, struct sr_candidates *candidates)
{
    const struct sr_settings *s = p->settings;
    struct sr_subsample sample;
    const int rc = sr_subsample_init(&sample, p->loss, p->bank.row);
    candidates->count = rc ? 0 : sr_proposal_take(p, candidates->count);
#pragma omp parallel for schedule(dynamic, 16) num_threads(p->threads) copyin(orr_stop_of_call)
    for (int i = 0; i < candidates->count; i++) {
        struct sr_thread *own = &p->thread[omp_get_thread_num()];
        struct sr_expr *expr = &candidates->expr[i];
        double scale;
        candidates->loss[i] = HUGE_VAL;
        if (orr_signal_seen())
            continue;
        sr_constants_fit(&sample.loss, expr, true, QUICK_STEPS, 0, own->rng, &own->work);
        if (!s->admissible || s->admissible(expr, s->context))
            candidates->loss[i] = sr_eval_loss(expr, p->loss, &own->work, &scale);
    }
    sr_subsample_free(&sample);
    return rc;
}

/* The rate b of c exp(b / x), by a line through log y against 1 / x, weighted as errors of y are;
 * false where there is none. */
static bool find_rate(const struct sr_data *data, const double *x, double *b)
{
    double w = 0, u = 0, v = 0, uu = 0, uv = 0; /* weighted means */
    for (size_t i = 0; i < data->rows; i++) {
        if (!(sr_row_weight(data, i) > 0))
            continue;
        if (!(data->y[i] > 0) || !(x[i] > 0))
            return false;
        const double weight = sr_row_weight(data, i) * data->y[i] * data->y[i];
        const double du = 1 / x[i], dv = orr_log(data->y[i]);
        w += weight;
        const double by = weight / w, off_u = du - u, off_v = dv - v;
        u += by * off_u;
        v += by * off_v;
        uu += weight * off_u * (du - u);
        uv += weight * off_u * (dv - v);
    }
    *b = uv / uu;
    return uu > 0 && isnormal(*b);
}

/* Adds exp(b / x), a law of Arrhenius, for each column: with x of some hundred and b of some
 * thousand no fit gets there from a b of ordinary size, and tables of so few rows have no stage
 * that looks for a formula of the logarithm. */
static void offer_rates(const struct sr_proposal *p, struct sr_candidates *candidates)
{
    const struct sr_data *data = p->loss->data;
    if (data->rows >= SR_ROWS || !sr_has(p->operators, SR_EXP) || !sr_has(p->operators, SR_DIV))
        return;
    for (int f = 0; f < data->features && candidates->count < SR_CANDIDATES; f++) {
        double b;
        if (!find_rate(data, data->x + (size_t)f * data->rows, &b))
            continue;
        struct sr_expr *const expr = sr_candidates_next(candidates);
        const struct sr_expr u = {.count = 1, .node = {sr_feature_node(f)}};
        sr_put_text("exp(b / u)", &u, "b", &b, expr);
        candidates->count += sr_put_end(p->settings->language, expr, p->settings->maxsize);
    }
}

/* ---- the stage */

static int find_once(struct sr_proposal *p, double budget, bool pairs)
{
    struct sr_candidates *candidates = orr_alloc_unset(1, sizeof *candidates);
    const int before = p->seeds->count;
    if (!candidates)
        return ORR_ENOMEM;
    candidates->count = 0;
    sr_bank_run(&p->bank, budget);
    sr_bank_offer(&p->bank, p->settings->maxsize, candidates);
    offer_rates(p, candidates);
    int rc = pairs ? sr_pairs_offer(p, candidates) : 0;
    rc = rc ? rc : fit_candidates(p, candidates);
    if (!rc) {
        sr_proposal_add(p, candidates->expr, candidates->loss, candidates->count, SR_SEEDS_PER_SIZE,
                        true);
        sr_proposal_fit(p, before, FIT_STEPS);
    }
    free(candidates);
    return rc;
}

int sr_small_find(struct sr_proposal *p)
{
    const bool few = p->loss->data->rows < SR_ROWS;
    return find_once(p, fmin(few ? first_small : first_large, p->settings->enumerate), false);
}

int sr_composed_find(struct sr_proposal *p)
{
    const bool few = p->loss->data->rows < SR_FEW_FOR_PAIRS;
    const double given = p->settings->enumerate;
    /* of a small number that was asked for, none is left out */
    const double all = few ? fmax(few_share * given, fmin(given, first_small)) : given;
    return all <= first_large ? 0 : find_once(p, all, true);
}
