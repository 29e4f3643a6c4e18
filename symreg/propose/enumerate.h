/* enumerate.h - inside symreg/: all small formulas, and what can be put together of two of them.
 *
 * A bank holds every formula of the given operators by increasing cost - its nodes, functions from
 * exp on counting twice - each function once, with its values at a few rows of the data. What fits
 * these rows best is handed on, in three respects (absolute, relative, up to an offset). Then pairs
 * meet in the middle: for targets z = H^-1(y / h), with h a small formula, a product or a quotient
 * of two, and H an operator with an inverse, all z = a f + b g + c are solved at once from the
 * correlations of the bank. Constants are generic: nothing here knows a law. */
#ifndef SR_ENUMERATE_H
#define SR_ENUMERATE_H

#include "propose.h"
#include "symreg/value/vec.h"

enum {
    SR_BANK = 40000,       /* formulas kept with their values */
    SR_BANK_SIZE = 15,     /* nodes of a formula in the bank, at most */
    SR_CONSTANT_COST = 6,  /* of formulas with constants that are kept, at most */
    SR_CANDIDATES = 16384, /* handed on, at most */
};

/* One formula of the bank: an operator over earlier ones. */
struct sr_bank_entry {
    uint8_t op, size, feature, cost;
    uint8_t constants; /* how many */
    int a, b;
};
/* The best of one size in one respect. */
enum sr_respect { SR_ABSOLUTE, SR_RELATIVE, SR_OFFSET, SR_RESPECTS };
enum { SR_BEST_KEPT = 128 };
struct sr_ranking {
    int count;
    double score[SR_BEST_KEPT];
    uint64_t hash[SR_BEST_KEPT]; /* of the values up to a factor */
    struct sr_bank_entry entry[SR_BEST_KEPT];
};
struct sr_bank {
    int count, features, largest;
    double tried;                    /* formulas */
    double y[SR_ROWS];               /* target at the rows */
    double inverse[SR_ROWS], yy, sy; /* 1 / y, sums of y^2 and y */
    size_t row[SR_ROWS];
    struct sr_bank_entry *entry;
    double (*value)[SR_ROWS];                  /* (SR_BANK) */
    uint32_t *table;                           /* hash table of entries */
    struct sr_ranking (*ranking)[SR_RESPECTS]; /* (SR_BANK_SIZE + 1) */
};
/* Fills a bank with formulas of the settings' operators until `budget` were tried. */
int sr_bank_init(struct sr_bank *bank, const struct sr_settings *settings,
                 const struct sr_data *data, double budget);
void sr_bank_free(struct sr_bank *bank);
/* Writes an entry as a formula; false when it has more than SR_NODES nodes. */
bool sr_bank_expr(const struct sr_bank *bank, const struct sr_bank_entry *entry,
                  struct sr_expr *expr);

/* Formulas to be fitted, the best guess of their constants in place. */
struct sr_candidates {
    int count;
    struct sr_expr expr[SR_CANDIDATES];
    double loss[SR_CANDIDATES]; /* filled by the search */
};
/* The bank's best of every size, with and without an offset. */
void sr_bank_offer(const struct sr_bank *bank, const struct sr_settings *settings,
                   struct sr_candidates *candidates);
/* A few rows of the data with their weights and the same loss, its parameter included: a fit to
 * them costs little. To be freed after errors, too; few must not move. */
struct sr_few {
    struct sr_data data;
    struct sr_loss loss;
    double *x; /* storage */
};
int sr_few_init(struct sr_few *few, const struct sr_loss *loss, const size_t row[SR_ROWS]);
void sr_few_free(struct sr_few *few);
/* h: a formula of the bank, a product or a quotient of two. */
enum { SR_CLOSE = 120, SR_PLAIN = 300, SR_FACTORS = SR_CLOSE + SR_PLAIN };
struct sr_factor {
    int a, b;      /* of the bank; a < 0: 1, b < 0: a alone */
    enum sr_op op; /* SR_MUL or SR_DIV where b >= 0 */
    double score;  /* the variance of log(y / h), a little more for every node */
};
/* The closest, best first, and then the first formulas of + - * / alone, constants left out: those
 * are to be targets of single formulas only. Returns how many in all, *close of the first kind. */
int sr_factors_find(const struct sr_bank *bank, bool divide, struct sr_factor list[SR_FACTORS],
                    int *close);
/* h H(a f + b g + c) of formulas of the bank; `threads` as many as may run here. */
int sr_compose(const struct sr_bank *bank, const struct sr_settings *settings, int threads,
               struct sr_candidates *candidates);

#endif
