/* input.c - reads a file, a compressed file, or standard input into memory. It decompresses by
 * zlib, which reports what is wrong with a file and needs no program in PATH. */
#include "input.h"
#include "error.h"
#include "file.h"
#include "signals.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* Whether the path is a pipe that this process already has open: <(COMMAND) of a shell, which gives
 * /dev/fd/63. Other FIFOs are refused, since nobody may ever write to them. */
static bool is_open_pipe(const char *path)
{
    static const char *const folder[] = {"/dev/fd/", "/proc/self/fd/"};
    struct stat info;
    bool is_descriptor = !strcmp(path, "/dev/stdin");
    for (size_t i = 0; i < sizeof folder / sizeof *folder; i++)
        is_descriptor = is_descriptor || !strncmp(path, folder[i], strlen(folder[i]));
    return is_descriptor && !stat(path, &info) && S_ISFIFO(info.st_mode);
}

bool orr_input_is_read_once(const char *path)
{
    return orr_input_is_standard(path) || is_open_pipe(path);
}

/* The name of the file to read: PATH.gz, written into `packed`, where it stands for PATH. */
static const char *file_of(const char *path, char packed[4096])
{
    const int n = snprintf(packed, 4096, "%s.gz", path);
    const bool stands =
        n < 4096 && !orr_input_is_read_once(path) && !orr_exists(path) && orr_exists(packed);
    return stands ? packed : path;
}

bool orr_input_is_packed(const char *path)
{
    char packed[4096];
    return file_of(path, packed) == packed;
}

/* A growing buffer; it has one byte more than `capacity`, for the NUL. */
struct buffer {
    char *text;
    size_t bytes, capacity;
    size_t most; /* capacity is at most one byte more; 0 = no limit */
};

/* Makes space for at least one more byte. */
static int grow_buffer(struct buffer *b, const char *name)
{
    enum { FIRST = 1 << 16 };
    if (b->bytes < b->capacity)
        return 0;
    size_t capacity = b->capacity ? 2 * b->capacity : FIRST;
    if (b->most && capacity > b->most && b->capacity <= b->most)
        capacity = b->most + 1;
    char *text = capacity > b->capacity ? realloc(b->text, capacity + 1) : NULL;
    if (!text)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory (%zu bytes)", name, capacity);
    b->text = text;
    b->capacity = capacity;
    return 0;
}

/* Reads a pipe to its end. A signal ends the wait in poll(); read() would be restarted. */
static int read_descriptor(int fd, const char *name, struct buffer *b)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    for (;;) {
        if (orr_signal_seen())
            return ORR_FAIL(ORR_EINTR, "%s: stopped while reading", name);
        TRY(grow_buffer(b, name));
        if (poll(&wait, 1, -1) < 0) {
            if (errno == EINTR)
                continue;
            return ORR_FAIL(ORR_EIO, "%s: cannot wait: %s", name, strerror(errno));
        }
        const ssize_t got = read(fd, b->text + b->bytes, b->capacity - b->bytes);
        if (got == 0)
            return 0;
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return ORR_FAIL(ORR_EIO, "%s: cannot read: %s", name, strerror(errno));
        b->bytes += got > 0 ? (size_t)got : 0;
    }
}

static int read_pipe(const char *path, struct buffer *b)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return ORR_FAIL(ORR_EIO, "%s: cannot open: %s", path, strerror(errno));
    const int rc = read_descriptor(fd, path, b);
    close(fd);
    return rc;
}

/* ---- gzip */

static bool is_compressed(const char *text, size_t bytes)
{
    return bytes >= 2 && !memcmp(text, "\x1f\x8b", 2);
}

#ifdef ORR_LIBRARY /* which needs GSL alone */
static int inflate_all(const char *name, const char *from, size_t bytes, struct buffer *out)
{
    (void)from, (void)bytes, (void)out;
    return ORR_FAIL(ORR_EFORMAT, "%s: compressed by gzip; expected a file that is decompressed",
                    name);
}
#else
/* The most bytes that a compressed file may unpack to: deflate makes one byte of up to 1,032. */
static int read_limit(size_t *most)
{
    enum { DEFAULT_MB = 2048, MOST_MB = 1000000000 };
    const char *given = getenv("ORRERY_UNPACK_MB");
    long megabytes = DEFAULT_MB;
    if (given && *given && !orr_whole(given, 1, MOST_MB, &megabytes))
        return ORR_FAIL(ORR_EUSAGE,
                        "ORRERY_UNPACK_MB: expected a whole number of MB from 1 to %d, found "
                        "\"%s\"",
                        MOST_MB, given);
    *most = (size_t)megabytes * 1000000;
    return 0;
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
        if (out->bytes > out->most)
            return ORR_FAIL(ORR_EFORMAT,
                            "%s: the compressed file (gzip) holds more than %zu MB; if that is "
                            "right, set ORRERY_UNPACK_MB to as many as it may hold",
                            name, out->most / 1000000);
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
    TRY(read_limit(&out->most));
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
#endif

static int read_raw(const char *path, struct buffer *b)
{
    struct stat info;
    if (orr_input_is_standard(path))
        return read_descriptor(STDIN_FILENO, "standard input", b);
    if (is_open_pipe(path))
        return read_pipe(path, b);
    if (!stat(path, &info) && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return ORR_FAIL(ORR_EIO,
                        "%s: not a regular file; give it as standard input, whose name is -: "
                        "- <%s",
                        path, path);
    TRY(orr_file_read(path, &b->text, &b->bytes));
    b->capacity = b->bytes;
    return 0;
}

int orr_input_read(const char *path, char **text, size_t *bytes)
{
    struct buffer raw = {0}, plain = {0};
    char packed[4096];
    *text = NULL;
    *bytes = 0;
    path = file_of(path, packed);
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
