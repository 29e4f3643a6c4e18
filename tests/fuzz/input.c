/* input.c - files that fuzz targets give to parsers, in a folder of their own. */
#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

static char folder[64];

static int forget_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info, (void)kind, (void)at;
    return remove(path);
}

static void forget(void)
{
    nftw(folder, forget_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_folder(void)
{
    if (!*folder) {
        snprintf(folder, sizeof folder, "%s/orrery-fuzz-XXXXXX",
                 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
        FUZZ_EXPECT(mkdtemp(folder));
        atexit(forget);
    }
    return folder;
}

void fuzz_file(char path[4096], const char *name, const void *bytes, size_t size)
{
    const int length = snprintf(path, 4096, "%s/%s", fuzz_folder(), name);
    FUZZ_EXPECT(length > 0 && length < 4096);
    for (char *at = path + strlen(folder) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(path, 0777);
        *at = '/';
    }
    FILE *file = fopen(path, "wb");
    FUZZ_EXPECT(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

void fuzz_quiet(void)
{
    static FILE *nowhere;
    if (!nowhere) {
        nowhere = freopen("/dev/null", "wb", stdout);
        FUZZ_EXPECT(nowhere);
    }
}

/* Where the digits of "xxh64": "..." begin in the header, 0 for nowhere. */
static size_t digits_at(const uint8_t *bytes, size_t header)
{
    static const char key[] = "\"xxh64\"";
    for (size_t i = 8; i + sizeof key + 20 < 8 + header; i++) {
        if (memcmp(bytes + i, key, sizeof key - 1) != 0)
            continue;
        size_t at = i + sizeof key - 1;
        while (at < 8 + header && strchr(": ", bytes[at]) && bytes[at])
            at++;
        if (at + 18 <= 8 + header && bytes[at] == '"' && bytes[at + 17] == '"')
            return at + 1;
    }
    return 0;
}

uint8_t *fuzz_with_sum(const uint8_t *bytes, size_t size)
{
    uint64_t header = 0;
    uint8_t *copy = malloc(size + 1);
    FUZZ_EXPECT(copy);
    memcpy(copy, bytes, size);
    for (size_t i = 0; i < 8 && i < size; i++)
        header |= (uint64_t)bytes[i] << (8 * i);
    if (size < 8 || header > size - 8)
        return copy;
    const size_t at = digits_at(bytes, (size_t)header);
    if (at) {
        char sum[17];
        snprintf(sum, sizeof sum, "%016llx",
                 (unsigned long long)XXH64(bytes + 8 + header, size - 8 - (size_t)header, 0));
        memcpy(copy + at, sum, 16);
    }
    return copy;
}
