/* export_names.c - unique names of columns for C and SymPy that are not reserved there. A column
 * keeps its own name where possible. */
#include "solve.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 48 }; /* bytes of a generated name, without its number */

static bool is_word(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return isalpha((unsigned char)*name) && strlen(name) < SR_EXPORT_NAME;
}

static bool is_taken(const struct sr_export *export, const char *name)
{
    for (int f = 0; f < export->features; f++)
        if (!strcmp(export->name[f], name))
            return true;
    return false;
}

/* Keeps letters and digits and replaces other characters between them by "_". A name without
 * letters or digits becomes "x" and the column's number; a name that starts with a digit gets the
 * prefix "x". */
static void clean_name(const char *column, int number, char out[SR_EXPORT_NAME])
{
    size_t n = 0;
    bool gap = false;
    for (const char *c = column; *c && n < LONGEST; c++) {
        const bool kept = isalnum((unsigned char)*c);
        if (kept && n == 0 && isdigit((unsigned char)*c))
            out[n++] = 'x';
        if (kept && gap && n > 0)
            out[n++] = '_';
        if (kept)
            out[n++] = *c;
        gap = !kept;
    }
    out[n] = '\0';
    if (n == 0)
        snprintf(out, SR_EXPORT_NAME, "x%d", number);
}

/* Makes the cleaned name unique: adds "_" where it is reserved, a number where it is taken. */
static void make_name(struct sr_export *export, int f)
{
    char stem[SR_EXPORT_NAME], name[SR_EXPORT_NAME];
    clean_name(export->column[f], f + 1, stem);
    if (sr_export_reserved(stem))
        strcat(stem, "_");
    strcpy(name, stem);
    for (int k = 2; sr_export_reserved(name) || is_taken(export, name); k++)
        snprintf(name, sizeof name, "%.*s_%d", LONGEST + 2, stem, k);
    strcpy(export->name[f], name);
}

void sr_export_make(struct sr_export *export, const char *const *columns, int features)
{
    memset(export, 0, sizeof *export);
    export->column = columns;
    export->features = features;
    for (int f = 0; f < features; f++)
        if (is_word(columns[f]) && !sr_export_reserved(columns[f]) && !is_taken(export, columns[f]))
            strcpy(export->name[f], columns[f]);
    for (int f = 0; f < features; f++)
        if (!*export->name[f])
            make_name(export, f);
}

bool sr_export_renamed(const struct sr_export *export, int f)
{
    return strcmp(export->name[f], export->column[f]) != 0;
}

bool sr_notation_typeset(enum sr_notation notation)
{
    return notation == SR_LATEX || notation == SR_MATHML || notation == SR_INFIX;
}

void sr_expr_write(const struct sr_language *language, const struct sr_expr *expr,
                   enum sr_notation notation, const struct sr_export *names, char *text,
                   size_t bytes)
{
    const char *exported[SR_FEATURES];
    for (int f = 0; f < names->features; f++)
        exported[f] = names->name[f];
    sr_expr_text(language, expr, notation,
                 sr_notation_typeset(notation) || notation == SR_PRINTED ? names->column : exported,
                 text, bytes);
}
