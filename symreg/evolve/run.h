/* run.h - inside symreg/: one restart of one fit, and what happens to it between epochs. */
#ifndef SR_RUN_H
#define SR_RUN_H

#include "search.h"

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
