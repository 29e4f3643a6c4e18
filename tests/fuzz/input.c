/* input.c - files that fuzz targets give to parsers, in a folder of their own. */
#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <xxhash.h>

#include "base/base.h"

void fuzz_take(struct fuzz_bytes *from, void *to, size_t bytes)
{
    const size_t there = bytes < from->left ? bytes : from->left;
    memset(to, 0, bytes);
    memcpy(to, from->at, there);
    from->at += there;
    from->left -= there;
}

uint8_t fuzz_byte(struct fuzz_bytes *from)
{
    uint8_t byte;
    fuzz_take(from, &byte, sizeof byte);
    return byte;
}

int32_t fuzz_int(struct fuzz_bytes *from)
{
    int32_t number;
    fuzz_take(from, &number, sizeof number);
    return number;
}

char *fuzz_text(struct fuzz_bytes *from)
{
    const uint8_t *end = from->left ? memchr(from->at, 0, from->left) : NULL;
    const size_t length = end ? (size_t)(end - from->at) : from->left;
    char *text = malloc(length + 1);
    FUZZ_EXPECT(text);
    fuzz_take(from, text, length);
    text[length] = '\0';
    if (end)
        (void)fuzz_byte(from);
    return text;
}

const char *fuzz_line(char **text)
{
    char *line = *text, *end = strchr(line, '\n');
    *text = end ? end + 1 : line + strlen(line);
    if (end)
        *end = '\0';
    return *line ? line : NULL;
}

double fuzz_number(struct fuzz_bytes *from)
{
    const uint8_t kind = fuzz_byte(from);
    double number = (kind - 100) / 8.0;
    if (kind == 255)
        fuzz_take(from, &number, sizeof number);
    return number;
}

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

/* Where the digits of "<key>": "..." begin in the header, 0 for nowhere. */
static size_t digits_at(const uint8_t *bytes, size_t header, const char *key)
{
    const size_t length = strlen(key);
    for (size_t i = 8; i + length + 21 < 8 + header; i++) {
        if (memcmp(bytes + i, key, length) != 0)
            continue;
        size_t at = i + length;
        while (at < 8 + header && strchr(": ", bytes[at]) && bytes[at])
            at++;
        if (at + 18 <= 8 + header && bytes[at] == '"' && bytes[at + 17] == '"')
            return at + 1;
    }
    return 0;
}

static void put_sum(uint8_t *digits, uint64_t sum)
{
    char text[17];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)sum);
    memcpy(digits, text, 16);
}

/* Of all metadata but the sums, as docs/formats.md says it; false where the header has none. */
static bool sum_metadata(const uint8_t *bytes, size_t header, uint64_t *sum)
{
    cJSON *json = cJSON_ParseWithLength((const char *)bytes + 8, header);
    const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(json, "__metadata__");
    const bool found = cJSON_IsObject(metadata);
    const cJSON **sorted = found ? orr_json_sorted(metadata) : NULL;
    XXH64_state_t *state = XXH64_createState();
    FUZZ_EXPECT(state && !sorted == !found);
    XXH64_reset(state, 0);
    for (int i = 0; i < cJSON_GetArraySize(metadata) && found; i++) {
        const char *key = sorted[i]->string, *value = cJSON_GetStringValue(sorted[i]);
        if (!strcmp(key, "xxh64") || !strcmp(key, "xxh64_metadata"))
            continue;
        XXH64_update(state, key, strlen(key) + 1);
        if (value)
            XXH64_update(state, value, strlen(value) + 1);
    }
    *sum = XXH64_digest(state);
    XXH64_freeState(state);
    free(sorted);
    cJSON_Delete(json);
    return found;
}

void fuzz_seal(const char *path)
{
    cJSON *json = NULL;
    enum orr_json_sum sum;
    if (!orr_json_read_any(path, &json, &sum) && cJSON_IsObject(json))
        FUZZ_EXPECT(orr_json_write(path, json) == 0);
    cJSON_Delete(json);
    orr_error_clear();
}

uint8_t *fuzz_with_sum(const uint8_t *bytes, size_t size)
{
    uint64_t header = 0, sum;
    uint8_t *copy = malloc(size + 1);
    FUZZ_EXPECT(copy);
    memcpy(copy, bytes, size);
    for (size_t i = 0; i < 8 && i < size; i++)
        header |= (uint64_t)bytes[i] << (8 * i);
    if (size < 8 || header > size - 8)
        return copy;
    const size_t at = digits_at(bytes, (size_t)header, "\"xxh64\"");
    const size_t of_metadata = digits_at(bytes, (size_t)header, "\"xxh64_metadata\"");
    if (at)
        put_sum(copy + at, XXH64(bytes + 8 + header, size - 8 - (size_t)header, 0));
    if (of_metadata && sum_metadata(bytes, (size_t)header, &sum))
        put_sum(copy + of_metadata, sum);
    return copy;
}
