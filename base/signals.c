/* signals.c - SIGINT, SIGTERM and a time limit request a clean stop; a second signal ends the
 * process at once. */
#include "error.h"
#include "signals.h"
#include "stop.h"
#include "system.h"
#include "map.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Written by handlers and read by prefetching threads: lock-free (ATOMIC_INT_LOCK_FREE). */
static atomic_int seen, interrupted, terminated;
static void (*volatile at_end)(void);
static double end_s;     /* 0: no limit */
static atomic_bool held; /* the limit waits for the first training step */

/* Ends the process by the signal's default action, once the handler returns. */
static void end_by(int number)
{
    void (*const last)(void) = at_end;
    if (last)
        last();
    signal(number, SIG_DFL);
    raise(number);
}

static void on_signal(int number)
{
    atomic_int *before = number == SIGINT ? &interrupted : &terminated;
    if (*before)
        end_by(number);
    *before = 1;
    seen = number;
}

/* SIGBUS. An access outside the mapped files ends the process by the default action. */
static void on_bus(int number, siginfo_t *info, void *context)
{
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    (void)context;
    if (info->si_code <= 0) { /* sent by kill(2) */
        end_by(number);
        return;
    }
    if (atomic_flag_test_and_set(&begun)) /* another thread already ends the process */
        for (;;)
            (void)pause();
    if (!orr_map_lost(info->si_addr)) {
        end_by(number);
        return;
    }
    void (*const last)(void) = at_end;
    if (last)
        last();
    _exit(1);
}

static void catch_with(void (*handler)(int), int number)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigfillset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, NULL);
}

void orr_signals_at_end(void (*last)(void))
{
    static const int others[] = {SIGHUP, SIGQUIT};
    at_end = last;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct sigaction now;
        if (sigaction(others[i], NULL, &now))
            continue;
        if (last && now.sa_handler == SIG_DFL)
            catch_with(end_by, others[i]);
        else if (!last && now.sa_handler == end_by)
            signal(others[i], SIG_DFL);
    }
}

void orr_signals_catch(void)
{
    catch_with(on_signal, SIGINT);
    catch_with(on_signal, SIGTERM);
    struct sigaction bus;
    memset(&bus, 0, sizeof bus);
    bus.sa_sigaction = on_bus;
    bus.sa_flags = SA_SIGINFO;
    sigfillset(&bus.sa_mask);
    sigaction(SIGBUS, &bus, NULL);
    signal(SIGPIPE, SIG_IGN); /* these two: the write fails instead, and its caller cleans up */
    signal(SIGXFSZ, SIG_IGN);
    /* if SIGCHLD is ignored, gnuplot and parallel jobs leave no exit status */
    signal(SIGCHLD, SIG_DFL);
}

void orr_signals_release(void)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (seen)
        raise(seen);
}

int orr_thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* delivered to the thread that reads a mapped file */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

const struct orr_stop *orr_stop_of_call;

bool orr_signal_seen(void)
{
    return seen != 0 || (orr_stop_of_call && orr_stop_of_call->asked) || orr_time_over();
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

void orr_time_hold(bool hold)
{
    held = hold;
}

bool orr_time_over(void)
{
    const struct orr_stop *stop = orr_stop_of_call;
    return (!held && end_s > 0 && orr_time_s() >= end_s) ||
           (stop && stop->until_s > 0 && orr_time_s() >= stop->until_s);
}
