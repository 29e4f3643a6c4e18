/* plugin.c - finds and loads orrery_mpi.so, so that programs start without libmpi and run on
 * machines without it. */
#include "plugin.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"

int cluster_plugin_find(const struct cluster_ops **ops)
{
    char path[4096];
    TRY(orr_plugin_path("ORRERY_MPI_PLUGIN", "orrery_mpi.so", path));
    if (access(path, R_OK))
        return ORR_FAIL(ORR_EDEVICE,
                        "%s is not there: make builds it where libopenmpi-dev is (tools/deps.sh "
                        "--optional)",
                        path);
    /* MPI loads components at run time, which need its symbols to be global */
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        return ORR_FAIL(ORR_EDEVICE, "cannot load the MPI plugin: %s", dlerror());
    *ops = dlsym(library, "cluster_mpi");
    return *ops ? 0 : ORR_FAIL(ORR_EDEVICE, "%s: it has no table cluster_mpi", path);
}
