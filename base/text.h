/* text.h - names, labels and texts of strangers; the nearest of some names. */
#ifndef ORR_TEXT_H
#define ORR_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct orr_file;

/* Whether a text can be the name of a file in a folder and lead nowhere else: not empty, no "/", no
 * control character, neither "." nor "..". For names that stand in files. */
bool orr_is_name(const char *text);
/* The same of a file in a folder or below it: names with "/" between them. */
bool orr_is_inside(const char *path);
/* Whether a text of a file can stand in a line and in a cell of a Markdown table as it is: no
 * control characters (also of 8 bits, as UTF-8 has them), no "|". */
bool orr_is_label(const char *text);
/* Writes a text of strangers as a code span of Markdown, in which nothing of it is markup or HTML;
 * in a cell of a table "|" is escaped. Control characters are as orr_one_line() makes them. */
int orr_markdown_code(struct orr_file *file, const char *text, bool cell);
/* Makes one line of a text: a space for a line break or tab, "?" for other control characters. */
void orr_one_line(char *text);

/* Whether a control character begins there: C0, DEL, and C1 as UTF-8 has it, since terminals take
 * U+009B for the begin of a command. */
bool orr_is_control(const char *c);

/* The candidate nearest to a mistyped word by edit distance; name is NULL while none is near. */
struct orr_nearest {
    const char *name;
    int distance;
};
void orr_nearest_offer(struct orr_nearest *nearest, const char *word, const char *candidate);
/* " (did you mean "NAME"?)" into text; "" while none is near. */
void orr_nearest_text(const struct orr_nearest *nearest, char text[128]);
/* Folder of the running program into path[4096]; 0 when known. */
int orr_program_folder(char path[4096]);

#endif
