/* missing_cells.c - which cells are missing values: the words of programs, and the marks of tables
 * in journals and archives. */
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

/* Whether a text is the day that databases have for "never", with or without a time. */
static bool is_last_day(const char *text)
{
    static const char day[] = "9999-12-31";
    const size_t length = sizeof day - 1;
    return !strncmp(text, day, length) && (!text[length] || strchr("T ", text[length]));
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
    if (is_mark(cell + first, length - first) || is_last_day(cell + first))
        return true;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (length - first == strlen(word[i]) &&
            !strncasecmp(cell + first, word[i], length - first))
            return true;
    return false;
}
