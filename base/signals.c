/* signals.c - SIGINT and SIGTERM ask for a clean stop; a second one ends at once. */
#include "base.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t seen;

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
    return seen != 0;
}

int orr_signal_number(void)
{
    return seen;
}
