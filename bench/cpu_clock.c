/* cpu_clock.c - seconds of processor time in place of seconds of the wall: preloaded into a
 * program, CLOCK_MONOTONIC is the processor time of its process, so that a limit in seconds means
 * the work of an idle core however loaded the machine is.
 *
 *   LD_PRELOAD=build/bench/cpu_clock.so bin/symreg data.csv --seconds 10 --threads 1
 *
 * Time passes as long as the program sleeps in nanosleep() too, or a wait for a lock would never
 * end. Several threads make the clock run as many times as fast. Processor time is a system call,
 * unlike the wall's: it is read once per millisecond. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <time.h>

enum { SECOND_NS = 1000000000, READ_AFTER_NS = 1000000 };
static int (*real_gettime)(clockid_t, struct timespec *);
static int (*real_sleep)(const struct timespec *, struct timespec *);
static atomic_llong slept_ns, read_at_ns, processor_ns;

__attribute__((constructor)) static void find_real(void)
{
    *(void **)&real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    *(void **)&real_sleep = dlsym(RTLD_NEXT, "nanosleep");
}

static long long read_ns(clockid_t clock)
{
    struct timespec now = {0};
    real_gettime(clock, &now);
    return (long long)now.tv_sec * SECOND_NS + now.tv_nsec;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!real_gettime) /* a constructor before ours */
        find_real();
    if (clock != CLOCK_MONOTONIC)
        return real_gettime(clock, now);
    const long long wall_ns = read_ns(CLOCK_MONOTONIC);
    if (wall_ns - atomic_load(&read_at_ns) >= READ_AFTER_NS) {
        atomic_store(&processor_ns, read_ns(CLOCK_PROCESS_CPUTIME_ID));
        atomic_store(&read_at_ns, wall_ns);
    }
    const long long ns = atomic_load(&processor_ns) + atomic_load(&slept_ns);
    *now = (struct timespec){.tv_sec = (time_t)(ns / SECOND_NS), .tv_nsec = (long)(ns % SECOND_NS)};
    return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    if (!real_gettime)
        find_real();
    const long long start_ns = read_ns(CLOCK_MONOTONIC);
    const int rc = real_sleep(wanted, left);
    atomic_fetch_add(&slept_ns, read_ns(CLOCK_MONOTONIC) - start_ns);
    return rc;
}
