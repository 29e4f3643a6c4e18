/* bank.h - inside symreg/: small formulas of all features with their values at a few rows, which
 * all stages of a fit share.
 *
 * Formulas are enumerated in order of increasing cost, each function once: operators are applied to
 * the entries kept so far. The cost is the number of nodes; functions from exp on count twice. For
 * every size the bank also ranks the formulas closest to y in three respects: absolute, relative,
 * and up to an offset. Constants are generic: the bank assumes no law. */
#ifndef SR_BANK_H
#define SR_BANK_H

#include "seed.h"
#include "symreg/value/vec.h"

enum {
    SR_BANK = 40000,      /* formulas kept with their values */
    SR_BANK_SIZE = 15,    /* nodes of a formula in the bank, at most */
    SR_BEST_KEPT = 128,   /* kept for each size and respect */
    SR_CONSTANT_COST = 6, /* largest cost of a kept formula with constants */
    SR_MOST_COST = 30
};

/* One formula: an operator over earlier entries, or a leaf. */
struct sr_entry {
    uint8_t op, size, cost;
    uint8_t feature;   /* a constant's index in the grid */
    uint8_t constants; /* number of constants */
    int a, b;
};

/* A ranking of one size in one respect. */
enum sr_respect { SR_ABSOLUTE, SR_RELATIVE, SR_OFFSET, SR_RESPECTS };
struct sr_ranked {
    double score;  /* the unexplained share of y */
    uint64_t hash; /* of the values up to a factor */
    struct sr_entry entry;
};
struct sr_ranking {
    int count;
    struct sr_ranked best[SR_BEST_KEPT];
};
struct sr_bank {
    const struct sr_settings *settings; /* for the operators */
    int largest;                        /* nodes of a formula, at most */
    double tried;                       /* formulas with finite values */
    int count;                          /* entries kept */
    struct sr_entry *entry;
    double (*value)[SR_ROWS];
    uint32_t *table;             /* hash table of entries */
    int first[SR_MOST_COST + 2]; /* first entry of every cost */
    int cost, step;              /* the current level, and the next step in it */
    size_t row[SR_ROWS];
    double y[SR_ROWS];                         /* target at the rows */
    double inverse[SR_ROWS], yy, sy;           /* 1 / y, sums of y^2 and y */
    struct sr_ranking (*ranking)[SR_RESPECTS]; /* (SR_BANK_SIZE + 1) */
};

/* Creates an empty bank of the settings' operators over rows at even quantiles of y, with a row for
 * each column that would be constant there and is not. The bank must not be moved.
 * sr_bank_free() frees it, after errors too. */
int sr_bank_init(struct sr_bank *bank, const struct sr_settings *settings,
                 const struct sr_data *data);
void sr_bank_free(struct sr_bank *bank);
/* Enumerates until `budget` formulas were tried in total. Two calls with increasing budgets give
 * the same entries as one call with the larger budget. */
void sr_bank_run(struct sr_bank *bank, double budget);
/* Appends entry e to a formula. */
void sr_bank_put(const struct sr_bank *bank, int e, struct sr_expr *out);

/* Formulas to be fitted, with initial guesses of their constants. */
enum { SR_CANDIDATES = 16384 };
struct sr_candidates {
    int count;
    struct sr_expr expr[SR_CANDIDATES];
    double loss[SR_CANDIDATES]; /* filled by the search */
};
/* The place of the next formula, empty; only where count < SR_CANDIDATES. */
static inline struct sr_expr *sr_candidates_next(struct sr_candidates *candidates)
{
    struct sr_expr *next = &candidates->expr[candidates->count];
    *next = (struct sr_expr){0};
    return next;
}
/* Offers the bank's best formulas of every size, with and without an offset, of at most maxsize
 * nodes. */
void sr_bank_offer(const struct sr_bank *bank, int maxsize, struct sr_candidates *candidates);

#endif
