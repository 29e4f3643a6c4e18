/* muparser.h - calls to muParser (for law_expression.c only). Programs are linked with it; the
 * library opens it when a law is an expression, so that other calls do not need it. */
#ifndef SIM_MUPARSER_H
#define SIM_MUPARSER_H

#include <muParserDLL.h>

#include "base/calls.h"

#ifndef ORR_LIBRARY
/* Linked: always 0. */
static inline int sim_muparser_open(void)
{
    return 0;
}
#else
/* The muParser functions that law_expression.c calls. */
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
static struct {
    SIM_MUPARSER(ORR_CALLS_MEMBER)
} sim_muparser;
/* Opens the shared library once. ORR_EMISSING if it is not installed. Not thread-safe: callers hold
 * a lock. */
static int sim_muparser_open(void)
{
    static const char *const files[] = {"libmuparser.so.2", "libmuparser.so"};
    static const char *const names[] = {SIM_MUPARSER(ORR_CALLS_NAME)};
    enum { FILES = sizeof files / sizeof *files, CALLS = sizeof names / sizeof *names };
    _Static_assert(sizeof sim_muparser == CALLS * sizeof(void *), "a pointer for each name");
    static bool opened;
    const char *missing = NULL, *file = NULL;
    for (int i = 0; i < FILES && !opened && missing == file; i++) {
        file = files[i];
        missing = orr_calls_open(file, names, CALLS, &sim_muparser);
        opened = !missing;
    }
    if (opened)
        return 0;
    if (missing != file)
        return ORR_FAIL(ORR_EMISSING, "orbits.expression: muParser has no %s", missing);
    return ORR_FAIL(ORR_EMISSING,
                    "orbits.expression: needs the library muParser (%s), which "
                    "cannot be opened; other laws work without",
                    files[0]);
}
#endif

#endif
