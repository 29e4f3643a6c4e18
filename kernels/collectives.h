/* collectives.h - exchanges between ranks directly from device to device, for backends with
 * their own memory.
 *
 * k_ops.collectives of a backend points to this table. All entries but count, device and
 * identify are collective: every rank calls them, in the same order. They run in order with the
 * backend's other work and are complete when its wait() or download() returns. Failures:
 * ORR_EDEVICE. */
#ifndef K_COLLECTIVES_H
#define K_COLLECTIVES_H

#include <stddef.h>

#include "kernels.h"

enum { K_COLLECTIVES_ID = 128, K_COLLECTIVES_DEVICE = 64 };

struct k_collectives {
    /* Number of devices that this process may choose from (k_ops.choose); 0 where there is none. */
    int (*count)(void);
    /* name = a name of the open backend's device that is unique on the machine. */
    int (*device)(char name[K_COLLECTIVES_DEVICE]);
    /* id = a new identifier by which ranks find each other. One rank makes it and sends it to
     * all. */
    int (*identify)(unsigned char id[K_COLLECTIVES_ID]);
    /* Joins ranks 0 .. size - 1. Call it after k_ops.open, and close() before k_ops.close. */
    int (*open)(const unsigned char id[K_COLLECTIVES_ID], int rank, int size);
    void (*close)(void);
    /* x is cut into shares: rank r's share is x[first[r]] to x[first[r + 1] - 1]. parts (size,
     * own share) = this rank's share of every rank's x. */
    int (*all_to_all)(const real *x, real *parts, const size_t *first);
    /* Sends every rank's own share of x to all ranks, so that x is complete on each. */
    int (*all_gather)(real *x, const size_t *first);
};

#endif
