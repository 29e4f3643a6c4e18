/* cpu.c - the backend of the page: the reference (kernels/ref/), but for the product of a layer,
 * whose loops run over sixteen rows at once so that they become vector code. Each sum has the
 * reference's order: the same bits. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "kernels/kernels.h"

enum { MANY = 16, FEW = 2 }; /* FEW: a network that continues an orbit passes one row at a time */

/* to (rows, OC) = x W^T + b; x: (C, width), the columns behind `rows` are zero. */
static inline __attribute__((always_inline)) void multiply(const struct k_linear *l, size_t rows,
                                                           size_t width, const double *x, real *to)
{
    const size_t C = (size_t)l->C, OC = (size_t)l->OC;
    for (size_t o = 0; o < OC; o++) {
        double sum[MANY];
        for (size_t i = 0; i < width; i++)
            sum[i] = l->b ? (double)l->b[o] : 0;
        for (size_t c = 0; c < C; c++) {
            const double w = (double)l->w[o * C + c];
            for (size_t i = 0; i < width; i++)
                sum[i] += x[c * width + i] * w;
        }
        for (size_t i = 0; i < rows; i++)
            to[i * OC + o] = (real)sum[i];
    }
}

static int linear_forward(const struct k_linear *l)
{
    const size_t C = (size_t)l->C, OC = (size_t)l->OC, N = (size_t)l->N, n = N * OC;
    const size_t width = N <= FEW ? FEW : MANY;
    double *x = calloc(C * width, sizeof *x);
    real *to = l->pre ? l->pre : l->out;
    if (!x)
        return ORR_FAIL(ORR_ENOMEM, "a layer of %d inputs: out of memory", l->C);
    for (size_t first = 0; first < N; first += width) {
        const size_t rows = N - first < width ? N - first : width;
        for (size_t i = 0; i < rows; i++)
            for (size_t c = 0; c < C; c++)
                x[c * width + i] = (double)l->inp[(first + i) * C + c];
        if (width == FEW)
            multiply(l, rows, FEW, x, to + first * OC);
        else
            multiply(l, rows, MANY, x, to + first * OC);
    }
    free(x);
    for (size_t i = 0; l->pre && i < n; i++) /* GELU, as in kernels/ref/ref.c */
        l->out[i] = (real)((double)l->pre[i] * (0.5 * erfc(-(double)l->pre[i] / sqrt(2))));
    for (size_t i = 0; l->residual && i < n; i++)
        l->out[i] += l->residual[i];
    return 0;
}

bool k_cpu_usable(void)
{
    return true;
}

const struct k_ops *k_cpu(void)
{
    static struct k_ops ops;
    if (!ops.name) {
        ops = k_ref;
        ops.name = "page";
        ops.linear_forward = linear_forward;
    }
    return &ops;
}
