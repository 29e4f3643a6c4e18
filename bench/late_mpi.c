/* late_mpi.c - the MPI plugin behind a delay, for bench/network.sh: a library to be named by
 * $ORRERY_MPI_PLUGIN, that opens $LATE_MPI, the plugin itself, and lets $LATE_MS milliseconds pass
 * before everything that ranks do together. So long is the first message of an operation under way
 * on a network of that latency; one of several rounds pays for each there, and once here. */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

#include "base/base.h"
#include "model/ranks/plugin.h"

static const struct cluster_ops *real_ops;
static struct timespec delay;

static void wait_for_it(void)
{
    struct timespec left = delay;
    while (nanosleep(&left, &left))
        ;
}

static int late_open(int *rank, int *size)
{
    const char *path = getenv("LATE_MPI"), *ms = getenv("LATE_MS");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    real_ops = library ? dlsym(library, "cluster_mpi") : NULL;
    if (!real_ops || !ms)
        return ORR_FAIL(ORR_EDEVICE, "LATE_MPI, LATE_MS: expected the plugin and milliseconds");
    const double s = atof(ms) / 1000;
    delay.tv_sec = (time_t)s;
    delay.tv_nsec = (long)(1e9 * (s - (double)delay.tv_sec));
    return real_ops->open(rank, size);
}

static void late_close(void)
{
    real_ops->close();
}

static void late_abort(int status)
{
    real_ops->abort(status);
}

static int late_broadcast(void *data, size_t bytes, int root)
{
    wait_for_it();
    return real_ops->broadcast(data, bytes, root);
}

static int late_gather(const void *mine, void *all, size_t bytes)
{
    wait_for_it();
    return real_ops->gather(mine, all, bytes);
}

static int late_all_to_all(const void *x, void *parts, const struct cluster_vector *v)
{
    wait_for_it();
    return real_ops->all_to_all(x, parts, v);
}

static int late_all_gather(void *x, const struct cluster_vector *v)
{
    wait_for_it();
    return real_ops->all_gather(x, v);
}

static int late_collect(const void *own, void *x, const struct cluster_vector *v)
{
    wait_for_it();
    return real_ops->collect(own, x, v);
}

static int late_distribute(const void *x, void *own, const struct cluster_vector *v)
{
    wait_for_it();
    return real_ops->distribute(x, own, v);
}

extern const struct cluster_ops cluster_mpi;
const struct cluster_ops cluster_mpi = {
    .open = late_open,
    .close = late_close,
    .abort = late_abort,
    .broadcast = late_broadcast,
    .gather = late_gather,
    .all_to_all = late_all_to_all,
    .all_gather = late_all_gather,
    .collect = late_collect,
    .distribute = late_distribute,
};
