/* dlfcn.h - libraries opened at run time: a module has none, so every one of them is missing. */
#ifndef LAB_PORT_DLFCN_H
#define LAB_PORT_DLFCN_H

#include <stddef.h>

#define RTLD_NOW   2
#define RTLD_LOCAL 0

static inline void *dlopen(const char *file, int mode)
{
    (void)file, (void)mode;
    return NULL;
}

static inline void *dlsym(void *library, const char *name)
{
    (void)library, (void)name;
    return NULL;
}

static inline int dlclose(void *library)
{
    (void)library;
    return 0;
}

static inline char *dlerror(void)
{
    return NULL;
}

#endif
