/* test_files.c - atomic files, checksums, folders, JSON, CSV. */
#include "scratch.h"

#include <errno.h>
#include <unistd.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

static char *const dir = scratch_dir;

/* ------------------------------------------------------------------------ atomic files */

TEST_BETWEEN(test_commit, scratch_setup, scratch_teardown)
{
    char path[4096], *text;
    size_t bytes;
    uint64_t sum, size;
    struct orr_file file;
    scratch_path(path, dir, "a.txt");
    scratch_text(path, "what was there before");
    assert_int_equal(orr_file_create(&file, path), 0);
    assert_int_equal(orr_file_write(&file, "abc\0d", 5), 0);
    assert_int_equal(orr_file_write(&file, NULL, 0), 0);
    assert_int_equal(orr_file_printf(&file, "%d,%s", 17, "x"), 0);
    assert_int_equal(orr_file_read(path, &text, &bytes), 0); /* still the old one */
    assert_string_equal(text, "what was there before");
    free(text);
    assert_int_equal(orr_file_commit(&file), 0);
    assert_int_equal(orr_file_checksum(path, &sum, &size), 0);
    assert_true(sum == file.checksum);
    assert_int_equal(size, 9);
    assert_int_equal(file.bytes, 9);
    orr_file_close(&file);
    orr_file_close(&file);
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    assert_int_equal(bytes, 9);
    assert_memory_equal(text, "abc\0d17,x", 10);
    free(text);
    assert_int_equal(scratch_count(dir), 1);
}

/* Whoever writes removes what killed writers left in the folder, and nothing else. */
TEST_BETWEEN(test_abandoned, scratch_setup, scratch_teardown)
{
    static const char *const stay[] = {"a.12.partial", /* of other programs */
                                       "download.1234.partial", "a.orrery-partial",
                                       "a.x12.orrery-partial",  "a.12.orrery-partial.txt",
                                       ".12.orrery-partial",    "12.orrery-partial",
                                       "a.orrery-partial.12",   "a.12orrery-partial",
                                       "a.12.orrery_partial"};
    enum { STAY = sizeof stay / sizeof *stay };
    char path[4096];
    struct orr_file file, other;
    scratch_path(path, dir, "b.txt.12.orrery-partial"); /* as if killed */
    scratch_text(path, "half");
    for (size_t i = 0; i < STAY; i++) {
        scratch_text(scratch_at(dir, stay[i]), "not ours");
    }
    assert_int_equal(orr_mkdir(scratch_at(dir, "a.folder.12.orrery-partial")), 0);
    assert_int_equal(orr_file_create(&other, scratch_at(dir, "open.txt")), 0); /* being written */
    assert_false(orr_exists(scratch_at(dir, "b.txt.12.orrery-partial")));
    assert_int_equal(orr_file_create(&file, scratch_at(dir, "c.txt")), 0);
    assert_int_equal(orr_file_commit(&file), 0);
    orr_file_close(&file);
    assert_true(orr_exists(other.temporary));
    assert_int_equal(orr_file_printf(&other, "whole"), 0);
    assert_int_equal(orr_file_commit(&other), 0);
    orr_file_close(&other);
    assert_int_equal(scratch_count(dir), STAY + 3); /* these, a folder, two written */
}

/* XXH64 of nothing and of "a", seed 0, as published. */
TEST_BETWEEN(test_checksum_known_answers, scratch_setup, scratch_teardown)
{
    char path[4096];
    uint64_t sum, size;
    scratch_path(path, dir, "sum");
    scratch_text(path, "");
    assert_int_equal(orr_file_checksum(path, &sum, &size), 0);
    assert_true(sum == 0xef46db3751d8e999ull && size == 0);
    scratch_text(path, "a");
    assert_int_equal(orr_file_checksum(path, &sum, &size), 0);
    assert_true(sum == 0xd24ec4f1a98c6e5bull && size == 1);
}

