/* columns.c - columns of a table by their names, and what is said of names and cells that are
 * wrong. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "solve.h"
#include "base/text.h"

bool sr_name_is_number(const char *name)
{
    char *end = NULL;
    name += strspn(name, " ");
    if (!strspn(name, "+-.0123456789"))
        return false;
    strtod(name, &end);
    return end != name && !end[strspn(end, " ")];
}

int sr_column_of(const struct orr_csv *csv, const char *text)
{
    char name[256];
    const int column = orr_csv_column(csv, text);
    return column < 0 && sr_name_read(text, strlen(text), name, sizeof name)
               ? orr_csv_column(csv, name)
               : column;
}

/* Lists the names of the columns, comma-separated; of many columns only the first and the total
 * number. */
static void list_columns(const struct orr_csv *csv, char *text, size_t bytes)
{
    size_t used = 0;
    const size_t end = strlen(", ... (100000 columns)");
    *text = '\0';
    for (size_t i = 0; i < csv->cols; i++) {
        if (used + strlen(csv->names[i]) + strlen(", \"\"") + end >= bytes) {
            snprintf(text + used, bytes - used, ", ... (%zu columns)", csv->cols);
            return;
        }
        used +=
            (size_t)snprintf(text + used, bytes - used, "%s\"%s\"", i ? ", " : "", csv->names[i]);
    }
}

int sr_header_check(const struct orr_csv *csv, const char *file)
{
    size_t numbers = 0;
    for (size_t i = 0; i < csv->cols; i++)
        numbers += sr_name_is_number(csv->names[i]);
    return numbers < csv->cols || csv->comments
               ? 0
               : ORR_FAIL(ORR_EFORMAT,
                          "%s:%zu: the first line has numbers only (\"%s\", ...), expected a "
                          "header row of names; put one before it, for example by: sed "
                          "'1i x,y,z' FILE >NEW",
                          file, csv->header, csv->names[0]);
}

int sr_column_find(const struct orr_csv *csv, const char *file, const char *name, const char *word,
                   int *column)
{
    struct orr_nearest nearest = {0};
    *column = sr_column_of(csv, name);
    if (*column >= 0)
        return 0;
    const bool quoted = name[0] == '"' && name[1]; /* quotes are no part of the name */
    char bare[256];
    snprintf(bare, sizeof bare, "%.*s", (int)strlen(name) - 2 * quoted, name + quoted);
    for (size_t i = 0; i < csv->cols; i++)
        orr_nearest_offer(&nearest, bare, csv->names[i]);
    if (word)
        orr_nearest_offer(&nearest, name, word);
    TRY(sr_header_check(csv, file));
    if (csv->cols == 1 && !csv->layout && strchr(csv->names[0], ';'))
        return ORR_FAIL(ORR_EMISSING,
                        "%s:%zu: no column \"%s\": the header is one cell, \"%s\"%s; expected "
                        "cells separated by commas; converted by: sed 's/^# *//; s/;/,/g' FILE "
                        ">NEW",
                        file, csv->header, name, csv->names[0],
                        csv->comments ? ", as lines before it begin with \"#\"" : "");
    if (csv->comments && sr_name_is_number(csv->names[0]))
        return ORR_FAIL(ORR_EMISSING,
                        "%s:%zu: no column \"%s\": the header is \"%s\", ..., as lines before it "
                        "begin with \"#\"; expected a row of names without one",
                        file, csv->header, name, csv->names[0]);
    char known[400];
    list_columns(csv, known, sizeof known);
    return nearest.name ? ORR_FAIL(ORR_EMISSING, "%s: no column \"%s\"; did you mean \"%s\"?", file,
                                   name, nearest.name)
                        : ORR_FAIL(ORR_EMISSING, "%s: no column \"%s\"; expected one of %s", file,
                                   name, known);
}

int sr_table_column(const struct orr_csv *csv, const char *file, const char *name, int *column)
{
    return sr_column_find(csv, file, name, NULL, column);
}

/* The command is for a table as pandas reads it. */
void sr_date_tell(const struct orr_csv *csv, int column, char text[300])
{
    snprintf(text, 300, ", a date; expected days or another number of time");
    if (!csv->layout)
        orr_append(text, 300,
                   "; converted to Julian days by: python3 -c \"import pandas as p; t = "
                   "p.read_csv('FILE', "
                   "comment='#'); c = t.columns[%d]; t[c] = p.to_datetime(t[c])."
                   "map(p.Timestamp.to_julian_date); t.to_csv('NEW', index=False)\"",
                   column);
}

