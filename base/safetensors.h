/* safetensors.h - tensors in safetensors files. */
#ifndef ORR_SAFETENSORS_H
#define ORR_SAFETENSORS_H

#include <stddef.h>

#include "npy.h"

struct orr_tensor {
    const char *name;
    enum orr_dtype dtype;
    int ndim;
    size_t shape[ORR_NPY_DIMS];
    void *data;
};
/* Writes tensors and string metadata (pairs key, value, ..., NULL; may be NULL) atomically.
 * __metadata__ gets the XXH64 of the data as "xxh64", and of the other metadata (every key and
 * value, each with its NUL, ordered by key) as "xxh64_metadata". */
int orr_safetensors_write(const char *path, const struct orr_tensor *tensors, size_t count,
                          const char *const *metadata);
struct orr_safetensors;
/* Maps a file and verifies the header, the extents (they must fill the data without overlap or
 * gap), and the checksums if it has them. */
int orr_safetensors_open(const char *path, struct orr_safetensors **file);
/* NULL where there is no such tensor; data points into the map. */
const struct orr_tensor *orr_safetensors_find(const struct orr_safetensors *file, const char *name);
size_t orr_safetensors_count(const struct orr_safetensors *file);
const struct orr_tensor *orr_safetensors_at(const struct orr_safetensors *file, size_t i);
const char *orr_safetensors_metadata(const struct orr_safetensors *file, const char *key);
void orr_safetensors_close(struct orr_safetensors *file);

#endif
