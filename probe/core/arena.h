/* arena.h - memory that is freed together: arrays of a probe live until its end, or until the arena
 * is rewound to what it held before. */
#ifndef PROBE_ARENA_H
#define PROBE_ARENA_H

#include <stddef.h>

/* Zero it; rewind it to 0 at the end. */
struct probe_arena {
    void **block;
    size_t count;
    int failed; /* ORR_ENOMEM once an allocation failed; callers check it before they write */
};
/* Zeroed, as orr_alloc(); NULL, with a message, where memory ran out. */
void *probe_take(struct probe_arena *arena, size_t count, size_t size);
/* Frees all but the first `count` arrays. */
void probe_rewind(struct probe_arena *arena, size_t count);

#endif
