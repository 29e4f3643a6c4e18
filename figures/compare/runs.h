/* runs.h - inside figures/: one table over all runs of a folder (bin/report --runs). Runs of equal
 * settings are seeds of one row; docs/report.md has the columns. */
#ifndef REPORT_RUNS_H
#define REPORT_RUNS_H

#include "figures/report.h"

enum { RUNS_LABEL = 4096 };
#define RUNS_CLOSE 0.02 /* of k, relative */

enum runs_figure {                 /* what a run says of a source of forces */
                   RUNS_EXPONENT,  /* of r, and behind it of m1 and of m2 */
                   RUNS_SHARE = 3, /* of samples whose selected law is the true one */
                   RUNS_K,         /* of that law, mean over samples that select it */
                   RUNS_K_CLOSE,   /* share of samples: the true law, k within RUNS_CLOSE */
                   RUNS_K_DROPPED, /* k of k m1 / r^2, mean over samples */
                   RUNS_R2,
                   RUNS_LOSS, /* of the selected laws, mean over samples */
                   /* Errors in AU: as evaluation.json has it (of random weights: bin/probe
                    * evaluate), and beyond the trained positions in the longest sequences that
                    * bin/probe length measured. */
                   RUNS_NEXT_STATE,
                   RUNS_BEYOND,
                   RUNS_STEP_MS, /* of pretraining, as the memory */
                   RUNS_MEMORY_MB,
                   RUNS_FIGURES,
                   RUNS_TRUTH = RUNS_FIGURES /* exponents of the truth in the same run */
};
/* What each is called in runs.json and in cell.json (NULL: not there). */
struct runs_name {
    const char *key, *in_cell;
};
extern const struct runs_name report_runs_name[RUNS_FIGURES];

struct runs_source {
    char title[2 * ORR_NAME + 8]; /* "lssar", "untrained (softmax)" */
    bool is_model;                /* pretrained */
    int samples, selected, on_front;
    int k_close; /* samples with the true law whose k is within RUNS_CLOSE of its own */
    double figure[RUNS_FIGURES]; /* NaN where there is none */
};
/* Fills the shares of samples from their counts. */
void report_runs_shares(struct runs_source *source);

struct runs_run {
    char path[REPORT_PATH]; /* below the folder */
    struct cJSON *record;   /* not the run, but the file of its results; NULL: the run itself */
    struct orr_settings preset;
    struct report_true_law true_law;
    char rule[ORR_NAME]; /* whose choice counts as selected */
    int source_count;
    struct runs_source source[REPORT_SOURCES]; /* truth first */
    char label[RUNS_LABEL]; /* settings in which it differs from others: "a=b c=d" */
    int group;              /* runs of the same label, numbered as they appear */
};

struct runs_left_out {
    char path[REPORT_PATH];
    char why[1024];
};

struct runs {
    const char *folder;
    size_t count, left_out_count;
    struct runs_run *run; /* (count), by path */
    struct runs_left_out *left_out;
    int groups;
};

/* One source over the runs of one group, or, seed by seed, one minus another. */
struct runs_row {
    const char *title, *minus; /* minus: NULL for the source itself */
    int seeds, samples, selected, on_front;
    const struct runs_run **run;            /* (seeds) */
    const struct runs_source **of, **other; /* (seeds); other: of `minus` */
    double *value;                          /* (seeds) filled by report_runs_values() */
};

/* Reads every run 1 to 3 folders deep, and every file NAME.json of a run's results. One whose
 * laws are not there, not readable, or not what its preset.json makes is left out with the
 * reason. ORR_EMISSING: none is left; ORR_EINVAL: two of the
 * same settings and seed with a model of the same attention. Free also after an error. */
int report_runs_read(struct runs *runs, const char *folder);
/* The same of these run directories, and files of their results, paths as they are. */
int report_runs_read_these(struct runs *runs, const char *const *path, int n);
void report_runs_free(struct runs *runs);
/* A run's results as one small JSON object, which cJSON_Delete() frees, also after an error; and
 * the same read again from the file `path` (ORR_EFORMAT, ORR_EUSAGE). */
int report_runs_record(const struct runs_run *run, struct cJSON **record);
int report_runs_take_record(const struct cJSON *json, const char *path, struct runs_run *run);
/* The source of a run by its title, NULL when the run has none. */
const struct runs_source *report_runs_find(const struct runs_run *run, const char *title);
/* A figure of a source by its title; NaN where there is none. */
double report_runs_figure(const struct runs_run *run, const char *title, int figure);
/* The checkpoint of pretraining that probes look into, and whether results of one are of it, as it
 * was trained. */
int report_runs_checkpoint(const char *run, const struct orr_settings *preset, const char *name,
                           char path[REPORT_PATH]);
bool report_runs_is_of(const struct cJSON *json, const char *checkpoint);
/* The next-state errors of random weights of a model's shape, and of fitted orbits, as bin/probe
 * evaluate has them, over the same sequences as that of the trained one, which it must have found
 * as well; else *random = NaN, and *fit stays. */
int report_runs_random(const char *run, const char *name, double trained, double *random,
                       double *fit);
/* Fills errors, time and memory of a model from the files of its pretraining, and
 * the errors of the truth (a fit of the orbit to the same noisy places) and of random weights of
 * the model's shape, where they were measured, in the sources "truth" and "untrained (name)". */
int report_runs_trained(const char *run, const char *name, struct runs_run *into);
/* visit()s every row, in the order of groups and of the sources of their runs; with differences
 * instead those of every model from the model of softmax (of the first model, where softmax has
 * none), and from its untrained shape, over the seeds that both have. */
int report_runs_rows(const struct runs *runs, bool differences,
                     int (*visit)(const struct runs_row *row, void *context), void *context);
/* A figure of a row by seed, in row->value. */
const double *report_runs_values(const struct runs_row *row, int figure);
/* Adds {"mean", "standard_error", "half_width", "bootstrap", "values"} of x (n) under the key, a
 * value per seed; null where there is none. bootstrap: whether its interval is asked for. */
void report_mean_json(struct cJSON *parent, const char *key, const double *x, int n,
                      bool bootstrap);
/* Markdown to stdout; <folder>/runs.json, atomically. */
int report_runs_print(const struct runs *runs);
int report_runs_write(const struct runs *runs);

#endif
