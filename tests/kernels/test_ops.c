/* test_ops.c - every operation of the cpu backend but attention against the reference: values,
 * what adds and what overwrites, aliasing, absent biases, 1 and 2 threads bit for bit, bf16. */
#include "op_calls.h"
#include "test_data.h"

enum { SEED = 11 };
/* float sums of a few thousand terms, in units of the largest entry */
static const double tight = 2e-5;
/* inputs rounded to 8 bits: 2^-9 each, independent, so well below 1% of the norm */
static const double rounded = 1e-2;

/* Sizes: N rows, C in, OC out (or vocabulary); every path of the linear layers is among them
 * (bf16: C or OC <= 8; one piece, several pieces, left-over rows, all groups). */
struct size {
    int N, C, OC;
};
static const struct size sizes[] = {
    {1, 1, 1},     {37, 24, 1},   {37, 24, 2},    {37, 24, 40},   {37, 7, 40},
    {37, 8, 9},    {300, 24, 8},  {641, 33, 65},  {511, 96, 288}, {2311, 48, 144},
    {2050, 3, 96}, {4096, 96, 2}, {129, 130, 17},
};
enum { SIZES = sizeof sizes / sizeof *sizes };

struct op {
    const char *name;
    void (*run)(const struct k_ops *ops, const struct size *size, struct outputs *o);
};

static void linear(const struct k_ops *ops, const struct size *z, struct outputs *o, bool bias,
                   bool fp32_only)
{
    struct stream s = {SEED, 0};
    const size_t N = (size_t)z->N, C = (size_t)z->C, OC = (size_t)z->OC;
    const real *inp = input(o, &s, N * C, 1), *w = input(o, &s, OC * C, 0.3);
    const real *b = input(o, &s, OC, 1), *dout = input(o, &s, N * OC, 1);
    real *out = output(o, "out", N * OC), *dinp = output(o, "dinp", N * C);
    real *dw = output_added(o, &s, "dw", OC * C), *db = output_added(o, &s, "db", OC);
    if (fp32_only) {
        assert_int_equal(
            call_linear_fp32_only_forward(ops, out, inp, w, bias ? b : NULL, z->N, z->C, z->OC), 0);
        assert_int_equal(call_linear_fp32_only_backward(ops, bias ? dinp : NULL, dw,
                                                        bias ? db : NULL, dout, inp, w, z->N, z->C,
                                                        z->OC),
                         0);
    } else {
        assert_int_equal(call_linear_forward(ops, out, inp, w, bias ? b : NULL, z->N, z->C, z->OC),
                         0);
        assert_int_equal(call_linear_backward(ops, bias ? dinp : NULL, dw, bias ? db : NULL, dout,
                                              inp, w, z->N, z->C, z->OC),
                         0);
    }
    for (size_t i = 0; !bias && i < N * C; i++) { /* skipped: must have been left alone */
        assert_true(isnan(dinp[i]));
        dinp[i] = 0;
    }
}

static void op_linear(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    linear(ops, z, o, true, false);
}

static void op_linear_bare(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    linear(ops, z, o, false, false);
}

static void op_linear_fp32_only(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    linear(ops, z, o, true, true);
}

static void op_linear_fp32_only_bare(const struct k_ops *ops, const struct size *z,
                                     struct outputs *o)
{
    linear(ops, z, o, false, true);
}

static void linear_gelu(const struct k_ops *ops, const struct size *z, struct outputs *o, bool bias)
{
    struct stream s = {SEED, 0};
    const size_t N = (size_t)z->N, C = (size_t)z->C, OC = (size_t)z->OC;
    const real *inp = input(o, &s, N * C, 1), *w = input(o, &s, OC * C, 0.3);
    const real *b = bias ? input(o, &s, OC, 1) : NULL;
    real *out = output(o, "out", N * OC), *pre = output(o, "pre", N * OC);
    assert_int_equal(call_linear_gelu_forward(ops, out, pre, inp, w, b, z->N, z->C, z->OC), 0);
}

static void op_linear_gelu(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    linear_gelu(ops, z, o, true);
}

static void op_linear_gelu_bare(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    linear_gelu(ops, z, o, false);
}

