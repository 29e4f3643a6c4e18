/* update.cu - the optimiser of the CUDA backend: sum of squares, AdamW, running average. */
#include "reduce.h"

#include <math.h>

enum {
    THREADS = 256,
    PIECES = 1056, /* most blocks, and partial sums: 8 on each of 132 multiprocessors */
    PIECE = 4096,  /* elements per block where there are fewer blocks */
};

/* ---- sum of squares, in double: several blocks, then one block that adds their sums. The
 * number of blocks depends on n, and the order of sums on n and the alignment of x alone. */

template <bool WIDE>
static __global__ void __launch_bounds__(THREADS)
    squares_kernel(double *partial, const float *x, size_t n)
{
    __shared__ double shared[K_WARP];
    double sum = 0;
    size_t done = 0;
    if (WIDE) {
        for (size_t i = k_cuda_first(); i < n / 4; i += k_cuda_step()) {
            const float4 v = ((const float4 *)x)[i];
            sum += (double)v.x * (double)v.x + (double)v.y * (double)v.y;
            sum += (double)v.z * (double)v.z + (double)v.w * (double)v.w;
        }
        done = n / 4 * 4;
    }
    for (size_t i = done + k_cuda_first(); i < n; i += k_cuda_step())
        sum += (double)x[i] * (double)x[i];
    sum = k_cuda_block_sum(sum, shared);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
}

static __global__ void __launch_bounds__(THREADS)
    squares_total_kernel(double *result, const double *partial, int pieces)
{
    __shared__ double shared[K_WARP];
    double sum = 0;
    for (int i = (int)threadIdx.x; i < pieces; i += THREADS)
        sum += partial[i];
    sum = k_cuda_block_sum(sum, shared);
    if (threadIdx.x == 0)
        *result = sum;
}

static int cuda_sum_squares(double *sum, const float *x, size_t n)
{
    const size_t wanted = n / PIECE + 1;
    const int pieces = (int)(wanted < (size_t)PIECES ? wanted : (size_t)PIECES);
    void *memory;
    double *result;
    TRY(k_cuda_result(sum, &result));
    TRY(k_cuda_scratch(K_CUDA_SLOT_PARTIAL, (size_t)pieces * sizeof(double), &memory));
    double *partial = (double *)memory;
    if (k_cuda_aligned(x))
        TRY(K_LAUNCH(squares_kernel<true>, pieces, THREADS, 0, partial, x, n));
    else
        TRY(K_LAUNCH(squares_kernel<false>, pieces, THREADS, 0, partial, x, n));
    return K_LAUNCH(squares_total_kernel, 1, THREADS, 0, result, (const double *)partial, pieces);
}

/* ---- AdamW. Values that are common to all elements are computed here, in double. */

struct adamw {
    float beta1, rest1, beta2, rest2, eps, grad_scale;
    float rate; /* lr / (1 - beta1^step) */
    float root; /* 1 / sqrt(1 - beta2^step) */
    int count;  /* number of ranges */
    size_t end[K_DECAYS];
    /* 1 - lr weight_decay of each range, which starts where the range before it ends */
    float keep[K_DECAYS];
};

/* `keep` of the range that element i is in. Neighbours are nearly always in one range, so that a
 * warp rarely diverges. */
