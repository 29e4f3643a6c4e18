/* cores.c - how many cores this process may use: those of its affinity mask (taskset, mpirun,
 * Slurm), limited by the CPU quota of its control group (containers). */
#include "error.h"
#include "file.h"
#include "system.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>

/* Reads the number at the beginning of a file, and into `second` (may be NULL) the next one. NaN
 * where the file is missing or begins with text (cpu.max: "max 100000"). */
static double read_number(const char *folder, const char *name, double *second)
{
    char path[4096];
    double first = NAN, next = NAN;
    if (orr_path(path, "%s/%s", folder, name)) {
        orr_error_clear();
        return NAN;
    }
    FILE *stream = fopen(path, "r");
    if (!stream)
        return NAN;
    if (fscanf(stream, "%lf %lf", &first, &next) < 1)
        first = NAN;
    fclose(stream);
    if (second)
        *second = next;
    return first;
}

/* The CPU limit of one control group in cores: version 2 has one file ("quota period"), version 1
 * one file for each number, with quota -1 for no limit. Infinite without a limit. */
static double limit_of(const char *folder)
{
    double period, quota = read_number(folder, "cpu.max", &period);
    if (!(quota > 0)) {
        quota = read_number(folder, "cpu.cfs_quota_us", NULL);
        period = read_number(folder, "cpu.cfs_period_us", NULL);
    }
    return quota > 0 && period > 0 ? quota / period : INFINITY;
}

/* The smallest limit of <root><group> and the groups above it. In a container the group may be
 * named as the host sees it; then only the root exists here, and it is the container's group. */
static double least_limit(const char *root, const char *group)
{
    char path[4096];
    double least = limit_of(root);
    if (orr_path(path, "%s%s", root, group)) {
        orr_error_clear();
        return least;
    }
    for (char *slash; strlen(path) > strlen(root); *slash = '\0') {
        least = fmin(least, limit_of(path));
        slash = strrchr(path, '/');
    }
    return least;
}

/* Whether a list such as "cpu,cpuacct" names the cpu controller, which sets quotas. */
static bool has_cpu(const char *controllers)
{
    for (const char *at = controllers; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
        if (strcspn(at, ",") == 3 && !strncmp(at, "cpu", 3))
            return true;
    return false;
}

double orr_cores_quota(const char *groups, const char *root)
{
    char line[4096], folder[4096];
    double least = INFINITY;
    FILE *stream = fopen(groups, "r");
    /* "0::/user.slice" (version 2), "4:cpu,cpuacct:/docker/1f2e" (version 1) */
    while (stream && fgets(line, sizeof line, stream)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(++controllers, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        if (*group != '/')
            continue;
        if (!*controllers)
            least = fmin(least, least_limit(root, group));
        if (!has_cpu(controllers))
            continue;
        const char *const mounts[] = {controllers, "cpu"};
        for (int i = 0; i < 2; i++) {
            if (!orr_path(folder, "%s/%s", root, mounts[i]))
                least = fmin(least, least_limit(folder, group));
        }
    }
    if (stream)
        fclose(stream);
    return least;
}

int orr_cores(void)
{
    const int bound = omp_get_num_procs();
    const double quota = ceil(orr_cores_quota("/proc/self/cgroup", "/sys/fs/cgroup"));
    if (quota < bound)
        return quota > 1 ? (int)quota : 1;
    return bound > 0 ? bound : 1;
}
