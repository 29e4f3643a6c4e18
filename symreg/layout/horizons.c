/* horizons.c - output of JPL Horizons: the block between $$SOE and $$EOE, of vectors or elements,
 * as labelled text ("X = 1.0E+00 Y = ..."), as bare numbers below names, or as CSV, also with the
 * semicolons or tabs of a spreadsheet that saved it. The heading of the file says in which units
 * ("Output units    : AU-D"). */
#include "as_csv.h"

#include <stdlib.h>
#include <string.h>

static const char *const first_mark = "$$SOE", *const last_mark = "$$EOE";

/* What the quantities are: length L, time T. */
static const struct {
    const char *name, *unit;
} quantities[] = {{"X", "L"},     {"Y", "L"},    {"Z", "L"},   {"VX", "L/T"}, {"VY", "L/T"},
                  {"VZ", "L/T"},  {"LT", "T"},   {"RG", "L"},  {"RR", "L/T"}, {"QR", "L"},
                  {"IN", "deg"},  {"OM", "deg"}, {"W", "deg"}, {"Tp", "d"},   {"N", "deg/T"},
                  {"MA", "deg"},  {"TA", "deg"}, {"A", "L"},   {"AD", "L"},   {"PR", "T"},
                  {"JDTDB", "d"}, {"JDUT", "d"}};

static void give_unit(size_t column, struct sr_piece name, const char *length, const char *time,
                      struct sr_made *made)
{
    char text[32] = "";
    name = sr_trim(name);
    for (size_t k = 0; k < sizeof quantities / sizeof *quantities; k++)
        if (sr_piece_is(name, quantities[k].name))
            for (const char *c = quantities[k].unit; *c; c++)
                orr_append(text, sizeof text, "%.*s", *c == 'L' || *c == 'T' ? 8 : 1,
                           *c == 'L'   ? length
                           : *c == 'T' ? time
                                       : c);
    if (*text && *length)
        sr_made_unit(made, column, text, strlen(text));
}

/* The units of length and time in the heading; "" where it has none. */
static void find_units(const char *text, char length[8], char time[8])
{
    struct sr_line line;
    *length = *time = '\0';
    if (!sr_line_find(text, "Output units", &line))
        return;
    const char *at = memchr(line.at, ':', line.length);
    at = at ? at + 1 + strspn(at + 1, " ") : "";
    snprintf(length, 8, "%s", !strncmp(at, "AU-", 3) ? "AU" : !strncmp(at, "KM-", 3) ? "km" : "");
    at += *length ? 3 : 0;
    snprintf(time, 8, "%s", *at == 'D' ? "d" : *at == 'S' ? "s" : "");
    if (!*time)
        *length = '\0';
}

/* The names and the block. */
struct block {
    struct sr_line mark, names; /* the line of $$SOE, the line of names above it */
    struct sr_pieces label;     /* of a record, behind its time and date */
    char length[8], time[8];    /* units */
    char separator;             /* of cells; NUL: records of several lines */
};

/* Blanks may stand before a mark. */
static bool is_mark(const struct sr_line *line, const char *mark)
{
    return !strncmp(line->at + strspn(line->at, " \t"), mark, strlen(mark));
}

static bool is_end(const struct sr_line *line)
{
    return is_mark(line, last_mark);
}

/* ---- CSV */

/* The character between the names, and between the cells below them; NUL: these are no cells. In
 * labelled text a tab is a blank. */
static char find_separator(const struct block *block)
{
    static const char separators[] = ";,\t";
    struct sr_line row = block->mark;
    for (const char *c = separators; block->names.at && *c; c++)
        if (memchr(block->names.at, *c, block->names.length))
            return *c != '\t' || (sr_line_next(&row) && memchr(row.at, '\t', row.length) &&
                                  !memchr(row.at, '=', row.length))
                       ? *c
                       : '\0';
    return '\0';
}

/* Splits a line; the separator that ends every line begins no cell. */
static void split_cells(const struct sr_line *line, char separator, struct sr_pieces *pieces)
{
    sr_split(line->at, line->length, separator, pieces);
    if (pieces->count > 1 && !sr_trim(pieces->at[pieces->count - 1]).length)
        pieces->count--;
}

