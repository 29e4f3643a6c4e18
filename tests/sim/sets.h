/* sets.h - comparing folders of data sets. */
#ifndef TESTS_SIM_SETS_H
#define TESTS_SIM_SETS_H

#include "base/scratch.h"
#include "sim.h"

static inline void sets_checksum(const char *folder, const char *name, uint64_t *sum,
                                 uint64_t *bytes)
{
    assert_int_equal(orr_file_checksum(scratch_at(folder, name), sum, bytes), 0);
}

/* All files of two folders are the same, byte for byte. */
static inline void sets_same(const char *a, const char *b)
{
    int files = 0;
    DIR *folder = opendir(a);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        uint64_t sum[2], bytes[2];
        if (entry->d_name[0] == '.')
            continue;
        sets_checksum(a, entry->d_name, &sum[0], &bytes[0]);
        sets_checksum(b, entry->d_name, &sum[1], &bytes[1]);
        if (sum[0] != sum[1] || bytes[0] != bytes[1])
            fail_msg("%s differs", entry->d_name);
        files++;
    }
    closedir(folder);
    assert_int_equal(files, scratch_count(b));
}

/* Two folders of a group: setup and teardown of cmocka_run_group_tests(). */
static char dir[64], other[64];

static inline int sets_setup(void **state)
{
    (void)state;
    scratch_create(dir);
    scratch_create(other);
    return 0;
}

static inline int sets_teardown(void **state)
{
    (void)state;
    scratch_remove(dir);
    scratch_remove(other);
    return 0;
}

/* A folder where the temporary file of dir/name would be: it can not be written. */
static inline void blocker(const char *name, char folder[ORR_TEMPORARY])
{
    orr_temporary_name(folder, scratch_at(dir, name));
    assert_int_equal(orr_mkdir(folder), 0);
}

/* Short sequences of tokens, and few of them. */
static inline void sets_preset(struct orr_settings *p)
{
    orr_settings_defaults(p);
    strcpy(p->name, "test");
    p->seed = 31;
    p->orbits.positions = 24;
    p->orbits.bins = 300;
    p->orbits.train = p->orbits.train_files = 1000;
    p->orbits.val = 7;
    p->orbits.test = 0;
    p->orbits.two_body_train = 50;
    p->orbits.two_body_val = 3;
    p->orbits.two_body_test = 5;
    assert_int_equal(orr_settings_check(p), 0);
}

#endif
