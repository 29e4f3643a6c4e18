/* collectives.h - ranks of a job whose backend has memory of its own exchange it without the host.
 *
 * Part of the table of a backend (k_ops.collectives). All entries but count, device and identify
 * are collective: every rank calls them, in the same order. They are asked for in the order of the
 * backend's other work, and are done when its wait() or download() is. Failures: ORR_EDEVICE. */
#ifndef K_COLLECTIVES_H
#define K_COLLECTIVES_H

#include <stddef.h>

#include "kernels.h"

enum { K_COLLECTIVES_ID = 128, K_COLLECTIVES_DEVICE = 64 };

struct k_collectives {
    /* Devices that this process may choose among (k_ops.choose); 0 where there is none. */
    int (*count)(void);
    /* name = the open backend's device, which no other device of the machine has. */
    int (*device)(char name[K_COLLECTIVES_DEVICE]);
    /* id = a new one, by which ranks find each other; made by one of them, given to all. */
    int (*identify)(unsigned char id[K_COLLECTIVES_ID]);
    /* Joins rank 0 .. size - 1; after k_ops.open, and close before k_ops.close. */
    int (*open)(const unsigned char id[K_COLLECTIVES_ID], int rank, int size);
    void (*close)(void);
    /* x is cut into shares, rank r's from first[r] to first[r + 1]. parts (size, own share) = this
     * rank's share of every rank's x. */
    int (*all_to_all)(const real *x, real *parts, const size_t *first);
    /* Every rank's own share of x goes to all. */
    int (*all_gather)(real *x, const size_t *first);
};

#endif
