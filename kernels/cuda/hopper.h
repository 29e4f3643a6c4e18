/* hopper.h - fused attention on a GPU of compute capability 9.0; internal to kernels/cuda. */
#ifndef K_CUDA_HOPPER_H
#define K_CUDA_HOPPER_H

#ifndef K_CUDA_HOST
#include <cuda.h>
#endif

#include "fused.cuh"

/* Whether the open device has compute capability 9.0 and ORRERY_CUDA_HOPPER=0 does not select
 * the kernels of 8.0. */
bool k_cuda_hopper(void);

/* Whether heads come before rows in a tensor map: the stride of a dimension must cover the whole
 * dimension before it (cuda.h, cuTensorMapEncodeTiled). */
static inline __host__ __device__ bool hopper_heads_first(const struct fused_rows &from, int H)
{
    return from.head < from.row || (from.head == from.row && H == 1);
}

/* Makes the tensor map that fetches rows (B, H, T, W) into tiles (hopper.cuh) of `rows` rows: 0
 * or ORR_EDEVICE. */
int k_cuda_hopper_map(CUtensorMap *map, const struct fused *p, const struct fused_rows *from,
                      int rows);

/* As k_cuda_fused_forward and k_cuda_fused_backward, with equal memory layouts; results agree
 * within rounding. */
int k_cuda_hopper_forward(const struct fused *p);
int k_cuda_hopper_backward(const struct fused *p);

#endif
