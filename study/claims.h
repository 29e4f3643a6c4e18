/* claims.h - the ledger of published claims (study/docs/claims.md): the claim and its source, our
 * value for it, and the ruling. It is made from result files alone. */
#ifndef VERDICT_CLAIMS_H
#define VERDICT_CLAIMS_H

#include "base/base.h"
#include "base/table.h"

/* The statistic of the models `of`, minus that of the models `from` (see orr_table_contrast()):
 * their value; how much nearer to the truth it is; their value minus that of random weights; the
 * slope of the value over decades of the setting `of`, minus that of random weights; the ratio of
 * the two values; ln of the ratio of the steps that both need for an equal held-out loss; or how
 * much the value is above that at the shortest context, the trained length. */
enum verdict_statistic {
    VERDICT_VALUE,
    VERDICT_NEARER,
    VERDICT_LEARNED,
    VERDICT_SLOPE,
    VERDICT_RATIO,
    VERDICT_STEPS,
    VERDICT_RISE
};
/* The condition under which a value supports the claim: above or below 0; an interval that contains
 * the published number; closer to 0 than `size`. */
enum verdict_rule { VERDICT_ABOVE, VERDICT_BELOW, VERDICT_EQUAL, VERDICT_SMALL };

/* What the claim is about, and what our value was measured on. Only values from the claim's own
 * ground and settings rule on it; others are shown next to it. */
enum verdict_ground { VERDICT_ORBITS, VERDICT_TEXT, VERDICT_OTHER_SETTINGS, VERDICT_NO_PAPER };

/* A row of claims.csv. */
struct verdict_claim {
    const char *claim, *where; /* the statement; its paper, table or figure */
    enum verdict_ground ground, measured;
    const char *published; /* the published number in its own unit */
    const char *ours;      /* description of our value */
    const char *command;   /* command that makes the file */
    /* The rows used: of the file (below the folder of results), with this quantity, measure ("":
     * any), context (-1: any) and setting ("pretrain.steps=3200"; "": any). */
    const char *file, *quantity, *measure;
    int context;
    const char *setting;
    const char *of, *from;
    enum verdict_statistic statistic;
    enum verdict_rule rule;
    /* ABOVE, BELOW: the smallest effect that counts as claimed, in our unit; an interval without
     * such effects refutes the claim. EQUAL: the published number. SMALL: the bound of a
     * negligible effect. */
    double size;
    const char *remark;
};
/* Reads the claims of a file in the format of study/claims.csv; NULL: of that file itself. Free
 * the claims after an error, too. ORR_EFORMAT. */
struct verdict_claims {
    struct orr_csv csv; /* storage of the texts */
    int count;
    struct verdict_claim *claim; /* (count) */
};
int verdict_claims_read(const char *path, struct verdict_claims *claims);
void verdict_claims_free(struct verdict_claims *claims);

/* The files of results that other grids give beside a verdict, rows of study/files.csv. Free them
 * after an error, too. ORR_EFORMAT. */
struct verdict_files {
    struct orr_csv csv; /* storage of the texts */
    int count;
    struct {
        const char *name, *grid; /* the file, and what its grid is called */
    } * file;                    /* (count) */
};
int verdict_files_read(const char *path, struct verdict_files *files);
void verdict_files_free(struct verdict_files *files);

/* A value over seeds; NaN where missing. Upper bound and baseline are of the same kind as the
 * value. For a difference of two models they are the differences of the truth and of random weights
 * of both shapes. For a gain in accuracy they are the largest possible gain, and the gain of random
 * weights. */
struct verdict_fact {
    /* read: the file was read; there: it contains the value for all cells needed */
    bool read, there;
    double mean, half, upper_bound, baseline;
    int n;           /* number of seeds; 0: not over seeds */
    bool difference; /* a difference of two values */
    bool learned;    /* of a grid, minus random weights: also ruled on as a share of the headroom */
    /* for a gain in accuracy, the largest possible gain; for a difference that is claimed to be
     * above 0, what the truth itself has in place of the first model; otherwise NaN */
    double most;
    /* if learned: mean and half interval as a share of the headroom between baseline and upper
     * bound */
    double share, share_half;
    double headroom; /* if learned: mean distance from baseline to upper bound, of both models */
};
/* Computes the value for a claim from <folder>/<file>. Where the file or row is missing: there ==
 * false and status 0. ORR_EFORMAT where a file is unreadable or of another format. */
int verdict_fact(const char *folder, const struct verdict_claim *claim, struct verdict_fact *fact);
/* ln of (steps that setting `of` needs) / (steps that `from` needs) to reach the larger of their
 * last losses for the first time, over seeds. The rows of a setting and seed are sorted by
 * ascending step. */
struct orr_mean verdict_curves(const struct orr_table *table, const char *of, const char *from);

/* Shown: a value of another ground or other settings than the claim's, a benchmark, or a question
 * of this study. */
enum verdict_ruling {
    VERDICT_REPRODUCED,
    VERDICT_REFUTED,
    VERDICT_OPEN,
    VERDICT_SHOWN,
    VERDICT_RULINGS
};
extern const char *const verdict_ruling_name[]; /* "reproduced", "refuted here", "open", "shown" */
/* Rules on a claim, and explains it in a few words. With fewer than three seeds a claim stays
 * open. */
enum verdict_ruling verdict_rule_on(const struct verdict_claim *claim,
                                    const struct verdict_fact *fact, char why[256]);

/* The value as text: "0.3 +- 0.02 (3 seeds)", "-" where missing. */
void verdict_fact_text(const struct verdict_fact *fact, char text[64]);

/* A claim with the value of a folder and the ruling. */
struct verdict_judged {
    const struct verdict_claim *claim;
    struct verdict_fact fact, shown; /* shown: for a value above random weights, the value itself */
    enum verdict_ruling ruling;
    char why[256];
};
struct verdict_ledger {
    const char *folder;
    struct verdict_claims claims;
    struct verdict_files files;
    struct verdict_judged *judged; /* (claims.count) */
};
/* Rules on all claims except those of the file `except` (NULL: none), which stay open. Free the
 * ledger after an error, too. ORR_EFORMAT where a file is not a result. */
int verdict_ledger_read(const char *folder, const char *except, struct verdict_ledger *ledger);
void verdict_ledger_free(struct verdict_ledger *ledger);
/* ORR_EMISSING where the folder has no results of any grid. */
int verdict_ledger_there(const struct verdict_ledger *ledger);
/* Writes the ledger as Markdown to `path`, atomically. */
int verdict_ledger_write(const struct verdict_ledger *ledger, const char *path);
struct orr_file;
/* Writes Table 1 of [L] with our values as Markdown, from table1.csv and the files of the folder
 * that it names; missing values are "-". ORR_EFORMAT. */
int verdict_table1(const char *folder, struct orr_file *file);

#endif
