/* staged_ops.c - see staged_ops.h: one function for each entry, all of the same pattern. */
#include "staged_ops.h"

#include <string.h>

#include "base/base.h"
#include "kernels/host_memory.h"
#include "staged.h"

#define SIZE(a, b) ((size_t)(a) * (size_t)(b))

/* ---- linear layers */

static int linear_forward(const struct k_linear *l)
{
    struct stage s = stage_begin();
    struct k_linear on = *l;
    const size_t NO = SIZE(l->N, l->OC);
    const int io = stage_out(&s, l->out, NO), ip = stage_out(&s, l->pre, NO);
    const int ii = stage_in(&s, l->inp, SIZE(l->N, l->C)),
              iw = stage_in(&s, l->w, SIZE(l->OC, l->C));
    const int ib = stage_in(&s, l->b, SIZE(l->OC, 1)), ir = stage_in(&s, l->residual, NO);
    while (stage_next(&s)) {
        on.out = stage_at(&s, io);
        on.pre = stage_at(&s, ip);
        on.inp = stage_at(&s, ii);
        on.w = stage_at(&s, iw);
        on.b = stage_at(&s, ib);
        on.residual = stage_at(&s, ir);
        s.code = s.ops->linear_forward(&on);
    }
    return stage_end(&s);
}

static int linear_backward(const struct k_linear *l)
{
    struct stage s = stage_begin();
    struct k_linear on = *l;
    const size_t NC = SIZE(l->N, l->C), CO = SIZE(l->OC, l->C);
    const int idi = stage_out(&s, l->dinp, NC), idw = stage_out(&s, l->dw, CO);
    const int idb = stage_out(&s, l->db, SIZE(l->OC, 1));
    const int ido = stage_in(&s, l->dout, SIZE(l->N, l->OC)), ii = stage_in(&s, l->inp, NC);
    const int iw = stage_in(&s, l->w, CO), ip = stage_in(&s, l->inp_pre, NC);
    while (stage_next(&s)) {
        on.dinp = stage_at(&s, idi);
        on.dw = stage_at(&s, idw);
        on.db = stage_at(&s, idb);
        on.dout = stage_at(&s, ido);
        on.inp = stage_at(&s, ii);
        on.w = stage_at(&s, iw);
        on.inp_pre = stage_at(&s, ip);
        s.code = s.ops->linear_backward(&on);
    }
    return stage_end(&s);
}

/* ---- element-wise and rows */

static int gelu_backward(real *dpre, const real *dout, const real *pre, size_t n)
{
    struct stage s = stage_begin();
    const int idp = stage_out(&s, dpre, n), ido = stage_in(&s, dout, n), ip = stage_in(&s, pre, n);
    while (stage_next(&s))
        s.code = s.ops->gelu_backward(stage_at(&s, idp), stage_at(&s, ido), stage_at(&s, ip), n);
    return stage_end(&s);
}

static int add_arrays(real *o, const real *a, const real *b, size_t n)
{
    struct stage s = stage_begin();
    const int io = stage_out(&s, o, n), ia = stage_in(&s, a, n), ib = stage_in(&s, b, n);
    while (stage_next(&s))
        s.code = s.ops->add(stage_at(&s, io), stage_at(&s, ia), stage_at(&s, ib), n);
    return stage_end(&s);
}

static int scale(real *x, double factor, size_t n)
{
    struct stage s = stage_begin();
    const int ix = stage_out(&s, x, n);
    while (stage_next(&s))
        s.code = s.ops->scale(stage_at(&s, ix), factor, n);
    return stage_end(&s);
}

static int layernorm_forward(const struct k_layernorm *l)
{
    struct stage s = stage_begin();
    struct k_layernorm on = *l;
    const size_t N = SIZE(l->N, 1), C = SIZE(l->C, 1);
    const int io = stage_out(&s, l->out, N * C), im = stage_out(&s, l->mean, N);
    const int ir = stage_out(&s, l->rstd, N), ix = stage_in(&s, l->x, N * C);
    const int ig = stage_in(&s, l->gamma, C), ib = stage_in(&s, l->beta, C);
    while (stage_next(&s)) {
        on.out = stage_at(&s, io);
        on.mean = stage_at(&s, im);
        on.rstd = stage_at(&s, ir);
        on.x = stage_at(&s, ix);
        on.gamma = stage_at(&s, ig);
        on.beta = stage_at(&s, ib);
        s.code = s.ops->layernorm_forward(&on);
    }
    return stage_end(&s);
}

