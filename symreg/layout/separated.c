/* separated.c - tables whose cells stand between blanks, tabs or bars: those of NumPy, gnuplot and
 * Fortran, TSV with the rows of RDB and VizieR below its header, Markdown, psql, and astropy's
 * basic, commented_header, tab, rdb and fixed_width. */
#include "as_csv.h"

#include <stdlib.h>
#include <string.h>

static const char *separator_name(char separator)
{
    return separator == '\t'  ? "tabs"
           : separator == '|' ? "bars"
           : separator == ' ' ? "blanks"
                              : "commas";
}

/* Splits a line; bars may also stand at both of its ends. */
static bool split_line(const struct sr_line *line, char separator, struct sr_pieces *pieces)
{
    struct sr_piece all = sr_trim((struct sr_piece){line->at, line->length});
    if (separator == '\t')
        all = (struct sr_piece){line->at, line->length};
    if (separator == '|' && all.length && *all.at == '|') {
        all.at++;
        all.length--;
    }
    if (separator == '|' && all.length && all.at[all.length - 1] == '|')
        all.length--;
    return sr_split(all.at, all.length, separator, pieces);
}

/* Whether a row below the header tells the types of its columns, as RDB has it: 10N, S, 8S. */
static bool is_types(const struct sr_pieces *pieces)
{
    for (size_t i = 0; i < pieces->count; i++) {
        const struct sr_piece p = sr_trim(pieces->at[i]);
        const size_t digits = strspn(p.at, "0123456789");
        if (p.length != digits + 1 || !strchr("SNMDsnmd", p.at[digits]))
            return false;
    }
    return pieces->count > 0;
}

static int read_row(const struct sr_source *source, const struct sr_line *line, char separator,
                    size_t cols, const struct sr_piece *null, struct sr_pieces *pieces,
                    struct sr_made *made)
{
    if (!split_line(line, separator, pieces))
        return sr_split_fail(source, line, pieces);
    if (separator == '\t' && pieces->count == cols + 1 &&
        !sr_trim(pieces->at[cols]).length) /* a tab at the end of the line */
        pieces->count = cols;
    if (pieces->count != cols)
        return ORR_FAIL(ORR_EFORMAT, "%s:%zu: expected %zu cells with %s between, found %zu",
                        source->name, line->number, cols, separator_name(separator), pieces->count);
    sr_made_row(made, line->number);
    for (size_t c = 0; c < cols; c++)
        sr_made_cell(made, pieces->at[c].at,
                     null && sr_piece_same(pieces->at[c], null[c]) ? 0 : pieces->at[c].length);
    return 0;
}

int sr_read_rows(const struct sr_source *source, struct sr_line line, char separator, size_t cols,
                 const struct sr_piece *null, struct sr_made *made)
{
    struct sr_pieces pieces = {0};
    int rc = 0;
    while (!rc && !made->failed && sr_line_content(&line, NULL))
        if (separator == ' ' || !sr_line_is_rule(&line))
            rc = read_row(source, &line, separator, cols, null, &pieces, made);
    free(pieces.at);
    return rc;
}

/* The header and the row below it. */
struct head {
    struct sr_line names, rows; /* rows: before the first */
    struct sr_pieces pieces;    /* the names */
    bool lacks_first;           /* the column of row numbers or labels has no name */
};

static bool all_numbers(const struct sr_pieces *pieces)
{
    for (size_t i = 0; i < pieces->count; i++)
        if (!sr_piece_is_number(pieces->at[i]))
            return false;
    return pieces->count > 0;
}

static bool any_number(const struct sr_pieces *pieces)
{
    for (size_t i = 0; i < pieces->count; i++)
        if (sr_piece_is_number(pieces->at[i]))
            return true;
    return false;
}

/* Names of a comment, "# x y" or "# x, y", for a first row of so many cells: one that has numbers,
 * and that no header can be. */
static bool names_of_comment(const struct sr_line *comment, char separator,
                             const struct sr_pieces *row, struct sr_pieces *pieces)
{
    struct sr_line names = *comment;
    if (!names.at || !any_number(row))
        return false;
    const size_t sign = strspn(names.at, " \t#");
    names.length -= sign < names.length ? sign : names.length;
    names.at += sign;
    const bool as_many =
        (sr_split(names.at, names.length, ',', pieces) && pieces->count == row->count) ||
        (split_line(&names, separator, pieces) && pieces->count == row->count);
    return as_many && (all_numbers(row) || !any_number(pieces));
}

/* Whether the first row has one cell more than the header, a label or the number of the row: so
 * write R and pandas. */
static bool has_labels(const struct sr_pieces *names, const struct sr_pieces *row)
{
    const struct sr_piece first = row->count ? sr_trim(row->at[0]) : (struct sr_piece){0};
    return row->count == names->count + 1 &&
           (!sr_piece_is_number(first) || sr_piece_is(first, "0") || sr_piece_is(first, "1"));
}

/* Finds what the row below the header tells of it. */
static void look_below(struct sr_line line, char separator, struct head *head)
{
    struct sr_pieces row = {0}, names = {0};
    if (!sr_line_content(&line, NULL) || !split_line(&line, separator, &row)) {
        free(row.at);
        return;
    }
    if (separator == ' ' && row.count != head->pieces.count &&
        sr_split(head->names.at, head->names.length, ',', &names) && names.count == row.count) {
        const struct sr_pieces blanks = head->pieces;
        head->pieces = names;
        names = blanks;
    }
    head->lacks_first = has_labels(&head->pieces, &row);
    if (separator == '\t' && is_types(&row))
        head->rows = line;
    free(names.at);
    free(row.at);
}

static int find_head(const struct sr_source *source, char separator, struct head *head)
{
    struct sr_line line = {.rest = source->text}, comment = {0};
    struct sr_pieces names = {0};
    do
        if (!sr_line_content(&line, &comment))
            return ORR_FAIL(ORR_EFORMAT, "%s: empty, expected a header row", source->name);
    while (separator == '|' && sr_line_is_rule(&line));
    head->names = head->rows = line;
    if (!split_line(&line, separator, &head->pieces))
        return sr_split_fail(source, &line, &head->pieces);
    if (names_of_comment(&comment, separator, &head->pieces, &names)) {
        free(head->pieces.at);
        head->pieces = names;
        head->names = head->rows = comment;
        return 0;
    }
    free(names.at);
    look_below(line, separator, head);
    return 0;
}

static int read_separated(const struct sr_source *source, char separator, struct sr_made *made)
{
    struct head head = {0};
    int rc = find_head(source, separator, &head);
    if (!rc) {
        sr_made_row(made, head.names.number);
        if (head.lacks_first)
            sr_made_cell(made, "", 0);
        for (size_t c = 0; c < head.pieces.count; c++)
            sr_made_cell(made, head.pieces.at[c].at, head.pieces.at[c].length);
        rc = sr_read_rows(source, head.rows, separator, head.pieces.count + head.lacks_first, NULL,
                          made);
    }
    free(head.pieces.at);
    return rc;
}

int sr_read_blanks(const struct sr_source *source, struct sr_made *made)
{
    return read_separated(source, ' ', made);
}

int sr_read_tabs(const struct sr_source *source, struct sr_made *made)
{
    return read_separated(source, '\t', made);
}

int sr_read_bars(const struct sr_source *source, struct sr_made *made)
{
    return read_separated(source, '|', made);
}
