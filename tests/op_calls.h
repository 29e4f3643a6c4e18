/* op_calls.h - operations whose arguments are a struct (kernels.h) as calls with the arguments in a
 * row, for tests that make many of them. */
#ifndef OP_CALLS_H
#define OP_CALLS_H

#include "kernels/kernels.h"

static inline int call_linear_forward(const struct k_ops *ops, real *out, const real *inp,
                                      const real *w, const real *b, int N, int C, int OC)
{
    return ops->linear_forward(
        &(struct k_linear){.N = N, .C = C, .OC = OC, .inp = inp, .w = w, .b = b, .out = out});
}

static inline int call_linear_fp32_only_forward(const struct k_ops *ops, real *out, const real *inp,
                                                const real *w, const real *b, int N, int C, int OC)
{
    return ops->linear_forward(&(struct k_linear){
        .N = N, .C = C, .OC = OC, .inp = inp, .w = w, .fp32_only = true, .b = b, .out = out});
}

static inline int call_linear_gelu_forward(const struct k_ops *ops, real *out, real *pre,
                                           const real *inp, const real *w, const real *b, int N,
                                           int C, int OC)
{
    return ops->linear_forward(&(struct k_linear){
        .N = N, .C = C, .OC = OC, .inp = inp, .w = w, .b = b, .out = out, .pre = pre});
}

static inline int call_linear_residual_forward(const struct k_ops *ops, real *out, const real *inp,
                                               const real *w, const real *b, const real *residual,
                                               int N, int C, int OC)
{
    return ops->linear_forward(&(struct k_linear){
        .N = N, .C = C, .OC = OC, .inp = inp, .w = w, .b = b, .out = out, .residual = residual});
}

/* The gradients that every backward pass makes. */
static inline struct k_linear linear_gradients(real *dinp, real *dw, real *db, const real *dout,
                                               const real *inp, const real *w, int N, int C, int OC)
{
    return (struct k_linear){.N = N,
                             .C = C,
                             .OC = OC,
                             .inp = inp,
                             .w = w,
                             .dout = dout,
                             .dinp = dinp,
                             .dw = dw,
                             .db = db};
}

static inline int call_linear_backward(const struct k_ops *ops, real *dinp, real *dw, real *db,
                                       const real *dout, const real *inp, const real *w, int N,
                                       int C, int OC)
{
    const struct k_linear l = linear_gradients(dinp, dw, db, dout, inp, w, N, C, OC);
    return ops->linear_backward(&l);
}

static inline int call_linear_fp32_only_backward(const struct k_ops *ops, real *dinp, real *dw,
                                                 real *db, const real *dout, const real *inp,
                                                 const real *w, int N, int C, int OC)
{
    struct k_linear l = linear_gradients(dinp, dw, db, dout, inp, w, N, C, OC);
    l.fp32_only = true;
    return ops->linear_backward(&l);
}

/* dpre: the gradient by pre, of which inp = gelu(pre). */
static inline int call_linear_gelu_backward(const struct k_ops *ops, real *dpre, real *dw, real *db,
                                            const real *dout, const real *inp, const real *w,
                                            const real *pre, int N, int C, int OC)
{
    struct k_linear l = linear_gradients(dpre, dw, db, dout, inp, w, N, C, OC);
    l.inp_pre = pre;
    return ops->linear_backward(&l);
}

static inline int call_layernorm_forward(const struct k_ops *ops, real *out, real *mean, real *rstd,
                                         const real *x, const real *gamma, const real *beta, int N,
                                         int C)
{
    return ops->layernorm_forward(&(struct k_layernorm){.N = N,
                                                        .C = C,
                                                        .x = x,
                                                        .gamma = gamma,
                                                        .beta = beta,
                                                        .mean = mean,
                                                        .rstd = rstd,
                                                        .out = out});
}

