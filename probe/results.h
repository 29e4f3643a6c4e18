/* results.h - the results of a probe: every value with its upper bound and baselines, as a CSV, a
 * JSON file and a table, and what they were measured from.
 *
 * The upper bound is the same procedure fed the truth. The baseline is the same procedure on a
 * model of the same shape with random weights. Raw is the same procedure on the model's inputs
 * alone, where the procedure does not need a model. The 95% interval is over held-out sequences, or
 * what struct probe_results names. The variation between seeds is measured with models of several
 * seeds (bin/compare seeds). */
#ifndef PROBE_RESULTS_H
#define PROBE_RESULTS_H

#include "probe.h"
#include "stage/rows.h"

enum { PROBE_KEY = 256 };

/* zero-initialise, then free */
struct probe_results {
    struct orr_table table; /* layer 0: the embedding, l: after block l; context 0: all */
    struct cJSON *about;    /* "about" in the JSON: more about the measurement; NULL: nothing */
    struct cJSON *files;    /* files that belong to the results, see probe_results_file() */
    int lock;               /* lock of the folder while files are written; 0: none */
    const char *over;       /* what intervals are over, for print; NULL: held-out sequences */
};
void probe_results_free(struct probe_results *results);

/* All that results depend on, in one line: name and revision of the probe, the checkpoint's
 * content, the seed, the settings of orbits, planets and fine-tuning, the change of attention, and
 * the options. more: options of the probe that struct probe_options does not hold; "": none. */
int probe_key(const struct probe_options *options, const char *name, int revision, const char *more,
              char key[PROBE_KEY]);
/* Call before files that belong to <folder>/<name>.json change: makes the folder and removes the
 * JSON, so that it never describes files of other settings. It locks the folder until
 * probe_results_write() or probe_results_free(); if another probe holds the lock, this waits and
 * keeps the measurement. */
int probe_results_begin(struct probe_results *results, const char *folder, const char *name);
/* Between begin and write: records that <folder>/<file> is complete and belongs to the results. */
int probe_results_file(struct probe_results *results, const char *folder, const char *file);
/* The same of <folder>/<name>.png, where there is one: without gnuplot there is none. */
int probe_results_picture(struct probe_results *results, const char *folder, const char *name);
/* With --resume: whether <folder>/<name>.json was made under this key and neither it nor its files
 * have changed. Prints a note if so. */
bool probe_results_there(const struct probe_options *options, const char *folder, const char *name,
                         const char key[PROBE_KEY]);
/* After probe_results_begin(): writes <folder>/<name>.csv and finally <folder>/<name>.json
 * ("orrery-probe-1", docs/formats.md), each atomically. */
int probe_results_write(struct probe_results *results, const struct probe *probe,
                        const struct probe_options *options, const char *folder, const char *name,
                        const char key[PROBE_KEY]);
/* Prints a table under the model's name, of the rows that are shown; NULL: all. */
void probe_results_print(const struct probe_results *results, const struct probe *probe,
                         const char *name, bool (*is_shown)(const struct orr_row *row));
/* Whether a row is of the whole model, not of a layer. */
bool probe_row_of_model(const struct orr_row *row);

#endif
