/* cuda_host_fiber.h - stacks to run threads on, and switching between them. */
#ifndef CUDA_HOST_FIBER_H
#define CUDA_HOST_FIBER_H

#include <stddef.h>

struct cuda_host_fiber {
    void *sp;    /* where it stands */
    char *stack; /* its lowest byte */
    void *fake;  /* AddressSanitizer's */
};

/* Makes it stand at the start of entry, which never returns; gives it a stack where it has none.
 * False without memory. */
bool cuda_host_fiber_start(struct cuda_host_fiber *fiber, void (*entry)(void));
/* From the scheduler: runs the fiber until it leaves. */
void cuda_host_fiber_enter(struct cuda_host_fiber *fiber);
/* In the fiber: back to the scheduler; returns when it is entered again. */
void cuda_host_fiber_leave(struct cuda_host_fiber *fiber);
/* First thing in entry. */
void cuda_host_fiber_entered(void);
/* Whether an address is in the page below the stack. */
bool cuda_host_fiber_overflowed(const struct cuda_host_fiber *fiber, const void *address);

#endif
