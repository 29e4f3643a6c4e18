/* stages.h - inside symreg/: one fit's proposal, and the stages that add to its seeds. */
#ifndef SR_STAGES_H
#define SR_STAGES_H

#include "bank.h"
#include "seed.h"

struct sr_proposal {
    const struct sr_settings *settings;
    uint64_t operators; /* of the settings, a bit each */
    const struct sr_loss *loss;
    struct sr_limit limit;
    struct sr_thread *thread; /* (threads) */
    int threads;
    struct sr_bank bank; /* filled by the first stage, read by the others */
    int early;           /* entries of the bank's first eighth: the terms of pursuit.c */
    struct sr_seeds *seeds;
    double floor; /* a loss that noise explains, as far as is known: 0 where nothing is */
};
/* An empty bank and no seeds. The proposal must not move; sr_bank_free() frees its bank, after
 * errors too. */
int sr_proposal_init(struct sr_proposal *p, const struct sr_settings *settings,
                     const struct sr_loss *loss, struct sr_thread *thread, int threads,
                     struct sr_seeds *seeds);
/* The stages, a bit each in their order. */
enum sr_stages {
    SR_STAGE_SMALL = 1,
    SR_STAGE_SIMPLEST_SUMS = 2,
    SR_STAGE_STRUCTURE = 4,
    SR_STAGE_COMPOSED = 8,
    SR_STAGE_CURVES = 16,
    SR_STAGE_PURSUIT = 32
};
/* These stages, one after the other, until the proposal is over. */
int sr_proposal_run(struct sr_proposal *p, unsigned stages);
/* Whether a seed fits to rounding or to the floor, or the limit or a signal allows no more. */
bool sr_proposal_over(const struct sr_proposal *p);
/* How many of `wanted` formulas may be judged within the limit; they are counted. */
int sr_proposal_take(struct sr_proposal *p, int wanted);

/* The best formulas of every size become seeds beside those before: at most per_size, as many as
 * have room; with `whole` no size is begun without room for all. `once`: sr_best_of_size(). */
void sr_proposal_add(struct sr_proposal *p, const struct sr_expr *expr, const double *loss,
                     int count, int per_size, bool once, bool whole);
/* Fits constants and outer scale of the seeds from `first` on to all rows. */
void sr_proposal_fit(struct sr_proposal *p, int first, int steps, bool rewrite);

/* Each stage appends fitted formulas to the seeds: small formulas (small.c); of tables of enough
 * rows more of them, and pairs of them. */
int sr_small_find(struct sr_proposal *p);
int sr_composed_find(struct sr_proposal *p);
/* Fills the bank until `budget` formulas were tried, and notes in `early` how many entries it had
 * when settings->enumerate / 8 were. */
void sr_proposal_fill(struct sr_proposal *p, double budget);
/* Tables of fewer columns, products of powers, each searched by itself (structure.c). */
int sr_structure_find(struct sr_proposal *p);
/* Curves to which the table collapses, h phi(u) (collapse.c). */
int sr_collapse_find(struct sr_proposal *p);
/* Sums of up to three small formulas, h H(a f + b g + c k + d) (pursuit.c): triples of the
 * very simplest, and what all triples of more and pursuit find. */
int sr_simplest_sums_find(struct sr_proposal *p);
int sr_pursuit_find(struct sr_proposal *p);

/* Pairs: offers h H(a f + b g + c) of formulas of the bank, which is filled (pairs.c). */
int sr_pairs_offer(const struct sr_proposal *p, struct sr_candidates *candidates);

/* A few rows of the data with their weights and the same loss, its parameter included: a fit to
 * them costs little. To be freed after errors, too; sample must not move. */
struct sr_subsample {
    struct sr_data data;
    struct sr_loss loss;
    double *x; /* storage */
};
int sr_subsample_init(struct sr_subsample *sample, const struct sr_loss *loss,
                      const size_t row[SR_ROWS]);
void sr_subsample_free(struct sr_subsample *sample);

#endif
