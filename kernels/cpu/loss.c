/* loss.c - losses and their gradients: row losses in double, added over blocks in order. */
#include <math.h>

#include "base/base.h"
#include "cpu.h"
#include "vec.h"

enum { ROWS = 32 }; /* of a block */

/* Sum of the weights of N rows, in order. */
static double weight_sum(const float *weight, int N)
{
    if (!weight)
        return N;
    double sum = 0;
    for (int n = 0; n < N; n++)
        sum += (double)weight[n];
    return sum;
}

static float row_maximum(const float *x, int V)
{
    cpu_vec m = cpu_set(x[0]);
    int i = 0;
    for (; i + CPU_LANES <= V; i += CPU_LANES)
        m = cpu_max(m, cpu_load(x + i));
    float largest = cpu_maximum(m);
    for (; i < V; i++)
        largest = x[i] > largest ? x[i] : largest;
    return largest;
}

/* Sum of e^(x - shift); the terms are kept in e unless it is NULL. */
static float row_exp_sum(float *e, const float *x, float shift, int V)
{
    const cpu_vec s = cpu_set(shift);
    cpu_vec sum = {0};
    int i = 0;
    for (; i + CPU_LANES <= V; i += CPU_LANES) {
        const cpu_vec y = cpu_exp(cpu_load(x + i) - s);
        sum += y;
        if (e)
            cpu_store(e + i, y);
    }
    float rest = 0;
    if (i < V) {
        float tail[CPU_LANES];
        cpu_store(tail, cpu_exp(cpu_load_first(x + i, V - i) - s));
        for (int k = 0; k < V - i; k++)
            rest += tail[k];
        if (e)
            memcpy(e + i, tail, (size_t)(V - i) * sizeof *e);
    }
    return cpu_sum(sum) + rest;
}

double k_cpu_cross_entropy_row(float *d, const float *x, int target, double weight, float scale,
                               int V)
{
    const double logit = (double)x[target];
    const float largest = row_maximum(x, V);
    const float sum = row_exp_sum(d, x, largest, V);
    if (d) {
        const float factor = scale / sum;
#pragma omp simd
        for (int v = 0; v < V; v++)
            d[v] *= factor;
        d[target] -= scale;
    }
    return weight * (log((double)sum) + (double)largest - logit);
}

static int cpu_cross_entropy(double *loss, float *dlogits, const float *logits, int stride, int at,
                             const uint16_t *target, int target_stride, const float *weight, int N,
                             int V)
{
    for (int n = 0; n < N; n++) /* a row that does not count may have no valid target */
        if (target[(size_t)n * (size_t)target_stride] >= V && (!weight || weight[n] != 0))
            return ORR_FAIL(ORR_EINVAL, "cross entropy: target %d is not below %d classes",
                            target[(size_t)n * (size_t)target_stride], V);
    const int blocks = (N + ROWS - 1) / ROWS;
    const int rc = k_cpu_scratch_reserve((size_t)blocks * sizeof(double), 0);
    if (rc != 0)
        return rc;
    double *parts = k_cpu_scratch_shared();
    const double total = weight_sum(weight, N), inverse = total > 0 ? 1 / total : 0;
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (blocks > 1)
    for (int block = 0; block < blocks; block++) {
        const int end = (block + 1) * ROWS < N ? (block + 1) * ROWS : N;
        double sum = 0;
        for (int n = block * ROWS; n < end; n++) {
            const size_t from = (size_t)n * (size_t)stride + (size_t)at;
            const double w = weight ? (double)weight[n] : 1;
            float *d = dlogits ? dlogits + from : NULL;
            if (w != 0)
                sum += k_cpu_cross_entropy_row(d, logits + from,
                                               target[(size_t)n * (size_t)target_stride], w,
                                               (float)(w * inverse), V);
            else if (d)
                memset(d, 0, (size_t)V * sizeof *d);
        }
        parts[block] = sum;
    }
    double sum = 0;
    for (int block = 0; block < blocks; block++)
        sum += parts[block];
    *loss = sum * inverse;
    return 0;
}

static int cpu_regression(double *loss, float *dpred, const float *pred, const float *target,
                          const float *weight, int N, int C, double delta)
{
    const int blocks = (N + ROWS - 1) / ROWS;
    const int rc = k_cpu_scratch_reserve((size_t)blocks * sizeof(double), 0);
    if (rc != 0)
        return rc;
    double *parts = k_cpu_scratch_shared();
    const double total = weight_sum(weight, N) * C, inverse = total > 0 ? 1 / total : 0;
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (blocks > 1)
    for (int block = 0; block < blocks; block++) {
        const int end = (block + 1) * ROWS < N ? (block + 1) * ROWS : N;
        double sum = 0;
        for (int n = block * ROWS; n < end; n++) {
            const size_t from = (size_t)n * (size_t)C;
            const double w = weight ? (double)weight[n] : 1;
            double square = 0;
            /* rows that do not count may hold anything, infinity included */
            for (int c = 0; c < C && w != 0; c++) {
                const double d = (double)pred[from + (size_t)c] - (double)target[from + (size_t)c];
                square += d * d;
            }
            const double root = delta > 0 ? sqrt(1 + square / (delta * delta)) : 1;
            const double slope = 2 * w * inverse / root;
            for (int c = 0; c < C && dpred; c++) {
                const size_t i = from + (size_t)c;
                dpred[i] = w != 0 ? (float)(slope * ((double)pred[i] - (double)target[i])) : 0;
            }
            sum += w * square * 2 / (root + 1);
        }
        parts[block] = sum;
    }
    double sum = 0;
    for (int block = 0; block < blocks; block++)
        sum += parts[block];
    *loss = sum * inverse;
    return 0;
}

void k_cpu_install_loss(struct k_ops *ops)
{
    ops->cross_entropy = cpu_cross_entropy;
    ops->regression = cpu_regression;
}
