/* update.c - the optimiser: gradient norm, AdamW, running average of parameters. */
#include <math.h>

#include "base/base.h"
#include "cpu.h"

enum { BLOCK = 8192 };

/* Sums fixed-size blocks in double, then adds the blocks in order. */
static int cpu_sum_squares(double *sum, const float *x, size_t n)
{
    const size_t blocks = (n + BLOCK - 1) / BLOCK;
    TRY(k_cpu_scratch_reserve(blocks * sizeof(double), 0));
    double *parts = k_cpu_scratch_shared();
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (blocks > 1)
    for (size_t b = 0; b < blocks; b++) {
        const size_t end = (b + 1) * BLOCK < n ? (b + 1) * BLOCK : n;
        double s = 0;
#pragma omp simd reduction(+ : s)
        for (size_t i = b * BLOCK; i < end; i++)
            s += (double)x[i] * (double)x[i];
        parts[b] = s;
    }
    *sum = 0;
    for (size_t b = 0; b < blocks; b++)
        *sum += parts[b];
    return 0;
}

static void adamw_range(float *param, const float *grad, float *m, float *v, size_t n,
                        const struct k_adamw *k, double weight_decay)
{
    const float b1 = (float)k->beta1, b2 = (float)k->beta2;
    const float a1 = (float)(1 - k->beta1), a2 = (float)(1 - k->beta2);
    const float scale = (float)k->grad_scale, eps = (float)k->eps;
    const float step = (float)(k->lr / (1 - pow(k->beta1, (double)k->step)));
    const float root = (float)(1 / sqrt(1 - pow(k->beta2, (double)k->step)));
    const float keep = (float)(1 - k->lr * weight_decay);
#pragma omp parallel for simd schedule(static) num_threads(k_cpu_threads()) if (n > BLOCK)
    for (size_t i = 0; i < n; i++) {
        const float g = grad[i] * scale;
        const float m1 = b1 * m[i] + a1 * g, v1 = b2 * v[i] + a2 * (g * g);
        m[i] = m1;
        v[i] = v1;
        param[i] = param[i] * keep - step * m1 / (sqrtf(v1) * root + eps);
    }
}

static int cpu_adamw(float *param, const float *grad, float *m, float *v, size_t n,
                     const struct k_adamw *k)
{
    const struct k_decay all = {n, k->weight_decay};
    const struct k_decay *decay = k->decays ? k->decays : &all;
    for (size_t from = 0; from < n; from = decay++->end)
        adamw_range(param + from, grad + from, m + from, v + from, decay->end - from, k,
                    decay->weight_decay);
    return 0;
}

static int cpu_average(float *average, const float *x, size_t n, double decay)
{
    const float keep = (float)decay, take = (float)(1 - decay);
#pragma omp parallel for simd schedule(static) num_threads(k_cpu_threads()) if (n > BLOCK)
    for (size_t i = 0; i < n; i++)
        average[i] = keep * average[i] + take * x[i];
    return 0;
}

void k_cpu_install_update(struct k_ops *ops)
{
    ops->sum_squares = cpu_sum_squares;
    ops->adamw = cpu_adamw;
    ops->average = cpu_average;
}
