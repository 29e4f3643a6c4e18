/* stop.h - stops one call, such as one search among several in a process, without a signal. */
#ifndef ORR_STOP_H
#define ORR_STOP_H

#include "signals.h"

#include <stdatomic.h>

/* If orr_stop_of_call points to it: orr_signal_seen() is true once `asked` is true, and
 * orr_time_over() is true from `until_s` on (orr_time_s(); 0: never). */
struct orr_stop {
    atomic_bool asked;
    double until_s;
};

/* The stop of the calling thread and of the OpenMP threads that it starts; NULL: none. A parallel
 * region needs the clause copyin(orr_stop_of_call). */
extern const struct orr_stop *orr_stop_of_call;
#pragma omp threadprivate(orr_stop_of_call)

#endif
