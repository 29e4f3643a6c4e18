/* island.c - one island: tournament, change, replacement of the oldest. */
#include "search.h"

#include <math.h>
#include <string.h>

/* Probabilities as in SymbolicRegression.jl. */
static const double crossover_share = 0.0259, winner_share = 0.982, optimise_share = 0.14;
static const double size_pressure = 1040; /* of adaptive parsimony */
static const double screen_margin = 0.25; /* by how much few rows may mislead */
enum {
    TOURNAMENT = 15,
    EVENTS = 2,    /* per cycle */
    TRIES = 10,    /* to find a change that fits */
    FIT_STEPS = 8, /* of members' constants, in each epoch */
    FIT_RESTARTS = 1,
    PLAIN_STEPS = 6,  /* of seeds without an outer scale */
    GUESS_STEPS = 30, /* of the user's own formulas */
    GUESS_RESTARTS = 2,
};

/* ---- evaluation */

static double without_noise(const struct sr_loss *loss, double value)
{
    return value <= loss->noise ? 0 : value;
}

/* Offers what the front may hold. */
static void offer(const struct sr_scene *scene, struct sr_hall *hall, const struct sr_expr *expr,
                  double loss)
{
    const struct sr_settings *s = scene->settings;
    if (!s->whole || s->whole(expr, s->context))
        sr_hall_offer(hall, expr, loss);
}

/* What the user's rules cost a formula; infinite: it may not live. */
static double penalty_of(const struct sr_scene *scene, const struct sr_expr *expr)
{
    const struct sr_settings *s = scene->settings;
    if (s->admissible && !s->admissible(expr, s->context))
        return HUGE_VAL;
    return s->penalty ? s->penalty(expr, s->context) * fmax(scene->loss->base, 0) : 0;
}

/* Can a formula with this loss on the screen's rows become a row of the front, as it stands or with
 * a scale of its own? */
static bool worth_while(const struct sr_hall *hall, const struct sr_expr *expr, double screened)
{
    const int most = sr_expr_complexity(expr) + 2;
    double rival = HUGE_VAL;
    for (int c = 1; c <= most && c <= SR_NODES; c++)
        rival = fmin(rival, hall->loss[c]);
    return screened <= (1 + screen_margin) * rival;
}

/* Whether the hall's row of a complexity is worse. */
static bool is_better(const struct sr_hall *hall, int complexity, double loss)
{
    return complexity <= SR_NODES && loss < hall->loss[complexity];
}

/* Offers a formula as it stands, its values in the worker's; with its best scale the loss is
 * `fitted`, and no scale is better. */
static void offer_plain(const struct sr_scene *scene, const struct sr_worker *worker,
                        struct sr_island *island, const struct sr_expr *expr, double fitted,
                        double penalty)
{
    const int size = sr_expr_complexity(expr);
    if (!is_better(island->hall, size, fitted))
        return;
    const double plain =
        without_noise(scene->loss, sr_loss_value(scene->loss, worker->thread->work.value, 1));
    if (isfinite(plain))
        offer(scene, island->hall, expr, plain + penalty);
}

/* Offers a formula that fits with an outer scale: absorbed, or as two more nodes. */
static void offer_scaled(const struct sr_scene *scene, struct sr_island *island,
                         const struct sr_expr *expr, double scale, double loss)
{
    const int maxsize = scene->settings->maxsize, size = sr_expr_complexity(expr);
    struct sr_hall *hall = island->hall;
    const bool fits =
        expr->count + 2 <= maxsize && is_better(hall, size + sr_scale_complexity(), loss);
    if (scale == 0 || (!fits && !is_better(hall, size, loss)))
        return;
    struct sr_expr whole = *expr;
    if (sr_expr_scale(&whole, scale) && whole.count <= maxsize)
        offer(scene, hall, &whole, loss);
}

static double cost_of(const struct sr_scene *scene, const struct sr_member *member)
{
    double base = scene->loss->base > 0 ? scene->loss->base : 1;
    if (scene->settings->compat)
        base = fmax(scene->loss->base, 0.01);
    return member->loss / base + scene->settings->parsimony * member->expr.count;
}

