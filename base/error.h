/* error.h - errors of every part of Orrery, and the developer trace.
 *
 * Every function that can fail returns int: 0 = ok, otherwise one of enum orr_status. orr_error()
 * then holds one line that names the file, line or key, what was expected and what was found. Only
 * main() exits. Sizes are counts of elements unless the name says bytes. Paths are UTF-8 strings;
 * base/ never changes the working directory. */
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
    ORR_EDEVICE,   /* the requested backend or device is not available */
    ORR_EDIVERGED, /* training reached a non-finite loss or gradient */
    ORR_EINTR,     /* stopped by SIGINT or SIGTERM after saving */
};

/* Records the message (thread-local, at most 4095 bytes) and yields its code:
 * return ORR_FAIL(ORR_EIO, "%s: cannot open: %s", path, strerror(errno)); */
#define ORR_FAIL(code, ...) orr_fail((code), __FILE__, __LINE__, __VA_ARGS__)
int orr_fail(int code, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The last message of this thread; "" when there is none. ORRERY_TRACE=1 adds source file and
 * line. */
const char *orr_error(void);
/* Forgets the message when the caller continues without the failed part. If memory had run out,
 * what is missing is not known, and no file is committed from then on (orr_memory_short()). */
void orr_error_clear(void);
/* Forgets the message when nothing was lost: the caller did the work in another way, or the call
 * only served a message. Later commits are allowed, even if memory had run out. */
void orr_error_recover(void);
/* Records that another process has printed the failure that the program ends with. */
void orr_error_told(void);
bool orr_error_was_told(void);
/* Returns the error of `call` from the calling function. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const int try_rc = (call);                                                                 \
        if (try_rc)                                                                                \
            return try_rc;                                                                         \
    } while (0)
/* With ORRERY_TRACE=1 prints "trace <seconds since the start> s  message" to stderr, otherwise
 * nothing. For developers: the time of each stage, which artefacts are kept or remade and why, the
 * instruction set and the precision. Any thread may call it. */
void orr_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints "program: error: message" to stderr and returns the exit status: 2 for ORR_EUSAGE, else 1.
 * Prints nothing for ORR_EINTR (128 + the signal: 130 for SIGINT, 143 for SIGTERM) and ORR_OK (0,
 * or 1 if writing to stdout failed). */
int orr_error_exit(const char *program, int code);

#endif
