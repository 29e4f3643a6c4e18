/* cjson.c - where cJSON's calls come from. */
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

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

struct orr_cjson orr_cjson;
static bool opened;

static void open_library(void)
{
    void *library = dlopen("libcjson.so.1", RTLD_NOW | RTLD_LOCAL);
    opened = library != NULL;
#define ORR_CJSON_FIND(name)                                                                       \
    {                                                                                              \
        void *symbol = library ? dlsym(library, #name) : NULL;                                     \
        opened = opened && symbol;                                                                 \
        memcpy(&orr_cjson.name##_, &symbol, sizeof symbol); /* ISO C has no such cast */           \
    }
    ORR_CJSON(ORR_CJSON_FIND)
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
