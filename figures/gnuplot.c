/* gnuplot.c - finds gnuplot, runs it on a script, and trusts its exit status only with a whole
 * picture. */
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_program(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

static int find_gnuplot(char found[REPORT_PATH])
{
    const char *folders = getenv("PATH");
    while (folders && *folders) {
        const size_t length = strcspn(folders, ":");
        if (!orr_path(found, "%.*s/gnuplot", (int)length, folders) && is_program(found))
            return 0;
        folders += length + (folders[length] == ':');
    }
    orr_error_clear();
    return ORR_FAIL(ORR_EMISSING, "gnuplot: not found in PATH; install it (package gnuplot-nox) or "
                                  "run make deps");
}

static bool has_scripts(const char *folder)
{
    char path[REPORT_PATH];
    return !orr_path(path, "%s/forces.gp", folder) && orr_exists(path);
}

static int find_scripts(char found[REPORT_PATH])
{
    const char *named = getenv("ORRERY_FIGURES");
    if (named && *named) {
        const int rc = orr_path(found, "%s", named);
        if (rc)
            return rc;
        return has_scripts(found)
                   ? 0
                   : ORR_FAIL(ORR_EMISSING, "%s: no forces.gp in this folder ($ORRERY_FIGURES)",
                              named);
    }
    char program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) {
        program[length] = '\0';
        char *slash = strrchr(program, '/');
        if (slash)
            *slash = '\0';
        if (!orr_path(found, "%s/../figures", program) && has_scripts(found))
            return 0;
    }
    if (!orr_path(found, "figures") && has_scripts(found))
        return 0;
    return ORR_FAIL(ORR_EMISSING, "forces.gp: not found beside the program nor in ./figures; name "
                                  "its folder in $ORRERY_FIGURES");
}

int report_tools_find(struct report_tools *tools)
{
    const int rc = find_gnuplot(tools->gnuplot);
    return rc ? rc : find_scripts(tools->scripts);
}

int report_gnuplot_string(struct orr_file *file, const char *text)
{
    int rc = orr_file_printf(file, "\"");
    for (; *text && !rc; text++) {
        if (*text == '"' || *text == '\\')
            rc = orr_file_printf(file, "\\%c", *text);
        else if (*text == '`') /* gnuplot would run what stands between two of them */
            rc = orr_file_printf(file, "'");
        else if (*text == '\n')
            rc = orr_file_printf(file, "\\n");
        else
            rc = orr_file_write(file, text, 1);
    }
    return rc ? rc : orr_file_printf(file, "\"");
}

