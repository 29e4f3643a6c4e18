/* plugin.c - finds and loads orrery_cuda.so, so that programs start without CUDA's libraries, and
 * run on machines that have none. */
#include "plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/text.h"

/* The library: $ORRERY_CUDA_PLUGIN, or orrery_cuda.so beside the program. */
static int plugin_path(char path[4096])
{
    const char *given = getenv("ORRERY_CUDA_PLUGIN");
    if (given && *given)
        return orr_path(path, "%s", given);
    char folder[4096];
    return orr_path(path, "%s/orrery_cuda.so", orr_program_folder(folder) ? "bin" : folder);
}

/* The opened library (kept until the process ends), NULL with a message when there is none. */
static void *plugin(void)
{
    static void *library;
    char path[4096];
    if (library || plugin_path(path))
        return library;
    if (access(path, R_OK)) {
        (void)ORR_FAIL(ORR_EDEVICE,
                       "this build has no CUDA backend (%s is not there; make CUDA=1 builds it "
                       "where nvcc is on PATH)",
                       path);
        return NULL;
    }
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        (void)ORR_FAIL(ORR_EDEVICE, "cannot load the CUDA backend: %s", dlerror());
    return library;
}

int k_plugin_find(const struct k_ops **ops)
{
    void *library = plugin();
    if (!library)
        return ORR_EDEVICE;
    *ops = dlsym(library, "k_cuda");
    return *ops ? 0 : ORR_FAIL(ORR_EDEVICE, "the CUDA backend has no table of operations");
}

const struct k_ops *k_plugin_usable(void)
{
    const struct k_ops *ops = NULL;
    char path[4096];
    if (plugin_path(path) || access(path, R_OK))
        return NULL;
    int (*available)(void) = NULL;
    void *symbol = k_plugin_find(&ops) ? NULL : dlsym(plugin(), "k_cuda_available");
    if (symbol) /* ISO C has no cast from objects to functions */
        memcpy(&available, &symbol, sizeof available);
    if (available && available())
        return ops;
    if (!access("/dev/nvidiactl", F_OK))
        fprintf(stderr,
                "note: an NVIDIA driver is here, but no GPU can be used%s%s: --device cpu\n",
                symbol ? "" : ": ", symbol ? "" : orr_error());
    orr_error_clear();
    return NULL;
}
