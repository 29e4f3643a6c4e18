/* exporter.h - inside probe/exchange/: what the parts of bin/probe export share. */
#ifndef PROBE_EXPORTER_H
#define PROBE_EXPORTER_H

#include "probe/core/answers.h"
#include "probe/labels/labels.h"
#include "probe/orbits/labelled.h"

struct exporter {
    const struct probe_options *options;
    struct probe probe; /* rows without a model: the final split of next-state errors */
    struct probe_arena arena;
    struct probe_label_study study;
    bool has_forces, has_curves;
    int T, prefix, axes; /* axes: coordinates d of a row, 2 or 3 */
    char folder[4096];
    struct cJSON *json, *asked, *files; /* export.json and two of its members */
};

/* Asks for a table at the rows of another one; returns what is asked of it. */
struct cJSON *probe_export_ask(struct exporter *e, const char *rows, const char *file);
/* Opens a table of the export, and writes its header, if it is not NULL; the second function
 * commits, closes and lists it. */
int probe_export_open(const struct exporter *e, struct orr_file *file, const char *name,
                      const char *header);
int probe_export_commit(struct exporter *e, struct orr_file *file, const char *name);

/* Writes the first `rows` rows of n sequences. */
int probe_export_set(struct exporter *e, const char *file, const struct probe_labelled *set, int n,
                     int rows);
/* Writes the first `rows` rows of n sequences and the repeated ones, which go on as others from row
 * `cut` on. */
int probe_export_rows(struct exporter *e, const char *file, const struct probe_labelled *set,
                      size_t n, int rows, int cut);

/* x (n + repeats, rows, d) of which n sequences are filled: adds the repeated ones, and writes the
 * file. */
int probe_export_repeated(struct exporter *e, const char *file, size_t n, int rows, int cut,
                          float *x);

/* The questions of probe inductive, intervene and planets (export_<probe>.c). */
int probe_export_inductive(struct exporter *e);
int probe_export_intervene(struct exporter *e);
int probe_export_planets(struct exporter *e);

#endif
