/* safetensors.c - the safetensors format: 8 bytes of header length, a JSON header, data. */
#include "error.h"
#include "file.h"
#include "json.h"
#include "memory.h"
#include "npy.h"
#include "safetensors.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cjson.h"
#include <xxhash.h>

static const char *const names[] = {
    [ORR_U8] = "U8",   [ORR_U16] = "U16", [ORR_U32] = "U32", [ORR_I32] = "I32",   [ORR_I64] = "I64",
    [ORR_F32] = "F32", [ORR_F64] = "F64", [ORR_F16] = "F16", [ORR_BF16] = "BF16",
};
enum { NAMES = sizeof names / sizeof *names };

static size_t tensor_bytes(const struct orr_tensor *t)
{
    size_t bytes = orr_dtype_size(t->dtype);
    for (int i = 0; i < t->ndim; i++)
        bytes *= t->shape[i];
    return bytes;
}

/* The metadata keys of the checksums of data and of metadata. */
static const char of_data[] = "xxh64", of_metadata[] = "xxh64_metadata";

/* The XXH64 of all keys and values except the checksums, ordered by key, each with its NUL. False
 * without memory. */
static bool metadata_sum(const cJSON *metadata, uint64_t *sum)
{
    const int n = cJSON_GetArraySize(metadata);
    const cJSON **sorted = orr_json_sorted(metadata);
    XXH64_state_t *state = XXH64_createState();
    const bool ok = sorted && state;
    if (ok)
        XXH64_reset(state, 0);
    for (int i = 0; ok && i < n; i++) {
        const char *key = sorted[i]->string, *value = cJSON_GetStringValue(sorted[i]);
        if (!strcmp(key, of_data) || !strcmp(key, of_metadata))
            continue;
        XXH64_update(state, key, strlen(key) + 1);
        if (value)
            XXH64_update(state, value, strlen(value) + 1);
    }
    if (ok)
        *sum = XXH64_digest(state);
    XXH64_freeState(state);
    free(sorted);
    return ok;
}

/* ------------------------------------------------------------------------------ write */

static void add_sum(cJSON *metadata, const char *name, uint64_t sum)
{
    char text[32];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)sum);
    cJSON_AddStringToObject(metadata, name, text);
}

/* The header as JSON; NULL without memory for the checksum. */
static cJSON *header_of(const struct orr_tensor *tensors, size_t count, const char *const *metadata,
                        uint64_t checksum)
{
    cJSON *header = cJSON_CreateObject();
    cJSON *meta = cJSON_AddObjectToObject(header, "__metadata__");
    uint64_t sum;
    for (size_t i = 0; metadata && metadata[i]; i += 2)
        cJSON_AddStringToObject(meta, metadata[i], metadata[i + 1]);
    if (!metadata_sum(meta, &sum)) {
        cJSON_Delete(header);
        return NULL;
    }
    add_sum(meta, of_data, checksum);
    add_sum(meta, of_metadata, sum);
    size_t offset = 0;
    for (size_t i = 0; i < count; i++) {
        const struct orr_tensor *t = &tensors[i];
        cJSON *entry = cJSON_AddObjectToObject(header, t->name);
        cJSON_AddStringToObject(entry, "dtype", names[t->dtype]);
        cJSON *shape = cJSON_AddArrayToObject(entry, "shape");
        for (int k = 0; k < t->ndim; k++)
            cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)t->shape[k]));
        cJSON *extent = cJSON_AddArrayToObject(entry, "data_offsets");
        cJSON_AddItemToArray(extent, cJSON_CreateNumber((double)offset));
        offset += tensor_bytes(t);
        cJSON_AddItemToArray(extent, cJSON_CreateNumber((double)offset));
    }
    return header;
}

/* The XXH64 of the data. False without memory. */
static bool checksum_of(const struct orr_tensor *tensors, size_t count, uint64_t *sum)
{
    XXH64_state_t *state = XXH64_createState();
    if (!state)
        return false;
    XXH64_reset(state, 0);
    for (size_t i = 0; i < count; i++)
        XXH64_update(state, tensors[i].data, tensor_bytes(&tensors[i]));
    *sum = XXH64_digest(state);
    XXH64_freeState(state);
    return true;
}

static int write_all(struct orr_file *file, const char *header, const struct orr_tensor *tensors,
                     size_t count)
{
    static const char spaces[] = "        ";
    const size_t length = strlen(header), pad = (8 - length % 8) % 8;
    unsigned char size[8];
    for (int i = 0; i < 8; i++)
        size[i] = (unsigned char)((uint64_t)(length + pad) >> (8 * i));
    TRY(orr_file_write(file, size, sizeof size));
    TRY(orr_file_write(file, header, length));
    TRY(orr_file_write(file, spaces, pad));
    for (size_t i = 0; i < count; i++)
        TRY(orr_file_write(file, tensors[i].data, tensor_bytes(&tensors[i])));
    return orr_file_commit(file);
}

