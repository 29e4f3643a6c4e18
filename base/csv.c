/* csv.c - tables of numbers with a header row (RFC 4180: quotes, CRLF), as spreadsheets, archives
 * and Fortran write them. */
#include "csv.h"
#include "error.h"
#include "file.h"
#include "foreign.h"
#include "memory.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *path;
    char *at;
    size_t line, column; /* from 1: position of the cell that was read last */
};

static bool is_end(const char *at)
{
    return !*at || *at == ',' || *at == '\n' || *at == '\r';
}

/* Blanks may stand around the quotes of a cell. */
static bool is_quoted(const char *at)
{
    return at[strspn(at, " ")] == '"';
}

/* Cuts the next cell out of the text in place. *last is true when the cell ended its row. */
static int next_cell(struct reader *r, char **cell, bool *last)
{
    char *from = r->at, *to = r->at;
    const size_t first = r->line;
    *cell = from;
    r->column++;
    if (is_quoted(from)) {
        for (from += strspn(from, " ") + 1;; from++) {
            if (!*from)
                return ORR_FAIL(ORR_EFORMAT, "%s:%zu: column %zu: a quoted cell is not closed",
                                r->path, first, r->column);
            if (*from == '"' && *++from != '"')
                break;
            r->line += *from == '\n';
            *to++ = *from;
        }
        from += strspn(from, " ");
        if (!is_end(from))
            return ORR_FAIL(ORR_EFORMAT,
                            "%s:%zu: column %zu: text behind the quotes of a cell, expected a "
                            "comma",
                            r->path, first, r->column);
    }
    while (!is_end(from))
        *to++ = *from++;
    *last = *from != ',';
    if (*from == '\r' && from[1] == '\n')
        from++;
    if (*from)
        from++;
    *to = '\0';
    r->at = from;
    return 0;
}

/* Reads the number at `at`; *end points past it, and is `at` for hexadecimal digits. Fortran may
 * write exponents with a D: 3.9D-01. */
static double number_at(const char *at, const char **end)
{
    char *stop, text[80];
    const double value = strtod(at, &stop);
    const size_t length = (size_t)(stop - at);
    const char *const power = stop + 1; /* after the D, if any */
    *end = memchr(at, 'x', length) || memchr(at, 'X', length) ? at : stop;
    if (length == 0 || (*stop != 'd' && *stop != 'D') || strspn(at, " +-.0123456789") != length)
        return value;
    const size_t sign = *power == '+' || *power == '-';
    const size_t digits = strspn(power + sign, "0123456789");
    if (digits == 0 || length + sign + digits + 2 > sizeof text)
        return value;
    snprintf(text, sizeof text, "%.*se%.*s", (int)length, at, (int)(sign + digits), power);
    *end = power + sign + digits;
    return strtod(text, NULL);
}

/* A plain number whose value follows from few digits: (-)12.5e-3, up to 15 digits and powers of ten
 * up to 22, where one product or quotient of exact numbers rounds correctly (Clinger 1990). Writes
 * how it is written, and returns its end; NULL: any other text. */
