/* search.h - inside symreg/: one island of the search, what changes a formula, and one run. */
#ifndef SR_SEARCH_H
#define SR_SEARCH_H

#include "evolve.h"

struct sr_member {
    struct sr_expr expr;
    double loss;  /* with the best outer scale; infinite where the formula is not finite */
    double cost;  /* loss / loss of the best constant + parsimony * size */
    uint64_t age; /* births on the island before it */
};

struct sr_island {
    struct sr_member *member; /* (population_size) */
    struct sr_hall_of_fame
        *hall; /* better than the run's hall, found in this epoch; count 0 = none */
    uint64_t births;
    double evaluations; /* on all rows */
    double most;        /* of them: the epoch ends there */
    double screened;    /* formulas that were judged by few rows alone */
};

static inline bool sr_island_over(const struct sr_island *island)
{
    return island->evaluations >= island->most || orr_signal_seen();
}

/* A small table of formulas met in this epoch: their losses need not be computed again. */
enum { SR_SEEN = 1024 };
struct sr_seen {
    uint64_t hash[SR_SEEN];
    double loss[SR_SEEN];
};

/* What all islands of a run read in an epoch, and nobody writes. */
struct sr_epoch_view {
    const struct sr_settings *settings;
    const struct sr_loss *loss;
    const struct sr_screen *screen;     /* NULL: every formula is evaluated on all rows */
    const struct sr_hall_of_fame *best; /* of the run so far */
    double frequency[SR_NODES + 1];     /* share of each size in the run's populations */
    bool polish[SR_NODES + 1];          /* rows of best whose constants are to be refined */
};
/* Of each member, what tournaments look at: close together, as members are large. */
struct sr_tournament_entry {
    double value;     /* cost times the price of its size */
    uint64_t age;     /* as in the member */
    uint64_t entered; /* the last tournament that it was drawn for */
};
/* What belongs to the thread, and the island that it is at. */
struct sr_worker {
    const struct sr_settings *settings;
    struct sr_thread *thread;
    struct sr_seen seen;
    struct sr_tournament_entry *entry; /* (population_size) */
    uint64_t tournaments;
    double price[SR_NODES + 1]; /* of each size in this epoch's tournaments */
    const struct sr_epoch_view *view;
    struct sr_island *island; /* of a run of that view */
};

/* Fills loss and cost, and offers the formula to the island's hall as the algorithm does. A formula
 * that few rows tell to be nothing for the hall keeps the loss on these. */
void sr_member_evaluate(struct sr_worker *w, struct sr_member *member);
/* The two kinds of sr_algorithm.evaluate: of the formula as it stands, or with its best outer
 * scale. */
void sr_member_evaluate_plain(struct sr_worker *w, struct sr_member *member, double penalty);
void sr_member_evaluate_scaled(struct sr_worker *w, struct sr_member *member, double penalty);
/* Of the member's loss and size. */
double sr_member_cost(const struct sr_epoch_view *view, const struct sr_member *member);
/* Offers the best constant. */
void sr_offer_constant(struct sr_worker *w);
/* Fits the constants, at first to few rows; false, with loss and cost from these, where they tell
 * that the formula is nothing for the hall: then it need not be evaluated. */
bool sr_member_fit(struct sr_worker *w, struct sr_member *member, int steps, int restarts);
/* Offers a formula that was fitted along with an outer scale fitted anew without one, which is two
 * nodes shorter. */
void sr_member_offer_plain(struct sr_worker *w, const struct sr_member *member);
/* Tries every small change of row c of the run's hall, with its constants fitted. */
void sr_polish_row(struct sr_worker *w, int c);
/* A random leaf becomes an operator over new leaves; false when there is no room. */
bool sr_append(const struct sr_settings *settings, int features, gsl_rng *rng,
               struct sr_expr *expr);

