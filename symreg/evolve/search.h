/* search.h - inside symreg/: members, islands, workers and runs of the search, mutations,
 * checkpoints. */
#ifndef SR_SEARCH_H
#define SR_SEARCH_H

#include "evolve.h"

struct sr_member {
    struct sr_expr expr;
    double loss;  /* with the best outer scale; infinite where the formula is not finite */
    double cost;  /* loss / loss of the best constant + parsimony * size */
    uint64_t age; /* number of births on the island before this member's */
};

struct sr_island {
    struct sr_member *member; /* (population_size) */
    struct sr_hall_of_fame
        *hall; /* formulas of this epoch that are better than the run's hall; count 0: none */
    struct sr_near *near; /* the epoch's candidates for run->near; NULL: not asked for */
    uint64_t births;
    double evaluations; /* evaluations on all rows */
    double most;        /* the epoch ends at this number of evaluations */
    double screened;    /* formulas rejected after an evaluation on few rows */
};

static inline bool sr_island_over(const struct sr_island *island)
{
    return island->evaluations >= island->most || orr_signal_seen();
}

/* A small hash table of formulas evaluated in this epoch, so that their losses are not computed
 * again. */
enum { SR_SEEN = 1024 };
struct sr_seen {
    uint64_t hash[SR_SEEN];
    double loss[SR_SEEN];
};

/* Data that all islands of a run share in an epoch, read-only. */
struct sr_epoch_view {
    const struct sr_settings *settings;
    const struct sr_loss *loss;
    const struct sr_screen *screen;     /* NULL: every formula is evaluated on all rows */
    const struct sr_hall_of_fame *best; /* the run's hall so far */
    const struct sr_near *near;         /* the run's near-best formulas so far; NULL: none */
    /* NULL: none. Otherwise `loss` is that of the reference category, but for its base. */
    const struct sr_categories *categories;
    double frequency[SR_NODES + 1]; /* share of each size in the run's populations */
    bool polish[SR_NODES + 1];      /* entries of `best` whose constants are to be refined */
};
/* What tournaments need of each member, stored contiguously because members are large. */
struct sr_tournament_entry {
    double value; /* cost times the price of its size */
    uint64_t age;
    int member;
};
/* The state of a thread, and the island that it works on. */
struct sr_worker {
    const struct sr_settings *settings;
    struct sr_thread *thread;
    struct sr_seen seen;
    uint64_t fitted[SR_SEEN];          /* hashes of forms whose constants the epoch has fitted */
    struct sr_tournament_entry *entry; /* (population_size) of all members, the best first */
    double price[SR_NODES + 1];        /* price of each size in this epoch's tournaments */
    const struct sr_epoch_view *view;
    struct sr_island *island; /* an island of the view's run */
};

/* Fills loss and cost, and offers the formula to the island's hall as the algorithm does. A formula
 * that few rows already rule out for the hall keeps its loss on those rows. */
void sr_member_evaluate(struct sr_worker *w, struct sr_member *member);
/* The variants of sr_algorithm.evaluate: without an outer scale, with the best outer scale, and
 * with fitted constants and factors of the functions of a template. */
void sr_member_evaluate_plain(struct sr_worker *w, struct sr_member *member, double penalty);
void sr_member_evaluate_scaled(struct sr_worker *w, struct sr_member *member, double penalty);
void sr_member_evaluate_parts(struct sr_worker *w, struct sr_member *member, double penalty);
/* The cost that follows from the member's loss and size. */
double sr_member_cost(const struct sr_epoch_view *view, const struct sr_member *member);
/* Offers the best constant to the island's hall. */
void sr_offer_constant(struct sr_worker *w);
/* Fits the constants, first on few rows. False where those rows rule the formula out for the hall:
 * loss and cost are then set from them, and no evaluation is needed. */
bool sr_member_fit(struct sr_worker *w, struct sr_member *member, int steps, int restarts);
/* Refits a formula without its outer scale, which saves two nodes, and offers the result. */
void sr_member_offer_plain(struct sr_worker *w, const struct sr_member *member);
/* Tries every small change of entry c of the run's hall, with refitted constants. */
void sr_polish_row(struct sr_worker *w, int c);
/* A random leaf becomes an operator over new leaves. False when the formula would be too large. */
bool sr_append(const struct sr_settings *settings, int features, gsl_rng *rng,
               struct sr_expr *expr);

/* A checkpoint stores blocks of memory, written atomically. `about` describes data and settings.
 * Reading fills the blocks and *epoch. ORR_EINVAL where the file's text differs from `about`; the
 * message names the first line that differs. ORR_EFORMAT where the file is not a complete
 * checkpoint of this build. After an error no block has changed. */
struct sr_block {
    void *data;
    size_t bytes;
};
int sr_checkpoint_write(const char *path, const char *about, int epoch,
                        const struct sr_block *block, int blocks);
int sr_checkpoint_read(const char *path, const char *about, int *epoch,
                       const struct sr_block *block, int blocks);
/* Whether the text of a checkpoint has a line KEY=VALUE, other than the first. False where there is
 * no checkpoint. */
