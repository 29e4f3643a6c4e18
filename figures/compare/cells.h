/* cells.h - runs, and files of their results, as rows of one long table (base/table.h): what
 * bin/report --runs and bin/verdict put together. Cells of equal settings are seeds of a group. */
#ifndef VERDICT_CELLS_H
#define VERDICT_CELLS_H

#include "base/table.h"
#include "figures/report.h"

enum { VERDICT_LABEL = 4096 };
#define VERDICT_CLOSE 0.02 /* of k, relative */

/* What a cell says of a source of forces: a row each, in this order. */
enum verdict_column {
    VERDICT_IS_MODEL, /* 1: pretrained */
    VERDICT_SAMPLES,
    VERDICT_SELECTED, /* samples whose selected law is the true one */
    VERDICT_ON_FRONT,
    VERDICT_K_CLOSE,  /* samples: the true law, k within VERDICT_CLOSE of its own */
    VERDICT_EXPONENT, /* of r, and behind it of m1 and of m2 */
    VERDICT_SHARE = VERDICT_EXPONENT + 3, /* of VERDICT_SELECTED in the samples */
    VERDICT_K,                            /* of that law, mean over samples that select it */
    VERDICT_CLOSE_SHARE,
    VERDICT_K_DROPPED, /* k of k m1 / r^2, mean over samples */
    VERDICT_R2,
    VERDICT_LOSS, /* of the selected laws, mean over samples */
    /* Errors in AU: as evaluation.json has it (of random weights: bin/probe evaluate), and beyond
     * the trained positions in the longest sequences that bin/probe length measured. */
    VERDICT_NEXT_STATE,
    VERDICT_BEYOND,
    VERDICT_STEP_MS, /* of pretraining, as the memory */
    VERDICT_MEMORY_MB,
    VERDICT_COLUMNS
};
/* What each is called in runs.json, "exponents.r", and in cell.json (NULL: not a number there). */
struct verdict_column_name {
    const char *key, *in_cell;
};
extern const struct verdict_column_name verdict_column_name[VERDICT_COLUMNS];

/* Where a figure stands: a column of the cell (`context`: enum verdict_column); forces_vector.csv,
 * even in true anomaly (`context` 0: mean cosine of the four eccentric bodies, 1: their median
 * relative error; 2, 3: of the planets); <attention>/probe/<probe>.json. */
enum verdict_kind { VERDICT_COLUMN, VERDICT_BODIES, VERDICT_PROBE };
/* Which sentence a figure belongs to: how good a model of positions it is; what pretraining saves
 * in labels; the law from all labels; what a line reads from the residual stream; where no label
 * was; rollouts, interventions, bodies. */
enum verdict_topic {
    VERDICT_WORLD,
    VERDICT_LABELS,
    VERDICT_LAW,
    VERDICT_READOUT,
    VERDICT_OUTSIDE,
    VERDICT_USE
};

struct verdict_question {
    const char *id;    /* "labels_100": in JSON */
    const char *title; /* in tables */
    enum verdict_topic topic;
    enum verdict_kind kind;
    const char *probe, *quantity, *measure; /* of VERDICT_PROBE */
    int context;                            /* of a probe's row; -1: the largest there is */
    bool last_layer; /* a row of the deepest layer, not of the model as a whole */
};
/* Rows of a source: columns, and behind them its figures. */
enum { VERDICT_QUESTIONS = 29, VERDICT_ROWS = VERDICT_COLUMNS + VERDICT_QUESTIONS };
extern const struct verdict_question verdict_table[VERDICT_QUESTIONS + 1]; /* ended by id == NULL */

