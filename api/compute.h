/* compute.h - inside api/: the backend that models and attention compute with. A process has one
 * backend with one team of threads, so only one call computes at a time. */
#ifndef API_COMPUTE_H
#define API_COMPUTE_H

#include "call.h"
#include "kernels/kernels.h"

/* Enclose each use of a backend. api_compute_begin() waits for calls of other handles and opens the
 * backend with this many threads (0: all cores); api_compute_end() restores the caller's number of
 * OpenMP threads. */
struct api_compute {
    int openmp_threads;
};
int api_compute_begin(const struct k_ops *ops, int threads, struct api_compute *compute);
void api_compute_end(const struct api_compute *compute);
/* The backend of the CPU. With `reference`, or without oneDNN, plain loops. */
const struct k_ops *api_backend(bool reference);
/* Register and unregister a handle that computes. The last one closes the backend. */
void api_compute_keep(void);
void api_compute_drop(void);

#endif
