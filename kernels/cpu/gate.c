/* gate.c - the output gate of a block: y * act(pre), element by element. */
#include "cpu.h"
#include "vec.h"

enum { BLOCK = 8192 };

/* act and its slope; act is a compile-time constant after inlining. */
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

/* Elements [at, end); the last vector may be partial. */
static inline __attribute__((always_inline)) void
forward_piece(const enum k_gate act, const struct k_gating *g, size_t at, size_t end)
{
    cpu_vec slope;
    for (; at + CPU_LANES <= end; at += CPU_LANES)
        cpu_store(g->out + at, cpu_load(g->y + at) * gate(act, cpu_load(g->pre + at), &slope));
    if (at < end) {
        const int k = (int)(end - at);
        const cpu_vec factor = gate(act, cpu_load_first(g->pre + at, k), &slope);
        cpu_store_first(g->out + at, cpu_load_first(g->y + at, k) * factor, k);
    }
}

/* dout is read before dy is written, since both may be in the same memory. */
static inline __attribute__((always_inline)) void
backward_piece(const enum k_gate act, const struct k_gating *g, size_t at, size_t end)
{
    cpu_vec slope;
    for (; at + CPU_LANES <= end; at += CPU_LANES) {
        const cpu_vec d = cpu_load(g->dout + at), y = gate(act, cpu_load(g->pre + at), &slope);
        cpu_store(g->dpre + at, d * cpu_load(g->y + at) * slope);
        cpu_store(g->dy + at, d * y);
    }
    if (at < end) {
        const int k = (int)(end - at);
        const cpu_vec d = cpu_load_first(g->dout + at, k);
        const cpu_vec y = gate(act, cpu_load_first(g->pre + at, k), &slope);
        cpu_store_first(g->dpre + at, d * cpu_load_first(g->y + at, k) * slope, k);
        cpu_store_first(g->dy + at, d * y, k);
    }
}

static int cpu_gate_forward(const struct k_gating *g)
{
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (g->n > BLOCK)
    for (size_t at = 0; at < g->n; at += BLOCK) {
        const size_t end = at + BLOCK < g->n ? at + BLOCK : g->n;
        if (g->act == K_GATE_SOFTPLUS)
            forward_piece(K_GATE_SOFTPLUS, g, at, end);
        else if (g->act == K_GATE_SIGMOID)
            forward_piece(K_GATE_SIGMOID, g, at, end);
        else if (g->out != g->y)
            memcpy(g->out + at, g->y + at, (end - at) * sizeof *g->out);
    }
    return 0;
}

static int cpu_gate_backward(const struct k_gating *g)
{
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (g->n > BLOCK)
    for (size_t at = 0; at < g->n; at += BLOCK) {
        const size_t end = at + BLOCK < g->n ? at + BLOCK : g->n;
        if (g->act == K_GATE_SOFTPLUS) {
            backward_piece(K_GATE_SOFTPLUS, g, at, end);
        } else if (g->act == K_GATE_SIGMOID) {
            backward_piece(K_GATE_SIGMOID, g, at, end);
        } else {
            memset(g->dpre + at, 0, (end - at) * sizeof *g->dpre);
            if (g->dy != g->dout)
                memcpy(g->dy + at, g->dout + at, (end - at) * sizeof *g->dy);
        }
    }
    return 0;
}

void k_cpu_install_gate(struct k_ops *ops)
{
    ops->gate_forward = cpu_gate_forward;
    ops->gate_backward = cpu_gate_backward;
}
