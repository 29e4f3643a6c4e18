/* plugin.h - private to kernels: the CUDA backend, which is a library of its own. */
#ifndef K_PLUGIN_H
#define K_PLUGIN_H

#include "kernels.h"

/* *ops = the table of $ORRERY_CUDA_PLUGIN, or of orrery_cuda.so beside the program; the library
 * stays loaded until the process ends. ORR_EDEVICE with a message when there is none. Whether there
 * is a GPU is seen when the backend is opened. */
int k_plugin_find(const struct k_ops **ops);
/* The same table where the library is there and finds a GPU, otherwise NULL and no error. A line on
 * stderr says so where the driver's device file is there and CUDA finds no GPU. */
const struct k_ops *k_plugin_usable(void);

#endif
