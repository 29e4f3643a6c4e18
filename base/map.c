/* map.c - files mapped to read. If a file becomes shorter or its disk fails, reading the map raises
 * SIGBUS; the handler (signals.c) asks here which file it was. */
#include "map.h"
#include "error.h"
#include "file.h"
#include "text.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A handler must not wait for a lock. A slot is taken by setting its address, and is valid once it
 * has a length. Files beyond the last slot are still mapped, but the message cannot name them. */
enum { SLOTS = 1024 };
static struct slot {
    atomic_uintptr_t begin; /* 0: free */
    atomic_size_t bytes;
    char *path; /* NULL if there was no memory for it */
} slots[SLOTS];
static atomic_bool crowded;
static const char *program_name; /* set before the first file is mapped */

void orr_map_name_program(const char *path)
{
    const char *slash = strrchr(path, '/');
    program_name = slash ? slash + 1 : path;
}

static void remember_map(void *map, size_t bytes, const char *path)
{
    for (int i = 0; i < SLOTS; i++) {
        uintptr_t none = 0;
        if (!atomic_compare_exchange_strong(&slots[i].begin, &none, (uintptr_t)map))
            continue;
        slots[i].path = strdup(path);
        slots[i].bytes = bytes;
        return;
    }
    crowded = true;
}

static void forget_map(const void *map)
{
    for (int i = 0; i < SLOTS; i++) {
        if (slots[i].begin != (uintptr_t)map)
            continue;
        slots[i].bytes = 0;
        free(slots[i].path);
        slots[i].path = NULL;
        slots[i].begin = 0;
        return;
    }
}

int orr_file_map(const char *path, void **map, size_t *bytes)
{
    int fd, rc = 0;
    *map = NULL;
    TRY(orr_open_regular(path, &fd, bytes));
    if (*bytes)
        *map = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (*map == MAP_FAILED) {
        *map = NULL;
        rc = ORR_FAIL(errno == ENOMEM ? ORR_ENOMEM : ORR_EIO, "%s: cannot map: %s", path,
                      strerror(errno));
    }
    close(fd);
    if (*map)
        remember_map(*map, *bytes, path);
    return rc;
}

void orr_file_unmap(void *map, size_t bytes)
{
    if (!map)
        return;
    forget_map(map);
    munmap(map, bytes);
}

/* Appends a text to a line of `bytes` bytes, with "?" for unseen characters, and cuts what does
 * not fit. */
static size_t append_text(char *line, size_t used, size_t bytes, const char *text)
{
    for (size_t step; *text; text += step) {
        uint32_t code;
        const size_t unseen = orr_unseen(text);
        step = unseen ? unseen : orr_character(text, &code);
        for (size_t i = 0; i < step && used < bytes; i++)
            line[used++] = unseen ? '?' : text[i];
    }
    return used;
}

bool orr_map_lost(const void *address)
{
    const uintptr_t at = (uintptr_t)address;
    const struct slot *file = NULL;
    for (int i = 0; i < SLOTS && !file; i++)
        if (at >= slots[i].begin && at - slots[i].begin < slots[i].bytes)
            file = &slots[i];
    if (!file && !crowded)
        return false;
    char line[8192];
    struct stat info;
    size_t used = 0;
    const char *path = file ? file->path : NULL;
    const bool shorter = !path || stat(path, &info) || (size_t)info.st_size < file->bytes;
    if (program_name) {
        used = append_text(line, used, sizeof line - 1, program_name);
        used = append_text(line, used, sizeof line - 1, ": ");
    }
    used = append_text(line, used, sizeof line - 1, "error: ");
    used = append_text(line, used, sizeof line - 1, path ? path : "");
    used = append_text(line, used, sizeof line - 1, path ? ": the file" : "a file");
    used = append_text(line, used, sizeof line - 1,
                       shorter ? " became shorter while it was read" : " cannot be read");
    line[used++] = '\n';
    (void)!write(STDERR_FILENO, line, used); /* a failure cannot be reported */
    return true;
}
