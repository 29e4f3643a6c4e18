/* trace.c - trace messages to stderr on request (ORRERY_TRACE). */
#include "error.h"
#include "system.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool on; /* set before main(), only read afterwards */
static double start_s;

/* Runs before other constructors, some of which choose the instruction set. */
__attribute__((constructor(101))) static void begin(void)
{
    const char *asked = getenv("ORRERY_TRACE");
#ifndef ORR_LIBRARY /* the library prints nothing */
    on = asked && *asked && strcmp(asked, "0") != 0;
#endif
    (void)asked;
    start_s = orr_time_s();
}

void orr_trace(const char *format, ...)
{
    if (!on)
        return;
    char text[8192];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "trace %9.3f s  %s\n", orr_time_s() - start_s, text);
}
