/* as_csv.c - writes the rows of a layout as CSV, and splits lines into cells. */
#include "as_csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing */

static void put(struct sr_made *made, const char *from, size_t length)
{
    if (made->bytes + length + 1 > made->capacity && !made->failed) {
        size_t capacity = made->capacity ? 2 * made->capacity : 1 << 16;
        while (capacity < made->bytes + length + 1)
            capacity *= 2;
        char *text = realloc(made->text, capacity);
        made->failed = !text;
        made->text = text ? text : made->text;
        made->capacity = text ? capacity : made->capacity;
    }
    if (made->failed)
        return;
    memcpy(made->text + made->bytes, from, length);
    made->bytes += length;
    made->text[made->bytes] = '\0';
}

void sr_made_row(struct sr_made *made, size_t line)
{
    for (made->line += !made->line; made->line < line && !made->failed; made->line++)
        put(made, "\n", 1);
    made->cells = 0;
}

/* Whether a text can stand in CSV without quotes, also as the only cell of a row. */
static bool is_plain(const char *from, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (from[i] <= ' ' || from[i] == '#' || from[i] == '"' || from[i] == ',' ||
            from[i] == ';' || from[i] == '=')
            return false;
    return length > 0;
}

static void put_quoted(struct sr_made *made, struct sr_piece text)
{
    put(made, "\"", 1);
    for (size_t i = 0; i < text.length; i++)
        put(made, text.at[i] == '"' ? "\"\"" : text.at + i, text.at[i] == '"' ? 2 : 1);
    put(made, "\"", 1);
}

void sr_made_cell(struct sr_made *made, const char *from, size_t length)
{
    const struct sr_piece cell = sr_trim((struct sr_piece){from, length});
    if (made->cells++)
        put(made, ",", 1);
    if (is_plain(cell.at, cell.length) ||
        (cell.length > 1 && cell.at[0] == '"' && cell.at[cell.length - 1] == '"')) {
        put(made, cell.at, cell.length);
        return;
    }
    put_quoted(made, cell);
}

void sr_made_text(struct sr_made *made, const char *from, size_t length)
{
    if (made->cells++)
        put(made, ",", 1);
    put_quoted(made, (struct sr_piece){from, length});
}

void sr_made_unit(struct sr_made *made, size_t column, const char *from, size_t length)
{
    const struct sr_piece unit = sr_trim((struct sr_piece){from, length});
    if (column >= made->units) {
        char **larger = realloc(made->unit, (column + 1) * sizeof *larger);
        made->failed = made->failed || !larger;
        if (!larger)
            return;
        for (made->unit = larger; made->units <= column; made->units++)
            larger[made->units] = NULL;
    }
    if (!unit.length || made->unit[column])
        return;
    made->unit[column] = strndup(unit.at, unit.length);
    made->failed = made->failed || !made->unit[column];
}

void sr_made_free(struct sr_made *made)
{
    for (size_t c = 0; c < made->units; c++)
        free(made->unit[c]);
    free(made->unit);
    free(made->text);
    *made = (struct sr_made){0};
}

/* ---- lines */

bool sr_line_next(struct sr_line *line)
{
    if (!*line->rest)
        return false;
    line->at = line->rest;
    line->length = strcspn(line->rest, "\r\n");
    line->rest += line->length;
    line->rest += line->rest[0] == '\r' && line->rest[1] == '\n';
    line->rest += *line->rest != '\0';
    line->number++;
    return true;
}

bool sr_line_is_blank(const struct sr_line *line)
{
    return strspn(line->at, " \t") >= line->length;
}

bool sr_line_is_rule(const struct sr_line *line)
{
    static const char *const signs = "-=+|: \t";
    size_t run = 0, most = 0;
    for (size_t i = 0; i < line->length; i++) {
        if (!strchr(signs, line->at[i]))
            return false;
        run = line->at[i] == '-' || line->at[i] == '=' ? run + 1 : 0;
        most = run > most ? run : most;
    }
    return most >= 3 || (most > 0 && strspn(line->at, "-= ") >= line->length);
}

bool sr_line_content(struct sr_line *line, struct sr_line *comment)
{
    while (sr_line_next(line)) {
        if (sr_line_is_blank(line))
            continue;
        if (line->at[strspn(line->at, " \t")] != '#')
            return true;
        if (comment)
            *comment = *line;
    }
    return false;
}

