/* omp.h - OpenMP of a module with one thread: the team is one thread, and a lock is never waited
 * for. */
#ifndef LAB_PORT_OMP_H
#define LAB_PORT_OMP_H

typedef char omp_lock_t;

static inline int omp_get_thread_num(void)
{
    return 0;
}

static inline int omp_get_num_procs(void)
{
    return 1;
}

static inline int omp_get_max_threads(void)
{
    return 1;
}

static inline void omp_set_num_threads(int n)
{
    (void)n;
}

static inline void omp_init_lock(omp_lock_t *lock)
{
    *lock = 0;
}

static inline void omp_destroy_lock(omp_lock_t *lock)
{
    *lock = 0;
}

static inline void omp_set_lock(omp_lock_t *lock)
{
    *lock = 1;
}

static inline void omp_unset_lock(omp_lock_t *lock)
{
    *lock = 0;
}

#endif
