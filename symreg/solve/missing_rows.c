/* missing_rows.c - rows with missing values: --missing drop and --missing-value remove them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "solve.h"

int sr_missing_read(const char *missing, const char *numbers, struct sr_missing *what)
{
    TRY(sr_option_check(SR_OPTION_missing, missing));
    *what = (struct sr_missing){.cells = numbers || (missing && strcmp(missing, "error") != 0)};
    if (numbers && missing && !strcmp(missing, "error"))
        return ORR_FAIL(ORR_EUSAGE, "--missing-value: leaves rows out, not with --missing error");
    for (const char *at = numbers; at;) {
        char *end;
        const double value = strtod(at, &end);
        if (end == at || (*end && *end != ',') || !isfinite(value))
            return ORR_FAIL(ORR_EUSAGE,
                            "--missing-value: expected numbers separated by commas, "
                            "found \"%s\"",
                            numbers);
        if (what->numbers == SR_MISSING_NUMBERS)
            return ORR_FAIL(ORR_EUSAGE, "--missing-value: expected at most %d numbers",
                            SR_MISSING_NUMBERS);
        what->number[what->numbers++] = value;
        at = *end ? end + 1 : NULL;
    }
    return 0;
}

/* Whether two numbers are equal, or single precision stores them alike: files have 99999.8984 for
 * 99999.9, and one fill value with seven digits or with sixteen. */
static bool are_alike(double a, double b)
{
    const float narrow = (float)a;
    return a == b || (narrow == (float)b && fabsf(narrow) > 0 && isfinite(narrow));
}

bool sr_is_missing(const struct sr_missing *what, const char *cell, double value)
{
    for (int k = 0; k < what->numbers; k++)
        if (are_alike(value, what->number[k]))
            return true;
    return what->cells && cell && !isfinite(value) && sr_cell_is_missing(cell);
}

static bool is_missing(const struct orr_csv *csv, const struct sr_missing *what, size_t at)
{
    return sr_is_missing(what, csv->cells ? csv->cells[at] : NULL, csv->values[at]);
}

/* Whether a row lacks a value; counts it in each column that does. Of an interval one end may be
 * missing. */
static bool lacks_value(const struct orr_csv *csv, const struct sr_missing *what, size_t row,
                        const int *column, int count, size_t *lacking)
{
    bool lacks = false;
    for (int c = 0; c < count; c++) {
        const size_t first = row * csv->cols;
        if (!is_missing(csv, what, first + (size_t)column[c]) ||
            (what->end && column[c] == what->end[0] &&
             !is_missing(csv, what, first + (size_t)what->end[1])))
            continue;
        lacking[c]++;
        lacks = true;
    }
    return lacks;
}

/* Moves the cells of row `from` to row `to`. */
static void move_row(struct orr_csv *csv, size_t from, size_t to)
{
    const size_t cols = csv->cols;
    memcpy(csv->values + to * cols, csv->values + from * cols, cols * sizeof *csv->values);
    csv->line[to] = csv->line[from];
    if (csv->cells)
        memcpy(csv->cells + to * cols, csv->cells + from * cols, cols * sizeof *csv->cells);
}

/* Lists the columns by their counts, the largest first, at most six of them. */
static void list_lacking(const struct orr_csv *csv, const int *column, int count, size_t *lacking,
                         char *text, size_t bytes)
{
    enum { LISTED = 6 };
    int listed = 0, others = 0;
    *text = '\0';
    for (; listed < LISTED; listed++) {
        int most = -1;
        for (int c = 0; c < count; c++)
            most = lacking[c] && (most < 0 || lacking[c] > lacking[most]) ? c : most;
        if (most < 0)
            return;
        orr_append(text, bytes, "%s%zu in \"%.100s\"", listed ? ", " : "", lacking[most],
                   csv->names[column[most]]);
        lacking[most] = 0;
    }
    for (int c = 0; c < count; c++)
        others += lacking[c] > 0;
    if (others)
        orr_append(text, bytes, ", and in %d other column%s", others, others > 1 ? "s" : "");
}

int sr_table_drop_missing(struct orr_csv *csv, const struct sr_missing *what, const int *column,
                          int count, struct sr_dropped *dropped)
{
    size_t kept = 0, *lacking = orr_alloc((size_t)count + 1, sizeof *lacking);
    if (!lacking)
        return ORR_ENOMEM;
    for (size_t i = 0; i < csv->rows; i++) {
        if (!lacks_value(csv, what, i, column, count, lacking)) {
            if (kept < i)
                move_row(csv, i, kept);
            kept++;
            continue;
        }
        for (size_t c = 0; c < csv->cols && csv->cells; c++)
            free(csv->cells[i * csv->cols + c]);
    }
    dropped->rows = csv->rows - kept;
    list_lacking(csv, column, count, lacking, dropped->columns, sizeof dropped->columns);
    csv->rows = kept;
    free(lacking);
    return 0;
}

void sr_dropped_note(const struct sr_dropped *dropped, const char *file, size_t kept, bool quiet)
{
    if (dropped->rows)
        orr_note(
            quiet,
            "symreg: %s: %zu of %zu rows have a missing value and are left out, %zu %s used: %s",
            file, dropped->rows, dropped->rows + kept, kept, kept == 1 ? "is" : "are",
            dropped->columns);
}
