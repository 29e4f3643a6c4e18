/* verdict.h - combines the cells of a grid: does a model trained only on positions represent the
 * force that moves them, and does its attention matter? (study/docs/verdict.md)
 *
 * A cell is a run directory (docs/formats.md) of one attention and one seed; all other settings are
 * equal. verdict_read() takes a fixed list of values (the questions) from each cell, with upper
 * bound (the same procedure fed the truth) and baseline (random weights of the same shape). The
 * other functions combine them, paired by seed. The code favours no answer: `nearer` is |other -
 * upper bound| - |value - upper bound|, which is positive where the value is closer to the truth
 * than the other one. */
#ifndef VERDICT_VERDICT_H
#define VERDICT_VERDICT_H

#include "base/csv.h"
#include "compare/cells.h"

struct verdict_ledger;

/* Where the value of a question comes from: a column of the cell; forces_vector.csv, weighted
 * evenly in true anomaly; or a row of <attention>/probe/<probe>.json. */
enum verdict_kind { VERDICT_COLUMN, VERDICT_BODIES, VERDICT_PROBE };
/* Of the four eccentric bodies or of the planets: mean cosine of force vectors, or their median
 * relative error. */
enum verdict_bodies {
    VERDICT_ECCENTRIC_COSINE,
    VERDICT_ECCENTRIC_ERROR,
    VERDICT_PLANETS_COSINE,
    VERDICT_PLANETS_ERROR,
    VERDICT_BODIES_VALUES
};
/* Which sentence a question belongs to: quality as a model of positions; label efficiency of
 * pretraining; the law from all labels; linear readouts of the residual stream; extrapolation
 * beyond the labels; rollouts, interventions, bodies. */
enum verdict_topic {
    VERDICT_WORLD,
    VERDICT_LABELS,
    VERDICT_LAW,
    VERDICT_READOUT,
    VERDICT_OUTSIDE,
    VERDICT_USE
};

/* A row of questions.csv. */
struct verdict_question {
    const char *id;    /* key in JSON, such as "labels_100" */
    const char *title; /* in tables */
    enum verdict_topic topic;
    enum verdict_kind kind;
    int value;                              /* enum compare_column, or enum verdict_bodies */
    const char *probe, *quantity, *measure; /* of VERDICT_PROBE */
    int context;                            /* context of a probe's row; -1: the largest */
    bool last_layer; /* true: the row of the deepest layer, not of the model as a whole */
};
enum { VERDICT_MOST_QUESTIONS = 64 };
struct verdict_questions {
    struct orr_csv csv; /* storage of the texts */
    const char
        *id[VERDICT_MOST_QUESTIONS + 1]; /* their ids; ends with NULL, as `at` with such an id */
    struct verdict_question at[VERDICT_MOST_QUESTIONS + 1];
};
/* Reads the questions of a file in the format of study/questions.csv; NULL: of that file itself.
 * Free them after an error, too. ORR_EFORMAT, also for two of one id. */
int verdict_questions_read(const char *path, struct verdict_questions *questions);
void verdict_questions_free(struct verdict_questions *questions);

struct verdict {
    int planned; /* number of cells given */
    /* results of other grids (beside.h), set after reading; may be NULL */
    const struct verdict_ledger *beside;
    struct verdict_questions questions;
    const struct verdict_question *question; /* questions.at */
    struct compare_cells cells;              /* cells of one group */
    struct compare_missing_list missing;
    struct orr_name_list unasked; /* probes that no cell has: omitted on purpose, not missing */
    size_t count;                 /* number of models: attentions of all cells */
    int attentions, seeds;
    char attention[ORR_LIST][ORR_NAME];              /* softmax first, if present */
    uint64_t *seed;                                  /* (seeds), ascending */
    double *value;                                   /* (seeds) see verdict_values() */
    struct orr_table figure[VERDICT_MOST_QUESTIONS]; /* views of the cells' rows */
};
/* Reads the cells, run directories or result files (cell.json) in any mix; incomplete cells are
 * used as far as possible. `missing` lists values that are absent or belong to another checkpoint
 * than the run's. ORR_EMISSING: no cell. ORR_EINVAL: cells with different settings, or two with the
 * same attention and seed. Free the verdict after an error, too. */
int verdict_read(struct verdict *v, const char *const *path, int n);
void verdict_free(struct verdict *v);
/* Writes the results of the single run that was read to <run>/cell.json, which contains all that a
 * verdict or bin/compare runs needs. */
int verdict_record(const struct verdict *v, const char *run);

/* Inside compare/: adds "unasked" and "missing" to a JSON object; takes the values of a
 * result file, and whether probes were made. */
void verdict_add_missing(const struct verdict *v, struct cJSON *json);
int verdict_take_record(struct verdict *v, const struct compare_cell *cell);
bool verdict_record_has(const struct compare_cell *cell, const char *probe);

/* Paired by seed, a number of an attention's value (ORR_ROW_GAIN: gain in accuracy over the
 * baseline) minus the number of attention `minus` (ORR_ROW_NEARNESS: gain in accuracy over that
 * attention; -1: no difference); NaN where missing. The array is v->value, valid until the next
 * call. The second function returns the mean. */
const double *verdict_values(const struct verdict *v, int question, int attention, int minus,
                             enum orr_row_number number);
struct orr_mean verdict_mean(const struct verdict *v, int question, int attention, int minus,
                             enum orr_row_number number);
/* Whether some seed has both the attention and the first attention, the reference. */
bool verdict_compares(const struct verdict *v, int question, int attention);
/* Half of the mean's 95% interval, by Student's t. Values that are equal in every seed are shares
 * of samples from 0 to 1, or differences of shares, for which t would give zero width. An event
 * that did not occur in n seeds has a probability of at most 1 - 0.05^(1/n) at 95%, and can move
 * the mean at most to the farther end of the range. */
double verdict_half(double mean, double half, int n, bool is_difference);
/* Whether the interval of a difference excludes 0, with at least three seeds. */
bool verdict_significant(struct orr_mean mean);

/* The verdict in three sentences, up to two more on results of other grids (beside.h), and the
 * limitations. Each is made from the values alone. */
enum { VERDICT_SENTENCES = 5 };
struct verdict_sentences {
    int count;
    char text[VERDICT_SENTENCES][2048];
    char cannot[2048];
};
void verdict_sentences(const struct verdict *v, struct verdict_sentences *s);

/* Prints Markdown to stdout; writes verdict.json and the page verdict.html into `folder`, each
 * atomically. They contain no dates or times, so equal results give equal bytes. */
int verdict_print(const struct verdict *v, const struct verdict_sentences *s);
int verdict_write(const struct verdict *v, const struct verdict_sentences *s, const char *folder);
/* Inside study/: the page of a verdict, as verdict_write() makes its JSON. */
int verdict_page_write(const struct cJSON *json, const char *path);

#endif
