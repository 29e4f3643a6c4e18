/* test_closing.c - errors that come late: of syncing and closing files and logs, and of standard
 * output that lost something before. The functions of the C library are replaced here. */
#define _GNU_SOURCE
#include "scratch.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

static char *const dir = scratch_dir;
static int fclose_errors, close_errors, fsync_errors, fsync_calls; /* the next so many fail */
static bool locked;                                                /* at the last rename() */

static void next(const char *name, void *to)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(to, &symbol, sizeof symbol);
}

int fclose(FILE *stream)
{
    int (*real)(FILE *);
    next("fclose", &real);
    const int rc = real(stream);
    if (fclose_errors == 0)
        return rc;
    fclose_errors--;
    errno = EDQUOT;
    return EOF;
}

int close(int fd)
{
    int (*real)(int);
    next("close", &real);
    const int rc = real(fd);
    if (close_errors == 0)
        return rc;
    close_errors--;
    errno = EDQUOT;
    return -1;
}

int fsync(int fd)
{
    int (*real)(int);
    next("fsync", &real);
    fsync_calls++;
    if (fsync_errors == 0)
        return real(fd);
    fsync_errors--;
    errno = EINTR;
    return -1;
}

int rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *);
    next("rename", &real);
    const int fd = open(from, O_RDWR);
    assert_true(fd >= 0);
    locked = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    close(fd);
    return real(from, to);
}

static int write_file(const char *path)
{
    struct orr_file file;
    assert_int_equal(orr_file_create(&file, path), 0);
    assert_int_equal(orr_file_printf(&file, "new"), 0);
    const int rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

static void holds(const char *path, const char *expected)
{
    char *text;
    assert_int_equal(orr_file_read(path, &text, NULL), 0);
    assert_string_equal(text, expected);
    free(text);
    assert_int_equal(scratch_count(dir), 1); /* nothing temporary */
}

/* A file that could not be closed is none: what was there before stays. */
TEST_BETWEEN(test_file, scratch_setup, scratch_teardown)
{
    char path[4096];
    scratch_path(path, dir, "a.txt");
    scratch_text(path, "old");
    fclose_errors = 1;
    assert_int_equal(write_file(path), ORR_EIO);
    error_names(path, "cannot finish", strerror(EDQUOT), NULL);
    holds(path, "old");
    assert_int_equal(write_file(path), 0);
    assert_true(locked);
    holds(path, "new");
}

/* A signal may interrupt syncing: it begins again, though not for ever. */
TEST_BETWEEN(test_interrupted, scratch_setup, scratch_teardown)
{
    char path[4096];
    scratch_path(path, dir, "a.txt");
    scratch_text(path, "old");
    fsync_errors = 1000;
    assert_int_equal(write_file(path), ORR_EIO);
    error_names(path, strerror(EINTR), NULL);
    holds(path, "old");
    fsync_errors = 3;
    fsync_calls = 0;
    assert_int_equal(write_file(path), 0);
    assert_true(fsync_calls >= 4);
    holds(path, "new");
    fsync_errors = 0;
}

TEST_BETWEEN(test_log, scratch_setup, scratch_teardown)
{
    char path[4096];
    struct orr_log log;
    scratch_path(path, dir, "log.jsonl");
    assert_int_equal(orr_log_open(&log, path, false), 0);
    assert_int_equal(orr_log_line(&log, "step", 1.0, (char *)NULL), 0);
    fclose_errors = 1;
    assert_int_equal(orr_log_close(&log), ORR_EIO);
    error_names(path, "cannot finish", strerror(EDQUOT), NULL);
    assert_int_equal(orr_log_close(&log), 0); /* is closed */
}

enum how { WHOLE, LOST, LOST_AT_ONCE, READER_GONE, READER_GONE_AT_ONCE, CLOSING };

/* Ends as a program does, after some of what it wrote was lost. */
static void print_and_end(enum how how)
{
    static char much[1 << 16];
    int ends[2];
    const int good = open("/dev/null", O_WRONLY), full = open("/dev/full", O_WRONLY);
    signal(SIGPIPE, SIG_IGN);
    if (good < 0 || full < 0 || pipe(ends))
        _exit(100);
    close(ends[0]);
    const bool gone = how == READER_GONE || how == READER_GONE_AT_ONCE;
    const bool lost = how == LOST || how == LOST_AT_ONCE;
    dup2(gone ? ends[1] : lost ? full : good, STDOUT_FILENO);
    if (how == LOST_AT_ONCE || how == READER_GONE_AT_ONCE) { /* nothing of it stays in the buffer */
        (void)setvbuf(stdout, NULL, _IONBF, 0);
        (void)!fwrite(much, 1, sizeof much, stdout);
    }
    printf("some words");
    if (lost)
        (void)fflush(stdout);
    if (lost)
        dup2(good, STDOUT_FILENO); /* what comes now is written */
    close_errors = how == CLOSING;
    orr_error_clear();
    _exit(orr_error_exit("test", ORR_OK));
}

static int status_of(enum how how, char said[4096])
{
    char path[4096], *text;
    int status;
    scratch_path(path, dir, "errors");
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
        if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
            _exit(101);
        print_and_end(how);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(orr_file_read(path, &text, NULL), 0);
    snprintf(said, 4096, "%s", text);
    free(text);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_BETWEEN(test_output, scratch_setup, scratch_teardown)
{
    static const enum how well[] = {WHOLE, READER_GONE, READER_GONE_AT_ONCE};
    static const enum how ill[] = {LOST, LOST_AT_ONCE, CLOSING};
    char said[4096];
    if (access("/dev/full", W_OK))
        skip();
    for (size_t i = 0; i < sizeof well / sizeof *well; i++) {
        assert_int_equal(status_of(well[i], said), 0);
        assert_string_equal(said, "");
    }
    for (size_t i = 0; i < sizeof ill / sizeof *ill; i++) {
        assert_int_equal(status_of(ill[i], said), 1);
        assert_non_null(strstr(said, "test: error: standard output: cannot write: "));
    }
}

TESTS(NULL, NULL)
