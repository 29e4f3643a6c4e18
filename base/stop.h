/* stop.h - a stop of one call: of one search among several in a process, without a signal. */
#ifndef ORR_STOP_H
#define ORR_STOP_H

#include "signals.h"

#include <stdatomic.h>

/* Where orr_stop_of_call points to it, orr_signal_seen() is true once it is asked for, and
 * orr_time_over() from `until_s` on (orr_time_s(); 0: never). */
struct orr_stop {
    atomic_bool asked;
    double until_s;
};

/* A stop of what one thread has called, and of the teams of threads that it starts for it, alone;
 * NULL: none. A parallel region has the clause copyin(orr_stop_of_call). */
extern const struct orr_stop *orr_stop_of_call;
#pragma omp threadprivate(orr_stop_of_call)

#endif
