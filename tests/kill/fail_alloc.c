/* fail_alloc.c - memory that runs out on demand: preloaded into a program, it makes one allocation
 * fail, once.
 *
 *   LD_PRELOAD=fail_alloc.so FAIL_AT=n FAIL_REPORT=FILE program ...
 *
 * A program allocates some hundred thousand times, from few places: places are counted, told apart
 * by the DEPTH functions that were being called, and the first allocation from the n-th place
 * fails (malloc, calloc, realloc, aligned_alloc and posix_memalign). Those of libraries count where
 * a function of the program stands among the NEAR nearest ones, as around cJSON, GSL and the C
 * library. Not those that oneDNN, OpenMP and C++ make for themselves: oneDNN 2.6 reads and writes
 * through what it was not given, which no caller can help. FAIL_AT=0: none fails.
 * FAIL_REPORT gets a line "<places> places" at the end, and when an allocation fails the functions
 * that wanted it. With one thread the count is the same in every run. Programs that the program
 * starts are left alone.
 *
 * A program that was built with gcc's -fsanitize=leak looks for leaks when it ends, and has status
 * 23 where it found one. */
#define _GNU_SOURCE
#include "preload.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What allocates for us: the C library, or a sanitizer that looks for leaks. */
static void *(*next_malloc)(size_t bytes);
static void *(*next_calloc)(size_t count, size_t bytes);
static void *(*next_realloc)(void *old, size_t bytes);
static void *(*next_aligned)(size_t alignment, size_t bytes);
static int (*next_posix)(void **memory, size_t alignment, size_t bytes);

enum { DEPTH = 6, NEAR = 4, OWN = 2, PLACES = 1 << 16 };
static uint64_t place[PLACES]; /* a table of hashes; 0: free */
static long places, fail_at = -1;
struct range {
    uintptr_t from, to;
};
enum { OTHERS = 8 };
static struct range own_text, other_text[OTHERS]; /* of the program, of libraries left alone */
static int others;
static bool ready;
static _Thread_local bool inside;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void report_places(void)
{
    char line[64];
    snprintf(line, sizeof line, "%ld places\n", places);
    preload_report("FAIL_REPORT", line);
}

static bool is_in(const struct range *range, const void *at)
{
    return (uintptr_t)at >= range->from && (uintptr_t)at < range->to;
}

/* The first object is the program. */
static int find_text(struct dl_phdr_info *object, size_t bytes, void *seen)
{
    static const char *const name[] = {"libdnnl", "libgomp", "libomp", "libstdc++"};
    struct range *range = *(int *)seen ? NULL : &own_text;
    (void)bytes;
    for (size_t i = 0; i < sizeof name / sizeof *name && *(int *)seen; i++)
        if (strstr(object->dlpi_name, name[i]) && others < OTHERS)
            range = &other_text[others++];
    for (int i = 0; i < object->dlpi_phnum && range; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X)) {
            range->from = object->dlpi_addr + part->p_vaddr;
            range->to = range->from + part->p_memsz;
        }
    }
    ++*(int *)seen;
    return 0;
}

/* Whether the program, or a library on its behalf, is what allocates. */
static bool is_near(void *const frame[], int depth)
{
    for (int i = OWN; i < depth && i < OWN + NEAR; i++) {
        for (int k = 0; k < others; k++)
            if (is_in(&other_text[k], frame[i]))
                return false;
        if (is_in(&own_text, frame[i]))
            return true;
    }
    return false;
}

/* Of the leak sanitizer, where there is one: what is allocated in between may leak. */
__attribute__((weak)) void __lsan_disable(void);
__attribute__((weak)) void __lsan_enable(void);

/* backtrace() itself allocates when it is called first, and keeps that. */
__attribute__((constructor)) static void begin(void)
{
    void *frame[DEPTH];
    int seen = 0;
    const char *at = getenv("FAIL_AT");
    inside = true;
    if (__lsan_disable)
        __lsan_disable();
    (void)backtrace(frame, DEPTH);
    if (__lsan_enable)
        __lsan_enable();
    dl_iterate_phdr(find_text, &seen);
    unsetenv("LD_PRELOAD");
    fail_at = at ? strtol(at, NULL, 10) : 0;
    atexit(report_places);
    inside = false;
    ready = true;
}

/* Whether the hash is new. */
static bool is_new(uint64_t hash)
{
    uint64_t i = hash % PLACES;
    while (place[i] && place[i] != hash)
        i = (i + 1) % PLACES;
    const bool new = !place[i];
    place[i] = hash;
    places += new;
    return new &&places < PLACES / 2;
}

static bool fails(void)
{
    void *frame[DEPTH + OWN];
    uint64_t hash = 1469598103934665603u;
    if (!ready || inside)
        return false;
    inside = true;
    const int depth = backtrace(frame, DEPTH + OWN);
    for (int i = OWN; i < depth; i++)
        hash = (hash ^ (uint64_t)(uintptr_t)frame[i]) * 1099511628211u;
    pthread_mutex_lock(&lock);
    const bool fail = is_near(frame, depth) && is_new(hash | 1) && places == fail_at;
    pthread_mutex_unlock(&lock);
    if (fail) {
        const int fd = preload_open_report("FAIL_REPORT");
        if (fd >= 0) {
            backtrace_symbols_fd(frame + OWN, depth - OWN, fd);
            close(fd);
        }
    }
    inside = false;
    return fail;
}

void *malloc(size_t bytes)
{
    if (!next_malloc)
        preload_next("malloc", &next_malloc);
    if (fails()) {
        errno = ENOMEM;
        return NULL;
    }
    return next_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    if (!next_calloc)
        preload_next("calloc", &next_calloc);
    if (fails()) {
        errno = ENOMEM;
        return NULL;
    }
    return next_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    if (!next_realloc)
        preload_next("realloc", &next_realloc);
    if (fails()) {
        errno = ENOMEM;
        return NULL;
    }
    return next_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    if (!next_aligned)
        preload_next("aligned_alloc", &next_aligned);
    if (fails()) {
        errno = ENOMEM;
        return NULL;
    }
    return next_aligned(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    if (!next_posix)
        preload_next("posix_memalign", &next_posix);
    return fails() ? ENOMEM : next_posix(memory, alignment, bytes);
}
