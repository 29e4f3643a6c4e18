/* log.h - progress on a terminal, notes, logs as JSON lines. */
#ifndef ORR_LOG_H
#define ORR_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Whether this process is one of several parallel jobs. The parent sets this environment variable
 * (stage/jobs.c); a job prints its progress as whole lines. */
#define ORR_JOB_VARIABLE "ORRERY_JOB"
bool orr_is_job(void);

/* One live line on a terminal (redrawn at most 10 times a second), a plain line every
 * 10 seconds otherwise; nothing when quiet. */
struct orr_progress {
    char label[64];
    uint64_t total, done;
    uint64_t begun; /* done before this run; excluded from the rate and the time left */
    double start_s, last_s;
    bool quiet, terminal, dirty;
};
void orr_progress_init(struct orr_progress *progress, const char *label, uint64_t total,
                       bool quiet);
/* `detail` may be NULL, or parts with ", " between them, the last of which are left out first where
 * the line does not fit on the terminal; `done` counts from 0 to `total`. Shows the rate and the
 * time left. */
void orr_progress_set(struct orr_progress *progress, uint64_t done, const char *detail);
void orr_progress_end(struct orr_progress *progress, const char *summary);

/* Writes a duration as "0.4 s", "45 s", "12 min", "3.4 h", "5.1 days", "2.3 years". */
enum { ORR_DURATION = 32 };
void orr_duration_print(double seconds, char text[ORR_DURATION]);

/* Prints a message to stderr as one line, unless quiet. */
void orr_note(bool quiet, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A log with one JSON object per line: orr_log_line(&log, "step", 3.0, "loss", 0.5, NULL). The
 * arguments are pairs of (const char *, double); non-finite values become null; each line is
 * flushed. */
struct orr_log {
    FILE *stream;
    char path[4096];
    bool appends; /* appends to an existing file, and has written no line yet */
};
/* Opens a log. With `append`, the first new line replaces an incomplete last line, which a kill or
 * a power loss may leave. Symbolic links are not followed: a new log replaces the link, and
 * appending to one is ORR_EIO. */
int orr_log_open(struct orr_log *log, const char *path, bool append);
int orr_log_line(struct orr_log *log, ...);
/* Reads a whole log, to be split into lines; free() it. NUL bytes, which a power loss may leave,
 * become "?", so that a damaged line does not end early and is not valid JSON. */
int orr_log_read(const char *path, char **text, size_t *bytes);
/* As orr_log_line(), with a pair of strings first; neither string may need escapes. */
int orr_log_word_line(struct orr_log *log, const char *key, const char *word, ...);
/* Closes the log. ORR_EIO if written data did not reach the file (quotas, NFS). A closed log is
 * allowed. */
int orr_log_close(struct orr_log *log);

#endif
