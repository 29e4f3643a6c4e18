/* text.h - names, labels and untrusted texts; the nearest of several names. */
#ifndef ORR_TEXT_H
#define ORR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct orr_file;

/* Whether a text is a safe name of a file inside a folder: not empty, no "/", no unseen character,
 * neither "." nor "..". For names read from files. */
bool orr_is_name(const char *text);
/* Whether a text is a safe path of a file in a folder or below it: such names, separated by "/". */
bool orr_is_inside(const char *path);
/* Whether a text can stand unchanged in a line and in a cell of a Markdown table: no unseen
 * characters (orr_unseen()), no "|". */
bool orr_is_label(const char *text);
/* Writes an untrusted text as a code span of Markdown, in which it cannot act as markup or HTML; in
 * a cell of a table "|" is escaped. Unseen characters become "?". */
int orr_markdown_code(struct orr_file *file, const char *text, bool cell);
/* Whether a text, longer than `end`, ends in it: "a.csv" in ".csv". */
bool orr_ends_in(const char *text, const char *end);
/* Whether a text is a whole number from low to high: digits alone, after a "-" if low is below 0
 * (strtol() would skip blanks and take a "+"). *value is only then set. */
bool orr_whole(const char *text, long low, long high, long *value);
/* The digits of %.*g that tell two numbers apart in a message: 9, or 17 where these show the same
 * text. */
int orr_digits(double a, double b);
/* Writes a word for a shell into word[bytes]: the text itself where it is plain, else between
 * quotes, in which a quote becomes '\''. ORR_EINVAL where it does not fit. */
int orr_shell_word(char *word, size_t bytes, const char *text);
/* Turns a text into one line: line breaks and tabs become spaces, every byte of other unseen
 * characters "?". */
void orr_one_line(char *text);
/* An untrusted text for a terminal: copied into the buffer, cut where it does not fit, as one line.
 * Returns the buffer. */
const char *orr_shown(char *buffer, size_t bytes, const char *text);
/* Appends to the text in a buffer of `bytes` bytes; what does not fit is cut. */
void orr_append(char *text, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A text in quotes, those inside doubled, as a cell of CSV or a name in a list (RFC 4180). */
void orr_append_quoted(char *text, size_t bytes, const char *cell);
void orr_print_quoted(FILE *out, const char *cell);

/* Length in bytes of the UTF-8 character at `text`, and its code; 1 with code 0 where it is not
 * UTF-8. */
size_t orr_character(const char *text, uint32_t *code);
/* Bytes of the character at `c` where a reader would not see it as it is: controls, which terminals
 * take for commands (C0, DEL, C1), and what has no ink or turns the line around (zero-width and
 * bidirectional marks, variation selectors, separators of lines). Else, and at the end, 0. */
size_t orr_unseen(const char *c);
/* Whether all characters of a text are seen. */
bool orr_is_seen(const char *text);

/* The candidate nearest to a mistyped word by edit distance; name is NULL if none is near. */
struct orr_nearest {
    const char *name;
    int distance;
};
void orr_nearest_offer(struct orr_nearest *nearest, const char *word, const char *candidate);
/* Writes " (did you mean "NAME"?)"; "" if none is near. */
void orr_nearest_text(const struct orr_nearest *nearest, char text[128]);
/* Writes the folder of the running program into path[4096]; 0 if it is known. */
int orr_program_folder(char path[4096]);

#endif
