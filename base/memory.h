/* memory.h - checked allocation, out-of-memory state, peak memory. */
#ifndef ORR_MEMORY_H
#define ORR_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Allocates zeroed, 64-byte aligned memory; free() it. NULL and an ORR_ENOMEM message when it fails
 * or overflows. */
void *orr_alloc(size_t count, size_t size);
/* As orr_alloc(), but not zeroed, for memory that is written before it is read. Pages that are
 * never written take no memory. */
void *orr_alloc_unset(size_t count, size_t size);

/* Whether memory ran out in a way that a caller may have missed: in cJSON, served from a reserve,
 * or in an error that was cleared. From then on orr_file_commit() fails with ORR_ENOMEM.
 * orr_memory_ran_out() records it. */
bool orr_memory_short(void);
void orr_memory_ran_out(void);

/* Peak resident memory of this process in bytes since its start or the last restart (Linux: VmHWM);
 * NaN where the system does not report it. */
double orr_memory_peak(void);
/* Restarts the peak at the present size, where the system can do so. */
void orr_memory_peak_restart(void);

#endif
