/* missing.c - which cells are missing values: the words of programs, and the marks of tables in
 * journals and archives. */
#include "layout.h"

#include <string.h>
#include <strings.h>

/* Whether a text is dashes or dots alone, as "--" of astropy and "..." of the AAS. */
static bool is_mark(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] != text[0] || !strchr("-.", text[i]))
            return false;
    return true;
}

bool sr_cell_is_missing(const char *cell)
{
    static const char *const word[] = {"NA",
                                       "N/A",
                                       "n.a.",
                                       "NaN",
                                       "-NaN",
                                       "null",
                                       "None",
                                       "<NA>",
                                       "#N/A",
                                       "NaT",
                                       "\\nodata",
                                       "nodata",
                                       "no data",
                                       "\\N",
                                       "?",
                                       "missing",
                                       "\xe2\x80\xa6" /* … */,
                                       "\xe2\x80\x94" /* — */,
                                       "\xe2\x80\x93" /* – */,
                                       "\\ldots",
                                       "$\\cdots$",
                                       "(null)"};
    const size_t first = strspn(cell, " \t");
    size_t length = strlen(cell);
    while (length > first && strchr(" \t", cell[length - 1]))
        length--;
    if (is_mark(cell + first, length - first))
        return true;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (length - first == strlen(word[i]) &&
            !strncasecmp(cell + first, word[i], length - first))
            return true;
    return false;
}