/* The child: errors go to `messages`; only async-signal-safe calls between fork and exec. */
static _Noreturn void child(const char *messages, char *const argv[])
{
    const int out = open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int in = open("/dev/null", O_RDONLY);
    if (out < 0 || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(126);
    execv(argv[0], argv);
    _exit(127);
}

/* The first line of gnuplot's complaint that says something. */
static void first_complaint(const char *messages, char line[256])
{
    char *text = NULL;
    size_t bytes;
    snprintf(line, 256, "no message");
    if (orr_file_read(messages, &text, &bytes)) {
        orr_error_clear();
        return;
    }
    for (char *at = text; *at;) {
        const size_t length = strcspn(at, "\n");
        /* gnuplot echoes the line it choked on and points at it with a caret */
        const char *start = at + strspn(at, " \t^");
        if (start < at + length && strncmp(start, "gnuplot>", 8)) {
            snprintf(line, 256, "%.*s", (int)(at + length - start), start);
            if (memchr(start, ':', (size_t)(at + length - start)))
                break;
        }
        at += length + (at[length] == '\n');
    }
    free(text);
}

/* A picture is whole when it ends as its format ends: cairo does not report a full disk. */
static bool is_whole(const char *path, bool svg)
{
    char *bytes_read = NULL;
    size_t bytes = 0;
    if (orr_file_read(path, &bytes_read, &bytes)) {
        orr_error_clear();
        return false;
    }
    bool whole;
    if (svg) {
        while (bytes > 0 && strchr("\r\n ", bytes_read[bytes - 1]))
            bytes--;
        whole = bytes > 6 && !memcmp(bytes_read + bytes - 6, "</svg>", 6);
    } else {
        whole = bytes > 20 && !memcmp(bytes_read, "\x89PNG\r\n\x1a\n", 8) &&
                !memcmp(bytes_read + bytes - 8, "IEND", 4);
    }
    free(bytes_read);
    return whole;
}

static int render(const struct report_tools *tools, const char *script, const char *folder,
                  const char *name, const char *format)
{
    char script_path[REPORT_PATH], stem[REPORT_PATH], output[REPORT_PATH], messages[REPORT_PATH];
    int rc = orr_path(script_path, "%s/%s", tools->scripts, script);
    if (!rc)
        rc = orr_path(stem, "%s/%s", folder, name);
    if (!rc)
        rc = orr_path(output, "%s/%s.%s", folder, name, format);
    if (!rc)
        rc = orr_path(messages, "%s/messages.txt", folder);
    if (rc)
        return rc;
    char gnuplot[REPORT_PATH], flag[] = "-c", form[8];
    snprintf(gnuplot, sizeof gnuplot, "%s", tools->gnuplot);
    snprintf(form, sizeof form, "%s", format);
    char *const argv[] = {gnuplot, flag, script_path, stem, output, form, NULL};
    const pid_t pid = fork();
    if (pid < 0)
        return ORR_FAIL(ORR_EIO, "%s: cannot start: %s", gnuplot, strerror(errno));
    if (pid == 0)
        child(messages, argv);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return ORR_FAIL(ORR_EIO, "%s: waitpid: %s", gnuplot, strerror(errno));
    if (orr_signal_seen())
        return ORR_FAIL(ORR_EINTR, "stopped by a signal; no figure was written");
    char complaint[256];
    first_complaint(messages, complaint);
    if (WIFSIGNALED(status))
        return ORR_FAIL(ORR_EIO, "gnuplot: killed by signal %d while drawing %s.%s",
                        WTERMSIG(status), name, format);
    if (WEXITSTATUS(status))
        return ORR_FAIL(ORR_EIO, "gnuplot: exit status %d while drawing %s.%s: %s",
                        WEXITSTATUS(status), name, format, complaint);
    if (!is_whole(output, !strcmp(format, "svg")))
        return ORR_FAIL(ORR_EIO, "gnuplot: %s.%s is missing or incomplete (disk full?): %s", name,
                        format, complaint);
    return 0;
}

static int draw(const struct report_tools *tools, const char *script, const char *folder,
                struct report_pictures *pictures, struct orr_progress *progress)
{
    const char *name = pictures->at[pictures->count].name;
    int rc = render(tools, script, folder, name, "png");
    if (!rc)
        rc = render(tools, script, folder, name, "svg");
    if (!rc)
        orr_progress_set(progress, ++pictures->count, name);
    return rc;
}

int report_plot(const struct report_run *run, const struct report_tools *tools, const char *folder,
                bool quiet, struct report_pictures *pictures)
{
    static const struct {
        int (*plot)(const struct report_run *, const char *, struct report_picture *);
        const char *script;
    } others[] = {{report_plot_exponents, "exponents.gp"},
                  {report_plot_pareto, "curves.gp"},
                  {report_plot_loss, "curves.gp"}};
    const size_t planets = run->has_vectors ? REPORT_PLANETS : 0;
    const size_t count = sizeof others / sizeof *others;
    struct orr_progress progress;
    pictures->count = 0;
    orr_progress_init(&progress, "figures", planets + count, quiet);
    int rc = 0;
    for (size_t p = 0; p < planets && !rc; p++) {
        rc = report_plot_forces(run, (int)p, folder, &pictures->at[pictures->count]);
        if (!rc)
            rc = draw(tools, "forces.gp", folder, pictures, &progress);
    }
    for (size_t i = run->has_laws ? 0 : 2; i < count && !rc; i++) {
        rc = others[i].plot(run, folder, &pictures->at[pictures->count]);
        if (!rc)
            rc = draw(tools, others[i].script, folder, pictures, &progress);
    }
    if (!rc)
        orr_progress_end(&progress, NULL);
    return rc;
}
