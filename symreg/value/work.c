/* work.c - the arrays that one thread evaluates formulas with. */
#include "value.h"

#include <stdlib.h>

int sr_work_init(struct sr_work *work, size_t rows, int maxsize)
{
    const int columns = (maxsize + 1) / 2 + 2; /* leaves of a binary tree, the outer scale */
    *work = (struct sr_work){.columns = columns};
    work->value = orr_alloc(rows, sizeof(double));
    work->trial = orr_alloc(rows, sizeof(double));
    work->scratch = orr_alloc(2 * rows + SR_SCRATCH, sizeof(double));
    work->jacobian = orr_alloc((size_t)columns * rows, sizeof(double));
    if (work->value && work->trial && work->scratch && work->jacobian)
        return 0;
    sr_work_free(work);
    return ORR_ENOMEM;
}

void sr_work_free(struct sr_work *work)
{
    free(work->value);
    free(work->trial);
    free(work->scratch);
    free(work->jacobian);
    *work = (struct sr_work){0};
}