/* Text longer than the formatter's own room. */
TEST_BETWEEN(test_long_printf, scratch_setup, scratch_teardown)
{
    char path[4096], *text, wide[5001];
    struct orr_file file;
    memset(wide, 'w', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    scratch_path(path, dir, "long");
    assert_int_equal(orr_file_create(&file, path), 0);
    assert_int_equal(orr_file_printf(&file, "%s", wide), 0);
    assert_int_equal(orr_file_commit(&file), 0);
    orr_file_close(&file);
    assert_int_equal(orr_file_read(path, &text, NULL), 0);
    assert_string_equal(text, wide);
    free(text);
}

TEST_BETWEEN(test_close_without_commit, scratch_setup, scratch_teardown)
{
    char path[4096];
    struct orr_file file;
    scratch_path(path, dir, "never");
    assert_int_equal(orr_file_create(&file, path), 0);
    assert_int_equal(scratch_count(dir), 1); /* the temporary name, in the same folder */
    assert_false(orr_exists(path));
    assert_int_equal(orr_file_write(&file, "abc", 3), 0);
    orr_file_close(&file);
    assert_int_equal(scratch_count(dir), 0);
    struct orr_file empty = {0};
    orr_file_close(&empty);
}

/* A disk that takes 1000 bytes: writing or committing fails, nothing is left, and an earlier file
 * stays as it was. */
TEST_BETWEEN(test_full_disk, scratch_setup, scratch_teardown)
{
    char path[4096], *text;
    struct orr_file file;
    struct rlimit before, small;
    static const char block[1 << 16];
    scratch_path(path, dir, "big");
    scratch_text(path, "old");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 1000;
    for (int large = 0; large < 2; large++) { /* fails in commit; fails in write */
        setrlimit(RLIMIT_FSIZE, &small);
        int rc = orr_file_create(&file, path);
        if (!rc)
            rc = orr_file_write(&file, block, large ? sizeof block : 1500);
        const int written = rc;
        const int further = rc ? orr_file_printf(&file, "%d", 1) : ORR_EIO; /* none gets past it */
        rc = orr_file_commit(&file);
        orr_file_close(&file);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(written, large ? ORR_EIO : 0);
        assert_int_equal(further, ORR_EIO);
        assert_int_equal(rc, ORR_EIO);
        error_names(path, "write", NULL);
    }
    assert_int_equal(scratch_count(dir), 1);
    assert_int_equal(orr_file_read(path, &text, NULL), 0);
    assert_string_equal(text, "old");
    free(text);
}

TEST_BETWEEN(test_paths, scratch_setup, scratch_teardown)
{
    char path[4096], deep[4096], name[5000], *text;
    struct orr_file file;
    struct stat info;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(orr_path(path, "%s", name), ORR_EINVAL);
    assert_int_equal(orr_path(path, "%.4095s", name), 0);
    assert_int_equal(orr_path(path, "%.4096s", name), ORR_EINVAL);
    assert_int_equal(orr_file_create(&file, "/nonexistent/folder/x"), ORR_EIO);
    error_names("/nonexistent/folder/x", "No such file", NULL);
    orr_file_close(&file);
    scratch_path(deep, dir, "a/b//c/");
    assert_int_equal(orr_mkdir(deep), 0);
    assert_int_equal(orr_mkdir(deep), 0);
    assert_int_equal(stat(deep, &info), 0);
    assert_true(S_ISDIR(info.st_mode));
    scratch_path(path, dir, "file");
    scratch_text(path, "x");
    assert_int_equal(orr_mkdir(scratch_at(dir, "file/under")), ORR_EIO);
    error_names("file", NULL);
    assert_int_equal(orr_mkdir(path), ORR_EIO);
    error_names("expected a folder, found a file", NULL);
    scratch_path(deep, dir, "link");
    assert_int_equal(symlink("file", deep), 0); /* and one that leads to a file is as that file */
    assert_int_equal(orr_mkdir(deep), ORR_EIO);
    error_names("expected a folder, found a file", NULL);
    assert_int_equal(unlink(deep), 0);
    assert_int_equal(symlink("gone", deep), 0);
    assert_int_equal(orr_mkdir(deep), ORR_EIO);
    error_names("link: expected a folder, found a symbolic link that leads nowhere", NULL);
    assert_int_equal(orr_file_read(dir, &text, NULL), ORR_EIO);
    error_names(dir, NULL);
    scratch_path(path, dir, "absent");
    assert_int_equal(orr_file_read(path, &text, NULL), ORR_EMISSING);
    error_names(path, NULL);
}

static bool ends_in(const char *name, const void *end)
{
    const char *dot = strrchr(name, '.');
    return dot && !strcmp(dot, end);
}

TEST_BETWEEN(test_remove_where, scratch_setup, scratch_teardown)
{
    scratch_text(scratch_at(dir, "a.old"), "a");
    scratch_text(scratch_at(dir, "b.new"), "b");
    assert_int_equal(symlink("b.new", scratch_at(dir, "link.old")), 0);
    assert_int_equal(orr_mkdir(scratch_at(dir, "folder.old")), 0);
    assert_int_equal(orr_remove_where(dir, ends_in, ".old"), 0);
    assert_int_equal(scratch_count(dir), 3); /* all but the regular file */
    assert_false(orr_exists(scratch_at(dir, "a.old")));
    assert_int_equal(orr_remove_where(scratch_at(dir, "none"), ends_in, ".old"), ORR_EIO);
    error_names("none: cannot list", NULL);
}

/* A file that holds less than its size says, as one that became shorter meanwhile. */
TEST(test_shorter_than_said)
{
    static const char path[] = "/sys/kernel/mm/transparent_hugepage/enabled";
    struct stat info;
    char *text;
    if (stat(path, &info) || info.st_size < 1000)
        skip(); /* other kernels */
    errno = ENOENT;
    assert_int_equal(orr_file_read(path, &text, NULL), ORR_EIO);
    error_names(path, "became shorter while it was read", NULL);
    assert_null(strstr(orr_error(), strerror(ENOENT)));
}

/* Nobody writes into the FIFO: whoever opened it to read would wait without end. */
TEST_BETWEEN(test_fifos_are_not_waited_for, scratch_setup, scratch_teardown)
{
    char path[4096], *text;
    size_t bytes;
    uint64_t sum, size;
    void *map;
    struct orr_npy npy;
    struct orr_safetensors *tensors;
    struct orr_log log;
    struct orr_file file;
    struct stat info;
    scratch_path(path, dir, "fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20); /* ends the test where it waits */
    assert_int_equal(orr_file_read(path, &text, &bytes), ORR_EIO);
    error_names(path, "not a regular file", NULL);
    assert_null(text);
    assert_int_equal(orr_file_checksum(path, &sum, &size), ORR_EIO);
    assert_int_equal(orr_file_map(path, &map, &bytes), ORR_EIO);
    assert_int_equal(orr_npy_open(path, &npy), ORR_EIO);
    assert_int_equal(orr_safetensors_open(path, &tensors), ORR_EIO);
    assert_int_equal(orr_log_open(&log, path, true), ORR_EIO);
    assert_int_equal(orr_log_open(&log, path, false), ORR_EIO);
    assert_int_equal(orr_file_create(&file, path), 0); /* and is replaced by what is written */
    assert_int_equal(orr_file_printf(&file, "x"), 0);
    assert_int_equal(orr_file_commit_changes(&file), 0);
    orr_file_close(&file);
    assert_true(!lstat(path, &info) && S_ISREG(info.st_mode));
    alarm(0);
}

/* A link that waits under the temporary name leads nowhere: it is taken away. */
TEST_BETWEEN(test_no_write_through_links, scratch_setup, scratch_teardown)
{
    char path[4096], target[4096], temporary[ORR_TEMPORARY];
    struct orr_file file;
    struct stat info;
    scratch_path(path, dir, "linked.txt");
    scratch_path(target, dir, "nowhere");
    orr_temporary_name(temporary, path);
    assert_int_equal(symlink(target, temporary), 0);
    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(orr_file_create(&file, path), 0);
    assert_int_equal(orr_file_printf(&file, "x"), 0);
    assert_int_equal(orr_file_commit(&file), 0);
    orr_file_close(&file);
    assert_false(orr_exists(target));
    assert_true(!lstat(path, &info) && S_ISREG(info.st_mode));
    scratch_text(target, "x"); /* a file that holds these bytes is kept, a link to one is not */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(target, path), 0);
    for (int k = 0; k < 2; k++) {
        const ino_t before = k ? info.st_ino : 0;
        assert_int_equal(orr_file_create(&file, path), 0);
        assert_int_equal(orr_file_printf(&file, "x"), 0);
        assert_int_equal(orr_file_commit_changes(&file), 0);
        orr_file_close(&file);
        assert_true(!lstat(path, &info) && S_ISREG(info.st_mode));
        assert_true(!k || info.st_ino == before);
    }
    assert_true(orr_exists(target));
}

TEST(test_names)
{
    static const char *const good[] = {"a", "...", "a b", "\xc3\xbc", "..a", "a\\b"};
    static const char *const bad[] = {"",     ".",  "..",   "/",     "a/b",
                                      "../a", "/a", "a\nb", "a\177", "\t"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(orr_is_name(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(orr_is_name(bad[i]));
    static const char *const inside[] = {"a", "figures/a.png", "a/b/c"};
    static const char *const outside[] = {"", "/a", "a/", "a//b", "..", "a/../../b", "./a", "a/\n"};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        assert_true(orr_is_inside(inside[i]));
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        assert_false(orr_is_inside(outside[i]));
}

/* -------------------------------------------------------------------------------- JSON */

/* Whole numbers keep every digit: as numbers where every reader can, else as strings. */
TEST_BETWEEN(test_json_u64, scratch_setup, scratch_teardown)
{
    static const struct {
        uint64_t value;
        const char *text;
    } cases[] = {{0, "0"},
                 {1000000000000000, "1000000000000000"},
                 {9007199254740991, "9007199254740991"},
                 {9007199254740992, "9007199254740992"},
                 {9007199254740993, "\"9007199254740993\""},
                 {UINT64_MAX, "\"18446744073709551615\""}};
    char path[4096], expected[64], *text;
    scratch_path(path, dir, "u64.json");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cJSON *json = cJSON_CreateObject();
        assert_true(orr_json_add_u64(json, "seed", cases[i].value));
        assert_int_equal(orr_json_write_plain(path, json), 0);
        cJSON_Delete(json);
        assert_int_equal(orr_file_read(path, &text, NULL), 0);
        snprintf(expected, sizeof expected, "\"seed\":\t%s\n", cases[i].text);
        if (!strstr(text, expected))
            fail_msg("expected %s in %s", expected, text);
        free(text);
    }
}

TEST_BETWEEN(test_json, scratch_setup, scratch_teardown)
{
    char path[4096];
    cJSON *json = NULL;
    scratch_path(path, dir, "x.json");
    scratch_text(path, "{\n  \"a\": 1,\n  \"b\" 2\n}\n");
    assert_int_equal(orr_json_read(path, &json), ORR_EFORMAT);
    error_names(path, ":3:", NULL);
    scratch_text(path, "{\"a\": 1} tail");
    assert_int_equal(orr_json_read(path, &json), ORR_EFORMAT);
    scratch_text(path, "");
    assert_int_equal(orr_json_read(path, &json), ORR_EFORMAT);
    error_names(path, NULL);
    scratch_write(path, "{\"a\":\n3}\0 more", 14); /* what is behind a NUL belongs to the file */
    assert_int_equal(orr_json_read(path, &json), ORR_EFORMAT);
    error_names(path, ":2:3:", NULL);
    scratch_text(path, "[{\"b\": 1, \"a\": {\"c\": 1, \"d\": 2, \"c\": 1}}]");
    assert_int_equal(orr_json_read(path, &json), ORR_EFORMAT); /* which of the two is meant? */
    error_names(path, "\"c\" stands twice", NULL);
    assert_null(json);
    scratch_text(path, "[{\"a\": 1, \"A\": 1}, {\"a\": {\"a\": 1}}]");
    assert_int_equal(orr_json_read(path, &json), 0);
    cJSON_Delete(json);
    json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "a \"b\"", "\xc3\xa9\n");
    assert_int_equal(orr_json_write(path, json), 0);
    cJSON_Delete(json);
    assert_int_equal(orr_json_read(path, &json), 0);
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(json, "a \"b\"")->valuestring,
                        "\xc3\xa9\n");
    cJSON_Delete(json);
}

/* A file in which a value, a key or a digit was changed does not have the sum it states. Blanks
 * may be changed; a file without a sum is read. */
TEST_BETWEEN(changed_json_is_refused, scratch_setup, scratch_teardown)
{
    static const struct {
        const char *was, *is;
        bool same;
    } edits[] = {{"0.3333333", "0.3333334", false}, {"0.333", "\n0.333", true},
                 {"\"b\"", "\"c\"", false},         {"[2, null]", "[2,null]", true},
                 {"[2, null]", "[2, 0]", false},    {"\"xxh64\"", "\"xxh63\"", true}};
    char path[4096], *text, edited[512];
    scratch_path(path, dir, "sum.json");
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        cJSON *json = cJSON_CreateObject(), *read = NULL;
        cJSON_AddNumberToObject(json, "a", 1.0 / 3);
        orr_json_add_list(json, "b", (double[]){2, NAN}, 2);
        for (int twice = 0; twice < 2; twice++) /* in place of an earlier sum */
            assert_int_equal(orr_json_write(path, json), 0);
        cJSON_Delete(json);
        assert_int_equal(orr_json_read(path, &read), 0);
        cJSON_Delete(read);
        assert_int_equal(orr_file_read(path, &text, NULL), 0);
        const char *at = strstr(text, edits[i].was);
        assert_non_null(at);
        snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - text), text, edits[i].is,
                 at + strlen(edits[i].was));
        free(text);
        scratch_text(path, edited);
        const int rc = orr_json_read(path, &read);
        if (rc != (edits[i].same ? 0 : ORR_EFORMAT))
            fail_msg("%s for %s: status %d", edits[i].is, edits[i].was, rc);
        if (rc)
            error_names(path, "it has been changed since it was made", NULL);
        cJSON_Delete(read);
    }
}

