/* hopper.cu - decides when attention uses the tensor cores of compute capability 9.0, and makes
 * the tensor maps by which they fetch tiles. See hopper.cuh. */
#include "hopper.h"

#include <stdlib.h>

#include "hopper.cuh"

bool k_cuda_hopper(void)
{
    const char *asked = getenv("ORRERY_CUDA_HOPPER");
    return k_cuda_capability() == 90 && !(asked && !strcmp(asked, "0"));
}

typedef CUresult encode_tiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                              void *address, const cuuint64_t *sizes, const cuuint64_t *strides,
                              const cuuint32_t *box, const cuuint32_t *steps,
                              CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                              CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);

/* The function is loaded from the driver (CUDA 12.0 or later), since programs are not linked
 * with the driver. */
static encode_tiled *encoder(void)
{
    static encode_tiled *found;
    cudaDriverEntryPointQueryResult result;
    void *function = NULL;
    if (found)
        return found;
#if defined(K_CUDA_HOST) || CUDART_VERSION >= 12050
    const cudaError_t rc = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                            12000, cudaEnableDefault, &result);
#else
    const cudaError_t rc =
        cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &result);
#endif
    if (rc != cudaSuccess)
        (void)cudaGetLastError();
    else if (result == cudaDriverEntryPointSuccess)
        found = (encode_tiled *)function;
    return found;
}

int k_cuda_hopper_map(CUtensorMap *map, const struct fused *p, const struct fused_rows *from,
                      int rows)
{
    const int span = p->width < 64 ? p->width : 64;
    const int rows_at = hopper_heads_first(*from, p->H) ? 2 : 1, heads_at = 3 - rows_at;
    cuuint64_t sizes[4] = {(cuuint64_t)p->width, 0, 0, (cuuint64_t)p->B};
    cuuint64_t strides[3] = {0, 0, (cuuint64_t)from->sequence * sizeof(bf16)};
    cuuint32_t box[4] = {(cuuint32_t)span, 1, 1, 1};
    const cuuint32_t steps[4] = {1, 1, 1, 1};
    sizes[rows_at] = (cuuint64_t)p->T;
    sizes[heads_at] = (cuuint64_t)p->H;
    strides[rows_at - 1] = (cuuint64_t)from->row * sizeof(bf16);
    strides[heads_at - 1] = (cuuint64_t)from->head * sizeof(bf16);
    box[rows_at] = (cuuint32_t)rows;
    /* each stride must cover the whole dimension before it (cuda.h) */
    for (int i = 0; i < 3; i++)
        if (strides[i] < (i ? strides[i - 1] : sizeof(bf16)) * sizes[i])
            return ORR_FAIL(ORR_EINVAL,
                            "cuda: a map of (%d, %d, %d, %d) whose dimension %d is "
                            "inside the next",
                            p->B, p->H, p->T, p->width, i);
    encode_tiled *const encode = encoder();
    if (!encode)
        return ORR_FAIL(ORR_EDEVICE, "cuda: the driver has no cuTensorMapEncodeTiled");
    const CUresult status =
        encode(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, (void *)from->at, sizes, strides, box,
               steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
               span == 64 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B,
               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return status == CUDA_SUCCESS
               ? 0
               : ORR_FAIL(ORR_EDEVICE, "cuda: a map of (%d, %d, %d, %d): error %d", p->B, p->H,
                          p->T, p->width, (int)status);
}
