/* permutations.c - permutation test: repeats the search on randomly ordered targets to see what
 * noise alone would give. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>

#include "solve.h"

/* Nats by which the order of the rows may change a description length through rounding. */
static const double rounding = 1e-6;

/* The smallest description length of a front, and the smallest loss among its formulas up to a
 * given complexity; HUGE_VAL where there is none. */
static double shortest_description(const struct sr_front *front)
{
    double least = HUGE_VAL;
    for (int i = 0; i < front->count; i++)
        least = fmin(least, front->mdl[i]);
    return least;
}
static double smallest_loss(const struct sr_front *front, int complexity)
{
    double least = HUGE_VAL;
    for (int i = 0; i < front->count && front->complexity[i] <= complexity; i++)
        least = fmin(least, front->loss[i]);
    return least;
}

/* Copies targets and their weights in the order of `row` to the shuffled table. */
static void shuffle_targets(const struct sr_data *data, const size_t *row, double *y,
                            double *weight)
{
    for (size_t i = 0; i < data->rows; i++) {
        y[i] = data->y[row[i]];
        if (weight)
            weight[i] = data->weight[row[i]];
    }
}

struct work {
    size_t *row;
    double *y, *weight, *loss; /* loss: smallest loss of each search */
    gsl_rng *rng;
    struct sr_fit *fit;
};

static int make_work(const struct sr_data *data, int searches, uint64_t seed, struct work *w)
{
    *w = (struct work){.row = orr_alloc(data->rows, sizeof *w->row),
                       .y = orr_alloc(2 * data->rows, sizeof *w->y),
                       .loss = orr_alloc((size_t)searches, sizeof *w->loss),
                       .rng = orr_rng_create(seed, ORR_STAGE_SAMPLE, 1),
                       .fit = orr_alloc(1, sizeof *w->fit)};
    if (!w->row || !w->y || !w->loss || !w->rng || !w->fit)
        return ORR_ENOMEM;
    w->weight = data->weight ? w->y + data->rows : NULL;
    for (size_t i = 0; i < data->rows; i++)
        w->row[i] = i;
    return 0;
}

static void free_work(struct work *w)
{
    free(w->row);
    free(w->y);
    free(w->loss);
    if (w->rng)
        gsl_rng_free(w->rng);
    free(w->fit);
}

static int search_shuffled(const struct sr_problem *p, struct sr_solution *solution, struct work *w,
                           bool *stopped)
{
    const struct sr_front *front = &solution->fit->front;
    struct sr_permutations *result = &solution->permutations;
    gsl_ran_shuffle(w->rng, w->row, p->table->data.rows, sizeof *w->row);
    shuffle_targets(solution->answer.data, w->row, w->y, w->weight);
    TRY(sr_solve_shuffled(p, w->fit, stopped));
    if (*stopped)
        return 0;
    result->as_good +=
        shortest_description(&w->fit->front) <= shortest_description(front) + rounding;
    w->loss[result->searches++] = smallest_loss(&w->fit->front, result->complexity);
    return 0;
}

int sr_solve_permutations(const struct sr_problem *problem, struct sr_solution *solution)
{
    const struct sr_csv_setup *asked = problem->setup;
    const struct sr_front *front = &solution->fit->front;
    const int chosen = sr_front_select(front, asked->rule), searches = asked->permutations;
    struct sr_permutations *result = &solution->permutations;
    struct sr_table shuffled = *problem->table;
    struct sr_csv_setup setup = *asked;
    struct sr_problem p = *problem;
    bool stopped = false;
    struct work w;
    int rc = make_work(&shuffled.data, searches, setup.settings.seed, &w);
    *result = (struct sr_permutations){.asked = searches};
    result->complexity = chosen < 0 ? 0 : front->complexity[chosen];
    setup.settings.checkpoint = NULL;
    setup.settings.resume = false;
    setup.settings.alternatives = 0;
    setup.settings.observe = NULL;
    shuffled.data.y = w.y;
    shuffled.data.weight = w.weight;
    p.table = &shuffled;
    p.setup = &setup;
    p.search = NULL;
    while (result->searches < searches && !stopped && !rc)
        rc = search_shuffled(&p, solution, &w, &stopped);
    if (result->searches && !rc) {
        gsl_sort(w.loss, 1, (size_t)result->searches);
        result->least = w.loss[0];
        result->median = gsl_stats_median_from_sorted_data(w.loss, 1, (size_t)result->searches);
        solution->answer.permutations = result; /* else a stop: nothing is known */
    }
    result->p = (result->as_good + 1.0) / (result->searches + 1.0);
    solution->stopped = solution->stopped || stopped;
    free_work(&w);
    return rc;
}

void sr_permutations_text(const struct sr_permutations *p, char *text, size_t bytes)
{
    enum { FOR_5_PERCENT = 19 };
    char few[80] = "";
    if (!p->as_good && p->searches < FOR_5_PERCENT)
        snprintf(few, sizeof few, "; N = %d gives no smaller p, N = %d gives 0.05", p->searches,
                 FOR_5_PERCENT);
    snprintf(text, bytes,
             "%d of %d searches on a shuffled target found a description length as small: "
             "p = %.3g; at complexity %d or less they reach a loss of %.4g (median %.4g)%s",
             p->as_good, p->searches, p->p, p->complexity, p->least, p->median, few);
}