static int layernorm_backward(const struct k_layernorm *l)
{
    struct stage s = stage_begin();
    struct k_layernorm on = *l;
    const size_t N = SIZE(l->N, 1), C = SIZE(l->C, 1);
    const int idx = stage_out(&s, l->dx, N * C), idg = stage_out(&s, l->dgamma, C);
    const int idb = stage_out(&s, l->dbeta, C), ido = stage_in(&s, l->dout, N * C);
    const int ix = stage_in(&s, l->x, N * C), im = stage_in(&s, l->mean, N);
    const int ir = stage_in(&s, l->rstd, N), ig = stage_in(&s, l->gamma, C);
    while (stage_next(&s)) {
        on.dx = stage_at(&s, idx);
        on.dgamma = stage_at(&s, idg);
        on.dbeta = stage_at(&s, idb);
        on.dout = stage_at(&s, ido);
        on.x = stage_at(&s, ix);
        on.mean = stage_at(&s, im);
        on.rstd = stage_at(&s, ir);
        on.gamma = stage_at(&s, ig);
        s.code = s.ops->layernorm_backward(&on);
    }
    return stage_end(&s);
}

static int position_forward(real *x, const real *table, int N, int T, int C)
{
    struct stage s = stage_begin();
    const int ix = stage_out(&s, x, SIZE(N, C)), it = stage_in(&s, table, SIZE(T, C));
    while (stage_next(&s))
        s.code = s.ops->position_forward(stage_at(&s, ix), stage_at(&s, it), N, T, C);
    return stage_end(&s);
}

static int position_backward(real *dtable, const real *dx, int N, int T, int C)
{
    struct stage s = stage_begin();
    const int it = stage_out(&s, dtable, SIZE(T, C)), ix = stage_in(&s, dx, SIZE(N, C));
    while (stage_next(&s))
        s.code = s.ops->position_backward(stage_at(&s, it), stage_at(&s, ix), N, T, C);
    return stage_end(&s);
}

/* Elements of (N, stride) from an array that may begin within the first row. */
static size_t strided(int N, int stride)
{
    return N ? SIZE(N - 1, stride) + 1 : 0;
}

static int embed_forward(const struct k_embedding *e)
{
    struct stage s = stage_begin();
    struct k_embedding on = *e;
    const int io = stage_out(&s, e->out, SIZE(e->N, e->stride));
    const int it = stage_in(&s, e->table, SIZE(e->V, e->C));
    const int ik = stage_tokens(&s, e->token, strided(e->N, e->token_stride));
    while (stage_next(&s)) {
        on.out = stage_at(&s, io);
        on.table = stage_at(&s, it);
        on.token = stage_at(&s, ik);
        s.code = s.ops->embed_forward(&on);
    }
    return stage_end(&s);
}

static int embed_backward(const struct k_embedding *e)
{
    struct stage s = stage_begin();
    struct k_embedding on = *e;
    const int it = stage_out(&s, e->dtable, SIZE(e->V, e->C));
    const int ido = stage_in(&s, e->dout, SIZE(e->N, e->stride));
    const int ik = stage_tokens(&s, e->token, strided(e->N, e->token_stride));
    while (stage_next(&s)) {
        on.dtable = stage_at(&s, it);
        on.dout = stage_at(&s, ido);
        on.token = stage_at(&s, ik);
        s.code = s.ops->embed_backward(&on);
    }
    return stage_end(&s);
}

/* ---- attention */

static size_t heads(const struct k_attention_shape *z)
{
    return SIZE(z->B, z->T) * SIZE(z->H, z->D);
}

static int attend(bool generic, real *o, real *row_stats, const real *qkv,
                  const struct k_attention_shape *shape)
{
    struct stage s = stage_begin();
    const int io = stage_out(&s, o, heads(shape)),
              is = stage_out(&s, row_stats, k_attention_row_stats(NULL, shape));
    const int iq = stage_in(&s, qkv, 3 * heads(shape));
    while (stage_next(&s))
        s.code = (generic ? s.ops->attention_generic_forward : s.ops->attention_forward)(
            stage_at(&s, io), stage_at(&s, is), stage_at(&s, iq), shape);
    return stage_end(&s);
}

static int attend_back(bool generic, real *dqkv, const real *dout, const real *o,
                       const real *row_stats, const real *qkv,
                       const struct k_attention_shape *shape)
{
    struct stage s = stage_begin();
    const int id = stage_out(&s, dqkv, 3 * heads(shape)), ido = stage_in(&s, dout, heads(shape));
    const int io = stage_in(&s, o, heads(shape)),
              is = stage_in(&s, row_stats, k_attention_row_stats(NULL, shape));
    const int iq = stage_in(&s, qkv, 3 * heads(shape));
    while (stage_next(&s))
        s.code = (generic ? s.ops->attention_generic_backward : s.ops->attention_backward)(
            stage_at(&s, id), stage_at(&s, ido), stage_at(&s, io), stage_at(&s, is),
            stage_at(&s, iq), shape);
    return stage_end(&s);
}

