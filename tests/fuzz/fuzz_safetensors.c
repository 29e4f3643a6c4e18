/* fuzz_safetensors.c - any bytes as a safetensors file, its checksum made right: tensors that lie
 * inside the file, or an error; never more. */
#include <string.h>

#include "base/base.h"
#include "fuzz.h"

/* As many bytes as the shape says, found in the input. */
static void check_tensor(const struct orr_tensor *t, const uint8_t *bytes, size_t size)
{
    size_t need = orr_dtype_size(t->dtype);
    FUZZ_EXPECT(t->name && t->ndim <= ORR_NPY_DIMS);
    for (int i = 0; i < t->ndim; i++)
        need *= t->shape[i];
    FUZZ_EXPECT(need <= size);
    if (need)
        FUZZ_EXPECT(memmem(bytes, size, t->data, need));
}

FUZZ_TARGET(safetensors)
{
    char path[4096];
    struct orr_safetensors *file;
    uint8_t *summed = fuzz_with_sum(bytes, size);
    fuzz_file(path, "a.safetensors", summed, size);
    const int rc = orr_safetensors_open(path, &file);
    FUZZ_EXPECT(rc ? !file && *orr_error() : file != NULL);
    for (size_t i = 0; !rc && i < orr_safetensors_count(file); i++) {
        const struct orr_tensor *t = orr_safetensors_at(file, i);
        check_tensor(t, summed, size);
        FUZZ_EXPECT(!strcmp(orr_safetensors_find(file, t->name)->name, t->name));
    }
    if (!rc) {
        const char *step = orr_safetensors_metadata(file, "step");
        FUZZ_EXPECT(!step || strlen(step) <= size);
    }
    orr_safetensors_close(file);
    free(summed);
    return 0;
}
