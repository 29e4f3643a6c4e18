/* log.c - progress on a terminal, notes, JSONL logs. */
#include "elementary.h"
#include "error.h"
#include "file.h"
#include "log.h"
#include "memory.h"
#include "system.h"
#include "terminal.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void orr_note(bool quiet, const char *format, ...)
{
    if (quiet)
        return;
    char text[8192];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    orr_one_line(text); /* file names and file contents may hold line breaks */
    fprintf(stderr, "%s\n", text);
}

void orr_duration_print(double seconds, char text[ORR_DURATION])
{
    static const struct {
        double most_s, unit_s;
        const char *format;
    } rows[] = {{5e-5, 1, "%.0f s"},
                {0.095, 1, "%.1g s"},
                {9.95, 1, "%.1f s"},
                {120, 1, "%.0f s"},
                {7200, 60, "%.0f min"},
                {172800, 3600, "%.1f h"},
                {63115200, 86400, "%.1f days"},
                {HUGE_VAL, 31557600, "%.1f years"}};
    size_t i = 0;
    while (seconds >= rows[i].most_s && i + 1 < sizeof rows / sizeof *rows)
        i++;
    snprintf(text, ORR_DURATION, rows[i].format, seconds / rows[i].unit_s);
}

bool orr_is_job(void)
{
    return getenv(ORR_JOB_VARIABLE) != NULL;
}

void orr_progress_init(struct orr_progress *progress, const char *label, uint64_t total, bool quiet)
{
    memset(progress, 0, sizeof *progress);
    snprintf(progress->label, sizeof progress->label, "%s", label);
    progress->total = total;
    progress->quiet = quiet;
    progress->terminal = isatty(STDERR_FILENO) == 1 && !orr_is_job(); /* jobs share a terminal */
    progress->start_s = progress->last_s = orr_time_s();
}

enum { LINE = 512 };

/* Whether a line does not fit on the terminal; its last cell stays free, lest the line wraps. */
static bool is_too_wide(const char *line)
{
    int rows, columns;
    orr_terminal_size(&rows, &columns);
    return line[orr_bytes_within(line, columns - 1)];
}

/* Bytes of a detail without the last of its parts, between which stands ", ". */
static int without_last(const char *detail, int bytes)
{
    do
        bytes--;
    while (bytes > 0 && strncmp(detail + bytes, ", ", 2) != 0);
    return bytes;
}

/* Draws the line, cut to the terminal; its label is bold where colours are shown. */
static void draw_line(const char *line)
{
    int rows, columns;
    orr_terminal_size(&rows, &columns);
    const int bytes = orr_bytes_within(line, columns - 1), label = (int)strcspn(line, ":");
    const bool bold = label < bytes && orr_terminal_colours();
    fprintf(stderr, "\r\033[K%s%.*s%s%.*s", bold ? ORR_BOLD : "", label < bytes ? label : bytes,
            line, bold ? ORR_PLAIN : "", label < bytes ? bytes - label : 0, line + label);
}

static void print_line(struct orr_progress *p, double now, const char *detail)
{
    const double elapsed = now - p->start_s;
    const double share = p->total ? (double)p->done / (double)p->total : 0;
    const double made = (double)p->done - (double)p->begun;
    char spent_text[ORR_DURATION], left_text[ORR_DURATION + 16] = "", total_text[48] = " done";
    orr_duration_print(elapsed, spent_text);
    if (p->total) /* otherwise the number is not known */
        snprintf(total_text, sizeof total_text, "/%llu (%.0f%%)", (unsigned long long)p->total,
                 100 * share);
    if (p->total && made > 0) { /* no estimate before the first is done */
        char left[ORR_DURATION];
        orr_duration_print(elapsed * ((double)p->total - (double)p->done) / made, left);
        snprintf(left_text, sizeof left_text, ", %s left", left);
    }
    char line[LINE], shown[LINE];
    int parts = detail ? (int)strlen(detail) : 0; /* bytes of the detail that are shown */
    for (;; parts = without_last(detail, parts)) {
        snprintf(line, sizeof line, "%s: %llu%s%s%.*s, %s%s", p->label, (unsigned long long)p->done,
                 total_text, parts ? ", " : "", parts, parts ? detail : "", spent_text, left_text);
        if (!p->terminal || !parts || !is_too_wide(line))
            break;
    }
    orr_shown(shown, sizeof shown, line);
    if (p->terminal)
        draw_line(shown);
    else
        fprintf(stderr, "%s\n", shown);
    fflush(stderr);
    p->last_s = now;
    p->dirty = p->terminal;
}

