/* cuda_host_internal.h - what the files of the emulation share. */
#ifndef CUDA_HOST_INTERNAL_H
#define CUDA_HOST_INTERNAL_H

#include "cuda_host.h"

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

/* ---- cuda_host.cc */

/* Whoever touches device memory opens it, from on to off; kernels that touch what is none fail. */
void cuda_host_memory_watch(bool on);

/* ---- cuda_host_memory.cc */

/* Opens the piece of device memory that an address is in: false where it is in none, or open.
 * Under AddressSanitizer everything is opened at once, by the first. Close looks at the patterns
 * around allocations whose ends were open: NULL, or what was overwritten. */
void cuda_host_memory_open(void);
bool cuda_host_memory_touched(const void *address);
const char *cuda_host_memory_close(void);
/* The allocation that has the address: its start and bytes; nothing is written where none has. */
void cuda_host_memory_find(const void *address, const char **from, size_t *bytes);
/* Where an address lies among the allocations, in words. */
void cuda_host_memory_describe(const void *address, char *text, size_t size);
/* Compute capability of the device, 90 for 9.0. */
int cuda_host_capability(void);
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

/* ---- cuda_host.cc */

/* Bytes of shared memory of the launch that runs. */
size_t cuda_host_shared_bytes(void);
/* Ends the launch, with kernel, block and thread named. */
[[noreturn]] void cuda_host_stop(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Number of the thread that runs, in its block. */
int cuda_host_thread(void);
/* The thread waits for a phase of a barrier while others run; it goes on when the phase is complete
 * but for its copies, or to ask again where no other thread can run. A launch in which threads ask
 * again and again, and cuda_host_went_on is not called meanwhile, fails. */
void cuda_host_spin(unsigned barrier, unsigned parity);
void cuda_host_went_on(void);

/* ---- cuda_host_hopper.cc and cuda_host_barrier.cc */

/* Before a block; after it: NULL, or what was left under way. */
void cuda_host_products_start(void);
const char *cuda_host_products_left(void);
void cuda_host_barriers_start(void);
const char *cuda_host_barriers_left(void);
/* Fails the launch on a device that does not have the instruction. */
void cuda_host_need_hopper(const char *what);
/* Fails the launch where one of the bytes was stored and not fenced; what: what touches them. */
void cuda_host_need_fenced(const char *what, unsigned at, unsigned bytes);
/* Whether a wait for the phase of this parity can end; what the phase lacks, in words. */
bool cuda_host_barrier_passable(unsigned at, unsigned parity);
void cuda_host_barrier_describe(unsigned at, char *text, size_t size);
/* Where byte `at` of shared memory lies with a swizzle of 128, 64, 32 or (none) 16 bytes. */
static inline unsigned cuda_host_swizzled(unsigned at, unsigned span)
{
    return at ^ (at >> 7 & (span / 16 - 1)) << 4;
}

/* ---- cuda_host_tensor.cc */

/* Before a block: no copy is under way. After it: whether a thread returned with one. */
void cuda_host_copies_none(void);
bool cuda_host_copies_left(void);

/* Largest dynamic shared memory of a kernel (cudaFuncSetAttribute). */
size_t cuda_host_shared_limit(const void *kernel);

#endif
