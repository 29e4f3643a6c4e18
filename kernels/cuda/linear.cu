/* linear.cu - linear layers: matrix products, and the steps that cuBLASLt's epilogues do not
 * offer.
 *
 * out (N, OC) = inp (N, C) W^T: W is (OC, C), so B is transposed. dinp = dout W is not
 * transposed. dW += dout^T inp has A transposed. Biases and residuals are added within the
 * product, GELU is not (gelu.cu).
 *
 * Operands that are bf16 are used directly. Where products are in bf16 and the gradient of the
 * output is float, it is rounded once for both products, in the pass that sums its columns
 * (columns.cu). */
#include "matmul.h"

static enum k_precision precision_of(const struct k_linear *l)
{
    return l->fp32_only ? K_PRECISION_FP32 : k_cuda_precision();
}

/* The tensor as a bf16 pointer where it is bf16, else NULL. */
static const __nv_bfloat16 *bf16_of(const float *tensor, bool bf16)
{
    return bf16 ? (const __nv_bfloat16 *)(const void *)tensor : NULL;
}

static __nv_bfloat16 *bf16_of(float *tensor, bool bf16)
{
    return bf16 ? (__nv_bfloat16 *)(void *)tensor : NULL;
}

static void take_weights(const struct k_linear *l, struct k_cuda_matmul *m)
{
    m->b = l->w;
    m->b_bf16 = l->fp32_only ? NULL : (const __nv_bfloat16 *)l->w_bf16;
    m->b_stride = l->C;
    m->precision = precision_of(l);
}

/* ---- forward */

static int cuda_linear_forward(const struct k_linear *l)
{
    struct k_cuda_matmul m = {};
    float *const out = l->pre ? l->pre : l->out;
    m.M = l->N, m.N = l->OC, m.K = l->C;
    m.a = l->inp, m.a_bf16 = bf16_of(l->inp, l->inp_bf16), m.a_stride = l->C;
    take_weights(l, &m);
    m.b_transposed = true;
    m.add = l->residual;
    m.bias = l->b, m.bias_bf16 = (const __nv_bfloat16 *)l->b_bf16;
    m.out = out, m.out_bf16 = bf16_of(out, l->out_bf16);
    TRY(k_cuda_matmul(&m));
    if (!l->pre)
        return 0;
    return k_cuda_gelu_forward(l->out, l->pre, l->out_bf16, (size_t)l->N * (size_t)l->OC);
}

/* ---- backward */

/* Puts dout in bf16 into a->x and adds the bias gradient; a->x stays NULL where products are not
 * in bf16. */
static int take_dout(const struct k_linear *l, struct k_cuda_operand *a)
{
    struct k_cuda_columns c = {};
    c.rows = l->N, c.columns = l->OC;
    c.x = l->dout;
    c.bf16 = l->out_bf16;
    c.sums = l->db;
    a->x = bf16_of(l->dout, l->out_bf16);
    a->stride = l->OC;
    if (!a->x && (precision_of(l) == K_PRECISION_BF16 || l->inp_bf16)) {
        void *memory;
        a->stride = k_cuda_round_stride(l->OC);
        TRY(k_cuda_scratch(K_CUDA_SLOT_LINEAR,
                           (size_t)l->N * (size_t)a->stride * sizeof(__nv_bfloat16), &memory));
        a->x = c.copy = (__nv_bfloat16 *)memory;
    }
    return c.sums || c.copy ? k_cuda_columns(&c) : 0;
}

/* dw += dout^T inp */
static int weight_gradient(const struct k_linear *l, const struct k_cuda_operand *dout)
{
    struct k_cuda_matmul m = {};
    m.M = l->OC, m.N = l->C, m.K = l->N;
    m.a = l->dout, m.a_bf16 = dout->x, m.a_stride = dout->stride;
    m.a_transposed = true;
    m.b = l->inp, m.b_bf16 = bf16_of(l->inp, l->inp_bf16), m.b_stride = l->C;
    m.add = m.out = l->dw;
    m.precision = precision_of(l);
    return k_cuda_matmul(&m);
}

/* dinp = dout W, times gelu'(inp_pre) where inp is the output of a GELU. */
static int input_gradient(const struct k_linear *l, const struct k_cuda_operand *dout)
{
    struct k_cuda_matmul m = {};
    m.M = l->N, m.N = l->C, m.K = l->OC;
    m.a = l->dout, m.a_bf16 = dout->x, m.a_stride = dout->stride;
    take_weights(l, &m);
    m.out = l->dinp, m.out_bf16 = bf16_of(l->dinp, l->inp_bf16);
    TRY(k_cuda_matmul(&m));
    if (!l->inp_pre)
        return 0;
    struct k_cuda_columns c = {};
    c.rows = l->N, c.columns = l->C;
    c.x = c.dpre = l->dinp;
    c.pre = l->inp_pre;
    c.bf16 = l->inp_bf16;
    c.sums = l->inp_db;
    return k_cuda_columns(&c);
}

static int cuda_linear_backward(const struct k_linear *l)
{
    struct k_cuda_operand dout;
    TRY(take_dout(l, &dout));
    TRY(weight_gradient(l, &dout));
    return l->dinp ? input_gradient(l, &dout) : 0;
}

void k_cuda_install_linear(struct k_ops *ops)
{
    ops->linear_forward = cuda_linear_forward;
    ops->linear_backward = cuda_linear_backward;
}
