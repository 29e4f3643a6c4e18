/* host_context.c - state of the cpu backend that all instruction sets share: threads, scratch
 * memory, and the tables, one for each set. */
#include <omp.h>
#include <stdlib.h>

#include "base/base.h"
#include "cpu.h"

/* Scratch memory is one block: the shared part, then `local_bytes` for each thread. */
static struct {
    int threads;
    bool allow_bf16;
    char *scratch;
    size_t scratch_bytes, shared_bytes, local_bytes;
} cpu;

int k_cpu_threads(void)
{
    if (cpu.threads <= 0)
        cpu.threads = omp_get_num_procs();
    return cpu.threads;
}

bool k_cpu_bf16(void)
{
    return cpu.allow_bf16;
}

int k_cpu_scratch_reserve(size_t shared_bytes, size_t local_bytes)
{
    const size_t threads = (size_t)k_cpu_threads();
    /* the extra cache line keeps parts of threads from competing for the same cache sets */
    cpu.shared_bytes = k_cpu_lines(shared_bytes);
    cpu.local_bytes = k_cpu_lines(local_bytes) + 64;
    const size_t bytes = cpu.shared_bytes + threads * cpu.local_bytes;
    if (bytes <= cpu.scratch_bytes)
        return 0;
    free(cpu.scratch);
    cpu.scratch_bytes = 0;
    cpu.scratch = orr_alloc(bytes, 1);
    if (!cpu.scratch)
        return ORR_ENOMEM;
    cpu.scratch_bytes = bytes;
    return 0;
}

void *k_cpu_scratch_shared(void)
{
    return cpu.scratch;
}

void *k_cpu_scratch_local(void)
{
    return cpu.scratch + cpu.shared_bytes + (size_t)omp_get_thread_num() * cpu.local_bytes;
}

static void cpu_close(void)
{
    k_cpu_matmul_free_all();
    free(cpu.scratch);
    cpu.scratch = NULL;
    cpu.scratch_bytes = 0;
    cpu.allow_bf16 = false;
}

static int cpu_open(int threads, enum k_precision precision)
{
    cpu_close();
    k_cpu_matmul_limit();
    cpu.threads = threads > 0 ? threads : omp_get_num_procs();
    omp_set_num_threads(cpu.threads);
    cpu.allow_bf16 = precision == K_PRECISION_BF16 && k_cpu_matmul_has_bf16();
    return 0;
}

/* The table of an instruction set; memory entries and those that are not replaced are the
 * reference's. */
static void table_make(struct k_ops *ops, enum orr_isa isa)
{
    *ops = k_ref;
    ops->name = "cpu";
    ops->open = cpu_open;
    ops->close = cpu_close;
    ops->peak = k_cpu_peak;
    k_cpu_loops_of(isa)->install(ops);
}

const struct k_ops *k_cpu(void)
{
    static struct k_ops table[ORR_ISA_COUNT];
    static bool made[ORR_ISA_COUNT];
    const enum orr_isa isa = orr_isa();
#pragma omp critical
    if (!made[isa]) {
        table_make(&table[isa], isa);
        made[isa] = true;
    }
    return &table[isa];
}