static int read_csv_line(const struct sr_source *source, const struct sr_line *line, char separator,
                         size_t cols, struct sr_pieces *pieces, struct sr_made *made)
{
    split_cells(line, separator, pieces);
    if (pieces->count != cols)
        return ORR_FAIL(ORR_EFORMAT, "%s:%zu: expected %zu cells with %s between, found %zu",
                        source->name, line->number, cols,
                        separator == ','   ? "commas"
                        : separator == ';' ? "semicolons"
                                           : "tabs",
                        pieces->count);
    for (size_t c = 0; separator != ',' && c < cols; c++) {
        const struct sr_piece cell = pieces->at[c];
        const char *const comma = memchr(cell.at, ',', cell.length);
        const size_t whole = comma ? (size_t)(comma - cell.at) : 0;
        if (whole && sr_piece_is_number((struct sr_piece){cell.at, whole}))
            return ORR_FAIL(ORR_EFORMAT,
                            "%s:%zu: \"%.*s\" has a decimal comma, expected decimal points; "
                            "converted by: sed 's/,/./g' FILE >NEW",
                            source->name, line->number, (int)cell.length, cell.at);
    }
    sr_made_row(made, line->number);
    for (size_t c = 0; c < cols; c++)
        sr_made_cell(made, pieces->at[c].at, pieces->at[c].length);
    return 0;
}

static int read_csv(const struct sr_source *source, const struct block *block,
                    struct sr_pieces *pieces, struct sr_made *made)
{
    struct sr_line line = block->mark;
    int rc = 0;
    split_cells(&block->names, block->separator, pieces);
    const size_t cols = pieces->count;
    sr_made_row(made, block->names.number);
    for (size_t c = 0; c < cols; c++) {
        const struct sr_piece name = sr_trim(pieces->at[c]);
        char number[32];
        snprintf(number, sizeof number, "column_%zu", c + 1);
        if (name.length)
            sr_made_cell(made, name.at, name.length);
        else
            sr_made_cell(made, number, strlen(number));
        give_unit(c, name, block->length, block->time, made);
    }
    while (!rc && sr_line_next(&line) && !is_end(&line))
        if (!sr_line_is_blank(&line))
            rc = read_csv_line(source, &line, block->separator, cols, pieces, made);
    return rc;
}

/* ---- records of several lines */

