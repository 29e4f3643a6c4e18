/* files.h - inside probe/: reads files of results of one probe for models of several seeds or
 * settings. */
#ifndef PROBE_FILES_H
#define PROBE_FILES_H

#include "results.h"

enum { PROBE_FILES = 1024 };

/* One file: what a probe measured of one model. */
struct probe_file {
    const char *path;
    char probe[ORR_NAME], source[ORR_NAME], stage[ORR_NAME], preset[ORR_NAME];
    char attention[PROBE_TEXT]; /* as measured; "" where the file does not record it */
    char key[PROBE_KEY];        /* see probe_key(); "" where the file does not record it */
    uint64_t seed;
    struct probe_results results;
    struct cJSON *settings; /* settings of the run; NULL where the file does not record them */
};
/* Reads options->file into *files (options->file_count). Call probe_files_free() after an error,
 * too. ORR_EUSAGE or ORR_EINVAL where there are no files or too many, where they differ in probe,
 * preset or options, or where a checkpoint was trained again since. `name`: the calling probe. */
int probe_files_read(const struct probe_options *options, const char *name,
                     struct probe_file **files);
void probe_files_free(struct probe_file *files, int n);
/* Whether two files have the same source and stage, so that they differ only in seed or
 * settings. */
bool probe_same_kind(const struct probe_file *a, const struct probe_file *b);
/* Whether no file before number i contains the row's quantity (of_kind: no file of the same kind).
 * Files may lack quantities; for label savings the measure says whether the value is known. */
bool probe_is_first(const struct probe_file *files, int i, const struct probe_row *row,
                    bool of_kind);
/* Starts a JSON object with format, version, probe, preset and files, for files about several
 * models. */
struct cJSON *probe_files_json(const struct probe_file *files, int n, const char *format);
/* Prints a table cell: " 0.8 +- 0.1 |", without an interval where there is none. */
void probe_print_mean(struct orr_mean x);

#endif
