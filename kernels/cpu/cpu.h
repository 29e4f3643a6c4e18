/* cpu.h - private to the cpu backend: its files, threads and scratch memory, and its only
 * interface to oneDNN.
 *
 * Work is cut into pieces by a fixed rule on the shape, never by the number of threads, and
 * partial sums are added in the order of the pieces: results do not depend on the thread count.
 * One operation runs at a time: scratch memory belongs to the operation that is running. */
#ifndef K_CPU_H
#define K_CPU_H

#include "base/isa.h"
#include "kernels/kernels.h"

/* The functions that are compiled once per instruction set (LOOPS in the Makefile): the
 * backend's entries, and two that tests inspect. */
struct k_cpu_loops {
    /* Replaces entries of a table that starts as a copy of the reference's. */
    void (*install)(struct k_ops *ops);
    /* Whether the fused attention kernels run this shape. */
    bool (*fused_serves)(const struct k_attention_shape *shape);
    /* Bytes of scratch memory that a worker of the fused kernels needs. */
    size_t (*fused_scratch)(const struct k_attention_shape *shape, bool backward);
};
ORR_ISA_TABLES(k_cpu_loops)

/* ---- threads and memory (host_context.c) */

/* Threads of every parallel region; all usable cores unless open() was given a number. */
int k_cpu_threads(void);
/* Whether open() allowed bf16 and this machine multiplies bf16 in hardware. */
bool k_cpu_bf16(void);

/* Reserves scratch memory for one operation: `shared` bytes for all, `local` bytes for each
 * thread. Call it outside parallel regions. Values do not survive from one operation to the
 * next. */
int k_cpu_scratch_reserve(size_t shared_bytes, size_t local_bytes);
void *k_cpu_scratch_shared(void);
/* The part of the calling thread, inside a parallel region. */
void *k_cpu_scratch_local(void);
/* Bytes rounded up to whole cache lines, to lay out pieces of scratch. */
static inline size_t k_cpu_lines(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* ---- oneDNN (host_dnnl.c) */

/* c (M, N) = a (M, K) b (K, N) [+ bias (N)] [+ c], dense, c and bias float. A transposed operand is
 * stored (K, M) or (N, K). bf16: a and b are bf16, sums are float.
 * b_packed: b comes from k_cpu_pack_run. */
struct k_cpu_matmul_shape {
    int M, N, K;
    bool a_transposed, b_transposed, b_packed, bf16, bias, accumulate;
};
struct k_cpu_matmul;
struct k_cpu_pack;
/* The multiplication of this shape for one thread, created on first use; call it outside
 * parallel regions. The cache owns it. */
int k_cpu_matmul_find(const struct k_cpu_matmul_shape *shape, struct k_cpu_matmul **matmul);
/* Bytes of scratch memory that k_cpu_matmul_run needs. */
size_t k_cpu_matmul_scratch(const struct k_cpu_matmul *matmul);
/* Runs in the calling thread alone, inside a parallel region. Non-zero when oneDNN failed. */
int k_cpu_matmul_run(struct k_cpu_matmul *matmul, float *c, const void *a, const void *b,
                     const float *bias, void *scratch);
/* The packing of right operands (K, N), created on first use; call it outside parallel regions. */
int k_cpu_pack_find(int K, int N, bool bf16, struct k_cpu_pack **pack);
size_t k_cpu_pack_bytes(const struct k_cpu_pack *pack);
/* Packs floats (K, N), or (N, K) when transposed, and rounds them when the packing is bf16. All
 * threads take part: call it outside parallel regions. `to` must be aligned to a cache line. */
int k_cpu_pack_run(struct k_cpu_pack *pack, void *to, const float *from, bool transposed);
/* Limits oneDNN to the instruction set that ORRERY_ISA names. Call it before the first use of
 * oneDNN. */
void k_cpu_matmul_limit(void);
bool k_cpu_matmul_has_bf16(void);
void k_cpu_matmul_free_all(void);

/* ---- entries: each file fills in its own */

void k_cpu_install_linear(struct k_ops *ops);
void k_cpu_install_rows(struct k_ops *ops);
void k_cpu_install_attention(struct k_ops *ops); /* the generic path */
void k_cpu_install_fused(struct k_ops *ops);
void k_cpu_install_gate(struct k_ops *ops);
void k_cpu_install_loss(struct k_ops *ops);
void k_cpu_install_head(struct k_ops *ops);
void k_cpu_install_update(struct k_ops *ops);
void k_cpu_install_muon(struct k_ops *ops);
/* The entry of host_peak.c, which is compiled once for all instruction sets. */
int k_cpu_peak(double *gflops);

/* ---- parts of entries that other files use */

/* Layers with at most K_CPU_NARROW inputs or outputs, by plain loops: out (N, OC) = inp W^T + b,
 * and all gradients but GELU's. */
enum { K_CPU_NARROW = 8 };
int k_cpu_narrow_forward(const struct k_linear *layer, float *out);
int k_cpu_narrow_backward(const struct k_linear *layer);

/* out = gelu(pre) over n elements, in the calling thread. */
void k_cpu_gelu_piece(float *out, const float *pre, size_t n);
/* dpre = dout gelu'(pre); may alias dout. */
void k_cpu_gelu_backward_piece(float *dpre, const float *dout, const float *pre, size_t n);
/* Sum of the weights of N rows, in order; N when weight is NULL. */
double k_cpu_weight_sum(const float *weight, int N);
/* ORR_EINVAL where target[n stride + c] of a row with non-zero weight is not below V. */
int k_cpu_check_targets(const uint16_t *target, int stride, int channels, const float *weight,
                        int N, int V);
/* Loss of one row times its weight; d (V, may be NULL or x) = scale (softmax(x) - onehot). */
double k_cpu_cross_entropy_row(float *d, const float *x, int target, double weight, float scale,
                               int V);

#endif
