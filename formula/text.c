/* text.c - names of columns, plain and quoted, and numbers as texts. */
#include "expr.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names */

/* Length of a word. All non-ASCII characters count as letters. */
static size_t word_length(const char *at)
{
    size_t length = 0;
    if (isdigit((unsigned char)*at))
        return 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] & 0x80)
        length++;
    return length;
}

/* Length of an index after a word, as in c1[star]; 0: none. */
static size_t index_length(const char *at)
{
    size_t length = 1;
    if (*at != '[')
        return 0;
    while (isdigit((unsigned char)at[length]) || word_length(at + length))
        length++;
    return length > 1 && at[length] == ']' ? length + 1 : 0;
}

size_t sr_name_length(const char *text)
{
    const size_t word = word_length(text);
    return word + (word ? index_length(text + word) : 0);
}

bool sr_name_is_plain(const struct sr_language *language, const char *name)
{
    const size_t length = sr_name_length(name);
    enum sr_op op;
    return length > 0 && !name[length] && !sr_op_seek(language, name, &op, NULL);
}

size_t sr_name_quoted(const char *text)
{
    size_t length = 1;
    if (*text != '"')
        return 0;
    for (; text[length]; length++)
        if (text[length] == '"' && text[++length] != '"')
            return length;
    return 0;
}

bool sr_name_read(const char *text, size_t length, char *name, size_t bytes)
{
    size_t n = 0;
    for (; length && *text == ' '; length--)
        text++;
    while (length && text[length - 1] == ' ')
        length--;
    const size_t quoted = length ? sr_name_quoted(text) : 0;
    if (length && *text == '"' && quoted != length)
        return false; /* unclosed quotes, or text after them */
    for (size_t i = quoted > 0; i < length - (quoted > 0); i++) {
        if (n + 1 >= bytes)
            return false;
        name[n++] = text[i];
        i += quoted && text[i] == '"'; /* skip the second of a doubled quote */
    }
    name[n] = '\0';
    return quoted || n > 0;
}

bool sr_name_next(const char **list, char *name, size_t bytes)
{
    const char *const at = *list + strspn(*list, " ");
    size_t length = sr_name_quoted(at);
    length += strcspn(at + length, ",");
    *list = at[length] ? at + length + 1 : NULL;
    return sr_name_read(at, length, name, bytes);
}

int sr_number_print(double value, char text[SR_NUMBER])
{
    enum { MOST = 17 };
    static const double large = 1e7; /* from here on powers of ten are shorter to read */
    for (int digits = 1;; digits++) {
        snprintf(text, SR_NUMBER, "%.*g", digits, value);
        const double back = strtod(text, NULL);
        if ((back < value || back > value) && digits < MOST)
            continue;
        if (fabs(value) < large && fabs(value) >= 1 && strchr(text, 'e'))
            snprintf(text, SR_NUMBER, "%.0f", value); /* 30, not 3e+01: a whole number */
        return digits;
    }
}

double sr_round_digits(double value, int digits)
{
    char text[SR_NUMBER];
    snprintf(text, sizeof text, "%.*g", digits, value);
    return strtod(text, NULL);
}

double sr_fewest_digits(double value, double share, int most)
{
    for (int digits = 1; digits <= most; digits++) {
        const double candidate = sr_round_digits(value, digits);
        if (fabs(candidate - value) <= share * fabs(value))
            return candidate;
    }
    return value;
}
