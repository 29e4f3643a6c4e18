/* zip.c - reads zip archives in memory (PKWARE's APPNOTE 6.3): the directory at the end, then
 * members that are stored or deflated. */
#include "zip.h"
#include "error.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ZLIB_CONST /* declares zlib's input as const */
#include <zlib.h>

static size_t number_at(const unsigned char *at, int bytes)
{
    size_t value = 0;
    while (bytes--)
        value = value << 8 | at[bytes];
    return value;
}

bool orr_zip_is(const void *bytes, size_t size)
{
    return size >= 4 && !memcmp(bytes, "PK\x03\x04", 4);
}

int orr_zip_open(const char *path, const void *bytes, size_t size, struct orr_zip *zip)
{
    enum { END = 22, COMMENT = 65535 };
    const unsigned char *raw = bytes;
    *zip = (struct orr_zip){.path = path, .bytes = bytes, .size = size};
    for (size_t back = END; back <= size && back <= END + COMMENT; back++) {
        const unsigned char *at = raw + size - back;
        if (memcmp(at, "PK\x05\x06", 4) != 0)
            continue;
        zip->left = number_at(at + 10, 2);
        zip->at = number_at(at + 16, 4);
        return zip->at < size - back || zip->left == 0
                   ? 0
                   : ORR_FAIL(ORR_EFORMAT, "%s: the directory of the zip archive is damaged", path);
    }
    return ORR_FAIL(ORR_EFORMAT, "%s: a zip archive that is cut off", path);
}

int orr_zip_next(struct orr_zip *zip, struct orr_zip_member *member)
{
    enum { ENTRY = 46, LOCAL = 30 };
    const unsigned char *at = zip->bytes + zip->at;
    const size_t space = zip->size - zip->at;
    if (space < ENTRY || memcmp(at, "PK\x01\x02", 4) != 0)
        return ORR_FAIL(ORR_EFORMAT, "%s: the directory of the zip archive is damaged", zip->path);
    const size_t name = number_at(at + 28, 2);
    const size_t length = ENTRY + name + number_at(at + 30, 2) + number_at(at + 32, 2);
    const size_t local = number_at(at + 42, 4);
    *member = (struct orr_zip_member){.method = (int)number_at(at + 10, 2),
                                      .crc = number_at(at + 16, 4),
                                      .packed = number_at(at + 20, 4),
                                      .unpacked = number_at(at + 24, 4)};
    if (length > space || name >= sizeof member->name || local > zip->size ||
        zip->size - local < LOCAL || memcmp(zip->bytes + local, "PK\x03\x04", 4) != 0)
        return ORR_FAIL(ORR_EFORMAT, "%s: the directory of the zip archive is damaged", zip->path);
    memcpy(member->name, at + ENTRY, name);
    member->data = local + LOCAL + number_at(zip->bytes + local + 26, 2) +
                   number_at(zip->bytes + local + 28, 2);
    if (member->data > zip->size || zip->size - member->data < member->packed)
        return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\" in the zip archive is cut off", zip->path,
                        member->name);
    zip->at += length;
    zip->left--;
    return 0;
}

#ifdef ORR_LIBRARY /* which needs GSL alone */
int orr_zip_read(const struct orr_zip *zip, const struct orr_zip_member *member, char **out)
{
    *out = NULL;
    return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\" is in a zip archive; expected a file of its own",
                    zip->path, member->name);
}
#else
static bool inflate_all(const unsigned char *from, size_t packed, char *out, size_t unpacked)
{
    z_stream z = {.next_in = from};
    const uInt most = 1u << 30;
    int rc = inflateInit2(&z, -MAX_WBITS);
    if (rc != Z_OK)
        return false;
    z.next_out = (Bytef *)out;
    while (rc == Z_OK) {
        const size_t in = packed - (size_t)(z.next_in - from);
        const size_t space = unpacked - (size_t)((char *)z.next_out - out);
        z.avail_in = in < most ? (uInt)in : most;
        z.avail_out = space < most ? (uInt)space : most;
        rc = inflate(&z, Z_NO_FLUSH);
    }
    inflateEnd(&z);
    return rc == Z_STREAM_END && (size_t)((char *)z.next_out - out) == unpacked;
}

int orr_zip_read(const struct orr_zip *zip, const struct orr_zip_member *member, char **out)
{
    enum { STORED = 0, DEFLATED = 8, RATIO = 1032 }; /* RATIO: no deflated byte gives more */
    const unsigned char *from = zip->bytes + member->data;
    *out = NULL;
    if (member->method != STORED && member->method != DEFLATED)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: \"%s\": method %d of compression is not known; expected a stored or "
                        "deflated member",
                        zip->path, member->name, member->method);
    if (member->method == STORED ? member->packed != member->unpacked
                                 : member->unpacked / RATIO > member->packed + 1)
        return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\" in the zip archive is damaged", zip->path,
                        member->name);
    *out = calloc(member->unpacked + 1, 1);
    if (!*out)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory (%zu bytes)", zip->path, member->unpacked);
    bool ok = true;
    if (member->method == DEFLATED)
        ok = inflate_all(from, member->packed, *out, member->unpacked);
    else
        memcpy(*out, from, member->unpacked);
    if (ok && crc32_z(0, (const Bytef *)*out, member->unpacked) == member->crc)
        return 0;
    free(*out);
    *out = NULL;
    return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\" in the zip archive is damaged", zip->path,
                    member->name);
}
#endif
