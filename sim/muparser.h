/* muparser.h - muParser's calls: linked into programs, and opened by the library only when a law is
 * an expression, so that the library needs none (for law_expression.c alone). */
#ifndef SIM_MUPARSER_H
#define SIM_MUPARSER_H

#include <dlfcn.h>
#include <string.h>

#include <muParserDLL.h>

#ifndef ORR_LIBRARY
/* Always 0. */
static inline int sim_muparser_open(void)
{
    return 0;
}
#else
/* The calls that law_expression.c makes, by name. */
#define SIM_MUPARSER(CALL)                                                                         \
    CALL(mupCreate)                                                                                \
    CALL(mupRelease)                                                                               \
    CALL(mupDefineVar)                                                                             \
    CALL(mupDefineConst)                                                                           \
    CALL(mupSetExpr)                                                                               \
    CALL(mupEval)                                                                                  \
    CALL(mupEvalMulti)                                                                             \
    CALL(mupError)                                                                                 \
    CALL(mupErrorReset)                                                                            \
    CALL(mupGetErrorPos)                                                                           \
    CALL(mupGetErrorMsg)
#define SIM_MUPARSER_MEMBER(name) __typeof__(&name) name;
struct sim_muparser {
    SIM_MUPARSER(SIM_MUPARSER_MEMBER)
};
static struct sim_muparser sim_muparser;
/* Opens the shared library, once: ORR_EMISSING where there is none. One thread at a time. */
static int sim_muparser_open(void)
{
    static const char *const names[] = {"libmuparser.so.2", "libmuparser.so"};
    static void *library;
    if (library)
        return 0;
    void *opened = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !opened; i++)
        opened = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!opened)
        return ORR_FAIL(ORR_EMISSING,
                        "orbits.expression: needs the library muParser (%s), which "
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
#endif

#endif
