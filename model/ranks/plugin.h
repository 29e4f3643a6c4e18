/* plugin.h - private to model/ranks/: the table of the plugin that passes messages. */
#ifndef CLUSTER_PLUGIN_H
#define CLUSTER_PLUGIN_H

#include "cluster.h"

/* As the functions of cluster.h; elements have 4 or 8 bytes. */
struct cluster_ops {
    int (*open)(int *rank, int *size);
    void (*close)(void);
    void (*abort)(int status); /* ends all ranks; does not return */
    int (*broadcast)(void *data, size_t bytes, int root);
    int (*gather)(const void *mine, void *all, size_t bytes);
    int (*all_to_all)(const void *x, void *parts, const struct cluster_vector *v);
    int (*all_gather)(void *x, const struct cluster_vector *v);
    int (*collect)(const void *own, void *x, const struct cluster_vector *v);
    int (*distribute)(const void *x, void *own, const struct cluster_vector *v);
};

/* *ops = the table cluster_mpi of $ORRERY_MPI_PLUGIN, or of orrery_mpi.so beside the program; the
 * library stays loaded until the process ends. ORR_EDEVICE with a message when there is none. */
int cluster_plugin_find(const struct cluster_ops **ops);

#endif