/* The second gradient is written over dout, as the header allows. */
static void op_gelu(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    struct stream s = {SEED, 0};
    const size_t n = (size_t)z->N * (size_t)z->C;
    real *dout = input(o, &s, n, 1), *pre = input(o, &s, n, 3), *dpre = output(o, "dpre", n);
    if (n > 4) { /* tails */
        pre[0] = -40, pre[1] = 40, pre[2] = 0, pre[3] = -6;
    }
    real *over = output(o, "over", n);
    memcpy(over, dout, n * sizeof *over);
    assert_int_equal(ops->gelu_backward(dpre, dout, pre, n), 0);
    assert_int_equal(ops->gelu_backward(over, over, pre, n), 0);
    assert_memory_equal(dpre, over, n * sizeof *over);
}

static void op_add(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    struct stream s = {SEED, 0};
    const size_t n = (size_t)z->N * (size_t)z->C;
    const real *a = input(o, &s, n, 1), *b = input(o, &s, n, 1);
    real *out = output(o, "out", n), *over_a = output(o, "over a", n);
    real *over_b = output(o, "over b", n);
    memcpy(over_a, a, n * sizeof *a);
    memcpy(over_b, b, n * sizeof *b);
    assert_int_equal(ops->add(out, a, b, n), 0);
    assert_int_equal(ops->add(over_a, over_a, b, n), 0);
    assert_int_equal(ops->add(over_b, a, over_b, n), 0);
    assert_memory_equal(out, over_a, n * sizeof *a);
    assert_memory_equal(out, over_b, n * sizeof *a);
    for (size_t i = 0; i < n; i++)
        assert_true(out[i] == a[i] + b[i]);
}

static void op_layernorm(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    struct stream s = {SEED, 0};
    const size_t N = (size_t)z->N, C = (size_t)z->C;
    real *x = input(o, &s, N * C, 2);
    const real *gamma = input(o, &s, C, 1), *beta = input(o, &s, C, 1);
    const real *dout = input(o, &s, N * C, 1);
    for (size_t i = 0; i < N * C; i++) /* means far from zero, and one constant row */
        x[i] = i / C == 0 ? 3 : (real)((double)x[i] + 5 * (double)(i / C % 3));
    real *out = output(o, "out", N * C), *mean = output(o, "mean", N);
    real *rstd = output(o, "rstd", N), *dx = output_added(o, &s, "dx", N * C);
    real *dgamma = output_added(o, &s, "dgamma", C), *dbeta = output_added(o, &s, "dbeta", C);
    assert_int_equal(call_layernorm_forward(ops, out, mean, rstd, x, gamma, beta, z->N, z->C), 0);
    /* every backend differentiates at the same statistics */
    assert_int_equal(call_layernorm_forward(&k_ref, out, mean, rstd, x, gamma, beta, z->N, z->C),
                     0);
    assert_int_equal(
        call_layernorm_backward(ops, dx, dgamma, dbeta, dout, x, mean, rstd, gamma, z->N, z->C), 0);
    assert_int_equal(call_layernorm_forward(ops, out, mean, rstd, x, gamma, beta, z->N, z->C), 0);
}

/* N rows of T = 7 or so positions; also when N is no multiple of T. */
static void op_position(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    struct stream s = {SEED, 0};
    const int T = z->N > 7 ? z->N / 5 : 1;
    const size_t N = (size_t)z->N, C = (size_t)z->C;
    const real *table = input(o, &s, (size_t)T * C, 1), *dx = input(o, &s, N * C, 1);
    real *x = output_added(o, &s, "x", N * C);
    real *dtable = output_added(o, &s, "dtable", (size_t)T * C);
    assert_int_equal(ops->position_forward(x, table, z->N, T, z->C), 0);
    assert_int_equal(ops->position_backward(dtable, dx, z->N, T, z->C), 0);
}

/* Columns [3, 3 + C) of wider rows; every second token; rows outside stay as they were. */
static void op_embed(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    struct stream s = {SEED, 0};
    const int V = z->OC + 3, stride = z->C + 5;
    const size_t N = (size_t)z->N, C = (size_t)z->C;
    const real *table = input(o, &s, (size_t)V * C, 1);
    const real *dout = input(o, &s, N * (size_t)stride, 1);
    const uint16_t *token = input_tokens(o, &s, 2 * N, V);
    real *out = output_added(o, &s, "out", N * (size_t)stride);
    real *dtable = output_added(o, &s, "dtable", (size_t)V * C);
    assert_int_equal(call_embed_forward(ops, out, stride, 3, table, token, 2, z->N, V, z->C), 0);
    assert_int_equal(call_embed_backward(ops, dtable, dout, stride, 3, token, 2, z->N, V, z->C), 0);
}

