/* measures.h - what a model's probes found, as a few lines that can be compared between models: of
 * each probe the row that answers its question (docs/exchange.md, "The card"). The report of a run
 * and the card of a model show these lines. */
#ifndef ORR_MEASURES_H
#define ORR_MEASURES_H

#include <stdbool.h>

#include "base/table.h"

enum { ORR_MEASURES = 48, ORR_MEASURE_TEXT = 80, ORR_MEASURE_BRIEF = 40 };
struct orr_measure {
    char text[ORR_MEASURE_TEXT];   /* "log force after 100 labelled sequences, R^2" */
    char brief[ORR_MEASURE_BRIEF]; /* "100 labels, log force, R^2" */
    const char *probe;
    bool high;   /* the larger value is the better one */
    int context; /* steps of a rollout, labelled sequences; 0: none */
    double value, low, high_end, upper_bound, baseline, raw; /* NaN: none; as of struct orr_row */
    long n;
};
struct orr_measures {
    int count;
    struct orr_measure at[ORR_MEASURES];
};
/* Reads the results of probes in a folder (evaluate.json, rollout.json ...); a probe without a file
 * has no line. Errors as of orr_rows_read(). */
int orr_measures_read(const char *folder, struct orr_measures *measures);
/* Adds the line of next-state errors, of evaluation.json of a training. */
int orr_measures_evaluation(const char *path, struct orr_measures *measures);
/* The names of these probes in the order of their lines; NULL ends the list. */
extern const char *const orr_measured_probes[];
/* Whether the model is better than its untrained twin: the 95% interval of the value excludes the
 * twin's, on the better side. False with *known false where there is no interval or no twin. */
bool orr_measure_beyond(const struct orr_measure *measure, bool *known);

#endif
