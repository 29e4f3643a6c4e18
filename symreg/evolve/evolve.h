/* evolve.h - the search: islands of formulas that evolve, on one pool of threads. */
#ifndef SR_EVOLVE_H
#define SR_EVOLVE_H

#include "stage/settings.h"
#include "symreg/seed/seed.h"

/* ---------------------------------------------------------------------------- algorithms */

enum sr_mutation {
    SR_ROTATE,
    SR_ADD_LEAF,
    SR_ADD_ROOT,
    SR_DELETE,
    SR_OPERATOR,
    SR_SWAP,
    SR_MOVE_FEATURE,
    SR_MOVE_CONSTANT, /* the weight applies from 8 constants on; fewer reduce it in proportion */
    SR_INSERT,
    SR_RANDOMISE,
    SR_NOTHING,
    SR_SIMPLIFY,
    SR_MUTATIONS
};

struct sr_epoch_view; /* search.h */
struct sr_worker;
struct sr_island;
struct sr_member;
/* What distinguishes the search algorithms. They share all other code. */
struct sr_algorithm {
    enum orr_symreg_algorithm kind; /* written into checkpoints, too */
    bool proposes;     /* formulas are enumerated and combined before the islands start (seed.h) */
    bool screens;      /* formulas are first evaluated on a few rows */
    bool polishes;     /* front formulas are varied, refitted and rounded */
    bool patient;      /* settings->patience ends a run */
    bool scaled;       /* the outer scale is fitted: a formula represents all its multiples */
    bool scales_parts; /* likewise of each unknown function of a template */
    bool knows_constant; /* the best constant is offered to the front at the start */
    bool keeps_infinite; /* children without a finite loss enter the population */
    /* The loss that corresponds to cost 1; `base` is the loss of the best constant. */
    double (*unit)(double base);
    /* Draws a formula of the first population. */
    void (*start)(const struct sr_settings *settings, int features, gsl_rng *rng,
                  struct sr_expr *expr);
    /* Fills the member's loss, penalty included, and offers the formula to the island's hall. */
    void (*evaluate)(struct sr_worker *w, struct sr_member *member, double penalty);
    /* Fits the constants. False where loss and cost are already set, so no evaluation is needed. */
    bool (*fit)(struct sr_worker *w, struct sr_member *member);
    /* Draws the factor by which a mutation multiplies or divides a constant. */
    double (*constant_factor)(gsl_rng *rng);
    double weight[SR_MUTATIONS];
};
extern const struct sr_algorithm sr_algorithm_orrery;
/* The same for settings with a template: without proposals, and a scale for each function. */
extern const struct sr_algorithm sr_algorithm_parts;
/* The algorithm of SymbolicRegression.jl, with PySR's current default constants. */
extern const struct sr_algorithm sr_algorithm_pysr;

/* -------------------------------------------------------------------------------- search */

/* Fills the settings from a preset. Errors: unknown names of operators or rules. Allocates
 * nothing. */
int sr_settings_init(struct sr_settings *settings, const struct orr_settings *given);

/* Why a search ended. */
enum sr_end {
    SR_END_NONE,
    SR_END_EXACT,
    SR_END_LOSS,
    SR_END_TOLERANCE,
    SR_END_PATIENCE,
    SR_END_ITERATIONS,
    SR_END_SECONDS,
    SR_END_EVALUATIONS,
    SR_END_SIGNAL
};
/* The reason as text, such as "an exact formula settled". */
const char *sr_end_text(enum sr_end end);

/* One fit: a table, and the best front of all restarts. */
struct sr_fit {
    struct sr_data data;
    uint64_t stream; /* key of the random streams: the sample's number */
    /* (rows) number of each row's category, from 0 to categories - 1. A formula's loss is then that
     * of its best constants in each category; the front has those of one category, for
     * sr_categories_share(). NULL: one formula with one set of constants. Only for
     * sr_algorithm_orrery. */
    const int *category;
    int categories;
    struct sr_front front; /* result: front of the restart with the highest score */
    /* result: the near-best formulas of all restarts; NULL without settings->alternatives */
    struct sr_near *near;
    struct sr_front *alternatives; /* of sr_front_alternatives(), NULL: none */
    double evaluations; /* result: formulas evaluated on all rows, summed over restarts */
    double screened;    /* result: formulas discarded after an evaluation on few rows */
    enum sr_end end;    /* result: why the search ended */
    bool rough; /* result: a signal or a time limit left constants without a fit or a rounding */
    /* result, of the first fit: why the search went on without checkpoints; "" where it did not */
    char unsaved[512];
};
/* Frees a fit and its results, but not its data. */
void sr_fit_free(struct sr_fit *fit);
/* Fits all tables with `threads` threads; results do not depend on the number of threads. The
 * tables take over the settings' language, and settings without an algorithm get
 * sr_algorithm_orrery. ORR_EINVAL where an operator or a guess does not belong
 * to the language. After a signal it returns ORR_EINTR with the fronts found so far. progress may
 * be NULL. Several searches may run at once, each with its own language. */
int sr_search(const struct sr_settings *settings, struct sr_fit *fits, int count, int threads,
              struct orr_progress *progress);

#endif