/* --------------------------------------------------------------------------------- CSV */

static int read_csv(const char *text, enum orr_csv_flags flags, struct orr_csv *csv)
{
    char path[4096];
    scratch_path(path, dir, "x.csv");
    scratch_text(path, text);
    return orr_csv_read(path, flags, csv);
}

TEST_BETWEEN(test_csv_numbers, scratch_setup, scratch_teardown)
{
    static const char *const texts[] = {
        "r,\"m \"\"1\"\"\",\"a,b\"\n1,-2.5e-3, 7 \n\"4\",nan,inf\n",
        "r,\"m \"\"1\"\"\",\"a,b\"\r\n1,-2.5e-3,7\r\n4,\"nan\",inf", /* CRLF, no last newline */
        "r,\"m \"\"1\"\"\",\"a,b\"\n1,-2.5e-3,7\n4,nan,inf\n\n",     /* an empty last line */
        "r,\"m \"\"1\"\"\",\"a,b\"\r\n1,-2.5e-3,7\r\n4,nan,inf\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct orr_csv csv;
        assert_int_equal(read_csv(texts[i], ORR_CSV_NUMBERS, &csv), 0);
        assert_int_equal(csv.rows, 2);
        assert_int_equal(csv.cols, 3);
        assert_int_equal(orr_csv_column(&csv, "r"), 0);
        assert_int_equal(orr_csv_column(&csv, "m \"1\""), 1);
        assert_int_equal(orr_csv_column(&csv, "a,b"), 2);
        assert_int_equal(orr_csv_column(&csv, "b"), -1);
        assert_true(csv.values[0] == 1 && csv.values[1] == -2.5e-3 && csv.values[2] == 7);
        assert_true(csv.values[3] == 4 && isnan(csv.values[4]) && isinf(csv.values[5]));
        assert_null(csv.cells);
        orr_csv_free(&csv);
        orr_csv_free(&csv);
    }
}

