/* npy.c - NumPy's .npy format, versions 1 to 3, little endian, C order. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "error.h"
#include "file.h"
#include "npy.h"
#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const struct {
    size_t size;
    const char *descr;
} dtypes[] = {
    [ORR_U8] = {1, "|u1"},  [ORR_U16] = {2, "<u2"}, [ORR_U32] = {4, "<u4"},
    [ORR_I32] = {4, "<i4"}, [ORR_I64] = {8, "<i8"}, [ORR_F32] = {4, "<f4"},
    [ORR_F64] = {8, "<f8"}, [ORR_F16] = {2, "<f2"}, [ORR_BF16] = {2, "bf16"},
};
enum { DTYPES = ORR_F16 }; /* the types read from .npy files */

size_t orr_dtype_size(enum orr_dtype dtype)
{
    return dtypes[dtype].size;
}

const char *orr_dtype_descr(enum orr_dtype dtype)
{
    return dtypes[dtype].descr;
}

const char *orr_npy_value(const char *header, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s':", key);
    const char *at = strstr(header, quoted);
    if (!at)
        return NULL;
    at += strlen(quoted);
    while (*at == ' ')
        at++;
    return at;
}

int orr_npy_shape(const char *path, const char *text, size_t shape[ORR_NPY_DIMS], int *ndim)
{
    *ndim = 0;
    for (const char *at = text + 1; *at != ')';) {
        char *end;
        if (*at == ' ' || *at == ',') {
            at++;
            continue;
        }
        errno = 0;
        const unsigned long long n = strtoull(at, &end, 10);
        if (!isdigit((unsigned char)*at) || errno || *ndim == ORR_NPY_DIMS)
            return ORR_FAIL(ORR_EFORMAT, "%s: malformed shape %.40s", path, text);
        shape[(*ndim)++] = (size_t)n;
        at = end;
    }
    return 0;
}

static int parse_header(const char *path, const char *header, struct orr_npy *npy)
{
    const char *descr = orr_npy_value(header, "descr"),
               *order = orr_npy_value(header, "fortran_order");
    const char *shape = orr_npy_value(header, "shape");
    if (!descr || !*descr || !order || !shape || *shape != '(')
        return ORR_FAIL(ORR_EFORMAT, "%s: .npy header without descr, fortran_order and shape",
                        path);
    int dtype = -1;
    for (int i = 0; i < DTYPES; i++)
        if (!strncmp(descr + 1, dtypes[i].descr, 3) && (descr[4] == '\'' || descr[4] == '"'))
            dtype = i;
    if (dtype < 0) {
        const char *end = strchr(descr + 1, *descr); /* end of a string; other types have none */
        const int length = end && end < descr + 12 ? (int)(end - descr) + 1 : 12;
        return ORR_FAIL(ORR_EFORMAT, "%s: unsupported dtype %.*s", path, length, descr);
    }
    if (strncmp(order, "False", 5))
        return ORR_FAIL(ORR_EFORMAT, "%s: expected C order, found Fortran order", path);
    npy->dtype = (enum orr_dtype)dtype;
    return orr_npy_shape(path, shape, npy->shape, &npy->ndim);
}

/* Bytes of the array; false when the product overflows. */
static bool array_bytes(const struct orr_npy *npy, size_t *bytes)
{
    *bytes = dtypes[npy->dtype].size;
    for (int i = 0; i < npy->ndim; i++) {
        if (npy->shape[i] && *bytes > SIZE_MAX / npy->shape[i])
            return false;
        *bytes *= npy->shape[i];
    }
    return true;
}

/* NumPy pads its headers so that the data is aligned. Other writers may not; unaligned data is
 * copied. */
static int align_values(const char *path, struct orr_npy *npy, size_t bytes)
{
    if ((uintptr_t)npy->data % dtypes[npy->dtype].size == 0 || bytes == 0)
        return 0;
    void *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    memcpy(copy, npy->data, bytes);
    orr_file_unmap(npy->map, npy->map_bytes);
    npy->data = npy->map = copy;
    npy->map_bytes = bytes;
    return 0;
}

int orr_npy_header(const char *path, const void *file, size_t bytes, char **header, size_t *data)
{
    const unsigned char *raw = file;
    *header = NULL;
    if (bytes < 12 || memcmp(raw, "\x93NUMPY", 6))
        return ORR_FAIL(ORR_EFORMAT, "%s: not a .npy file", path);
    if (raw[6] < 1 || raw[6] > 3)
        return ORR_FAIL(ORR_EFORMAT, "%s: .npy version %d is not known", path, raw[6]);
    const size_t prefix = raw[6] == 1 ? 10 : 12;
    size_t length = raw[8] | (size_t)raw[9] << 8;
    if (prefix == 12)
        length |= (size_t)raw[10] << 16 | (size_t)raw[11] << 24;
    if (length > bytes - prefix || length > 1 << 20)
        return ORR_FAIL(ORR_EFORMAT, "%s: truncated: the header says %zu bytes", path, length);
    *header = malloc(length + 1);
    if (!*header)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    memcpy(*header, raw + prefix, length);
    (*header)[length] = '\0';
    *data = prefix + length;
    return 0;
}

