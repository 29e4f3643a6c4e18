/* ruled.c - tables of fixed width whose columns stand under the parts of a rule of dashes:
 * astropy's fixed_width_two_line, simple tables of reStructuredText. */
#include "as_csv.h"

#include <stdlib.h>
#include <string.h>

/* Where the parts of the rule begin, in characters: the `length` of each piece. */
static bool find_starts(const struct sr_line *rule, struct sr_pieces *starts)
{
    for (size_t i = 0; i < rule->length; i++)
        if (rule->at[i] != ' ' && (i == 0 || rule->at[i - 1] == ' ') &&
            !sr_pieces_add(starts, rule->at + i, i))
            return false;
    return true;
}

static int read_line(const struct sr_source *source, const struct sr_line *line,
                     const struct sr_pieces *starts, struct sr_made *made)
{
    sr_made_row(made, line->number);
    for (size_t c = 0; c < starts->count; c++) {
        const size_t from = c ? starts->at[c].length : 0;
        const size_t to = c + 1 < starts->count ? starts->at[c + 1].length : SIZE_MAX;
        const struct sr_piece before = from ? sr_slice(line, from - 1, from) : (struct sr_piece){0};
        const struct sr_piece cell = sr_slice(line, from, to);
        if (before.length && cell.length && *before.at != ' ' && *cell.at != ' ')
            return ORR_FAIL(ORR_EFORMAT,
                            "%s:%zu: column %zu: expected a blank before character %zu, where the "
                            "rule of the table begins this column",
                            source->name, line->number, c + 1, from + 1);
        sr_made_cell(made, cell.at, cell.length);
    }
    return 0;
}

int sr_read_ruled(const struct sr_source *source, struct sr_made *made)
{
    struct sr_line line = {.rest = source->text}, rule = line;
    struct sr_pieces starts = {0};
    int rc = 0;
    while (sr_line_content(&rule, NULL) && !sr_line_is_rule(&rule))
        ;
    if (!rule.at || !find_starts(&rule, &starts))
        rc = ORR_FAIL(ORR_ENOMEM, "%s: out of memory", source->name);
    while (!rc && !made->failed && sr_line_content(&line, NULL))
        if (!sr_line_is_rule(&line))
            rc = read_line(source, &line, &starts, made);
    free(starts.at);
    return rc;
}
