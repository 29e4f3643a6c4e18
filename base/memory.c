/* memory.c - checked allocation. */
#include "error.h"
#include "memory.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* count * size rounded up to 64 bytes; 0, with a message, on overflow. */
static size_t bytes_of(size_t count, size_t size)
{
    if (count == 0 || size == 0)
        return 64;
    if (count > (SIZE_MAX - 64) / size) {
        ORR_FAIL(ORR_ENOMEM, "out of memory: %zu x %zu bytes", count, size);
        return 0;
    }
    return (count * size + 63) / 64 * 64;
}

void *orr_alloc_unset(size_t count, size_t size)
{
    const size_t bytes = bytes_of(count, size);
    void *memory = bytes ? aligned_alloc(64, bytes) : NULL;
    if (bytes && !memory)
        ORR_FAIL(ORR_ENOMEM, "out of memory: %zu bytes", bytes);
    return memory;
}

void *orr_alloc(size_t count, size_t size)
{
    void *memory = orr_alloc_unset(count, size);
    return memory ? memset(memory, 0, bytes_of(count, size)) : NULL;
}
