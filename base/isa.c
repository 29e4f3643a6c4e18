/* isa.c - the instruction sets of this CPU, and ORRERY_ISA; see isa.h. */
#include "isa.h"

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[ORR_ISA_COUNT] = {"plain", "avx2", "avx512", "avx512_bf16"};
static enum orr_isa forced = ORR_ISA_COUNT;
static _Atomic int chosen = ORR_ISA_COUNT; /* chosen once, because loops ask for it often */

const char *orr_isa_name(enum orr_isa isa)
{
    return names[isa];
}

bool orr_isa_has(enum orr_isa isa)
{
#ifdef __x86_64__
    /* these are the flags of the makefile (ISA_<set>); __builtin_cpu_supports() also checks that
     * the operating system saves the registers */
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512bw");
    switch (isa) {
    case ORR_ISA_AVX2:
        return avx2;
    case ORR_ISA_AVX512:
        return avx512;
    case ORR_ISA_AVX512_BF16:
        return avx512 && __builtin_cpu_supports("avx512bf16");
    default:
        return isa == ORR_ISA_PLAIN;
    }
#else
    return isa == ORR_ISA_PLAIN;
#endif
}

static enum orr_isa best_isa(void)
{
    int isa = ORR_ISA_COUNT - 1;
    while (!orr_isa_has((enum orr_isa)isa))
        isa--;
    return (enum orr_isa)isa;
}

/* The set named by the text; ORR_ISA_COUNT for an unknown name. */
static enum orr_isa isa_named(const char *text)
{
    int isa = 0;
    while (isa < ORR_ISA_COUNT && strcmp(names[isa], text) != 0)
        isa++;
    return (enum orr_isa)isa;
}

/* ORRERY_ISA; NULL where it is unset or empty. */
static const char *asked_for(void)
{
    const char *text = getenv("ORRERY_ISA");
    return text && *text ? text : NULL;
}

bool orr_isa_is_forced(void)
{
    return forced < ORR_ISA_COUNT || asked_for();
}

int orr_isa_check(void)
{
    const char *text = asked_for();
    const enum orr_isa isa = text ? isa_named(text) : ORR_ISA_PLAIN;
    if (isa == ORR_ISA_COUNT)
        return ORR_FAIL(ORR_EUSAGE,
                        "ORRERY_ISA: expected plain, avx2, avx512 or avx512_bf16, found \"%s\"",
                        text);
    return orr_isa_has(isa)
               ? 0
               : ORR_FAIL(ORR_EDEVICE, "ORRERY_ISA: this CPU does not have %s, its best set is %s",
                          text, names[best_isa()]);
}

static enum orr_isa choose_isa(void)
{
    const char *text = asked_for();
    const enum orr_isa isa = text ? isa_named(text) : ORR_ISA_COUNT;
    return isa < ORR_ISA_COUNT && orr_isa_has(isa) ? isa : best_isa();
}

enum orr_isa orr_isa(void)
{
    int isa = chosen;
    if (isa == ORR_ISA_COUNT) {
        chosen = isa = (int)(forced < ORR_ISA_COUNT ? forced : choose_isa());
        orr_trace("instruction set %s%s", names[isa], orr_isa_is_forced() ? ", as asked for" : "");
    }
    return (enum orr_isa)isa;
}

void orr_isa_force(enum orr_isa isa)
{
    forced = isa;
    chosen = ORR_ISA_COUNT;
}
