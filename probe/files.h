/* files.h - inside probe/: files of results of one probe, of models of several seeds or
 * settings. */
#ifndef PROBE_FILES_H
#define PROBE_FILES_H

#include "results.h"

enum { PROBE_FILES = 1024 };

/* One file: what a probe measured of one model. */
struct probe_file {
    const char *path;
    char probe[ORR_NAME], source[ORR_NAME], stage[ORR_NAME], preset[ORR_NAME];
    char attention[PROBE_TEXT]; /* as it was when measured; "" in files that do not say */
    char key[PROBE_KEY];        /* see probe_key; "" in files that do not say */
    uint64_t seed;
    struct probe_results results;
    struct cJSON *settings; /* of the run, NULL in files that do not say */
};
/* Reads options->file, *files (options->file_count); probe_files_free() them also after an error.
 * None, too many or such as are not of one probe, preset and options: ORR_EUSAGE, ORR_EINVAL, as
 * where the checkpoint is still in its place and has been trained again since; `name` is that of
 * the probe that asks. */
int probe_files_read(const struct probe_options *options, const char *name,
                     struct probe_file **files);
void probe_files_free(struct probe_file *files, int n);
/* Whether two files are of the same source and stage: models that differ in seed or settings. */
bool probe_same_kind(const struct probe_file *a, const struct probe_file *b);
/* Whether no file before number i (of_kind: of the same kind) has the figure of the row. Not every
 * file has every figure: the measure of a label saving says whether it is known. */
bool probe_is_first(const struct probe_file *files, int i, const struct probe_row *row,
                    bool of_kind);
/* Format, version, probe, preset and files, as every file about several begins. */
struct cJSON *probe_files_json(const struct probe_file *files, int n, const char *format);
/* A cell of a table on stdout: " 0.8 +- 0.1 |", without an interval where there is none. */
void probe_print_mean(struct orr_mean x);

#endif
