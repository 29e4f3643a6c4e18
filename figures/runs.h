/* runs.h - inside figures/: one table over all runs of a folder (bin/report --runs). Runs of equal
 * settings are seeds of one row; docs/report.md has the columns. */
#ifndef REPORT_RUNS_H
#define REPORT_RUNS_H

#include "report.h"

enum { RUNS_LABEL = 4096 };

/* What a run says of one source of forces. */
struct runs_source {
    char title[2 * ORR_NAME + 8]; /* "lssar", "untrained (softmax)" */
    bool is_model;                /* pretrained */
    int samples, selected, on_front;
    double exponent[3], r2_log, loss; /* loss: of the selected laws, mean over samples */
    /* Of models; NaN where there is none. Next-state errors in AU: as evaluation.json has it, and
     * beyond the trained positions in the longest sequences that bin/probe length measured. */
    double next_state, beyond, step_ms, memory_mb;
};

struct runs_run {
    char path[REPORT_PATH]; /* below the folder */
    struct orr_preset preset;
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

/* Reads every run 1 to 3 folders deep. One whose laws are not there, not readable, or not what its
 * preset.json makes is left out with the reason. ORR_EMISSING: none is left; ORR_EINVAL: two of the
 * same settings and seed with a model of the same attention. Free also after an error. */
int report_runs_read(struct runs *runs, const char *folder);
void report_runs_free(struct runs *runs);
/* The source of a run by its title, NULL when the run has none. */
const struct runs_source *report_runs_find(const struct runs_run *run, const char *title);
/* Fills next_state, beyond, step_ms and memory_mb of a source from its pretraining's files. */
int report_runs_trained(const char *run, const struct orr_preset *preset, const char *name,
                        struct runs_source *source);
/* Markdown to stdout; <folder>/runs.json, atomically. */
int report_runs_print(const struct runs *runs);
int report_runs_write(const struct runs *runs);

#endif