/* Met before in this epoch: its loss is known, and it has been offered. */
static bool recall(const struct sr_scene *scene, const struct sr_worker *worker,
                   struct sr_member *member, uint64_t hash)
{
    const size_t slot = hash % SR_SEEN;
    if (worker->seen->hash[slot] != hash)
        return false;
    member->loss = worker->seen->loss[slot];
    member->cost = cost_of(scene, member);
    return true;
}

static void remember(const struct sr_scene *scene, struct sr_worker *worker,
                     struct sr_member *member, uint64_t hash)
{
    const size_t slot = hash % SR_SEEN;
    member->cost = cost_of(scene, member);
    worker->seen->hash[slot] = hash;
    worker->seen->loss[slot] = member->loss;
}

/* As it stands, without an outer scale. */
static void evaluate_plain(const struct sr_scene *scene, struct sr_worker *worker,
                           struct sr_island *island, struct sr_member *member, uint64_t hash)
{
    const double penalty = penalty_of(scene, &member->expr);
    member->loss = member->cost = HUGE_VAL;
    if (!isfinite(penalty))
        return;
    island->evaluations++;
    const double loss = sr_eval_plain(&member->expr, scene->loss, &worker->thread->work);
    member->loss = loss + penalty;
    if (isfinite(loss))
        offer(scene, island->hall, &member->expr, without_noise(scene->loss, loss) + penalty);
    remember(scene, worker, member, hash);
}

bool sr_member_fit(const struct sr_scene *scene, struct sr_worker *worker, struct sr_island *island,
                   struct sr_member *member, int steps, int restarts)
{
    if (scene->screen) {
        const double penalty = penalty_of(scene, &member->expr);
        member->loss =
            penalty + sr_constants_fit(&scene->screen->loss, &member->expr, true, steps, restarts,
                                       worker->thread->rng, &worker->thread->work);
        member->cost = cost_of(scene, member);
        if (!worth_while(island->hall, &member->expr, member->loss)) {
            island->screened++;
            return false;
        }
    }
    /* where few rows have found the start, no other is tried on all of them */
    sr_constants_fit(scene->loss, &member->expr, true, steps, scene->screen ? 0 : restarts,
                     worker->thread->rng, &worker->thread->work);
    return true;
}

void sr_member_evaluate(const struct sr_scene *scene, struct sr_worker *worker,
                        struct sr_island *island, struct sr_member *member)
{
    const struct sr_loss *loss = scene->loss;
    const uint64_t hash = sr_expr_hash(&member->expr);
    if (recall(scene, worker, member, hash))
        return;
    if (scene->settings->compat) {
        evaluate_plain(scene, worker, island, member, hash);
        return;
    }
    const double penalty = penalty_of(scene, &member->expr);
    member->loss = member->cost = HUGE_VAL;
    if (!isfinite(penalty))
        return;
    double scale = 0, fitted = HUGE_VAL;
    bool worth = true;
    if (scene->screen) {
        fitted = sr_screen_loss(scene->screen, &member->expr, &worker->thread->work);
        member->loss = fitted + penalty;
        worth = worth_while(island->hall, &member->expr, member->loss);
        island->screened += !worth;
    }
    if (worth) {
        island->evaluations++;
        member->loss = HUGE_VAL;
        fitted = sr_eval_loss(&member->expr, loss, &worker->thread->work, &scale);
    }
    if (worth && isfinite(fitted)) {
        member->loss = without_noise(loss, fitted) + penalty;
        offer_plain(scene, worker, island, &member->expr, member->loss, penalty);
        offer_scaled(scene, island, &member->expr, scale, member->loss);
    }
    remember(scene, worker, member, hash);
}

void sr_member_offer_plain(const struct sr_scene *scene, struct sr_worker *worker,
                           struct sr_island *island, const struct sr_member *member)
{
    struct sr_member plain = *member;
    double constant[SR_NODES];
    if (sr_expr_constants(&plain.expr, constant) == 0)
        return;
    sr_constants_fit(scene->loss, &plain.expr, false, PLAIN_STEPS, 0, worker->thread->rng,
                     &worker->thread->work);
    sr_member_evaluate(scene, worker, island, &plain);
}

