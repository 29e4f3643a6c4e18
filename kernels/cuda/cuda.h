/* cuda.h - what the files of the CUDA backend share; internal to kernels/cuda.
 *
 * The backend is a library of its own, orrery_cuda.so beside the programs, opened by
 * k_find("cuda") (kernels/plugin.c), so that programs start without CUDA's libraries and run on
 * machines without them. The same .cu files are compiled by nvcc and, with -DK_CUDA_HOST, by the
 * host compiler against tests/cuda/host, which runs grids, blocks and threads on the CPU:
 * kernels are launched by K_LAUNCH, and device code uses only CUDA C++ and this header.
 *
 * Every kernel is deterministic: the order of sums depends on the shape alone, and there are no
 * float atomics. Tensors are float where they are not said to be bf16 (load_store.h); pointers
 * of entries are device memory (kernels.h). Indices are size_t: B T V may pass 2^31. A kernel
 * must be correct for any grid (grid-stride loops) unless its comment says otherwise. */
#ifndef K_CUDA_H
#define K_CUDA_H

#ifdef K_CUDA_HOST
#include "cuda_host.h" /* __global__, threadIdx, __syncthreads, shuffles, __nv_bfloat16, ... */
#else
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#endif

extern "C" {
#include "base/base.h"
#include "kernels/kernels.h"
}

/* Launches kernel(...) with grid and block (dim3 or int) and bytes of dynamic shared memory on
 * the backend's stream: returns 0, or ORR_EDEVICE with a message that names the kernel. A
 * template kernel is given with all its template arguments; parentheses are needed around
 * several. A kernel with more than 48 KiB of dynamic shared memory needs K_SHARED_LIMIT(kernel,
 * bytes) before its first launch; it returns 0 or ORR_EDEVICE. */
#ifdef K_CUDA_HOST
#define K_LAUNCH(kernel, grid, block, shared, ...)                                                 \
    cuda_host_make(#kernel, kernel, dim3(grid), dim3(block), shared)(__VA_ARGS__)
/* name = the dynamic shared memory of the block */
#define K_SHARED(type, name) type *name = (type *)k_cuda_host_shared()
#else
#define K_LAUNCH(kernel, grid, block, shared, ...)                                                 \
    (kernel<<<grid, block, shared, k_cuda_stream()>>>(__VA_ARGS__), k_cuda_launched(#kernel))
#define K_SHARED(type, name)                                                                       \
    extern __shared__ __align__(16) unsigned char k_cuda_dynamic_shared[];                         \
    type *name = (type *)k_cuda_dynamic_shared
#endif
#define K_SHARED_LIMIT(kernel, bytes)                                                              \
    k_cuda_check(                                                                                  \
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)(bytes)),   \
        #kernel)

enum { K_WARP = 32 };

/* ---- context.cu */
cudaStream_t k_cuda_stream(void);
/* cudaGetLastError as an orr_status; the message names the kernel. */
int k_cuda_launched(const char *kernel);
/* Converts a CUDA status to 0, ORR_ENOMEM or ORR_EDEVICE; `what` names the failed action in the
 * message. */
int k_cuda_check(cudaError_t status, const char *what);
/* Number of blocks for a grid-stride kernel over n elements with `block` threads: enough to fill
 * the device, not more than needed. */
int k_cuda_blocks(size_t n, int block);
/* The most shared memory that a block may have on the open device, in bytes. */
size_t k_cuda_shared_most(void);
/* Compute capability of the open device, as 10 major + minor. */
int k_cuda_capability(void);
/* The device that is open or that open() will take. */
int k_cuda_device(void);
/* The rounding of matmul inputs in linear layers, as given to open(). */
enum k_precision k_cuda_precision(void);
/* Scratch memory, valid until the slot is requested again; *memory = at least `bytes`, not
 * zeroed. One slot per purpose. Growing waits for the device (not while recording). */
enum k_cuda_slot {
    K_CUDA_SLOT_MATMUL, /* cuBLASLt's workspace */
    K_CUDA_SLOT_A,      /* bf16 copies of matmul inputs */
    K_CUDA_SLOT_B,
    K_CUDA_SLOT_LINEAR, /* what a linear entry keeps between its kernels */
    K_CUDA_SLOT_HEAD_W, /* bf16 copies of operands that all chunks of a head's rows share */
    K_CUDA_SLOT_HEAD_INP,
    K_CUDA_SLOT_PARTIAL, /* partial sums of reductions over blocks */
    K_CUDA_SLOT_LOGITS,  /* chunks of logits and their gradients */
    K_CUDA_SLOT_ATTENTION,
    K_CUDA_SLOT_WIDENED, /* float copies of bf16 tensors */
    K_CUDA_SLOT_MUON,    /* matrices of Newton-Schulz iterations */
    K_CUDA_SLOTS,
};
int k_cuda_scratch(enum k_cuda_slot slot, size_t bytes, void **memory);
/* Frees old scratch memory that was kept because recordings used its address. */
void k_cuda_free_retired(void);

/* ---- record.cu */
/* A device double whose value k_ops.wait writes to *host. Inside a recording, every wait after a
 * replay writes it. */
int k_cuda_result(double *host, double **device);
/* As k_cuda_result, rounded to a whole number. */
int k_cuda_result_long(long *host, double **device);
/* Whether work is being recorded; whether recordings exist. */
bool k_cuda_recording(void);
bool k_cuda_recordings(void);
int k_cuda_results_open(void);
void k_cuda_results_close(void);

/* ---- matmul.h is implemented by matmul.cu, on cuBLASLt */

/* ---- the entries: each file fills in its own */

void k_cuda_install_record(struct k_ops *ops);
void k_cuda_install_round(struct k_ops *ops);
/* This entry of round.cu is also used by other entries. */
int k_cuda_to_bf16(void *out, const float *x, size_t n);
void k_cuda_install_linear(struct k_ops *ops);
void k_cuda_install_elements(struct k_ops *ops);
void k_cuda_install_rows(struct k_ops *ops);
void k_cuda_install_embed(struct k_ops *ops);
void k_cuda_install_attention(struct k_ops *ops);
void k_cuda_install_loss(struct k_ops *ops);
void k_cuda_install_update(struct k_ops *ops);
void k_cuda_install_muon(struct k_ops *ops);
void k_cuda_install_collectives(struct k_ops *ops);

#endif