struct verdict_cell {
    char path[REPORT_PATH]; /* below the folder */
    struct cJSON *record;   /* not the run, but the file of its results; NULL: the run itself */
    struct orr_settings preset;
    struct report_true_law true_law;
    char rule[ORR_NAME];       /* whose choice counts as selected */
    int sources;               /* truth first */
    size_t first;              /* their rows, VERDICT_ROWS each */
    char label[VERDICT_LABEL]; /* settings in which it differs from others: "a=b c=d" */
    int group;                 /* cells of the same label, numbered as they appear */
};
struct verdict_missing {
    char what[REPORT_PATH]; /* a cell, or a file of one */
    char why[1024];
};
struct verdict_missing_list {
    size_t count;
    struct verdict_missing *at; /* (count) */
};
struct verdict_cells {
    const char *folder; /* "": paths are as they are */
    size_t count;
    struct verdict_cell *cell; /* (count), of a folder by path */
    /* Models are "attention=lssar", "attention=untrained (softmax)", quantities the keys of
     * verdict_column_name and ids of verdict_table; of columns upper bound, baseline and raw are of
     * the truth, of random weights of the model's shape and of the oracle, in the same cell. */
    struct orr_table table;
    struct verdict_missing_list left_out;
    int groups;
};

/* Reads every run 1 to 3 folders deep, and every file NAME.json of a run's results. One whose
 * laws are not there, not readable, or not what its preset.json makes is left out with the
 * reason. ORR_EMISSING: none is left; ORR_EINVAL: two of the
 * same settings and seed with a model of the same attention. Free also after an error. */
int verdict_cells_read(struct verdict_cells *cells, const char *folder);
/* The same of these run directories, and files of their results, paths as they are. */
int verdict_cells_read_these(struct verdict_cells *cells, const char *const *path, int n);
void verdict_cells_free(struct verdict_cells *cells);
/* Adds what is missing, and why, a line each. */
int verdict_miss(struct verdict_missing_list *list, const char *what, const char *why);

/* A source's row of a column, or of a figure, VERDICT_COLUMNS + question; its name, "lssar"; its
 * number by its name, -1 for none. */
struct orr_row *verdict_cell_row(const struct verdict_cells *cells, const struct verdict_cell *cell,
                                 int source, int column);
const char *verdict_cell_source(const struct verdict_cells *cells, const struct verdict_cell *cell,
                                int source);
int verdict_cell_find(const struct verdict_cells *cells, const struct verdict_cell *cell,
                      const char *source);
/* Whether the source is a model that was pretrained, not its random weights. */
bool verdict_is_model(const struct verdict_cells *cells, const struct verdict_cell *cell,
                      int source);
/* The rows of a column or figure in a group, one of each source and seed. */
int verdict_cells_view(const struct verdict_cells *cells, int group, int column,
                       struct orr_table *view);
/* Markdown to stdout; <folder>/runs.json, atomically. */
int verdict_cells_print(const struct verdict_cells *cells);
int verdict_cells_write(const struct verdict_cells *cells);

/* Inside figures/compare/: adds a source without numbers to the last cell. */
int verdict_add_source(struct verdict_cells *cells, struct verdict_cell *cell, const char *name,
                       bool is_model);
/* What a run says, and the same of a file of its results: the cell's settings, law and rows. */
int verdict_cell_read(struct verdict_cells *cells, struct verdict_cell *cell, const char *path);
int verdict_cell_take_record(struct verdict_cells *cells, struct verdict_cell *cell,
                             const char *path);
/* <run>/<name>/probe/<probe>.json as rows, of model "". ORR_EINVAL: of another checkpoint than the
 * run's, or of a changed one; ORR_EFORMAT. */
int verdict_probe_read(const char *run, const struct orr_settings *preset, const char *name,
                       const char *probe, struct orr_table *table);
/* The row of the table that has quantity and measure (NULL: any): of the model as a whole and of
 * this context (-1: the largest), or of the deepest layer. NULL: there is none. */
const struct orr_row *verdict_probe_row(const struct orr_table *table, const char *quantity,
                                        const char *measure, int context, bool last_layer);

/* Adds {"mean", "standard_error", "half_width", "bootstrap", "values"} of x (n) under the key, a
 * value per seed; null where there is none. bootstrap: whether its interval is asked for. */
void verdict_mean_json(struct cJSON *parent, const char *key, const double *x, int n,
                       bool bootstrap);
/* Prints them under their heading, if there are any, and flushes standard output. ORR_EIO. */
int verdict_missing_print(const struct verdict_missing_list *list, const char *heading);
/* Appends {key: what, "why"} of each to a list. */
void verdict_missing_json(const struct verdict_missing_list *list, const char *key,
                          struct cJSON *json);

#endif
