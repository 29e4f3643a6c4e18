/* system.h - cores and time of this machine. */
#ifndef ORR_SYSTEM_H
#define ORR_SYSTEM_H

/* Cores that this process may use, at least 1: those of its affinity mask, limited by the CPU quota
 * of its control group (rounded up). */
int orr_cores(void);
/* The CPU quota of the control group in cores; infinite without a quota. groups: /proc/self/cgroup;
 * root: /sys/fs/cgroup, with the files of version 1 or 2. */
double orr_cores_quota(const char *groups, const char *root);

/* Seconds on a monotonic clock. */
double orr_time_s(void);

#endif