/* Whether a line begins a record: "2451545.0 = A.D. 2000-Jan-01 12:00:00.0000 TDB". */
static bool is_time(const struct sr_line *line, struct sr_piece *day, struct sr_piece *date)
{
    const char *const equals = memchr(line->at, '=', line->length);
    if (!equals)
        return false;
    *day = sr_trim((struct sr_piece){line->at, (size_t)(equals - line->at)});
    *date = sr_trim((struct sr_piece){equals + 1, (size_t)(line->at + line->length - equals - 1)});
    return sr_piece_is_number(*day);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Reads the next value of a line, and its label where it has one; false at the end of the line. */
static bool next_value(const char **at, const char *end, struct sr_piece *label,
                       struct sr_piece *value)
{
    while (*at < end && is_blank(**at))
        ++*at;
    const char *from = *at;
    *label = (struct sr_piece){from, 0};
    while (*at < end && **at != '=' && !is_blank(**at))
        ++*at;
    const char *equals = *at;
    while (equals < end && is_blank(*equals))
        equals++;
    if (equals < end && *equals == '=') {
        label->length = (size_t)(*at - from);
        for (*at = equals + 1; *at < end && is_blank(**at); ++*at)
            ;
        for (from = *at; *at < end && !is_blank(**at); ++*at)
            ;
    }
    *value = (struct sr_piece){from, (size_t)(*at - from)};
    return value->length > 0;
}

/* Collects the labels of the first record. */
static bool find_labels(struct block *block)
{
    struct sr_line line = block->mark;
    struct sr_piece label, value;
    int records = 0;
    while (sr_line_next(&line) && !is_end(&line)) {
        const char *at = line.at;
        records += is_time(&line, &label, &value);
        if (records == 2)
            break;
        if (!is_time(&line, &label, &value))
            while (next_value(&at, line.at + line.length, &label, &value))
                if (label.length && !sr_pieces_add(&block->label, label.at, label.length))
                    return false;
    }
    return true;
}

/* Collects the names of bare numbers, which stand above $$SOE: "JDTDB", then lines of names. */
static bool find_names(const struct sr_source *source, struct block *block)
{
    struct sr_line line = {.rest = source->text};
    struct sr_piece none, name;
    bool names = false;
    while (sr_line_next(&line) && line.number < block->mark.number) {
        const char *at = line.at + strspn(line.at, " ");
        const bool time = !strncmp(at, "JD", 2);
        names = time || (names && *at != '*');
        block->label.count = time ? 0 : block->label.count;
        for (at = line.at; names && !time && next_value(&at, line.at + line.length, &none, &name);)
            if (!sr_pieces_add(&block->label, name.at, name.length))
                return false;
    }
    return true;
}

static int check_record(const struct sr_source *source, const struct block *block, size_t line,
                        size_t cells)
{
    return cells == block->label.count
               ? 0
               : ORR_FAIL(ORR_EFORMAT,
                          "%s:%zu: the record that begins here: expected %zu values, found %zu",
                          source->name, line, block->label.count, cells);
}

static int read_records(const struct sr_source *source, const struct block *block,
                        struct sr_made *made)
{
    struct sr_line line = block->mark;
    size_t begun = 0, cells = 0;
    while (!made->failed && sr_line_next(&line) && !is_end(&line)) {
        struct sr_piece label, value;
        const char *at = line.at;
        if (sr_line_is_blank(&line))
            continue;
        if (is_time(&line, &label, &value)) {
            if (begun)
                TRY(check_record(source, block, begun, cells));
            begun = line.number;
            cells = 0;
            sr_made_row(made, begun);
            sr_made_cell(made, label.at, label.length);
            sr_made_cell(made, value.at, value.length);
            continue;
        }
        while (begun && next_value(&at, line.at + line.length, &label, &value)) {
            if (cells >= block->label.count ||
                (label.length && !sr_piece_same(label, block->label.at[cells])))
                return ORR_FAIL(ORR_EFORMAT, "%s:%zu: expected %s%.*s, found \"%.*s\"",
                                source->name, line.number,
                                cells < block->label.count ? "a value of " : "another record",
                                cells < block->label.count ? (int)block->label.at[cells].length : 0,
                                cells < block->label.count ? block->label.at[cells].at : "",
                                (int)(label.length ? label.length : value.length),
                                label.length ? label.at : value.at);
            sr_made_cell(made, value.at, value.length);
            cells++;
        }
        if (!begun)
            return ORR_FAIL(ORR_EFORMAT,
                            "%s:%zu: a Horizons table of observer quantities as text, in which "
                            "columns cannot be told apart; ask Horizons for CSV (CSV_FORMAT=YES)",
                            source->name, line.number);
    }
    return begun ? check_record(source, block, begun, cells) : 0;
}

static int read_text(const struct sr_source *source, struct block *block, struct sr_made *made)
{
    struct sr_line time;
    char name[16] = "JDTDB", date[32];
    if (!find_labels(block) || (!block->label.count && !find_names(source, block)))
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", source->name);
    if (sr_line_find(source->text, "JD", &time) && time.number < block->mark.number) {
        const struct sr_piece word = sr_trim((struct sr_piece){time.at, time.length});
        if (word.length < sizeof name && !memchr(word.at, ' ', word.length))
            snprintf(name, sizeof name, "%.*s", (int)word.length, word.at);
    }
    snprintf(date, sizeof date, "Calendar Date (%s)", name + 2);
    sr_made_row(made, block->mark.number);
    sr_made_cell(made, name, strlen(name));
    sr_made_cell(made, date, strlen(date));
    give_unit(0, (struct sr_piece){name, strlen(name)}, block->length, block->time, made);
    for (size_t k = 0; k < block->label.count; k++) {
        sr_made_cell(made, block->label.at[k].at, block->label.at[k].length);
        give_unit(k + 2, block->label.at[k], block->length, block->time, made);
    }
    return read_records(source, block, made);
}

int sr_read_horizons(const struct sr_source *source, struct sr_made *made)
{
    struct block block = {0};
    struct sr_pieces pieces = {0};
    struct sr_line line = {.rest = source->text};
    find_units(source->text, block.length, block.time);
    while (sr_line_next(&line) && !is_mark(&line, first_mark))
        if (!sr_line_is_blank(&line) && *line.at != '*')
            block.names = line;
    block.mark = line;
    block.separator = find_separator(&block);
    while (sr_line_next(&line) && !is_end(&line))
        ;
    const bool whole = line.at && is_end(&line);
    while (whole && sr_line_next(&line) && !is_mark(&line, first_mark))
        ;
    int rc = 0;
    if (!whole)
        rc = ORR_FAIL(ORR_EFORMAT, "%s:%zu: no %s behind %s: the file is cut off", source->name,
                      line.number, last_mark, first_mark);
    else if (is_mark(&line, first_mark))
        rc = ORR_FAIL(ORR_EFORMAT, "%s:%zu: a second %s, expected a file of its own for each body",
                      source->name, line.number, first_mark);
    else if (block.separator)
        rc = read_csv(source, &block, &pieces, made);
    else
        rc = read_text(source, &block, made);
    free(pieces.at);
    free(block.label.at);
    return rc;
}
