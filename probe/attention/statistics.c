/* statistics.c - entropy, sink mass, zeros and degenerate rows of attention weights. */
#include "probe/probe.h"

#include <math.h>
#include <stdlib.h>

enum { CHUNK = 64 }; /* rows of weights in memory at a time */

static void add_row(struct probe_sums *sums, const double *A, int i, int n)
{
    const int from = i - n; /* 0-based index of the first attended key */
    double total = 0;
    for (int j = from; j < i; j++)
        total += fabs(A[j]);
    sums->rows++;
    if (total == 0) {
        sums->degenerate++;
        return;
    }
    double entropy = 0;
    for (int j = from; j < i; j++) {
        const double p = fabs(A[j]) / total;
        entropy -= p > 0 ? p * log(p) : 0;
        sums->zeros += A[j] == 0;
    }
    sums->entries += n;
    if (n > 1) {
        sums->entropy_rows++;
        sums->entropy += entropy;
        sums->relative += entropy / log(n);
    }
    if (from == 0 && i > 1) {
        sums->sink_rows++;
        sums->sink += fabs(A[0]) / total;
        sums->sink_uniform += 1.0 / n;
    }
}

void probe_add(struct probe_sums *sums, const double *weights, int T, int first, int rows,
               int window)
{
    for (int r = 0; r < rows; r++) {
        const int i = first + r + 1;
        add_row(sums, weights + (size_t)r * (size_t)T, i, window > 0 && window < i ? window : i);
    }
}

void probe_merge(struct probe_sums *sums, const struct probe_sums *other)
{
    sums->rows += other->rows;
    sums->degenerate += other->degenerate;
    sums->entries += other->entries;
    sums->zeros += other->zeros;
    sums->entropy_rows += other->entropy_rows;
    sums->entropy += other->entropy;
    sums->relative += other->relative;
    sums->sink_rows += other->sink_rows;
    sums->sink += other->sink;
    sums->sink_uniform += other->sink_uniform;
}

static double share_of(double part, long of)
{
    return of > 0 ? part / (double)of : NAN;
}

void probe_mean(const struct probe_sums *sums, struct probe_means *means)
{
    *means = (struct probe_means){
        .entropy_nats = share_of(sums->entropy, sums->entropy_rows),
        .entropy_relative = share_of(sums->relative, sums->entropy_rows),
        .sink = share_of(sums->sink, sums->sink_rows),
        .sink_uniform = share_of(sums->sink_uniform, sums->sink_rows),
        .zeros = share_of((double)sums->zeros, sums->entries),
        .degenerate = share_of((double)sums->degenerate, sums->rows),
    };
}

/* Computes the weights of one head of a layer from its qkv; map (T, T) or NULL. */
static int head_weights(const struct gpt_model *model, int T, int layer, int head, const real *qkv,
                        struct probe_sums *sums, float *map)
{
    const struct k_attention_shape shape = gpt_attention_shape(model, 1, T);
    double *weights = orr_alloc((size_t)CHUNK * (size_t)T, sizeof *weights);
    int rc = weights ? 0 : ORR_ENOMEM;
    for (int first = 0; first < T && !rc; first += CHUNK) {
        const int rows = T - first < CHUNK ? T - first : CHUNK;
        const size_t count = (size_t)rows * (size_t)T;
        rc = k_attention_weights(weights, qkv, &shape, 0, head, first, rows);
        for (size_t k = 0; k < count && !rc; k++)
            if (!isfinite(weights[k]))
                rc = ORR_FAIL(ORR_EDIVERGED,
                              "layer %d, head %d: a weight of row %zu is no finite "
                              "number",
                              layer, head, (size_t)first + k / (size_t)T);
        if (!rc)
            probe_add(sums, weights, T, first, rows, shape.window);
        for (size_t k = 0; k < count && !rc && map; k++)
            map[(size_t)first * (size_t)T + k] = (float)weights[k];
    }
    free(weights);
    return rc;
}

int probe_weights(struct gpt_model *model, int T, struct probe_sums *sums, int map_layer,
                  float *map)
{
    const int layers = model->config.layers, heads = model->config.heads, tasks = layers * heads;
    const size_t page = (size_t)T * (size_t)T;
    int rc = 0, failed = tasks; /* the first task that failed; error messages are per thread */
    const real **qkv = orr_alloc((size_t)layers, sizeof *qkv);
    if (!qkv)
        return ORR_ENOMEM;
    for (int l = 0; l < layers && !rc; l++)
        rc = gpt_layer_qkv(model, l, &qkv[l]);
    const int ready = rc ? 0 : tasks;
#pragma omp parallel for schedule(dynamic) reduction(min : failed)
    for (int k = 0; k < ready; k++) {
        struct probe_sums part = {0};
        float *into = map && k / heads == map_layer ? map + (size_t)(k % heads) * page : NULL;
        if (head_weights(model, T, k / heads, k % heads, qkv[k / heads], &part, into))
            failed = k < failed ? k : failed;
        else
            probe_merge(&sums[k], &part);
    }
    struct probe_sums again = {0}; /* the failed task is repeated here, for its error message */
    if (failed < tasks)
        rc = head_weights(model, T, failed / heads, failed % heads, qkv[failed / heads], &again,
                          NULL);
    if (failed < tasks && !rc) /* memory is available again, but the sums are incomplete */
        rc = ORR_FAIL(ORR_ENOMEM, "layer %d, head %d: out of memory", failed / heads,
                      failed % heads);
    free(qkv);
    return rc;
}
