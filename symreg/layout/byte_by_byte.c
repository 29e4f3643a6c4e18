/* byte_by_byte.c - tables with a byte-by-byte description: machine-readable tables of the AAS
 * journals (MRT) and files of the CDS ("Standards for Astronomical Catalogues", version 2.0,
 * section 3.2). The description has a line for each column: its bytes, format, unit, label and
 * explanation, which begins with limits "[low/high]" and "?=NULL" where values may be missing. Rows
 * follow the last line of dashes or equals signs. */
#include "as_csv.h"

#include <stdlib.h>
#include <string.h>

static const char *const title = "Byte-by-byte Description";

struct column {
    size_t from, to;            /* characters, `to` not included */
    struct sr_piece unit, null; /* null: of length 0 for none */
};

struct columns {
    struct column *at;
    size_t count;
};

/* A line that separates sections. */
static bool is_border(const struct sr_line *line)
{
    return line->length >= 7 &&
           (!strncmp(line->at, "-------", 7) || !strncmp(line->at, "=======", 7));
}

static struct sr_piece next_word(const char **at, const char *end)
{
    while (*at < end && strchr(" \t", **at))
        ++*at;
    const char *const from = *at;
    while (*at < end && !strchr(" \t", **at))
        ++*at;
    return (struct sr_piece){from, (size_t)(*at - from)};
}

static bool read_number(const char **at, const char *end, size_t *number)
{
    while (*at < end && **at == ' ')
        ++*at;
    const char *const from = *at;
    for (*number = 0; *at < end && **at >= '0' && **at <= '9' && *number < 1000000; ++*at)
        *number = 10 * *number + (size_t)(**at - '0');
    return *at > from;
}

/* The null value that an explanation begins with, "[0/9]?=-9 ...". */
static struct sr_piece read_null(const char *at, const char *end)
{
    while (at < end && *at == ' ')
        at++;
    if (at < end && (*at == '[' || *at == ']')) {
        while (at < end && *at != ' ' && *at != '?')
            at++;
    }
    if (at + 1 >= end || at[0] != '?' || at[1] != '=')
        return (struct sr_piece){0};
    at += 2;
    return next_word(&at, end);
}

/* Reads the line of a column; false for one that continues an explanation. */
static bool read_column(const struct sr_line *line, struct column *column, struct sr_piece *label)
{
    const char *at = line->at, *const end = line->at + line->length;
    size_t first, last;
    if (!read_number(&at, end, &first))
        return false;
    while (at < end && *at == ' ')
        at++;
    last = first;
    if (at < end && *at == '-') {
        at++;
        if (!read_number(&at, end, &last))
            return false;
    }
    if (at == end || (*at != ' ' && at[-1] != ' ') || first < 1 || last < first)
        return false;
    const struct sr_piece format = next_word(&at, end);
    column->unit = next_word(&at, end);
    *label = next_word(&at, end);
    if (!label->length || !strchr("AIFEDLXaifedlx", *format.at))
        return false;
    column->from = first - 1;
    column->to = last;
    column->null = read_null(at, end);
    return true;
}

static bool add_column(struct columns *columns, const struct column *column)
{
    const size_t n = columns->count;
    if ((n & (n - 1)) == 0) {
        struct column *larger = realloc(columns->at, (n ? 2 * n : 1) * sizeof *larger);
        if (!larger)
            return false;
        columns->at = larger;
    }
    columns->at[columns->count++] = *column;
    return true;
}

/* Reads the description; *line is its last line. */
static int read_description(const struct sr_source *source, struct sr_line *line,
                            struct columns *columns, struct sr_made *made)
{
    const size_t first = line->number;
    int borders = 0;
    sr_made_row(made, first);
    while (borders < 3 && sr_line_next(line)) {
        struct column column;
        struct sr_piece label;
        borders += is_border(line);
        if (borders != 2 || !read_column(line, &column, &label))
            continue;
        if (!add_column(columns, &column))
            return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", source->name);
        sr_made_cell(made, label.at, label.length);
        if (!sr_piece_is(column.unit, "---"))
            sr_made_unit(made, columns->count - 1, column.unit.at, column.unit.length);
    }
    return columns->count ? 0
                          : ORR_FAIL(ORR_EFORMAT,
                                     "%s:%zu: expected lines \"bytes format unit label\" between "
                                     "the borders below \"%s\", found none",
                                     source->name, first, title);
}

/* Finds the last border, below which the rows are. */
static int find_rows(const struct sr_source *source, const struct sr_line *about,
                     struct sr_line *rows)
{
    struct sr_line line = *rows;
    while (sr_line_next(&line))
        if (is_border(&line))
            *rows = line;
    line = *rows;
    if (sr_line_content(&line, NULL) && strncmp(line.at, "(End)", 5) != 0)
        return 0;
    const char *const file = memchr(about->at, ':', about->length);
    return ORR_FAIL(ORR_EFORMAT,
                    "%s: describes%.*s and has no rows of it; joined by: python3 -c \"from "
                    "astropy.io import ascii; ascii.read('DATA', readme='FILE', "
                    "format='cds').write('NEW', format='ascii.ecsv')\"",
                    source->name, file ? (int)(about->at + about->length - file - 1) : 0,
                    file ? file + 1 : "");
}

static void read_rows(struct sr_line line, const struct columns *columns, struct sr_made *made)
{
    while (!made->failed && sr_line_content(&line, NULL)) {
        sr_made_row(made, line.number);
        for (size_t c = 0; c < columns->count; c++) {
            const struct column *column = &columns->at[c];
            const struct sr_piece cell = sr_trim(sr_slice(&line, column->from, column->to));
            sr_made_cell(made, cell.at, sr_piece_same(cell, column->null) ? 0 : cell.length);
        }
    }
}

int sr_read_bytes(const struct sr_source *source, struct sr_made *made)
{
    struct columns columns = {0};
    struct sr_line line, about;
    sr_line_find(source->text, title, &line);
    about = line;
    int rc = read_description(source, &line, &columns, made);
    if (!rc)
        rc = find_rows(source, &about, &line);
    if (!rc)
        read_rows(line, &columns, made);
    free(columns.at);
    return rc;
}