int orr_safetensors_write(const char *path, const struct orr_tensor *tensors, size_t count,
                          const char *const *metadata)
{
    struct orr_file file = {0};
    uint64_t sum;
    if (!checksum_of(tensors, count, &sum))
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    cJSON *header = header_of(tensors, count, metadata, sum);
    char *text = header ? cJSON_PrintUnformatted(header) : NULL;
    cJSON_Delete(header);
    if (!text || orr_memory_short()) {
        cJSON_free(text);
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    }
    int rc = orr_file_create(&file, path);
    if (!rc)
        rc = write_all(&file, text, tensors, count);
    orr_file_close(&file);
    cJSON_free(text);
    return rc;
}

/* ------------------------------------------------------------------------------- read */

struct orr_safetensors {
    void *map;
    size_t map_bytes;
    cJSON *header, *metadata;
    struct orr_tensor *tensors;
    size_t count;
};

static bool read_whole(const cJSON *number, size_t *value)
{
    if (!cJSON_IsNumber(number) || !(number->valuedouble >= 0) || number->valuedouble > 9e15)
        return false;
    *value = (size_t)number->valuedouble;
    return (double)*value == number->valuedouble;
}

/* Reads one header entry as a tensor, and checks that its extent lies inside the data. */
static int parse_entry(const char *path, const cJSON *entry, unsigned char *data, size_t bytes,
                       struct orr_tensor *t)
{
    const cJSON *dtype = orr_json_get(entry, "dtype");
    const cJSON *shape = orr_json_get(entry, "shape");
    const cJSON *extent = orr_json_get(entry, "data_offsets");
    size_t from, to;
    int found = -1;
    for (int i = 0; cJSON_IsString(dtype) && i < NAMES; i++)
        if (!strcmp(dtype->valuestring, names[i]))
            found = i;
    if (found < 0)
        return ORR_FAIL(ORR_EFORMAT, "%s: tensor \"%s\": unsupported dtype %s", path, entry->string,
                        cJSON_IsString(dtype) ? dtype->valuestring : "(none)");
    if (cJSON_IsArray(shape) && cJSON_GetArraySize(shape) > ORR_NPY_DIMS)
        return ORR_FAIL(ORR_EFORMAT, "%s: tensor \"%s\": %d dimensions, expected at most %d", path,
                        entry->string, cJSON_GetArraySize(shape), ORR_NPY_DIMS);
    if (!cJSON_IsArray(shape) || cJSON_GetArraySize(extent) != 2 ||
        !read_whole(cJSON_GetArrayItem(extent, 0), &from) ||
        !read_whole(cJSON_GetArrayItem(extent, 1), &to) || from > to || to > bytes)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: tensor \"%s\": extent outside the file's %zu bytes of "
                        "data",
                        path, entry->string, bytes);
    t->name = entry->string;
    t->dtype = (enum orr_dtype)found;
    t->ndim = cJSON_GetArraySize(shape);
    size_t need = orr_dtype_size(t->dtype);
    for (int k = 0; k < t->ndim; k++) {
        if (!read_whole(cJSON_GetArrayItem(shape, k), &t->shape[k]) ||
            (t->shape[k] && need > SIZE_MAX / t->shape[k]))
            return ORR_FAIL(ORR_EFORMAT, "%s: tensor \"%s\": malformed shape", path, entry->string);
        need *= t->shape[k];
    }
    if (need != to - from)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: tensor \"%s\": its shape needs %zu bytes, its extent "
                        "has %zu",
                        path, entry->string, need, to - from);
    t->data = data + from;
    return 0;
}

static int compare_places(const void *a, const void *b)
{
    const struct orr_tensor *x = a, *y = b;
    const size_t x_bytes = tensor_bytes(x), y_bytes = tensor_bytes(y);
    if (x->data != y->data)
        return (const char *)x->data < (const char *)y->data ? -1 : 1;
    return (x_bytes > y_bytes) - (x_bytes < y_bytes); /* empty ones first */
}

/* Checks that the tensors, in any order, fill the data without gap or overlap. */
static int check_places(const char *path, const struct orr_safetensors *file,
                        const unsigned char *data, size_t bytes)
{
    struct orr_tensor *sorted = orr_alloc(file->count ? file->count : 1, sizeof *sorted);
    size_t end = 0;
    int rc = sorted ? 0 : ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    if (!rc && file->count)
        memcpy(sorted, file->tensors, file->count * sizeof *sorted);
    if (!rc)
        qsort(sorted, file->count, sizeof *sorted, compare_places);
    for (size_t i = 0; i < file->count && !rc; i++) {
        const size_t from = (size_t)((const unsigned char *)sorted[i].data - data);
        if (from != end)
            rc = ORR_FAIL(ORR_EFORMAT, "%s: tensor \"%s\": %s: expected at byte %zu, found at %zu",
                          path, sorted[i].name,
                          from < end ? "overlaps others" : "bytes before it are of no tensor", end,
                          from);
        end = from + tensor_bytes(&sorted[i]);
    }
    if (!rc && end != bytes)
        rc = ORR_FAIL(ORR_EFORMAT,
                      "%s: bytes behind the last tensor: expected %zu bytes of data, found %zu",
                      path, end, bytes);
    free(sorted);
    return rc;
}

