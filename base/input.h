/* input.h - text that a user hands over: a file, a compressed file, or standard input. */
#ifndef ORR_INPUT_H
#define ORR_INPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a file name stands for standard input: "-". */
bool orr_input_is_standard(const char *path);
/* What messages call it: the path, "standard input" for "-". */
const char *orr_input_name(const char *path);
/* The whole text, NUL-terminated; free() it. Bytes that begin as gzip's do are decompressed (RFC
 * 1952, any number of members), whatever the name. Errors of orr_file_read(); a damaged or cut
 * member is ORR_EFORMAT; a signal while standard input waits is ORR_EINTR. */
int orr_input_read(const char *path, char **text, size_t *bytes);

#endif
