/* island.c - one island: tournament, change, replacement of the oldest. */
#include "search.h"

#include <math.h>
#include <string.h>

/* Probabilities as in SymbolicRegression.jl. */
static const double crossover_share = 0.0259, winner_share = 0.982, optimise_share = 0.14;
static const double size_pressure = 1040; /* of adaptive parsimony */
enum {
    TOURNAMENT = 15,
    EVENTS = 2,       /* per cycle */
    TRIES = 10,       /* to find a change that fits */
    GUESS_STEPS = 30, /* of the user's own formulas */
    GUESS_RESTARTS = 2,
};

void sr_island_guess(const struct sr_epoch_view *view, struct sr_worker *worker,
                     struct sr_island *island, struct sr_member *member)
{
    sr_constants_fit(view->loss, &member->expr, true, GUESS_STEPS, GUESS_RESTARTS,
                     worker->thread->rng, &worker->thread->work);
    sr_member_evaluate(view, worker, island, member);
}

void sr_island_init(const struct sr_epoch_view *view, struct sr_worker *worker,
                    struct sr_island *island)
{
    const struct sr_settings *s = view->settings;
    const struct sr_algorithm *algorithm = sr_algorithm_of(s);
    memset(worker->seen, 0, sizeof *worker->seen);
    sr_hall_of_fame_clear(island->hall);
    if (algorithm->knows_constant)
        sr_offer_constant(view, worker, island);
    for (int i = 0; i < s->population_size; i++) {
        struct sr_member *member = &island->member[i];
        member->age = island->births++;
        member->loss = member->cost = HUGE_VAL;
        algorithm->start(s, view->loss->data->features, worker->thread->rng, &member->expr);
        if (i < s->guesses) /* the user's own come first, as good as their constants allow */
            member->expr = s->guess[i];
        if (sr_island_over(island))
            continue;
        if (i < s->guesses)
            sr_island_guess(view, worker, island, member);
        else
            sr_member_evaluate(view, worker, island, member);
    }
}

/* ---- events */

static void enter_tournament(struct sr_worker *worker, const struct sr_island *island, int i)
{
    const struct sr_member *member = &island->member[i];
    worker->entry[i].value = member->cost * worker->price[member->expr.count];
    worker->entry[i].age = member->age;
}

/* Prices of crowded sizes: a tournament goes by cost times price. They are relative to the most
 * crowded size and end at e^-600, so that no product of finite numbers overflows. */
static void set_prices(const struct sr_epoch_view *view, struct sr_worker *worker,
                       const struct sr_island *island)
{
    double most = 0;
    for (int c = 0; c <= SR_NODES; c++)
        most = fmax(most, view->frequency[c]);
    for (int c = 0; c <= SR_NODES; c++) {
        const double power = fmax(size_pressure * (view->frequency[c] - most), -600);
        worker->price[c] = sr_op_table[SR_EXP].value(power, 0);
    }
    for (int i = 0; i < view->settings->population_size; i++)
        enter_tournament(worker, island, i);
}

/* The winner of a tournament: rank k with probability p (1 - p)^k. */
static int tournament(const struct sr_epoch_view *view, struct sr_worker *worker)
{
    const int n = view->settings->population_size, size = n < TOURNAMENT ? n : TOURNAMENT;
    struct sr_tournament_entry *const entry = worker->entry;
    const uint64_t number = ++worker->tournaments;
    int entrant[TOURNAMENT] = {0}, winner = 0;
    double value[TOURNAMENT];
    for (int k = 0; k < size;) { /* without replacement; few repeats */
        const int i = (int)(gsl_rng_uniform(worker->thread->rng) * n);
        if (entry[i].entered == number)
            continue;
        entry[i].entered = number;
        entrant[k] = i;
        value[k++] = entry[i].value;
    }
    for (int rank = 0; rank < size; rank++) {
        for (winner = 0; entrant[winner] < 0;)
            winner++;
        for (int k = winner + 1; k < size; k++)
            if (entrant[k] >= 0 && value[k] < value[winner])
                winner = k;
        if (rank == size - 1 || gsl_rng_uniform(worker->thread->rng) < winner_share)
            break;
        entrant[winner] = -1; /* out */
    }
    return entrant[winner];
}

