/* search.c - runs all restarts of all fits: synchronous epochs of islands on one thread pool.
 *
 * A run is one restart of one fit. Within an epoch an island reads only its own state and the run's
 * state after the previous epoch. Islands are merged in a fixed order. The result therefore depends
 * on the seed alone, not on the number of threads. */
#include "base/stop.h"
#include "search.h"
#include "symreg/seed/bank.h"
#include "symreg/seed/shared.h"

#include <errno.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

struct search {
    const struct sr_settings *settings;
    int fits, runs, threads;
    struct sr_loss *loss;             /* (fits) */
    struct sr_categories *categories; /* (fits) count 0: none */
    struct sr_screen *screen; /* (fits) rows for screening large tables; rows 0: no screening */
    struct sr_run *run;       /* (fits, restarts) */
    struct sr_seeds *seeds;   /* (fits) NULL where the algorithm does not enumerate formulas */
    struct sr_thread *thread; /* (threads) */
    struct sr_worker *worker; /* (threads) */
    char *about;              /* text of sr_search_about() */
    double start_s, saved_s;  /* times of the start and of the last checkpoint */
    double save_after_s;      /* seconds from saved_s to the next checkpoint */
    char *unsaved;            /* of the first fit: why there are no more checkpoints */
    double before_s, spent_s; /* seconds spent before start_s; total so far */
    double in_epoch;          /* evaluations of the last complete epoch */
    bool cut;                 /* a limit or a signal ended the search within a step */
    bool parted;              /* evaluations ended within an epoch: no more checkpoints */
};

/* ---- set-up */

/* Checks operators and guesses, which may have been made for another language. */
static int check_language(const struct sr_settings *s)
{
    for (int i = 0; i < s->binary_count + s->unary_count; i++) {
        const bool binary = i < s->binary_count;
        const int op = (int)(binary ? s->binary[i] : s->unary[i - s->binary_count]);
        const int arity = sr_op_known(s->language, op) ? sr_op(s->language, op)->arity : 0;
        if (arity != (binary ? 2 : 1))
            return ORR_FAIL(ORR_EINVAL, "settings: number %d is no %s operator of their language",
                            op, binary ? "binary" : "unary");
    }
    for (int i = 0; i < s->guesses; i++) {
        struct sr_expr guess = s->guess[i];
        if (!sr_expr_measure(s->language, &guess))
            return ORR_FAIL(ORR_EINVAL, "settings: guess %d is no formula of their language",
                            i + 1);
    }
    return 0;
}

/* Entries of each complexity: more than are asked for, as some are written otherwise or not yet
 * fitted. */
static int make_near(const struct sr_settings *s, struct sr_run *run)
{
    const int each = 3 * s->alternatives + 24;
    run->view.near = run->near = sr_near_create(each, s->maxsize);
    bool ok = run->near != NULL;
    for (int k = 0; k < s->populations && ok; k++)
        ok = (run->island[k].near = sr_near_create(each, s->maxsize)) != NULL;
    return ok ? 0 : ORR_ENOMEM;
}

static int make_run(const struct sr_settings *s, struct sr_run *run)
{
    const size_t islands = (size_t)s->populations, members = (size_t)s->population_size;
    run->best = orr_alloc(1, sizeof *run->best);
    run->island = orr_alloc(islands, sizeof *run->island);
    run->member = orr_alloc(islands * members, sizeof *run->member);
    run->hall = orr_alloc(islands, sizeof *run->hall);
    if (!run->best || !run->island || !run->member || !run->hall)
        return ORR_ENOMEM;
    if (s->alternatives)
        TRY(make_near(s, run));
    sr_hall_of_fame_clear(run->best);
    for (size_t i = 0; i < islands; i++) {
        run->island[i].member = run->member + i * members;
        run->island[i].hall = run->hall + i;
    }
    run->view.settings = s;
    run->view.loss = run->loss;
    run->view.screen = run->screen;
    run->view.best = run->best;
    for (int c = 1; c <= s->maxsize; c++) {
        run->mark[c] = HUGE_VAL;
        run->sizes[c] = 1;
        run->view.frequency[c] = 1.0 / s->maxsize;
    }
    return 0;
}

