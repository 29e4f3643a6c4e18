/* cuda_host_internal.h - what the files of the emulation share. */
#ifndef CUDA_HOST_INTERNAL_H
#define CUDA_HOST_INTERNAL_H

#include "cuda_host.h"
#include "cuda_host_ptx.h"

#if defined(__SANITIZE_ADDRESS__)
#define CUDA_HOST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUDA_HOST_ASAN 1
#endif
#endif
#ifndef CUDA_HOST_ASAN
#define CUDA_HOST_ASAN 0
#endif

/* ---- cuda_host_memory.cc */

/* Opens all device memory for a kernel; close also looks at the patterns around every allocation:
 * NULL, or what was overwritten. */
void cuda_host_memory_open(void);
const char *cuda_host_memory_close(void);
/* Keeps the error and its text for cudaGetLastError; returns it. */
cudaError_t cuda_host_fail(cudaError_t error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- cuda_host_stream.cc */

/* A kernel or function instead of doing it now; false when no graph is under way. */
bool cuda_host_keep(int (*run)(void *arguments), void (*drop)(void *arguments), void *arguments);
/* Whether a graph is under way; makes it one that cannot be used. */
bool cuda_host_capturing(void);
void cuda_host_spoil_capture(void);
/* Whether kernels cannot be captured now, which is then the last error. */
bool cuda_host_no_launch(void);

/* ---- cuda_host_ptx.cc */

/* Puts the kernel of ORR_CUDA_HOST_PTX into the launch, where there is one: 0 or an error. */
int cuda_host_ptx_take(struct cuda_host_launch *launch);

/* ---- cuda_host_tensor.cc */

/* Before a block: no copy is under way. After it: whether a thread returned with one. */
void cuda_host_copies_none(void);
bool cuda_host_copies_left(void);

/* Largest dynamic shared memory of a kernel (cudaFuncSetAttribute). */
size_t cuda_host_shared_limit(const void *kernel);

#endif
