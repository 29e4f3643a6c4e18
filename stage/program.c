/* program.c - what every program does around its work: arguments, signals, exit status. */
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/signals.h"
#include "base/text.h"
#include "cli.h"
#include "base/isa.h"
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <gsl/gsl_errno.h>

extern char **environ;

static int program_argc;
static char **program_argv;

void orr_command_add(char *text, size_t bytes, const char *argument)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./:,@%";
    orr_append(text, bytes, "%s", *text ? " " : "");
    if (*argument && !argument[strspn(argument, plain)]) {
        orr_append(text, bytes, "%s", argument);
        return;
    }
    orr_append(text, bytes, "%s", "'");
    for (const char *c = argument; *c; c++) {
        const char one[2] = {*c, 0};
        orr_append(text, bytes, "%s", *c == '\'' ? "'\\''" : one);
    }
    orr_append(text, bytes, "%s", "'");
}

int orr_program_arguments(char ***argv)
{
    *argv = program_argv;
    return program_argc;
}

bool orr_is_option(const char *argument, const char *name, bool *next)
{
    const size_t length = strlen(name);
    if (strncmp(argument, name, length) || (argument[length] && argument[length] != '='))
        return false;
    *next = !argument[length];
    return true;
}

int orr_program_beside(const char *self, const char *name, char path[4096])
{
    const char *slash = strrchr(self, '/');
    char folder[4096];
    if (slash && readlink(self, folder, sizeof folder) < 0)
        return orr_path(path, "%.*s/%s", (int)(slash - self), self, name);
    if (orr_program_folder(folder))
        return ORR_FAIL(ORR_EMISSING, "%s: cannot tell where this program is (no /proc)", name);
    return orr_path(path, "%s/%s", folder, name);
}

/* The part of `self` before "libexec/orrery/", where `make install` puts the programs that `orrery`
 * runs by their paths; -1: it is no such path. */
static int installed_prefix(const char *self)
{
    static const char below[] = "libexec/orrery";
    const char *slash = strrchr(self, '/');
    const ptrdiff_t length = slash ? slash - self - (ptrdiff_t)strlen(below) : -1;
    return length >= 0 && (!length || self[length - 1] == '/') &&
                   !strncmp(self + length, below, strlen(below))
               ? (int)length
               : -1;
}

int orr_program_of_orrery(const char *self, const char *name, char path[4096])
{
    static const char bin[] = "bin/";
    char beside[4096];
    TRY(orr_program_beside(self, "", beside));
    const size_t folder = strlen(beside) - strlen(bin);
    const bool in_bin = strlen(beside) >= strlen(bin) && !strcmp(beside + folder, bin) &&
                        (!folder || beside[folder - 1] == '/');
    TRY(in_bin ? orr_path(path, "%.*slibexec/orrery/%s", (int)folder, beside, name)
               : orr_path(path, "%s../libexec/orrery/%s", beside, name));
    return orr_exists(path) ? 0 : orr_path(path, "%s%s", beside, name);
}

bool orr_program_is_part(void)
{
    return program_argc > 0 && installed_prefix(program_argv[0]) >= 0;
}

/* Appends the command of the program `name` beside `self`: its path, or "P/bin/orrery NAME". */
static void add_program(char *text, size_t bytes, const char *self, const char *name)
{
    char path[4096];
    const char *slash = strrchr(self, '/');
    const int prefix = installed_prefix(self);
    if (prefix >= 0)
        snprintf(path, sizeof path, "%.*sbin/orrery", prefix, self);
    else
        snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - self) + 1 : 0, self, name);
    orr_command_add(text, bytes, path);
    if (prefix >= 0)
        orr_command_add(text, bytes, name);
}

int orr_program_exec(const char *path, const char *const *argv)
{
    execv(path, (char *const *)(uintptr_t)argv);
    return ORR_FAIL(errno == ENOENT ? ORR_EMISSING : ORR_EIO, "%s: cannot be run: %s", path,
                    strerror(errno));
}

enum { ARGUMENTS = 2 * ORR_SETTINGS_GIVEN + 64 };

/* Adds the options of this program that others share, and their values. */
static int add_shared(const char *argv[ARGUMENTS], int *argc)
{
    static const char *const shared[] = {"--preset", "--set", "--run", "--seed", "--threads"};
    for (int i = 1; i < program_argc; i++) {
        bool next = false, wanted = false;
        for (size_t o = 0; o < sizeof shared / sizeof *shared && !wanted; o++)
            wanted = orr_is_option(program_argv[i], shared[o], &next);
        if (!wanted)
            continue;
        if (*argc + 3 > ARGUMENTS)
            return ORR_FAIL(ORR_EUSAGE, "--set: at most %d settings", ORR_SETTINGS_GIVEN);
        argv[(*argc)++] = program_argv[i];
        if (next && i + 1 < program_argc)
            argv[(*argc)++] = program_argv[++i];
    }
    argv[*argc] = NULL;
    return 0;
}

/* Waits for a process, and asks it to end where this one was told to stop. */
static int wait_for(pid_t pid, const char *path, int *ended)
{
    const struct timespec moment = {0, 20000000};
    bool told = false;
    for (;;) {
        const pid_t is = waitpid(pid, ended, WNOHANG);
        if (is == pid)
            return 0;
        if (is < 0 && errno != EINTR)
            return ORR_FAIL(ORR_EIO, "%s: waitpid: %s", path, strerror(errno));
        if (orr_signal_seen() && !told)
            told = !kill(pid, SIGTERM);
        (void)nanosleep(&moment, NULL);
    }
}

