/* loss.c - losses and the optimiser of the reference backend. */
#include <math.h>

#include "ref.h"

static double weight_sum(const real *weight, int N)
{
    double sum = 0;
    for (int n = 0; n < N; n++)
        sum += weight ? (double)weight[n] : 1;
    return sum;
}

int k_ref_cross_entropy(double *loss, real *dlogits, const real *logits, int stride, int at,
                        const uint16_t *target, int target_stride, const real *weight, int N, int V)
{
    const double total = weight_sum(weight, N);
    double sum = 0;
    for (int n = 0; n < N; n++) {
        const size_t row = (size_t)n * (size_t)stride + (size_t)at;
        const int answer = target[(size_t)n * (size_t)target_stride];
        const double share = total > 0 ? (weight ? (double)weight[n] : 1) / total : 0;
        double largest = (double)logits[row], z = 0;
        for (int v = 1; v < V; v++)
            largest = fmax(largest, (double)logits[row + (size_t)v]);
        for (int v = 0; v < V; v++)
            z += exp((double)logits[row + (size_t)v] - largest);
        if (share != 0) /* a row that does not count may have no valid target */
            sum += share * (log(z) + largest - (double)logits[row + (size_t)answer]);
        for (int v = 0; dlogits && v < V; v++) {
            const double p = exp((double)logits[row + (size_t)v] - largest) / z;
            dlogits[row + (size_t)v] = (real)(share * (p - (v == answer ? 1 : 0)));
        }
    }
    *loss = sum;
    return 0;
}

int k_ref_regression(double *loss, real *dpred, const real *pred, const real *target,
                     const real *weight, int N, int C, double delta)
{
    const double total = weight_sum(weight, N) * C;
    double sum = 0;
    for (int n = 0; n < N; n++) {
        const double share = total > 0 ? (weight ? (double)weight[n] : 1) / total : 0;
        const size_t first = (size_t)n * (size_t)C;
        double square = 0;
        /* a row that does not count may hold infinity for "no label" */
        for (int c = 0; c < C && share != 0; c++) {
            const double difference =
                (double)pred[first + (size_t)c] - (double)target[first + (size_t)c];
            square += difference * difference;
        }
        const double root = delta > 0 ? sqrt(1 + square / (delta * delta)) : 1;
        sum += share * square * 2 / (root + 1); /* sqrt(1 + x) - 1 = x / (sqrt(1 + x) + 1) */
        for (int c = 0; c < C && dpred; c++) {
            const size_t i = first + (size_t)c;
            dpred[i] =
                share != 0 ? (real)(2 * share / root * ((double)pred[i] - (double)target[i])) : 0;
        }
    }
    *loss = sum;
    return 0;
}

int k_ref_sum_squares(double *sum, const real *x, size_t n)
{
    *sum = 0;
    for (size_t i = 0; i < n; i++)
        *sum += (double)x[i] * (double)x[i];
    return 0;
}

int k_ref_adamw(real *param, const real *grad, real *m, real *v, size_t n, const struct k_adamw *k)
{
    const double first = 1 - pow(k->beta1, (double)k->step);
    const double second = 1 - pow(k->beta2, (double)k->step);
    const struct k_decay all = {n, k->weight_decay};
    const struct k_decay *decay = k->decays ? k->decays : &all;
    for (size_t i = 0; i < n; i++) {
        while (i >= decay->end)
            decay++;
        const double g = k->grad_scale * (double)grad[i];
        const double mean = k->beta1 * (double)m[i] + (1 - k->beta1) * g;
        const double square = k->beta2 * (double)v[i] + (1 - k->beta2) * g * g;
        const double step = mean / first / (sqrt(square / second) + k->eps);
        m[i] = (real)mean;
        v[i] = (real)square;
        param[i] =
            (real)((double)param[i] - k->lr * (step + decay->weight_decay * (double)param[i]));
    }
    return 0;
}

int k_ref_average(real *average, const real *x, size_t n, double decay)
{
    for (size_t i = 0; i < n; i++)
        average[i] = (real)(decay * (double)average[i] + (1 - decay) * (double)x[i]);
    return 0;
}
