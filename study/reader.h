/* reader.h - reads the study's tables, CSV files whose columns have names: claims.csv,
 * questions.csv, files.csv. */
#ifndef VERDICT_READER_H
#define VERDICT_READER_H

#include "base/base.h"
#include "base/table.h"

struct verdict_reader {
    const char *path;
    const struct orr_csv *csv;
    size_t row; /* that is read */
};
/* Opens the file `path` (NULL: `name` beside the study's sources, or where it is installed; its
 * path comes to `found`). `csv` has the texts; free it after an error, too. */
int verdict_reader_open(const char *path, const char *name, char found[4096],
                        struct verdict_reader *r, struct orr_csv *csv);
/* The cell of a column; NULL, with a message, where the file lacks the column. */
const char *verdict_cell_of(const struct verdict_reader *r, const char *column);
/* ORR_EFORMAT, with a message that names file, line, column and what is expected there. */
int verdict_bad_cell(const struct verdict_reader *r, const char *column, const char *expected);
/* Reads a cell that must be one of the words "a|b"; *number is its index, from 0. */
int verdict_take_word(const struct verdict_reader *r, const char *column, const char *words,
                      int *number);
/* Reads a number; an empty cell gives `none`. */
int verdict_take_number(const struct verdict_reader *r, const char *column, double none,
                        double *number);

#endif
