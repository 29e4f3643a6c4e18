/* json_memory.c - memory of cJSON, whose functions leave out what they have no memory for: a file
 * would lack a key, and nobody would know.
 *
 * When memory runs out, what JSON needs comes from a reserve, so that a tree is whole, and the end
 * of it is known: orr_json_short() is true from then on, and orr_json_write() refuses. The reserve
 * is never given back. */
#include "base.h"

#include <stdatomic.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

enum { RESERVE = 1 << 20, ALIGN = 16 };
static _Alignas(ALIGN) unsigned char reserve[RESERVE];
static atomic_size_t used;
static atomic_bool is_short;

bool orr_json_short(void)
{
    return atomic_load(&is_short);
}

static void *take(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory)
        return memory;
    atomic_store(&is_short, true);
    if (bytes > RESERVE)
        return NULL;
    const size_t room = (bytes + ALIGN - 1) / ALIGN * ALIGN, at = atomic_fetch_add(&used, room);
    if (at <= RESERVE - room)
        return reserve + at;
    atomic_fetch_sub(&used, room);
    return NULL;
}

static void give_back(void *memory)
{
    const unsigned char *at = memory;
    if (at < reserve || at >= reserve + RESERVE)
        free(memory);
}

__attribute__((constructor)) static void use_reserve(void)
{
    cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = take, .free_fn = give_back});
}
