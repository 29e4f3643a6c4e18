/* attention_narrow.cu - attention of narrow tensors by the entries for float ones: the inputs are
 * widened into scratch memory and the results rounded. A stopgap until the kernels of attention
 * take narrow tensors themselves. */
#include "narrow.h"

enum { THREADS = 256, TENSORS = 5 };

static __global__ void __launch_bounds__(THREADS)
    k_widen(float *__restrict__ out, const __nv_bfloat16 *__restrict__ x, size_t n)
{
    for (size_t i = k_cuda_first(); i < n; i += k_cuda_step())
        out[i] = k_cuda_get(x + i);
}

/* The entries for float tensors. */
static struct k_ops wide;

/* *copy = a float tensor in `memory`, of the numbers of a narrow one where there is one. */
static int widen(float **memory, float **copy, const void *narrow, size_t n)
{
    *copy = *memory;
    *memory += (n + 15) / 16 * 16;
    if (!narrow)
        return 0;
    return K_LAUNCH(k_widen, k_cuda_blocks(n, THREADS), THREADS, 0, *copy,
                    (const __nv_bfloat16 *)narrow, n);
}

static size_t elements(const struct k_attention_shape *shape)
{
    return (size_t)shape->B * (size_t)shape->T * (size_t)shape->H * (size_t)shape->D;
}

/* Scratch memory for `units` tensors of the size of out. */
static int scratch(float **memory, size_t units, size_t n)
{
    void *m;
    const int rc =
        k_cuda_scratch(K_CUDA_SLOT_WIDENED, (units * n + TENSORS * 16) * sizeof(float), &m);
    *memory = rc ? NULL : (float *)m;
    return rc;
}

static int forward(bool generic, float *out, float *saved, const float *qkv,
                   const struct k_attention_shape *shape)
{
    int (*const run)(float *, float *, const float *, const struct k_attention_shape *) =
        generic ? wide.attention_generic_forward : wide.attention_forward;
    const size_t n = elements(shape);
    struct k_attention_shape as_float = *shape;
    float *memory, *q, *o;
    if (!shape->narrow)
        return run(out, saved, qkv, shape);
    as_float.narrow = false;
    int rc = scratch(&memory, 4, n);
    if (!rc)
        rc = widen(&memory, &q, qkv, 3 * n);
    if (!rc)
        rc = widen(&memory, &o, NULL, n);
    if (!rc)
        rc = run(o, saved, q, &as_float);
    return rc ? rc : wide.narrow(out, o, n);
}

static int backward(bool generic, float *dqkv, const float *dout, const float *out,
                    const float *saved, const float *qkv, const struct k_attention_shape *shape)
{
    int (*const run)(float *, const float *, const float *, const float *, const float *,
                     const struct k_attention_shape *) =
        generic ? wide.attention_generic_backward : wide.attention_backward;
    const size_t n = elements(shape);
    struct k_attention_shape as_float = *shape;
    float *memory, *q, *o, *d, *dq;
    if (!shape->narrow)
        return run(dqkv, dout, out, saved, qkv, shape);
    as_float.narrow = false;
    int rc = scratch(&memory, 8, n);
    if (!rc)
        rc = widen(&memory, &q, qkv, 3 * n);
    if (!rc)
        rc = widen(&memory, &o, out, n);
    if (!rc)
        rc = widen(&memory, &d, dout, n);
    if (!rc)
        rc = widen(&memory, &dq, NULL, 3 * n);
    if (!rc)
        rc = run(dq, d, o, saved, q, &as_float);
    return rc ? rc : wide.narrow(dqkv, dq, 3 * n);
}

static int narrow_forward(float *out, float *saved, const float *qkv,
                          const struct k_attention_shape *shape)
{
    return forward(false, out, saved, qkv, shape);
}

static int narrow_generic_forward(float *out, float *saved, const float *qkv,
                                  const struct k_attention_shape *shape)
{
    return forward(true, out, saved, qkv, shape);
}

static int narrow_backward(float *dqkv, const float *dout, const float *out, const float *saved,
                           const float *qkv, const struct k_attention_shape *shape)
{
    return backward(false, dqkv, dout, out, saved, qkv, shape);
}

static int narrow_generic_backward(float *dqkv, const float *dout, const float *out,
                                   const float *saved, const float *qkv,
                                   const struct k_attention_shape *shape)
{
    return backward(true, dqkv, dout, out, saved, qkv, shape);
}

void k_cuda_install_attention_narrow(struct k_ops *ops)
{
    wide = *ops;
    ops->attention_forward = narrow_forward;
    ops->attention_backward = narrow_backward;
    ops->attention_generic_forward = narrow_generic_forward;
    ops->attention_generic_backward = narrow_generic_backward;
}
