/* ipac.c - IPAC tables (IRSA, "IPAC Table Format Definition"): lines of keywords and comments that
 * begin with "\", a header of up to four lines between bars, which has the names, types, units and
 * null values of the columns, and rows whose cells stand between the positions of the bars. Where
 * rows are not as wide as the header says, their cells are split at blanks. */
#include "as_csv.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 4 };

struct ipac {
    struct sr_pieces part[HEADER]; /* names, types, units, null values */
    struct sr_pieces bars;         /* position of each bar, in characters: its `length` */
    int lines;
};

static bool is_skipped(const struct sr_line *line)
{
    return *line->at == '\\' || sr_line_is_blank(line);
}

static bool find_bars(const struct sr_line *line, struct sr_pieces *bars)
{
    size_t character = 0;
    for (size_t i = 0; i < line->length; i++) {
        if (line->at[i] == '|' && !sr_pieces_add(bars, line->at + i, character))
            return false;
        character += ((unsigned char)line->at[i] & 0xc0) != 0x80;
    }
    return true;
}

/* Reads the lines of the header; *line is the last of them. */
static int read_header(const struct sr_source *source, struct sr_line *line, struct ipac *ipac,
                       struct sr_made *made)
{
    struct sr_line next = *line;
    while (sr_line_next(&next)) {
        if (ipac->lines == 0 && is_skipped(&next))
            continue;
        if (*next.at != '|' || ipac->lines == HEADER)
            break;
        *line = next;
        if (ipac->lines == 0 && !find_bars(line, &ipac->bars))
            return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", source->name);
        struct sr_pieces *part = &ipac->part[ipac->lines];
        const struct sr_piece all = sr_trim((struct sr_piece){line->at, line->length});
        const bool closed = all.length > 1 && all.at[all.length - 1] == '|';
        sr_split(all.at + 1, all.length - 1 - closed, '|', part);
        if (part->count != ipac->part[0].count)
            return ORR_FAIL(ORR_EFORMAT,
                            "%s:%zu: expected %zu cells between bars, as in the first line of the "
                            "IPAC header, found %zu",
                            source->name, line->number, ipac->part[0].count, part->count);
        if (ipac->lines++ == 0)
            sr_made_row(made, line->number);
        for (size_t c = 0; c < part->count; c++)
            if (ipac->lines == 1)
                sr_made_cell(made, part->at[c].at, part->at[c].length);
            else if (ipac->lines == 3)
                sr_made_unit(made, c, part->at[c].at, part->at[c].length);
    }
    return ipac->lines ? 0
                       : ORR_FAIL(ORR_EFORMAT,
                                  "%s:%zu: IPAC table without a header line that begins with a bar",
                                  source->name, next.number);
}

/* Whether all rows have blanks, or nothing, at the positions of the bars. */
static bool is_aligned(struct sr_line line, const struct ipac *ipac)
{
    const size_t bars = ipac->bars.count;
    while (sr_line_next(&line)) {
        if (is_skipped(&line))
            continue;
        for (size_t b = 0; b < bars; b++) {
            const size_t at = ipac->bars.at[b].length;
            const bool last = b + 1 == bars && bars > ipac->part[0].count;
            const struct sr_piece cell = sr_trim(sr_slice(&line, at, last ? SIZE_MAX : at + 1));
            if (cell.length)
                return false;
        }
    }
    return true;
}

static void read_aligned(struct sr_line line, const struct ipac *ipac, struct sr_made *made)
{
    while (!made->failed && sr_line_next(&line)) {
        if (is_skipped(&line))
            continue;
        sr_made_row(made, line.number);
        for (size_t c = 0; c < ipac->part[0].count; c++) {
            const size_t to = c + 1 < ipac->bars.count ? ipac->bars.at[c + 1].length : SIZE_MAX;
            const struct sr_piece cell = sr_trim(sr_slice(&line, ipac->bars.at[c].length + 1, to));
            const struct sr_piece null =
                ipac->lines == HEADER ? sr_trim(ipac->part[3].at[c]) : (struct sr_piece){0};
            sr_made_cell(made, cell.at, sr_piece_same(cell, null) ? 0 : cell.length);
        }
    }
}

int sr_read_ipac(const struct sr_source *source, struct sr_made *made)
{
    struct ipac ipac = {0};
    struct sr_line line = {.rest = source->text};
    int rc = read_header(source, &line, &ipac, made);
    if (!rc && is_aligned(line, &ipac))
        read_aligned(line, &ipac, made);
    else if (!rc)
        rc = sr_read_rows(source, line, ' ', ipac.part[0].count,
                          ipac.lines == HEADER ? ipac.part[3].at : NULL, made);
    for (int k = 0; k < HEADER; k++)
        free(ipac.part[k].at);
    free(ipac.bars.at);
    return rc;
}
