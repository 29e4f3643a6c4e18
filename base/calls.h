/* calls.h - calls of another library that is opened when it is first needed: of liborrery alone,
 * programs are linked with it. */
#ifndef ORR_CALLS_H
#define ORR_CALLS_H

/* The names of a list of calls, and a member for each: LIST(ORR_CALLS_NAME),
 * LIST(ORR_CALLS_MEMBER). Members end in "_": a call's own name may be a macro for its member. */
#define ORR_CALLS_NAME(name)   #name,
#define ORR_CALLS_MEMBER(name) __typeof__(&name) name##_;

#ifdef ORR_LIBRARY
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* Opens the shared library `file` and fills `table`, a struct of `count` pointers to functions,
 * with its calls of these names. NULL, or what is not there: `file`, or the name of the first call
 * that is missing. The library stays open. */
static inline const char *orr_calls_open(const char *file, const char *const *name, size_t count,
                                         void *table)
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

#endif
