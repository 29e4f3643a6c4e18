/* matmul.h - the one matrix product of the CUDA backend: cuBLASLt, or its stand-in under the
 * emulation (tests/cuda/host/cublasLt.h). */
#ifndef K_CUDA_MATMUL_H
#define K_CUDA_MATMUL_H

#include "cuda.h"

/* out (M, N) = A (M, K) B (K, N) [+ add] [+ bias]; all row-major and dense but for the rows of
 * bf16 operands. A bf16 tensor stands in place of the float one of its name where it is
 * not NULL; a product with a bf16 operand is one of bf16 whatever `precision` says. */
struct k_cuda_matmul {
    int M, N, K;
    const float *a, *b;
    const __nv_bfloat16 *a_bf16, *b_bf16;
    int a_stride, b_stride;         /* from row to row of a bf16 operand */
    bool a_transposed;              /* a is stored (K, M) */
    bool b_transposed;              /* b is stored (N, K) */
    const float *add;               /* (M, N) or NULL; may be out; not with out_bf16 */
    const float *bias;              /* (N), added to every row, or NULL; not with add == out */
    const __nv_bfloat16 *bias_bf16; /* a copy of bias: with out_bf16, or NULL */
    float *out;
    __nv_bfloat16 *out_bf16;
    enum k_precision precision; /* fp32: exact products; tf32, bf16: rounded inputs, float sums */
};
/* The same result every time for a shape on a device. bf16: float operands are rounded into
 * scratch. */
int k_cuda_matmul(const struct k_cuda_matmul *m);
/* Best rate of large products in GFLOP/s, measured in well under a second. */
int k_cuda_matmul_peak(double *gflops);
void k_cuda_matmul_close(void);

/* ---- round.cu */

/* Elements from row to row of a bf16 copy in scratch: a multiple of 8, so that all rows are aligned
 * as tensor cores want them. */
static inline int k_cuda_round_stride(int cols)
{
    return (cols + 7) / 8 * 8;
}
/* A bf16 copy of x (rows, cols) in a scratch slot, rows *stride = k_cuda_round_stride apart. */
int k_cuda_round(enum k_cuda_slot slot, const float *x, int rows, int cols, __nv_bfloat16 **copy,
                 int *stride);
/* One operand of a product in bf16: (rows, cols) as it lies in memory. */
struct k_cuda_operand {
    const __nv_bfloat16 *x;
    int stride;
};
/* The operands A and B of a product in bf16: bf16 ones that lie as tensor cores want them as they
 * are, all others copied into scratch. */
int k_cuda_operands(const struct k_cuda_matmul *m, struct k_cuda_operand *a,
                    struct k_cuda_operand *b);
static inline bool k_cuda_is_bf16(const struct k_cuda_matmul *m)
{
    return m->precision == K_PRECISION_BF16 || m->a_bf16 || m->b_bf16;
}
/* The product by a kernel of our own, for any shape and alignment, in fp32 but for operands that
 * are bf16: what cuBLASLt refuses, and a check of it. */
int k_cuda_matmul_plain(const struct k_cuda_matmul *m);
/* The product without its bias, then the bias by a kernel of its own: for biases that are not
 * aligned as epilogues want them, and shapes for which there is no epilogue. */
int k_cuda_matmul_then_bias(const struct k_cuda_matmul *m);
/* The bias in the type of out, which is the one that epilogues take. */
static inline const void *k_cuda_bias_of(const struct k_cuda_matmul *m)
{
    return m->out_bf16 ? (const void *)m->bias_bf16 : (const void *)m->bias;
}
/* Whether the bias, where there is one, can be left to the epilogue. */
static inline bool k_cuda_bias_rides(const struct k_cuda_matmul *m)
{
    const void *bias = k_cuda_bias_of(m);
    return m->bias == NULL || (bias != NULL && (uintptr_t)bias % 16 == 0);
}

/* ---- columns.cu */

/* One pass over a gradient (rows, columns), float or bf16, for all that a linear layer wants of
 * it. Sums are made in an order that the shape alone decides. */
struct k_cuda_columns {
    int rows, columns;
    const void *x;
    bool bf16;           /* x, pre and dpre are bf16 */
    const void *pre;     /* dpre = x gelu'(pre), which then stands in place of x; NULL: no GELU */
    void *dpre;          /* may be x */
    __nv_bfloat16 *copy; /* of a float x, rounded, rows k_cuda_round_stride apart; or NULL */
    float *sums;         /* (columns) adds the sums of the columns, before rounding; or NULL */
};
int k_cuda_columns(const struct k_cuda_columns *c);

/* ---- gelu.cu */

/* out (n) = gelu(pre), both float or both bf16. */
int k_cuda_gelu_forward(void *out, const void *pre, bool bf16, size_t n);

#endif
