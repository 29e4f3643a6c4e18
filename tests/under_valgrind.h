/* under_valgrind.h - what valgrind does not have: tests that need it are skipped there. */
#ifndef UNDER_VALGRIND_H
#define UNDER_VALGRIND_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* It computes long double as double: such a reference is none. */
static inline bool has_long_double(void)
{
    volatile long double one = 1;
    return one + 0x1p-60L != one;
}

/* Its CPU is another one than the machine's, without AVX-512 and AMX. */
static inline bool under_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded && strstr(preloaded, "vgpreload");
}

#endif
