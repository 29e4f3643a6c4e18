/* results.h - what a probe measured: every figure beside its upper bound and its baselines, as a
 * CSV, a JSON file and a table, and what they were measured from.
 *
 * The upper bound is the same procedure fed the truth. The baseline is the same procedure on the
 * same shape of model with random weights. Raw is the same procedure on the model's inputs alone,
 * where a procedure can do without a model. The interval, 95%, says how far the held-out sequences,
 * or what struct probe_results names, decide the figure; how far seeds decide it takes models of
 * several seeds (bin/probe seeds). */
#ifndef PROBE_RESULTS_H
#define PROBE_RESULTS_H

#include "probe.h"

enum { PROBE_QUANTITY = 48, PROBE_MEASURE = 32, PROBE_KEY = 256 };

struct probe_row {
    char quantity[PROBE_QUANTITY]; /* "1/r^2": what was read, predicted or changed */
    char measure[PROBE_MEASURE];   /* "R^2", "AU", "slope" */
    int layer;                     /* 0 = the embedding, l = behind block l, -1 = of the model */
    int context;                   /* rows, steps, labels or bin of the figure, 0 = all */
    double value, low, high;       /* NaN where there is none, as in the following */
    double upper_bound, baseline, raw;
    long n; /* held-out rows, trials, data sets or pairs */
};

/* Whether two rows are of the same figure, whatever its value. */
bool probe_same_figure(const struct probe_row *a, const struct probe_row *b);

/* Rows in the order of their adding; zero it, free it. */
struct probe_results {
    struct probe_row *row;
    int count, room;
    struct cJSON *about; /* more about the measurement, "about" in the JSON; NULL: nothing */
    struct cJSON *files; /* what goes with them: see probe_results_file */
    int lock;            /* of the folder, while they are written; 0: none */
    const char *over;    /* what intervals are over, in print; NULL: held-out sequences */
};
/* The row of the same figure, NULL: none. */
const struct probe_row *probe_results_find(const struct probe_results *results,
                                           const struct probe_row *figure);
/* ORR_ENOMEM. */
int probe_results_add(struct probe_results *results, const struct probe_row *row);
void probe_results_free(struct probe_results *results);

/* What figures depend on, in one line: name and revision of the probe, the checkpoint's content,
 * the seed, the settings of orbits, planets and fine-tuning, the change of attention and the
 * options; `options` are those of the probe that the struct does not hold, "" = none. */
int probe_key(const struct probe_options *options, const char *name, int revision, const char *more,
              char key[PROBE_KEY]);
/* Before files that go with <folder>/<name>.json change: makes the folder and removes the JSON, so
 * that it never stands for files of other settings. No other probe writes there from now until
 * probe_results_write() or _free(); one that does is waited for, and its measurement kept. */
int probe_results_begin(struct probe_results *results, const char *folder, const char *name);
/* Between the two: the file <folder>/<file> is whole, and belongs to the results. */
int probe_results_file(struct probe_results *results, const char *folder, const char *file);
/* With --resume: whether <folder>/<name>.json was made under this key, and it and every file that
 * goes with it are as they were. Says so in a note. */
bool probe_results_there(const struct probe_options *options, const char *folder, const char *name,
                         const char key[PROBE_KEY]);
/* After probe_results_begin(): writes <folder>/<name>.csv and, as the last, <name>.json
 * ("orrery-probe-1", docs/formats.md): each whole or not at all. */
int probe_results_write(struct probe_results *results, const struct probe *probe,
                        const struct probe_options *options, const char *folder, const char *name,
                        const char key[PROBE_KEY]);
/* A table on stdout, under the model's name. */
void probe_results_print(const struct probe_results *results, const struct probe *probe,
                         const char *name);
/* Reads the rows of a JSON file of this format; *json holds the whole (cJSON_Delete() it). What is
 * not as it was written, where it says how that was, is ORR_EFORMAT. */
int probe_results_read(const char *path, struct probe_results *results, struct cJSON **json);

#endif
