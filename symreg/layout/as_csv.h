/* as_csv.h - inside symreg/layout/: what a reader of a layout gets and gives. It writes the table
 * as CSV, each row on the line that it has in the file. */
#ifndef SR_AS_CSV_H
#define SR_AS_CSV_H

#include "layout.h"

struct sr_source {
    const char *name, *text; /* text: NUL-terminated */
    size_t bytes;
};

/* A table as CSV. `failed`: memory ran out, which the door reports. */
struct sr_made {
    char *text;
    size_t bytes, capacity;
    size_t line;  /* of the text */
    size_t cells; /* of the present row */
    char **unit;  /* (units) NULL: none given */
    size_t units;
    bool failed;
};
/* Begins a row on this line of the file, at least one more than that of the last. */
void sr_made_row(struct sr_made *made, size_t line);
/* Adds a cell to the row; blanks around it are removed. A cell in quotes is one of CSV. */
void sr_made_cell(struct sr_made *made, const char *from, size_t length);
/* Adds a cell with this very text, which has no line breaks. */
void sr_made_text(struct sr_made *made, const char *from, size_t length);
/* The unit of a column; an empty one is none. */
void sr_made_unit(struct sr_made *made, size_t column, const char *from, size_t length);
void sr_made_free(struct sr_made *made);

/* Lines of a text: start with {.rest = text}. */
struct sr_line {
    const char *rest, *at;
    size_t length, number; /* number: from 1 */
};
bool sr_line_next(struct sr_line *line);
bool sr_line_is_blank(const struct sr_line *line);
/* Whether a line has nothing but dashes or other signs that draw tables, and three in a row. */
bool sr_line_is_rule(const struct sr_line *line);
/* The next line that is not blank and does not begin with "#". *comment: the last line before it
 * that does, where there is one; NULL: none wanted. */
bool sr_line_content(struct sr_line *line, struct sr_line *comment);
/* Finds a line that begins, behind blanks, with a text, in the first megabyte. */
bool sr_line_find(const char *text, const char *begin, struct sr_line *line);

/* The cells of a line: parts of it. Start with {0}; free(pieces.at). */
struct sr_pieces {
    struct sr_piece {
        const char *at;
        size_t length;
    } * at;
    size_t count, capacity;
    bool failed; /* out of memory */
};
/* Adds a piece; false: out of memory. */
bool sr_pieces_add(struct sr_pieces *pieces, const char *at, size_t length);
/* Splits a text at commas, tabs, bars or, for ' ', runs of blanks. Cells may have quotes, as in
 * CSV. False: a quoted cell is not closed, or text follows its quotes; pieces->count is its number.
 * Or memory ran out (pieces->failed). */
bool sr_split(const char *at, size_t length, char separator, struct sr_pieces *pieces);
/* The error of a line that could not be split. */
int sr_split_fail(const struct sr_source *source, const struct sr_line *line,
                  const struct sr_pieces *pieces);
/* The characters `from` to `to` (from 0, without `to`) of a line, as far as it has them. */
struct sr_piece sr_slice(const struct sr_line *line, size_t from, size_t to);
/* A piece without blanks around it. */
struct sr_piece sr_trim(struct sr_piece piece);
bool sr_piece_is(struct sr_piece piece, const char *text);
/* Whether a piece is this null value: the same text or number. A null value of length 0: none. */
bool sr_piece_same(struct sr_piece piece, struct sr_piece null);
/* Whether a piece is a number, as CSV reads it. */
bool sr_piece_is_number(struct sr_piece piece);

/* Readers of layouts. */
int sr_read_ecsv(const struct sr_source *source, struct sr_made *made);
int sr_read_ipac(const struct sr_source *source, struct sr_made *made);
int sr_read_bytes(const struct sr_source *source, struct sr_made *made); /* CDS, MRT */
int sr_read_blanks(const struct sr_source *source, struct sr_made *made);
int sr_read_tabs(const struct sr_source *source, struct sr_made *made);
int sr_read_bars(const struct sr_source *source, struct sr_made *made);
int sr_read_ruled(const struct sr_source *source, struct sr_made *made);
int sr_read_horizons(const struct sr_source *source, struct sr_made *made);
int sr_read_npy(const struct sr_source *source, struct sr_made *made);
int sr_read_npz(const struct sr_source *source, struct sr_made *made);
bool sr_is_npy(const struct sr_source *source);
/* Whether the bytes are a .npz: a zip archive whose first member is a .npy. */
bool sr_is_npz(const struct sr_source *source);
/* The rows behind a line, `cols` cells with `separator` between. null: (cols) null values; NULL:
 * none. */
int sr_read_rows(const struct sr_source *source, struct sr_line line, char separator, size_t cols,
                 const struct sr_piece *null, struct sr_made *made);

/* What is done to a table once it is read. */
int sr_take_units_row(struct orr_csv *csv);
/* Empties the cells of a column NAME where a column NAME.mask is true, as astropy writes masked
 * columns with serialize_method='data_mask': the numbers below a mask are none. */
int sr_take_masks(struct orr_csv *csv);
void sr_convert_words(struct orr_csv *csv);

#endif
