/* swap_file.c - somebody else replaces a file between two looks at it: preloaded into a program, it
 * runs a command before the n-th time that the program opens a file of some name.
 *
 *   LD_PRELOAD=swap_file.so SWAP_FILE=NAME SWAP_AT=n SWAP_BY=COMMAND SWAP_REPORT=FILE program ...
 *
 * SWAP_REPORT gets a line per time that the file was opened, also without a command. */
#define _GNU_SOURCE
#include "preload.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int (*next_open)(const char *path, int flags, ...);
static long count;

static void meet(const char *path)
{
    const char *name = getenv("SWAP_FILE"), *at = getenv("SWAP_AT"), *by = getenv("SWAP_BY");
    const char *slash = strrchr(path, '/');
    if (!name || strcmp(slash ? slash + 1 : path, name))
        return;
    preload_report("SWAP_REPORT", "opened\n");
    if (!by || !at || ++count != strtol(at, NULL, 10))
        return;
    unsetenv("LD_PRELOAD");
    if (system(by))
        abort();
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (!next_open)
        preload_next("open", &next_open);
    meet(path);
    return next_open(path, flags, mode);
}
