/* muparser.c - opens muParser's shared library when it is first needed. */
#ifdef ORR_LIBRARY
#include "muparser.h"
#include "base/base.h"

#include <dlfcn.h>
#include <string.h>

struct sim_muparser sim_muparser;

int sim_muparser_open(void)
{
    static const char *const names[] = {"libmuparser.so.2", "libmuparser.so"};
    static void *library;
    if (library)
        return 0;
    void *opened = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !opened; i++)
        opened = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!opened)
        return ORR_FAIL(ORR_EMISSING, "orbits.expression: needs the library muParser (%s), which "
                                      "cannot be opened; other laws work without",
                        names[0]);
#define SIM_MUPARSER_FIND(name)                                                                    \
    {                                                                                              \
        void *symbol = dlsym(opened, #name);                                                       \
        if (!symbol)                                                                               \
            return ORR_FAIL(ORR_EMISSING, "orbits.expression: muParser has no " #name);            \
        memcpy(&sim_muparser.name, &symbol, sizeof symbol); /* ISO C has no such cast */           \
    }
    SIM_MUPARSER(SIM_MUPARSER_FIND)
    library = opened;
    return 0;
}
#else
_Static_assert(1, "programs are linked with muParser");
#endif
