/* matmul.h - the one matrix product of the CUDA backend: cuBLASLt, or loops under the emulation. */
#ifndef K_CUDA_MATMUL_H
#define K_CUDA_MATMUL_H

#include "cuda.h"

/* out (M, N) = A (M, K) B (K, N) [+ add] [+ bias]; all row-major and dense, out in float. */
struct k_cuda_matmul {
    int M, N, K;
    const float *a, *b;
    bool a_transposed; /* a is stored (K, M) */
    bool b_transposed; /* b is stored (N, K) */
    const float *add;  /* (M, N) or NULL; may be out */
    const float *bias; /* (N), added to every row, or NULL; not with add == out */
    float *out;
    enum k_precision precision; /* fp32: exact products; tf32, bf16: rounded inputs, float sums */
};
/* The same result every time for a shape on a device. bf16: a and b are rounded into scratch. */
int k_cuda_matmul(const struct k_cuda_matmul *m);
/* Best rate of large products in GFLOP/s, measured in well under a second. */
int k_cuda_matmul_peak(double *gflops);
void k_cuda_matmul_close(void);

/* ---- round.cu */

/* A bf16 copy of x (rows, cols) in a scratch slot, rows `*stride` apart: a multiple of 8, so that
 * all rows are aligned as tensor cores want them. */
int k_cuda_round(enum k_cuda_slot slot, const float *x, int rows, int cols, __nv_bfloat16 **copy,
                 int *stride);
/* The product by a kernel of our own, in fp32, for any shape and alignment: what cuBLASLt refuses,
 * and a check of it. */
int k_cuda_matmul_plain(const struct k_cuda_matmul *m);
/* The product without its bias, then the bias by a kernel of its own: for biases that are not
 * aligned as epilogues want them, and shapes for which there is no epilogue. */
int k_cuda_matmul_then_bias(const struct k_cuda_matmul *m);
static inline bool k_cuda_bias_rides(const float *bias)
{
    return (uintptr_t)bias % 16 == 0;
}

#endif
