/* seed.h - what a search starts from: small formulas enumerated, composed, summed, and curves to
 * which the table collapses, with their constants fitted. */
#ifndef SR_SEED_H
#define SR_SEED_H

#include "stage/settings.h"
#include "symreg/select/select.h"

/* -------------------------------------------------------------------------------- search */

/* What a search shows of one run after every epoch, in the order of fits and restarts. */
struct sr_observation {
    int fit, restart, epoch;
    double seconds, evaluations; /* of the whole search, of this run */
    const struct sr_front *front;
};

struct sr_algorithm;
/* Settings with names resolved. The callbacks may be NULL; those about formulas are called by
 * several threads at once. */
struct sr_settings {
    const struct sr_language *language; /* of all formulas; NULL: that of the table of operators */
    enum sr_op binary[SR_ALL_OPS], unary[SR_ALL_OPS];
    int binary_count, unary_count;
    enum orr_symreg_loss loss;
    double loss_parameter; /* of huber, logcosh, quantile */
    int maxsize, iterations, populations, population_size, cycles, restarts;
    double parsimony;
    uint64_t seed;
    double enumerate;         /* formulas tried before the islands start; 0: none */
    bool restarts_fresh;      /* patience and iterations end no run: populations are drawn anew */
    int patience;             /* end of a run after so many epochs in which no row of the front fell
                             * by 1% of its loss; 0: never */
    double stop_loss;         /* end when every fit has reached it; 0: only when it is exact */
    double max_seconds;       /* end with the epoch in which they pass; 0: no limit */
    double max_evaluations;   /* of all fits together, likewise */
    const char *checkpoint;   /* file written after epochs, at most once in a second; NULL: none */
    bool checkpoint_of_stops; /* only to go on after a stop: none is written at the end */
    bool resume;              /* go on from that file where it is there; else it is removed first */
    void (*observe)(void *observer, const struct sr_observation *seen); /* NULL: nobody */
    void *observer;
    const struct sr_algorithm *algorithm; /* evolve.h; NULL: the engine's own */
    /* may this formula live, a free outer factor understood? May the front hold it as it is? */
    bool (*admissible)(const struct sr_expr *expr, const void *context);
    bool (*whole)(const struct sr_expr *expr, const void *context);
    /* added to the loss, in units of the loss of the best constant; `whole` as it is, else with a
     * free outer factor understood */
    double (*penalty)(const struct sr_expr *expr, bool whole, const void *context);
    const void *context; /* of these three */
    const char
        *context_text; /* lines KEY=VALUE of what they, own operators and the own loss depend on */
    const struct sr_expr *guess; /* (guesses) formulas that every island starts with */
    int guesses;
};
/* Bit per operator of the settings, leaves included. */
uint64_t sr_settings_operators(const struct sr_settings *settings);

/* Formulas that a fit's search starts from: of small ones all that may matter, fitted. */
enum { SR_SEEDS_PER_SIZE = 24, SR_SEEDS = 1536 };
struct sr_seeds {
    int count;
    struct sr_expr expr[SR_SEEDS];
    double loss[SR_SEEDS]; /* as it stands; infinite: of no use */
    double evaluations;
};
/* Where proposing ends: no stage begins after `until_s` on the clock (0: none), and at most
 * `evaluations` formulas are judged on all rows. */
struct sr_limit {
    double until_s, evaluations;
};
/* Small formulas, pairs of them, sums and curves (stages.h), one kind after the other until a seed
 * is exact, within settings->enumerate and the limit; `thread` has `threads`. A signal breaks it
 * off. Seeds have been judged on all rows, whatever ended it. */
int sr_seeds_all(const struct sr_settings *settings, const struct sr_loss *loss,
                 struct sr_limit limit, struct sr_thread *thread, int threads,
                 struct sr_seeds *seeds);

#endif
