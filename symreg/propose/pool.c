/* pool.c - what a search starts from: candidates of enumeration and composition, fitted. */
#include "propose.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "enumerate.h"

enum { FIT_STEPS = 20, FIT_RESTARTS = 1, QUICK_STEPS = 5 };

uint64_t sr_settings_operators(const struct sr_settings *settings)
{
    uint64_t set = (uint64_t)1 << SR_CONSTANT | (uint64_t)1 << SR_FEATURE;
    for (int i = 0; i < settings->binary_count; i++)
        set |= (uint64_t)1 << settings->binary[i];
    for (int i = 0; i < settings->unary_count; i++)
        set |= (uint64_t)1 << settings->unary[i];
    return set;
}

/* Formulas tried at first, in milliseconds. Tables of fewer rows than are looked at have no second
 * helping: of millions of formulas with free constants many fit a few rows by chance. */
static const double first_large = 2e4, first_small = 5e4;

int sr_few_init(struct sr_few *few, const struct sr_loss *loss, const size_t row[SR_ROWS])
{
    const struct sr_data *data = loss->data;
    const bool bends = loss->kind == ORR_SR_HUBER || loss->kind == ORR_SR_LOGCOSH;
    double total = 0;
    *few = (struct sr_few){.x = orr_alloc(((size_t)data->features + 2) * SR_ROWS, sizeof *few->x)};
    if (!few->x)
        return ORR_ENOMEM;
    double *y = few->x + (size_t)data->features * SR_ROWS, *weight = y + SR_ROWS;
    for (size_t i = 0; i < SR_ROWS; i++) {
        for (size_t f = 0; f < (size_t)data->features; f++)
            few->x[f * SR_ROWS + i] = data->x[f * data->rows + row[i]];
        y[i] = data->y[row[i]];
        weight[i] = data->weight ? data->weight[row[i]] : 1;
        total += weight[i];
    }
    few->data = (struct sr_data){.rows = SR_ROWS, .features = data->features, .x = few->x, .y = y};
    if (data->weight && total > 0) /* rows that are all of weight 0 count alike */
        few->data.weight = weight;
    return sr_loss_init_with(&few->loss, loss->kind,
                             bends ? loss->parameter / loss->unit : loss->parameter, &few->data);
}

void sr_few_free(struct sr_few *few)
{
    sr_loss_free(&few->loss);
    free(few->x);
    few->x = NULL;
}

/* Indices of the best of every size. */
static int select_best(const struct sr_candidates *candidates, int maxsize, int chosen[SR_SEEDS])
{
    int total = 0;
    for (int size = 1; size <= maxsize && total + SR_SEEDS_PER_SIZE <= SR_SEEDS; size++) {
        int *list = chosen + total, n = 0;
        for (int i = 0; i < candidates->count; i++) {
            const double loss = candidates->loss[i];
            if (candidates->expr[i].count != size || !isfinite(loss))
                continue;
            bool twice = false; /* equal losses: the same function */
            for (int k = 0; k < n && !twice; k++)
                twice = fabs(candidates->loss[list[k]] - loss) <= 1e-9 * loss;
            if (twice || (n == SR_SEEDS_PER_SIZE && loss >= candidates->loss[list[n - 1]]))
                continue;
            int k = n < SR_SEEDS_PER_SIZE ? n++ : n - 1;
            for (; k > 0 && loss < candidates->loss[list[k - 1]]; k--)
                list[k] = list[k - 1];
            list[k] = i;
        }
        total += n;
    }
    return total;
}

/* Fits constants and outer scale of every seed. */
static void fit_seeds(const struct sr_settings *settings, const struct sr_loss *loss,
                      struct sr_thread *thread, int threads, struct sr_seeds *seeds)
{
    const uint64_t operators = sr_settings_operators(settings);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int i = 0; i < seeds->count; i++) {
        struct sr_thread *own = &thread[omp_get_thread_num()];
        struct sr_expr *expr = &seeds->expr[i];
        orr_rng_seek(own->rng, settings->seed, ORR_STAGE_SYMREG, UINT64_MAX - (uint64_t)i);
        seeds->loss[i] = HUGE_VAL;
        if (orr_signal_seen())
            continue;
        seeds->loss[i] =
            sr_constants_fit(loss, expr, true, FIT_STEPS, FIT_RESTARTS, own->rng, &own->work);
        sr_expr_rewrite(expr, operators);
    }
}

/* Small formulas, and compositions of them where `pairs`, fitted; *exact: one fits to rounding. */
static int find_stage(const struct sr_settings *settings, const struct sr_loss *loss,
                      struct sr_thread *thread, int threads, double budget, bool pairs,
                      struct sr_seeds *seeds, bool *exact)
{
    struct sr_bank bank = {0};
    struct sr_few few = {0};
    int chosen[SR_SEEDS];
    struct sr_candidates *candidates = orr_alloc(1, sizeof *candidates);
    int rc = candidates ? sr_bank_init(&bank, settings, loss->data, budget) : ORR_ENOMEM;
    seeds->count = 0;
    *exact = false;
    if (!rc)
        sr_bank_offer(&bank, settings, candidates);
    if (!rc && pairs)
        rc = sr_compose(&bank, settings, threads, candidates);
    if (!rc)
        rc = sr_few_init(&few, loss, bank.row);
    if (!rc) {
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
        for (int i = 0; i < candidates->count; i++) {
            struct sr_thread *own = &thread[omp_get_thread_num()];
            double scale;
            sr_constants_fit(&few.loss, &candidates->expr[i], true, QUICK_STEPS, 0, own->rng,
                             &own->work);
            candidates->loss[i] = HUGE_VAL;
            if (!settings->admissible ||
                settings->admissible(&candidates->expr[i], settings->context))
                candidates->loss[i] = sr_eval_loss(&candidates->expr[i], loss, &own->work, &scale);
        }
        seeds->count = select_best(candidates, settings->maxsize, chosen);
        for (int i = 0; i < seeds->count; i++)
            seeds->expr[i] = candidates->expr[chosen[i]];
        fit_seeds(settings, loss, thread, threads, seeds);
        seeds->evaluations += (double)candidates->count;
        for (int i = 0; i < seeds->count; i++)
            *exact = *exact || seeds->loss[i] <= loss->noise;
    }
    sr_few_free(&few);
    sr_bank_free(&bank);
    free(candidates);
    return rc;
}

int sr_seeds_find(const struct sr_settings *settings, const struct sr_loss *loss,
                  struct sr_thread *thread, int threads, struct sr_seeds *seeds)
{
    const bool small = loss->data->rows < SR_ROWS;
    const double all = settings->enumerate, first = small ? first_small : first_large;
    bool exact;
    seeds->evaluations = 0;
    int rc = find_stage(settings, loss, thread, threads, fmin(first, all), false, seeds, &exact);
    /* an exact formula: all that are simpler were seen on the way */
    if (!rc && !exact && !small && all > first)
        rc = find_stage(settings, loss, thread, threads, all, true, seeds, &exact);
    return rc;
}