static void op_rope(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    struct stream s = {SEED, 0};
    const int B = 2, H = 3, D = 2 * (z->C % 20 + 1), T = z->N < 200 ? z->N : 200;
    const size_t n = (size_t)(B * T * 3 * H * D);
    const real *qkv = input(o, &s, n, 1);
    real *there = output(o, "rotated", n), *back = output(o, "and back", n);
    memcpy(there, qkv, n * sizeof *qkv);
    assert_int_equal(call_rope(ops, there, B, T, H, D, 10000, 5, false), 0);
    memcpy(back, there, n * sizeof *qkv);
    assert_int_equal(call_rope(ops, back, B, T, H, D, 10000, 5, true), 0);
    for (size_t i = 0; i < n; i++)
        assert_near((double)back[i], (double)qkv[i], 1e-5);
}

static void cross_entropy(const struct k_ops *ops, const struct size *z, struct outputs *o,
                          int weights)
{
    struct stream s = {SEED, 0};
    const int V = z->OC, stride = 2 * V + 1, at = V + 1;
    const size_t N = (size_t)z->N, n = N * (size_t)stride;
    const real *logits = input(o, &s, n, 4);
    uint16_t *target = input_tokens(o, &s, 3 * N, V);
    real *weight = input_memory(o, N, sizeof *weight);
    for (size_t i = 0; i < N && weights == 1; i++) {
        weight[i] = i % 3 == 1 ? 0 : (real)uniform(&s);
        if (i % 3 == 1)
            target[3 * i] = 65535; /* a row that does not count may have no valid target */
    }
    real *d = output_added(o, &s, "dlogits", n), *over = output(o, "over", n);
    memcpy(over, logits, n * sizeof *over);
    for (size_t i = 0; i < n; i++) /* columns of the other channel are not touched */
        if ((int)(i % (size_t)stride) < at)
            over[i] = d[i];
    double loss = NAN, alone = NAN, again = NAN;
    const real *w = weights ? weight : NULL;
    assert_int_equal(call_cross_entropy(ops, &loss, d, logits, stride, at, target, 3, w, z->N, V),
                     0);
    assert_int_equal(
        call_cross_entropy(ops, &alone, NULL, logits, stride, at, target, 3, w, z->N, V), 0);
    assert_int_equal(call_cross_entropy(ops, &again, over, over, stride, at, target, 3, w, z->N, V),
                     0);
    assert_true(loss == again);
    assert_true(fabs(loss - alone) <= 1e-12 * fabs(loss));
    assert_memory_equal(d, over, n * sizeof *d);
    if (weights == 2)
        assert_true(loss == 0);
    output_number(o, "loss", loss);
}

static void op_cross_entropy(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    cross_entropy(ops, z, o, 0);
}

static void op_cross_entropy_weighted(const struct k_ops *ops, const struct size *z,
                                      struct outputs *o)
{
    cross_entropy(ops, z, o, 1);
}

static void op_cross_entropy_none(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    cross_entropy(ops, z, o, 2);
}

static void regression(const struct k_ops *ops, const struct size *z, struct outputs *o,
                       int weights, double delta)
{
    struct stream s = {SEED, 0};
    const size_t N = (size_t)z->N, C = (size_t)z->OC;
    const real *pred = input(o, &s, N * C, 1);
    real *target = input(o, &s, N * C, 1), *weight = input_memory(o, N, sizeof *weight);
    for (size_t i = 0; i < N && weights == 1; i++)
        weight[i] = i % 3 == 1 ? 0 : (real)uniform(&s);
    for (size_t i = 0; weights && i < N * C; i++)
        if (weight[i / C] == 0)
            target[i] = (real)INFINITY; /* "no label" */
    const real *w = weights ? weight : NULL;
    double loss = NAN, alone = NAN;
    real *d = output(o, "dpred", N * C);
    assert_int_equal(call_regression(ops, &loss, d, pred, target, w, z->N, z->OC, delta), 0);
    assert_int_equal(call_regression(ops, &alone, NULL, pred, target, w, z->N, z->OC, delta), 0);
    assert_true(loss == alone);
    if (weights == 2)
        assert_true(loss == 0);
    output_number(o, "loss", loss);
}