TEST_BETWEEN(test_csv_text, scratch_setup, scratch_teardown)
{
    struct orr_csv csv;
    assert_int_equal(read_csv("name,value\n\"Mer\ncury\",1e5\n\"\",\"say \"\"x\"\"\"\n",
                              ORR_CSV_KEEP_TEXT, &csv),
                     0);
    assert_string_equal(csv.cells[0], "Mer\ncury");
    assert_true(isnan(csv.values[0]) && csv.values[1] == 1e5);
    assert_string_equal(csv.cells[2], "");
    assert_string_equal(csv.cells[3], "say \"x\"");
    orr_csv_free(&csv);
}

/* More rows than the first allocation holds. */
TEST_BETWEEN(test_csv_many_rows, scratch_setup, scratch_teardown)
{
    enum { ROWS = 1777 };
    struct orr_csv csv;
    char *text = malloc(40 * ROWS);
    size_t used = (size_t)sprintf(text, "i,f\n");
    for (int i = 0; i < ROWS; i++)
        used += (size_t)sprintf(text + used, "%d,%.17g\n", i, sqrt(i));
    assert_int_equal(read_csv(text, ORR_CSV_KEEP_TEXT, &csv), 0);
    assert_int_equal(csv.rows, ROWS);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(csv.values[2 * i] == (double)i && csv.values[2 * i + 1] == sqrt((double)i));
    orr_csv_free(&csv);
    free(text);
}

