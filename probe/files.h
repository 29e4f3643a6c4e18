/* files.h - inside probe/: reads files of results of one probe for models of several seeds or
 * settings. */
#ifndef PROBE_FILES_H
#define PROBE_FILES_H

#include "results.h"

enum { PROBE_FILES = 1024 };

/* One file: what a probe measured of one model. Texts are those of `json`. */
struct probe_file {
    const char *path;
    struct cJSON *json; /* without its rows */
    const char *probe, *source, *stage, *preset;
    const char *attention; /* as measured; "" where the file does not record it */
    uint64_t seed;
    size_t first, end; /* its rows in the table */
};
struct probe_files {
    struct probe_file *file; /* (count) */
    int count;
    struct orr_table table; /* rows of all files, in their order */
};
/* Reads options->file. Call probe_files_free() after an error, too. ORR_EUSAGE or ORR_EINVAL where
 * there are no files or too many, where they differ in probe, preset or options, or where a
 * checkpoint was trained again since. `name`: the calling probe. */
int probe_files_read(const struct probe_options *options, const char *name,
                     struct probe_files *files);
void probe_files_free(struct probe_files *files);
/* Starts a JSON object with format, version, probe, preset and files, for files about several
 * models. */
struct cJSON *probe_files_json(const struct probe_files *files, const char *format);
/* Prints a table cell: " 0.8 +- 0.1 |", without an interval where there is none. */
void probe_print_mean(struct orr_mean x);
struct orr_mean probe_without_interval(struct orr_mean x);

#endif
