/* ref.h - private to the reference backend: entries of its table (ref.c) that are defined in
 * other files. */
#ifndef K_REF_H
#define K_REF_H

#include "kernels/kernels.h"

int k_ref_attention_forward(real *out, real *row_stats, const real *qkv,
                            const struct k_attention_shape *shape);
int k_ref_attention_backward(real *dqkv, const real *dout, const real *out, const real *row_stats,
                             const real *qkv, const struct k_attention_shape *shape);
int k_ref_rope(real *qkv, const struct k_rope *rotation);

int k_ref_cross_entropy(double *loss, const struct k_cross_entropy *e);
int k_ref_regression(double *loss, const struct k_regression *r);
int k_ref_sum_squares(double *sum, const real *x, size_t n);
int k_ref_adamw(real *param, const real *grad, real *m, real *v, size_t n, const struct k_adamw *k);
int k_ref_muon(real *param, real *update, const struct k_muon *k);
int k_ref_average(real *average, const real *x, size_t n, double decay);

#endif