static int attention_forward(real *o, real *row_stats, const real *qkv,
                             const struct k_attention_shape *shape)
{
    return attend(false, o, row_stats, qkv, shape);
}

static int attention_generic_forward(real *o, real *row_stats, const real *qkv,
                                     const struct k_attention_shape *shape)
{
    return attend(true, o, row_stats, qkv, shape);
}

static int attention_backward(real *dqkv, const real *dout, const real *o, const real *row_stats,
                              const real *qkv, const struct k_attention_shape *shape)
{
    return attend_back(false, dqkv, dout, o, row_stats, qkv, shape);
}

static int attention_generic_backward(real *dqkv, const real *dout, const real *o,
                                      const real *row_stats, const real *qkv,
                                      const struct k_attention_shape *shape)
{
    return attend_back(true, dqkv, dout, o, row_stats, qkv, shape);
}

static int attention_degenerate(long *rows, const real *row_stats,
                                const struct k_attention_shape *shape)
{
    struct stage s = stage_begin();
    const int is = stage_in(&s, row_stats, k_attention_row_stats(NULL, shape));
    while (stage_next(&s))
        s.code = s.ops->attention_degenerate(&s.rows, stage_at(&s, is), shape);
    *rows = s.first_rows;
    return stage_end(&s);
}

static int gate_forward(const struct k_gating *g)
{
    struct stage s = stage_begin();
    struct k_gating on = *g;
    const int io = stage_out(&s, g->out, g->n), iy = stage_in(&s, g->y, g->n);
    const int ip = stage_in(&s, g->pre, g->n);
    while (stage_next(&s)) {
        on.out = stage_at(&s, io);
        on.y = stage_at(&s, iy);
        on.pre = stage_at(&s, ip);
        s.code = s.ops->gate_forward(&on);
    }
    return stage_end(&s);
}

static int gate_backward(const struct k_gating *g)
{
    struct stage s = stage_begin();
    struct k_gating on = *g;
    const int idy = stage_out(&s, g->dy, g->n), idp = stage_out(&s, g->dpre, g->n);
    const int ido = stage_in(&s, g->dout, g->n), iy = stage_in(&s, g->y, g->n);
    const int ip = stage_in(&s, g->pre, g->n);
    while (stage_next(&s)) {
        on.dy = stage_at(&s, idy);
        on.dpre = stage_at(&s, idp);
        on.dout = stage_at(&s, ido);
        on.y = stage_at(&s, iy);
        on.pre = stage_at(&s, ip);
        s.code = s.ops->gate_backward(&on);
    }
    return stage_end(&s);
}

static int rope(real *qkv, const struct k_rope *r)
{
    struct stage s = stage_begin();
    const int iq = stage_out(&s, qkv, 3 * SIZE(r->B, r->T) * SIZE(r->H, r->D));
    while (stage_next(&s))
        s.code = s.ops->rope(stage_at(&s, iq), r);
    return stage_end(&s);
}

/* ---- losses and optimiser */

static int cross_entropy(double *loss, const struct k_cross_entropy *e)
{
    struct stage s = stage_begin();
    struct k_cross_entropy on = *e;
    const int id = stage_out(&s, e->dlogits, SIZE(e->N, e->stride));
    const int il = stage_in(&s, e->logits, SIZE(e->N, e->stride));
    const int it = stage_tokens(&s, e->target, strided(e->N, e->target_stride));
    const int iw = stage_in(&s, e->weight, SIZE(e->N, 1));
    while (stage_next(&s)) {
        on.dlogits = stage_at(&s, id);
        on.logits = stage_at(&s, il);
        on.target = stage_at(&s, it);
        on.weight = stage_at(&s, iw);
        s.code = s.ops->cross_entropy(&s.number, &on);
    }
    *loss = s.first_number;
    return stage_end(&s);
}

static int head_cross_entropy(double *loss, const struct k_token_head *h)
{
    struct stage s = stage_begin();
    struct k_token_head on = *h;
    const size_t NC = SIZE(h->N, h->C), W = SIZE(h->channels, h->V) * (size_t)h->C;
    const int idi = stage_out(&s, h->dinp, NC), idw = stage_out(&s, h->dw, W);
    const int ii = stage_in(&s, h->inp, NC), iw = stage_in(&s, h->w, W);
    const int it = stage_tokens(&s, h->target, SIZE(h->N, h->channels));
    const int iv = stage_in(&s, h->weight, SIZE(h->N, 1));
    while (stage_next(&s)) {
        on.dinp = stage_at(&s, idi);
        on.dw = stage_at(&s, idw);
        on.inp = stage_at(&s, ii);
        on.w = stage_at(&s, iw);
        on.target = stage_at(&s, it);
        on.weight = stage_at(&s, iv);
        s.code = s.ops->head_cross_entropy(&s.number, &on);
    }
    *loss = s.first_number;
    return stage_end(&s);
}