bool sr_checkpoint_says(const char *path, const char *line);
/* Everything that decides what a search finds, except its limits, as lines KEY=VALUE. The caller
 * frees the text. NULL when out of memory. */
char *sr_search_about(const struct sr_settings *settings, const struct sr_fit *fits, int count);

/* A random formula of at most `size` nodes: a leaf, then appended operators. */
void sr_random_expr(const struct sr_settings *settings, int features, gsl_rng *rng, int size,
                    struct sr_expr *expr);
/* Applies one random mutation; false when the result does not fit. */
bool sr_mutate_whole(const struct sr_settings *settings, int features, gsl_rng *rng,
                     struct sr_expr *expr);
/* Swaps random subtrees; false when a result is too large. */
bool sr_cross_whole(const struct sr_settings *settings, gsl_rng *rng, struct sr_expr *a,
                    struct sr_expr *b);

/* The two functions above; of a template, in one of its functions, over the columns of that. */
bool sr_mutate(const struct sr_settings *settings, int features, gsl_rng *rng,
               struct sr_expr *expr);
bool sr_crossover(const struct sr_settings *settings, gsl_rng *rng, struct sr_expr *a,
                  struct sr_expr *b);
/* Draws a first formula of settings->form. */
void sr_parts_start(const struct sr_settings *settings, gsl_rng *rng, struct sr_expr *expr);
/* Gives a factor 1 to every unknown function without a factor of its own, where the formula has
 * nodes left, and takes the factors away. Bit k: function k. */
unsigned sr_parts_scale(const struct sr_settings *settings, struct sr_expr *expr);
void sr_parts_unscale(const struct sr_settings *settings, unsigned scaled, struct sr_expr *expr);
/* sr_expr_rewrite() with the operators of the settings; of a template, in its functions alone. */
bool sr_rewrite(const struct sr_settings *settings, struct sr_expr *expr);

/* Fits the constants of a guess of the user and evaluates it. */
void sr_island_guess(struct sr_worker *w, struct sr_member *member);
/* Clears the island's hall and draws its members. */
void sr_island_init(struct sr_worker *w);
/* Draws the winner of a tournament among members sorted by value, the best first: its place. */
int sr_tournament_winner(gsl_rng *rng, int members);
/* One epoch: cycles of events, then simplification and fits of constants. The island polishes the
 * rows c of `best` with c mod populations == number. The epoch ends early when sr_island_over(). */
void sr_island_epoch(struct sr_worker *w, int number);

/* ---- a run: one restart of one fit, and the steps between epochs */

struct sr_run {
    struct sr_fit *fit;
    struct sr_loss *loss;
    const struct sr_screen *screen; /* NULL: no screening */
    uint64_t number;                /* key of the random streams */
    struct sr_epoch_view view;
    struct sr_hall_of_fame *best;
    struct sr_island *island; /* (populations) */
    struct sr_member *member; /* (populations, population_size) storage of the islands' members */
    struct sr_hall_of_fame *hall; /* (populations) storage of the islands' halls */
    struct sr_near *near;         /* NULL without settings->alternatives */
    double sizes[SR_NODES + 1];
    double mark[SR_NODES + 1]; /* loss of each row when it last fell notably */
    int unchanged, stale;      /* epochs without any change; without a notable one */
    enum sr_end end;           /* SR_END_NONE: the run continues */
    bool fresh;                /* the next epoch draws new populations */
};

/* Sets run->end: exact, at the wanted loss, out of patience, or SR_END_NONE. With restarts_fresh, a
 * run out of patience continues with new populations (run->fresh). */
void sr_run_end(const struct sr_settings *s, struct sr_run *run);
/* Merges an island's hall and near-best formulas into the run's. True where its hall changed. */
bool sr_run_take(const struct sr_settings *s, struct sr_run *run, const struct sr_island *island);
/* Merges the islands' halls in island order, counts sizes, marks rows to be polished, and decides
 * whether the run has ended. */
void sr_run_merge(const struct sr_settings *s, struct sr_run *run);
/* Migrates members: from the best of all islands, and from the front. */
void sr_run_migrate(const struct sr_settings *s, struct sr_run *run, gsl_rng *rng);

/* Fits the constants of every entry of the run's hall, as the last formulas of a search that a
 * limit ended may never have been fitted. A stop interrupts it. */
void sr_fit_front(const struct sr_run *run, struct sr_work *work);
/* Prepares the run's hall for the report: rounds constants where the loss allows it, drops formulas
 * that are then no better than a shorter one, and among formulas of equal size and loss keeps the
 * one with the fewest digits. */
void sr_polish_front(const struct sr_run *run, struct sr_work *work);
/* Searches the populations for a formula of equal complexity with fewer digits whose loss is at
 * most `limit`. Where one is found, *expr and *reached become that formula and its loss. */
void sr_run_fewest_digits(const struct sr_run *run, const struct sr_tidy *tidy, double limit,
                          struct sr_expr *expr, double *reached, struct sr_work *work);

/* Whether a run read from a checkpoint is valid: flags and counts in range, formulas in the
 * settings' language and within their size limit. */
bool sr_run_sound(const struct sr_settings *s, const struct sr_run *run);

#endif
