/* scratch.h - what the tests share: a folder that goes away, small files, and messages
 * that must name what is wrong. */
#ifndef TESTS_BASE_SCRATCH_H
#define TESTS_BASE_SCRATCH_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "testing.h"

/* A fresh folder in $TMPDIR, else in /tmp; scratch_remove() takes it away with the files in it. */
static inline void scratch_create(char dir[64])
{
    const char *parent = getenv("TMPDIR");
    snprintf(dir, 64, "%s/orrery_test_XXXXXX", parent && strlen(parent) < 44 ? parent : "/tmp");
    assert_non_null(mkdtemp(dir));
}

/* dir/name */
static inline void scratch_path(char path[4096], const char *dir, const char *name)
{
    assert_int_equal(orr_path(path, "%s/%s", dir, name), 0);
}

/* dir/name, for a statement: the text stands until the eighth call after it. */
static inline const char *scratch_at(const char *dir, const char *name)
{
    static char paths[8][4096];
    static int next;
    char *path = paths[next++ % 8];
    scratch_path(path, dir, name);
    return path;
}

/* Entries of a folder. */
static inline int scratch_count(const char *dir)
{
    int count = 0;
    DIR *folder = opendir(dir);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    closedir(folder);
    return count;
}

static inline void scratch_remove(const char *dir)
{
    DIR *folder = opendir(dir);
    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[4096];
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        if (orr_path(path, "%s/%s", dir, entry->d_name) == 0 && unlink(path))
            scratch_remove(path);
    }
    closedir(folder);
    rmdir(dir);
}

/* A folder for a whole group: setup and teardown of cmocka_run_group_tests(). */
static char scratch_dir[64];

static inline int scratch_setup(void **state)
{
    (void)state;
    scratch_create(scratch_dir);
    return 0;
}

static inline int scratch_teardown(void **state)
{
    (void)state;
    scratch_remove(scratch_dir);
    return 0;
}

/* Writes a file without the library under test. */
static inline void scratch_write(const char *path, const void *data, size_t bytes)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(data, 1, bytes, stream), bytes);
    assert_int_equal(fclose(stream), 0);
}

static inline void scratch_text(const char *path, const char *text)
{
    scratch_write(path, text, strlen(text));
}

/* The last message holds every one of these texts (NULL ends them). */
static inline void error_names(const char *part, ...)
{
    va_list parts;
    va_start(parts, part);
    for (; part; part = va_arg(parts, const char *))
        if (!strstr(orr_error(), part))
            fail_msg("the message \"%s\" lacks \"%s\"", orr_error(), part);
    va_end(parts);
}

#endif
