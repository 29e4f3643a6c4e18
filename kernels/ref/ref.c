/* ref.c - the reference backend: every operation as its formula, one loop after another.
 * The specification of all other backends; slow on purpose. */
#include "ref.h"
#include "kernels/host_memory.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"

static int ref_open(int threads, enum k_precision precision)
{
    (void)threads;
    (void)precision;
    return 0;
}

static void ref_close(void)
{
}

/* out (N, OC) = inp W^T + b */
static void multiply_rows(real *out, const real *inp, const real *w, const real *b, int N, int C,
                          int OC)
{
    for (size_t n = 0; n < (size_t)N; n++)
        for (size_t o = 0; o < (size_t)OC; o++) {
            double sum = b ? (double)b[o] : 0;
            for (size_t c = 0; c < (size_t)C; c++)
                sum += (double)inp[n * (size_t)C + c] * (double)w[o * (size_t)C + c];
            out[n * (size_t)OC + o] = (real)sum;
        }
}

static int ref_peak(double *gflops)
{
    enum { N = 48, LOOKS = 8 };
    real *x = orr_alloc((size_t)N * N, sizeof *x), *out = orr_alloc((size_t)N * N, sizeof *out);
    double best_s = HUGE_VAL;
    for (int look = 0; x && out && look < LOOKS; look++) {
        const double start = orr_time_s();
        multiply_rows(out, x, x, NULL, N, N, N);
        best_s = fmin(best_s, fmax(orr_time_s() - start, 1e-9));
    }
    *gflops = 1e-9 * (2.0 * N * N * N) / best_s;
    const int rc = x && out ? 0 : ORR_ENOMEM;
    free(x);
    free(out);
    return rc;
}

