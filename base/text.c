/* text.c - untrusted texts as single lines, spelling help by edit distance, the program folder. */
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t orr_character(const char *text, uint32_t *code)
{
    const unsigned char *c = (const unsigned char *)text;
    const size_t bytes = *c < 0x80 ? 1 : *c >= 0xf0 ? 4 : *c >= 0xe0 ? 3 : *c >= 0xc2 ? 2 : 0;
    *code = bytes == 1 ? *c : bytes ? *c & (0x7fu >> bytes) : 0;
    for (size_t i = 1; i < bytes; i++) {
        if ((c[i] & 0xc0) != 0x80) { /* a character's first byte, or the end of the text */
            *code = 0;
            return 1;
        }
        *code = *code << 6 | (c[i] & 0x3fu);
    }
    return bytes ? bytes : 1;
}

size_t orr_unseen(const char *c)
{
    /* Unicode 15: Default_Ignorable_Code_Point, Bidi_Control, the line and paragraph separators,
     * interlinear annotations, and two letters without ink */
    static const uint32_t range[][2] = {
        {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},    {0x61c, 0x61c},
        {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},  {0x200b, 0x200f},
        {0x2028, 0x202e},   {0x2060, 0x206f},   {0x2800, 0x2800},  {0x3164, 0x3164},
        {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},  {0xfff0, 0xfffb},
        {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
    uint32_t code;
    const size_t bytes = *c ? orr_character(c, &code) : 0;
    if (!bytes)
        return 0;
    if (!code) /* not UTF-8; terminals of one byte a character take 0x9b for U+009B */
        return (unsigned char)*c < 0xa0;
    bool unseen = code < ' ';
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        unseen = unseen || (code >= range[i][0] && code <= range[i][1]);
    return unseen ? bytes : 0;
}

bool orr_is_seen(const char *text)
{
    uint32_t code;
    while (*text && !orr_unseen(text))
        text += orr_character(text, &code);
    return !*text;
}

bool orr_is_label(const char *text)
{
    return orr_is_seen(text) && !strchr(text, '|');
}

int orr_digits(double a, double b)
{
    char first[32], second[32];
    snprintf(first, sizeof first, "%.9g", a);
    snprintf(second, sizeof second, "%.9g", b);
    return (a < b || a > b) && !strcmp(first, second) ? 17 : 9;
}

bool orr_whole(const char *text, long low, long high, long *value)
{
    const char *digits = text + (low < 0 && *text == '-');
    errno = 0;
    const long number = strtol(text, NULL, 10);
    if (!*digits || digits[strspn(digits, "0123456789")] || errno || number < low || number > high)
        return false;
    *value = number;
    return true;
}

bool orr_ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length > tail && !strcmp(text + length - tail, end);
}

void orr_one_line(char *text)
{
    uint32_t code;
    while (*text) {
        const size_t unseen = orr_unseen(text);
        if (!unseen)
            text += orr_character(text, &code);
        else if (*text == '\n' || *text == '\t')
            *text++ = ' ';
        else
            for (size_t i = 0; i < unseen; i++)
                *text++ = '?';
    }
}

const char *orr_shown(char *buffer, size_t bytes, const char *text)
{
    snprintf(buffer, bytes, "%s", text);
    orr_one_line(buffer);
    return buffer;
}

void orr_append(char *text, size_t bytes, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, bytes - used, format, args);
    va_end(args);
}

void orr_append_quoted(char *text, size_t bytes, const char *cell)
{
    orr_append(text, bytes, "\"");
    for (const char *c = cell; *c; c++)
        orr_append(text, bytes, *c == '"' ? "\"\"" : "%c", *c);
    orr_append(text, bytes, "\"");
}

void orr_print_quoted(FILE *out, const char *cell)
{
    putc('"', out);
    for (const char *c = cell; *c; c++)
        fprintf(out, *c == '"' ? "\"\"" : "%c", *c);
    putc('"', out);
}

enum { WORD = 64 };

/* Levenshtein distance by one row of its table; long words are not compared. */
static int edit_distance(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    int row[WORD + 1];
    if (n > WORD || m > WORD)
        return WORD;
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            const int change = diagonal + (a[i - 1] != b[j - 1]);
            const int insert = row[j - 1] + 1, erase = row[j] + 1;
            diagonal = row[j];
            row[j] = change < insert ? change : insert;
            row[j] = row[j] < erase ? row[j] : erase;
        }
    }
    return row[m];
}

/* The largest distance that counts as a misspelling: half of the longer word without its dashes, at
 * most 2, or 3 of longer words ("predict" is no misspelt "verdict"). */
static int most_distant(const char *a, const char *b)
{
    const size_t n = strlen(a + strspn(a, "-")), m = strlen(b + strspn(b, "-"));
    const size_t longer = n > m ? n : m;
    return longer < 4 ? (int)longer / 2 : longer < 9 ? 2 : 3;
}

/* Whether the word begins the candidate and the rest has no further part: "orbits.ext" begins
 * "orbits.extent". */
static bool begins_with(const char *word, const char *candidate)
{
    const size_t n = strlen(word);
    return strlen(word + strspn(word, "-")) > 1 && !strncmp(word, candidate, n) &&
           !strchr(candidate + n, '.');
}

void orr_nearest_offer(struct orr_nearest *nearest, const char *word, const char *candidate)
{
    const int distance = begins_with(word, candidate) ? 1 : edit_distance(word, candidate);
    const int far = most_distant(word, candidate);
    if (distance > far || (nearest->name && distance >= nearest->distance))
        return;
    nearest->name = candidate;
    nearest->distance = distance;
}

void orr_nearest_text(const struct orr_nearest *nearest, char text[128])
{
    *text = '\0';
    if (nearest->name)
        snprintf(text, 128, " (did you mean \"%.80s\"?)", nearest->name);
}

int orr_program_folder(char path[4096])
{
    const ssize_t length = readlink("/proc/self/exe", path, 4095);
    if (length <= 0)
        return 1;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash)
        return 1;
    *slash = '\0';
    return 0;
}
