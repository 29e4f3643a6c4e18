/** @file results.h
 * Part of orrery.h: results of runs as columns. */
#ifndef ORRERY_RESULTS_H
#define ORRERY_RESULTS_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup results Results
 * Results of runs as columns (docs/library.md). JSON files and runs need cJSON at run time. @{ */

/** A handle: see orrery_results_create(). */
struct orrery_results;
/** Kinds of columns. */
enum orrery_kind {
    ORRERY_NUMBERS = 0, /**< all cells are numbers or empty */
    ORRERY_WORDS = 1    /**< at least one cell is text */
};
/** A column. Its arrays belong to the handle until the next successful orrery_results_open(). */
struct orrery_column {
    size_t bytes;             /**< sizeof(struct orrery_column) */
    const char *name;         /**< name in the file */
    int kind;                 /**< enum orrery_kind */
    const double *numbers;    /**< (rows); NaN where the cell is empty or text */
    const char *const *words; /**< (rows) for ORRERY_WORDS; else NULL */
};
/** Creates a handle.
 * @param interface_ ORRERY_INTERFACE
 * @param results *results becomes the handle or NULL; free it with orrery_results_free()
 * @return ORRERY_OK, ORRERY_EINVAL, ORRERY_ENOMEM or ORRERY_EVERSION */
ORRERY_CALL int orrery_results_create(int interface_, struct orrery_results **results);
/** Frees a handle.
 * @param results a handle that no call uses, or NULL */
ORRERY_CALL void orrery_results_free(struct orrery_results *results);
/** Reads a table: a CSV file, a training log (*.jsonl), a file of results (*.json), or a run
 * directory. After an error the handle keeps its former table.
 * @param results the handle
 * @param path of the file or run directory
 * @return a status; ORRERY_EIO, ORRERY_EFORMAT; ORRERY_EMISSING: no file, no laws, or no cJSON */
ORRERY_CALL int orrery_results_open(struct orrery_results *results, const char *path);
/** Reads files of JPL Horizons, vectors or elements, as the table that `symreg motion FILES`
 * searches: columns t (days), body, x, y, z, GM where it is known of all of several bodies, and
 * with one value in all rows unit ("AU" or "km", of the first file), centre and frame. A centre
 * with a known GM that is in none of several files is a body at the origin. After an error the
 * handle keeps its former table.
 * @param results the handle
 * @param file (count) their names, one body each
 * @param count from 1 to 16
 * @return a status; ORRERY_EUSAGE: no file of Horizons; ORRERY_EFORMAT, ORRERY_EINVAL: bodies,
 * centres or frames do not fit together */
ORRERY_CALL int orrery_results_horizons(struct orrery_results *results, const char *const *file,
                                        int count);
/** Checks a JSON file of results: the checksum that it states, if any, and the files that it names.
 * @param results the handle
 * @param path of the file
 * @return a status; ORRERY_EFORMAT: changed since it was made; else as orrery_results_open() */
ORRERY_CALL int orrery_results_check(struct orrery_results *results, const char *path);
/** The size of the table; 0 rows and columns before orrery_results_open().
 * @param results the handle
 * @param rows *rows becomes the number of rows; may be NULL
 * @param columns *columns becomes the number of columns; may be NULL
 * @return a status */
ORRERY_CALL int orrery_results_size(struct orrery_results *results, size_t *rows, size_t *columns);
/** A column by its index.
 * @param results the handle
 * @param number from 0
 * @param column is filled; the caller sets column->bytes
 * @return a status */
ORRERY_CALL int orrery_results_column(struct orrery_results *results, size_t number,
                                      struct orrery_column *column);
/** The first column with a name.
 * @param results the handle
 * @param name of the column
 * @param column is filled; the caller sets column->bytes
 * @return a status; ORRERY_EMISSING names the existing columns */
ORRERY_CALL int orrery_results_find(struct orrery_results *results, const char *name,
                                    struct orrery_column *column);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
