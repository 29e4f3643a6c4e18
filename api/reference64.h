/* reference64.h - inside api/: attention in double precision. */
#ifndef API_REFERENCE64_H
#define API_REFERENCE64_H

#include "kernels/attention.h"

struct k_attention_shape;
/* As k_ops.attention_forward and attention_backward, in double precision. */
int api_attention64_forward(double *out, double *row_stats, const double *qkv,
                            const struct k_attention_shape *shape);
int api_attention64_backward(double *dqkv, const double *dout, const double *out,
                             const double *row_stats, const double *qkv,
                             const struct k_attention_shape *shape);
/* As k_attention_weights(), in double precision. */
int api_attention64_weights(double *weights, const double *qkv,
                            const struct k_attention_shape *shape, int b, int h, int first,
                            int rows);

#endif
