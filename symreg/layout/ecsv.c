/* ecsv.c - ECSV (Astropy Proposal for Enhancement 6, "Enhanced Character Separated Values", version
 * 1.0): comments with YAML that has the units of the columns, a header, rows of CSV with blanks or
 * commas between. Tabs are taken, too. */
#include "as_csv.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE = 256, ITEM = 4096 };

/* The text after quotes or a plain word of YAML at `at`. */
static void read_scalar(const char *at, bool flow, char out[VALUE])
{
    const char quote = *at == '"' || *at == '\'' ? *at++ : '\0';
    size_t n = 0;
    for (; *at && n + 1 < VALUE; at++) {
        if (quote && *at == quote && at[1] != quote)
            break;
        at += (quote == '\'' && *at == '\'') || (quote == '"' && *at == '\\' && at[1]);
        if (!quote && (*at == '\n' || (flow && strchr(",}", *at))))
            break;
        out[n++] = *at;
    }
    while (!quote && n && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
}

/* Passes over a quoted text of YAML. */
static const char *skip_quoted(const char *at)
{
    const char quote = *at++;
    for (; *at && *at != quote; at++)
        at += quote == '"' && *at == '\\' && at[1];
    return at;
}

/* Whether a key and ":" stand at `at`; if so *value follows them and the tag of the value. */
static bool is_key(const char *at, const char *key, const char **value)
{
    const size_t length = strlen(key);
    if (strncmp(at, key, length) != 0 || at[length] != ':')
        return false;
    at += length + 1 + strspn(at + length + 1, " \n");
    if (*at == '!')
        at += strcspn(at, " \n{");
    *value = at + strspn(at, " \n");
    return true;
}

/* Reads the value of a key of a mapping, {name: a, unit: AU} or lines of "name: a". */
static bool read_value(const char *item, const char *key, char out[VALUE])
{
    const bool flow = *item == '{';
    const char *value;
    int depth = 0;
    bool start = !flow;
    for (const char *at = item; *at; at++) {
        if (start && depth == flow && is_key(at, key, &value)) {
            if (*value == '{') /* unit: !astropy.units.Unit {unit: m} */
                return read_value(value, key, out);
            read_scalar(value, flow, out);
            return true;
        }
        if (*at == '"' || *at == '\'') {
            at = skip_quoted(at);
            if (!*at)
                return false;
        }
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        start = flow ? (*at == ',' || *at == '{' || (start && *at == ' '))
                     : (*at == '\n' || (start && *at == ' '));
    }
    return false;
}

/* What the comments say. */
struct about {
    char separator; /* '\0': not said */
    char item[ITEM];
    size_t columns;
    bool open; /* in the list of columns */
};

static void end_item(struct about *about, struct sr_made *made)
{
    char unit[VALUE];
    if (!*about->item)
        return;
    if (read_value(about->item, "unit", unit))
        sr_made_unit(made, about->columns, unit, strlen(unit));
    about->columns++;
    *about->item = '\0';
}

/* A line of the comments, without its "#". */
static void read_comment(struct sr_piece text, struct about *about, struct sr_made *made)
{
    char line[ITEM];
    snprintf(line, sizeof line, "%.*s", (int)(text.length < ITEM ? text.length : ITEM - 1),
             text.at);
    const char *at = line + (*line == ' ');
    const size_t indent = strspn(at, " "), used = strlen(about->item);
    if (!strncmp(at, "datatype:", 9)) {
        about->open = true;
    } else if (about->open && !strncmp(at + indent, "- ", 2) && indent < 4) {
        end_item(about, made);
        snprintf(about->item, ITEM, "%s", at + indent + 2);
    } else if (indent && used) {
        snprintf(about->item + used, ITEM - used, "%s%s", *about->item == '{' ? " " : "\n",
                 at + (*about->item == '{' || indent < 2 ? indent : 2));
    } else {
        end_item(about, made);
        about->open = false;
        if (!strncmp(at, "delimiter:", 10))
            about->separator = strchr(at, ',') ? ',' : strstr(at, "\\t") ? '\t' : ' ';
    }
}

static int read_table(const struct sr_source *source, struct sr_line line, char separator,
                      struct sr_pieces *pieces, struct sr_made *made)
{
    if (!sr_split(line.at, line.length, separator, pieces))
        return sr_split_fail(source, &line, pieces);
    sr_made_row(made, line.number);
    for (size_t c = 0; c < pieces->count; c++)
        sr_made_cell(made, pieces->at[c].at, pieces->at[c].length);
    return sr_read_rows(source, line, separator, pieces->count, NULL, made);
}

int sr_read_ecsv(const struct sr_source *source, struct sr_made *made)
{
    struct about *about = orr_alloc(1, sizeof *about);
    struct sr_line line = {.rest = source->text};
    struct sr_pieces pieces = {0};
    if (!about)
        return ORR_ENOMEM;
    bool found = false;
    while (!found && sr_line_next(&line)) {
        found = !sr_line_is_blank(&line) && *line.at != '#';
        if (!found && line.length)
            read_comment((struct sr_piece){line.at + 1, line.length - 1}, about, made);
    }
    end_item(about, made);
    const char separator = about->separator                     ? about->separator
                           : memchr(line.at, '\t', line.length) ? '\t'
                           : memchr(line.at, ',', line.length)  ? ','
                                                                : ' ';
    free(about);
    const int rc = found ? read_table(source, line, separator, &pieces, made)
                         : ORR_FAIL(ORR_EFORMAT, "%s: ECSV without a header row", source->name);
    free(pieces.at);
    return rc;
}
