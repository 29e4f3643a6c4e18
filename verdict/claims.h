/* claims.h - the ledger of published claims (docs/claims.md): what was said where, the figure of
 * ours that bears on it, and what that figure says of it. Made from result files alone. */
#ifndef VERDICT_CLAIMS_H
#define VERDICT_CLAIMS_H

#include "base/base.h"

/* Which file and row (results.c): of verdict.json the figure `a` of attention `b`, column `c`, or
 * its difference; of a runs.json source `a` minus `b`, or source `a` alone, column `c`
 * ("exponents.r"), under the setting `d` ("pretrain.steps=3200", "": whatever there is), none where
 * several rows fit; of a <probe>_seeds.json quantity `b`, measure `c` of model `a`,
 * column `d`; of a <probe>_grid.json what level `d` of factor `c` does, instead of `from`, to
 * quantity `a`, measure `b`, and the same less what it does to random weights ("x x y" of all
 * three: how what the second level does differs between the first ones, their interaction); of the
 * same what each decade of factor `c`, whose levels are numbers, adds to quantity `a`, measure `b`,
 * beyond random weights; of a benchmark the value of row `a` over that of row `b`; of curves (a
 * CSV) ln of the steps that setting `a` needs for the last held-out loss of `b`, over the steps of
 * `b`. */
enum verdict_source {
    VERDICT_OF_FIGURE,
    VERDICT_OF_PAIR,
    VERDICT_OF_RUNS,
    VERDICT_OF_RUNS_ROW,
    VERDICT_OF_SEEDS,
    VERDICT_OF_GRID,
    VERDICT_OF_GRID_LEARNED,
    VERDICT_OF_SLOPE,
    VERDICT_OF_BENCH,
    VERDICT_OF_CURVES
};
/* Which figures bear the claim out: above or below 0; an interval that has the published number;
 * nearer to 0 than `size`. */
enum verdict_rule { VERDICT_ABOVE, VERDICT_BELOW, VERDICT_EQUAL, VERDICT_SMALL };

/* What a claim is of, and what our figure is of. A claim is ruled on by a figure of its own ground
 * and settings only; others are shown beside it. */
enum verdict_ground { VERDICT_ORBITS, VERDICT_TEXT, VERDICT_OTHER_SETTINGS, VERDICT_NO_PAPER };

struct verdict_claim {
    const char *claim, *where; /* what was said; paper, table or figure */
    enum verdict_ground ground, measured;
    const char *published; /* in its own unit */
    const char *ours;      /* what the figure is */
    const char *command;   /* that makes the file */
    const char *file;      /* below the folder of results */
    enum verdict_source source;
    const char *a, *b, *c, *d;
    const char *from; /* of a grid: the level that `d` is compared with */
    int context;      /* of a probe's row; -1: any */
    enum verdict_rule rule;
    double size; /* ABOVE, BELOW: the smallest effect that the claim's words allow, in our unit: an
                    interval without it refutes; EQUAL: the published number; SMALL: what counts
                    as nothing */
    const char *remark;
};
extern const struct verdict_claim verdict_claims[]; /* ended by claim == NULL */

/* A figure over seeds; NaN where there is none. Ceiling and floor are of the figure's own kind: of
 * a difference of two models what the truth, and random weights of both shapes, have as theirs; of
 * how much nearer to the truth one is than another, the most that it could be, and what random
 * weights are. */
struct verdict_fact {
    bool read, there; /* the file was read; it has the figure, of all cells that it needs */
    double mean, half, ceiling, floor;
    int n;           /* seeds; 0: not over seeds */
    bool difference; /* of two figures */
    bool learned;    /* of a grid, less random weights: judged as a share of the room as well */
    double most;     /* of how much nearer: the most that it could be; otherwise NaN */
    double room, room_half; /* learned: the same of shares of the room between floor and ceiling */
};
/* From <folder>/<file>. A file or row that is not there: there == false and status 0; a file
 * that cannot be read, or is of another format: ORR_EFORMAT. */
int verdict_fact(const char *folder, const struct verdict_claim *claim, struct verdict_fact *fact);

/* Shown: a figure of another ground or of other settings than the claim's, a benchmark, a question
 * of our own. */
enum verdict_ruling {
    VERDICT_REPRODUCED,
    VERDICT_REFUTED,
    VERDICT_OPEN,
    VERDICT_SHOWN,
    VERDICT_RULINGS
};
extern const char *const verdict_ruling_name[]; /* "reproduced", "refuted here", "open", "shown" */
/* The ruling, and why in a few words. Fewer than three seeds leave a claim open. */
enum verdict_ruling verdict_rule_on(const struct verdict_claim *claim,
                                    const struct verdict_fact *fact, char why[256]);

/* The figure as text: "0.3 +- 0.02 (3 seeds)", "-" where there is none. */
void verdict_fact_text(const struct verdict_fact *fact, char text[64]);

/* Whether the folder has results of some grid: ORR_EMISSING where it has none. */
int verdict_results_there(const char *folder);
/* The fact of a claim of curves: columns setting, seed, step, val_loss, steps ascending. */
int verdict_curves(const char *path, const struct verdict_claim *claim, struct verdict_fact *fact);
struct orr_file;
/* Table 1 of [L] beside ours, as Markdown, from table1.json, table1_p3.json and tables_a4_a6.json
 * of the folder; what is not there is "-". */
int verdict_table1(const char *folder, struct orr_file *file);
/* The ledger as Markdown, into `path`, atomically. */
int verdict_ledger(const char *folder, const char *path);

#endif