/* The best constant is on every front. */
static void offer_constant(const struct sr_scene *scene, struct sr_worker *worker,
                           struct sr_island *island)
{
    struct sr_expr expr = {.count = 1, .node = {{.op = SR_CONSTANT, .size = 1}}};
    double *one = worker->thread->work.value;
    for (size_t i = 0; i < scene->loss->data->rows; i++)
        one[i] = 1;
    expr.node[0].value = sr_loss_scale(scene->loss, one, worker->thread->work.scratch);
    const double loss = sr_loss_value(scene->loss, one, expr.node[0].value);
    if (isfinite(loss))
        offer(scene, island->hall, &expr,
              without_noise(scene->loss, loss) + penalty_of(scene, &expr));
}

void sr_island_init(const struct sr_scene *scene, struct sr_worker *worker,
                    struct sr_island *island)
{
    const struct sr_settings *s = scene->settings;
    memset(worker->seen, 0, sizeof *worker->seen);
    sr_hall_clear(island->hall);
    if (!s->compat)
        offer_constant(scene, worker, island);
    for (int i = 0; i < s->population_size; i++) {
        struct sr_member *member = &island->member[i];
        if (s->compat)
            sr_compat_random(s, scene->loss->data->features, worker->thread->rng, &member->expr);
        else
            sr_random_expr(s, scene->loss->data->features, worker->thread->rng,
                           3 + (int)(gsl_rng_uniform(worker->thread->rng) * 6), &member->expr);
        if (i < s->guesses) { /* the user's own come first, as good as their constants allow */
            member->expr = s->guess[i];
            sr_constants_fit(scene->loss, &member->expr, true, GUESS_STEPS, GUESS_RESTARTS,
                             worker->thread->rng, &worker->thread->work);
        }
        member->age = island->births++;
        sr_member_evaluate(scene, worker, island, member);
    }
}

/* ---- events */

static void stand(struct sr_worker *worker, const struct sr_island *island, int i)
{
    const struct sr_member *member = &island->member[i];
    worker->standing[i].value = member->cost * worker->price[member->expr.count];
    worker->standing[i].age = member->age;
}

/* Prices of crowded sizes: a tournament goes by cost times price. They are relative to the most
 * crowded size and end at e^-600, so that no product of finite numbers overflows. */
static void set_prices(const struct sr_scene *scene, struct sr_worker *worker,
                       const struct sr_island *island)
{
    double most = 0;
    for (int c = 0; c <= SR_NODES; c++)
        most = fmax(most, scene->frequency[c]);
    for (int c = 0; c <= SR_NODES; c++) {
        const double power = fmax(size_pressure * (scene->frequency[c] - most), -600);
        worker->price[c] = sr_op_table[SR_EXP].value(power, 0);
    }
    for (int i = 0; i < scene->settings->population_size; i++)
        stand(worker, island, i);
}

