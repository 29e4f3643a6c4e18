/* cells.h - runs, and files of their results, as rows of one long table (base/table.h) for
 * bin/compare runs and bin/verdict. Cells with equal settings are the seeds of a group. */
#ifndef COMPARE_CELLS_H
#define COMPARE_CELLS_H

#include "base/table.h"
#include "figures/report.h"

enum { COMPARE_LABEL = 4096 };
#define COMPARE_CLOSE 0.02 /* relative tolerance of k */

/* Columns of a cell: values of each source of forces, one row each, in this order. */
enum compare_column {
    COMPARE_IS_MODEL, /* 1: a pretrained model */
    COMPARE_SAMPLES,
    COMPARE_SELECTED, /* number of samples whose selected law is the true one */
    COMPARE_ON_FRONT,
    COMPARE_K_CLOSE, /* number of samples with the true law and k within COMPARE_CLOSE of its own */
    COMPARE_EXPONENT,                     /* exponent of r; those of m1 and m2 follow */
    COMPARE_SHARE = COMPARE_EXPONENT + 3, /* COMPARE_SELECTED as a share of the samples */
    COMPARE_FRONT_SHARE,                  /* COMPARE_ON_FRONT as a share of the samples */
    COMPARE_K, /* k of the true law, mean over the samples that select it */
    COMPARE_CLOSE_SHARE,
    COMPARE_K_DROPPED, /* k of k m1 / r^2, mean over samples */
    COMPARE_R2,
    COMPARE_LOSS, /* loss of the selected laws, mean over samples */
    /* Errors in AU: the next-state error of evaluation.json (for random weights: of bin/probe
     * evaluate), and the error beyond the trained positions in the longest sequences of bin/probe
     * length. */
    COMPARE_NEXT_STATE,
    COMPARE_BEYOND,
    COMPARE_STEP_MS, /* time of a pretraining step; then its memory */
    COMPARE_MEMORY_MB,
    COMPARE_COLUMNS
};
/* Names of each column: in runs.json ("exponents.r"), and in cell.json (NULL: not a number
 * there). */
struct compare_column_name {
    const char *key, *in_cell;
};
extern const struct compare_column_name compare_column_name[COMPARE_COLUMNS];

struct compare_cell {
    char path[REPORT_PATH]; /* path below the folder */
    struct cJSON *record;   /* the file of results in place of the run; NULL: the run itself */
    struct orr_settings settings;
    struct report_true_law true_law;
    char rule[ORR_NAME];       /* the rule whose choice counts as selected */
    int sources;               /* number of sources, the truth first */
    size_t first;              /* first of their rows, COMPARE_COLUMNS and those of `more` */
    char label[COMPARE_LABEL]; /* settings in which the cell differs from others: "a=b c=d" */
    int group;                 /* number of the label, in order of appearance */
};
struct compare_missing {
    char what[REPORT_PATH]; /* a cell, or one of its files */
    char why[1024];         /* without `what` and a colon before it */
};
struct compare_missing_list {
    size_t count;
    struct compare_missing *at; /* (count) */
};
struct compare_cells {
    const char *folder;      /* "": paths are used as they are */
    const char *const *more; /* quantities of the caller, a row each after the columns */
    int more_count;
    size_t count;
    struct compare_cell *cell; /* (count) sorted by path when read from a folder */
    /* Models are named "attention=lssar" or "attention=untrained (softmax)"; quantities by the keys
     * of compare_column_name and the names `more`. For columns, upper bound, baseline and
     * raw are the values of the truth, of random weights of the model's shape and of the oracle in
     * the same cell. */
    struct orr_table table;
    struct compare_missing_list left_out;
    int groups;
};

/* Reads every run 1 to 3 folders deep, and every file NAME.json of a run's results. Runs whose laws
 * are missing, unreadable, or not made from their preset.json are left out with the reason.
 * ORR_EMISSING: no run remains. ORR_EINVAL: two runs with equal settings and seed have a model of
 * the same attention. Free the cells after an error, too. */
int compare_cells_read(struct compare_cells *cells, const char *folder);
/* Reads the given run directories and result files, with paths as they are. `more` names quantities
 * (NULL: none; ends with NULL, valid as long as the cells) that each source gets a row for, which
 * the caller fills. */
int compare_cells_read_these(struct compare_cells *cells, const char *const *more,
                             const char *const *path, int n);
void compare_cells_free(struct compare_cells *cells);
/* Adds a missing item and the reason, one line each. */
int compare_miss(struct compare_missing_list *list, const char *what, const char *why);

/* The row of a source for a column, or for more[q] as column COMPARE_COLUMNS + q; the name of a
 * source ("lssar"); its number by name, -1 for none. */
struct orr_row *compare_cell_row(const struct compare_cells *cells, const struct compare_cell *cell,
                                 int source, int column);
const char *compare_cell_source(const struct compare_cells *cells, const struct compare_cell *cell,
                                int source);
int compare_cell_find(const struct compare_cells *cells, const struct compare_cell *cell,
                      const char *source);
/* Whether the source is a pretrained model rather than random weights. */
bool compare_is_model(const struct compare_cells *cells, const struct compare_cell *cell,
                      int source);
/* The rows of a column, or of more[q] as above, in a group, one for each source and seed. */
int compare_cells_view(const struct compare_cells *cells, int group, int column,
                       struct orr_table *view);
/* Prints Markdown to stdout; writes <folder>/runs.json atomically. */
int compare_cells_print(const struct compare_cells *cells);
int compare_cells_write(const struct compare_cells *cells);

/* Inside compare/: adds a source without values to the last cell. */
int compare_add_source(struct compare_cells *cells, struct compare_cell *cell, const char *name,
                       bool is_model);
/* Reads settings, law and rows of a cell from a run, or from a file of its results. */
int compare_cell_read(struct compare_cells *cells, struct compare_cell *cell, const char *path);
int compare_cell_take_record(struct compare_cells *cells, struct compare_cell *cell,
                             const char *path);
/* What such a file holds, but for what the caller adds to it. */
struct cJSON *compare_cell_json(const struct compare_cells *cells, const struct compare_cell *cell);
/* Reads the rows of <run>/<name>/probe/<probe>.json. ORR_EINVAL where the results belong to another
 * or changed checkpoint; ORR_EFORMAT. */
int compare_probe_read(const char *run, const struct orr_settings *settings, const char *name,
                       const char *probe, struct orr_table *table);
/* The row with the quantity and measure (NULL: any): of the model as a whole and the context (-1:
 * the largest), or of the deepest layer. NULL: none. */
const struct orr_row *compare_probe_row(const struct orr_table *table, const char *quantity,
                                        const char *measure, int context, bool last_layer);

/* Adds {"mean", "standard_error", "half_width", "bootstrap", "values"} of x (n), one value per
 * seed, under the key; null where there are none. bootstrap: whether to compute the bootstrap
 * interval. */
void compare_mean_json(struct cJSON *parent, const char *key, const double *x, int n,
                       bool bootstrap);
/* Prints the list under a heading, if it is not empty, and flushes standard output. ORR_EIO. */
int compare_missing_print(const struct compare_missing_list *list, const char *heading);
/* Appends {key: what, "why"} for each item to a JSON list. */
void compare_missing_json(const struct compare_missing_list *list, const char *key,
                          struct cJSON *json);

#endif