/* Compares the sum of `what` with the sum in the metadata. A file without a sum passes: another
 * program or an earlier version wrote it. */
static int verify_sum(const char *path, const struct orr_safetensors *file, const char *name,
                      const char *what, uint64_t sum)
{
    const char *expected = orr_safetensors_metadata(file, name);
    char found[32];
    snprintf(found, sizeof found, "%016llx", (unsigned long long)sum);
    if (expected && strcmp(found, expected))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: corrupt%s: checksum expected %s, found %s (who changes it leaves out "
                        "\"%s\")",
                        path, what, expected, found, name);
    return 0;
}

static int verify_both(const char *path, const struct orr_safetensors *file, const void *data,
                       size_t bytes)
{
    uint64_t sum = 0;
    if (orr_safetensors_metadata(file, of_data))
        TRY(verify_sum(path, file, of_data, "", XXH64(data, bytes, 0)));
    if (!orr_safetensors_metadata(file, of_metadata))
        return 0;
    if (!metadata_sum(file->metadata, &sum))
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    return verify_sum(path, file, of_metadata, " metadata", sum);
}

/* Parses the header, which may only have blanks after the JSON. */
static int parse_header(const char *path, struct orr_safetensors *file, const char *text,
                        size_t length)
{
    const char *end = NULL;
    file->header = cJSON_ParseWithLengthOpts(text, length, &end, 0);
    if (!cJSON_IsObject(file->header))
        return ORR_FAIL(ORR_EFORMAT, "%s: not a safetensors file: its header is not JSON", path);
    while (end < text + length && *end && strchr(" \t\r\n", *end))
        end++;
    if (end < text + length)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: not a safetensors file: its header of %zu bytes has other things than "
                        "blanks behind its end, at byte %zu",
                        path, length, (size_t)(end - text));
    return orr_json_check_keys(path, file->header);
}

static int parse_file(const char *path, struct orr_safetensors *file)
{
    unsigned char *raw = file->map;
    uint64_t length = 0;
    for (int i = 0; i < 8; i++)
        length |= (uint64_t)raw[i] << (8 * i);
    if (length > file->map_bytes - 8 || length > 100u << 20)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: not a safetensors file, or truncated: header of %llu "
                        "bytes in a file of %zu",
                        path, (unsigned long long)length, file->map_bytes);
    TRY(parse_header(path, file, (const char *)raw + 8, (size_t)length));
    file->metadata = orr_json_get(file->header, "__metadata__");
    file->tensors = orr_alloc((size_t)cJSON_GetArraySize(file->header), sizeof *file->tensors);
    if (!file->tensors)
        return ORR_ENOMEM;
    unsigned char *data = raw + 8 + length;
    const size_t bytes = file->map_bytes - 8 - (size_t)length;
    const cJSON *entry;
    cJSON_ArrayForEach (entry, file->header) {
        if (entry == file->metadata)
            continue;
        TRY(parse_entry(path, entry, data, bytes, &file->tensors[file->count]));
        file->count++;
    }
    TRY(check_places(path, file, data, bytes));
    return verify_both(path, file, data, bytes);
}

int orr_safetensors_open(const char *path, struct orr_safetensors **out)
{
    *out = NULL;
    TRY(orr_cjson_open(path));
    struct orr_safetensors *file = orr_alloc(1, sizeof *file);
    int rc = file ? orr_file_map(path, &file->map, &file->map_bytes) : ORR_ENOMEM;
    if (!rc && file->map_bytes < 8)
        rc = ORR_FAIL(ORR_EFORMAT, "%s: not a safetensors file", path);
    if (!rc)
        rc = parse_file(path, file);
    if (rc)
        orr_safetensors_close(file);
    else
        *out = file;
    return rc;
}

const struct orr_tensor *orr_safetensors_find(const struct orr_safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->count; i++)
        if (!strcmp(file->tensors[i].name, name))
            return &file->tensors[i];
    return NULL;
}

size_t orr_safetensors_count(const struct orr_safetensors *file)
{
    return file->count;
}

const struct orr_tensor *orr_safetensors_at(const struct orr_safetensors *file, size_t i)
{
    return i < file->count ? &file->tensors[i] : NULL;
}

const char *orr_safetensors_metadata(const struct orr_safetensors *file, const char *key)
{
    return cJSON_GetStringValue(orr_json_get(file->metadata, key));
}

void orr_safetensors_close(struct orr_safetensors *file)
{
    if (!file)
        return;
    cJSON_Delete(file->header);
    free(file->tensors);
    orr_file_unmap(file->map, file->map_bytes);
    free(file);
}
