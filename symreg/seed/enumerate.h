/* enumerate.h - inside symreg/: every formula of the given operators by increasing cost, each
 * function once.
 *
 * The cost of a formula is its number of nodes, functions from exp on counting twice. The
 * enumerator puts operators over the entries that its owner has kept, and offers each result with
 * its values at SR_ROWS rows; the owner ranks it, and keeps it where others are to be built over
 * it. bank.c enumerates formulas of all features, curves.c functions of one variable. */
#ifndef SR_ENUMERATE_H
#define SR_ENUMERATE_H

#include "seed.h"
#include "symreg/value/vec.h"

/* One formula: an operator over earlier entries, or a leaf. */
struct sr_entry {
    uint8_t op, size, cost;
    uint8_t feature;   /* of a constant its place in the grid */
    uint8_t constants; /* how many */
    int a, b;
};

enum { SR_MOST_COST = 30 };
struct sr_enumeration {
    /* What the owner sets before sr_enumerate_init(). */
    const struct sr_settings *settings; /* the operators */
    const double *grid;                 /* the values that a constant takes */
    int room;                           /* entries kept at most */
    int largest;                        /* nodes of a formula, at most */
    int most_cost;                      /* at most SR_MOST_COST */
    void *owner;
    /* Is op over entries a and b worth its evaluation? Unary operators have a == b. NULL: yes. */
    bool (*wants)(void *owner, enum sr_op op, int a, int b);
    /* A formula whose values are finite. The owner may keep it by sr_enumerate_keep(). */
    void (*offer)(void *owner, const struct sr_entry *entry, const double value[SR_ROWS]);

    double tried; /* formulas, as the owner counts them */
    int count;    /* entries kept */
    struct sr_entry *entry;
    double (*value)[SR_ROWS];
    uint32_t *table; /* hash table of entries */
    size_t slots;
    int first[SR_MOST_COST + 2]; /* of every cost */
    int cost;                    /* of the level under way */
    int step;                    /* of that level: those before are done */
};

/* Memory that sr_enumerate_free() frees, after errors too. */
int sr_enumerate_init(struct sr_enumeration *all);
void sr_enumerate_free(struct sr_enumeration *all);
/* Offers the feature number `feature` with these values. */
void sr_enumerate_feature(struct sr_enumeration *all, int feature, const double value[SR_ROWS]);
/* Offers the first `constants` numbers of the grid. */
void sr_enumerate_constants(struct sr_enumeration *all, int constants);
/* Goes on, once the leaves were offered, until `budget` formulas were tried in all. A later call
 * with a larger budget continues: both together are one call with the larger. */
void sr_enumerate_run(struct sr_enumeration *all, double budget);

/* False where an equal function was kept; else, with `keep`, the table remembers that the next
 * entry has these values. */
bool sr_enumerate_is_new(struct sr_enumeration *all, const double value[SR_ROWS], bool keep);
void sr_enumerate_keep(struct sr_enumeration *all, const struct sr_entry *entry,
                       const double value[SR_ROWS]);
/* Of four values divided by `unit` and rounded to floats: formulas that are equal up to rounding
 * agree. */
uint64_t sr_enumerate_hash(const double value[SR_ROWS], double unit);
/* Writes an entry as a formula; false when it has more than SR_NODES nodes. */
bool sr_enumerate_write(const struct sr_enumeration *all, const struct sr_entry *entry,
                        struct sr_expr *expr);

#endif
