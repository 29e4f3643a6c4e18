/* sweep.c - runs the cells of a grid on this machine, several at a time. */
#define _GNU_SOURCE /* pipe2(), wait4() */
#include "base/base.h"
#include "program.h"
#include "sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WHY = 1024 };

/* One cell, made by a process of its own: `pipe` reads why it failed. */
struct job {
    long cell;
    pid_t pid; /* 0: not running */
    int pipe;
    double begin_s;
    char *why; /* it failed; NULL: it did not, or has not ended */
};
struct sweep {
    const struct orr_grid *grid;
    const struct orr_grid_place *place;
    struct job *job;
    size_t count, begun;
    int running;
};

/* ---- in the process of a cell */

/* The last line of the text, without what was not text. */
static void last_line(char *text, char why[WHY])
{
    size_t length = strlen(text);
    while (length && text[length - 1] == '\n')
        text[--length] = '\0';
    const char *const line = strrchr(text, '\n');
    (void)orr_shown(why, WHY, line ? line + 1 : text);
}

/* Why a program failed, by the end of its log. */
static void say_log(const char *log, char why[WHY])
{
    char text[4096], line[WHY];
    size_t bytes = 0;
    FILE *file = fopen(log, "rb");
    if (file && (!fseek(file, -(long)sizeof text + 1, SEEK_END) || !fseek(file, 0, SEEK_SET)))
        bytes = fread(text, 1, sizeof text - 1, file);
    if (file)
        (void)fclose(file);
    text[bytes] = '\0';
    last_line(text, line);
    snprintf(why, WHY, "%.400s: %.600s", log, line);
}

/* Locks the cell until its last program has ended, whatever becomes of the sweep: programs inherit
 * the lock. */
static int lock_cell(const char *folder)
{
    char lock[4096], above[4096];
    int fd; /* open until this process ends */
    orr_folder_of(folder, above);
    TRY(orr_mkdir(above));
    TRY(orr_path(lock, "%s.lock", folder));
    return orr_sweep_lock(lock, folder, &fd);
}

/* Output goes into the log, input is none. */
static int open_log(const char *log)
{
    const int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || none < 0)
        return ORR_FAIL(ORR_EIO, "%s: %s", fd < 0 ? log : "/dev/null", strerror(errno));
    (void)fflush(NULL);
    if (dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0 || dup2(none, STDIN_FILENO) < 0)
        return ORR_FAIL(ORR_EIO, "%s: %s", log, strerror(errno));
    return 0;
}

/* Makes a cell, in a process of its own, up to the step that fails. */
static int make_cell(const struct sweep *s, long cell, const char *folder, int *status)
{
    struct orr_cell_command *c = calloc(1, sizeof *c);
    int rc = c ? 0 : ORR_FAIL(ORR_ENOMEM, "out of memory");
    for (int step = 0; step < s->grid->steps && !rc && !*status; step++) {
        rc = orr_grid_command(s->grid, s->place, cell, step, c);
        if (!rc)
            rc = *c->shared ? orr_share_make(folder, c->shared, c->argv, status)
                            : orr_program_call(c->argv, false, status);
        if (!rc && !*status && orr_signal_seen())
            *status = 128 + orr_signal_number();
    }
    free(c);
    return rc;
}

/* The process of a cell: its exit status, and in `out` why it failed. */
static int run_cell(const struct sweep *s, long cell, int out)
{
    char folder[4096], log[4096] = "", why[WHY] = "";
    int status = 0;
    bool locked = false;
    (void)setpgid(0, 0);                    /* a terminal's Ctrl-C is the sweep's to pass on */
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* and so is its end */
    int rc = orr_grid_cell_folder(s->grid, s->place, cell, folder);
    rc = rc ? rc : orr_path(log, "%s.log", folder);
    rc = rc ? rc : lock_cell(folder);
    rc = rc ? rc : open_log(log);
    locked = !rc;
    rc = rc ? rc : make_cell(s, cell, folder, &status);
    if (rc && locked)
        fprintf(stderr, "sweep: error: %s\n", orr_error());
    if (rc && !locked)
        snprintf(why, sizeof why, "%s", orr_error());
    else if (rc || status)
        say_log(log, why);
    if (*why && write(out, why, strlen(why)) < 0)
        return 1;
    return rc || status ? 1 : 0;
}

/* ---- in the sweep */

