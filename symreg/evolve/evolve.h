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
    SR_MOVE_CONSTANT, /* its weight is for 8 constants and more, else in proportion */
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
/* What distinguishes one way to search from another; everything else they share. */
struct sr_algorithm {
    enum orr_symreg_algorithm kind; /* also in the digest of checkpoints */
    bool proposes;                  /* formulas are enumerated, composed, ... before (seed.h) */
    bool screens;                   /* few rows are looked at first */
    bool polishes;                  /* rows of the front are changed, fitted and rounded */
    bool patient;                   /* settings->patience ends a run */
    bool scaled;                    /* a formula stands for all its multiples */
    bool knows_constant;            /* the best constant is on the front from the start */
    bool keeps_infinite;            /* children without a finite loss enter the population */
    /* The loss that costs 1, of the best constant's. */
    double (*unit)(double base);
    /* A formula of the first population. */
    void (*start)(const struct sr_settings *settings, int features, gsl_rng *rng,
                  struct sr_expr *expr);
    /* Fills the member's loss, with the penalty, and offers the formula to the island's hall. */
    void (*evaluate)(struct sr_worker *w, struct sr_member *member, double penalty);
    /* Fits the constants; false where loss and cost are known without an evaluation. */
    bool (*fit)(struct sr_worker *w, struct sr_member *member);
    /* What a mutation multiplies or divides a constant by. */
    double (*constant_factor)(gsl_rng *rng);
    double weight[SR_MUTATIONS];
};
extern const struct sr_algorithm sr_algorithm_orrery;
/* That of SymbolicRegression.jl, with the constants of today's defaults of PySR. */
extern const struct sr_algorithm sr_algorithm_pysr;
/* Never NULL. */
static inline const struct sr_algorithm *sr_algorithm_of(const struct sr_settings *settings)
{
    return settings->algorithm ? settings->algorithm : &sr_algorithm_orrery;
}

/* -------------------------------------------------------------------------------- search */

/* The settings of a preset: checks names of operators and rules; creates nothing. */
int sr_settings_init(struct sr_settings *settings, const struct orr_settings *preset);

/* What ended a search. */
enum sr_end {
    SR_END_NONE,
    SR_END_EXACT,
    SR_END_LOSS,
    SR_END_PATIENCE,
    SR_END_ITERATIONS,
    SR_END_SECONDS,
    SR_END_EVALUATIONS,
    SR_END_SIGNAL
};
/* In words: "an exact formula settled". */
const char *sr_end_text(enum sr_end end);

/* One fit: a table, and the restarts' best front. */
struct sr_fit {
    struct sr_data data;
    uint64_t stream;       /* keys the random streams: the sample's number */
    struct sr_front front; /* result: of the restart with the highest score */
    double evaluations;    /* result: formulas evaluated on all rows, all restarts */
    double screened;       /* result: formulas discarded after a look at few rows */
    enum sr_end end;       /* result: what ended the search */
    bool rough;            /* result: a signal or a limit of time left constants unrounded */
};
/* Fits all tables with `threads` threads, results independent of their number. The tables take over
 * the settings' language; ORR_EINVAL where an operator or a guess is not of it. At a signal it
 * returns ORR_EINTR with the fronts found so far. progress may be NULL. Several searches may run at
 * once, each with a language of its own. */
int sr_search(const struct sr_settings *settings, struct sr_fit *fits, int count, int threads,
              struct orr_progress *progress);

#endif
