/* gate.c - the output gate of a block: y * act(pre), element by element. */
#include "cpu.h"
#include "vec.h"

enum { BLOCK = 8192 };

/* act and its slope; act is a constant where this is inlined. */
static inline __attribute__((always_inline)) cpu_vec gate(const enum k_gate act, cpu_vec x,
                                                          cpu_vec *slope)
{
    if (act == K_GATE_SOFTPLUS)
        return cpu_softplus_slope(x, slope);
    cpu_vec rest;
    const cpu_vec y = cpu_logistic(x, &rest);
    *slope = y * rest;
    return y;
}

static inline __attribute__((always_inline)) void
forward_piece(const enum k_gate act, float *out, const float *y, const float *pre, size_t n)
{
    size_t i = 0;
    cpu_vec slope;
    for (; i + CPU_LANES <= n; i += CPU_LANES)
        cpu_store(out + i, cpu_load(y + i) * gate(act, cpu_load(pre + i), &slope));
    if (i < n) {
        const int k = (int)(n - i);
        const cpu_vec g = gate(act, cpu_load_first(pre + i, k), &slope);
        cpu_store_first(out + i, cpu_load_first(y + i, k) * g, k);
    }
}

/* dout is read before dy, which may be the same memory, is written. */
static inline __attribute__((always_inline)) void backward_piece(const enum k_gate act, float *dy,
                                                                 float *dpre, const float *dout,
                                                                 const float *y, const float *pre,
                                                                 size_t n)
{
    size_t i = 0;
    cpu_vec slope;
    for (; i + CPU_LANES <= n; i += CPU_LANES) {
        const cpu_vec d = cpu_load(dout + i), g = gate(act, cpu_load(pre + i), &slope);
        cpu_store(dpre + i, d * cpu_load(y + i) * slope);
        cpu_store(dy + i, d * g);
    }
    if (i < n) {
        const int k = (int)(n - i);
        const cpu_vec d = cpu_load_first(dout + i, k);
        const cpu_vec g = gate(act, cpu_load_first(pre + i, k), &slope);
        cpu_store_first(dpre + i, d * cpu_load_first(y + i, k) * slope, k);
        cpu_store_first(dy + i, d * g, k);
    }
}

static int cpu_gate_forward(float *out, const float *y, const float *pre, enum k_gate act, size_t n)
{
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (n > BLOCK)
    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t count = n - at < BLOCK ? n - at : BLOCK;
        if (act == K_GATE_SOFTPLUS)
            forward_piece(K_GATE_SOFTPLUS, out + at, y + at, pre + at, count);
        else if (act == K_GATE_SIGMOID)
            forward_piece(K_GATE_SIGMOID, out + at, y + at, pre + at, count);
        else if (out != y)
            memcpy(out + at, y + at, count * sizeof *out);
    }
    return 0;
}

static int cpu_gate_backward(float *dy, float *dpre, const float *dout, const float *y,
                             const float *pre, enum k_gate act, size_t n)
{
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (n > BLOCK)
    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t count = n - at < BLOCK ? n - at : BLOCK;
        if (act == K_GATE_SOFTPLUS) {
            backward_piece(K_GATE_SOFTPLUS, dy + at, dpre + at, dout + at, y + at, pre + at, count);
        } else if (act == K_GATE_SIGMOID) {
            backward_piece(K_GATE_SIGMOID, dy + at, dpre + at, dout + at, y + at, pre + at, count);
        } else {
            memset(dpre + at, 0, count * sizeof *dpre);
            if (dy != dout)
                memcpy(dy + at, dout + at, count * sizeof *dy);
        }
    }
    return 0;
}

void k_cpu_install_gate(struct k_ops *ops)
{
    ops->gate_forward = cpu_gate_forward;
    ops->gate_backward = cpu_gate_backward;
}
