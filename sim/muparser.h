/* muparser.h - muParser's calls: linked into programs, and opened by the library only when a law is
 * an expression, so that the library needs none (inside sim/ only). */
#ifndef SIM_MUPARSER_H
#define SIM_MUPARSER_H

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
extern struct sim_muparser sim_muparser;
/* Opens the shared library, once: ORR_EMISSING where there is none. One thread at a time. */
int sim_muparser_open(void);
#endif

#endif
