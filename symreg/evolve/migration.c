/* migration.c - between epochs: merges the islands' results and size counts, and migrates members.
 * */
#include "search.h"

#include <math.h>
#include <stdlib.h>

/* Migration as in SymbolicRegression.jl: the shares of a population replaced per epoch by the best
 * members of all islands and by formulas of the front. */
static const double migrants_share = 0.00036, front_share = 0.0614;
/* Relative fall of a row's loss that triggers a polish; in few rows that of a constant that moves
 * by its standard error, 1 / rows. */
static const double notable_share = 0.01;
/* Share of the best constant's loss. Below it a further fall is ignored, as tables have about 7
 * digits. */
static const double settled_share = 1e-7;
static const double sizes_cap = 100000; /* total of the counts of sizes */
enum {
    POOL = 12,    /* best members of each island that may migrate */
    SETTLED = 10, /* epochs without change after which an exact front is final */
    REACHED = 2,  /* epochs after which no simpler formula within settings->tolerance is awaited */
};

/* The complexity of the simplest formula within settings->tolerance; 0: there is none. */
static int find_within(const struct sr_settings *s, const struct sr_run *run)
{
    double left, worst;
    double *value = s->tolerance > 0 ? orr_alloc(run->loss->data->rows, sizeof *value) : NULL;
    int found = 0;
    for (int c = 1; c <= s->maxsize && value && !found; c++) {
        if (!run->best->expr[c].count || !sr_eval(&run->best->expr[c], run->loss->data, value))
            continue;
        sr_measure_fit(run->loss->data, value, &left, &worst);
        found = left <= s->tolerance * s->tolerance ? c : 0;
    }
    free(value);
    return found;
}

static enum sr_end end_of(const struct sr_settings *s, const struct sr_run *run)
{
    double smallest = HUGE_VAL;
    bool exact = false;
    for (int c = 1; c <= s->maxsize; c++) {
        smallest = fmin(smallest, run->best->loss[c]);
        exact =
            exact || (run->best->loss[c] <= 0 && sr_loss_decides(run->loss, &run->best->expr[c]));
    }
    if (exact && run->unchanged >= SETTLED)
        return SR_END_EXACT;
    if (s->stop_loss > 0 && smallest <= s->stop_loss)
        return SR_END_LOSS;
    if (s->tolerance > 0 && run->unchanged >= REACHED && find_within(s, run))
        return SR_END_TOLERANCE;
    return s->patience > 0 && s->algorithm->patient && run->stale >= s->patience ? SR_END_PATIENCE
                                                                                 : SR_END_NONE;
}

void sr_run_end(const struct sr_settings *s, struct sr_run *run)
{
    run->end = end_of(s, run);
    if (run->end == SR_END_PATIENCE && s->restarts_fresh) {
        run->fresh = true;
        run->stale = 0;
        run->end = SR_END_NONE;
    }
}

bool sr_run_take(const struct sr_settings *s, struct sr_run *run, const struct sr_island *island)
{
    const struct sr_hall_of_fame *hall = island->hall;
    bool changed = false;
    for (int c = 1; c <= s->maxsize; c++)
        if (hall->expr[c].count &&
            sr_hall_of_fame_offer(run->best, s->language, &hall->expr[c], hall->loss[c]))
            changed = true;
    if (run->near)
        sr_near_merge(run->near, s->language, island->near);
    return changed;
}

/* Merges the islands' halls into the run's, in island order. Rows whose loss fell notably since
 * their last polish are marked for polishing. */
static void merge_halls(const struct sr_settings *s, struct sr_run *run)
{
    bool changed = false, notable = false;
    const double share = fmax(notable_share, 1 / (double)run->loss->data->rows);
    double smallest = HUGE_VAL;
    const int before = find_within(s, run);
    for (int i = 0; i < s->populations; i++)
        changed = sr_run_take(s, run, &run->island[i]) || changed;
    const int within = find_within(s, run);
    if (within) /* longer formulas do not count */
        changed = within != before;
    for (int c = 1; c <= s->maxsize; c++) {
        const double loss = run->best->loss[c];
        const bool fell = loss < smallest && loss < (1 - share) * run->mark[c] &&
                          smallest > settled_share * run->loss->base;
        smallest = fmin(smallest, loss);
        run->view.polish[c] = fell;
        notable = notable || fell;
        if (fell)
            run->mark[c] = loss;
    }
    run->unchanged = changed ? 0 : run->unchanged + 1;
    run->stale = notable ? 0 : run->stale + 1;
    run->fresh = false;
    sr_run_end(s, run);
}

static void count_sizes(const struct sr_settings *s, struct sr_run *run)
{
    double total = 0;
    for (int i = 0; i < s->populations; i++)
        for (int m = 0; m < s->population_size; m++)
            run->sizes[run->island[i].member[m].expr.count]++;
    for (int c = 1; c <= s->maxsize; c++)
        total += run->sizes[c];
    const double shrink = total > sizes_cap ? sizes_cap / total : 1;
    for (int c = 1; c <= s->maxsize; c++) {
        run->sizes[c] *= shrink;
        run->view.frequency[c] = run->sizes[c] / (total * shrink);
    }
}

void sr_run_merge(const struct sr_settings *s, struct sr_run *run)
{
    merge_halls(s, run);
    count_sizes(s, run);
}

/* ---- migration */

/* Indices of the island's POOL cheapest members, cheapest first. */
static int list_cheapest(const struct sr_settings *s, const struct sr_island *island,
                         int pool[POOL])
{
    int n = 0;
    for (int m = 0; m < s->population_size; m++) {
        int k = n < POOL ? n++ : POOL;
        for (; k > 0 && island->member[m].cost < island->member[pool[k - 1]].cost; k--)
            if (k < POOL)
                pool[k] = pool[k - 1];
        if (k < POOL)
            pool[k] = m;
    }
    return n;
}

static void settle_migrant(const struct sr_settings *s, struct sr_island *island, gsl_rng *rng,
                           const struct sr_member *migrant)
{
    const int place = (int)(gsl_rng_uniform(rng) * s->population_size);
    island->member[place] = *migrant;
    island->member[place].age = island->births++;
}

void sr_run_migrate(const struct sr_settings *s, struct sr_run *run, gsl_rng *rng)
{
    int row[SR_NODES + 1], rows = 0, pool[POOL];
    double smallest = HUGE_VAL;
    for (int c = 1; c <= s->maxsize; c++)
        if (run->best->loss[c] < smallest) {
            smallest = run->best->loss[c];
            row[rows++] = c;
        }
    for (int i = 0; i < s->populations; i++) {
        const double size = s->population_size;
        for (unsigned k = orr_draw_poisson(rng, size * migrants_share); k; k--) {
            const struct sr_island *from =
                &run->island[(int)(gsl_rng_uniform(rng) * s->populations)];
            const int n = list_cheapest(s, from, pool);
            const struct sr_member migrant = from->member[pool[(int)(gsl_rng_uniform(rng) * n)]];
            settle_migrant(s, &run->island[i], rng, &migrant);
        }
        for (unsigned k = orr_draw_poisson(rng, size * front_share); k && rows; k--) {
            const int c = row[(int)(gsl_rng_uniform(rng) * rows)];
            struct sr_member migrant = {.expr = run->best->expr[c], .loss = run->best->loss[c]};
            if (s->algorithm->scaled)
                sr_expr_strip(&migrant.expr);
            migrant.cost = sr_member_cost(&run->view, &migrant);
            settle_migrant(s, &run->island[i], rng, &migrant);
        }
    }
}
