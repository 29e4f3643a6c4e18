/* preload.h - what the preloaded libraries of these tests share: the function that stands behind a
 * replaced one, and reports. Included after _GNU_SOURCE was defined. */
#ifndef TESTS_KILL_PRELOAD_H
#define TESTS_KILL_PRELOAD_H

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The next function of that name, as the C library's; to: a pointer to a function pointer. */
static inline void preload_next(const char *name, void *to)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    if (!symbol)
        abort();
    memcpy(to, &symbol, sizeof symbol);
}

/* The file that the variable names, to append to; -1: none. */
static inline int preload_open_report(const char *variable)
{
    const char *to = getenv(variable);
    return to ? open(to, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
}

static inline void preload_report(const char *variable, const char *line)
{
    const int fd = preload_open_report(variable);
    if (fd < 0)
        return;
    if (write(fd, line, strlen(line)) != (ssize_t)strlen(line))
        abort();
    close(fd);
}

#endif
