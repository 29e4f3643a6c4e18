/* claims.h - the ledger of published claims (docs/claims.md): what was said where, the figure of ours
 * that bears on it, and what that figure says of it. Made from result files alone. */
#ifndef VERDICT_CLAIMS_H
#define VERDICT_CLAIMS_H

#include "base/base.h"

enum verdict_source {     /* which file and row, see results.c */
    VERDICT_OF_FIGURE,    /* verdict.json: figure `a` of attention `b`, column `c` */
    VERDICT_OF_PAIR,      /* verdict.json: difference `a` of attention `b`, column `c` */
    VERDICT_OF_RUNS,      /* a runs.json: `a` minus `b`, column `c` ("exponents.r") */
    VERDICT_OF_RUNS_ROW,  /* a runs.json: source `a`, column `c`, under settings that have `b` */
    VERDICT_OF_SEEDS,     /* a <probe>_seeds.json: of model `a`, quantity `b`, measure `c` */
    VERDICT_OF_GRID,      /* a <probe>_grid.json: what level `d` of factor `c` does to `a`, measure `b` */
    VERDICT_OF_BENCH      /* a benchmark: the value of row `a` over that of row `b` */
};
enum verdict_rule { /* which figures bear the claim out */
    VERDICT_ABOVE,  /* above 0 */
    VERDICT_BELOW,  /* below 0 */
    VERDICT_EQUAL,  /* the published number lies in the interval */
    VERDICT_SMALL   /* nearer to 0 than `size` */
};

struct verdict_claim {
    const char *claim, *where; /* what was said; paper, table or figure */
    const char *published;     /* in its own unit */
    const char *ours;          /* what the figure is */
    const char *command;       /* that makes the file */
    const char *file;          /* below the folder of results */
    enum verdict_source source;
    const char *a, *b, *c, *d;
    int context; /* of a probe's row; -1: any */
    enum verdict_rule rule;
    double size; /* ABOVE, BELOW: the smallest effect that the claim's words allow, in our unit: an
                    interval without it refutes; EQUAL: the published number; SMALL: what counts
                    as nothing */
    const char *remark;
};
extern const struct verdict_claim verdict_claims[]; /* ended by claim == NULL */

/* A figure over seeds; NaN where there is none. */
struct verdict_fact {
    bool there;
    double mean, half, ceiling, floor;
    int n; /* seeds; 0: not over seeds */
};
/* From <folder>/<file>. A file or row that is not there: there == false and status 0; one that
 * cannot be read: ORR_EFORMAT. */
int verdict_fact(const char *folder, const struct verdict_claim *claim, struct verdict_fact *fact);

enum verdict_ruling { VERDICT_REPRODUCED, VERDICT_REFUTED, VERDICT_OPEN };
/* The ruling, and why in a few words. Fewer than three seeds leave a claim open. */
enum verdict_ruling verdict_rule_on(const struct verdict_claim *claim,
                                    const struct verdict_fact *fact, char why[256]);

/* The ledger as Markdown, into `path`, atomically. */
int verdict_ledger(const char *folder, const char *path);

#endif
