/* fuzz.h - what the fuzz targets share.
 *
 * A target is one file fuzz_<name>.c with one FUZZ_TARGET and a line in targets.h. `make fuzz`
 * builds it with libFuzzer; make check builds all of them into one program, tests/fuzz/replay.c,
 * which runs each over the files of corpus/<name>. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* One input; returns 0. What must not be ends in abort(). */
#ifdef FUZZ_REPLAY
#define FUZZ_TARGET(name)                                                                          \
    int fuzz_##name(const uint8_t *bytes, size_t size);                                            \
    int fuzz_##name(const uint8_t *bytes, size_t size)
#else
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
#define FUZZ_TARGET(name) int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
#endif

#define FUZZ_EXPECT(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition);               \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* An input that is arguments: its bytes are taken one after the other, and are 0 behind its end. */
struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
};
void fuzz_take(struct fuzz_bytes *from, void *to, size_t bytes);
uint8_t fuzz_byte(struct fuzz_bytes *from);
int32_t fuzz_int(struct fuzz_bytes *from);
/* A NUL-terminated text up to a NUL or the end, a copy; free() it. */
char *fuzz_text(struct fuzz_bytes *from);
/* Cuts a line off a text; NULL for an empty one, as an option that is not given. */
const char *fuzz_line(char **text);
/* A number: small and whole by its first byte, or any eight bytes as a double. */
double fuzz_number(struct fuzz_bytes *from);
/* A call of the library is of this status, with a message where it failed. */
#define FUZZ_CALL(handle, call)                                                                    \
    do {                                                                                           \
        const int fuzz_status = (call);                                                            \
        FUZZ_EXPECT(!fuzz_status == !*orrery_message(handle));                                     \
        FUZZ_EXPECT(fuzz_status == ORRERY_OK || !strchr(orrery_message(handle), '\n'));            \
    } while (0)

/* A folder of this process, in memory where that is possible; it goes away at the end. */
const char *fuzz_folder(void);
/* Writes <folder>/<name>, which may name a folder below; the path goes to path[4096]. */
void fuzz_file(char path[4096], const char *name, const void *bytes, size_t size);
/* Adds the checksum of a JSON file (base/json.h), so that mutated files get past it; other bytes
 * stay as they are. */
void fuzz_seal(const char *path);
/* What printf writes in between goes nowhere. */
void fuzz_quiet(void);
/* A copy of a safetensors file whose "xxh64" is that of its data and "xxh64_metadata" that of its
 * metadata, so that mutated files get past the checksums; free() it. */
uint8_t *fuzz_with_sum(const uint8_t *bytes, size_t size);

#endif
