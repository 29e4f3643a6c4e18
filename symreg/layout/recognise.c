/* recognise.c - reads a table in any of the layouts: recognises it, has it written as CSV, reads
 * it. */
#include "as_csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct layout {
    const char *name;
    int (*read)(const struct sr_source *source, struct sr_made *made);
};

static const struct layout npy = {"an array of NumPy (.npy)", sr_read_npy},
                           npz = {"arrays of NumPy (.npz)", sr_read_npz},
                           ecsv = {"ECSV", sr_read_ecsv}, ipac = {"an IPAC table", sr_read_ipac},
                           by_bytes = {"columns of a byte-by-byte description (CDS, MRT)",
                                       sr_read_bytes},
                           horizons = {"JPL Horizons, $$SOE to $$EOE", sr_read_horizons},
                           blanks = {"cells with blanks between", sr_read_blanks},
                           tabs = {"cells with tabs between", sr_read_tabs},
                           bars = {"cells with bars between", sr_read_bars},
                           ruled = {"columns below a rule", sr_read_ruled};

/* How often a character stands in a line outside quotes. */
static size_t count_in(const struct sr_line *line, char c)
{
    size_t count = 0;
    bool quoted = false;
    for (size_t i = 0; i < line->length; i++) {
        quoted ^= line->at[i] == '"';
        count += !quoted && line->at[i] == c;
    }
    return count;
}

static size_t count_words(const struct sr_line *line)
{
    size_t count = 0;
    bool quoted = false, word = false;
    for (size_t i = 0; i < line->length; i++) {
        const bool blank = !quoted && strchr(" \t", line->at[i]);
        quoted ^= line->at[i] == '"';
        count += !blank && !word;
        word = !blank;
    }
    return count;
}

/* Whether lines are those of an IPAC table: keywords that begin with "\\", a header that begins
 * with "|", rows that do not. */
static bool is_ipac(struct sr_line line)
{
    while (*line.at == '\\')
        if (!sr_line_content(&line, NULL))
            return false;
    if (*line.at != '|')
        return false;
    while (sr_line_content(&line, NULL))
        if (*line.at != '|')
            return true;
    return false;
}

/* The layout that the header and the first row suggest; NULL: CSV. */
static const struct layout *by_separators(const struct sr_line *head, const struct sr_line *row)
{
    const struct sr_line *const below = row->at ? row : head;
    if (sr_line_is_rule(head) || (row->at && sr_line_is_rule(row))) {
        const struct sr_line *const rule = sr_line_is_rule(head) ? head : row;
        return count_in(rule, '|') || count_in(rule, '+') ? &bars
               : count_in(head, '\t')                     ? &tabs
               : count_in(head, ',')                      ? NULL
                                                          : &ruled;
    }
    if (count_in(below, ',') || count_in(below, ';') || count_in(head, ';'))
        return count_in(head, '\t') && count_in(head, '\t') == count_in(below, '\t') &&
                       count_in(head, ',') != count_in(below, ',')
                   ? &tabs
                   : NULL;
    if (count_in(head, '|') && count_in(head, '|') == count_in(below, '|'))
        return &bars;
    if (count_in(head, '\t') && count_in(below, '\t'))
        return &tabs;
    const bool names = count_in(head, ',') + 1 == count_words(below) || !count_in(head, ',');
    return names && count_words(below) > 1 ? &blanks : NULL;
}

/* The layout of a text; NULL: CSV. */
static const struct layout *recognise(const struct sr_source *source)
{
    struct sr_line line = {.rest = source->text}, found;
    if (memchr(source->text, '\0', source->bytes))
        return NULL;
    if (!strncmp(source->text, "# %ECSV", 7))
        return &ecsv;
    if (sr_line_find(source->text, "$$SOE", &found))
        return &horizons;
    if (sr_line_find(source->text, "Byte-by-byte Description", &found))
        return &by_bytes;
    if (!sr_line_content(&line, NULL))
        return NULL;
    if (is_ipac(line))
        return &ipac;
    struct sr_line row = line;
    if (!sr_line_content(&row, NULL))
        row.at = NULL;
    return by_separators(&line, &row);
}

