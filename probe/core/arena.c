/* arena.c - see arena.h. */
#include "arena.h"

#include "base/base.h"

#include <stdlib.h>

void *probe_take(struct probe_arena *arena, size_t count, size_t size)
{
    void **more = arena->block;
    if (!(arena->count & (arena->count - 1))) /* full when the count is 0 or a power of two */
        more = realloc(more, (arena->count ? 2 * arena->count : 1) * sizeof *more);
    if (!more) {
        arena->failed = ORR_FAIL(ORR_ENOMEM, "%zu arrays: out of memory", arena->count);
        return NULL;
    }
    arena->block = more;
    void *taken = more[arena->count] = orr_alloc(count, size);
    if (taken)
        arena->count++;
    else
        arena->failed = ORR_ENOMEM;
    return taken;
}

void probe_rewind(struct probe_arena *arena, size_t count)
{
    while (arena->count > count)
        free(arena->block[--arena->count]);
    if (count)
        return;
    free(arena->block);
    arena->block = NULL;
}
