/* calls.c - see calls.h. */
#include "calls.h"

#ifdef ORR_LIBRARY

#include <dlfcn.h>
#include <string.h>

const char *orr_calls_open(const char *file, const char *const *name, size_t count, void *table)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return file;
    for (size_t i = 0; i < count; i++) {
        void *symbol = dlsym(library, name[i]);
        if (!symbol)
            return name[i];
        memcpy((char *)table + i * sizeof symbol, &symbol, sizeof symbol); /* ISO C has no cast */
    }
    return NULL;
}

#endif
