/* gnuplot.c - draws figures by gnuplot: finds the program and its scripts, and checks both its exit
 * status and that the picture is whole. A PNG gets a palette (png.h). */
#include "data.h"
#include "error.h"
#include "file.h"
#include "gnuplot.h"
#include "png.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
    COMPLAINTS = 4096, /* bytes kept of gnuplot's messages */
    WORD = ORR_TEMPORARY + 2
};

/* --------------------------------------------------------------- finding gnuplot and scripts */

static bool is_program(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

static int find_gnuplot(char found[4096])
{
    const char *folders = getenv("PATH");
    while (folders && *folders) {
        const size_t length = strcspn(folders, ":");
        if (!orr_path(found, "%.*s/gnuplot", (int)length, folders) && is_program(found))
            return 0;
        folders += length + (folders[length] == ':');
    }
    return ORR_FAIL(ORR_EMISSING, "gnuplot: not found in PATH; install it (package gnuplot-nox) or "
                                  "run make deps");
}

int orr_figures_path(const char *name, char path[4096])
{
    const char *named = getenv("ORRERY_FIGURES");
    if (named && *named) {
        const int rc = orr_path(path, "%s/%s", named, name);
        return rc || orr_exists(path)
                   ? rc
                   : ORR_FAIL(ORR_EMISSING, "%s: no %s in this folder ($ORRERY_FIGURES)", named,
                              name);
    }
    return orr_data_path("figures", name, path); /* never ./figures: every run has such a folder */
}

bool orr_gnuplot_is_there(void)
{
    char path[4096];
    const bool there = !find_gnuplot(path);
    if (!there)
        orr_error_clear();
    return there;
}

int orr_gnuplot_check(const char *script)
{
    char path[4096];
    const int rc = find_gnuplot(path);
    return rc ? rc : orr_figures_path(script, path);
}

/* ---------------------------------------------------------------------------- the process */

static int cannot_start(int error)
{
    return ORR_FAIL(ORR_EIO, "gnuplot: cannot start: %s", strerror(error));
}

/* Starts gnuplot without input; its messages go to `out`, the write end of a pipe. */
static int start_gnuplot(char *const argv[], int out, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return cannot_start(error);
    error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, out, 1);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, out, 2);
    if (!error)
        error = posix_spawn(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error ? cannot_start(error) : 0;
}

/* Keeps the beginning of gnuplot's messages until it closes the pipe. If a signal comes meanwhile,
 * terminates gnuplot, which may be waiting, and returns true. */
static bool listen_to(int from, pid_t pid, bool seen_before, char said[COMPLAINTS])
{
    size_t used = 0;
    for (;;) {
        char some[512];
        struct pollfd ready = {.fd = from, .events = POLLIN};
        if (!seen_before && orr_signal_seen()) {
            (void)kill(pid, SIGKILL);
            return true;
        }
        if (poll(&ready, 1, 50) <= 0)
            continue;
        const ssize_t got = read(from, some, sizeof some);
        if (got == 0 || (got < 0 && errno != EINTR))
            return !seen_before && orr_signal_seen();
        for (ssize_t i = 0; i < got && used < COMPLAINTS - 1; i++)
            said[used++] = some[i];
    }
}

/* Runs the command until it ends. */
static int run_gnuplot(char *const argv[], char said[COMPLAINTS], int *status, bool *stopped)
{
    const bool seen_before = orr_signal_seen();
    int ends[2];
    pid_t pid;
    if (pipe(ends))
        return cannot_start(errno);
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC); /* gnuplot has copies as descriptors 1, 2 */
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    const int rc = start_gnuplot(argv, ends[1], &pid);
    close(ends[1]);
    if (!rc)
        *stopped = listen_to(ends[0], pid, seen_before, said);
    close(ends[0]);
    while (!rc && waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return ORR_FAIL(ORR_EIO, "gnuplot: waitpid: %s", strerror(errno));
    return rc;
}

/* ------------------------------------------------------------------------ checking the result */

/* The first line of gnuplot's messages that states the error. */
static void first_complaint(const char *said, char line[256])
{
    snprintf(line, 256, "no message");
    for (const char *at = said; *at;) {
        const size_t length = strcspn(at, "\n");
        /* gnuplot repeats the line with the error and points at it with a caret */
        const char *text = at + strspn(at, " \t^");
        if (text < at + length && strncmp(text, "gnuplot>", 8)) {
            snprintf(line, 256, "%.*s", (int)(at + length - text), text);
            if (memchr(text, ':', (size_t)(at + length - text)))
                break;
        }
        at += length + (at[length] == '\n');
    }
}

/* The offset after the sub-blocks that begin at `at`; 0 where they exceed the file. */
static size_t behind_blocks(const unsigned char *c, size_t bytes, size_t at)
{
    while (at < bytes && c[at])
        at += 1u + c[at];
    return at < bytes ? at + 1 : 0;
}

/* Bytes of a colour table, from the flags before it. */
static size_t colour_bytes(unsigned flags)
{
    return flags & 0x80 ? (size_t)3 << ((flags & 7) + 1) : 0;
}

/* Walks the blocks of a GIF (CompuServe specification, version 89a) to the trailer, which must be
 * the last byte. libgd does not report a failed write and continues with the next block. */
static bool is_whole_gif(const unsigned char *c, size_t bytes)
{
    enum { HEAD = 13, IMAGE = 10 };
    if (bytes < HEAD + 1 || memcmp(c, "GIF89a", 6) != 0)
        return false;
    size_t at = HEAD + colour_bytes(c[10]);
    while (at && at + 2 < bytes)
        if (c[at] == 0x21)
            at = behind_blocks(c, bytes, at + 2);
        else if (c[at] == 0x2c && at + IMAGE < bytes)
            at = behind_blocks(c, bytes, at + IMAGE + colour_bytes(c[at + 9]) + 1);
        else
            return false;
    return at == bytes - 1 && c[at] == 0x3b;
}

