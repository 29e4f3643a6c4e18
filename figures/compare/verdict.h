/* verdict.h - what the cells of a grid say together: does a model that is trained on positions
 * alone hold the force that moves them, and does its attention decide that? (docs/verdict.md)
 *
 * A cell is a run directory (docs/formats.md) of one attention and one seed; all have the same
 * other settings. verdict_read() takes from each a fixed list of figures, the questions, each with
 * its upper bound (the same procedure fed the truth) and baseline (random weights of the same
 * shape); the others put them together, seed by seed. Nothing here knows which answer is hoped for:
 * `nearer` is |other - upper bound| - |figure - upper bound|, above 0 where the figure is nearer to
 * the truth than the other one. */
#ifndef VERDICT_VERDICT_H
#define VERDICT_VERDICT_H

#include "cells.h"

struct verdict_ledger;

struct verdict {
    int planned;                         /* cells that were asked for */
    const struct verdict_ledger *beside; /* of other grids (beside.h), set after reading, or NULL */
    struct verdict_cells cells;          /* of one group */
    struct verdict_missing_list missing;
    struct orr_name_list unasked; /* probes that no cell has: left out on purpose, not missing */
    size_t count;                 /* models: attentions of all cells */
    int attentions, seeds;
    char attention[ORR_LIST][ORR_NAME];         /* softmax first, if it is there */
    uint64_t *seed;                             /* (seeds), ascending */
    double *value;                              /* (seeds) see verdict_values */
    struct orr_table figure[VERDICT_QUESTIONS]; /* views of the cells' rows */
};
/* Reads the cells, run directories or files of their results (cell.json) in any mix; of those that
 * are not complete the rest. What is not there, or is not of the very checkpoint that the run
 * holds, goes to `missing`. No cell: ORR_EMISSING; cells of different
 * settings, or two of the same attention and seed: ORR_EINVAL. Free also after an error. */
int verdict_read(struct verdict *v, const char *const *path, int n);
void verdict_free(struct verdict *v);
/* Writes the results of the one run that was read to <run>/cell.json, all that a verdict, or
 * bin/report --runs, takes of it. */
int verdict_record(const struct verdict *v, const char *run);

/* Inside figures/compare/: "unasked" and "missing" of a JSON object; the figures of a file of
 * results; whether it was asked for a probe. */
void verdict_add_missing(const struct verdict *v, struct cJSON *json);
int verdict_take_record(struct verdict *v, const struct verdict_cell *cell);
bool verdict_record_has(const struct verdict_cell *cell, const char *probe);

/* By seed a number of an attention's figure (ORR_ROW_GAIN: nearer than the baseline), less that of
 * the attention `minus` (ORR_ROW_NEARNESS: nearer than that one; -1: of none), NaN where there is
 * none: v->value, until the next call. Their mean. */
const double *verdict_values(const struct verdict *v, int question, int attention, int minus,
                             enum orr_row_number number);
struct orr_mean verdict_mean(const struct verdict *v, int question, int attention, int minus,
                             enum orr_row_number number);
/* Whether some seed has both the attention and the first one, which others are compared with. */
bool verdict_compares(const struct verdict *v, int question, int attention);
/* Half of the mean's 95% interval: of Student's t. Figures that are the same in every seed are
 * shares of samples, 0 to 1, or differences of shares, and t would call them certain: what has not
 * come about in n seeds has a probability of at most 1 - 0.05^(1/n), at 95%, and moves the mean to
 * the farther end at most. */
double verdict_half(double mean, double half, int n, bool is_difference);
/* Whether this interval of a difference leaves out 0, of at least three seeds. */
bool verdict_significant(struct orr_mean mean);

/* The verdict in three sentences, with results of other grids beside it up to two more (beside.h),
 * and what they cannot say. Each is made from the figures alone. */
enum { VERDICT_SENTENCES = 5 };
struct verdict_sentences {
    int count;
    char text[VERDICT_SENTENCES][2048];
    char cannot[2048];
};
void verdict_sentences(const struct verdict *v, struct verdict_sentences *s);

/* Markdown to stdout; verdict.json into `folder`, atomically: neither dates nor times in it, so
 * that the same results make the same bytes. */
int verdict_print(const struct verdict *v, const struct verdict_sentences *s);
int verdict_write(const struct verdict *v, const struct verdict_sentences *s, const char *folder);

#endif
