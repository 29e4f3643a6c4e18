/* loss.c - losses and the optimiser of the reference backend. */
#include <math.h>

#include "ref.h"

static double sum_weights(const real *weight, int N)
{
    double sum = 0;
    for (int n = 0; n < N; n++)
        sum += weight ? (double)weight[n] : 1;
    return sum;
}

int k_ref_cross_entropy(double *loss, const struct k_cross_entropy *e)
{
    const double total = sum_weights(e->weight, e->N);
    double sum = 0;
    for (int n = 0; n < e->N; n++) {
        const size_t row = (size_t)n * (size_t)e->stride + (size_t)e->at;
        const real *logits = e->logits + row;
        const int answer = e->target[(size_t)n * (size_t)e->target_stride];
        const double share = total > 0 ? (e->weight ? (double)e->weight[n] : 1) / total : 0;
        double largest = (double)logits[0], z = 0;
        for (int v = 1; v < e->V; v++)
            largest = fmax(largest, (double)logits[v]);
        for (int v = 0; v < e->V; v++)
            z += exp((double)logits[v] - largest);
        if (share != 0) /* a row of weight 0 may have no valid target */
            sum += share * (log(z) + largest - (double)logits[answer]);
        for (int v = 0; e->dlogits && v < e->V; v++) {
            const double p = exp((double)logits[v] - largest) / z;
            e->dlogits[row + (size_t)v] = (real)(share * (p - (v == answer ? 1 : 0)));
        }
    }
    *loss = sum;
    return 0;
}

int k_ref_regression(double *loss, const struct k_regression *r)
{
    const double total = sum_weights(r->weight, r->N) * r->C;
    double sum = 0;
    for (int n = 0; n < r->N; n++) {
        const double share = total > 0 ? (r->weight ? (double)r->weight[n] : 1) / total : 0;
        const size_t row = (size_t)n * (size_t)r->C;
        const real *pred = r->pred + row, *target = r->target + row;
        double square = 0;
        /* a row of weight 0 may hold infinity for "no label" */
        for (int c = 0; c < r->C && share != 0; c++) {
            const double difference = (double)pred[c] - (double)target[c];
            square += difference * difference;
        }
        const double root = r->delta > 0 ? sqrt(1 + square / (r->delta * r->delta)) : 1;
        sum += share * square * 2 / (root + 1); /* sqrt(1 + x) - 1 = x / (sqrt(1 + x) + 1) */
        for (int c = 0; c < r->C && r->dpred; c++)
            r->dpred[row + (size_t)c] =
                share != 0 ? (real)(2 * share / root * ((double)pred[c] - (double)target[c])) : 0;
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
