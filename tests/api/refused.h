/* refused.h - calls of the library that must refuse. */
#ifndef TESTS_API_REFUSED_H
#define TESTS_API_REFUSED_H

#include "base/scratch.h"

/* A call that is refused leaves one line, which has this in it. */
static inline void refused(int status, int expected, const char *message, const char *part)
{
    assert_int_equal(status, expected);
    assert_null(strchr(message, '\n'));
    if (!strstr(message, part))
        fail_msg("expected \"%s\" in \"%s\"", part, message);
}
#define REFUSED(handle, status, call, part) refused(call, status, orrery_message(handle), part)

#endif
