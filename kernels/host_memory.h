/* host_memory.h - memory entries of the backends that compute in ordinary memory. */
#ifndef K_HOST_MEMORY_H
#define K_HOST_MEMORY_H

#include "kernels.h"

int k_host_alloc(void **memory, size_t bytes);
void k_host_release(void *memory);
int k_host_zero(void *memory, size_t bytes);
int k_host_copy(void *to, const void *from, size_t bytes);
int k_host_wait(void);
int k_host_scale(real *x, double factor, size_t n);

#define K_HOST_MEMORY                                                                              \
    .host = true, .alloc = k_host_alloc, .release = k_host_release, .zero = k_host_zero,           \
    .copy = k_host_copy, .upload = k_host_copy, .download = k_host_copy, .wait = k_host_wait,      \
    .scale = k_host_scale

#endif
