/* csv.h - tables of numbers in CSV files. */
#ifndef ORR_CSV_H
#define ORR_CSV_H

#include <stdbool.h>
#include <stddef.h>

/* How the numbers of a column were written: `significant`, the most digits without leading zeros;
 * `last`, the smallest power of ten of a last digit; `whole`, whether all are plain whole
 * numbers. */
struct orr_csv_digits {
    int significant, last;
    bool whole;
};
/* Counts one more number of a column. Start with {.last = 400, .whole = true}. */
void orr_csv_count_digits(const char *cell, struct orr_csv_digits *digits);
/* A table of numbers with a header row. */
struct orr_csv {
    size_t rows, cols;
    char **names;   /* (cols) */
    double *values; /* (rows, cols); NaN where the cell is not a number */
    char **cells;   /* (rows, cols) texts or NULL: all with KEEP_TEXT, not finite with KEEP_ODD */
    struct orr_csv_digits *digits; /* (cols) with ORR_CSV_KEEP_ODD; else NULL */
    size_t *line;    /* (rows) line of the file where the row begins: quoted cells may have line
                        breaks */
    size_t header;   /* line of the file where the header begins */
    size_t comments; /* number of skipped lines before the header that begin with "#" */
    size_t trailing; /* ... behind the last row */
    /* what a reader of other layouts adds (symreg/layout/): */
    const char *layout; /* its name; NULL for CSV */
    char **units;       /* (cols) as the file has them, NULL for none; NULL: the file has none */
    bool packed;        /* it was read from FILE.gz, as there is no FILE */
};
enum orr_csv_flags { ORR_CSV_NUMBERS = 0, ORR_CSV_KEEP_TEXT = 1, ORR_CSV_KEEP_ODD = 2 };
/* Reads RFC 4180 CSV (quotes, CRLF). Blank lines are skipped, and blanks around names and quotes
 * are removed. Numbers may have Fortran's exponents (3.9D-01). The last line that begins with "#"
 * is the header if a row of as many numbers follows it; such lines behind the last row are skipped.
 * ORR_EFORMAT names file, line and column: a
 * row has another number of cells than the header, or, with ORR_CSV_NUMBERS, a cell is not a
 * number. */
int orr_csv_read(const char *path, enum orr_csv_flags flags, struct orr_csv *csv);
/* Reads CSV as orr_csv_read() does, from a NUL-terminated text of `bytes` bytes. The text is
 * overwritten and not kept; `name` stands for the path in messages. */
int orr_csv_parse(const char *name, char *text, size_t bytes, enum orr_csv_flags flags,
                  struct orr_csv *csv);
/* orr_csv_parse() in two steps, the second of which takes the rows in pieces of whole lines. */
struct orr_csv_reader {
    const char *path;
    enum orr_csv_flags flags;
    size_t line, capacity;
    struct orr_csv *csv;
};
/* Reads the header. The text holds at least the first row, too; *rest is where the rows begin. */
int orr_csv_begin(struct orr_csv_reader *reader, const char *name, char *text, size_t bytes,
                  enum orr_csv_flags flags, struct orr_csv *csv, char **rest);
/* Reads more rows. A quoted cell must not be divided between pieces, and comments behind the last
 * row be in one. Frees the table after an error. */
int orr_csv_more(struct orr_csv_reader *reader, char *text);
int orr_csv_column(const struct orr_csv *csv, const char *name); /* index, -1 when absent */
struct orr_file;
/* Writes a text as a cell in quotes; quotes inside are doubled (RFC 4180). */
void orr_csv_write_cell(struct orr_file *file, const char *text);
/* Frees everything except the names. */
void orr_csv_free_rows(struct orr_csv *csv);
void orr_csv_free(struct orr_csv *csv);

#endif
