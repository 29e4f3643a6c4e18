/* plugin.h - private to kernels: loads the CUDA backend, which is a separate library. */
#ifndef K_PLUGIN_H
#define K_PLUGIN_H

#include "kernels.h"

/* *ops = the table of $ORRERY_CUDA_PLUGIN, or of orrery_cuda.so beside the program; the library
 * stays loaded until the process ends. ORR_EDEVICE with a message when there is none. Whether
 * there is a GPU is checked when the backend is opened. */
int k_plugin_find(const struct k_ops **ops);
/* The CUDA table where the library exists and finds a GPU, otherwise NULL without an error.
 * Prints a line on stderr where the driver's device file exists but CUDA finds no GPU. */
const struct k_ops *k_plugin_usable(void);

#endif
