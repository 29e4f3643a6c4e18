/* csv.h - tables of numbers in CSV files. */
#ifndef ORR_CSV_H
#define ORR_CSV_H

#include <stdbool.h>
#include <stddef.h>

/* How the numbers of a column were written: the most digits, without zeros before them; the power
 * of ten of the last digit of any; whole as long as all are plain whole numbers. */
struct orr_csv_digits {
    int significant, last;
    bool whole;
};
/* Counts one more number of a column, which begins as {.last = 400, .whole = true}. */
void orr_csv_count_digits(const char *cell, struct orr_csv_digits *digits);
/* A table of numbers with a header row. */
struct orr_csv {
    size_t rows, cols;
    char **names;   /* (cols) */
    double *values; /* (rows, cols); NaN where the cell is not a number */
    char **cells;   /* (rows, cols) text, only with ORR_CSV_KEEP_TEXT; with ORR_CSV_KEEP_ODD of
                       cells that are no finite numbers, NULL for others, NULL if there are none */
    struct orr_csv_digits *digits; /* (cols) with ORR_CSV_KEEP_ODD; else NULL */
    size_t *line;    /* (rows) of the file where a row begins: quoted cells may have line breaks */
    size_t header;   /* line of the file where the header begins */
    size_t comments; /* lines that begin with "#" before the header, which are skipped */
};
enum orr_csv_flags { ORR_CSV_NUMBERS = 0, ORR_CSV_KEEP_TEXT = 1, ORR_CSV_KEEP_ODD = 2 };
/* Reads RFC 4180 CSV (quotes, CRLF). Blank lines are skipped; blanks around names and around quotes
 * are not theirs; numbers may have Fortran's exponents (3.9D-01). A header that begins with "#" is
 * read as one where it is the last of such lines and a row of as many numbers follows. Ragged rows,
 * and with ORR_CSV_NUMBERS cells that are not numbers, are ORR_EFORMAT naming file, line and
 * column. */
int orr_csv_read(const char *path, enum orr_csv_flags flags, struct orr_csv *csv);
/* The same of a NUL-terminated text of so many bytes, which is cut into cells and not kept; `name`
 * stands for the path in messages. */
int orr_csv_parse(const char *name, char *text, size_t bytes, enum orr_csv_flags flags,
                  struct orr_csv *csv);
int orr_csv_column(const struct orr_csv *csv, const char *name); /* index, -1 when absent */
/* Frees all but the names. */
void orr_csv_free_rows(struct orr_csv *csv);
void orr_csv_free(struct orr_csv *csv);

#endif
