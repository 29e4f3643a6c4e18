/* island.c - evolves one island: tournaments, mutation and crossover, replacement of the oldest
 * member. */
#include "search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Probabilities as in SymbolicRegression.jl. */
static const double crossover_share = 0.0259, winner_share = 0.982, optimise_share = 0.14;
static const double size_pressure = 1040; /* weight of size frequencies in adaptive parsimony */
enum {
    TOURNAMENT = 15,
    EVENTS = 2,       /* per cycle */
    TRIES = 10,       /* attempts to find a mutation that fits */
    GUESS_STEPS = 30, /* fit steps for the user's guesses */
    GUESS_RESTARTS = 2,
};

void sr_island_guess(struct sr_worker *w, struct sr_member *member)
{
    sr_constants_fit(w->view->loss, &member->expr, w->settings->form == NULL, GUESS_STEPS,
                     GUESS_RESTARTS, w->thread->rng, &w->thread->work);
    sr_member_evaluate(w, member);
}

void sr_island_init(struct sr_worker *w)
{
    const struct sr_settings *s = w->settings;
    const struct sr_algorithm *algorithm = s->algorithm;
    sr_hall_of_fame_clear(w->island->hall);
    sr_near_clear(w->island->near);
    if (algorithm->knows_constant)
        sr_offer_constant(w);
    for (int i = 0; i < s->population_size; i++) {
        struct sr_member *member = &w->island->member[i];
        member->age = w->island->births++;
        member->loss = member->cost = HUGE_VAL;
        if (s->form)
            sr_parts_start(s, w->thread->rng, &member->expr);
        else
            algorithm->start(s, w->view->loss->data->features, w->thread->rng, &member->expr);
        if (i < s->guesses) /* the user's guesses come first, with fitted constants */
            member->expr = s->guess[i];
        if (sr_island_over(w->island))
            continue;
        if (i < s->guesses)
            sr_island_guess(w, member);
        else
            sr_member_evaluate(w, member);
    }
}

/* ---- events */

static double tournament_value(const struct sr_worker *w, int member)
{
    const struct sr_member *m = &w->island->member[member];
    return m->cost * w->price[m->expr.count];
}

static int by_value(const void *a, const void *b)
{
    const struct sr_tournament_entry *p = a, *q = b;
    if (p->value != q->value)
        return p->value < q->value ? -1 : 1;
    return p->member - q->member;
}

/* Sets the price of each size. Tournaments compare cost times price; the price falls with the
 * difference from the most frequent size. The exponent is bounded at -600 so that no product of
 * finite numbers overflows. */
static void set_prices(struct sr_worker *w)
{
    double most = 0;
    for (int c = 0; c <= SR_NODES; c++)
        most = fmax(most, w->view->frequency[c]);
    for (int c = 0; c <= SR_NODES; c++) {
        const double power = fmax(size_pressure * (w->view->frequency[c] - most), -600);
        w->price[c] = sr_op_table[SR_EXP].value(power, 0);
    }
    for (int i = 0; i < w->settings->population_size; i++)
        w->entry[i] = (struct sr_tournament_entry){
            .value = tournament_value(w, i), .age = w->island->member[i].age, .member = i};
    qsort(w->entry, (size_t)w->settings->population_size, sizeof *w->entry, by_value);
}

/* The winner has rank k among the entrants with probability p (1 - p)^k. As members are sorted,
 * only the places of the first k + 1 entrants are drawn, each from its distribution given those
 * before it: of the members that are left, the next one is an entrant with the probability
 * entrants left / members left. */
int sr_tournament_winner(gsl_rng *rng, int members)
{
    const int size = members < TOURNAMENT ? members : TOURNAMENT;
    int rank = 0, place = -1;
    while (rank < size - 1 && orr_rng_uniform(rng) >= winner_share)
        rank++;
    for (int left = size; left >= size - rank; left--) {
        const double u = orr_rng_uniform(rng);
        double behind = 1; /* the probability that the entrant stands behind the place */
        do {
            place++;
            behind *= 1 - (double)left / (members - place);
        } while (u < behind);
    }
    return place;
}

/* Of members without a finite loss, as under constraints that few formulas meet, none is better:
 * all win alike. */
static const struct sr_member *run_tournament(const struct sr_worker *w)
{
    const int members = w->settings->population_size;
    int place = sr_tournament_winner(w->thread->rng, members);
    if (!isfinite(w->entry[place].value)) {
        int first = place;
        while (first > 0 && !isfinite(w->entry[first - 1].value))
            first--;
        place = first + (int)(orr_rng_uniform(w->thread->rng) * (members - first));
    }
    return &w->island->member[w->entry[place].member];
}

