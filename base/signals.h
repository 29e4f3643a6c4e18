/* signals.h - signals that stop a program, a time limit that does the same, and threads. */
#ifndef ORR_SIGNALS_H
#define ORR_SIGNALS_H

#include <pthread.h>
#include <stdbool.h>

struct orr_stop;

/* SIGINT and SIGTERM set a flag (a second one ends at once); SIGPIPE and SIGXFSZ (a limit on
 * file sizes) are ignored: the write fails instead. SIGCHLD is not, whatever the caller did. SIGBUS
 * of a mapped file that became shorter is an error: one line on stderr, status 1. */
void orr_signals_catch(void);
/* `last` is called before a signal ends the process at once: a second SIGINT or SIGTERM, and SIGHUP
 * or SIGQUIT, which are caught for this alone. It runs in the handler and may use only what is
 * async-signal-safe. NULL: nothing is called any more. */
void orr_signals_at_end(void (*last)(void));
bool orr_signal_seen(void);
/* pthread_create() of a thread that no signal is delivered to: they are the caller's. 0, or the
 * error number. */
int orr_thread_start(pthread_t *thread, void *(*run)(void *), void *argument);
int orr_signal_number(void); /* 0 when none was seen */
/* --minutes N of a program: when they are over, counted from now, orr_signal_seen() is true, as
 * after SIGTERM, and a program that was stopped by it exits with 0. Expects a number above 0:
 * ORR_EUSAGE. */
int orr_time_limit(const char *minutes);
bool orr_time_over(void);
/* While it is held the time is not over: from the limit to the first training step of a process, so
 * that a limit shorter than reading the data does not end every call where it began. */
void orr_time_hold(bool hold);

#endif