/* A picture is whole when it ends as its format requires: cairo does not report a full disk. A
 * missing picture is not whole. ORR_ENOMEM. */
static int check_whole(const char *path, const char *format, bool *whole)
{
    char *content = NULL;
    size_t bytes = 0;
    const int rc = orr_file_read(path, &content, &bytes);
    *whole = false;
    if (rc == ORR_ENOMEM)
        return rc;
    orr_error_clear();
    if (rc)
        return 0;
    if (!strcmp(format, "svg")) {
        while (bytes > 0 && strchr("\r\n ", content[bytes - 1]))
            bytes--;
        *whole = bytes > 6 && !memcmp(content + bytes - 6, "</svg>", 6);
    } else if (!strcmp(format, "txt")) {
        *whole = bytes > 0 && strchr("\nm", content[bytes - 1]); /* a line, an end of colours */
    } else if (!strcmp(format, "gif")) {
        *whole = is_whole_gif((const unsigned char *)content, bytes);
    } else {
        *whole = bytes > 20 && !memcmp(content, "\x89PNG\r\n\x1a\n", 8) &&
                 !memcmp(content + bytes - 8, "IEND", 4);
    }
    free(content);
    return 0;
}

/* Writes a path as a word for gnuplot, which runs the rest of a name that begins with "<" or "|" as
 * a command and takes a leading "-" and "~" for an option and the home folder. */
static void inert_path(char word[WORD], const char *path)
{
    snprintf(word, WORD, "%s%s", *path == '/' ? "" : "./", path);
}

/* Draws into the file `into`, which the caller has opened and locked. */
static int draw_into(const char *gnuplot, const char *script, const char *input, const char *into,
                     const char *name)
{
    char words[6][WORD], said[COMPLAINTS] = "", complaint[256];
    const char *format = strrchr(name, '.') + 1;
    char *argv[7] = {NULL};
    int status = 0;
    bool stopped = false, whole;
    inert_path(words[0], gnuplot);
    snprintf(words[1], sizeof words[1], "-c");
    inert_path(words[2], script);
    inert_path(words[3], input);
    inert_path(words[4], into);
    snprintf(words[5], sizeof words[5], "%s", format);
    for (int i = 0; i < 6; i++) /* posix_spawn() requires writable strings */
        argv[i] = words[i];
    const int rc = run_gnuplot(argv, said, &status, &stopped);
    if (rc)
        return rc;
    first_complaint(said, complaint);
    if (stopped)
        return ORR_FAIL(ORR_EINTR, "stopped by a signal; %s was not drawn", name);
    if (WIFSIGNALED(status))
        return ORR_FAIL(ORR_EIO, "gnuplot: killed by signal %d while drawing %s", WTERMSIG(status),
                        name);
    if (WEXITSTATUS(status))
        return ORR_FAIL(ORR_EIO, "gnuplot: exit status %d while drawing %s: %s",
                        WEXITSTATUS(status), name, complaint);
    TRY(check_whole(into, format, &whole));
    if (!whole)
        return ORR_FAIL(ORR_EIO, "gnuplot: %s is missing or incomplete (disk full?): %s", name,
                        complaint);
    return strcmp(format, "png") ? 0 : orr_png_shrink(into);
}

int orr_gnuplot_draw(const char *script, const char *input, const char *picture)
{
    char gnuplot[4096], script_path[4096];
    const char *name = strrchr(picture, '/'), *dot = strrchr(picture, '.');
    struct orr_file file = {0};
    name = name ? name + 1 : picture;
    if (!dot ||
        (strcmp(dot, ".png") && strcmp(dot, ".svg") && strcmp(dot, ".gif") && strcmp(dot, ".txt")))
        return ORR_FAIL(ORR_EINVAL, "%s: expected a name that ends in .png, .svg, .gif or .txt",
                        picture);
    int rc = find_gnuplot(gnuplot);
    if (!rc)
        rc = orr_figures_path(script, script_path);
    if (!rc)
        rc = orr_file_create(&file, picture);
    if (!rc)
        rc = draw_into(gnuplot, script_path, input, file.temporary, name);
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

int orr_gnuplot_string(struct orr_file *file, const char *text)
{
    int rc = orr_file_printf(file, "\"");
    for (; *text && !rc; text++) {
        if (*text == '"' || *text == '\\')
            rc = orr_file_printf(file, "\\%c", *text);
        else if (*text == '`') /* gnuplot executes text between backquotes */
            rc = orr_file_printf(file, "'");
        else if (*text == '\n')
            rc = orr_file_printf(file, "\\n");
        else
            rc = orr_file_write(file, text, 1);
    }
    return rc ? rc : orr_file_printf(file, "\"");
}

int orr_gnuplot_assign(struct orr_file *file, const char *variable, int index, const char *text)
{
    TRY(index ? orr_file_printf(file, "%s[%d] = ", variable, index)
              : orr_file_printf(file, "%s = ", variable));
    TRY(orr_gnuplot_string(file, text ? text : ""));
    return orr_file_printf(file, "\n");
}

int orr_gnuplot_assign_path(struct orr_file *file, const char *variable, int index,
                            const char *path)
{
    char word[WORD];
    inert_path(word, path);
    return orr_gnuplot_assign(file, variable, index, word);
}
