/* enumerate.h - inside symreg/: enumerates formulas of given operators in order of increasing cost,
 * each function once.
 *
 * The cost of a formula is its number of nodes; functions from exp on count twice. The enumerator
 * applies operators to the entries that its owner has kept, and offers each result with its values
 * at SR_ROWS rows. The owner ranks the result, and keeps it if it may become an operand. */
#ifndef SR_ENUMERATE_H
#define SR_ENUMERATE_H

#include "seed.h"
#include "symreg/value/vec.h"

/* One formula: an operator over earlier entries, or a leaf. */
struct sr_entry {
    uint8_t op, size, cost;
    uint8_t feature;   /* a constant's index in the grid */
    uint8_t constants; /* number of constants */
    int a, b;
};

enum { SR_MOST_COST = 30 };
struct sr_enumeration {
    /* Set by the owner before sr_enumerate_init(). */
    const struct sr_settings *settings; /* for the operators */
    const double *grid;                 /* the values that a constant takes */
    int room;                           /* entries kept, at most */
    int largest;                        /* nodes of a formula, at most */
    void *owner;
    /* Receives a formula whose values are finite. The owner may keep it by sr_enumerate_keep(). */
    void (*offer)(void *owner, const struct sr_entry *entry, const double value[SR_ROWS]);

    double tried; /* formulas tried, as the owner counts them */
    int count;    /* entries kept */
    struct sr_entry *entry;
    double (*value)[SR_ROWS];
    uint32_t *table; /* hash table of entries */
    size_t slots;
    int first[SR_MOST_COST + 2]; /* first entry of every cost */
    int cost;                    /* cost of the current level */
    int step;                    /* next step of the current level */
};

/* Allocates memory, which sr_enumerate_free() frees, after errors too. */
int sr_enumerate_init(struct sr_enumeration *all);
void sr_enumerate_free(struct sr_enumeration *all);
/* Offers feature number `feature` with the given values. */
void sr_enumerate_feature(struct sr_enumeration *all, int feature, const double value[SR_ROWS]);
/* Offers the first `constants` numbers of the grid. */
void sr_enumerate_constants(struct sr_enumeration *all, int constants);
/* Continues after the leaves were offered, until `budget` formulas were tried in total. Two calls
 * with increasing budgets give the same entries as one call with the larger budget. */
void sr_enumerate_run(struct sr_enumeration *all, double budget);

/* False where an equal function was kept. Otherwise, with `keep`, the hash table registers these
 * values for the next entry. */
bool sr_enumerate_is_new(struct sr_enumeration *all, const double value[SR_ROWS], bool keep);
void sr_enumerate_keep(struct sr_enumeration *all, const struct sr_entry *entry,
                       const double value[SR_ROWS]);
/* Hash of four values divided by `unit` and rounded to float, so that formulas equal up to rounding
 * have one hash. */
uint64_t sr_enumerate_hash(const double value[SR_ROWS], double unit);
/* Writes an entry as a formula; false when it has more than SR_NODES nodes. */
bool sr_enumerate_write(const struct sr_enumeration *all, const struct sr_entry *entry,
                        struct sr_expr *expr);

#endif
