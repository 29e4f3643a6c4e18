/* signals.h - signals and a time limit that stop a program, and threads without signals. */
#ifndef ORR_SIGNALS_H
#define ORR_SIGNALS_H

#include <pthread.h>
#include <stdbool.h>

struct orr_stop;

/* SIGINT and SIGTERM set a flag; a second one ends the process at once. SIGPIPE and SIGXFSZ (a
 * limit on file sizes) are ignored, so that the write fails instead. SIGCHLD has its default
 * action, whatever the parent process set. SIGBUS of a mapped file that became shorter prints one
 * line to stderr and exits with status 1. */
void orr_signals_catch(void);
/* Before another program is executed in this process: SIGINT and SIGTERM have their default actions
 * again, and one that was seen since orr_signals_catch() takes its action. */
void orr_signals_release(void);
/* `last` is called before a signal ends the process at once: a second SIGINT or SIGTERM, or SIGHUP
 * or SIGQUIT, which are caught only for this. It runs in the handler and must be async-signal-safe.
 * NULL removes it. */
void orr_signals_at_end(void (*last)(void));
bool orr_signal_seen(void);
/* pthread_create() of a thread that receives no signals; the main thread handles them. Returns 0 or
 * the error number. */
int orr_thread_start(pthread_t *thread, void *(*run)(void *), void *argument);
int orr_signal_number(void); /* 0 when none was seen */
/* The option --minutes N. When N minutes from now are over, orr_signal_seen() is true, as after
 * SIGTERM; a program stopped by the limit exits with 0. ORR_EUSAGE unless N is a number above 0. */
int orr_time_limit(const char *minutes);
bool orr_time_over(void);
/* While held, the time limit does not end. Programs hold it until the first training step, so that
 * a limit shorter than the time of reading the data still allows progress. */
void orr_time_hold(bool hold);

#endif