/* A checkpoint is blocks of memory. Written atomically; `about` says of which data and settings.
 * Reading fills the blocks and *epoch; another text is ORR_EINVAL, which names the line that
 * differs, a file that is no whole checkpoint of this build ORR_EFORMAT: then no block has
 * changed. */
struct sr_block {
    void *data;
    size_t bytes;
};
int sr_checkpoint_write(const char *path, const char *about, int epoch,
                        const struct sr_block *block, int blocks);
int sr_checkpoint_read(const char *path, const char *about, int *epoch,
                       const struct sr_block *block, int blocks);
/* Everything that decides what a search finds, its limits aside, as lines KEY=VALUE; the caller
 * frees it. NULL where there is no memory. */
char *sr_search_about(const struct sr_settings *settings, const struct sr_fit *fits, int count);

/* A random formula of at most `size` nodes: a leaf, then appended operators. */
void sr_random_expr(const struct sr_settings *settings, int features, gsl_rng *rng, int size,
                    struct sr_expr *expr);
/* One random change; false when it did not fit. */
bool sr_mutate(const struct sr_settings *settings, int features, gsl_rng *rng,
               struct sr_expr *expr);
/* Swaps random subtrees; false when a result is too large. */
bool sr_crossover(const struct sr_settings *settings, gsl_rng *rng, struct sr_expr *a,
                  struct sr_expr *b);

/* Fits a formula of the user's and evaluates it. */
void sr_island_guess(struct sr_worker *w, struct sr_member *member);
/* Clears the island's hall and draws its members. */
void sr_island_init(struct sr_worker *w);
/* One epoch: cycles of events, then simplification and constants. Rows of best with
 * row mod populations == number are polished here. Ends early where sr_island_over(). */
void sr_island_epoch(struct sr_worker *w, int number);

/* ---- one restart of one fit, and what happens to it between epochs */

struct sr_run {
    struct sr_fit *fit;
    struct sr_loss *loss;
    const struct sr_screen *screen; /* NULL: none */
    uint64_t number;                /* keys the random streams */
    struct sr_epoch_view view;
    struct sr_hall_of_fame *best;
    struct sr_island *island;     /* (populations) */
    struct sr_member *member;     /* (populations, population_size) of the islands */
    struct sr_hall_of_fame *hall; /* (populations) of the islands */
    double sizes[SR_NODES + 1];
    double mark[SR_NODES + 1]; /* of each row of the front: its loss when last it fell notably */
    int unchanged, stale;      /* epochs without any change, without a notable one */
    enum sr_end end;           /* SR_END_NONE: it goes on */
    bool fresh;                /* populations are drawn anew in the next epoch */
};

/* Sets why a run has ended: exact, at the loss wanted, out of patience; or not, or that its
 * populations are drawn anew instead. */
void sr_run_end(const struct sr_settings *s, struct sr_run *run);
/* Takes over what the islands found, in their order, counts sizes, and says which rows are to be
 * polished and whether the run is done. */
void sr_run_merge(const struct sr_settings *s, struct sr_run *run);
/* Members move: from all islands' best, and from the front. */
void sr_run_migrate(const struct sr_settings *s, struct sr_run *run, gsl_rng *rng);

/* The run's hall as it is reported: constants are rounded where that costs nothing, what then does
 * nothing is left out, and of formulas equal in size and loss the one with the fewest digits
 * stays. */
void sr_polish_front(const struct sr_run *run, struct sr_work *work);
/* Puts into *expr, with its loss in *reached, what the populations hold of its size that has fewer
 * digits and loses no more than `limit`. */
void sr_run_fewest_digits(const struct sr_run *run, const struct sr_tidy *tidy, double limit,
                          struct sr_expr *expr, double *reached, struct sr_work *work);

/* Whether the run is one that a search can go on with; flags and counts in their range, formulas of
 * the settings' language and of at most their size. */
bool sr_run_sound(const struct sr_settings *s, const struct sr_run *run);

#endif
