/* jump_clock.c - a wall clock that jumps: preloaded into a program, time(), gettimeofday(),
 * timespec_get() and the clocks of real time go forth and back by seconds to years between any two
 * calls, as when an operator or a time server sets the clock. Clocks that only run forward
 * (CLOCK_MONOTONIC) and those of processor time stay as they are.
 *
 *   LD_PRELOAD=jump_clock.so JUMP_HOW=back JUMP_REPORT=FILE program ...
 *
 * JUMP_HOW=back: every call goes back by one more hour instead, so that no time is ever reached by
 * waiting for it. JUMP_REPORT gets a line "<calls that were answered so> <program>" when the
 * program returns. */
#define _GNU_SOURCE
#include "preload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { HOUR = 3600, DAY = 24 * HOUR, YEAR = 365 * DAY };
/* of the n-th call, over and over: neither sorted nor symmetric */
static const time_t jumps_s[] = {HOUR, -2 * DAY, 17 * HOUR, -YEAR,         -37,
                                 0,    3 * DAY,  -5 * HOUR, 2 * YEAR + 11, -40 * DAY};
static atomic_ulong calls;

static time_t jump_s(void)
{
    const unsigned long n = atomic_fetch_add(&calls, 1);
    if (getenv("JUMP_HOW")) /* of which there is one */
        return -HOUR * (time_t)n;
    return jumps_s[n % (sizeof jumps_s / sizeof *jumps_s)];
}

static int clock_now(clockid_t clock, struct timespec *now)
{
    if (syscall(SYS_clock_gettime, clock, now))
        return -1; /* errno is set */
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI)
        now->tv_sec += jump_s();
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    return clock_now(clock, now);
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec exact;
    (void)zone;
    if (clock_now(CLOCK_REALTIME, &exact))
        return -1;
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now)
{
    struct timespec exact;
    if (clock_now(CLOCK_REALTIME, &exact))
        return -1;
    if (now)
        *now = exact.tv_sec;
    return exact.tv_sec;
}

int timespec_get(struct timespec *now, int base)
{
    return base == TIME_UTC && !clock_now(CLOCK_REALTIME, now) ? base : 0;
}

__attribute__((destructor)) static void report(void)
{
    char line[128];
    snprintf(line, sizeof line, "%lu %s\n", calls, program_invocation_short_name);
    preload_report("JUMP_REPORT", line);
}
