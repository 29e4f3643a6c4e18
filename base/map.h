/* map.h - mapped files and the handling of SIGBUS (inside base/ only). */
#ifndef ORR_MAP_H
#define ORR_MAP_H

#include <stdbool.h>
#include <stddef.h>

/* Opens a regular file to read. ORR_EMISSING, ORR_EIO as orr_file_map(). */
int orr_open_regular(const char *path, int *fd, size_t *bytes);
/* For the SIGBUS handler, async-signal-safe: whether the address lies in a mapped file. If so,
 * prints to stderr which file, and whether it became shorter or could not be read. */
bool orr_map_lost(const void *address);

#endif