static int make_workers(struct search *search, size_t rows, int maxsize)
{
    for (int i = 0; i < search->threads; i++) {
        struct sr_worker *worker = &search->worker[i];
        worker->thread = &search->thread[i];
        worker->settings = search->settings;
        TRY(sr_work_init(&worker->thread->work, rows, maxsize));
        worker->entry = orr_alloc((size_t)search->settings->population_size, sizeof *worker->entry);
        worker->thread->rng = orr_rng_create(0, ORR_STAGE_SYMREG, 0);
        if (!worker->entry || !worker->thread->rng)
            return ORR_FAIL(ORR_ENOMEM, "symbolic regression: out of memory");
    }
    return 0;
}

/* The loss of a fit: of its whole table, or of one category. */
static int make_loss(const struct sr_settings *s, const struct sr_fit *fit, struct sr_loss *loss,
                     struct sr_categories *categories)
{
    if (!fit->category)
        return sr_loss_init_with(loss, s->loss, s->loss_parameter, &fit->data);
    TRY(sr_categories_init(categories, s->loss, s->loss_parameter, &fit->data, fit->category,
                           fit->categories));
    *loss = categories->loss[categories->reference];
    loss->base = categories->base;
    loss->cases = categories->cases;
    return 0;
}

static int make_search(struct search *search, struct sr_fit *fits, int count)
{
    const struct sr_settings *s = search->settings;
    size_t rows = SR_ROWS; /* seeds are fitted to SR_ROWS rows, even of a smaller table */
    search->fits = count;
    search->runs = count * s->restarts;
    search->loss = orr_alloc((size_t)count, sizeof *search->loss);
    search->run = orr_alloc((size_t)search->runs, sizeof *search->run);
    search->thread = orr_alloc((size_t)search->threads, sizeof *search->thread);
    search->worker = orr_alloc((size_t)search->threads, sizeof *search->worker);
    search->screen = orr_alloc((size_t)count, sizeof *search->screen);
    search->categories = orr_alloc((size_t)count, sizeof *search->categories);
    if (!search->categories || !search->loss || !search->run || !search->thread ||
        !search->worker || !search->screen)
        return ORR_ENOMEM;
    for (int f = 0; f < count; f++) {
        fits[f].data.language = s->language;
        int rc = make_loss(s, &fits[f], &search->loss[f], &search->categories[f]);
        const bool screened =
            s->algorithm->screens && !fits[f].category && fits[f].data.rows >= 4 * SR_SCREEN_ROWS;
        if (!rc && screened)
            rc = sr_screen_init(&search->screen[f], &search->loss[f]);
        for (int k = 0; k < s->restarts && !rc; k++) {
            struct sr_run *run = &search->run[f * s->restarts + k];
            run->fit = &fits[f];
            run->loss = &search->loss[f];
            run->screen = screened ? &search->screen[f] : NULL;
            run->view.categories = fits[f].category ? &search->categories[f] : NULL;
            run->number = fits[f].stream * (uint64_t)s->restarts + (uint64_t)k;
            rc = make_run(s, run);
        }
        if (rc)
            return rc;
        rows = fits[f].data.rows > rows ? fits[f].data.rows : rows;
    }
    return make_workers(search, rows, s->maxsize);
}

static void free_search(struct search *search)
{
    for (int i = 0; i < search->runs && search->run; i++) {
        for (int k = 0; k < search->settings->populations && search->run[i].island; k++)
            free(search->run[i].island[k].near);
        free(search->run[i].near);
        free(search->run[i].island);
        free(search->run[i].member);
        free(search->run[i].hall);
        free(search->run[i].best);
    }
    for (int i = 0; i < search->fits && search->loss && search->categories; i++)
        if (search->categories[i].count)
            sr_categories_free(&search->categories[i]);
        else
            sr_loss_free(&search->loss[i]);
    for (int i = 0; i < search->fits && search->screen; i++)
        sr_screen_free(&search->screen[i]);
    for (int i = 0; i < search->threads && search->thread && search->worker; i++) {
        sr_work_free(&search->thread[i].work);
        free(search->worker[i].entry);
        gsl_rng_free(search->thread[i].rng);
    }
    free(search->about);
    free(search->seeds);
    free(search->loss);
    free(search->categories);
    free(search->screen);
    free(search->run);
    free(search->worker);
    free(search->thread);
}

/* ---- epochs */

/* Every (run, island, epoch) has its own random stream; island number `populations` stands for the
 * merge. */
