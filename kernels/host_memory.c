/* host_memory.c - memory entries of the backends that compute in ordinary memory. */
#include "host_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

int k_host_alloc(void **memory, size_t bytes)
{
    *memory = orr_alloc(bytes, 1);
    return *memory ? 0 : ORR_ENOMEM;
}

void k_host_release(void *memory)
{
    free(memory);
}

int k_host_zero(void *memory, size_t bytes)
{
    memset(memory, 0, bytes);
    return 0;
}

int k_host_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return 0;
}

int k_host_wait(void)
{
    return 0;
}