static inline int call_layernorm_backward(const struct k_ops *ops, real *dx, real *dgamma,
                                          real *dbeta, const real *dout, const real *x, real *mean,
                                          real *rstd, const real *gamma, int N, int C)
{
    return ops->layernorm_backward(&(struct k_layernorm){.N = N,
                                                         .C = C,
                                                         .x = x,
                                                         .gamma = gamma,
                                                         .mean = mean,
                                                         .rstd = rstd,
                                                         .dout = dout,
                                                         .dx = dx,
                                                         .dgamma = dgamma,
                                                         .dbeta = dbeta});
}

static inline int call_embed_forward(const struct k_ops *ops, real *out, int stride, int at,
                                     const real *table, const uint16_t *token, int token_stride,
                                     int N, int V, int C)
{
    return ops->embed_forward(&(struct k_embedding){.N = N,
                                                    .V = V,
                                                    .C = C,
                                                    .token = token,
                                                    .token_stride = token_stride,
                                                    .stride = stride,
                                                    .at = at,
                                                    .table = table,
                                                    .out = out});
}

static inline int call_embed_backward(const struct k_ops *ops, real *dtable, const real *dout,
                                      int stride, int at, const uint16_t *token, int token_stride,
                                      int N, int V, int C)
{
    return ops->embed_backward(&(struct k_embedding){.N = N,
                                                     .V = V,
                                                     .C = C,
                                                     .token = token,
                                                     .token_stride = token_stride,
                                                     .stride = stride,
                                                     .at = at,
                                                     .dout = dout,
                                                     .dtable = dtable});
}

static inline int call_rope(const struct k_ops *ops, real *qkv, int B, int T, int H, int D,
                            double base, int offset, bool inverse)
{
    return ops->rope(qkv, &(struct k_rope){B, T, H, D, base, offset, inverse});
}

static inline int call_gate_forward(const struct k_ops *ops, real *out, const real *y,
                                    const real *pre, enum k_gate act, size_t n)
{
    return ops->gate_forward(
        &(struct k_gating){.act = act, .n = n, .y = y, .pre = pre, .out = out});
}

static inline int call_gate_backward(const struct k_ops *ops, real *dy, real *dpre,
                                     const real *dout, const real *y, const real *pre,
                                     enum k_gate act, size_t n)
{
    return ops->gate_backward(&(struct k_gating){
        .act = act, .n = n, .y = y, .pre = pre, .dout = dout, .dy = dy, .dpre = dpre});
}

static inline int call_cross_entropy(const struct k_ops *ops, double *loss, real *dlogits,
                                     const real *logits, int stride, int at, const uint16_t *target,
                                     int target_stride, const real *weight, int N, int V)
{
    return ops->cross_entropy(loss, &(struct k_cross_entropy){.N = N,
                                                              .V = V,
                                                              .logits = logits,
                                                              .stride = stride,
                                                              .at = at,
                                                              .target = target,
                                                              .target_stride = target_stride,
                                                              .weight = weight,
                                                              .dlogits = dlogits});
}

static inline int call_head_cross_entropy(const struct k_ops *ops, double *loss, real *dinp,
                                          real *dw, const real *inp, const real *w,
                                          const uint16_t *target, const real *weight, int N, int C,
                                          int V, int channels)
{
    return ops->head_cross_entropy(loss, &(struct k_token_head){.N = N,
                                                                .C = C,
                                                                .V = V,
                                                                .channels = channels,
                                                                .inp = inp,
                                                                .w = w,
                                                                .target = target,
                                                                .weight = weight,
                                                                .dinp = dinp,
                                                                .dw = dw});
}

static inline int call_regression(const struct k_ops *ops, double *loss, real *dpred,
                                  const real *pred, const real *target, const real *weight, int N,
                                  int C, double delta)
{
    return ops->regression(loss, &(struct k_regression){.N = N,
                                                        .C = C,
                                                        .delta = delta,
                                                        .pred = pred,
                                                        .target = target,
                                                        .weight = weight,
                                                        .dpred = dpred});
}

#endif