/* gelu(x) = x Phi(x); gelu'(x) = Phi(x) + x phi(x). Hendrycks & Gimpel 2016. */
static double normal_cdf(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

static int ref_linear_forward(const struct k_linear *l)
{
    const size_t n = (size_t)l->N * (size_t)l->OC;
    multiply_rows(l->pre ? l->pre : l->out, l->inp, l->w, l->b, l->N, l->C, l->OC);
    for (size_t i = 0; l->pre && i < n; i++)
        l->out[i] = (real)((double)l->pre[i] * normal_cdf((double)l->pre[i]));
    for (size_t i = 0; l->residual && i < n; i++)
        l->out[i] += l->residual[i];
    return 0;
}

static int ref_gelu_backward(real *dpre, const real *dout, const real *pre, size_t n)
{
    const double peak = 0.39894228040143267794; /* 1 / sqrt(2 pi) */
    for (size_t i = 0; i < n; i++) {
        const double x = (double)pre[i];
        const double slope = normal_cdf(x) + x * peak * exp(-0.5 * x * x);
        dpre[i] = (real)((double)dout[i] * slope);
    }
    return 0;
}

static int ref_linear_backward(const struct k_linear *l)
{
    const size_t N = (size_t)l->N, C = (size_t)l->C, OC = (size_t)l->OC;
    for (size_t n = 0; l->dinp && n < N; n++)
        for (size_t c = 0; c < C; c++) {
            double sum = 0;
            for (size_t o = 0; o < OC; o++)
                sum += (double)l->dout[n * OC + o] * (double)l->w[o * C + c];
            l->dinp[n * C + c] = (real)sum;
        }
    for (size_t o = 0; o < OC; o++) {
        for (size_t c = 0; c < C; c++) {
            double sum = 0;
            for (size_t n = 0; n < N; n++)
                sum += (double)l->dout[n * OC + o] * (double)l->inp[n * C + c];
            l->dw[o * C + c] = (real)((double)l->dw[o * C + c] + sum);
        }
        double sum = 0;
        for (size_t n = 0; n < N; n++)
            sum += (double)l->dout[n * OC + o];
        if (l->db)
            l->db[o] = (real)((double)l->db[o] + sum);
    }
    return l->dinp && l->inp_pre ? ref_gelu_backward(l->dinp, l->dinp, l->inp_pre, N * C) : 0;
}

/* linear_forward, cross_entropy and linear_backward, one after another. */
static int ref_head_cross_entropy(double *loss, const struct k_token_head *h)
{
    const int OC = h->V * h->channels;
    real *logits = orr_alloc((size_t)h->N * (size_t)OC, sizeof *logits);
    if (!logits)
        return ORR_ENOMEM;
    multiply_rows(logits, h->inp, h->w, NULL, h->N, h->C, OC);
    *loss = 0;
    for (int c = 0; c < h->channels; c++) {
        double mean;
        k_ref_cross_entropy(&mean, &(struct k_cross_entropy){.N = h->N,
                                                             .V = h->V,
                                                             .logits = logits,
                                                             .stride = OC,
                                                             .at = c * h->V,
                                                             .target = h->target + c,
                                                             .target_stride = h->channels,
                                                             .weight = h->weight,
                                                             .dlogits = logits});
        *loss += mean / h->channels;
    }
    for (size_t i = 0; i < (size_t)h->N * (size_t)OC; i++)
        logits[i] = (real)((double)logits[i] / h->channels);
    const int rc = ref_linear_backward(&(struct k_linear){.N = h->N,
                                                          .C = h->C,
                                                          .OC = OC,
                                                          .inp = h->inp,
                                                          .w = h->w,
                                                          .dout = logits,
                                                          .dinp = h->dinp,
                                                          .dw = h->dw});
    free(logits);
    return rc;
}

static double gate_value(enum k_gate act, double x)
{
    if (act == K_GATE_SOFTPLUS)
        return fmax(x, 0) + log1p(exp(-fabs(x)));
    return act == K_GATE_SIGMOID ? 1 / (1 + exp(-x)) : 1;
}

static double gate_slope(enum k_gate act, double x)
{
    const double y = 1 / (1 + exp(-x));
    if (act == K_GATE_SOFTPLUS)
        return y;
    return act == K_GATE_SIGMOID ? y * (1 - y) : 0;
}

static int ref_gate_forward(const struct k_gating *g)
{
    for (size_t i = 0; i < g->n; i++)
        g->out[i] = (real)((double)g->y[i] * gate_value(g->act, (double)g->pre[i]));
    return 0;
}

static int ref_gate_backward(const struct k_gating *g)
{
    for (size_t i = 0; i < g->n; i++) {
        const double x = (double)g->pre[i], d = (double)g->dout[i];
        g->dpre[i] = (real)(d * (double)g->y[i] * gate_slope(g->act, x));
        g->dy[i] = (real)(d * gate_value(g->act, x));
    }
    return 0;
}

static int ref_attention_degenerate(long *rows, const real *row_stats,
                                    const struct k_attention_shape *shape)
{
    *rows = 0;
    for (long n = (long)shape->B * shape->H * shape->T; n > 0; n--)
        *rows += *row_stats++ == 0;
    return 0;
}

static int ref_add(real *out, const real *a, const real *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = a[i] + b[i];
    return 0;
}

static int ref_scale(real *x, double factor, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (real)((double)x[i] * factor);
    return 0;
}

static int ref_layernorm_forward(const struct k_layernorm *l)
{
    const double epsilon = 1e-5;
    for (size_t n = 0; n < (size_t)l->N; n++) {
        const real *row = l->x + n * (size_t)l->C;
        double sum = 0, squares = 0;
        for (int c = 0; c < l->C; c++)
            sum += (double)row[c];
        const double m = sum / l->C;
        for (int c = 0; c < l->C; c++)
            squares += ((double)row[c] - m) * ((double)row[c] - m);
        const double r = 1 / sqrt(squares / l->C + epsilon);
        for (int c = 0; c < l->C; c++)
            l->out[n * (size_t)l->C + (size_t)c] =
                (real)(((double)row[c] - m) * r * (double)l->gamma[c] + (double)l->beta[c]);
        l->mean[n] = (real)m;
        l->rstd[n] = (real)r;
    }
    return 0;
}

static int ref_layernorm_backward(const struct k_layernorm *l)
{
    const size_t C = (size_t)l->C;
    for (size_t n = 0; n < (size_t)l->N; n++) {
        const real *dout = l->dout + n * C, *x = l->x + n * C;
        real *dx = l->dx + n * C;
        const double m = (double)l->mean[n], r = (double)l->rstd[n];
        double sum = 0, dot = 0; /* sums of g = dout gamma, and of g times the normalised row */
        for (size_t c = 0; c < C; c++) {
            const double g = (double)dout[c] * (double)l->gamma[c];
            sum += g;
            dot += g * ((double)x[c] - m) * r;
        }
        for (size_t c = 0; c < C; c++) {
            const double d = (double)dout[c], hat = ((double)x[c] - m) * r;
            l->dgamma[c] = (real)((double)l->dgamma[c] + d * hat);
            l->dbeta[c] = (real)((double)l->dbeta[c] + d);
            const double g = d * (double)l->gamma[c] - sum / l->C - hat * dot / l->C;
            dx[c] = (real)((double)dx[c] + r * g);
        }
    }
    return 0;
}

static int ref_position_forward(real *x, const real *table, int N, int T, int C)
{
    for (size_t n = 0; n < (size_t)N; n++)
        for (size_t c = 0; c < (size_t)C; c++)
            x[n * (size_t)C + c] += table[n % (size_t)T * (size_t)C + c];
    return 0;
}

static int ref_position_backward(real *dtable, const real *dx, int N, int T, int C)
{
    for (size_t n = 0; n < (size_t)N; n++)
        for (size_t c = 0; c < (size_t)C; c++)
            dtable[n % (size_t)T * (size_t)C + c] += dx[n * (size_t)C + c];
    return 0;
}

static size_t embedding_row(const struct k_embedding *e, size_t n)
{
    return (size_t)e->token[n * (size_t)e->token_stride] * (size_t)e->C;
}

static int ref_embed_forward(const struct k_embedding *e)
{
    for (size_t n = 0; n < (size_t)e->N; n++)
        for (size_t c = 0; c < (size_t)e->C; c++)
            e->out[n * (size_t)e->stride + (size_t)e->at + c] = e->table[embedding_row(e, n) + c];
    return 0;
}

static int ref_embed_backward(const struct k_embedding *e)
{
    for (size_t n = 0; n < (size_t)e->N; n++)
        for (size_t c = 0; c < (size_t)e->C; c++)
            e->dtable[embedding_row(e, n) + c] +=
                e->dout[n * (size_t)e->stride + (size_t)e->at + c];
    return 0;
}

const struct k_ops k_ref = {
    .name = "ref",
    .open = ref_open,
    .close = ref_close,
    .peak = ref_peak,
    .host = true,
    .alloc = k_host_alloc,
    .release = k_host_release,
    .zero = k_host_zero,
    .copy = k_host_copy,
    .upload = k_host_copy,
    .download = k_host_copy,
    .wait = k_host_wait,
    .linear_forward = ref_linear_forward,
    .linear_backward = ref_linear_backward,
    .gelu_backward = ref_gelu_backward,
    .add = ref_add,
    .scale = ref_scale,
    .layernorm_forward = ref_layernorm_forward,
    .layernorm_backward = ref_layernorm_backward,
    .position_forward = ref_position_forward,
    .position_backward = ref_position_backward,
    .embed_forward = ref_embed_forward,
    .embed_backward = ref_embed_backward,
    .attention_forward = k_ref_attention_forward,
    .attention_backward = k_ref_attention_backward,
    .attention_generic_forward = k_ref_attention_forward,
    .attention_generic_backward = k_ref_attention_backward,
    .attention_degenerate = ref_attention_degenerate,
    .gate_forward = ref_gate_forward,
    .gate_backward = ref_gate_backward,
    .rope = k_ref_rope,
    .cross_entropy = k_ref_cross_entropy,
    .head_cross_entropy = ref_head_cross_entropy,
    .regression = k_ref_regression,
    .sum_squares = k_ref_sum_squares,
    .adamw = k_ref_adamw,
    .muon = k_ref_muon,
    .average = k_ref_average,
};
