/* results.h - files of results as one long table: what bin/verdict, bin/report --runs, bin/probe
 * seeds and bin/probe grid wrote, benchmarks, and curves of training. */
#ifndef VERDICT_RESULTS_H
#define VERDICT_RESULTS_H

#include "base/base.h"
#include "base/table.h"

/* Adds the rows of a file to the table. Models are called by their settings, "attention=lssar",
 * of a grid all of them, of a benchmark "name=...", of curves (a CSV of setting, seed, step,
 * val_loss) "setting=..."; quantities are those of the file: ids of verdict.json, "exponents.r" of
 * runs.json, "value" of a benchmark, "val_loss" of curves, whose context is the step. Rows of
 * <probe>_seeds.json are means over seeds, with "above_baseline=lssar" for what is above random
 * weights. A grid that lacks cells has no rows: a mean over the others would be of another
 * question. Random weights of an attention's shape are "attention=untrained (lssar)". ORR_EFORMAT:
 * the file is none of these. */
int verdict_results_read(const char *path, struct orr_table *table);
/* Adds the rows of <probe>.json, of model "", to the table. ORR_EFORMAT: a number is none. */
struct cJSON;
int verdict_results_probe(const struct cJSON *json, const char *path, struct orr_table *table);

#endif
