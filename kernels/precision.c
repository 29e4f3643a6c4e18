/* precision.c - decides when the cpu backend multiplies in bf16 if the precision is left to it.
 *
 * The rule depends on the kind of CPU, never on a timing, so that a machine always decides alike
 * (measurements: bench_kernels, "bf16 over fp32"). AMX has tiles for bf16; AMD's AVX512-BF16
 * does twice as many products per cycle as fp32. Intel's AVX512-BF16 without AMX is slower than
 * fp32: 88 against 157 GFLOP/s on one core with oneDNN 2.6. */
#include "base/isa.h"
#include "kernels.h"

#include <string.h>

bool k_bf16_pays(const struct k_cpu_kind *kind)
{
    return kind->amx_bf16 || (kind->amd && kind->avx512_bf16);
}

#ifdef __x86_64__

#include <cpuid.h>

/* Registers that the operating system saves: bits of XCR0. */
static unsigned long long saved_state(void)
{
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSXSAVE))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
    return (unsigned long long)edx << 32 | eax;
}

void k_cpu_kind(struct k_cpu_kind *kind)
{
    enum { AVX512_STATE = 0xe0, TILE_STATE = 0x60000 };
    enum { AMX_BF16 = 1 << 22, AVX512_BF16 = 1 << 5 };
    unsigned eax, ebx, ecx, edx;
    const unsigned long long state = saved_state();
    memset(kind, 0, sizeof *kind);
    if (__get_cpuid(0, &eax, &ebx, &ecx, &edx))
        kind->amd = ebx == signature_AMD_ebx && edx == signature_AMD_edx;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
        kind->amx_bf16 = (edx & AMX_BF16) && (state & TILE_STATE) == TILE_STATE;
    if (__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx))
        kind->avx512_bf16 = (eax & AVX512_BF16) && (state & AVX512_STATE) == AVX512_STATE;
    if (orr_isa_is_forced()) {
        kind->amx_bf16 = false;
        kind->avx512_bf16 &= orr_isa() >= ORR_ISA_AVX512_BF16;
    }
}

#else

void k_cpu_kind(struct k_cpu_kind *kind)
{
    memset(kind, 0, sizeof *kind);
}

#endif

const char *k_cpu_kind_name(const struct k_cpu_kind *kind)
{
    if (kind->amx_bf16)
        return "AMX";
    if (kind->avx512_bf16)
        return kind->amd ? "AMD with AVX512-BF16" : "AVX512-BF16 without AMX";
    return "a CPU without bf16";
}
