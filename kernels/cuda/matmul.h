/* matmul.h - the matrix product of the CUDA backend: cuBLASLt, or its replacement under the
 * emulation (tests/cuda/host/cublasLt.h). */
#ifndef K_CUDA_MATMUL_H
#define K_CUDA_MATMUL_H

#include "cuda.h"

/* out (M, N) = A (M, K) B (K, N) [+ add] [+ bias]. All tensors are row-major; all are dense,
 * except that bf16 operands may have padded rows. A bf16 member that is not NULL is used in
 * place of the float member of its name; a product with a bf16 operand is computed in bf16
 * whatever `precision` is. */
struct k_cuda_matmul {
    int M, N, K;
    /* > 1: so many products, whose operands and results lie one after the other without gaps. bf16
     * operands then are bf16 tensors, with rows of a multiple of 8 numbers; there is no bias and no
     * out_bf16. */
    int batch;
    const float *a, *b;
    const __nv_bfloat16 *a_bf16, *b_bf16;
    int a_stride, b_stride;         /* stride of rows of a bf16 operand */
    bool a_transposed;              /* a is stored (K, M) */
    bool b_transposed;              /* b is stored (N, K) */
    const float *add;               /* (M, N) or NULL; may be out; not with out_bf16 */
    const float *bias;              /* (N), added to every row, or NULL; not with add == out */
    const __nv_bfloat16 *bias_bf16; /* bias in bf16, only used with out_bf16; or NULL */
    float *out;
    __nv_bfloat16 *out_bf16;
    enum k_precision precision; /* fp32: exact products; tf32, bf16: rounded inputs, float sums */
};
/* Results are reproducible for a shape on a device. In bf16, float operands are rounded into
 * scratch memory. */
int k_cuda_matmul(const struct k_cuda_matmul *m);
/* Best rate of large products in GFLOP/s, measured in well under a second. */
int k_cuda_matmul_peak(double *gflops);
void k_cuda_matmul_close(void);

/* ---- round.cu */

/* Stride of rows of a bf16 copy in scratch memory: a multiple of 8, so that all rows are aligned
 * for tensor cores. */
static inline int k_cuda_round_stride(int cols)
{
    return (cols + 7) / 8 * 8;
}
/* Makes a bf16 copy of x (rows, cols) in a scratch slot, with row stride *stride =
 * k_cuda_round_stride. */
int k_cuda_round(enum k_cuda_slot slot, const float *x, int rows, int cols, __nv_bfloat16 **copy,
                 int *stride);
/* One operand of a bf16 product: (rows, cols) as it lies in memory. */
struct k_cuda_operand {
    const __nv_bfloat16 *x;
    int stride;
};
/* The operands A and B of a bf16 product. bf16 tensors that are aligned for tensor cores are
 * used directly; all others are copied into scratch memory. */
int k_cuda_operands(const struct k_cuda_matmul *m, struct k_cuda_operand *a,
                    struct k_cuda_operand *b);
static inline bool k_cuda_is_bf16(const struct k_cuda_matmul *m)
{
    return m->precision == K_PRECISION_BF16 || m->a_bf16 || m->b_bf16;
}
/* The product by a kernel of this project, for any shape and alignment, in fp32 except for bf16
 * operands. It computes what cuBLASLt rejects, and tests cuBLASLt. */
int k_cuda_matmul_plain(const struct k_cuda_matmul *m);
/* The product without its bias, followed by a kernel that adds the bias: for biases that are not
 * aligned for epilogues, and shapes without an epilogue. */
int k_cuda_matmul_then_bias(const struct k_cuda_matmul *m);
/* The bias in the type of out, as epilogues need it. */
static inline const void *k_cuda_bias_of(const struct k_cuda_matmul *m)
{
    return m->out_bf16 ? (const void *)m->bias_bf16 : (const void *)m->bias;
}
/* Whether the epilogue can add the bias, if there is one. */
static inline bool k_cuda_bias_rides(const struct k_cuda_matmul *m)
{
    const void *bias = k_cuda_bias_of(m);
    return m->bias == NULL || (bias != NULL && (uintptr_t)bias % 16 == 0);
}

/* ---- columns.cu */

/* One pass over a gradient (rows, columns), float or bf16, that computes everything a linear
 * layer needs from it. The order of sums depends on the shape alone. */
struct k_cuda_columns {
    int rows, columns;
    const void *x;
    bool bf16; /* x, pre and dpre are bf16 */
    /* dpre = x gelu'(pre), from which copy and sums are then made instead of x; NULL: no GELU */
    const void *pre;
    void *dpre;          /* may be x */
    __nv_bfloat16 *copy; /* rounded copy of a float x, rows k_cuda_round_stride apart; or NULL */
    float *sums;         /* (columns) adds the column sums, taken before rounding; or NULL */
};
int k_cuda_columns(const struct k_cuda_columns *c);

/* ---- gelu.cu */

/* out (n) = gelu(pre), both float or both bf16. */
int k_cuda_gelu_forward(void *out, const void *pre, bool bf16, size_t n);

#endif
