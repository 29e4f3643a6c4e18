/* swap_file.c - somebody else replaces a file between two looks at it: preloaded into a program, it
 * runs a command before the n-th time that the program opens a file of some name.
 *
 *   LD_PRELOAD=swap_file.so SWAP_FILE=NAME SWAP_AT=n SWAP_BY=COMMAND SWAP_REPORT=FILE program ...
 *
 * SWAP_REPORT gets a line per time that the file was opened, also without a command. */
#define _GNU_SOURCE
#include <dlfcn.h>
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
    const char *report = getenv("SWAP_REPORT"), *slash = strrchr(path, '/');
    if (!name || strcmp(slash ? slash + 1 : path, name))
        return;
    const int fd = report ? next_open(report, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    if (fd >= 0 && write(fd, "opened\n", 7) != 7)
        abort();
    if (fd >= 0)
        close(fd);
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
    if (!next_open) {
        void *symbol = dlsym(RTLD_NEXT, "open");
        if (!symbol)
            abort();
        memcpy(&next_open, &symbol, sizeof symbol);
    }
    meet(path);
    return next_open(path, flags, mode);
}