/* Rows know their line of the file: quoted cells may have line breaks. */
TEST_BETWEEN(test_csv_lines, scratch_setup, scratch_teardown)
{
    struct orr_csv csv;
    assert_int_equal(
        read_csv("\"a\nb\",c\n\"1\n\n\",2\n3,4\r\n\"5\",\"\n\"\n6,7\n", ORR_CSV_KEEP_TEXT, &csv),
        0);
    assert_int_equal(csv.rows, 4);
    const size_t expected[4] = {3, 6, 7, 9};
    for (int i = 0; i < 4; i++)
        assert_int_equal(csv.line[i], expected[i]);
    orr_csv_free(&csv);
}

/* Archives write lines before the header, blank lines and Fortran's exponents; rows know their
 * lines. */
TEST_BETWEEN(test_csv_of_archives, scratch_setup, scratch_teardown)
{
    static const struct {
        const char *text;
        size_t comments, header, line[2];
    } tables[] = {
        {"# made by, \"an archive\n#\n\na,b\n1,2\n \t\n3,4\n", 2, 4, {5, 7}},
        {"\xef\xbb\xbf# a\r\n\r\na,b\r\n\r\n1,2\r\n\r\n3,4\r\n\r\n\r\n", 1, 3, {5, 7}},
        {"\n\na , \" b\" \n 1 , \"2\" \n3,4", 0, 3, {4, 5}},
        {"#\ra,b\r1,2\r\r3,4\r", 1, 2, {3, 5}}, /* of an old Mac */
        {"a,b\n0.1D+01,20.d-1\n 3D0 ,+.4d1\n", 0, 1, {2, 3}},
        {"# of numpy\n# a,b\n1.0e+00, 2.0\n3,4\n", 1, 2, {3, 4}}, /* savetxt(header=) */
        {"#a,b\n1D0,2\n3,4\n", 0, 1, {2, 3}},
        {"# 1,2\na,b\n1,2\n3,4\n", 1, 2, {3, 4}},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct orr_csv csv;
        if (read_csv(tables[i].text, ORR_CSV_NUMBERS, &csv))
            fail_msg("table %zu: %s", i, orr_error());
        assert_int_equal(csv.rows, 2);
        assert_int_equal(csv.cols, 2);
        assert_int_equal(csv.comments, tables[i].comments);
        assert_int_equal(csv.header, tables[i].header);
        assert_string_equal(csv.names[0], "a");
        assert_string_equal(csv.names[1], i == 2 ? " b" : "b");
        for (size_t k = 0; k < 4; k++)
            assert_true(csv.values[k] == (double)k + 1);
        assert_true(csv.line[0] == tables[i].line[0] && csv.line[1] == tables[i].line[1]);
        orr_csv_free(&csv);
    }
    struct orr_csv csv; /* a comment is the header only where as many numbers follow */
    assert_int_equal(read_csv("# a,b,c\n1,2\n3,4\n", ORR_CSV_NUMBERS, &csv), 0);
    assert_true(csv.comments == 1 && csv.rows == 1 && !strcmp(csv.names[0], "1"));
    orr_csv_free(&csv);
    assert_int_equal(read_csv("# \"a,b\n1,2\n3,\"4\"\n", ORR_CSV_NUMBERS, &csv), 0);
    assert_true(csv.comments == 1 && csv.rows == 1 && csv.values[1] == 4);
    orr_csv_free(&csv);
}

