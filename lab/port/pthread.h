/* pthread.h - threads of a module that has one: a mutex is always free, what is to be done once is
 * done by the first call, and no thread can be created. */
#ifndef LAB_PORT_PTHREAD_H
#define LAB_PORT_PTHREAD_H

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

typedef char pthread_mutex_t;
typedef char pthread_cond_t;
typedef char pthread_once_t;
typedef int pthread_t;

#define PTHREAD_MUTEX_INITIALIZER 0
#define PTHREAD_COND_INITIALIZER  0
#define PTHREAD_ONCE_INIT         0

static inline int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    *mutex = 1;
    return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    *mutex = 0;
    return 0;
}

static inline int pthread_once(pthread_once_t *once, void (*routine)(void))
{
    if (!*once) {
        *once = 1;
        routine();
    }
    return 0;
}

#endif
