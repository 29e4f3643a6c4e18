/* input.c - reads a file, a compressed file, or standard input into memory. It decompresses by
 * zlib, which reports what is wrong with a file and needs no program in PATH. */
#include "input.h"
#include "error.h"
#include "file.h"
#include "signals.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ZLIB_CONST /* declares zlib's input as const */
#include <zlib.h>

bool orr_input_is_standard(const char *path)
{
    return !strcmp(path, "-");
}

const char *orr_input_name(const char *path)
{
    return orr_input_is_standard(path) ? "standard input" : path;
}

/* A growing buffer; it has one byte more than `capacity`, for the NUL. */
struct buffer {
    char *text;
    size_t bytes, capacity;
};

/* Makes space for at least one more byte. */
static int grow_buffer(struct buffer *b, const char *name)
{
    enum { FIRST = 1 << 16 };
    if (b->bytes < b->capacity)
        return 0;
    const size_t capacity = b->capacity ? 2 * b->capacity : FIRST;
    char *text = capacity > b->capacity ? realloc(b->text, capacity + 1) : NULL;
    if (!text)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory (%zu bytes)", name, capacity);
    b->text = text;
    b->capacity = capacity;
    return 0;
}

/* Reads standard input. A signal ends the wait in poll(); read() would be restarted. */
static int read_standard(struct buffer *b)
{
    struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
    for (;;) {
        if (orr_signal_seen())
            return ORR_FAIL(ORR_EINTR, "standard input: stopped while reading");
        TRY(grow_buffer(b, "standard input"));
        if (poll(&wait, 1, -1) < 0) {
            if (errno == EINTR)
                continue;
            return ORR_FAIL(ORR_EIO, "standard input: cannot wait: %s", strerror(errno));
        }
        const ssize_t got = read(STDIN_FILENO, b->text + b->bytes, b->capacity - b->bytes);
        if (got == 0)
            return 0;
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return ORR_FAIL(ORR_EIO, "standard input: cannot read: %s", strerror(errno));
        b->bytes += got > 0 ? (size_t)got : 0;
    }
}

/* ---- gzip */

static bool is_compressed(const char *text, size_t bytes)
{
    return bytes >= 2 && !memcmp(text, "\x1f\x8b", 2);
}

/* Decompresses one member, from the stream's position. */
static int inflate_member(const char *name, z_stream *z, const char *end, struct buffer *out)
{
    for (;;) {
        const size_t left = (size_t)(end - (const char *)z->next_in);
        TRY(grow_buffer(out, name));
        const size_t free_bytes = out->capacity - out->bytes, most = 1u << 30;
        const uInt offered = (uInt)(left < most ? left : most);
        const uInt space = (uInt)(free_bytes < most ? free_bytes : most);
        z->avail_in = offered;
        z->avail_out = space;
        z->next_out = (Bytef *)out->text + out->bytes;
        const int rc = inflate(z, Z_NO_FLUSH);
        out->bytes += space - z->avail_out;
        if (rc == Z_STREAM_END)
            return 0;
        if (rc == Z_MEM_ERROR)
            return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", name);
        if (rc == Z_BUF_ERROR)
            return ORR_FAIL(ORR_EFORMAT, "%s: the compressed file (gzip) ends too early", name);
        if (rc != Z_OK)
            return ORR_FAIL(ORR_EFORMAT, "%s: the compressed file (gzip) is damaged: %s", name,
                            z->msg ? z->msg : "no such format");
    }
}

/* Decompresses all members and ignores what follows them, as gzip does. */
static int inflate_all(const char *name, const char *from, size_t bytes, struct buffer *out)
{
    enum { GZIP = 16 + MAX_WBITS };
    z_stream z = {.next_in = (const Bytef *)from};
    const char *const end = from + bytes;
    if (inflateInit2(&z, GZIP) != Z_OK)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", name);
    int rc = 0;
    do {
        rc = inflate_member(name, &z, end, out);
        inflateReset(&z);
    } while (!rc &&
             is_compressed((const char *)z.next_in, (size_t)(end - (const char *)z.next_in)));
    inflateEnd(&z);
    return rc;
}

static int read_raw(const char *path, struct buffer *b)
{
    if (orr_input_is_standard(path))
        return read_standard(b);
    TRY(orr_file_read(path, &b->text, &b->bytes));
    b->capacity = b->bytes;
    return 0;
}

int orr_input_read(const char *path, char **text, size_t *bytes)
{
    struct buffer raw = {0}, plain = {0};
    *text = NULL;
    *bytes = 0;
    int rc = read_raw(path, &raw);
    if (!rc && is_compressed(raw.text, raw.bytes)) {
        rc = inflate_all(orr_input_name(path), raw.text, raw.bytes, &plain);
        free(raw.text);
        raw = plain;
    }
    if (rc) {
        free(raw.text);
        return rc;
    }
    raw.text[raw.bytes] = '\0';
    *text = raw.text;
    *bytes = raw.bytes;
    return 0;
}
