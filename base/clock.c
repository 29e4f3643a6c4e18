/* clock.c - the time of this machine. */
#include "system.h"

#include <time.h>

double orr_time_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
