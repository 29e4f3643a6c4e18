/* test_errors.c - messages and exit statuses, memory, logs, signals. */
#include "scratch.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gsl/gsl_sf_gamma.h>

TEST(test_message)
{
    unsetenv("ORRERY_TRACE");
    orr_error_clear();
    assert_string_equal(orr_error(), "");
    assert_int_equal(ORR_FAIL(ORR_EDOM, "%s: row %d of %g", "x.csv", 17, 2.385), ORR_EDOM);
    assert_string_equal(orr_error(), "x.csv: row 17 of 2.385");
    setenv("ORRERY_TRACE", "1", 1);
    ORR_FAIL(ORR_EIO, "y");
    error_names("y [", "test_errors.c:", NULL);
    unsetenv("ORRERY_TRACE");
}

/* A message longer than the record is cut, not overrun. */
TEST(test_message_is_bounded)
{
    char text[6000];
    memset(text, 'q', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    setenv("ORRERY_TRACE", "1", 1);
    assert_int_equal(ORR_FAIL(ORR_EINVAL, "%s", text), ORR_EINVAL);
    unsetenv("ORRERY_TRACE");
    assert_int_equal(strlen(orr_error()), 4095);
}

/* What does not fit behind a text is cut; a text that fills its buffer stays. */
TEST(test_append)
{
    char text[8] = "";
    orr_append(text, sizeof text, "%d", 12);
    orr_append(text, sizeof text, "%s%.1f", *text ? ", " : "", 2.385);
    assert_string_equal(text, "12, 2.4");
    orr_append(text, sizeof text, "%s", "more");
    assert_string_equal(text, "12, 2.4");
    orr_append(strcpy(text, "abcdef"), sizeof text, "%s", "gh");
    assert_string_equal(text, "abcdefg");
}

/* Texts of files go into messages: neither a line break nor a control character comes out. */
TEST(test_message_is_one_line)
{
    ORR_FAIL(ORR_EFORMAT, "tensor \"%s\"", "a\nerror:\tb\033[31m\177\xc3\xa4");
    assert_string_equal(orr_error(), "tensor \"a error: b?[31m?\xc3\xa4\"");
}

/* Notes are one line, too, and so is what goes into lists and tables. */
TEST(test_texts_of_strangers)
{
    static const char *const bad[] = {"a\nb",
                                      "\033[31m",
                                      "a|b",
                                      "\177",
                                      "\302\23331m",
                                      "a\xe2\x80\x8b",
                                      "\xe2\x80\xae"
                                      "b",
                                      "\xef\xbb\xbfx",
                                      "x\xc2\xad",
                                      "x\xf3\xa0\x81\xa1",
                                      "x\xe2\x80\xa8",
                                      "\x9b"
                                      "31m"};
    char dir[64], path[4096], text[] = "a\nb\t\033[31m\xc2\x9b\xc3\xa4|", *noted;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(orr_is_label(bad[i]));
    assert_true(orr_is_label("1/r^2, of \xc3\xa4 \"b\""));
    assert_true(
        orr_is_label("\xe5\x8d\x8a\xe5\xbe\x84 \xce\xb8 \xc2\xa0 \xf0\x9d\x9b\xbc")); /* letters */
    assert_false(orr_is_name("a\xe2\x80\xae"
                             "fdp.exe"));
    assert_int_equal(orr_unseen(""), 0);
    assert_int_equal(orr_unseen("\xe2\x80\x8b"), 3);
    char turned[] = "a\xe2\x80\xae"
                    "b\xc3\xa4\xe5\x8d\x8a\x9b",
         shown[6];
    orr_one_line(turned);
    assert_string_equal(turned, "a???b\xc3\xa4\xe5\x8d\x8a?");
    assert_string_equal(orr_shown(shown, sizeof shown, "\033[31mred"), "?[31m");
    orr_one_line(text);
    assert_string_equal(text, "a b ?[31m??\xc3\xa4|");
    scratch_create(dir);
    scratch_path(path, dir, "noted");
    fflush(stderr);
    const int kept = dup(STDERR_FILENO), file = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(kept >= 0 && file >= 0 && dup2(file, STDERR_FILENO) >= 0);
    orr_note(false, "left out: %s", "a\nerror: \033]0;b");
    orr_note(true, "nothing");
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    close(file);
    assert_int_equal(orr_file_read(path, &noted, NULL), 0);
    assert_string_equal(noted, "left out: a error: ?]0;b\n");
    free(noted);
    scratch_remove(dir);
}

static void *other_thread(void *seen)
{
    *(bool *)seen = orr_error()[0] == '\0';
    ORR_FAIL(ORR_EIO, "of the other thread");
    return NULL;
}

TEST(test_messages_belong_to_threads)
{
    pthread_t thread;
    bool empty = false;
    ORR_FAIL(ORR_EIO, "of the first thread");
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &empty), 0);
    pthread_join(thread, NULL);
    assert_true(empty);
    assert_string_equal(orr_error(), "of the first thread");
}

