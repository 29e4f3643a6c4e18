/* signals.c - SIGINT and SIGTERM ask for a clean stop; a second one ends at once. A time limit asks
 * for the same. */
#include "base.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t seen;
static double end_s; /* 0: no limit */

static void on_signal(int number)
{
    seen = number;
    signal(number, SIG_DFL);
}

void orr_signals_catch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* these two: the write fails instead, and is cleaned up after */
    signal(SIGXFSZ, SIG_IGN);
}

bool orr_signal_seen(void)
{
    return seen != 0 || orr_time_over();
}

int orr_signal_number(void)
{
    return seen;
}

int orr_time_limit(const char *minutes)
{
    char *end;
    const double limit = strtod(minutes, &end);
    if (end == minutes || *end || !(limit > 0) || !isfinite(limit))
        return ORR_FAIL(ORR_EUSAGE, "--minutes: expected a number above 0, found \"%s\"", minutes);
    end_s = orr_time_s() + 60 * limit;
    return 0;
}

bool orr_time_over(void)
{
    return end_s > 0 && orr_time_s() >= end_s;
}
