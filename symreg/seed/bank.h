/* bank.h - inside symreg/: small formulas of all features with their values at a few rows.
 *
 * One bank serves all stages of a fit. It keeps formulas by increasing cost (enumerate.h), each
 * function once, and of every size those that come closest to y in three respects (absolute,
 * relative, up to an offset). Constants are generic: nothing here knows a law. */
#ifndef SR_BANK_H
#define SR_BANK_H

#include "enumerate.h"

enum {
    SR_BANK = 40000,     /* formulas kept with their values */
    SR_BANK_SIZE = 15,   /* nodes of a formula in the bank, at most */
    SR_BEST_KEPT = 128,  /* of one size in one respect */
    SR_CONSTANT_COST = 6 /* of formulas with constants that are kept, at most */
};

/* The best of one size in one respect: score is the share of y that stays unexplained. */
enum sr_respect { SR_ABSOLUTE, SR_RELATIVE, SR_OFFSET, SR_RESPECTS };
struct sr_ranked {
    double score;
    uint64_t hash; /* of the values up to a factor */
    struct sr_entry entry;
};
struct sr_ranking {
    int count;
    struct sr_ranked best[SR_BEST_KEPT];
};
struct sr_bank {
    struct sr_enumeration all;
    size_t row[SR_ROWS];
    double y[SR_ROWS];                         /* target at the rows */
    double inverse[SR_ROWS], yy, sy;           /* 1 / y, sums of y^2 and y */
    struct sr_ranking (*ranking)[SR_RESPECTS]; /* (SR_BANK_SIZE + 1) */
};

/* An empty bank of the settings' operators over the rows at even quantiles of y. It must not move;
 * sr_bank_free() frees it, after errors too. */
int sr_bank_init(struct sr_bank *bank, const struct sr_settings *settings,
                 const struct sr_data *data);
void sr_bank_free(struct sr_bank *bank);
/* Writes the entry number e as a formula; false when it has more than SR_NODES nodes. */
bool sr_bank_expr(const struct sr_bank *bank, int e, struct sr_expr *expr);
/* made[e] = entry e is made of features and these operators alone (a bit each). */
void sr_bank_made_of(const struct sr_bank *bank, uint64_t operators, bool made[SR_BANK]);

/* Formulas to be fitted, the best guess of their constants in place. */
enum { SR_CANDIDATES = 16384 };
struct sr_candidates {
    int count;
    struct sr_expr expr[SR_CANDIDATES];
    double loss[SR_CANDIDATES]; /* filled by the search */
};
/* The bank's best of every size, with and without an offset, of at most maxsize nodes. */
void sr_bank_offer(const struct sr_bank *bank, int maxsize, struct sr_candidates *candidates);

#endif