bool sr_line_find(const char *text, const char *begin, struct sr_line *line)
{
    enum { MOST = 1 << 20 };
    const size_t length = strlen(begin);
    *line = (struct sr_line){.rest = text};
    while (line->rest - text < MOST && sr_line_next(line))
        if (!strncmp(line->at + strspn(line->at, " \t"), begin, length))
            return true;
    return false;
}

/* ---- cells of a line */

struct sr_piece sr_trim(struct sr_piece piece)
{
    while (piece.length && strchr(" \t", *piece.at)) {
        piece.at++;
        piece.length--;
    }
    while (piece.length && strchr(" \t", piece.at[piece.length - 1]))
        piece.length--;
    return piece;
}

bool sr_piece_is(struct sr_piece piece, const char *text)
{
    return piece.length == strlen(text) && !memcmp(piece.at, text, piece.length);
}

static bool read_number(struct sr_piece piece, double *value)
{
    char text[64], *end;
    piece = sr_trim(piece);
    if (piece.length == 0 || piece.length >= sizeof text)
        return false;
    memcpy(text, piece.at, piece.length);
    text[piece.length] = '\0';
    for (char *c = text; *c; c++)
        *c = *c == 'D' ? 'E' : *c; /* Fortran's exponents */
    *value = strtod(text, &end);
    return !*end;
}

bool sr_piece_is_number(struct sr_piece piece)
{
    double value;
    return read_number(piece, &value);
}

bool sr_piece_same(struct sr_piece piece, struct sr_piece null)
{
    double a, b;
    piece = sr_trim(piece);
    null = sr_trim(null);
    if (!null.length)
        return false;
    return (piece.length == null.length && !memcmp(piece.at, null.at, null.length)) ||
           (read_number(piece, &a) && read_number(null, &b) && !(a < b) && !(a > b));
}

bool sr_pieces_add(struct sr_pieces *pieces, const char *at, size_t length)
{
    if (pieces->count == pieces->capacity) {
        const size_t capacity = pieces->capacity ? 2 * pieces->capacity : 64;
        struct sr_piece *larger = realloc(pieces->at, capacity * sizeof *larger);
        pieces->failed = !larger;
        if (!larger)
            return false;
        pieces->at = larger;
        pieces->capacity = capacity;
    }
    pieces->at[pieces->count++] = (struct sr_piece){at, length};
    return true;
}

static bool is_separator(char c, char separator)
{
    return c == separator || (separator == ' ' && c == '\t');
}

/* The length of a quoted cell at `at`, with its quotes; 0: it is not closed. */
static size_t quoted_length(const char *at, size_t length)
{
    for (size_t i = 1; i < length; i++) {
        if (at[i] != '"')
            continue;
        if (i + 1 < length && at[i + 1] == '"')
            i++;
        else
            return i + 1;
    }
    return 0;
}

bool sr_split(const char *at, size_t length, char separator, struct sr_pieces *pieces)
{
    const char *const end = at + length;
    pieces->count = 0;
    for (bool more = true; more;) {
        while (at < end && *at == ' ')
            at++;
        while (separator == ' ' && at < end && *at == '\t')
            at++;
        if (separator == ' ' && at == end)
            return true;
        const char *from = at;
        if (at < end && *at == '"') {
            const size_t quoted = quoted_length(at, (size_t)(end - at));
            at += quoted;
            while (quoted && at < end && *at == ' ' && separator != ' ')
                at++;
            if (!quoted || (at < end && !is_separator(*at, separator)))
                return false;
        }
        while (at < end && !is_separator(*at, separator))
            at++;
        if (!sr_pieces_add(pieces, from, (size_t)(at - from)))
            return false;
        more = at < end;
        at += more;
    }
    return true;
}

int sr_split_fail(const struct sr_source *source, const struct sr_line *line,
                  const struct sr_pieces *pieces)
{
    return pieces->failed
               ? ORR_FAIL(ORR_ENOMEM, "%s: out of memory", source->name)
               : ORR_FAIL(ORR_EFORMAT,
                          "%s:%zu: column %zu: a quoted cell is not closed, or text follows its "
                          "quotes",
                          source->name, line->number, pieces->count + 1);
}

struct sr_piece sr_slice(const struct sr_line *line, size_t from, size_t to)
{
    const char *at = line->at, *const end = line->at + line->length, *start = end;
    for (size_t i = 0; at < end; i++) {
        if (i == from)
            start = at;
        if (i == to)
            break;
        for (at++; at < end && ((unsigned char)*at & 0xc0) == 0x80;
             at++) /* of the same character */
            ;
    }
    return (struct sr_piece){start, start < at ? (size_t)(at - start) : 0};
}