TEST(test_exit_status)
{
    ORR_FAIL(ORR_EUSAGE, "wrong on purpose");
    assert_int_equal(orr_error_exit("test", ORR_OK), 0);
    assert_int_equal(orr_error_exit("test", ORR_EINTR), 130);
    assert_int_equal(orr_error_exit("test", ORR_EUSAGE), 2);
    for (int code = ORR_EINVAL; code < ORR_EINTR; code++)
        assert_int_equal(orr_error_exit("test", code), 1);
}

/* GSL reports errors by value: its handler would end the program here. */
TEST(test_gsl_does_not_abort)
{
    gsl_sf_result result;
    assert_int_not_equal(gsl_sf_gamma_e(-1, &result), 0);
}

TEST(test_alloc)
{
    static const size_t counts[] = {0, 1, 7, 1001};
    for (size_t i = 0; i < 4; i++) {
        unsigned char *piece = orr_alloc(counts[i], 3);
        assert_non_null(piece);
        assert_int_equal((uintptr_t)piece % 64, 0);
        for (size_t k = 0; k < 3 * counts[i]; k++)
            assert_int_equal(piece[k], 0);
        free(piece);
    }
    orr_error_clear();
    assert_null(orr_alloc(SIZE_MAX / 2, 3));
    error_names("out of memory", NULL);
    assert_null(orr_alloc(SIZE_MAX - 8, 1));
}

/* 0: what was committed after an error was forgotten is there; else how it was refused. */
static int commit_after(int code, bool recovers, const char *path)
{
    struct orr_file file;
    ORR_FAIL(code, "somewhere");
    if (recovers)
        orr_error_recover();
    orr_error_clear();
    if (orr_file_create(&file, path) || orr_file_write(&file, "whole", 5))
        return 100;
    const int rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

/* In processes of their own, since nothing makes memory that ran out undone. */
TEST(test_forgotten_memory)
{
    char path[4096];
    scratch_path(path, scratch_dir, "made.json");
    for (int i = 0; i < 3; i++) {
        const int code = i ? ORR_ENOMEM : ORR_EFORMAT;
        const bool refused = i == 1;
        int status;
        const pid_t child = fork();
        assert_true(child >= 0);
        if (!child)
            _exit(commit_after(code, i == 2, path));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), refused ? ORR_ENOMEM : 0);
        assert_int_equal(orr_exists(path), !refused);
        assert_int_equal(orr_remove(path), 0);
    }
    assert_false(orr_memory_short());
}

/* One JSON object per line, non-finite values as null, appended on request. */
TEST(test_log)
{
    char dir[64], path[4096], *text;
    struct orr_log log;
    scratch_create(dir);
    scratch_path(path, dir, "log.jsonl");
    assert_int_equal(orr_log_open(&log, path, false), 0);
    assert_int_equal(orr_log_line(&log, "step", 3.0, "loss", 0.1, NULL), 0);
    assert_int_equal(orr_log_line(&log, "loss", (double)NAN, "x", (double)-INFINITY, NULL), 0);
    orr_log_close(&log);
    assert_int_equal(orr_log_open(&log, path, true), 0);
    assert_int_equal(orr_log_line(&log, "step", 1e10, NULL), 0);
    orr_log_close(&log);
    orr_log_close(&log);
    assert_int_equal(orr_file_read(path, &text, NULL), 0);
    assert_string_equal(text, "{\"step\": 3, \"loss\": 0.1}\n{\"loss\": null, \"x\": null}\n"
                              "{\"step\": 1e+10}\n");
    free(text);
    assert_int_equal(orr_log_open(&log, "/nonexistent/log.jsonl", true), ORR_EIO);
    error_names("/nonexistent/log.jsonl", NULL);
    scratch_remove(dir);
}

