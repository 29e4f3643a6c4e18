/* derived.h - inside symreg/: tables derived from a table, and what a search finds there. */
#ifndef SR_DERIVED_H
#define SR_DERIVED_H

#include "stages.h"

struct sr_derived;
/* Writes a formula of the derived table in the columns of the table itself; false where that is
 * impossible. */
typedef bool sr_derived_write(const struct sr_proposal *p, const struct sr_derived *derived,
                              const struct sr_expr *phi, struct sr_expr *out);
/* A table derived from that of a proposal: its columns are formulas u of the table, and its target
 * z gives y. A formula phi(u) for z is, in the columns of the table, the nodes `before`, phi with
 * the columns' formulas in place of its features, and the nodes `after`: "h", "*" for y = h z. */
struct sr_derived {
    struct sr_data data; /* without rows: there is no such table */
    struct sr_loss loss;
    size_t *row;        /* (rows) of the table */
    double *y, *weight; /* (rows) those of data */
    double *x;          /* storage of all three: (columns + 2, rows) */
    struct sr_expr column[SR_FEATURES], before, after;
    double near;  /* a factor further than this from 1 is written within phi; 0: it stays free */
    double floor; /* a loss that noise explains; 0: unknown */
    bool is_rest; /* see struct sr_proposal */
    sr_derived_write *write; /* in place of the above; NULL: none */
    const void *context;     /* of `write` */
};
enum { SR_DERIVED_ROWS = 2000 }; /* of a table that is searched, at most */
/* Begins a table of at most `columns` columns, so far without any, with y and weights of `rows`
 * rows of `all`: row[0 .. rows - 1], or for row NULL at most so many, evenly. ORR_ENOMEM. */
int sr_derived_init(struct sr_derived *derived, const struct sr_data *all, size_t rows,
                    const size_t *row, int columns);
/* Appends a column with these values in all rows of the table (not only the derived table's) and
 * this formula; returns its values, (rows). */
double *sr_derived_append(struct sr_derived *derived, const double *value,
                          const struct sr_expr *column);
/* Appends a feature of the table. */
double *sr_derived_feature(struct sr_derived *derived, const struct sr_data *all, int feature);
/* Ends a table, rc being the status of its loss: a table of values that no loss can be made of, or
 * that is unusable (ORR_EINVAL), gets no rows. ORR_ENOMEM. */
int sr_derived_close(struct sr_derived *derived, int rc);
/* Ends a table with this loss, whose weights are scaled to a mean of 1. ORR_ENOMEM. */
int sr_derived_end(struct sr_derived *derived, enum orr_symreg_loss kind);
void sr_derived_free(struct sr_derived *derived);

/* One round of a race: what stages find in a table is taken over. */
struct sr_race_round {
    unsigned stages; /* one bit each */
    int best;        /* tables of the smallest losses after the first round; 0: all */
    bool always;     /* a seed that explains the table does not end the round */
};
enum { SR_ROUNDS = 3, SR_RACE_BEST = 2, SR_RACE_TABLES = 16 };
/* Hypotheses that are searched as derived tables, in rounds. Of a table without columns only the
 * factor is tried. */
struct sr_race {
    int count; /* tables, at most SR_RACE_TABLES */
    /* Makes table `number` when its turn comes. ORR_ENOMEM. */
    int (*make)(const struct sr_proposal *p, const void *context, int number,
                struct sr_derived *derived);
    const void *context;
    struct sr_race_round round[SR_ROUNDS]; /* without stages: none */
    int per_size;                          /* seeds of each size of a table and round */
    bool few;                              /* only these are written in the table's columns */
    double floor; /* that of the proposal after the first table; 0: as it is */
    int best;     /* result: the table with the smallest loss after the first round; -1: none */
};
/* Runs the rounds until the proposal is over. What is found, written in the columns of the
 * proposal's table and fitted to it, becomes seeds. ORR_ENOMEM. */
int sr_race(struct sr_proposal *p, struct sr_race *race);

#endif
