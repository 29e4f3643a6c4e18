/* zip.h - reads the members of a zip archive in memory. */
#ifndef ORR_ZIP_H
#define ORR_ZIP_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the bytes begin like a zip archive that has members. */
bool orr_zip_is(const void *bytes, size_t size);

struct orr_zip {
    const char *path; /* for messages */
    const unsigned char *bytes;
    size_t size, at; /* at: of the next entry of the directory */
    size_t left;     /* entries */
};
struct orr_zip_member {
    char name[256];
    int method;              /* 0: stored; 8: deflated */
    size_t packed, unpacked; /* bytes */
    size_t data;             /* where it begins */
    unsigned long crc;
};
/* Starts at the first member. ORR_EFORMAT: no zip archive, or a damaged or truncated one. The bytes
 * must remain. Archives of more than 4 GiB (zip64) are not read. */
int orr_zip_open(const char *path, const void *bytes, size_t size, struct orr_zip *zip);
/* The next member while zip->left > 0. */
int orr_zip_next(struct orr_zip *zip, struct orr_zip_member *member);
/* Unpacks a member into memory with one more byte, which is NUL; free() it. ORR_EFORMAT: damaged,
 * or compressed in another way than by deflate. */
int orr_zip_read(const struct orr_zip *zip, const struct orr_zip_member *member, char **out);

#endif