static void op_mse(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    regression(ops, z, o, 0, 0);
}

static void op_mse_weighted(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    regression(ops, z, o, 1, 0);
}

static void op_mse_none(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    regression(ops, z, o, 2, 0);
}

/* Distances are about 1: a delta below them, and one far above. */
static void op_huber(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    regression(ops, z, o, 1, 0.3);
}

static void op_huber_wide(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    regression(ops, z, o, 0, 1e3);
}

static void op_sum_squares(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    struct stream s = {SEED, 0};
    const size_t n = (size_t)z->N * (size_t)z->C;
    const real *x = input(o, &s, n, 1);
    double sum = NAN;
    assert_int_equal(ops->sum_squares(&sum, x, n), 0);
    /* as two numbers, so that the bits of the double are compared */
    const real high = (real)sum;
    output_number(o, "sum", sum);
    output_number(o, "rest", (sum - (double)high) * 1e-6);
}

static void op_adamw(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    struct stream s = {SEED, 0};
    const size_t n = (size_t)z->N * (size_t)z->C;
    real *grad = input(o, &s, n, 1);
    real *param = output_added(o, &s, "param", n), *m = output_added(o, &s, "m", n);
    real *v = output_added(o, &s, "v", n);
    for (size_t i = 0; i < n; i++)
        v[i] = (real)(v[i] * v[i] + (real)1e-3);
    grad[0] = 0;
    struct k_adamw k = {.lr = 0.01,
                        .beta1 = 0.9,
                        .beta2 = 0.95,
                        .eps = 1e-8,
                        .weight_decay = 0.1,
                        .grad_scale = 0.37,
                        .step = 1};
    for (; k.step <= 3; k.step++)
        assert_int_equal(ops->adamw(param, grad, m, v, n, &k), 0);
    /* ranges of their own decay, some of none */
    const struct k_decay decays[] = {{n / 3, 0}, {n / 3, 9}, {n / 2 / 4 * 4, 0.2}, {n, -3}};
    k.decays = decays;
    k.count = n / 3 <= n / 2 / 4 * 4 ? 4 : 0;
    if (k.count > 0)
        assert_int_equal(ops->adamw(param, grad, m, v, n, &k), 0);
}

static void op_average(const struct k_ops *ops, const struct size *z, struct outputs *o)
{
    struct stream s = {SEED, 0};
    const size_t n = (size_t)z->N * (size_t)z->C;
    const real *x = input(o, &s, n, 1);
    real *average = output_added(o, &s, "average", n);
    assert_int_equal(ops->average(average, x, n, 0.9), 0);
    real *copy = output_added(o, &s, "copy", n);
    assert_int_equal(ops->average(copy, x, n, 0), 0);
    assert_memory_equal(copy, x, n * sizeof *x);
}

static const struct op ops_table[] = {
    {"linear", op_linear},
    {"linear, no bias", op_linear_bare},
    {"linear fp32_only", op_linear_fp32_only},
    {"linear fp32_only, no bias", op_linear_fp32_only_bare},
    {"linear gelu", op_linear_gelu},
    {"linear gelu, no bias", op_linear_gelu_bare},
    {"gelu", op_gelu},
    {"add", op_add},
    {"layernorm", op_layernorm},
    {"position", op_position},
    {"embed", op_embed},
    {"rope", op_rope},
    {"cross entropy", op_cross_entropy},
    {"cross entropy, weights", op_cross_entropy_weighted},
    {"cross entropy, weights 0", op_cross_entropy_none},
    {"mse", op_mse},
    {"mse, weights", op_mse_weighted},
    {"mse, weights 0", op_mse_none},
    {"pseudo-Huber, weights", op_huber},
    {"pseudo-Huber, wide", op_huber_wide},
    {"sum of squares", op_sum_squares},
    {"adamw", op_adamw},
    {"average", op_average},
};
enum { OPS = sizeof ops_table / sizeof *ops_table };

/* A block of 256 threads to a row, and the elements. */
static double work_of(const struct size *z)
{
    return (double)z->N * (256 + z->C + z->OC);
}

