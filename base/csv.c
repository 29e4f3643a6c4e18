/* csv.c - tables of numbers with a header row (RFC 4180: quotes, CRLF). */
#include "base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *path;
    char *at;
    size_t line;
};

static bool is_end(const char *at)
{
    return !*at || *at == ',' || *at == '\n' || *at == '\r';
}

/* Cuts the next cell out of the text in place: *cell; *last when it ended its row. */
static int next_cell(struct reader *r, char **cell, bool *last)
{
    char *from = r->at, *to = r->at;
    const size_t first = r->line;
    *cell = from;
    if (*from == '"') {
        for (from++;; from++) {
            if (!*from)
                return ORR_FAIL(ORR_EFORMAT, "%s:%zu: a quoted cell is not closed", r->path, first);
            if (*from == '"' && *++from != '"')
                break;
            r->line += *from == '\n';
            *to++ = *from;
        }
        if (!is_end(from))
            return ORR_FAIL(ORR_EFORMAT, "%s:%zu: text behind the quotes of a cell", r->path,
                            first);
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

static double number_of(const char *cell, bool *ok)
{
    char *end;
    while (*cell == ' ')
        cell++;
    const double value = strtod(cell, &end);
    *ok = end != cell;
    while (*end == ' ')
        end++;
    *ok &= *end == '\0';
    return *ok ? value : NAN;
}

/* By name, equal ones as they stand. */
static int by_name(const void *a, const void *b)
{
    char *const *x = *(char *const *const *)a, *const *y = *(char *const *const *)b;
    const int order = strcmp(*x, *y);
    return order ? order : (x > y) - (x < y);
}

/* Names the first column whose name was there before it. */
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
    return twice ? ORR_FAIL(ORR_EFORMAT, "%s:1: column \"%s\" stands twice", path, *twice) : 0;
}

static int read_header(struct reader *r, struct orr_csv *csv)
{
    for (bool last = false; !last;) {
        char *cell;
        TRY(next_cell(r, &cell, &last));
        const size_t room = csv->cols ? 2 * csv->cols : 1;
        char **names = csv->cols & (csv->cols - 1) ? csv->names /* has room */
                                                   : realloc(csv->names, room * sizeof *names);
        if (names)
            csv->names = names;
        char *name = names ? strdup(cell) : NULL;
        if (!name)
            return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", r->path);
        csv->names[csv->cols++] = name;
    }
    r->line++;
    return check_names(r->path, csv);
}

static int grow(struct orr_csv *csv, size_t *room, bool text)
{
    if (csv->rows < *room)
        return 0;
    *room = *room ? 2 * *room : csv->cols < 1024 ? 256 : 1;
    double *values = realloc(csv->values, *room * csv->cols * sizeof *values);
    if (values)
        csv->values = values;
    char **cells = text ? realloc(csv->cells, *room * csv->cols * sizeof *cells) : NULL;
    if (cells)
        csv->cells = cells;
    size_t *line = realloc(csv->line, *room * sizeof *line);
    if (line)
        csv->line = line;
    return values && line && (cells || !text) ? 0 : ORR_FAIL(ORR_ENOMEM, "CSV: out of memory");
}

static int read_cells(struct reader *r, enum orr_csv_flags flags, struct orr_csv *csv)
{
    bool last = false;
    for (size_t c = 0; c < csv->cols; c++) {
        char *cell;
        bool ok;
        if (last)
            return ORR_FAIL(ORR_EFORMAT, "%s:%zu: expected %zu cells, found %zu", r->path, r->line,
                            csv->cols, c);
        int rc = next_cell(r, &cell, &last);
        if (rc)
            return rc;
        const size_t at = csv->rows * csv->cols + c;
        csv->values[at] = number_of(cell, &ok);
        if (!ok && flags == ORR_CSV_NUMBERS)
            return ORR_FAIL(ORR_EFORMAT, "%s:%zu: column \"%s\": expected a number, found \"%s\"",
                            r->path, r->line, csv->names[c], cell);
        if (csv->cells && !(csv->cells[at] = strdup(cell)))
            return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", r->path);
    }
    if (!last)
        return ORR_FAIL(ORR_EFORMAT, "%s:%zu: expected %zu cells, found more", r->path, r->line,
                        csv->cols);
    return 0;
}

static int read_row(struct reader *r, enum orr_csv_flags flags, struct orr_csv *csv)
{
    for (size_t c = 0; csv->cells && c < csv->cols; c++)
        csv->cells[csv->rows * csv->cols + c] = NULL;
    csv->line[csv->rows] = r->line;
    int rc = read_cells(r, flags, csv);
    csv->rows++; /* also a row cut short: orr_csv_free() frees its cells */
    r->line++;
    return rc;
}

int orr_csv_read(const char *path, enum orr_csv_flags flags, struct orr_csv *csv)
{
    char *text;
    size_t bytes, room = 0;
    memset(csv, 0, sizeof *csv);
    int rc = orr_file_read(path, &text, &bytes);
    if (rc)
        return rc;
    const bool marked = !strncmp(text, "\xef\xbb\xbf", 3); /* spreadsheets mark UTF-8 */
    struct reader r = {path, text + (marked ? 3 : 0), 1};
    if (memchr(text, '\0', bytes))
        rc = ORR_FAIL(ORR_EFORMAT, "%s: not a text file", path);
    else if (!*r.at || *r.at == '\n')
        rc = ORR_FAIL(ORR_EFORMAT, "%s: empty, expected a header row", path);
    else
        rc = read_header(&r, csv);
    while (!rc && *r.at) {
        if (!strcmp(r.at, "\n") || !strcmp(r.at, "\r\n"))
            break; /* one empty line at the end */
        rc = grow(csv, &room, flags == ORR_CSV_KEEP_TEXT);
        if (!rc)
            rc = read_row(&r, flags, csv);
    }
    free(text);
    if (rc)
        orr_csv_free(csv);
    return rc;
}

int orr_csv_column(const struct orr_csv *csv, const char *name)
{
    for (size_t c = 0; c < csv->cols; c++)
        if (!strcmp(csv->names[c], name))
            return (int)c;
    return -1;
}

void orr_csv_free(struct orr_csv *csv)
{
    for (size_t c = 0; csv->names && c < csv->cols; c++)
        free(csv->names[c]);
    for (size_t i = 0; csv->cells && i < csv->rows * csv->cols; i++)
        free(csv->cells[i]);
    free(csv->names);
    free(csv->cells);
    free(csv->values);
    free(csv->line);
    memset(csv, 0, sizeof *csv);
}
