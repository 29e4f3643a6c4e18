/* text.c - untrusted texts as single lines and Markdown; spelling help by edit distance; the
 * program's folder. */
#include "error.h"
#include "file.h"
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool orr_is_control(const char *c)
{
    const unsigned char first = (unsigned char)c[0], second = (unsigned char)c[1];
    return first < ' ' || first == 127 || (first == 0xc2 && second >= 0x80 && second < 0xa0);
}

bool orr_is_label(const char *text)
{
    for (const char *c = text; *c; c++)
        if (orr_is_control(c) || *c == '|')
            return false;
    return true;
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
    for (char *c = text; *c; c++) {
        const bool is_two = (unsigned char)*c >= 0x80;
        if (!orr_is_control(c))
            continue;
        *c = *c == '\n' || *c == '\t' ? ' ' : '?';
        if (is_two)
            c[1] = '?';
    }
}

/* Fences the text by more backticks than it has in a row, with blanks where it begins or ends with
 * one. */
void orr_append(char *text, size_t bytes, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, bytes - used, format, args);
    va_end(args);
}

int orr_markdown_code(struct orr_file *file, const char *text, bool cell)
{
    size_t fence = 1, run = 0;
    for (const char *c = text; *c; c++) {
        run = *c == '`' ? run + 1 : 0;
        fence = run >= fence ? run + 1 : fence;
    }
    const size_t bytes = strlen(text);
    const bool pads = !bytes || strchr("` ", text[0]) || strchr("` ", text[bytes - 1]);
    for (size_t i = 0; i < fence; i++)
        TRY(orr_file_write(file, "`", 1));
    TRY(orr_file_write(file, " ", pads));
    for (const char *c = text; *c; c++) {
        if (!orr_is_control(c)) {
            TRY(cell && *c == '|' ? orr_file_write(file, "\\|", 2) : orr_file_write(file, c, 1));
            continue;
        }
        TRY(orr_file_write(file, *c == '\n' || *c == '\t' ? " " : "?", 1));
        c += (unsigned char)*c >= 0x80; /* C1 controls have two bytes */
    }
    TRY(orr_file_write(file, " ", pads));
    for (size_t i = 0; i < fence; i++)
        TRY(orr_file_write(file, "`", 1));
    return 0;
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
 * most 3. */
static int most_distant(const char *a, const char *b)
{
    const size_t n = strlen(a + strspn(a, "-")), m = strlen(b + strspn(b, "-"));
    const size_t half = (n > m ? n : m) / 2;
    return half < 3 ? (int)half : 3;
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