static const char *plain_number(const char *at, double *value, struct orr_csv_digits *digits)
{
    enum { DIGITS = 15, POWER = 22 };
    static const double ten[POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const bool minus = *at == '-';
    const char *c = at + (minus || *at == '+'), *const first = c;
    uint64_t whole = 0;
    int significant = 0, behind = 0, power = 0;
    for (; *c >= '0' && *c <= '9'; c++) {
        whole = 10 * whole + (uint64_t)(*c - '0');
        significant += whole > 0;
        if (significant > DIGITS)
            return NULL;
    }
    const bool point = *c == '.';
    const char *const fraction = c + point;
    for (c = fraction; point && *c >= '0' && *c <= '9'; c++) {
        whole = 10 * whole + (uint64_t)(*c - '0');
        significant += whole > 0;
        if (significant > DIGITS)
            return NULL;
    }
    behind = point ? (int)(c - fraction) : 0;
    if (c == first + point) /* no digit */
        return NULL;
    if (*c == 'e' || *c == 'E') {
        const bool below = c[1] == '-';
        c += 1 + (below || c[1] == '+');
        if (*c < '0' || *c > '9')
            return NULL;
        for (; *c >= '0' && *c <= '9' && power < 1000; c++)
            power = 10 * power + (*c - '0');
        power = below ? -power : power;
    }
    const int last = power - behind;
    if (last < -POWER || last > POWER)
        return NULL;
    const double size = last < 0 ? (double)whole / ten[-last] : (double)whole * ten[last];
    *value = minus ? -size : size;
    *digits = (struct orr_csv_digits){significant, last, !point && last == 0};
    return c;
}

static double number_of(const char *cell, bool *ok)
{
    const char *end;
    const double value = number_at(cell, &end);
    *ok = end != cell && !end[strspn(end, " ")];
    return *ok ? value : NAN;
}

/* Orders by name, and equal names by position. */
static int by_name(const void *a, const void *b)
{
    char *const *x = *(char *const *const *)a, *const *y = *(char *const *const *)b;
    const int order = strcmp(*x, *y);
    return order ? order : (x > y) - (x < y);
}

/* Reports the first column whose name already occurred. */
static int check_names(const char *path, const struct orr_csv *csv)
{
    char *const **order = orr_alloc(csv->cols, sizeof *order), *const *twice = NULL;
    if (!order)
        return ORR_ENOMEM;
    for (size_t c = 0; c < csv->cols; c++)
        order[c] = csv->names + c;
    qsort(order, csv->cols, sizeof *order, by_name);
    for (size_t c = 1; c < csv->cols; c++)
        if (!strcmp(*order[c - 1], *order[c]) && (!twice || order[c] < twice))
            twice = order[c];
    free(order);
    return twice ? ORR_FAIL(ORR_EFORMAT, "%s:%zu: column \"%s\" stands twice%s", path, csv->header,
                            *twice, **twice ? "" : "; expected a name in each, or no such columns")
                 : 0;
}

/* Removes blanks around a name, except inside quotes. */
static char *name_of(char *cell, bool quoted)
{
    size_t length = strlen(cell);
    while (!quoted && length && strchr(" \t", cell[length - 1]))
        length--;
    cell[length] = '\0';
    return strdup(cell + (quoted ? 0 : strspn(cell, " \t")));
}

/* How often c occurs in the line at `at`, outside quotes where `plain` says so. */
static size_t count_in_line(const char *at, char c, bool plain)
{
    size_t count = 0;
    for (bool quoted = false; *at && *at != '\n' && *at != '\r'; at++) {
        quoted ^= plain && *at == '"';
        count += !quoted && *at == c;
    }
    return count;
}

/* Reports ";" between cells, which spreadsheets write in countries with decimal commas. The header
 * then has as many ";" as the row below it, and has either no comma or only numeric characters
 * ("1,5;2,0"). */
static int check_separator(const struct reader *r)
{
    const char *row = r->at + strcspn(r->at, "\r\n"), *numeric = "+-.,;0123456789eE \t";
    row += strspn(row, "\r\n");
    const size_t cells = count_in_line(r->at, ';', true), commas = count_in_line(row, ',', false);
    const bool names = count_in_line(r->at, ',', false) == 0,
               numbers = strspn(r->at, numeric) == strcspn(r->at, "\r\n");
    if (!cells || count_in_line(row, ';', true) != cells || (!names && !numbers))
        return 0;
    return commas ? ORR_FAIL(ORR_EFORMAT,
                             "%s:%zu: cells are separated by \";\" and numbers have decimal commas "
                             "(\"%.*s\"); expected cells separated by commas and decimal points; "
                             "converted by: sed 's/,/./g; s/;/,/g' FILE >NEW",
                             r->path, r->line, (int)strcspn(row, ";\r\n"), row)
                  : ORR_FAIL(ORR_EFORMAT,
                             "%s:%zu: cells are separated by \";\"; expected cells separated by "
                             "commas; converted by: tr ';' ',' <FILE >NEW",
                             r->path, r->line);
}

static int read_header(struct reader *r, struct orr_csv *csv)
{
    TRY(check_separator(r));
    csv->header = r->line;
    for (bool last = false; !last;) {
        char *cell;
        const bool quoted = is_quoted(r->at);
        TRY(next_cell(r, &cell, &last));
        const size_t capacity = csv->cols ? 2 * csv->cols : 1;
        char **names = csv->cols & (csv->cols - 1) ? csv->names /* fits */
                                                   : realloc(csv->names, capacity * sizeof *names);
        if (names)
            csv->names = names;
        char *name = names ? name_of(cell, quoted) : NULL;
        if (!name)
            return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", r->path);
        csv->names[csv->cols++] = name;
    }
    r->line++;
    return check_names(r->path, csv);
}

static int grow_rows(struct orr_csv *csv, size_t *capacity, bool text)
{
    if (csv->rows < *capacity)
        return 0;
    *capacity = *capacity ? 2 * *capacity : csv->cols < 1024 ? 256 : 1;
    double *values = realloc(csv->values, *capacity * csv->cols * sizeof *values);
    if (values)
        csv->values = values;
    char **cells = text ? realloc(csv->cells, *capacity * csv->cols * sizeof *cells) : NULL;
    if (cells)
        csv->cells = cells;
    size_t *line = realloc(csv->line, *capacity * sizeof *line);
    if (line)
        csv->line = line;
    return values && line && (cells || !text) ? 0 : ORR_FAIL(ORR_ENOMEM, "CSV: out of memory");
}

static inline void join_digits(struct orr_csv_digits *all, struct orr_csv_digits one)
{
    all->whole = all->whole && one.whole;
    all->significant = one.significant > all->significant ? one.significant : all->significant;
    all->last = one.last < all->last ? one.last : all->last;
}

/* Counts the digits of one more number of a column. */
void orr_csv_count_digits(const char *cell, struct orr_csv_digits *digits)
{
    const char *c = cell + strcspn(cell, "0123456789.");
    int significant = 0, last = 0;
    bool point = false;
    for (; *c == '.' || (*c >= '0' && *c <= '9'); c++) {
        point = point || *c == '.';
        last -= point && *c != '.';
        significant += *c != '.' && (significant > 0 || *c != '0');
    }
    if (*c && strchr("eEdD", *c))
        last += (int)fmax(-400, fmin(400, strtod(c + 1, NULL)));
    join_digits(digits, (struct orr_csv_digits){significant, last, !point && last == 0});
}

/* Keeps the text of cell number `at` if it is not a finite number (ORR_CSV_KEEP_ODD), else counts
 * its digits. */
static int keep_odd(const char *cell, size_t capacity, size_t at, struct orr_csv *csv)
{
    if (isfinite(csv->values[at])) {
        orr_csv_count_digits(cell, &csv->digits[at % csv->cols]);
        return 0;
    }
    if (!csv->cells)
        csv->cells = calloc(capacity * csv->cols, sizeof *csv->cells);
    return csv->cells && (csv->cells[at] = strdup(cell))
               ? 0
               : ORR_FAIL(ORR_ENOMEM, "CSV: out of memory");
}

static int start_digits(struct orr_csv *csv)
{
    csv->digits = calloc(csv->cols, sizeof *csv->digits);
    for (size_t c = 0; c < csv->cols && csv->digits; c++)
        csv->digits[c] = (struct orr_csv_digits){.last = 400, .whole = true};
    return csv->digits ? 0 : ORR_FAIL(ORR_ENOMEM, "CSV: out of memory");
}

/* Reads a cell that is a plain number, as next_cell() and number_of() would; false for others. */
static bool read_plain(struct reader *r, double *value, struct orr_csv_digits *digits, bool *last)
{
    struct orr_csv_digits one;
    const char *const end = plain_number(r->at, value, &one);
    if (!end || !is_end(end))
        return false;
    if (digits)
        join_digits(digits, one);
    *last = *end != ',';
    r->column++;
    r->at += end - r->at;
    r->at += *r->at == '\r' && r->at[1] == '\n';
    r->at += *r->at != '\0';
    return true;
}

static int read_cells(struct reader *r, enum orr_csv_flags flags, size_t capacity,
                      struct orr_csv *csv)
{
    bool last = false;
    r->column = 0;
    for (size_t c = 0; c < csv->cols; c++) {
        char *cell;
        bool ok;
        if (last)
            return ORR_FAIL(ORR_EFORMAT, "%s:%zu: expected %zu cells, found %zu", r->path, r->line,
                            csv->cols, c);
        const size_t at = csv->rows * csv->cols + c;
        if (flags != ORR_CSV_KEEP_TEXT &&
            read_plain(r, &csv->values[at], csv->digits ? csv->digits + c : NULL, &last))
            continue;
        int rc = next_cell(r, &cell, &last);
        if (rc)
            return rc;
        csv->values[at] = number_of(cell, &ok);
        if (!ok && flags == ORR_CSV_NUMBERS)
            return ORR_FAIL(ORR_EFORMAT, "%s:%zu: column \"%s\": expected a number, found \"%s\"",
                            r->path, r->line, csv->names[c], cell);
        if (flags == ORR_CSV_KEEP_ODD)
            TRY(keep_odd(cell, capacity, at, csv));
        else if (csv->cells && !(csv->cells[at] = strdup(cell)))
            return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", r->path);
    }
    if (!last)
        return ORR_FAIL(ORR_EFORMAT, "%s:%zu: expected %zu cells, found more", r->path, r->line,
                        csv->cols);
    return 0;
}

static int read_row(struct reader *r, enum orr_csv_flags flags, size_t capacity,
                    struct orr_csv *csv)
{
    for (size_t c = 0; csv->cells && c < csv->cols; c++)
        csv->cells[csv->rows * csv->cols + c] = NULL;
    csv->line[csv->rows] = r->line;
    int rc = read_cells(r, flags, capacity, csv);
    csv->rows++; /* also a row cut short: orr_csv_free() frees its cells */
    r->line++;
    return rc;
}

/* ---- lines before the header */

static void skip_line(struct reader *r)
{
    r->at += strcspn(r->at, "\r\n");
    r->at += r->at[0] == '\r' && r->at[1] == '\n';
    r->at += *r->at != '\0';
    r->line++;
}

static bool skip_blank(struct reader *r)
{
    if ((unsigned char)*r->at > ' ') /* most lines */
        return false;
    const char end = r->at[strspn(r->at, " \t")];
    if (end && end != '\n' && end != '\r')
        return false;
    skip_line(r);
    return true;
}

/* The number of cells of a line; 0 where any cell is not a number. */
static size_t count_numbers(const char *at)
{
    for (size_t cells = 1;; cells++) {
        const char *end;
        at += strspn(at, " \t");
        number_at(at, &end);
        if (end == at || is_end(at)) /* strtod() passes over line breaks */
            return 0;
        end += strspn(end, " \t");
        if (*end != ',')
            return is_end(end) ? cells : 0;
        at = end + 1;
    }
}

/* The number of cells of a line; 0 where the line has quotes. */
static size_t count_cells(const char *at)
{
    size_t cells = 1;
    for (; *at && *at != '\n' && *at != '\r'; at++) {
        if (*at == '"')
            return 0;
        cells += *at == ',';
    }
    return cells;
}

/* Skips the line "sep=," that Excel writes and reads before the header. */
static void skip_separator(struct reader *r)
{
    if (!strncmp(r->at, "sep=", 4) && strcspn(r->at, "\r\n") == 5)
        skip_line(r);
}

/* Finds the header after lines that begin with "#". The last of these lines is the header if the
 * next line has as many numbers as it has names, as numpy.savetxt() writes it. */
static int find_header(struct reader *r, struct orr_csv *csv)
{
    struct reader comment = {0};
    skip_separator(r);
    while (*r->at) {
        if (skip_blank(r))
            continue;
        if (*r->at != '#')
            break;
        comment = *r;
        csv->comments++;
        skip_line(r);
    }
    const size_t numbers = csv->comments ? count_numbers(r->at) : 0;
    if (numbers > 1 && count_cells(comment.at) == numbers) {
        csv->comments--;
        comment.at++;
        return read_header(&comment, csv);
    }
    return *r->at ? read_header(r, csv)
                  : ORR_FAIL(ORR_EFORMAT, "%s: empty, expected a header row", r->path);
}

/* Whether nothing but blank lines and lines that begin with "#" follows; counts the latter. */
static bool only_comments(const char *at, size_t *count)
{
    for (*count = 0; *at; at += strcspn(at, "\n\r")) {
        at += strspn(at, " \t\n\r");
        if (*at && *at != '#')
            return false;
        *count += *at == '#';
    }
    return true;
}

/* Reads rows to the end of the text. */
static int read_rows(struct reader *r, enum orr_csv_flags flags, size_t *capacity,
                     struct orr_csv *csv)
{
    int rc = 0;
    while (!rc && *r->at) {
        if (skip_blank(r))
            continue;
        const bool begun = (unsigned char)*r->at > '#'; /* by no blank and no "#" */
        const size_t cells = !begun && r->at[strspn(r->at, " \t")] == '#' ? count_cells(r->at) : 0;
        if (cells && cells != csv->cols && only_comments(r->at, &csv->trailing))
            break;
        if (cells && cells != csv->cols)
            rc = ORR_FAIL(ORR_EFORMAT,
                          "%s:%zu: a line that begins with \"#\"; expected comments before the "
                          "header and behind the last row",
                          r->path, r->line);
        if (!rc)
            rc = grow_rows(csv, capacity, flags == ORR_CSV_KEEP_TEXT || csv->cells);
        if (!rc)
            rc = read_row(r, flags, *capacity, csv);
    }
    return rc;
}

int orr_csv_begin(struct orr_csv_reader *reader, const char *path, char *text, size_t bytes,
                  enum orr_csv_flags flags, struct orr_csv *csv, char **rest)
{
    int rc;
    memset(csv, 0, sizeof *csv);
    const bool marked = !strncmp(text, "\xef\xbb\xbf", 3); /* byte order mark of spreadsheets */
    struct reader r = {path, text + (marked ? 3 : 0), 1, 0};
    rc = orr_foreign_refuse(path, r.at, bytes);
    if (!rc && memchr(text, '\0', bytes))
        rc = ORR_FAIL(ORR_EFORMAT, "%s: not a text file; save the table as UTF-8", path);
    if (!rc)
        rc = find_header(&r, csv);
    if (!rc && flags == ORR_CSV_KEEP_ODD)
        rc = start_digits(csv);
    *reader = (struct orr_csv_reader){.path = path, .flags = flags, .line = r.line, .csv = csv};
    *rest = r.at;
    if (rc)
        orr_csv_free(csv);
    return rc;
}

int orr_csv_more(struct orr_csv_reader *reader, char *text)
{
    struct reader r = {reader->path, text, reader->line, 0};
    const int rc = read_rows(&r, reader->flags, &reader->capacity, reader->csv);
    reader->line = r.line;
    if (rc)
        orr_csv_free(reader->csv);
    return rc;
}

int orr_csv_parse(const char *path, char *text, size_t bytes, enum orr_csv_flags flags,
                  struct orr_csv *csv)
{
    struct orr_csv_reader reader;
    char *rest;
    TRY(orr_csv_begin(&reader, path, text, bytes, flags, csv, &rest));
    return orr_csv_more(&reader, rest);
}

int orr_csv_read(const char *path, enum orr_csv_flags flags, struct orr_csv *csv)
{
    char *text;
    size_t bytes;
    memset(csv, 0, sizeof *csv);
    TRY(orr_file_read(path, &text, &bytes));
    const int rc = orr_csv_parse(path, text, bytes, flags, csv);
    free(text);
    return rc;
}

void orr_csv_write_cell(struct orr_file *file, const char *text)
{
    orr_file_printf(file, "\"");
    for (const char *c = text; *c; c++)
        orr_file_write(file, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    orr_file_printf(file, "\"");
}

int orr_csv_column(const struct orr_csv *csv, const char *name)
{
    for (size_t c = 0; c < csv->cols; c++)
        if (!strcmp(csv->names[c], name))
            return (int)c;
    return -1;
}

void orr_csv_free_rows(struct orr_csv *csv)
{
    for (size_t i = 0; csv->cells && i < csv->rows * csv->cols; i++)
        free(csv->cells[i]);
    free(csv->cells);
    free(csv->values);
    free(csv->line);
    free(csv->digits);
    csv->cells = NULL;
    csv->values = NULL;
    csv->line = NULL;
    csv->digits = NULL;
    csv->rows = 0;
}

void orr_csv_free(struct orr_csv *csv)
{
    for (size_t c = 0; csv->names && c < csv->cols; c++)
        free(csv->names[c]);
    for (size_t c = 0; csv->units && c < csv->cols; c++)
        free(csv->units[c]);
    free(csv->units);
    free(csv->names);
    orr_csv_free_rows(csv);
    memset(csv, 0, sizeof *csv);
}
