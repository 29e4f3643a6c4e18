/* test_precision.c - when products are in bf16 without being told: a rule of the CPU's kind. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "testing.h"

#include "kernels.h"
#include "under_valgrind.h"

TEST(test_rule)
{
    static const struct {
        struct k_cpu_kind kind;
        bool pays;
        const char *name;
    } cases[] = {
        {{.amx_bf16 = true, .avx512_bf16 = true}, true, "AMX"},
        {{.amd = true, .avx512_bf16 = true}, true, "AMD with AVX512-BF16"},
        {{.avx512_bf16 = true}, false, "AVX512-BF16 without AMX"}, /* slower than fp32 there */
        {{.amd = true}, false, "a CPU without bf16"},
        {{0}, false, "a CPU without bf16"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(k_bf16_pays(&cases[i].kind), cases[i].pays);
        assert_string_equal(k_cpu_kind_name(&cases[i].kind), cases[i].name);
    }
}

/* What this machine is said to be is what /proc/cpuinfo says. */
TEST(test_this_machine)
{
    struct k_cpu_kind kind;
    char line[8192];
    bool amd = false, avx512_bf16 = false, amx_bf16 = false;
    FILE *info = under_valgrind() ? NULL : fopen("/proc/cpuinfo", "r");
    if (!info)
        skip();
    while (fgets(line, sizeof line, info)) {
        amd |= !strncmp(line, "vendor_id", 9) && strstr(line, "AuthenticAMD");
        avx512_bf16 |= !strncmp(line, "flags", 5) && strstr(line, " avx512_bf16");
        amx_bf16 |= !strncmp(line, "flags", 5) && strstr(line, " amx_bf16");
    }
    fclose(info);
    k_cpu_kind(&kind);
    assert_int_equal(kind.amd, amd);
    assert_int_equal(kind.avx512_bf16, avx512_bf16);
    assert_int_equal(kind.amx_bf16, amx_bf16);
}

TESTS(NULL, NULL)
