/* test_cores.c - as many threads as the process may use: bound to a core, or limited by its control
 * group as in a container. */
#include "scratch.h"

#include <math.h>

static char program[4096]; /* this one */

/* A file of the imitated /sys/fs/cgroup. */
static void write_at(const char *folder, const char *name, const char *text)
{
    char path[4096];
    scratch_path(path, scratch_dir, folder);
    assert_int_equal(orr_mkdir(path), 0);
    scratch_text(scratch_at(path, name), text);
}

static double quota(const char *groups)
{
    char path[4096], root[4096];
    scratch_path(path, scratch_dir, "cgroup");
    scratch_path(root, scratch_dir, "fs");
    scratch_text(path, groups);
    return orr_cores_quota(path, root);
}

TEST_BETWEEN(test_no_quota, scratch_setup, scratch_teardown)
{
    assert_true(isinf(orr_cores_quota("/nonexistent", "/nonexistent")));
    assert_true(isinf(quota("0::/\n"))); /* no such files */
    assert_true(isinf(quota("")));
    assert_true(isinf(quota("nonsense\n4:cpu\n::\n")));
    write_at("fs/free", "cpu.max", "max 100000\n");
    assert_true(isinf(quota("0::/free\n")));
    write_at("fs/cpu/free", "cpu.cfs_quota_us", "-1\n");
    write_at("fs/cpu/free", "cpu.cfs_period_us", "100000\n");
    assert_true(isinf(quota("1:cpu:/free\n")));
    assert_string_equal(orr_error(), "");
}

TEST_BETWEEN(test_version_2, scratch_setup, scratch_teardown)
{
    write_at("fs/slice/job", "cpu.max", "400000 100000\n");
    assert_true(quota("0::/slice/job\n") == 4);
    assert_true(quota("0::/slice/job/step/task\n") == 4); /* of a group above */
    write_at("fs/slice", "cpu.max", "150000 100000\n");
    assert_true(quota("0::/slice/job\n") == 1.5); /* the least on the way */
    assert_true(isinf(quota("0::/other\n")));
    write_at("fs", "cpu.max", "200000 100000\n"); /* a container: the root is its own */
    assert_true(quota("0::/\n") == 2);
    assert_true(quota("0::/as/the/host/names/it\n") == 2);
}

TEST_BETWEEN(test_version_1, scratch_setup, scratch_teardown)
{
    write_at("fs/cpu,cpuacct/docker/1f2e", "cpu.cfs_quota_us", "300000\n");
    write_at("fs/cpu,cpuacct/docker/1f2e", "cpu.cfs_period_us", "100000\n");
    assert_true(quota("5:memory:/x\n4:cpu,cpuacct:/docker/1f2e\n3:cpuset:/y\n") == 3);
    assert_true(isinf(quota("4:cpuacct:/docker/1f2e\n3:cpuset:/docker/1f2e\n")));
    write_at("fs/cpu", "cpu.cfs_quota_us", "50000\n");
    write_at("fs/cpu", "cpu.cfs_period_us", "100000\n");
    assert_true(quota("1:cpu:/as/the/host/names/it\n") == 0.5);
}

/* What this program prints as that when it is run by `command`. */
static int cores_of(const char *command)
{
    char line[2 * 4096];
    int cores = -1;
    snprintf(line, sizeof line, "%s %s cores", command, program);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%d", &cores), 1);
    assert_int_equal(pclose(pipe), 0);
    return cores;
}

TEST(test_bound_to_a_core)
{
    assert_true(orr_cores() >= 1);
    assert_int_equal(cores_of(""), orr_cores());
    if (system("taskset -c 0 true >/dev/null 2>&1"))
        skip(); /* not there, or not our core */
    assert_int_equal(cores_of("taskset -c 0"), 1);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        printf("%d\n", orr_cores());
        return 0;
    }
    snprintf(program, sizeof program, "%s", argv[0]);
    return tests_run(NULL, NULL);
}