static void seek_stream(const struct sr_settings *s, const struct sr_run *run, gsl_rng *rng,
                        int island, int epoch)
{
    const uint64_t islands = (uint64_t)s->populations + 1;
    const uint64_t index = (run->number * islands + (uint64_t)island) << 32 | (uint64_t)epoch;
    orr_rng_seek(rng, s->seed, ORR_STAGE_SYMREG, index);
}

/* A worker moves to an island and clears its tables of formulas. */
static void enter_island(struct sr_worker *worker, struct sr_run *run, int number)
{
    worker->view = &run->view;
    worker->island = &run->island[number];
    memset(&worker->seen, 0, sizeof worker->seen);
    memset(worker->fitted, 0, sizeof worker->fitted);
}

/* Epoch 0 draws the populations. */
static void run_epoch(struct search *search, int epoch)
{
    const struct sr_settings *s = search->settings;
    const int tasks = search->runs * s->populations;
#pragma omp parallel for schedule(dynamic, 1) num_threads(search->threads) copyin(orr_stop_of_call)
    for (int task = 0; task < tasks; task++) {
        struct sr_run *run = &search->run[task / s->populations];
        const int number = task % s->populations;
        struct sr_worker *worker = &search->worker[omp_get_thread_num()];
        if (run->end)
            continue;
        seek_stream(s, run, worker->thread->rng, number, epoch);
        enter_island(worker, run, number);
        if (epoch == 0 || run->fresh)
            sr_island_init(worker);
        else
            sr_island_epoch(worker, number);
    }
}

/* ---- seeds */

enum { FEW_ROWS = 32 };

/* With at least as many fits as threads, fits run in parallel on one thread each. With fewer, they
 * run one after the other on all threads. */
static int find_seeds(struct search *search)
{
    const struct sr_settings *s = search->settings;
    const struct sr_limit limit = {
        .until_s = s->max_seconds > 0 ? search->start_s + s->max_seconds - search->before_s : 0,
        .evaluations = s->max_evaluations > 0 ? s->max_evaluations / search->fits : HUGE_VAL};
    const int outer = search->fits >= search->threads ? search->threads : 1;
    /* Of few rows the stages are short, and threads that wait for each other take longer. */
    const int inner = outer > 1 || search->run[0].fit->data.rows < FEW_ROWS ? 1 : search->threads;
    int failed = 0;
    if (s->enumerate <= 0 || !s->algorithm->proposes)
        return 0;
    search->seeds = orr_alloc((size_t)search->fits, sizeof *search->seeds);
    if (!search->seeds)
        return ORR_ENOMEM;
#pragma omp parallel for schedule(dynamic, 1) num_threads(outer) reduction(max                     \
                                                                           : failed)               \
    copyin(orr_stop_of_call)
    for (int f = 0; f < search->fits; f++) {
        struct sr_thread *thread = &search->thread[outer > 1 ? omp_get_thread_num() : 0];
        const struct sr_categories *c = &search->categories[f];
        const struct sr_loss *loss = c->count ? &c->loss[c->reference] : &search->loss[f];
        const int rc = sr_seeds_inside(s->form ? sr_seeds_template : sr_seeds_all, s, loss, limit,
                                       thread, inner, &search->seeds[f]);
        failed = rc > failed ? rc : failed;
        search->run[f * s->restarts].island[0].evaluations += search->seeds[f].evaluations;
    }
    return failed ? ORR_FAIL(failed, "symbolic regression: out of memory") : 0;
}

/* Offers the user's guesses and the best seeds of every size to the fronts, so that they are kept
 * if a limit or a signal interrupts the search. */
static void offer_seeds(struct search *search)
{
    enum { OF_SIZE = 2 };
    const struct sr_settings *s = search->settings;
    struct sr_worker *worker = &search->worker[0];
    for (int i = 0; i < search->runs; i++) {
        struct sr_run *run = &search->run[i];
        const struct sr_seeds *seeds = search->seeds ? &search->seeds[i / s->restarts] : NULL;
        enter_island(worker, run, 0);
        sr_hall_of_fame_clear(run->island[0].hall);
        sr_near_clear(run->island[0].near);
        if (s->algorithm->knows_constant)
            sr_offer_constant(worker);
        for (int g = 0; g < s->guesses; g++)
            sr_island_guess(worker, &(struct sr_member){.expr = s->guess[g]});
        for (int size = 1; size <= s->maxsize && seeds; size++) {
            int chosen[OF_SIZE];
            const int n =
                sr_best_of_size(seeds->expr, seeds->loss, seeds->count, size, OF_SIZE, chosen);
            for (int k = 0; k < n; k++)
                sr_member_evaluate(worker, &(struct sr_member){.expr = seeds->expr[chosen[k]]});
        }
        sr_run_take(s, run, &run->island[0]);
    }
}