static const char *label_of(const struct op *op, const struct size *z)
{
    static char text[96];
    snprintf(text, sizeof text, "%s, N %d, C %d, OC %d", op->name, z->N, z->C, z->OC);
    return text;
}

TEST(agrees_with_reference_on_any_threads)
{
    for (int i = 0; i < OPS; i++)
        for (int k = 0; k < SIZES; k++) {
            struct outputs expected = {0}, one = {0}, two = {0};
            const struct op *op = &ops_table[i];
            if (too_large(work_of(&sizes[k])))
                continue;
            op->run(&k_ref, &sizes[k], &expected);
            assert_int_equal(k_cpu()->open(1, false), 0);
            op->run(k_cpu(), &sizes[k], &one);
            assert_int_equal(k_cpu()->open(2, false), 0);
            op->run(k_cpu(), &sizes[k], &two);
            outputs_near(label_of(op, &sizes[k]), &one, &expected, tight);
            outputs_same(label_of(op, &sizes[k]), &one, &two);
            outputs_free(&expected);
            outputs_free(&one);
            outputs_free(&two);
        }
    k_cpu()->close();
}

TEST(bf16_rounds_what_it_may)
{
    for (int i = 0; i < OPS; i++)
        for (int k = 0; k < SIZES; k++) {
            struct outputs exact = {0}, one = {0}, two = {0};
            const struct op *op = &ops_table[i];
            if (too_large(work_of(&sizes[k])))
                continue;
            assert_int_equal(k_cpu()->open(2, false), 0);
            op->run(k_cpu(), &sizes[k], &exact);
            assert_int_equal(k_cpu()->open(1, true), 0);
            op->run(k_cpu(), &sizes[k], &one);
            assert_int_equal(k_cpu()->open(2, true), 0);
            op->run(k_cpu(), &sizes[k], &two);
            const char *what = label_of(op, &sizes[k]);
            outputs_same(what, &one, &two);
            const bool may = op->run == op_linear || op->run == op_linear_bare ||
                             op->run == op_linear_gelu || op->run == op_linear_gelu_bare;
            if (!may)
                outputs_same(what, &one, &exact);
            for (int t = 0; may && t < one.count; t++) {
                const double error = tensor_error_norm(&one.item[t], &exact.item[t]);
                if (strcmp(one.item[t].name, "db") && !(error <= rounded))
                    fail_msg("%s, bf16: %s is off by %.3g of its norm, allowed %.3g", what,
                             one.item[t].name, error, rounded);
                if (!strcmp(one.item[t].name, "db") && error > 0)
                    fail_msg("%s, bf16: sums of columns need no rounding", what);
            }
            outputs_free(&exact);
            outputs_free(&one);
            outputs_free(&two);
        }
    k_cpu()->close();
}

/* Closed forms that do not lean on the reference. */
TEST(closed_forms)
{
    const real x[4] = {1, 2, 3, 4}, w[4] = {1, -1, 2, 0.5f}, b[2] = {10, 20};
    real out[4], pre[4];
    for (const struct k_ops *const *all = k_backends(); *all; all++) {
        const struct k_ops *ops = *all;
        assert_int_equal(ops->open(2, false), 0);
        assert_int_equal(call_linear_forward(ops, out, x, w, b, 2, 2, 2), 0);
        assert_near((double)out[0], 9, 1e-6);  /* 1 - 2 + 10 */
        assert_near((double)out[1], 23, 1e-6); /* 2 + 1 + 20 */
        assert_near((double)out[2], 9, 1e-6);
        assert_near((double)out[3], 28, 1e-6);
        const real one[4] = {1, -1, 0, 3}, unit[1] = {1};
        assert_int_equal(call_linear_gelu_forward(ops, out, pre, one, unit, NULL, 4, 1, 1), 0);
        assert_near((double)out[0], 0.8413447461, 1e-6); /* x Phi(x) */
        assert_near((double)out[1], -0.1586552539, 1e-6);
        assert_near((double)out[2], 0, 1e-9);
        assert_near((double)out[3], 2.9959503, 1e-5);
        double loss;
        const real logits[3] = {0, 0, 0};
        const uint16_t target[1] = {1};
        assert_int_equal(call_cross_entropy(ops, &loss, NULL, logits, 3, 0, target, 1, NULL, 1, 3),
                         0);
        assert_near(loss, log(3), 1e-6);
        /* the first step of Adam moves by lr whatever the gradient; decay is decoupled */
        real p[2] = {1, 1}, m[2] = {0}, v[2] = {0};
        const real g[2] = {1e-3f, -50};
        const struct k_adamw k = {.lr = 0.01,
                                  .beta1 = 0.9,
                                  .beta2 = 0.99,
                                  .eps = 1e-8,
                                  .weight_decay = 0.5,
                                  .grad_scale = 1,
                                  .step = 1};
        assert_int_equal(ops->adamw(p, g, m, v, 2, &k), 0);
        assert_near((double)p[0], 1 - 0.01 - 0.005, 1e-6);
        assert_near((double)p[1], 1 + 0.01 - 0.005, 1e-6);
        ops->close();
    }
}