/* What a kill or a power loss left of the last line is no part of the next. A log that is opened
 * and not written to stays as it is. */
TEST(test_log_torn)
{
    static const struct {
        const char *text;
        size_t bytes;
        const char *left;
    } cases[] = {{"{\"epoch\": 0}\n{\"epo", 18, "{\"epoch\": 0}\n"},
                 {"{\"epoch\": 0}\n\0\0\0", 16, "{\"epoch\": 0}\n"},
                 {"{\"epoch\": 0}\n", 13, "{\"epoch\": 0}\n"},
                 {"{\"epo", 5, ""},
                 {"", 0, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[4096], *text, expected[80];
        size_t bytes;
        struct orr_log log;
        scratch_path(path, scratch_dir, "torn.jsonl");
        scratch_write(path, cases[i].text, cases[i].bytes);
        assert_int_equal(orr_log_open(&log, path, true), 0);
        orr_log_close(&log);
        assert_int_equal(orr_file_read(path, &text, &bytes), 0);
        assert_int_equal(bytes, cases[i].bytes);
        free(text);
        assert_int_equal(orr_log_open(&log, path, true), 0);
        assert_int_equal(orr_log_word_line(&log, "a", "b", (char *)NULL), 0);
        assert_int_equal(orr_log_line(&log, "step", 1.0, (char *)NULL), 0);
        orr_log_close(&log);
        snprintf(expected, sizeof expected, "%s{\"a\": \"b\"}\n{\"step\": 1}\n", cases[i].left);
        assert_int_equal(orr_file_read(path, &text, NULL), 0);
        assert_string_equal(text, expected);
        free(text);
    }
}

/* Texts of strangers as code spans of Markdown. */
TEST(test_markdown_code)
{
    static const struct {
        const char *text, *plain, *cell;
    } cases[] = {{"r", "`r`", "`r`"},
                 {"<b>&amp;", "`<b>&amp;`", "`<b>&amp;`"},
                 {"a|b", "`a|b`", "`a\\|b`"},
                 {"a`b", "``a`b``", "``a`b``"},
                 {"``", "``` `` ```", "``` `` ```"},
                 {" x ", "`  x  `", "`  x  `"},
                 {"", "`  `", "`  `"},
                 {"a\nb\033\xc2\x9b[c\xc2\xb5", "`a b??[c\xc2\xb5`", "`a b??[c\xc2\xb5`"},
                 {"x\xe2\x80\x8by", "`x?y`", "`x?y`"}};
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        char path[4096], *text;
        struct orr_file file;
        scratch_path(path, scratch_dir, "code.md");
        assert_int_equal(orr_file_create(&file, path), 0);
        assert_int_equal(orr_markdown_code(&file, cases[i / 2].text, i % 2), 0);
        assert_int_equal(orr_file_commit(&file), 0);
        orr_file_close(&file);
        assert_int_equal(orr_file_read(path, &text, NULL), 0);
        assert_string_equal(text, i % 2 ? cases[i / 2].cell : cases[i / 2].plain);
        free(text);
    }
}

/* A new log takes the place of a link, and nothing is appended through one. */
TEST(test_log_is_no_link)
{
    char path[4096], target[4096];
    struct orr_log log;
    struct stat info;
    scratch_path(path, scratch_dir, "link.jsonl");
    scratch_path(target, scratch_dir, "target");
    scratch_text(target, "mine");
    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(orr_log_open(&log, path, true), ORR_EIO);
    error_names("link.jsonl", "symbolic link", NULL);
    assert_int_equal(orr_log_open(&log, path, false), 0);
    assert_int_equal(orr_log_line(&log, "step", 1.0, (char *)NULL), 0);
    orr_log_close(&log);
    assert_int_equal(stat(target, &info), 0);
    assert_int_equal(info.st_size, 4);
    assert_true(!lstat(path, &info) && S_ISREG(info.st_mode) && info.st_size > 4);
}

