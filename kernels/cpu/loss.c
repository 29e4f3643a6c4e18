/* loss.c - losses and their gradients: row losses in double, added over blocks in order. */
#include <math.h>

#include "base/base.h"
#include "cpu.h"
#include "vec.h"

enum { ROWS = 32 }; /* rows of a block */

double k_cpu_weight_sum(const float *weight, int N)
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

/* Returns the sum of e^(x - shift); stores the terms in e unless e is NULL. */
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

int k_cpu_check_targets(const uint16_t *target, int stride, int channels, const float *weight,
                        int N, int V)
{
    for (int n = 0; n < N; n++)
        for (int c = 0; c < channels; c++) {
            const uint16_t t = target[(size_t)n * (size_t)stride + (size_t)c];
            /* a row of weight 0 may have no valid target */
            if (t >= V && (!weight || weight[n] != 0))
                return ORR_FAIL(ORR_EINVAL, "cross entropy: target %d is not below %d classes", t,
                                V);
        }
    return 0;
}

/* *loss = the mean over N rows of the losses that row_loss gives, whose weights sum to `total`;
 * inverse: 1 / total. Losses are added in blocks. */
static int mean_of_rows(double *loss, const void *of, int N, double total,
                        double (*row_loss)(const void *of, size_t n, double inverse))
{
    const int blocks = (N + ROWS - 1) / ROWS;
    TRY(k_cpu_scratch_reserve((size_t)blocks * sizeof(double), 0));
    double *parts = k_cpu_scratch_shared();
    const double inverse = total > 0 ? 1 / total : 0;
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (blocks > 1)
    for (int block = 0; block < blocks; block++) {
        const int end = (block + 1) * ROWS < N ? (block + 1) * ROWS : N;
        double sum = 0;
        for (int n = block * ROWS; n < end; n++)
            sum += row_loss(of, (size_t)n, inverse);
        parts[block] = sum;
    }
    double sum = 0;
    for (int block = 0; block < blocks; block++)
        sum += parts[block];
    *loss = sum * inverse;
    return 0;
}

static double entropy_row(const void *of, size_t n, double inverse)
{
    const struct k_cross_entropy *e = of;
    const size_t from = n * (size_t)e->stride + (size_t)e->at;
    const double w = e->weight ? (double)e->weight[n] : 1;
    float *d = e->dlogits ? e->dlogits + from : NULL;
    if (w != 0)
        return k_cpu_cross_entropy_row(d, e->logits + from, e->target[n * (size_t)e->target_stride],
                                       w, (float)(w * inverse), e->V);
    if (d)
        memset(d, 0, (size_t)e->V * sizeof *d);
    return 0;
}

static int cpu_cross_entropy(double *loss, const struct k_cross_entropy *e)
{
    TRY(k_cpu_check_targets(e->target, e->target_stride, 1, e->weight, e->N, e->V));
    return mean_of_rows(loss, e, e->N, k_cpu_weight_sum(e->weight, e->N), entropy_row);
}

static double regression_row(const void *of, size_t n, double inverse)
{
    const struct k_regression *r = of;
    const size_t from = n * (size_t)r->C;
    const float *pred = r->pred + from, *target = r->target + from;
    const double w = r->weight ? (double)r->weight[n] : 1;
    double square = 0;
    /* a row of weight 0 may hold anything, infinity included */
    for (int c = 0; c < r->C && w != 0; c++) {
        const double d = (double)pred[c] - (double)target[c];
        square += d * d;
    }
    const double root = r->delta > 0 ? sqrt(1 + square / (r->delta * r->delta)) : 1;
    const double slope = 2 * w * inverse / root;
    for (int c = 0; c < r->C && r->dpred; c++)
        r->dpred[from + (size_t)c] =
            w != 0 ? (float)(slope * ((double)pred[c] - (double)target[c])) : 0;
    return w * square * 2 / (root + 1);
}

static int cpu_regression(double *loss, const struct k_regression *r)
{
    return mean_of_rows(loss, r, r->N, k_cpu_weight_sum(r->weight, r->N) * r->C, regression_row);
}

void k_cpu_install_loss(struct k_ops *ops)
{
    ops->cross_entropy = cpu_cross_entropy;
    ops->regression = cpu_regression;
}
