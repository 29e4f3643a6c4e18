/* input.h - reads input of a user: a file, a compressed file, or standard input. */
#ifndef ORR_INPUT_H
#define ORR_INPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a file name stands for standard input: "-". */
bool orr_input_is_standard(const char *path);
/* The name in messages: the path, or "standard input" for "-". */
const char *orr_input_name(const char *path);
/* Whether a path can be read only once: standard input, and a pipe that the process has open, as
 * a shell's <(COMMAND), which is /dev/fd/63. */
bool orr_input_is_read_once(const char *path);
/* Whether there is no file PATH, but PATH.gz, which orr_input_read() reads in its place. */
bool orr_input_is_packed(const char *path);
/* Reads the whole text, NUL-terminated; free() it. Content that begins with gzip's two bytes is
 * decompressed whatever the file's name (RFC 1952, any number of members), up to 2048 MB, or
 * $ORRERY_UNPACK_MB. Errors as orr_file_read(); ORR_EFORMAT for a damaged or truncated member and
 * for one that holds more; ORR_EUSAGE for a limit that is no number; ORR_EINTR for a signal while
 * it waits for a pipe. */
int orr_input_read(const char *path, char **text, size_t *bytes);

#endif