/* Reads the rows that a layout gives. */
static int read_made(const struct sr_source *source, const struct layout *layout,
                     enum orr_csv_flags flags, struct orr_csv *csv)
{
    struct sr_made made = {0};
    int rc = layout->read(source, &made);
    if (!rc && made.failed)
        rc = ORR_FAIL(ORR_ENOMEM, "%s: out of memory", source->name);
    if (!rc && !made.text)
        rc = ORR_FAIL(ORR_EFORMAT, "%s: empty, expected a header row", source->name);
    if (!rc)
        rc = orr_csv_parse(source->name, made.text, made.bytes, flags, csv);
    if (!rc && made.units) {
        csv->units = calloc(csv->cols, sizeof *csv->units);
        rc = csv->units ? 0 : ORR_FAIL(ORR_ENOMEM, "%s: out of memory", source->name);
        for (size_t c = 0; c < csv->cols && c < made.units && !rc; c++) {
            csv->units[c] = made.unit[c];
            made.unit[c] = NULL;
        }
        if (rc)
            orr_csv_free(csv);
    }
    csv->layout = rc ? NULL : layout->name;
    sr_made_free(&made);
    return rc;
}

/* Masks, a row of units, and words, of a table that was read. */
static int finish_cells(struct orr_csv *csv)
{
    int rc = sr_take_masks(csv);
    if (!rc)
        rc = sr_take_units_row(csv);
    if (rc)
        orr_csv_free(csv);
    else
        sr_convert_words(csv);
    return rc;
}

/* The line from which on all have as many commas, tabs or semicolons as the last one, if others
 * stand before it, as the title of an experiment does; 0: none. Of a large file: 0. */
static size_t find_header(const struct sr_source *source)
{
    static const char separators[] = ",\t;";
    enum { KINDS = sizeof separators - 1, MOST = 1 << 20, ROWS = 3 };
    struct sr_line line = {.rest = source->text};
    size_t first = 0, header[KINDS] = {0}, count[KINDS] = {0}, rows[KINDS] = {0};
    while (source->bytes < MOST && sr_line_content(&line, NULL)) {
        first = first ? first : line.number;
        for (int k = 0; k < KINDS; k++) {
            const size_t cells = count_in(&line, separators[k]);
            rows[k] = rows[k] && cells == count[k] ? rows[k] + 1 : 1;
            header[k] = rows[k] > 1 ? header[k] : line.number;
            count[k] = cells;
        }
    }
    for (int k = 0; k < KINDS; k++)
        if (count[k] && rows[k] >= ROWS && header[k] > first)
            return header[k];
    return 0;
}

int sr_cells_parse(const char *name, char *text, size_t bytes, enum orr_csv_flags flags,
                   struct orr_csv *csv)
{
    memset(csv, 0, sizeof *csv);
    const size_t mark = !strncmp(text, "\xef\xbb\xbf", 3) ? 3 : 0; /* of UTF-8 */
    const struct sr_source source = {name, text + mark, bytes - mark};
    const bool arrays = sr_is_npy(&source) || sr_is_npz(&source);
    TRY(arrays ? 0 : orr_foreign_refuse(name, source.text, source.bytes));
    const struct layout *const layout =
        arrays ? sr_is_npy(&source) ? &npy : &npz : recognise(&source);
    const size_t header = !layout || layout == &blanks ? find_header(&source) : 0;
    const int rc = layout ? read_made(&source, layout, flags, csv)
                          : orr_csv_parse(name, text, bytes, flags, csv);
    if (rc && header) {
        char message[1024];
        snprintf(message, sizeof message, "%s", orr_error());
        return ORR_FAIL(rc, "%s; a header in line %zu wants \"#\" before the lines above it",
                        message, header);
    }
    return rc ? rc : finish_cells(csv);
}

/* ---- large files */

/* Whether rows may be read without what follows them: no NUL, and no comment, behind which there
 * must be no row. A quoted cell that the end of a piece divides is an error: it is not closed. */
static bool is_plain(const char *text, size_t bytes)
{
    return !memchr(text, '\0', bytes) && !memchr(text, '#', bytes);
}

/* Reads the first piece; false where the file is no CSV file, or its header may need more. The
 * layout of a file shows in its first piece (sr_line_find()). */
