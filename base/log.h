/* log.h - progress on a terminal, notes, logs as JSON lines. */
#ifndef ORR_LOG_H
#define ORR_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Whether this process is one of several jobs of a caller, which sets this variable in its
 * environment (stage/jobs.c): its progress comes as lines. */
#define ORR_JOB_VARIABLE "ORRERY_JOB"
bool orr_is_job(void);

/* One live line on a terminal (redrawn at most 10 times a second), a plain line every
 * 10 seconds otherwise; nothing when quiet. */
struct orr_progress {
    char label[64];
    uint64_t total, done;
    uint64_t begun; /* done before: time left is judged by what came after */
    double start_s, last_s;
    bool quiet, terminal, dirty;
};
void orr_progress_init(struct orr_progress *progress, const char *label, uint64_t total,
                       bool quiet);
/* `detail` may be NULL; done counts from 0 to total. Shows rate and time left. */
void orr_progress_set(struct orr_progress *progress, uint64_t done, const char *detail);
void orr_progress_end(struct orr_progress *progress, const char *summary);

/* "45 s", "12 min", "3.4 h", "5.1 days", "2.3 years". */
enum { ORR_DURATION = 32 };
void orr_duration_print(double seconds, char text[ORR_DURATION]);

/* A message to stderr unless quiet: one line, whatever its parts hold. */
void orr_note(bool quiet, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends one JSON object per line: orr_log_line(&log, "step", 3.0, "loss", 0.5, NULL) -
 * pairs of (const char *, double), non-finite values become null; flushed per line. */
struct orr_log {
    FILE *stream;
    char path[4096];
    bool appends; /* to what is there, and no line was yet */
};
/* The first line that is appended takes the place of what a kill or a power loss left of the last
 * one: the two would be glued together. Nothing is written through a symbolic link: a new log
 * replaces it, to append to one is ORR_EIO. */
int orr_log_open(struct orr_log *log, const char *path, bool append);
int orr_log_line(struct orr_log *log, ...);
/* The whole of a log, to be cut into lines; free() it. NUL bytes, which a power loss leaves, are
 * "?": no line ends there, and none that has one is an object. */
int orr_log_read(const char *path, char **text, size_t *bytes);
/* The same with a pair of texts in front; neither may need escapes. */
int orr_log_word_line(struct orr_log *log, const char *key, const char *word, ...);
/* ORR_EIO: what was written did not reach the file after all (quotas, NFS). Safe on one that is
 * closed. */
int orr_log_close(struct orr_log *log);

#endif