/* Each island takes the seeds number i, i + populations, ... in place of random members, up to half
 * of its population. */
static void plant_seeds(struct search *search)
{
    const struct sr_settings *s = search->settings;
    const int tasks = search->seeds ? search->runs * s->populations : 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(search->threads) copyin(orr_stop_of_call)
    for (int task = 0; task < tasks; task++) {
        struct sr_run *run = &search->run[task / s->populations];
        struct sr_worker *worker = &search->worker[omp_get_thread_num()];
        const int number = task % s->populations;
        const struct sr_seeds *seeds = &search->seeds[task / s->populations / s->restarts];
        struct sr_island *island = &run->island[number];
        int planted = 0;
        enter_island(worker, run, number);
        for (int i = number; i < seeds->count && !sr_island_over(island); i += s->populations) {
            struct sr_member member = {.expr = seeds->expr[i]};
            if (!isfinite(seeds->loss[i]) || member.expr.count > s->maxsize)
                continue;
            if (!s->form)
                sr_member_offer_plain(worker, &member);
            sr_member_evaluate(worker, &member);
            if (!isfinite(member.loss))
                continue;
            if (!s->form)
                sr_expr_strip(&member.expr);
            member.age = island->births++;
            if (planted < s->population_size / 2)
                island->member[planted++] = member;
        }
    }
}

/* ---- checkpoints */

enum { BLOCKS_OF_RUN = 9, BLOCKS_OF_ISLAND = 4 };

/* Lists all memory that the following epochs depend on. */
static int list_blocks(struct search *search, struct sr_block **list)
{
    const struct sr_settings *s = search->settings;
    const size_t count =
        (size_t)search->runs * (BLOCKS_OF_RUN + (size_t)s->populations * BLOCKS_OF_ISLAND) + 1;
    struct sr_block *block = *list = orr_alloc(count, sizeof *block);
    if (!block)
        return -1;
    *block++ = (struct sr_block){&search->spent_s, sizeof search->spent_s};
    for (int i = 0; i < search->runs; i++) {
        struct sr_run *run = &search->run[i];
        *block++ = (struct sr_block){run->best, sizeof *run->best};
        *block++ = (struct sr_block){run->sizes, sizeof run->sizes};
        *block++ = (struct sr_block){&run->unchanged, sizeof run->unchanged};
        *block++ = (struct sr_block){run->mark, sizeof run->mark};
        *block++ = (struct sr_block){&run->stale, sizeof run->stale};
        *block++ = (struct sr_block){&run->fresh, sizeof run->fresh};
        *block++ = (struct sr_block){run->view.frequency, sizeof run->view.frequency};
        *block++ = (struct sr_block){run->view.polish, sizeof run->view.polish};
        for (int k = 0; k < s->populations; k++) {
            struct sr_island *island = &run->island[k];
            *block++ = (struct sr_block){island->member,
                                         (size_t)s->population_size * sizeof *island->member};
            *block++ = (struct sr_block){&island->births, sizeof island->births};
            *block++ = (struct sr_block){&island->evaluations, sizeof island->evaluations};
            *block++ = (struct sr_block){&island->screened, sizeof island->screened};
        }
        if (run->near)
            *block++ = (struct sr_block){run->near, sr_near_bytes(run->near)};
    }
    return (int)(block - *list);
}

static double seconds_spent(const struct search *search)
{
    return search->before_s + orr_time_s() - search->start_s;
}

