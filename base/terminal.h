/* terminal.h - what fits on a terminal: its size, and texts cut to a width. */
#ifndef ORR_TERMINAL_H
#define ORR_TERMINAL_H

#include <stdbool.h>

/* The size of the terminal of stderr in characters; 24 rows of 80 columns where it is not known or
 * too small for a view. */
void orr_terminal_size(int *rows, int *columns);
/* Bytes of the characters that fit into `cells` cells of a terminal; characters from the Hangul
 * letters on are taken for two cells wide. */
int orr_bytes_within(const char *text, int cells);

/* Whether stderr shows colours: a terminal other than "dumb", and NO_COLOR is unset or empty
 * (no-color.org). */
bool orr_terminal_colours(void);
/* Codes of the terminal, and ORR_PLAIN, which ends them; write them where colours are shown. */
#define ORR_BOLD  "\033[1m"
#define ORR_RED   "\033[1;31m"
#define ORR_PLAIN "\033[0m"

#endif
