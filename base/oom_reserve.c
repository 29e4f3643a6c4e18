/* oom_reserve.c - makes memory that ran out inside cJSON visible, so that no incomplete file is
 * written.
 *
 * cJSON leaves out what it cannot allocate. Here it gets the memory from a reserve instead, so that
 * the tree is complete; orr_memory_short() is true from then on, and orr_file_commit() refuses. The
 * reserve is never given back. Errors that a caller clears count as well: it may have taken a file
 * that it could not read for a missing one. */
#include "memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

static atomic_bool is_short;

bool orr_memory_short(void)
{
    return atomic_load(&is_short);
}

void orr_memory_ran_out(void)
{
    atomic_store(&is_short, true);
}

#ifndef ORR_LIBRARY /* the library's caller owns cJSON's allocator */
enum { RESERVE = 1 << 20, ALIGN = 16 };
static _Alignas(ALIGN) unsigned char reserve[RESERVE];
static atomic_size_t used;

static void *take_memory(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory)
        return memory;
    orr_memory_ran_out();
    if (bytes > RESERVE)
        return NULL;
    const size_t whole = (bytes + ALIGN - 1) / ALIGN * ALIGN, at = atomic_fetch_add(&used, whole);
    if (at <= RESERVE - whole)
        return reserve + at;
    atomic_fetch_sub(&used, whole);
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
    cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = take_memory, .free_fn = give_back});
}
#endif