static int regression(double *loss, const struct k_regression *r)
{
    struct stage s = stage_begin();
    struct k_regression on = *r;
    const size_t NC = SIZE(r->N, r->C);
    const int id = stage_out(&s, r->dpred, NC), ip = stage_in(&s, r->pred, NC);
    const int it = stage_in(&s, r->target, NC), iw = stage_in(&s, r->weight, SIZE(r->N, 1));
    while (stage_next(&s)) {
        on.dpred = stage_at(&s, id);
        on.pred = stage_at(&s, ip);
        on.target = stage_at(&s, it);
        on.weight = stage_at(&s, iw);
        s.code = s.ops->regression(&s.number, &on);
    }
    *loss = s.first_number;
    return stage_end(&s);
}

static int sum_squares(double *sum, const real *x, size_t n)
{
    struct stage s = stage_begin();
    const int ix = stage_in(&s, x, n);
    while (stage_next(&s))
        s.code = s.ops->sum_squares(&s.number, stage_at(&s, ix), n);
    *sum = s.first_number;
    return stage_end(&s);
}

static int adamw(real *param, const real *grad, real *m, real *v, size_t n, const struct k_adamw *k)
{
    struct stage s = stage_begin();
    const int ip = stage_out(&s, param, n), ig = stage_in(&s, grad, n), im = stage_out(&s, m, n),
              iv = stage_out(&s, v, n);
    while (stage_next(&s))
        s.code = s.ops->adamw(stage_at(&s, ip), stage_at(&s, ig), stage_at(&s, im),
                              stage_at(&s, iv), n, k);
    return stage_end(&s);
}

static int muon(real *param, real *update, const struct k_muon *k)
{
    struct stage s = stage_begin();
    const size_t n = k->count ? k->at[k->count - 1] + SIZE(k->rows, k->cols) : 0;
    const int ip = stage_out(&s, param, n), iu = stage_out(&s, update, n);
    while (stage_next(&s))
        s.code = s.ops->muon(stage_at(&s, ip), stage_at(&s, iu), k);
    return stage_end(&s);
}

static int average(real *a, const real *x, size_t n, double decay)
{
    struct stage s = stage_begin();
    const int ia = stage_out(&s, a, n), ix = stage_in(&s, x, n);
    while (stage_next(&s))
        s.code = s.ops->average(stage_at(&s, ia), stage_at(&s, ix), n, decay);
    return stage_end(&s);
}

/* ---- the table */

static int staged_open(int threads, enum k_precision precision)
{
    return stage_backend() ? stage_backend()->open(threads, precision) : ORR_EDEVICE;
}

static void staged_close(void)
{
    if (stage_backend())
        stage_backend()->close();
}

static int staged_peak(double *gflops)
{
    return stage_backend()->peak(gflops);
}

const struct k_ops k_staged = {
    .name = "cuda",
    .open = staged_open,
    .close = staged_close,
    .peak = staged_peak,
    .host = true,
    .alloc = k_host_alloc,
    .release = k_host_release,
    .zero = k_host_zero,
    .copy = k_host_copy,
    .upload = k_host_copy,
    .download = k_host_copy,
    .wait = k_host_wait,
    .linear_forward = linear_forward,
    .linear_backward = linear_backward,
    .gelu_backward = gelu_backward,
    .add = add_arrays,
    .scale = scale,
    .layernorm_forward = layernorm_forward,
    .layernorm_backward = layernorm_backward,
    .position_forward = position_forward,
    .position_backward = position_backward,
    .embed_forward = embed_forward,
    .embed_backward = embed_backward,
    .attention_forward = attention_forward,
    .attention_backward = attention_backward,
    .attention_generic_forward = attention_generic_forward,
    .attention_generic_backward = attention_generic_backward,
    .attention_degenerate = attention_degenerate,
    .gate_forward = gate_forward,
    .gate_backward = gate_backward,
    .rope = rope,
    .cross_entropy = cross_entropy,
    .head_cross_entropy = head_cross_entropy,
    .regression = regression,
    .sum_squares = sum_squares,
    .adamw = adamw,
    .muon = muon,
    .average = average,
};

const struct k_ops *const *k_staged_backends(void)
{
    static const struct k_ops *const all[] = {&k_ref, &k_staged, NULL};
    return all;
}

int k_staged_find(const char *name, const struct k_ops **ops)
{
    if (strcmp(name, "cpu") && strcmp(name, "cuda") && strcmp(name, "auto"))
        return k_find(name, ops);
    *ops = &k_staged;
    return 0;
}