static int parse_file(const char *path, struct orr_npy *npy)
{
    char *header;
    size_t bytes, data;
    TRY(orr_npy_header(path, npy->map, npy->map_bytes, &header, &data));
    int rc = parse_header(path, header, npy);
    free(header);
    if (!rc && !array_bytes(npy, &bytes))
        rc = ORR_FAIL(ORR_EFORMAT, "%s: the shape overflows", path);
    const size_t have = npy->map_bytes - data;
    if (!rc && have != bytes)
        rc = ORR_FAIL(ORR_EFORMAT, "%s: %s: expected %zu bytes of data, found %zu", path,
                      have < bytes ? "truncated" : "bytes behind the array", bytes, have);
    npy->data = (const char *)npy->map + data;
    return rc ? rc : align_values(path, npy, bytes);
}

int orr_npy_open(const char *path, struct orr_npy *npy)
{
    memset(npy, 0, sizeof *npy);
    TRY(orr_file_map(path, &npy->map, &npy->map_bytes));
    const int rc = npy->map_bytes < 12 ? ORR_FAIL(ORR_EFORMAT, "%s: not a .npy file", path)
                                       : parse_file(path, npy);
    if (rc)
        orr_npy_close(npy);
    return rc;
}

int orr_npy_expect(const char *path, struct orr_npy *npy, enum orr_dtype dtype, int ndim,
                   size_t shape[])
{
    int rc = orr_npy_open(path, npy);
    if (rc)
        return rc;
    if (npy->dtype != dtype)
        rc = ORR_FAIL(ORR_EFORMAT, "%s: expected dtype %s, found %s", path, dtypes[dtype].descr,
                      dtypes[npy->dtype].descr);
    else if (npy->ndim != ndim)
        rc = ORR_FAIL(ORR_EFORMAT, "%s: expected %d dimensions, found %d", path, ndim, npy->ndim);
    for (int i = 0; i < ndim && !rc; i++) {
        if (shape[i] && shape[i] != npy->shape[i])
            rc = ORR_FAIL(ORR_EFORMAT, "%s: dimension %d: expected %zu, found %zu", path, i,
                          shape[i], npy->shape[i]);
        shape[i] = npy->shape[i];
    }
    if (rc)
        orr_npy_close(npy);
    return rc;
}

void orr_npy_close(struct orr_npy *npy)
{
    orr_file_unmap(npy->map, npy->map_bytes);
    memset(npy, 0, sizeof *npy);
}

int orr_npy_write_header(struct orr_file *file, enum orr_dtype dtype, int ndim,
                         const size_t shape[])
{
    char text[512];
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (",
             dtypes[dtype].descr);
    for (int i = 0; i < ndim; i++)
        orr_append(text, sizeof text, "%zu%s", shape[i], ndim == 1 || i + 1 < ndim ? ", " : "");
    orr_append(text, sizeof text, "), }");
    const int used = (int)strlen(text);
    const int padded = (10 + used + 1 + 63) / 64 * 64 - 10;
    memset(text + used, ' ', (size_t)(padded - used));
    text[padded - 1] = '\n';
    const unsigned char start[10] = {0x93,
                                     'N',
                                     'U',
                                     'M',
                                     'P',
                                     'Y',
                                     1,
                                     0,
                                     (unsigned char)(padded & 255),
                                     (unsigned char)(padded >> 8)};
    TRY(orr_file_write(file, start, sizeof start));
    return orr_file_write(file, text, (size_t)padded);
}

int orr_npy_write(const char *path, enum orr_dtype dtype, int ndim, const size_t shape[],
                  const void *data, uint64_t *checksum)
{
    struct orr_file file = {0};
    size_t bytes = dtypes[dtype].size;
    for (int i = 0; i < ndim; i++)
        bytes *= shape[i];
    int rc = orr_file_create(&file, path);
    if (!rc)
        rc = orr_npy_write_header(&file, dtype, ndim, shape);
    if (!rc)
        rc = orr_file_write(&file, data, bytes);
    if (!rc)
        rc = orr_file_commit(&file);
    if (!rc && checksum)
        *checksum = file.checksum;
    orr_file_close(&file);
    return rc;
}
