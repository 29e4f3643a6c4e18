/* foreign.h - files that are no table of text. */
#ifndef ORR_FOREIGN_H
#define ORR_FOREIGN_H

#include <stddef.h>

/* Refuses, with ORR_EFORMAT, a file of a format that no reader of tables here takes: compressed and
 * binary files, XML, HTML, LaTeX, JSON. The message names it and a command that converts it. 0: it
 * is none of these. text: NUL-terminated. */
int orr_foreign_refuse(const char *path, const char *text, size_t bytes);

#endif