/* Zeroes unused bytes of formulas so that a checkpoint contains no uninitialised memory. */
static void clean_formulas(struct search *search)
{
    for (int i = 0; i < search->runs; i++) {
        struct sr_run *run = &search->run[i];
        for (int c = 0; c <= SR_NODES; c++)
            sr_expr_clean(&run->best->expr[c]);
        for (int c = 1; run->near && c <= run->near->most; c++)
            for (int k = 0; k < run->near->each; k++) {
                struct sr_near_entry *entry = &sr_near_list(run->near, c)[k];
                if (k < run->near->count[c])
                    sr_expr_clean(&entry->expr);
                else
                    memset(entry, 0, sizeof *entry);
            }
        for (int k = 0; k < search->settings->populations; k++)
            for (int m = 0; m < search->settings->population_size; m++)
                sr_expr_clean(&run->island[k].member[m].expr);
    }
}

/* Writes a checkpoint after a complete epoch, never once one was interrupted, and no further one
 * after a failed write: at most one per second, and for large checkpoints seldom enough that
 * writing takes a twentieth of the time. */
static int save_checkpoint(struct search *search, int epoch, bool last)
{
    const struct sr_settings *s = search->settings;
    struct sr_block *block = NULL;
    const double now = orr_time_s();
    if (!s->checkpoint || *search->unsaved || search->parted || orr_signal_seen() ||
        (last && s->checkpoint_of_stops) || (!last && now - search->saved_s < search->save_after_s))
        return 0;
    const int blocks = list_blocks(search, &block);
    clean_formulas(search);
    search->spent_s = seconds_spent(search);
    int rc = blocks < 0 ? ORR_ENOMEM
                        : sr_checkpoint_write(s->checkpoint, search->about, epoch, block, blocks);
    if (rc == ORR_EIO) { /* a checkpoint saves time; the front is worth more than that */
        snprintf(search->unsaved, sizeof((struct sr_fit *)0)->unsaved, "%s", orr_error());
        orr_error_recover();
        rc = 0;
    }
    search->saved_s = orr_time_s();
    search->save_after_s = fmax(1, 20 * (search->saved_s - now));
    free(block);
    return rc;
}

/* Reads a checkpoint and sets *epoch to the next epoch. A search that does not resume removes an
 * existing checkpoint, which would otherwise be resumed later in place of this search. */
static int load_checkpoint(struct search *search, int *epoch)
{
    const struct sr_settings *s = search->settings;
    struct sr_block *block = NULL;
    if (!s->checkpoint || !orr_exists(s->checkpoint))
        return 0;
    if (!s->resume)
        return remove(s->checkpoint)
                   ? ORR_FAIL(ORR_EIO, "%s: cannot replace: %s", s->checkpoint, strerror(errno))
                   : 0;
    const int blocks = list_blocks(search, &block);
    const int rc = blocks < 0
                       ? ORR_ENOMEM
                       : sr_checkpoint_read(s->checkpoint, search->about, epoch, block, blocks);
    free(block);
    if (rc)
        return rc;
    bool sound = search->spent_s >= 0;
    for (int i = 0; i < search->runs; i++) {
        struct sr_run *run = &search->run[i];
        sound = sound && sr_run_sound(s, run);
        if (sound)
            sr_run_end(s, run); /* with the current limits */
    }
    if (!sound)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: holds what no search writes; without --resume a new one "
                        "begins",
                        s->checkpoint);
    if (*epoch > s->iterations && !s->restarts_fresh)
        return ORR_FAIL(ORR_EINVAL, "%s: %d epochs are done, --iterations asks for %d",
                        s->checkpoint, *epoch, s->iterations);
    ++*epoch;
    search->before_s += search->spent_s;
    return 0;
}

/* ---- results */

/* Keeps the front with the highest score; ties go to the smaller loss, then the earlier restart. */
static void keep_best_restart(const struct sr_settings *s, struct search *search, int fit,
                              struct sr_front *scratch)
{
    struct sr_fit *result = search->run[fit * s->restarts].fit;
    result->front.count = 0;
    free(result->near);
    result->near = search->run[fit * s->restarts].near;
    search->run[fit * s->restarts].near = NULL;
    result->evaluations = result->screened = 0;
    double best_score = -HUGE_VAL, best_loss = HUGE_VAL;
    for (int k = 0; k < s->restarts; k++) {
        struct sr_run *run = &search->run[fit * s->restarts + k];
        for (int i = 0; i < s->populations; i++) {
            result->evaluations += run->island[i].evaluations;
            result->screened += run->island[i].screened;
        }
        if (!run->view.categories)
            sr_fit_front(run, &search->thread[0].work);
        if (s->algorithm->polishes && !run->view.categories)
            sr_polish_front(run, &search->thread[0].work);
        result->rough = orr_signal_seen();
        if (run->near)
            sr_near_merge(result->near, s->language, run->near);
        sr_front_make(run->best, scratch);
        const int row = sr_front_select(scratch, SR_SCORE);
        if (row < 0)
            continue;
        const double score = scratch->score[row], loss = scratch->loss[scratch->count - 1];
        if (score > best_score || (score >= best_score && loss < best_loss)) {
            best_score = score;
            best_loss = loss;
            result->front = *scratch;
        }
    }
}

