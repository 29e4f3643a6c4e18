/* claims.h - the ledger of published claims (docs/claims.md): what was said where, the figure of
 * ours that bears on it, and what that figure says of it. Made from result files alone. */
#ifndef VERDICT_CLAIMS_H
#define VERDICT_CLAIMS_H

#include "base/base.h"
#include "base/table.h"

/* What is asked of the models `of`, less those `from` (see orr_table_contrast): their value; how
 * much nearer to the truth it is; their value less that of random weights; its slope over the
 * decades of the setting `of`, less that of random weights; the ratio of the two values; ln of the
 * steps that `of` needs for the last held-out loss of `from`, over the steps of `from`. */
enum verdict_statistic {
    VERDICT_VALUE,
    VERDICT_NEARER,
    VERDICT_LEARNED,
    VERDICT_SLOPE,
    VERDICT_RATIO,
    VERDICT_STEPS
};
/* Which figures bear the claim out: above or below 0; an interval that has the published number;
 * nearer to 0 than `size`. */
enum verdict_rule { VERDICT_ABOVE, VERDICT_BELOW, VERDICT_EQUAL, VERDICT_SMALL };

/* What a claim is of, and what our figure is of. A claim is ruled on by a figure of its own ground
 * and settings only; others are shown beside it. */
enum verdict_ground { VERDICT_ORBITS, VERDICT_TEXT, VERDICT_OTHER_SETTINGS, VERDICT_NO_PAPER };

/* A row of claims.csv. */
struct verdict_claim {
    const char *claim, *where; /* what was said; paper, table or figure */
    enum verdict_ground ground, measured;
    const char *published; /* in its own unit */
    const char *ours;      /* what the figure is */
    const char *command;   /* that makes the file */
    /* The rows that are asked: of the file, below the folder of results, those of this quantity,
     * measure ("": any), context (-1: any) and setting ("pretrain.steps=3200", "": any). */
    const char *file, *quantity, *measure;
    int context;
    const char *setting;
    const char *of, *from;
    enum verdict_statistic statistic;
    enum verdict_rule rule;
    double size; /* ABOVE, BELOW: the smallest effect that counts as claimed, in our unit: an
                    interval without it refutes; EQUAL: the published number; SMALL: what counts
                    as nothing */
    const char *remark;
};
/* The claims of a file like figures/claims.csv; NULL: of that one, wherever the figures are. Free
 * also after an error. ORR_EFORMAT. */
struct verdict_claims {
    struct orr_csv csv; /* has the texts */
    int count;
    struct verdict_claim *claim; /* (count) */
};
int verdict_claims_read(const char *path, struct verdict_claims *claims);
void verdict_claims_free(struct verdict_claims *claims);

/* A figure over seeds; NaN where there is none. Upper bound and baseline are of the figure's own
 * kind: of a difference of two models what the truth, and random weights of both shapes, have as
 * theirs; of how much nearer to the truth one is than another, the most that it could be, and what
 * random weights are. */
struct verdict_fact {
    bool read, there; /* the file was read; it has the figure, of all cells that it needs */
    double mean, half, upper_bound, baseline;
    int n;           /* seeds; 0: not over seeds */
    bool difference; /* of two figures */
    bool learned;    /* of a grid, less random weights: judged as a share of the headroom as well */
    double most;     /* of how much nearer: the most that it could be; otherwise NaN */
    /* learned: the same as a share of the headroom between baseline and upper bound */
    double share, share_half;
};
/* From <folder>/<file>. A file or row that is not there: there == false and status 0; a file
 * that cannot be read, or is of another format: ORR_EFORMAT. */
int verdict_fact(const char *folder, const struct verdict_claim *claim, struct verdict_fact *fact);
/* ln of the steps that one setting needs for the last loss of another, over the latter's, over
 * seeds; rows of one setting and seed by ascending steps. */
struct orr_mean verdict_curves(const struct orr_table *table, const char *of, const char *from);

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

/* What the results of a folder say of each claim. */
struct verdict_judged {
    const struct verdict_claim *claim;
    struct verdict_fact fact, shown; /* shown: what is learned, with what it is learned from */
    enum verdict_ruling ruling;
    char why[256];
};
struct verdict_ledger {
    const char *folder;
    struct verdict_claims claims;
    struct verdict_judged *judged; /* (claims.count) */
};
/* Of all claims but those of the file `except` (NULL: of all), which are open. Free also after an
 * error. ORR_EFORMAT: a file is no such result. */
int verdict_ledger_read(const char *folder, const char *except, struct verdict_ledger *ledger);
void verdict_ledger_free(struct verdict_ledger *ledger);
/* Whether the folder has results of some grid: ORR_EMISSING where it has none. */
int verdict_ledger_there(const struct verdict_ledger *ledger);
/* The ledger as Markdown, into `path`, atomically. */
int verdict_ledger_write(const struct verdict_ledger *ledger, const char *path);
struct orr_file;
/* Table 1 of [L] beside ours, as Markdown, from table1.json, table1_p3.json and tables_a4_a6.json
 * of the folder; what is not there is "-". */
int verdict_table1(const char *folder, struct orr_file *file);

#endif
