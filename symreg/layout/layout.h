/* layout.h - tables in the layouts that programs and archives of astronomy write: each is turned
 * into the table that a CSV file gives. */
#ifndef SR_LAYOUT_H
#define SR_LAYOUT_H

#include "base/base.h"

/* Reads a table: "-" is standard input, gzip is decompressed, and FILE.gz is read where there is no
 * FILE. The layout is recognised by the
 * content: CSV (base/csv.h), ECSV, IPAC, CDS and MRT with byte-by-byte descriptions, cells between
 * blanks, tabs or bars, columns under a rule, JPL Horizons, NumPy's .npy and .npz. csv->layout
 * names it, csv->units has the units that the file gives. Lines are those of the file; of arrays,
 * row i (from 1) is line i + 1. Columns of True and False become 1 and 0, columns of sexagesimal
 * angles decimal numbers in the unit of their first part; their cells stay in csv->cells.
 *
 * ORR_EMISSING: no such file. ORR_EFORMAT names file, line and column of what cannot be read, or
 * the format of a file that is no such table, with a command that converts it. */
int sr_cells_read(const char *file, enum orr_csv_flags flags, struct orr_csv *csv);
/* Reads a table as sr_cells_read() does, from a NUL-terminated text of `bytes` bytes, which may be
 * overwritten. `name` stands for the file in messages. */
int sr_cells_parse(const char *name, char *text, size_t bytes, enum orr_csv_flags flags,
                   struct orr_csv *csv);
/* Prints how the table was read: layout, skipped lines, columns whose cells were converted. */
void sr_cells_notes(const struct orr_csv *csv, const char *name, bool quiet);

/* Whether a cell is a missing value: empty, or a usual word or mark for it (missing_cells.c). */
bool sr_cell_is_missing(const char *cell);
/* Whether a cell is a date, with or without a time of day: 2021-01-03T12:00:00Z, 3/1/2021,
 * A.D. 2000-Jan-01 12:00. */
bool sr_cell_is_date(const char *cell);
/* Days since 1970-01-01 of an ISO date, 2021-01-03, or date-time, 2021-01-03T12:30:05.5Z with an
 * offset from UTC where it has one; false for any other cell. */
bool sr_cell_day(const char *cell, double *day);
/* Writes such a day, with the time to the second where it is not midnight. */
enum { SR_DAY_TEXT = 80 };
void sr_day_text(double day, char text[SR_DAY_TEXT]);
/* The first row whose cell is neither such a date nor missing, in a column of as many dates as
 * others, or `known` to be of dates; -1: none. */
long sr_dates_odd(const struct orr_csv *csv, size_t column, bool known);
/* The earliest day of a column whose cells are such dates or missing; false for other columns. */
bool sr_dates_first(const struct orr_csv *csv, size_t column, double *first);
/* The days from one day to another, exact to microseconds, which differences of numbers of days are
 * not. */
double sr_days_since(double day, double first);
/* Makes the column's values the days since `first`; false, with the column unchanged, where a cell
 * is neither a date nor missing. */
bool sr_dates_fill(struct orr_csv *csv, size_t column, double first);
/* Reads a sexagesimal angle or time: 12:34:56.7, -05 06 07, 12h34m56.7s, 41d16m, in the unit of its
 * first part. 12:34, which may be hours or minutes, is none. */
bool sr_cell_is_sexagesimal(const char *cell, double *value);

/* Rewrites a unit of ECSV, CDS, IPAC or a row of units ("km s-1", "m.s**-2", "erg / (s cm2)") as
 * --units has it. An empty text for a pure number. False where it is not understood. */
bool sr_unit_translate(const char *unit, char *text, size_t bytes);

#endif
