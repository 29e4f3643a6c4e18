/* input.h - reads input of a user: a file, a compressed file, or standard input. */
#ifndef ORR_INPUT_H
#define ORR_INPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a file name stands for standard input: "-". */
bool orr_input_is_standard(const char *path);
/* The name in messages: the path, or "standard input" for "-". */
const char *orr_input_name(const char *path);
/* Reads the whole text, NUL-terminated; free() it. Content that begins with gzip's two bytes is
 * decompressed whatever the file's name (RFC 1952, any number of members). Errors as
 * orr_file_read(); ORR_EFORMAT for a damaged or truncated member; ORR_EINTR for a signal while it
 * waits for standard input. */
int orr_input_read(const char *path, char **text, size_t *bytes);

#endif
