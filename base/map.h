/* map.h - mapped files, and the signal that one cannot be read (inside base/ only). */
#ifndef ORR_MAP_H
#define ORR_MAP_H

#include <stdbool.h>
#include <stddef.h>

/* Opens a regular file to read: ORR_EMISSING, ORR_EIO, as orr_file_map(). */
int orr_open_regular(const char *path, int *fd, size_t *bytes);
/* For a handler of SIGBUS, async-signal-safe: whether the address lies in a mapped file. Then a
 * line on stderr says which, and that it became shorter, or could not be read. */
bool orr_map_lost(const void *address);

#endif