/* A header of very many columns is read at once, and what stands twice in it is named: of several
 * the first that has been there before. */
TEST_BETWEEN(test_csv_wide, scratch_setup, scratch_teardown)
{
    enum { COLS = 50000 };
    struct orr_csv csv;
    char *text = malloc(8 * (COLS + 3));
    size_t used = 0;
    for (int i = 0; i < COLS; i++)
        used += (size_t)sprintf(text + used, "%sc%d", i ? "," : "", i);
    assert_int_equal(read_csv(text, ORR_CSV_NUMBERS, &csv), 0);
    assert_true(csv.cols == COLS && !strcmp(csv.names[COLS - 1], "c49999"));
    orr_csv_free(&csv);
    strcpy(text + used, ",c9,c7");
    assert_int_equal(read_csv(text, ORR_CSV_NUMBERS, &csv), ORR_EFORMAT);
    error_names("x.csv:1:", "column \"c9\" stands twice", NULL);
    free(text);
}

TEST_BETWEEN(test_csv_errors, scratch_setup, scratch_teardown)
{
    static const struct {
        const char *text, *line, *said;
    } bad[] = {
        {"a,b\n1,2\n3\n4,5\n", ":3:", "expected 2 cells, found 1"},
        {"a,b\n1,2,3\n", ":2:", "found more"},
        {"a,b\n1,2\n3,x4\n", ":3:", "\"b\""},
        {"a,b\n1,2\n3,4 5\n", ":3:", "\"4 5\""},
        {"a,b\n1,\n", ":2:", "expected a number"},
        {"a,b\n1,\"2\n", "not closed", NULL},
        {"a,b\n1,\"2\"3\n", ":2:", "behind the quotes"},
        {"a,\"b\"c\n1,2\n", ":1:", "behind the quotes"},
        {"a,b\n1,2\n\n3,4,5\n", ":4:", "found more"},
        {"a,b\n1,2\n,\n", ":3:", "expected a number"}, /* no blank line: it has cells */
        {"a,a\n1,2\n", ":1:", "twice"},
        {"#\n\na, a \n1,2\n", ":3:", "column \"a\" stands twice"},
        {"a,b\n1,2\n#3,4\n", ":3:", "column \"a\""}, /* comments stand before the header */
        {"a,b\n1,3.9D\n", ":2:", "\"3.9D\""},
        {"a,b\n1,D3\n", ":2:", "\"D3\""},
        {"a,b\n1,1e5D3\n", ":2:", "\"1e5D3\""},
        {"a,b\n1,0x10\n", ":2:", "\"0x10\""},
        {"a,b\n1,-0X1p3\n", ":2:", "\"-0X1p3\""},
        {"a,b\n1,infD3\n", ":2:", "\"infD3\""},
        {"a,b\n1,\"2\" 3\n", ":2: column 2:", "behind the quotes"},
        {"", "empty", NULL},
        {"\n \r\n", "empty", NULL},
        {"# a,b\n", "empty", NULL},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct orr_csv csv;
        orr_error_clear();
        assert_int_equal(read_csv(bad[i].text, ORR_CSV_NUMBERS, &csv), ORR_EFORMAT);
        error_names("x.csv", bad[i].line, bad[i].said, NULL);
        assert_null(csv.names);
    }
    struct orr_csv csv; /* a quoted line break counts; the cells of a cut row are freed */
    assert_int_equal(read_csv("a,b\n\"1\n2\",3\n4,5\n6\n", ORR_CSV_KEEP_TEXT, &csv), ORR_EFORMAT);
    error_names(":5:", NULL);
    char path[4096];
    scratch_path(path, dir, "zero.csv");
    scratch_write(path, "a,b\n1,\0\n", 8);
    assert_int_equal(orr_csv_read(path, ORR_CSV_NUMBERS, &csv), ORR_EFORMAT);
    error_names("not a text file", NULL);
    assert_int_equal(orr_csv_read("/nonexistent.csv", ORR_CSV_NUMBERS, &csv), ORR_EMISSING);
    /* quotes inside a cell are signs as others: here of inches */
    assert_int_equal(read_csv("5\",6\",b\n1,2,3\n", ORR_CSV_NUMBERS, &csv), 0);
    assert_int_equal(csv.cols, 3);
    assert_int_equal(orr_csv_column(&csv, "6\""), 1);
    orr_csv_free(&csv);
}

