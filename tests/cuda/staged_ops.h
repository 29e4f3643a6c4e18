/* staged_ops.h - the CUDA backend for tests that were written for backends of the host.
 *
 * k_staged is a table whose entries take ordinary memory: every call copies its arrays to the
 * backend, runs the entry of "cuda" there, waits and copies back. So the tests of operations run
 * unchanged on it: built with -DK_TEST_CUDA -include tests/cuda/staged_ops.h, it stands in k_cpu's
 * place, and k_backends() is ref and k_staged.
 *
 * Every call is made twice from the same inputs, and results that are not the same in every bit
 * fail with ORR_EDEVICE: under the emulation the second time with threads and blocks in another
 * order, in reverse and shuffled by turns (a race shows), on a GPU as before (sums in no fixed
 * order show). Arrays are allocated one by one in their exact sizes, so that an access out of
 * bounds is seen.
 */
#ifndef STAGED_OPS_H
#define STAGED_OPS_H

#include "kernels/kernels.h"

extern const struct k_ops k_staged;
const struct k_ops *const *k_staged_backends(void);
/* "cpu" is k_staged as well. */
int k_staged_find(const char *name, const struct k_ops **ops);

#ifdef K_TEST_CUDA
#define k_cpu()    (&k_staged)
#define k_backends k_staged_backends
#define k_find     k_staged_find
#endif

#endif
