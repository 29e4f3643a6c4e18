/* ref.h - private to the reference backend: entries of its table (ref.c) that other files have. */
#ifndef K_REF_H
#define K_REF_H

#include "kernels/kernels.h"

int k_ref_attention_forward(real *out, real *saved, const real *qkv,
                            const struct k_attention_shape *shape);
int k_ref_attention_backward(real *dqkv, const real *dout, const real *out, const real *saved,
                             const real *qkv, const struct k_attention_shape *shape);
int k_ref_rope(real *qkv, int B, int T, int H, int D, double base, int offset, bool inverse);

int k_ref_cross_entropy(double *loss, real *dlogits, const real *logits, int stride, int at,
                        const uint16_t *target, int target_stride, const real *weight, int N,
                        int V);
int k_ref_regression(double *loss, real *dpred, const real *pred, const real *target,
                     const real *weight, int N, int C, double delta);
int k_ref_sum_squares(double *sum, const real *x, size_t n);
int k_ref_adamw(real *param, const real *grad, real *m, real *v, size_t n, const struct k_adamw *k);
int k_ref_average(real *average, const real *x, size_t n, double decay);

#endif
