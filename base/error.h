/* error.h - errors of every part of Orrery, and what a developer asks of a run.
 *
 * Every function that can fail returns int: 0 = ok, otherwise one of enum orr_status, and
 * orr_error() then holds one line that names file, line or key, what was expected and what was
 * found. Only main() exits. Sizes are counts of elements unless the name says bytes. Paths are
 * UTF-8 strings; nothing in base/ changes the working directory. */
#ifndef ORR_ERROR_H
#define ORR_ERROR_H

#include <stdbool.h>

enum orr_status {
    ORR_OK = 0,
    ORR_EUSAGE,    /* bad command line, preset or key: exit status 2 */
    ORR_EINVAL,    /* bad argument or content */
    ORR_EDOM,      /* outside the mathematical domain */
    ORR_EIO,       /* the operating system refused: open, read, write, rename */
    ORR_EFORMAT,   /* a file that is truncated, foreign or corrupt */
    ORR_EMISSING,  /* a file, tensor or column that should be there is not */
    ORR_ENOMEM,    /* out of memory */
    ORR_EDEVICE,   /* the asked-for backend or device is not there */
    ORR_EDIVERGED, /* training reached a non-finite loss or gradient */
    ORR_EINTR,     /* stopped by SIGINT or SIGTERM after saving */
};

/* Records the message (thread-local, at most 4095 bytes) and yields its code:
 * return ORR_FAIL(ORR_EIO, "%s: cannot open: %s", path, strerror(errno)); */
#define ORR_FAIL(code, ...) orr_fail((code), __FILE__, __LINE__, __VA_ARGS__)
int orr_fail(int code, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The last message of this thread ("" when none). ORRERY_TRACE=1 adds source file and line. */
const char *orr_error(void);
/* Forgets the message: for callers that go on without. After memory that ran out nobody can tell
 * what they go on without: no file is committed from then on (orr_memory_short()). */
void orr_error_clear(void);
/* The same where nothing is lost by it, also by memory that ran out: what failed is done in another
 * way, or it was only to say something. */
void orr_error_recover(void);
/* The failure that the program ends with was printed by the process in which it happened. */
void orr_error_told(void);
bool orr_error_was_told(void);
/* Passes an error on to the caller. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const int try_rc = (call);                                                                 \
        if (try_rc)                                                                                \
            return try_rc;                                                                         \
    } while (0)
/* With ORRERY_TRACE=1 prints "trace <seconds since the start> s  message" to stderr, without it
 * nothing. For what a developer asks of a run: stages with their time, which artefacts their
 * records keep or make again and why, the instruction set and the precision chosen. Any thread. */
void orr_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints "program: error: message" to stderr; returns the exit status: 2 usage, else 1. Prints
 * nothing for ORR_EINTR (128 + the signal: 130 for SIGINT, 143 for SIGTERM) and ORR_OK (0, or 1
 * when what was printed to stdout did not arrive there). */
int orr_error_exit(const char *program, int code);

#endif
