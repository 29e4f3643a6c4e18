/* arena.h - arrays that are freed together: they live until the end of a probe, or until the arena
 * is rewound to an earlier count. */
#ifndef PROBE_ARENA_H
#define PROBE_ARENA_H

#include <stddef.h>

/* Zero-initialise; rewind to 0 at the end. */
struct probe_arena {
    void **block;
    size_t count;
    /* ORR_ENOMEM once an allocation failed; callers check it before they write to arrays */
    int failed;
};
/* Returns a zeroed array, like orr_alloc(); NULL, with a message, when out of memory. */
void *probe_take(struct probe_arena *arena, size_t count, size_t size);
/* Frees all but the first `count` arrays. */
void probe_rewind(struct probe_arena *arena, size_t count);

#endif