int sr_table_wrong_date(const struct orr_csv *csv, const char *file, size_t row, int column)
{
    return ORR_FAIL(ORR_EFORMAT,
                    "%s:%zu: column \"%s\": expected a date that exists, such as 2021-01-03 or "
                    "2021-01-03T12:30:05, as in other rows, found \"%s\"",
                    file, csv->line[row], csv->names[column],
                    csv->cells[row * csv->cols + (size_t)column]);
}

const char *sr_cell_tell(const char *cell)
{
    static const char *const digits = "0123456789";
    const char *const minus = "\xe2\x88\x92"; /* U+2212 */
    const char *at = cell + strspn(cell, " \t");
    if (!strncmp(at, minus, 3) && strspn(at + 3, digits))
        return "; a minus sign of print (U+2212), expected \"-\"";
    at += strspn(at, "+-");
    const size_t whole = strspn(at, digits);
    if (whole && at[whole] == ',' && strspn(at + whole + 1, digits))
        return "; a comma in a number, expected a decimal point, or nothing between thousands";
    at += strspn(at, "0123456789.");
    const char *const behind = at + strspn(at, " \t");
    if (whole && *at == ':' && !strchr(at + 1, ':'))
        return "; a time or an angle in two parts, expected one number, or three parts as 0:00:30";
    const bool is_error =
        !strncmp(behind, "\xc2\xb1", 2) || !strncmp(behind, "+-", 2) || !strncmp(behind, "+/-", 3);
    if (whole && is_error)
        return "; an error behind the number, expected a column of its own, and --sigma or "
               "--sigma-x";
    if (whole && *behind && (isalpha((unsigned char)*behind) || (*behind & 0x80) || *behind == '%'))
        return "; text behind the number, expected units in the name of the column alone";
    return "";
}

int sr_table_wrong_cell(const struct orr_csv *csv, const char *file, size_t row, int column)
{
    const char *cell = csv->cells[row * csv->cols + (size_t)column];
    const long odd = sr_dates_odd(csv, (size_t)column, false);
    char date[300] = "";
    if (odd >= 0)
        return sr_table_wrong_date(csv, file, (size_t)odd, column);
    if (sr_cell_is_date(cell))
        sr_date_tell(csv, column, date);
    return ORR_FAIL(ORR_EFORMAT, "%s:%zu: column \"%s\": expected a finite number, found \"%s\"%s",
                    file, csv->line[row], csv->names[column], cell,
                    sr_cell_is_missing(cell) ? "; --missing drop leaves such rows out"
                    : *date                  ? date
                                             : sr_cell_tell(cell));
}

int sr_table_time_falls(const struct orr_csv *csv, const char *file, size_t before, size_t row,
                        int column, const char *of, const char *advice)
{
    const double from = csv->values[before * csv->cols + (size_t)column];
    const double to = csv->values[row * csv->cols + (size_t)column];
    const int digits = orr_digits(from, to);
    return ORR_FAIL(ORR_EINVAL,
                    "%s:%zu: column \"%s\": %sexpected a time after %.*g of line %zu, found %.*g%s",
                    file, csv->line[row], csv->names[column], of, digits, from, csv->line[before],
                    digits, to, advice);
}

int sr_column_next(const char *option, const char *list, const char **at, char *name, size_t bytes)
{
    return sr_name_next(at, name, bytes)
               ? 0
               : ORR_FAIL(ORR_EUSAGE,
                          "%s: expected names of columns with commas between, those that have one "
                          "in double quotes, found \"%s\"",
                          option, list);
}

int sr_table_columns(const struct orr_csv *csv, const char *file, const char *option,
                     const char *list, int most, int *column, int *count)
{
    for (const char *at = list; at; ++*count) {
        char name[256];
        TRY(sr_column_next(option, list, &at, name, sizeof name));
        if (*count == most)
            return ORR_FAIL(ORR_EUSAGE, "%s: at most %d columns, found \"%s\"", option, most, list);
        TRY(sr_table_column(csv, file, name, &column[*count]));
        for (int k = 0; k < *count; k++)
            if (column[k] == column[*count])
                return ORR_FAIL(ORR_EUSAGE, "%s: \"%s\" stands twice", option, name);
    }
    return 0;
}