static void show_fronts(const struct search *search, int epoch, struct sr_front *scratch)
{
    const struct sr_settings *s = search->settings;
    for (int i = 0; i < search->runs && s->observe; i++) {
        const struct sr_run *run = &search->run[i];
        struct sr_observation seen = {.fit = i / s->restarts,
                                      .restart = i % s->restarts,
                                      .epoch = epoch,
                                      .seconds = seconds_spent(search),
                                      .unsaved = search->unsaved,
                                      .front = scratch};
        for (int k = 0; k < s->populations; k++)
            seen.evaluations += run->island[k].evaluations;
        sr_front_make(run->best, scratch);
        s->observe(s->observer, &seen);
    }
}

static double evaluations_of(const struct search *search)
{
    double evaluations = 0;
    for (int i = 0; i < search->runs; i++)
        for (int k = 0; k < search->settings->populations; k++)
            evaluations += search->run[i].island[k].evaluations;
    return evaluations;
}

/* The reason to stop: a signal, a limit of time or evaluations, or all runs ended. */
static enum sr_end end_of(const struct search *search)
{
    const struct sr_settings *s = search->settings;
    enum sr_end end = search->run[0].end;
    for (int i = 0; i < search->runs; i++)
        if (search->run[i].end == SR_END_NONE)
            end = SR_END_NONE;
    if (end != SR_END_NONE)
        return end;
    if (s->max_seconds > 0 && seconds_spent(search) >= s->max_seconds)
        return SR_END_SECONDS;
    if (s->max_evaluations > 0 && evaluations_of(search) >= s->max_evaluations)
        return SR_END_EVALUATIONS;
    return orr_signal_seen() ? SR_END_SIGNAL : SR_END_NONE;
}

const char *sr_end_text(enum sr_end end)
{
    static const char *const text[] = {
        [SR_END_NONE] = "it continues",
        [SR_END_EXACT] = "an exact formula was not improved for ten epochs",
        [SR_END_LOSS] = "the loss asked for (--stop-loss) is reached",
        [SR_END_TOLERANCE] = "the relative error asked for (--tolerance) is reached",
        [SR_END_PATIENCE] = "no row of the front improved by 1% (symreg.patience)",
        [SR_END_ITERATIONS] = "all epochs are done (--iterations)",
        [SR_END_SECONDS] = "the seconds have passed (--seconds)",
        [SR_END_EVALUATIONS] = "all formulas are evaluated (--evaluations)",
        [SR_END_SIGNAL] = "stopped",
    };
    return text[end];
}

/* Divides the remaining evaluations among the islands. If they do not suffice for a whole epoch,
 * the state before that epoch is saved. */
static int allow_evaluations(struct search *search, int epoch)
{
    const struct sr_settings *s = search->settings;
    const double left = s->max_evaluations - evaluations_of(search);
    int tasks = 0;
    for (int i = 0; i < search->runs; i++)
        tasks += search->run[i].end ? 0 : s->populations;
    for (int i = 0; i < search->runs; i++)
        for (int k = 0; k < s->populations; k++) {
            struct sr_island *island = &search->run[i].island[k];
            island->most = s->max_evaluations > 0 ? island->evaluations + left / tasks : HUGE_VAL;
        }
    return s->max_evaluations > 0 && epoch > 0 && left < 2 * search->in_epoch
               ? save_checkpoint(search, epoch - 1, true)
               : 0;
}

/* Whether an island of the epoch was interrupted by a signal or had no more evaluations. The others
 * leave what remains of their shares to a further, shorter epoch. */
static bool interrupted(const struct search *search)
{
    bool over = false;
    for (int i = 0; i < search->runs; i++)
        for (int k = 0; k < search->settings->populations && !search->run[i].end; k++)
            over = over || sr_island_over(&search->run[i].island[k]);
    return over;
}

