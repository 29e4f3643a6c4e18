/* calls.h - calls into a library that is opened when it is first needed. Only liborrery does this;
 * programs are linked with the library. */
#ifndef ORR_CALLS_H
#define ORR_CALLS_H

/* A list of calls as strings, LIST(ORR_CALLS_NAME), and as struct members, LIST(ORR_CALLS_MEMBER).
 * Member names end in "_", because a call's name may be a macro for its member. */
#define ORR_CALLS_NAME(name)   #name,
#define ORR_CALLS_MEMBER(name) __typeof__(&name) name##_;

#ifdef ORR_LIBRARY
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* Opens the shared library `file` and fills `table`, a struct of `count` pointers to functions,
 * with the functions named `name[]`. Returns NULL, or what is missing: `file`, or the first missing
 * name. The library stays open. */
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
