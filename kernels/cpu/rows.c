/* rows.c - element-wise operations and operations on rows: GELU, sums, layer norm, positions,
 * embedding, RoPE. */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "cpu.h"
#include "vec.h"

enum {
    BLOCK = 8192, /* elements a worker takes at a time */
    ROWS = 32,    /* rows a worker takes at a time */
    GROUPS = 16,  /* partial sums of layer-norm parameter gradients */
};

/* ---- GELU, exact form: x Phi(x) */

void k_cpu_gelu_piece(float *out, const float *pre, size_t n)
{
    size_t i = 0;
    cpu_vec density;
    for (; i + CPU_LANES <= n; i += CPU_LANES) {
        const cpu_vec x = cpu_load(pre + i);
        cpu_store(out + i, x * cpu_normal_cdf(x, &density));
    }
    if (i < n) {
        const cpu_vec x = cpu_load_first(pre + i, (int)(n - i));
        cpu_store_first(out + i, x * cpu_normal_cdf(x, &density), (int)(n - i));
    }
}

/* d/dx x Phi(x) = Phi(x) + x phi(x) */
void k_cpu_gelu_backward_piece(float *dpre, const float *dout, const float *pre, size_t n)
{
    size_t i = 0;
    cpu_vec density;
    for (; i + CPU_LANES <= n; i += CPU_LANES) {
        const cpu_vec x = cpu_load(pre + i), cdf = cpu_normal_cdf(x, &density);
        cpu_store(dpre + i, cpu_load(dout + i) * cpu_fma(x, density, cdf));
    }
    if (i < n) {
        const int k = (int)(n - i);
        const cpu_vec x = cpu_load_first(pre + i, k), cdf = cpu_normal_cdf(x, &density);
        cpu_store_first(dpre + i, cpu_load_first(dout + i, k) * cpu_fma(x, density, cdf), k);
    }
}

static int cpu_gelu_backward(float *dpre, const float *dout, const float *pre, size_t n)
{
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (n > BLOCK)
    for (size_t at = 0; at < n; at += BLOCK)
        k_cpu_gelu_backward_piece(dpre + at, dout + at, pre + at, n - at < BLOCK ? n - at : BLOCK);
    return 0;
}

static int cpu_add(float *out, const float *a, const float *b, size_t n)
{
#pragma omp parallel for simd schedule(static) num_threads(k_cpu_threads()) if (n > BLOCK)
    for (size_t i = 0; i < n; i++)
        out[i] = a[i] + b[i];
    return 0;
}

/* ---- layer norm */

/* Sum over a row of x, or of (x - mean)^2 when `squares`. */
static float row_sum(const float *x, int C, float mean, bool squares)
{
    cpu_vec s = {0};
    const cpu_vec m = cpu_set(mean);
    int c = 0;
    for (; c + CPU_LANES <= C; c += CPU_LANES) {
        const cpu_vec v = cpu_load(x + c) - m;
        s = squares ? cpu_fma(v, v, s) : s + v;
    }
    float rest = 0;
    for (; c < C; c++)
        rest += squares ? (x[c] - mean) * (x[c] - mean) : x[c] - mean;
    return cpu_sum(s) + rest;
}

static int cpu_layernorm_forward(const struct k_layernorm *l)
{
    const float *gamma = l->gamma, *beta = l->beta;
    const int C = l->C;
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (l->N > ROWS)
    for (int n = 0; n < l->N; n++) {
        const float *row = l->x + (size_t)n * (size_t)C;
        float *to = l->out + (size_t)n * (size_t)C;
        const float m = row_sum(row, C, 0.0f, false) / (float)C;
        const float variance = row_sum(row, C, m, true) / (float)C;
        const float r = 1.0f / sqrtf(variance + 1e-5f);
#pragma omp simd
        for (int c = 0; c < C; c++)
            to[c] = (row[c] - m) * r * gamma[c] + beta[c];
        l->mean[n] = m;
        l->rstd[n] = r;
    }
    return 0;
}

