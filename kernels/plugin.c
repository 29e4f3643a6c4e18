/* plugin.c - finds and loads orrery_cuda.so, so that programs start without CUDA's libraries, and
 * run on machines that have none. */
#include "plugin.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

/* The opened library (kept until the process ends); NULL with an error message when there is
 * none. */
static void *open_plugin(void)
{
    static void *library;
    char path[4096];
    if (library || orr_plugin_path("ORRERY_CUDA_PLUGIN", "orrery_cuda.so", path))
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
    void *library = open_plugin();
    if (!library)
        return ORR_EDEVICE;
    *ops = dlsym(library, "k_cuda");
    return *ops ? 0 : ORR_FAIL(ORR_EDEVICE, "the CUDA backend has no table of operations");
}

static bool begins_with(const char *path, const char *text)
{
    char line[32] = "";
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    const bool read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    return read && !strncmp(line, text, strlen(text));
}

bool k_gpu_here(void)
{
    const char *root = getenv("ORRERY_PCI"), *visible = getenv("CUDA_VISIBLE_DEVICES");
    char folder[2048], path[4096];
    bool found = false;
    if (visible && (!*visible || *visible == '-')) /* CUDA devices are disabled */
        return false;
    snprintf(folder, sizeof folder, "%.2000s", root ? root : "/sys/bus/pci/devices");
    DIR *devices = opendir(folder);
    for (const struct dirent *e; devices && !found && (e = readdir(devices));) {
        snprintf(path, sizeof path, "%s/%s/vendor", folder, e->d_name);
        const bool nvidia = begins_with(path, "0x10de");
        snprintf(path, sizeof path, "%s/%s/class", folder, e->d_name);
        found = nvidia && begins_with(path, "0x03"); /* PCI class 0x03 is a display controller */
    }
    if (devices)
        closedir(devices);
    /* in a container only the device file may be visible */
    return found || (!root && !access("/dev/nvidia0", F_OK));
}

const struct k_ops *k_plugin_usable(void)
{
    const struct k_ops *ops = NULL;
    char path[4096];
    if (orr_plugin_path("ORRERY_CUDA_PLUGIN", "orrery_cuda.so", path) || access(path, R_OK))
        return NULL;
    int (*available)(void) = NULL;
    void *symbol = k_plugin_find(&ops) ? NULL : dlsym(open_plugin(), "k_cuda_available");
    if (symbol) /* ISO C does not cast pointers to objects to pointers to functions */
        memcpy(&available, &symbol, sizeof available);
    if (available && available())
        return ops;
    if (!access("/dev/nvidiactl", F_OK))
        fprintf(stderr,
                "note: an NVIDIA driver is here, but no GPU can be used%s%s: --device cpu\n",
                symbol ? "" : ": ", symbol ? "" : orr_error());
    orr_error_recover();
    return NULL;
}
