/* fail_write.c - a disk that fails on demand: preloaded into a program, it counts everything that
 * the program does to files it writes, and makes the n-th of these fail, or kills there.
 *
 *   LD_PRELOAD=fail_write.so FAIL_AT=n FAIL_HOW=full|once|kill FAIL_REPORT=FILE program ...
 *
 * Counted, in the order of the calls: opening a file to write, every write(2) of a stream, fsync of
 * a file (of a folder: not, it may fail), rename. full: this and all later ones fail with ENOSPC,
 * as on a full disk, writes after half of their bytes; once: this one alone, with EIO; kill: the
 * process ends there as by kill -9, a write after half of its bytes. FAIL_AT=0: nothing fails.
 * FAIL_REPORT gets a line "<n> <operation> <path>" per operation. Closing a file whose path holds
 * the text of FAIL_CLOSE fails with EDQUOT, as over a quota; that is not counted.
 *
 * Streams are replaced by ones of our own, since what the C library does inside its own streams
 * cannot be reached from outside. One thread writes at a time in the programs tested. */
#define _GNU_SOURCE
#include "preload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STREAMS = 32, PATH = 4200 };
struct stream {
    FILE *file;
    int fd;
    char path[PATH];
};
static struct stream streams[STREAMS];
static long count;

static void report(long n, const char *operation, const char *path)
{
    char line[PATH + 64];
    snprintf(line, sizeof line, "%ld %s %s\n", n, operation, path);
    preload_report("FAIL_REPORT", line);
}

enum verdict { GO_ON, FAIL, DIE };
/* What becomes of the next operation; errno is set for FAIL. */
static enum verdict judge(const char *operation, const char *path)
{
    const char *text = getenv("FAIL_AT"), *how = getenv("FAIL_HOW");
    const long at = text ? strtol(text, NULL, 10) : 0, n = ++count;
    report(n, operation, path);
    if (at <= 0 || !how || n < at)
        return GO_ON;
    if (!strcmp(how, "kill"))
        return DIE;
    if (!strcmp(how, "once") && n > at)
        return GO_ON;
    errno = strcmp(how, "once") ? ENOSPC : EIO;
    return FAIL;
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/* ---------------------------------------------------------------------------- our streams */

static ssize_t stream_write(void *cookie, const char *bytes, size_t size)
{
    struct stream *s = cookie;
    const enum verdict verdict = judge("write", s->path);
    const int error = errno;
    const ssize_t done = write(s->fd, bytes, verdict == GO_ON ? size : size / 2);
    if (verdict == DIE)
        die();
    errno = verdict == FAIL ? error : errno;
    return verdict == GO_ON ? done : 0; /* 0 is an error to the C library here */
}

static int stream_close(void *cookie)
{
    struct stream *s = cookie;
    const char *fails = getenv("FAIL_CLOSE");
    const int rc = close(s->fd);
    s->file = NULL;
    if (!fails || !strstr(s->path, fails))
        return rc;
    errno = EDQUOT;
    return -1;
}

FILE *fopen(const char *path, const char *mode)
{
    FILE *(*real)(const char *, const char *);
    preload_next("fopen", &real);
    if (*mode == 'r' || !strncmp(path, "/proc/", 6))
        return real(path, mode);
    const enum verdict verdict = judge("open", path);
    if (verdict == DIE)
        die();
    if (verdict == FAIL)
        return NULL;
    struct stream *s = streams;
    while (s < streams + STREAMS && s->file)
        s++;
    if (s == streams + STREAMS)
        abort();
    s->fd = open(path, O_WRONLY | O_CREAT | (*mode == 'a' ? O_APPEND : O_TRUNC), 0666);
    if (s->fd < 0)
        return NULL;
    snprintf(s->path, sizeof s->path, "%s", path);
    s->file =
        fopencookie(s, mode, (cookie_io_functions_t){.write = stream_write, .close = stream_close});
    return s->file;
}

int fileno(FILE *file)
{
    for (int i = 0; i < STREAMS; i++)
        if (streams[i].file == file)
            return streams[i].fd;
    int (*real)(FILE *);
    preload_next("fileno", &real);
    return real(file);
}

/* ----------------------------------------------------------------------- the other calls */

int fsync(int fd)
{
    struct stat info;
    char link[64], path[PATH] = "?";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 1 : length] = '\0';
    if (!fstat(fd, &info) && S_ISREG(info.st_mode)) {
        const enum verdict verdict = judge("fsync", path);
        if (verdict == DIE)
            die();
        if (verdict == FAIL)
            return -1;
    }
    int (*real)(int);
    preload_next("fsync", &real);
    return real(fd);
}

int rename(const char *from, const char *to)
{
    const enum verdict verdict = judge("rename", to);
    if (verdict == DIE)
        die();
    if (verdict == FAIL)
        return -1;
    int (*real)(const char *, const char *);
    preload_next("rename", &real);
    return real(from, to);
}
