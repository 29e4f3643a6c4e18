/* old_driver.c - a libcuda.so.1 that says it is of CUDA 12.4 and can do nothing else: what NVIDIA's
 * own runtime, linked into the plugin that nvcc built, makes of a driver older than itself.
 * Signatures as in cuda.h. */
#include <stdint.h>
#include <string.h>

enum { SUCCESS = 0, NOT_FOUND = 500, VERSION = 12040 };

int cuDriverGetVersion(int *version);
int cuGetExportTable(const void **table, const void *id);
int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                        int *status);

int cuDriverGetVersion(int *version)
{
    *version = VERSION;
    return SUCCESS;
}

int cuGetExportTable(const void **table, const void *id)
{
    (void)id;
    *table = 0;
    return NOT_FOUND;
}

/* Every other function of the driver. */
static int cannot(void)
{
    return NOT_FOUND;
}

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status)
{
    int (*const of_version)(int *) = cuDriverGetVersion;
    int (*const of_table)(const void **, const void *) = cuGetExportTable;
    int (*const of_names)(const char *, void **, int, uint64_t, int *) = cuGetProcAddress_v2;
    int (*const other)(void) = cannot;
    (void)version, (void)flags;
    if (!strcmp(name, "cuDriverGetVersion"))
        memcpy(function, &of_version, sizeof of_version);
    else if (!strcmp(name, "cuGetExportTable"))
        memcpy(function, &of_table, sizeof of_table);
    else if (!strcmp(name, "cuGetProcAddress"))
        memcpy(function, &of_names, sizeof of_names);
    else
        memcpy(function, &other, sizeof other);
    if (status)
        *status = 0; /* found */
    return SUCCESS;
}