/* What was held before a restart is no peak of what comes after it. */
TEST(test_memory_peak)
{
    enum { BYTES = 200 << 20 };
    const double before = orr_memory_peak();
    const int zeros = open("/dev/zero", O_RDONLY);
    unsigned char *block = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, zeros, 0);
    assert_true(block != MAP_FAILED);
    memset(block, 1, BYTES);
    assert_true(orr_memory_peak() > before + 0.8 * BYTES);
    assert_int_equal(munmap(block, BYTES), 0);
    close(zeros);
    assert_true(orr_memory_peak() > before + 0.8 * BYTES);
    orr_memory_peak_restart();
    assert_true(orr_memory_peak() < before + 0.5 * BYTES);
}

/* Plain numbers are read by a shorter way: the same bits and counts of digits as strtod() and
 * orr_csv_count_digits() give, for any number of digits and powers. */
TEST(plain_numbers_are_read_as_any)
{
    enum { NUMBERS = 20000 };
    gsl_rng *rng = orr_rng_create(4, ORR_STAGE_TEST_SUITE, 68);
    static char text[NUMBERS * 48], again[NUMBERS][48];
    size_t used = (size_t)snprintf(text, sizeof text, "x\n");
    struct orr_csv csv;
    struct orr_csv_digits digits = {.last = 400, .whole = true};
    for (int i = 0; i < NUMBERS; i++) {
        static const char *const form[] = {"%.*e", "%.*f", "%.*g", "%+.*e"};
        const double size = exp(60 * (gsl_rng_uniform(rng) - 0.5) * (i % 3 == 0));
        const double x = (gsl_rng_uniform(rng) - 0.3) * size;
        const int digit = (int)(20 * gsl_rng_uniform(rng));
        char *cell = again[i];
        snprintf(cell, 48, form[i % 4], digit, x);
        if (i % 7 == 0)
            snprintf(cell, 48, "%.0f", 1e4 * x);
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s", cell, i % 5 ? "\n" : "\r\n");
        orr_csv_count_digits(cell, &digits);
    }
    assert_int_equal(orr_csv_parse("table", text, used, ORR_CSV_KEEP_ODD, &csv), 0);
    assert_int_equal(csv.rows, NUMBERS);
    for (int i = 0; i < NUMBERS; i++)
        if (csv.values[i] != strtod(again[i], NULL))
            fail_msg("%s was read as %.17g", again[i], csv.values[i]);
    assert_int_equal(csv.digits[0].significant, digits.significant);
    assert_int_equal(csv.digits[0].last, digits.last);
    assert_true(csv.digits[0].whole == digits.whole);
    orr_csv_free(&csv);
    gsl_rng_free(rng);
}