TEST(tokens_outside_the_vocabulary_are_refused)
{
    if (strcmp(k_cpu()->name, "cpu"))
        skip(); /* the host does not see the tokens of a GPU */
    const uint16_t token[2] = {1, 3};
    const real table[6] = {0};
    real out[4], dtable[6] = {0};
    double loss;
    assert_int_equal(k_cpu()->open(2, false), 0);
    assert_int_equal(call_embed_forward(k_cpu(), out, 2, 0, table, token, 1, 2, 3, 2), ORR_EINVAL);
    assert_non_null(strstr(orr_error(), "3"));
    assert_int_equal(call_embed_backward(k_cpu(), dtable, out, 2, 0, token, 1, 2, 3, 2),
                     ORR_EINVAL);
    assert_int_equal(call_cross_entropy(k_cpu(), &loss, NULL, table, 3, 0, token, 1, NULL, 2, 3),
                     ORR_EINVAL);
    k_cpu()->close();
}

TEST(backends_are_found_by_name)
{
    const struct k_ops *ops = NULL;
    assert_int_equal(k_find("ref", &ops), 0);
    assert_ptr_equal(ops, &k_ref);
    assert_int_equal(k_find("cpu", &ops), 0);
    assert_ptr_equal(ops, k_cpu());
    assert_int_equal(k_find("auto", &ops), 0);
    assert_non_null(ops);
    assert_int_equal(k_find("abacus", &ops), ORR_EDEVICE);
    assert_non_null(strstr(orr_error(), "abacus"));
    /* every entry of every backend is there, those of recordings all or none, and so those of
     * bf16 tensors */
    for (const struct k_ops *const *all = k_backends(); *all; all++)
        for (size_t at = 0; at < sizeof **all; at += sizeof(void *)) {
            void *entry;
            memcpy(&entry, (const char *)*all + at, sizeof entry);
            if (at >= offsetof(struct k_ops, record_begin) &&
                at <= offsetof(struct k_ops, record_free))
                assert_true(!entry == !(*all)->record_begin);
            else if (at >= offsetof(struct k_ops, has_bf16_tensors) &&
                     at <= offsetof(struct k_ops, to_bf16))
                assert_true(!entry == !(*all)->has_bf16_tensors);
            else if (at != offsetof(struct k_ops, host) && at != offsetof(struct k_ops, choose) &&
                     at != offsetof(struct k_ops, collectives))
                assert_non_null(entry);
        }
}

/* Without the plugin, or with one that is none, "cuda" says what to do and "auto" is the cpu. */
TEST(a_missing_plugin_is_an_error)
{
    const struct k_ops *ops = NULL;
    if (strcmp(k_cpu()->name, "cpu"))
        skip(); /* linked in */
    setenv("ORRERY_CUDA_PLUGIN", "/nowhere/orrery_cuda.so", 1);
    assert_int_equal(k_find("cuda", &ops), ORR_EDEVICE);
    assert_non_null(strstr(orr_error(), "make CUDA=1"));
    assert_int_equal(k_find("auto", &ops), 0);
    assert_ptr_equal(ops, k_cpu());
    setenv("ORRERY_CUDA_PLUGIN", "Makefile", 1);
    assert_int_equal(k_find("cuda", &ops), ORR_EDEVICE);
    assert_non_null(strstr(orr_error(), "cannot load the CUDA backend"));
    assert_int_equal(k_find("auto", &ops), 0);
    assert_ptr_equal(ops, k_cpu());
    unsetenv("ORRERY_CUDA_PLUGIN");
}

TESTS(NULL, NULL)