/* Row n: with h = (x - mean) rstd and g = dout gamma,
 * dx += rstd (g - mean(g) - h mean(g h)); dgamma += dout h; dbeta += dout. */
static void layernorm_backward_row(const struct k_layernorm *l, size_t n, float *dgamma,
                                   float *dbeta)
{
    const int C = l->C;
    const float *dout = l->dout + n * (size_t)C, *x = l->x + n * (size_t)C, *gamma = l->gamma;
    const float mean = l->mean[n], rstd = l->rstd[n];
    float *dx = l->dx + n * (size_t)C;
    const cpu_vec m = cpu_set(mean), r = cpu_set(rstd);
    cpu_vec sum_g = {0}, sum_gh = {0};
    float rest_g = 0, rest_gh = 0;
    int c = 0;
    for (; c + CPU_LANES <= C; c += CPU_LANES) {
        const cpu_vec d = cpu_load(dout + c), h = (cpu_load(x + c) - m) * r;
        const cpu_vec g = d * cpu_load(gamma + c);
        sum_g += g;
        sum_gh = cpu_fma(g, h, sum_gh);
        cpu_store(dgamma + c, cpu_fma(d, h, cpu_load(dgamma + c)));
        cpu_store(dbeta + c, cpu_load(dbeta + c) + d);
    }
    for (; c < C; c++) {
        const float h = (x[c] - mean) * rstd, g = dout[c] * gamma[c];
        rest_g += g;
        rest_gh += g * h;
        dgamma[c] += dout[c] * h;
        dbeta[c] += dout[c];
    }
    const float mean_g = (cpu_sum(sum_g) + rest_g) / (float)C;
    const float mean_gh = (cpu_sum(sum_gh) + rest_gh) / (float)C;
#pragma omp simd
    for (int i = 0; i < C; i++)
        dx[i] += rstd * (dout[i] * gamma[i] - mean_g - (x[i] - mean) * rstd * mean_gh);
}

static int cpu_layernorm_backward(const struct k_layernorm *l)
{
    const size_t width = k_cpu_lines((size_t)l->C * sizeof(float)) / sizeof(float);
    TRY(k_cpu_scratch_reserve(2 * GROUPS * width * sizeof(float), 0));
    float *parts = k_cpu_scratch_shared();
    memset(parts, 0, 2 * GROUPS * width * sizeof(float));
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (l->N > ROWS)
    for (int g = 0; g < GROUPS; g++) {
        float *dg = parts + 2 * (size_t)g * width, *db = dg + width;
        const int end = (int)((long)(g + 1) * l->N / GROUPS);
        for (int n = (int)((long)g * l->N / GROUPS); n < end; n++)
            layernorm_backward_row(l, (size_t)n, dg, db);
    }
    for (size_t g = 0; g < GROUPS; g++) {
        for (int c = 0; c < l->C; c++) {
            l->dgamma[c] += parts[2 * g * width + (size_t)c];
            l->dbeta[c] += parts[(2 * g + 1) * width + (size_t)c];
        }
    }
    return 0;
}

/* ---- positions and embedding */

static int cpu_position_forward(float *x, const float *table, int N, int T, int C)
{
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (N > ROWS)
    for (int n = 0; n < N; n++) {
        float *row = x + (size_t)n * (size_t)C;
        const float *add = table + (size_t)(n % T) * (size_t)C;
#pragma omp simd
        for (int c = 0; c < C; c++)
            row[c] += add[c];
    }
    return 0;
}

static int cpu_position_backward(float *dtable, const float *dx, int N, int T, int C)
{
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (N > ROWS)
    for (int t = 0; t < T; t++) {
        float *to = dtable + (size_t)t * (size_t)C;
        for (int n = t; n < N; n += T) {
            const float *row = dx + (size_t)n * (size_t)C;
#pragma omp simd
            for (int c = 0; c < C; c++)
                to[c] += row[c];
        }
    }
    return 0;
}

