/* host_memory.h - memory entries of the backends that compute in ordinary memory: `ref` has them
 * in its table, and `cpu` starts as a copy of that table. */
#ifndef K_HOST_MEMORY_H
#define K_HOST_MEMORY_H

#include "kernels.h"

int k_host_alloc(void **memory, size_t bytes);
void k_host_release(void *memory);
int k_host_zero(void *memory, size_t bytes);
int k_host_copy(void *to, const void *from, size_t bytes);
int k_host_wait(void);

#endif
