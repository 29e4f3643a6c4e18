/* error.c - the last error message of each thread. */
#include "error.h"
#include "memory.h"
#include "text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

#ifndef ORR_LIBRARY /* api/ sets and restores the handler in each call */
/* GSL's default handler aborts; here errors are return values. */
__attribute__((constructor)) static void no_gsl_abort(void)
{
    gsl_set_error_handler_off();
}
#endif
