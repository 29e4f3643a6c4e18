/* npy.h - arrays in .npy files. */
#ifndef ORR_NPY_H
#define ORR_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "file.h"

/* The 16-bit floats, F16 and BF16, are only read from safetensors. */
enum orr_dtype { ORR_U8, ORR_U16, ORR_U32, ORR_I32, ORR_I64, ORR_F32, ORR_F64, ORR_F16, ORR_BF16 };
size_t orr_dtype_size(enum orr_dtype dtype);
const char *orr_dtype_descr(enum orr_dtype dtype); /* "<u2" */

/* Number i of an array of integers. */
static inline int64_t orr_integer_at(const void *data, enum orr_dtype dtype, size_t i)
{
    switch (dtype) {
    case ORR_U8:
        return ((const uint8_t *)data)[i];
    case ORR_U16:
        return ((const uint16_t *)data)[i];
    case ORR_U32:
        return ((const uint32_t *)data)[i];
    case ORR_I32:
        return ((const int32_t *)data)[i];
    default:
        return ((const int64_t *)data)[i];
    }
}

enum { ORR_NPY_DIMS = 8 };
/* The header of a .npy file of versions 1 to 3 in memory, a dictionary of Python as text; free()
 * it. *data: where the array begins. ORR_EFORMAT: not such a file, or truncated. */
int orr_npy_header(const char *path, const void *file, size_t bytes, char **header, size_t *data);
/* The text after 'key': in the dictionary, NULL when absent. */
const char *orr_npy_value(const char *header, const char *key);
/* Reads a shape, "(2, 3)". ORR_EFORMAT for a malformed one. */
int orr_npy_shape(const char *path, const char *text, size_t shape[ORR_NPY_DIMS], int *ndim);

struct orr_npy {
    enum orr_dtype dtype;
    int ndim;
    size_t shape[ORR_NPY_DIMS];
    const void *data; /* C order, mapped read-only */
    void *map;
    size_t map_bytes;
};
/* Maps a .npy file (versions 1-3, little endian, C order). Truncated, foreign or Fortran-ordered
 * files, and files with bytes after the array, are ORR_EFORMAT. */
int orr_npy_open(const char *path, struct orr_npy *npy);
/* As orr_npy_open(), and checks dtype and shape; a shape entry of 0 accepts any size and receives
 * it. */
int orr_npy_expect(const char *path, struct orr_npy *npy, enum orr_dtype dtype, int ndim,
                   size_t shape[]);
void orr_npy_close(struct orr_npy *npy);
/* Writes a whole array atomically; checksum may be NULL. */
int orr_npy_write(const char *path, enum orr_dtype dtype, int ndim, const size_t shape[],
                  const void *data, uint64_t *checksum);
/* Writes only the header; the caller then streams rows into the orr_file. */
int orr_npy_write_header(struct orr_file *file, enum orr_dtype dtype, int ndim,
                         const size_t shape[]);

#endif