/* Whether a signal or the limit of evaluations ends the search with the epoch. */
static bool cut_short(const struct search *search)
{
    const double most = search->settings->max_evaluations;
    return orr_signal_seen() || (most > 0 && evaluations_of(search) >= most);
}

static void merge_runs(struct search *search, int epoch)
{
    const struct sr_settings *s = search->settings;
    for (int i = 0; i < search->runs; i++) {
        struct sr_run *run = &search->run[i];
        if (run->end)
            continue;
        sr_run_merge(s, run);
        seek_stream(s, run, search->thread[0].rng, s->populations, epoch);
        sr_run_migrate(s, run, search->thread[0].rng);
    }
}

/* Prepares the search. *epoch is the first epoch to run. */
static int prepare_search(struct search *search, struct sr_fit *fits, int count, int *epoch)
{
    const struct sr_settings *s = search->settings;
    TRY(check_language(s));
    TRY(make_search(search, fits, count));
    search->start_s = search->saved_s = orr_time_s();
    search->before_s = s->spent_s;
    search->save_after_s = 1;
    search->about = s->checkpoint ? sr_search_about(s, fits, count) : NULL;
    if (s->checkpoint && !search->about)
        return ORR_FAIL(ORR_ENOMEM, "symbolic regression: out of memory");
    TRY(load_checkpoint(search, epoch));
    if (*epoch > 0)
        return 0;
    TRY(find_seeds(search));
    search->cut = end_of(search) != SR_END_NONE;
    return 0;
}

static int run_epochs(struct search *search, int epoch, struct orr_progress *progress,
                      struct sr_front *scratch)
{
    const struct sr_settings *s = search->settings;
    if (search->cut) {
        offer_seeds(search);
        show_fronts(search, 0, scratch);
    }
    for (; (epoch <= s->iterations || s->restarts_fresh) && !search->cut; epoch++) {
        if (epoch > 0 && end_of(search))
            break;
        TRY(allow_evaluations(search, epoch));
        const double before = evaluations_of(search);
        run_epoch(search, epoch);
        if (epoch == 0)
            plant_seeds(search);
        search->parted = search->parted || interrupted(search);
        search->cut = cut_short(search);
        merge_runs(search, epoch);
        if (search->parted && epoch == 0)
            offer_seeds(search);
        search->in_epoch = evaluations_of(search) - before;
        const int rc = search->cut ? 0 : save_checkpoint(search, epoch, false);
        show_fronts(search, epoch, scratch);
        if (progress)
            orr_progress_set(progress, (uint64_t)epoch, NULL);
        TRY(rc);
    }
    return epoch > 0 && !search->cut ? save_checkpoint(search, epoch - 1, true) : 0;
}

static int search_fits(struct search *search, struct sr_fit *fits, int count,
                       struct orr_progress *progress, struct sr_front *scratch)
{
    int epoch = 0;
    TRY(prepare_search(search, fits, count, &epoch));
    TRY(run_epochs(search, epoch, progress, scratch));
    const enum sr_end end = end_of(search);
    for (int f = 0; f < count; f++) {
        fits[f].end = end ? end : search->cut ? SR_END_EVALUATIONS : SR_END_ITERATIONS;
        keep_best_restart(search->settings, search, f, scratch);
    }
    return orr_signal_seen() ? ORR_FAIL(ORR_EINTR, "stopped") : 0;
}

void sr_fit_free(struct sr_fit *fit)
{
    if (fit) {
        free(fit->near);
        free(fit->alternatives);
    }
    free(fit);
}

int sr_search(const struct sr_settings *settings, struct sr_fit *fits, int count, int threads,
              struct orr_progress *progress)
{
    struct sr_settings complete = *settings;
    struct search search = {
        .settings = &complete, .threads = threads > 0 ? threads : 1, .unsaved = fits[0].unsaved};
    if (!complete.algorithm)
        complete.algorithm = &sr_algorithm_orrery;
    struct sr_front *scratch = orr_alloc(1, sizeof *scratch);
    fits[0].unsaved[0] = '\0';
    const int rc = scratch ? search_fits(&search, fits, count, progress, scratch) : ORR_ENOMEM;
    free_search(&search);
    free(scratch);
    return rc;
}
