/* results.h - reads result files into one long table: those of bin/verdict, bin/compare runs,
 * bin/compare seeds and bin/compare effects, benchmarks, and training curves. */
#ifndef COMPARE_RESULTS_H
#define COMPARE_RESULTS_H

#include "base/base.h"
#include "base/table.h"

/* Adds the rows of a file to the table.
 *
 * Models are named by their settings: "attention=lssar", in a grid all factors, in a benchmark
 * "name=...", in curves (a CSV of setting, seed, step, val_loss) "setting=...". Quantities are
 * those of the file: ids of verdict.json, "exponents.r" of runs.json, "value" of a benchmark,
 * "val_loss" of curves, whose context is the step. Rows of <probe>_seeds.json are means over seeds;
 * "above_baseline=lssar" is the difference from random weights. A grid with missing cells gives no
 * rows, as a mean over the rest would answer another question. Random weights of an attention's
 * shape are named "attention=untrained (lssar)". ORR_EFORMAT where the file is none of these. */
int compare_results_read(const char *path, struct orr_table *table);
/* The same of a JSON file that was read already. *known: whether it is one of these; otherwise
 * nothing is added. */
struct cJSON;
int compare_results_take(const struct cJSON *json, struct orr_table *table, bool *known);

#endif
