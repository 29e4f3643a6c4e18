/* table.c - the table of the cpu backend for one instruction set. */
#include "cpu.h"
#include "fused.h"
#include "kernels/host_memory.h"
#include "kernels/ref/ref.h"

const struct k_cpu_loops k_cpu_loops = {
    .ops =
        {
            .name = "cpu",
            .open = k_cpu_open,
            .close = k_cpu_close,
            .peak = k_cpu_peak,
            K_HOST_MEMORY,
            .linear_forward = k_cpu_linear_forward,
            .linear_backward = k_cpu_linear_backward,
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
        },
    .fused_serves = k_cpu_fused_serves,
    .fused_scratch = k_cpu_fused_scratch,
};
