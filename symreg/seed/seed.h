/* seed.h - formulas with fitted constants from which a search starts. */
#ifndef SR_SEED_H
#define SR_SEED_H

#include "recall.h"
#include "stage/settings.h"
#include "symreg/select/select.h"
#include "symreg/select/template.h"

/* -------------------------------------------------------------------------------- search */

/* What an observer receives about each run after every epoch, in the order of fits and restarts. */
struct sr_observation {
    int fit, restart, epoch;
    double seconds, evaluations; /* seconds of the whole search, evaluations of this run */
    const struct sr_front *front;
    const char *unsaved; /* why no more checkpoints are written; "" where they are */
};

struct sr_algorithm;
/* Settings with resolved names. Callbacks may be NULL; several threads call those about formulas at
 * once. */
struct sr_settings {
    const struct sr_language *language; /* of all formulas; NULL: the table of operators alone */
    enum sr_op binary[SR_ALL_OPS], unary[SR_ALL_OPS];
    enum sr_round round; /* numbers that the finished front prefers (table/finish.c) */
    int binary_count, unary_count;
    enum orr_symreg_loss loss;
    double loss_parameter; /* of huber, logcosh, quantile */
    bool follows;          /* of huber, logcosh: it follows from the residuals */
    int maxsize, iterations, populations, population_size, cycles, restarts;
    int alternatives; /* near-best formulas kept of each complexity; 0: none */
    double parsimony;
    bool nests; /* formulas may have functions directly inside themselves: sr_expr_nests() */
    uint64_t seed;
    double enumerate; /* formulas tried before the islands start; 0: none */
    /* where patience or iterations would end a run, new populations are drawn */
    bool restarts_fresh;
    /* epochs without a fall of some front row by 1% of its loss that end a run; 0: never */
    int patience;
    double stop_loss; /* end when every fit reached this loss; 0: only when exact */
    /* rms residual, as a share of the rms spread of y, up to which a formula leaves nothing to
     * explain: the search ends, and rules choose the simplest such formula; 0: none */
    double tolerance;
    double max_seconds;       /* end after the epoch in which the time passes; 0: no limit */
    double max_evaluations;   /* likewise, for the evaluations of all fits together */
    double spent_s;           /* seconds that count as spent when the search begins */
    const char *checkpoint;   /* file written after epochs, at most once per second; NULL: none */
    bool checkpoint_of_stops; /* none is written at the end: it serves interrupted searches only */
    bool resume; /* resume from the checkpoint if it exists; otherwise it is removed first */
    void (*observe)(void *observer, const struct sr_observation *seen); /* NULL: no observer */
    void *observer;
    const struct sr_algorithm *algorithm; /* evolve.h; NULL, for sr_search(): the engine's own */
    /* Whether a formula is admissible, a free outer factor understood; and whether the front may
     * hold it as it stands. */
    bool (*admissible)(const struct sr_expr *expr, const void *context);
    bool (*whole)(const struct sr_expr *expr, const void *context);
    /* Penalty in units of the best constant's loss: of the formula as it stands with `whole`, else
     * with a free outer factor understood. */
    double (*penalty)(const struct sr_expr *expr, bool whole, const void *context);
    const void *context;          /* passed to the three callbacks */
    const struct sr_units *units; /* of the columns, the target and named constants; NULL: none */
    const char *context_text;     /* lines KEY=VALUE of the context, user-defined operators, loss */
    const struct sr_template *form; /* every formula is an instance of it; NULL: any formula */
    const struct sr_expr *guess; /* (guesses) formulas added to every island's first population */
    int guesses;
    struct sr_recall *recall; /* results of an earlier search's steps (recall.h); NULL: none */
};
/* The operators of the settings, one bit each, leaves included. */
uint64_t sr_settings_operators(const struct sr_settings *settings);
/* Whether a formula has only operators of the settings and their guesses, but for the product of an
 * outer factor, which is free, and functions directly inside themselves only where the settings or
 * a guess have them. Everything is allowed in a template. */
bool sr_settings_allow(const struct sr_settings *settings, const struct sr_expr *expr);

/* Formulas from which a fit's search starts, with fitted constants. */
enum { SR_SEEDS_PER_SIZE = 24, SR_SEEDS = 1536 };
struct sr_seeds {
    int count;
    struct sr_expr expr[SR_SEEDS];
    double loss[SR_SEEDS]; /* without an outer scale; infinite: unusable */
    double evaluations;
    uint64_t finder[SR_SEEDS]; /* stages that found it (proposal.c) */
};
/* Limits of the proposal: no stage starts after the time `until_s` (0: no limit), and at most
 * `evaluations` formulas are evaluated on all rows. */
struct sr_limit {
    double until_s, evaluations;
};
/* `thread` has `threads` entries. A signal interrupts it. All seeds were evaluated on all rows,
 * whatever the end. */
typedef int sr_seeds_function(const struct sr_settings *settings, const struct sr_loss *loss,
                              struct sr_limit limit, struct sr_thread *thread, int threads,
                              struct sr_seeds *seeds);
/* Runs the stages (stages.h) until a seed is exact, within settings->enumerate and the limit. */
sr_seeds_function sr_seeds_all;
/* The same for settings->form, with the columns of its function as a table; no seeds where the
 * template has other unknown parts, the function does not enter linearly, or the loss is not l2. */
sr_seeds_function sr_seeds_template;

/* Calls one of these with the rows in which no column is 0, where that leaves out at most one row
 * in twenty for each column (20 to 65,536 rows); the seeds' losses are then those on all rows. */
int sr_seeds_inside(sr_seeds_function *find, const struct sr_settings *settings,
                    const struct sr_loss *loss, struct sr_limit limit, struct sr_thread *thread,
                    int threads, struct sr_seeds *seeds);

/* ln of the evidence for noise in proportion to y over that for noise of the same size everywhere,
 * of smooth models of ln |y|. 0 where there are none: fewer than 64 rows, one column or more than
 * 12, y of both signs (5% of the rows). ORR_ENOMEM. */
int sr_noise_evidence(const struct sr_data *data, double *ln_ratio);

#endif