/* The child takes the oldest's place. */
static void add_child(const struct sr_epoch_view *view, struct sr_worker *worker,
                      struct sr_island *island, struct sr_member *child)
{
    int oldest = 0;
    if (!isfinite(child->loss) && !sr_algorithm_of(view->settings)->keeps_infinite)
        return;
    for (int i = 1; i < view->settings->population_size; i++)
        if (worker->entry[i].age < worker->entry[oldest].age)
            oldest = i;
    child->age = island->births++;
    island->member[oldest] = *child;
    enter_tournament(worker, island, oldest);
}

static void crossover(const struct sr_epoch_view *view, struct sr_worker *worker,
                      struct sr_island *island)
{
    const struct sr_member *mother = &island->member[tournament(view, worker)];
    const struct sr_member *father = &island->member[tournament(view, worker)];
    struct sr_member a, b;
    for (int attempt = 0; attempt < TRIES; attempt++) {
        a = *mother;
        b = *father;
        if (!sr_crossover(view->settings, worker->thread->rng, &a.expr, &b.expr))
            continue;
        sr_member_evaluate(view, worker, island, &a);
        sr_member_evaluate(view, worker, island, &b);
        add_child(view, worker, island, &a);
        add_child(view, worker, island, &b);
        return;
    }
}

static void mutate(const struct sr_epoch_view *view, struct sr_worker *worker,
                   struct sr_island *island)
{
    const struct sr_member *parent = &island->member[tournament(view, worker)];
    struct sr_member child;
    bool changed = false;
    for (int attempt = 0; attempt < TRIES && !changed; attempt++) {
        child = *parent;
        changed =
            sr_mutate(view->settings, view->loss->data->features, worker->thread->rng, &child.expr);
    }
    if (!changed)
        return;
    const double before = view->frequency[parent->expr.count];
    const double after = view->frequency[child.expr.count];
    const double u = gsl_rng_uniform(worker->thread->rng);
    if (u * after > before)
        return;
    sr_member_evaluate(view, worker, island, &child);
    add_child(view, worker, island, &child);
}

/* ---- end of an epoch */

static void simplify_members(const struct sr_epoch_view *view, struct sr_island *island)
{
    const uint64_t operators = sr_settings_operators(view->settings);
    for (int i = 0; i < view->settings->population_size; i++) {
        struct sr_member *member = &island->member[i];
        sr_expr_rewrite(view->settings->language, &member->expr, operators);
        if (sr_algorithm_of(view->settings)->scaled)
            sr_expr_strip(&member->expr); /* the outer scale stands for it: the loss stays */
        member->cost = sr_member_cost(view, member);
    }
}

static void optimise_members(const struct sr_epoch_view *view, struct sr_worker *worker,
                             struct sr_island *island)
{
    for (int i = 0; i < view->settings->population_size && !sr_island_over(island); i++) {
        struct sr_member *member = &island->member[i];
        double constants[SR_NODES];
        if (gsl_rng_uniform(worker->thread->rng) >= optimise_share ||
            !sr_expr_constants(&member->expr, constants))
            continue;
        if (sr_algorithm_of(view->settings)->fit(view, worker, island, member))
            sr_member_evaluate(view, worker, island, member);
    }
}

void sr_island_epoch(const struct sr_epoch_view *view, struct sr_worker *worker,
                     struct sr_island *island, int number)
{
    memset(worker->seen, 0, sizeof *worker->seen);
    set_prices(view, worker, island);
    for (int c = 0; c <= SR_NODES; c++) { /* keep only what is better than the run's */
        island->hall->loss[c] = view->best->loss[c];
        island->hall->expr[c].count = 0;
    }
    for (int cycle = 0; cycle < view->settings->cycles && !sr_island_over(island); cycle++)
        for (int event = 0; event < EVENTS; event++) {
            if (gsl_rng_uniform(worker->thread->rng) < crossover_share)
                crossover(view, worker, island);
            else
                mutate(view, worker, island);
        }
    simplify_members(view, island);
    optimise_members(view, worker, island);
    for (int c = 1; c <= view->settings->maxsize && !sr_island_over(island); c++)
        if (sr_algorithm_of(view->settings)->polishes && view->polish[c] &&
            c % view->settings->populations == number)
            sr_polish_row(view, worker, island, c);
}
