/* files.h - inside compare/: reads files of results of one probe for models of several seeds or
 * settings. */
#ifndef COMPARE_FILES_H
#define COMPARE_FILES_H

#include "compare.h"

enum { COMPARE_FILES = 1024, COMPARE_TEXT = 160 };

/* One file: what a probe measured of one model. Texts are those of `json`. */
struct compare_file {
    const char *path;
    struct cJSON *json; /* without its rows */
    const char *probe, *source, *stage, *preset;
    const char *attention; /* as measured; "" where the file does not record it */
    uint64_t seed;
    size_t first, end; /* its rows in the table */
};
struct compare_files {
    struct compare_file *file; /* (count) */
    int count;
    struct orr_table table; /* rows of all files, in their order */
};
/* Reads options->file. Call compare_files_free() after an error, too. ORR_EUSAGE or ORR_EINVAL
 * where there are no files or too many, where they differ in probe, preset or options, or where a
 * checkpoint was trained again since. `name`: the calling command. */
int compare_files_read(const struct compare_options *options, const char *name,
                       struct compare_files *files);
void compare_files_free(struct compare_files *files);
/* Starts a JSON object with format, version, probe, preset and files, for files about several
 * models. */
struct cJSON *compare_files_json(const struct compare_files *files, const char *format);
/* Prints a table cell: " 0.8 +- 0.1 |", without an interval where there is none. */
void compare_print_mean(struct orr_mean x);
struct orr_mean compare_without_interval(struct orr_mean x);

#endif
