/* cjson.c - finds cJSON's functions: by linking in programs, by dlopen() in the library. */
#define ORR_CJSON_TABLE
#include "cjson.h"
#include "error.h"

#ifndef ORR_LIBRARY

#define ORR_CJSON_LINKED(name) .name##_ = name,
struct orr_cjson orr_cjson = {ORR_CJSON(ORR_CJSON_LINKED)};

int orr_cjson_open(const char *what)
{
    (void)what;
    return 0;
}

#else

#include <pthread.h>
#include <stdbool.h>

#include "calls.h"

struct orr_cjson orr_cjson;
static bool opened;

static void open_library(void)
{
    static const char *const names[] = {ORR_CJSON(ORR_CALLS_NAME)};
    enum { COUNT = sizeof names / sizeof *names };
    _Static_assert(sizeof orr_cjson == COUNT * sizeof(void *), "a pointer for each name");
    opened = !orr_calls_open("libcjson.so.1", names, COUNT, &orr_cjson);
}

int orr_cjson_open(const char *what)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, open_library);
    return opened ? 0
                  : ORR_FAIL(ORR_EMISSING,
                             "%s: reading it needs the library cJSON (libcjson.so.1), which cannot "
                             "be opened",
                             what);
}

#endif
