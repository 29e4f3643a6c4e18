/* gpu_here.c - exit status 0 where the CUDA backend opens; otherwise says why not: the first thing
 * that `make check-gpu` does. */
#include "base/base.h"
#include "kernels/kernels.h"

int main(void)
{
    const struct k_ops *ops;
    int rc = k_find("cuda", &ops);
    if (!rc)
        rc = ops->open(0, K_PRECISION_BF16);
    if (rc)
        return orr_error_exit("check-gpu", rc);
    ops->close();
    return 0;
}
