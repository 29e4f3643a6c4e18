/* jobs.c - parallel jobs of a call: the program itself, once per job, on fewer threads.
 *
 * Threads that share one small model wait for each other more than they compute, while separate
 * models run independently. Results have equal bits either way. */
#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"
#include "cli.h"
#include "program.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

enum { JOBS = ORR_LIST + 3 };

static volatile pid_t jobs[JOBS]; /* 0: not started, or ended */

void orr_job_follow(void)
{
    if (orr_is_job())
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* saves and ends when its parent is killed */
}

static void tell_jobs(int number)
{
    for (int i = 0; i < JOBS; i++)
        if (jobs[i] > 0)
            kill(jobs[i], number);
}

/* Kills the jobs before a second signal ends this process. */
static void end_jobs(void)
{
    tell_jobs(SIGKILL);
}

/* Ctrl-Z: jobs have process groups of their own, so this process stops and continues them together
 * with itself. */
static void on_stop(int number)
{
    (void)number;
    const int error = errno;
    tell_jobs(SIGSTOP);
    (void)raise(SIGSTOP);
    tell_jobs(SIGCONT);
    errno = error;
}

/* Installs or removes the handler of SIGTSTP, unless this process ignores the signal, as in a shell
 * without job control. */
static void stop_together(bool together)
{
    struct sigaction now, action;
    if (sigaction(SIGTSTP, NULL, &now) || now.sa_handler != (together ? SIG_DFL : on_stop))
        return;
    memset(&action, 0, sizeof action);
    action.sa_handler = together ? on_stop : SIG_DFL;
    sigfillset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    (void)sigaction(SIGTSTP, &action, NULL);
}

/* This call's arguments except `option` and --threads, then those of the job; free() it. */
static char **job_arguments(const char *option, const char *name, const char *threads)
{
    char **given;
    const int count = orr_program_arguments(&given);
    const char **argv = calloc((size_t)count + 5, sizeof *argv);
    int n = 0;
    for (int i = 0; argv && i < count; i++) {
        bool next = false;
        const bool dropped = i > 0 && (orr_is_option(given[i], option, &next) ||
                                       orr_is_option(given[i], "--threads", &next));
        if (!dropped)
            argv[n++] = given[i];
        else if (next)
            i++;
    }
    if (!argv)
        return NULL;
    argv[n++] = option;
    argv[n++] = name;
    argv[n++] = "--threads";
    argv[n] = threads;
    return (char **)(uintptr_t)argv; /* posix_spawn() does not change them */
}

/* Starts a job in a process group of its own: this process receives the terminal's signals and
 * passes them on. */
static int start_job(int job, const char *option, const char *name, int threads)
{
    char text[16];
    pid_t pid = 0;
    snprintf(text, sizeof text, "%d", threads);
    char **argv = job_arguments(option, name, text);
    posix_spawnattr_t attributes;
    int error = argv ? posix_spawnattr_init(&attributes) : ENOMEM;
    if (!error) {
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        (void)posix_spawnattr_setpgroup(&attributes, 0);
        error = setenv(ORR_JOB_VARIABLE, "1", 1)
                    ? ENOMEM
                    : posix_spawnp(&pid, argv[0], NULL, &attributes, argv, environ);
        (void)unsetenv(ORR_JOB_VARIABLE);
        (void)posix_spawnattr_destroy(&attributes);
    }
    free(argv);
    if (error)
        return ORR_FAIL(ORR_EIO, "%s: cannot begin: %s", name, strerror(error));
    jobs[job] = pid;
    return 0;
}

/* Waits a moment for jobs to end. Returns how many still run; *failed: the first job that
 * failed. */
static int wait_for(int count, int status[], int *failed)
{
    int running = 0;
    for (int i = 0; i < count; i++) {
        if (jobs[i] <= 0)
            continue;
        if (waitpid(jobs[i], &status[i], WNOHANG) != jobs[i]) {
            running++;
            continue;
        }
        jobs[i] = 0;
        const bool well = WIFEXITED(status[i]) && WEXITSTATUS(status[i]) == 0;
        if (!well && *failed < 0)
            *failed = i;
    }
    if (running)
        (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    return running;
}

/* Turns a job's exit status into an error code; the job has printed its own message. */
static int job_error(const char *name, int status)
{
    if (WIFSIGNALED(status))
        return ORR_FAIL(ORR_EIO, "%s: ended by signal %d", name, WTERMSIG(status));
    if (WEXITSTATUS(status) > 128)
        return ORR_FAIL(ORR_EINTR, "%s: stopped", name);
    orr_error_told();
    return ORR_FAIL(WEXITSTATUS(status) == 2 ? ORR_EUSAGE : ORR_EIO,
                    "%s: not done, for the reason above", name);
}

int orr_jobs_run(const char *option, const char *const name[], int count, int threads)
{
    const int at_once = threads < count ? threads : count;
    int status[JOBS] = {0}, begun = 0, running = 0, failed = -1, rc = 0;
    bool told = false;
    if (count > JOBS)
        return ORR_FAIL(ORR_EINVAL, "%d jobs side by side: at most %d", count, JOBS);
    orr_signals_at_end(end_jobs);
    stop_together(true);
    do {
        while (!rc && failed < 0 && !orr_signal_seen() && begun < count && running < at_once) {
            /* the first jobs get the remaining threads */
            const int own = threads / at_once + (begun % at_once < threads % at_once);
            rc = start_job(begun, option, name[begun], own);
            begun += !rc;
            running += !rc;
        }
        if (orr_signal_seen() && !told) {
            tell_jobs(SIGTERM);
            told = true;
        }
        running = wait_for(begun, status, &failed);
    } while (running || (!rc && failed < 0 && !orr_signal_seen() && begun < count));
    stop_together(false);
    orr_signals_at_end(NULL);
    if (!rc && orr_signal_seen())
        rc = ORR_FAIL(ORR_EINTR, "stopped; what was done is saved");
    else if (!rc && failed >= 0)
        rc = job_error(name[failed], status[failed]);
    return rc;
}
