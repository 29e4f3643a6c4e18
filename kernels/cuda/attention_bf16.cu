/* attention_bf16.cu - generic attention for bf16 tensors: inputs are widened to float in scratch
 * memory, results are rounded. Fused attention reads and writes bf16 tensors itself. */
#include "attention.cuh"
#include "load_store.h"

enum { WIDEN_THREADS = 256, TENSORS = 5 };

static __global__ void __launch_bounds__(WIDEN_THREADS)
    k_widen(float *__restrict__ out, const __nv_bfloat16 *__restrict__ x, size_t n)
{
    for (size_t i = k_cuda_first(); i < n; i += k_cuda_step())
        out[i] = k_cuda_get(x + i);
}

/* *copy = the next float tensor of n numbers in `memory`, with the numbers of bf16 unless that
 * is NULL. */
static int widen_tensor(float **memory, float **copy, const void *bf16, size_t n)
{
    *copy = *memory;
    *memory += (n + 15) / 16 * 16;
    if (!bf16)
        return 0;
    return K_LAUNCH(k_widen, k_cuda_blocks(n, WIDEN_THREADS), WIDEN_THREADS, 0, *copy,
                    (const __nv_bfloat16 *)bf16, n);
}

static size_t count_elements(const struct k_attention_shape *shape)
{
    return (size_t)shape->B * (size_t)shape->T * (size_t)shape->H * (size_t)shape->D;
}

/* Scratch memory for `units` tensors as large as out. */
static int take_scratch(float **memory, size_t units, size_t n)
{
    void *m;
    const int rc =
        k_cuda_scratch(K_CUDA_SLOT_WIDENED, (units * n + TENSORS * 16) * sizeof(float), &m);
    *memory = rc ? NULL : (float *)m;
    return rc;
}

int k_cuda_widened_forward(k_cuda_attention_forward *run, float *out, float *row_stats,
                           const float *qkv, const struct k_attention_shape *shape)
{
    const size_t n = count_elements(shape);
    struct k_attention_shape as_float = *shape;
    float *memory, *q, *o;
    as_float.bf16 = false;
    TRY(take_scratch(&memory, 4, n));
    TRY(widen_tensor(&memory, &q, qkv, 3 * n));
    TRY(widen_tensor(&memory, &o, NULL, n));
    TRY(run(o, row_stats, q, &as_float));
    return k_cuda_to_bf16(out, o, n);
}

int k_cuda_widened_backward(k_cuda_attention_backward *run, float *dqkv, const float *dout,
                            const float *out, const float *row_stats, const float *qkv,
                            const struct k_attention_shape *shape)
{
    const size_t n = count_elements(shape);
    struct k_attention_shape as_float = *shape;
    float *memory, *q, *o, *d, *dq;
    as_float.bf16 = false;
    TRY(take_scratch(&memory, 8, n));
    TRY(widen_tensor(&memory, &q, qkv, 3 * n));
    TRY(widen_tensor(&memory, &o, out, n));
    TRY(widen_tensor(&memory, &d, dout, n));
    TRY(widen_tensor(&memory, &dq, NULL, 3 * n));
    TRY(run(dq, d, o, row_stats, q, &as_float));
    return k_cuda_to_bf16(dqkv, dq, 3 * n);
}
