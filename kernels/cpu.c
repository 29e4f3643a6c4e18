/* cpu.c - the table of the cpu backend, its threads and its scratch memory. */
#include <omp.h>
#include <stdlib.h>

#include "base.h"
#include "cpu.h"
#include "host_memory.h"
#include "ref.h"

/* One block: the shared part, then `local_bytes` for each thread. */
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
    /* an odd number of cache lines more, so that threads do not share cache sets */
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
    cpu.threads = threads > 0 ? threads : omp_get_num_procs();
    omp_set_num_threads(cpu.threads);
    cpu.allow_bf16 = precision == K_PRECISION_BF16 && k_cpu_matmul_has_bf16();
    return 0;
}

const struct k_ops k_cpu = {
    .name = "cpu",
    .open = cpu_open,
    .close = cpu_close,
    .peak = k_cpu_peak,
    K_HOST_MEMORY,
    .linear_forward = k_cpu_linear_forward,
    .linear_gelu_forward = k_cpu_linear_gelu_forward,
    .linear_residual_forward = k_cpu_linear_residual_forward,
    .linear_backward = k_cpu_linear_backward,
    .linear_gelu_backward = k_cpu_linear_gelu_backward,
    .linear_exact_forward = k_cpu_linear_exact_forward,
    .linear_exact_backward = k_cpu_linear_exact_backward,
    .gelu_backward = k_cpu_gelu_backward,
    .add = k_cpu_add,
    .layernorm_forward = k_cpu_layernorm_forward,
    .layernorm_backward = k_cpu_layernorm_backward,
    .position_forward = k_cpu_position_forward,
    .position_backward = k_cpu_position_backward,
    .embed_forward = k_cpu_embed_forward,
    .embed_backward = k_cpu_embed_backward,
    .attention_forward = k_cpu_attention_forward,
    .attention_backward = k_cpu_attention_backward,
    .attention_generic_forward = k_cpu_attention_generic_forward,
    .attention_generic_backward = k_cpu_attention_generic_backward,
    .attention_silent = k_ref_attention_silent,
    .gate_forward = k_cpu_gate_forward,
    .gate_backward = k_cpu_gate_backward,
    .rope = k_cpu_rope,
    .cross_entropy = k_cpu_cross_entropy,
    .head_cross_entropy = k_cpu_head_cross_entropy,
    .mse = k_cpu_mse,
    .sum_squares = k_cpu_sum_squares,
    .adamw = k_cpu_adamw,
    .average = k_cpu_average,
};
