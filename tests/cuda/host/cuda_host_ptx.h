/* cuda_host_ptx.h - kernels as nvcc compiled them, in place of those of the host's compiler.
 *
 * ORR_CUDA_HOST_PTX=FOLDER has libraries, *.so, that tests/cuda/ptx/ptx2cc and a compiler made of
 * PTX. A kernel that is launched and is in one of them runs from there: by its mangled name, which
 * the symbol table of the program has for its address. ORR_CUDA_HOST_PTX_ONLY=1 makes a launch of
 * any other kernel an error; a process in which no kernel ran from the libraries exits with 97.
 * ORR_CUDA_HOST_PTX_SAY=1 prints a line at the end: how many did.
 *
 * What follows is for these libraries, which take it from the program (-rdynamic). */
#ifndef CUDA_HOST_PTX_H
#define CUDA_HOST_PTX_H

#include <stddef.h>

struct cuda_host_ptx_kernel {
    const char *name;                    /* mangled; NULL ends the list */
    void (*run)(const char *parameters); /* one thread */
    size_t parameter_bytes;
    size_t shared_bytes; /* static shared memory, before the dynamic one; a multiple of 16 */
};

/* Of the launch that runs: bytes of shared memory, static and dynamic; and its number. */
size_t cuda_host_ptx_shared_bytes(void);
extern unsigned cuda_host_ptx_launches;
/* Ends the launch, with kernel, block and thread named. */
[[noreturn]] void cuda_host_stop(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Number of the thread that runs, in its block. */
int cuda_host_thread(void);
/* The allocation that has the address: its start and bytes; nothing is written where none has. */
void cuda_host_memory_find(const void *address, const char **from, size_t *bytes);
/* Where an address lies among the allocations, in words. */
void cuda_host_memory_describe(const void *address, char *text, size_t size);

#endif
