/* test_mapped.c - a mapped file that becomes shorter while it is read ends the program with a line
 * that names it, in whatever thread. */
#include "scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char *const dir = scratch_dir;
enum { BYTES = 20000 };

static volatile unsigned char sum;

static void *read_all(void *map)
{
    for (size_t i = 0; i < BYTES; i++)
        sum = (unsigned char)(sum + ((const unsigned char *)map)[i]);
    return NULL;
}

static void last_words(void)
{
    (void)!write(STDERR_FILENO, "last words\n", 11);
}

enum how { IN_MAIN, IN_THREAD, SENT, FOREIGN, CROWDED };

/* Reads a file of two that became empty when both were mapped. */
static void read_shorter(enum how how, const char *path, const char *other)
{
    void *map, *whole;
    size_t bytes;
    pthread_t thread;
    orr_signals_catch();
    orr_signals_at_end(last_words);
    for (int i = 0; how == CROWDED && i < 5000; i++)
        (void)orr_file_map(other, &map, &bytes);
    if (orr_file_map(other, &whole, &bytes) || orr_file_map(path, &map, &bytes) || bytes != BYTES)
        _exit(100);
    orr_file_unmap(whole, bytes);
    if (how == SENT)
        raise(SIGBUS);
    if (how == FOREIGN) {
        const int fd = open(path, O_RDONLY);
        map = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (truncate(path, 0))
        _exit(101);
    if (how == IN_THREAD && !orr_thread_start(&thread, read_all, map))
        pthread_join(thread, NULL);
    read_all(map);
    _exit(102);
}

/* Status of such a child, and what it said. */
static int shorter(enum how how, char said[8192])
{
    char path[4096], other[4096], errors[4096], *text;
    static const unsigned char block[BYTES] = {1};
    int status;
    scratch_path(path, dir, "short\n.npy");
    scratch_path(other, dir, "other.npy");
    scratch_path(errors, dir, "errors");
    scratch_write(path, block, sizeof block);
    scratch_write(other, block, sizeof block);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const int fd = open(errors, O_CREAT | O_TRUNC | O_WRONLY, 0600);
        if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
            _exit(103);
        read_shorter(how, path, other);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(orr_file_read(errors, &text, NULL), 0);
    snprintf(said, 8192, "%s", text);
    free(text);
    return status;
}

TEST(test_named)
{
    char said[8192], expected[8192];
    snprintf(expected, sizeof expected,
             "error: %s/short?.npy: the file became shorter while it was read\nlast words\n", dir);
    for (enum how how = IN_MAIN; how <= IN_THREAD; how++) {
        const int status = shorter(how, said);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 1);
        assert_string_equal(said, expected);
    }
    const int status = shorter(CROWDED, said); /* more files than are remembered */
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_string_equal(said, "error: a file became shorter while it was read\nlast words\n");
}

/* A signal that somebody sends, or a fault elsewhere, is what it was before. */
TEST(test_others)
{
    char said[8192];
    for (enum how how = SENT; how <= FOREIGN; how++) {
        const int status = shorter(how, said);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
        assert_string_equal(said, "last words\n");
    }
}

TESTS(scratch_setup, scratch_teardown)
