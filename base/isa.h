/* isa.h - which instruction set the loops of this process use.
 *
 * Loop files (LOOPS in the Makefile) are compiled from one C source once per instruction set. Each
 * object has one global symbol, its table of functions, named <table>_<set>. Each folder selects a
 * table by orr_isa() when it first needs one. Other architectures than x86-64 have only the plain
 * set. */
#ifndef ORR_ISA_H
#define ORR_ISA_H

#include <stdbool.h>

enum orr_isa {
    ORR_ISA_PLAIN,       /* supported by every CPU of the architecture: x86-64 with SSE2 */
    ORR_ISA_AVX2,        /* AVX2, FMA, BMI, BMI2 */
    ORR_ISA_AVX512,      /* as AVX2, and AVX-512 F, VL, DQ, BW */
    ORR_ISA_AVX512_BF16, /* as AVX512, and AVX512-BF16: loops of AVX-512, oneDNN's matrix products
                            in bf16 */
    ORR_ISA_COUNT,
};

/* The set's name: "plain", "avx2", "avx512", "avx512_bf16". */
const char *orr_isa_name(enum orr_isa isa);
/* Whether the CPU and its operating system support the set. */
bool orr_isa_has(enum orr_isa isa);
/* The set in use: the one that the environment variable ORRERY_ISA names, or the CPU's best one if
 * the variable is unset or orr_isa_check() would refuse it. */
enum orr_isa orr_isa(void);
/* Whether ORRERY_ISA is set. Libraries with vector loops are then limited to the set, too. */
bool orr_isa_is_forced(void);
/* ORR_EUSAGE where ORRERY_ISA names no set, ORR_EDEVICE where the CPU lacks the named set. */
int orr_isa_check(void);
/* For tests: uses `isa` from now on; ORR_ISA_COUNT restores the default. Not while other threads
 * compute. */
void orr_isa_force(enum orr_isa isa);

/* Declares the tables of a folder's loops, each a `struct <table>`; <table>_of(isa), the table for
 * a set; and for tests <table>_here(isa), which is NULL where this CPU lacks the set. */
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
