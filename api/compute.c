/* compute.c - the backend that all computing handles share. */
#include "compute.h"

#include <pthread.h>

#include <omp.h>

static pthread_mutex_t computing = PTHREAD_MUTEX_INITIALIZER;
static const struct k_ops *opened; /* the open backend; NULL: none */
static int opened_threads, handles;

const struct k_ops *api_backend(bool reference)
{
    return reference || !k_cpu_usable() ? &k_ref : k_cpu();
}

static int open_backend(const struct k_ops *ops, int threads)
{
    if (ops == opened && threads == opened_threads)
        return 0;
    if (opened)
        opened->close();
    opened = NULL;
    TRY(ops->open(threads, K_PRECISION_FP32));
    opened = ops;
    opened_threads = threads;
    return 0;
}

int api_compute_begin(const struct k_ops *ops, int threads, struct api_compute *compute)
{
    int count;
    TRY(api_threads(threads, &count));
    compute->openmp_threads = omp_get_max_threads();
    pthread_mutex_lock(&computing);
    const int rc = open_backend(ops, count);
    if (rc)
        api_compute_end(compute);
    else
        omp_set_num_threads(count); /* for this thread, which may not have opened the backend */
    return rc;
}

void api_compute_end(const struct api_compute *compute)
{
    omp_set_num_threads(compute->openmp_threads);
    pthread_mutex_unlock(&computing);
}

void api_compute_keep(void)
{
    pthread_mutex_lock(&computing);
    handles++;
    pthread_mutex_unlock(&computing);
}

void api_compute_drop(void)
{
    const int openmp_threads = omp_get_max_threads();
    pthread_mutex_lock(&computing);
    if (--handles == 0 && opened) {
        opened->close();
        opened = NULL;
    }
    omp_set_num_threads(openmp_threads);
    pthread_mutex_unlock(&computing);
}
