/* memory.c - checked allocation. */
#include "base.h"

#include <stdlib.h>
#include <string.h>

void *orr_alloc(size_t count, size_t size)
{
    if (count == 0 || size == 0)
        count = size = 1;
    if (count > (SIZE_MAX - 64) / size) {
        ORR_FAIL(ORR_ENOMEM, "out of memory: %zu x %zu bytes", count, size);
        return NULL;
    }
    const size_t bytes = (count * size + 63) / 64 * 64;
    void *memory = aligned_alloc(64, bytes);
    if (!memory) {
        ORR_FAIL(ORR_ENOMEM, "out of memory: %zu bytes", bytes);
        return NULL;
    }
    return memset(memory, 0, bytes);
}