/* Without the nodes that the formula does not use. */
static void copy_member(struct sr_member *to, const struct sr_member *from)
{
    to->loss = from->loss;
    to->cost = from->cost;
    to->age = from->age;
    to->expr.count = from->expr.count;
    memcpy(to->expr.node, from->expr.node, (size_t)from->expr.count * sizeof *to->expr.node);
}

/* The child replaces the oldest member, and takes its place among the sorted entries. */
static void add_child(struct sr_worker *w, struct sr_member *child)
{
    struct sr_tournament_entry *const entry = w->entry;
    int k = 0;
    if (!isfinite(child->loss) && !w->settings->algorithm->keeps_infinite)
        return;
    for (int i = 1; i < w->settings->population_size; i++)
        if (entry[i].age < entry[k].age)
            k = i;
    const int oldest = entry[k].member;
    child->age = w->island->births++;
    copy_member(&w->island->member[oldest], child);
    const double value = tournament_value(w, oldest);
    for (; k + 1 < w->settings->population_size && entry[k + 1].value <= value; k++)
        entry[k] = entry[k + 1];
    for (; k > 0 && entry[k - 1].value > value; k--)
        entry[k] = entry[k - 1];
    entry[k] = (struct sr_tournament_entry){value, child->age, oldest};
}

static void cross_members(struct sr_worker *w)
{
    const struct sr_member *mother = run_tournament(w);
    const struct sr_member *father = run_tournament(w);
    struct sr_member a, b;
    for (int attempt = 0; attempt < TRIES; attempt++) {
        copy_member(&a, mother);
        copy_member(&b, father);
        if (!sr_crossover(w->settings, w->thread->rng, &a.expr, &b.expr))
            continue;
        sr_member_evaluate(w, &a);
        sr_member_evaluate(w, &b);
        add_child(w, &a);
        add_child(w, &b);
        return;
    }
}

static void mutate_member(struct sr_worker *w)
{
    const struct sr_member *parent = run_tournament(w);
    struct sr_member child;
    bool changed = false;
    for (int attempt = 0; attempt < TRIES && !changed; attempt++) {
        copy_member(&child, parent);
        changed =
            sr_mutate(w->settings, w->view->loss->data->features, w->thread->rng, &child.expr);
    }
    if (!changed)
        return;
    const double before = w->view->frequency[parent->expr.count];
    const double after = w->view->frequency[child.expr.count];
    const double u = orr_rng_uniform(w->thread->rng);
    if (u * after > before)
        return;
    sr_member_evaluate(w, &child);
    add_child(w, &child);
}

/* ---- end of an epoch */

static void simplify_members(struct sr_worker *w)
{
    for (int i = 0; i < w->settings->population_size; i++) {
        struct sr_member *member = &w->island->member[i];
        sr_rewrite(w->settings, &member->expr);
        if (w->settings->algorithm->scaled)
            /* the outer scale makes up for the factor, so the loss does not change */
            sr_expr_strip(&member->expr);
        member->cost = sr_member_cost(w->view, member);
    }
}

static void optimise_members(struct sr_worker *w)
{
    for (int i = 0; i < w->settings->population_size && !sr_island_over(w->island); i++) {
        struct sr_member *member = &w->island->member[i];
        if (orr_rng_uniform(w->thread->rng) >= optimise_share ||
            !sr_expr_constants(&member->expr, NULL))
            continue;
        if (w->settings->algorithm->fit(w, member))
            sr_member_evaluate(w, member);
    }
}

void sr_island_epoch(struct sr_worker *w, int number)
{
    set_prices(w);
    for (int c = 0; c <= SR_NODES; c++) { /* keep only formulas that are better than the run's */
        w->island->hall->loss[c] = w->view->best->loss[c];
        w->island->hall->expr[c].count = 0;
    }
    sr_near_clear(w->island->near);
    for (int cycle = 0; cycle < w->settings->cycles && !sr_island_over(w->island); cycle++)
        for (int event = 0; event < EVENTS; event++) {
            if (orr_rng_uniform(w->thread->rng) < crossover_share)
                cross_members(w);
            else
                mutate_member(w);
        }
    simplify_members(w);
    optimise_members(w);
    for (int c = 1; c <= w->settings->maxsize && !sr_island_over(w->island); c++)
        if (w->settings->algorithm->polishes && w->view->polish[c] &&
            c % w->settings->populations == number)
            sr_polish_row(w, c);
}
