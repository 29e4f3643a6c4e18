/* words_as_numbers.c - columns whose cells are words that mean numbers: True and False, sexagesimal
 * angles; and the row of units below a header. */
#include "as_csv.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- sexagesimal */

/* Reads digits with or without a fraction; *whole: without. */
static bool read_part(const char **at, double *value, bool *whole)
{
    char *end;
    const size_t digits = strspn(*at, "0123456789");
    if (!digits)
        return false;
    const size_t length =
        digits + ((*at)[digits] == '.' ? 1 + strspn(*at + digits + 1, "0123456789") : 0);
    char text[40];
    if (length >= sizeof text)
        return false;
    memcpy(text, *at, length);
    text[length] = '\0';
    *value = strtod(text, &end);
    *whole = length == digits;
    *at += length;
    return true;
}

/* Passes over the mark of part k (degrees or hours, minutes, seconds), if it is there. *style: the
 * mark that part 0 had. */
static bool take_mark(const char **at, int k, char *style)
{
    static const char *const marks[3][5] = {
        {"h", "d", "\xc2\xb0", ":", " "}, {"m", "m", "'", ":", " "}, {"s", "s", "\"", "", ""}};
    /* raised letters and primes, as astropy's format='unicode' has them */
    static const char *const other[3][3] = {{"\xca\xb0", NULL, NULL},
                                            {"\xe1\xb5\x90", NULL, "\xe2\x80\xb2"},
                                            {"\xcb\xa2", NULL, "\xe2\x80\xb3"}};
    for (int s = k ? *style : 0; s < (k ? *style + 1 : 5); s++) {
        const char *mark = marks[k][s];
        if (s < 3 && other[k][s] && !strncmp(*at, other[k][s], strlen(other[k][s])))
            mark = other[k][s];
        if (strncasecmp(*at, mark, strlen(mark)) != 0 || (k == 0 && s == 3 && (*at)[1] == ' '))
            continue;
        *style = (char)s;
        *at += strlen(mark);
        return true;
    }
    return false;
}

bool sr_cell_is_sexagesimal(const char *cell, double *value)
{
    const char *at = cell + strspn(cell, " \t");
    const double sign = *at == '-' ? -1 : 1;
    double part[3] = {0};
    bool whole = true;
    char style = 0;
    int k = 0;
    at += *at == '-' || *at == '+';
    while (k < 3) {
        if (!whole || !read_part(&at, &part[k], &whole) || (k && part[k] > 60))
            return false;
        const bool marked = take_mark(&at, k, &style);
        if (!marked && (k == 0 || style < 3))
            return false;
        k++;
        if (style != 4)
            at += strspn(at, " \t");
        if (!*at)
            break;
    }
    *value = sign * (part[0] + part[1] / 60 + part[2] / 3600);
    return !at[strspn(at, " \t")] && k >= (style >= 3 ? 3 : 2); /* 12:30 may be minutes */
}

/* ---- dates */

/* Reads digits or the three letters of a month; returns how many characters, 0 for neither. */
static size_t date_part(const char *at, bool *letters)
{
    static const char *const months = "janfebmaraprmayjunjulaugsepoctnovdec";
    const size_t digits = strspn(at, "0123456789");
    *letters = false;
    if (digits || strlen(at) < 3)
        return digits;
    for (const char *m = months; *m; m += 3)
        if (!strncasecmp(at, m, 3)) {
            *letters = true;
            return 3;
        }
    return 0;
}

bool sr_cell_is_date(const char *cell)
{
    bool letters[3] = {false};
    size_t length[3] = {0};
    int k = 0;
    const char *at = cell + strspn(cell, " \t");
    if (!strncmp(at, "A.D. ", 5) || !strncmp(at, "B.C. ", 5))
        at += 5;
    char separator = '\0';
    for (; k < 3; k++) {
        length[k] = date_part(at, &letters[k]);
        at += length[k];
        if (!length[k] || length[k] > 4 || (k == 2 ? letters[k] : false))
            return false;
        if (k < 2 && (!strchr("-/. ", *at) || !*at || (separator && *at != separator)))
            break;
        if (k < 2)
            separator = *at++;
    }
    if (k == 1) /* a year and a month */
        return length[0] == 4 && length[1] == 2 && separator == '-' && !*at;
    const bool year = length[0] == 4 || length[2] == 4 || letters[0] || letters[1];
    const bool plain =
        !(separator == '.' || separator == ' ') || length[0] == 4 || length[2] == 4 || letters[1];
    return k == 3 && year && plain && length[1] <= 3 &&
           (!*at || strchr(" T_:\t", *at) || (*at == '.' && letters[1]));
}

/* ---- columns */

static bool is_truth(const char *cell, double *value)
{
    static const char *const words[] = {"False", "True"};
    for (int k = 0; k < 2; k++)
        if (!strcasecmp(cell, words[k]) || (cell[0] == words[k][0] && !cell[1])) {
            *value = k;
            return true;
        }
    return false;
}

static bool is_angle(const char *cell, double *value)
{
    return sr_cell_is_sexagesimal(cell, value);
}

