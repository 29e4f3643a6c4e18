/* linear_calls.h - the forms of a linear layer as calls with arguments in a row, for tests that
 * make many of them; see struct k_linear. */
#ifndef LINEAR_CALLS_H
#define LINEAR_CALLS_H

#include "kernels/kernels.h"

static inline int call_linear_forward(const struct k_ops *ops, real *out, const real *inp,
                                      const real *w, const real *b, int N, int C, int OC)
{
    return ops->linear_forward(
        &(struct k_linear){.N = N, .C = C, .OC = OC, .inp = inp, .w = w, .b = b, .out = out});
}

static inline int call_linear_exact_forward(const struct k_ops *ops, real *out, const real *inp,
                                            const real *w, const real *b, int N, int C, int OC)
{
    return ops->linear_forward(&(struct k_linear){
        .N = N, .C = C, .OC = OC, .inp = inp, .w = w, .exact = true, .b = b, .out = out});
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

static inline int call_linear_exact_backward(const struct k_ops *ops, real *dinp, real *dw,
                                             real *db, const real *dout, const real *inp,
                                             const real *w, int N, int C, int OC)
{
    struct k_linear l = linear_gradients(dinp, dw, db, dout, inp, w, N, C, OC);
    l.exact = true;
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

#endif
