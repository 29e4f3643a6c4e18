/* row.h - private to the reference backend: one row of attention weights, both ways. */
#ifndef K_REF_ROW_H
#define K_REF_ROW_H

#include "kernels/kernels.h"

/* Row i of one head: scores s (bias included), x = phi(s), a = norm(x), A = transform or
 * re-weighting of a. Arithmetic is double in both builds. */
struct k_ref_row {
    int n;                     /* attended keys */
    double *s, *x, *a, *z, *A; /* (T) each, the first n in use; z: the row before the last norm */
    double *d;                 /* (T) gradient, from dA back to ds in place */
    double x_sum, z_largest, z_sum;
    bool degenerate;
};

/* s -> x, a, z, A; n and s are in place. */
void k_ref_row_forward(struct k_ref_row *r, const struct k_attention_shape *shape);
/* d: dA -> ds. */
void k_ref_row_backward(struct k_ref_row *r, const struct k_attention_shape *shape);

#endif
