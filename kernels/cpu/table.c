/* table.c - the table of the cpu backend for one instruction set. */
#include "cpu.h"
#include "fused.h"

static void install_loops(struct k_ops *ops)
{
    k_cpu_install_linear(ops);
    k_cpu_install_rows(ops);
    k_cpu_install_attention(ops);
    k_cpu_install_fused(ops);
    k_cpu_install_gate(ops);
    k_cpu_install_loss(ops);
    k_cpu_install_head(ops);
    k_cpu_install_update(ops);
    k_cpu_install_muon(ops);
}

const struct k_cpu_loops k_cpu_loops = {
    .install = install_loops,
    .fused_serves = k_cpu_fused_serves,
    .fused_scratch = k_cpu_fused_scratch,
};