TEST(test_log_on_a_full_disk)
{
    struct orr_log log;
    if (orr_log_open(&log, "/dev/full", true))
        skip();
    assert_int_equal(orr_log_line(&log, "step", 1.0, NULL), ORR_EIO);
    error_names("/dev/full", NULL);
    orr_log_close(&log);
}

/* What was seen before a release, and what comes after it, ends the process. (The next test leaves
 * a signal that was seen.) */
TEST(test_released_signals)
{
    for (int seen = 0; seen < 2; seen++) {
        int status;
        const pid_t child = fork();
        if (child == 0) {
            orr_signals_catch();
            if (seen)
                raise(SIGTERM);
            orr_signals_release();
            if (!seen)
                raise(SIGINT);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == (seen ? SIGTERM : SIGINT));
    }
}

TEST(test_signals)
{
    orr_signals_catch();
    assert_false(orr_signal_seen());
    raise(SIGPIPE);
    assert_false(orr_signal_seen());
    raise(SIGTERM);
    assert_true(orr_signal_seen());
}

/* The line that is due after so many, which a file in place of stderr gets. */
static const char *progress_line(struct orr_progress *progress, uint64_t done, const char *detail)
{
    static char line[200];
    char dir[64], path[4096], *text;
    scratch_create(dir);
    scratch_path(path, dir, "line");
    const int kept = dup(STDERR_FILENO), file = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(kept >= 0 && file >= 0 && dup2(file, STDERR_FILENO) >= 0);
    progress->terminal = false;
    progress->start_s = orr_time_s();
    progress->last_s -= 100;
    orr_progress_set(progress, done, detail);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    close(file);
    assert_int_equal(orr_file_read(path, &text, NULL), 0);
    snprintf(line, sizeof line, "%s", text);
    free(text);
    scratch_remove(dir);
    return line;
}

/* NIST's examples of SHA-256 (FIPS 180-4, csrc.nist.gov "SHA256.pdf", one block and two), the empty
 * text, a million times "a", and lengths about the ends of blocks against sha256sum of coreutils
 * 9.1. */
TEST(test_sha256)
{
    static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    char *many = malloc(1000000);
    assert_non_null(many);
    memset(many, 'a', 1000000);
    const struct {
        const char *text;
        size_t bytes;
        const char *hash;
    } known[] = {
        {"", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {two, 56, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {many, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
        {many, 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
        {many, 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        unsigned char hash[ORR_SHA256];
        char text[2 * ORR_SHA256 + 1] = "";
        orr_sha256(known[i].text, known[i].bytes, hash);
        for (int k = 0; k < ORR_SHA256; k++)
            orr_append(text, sizeof text, "%02x", hash[k]);
        assert_string_equal(text, known[i].hash);
    }
    free(many);
}

/* What fits into cells of a terminal ends with a whole character, some of which take two cells. */
TEST(test_width)
{
    static const char text[] = "a\xc3\xa4\xe5\x8a\x9b"
                               "b";
    static const int bytes[] = {0, 1, 3, 3, 6, 7, 7};
    int rows = 0, columns = 0;
    for (int cells = 0; cells < 7; cells++)
        assert_int_equal(orr_bytes_within(text, cells), bytes[cells]);
    orr_terminal_size(&rows, &columns);
    assert_true(rows > 4 && columns > 20);
}

/* Quiet progress prints nothing; a bad detail or a total of zero does not divide. */
TEST(test_progress)
{
    struct orr_progress progress;
    orr_progress_init(&progress, "test", 0, false);
    assert_string_equal(progress_line(&progress, 0, NULL), "test: 0 done, 0 s\n");
    orr_progress_end(&progress, NULL);
    orr_progress_init(&progress, "test", 0, false); /* no one knows how many there will be */
    assert_string_equal(progress_line(&progress, 7, "loss 1"), "test: 7 done, loss 1, 0 s\n");
    orr_progress_init(&progress, "test", 10, false);
    assert_string_equal(progress_line(&progress, 0, NULL), "test: 0/10 (0%), 0 s\n");
    orr_progress_init(&progress, "test", 10, true);
    orr_progress_set(&progress, 3, "never shown");
    assert_int_equal(progress.done, 3);
    orr_progress_end(&progress, "never shown");
    assert_true(orr_time_s() >= progress.start_s);
}

TESTS(scratch_setup, scratch_teardown)
