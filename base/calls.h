/* calls.h - calls of another library that is opened when it is first needed (of liborrery alone:
 * programs are linked with it). */
#ifndef ORR_CALLS_H
#define ORR_CALLS_H

#include <stddef.h>

#ifdef ORR_LIBRARY
/* Opens the shared library `file` and fills `table`, a struct of `count` pointers to functions, with
 * its calls of these names. NULL, or what is not there: `file`, or the name of the first call that
 * is missing. The library stays open. */
const char *orr_calls_open(const char *file, const char *const *name, size_t count, void *table);
#endif
/* The names of a list of calls, and a member for each: LIST(ORR_CALLS_NAME), LIST(ORR_CALLS_MEMBER).
 * Members end in "_" where the call's own name is a macro for the member. */
#define ORR_CALLS_NAME(name)   #name,
#define ORR_CALLS_MEMBER(name) __typeof__(&name) name##_;

#endif