static bool begin_pieces(struct orr_pieces *pieces, const char *file, enum orr_csv_flags flags,
                         struct orr_csv_reader *reader, struct orr_csv *csv)
{
    char *text, *rest;
    size_t bytes;
    if (!orr_pieces_next(pieces, &text, &bytes) || memchr(text, '\0', bytes))
        return false;
    const size_t mark = !strncmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    const struct sr_source source = {file, text + mark, bytes - mark};
    if (strchr("<\\{[", source.text[strspn(source.text, " \t\r\n")]) || recognise(&source) ||
        orr_csv_begin(reader, file, text, bytes, flags, csv, &rest))
        return false;
    const size_t left = bytes - (size_t)(rest - text);
    return rest[strspn(rest, " \t\r\n")] && is_plain(rest, left) && !orr_csv_more(reader, rest);
}

/* Reads a large CSV file by pieces, so that its text is not in memory beside its numbers. False
 * where that is impossible and for every error, which the whole text then tells. */
static bool read_pieces(const char *file, enum orr_csv_flags flags, struct orr_csv *csv)
{
    struct orr_pieces pieces;
    struct orr_csv_reader reader;
    char *text;
    size_t bytes;
    if (!orr_pieces_open(&pieces, file, 2 * ORR_PIECE))
        return false;
    bool ok = begin_pieces(&pieces, file, flags, &reader, csv);
    while (ok && orr_pieces_next(&pieces, &text, &bytes))
        ok = is_plain(text, bytes) && !orr_csv_more(&reader, text);
    ok = ok && pieces.is_whole;
    orr_pieces_close(&pieces);
    if (!ok) {
        orr_csv_free(csv);
        orr_error_recover();
    }
    return ok;
}

int sr_cells_read(const char *file, enum orr_csv_flags flags, struct orr_csv *csv)
{
    char *text;
    size_t bytes;
    memset(csv, 0, sizeof *csv);
    const bool packed = orr_input_is_packed(file);
    if (!orr_input_is_standard(file) && !packed && !orr_exists(file))
        return ORR_FAIL(ORR_EMISSING, "%s: not found", file);
    if (!orr_input_is_standard(file) && !packed && read_pieces(file, flags, csv))
        return finish_cells(csv);
    TRY(orr_input_read(file, &text, &bytes));
    const int rc = sr_cells_parse(orr_input_name(file), text, bytes, flags, csv);
    csv->packed = packed;
    free(text);
    return rc;
}

/* ---- notes */

/* The first cell of a column that was converted; NULL: none was. */
static const char *converted(const struct orr_csv *csv, size_t column, double *value)
{
    for (size_t i = column; csv->cells && i < csv->rows * csv->cols; i += csv->cols)
        if (csv->cells[i] && isfinite(csv->values[i]) && !sr_cell_is_missing(csv->cells[i])) {
            *value = csv->values[i];
            return csv->cells[i];
        }
    return NULL;
}

void sr_cells_notes(const struct orr_csv *csv, const char *name, bool quiet)
{
    if (csv->packed)
        orr_note(quiet, "symreg: %s: no such file; read %s.gz", name, name);
    if (csv->layout)
        orr_note(quiet, "symreg: %s: read as %s", name, csv->layout);
    if (csv->comments)
        orr_note(quiet,
                 "symreg: %s: skipped %zu line%s before the header, which begin%s with \"#\"", name,
                 csv->comments, csv->comments > 1 ? "s" : "", csv->comments > 1 ? "" : "s");
    if (csv->trailing)
        orr_note(quiet, "symreg: %s: skipped %zu line%s behind the rows, which begin%s with \"#\"",
                 name, csv->trailing, csv->trailing > 1 ? "s" : "", csv->trailing > 1 ? "" : "s");
    for (size_t c = 0; c < csv->cols && csv->digits; c++) {
        double value, angle;
        const char *cell = converted(csv, c, &value);
        if (cell && sr_cell_is_sexagesimal(cell, &angle))
            orr_note(quiet,
                     "symreg: %s: column \"%s\" has sexagesimal numbers, read in the unit of their "
                     "first part: \"%s\" is %.10g",
                     name, csv->names[c], cell, value);
        else if (cell && !sr_cell_day(cell, &angle))
            orr_note(quiet, "symreg: %s: column \"%s\" has true and false, read as 1 and 0", name,
                     csv->names[c]);
    }
}