void orr_progress_set(struct orr_progress *progress, uint64_t done, const char *detail)
{
    progress->done = done;
    if (progress->quiet)
        return;
    const double now = orr_time_s();
    if (now - progress->last_s >= (progress->terminal ? 0.1 : 10))
        print_line(progress, now, detail);
}

void orr_progress_end(struct orr_progress *progress, const char *summary)
{
    if (progress->quiet)
        return;
    if (progress->dirty)
        fprintf(stderr, "\r\033[K");
    if (summary)
        orr_note(false, "%s: %s", progress->label, summary);
    fflush(stderr);
}

int orr_log_open(struct orr_log *log, const char *path, bool append)
{
    TRY(orr_path(log->path, "%s", path));
    struct stat info;
    const bool is_there = !lstat(path, &info), is_link = is_there && S_ISLNK(info.st_mode);
    if (is_there && S_ISFIFO(info.st_mode)) /* opening a FIFO would wait */
        return ORR_FAIL(ORR_EIO, "%s: not a regular file", path);
    if (is_link && append)
        return ORR_FAIL(ORR_EIO, "%s: expected a file, found a symbolic link", path);
    if (is_link && unlink(path))
        return ORR_FAIL(ORR_EIO, "%s: cannot replace: %s", path, strerror(errno));
    log->appends = append;
    log->stream = fopen(path, append ? "ab" : is_link ? "wbx" : "wb");
    return log->stream ? 0 : ORR_FAIL(ORR_EIO, "%s: cannot open: %s", path, strerror(errno));
}

int orr_log_read(const char *path, char **text, size_t *bytes)
{
    TRY(orr_file_read(path, text, bytes));
    for (size_t i = 0; i < *bytes; i++)
        if (!(*text)[i])
            (*text)[i] = '?';
    return 0;
}

/* Before the first appended line, truncates the log after its last complete line. */
static int drop_torn(struct orr_log *log)
{
    struct stat info;
    char *text;
    size_t bytes;
    if (!log->appends || fstat(fileno(log->stream), &info) || !S_ISREG(info.st_mode))
        return 0;
    log->appends = false;
    TRY(orr_log_read(log->path, &text, &bytes));
    while (bytes && text[bytes - 1] != '\n')
        bytes--;
    free(text);
    return (off_t)bytes < info.st_size && ftruncate(fileno(log->stream), (off_t)bytes)
               ? ORR_FAIL(ORR_EIO, "%s: cannot shorten: %s", log->path, strerror(errno))
               : 0;
}

/* Writes the remaining pairs of a line of which `written` pairs are already written, and the line's
 * end. */
static int end_line(struct orr_log *log, int written, va_list args)
{
    const char *key;
    for (int i = written; (key = va_arg(args, const char *)) != NULL; i++) {
        const double value = va_arg(args, double);
        fprintf(log->stream, isfinite(value) ? "%s\"%s\": %.9g" : "%s\"%s\": null", i ? ", " : "{",
                key, value);
    }
    fputs("}\n", log->stream);
    if (fflush(log->stream) || ferror(log->stream))
        return ORR_FAIL(ORR_EIO, "%s: cannot write: %s", log->path, strerror(errno));
    return 0;
}

int orr_log_line(struct orr_log *log, ...)
{
    va_list args;
    TRY(drop_torn(log));
    va_start(args, log);
    const int rc = end_line(log, 0, args);
    va_end(args);
    return rc;
}

int orr_log_word_line(struct orr_log *log, const char *key, const char *word, ...)
{
    va_list args;
    TRY(drop_torn(log));
    fprintf(log->stream, "{\"%s\": \"%s\"", key, word);
    va_start(args, word);
    const int rc = end_line(log, 1, args);
    va_end(args);
    return rc;
}

double orr_memory_peak(void)
{
    char line[256];
    double kilobytes = NAN;
    FILE *status = fopen("/proc/self/status", "rb");
    if (!status)
        return NAN;
    while (isnan(kilobytes) && fgets(line, sizeof line, status))
        if (!strncmp(line, "VmHWM:", 6))
            kilobytes = strtod(line + 6, NULL);
    fclose(status);
    return 1024 * kilobytes;
}

void orr_memory_peak_restart(void)
{
    FILE *clear = fopen("/proc/self/clear_refs", "wb");
    if (!clear)
        return;
    fputs("5", clear); /* proc_pid_clear_refs(5): resets the peak of resident memory */
    fclose(clear);
}

int orr_log_close(struct orr_log *log)
{
    FILE *stream = log->stream;
    log->stream = NULL;
    if (stream && fclose(stream))
        return ORR_FAIL(ORR_EIO, "%s: cannot finish: %s", log->path, strerror(errno));
    return 0;
}
