/* fused.h - fused attention by tensor cores; internal to kernels/cuda. */
#ifndef K_CUDA_FUSED_H
#define K_CUDA_FUSED_H

#include "cuda.h"

/* Whether fused kernels run this shape on the open backend: bf16 precision; softmax, lssa, lssar
 * or rw_softmax; even D from 8 to 128 whose blocks fit in the GPU's shared memory (above 32 they
 * need more than the 99 KiB of an RTX 30 or 40); p up to 1,000. The other functions take the
 * arguments of the entries (kernels.h). */
bool k_cuda_fused(const struct k_attention_shape *shape);
int k_cuda_fused_attention_forward(float *out, float *row_stats, const float *qkv,
                                   const struct k_attention_shape *shape);
int k_cuda_fused_attention_backward(float *dqkv, const float *dout, const float *out,
                                    const float *row_stats, const float *qkv,
                                    const struct k_attention_shape *shape);

#endif