static __device__ __forceinline__ float keep_of(const struct adamw &k, size_t i)
{
    int low = 0, high = k.count - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (i < k.end[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return k.keep[low];
}

static __device__ __forceinline__ void adamw_of(float *param, float grad, float *m, float *v,
                                                const struct adamw &k, float keep)
{
    const float g = grad * k.grad_scale;
    *m = k.beta1 * *m + k.rest1 * g;
    *v = k.beta2 * *v + k.rest2 * (g * g);
    *param = *param * keep - k.rate * *m / (sqrtf(*v) * k.root + k.eps);
}

/* WIDE: range ends are multiples of four. */
template <bool WIDE>
static __global__ void __launch_bounds__(THREADS, 4) /* other bounds spill a register */
    adamw_kernel(float *param, const float *grad, float *m, float *v, size_t n,
                 const struct adamw k)
{
    size_t done = 0;
    if (WIDE) {
        for (size_t i = k_cuda_first(); i < n / 4; i += k_cuda_step()) {
            const float keep = keep_of(k, 4 * i);
            const float4 g = ((const float4 *)grad)[i];
            float4 p = ((float4 *)param)[i], a = ((float4 *)m)[i], b = ((float4 *)v)[i];
            adamw_of(&p.x, g.x, &a.x, &b.x, k, keep);
            adamw_of(&p.y, g.y, &a.y, &b.y, k, keep);
            adamw_of(&p.z, g.z, &a.z, &b.z, k, keep);
            adamw_of(&p.w, g.w, &a.w, &b.w, k, keep);
            ((float4 *)param)[i] = p;
            ((float4 *)m)[i] = a;
            ((float4 *)v)[i] = b;
        }
        done = n / 4 * 4;
    }
    for (size_t i = done + k_cuda_first(); i < n; i += k_cuda_step())
        adamw_of(param + i, grad[i], m + i, v + i, k, keep_of(k, i));
}

static int cuda_adamw(float *param, const float *grad, float *m, float *v, size_t n,
                      const struct k_adamw *k)
{
    const struct k_decay all = {n, k->weight_decay}, *decays = k->decays ? k->decays : &all;
    struct adamw a = {
        (float)k->beta1,
        (float)(1 - k->beta1),
        (float)k->beta2,
        (float)(1 - k->beta2),
        (float)k->eps,
        (float)k->grad_scale,
        (float)(k->lr / (1 - pow(k->beta1, (double)k->step))),
        (float)(1 / sqrt(1 - pow(k->beta2, (double)k->step))),
        k->decays ? k->count : 1,
        {},
        {},
    };
    bool wide =
        k_cuda_aligned(param) && k_cuda_aligned(grad) && k_cuda_aligned(m) && k_cuda_aligned(v);
    if (n == 0)
        return 0;
    for (int i = 0; i < a.count; i++) {
        a.end[i] = decays[i].end;
        a.keep[i] = (float)(1 - k->lr * decays[i].weight_decay);
        wide = wide && (i + 1 == a.count || a.end[i] % 4 == 0);
    }
    if (wide)
        return K_LAUNCH(adamw_kernel<true>, k_cuda_blocks((n + 3) / 4, THREADS), THREADS, 0, param,
                        grad, m, v, n, a);
    return K_LAUNCH(adamw_kernel<false>, k_cuda_blocks(n, THREADS), THREADS, 0, param, grad, m, v,
                    n, a);
}

/* ---- running average of parameters */

template <bool WIDE>
static __global__ void __launch_bounds__(THREADS)
    average_kernel(float *average, const float *x, size_t n, float keep, float take)
{
    size_t done = 0;
    if (WIDE) {
        for (size_t i = k_cuda_first(); i < n / 4; i += k_cuda_step()) {
            const float4 a = ((float4 *)average)[i], b = ((const float4 *)x)[i];
            ((float4 *)average)[i] = make_float4(keep * a.x + take * b.x, keep * a.y + take * b.y,
                                                 keep * a.z + take * b.z, keep * a.w + take * b.w);
        }
        done = n / 4 * 4;
    }
    for (size_t i = done + k_cuda_first(); i < n; i += k_cuda_step())
        average[i] = keep * average[i] + take * x[i];
}

static int cuda_average(float *average, const float *x, size_t n, double decay)
{
    const float keep = (float)decay, take = (float)(1 - decay);
    if (n == 0)
        return 0;
    if (k_cuda_aligned(average) && k_cuda_aligned(x))
        return K_LAUNCH(average_kernel<true>, k_cuda_blocks((n + 3) / 4, THREADS), THREADS, 0,
                        average, x, n, keep, take);
    return K_LAUNCH(average_kernel<false>, k_cuda_blocks(n, THREADS), THREADS, 0, average, x, n,
                    keep, take);
}

void k_cuda_install_update(struct k_ops *ops)
{
    ops->sum_squares = cuda_sum_squares;
    ops->adamw = cuda_adamw;
    ops->average = cuda_average;
}