/* The winner of a tournament: rank k with probability p (1 - p)^k. */
static int tournament(const struct sr_scene *scene, struct sr_worker *worker)
{
    const int n = scene->settings->population_size, size = n < TOURNAMENT ? n : TOURNAMENT;
    struct sr_standing *const standing = worker->standing;
    const uint64_t number = ++worker->tournaments;
    int entrant[TOURNAMENT] = {0}, winner = 0;
    double value[TOURNAMENT];
    for (int k = 0; k < size;) { /* without replacement; few repeats */
        const int i = (int)(gsl_rng_uniform(worker->thread->rng) * n);
        if (standing[i].entered == number)
            continue;
        standing[i].entered = number;
        entrant[k] = i;
        value[k++] = standing[i].value;
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

static void replace_oldest(const struct sr_scene *scene, struct sr_worker *worker,
                           struct sr_island *island, struct sr_member *child)
{
    int oldest = 0;
    for (int i = 1; i < scene->settings->population_size; i++)
        if (worker->standing[i].age < worker->standing[oldest].age)
            oldest = i;
    child->age = island->births++;
    island->member[oldest] = *child;
    stand(worker, island, oldest);
}

static void crossover(const struct sr_scene *scene, struct sr_worker *worker,
                      struct sr_island *island)
{
    const struct sr_member *mother = &island->member[tournament(scene, worker)];
    const struct sr_member *father = &island->member[tournament(scene, worker)];
    struct sr_member a, b;
    for (int attempt = 0; attempt < TRIES; attempt++) {
        a = *mother;
        b = *father;
        if (!sr_crossover(scene->settings->maxsize, worker->thread->rng, &a.expr, &b.expr))
            continue;
        sr_member_evaluate(scene, worker, island, &a);
        sr_member_evaluate(scene, worker, island, &b);
        if (isfinite(a.loss) || scene->settings->compat)
            replace_oldest(scene, worker, island, &a);
        if (isfinite(b.loss) || scene->settings->compat)
            replace_oldest(scene, worker, island, &b);
        return;
    }
}

static void mutate(const struct sr_scene *scene, struct sr_worker *worker, struct sr_island *island)
{
    const struct sr_member *parent = &island->member[tournament(scene, worker)];
    struct sr_member child;
    bool changed = false;
    for (int attempt = 0; attempt < TRIES && !changed; attempt++) {
        child = *parent;
        changed = sr_mutate(scene->settings, scene->loss->data->features, worker->thread->rng,
                            &child.expr);
    }
    if (!changed)
        return;
    const double before = scene->frequency[parent->expr.count];
    const double after = scene->frequency[child.expr.count];
    const double u = gsl_rng_uniform(worker->thread->rng);
    if (u * after > before)
        return;
    sr_member_evaluate(scene, worker, island, &child);
    if (isfinite(child.loss) || scene->settings->compat)
        replace_oldest(scene, worker, island, &child);
}

/* ---- end of an epoch */

static void simplify_members(const struct sr_scene *scene, struct sr_island *island)
{
    const uint64_t operators = sr_settings_operators(scene->settings);
    for (int i = 0; i < scene->settings->population_size; i++) {
        struct sr_member *member = &island->member[i];
        sr_expr_rewrite(&member->expr, operators);
        if (!scene->settings->compat)
            sr_expr_strip(&member->expr); /* the outer scale stands for it: the loss stays */
        member->cost = cost_of(scene, member);
    }
}

static void optimise_members(const struct sr_scene *scene, struct sr_worker *worker,
                             struct sr_island *island)
{
    for (int i = 0; i < scene->settings->population_size && !orr_signal_seen(); i++) {
        struct sr_member *member = &island->member[i];
        double constants[SR_NODES];
        if (gsl_rng_uniform(worker->thread->rng) >= optimise_share ||
            !sr_expr_constants(&member->expr, constants))
            continue;
        if (scene->settings->compat)
            sr_compat_constants(scene->loss, &member->expr, worker->thread);
        else if (!sr_member_fit(scene, worker, island, member, FIT_STEPS, FIT_RESTARTS))
            continue;
        sr_member_evaluate(scene, worker, island, member);
    }
}

void sr_island_epoch(const struct sr_scene *scene, struct sr_worker *worker,
                     struct sr_island *island, int number)
{
    memset(worker->seen, 0, sizeof *worker->seen);
    set_prices(scene, worker, island);
    for (int c = 0; c <= SR_NODES; c++) { /* keep only what is better than the run's */
        island->hall->loss[c] = scene->best->loss[c];
        island->hall->expr[c].count = 0;
    }
    for (int cycle = 0; cycle < scene->settings->cycles && !orr_signal_seen(); cycle++)
        for (int event = 0; event < EVENTS; event++) {
            if (gsl_rng_uniform(worker->thread->rng) < crossover_share)
                crossover(scene, worker, island);
            else
                mutate(scene, worker, island);
        }
    simplify_members(scene, island);
    optimise_members(scene, worker, island);
    for (int c = 1; c <= scene->settings->maxsize && !orr_signal_seen(); c++)
        if (!scene->settings->compat && scene->polish[c] &&
            c % scene->settings->populations == number)
            sr_polish_row(scene, worker, island, c);
}
