/* stages.h - inside symreg/: the proposal of one fit, and the stages that add seeds to it. */
#ifndef SR_STAGES_H
#define SR_STAGES_H

#include "bank.h"
#include "seed.h"

struct sr_stage;
struct sr_proposal {
    const struct sr_settings *settings;
    const struct sr_stage *stage; /* those that sr_proposal_run() runs; find NULL ends the list */
    uint64_t operators;           /* operators of the settings, one bit each */
    const struct sr_loss *loss;
    struct sr_limit limit;
    struct sr_thread *thread; /* (threads) */
    int threads;
    struct sr_bank bank; /* filled by the first stage, read by the others */
    struct sr_seeds *seeds;
    double floor; /* a loss that noise explains; 0: unknown */
    bool derived; /* its table is derived from that of another proposal */
    bool is_rest; /* what is left of a table after a term was split off (split.c) */
};
/* Creates a proposal with an empty bank, to be freed after errors too, and no seeds. It must not be
 * moved. */
int sr_proposal_init(struct sr_proposal *p, const struct sr_stage *stage,
                     const struct sr_settings *settings, const struct sr_loss *loss,
                     struct sr_thread *thread, int threads, struct sr_seeds *seeds);
/* The stages, one bit each. */
enum sr_stages {
    SR_STAGE_SMALL = 1,
    SR_STAGE_POWERS = 2,
    SR_STAGE_ANGLES = 4,
    SR_STAGE_STRUCTURE = 8,
    SR_STAGE_UNITS = 16,
    SR_STAGE_COMPOSED = 32,
    SR_STAGE_RATES = 64,
    SR_STAGE_ORIGINS = 128,
    SR_STAGE_SIGNS = 256,
    SR_STAGE_HINGES = 512,
    SR_STAGE_WHOLE = 1024,
    SR_STAGE_POOLED = 2048,
    SR_STAGE_PROFILES = 4096,
    SR_STAGE_LINKS = 8192,
    SR_STAGES_OF_REST = 16383 & ~(SR_STAGE_ANGLES | SR_STAGE_UNITS)
};
/* What a stage needs of a table and of the settings. */
struct sr_needs {
    uint64_t operators, any; /* all of these, one of these (one bit each); 0: none */
    size_t rows;             /* at least */
    int columns, most;       /* at least; at most, 0: any number */
    bool but_study;          /* not the loss SR_STUDY */
    bool (*when)(const struct sr_proposal *p); /* and this; NULL: nothing */
};
/* Appends fitted formulas to the seeds. */
typedef int sr_stage_find(struct sr_proposal *p);
/* One stage. A derived table (derived.h) runs the stages of its proposal's list, so that no stage
 * calls another. */
struct sr_stage {
    const char *name;
    unsigned bit;
    sr_stage_find *find;
    double share; /* of the time that is left; 0: all */
    struct sr_needs needs;
};
/* All stages, the cheapest first, as an exact formula ends the sequence. */
extern const struct sr_stage sr_stages[];
/* Runs the given stages of the list until the proposal is over. */
int sr_proposal_run(struct sr_proposal *p, unsigned stages);
/* For SR_LOG_SEEDS: the seeds of p from number `before` on are those of `found`, written in the
 * columns of p: seed i has the loss of some loss[k], which is that of seed from[k]. */
void sr_log_derived(const struct sr_proposal *p, const struct sr_seeds *found, int before,
                    const int *from, const double *loss, int count);
/* Whether a seed fits up to rounding or to the floor, or a limit or a signal ends the proposal. */
bool sr_proposal_over(const struct sr_proposal *p);
/* Leaves the proposal this share of its time (0: all) until the caller puts back p->limit, which is
 * returned. */
struct sr_limit sr_proposal_share(struct sr_proposal *p, double share);
/* Reserves up to `wanted` evaluations within the limit, and returns how many. */
int sr_proposal_take(struct sr_proposal *p, int wanted);

/* Appends the best formulas of every size to the seeds: at most per_size of each, as far as there
 * is capacity; with `whole`, no size is begun that would not fit completely. */
void sr_proposal_add(struct sr_proposal *p, const struct sr_expr *expr, const double *loss,
                     int count, int per_size, bool whole);
/* Shortens a formula of the table; false where it is too long or not admissible. */
bool sr_proposal_shorten(const struct sr_proposal *p, struct sr_expr *expr);
/* Fits constants and outer scale of the seeds from number `first` on to all rows. */
void sr_proposal_fit(struct sr_proposal *p, int first, int steps);

/* Tables of fewer rows, of which a sample of SR_ROWS is the half and more: among as many pairs of
 * formulas as larger tables are searched for, more and more fit by chance. */
enum { SR_FEW_FOR_PAIRS = 64 };
/* The file of each says what it finds; that of composed formulas is small_formulas.c. */
sr_stage_find sr_small_find, sr_profiles_find, sr_links_find, sr_origins_find, sr_pooled_find,
    sr_hinges_find, sr_powers_find, sr_signs_find, sr_rates_find, sr_angles_find,
    sr_dimensions_find, sr_structure_find, sr_composed_find, sr_whole_find;

/* Offers pairs h H(a f + b g + c) of formulas of the filled bank (formula_pairs.c). */
int sr_pairs_offer(const struct sr_proposal *p, struct sr_candidates *candidates);

/* A few rows with their weights and the loss, for cheap fits. The caller frees it, after errors
 * too. It must not be moved. */
struct sr_subsample {
    struct sr_data data;
    struct sr_loss loss;
    double *x; /* storage */
};
int sr_subsample_init(struct sr_subsample *sample, const struct sr_loss *loss,
                      const size_t row[SR_ROWS]);
void sr_subsample_free(struct sr_subsample *sample);

#endif
