/* memory.c - checked allocation and a bump allocator. */
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

struct orr_arena {
    unsigned char *base;
    size_t bytes, used;
};

struct orr_arena *orr_arena_create(size_t bytes)
{
    struct orr_arena *arena = orr_alloc(1, sizeof *arena);
    if (!arena)
        return NULL;
    arena->bytes = (bytes + 63) / 64 * 64;
    arena->base = orr_alloc(arena->bytes, 1);
    if (!arena->base) {
        free(arena);
        return NULL;
    }
    return arena;
}

void *orr_arena_alloc(struct orr_arena *arena, size_t bytes)
{
    const size_t size = (bytes + 63) / 64 * 64;
    if (size < bytes || size > arena->bytes - arena->used) {
        ORR_FAIL(ORR_ENOMEM, "arena of %zu bytes is full", arena->bytes);
        return NULL;
    }
    void *piece = arena->base + arena->used;
    arena->used += size;
    return piece;
}

void orr_arena_reset(struct orr_arena *arena)
{
    memset(arena->base, 0, arena->used);
    arena->used = 0;
}

size_t orr_arena_used(const struct orr_arena *arena)
{
    return arena->used;
}

void orr_arena_free(struct orr_arena *arena)
{
    if (!arena)
        return;
    free(arena->base);
    free(arena);
}
