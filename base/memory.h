/* memory.h - memory: allocation, what ran out, what was used. */
#ifndef ORR_MEMORY_H
#define ORR_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed, 64-byte aligned; NULL (and an ORR_ENOMEM message) when it fails or overflows.
 * Free with free(). */
void *orr_alloc(size_t count, size_t size);
/* The same without the zeros, for what is written before it is read: pages that are never written
 * take no memory. */
void *orr_alloc_unset(size_t count, size_t size);

/* Whether memory ran out at any time in a way that its caller may not have noticed: in JSON, whose
 * trees are whole all the same, from a reserve, or in an error that was forgotten. From then on
 * orr_file_commit() refuses (ORR_ENOMEM). */
bool orr_memory_short(void);
void orr_memory_ran_out(void);

/* Largest memory this process has held since its start, or the last restart, bytes resident (Linux:
 * VmHWM); NaN where the system does not tell. */
double orr_memory_peak(void);
/* From here on the peak is of what comes, not of what was, where the system can do that. */
void orr_memory_peak_restart(void);

#endif