int orr_program_call(const char *const *argv, bool hidden, int *status)
{
    posix_spawn_file_actions_t files;
    pid_t pid = 0;
    int ended = 0, error = posix_spawn_file_actions_init(&files);
    if (error)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", argv[0]);
    if (hidden)
        error = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!error)
        error = posix_spawn(&pid, argv[0], &files, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (error)
        return ORR_FAIL(error == ENOENT ? ORR_EMISSING : ORR_EIO, "%s: cannot be run: %s", argv[0],
                        strerror(error));
    TRY(wait_for(pid, argv[0], &ended));
    *status = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
    return 0;
}

int orr_program_run(const char *name, const char *const *arguments, bool hidden)
{
    const char *argv[ARGUMENTS];
    char path[4096];
    int argc = 0, status = 0;
    TRY(orr_program_beside(program_argc ? program_argv[0] : name, name, path));
    argv[argc++] = path;
    for (; *arguments && argc + 1 < ARGUMENTS; arguments++)
        argv[argc++] = *arguments;
    TRY(add_shared(argv, &argc));
    TRY(orr_program_call(argv, hidden, &status));
    if (orr_signal_seen())
        return ORR_FAIL(ORR_EINTR, "stopped by a signal");
    if (!status)
        return 0;
    orr_error_told();
    return ORR_FAIL(ORR_EINVAL, "%s failed", path);
}

int orr_program_become(const char *name, const char *const *arguments)
{
    const char *argv[ARGUMENTS];
    char path[4096];
    int argc = 1;
    TRY(orr_program_beside(program_argc ? program_argv[0] : name, name, path));
    argv[0] = path;
    for (; *arguments && argc + 1 < ARGUMENTS; arguments++)
        argv[argc++] = *arguments;
    argv[argc] = NULL;
    orr_signals_release();
    return orr_program_exec(path, argv);
}

void orr_command(const char *name, const char *const *options, char *text, size_t bytes)
{
    const char *self = program_argc ? program_argv[0] : name, *slash = strrchr(self, '/');
    *text = '\0';
    add_program(text, bytes, self, options ? name : slash ? slash + 1 : self);
    for (int i = 1; i < program_argc; i++) {
        bool next = false, wanted = !options && strcmp(program_argv[i], "--resume") != 0;
        for (const char *const *o = options; o && *o && !wanted; o++)
            wanted = orr_is_option(program_argv[i], *o, &next);
        if (wanted)
            orr_command_add(text, bytes, program_argv[i]);
        if (wanted && next && i + 1 < program_argc)
            orr_command_add(text, bytes, program_argv[++i]);
    }
    orr_command_add(text, bytes, "--resume");
}

void orr_command_of_run(const char *name, char text[ORR_COMMAND])
{
    static const char *const shared[] = {"--preset", "--set",       "--run", "--seed",
                                         "--orbits", "--attention", NULL};
    orr_command(name, shared, text, ORR_COMMAND);
}

/* GNU's and LLVM's OpenMP read OMP_WAIT_POLICY; only GNU's reads GOMP_SPINCOUNT, the rounds of busy
 * waiting before a thread sleeps. Measured: 1000 rounds cost no time on busy cores, and are as fast
 * as many more on idle ones. */
void orr_threads_sleep(char **argv)
{
    static const char *const known[] = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME",
                                        "KMP_LIBRARY"};
    char path[4096];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (getenv(known[i]))
            return;
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0 || (size_t)length >= sizeof path || setenv(known[0], "passive", 1) ||
        setenv(known[1], "1000", 1))
        return;
    path[length] = '\0';
    (void)execv(path, argv); /* if this fails, threads wait in the default way */
}

int orr_main(const struct orr_program *program, int argc, char **argv,
             int (*run)(const struct orr_cli *cli))
{
    struct orr_cli cli;
    bool done = false;
    orr_threads_sleep(argv);
    program_argc = argc;
    program_argv = argv;
    if (argc > 0)
        orr_map_name_program(argv[0]);
    orr_job_follow();
    orr_signals_catch(); /* before --help, which may write into a pipe that closes early */
    int rc = orr_cli_parse(program, argc, argv, &cli, &done);
    rc = rc || done ? rc : orr_isa_check();
    rc = program->settle ? program->settle(rc) : rc;
    if (rc || done)
        return orr_error_exit(program->name, rc);
    gsl_set_error_handler_off();
    orr_trace("%s begins, preset %s", program->name, cli.settings.name);
    rc = run(&cli);
    orr_trace("%s ends, %s, at most %.0f MB of memory", program->name,
              rc ? "not as it should" : "all well", (double)orr_memory_peak() / 1e6);
    rc = program->settle ? program->settle(rc) : rc;
    if (rc == ORR_EINTR) {
        if (!orr_error_was_told())
            orr_note(false, "%s: %s", program->name, orr_error());
        if (program->resumes && !orr_is_job() && !orr_error_was_told()) {
            char command[ORR_COMMAND];
            orr_command(program->name, NULL, command, sizeof command);
            orr_note(false, "resume with: %s", command);
        }
        if (program->stops_well || (!orr_signal_number() && orr_time_over()))
            rc = ORR_OK;
    }
    return orr_error_exit(program->name, rc);
}
