/* compare.h - bin/compare: tables over runs and seeds (docs/compare.md). */
#ifndef COMPARE_H
#define COMPARE_H

#include "base/base.h"
#include "base/table.h"
#include "stage/settings.h"
#include "stage/rows.h"

struct compare_options {
    const char *out;         /* folder of what is written; "": the current one */
    const char *figure;      /* effects: value to draw; NULL: the first */
    const char *const *file; /* (file_count) results of one probe */
    int file_count;
    bool quiet;
};

/* Prints means over seeds of a probe's results, with 95% intervals by Student's t, and writes
 * <out>/<probe>_seeds.json ("orrery-probe-seeds-1"). Errors of compare_files_read(). */
int compare_seeds(const struct compare_options *options);
/* Prints the effects of settings, and of pairs of them, on a probe's results over a grid; writes
 * <out>/<probe>_grid.json ("orrery-probe-grid-1") and a picture of one value. Errors of
 * compare_files_read() and compare_grid_create(). */
int compare_effects(const struct compare_options *options);

#endif
