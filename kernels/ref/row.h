/* row.h - private to the reference backend: one row of attention weights, forward and backward. */
#ifndef K_REF_ROW_H
#define K_REF_ROW_H

#include "kernels/kernels.h"

/* Row i of one head: scores s (bias included), x = phi(s), a = norm(x), A = a after transform or
 * re-weighting. Arithmetic is double in both builds. */
struct k_ref_row {
    int n;                     /* attended keys */
    double *s, *x, *a, *z, *A; /* (T) each, the first n in use; z: the row before the last norm */
    double *d;                 /* (T) gradient, transformed in place from dA to ds */
    double x_sum, z_largest, z_sum;
    bool degenerate;
};

/* Computes x, a, z and A from n and s. */
void k_ref_row_forward(struct k_ref_row *r, const struct k_attention_shape *shape);
/* Replaces dA by ds in d. */
void k_ref_row_backward(struct k_ref_row *r, const struct k_attention_shape *shape);

#endif
