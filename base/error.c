/* error.c - the last error message of each thread. */
#include "error.h"
#include "memory.h"
#include "signals.h"
#include "terminal.h"
#include "text.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gsl/gsl_errno.h>

static _Thread_local char message[4096];
static _Thread_local int last; /* the code of the thread's message */
static bool told;              /* another process printed the failure that main() ends with */

int orr_fail(int code, const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    last = code;
    orr_one_line(message); /* file names and file contents may hold line breaks */
    if (getenv("ORRERY_TRACE")) {
        const size_t used = strlen(message);
        snprintf(message + used, sizeof message - used, " [%s:%d]", file, line);
    }
    return code;
}

const char *orr_error(void)
{
    return message;
}

void orr_error_told(void)
{
    told = true;
}

bool orr_error_was_told(void)
{
    return told;
}

void orr_error_clear(void)
{
    if (last == ORR_ENOMEM)
        orr_memory_ran_out();
    orr_error_recover();
}

void orr_error_recover(void)
{
    message[0] = '\0';
    last = ORR_OK;
}

/* Whether all of standard output was written. A reader that has closed the pipe (| head) is no
 * failure. The stream remembers that an earlier write failed, but not its error; polling the pipe
 * tells whether its reader is gone. NFS and quotas report errors at close, so a copy is closed. */
static int finish_output(void)
{
    struct pollfd reader = {.fd = STDOUT_FILENO};
    if (fflush(stdout))
        return errno == EPIPE
                   ? 0
                   : ORR_FAIL(ORR_EIO, "standard output: cannot write: %s", strerror(errno));
    if (ferror(stdout) && (poll(&reader, 1, 0) != 1 || !(reader.revents & POLLERR)))
        return ORR_FAIL(ORR_EIO, "standard output: cannot write: some of it was lost before");
    const int copy = dup(STDOUT_FILENO);
    if (copy >= 0 && close(copy))
        return ORR_FAIL(ORR_EIO, "standard output: cannot write: %s", strerror(errno));
    return 0;
}

int orr_error_exit(const char *program, int code)
{
    if (code == ORR_OK)
        code = finish_output();
    if (code == ORR_OK)
        return 0;
    if (code == ORR_EINTR) /* 128 + signal, as a shell reports it: the next stage must not start */
        return 128 + (orr_signal_number() ? orr_signal_number() : SIGINT);
    const bool colours = orr_terminal_colours();
    if (!told)
        fprintf(stderr, "%s: %serror:%s %s\n", program, colours ? ORR_RED : "",
                colours ? ORR_PLAIN : "", message[0] ? message : "unknown failure");
    return code == ORR_EUSAGE ? 2 : 1;
}

#ifndef ORR_LIBRARY /* api/ sets and restores the handler in each call */
/* GSL's default handler aborts; here errors are return values. */
__attribute__((constructor)) static void no_gsl_abort(void)
{
    gsl_set_error_handler_off();
}
#endif