/* Texts beside plain numbers go the long way: what is no number, and what only looks like one. */
TEST(odd_cells_are_no_plain_numbers)
{
    static const char *const cell[] = {"",    "-",     ".",   "1e",  "1e+",
                                       "0x1", "1.5.2", "--1", "1 2", "+-1"};
    for (size_t i = 0; i < sizeof cell / sizeof *cell; i++) {
        struct orr_csv csv;
        char text[64];
        const int bytes = snprintf(text, sizeof text, "a,b\n%s,7\n", cell[i]);
        assert_int_equal(orr_csv_parse("table", text, (size_t)bytes, ORR_CSV_KEEP_ODD, &csv), 0);
        assert_true(isnan(csv.values[0]) && csv.values[1] == 7);
        assert_string_equal(csv.cells[0], cell[i]);
        orr_csv_free(&csv);
    }
}

/* Pieces of whole lines are the file, one after the other, even where a caller overwrites them; a
 * line that is longer than a piece, a small file and no file are not read. */
TEST_BETWEEN(pieces_are_the_file, scratch_setup, scratch_teardown)
{
    enum { BYTES = 5 * ORR_PIECE / 2 };
    static char text[BYTES + 1];
    char path[4096], *piece;
    struct orr_pieces p;
    scratch_path(path, dir, "large.txt");
    for (int kind = 0; kind < 3; kind++) { /* a line end at the end, none, and none at all */
        for (int i = 0; i < BYTES; i++)
            text[i] = i * 7 % 237 == 0 && kind < 2 ? '\n' : (char)('a' + i * 11 % 23);
        text[BYTES - 1] = kind ? 'z' : '\n';
        scratch_text(path, text);
        size_t read = 0, bytes;
        int pieces = 0;
        assert_true(orr_pieces_open(&p, path, ORR_PIECE));
        while (orr_pieces_next(&p, &piece, &bytes)) {
            assert_true(bytes <= ORR_PIECE && strlen(piece) == bytes);
            assert_memory_equal(piece, text + read, bytes);
            read += bytes;
            assert_true(read == BYTES || piece[bytes - 1] == '\n');
            memset(piece, 0, bytes + 1);
            pieces++;
        }
        assert_true(p.is_whole == (kind < 2) && pieces == (kind < 2 ? 3 : 0));
        assert_true(read == (kind < 2 ? BYTES : 0));
        orr_pieces_close(&p);
    }
    assert_false(orr_pieces_open(&p, path, BYTES));
    assert_false(orr_pieces_open(&p, dir, 0));
    scratch_path(path, dir, "none");
    assert_false(orr_pieces_open(&p, path, 0));
    orr_pieces_close(&p);
}

TESTS(NULL, NULL)
