/* isa.h - which instruction set the loops of this process use.
 *
 * Loop files (see LOOPS in the Makefile) are compiled once per instruction set, from the same C.
 * Every copy is an object of its own whose only global symbol is its table of functions, named
 * <table>_<set>; the folder picks one of them by orr_isa() when it is first used. On other
 * architectures there is the plain set alone. */
#ifndef ORR_ISA_H
#define ORR_ISA_H

#include <stdbool.h>

enum orr_isa {
    ORR_ISA_PLAIN,       /* what every CPU of the architecture has: x86-64 with SSE2 */
    ORR_ISA_AVX2,        /* AVX2, FMA, BMI, BMI2 */
    ORR_ISA_AVX512,      /* and AVX-512 F, VL, DQ, BW */
    ORR_ISA_AVX512_BF16, /* and AVX512-BF16: the loops of AVX-512, products of oneDNN in bf16 */
    ORR_ISA_COUNT,
};

/* "plain", "avx2", "avx512", "avx512_bf16". */
const char *orr_isa_name(enum orr_isa isa);
/* This CPU and its operating system have the set. */
bool orr_isa_has(enum orr_isa isa);
/* The set in use: the best one of the CPU, or the one that the environment variable ORRERY_ISA
 * names. Where orr_isa_check() would refuse that, the best one. */
enum orr_isa orr_isa(void);
/* ORRERY_ISA is set, so that libraries with loops of their own are to be limited, too. */
bool orr_isa_is_forced(void);
/* ORR_EUSAGE where ORRERY_ISA names no set, ORR_EDEVICE where it names one that the CPU lacks. */
int orr_isa_check(void);
/* For tests: `isa` from now on, ORR_ISA_COUNT: as at the start. Not while other threads compute. */
void orr_isa_force(enum orr_isa isa);

/* Declares the tables of a folder's loops, of `struct <table>`; <table>_of(isa), the one for a set;
 * and for tests <table>_here(isa), NULL where this CPU lacks the set. */
#ifdef __x86_64__
#define ORR_ISA_TABLES(table)                                                                      \
    extern const struct table table##_plain, table##_avx2, table##_avx512;                         \
    static inline const struct table *table##_of(enum orr_isa isa)                                 \
    {                                                                                              \
        return isa >= ORR_ISA_AVX512 ? &table##_avx512                                             \
                                     : (isa == ORR_ISA_AVX2 ? &table##_avx2 : &table##_plain);     \
    }                                                                                              \
    ORR_ISA_HERE(table)
#else
#define ORR_ISA_TABLES(table)                                                                      \
    extern const struct table table##_plain;                                                       \
    static inline const struct table *table##_of(enum orr_isa isa)                                 \
    {                                                                                              \
        (void)isa;                                                                                 \
        return &table##_plain;                                                                     \
    }                                                                                              \
    ORR_ISA_HERE(table)
#endif
#define ORR_ISA_HERE(table)                                                                        \
    static inline const struct table *table##_here(int isa)                                        \
    {                                                                                              \
        return orr_isa_has((enum orr_isa)isa) ? table##_of((enum orr_isa)isa) : 0;                 \
    }

#endif
