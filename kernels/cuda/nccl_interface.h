/* nccl_interface.h - the types of NCCL 2 that collectives.cu uses (NVIDIA's NCCL documentation,
 * "NCCL API"), so that a build does not need the library. They are checked against NCCL's header
 * where that is installed. */
#ifndef K_CUDA_NCCL_INTERFACE_H
#define K_CUDA_NCCL_INTERFACE_H

#if !defined(K_CUDA_HOST) && __has_include(<nccl.h>)
#include <nccl.h>
#else
typedef struct ncclComm *ncclComm_t;
typedef struct {
    char internal[128];
} ncclUniqueId;
typedef enum { ncclSuccess = 0 } ncclResult_t;
typedef enum { ncclFloat32 = 7 } ncclDataType_t;
#endif
static_assert(sizeof(ncclUniqueId) == 128 && ncclSuccess == 0 && ncclFloat32 == 7,
              "the binary interface of NCCL 2");

#endif