static int cpu_embed_forward(const struct k_embedding *e)
{
    int outside = 0;
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (e->N > ROWS)            \
    reduction(|                                                                                    \
              : outside)
    for (int n = 0; n < e->N; n++) {
        const int t = e->token[(size_t)n * (size_t)e->token_stride];
        if (t >= e->V)
            outside |= 1;
        else
            memcpy(e->out + (size_t)n * (size_t)e->stride + e->at,
                   e->table + (size_t)t * (size_t)e->C, (size_t)e->C * sizeof *e->out);
    }
    if (outside)
        return ORR_FAIL(ORR_EINVAL, "embedding: a token is not below the vocabulary size %d", e->V);
    return 0;
}

/* Rows of one token may be anywhere in the batch. Each worker therefore adds all rows, in order,
 * to its own columns. */
static int cpu_embed_backward(const struct k_embedding *e)
{
    for (int n = 0; n < e->N; n++)
        if (e->token[(size_t)n * (size_t)e->token_stride] >= e->V)
            return ORR_FAIL(ORR_EINVAL, "embedding: token %d is not below the vocabulary size %d",
                            e->token[(size_t)n * (size_t)e->token_stride], e->V);
    enum { COLUMNS = 16 };
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (e->N > ROWS)
    for (int first = 0; first < e->C; first += COLUMNS) {
        const int end = first + COLUMNS < e->C ? first + COLUMNS : e->C;
        for (int n = 0; n < e->N; n++) {
            const size_t t = e->token[(size_t)n * (size_t)e->token_stride];
            const float *from = e->dout + (size_t)n * (size_t)e->stride + e->at;
            float *to = e->dtable + t * (size_t)e->C;
#pragma omp simd
            for (int c = first; c < end; c++)
                to[c] += from[c];
        }
    }
    return 0;
}

/* ---- RoPE */

static int cpu_rope(float *qkv, const struct k_rope *r)
{
    const int T = r->T, H = r->H, D = r->D, rows = r->B * T, half = D / 2;
    const size_t count = (size_t)T * (size_t)half;
    TRY(k_cpu_scratch_reserve(2 * count * sizeof(float), 0));
    float *cosines = k_cpu_scratch_shared(), *sines = cosines + count;
    for (int m = 0; m < half; m++) {
        const double frequency = pow(r->base, -2.0 * m / D);
        for (int t = 0; t < T; t++) {
            const double angle = (t + r->offset) * frequency;
            cosines[(size_t)t * (size_t)half + (size_t)m] = (float)cos(angle);
            sines[(size_t)t * (size_t)half + (size_t)m] =
                (float)(r->inverse ? -sin(angle) : sin(angle));
        }
    }
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (rows > ROWS)
    for (int n = 0; n < rows; n++) {
        const float *c = cosines + (size_t)(n % T) * (size_t)half;
        const float *s = sines + (size_t)(n % T) * (size_t)half;
        for (int head = 0; head < 2 * H; head++) { /* q, then k */
            float *a = qkv + ((size_t)n * 3 * (size_t)H + (size_t)head) * (size_t)D, *b = a + half;
#pragma omp simd
            for (int m = 0; m < half; m++) {
                const float x = a[m], y = b[m];
                a[m] = x * c[m] - y * s[m];
                b[m] = x * s[m] + y * c[m];
            }
        }
    }
    return 0;
}

void k_cpu_install_rows(struct k_ops *ops)
{
    ops->gelu_backward = cpu_gelu_backward;
    ops->add = cpu_add;
    ops->layernorm_forward = cpu_layernorm_forward;
    ops->layernorm_backward = cpu_layernorm_backward;
    ops->position_forward = cpu_position_forward;
    ops->position_backward = cpu_position_backward;
    ops->embed_forward = cpu_embed_forward;
    ops->embed_backward = cpu_embed_backward;
    ops->rope = cpu_rope;
}