static int start(struct sweep *s)
{
    struct job *job = &s->job[s->begun];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return ORR_FAIL(ORR_EIO, "sweep: pipe: %s", strerror(errno));
    (void)fflush(NULL);
    job->begin_s = orr_time_s();
    job->pid = fork();
    if (job->pid < 0) {
        job->pid = 0;
        (void)close(ends[0]);
        (void)close(ends[1]);
        return ORR_FAIL(ORR_EIO, "sweep: fork: %s", strerror(errno));
    }
    if (!job->pid) {
        (void)close(ends[0]);
        const int status = run_cell(s, job->cell, ends[1]);
        (void)fflush(NULL);
        _exit(status);
    }
    (void)close(ends[1]);
    job->pipe = ends[0];
    s->begun++;
    s->running++;
    return 0;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* Takes note of a cell that has ended. */
static int end(struct sweep *s, struct job *job, int ended, const struct rusage *used)
{
    char folder[4096], why[WHY + 1] = "";
    const bool well = WIFEXITED(ended) && !WEXITSTATUS(ended);
    TRY(orr_grid_cell_folder(s->grid, s->place, job->cell, folder));
    const ssize_t bytes = read(job->pipe, why, WHY);
    why[bytes > 0 ? bytes : 0] = '\0';
    (void)close(job->pipe);
    job->pid = 0;
    s->running--;
    if (well)
        printf("sweep: %s (%.0f s, CPU %.2f + %.2f s)\n", folder, orr_time_s() - job->begin_s,
               seconds(used->ru_utime), seconds(used->ru_stime));
    else if (!orr_signal_seen()) {
        printf("sweep: %s: failed\n", folder);
        job->why = strdup(*why ? why : folder);
    }
    (void)fflush(stdout);
    return well || job->why || orr_signal_seen() ? 0 : ORR_FAIL(ORR_ENOMEM, "out of memory");
}

static void pass_on(const struct sweep *s, int number)
{
    for (size_t i = 0; i < s->begun; i++)
        if (s->job[i].pid)
            (void)kill(s->job[i].pid, number);
}

/* Starts cells and waits for them; after a signal for those that run. */
static int run_jobs(struct sweep *s, int jobs)
{
    const struct timespec moment = {0, 20000000};
    bool told = false;
    int rc = 0;
    while (s->running || (s->begun < s->count && !rc && !orr_signal_seen())) {
        while (!rc && !orr_signal_seen() && s->running < jobs && s->begun < s->count)
            rc = start(s);
        if (orr_signal_seen() && !told) {
            pass_on(s, SIGTERM);
            told = true;
        }
        bool any = false;
        for (size_t i = 0; i < s->begun; i++) {
            struct rusage used;
            int ended = 0;
            if (!s->job[i].pid || wait4(s->job[i].pid, &ended, WNOHANG, &used) != s->job[i].pid)
                continue;
            any = true;
            const int took = end(s, &s->job[i], ended, &used);
            rc = rc ? rc : took;
        }
        if (!any)
            (void)nanosleep(&moment, NULL);
    }
    return rc;
}

/* Names the cells that failed, on stderr. */
static int name_failed(const struct sweep *s)
{
    size_t failed = 0;
    for (size_t i = 0; i < s->count; i++)
        failed += s->job[i].why != NULL;
    if (!failed)
        return 0;
    fprintf(stderr, "sweep: error: %s: %zu of %zu cells failed:\n", s->grid->file, failed,
            s->count);
    for (size_t i = 0; i < s->count; i++)
        if (s->job[i].why)
            fprintf(stderr, "  %s\n", s->job[i].why);
    orr_error_told();
    return ORR_FAIL(ORR_EINVAL, "cells failed");
}

int orr_sweep_run(const struct orr_grid *grid, const struct orr_grid_place *place, const long *cell,
                  size_t count, int jobs)
{
    struct sweep s = {.grid = grid, .place = place, .count = count};
    s.job = orr_alloc(count + 1, sizeof *s.job);
    if (!s.job)
        return ORR_FAIL(ORR_ENOMEM, "out of memory");
    memset(s.job, 0, (count + 1) * sizeof *s.job);
    for (size_t i = 0; i < count; i++)
        s.job[i].cell = cell[i];
    int rc = run_jobs(&s, jobs);
    if (!rc)
        rc = orr_signal_seen() ? ORR_FAIL(ORR_EINTR, "stopped by a signal") : name_failed(&s);
    for (size_t i = 0; i < count; i++)
        free(s.job[i].why);
    free(s.job);
    return rc;
}
