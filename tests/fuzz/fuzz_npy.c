/* fuzz_npy.c - any bytes as a .npy file: an array that lies inside the file and can be read, or an
 * error; never more. */
#include <string.h>

#include "base/base.h"
#include "fuzz.h"

FUZZ_TARGET(npy)
{
    char path[4096];
    struct orr_npy npy;
    fuzz_file(path, "a.npy", bytes, size);
    if (orr_npy_open(path, &npy)) {
        FUZZ_EXPECT(*orr_error());
        return 0;
    }
    size_t need = orr_dtype_size(npy.dtype);
    bool empty = false;
    FUZZ_EXPECT(npy.ndim <= ORR_NPY_DIMS);
    for (int i = 0; i < npy.ndim; i++)
        empty |= npy.shape[i] == 0;
    for (int i = 0; i < npy.ndim && !empty; i++) {
        FUZZ_EXPECT(need <= size / npy.shape[i]);
        need *= npy.shape[i];
    }
    FUZZ_EXPECT(empty || (uintptr_t)npy.data % orr_dtype_size(npy.dtype) == 0);
    /* the numbers are the last of the file, unless something follows them */
    if (!empty)
        FUZZ_EXPECT(need <= size && memmem(bytes, size, npy.data, need));
    orr_npy_close(&npy);
    return 0;
}
