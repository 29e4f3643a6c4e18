/* system.h - cores and time of this machine. */
#ifndef ORR_SYSTEM_H
#define ORR_SYSTEM_H

/* Cores that this process may use, at least 1: those that it is bound to, and no more than the CPU
 * quota of its control group (rounded up). */
int orr_cores(void);
/* That quota in cores, infinite where there is none. groups: /proc/self/cgroup; root:
 * /sys/fs/cgroup, with the files of version 1 or 2. */
double orr_cores_quota(const char *groups, const char *root);

/* Seconds on a monotonic clock. */
double orr_time_s(void);

#endif
