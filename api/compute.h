/* compute.h - inside api/: the backend that models and attention compute with. A process has one,
 * with one set of threads, so that one call at a time computes. */
#ifndef API_COMPUTE_H
#define API_COMPUTE_H

#include "call.h"
#include "kernels/kernels.h"

/* Around each use of a backend: waits for the calls of other handles, opens the backend with so
 * many threads (0: all cores), and leaves the caller's number of OpenMP threads as it was. */
struct api_compute {
    int openmp_threads;
};
int api_compute_begin(const struct k_ops *ops, int threads, struct api_compute *compute);
void api_compute_end(const struct api_compute *compute);
/* The backend of the CPU; where oneDNN cannot be opened, or `reference`, the plain loops. */
const struct k_ops *api_backend(bool reference);
/* A handle begins and ends to be one that computes; after the last one nothing is kept. */
void api_compute_keep(void);
void api_compute_drop(void);

#endif
