/* error.c - one message per failure, per thread. */
#include "base.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>

static _Thread_local char message[4096];
static _Thread_local int last; /* the code of the message */
static bool told;              /* the failure that main() ends with is printed by another process */

int orr_fail(int code, const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    last = code;
    orr_one_line(message); /* names and texts of files may hold anything */
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
    message[0] = '\0';
    last = ORR_OK;
}

int orr_error_exit(const char *program, int code)
{
    if (code == ORR_OK && (fflush(stdout) == 0 || errno == EPIPE)) /* "| head" is no failure */
        return 0;
    if (code == ORR_OK)
        code = ORR_FAIL(ORR_EIO, "standard output: cannot write: %s", strerror(errno));
    if (code == ORR_EINTR) /* as a shell reports it: the next stage must not start */
        return 128 + (orr_signal_number() ? orr_signal_number() : SIGINT);
    if (!told)
        fprintf(stderr, "%s: error: %s\n", program, message[0] ? message : "unknown failure");
    return code == ORR_EUSAGE ? 2 : 1;
}

/* GSL's default handler aborts: errors are return values here. */
__attribute__((constructor)) static void no_gsl_abort(void)
{
    gsl_set_error_handler_off();
}