/* Whether all cells of a column that are not missing are such words, and one is. */
static bool all_words(const struct orr_csv *csv, size_t column,
                      bool (*is_word)(const char *cell, double *value))
{
    size_t words = 0;
    double value;
    for (size_t i = column; i < csv->rows * csv->cols; i += csv->cols) {
        if (!isnan(csv->values[i]))
            return false;
        if (sr_cell_is_missing(csv->cells[i]))
            continue;
        if (!is_word(csv->cells[i], &value))
            return false;
        words++;
    }
    return words > 0;
}

static void convert_column(struct orr_csv *csv, size_t column,
                           bool (*is_word)(const char *cell, double *value))
{
    for (size_t i = column; i < csv->rows * csv->cols; i += csv->cols)
        is_word(csv->cells[i], &csv->values[i]);
    if (csv->digits) /* these numbers are exact */
        csv->digits[column] = (struct orr_csv_digits){.significant = 17, .last = -17};
}

/* ---- masks */

/* The column of an ECSV table that column `mask` is the mask of: NAME of NAME.mask; -1: none. */
static int masked_column(const struct orr_csv *csv, size_t mask)
{
    static const char ending[] = ".mask";
    const char *name = csv->names[mask];
    const size_t length = strlen(name), end = sizeof ending - 1;
    if (!csv->layout || strcmp(csv->layout, "ECSV") != 0 || length <= end ||
        strcmp(name + length - end, ending) != 0 || !all_words(csv, mask, is_truth))
        return -1;
    for (size_t c = 0; c < csv->cols; c++)
        if (strlen(csv->names[c]) == length - end && !strncmp(csv->names[c], name, length - end))
            return (int)c;
    return -1;
}

int sr_take_masks(struct orr_csv *csv)
{
    for (size_t c = 0; c < csv->cols && csv->cells; c++) {
        const int column = masked_column(csv, c);
        for (size_t r = 0; r < csv->rows && column >= 0; r++) {
            char **const cell = &csv->cells[r * csv->cols + (size_t)column];
            double masked = 0;
            if (!is_truth(csv->cells[r * csv->cols + c], &masked) || masked == 0)
                continue;
            free(*cell);
            *cell = calloc(1, 1);
            if (!*cell)
                return ORR_FAIL(ORR_ENOMEM, "masked cells: out of memory");
            csv->values[r * csv->cols + (size_t)column] = NAN;
        }
    }
    return 0;
}

void sr_convert_words(struct orr_csv *csv)
{
    for (size_t c = 0; c < csv->cols && csv->cells; c++)
        if (masked_column(csv, c) >= 0)
            continue; /* no numbers: left out */
        else if (all_words(csv, c, is_truth))
            convert_column(csv, c, is_truth);
        else if (all_words(csv, c, is_angle))
            convert_column(csv, c, is_angle);
}

/* ---- the row of units */

static bool looks_like_unit(const char *cell)
{
    double value;
    bool letter = false;
    for (const char *c = cell; *c; c++)
        letter = letter || isalpha((unsigned char)*c) || strchr("%#", *c) || (*c & 0x80);
    return letter && !sr_cell_is_missing(cell) && !is_truth(cell, &value) &&
           !sr_cell_is_sexagesimal(cell, &value) && !sr_cell_is_date(cell);
}

/* Whether a column has a number in the rows 1 to 8. */
static bool has_numbers_below(const struct orr_csv *csv, size_t column)
{
    for (size_t r = 1; r < csv->rows && r <= 8; r++)
        if (isfinite(csv->values[r * csv->cols + column]))
            return true;
    return false;
}

/* Whether row 0 has units, and no number: in a column of numbers a unit, or nothing. */
static bool is_units_row(const struct orr_csv *csv)
{
    size_t units = 0;
    if (!csv->cells || csv->units || csv->rows < 2)
        return false;
    for (size_t c = 0; c < csv->cols; c++) {
        const char *cell = csv->cells[c];
        if (!isnan(csv->values[c]) || !cell)
            return false;
        if (!has_numbers_below(csv, c))
            continue;
        const bool unit = looks_like_unit(cell) && strcmp(cell, csv->names[c]) != 0;
        if (!unit && (!sr_cell_is_missing(cell) || isalpha((unsigned char)*cell)))
            return false;
        units += unit;
    }
    return units > 0;
}

int sr_take_units_row(struct orr_csv *csv)
{
    const size_t cols = csv->cols, rest = (csv->rows ? csv->rows - 1 : 0) * cols;
    if (!is_units_row(csv))
        return 0;
    csv->units = calloc(cols, sizeof *csv->units);
    if (!csv->units)
        return ORR_FAIL(ORR_ENOMEM, "row of units: out of memory");
    for (size_t c = 0; c < cols; c++) {
        if (sr_cell_is_missing(csv->cells[c]))
            free(csv->cells[c]);
        else
            csv->units[c] = csv->cells[c];
    }
    memmove(csv->cells, csv->cells + cols, rest * sizeof *csv->cells);
    memmove(csv->values, csv->values + cols, rest * sizeof *csv->values);
    memmove(csv->line, csv->line + 1, (csv->rows - 1) * sizeof *csv->line);
    csv->rows--;
    return 0;
}
