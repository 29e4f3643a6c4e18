/* test_phi.c - phi and its slope, and the output gates, of every backend on dense grids of scores
 * against their formulas; rows of scores far below zero; aliasing and threads of the gates. */
#include "test_data.h"

#include "op_calls.h"
#include "phi.h"

/* Errors as kernels/cpu/vec.h states them, and the rounding of the products with 1 around them. */
struct bound {
    enum k_phi phi;
    double from, to;           /* scores */
    double relative, absolute; /* of the value */
    double slope_rel, slope_abs;
};
static const struct bound bounds[] = {
    {K_PHI_EXP, -87, 88, 2e-7, 0, 2e-7, 0},        {K_PHI_SOFTPLUS, -87, 87, 3e-7, 0, 3e-7, 0},
    {K_PHI_IDENTITY, -9, 9, 0, 0, 0, 0},           {K_PHI_RELU, -9, 9, 0, 0, 0, 0},
    {K_PHI_RELU2, -9, 9, 2e-7, 0, 2e-7, 0},        {K_PHI_RELU6, -9, 9, 0, 0, 0, 0},
    {K_PHI_GELU, -40, 40, 2e-7, 2e-7, 2e-7, 3e-7}, {K_PHI_SIGMOID, -87, 87, 4e-7, 0, 5e-7, 1e-37},
    {K_PHI_MISH, -87, 87, 5e-7, 1e-36, 0, 4e-7},
};

/* One score per problem: q = s, k = 1, v = 1 and no norm give out = phi(s), dq = phi'(s). */
TEST(phi_on_a_grid)
{
    const int N = too_large(256 * 20011) ? 503 : 20011; /* a block of 256 to each */
    for (const struct k_ops *const *all = k_backends(); *all; all++)
        for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
            const struct bound *w = &bounds[i];
            const struct k_attention line = {"phi",  K_SCORE_DOT, K_BIAS_NONE,
                                             w->phi, K_NORM_NONE, K_TRANSFORM_NONE,
                                             false,  0,           "a test"};
            const struct k_attention_shape shape = {
                .B = N, .T = 1, .H = 1, .D = 1, .variant = &line, .power = 1};
            struct outputs o = {0};
            struct stream s = {3, 0};
            real *qkv = input(&o, &s, 3 * (size_t)N, 0), *dout = input(&o, &s, (size_t)N, 0);
            real *row_stats = input(&o, &s, k_attention_row_stats(NULL, &shape), 0);
            real *out = output(&o, "out", (size_t)N), *dqkv = output(&o, "dqkv", 3 * (size_t)N);
            for (int n = 0; n < N; n++) {
                qkv[3 * n] = (real)(w->from + (w->to - w->from) * (n + 0.37) / N);
                qkv[3 * n + 1] = qkv[3 * n + 2] = dout[n] = 1;
            }
            const struct k_ops *ops = *all;
            assert_int_equal(ops->open(1, false), 0);
            assert_int_equal(ops->attention_generic_forward(out, row_stats, qkv, &shape), 0);
            assert_int_equal(
                ops->attention_generic_backward(dqkv, dout, out, row_stats, qkv, &shape), 0);
            ops->close();
            for (int n = 0; n < N; n++) {
                const double x = (double)qkv[3 * n], y = phi_value(w->phi, x);
                const double d = phi_slope(w->phi, x), round = 6e-8;
                assert_near((double)out[n], y, (w->relative + round) * fabs(y) + w->absolute);
                assert_near((double)dqkv[3 * n], d,
                            (w->slope_rel + round) * fabs(d) + w->slope_abs);
                assert_true(row_stats[n] != 0); /* no row without an l1 is degenerate */
            }
            outputs_free(&o);
        }
}

/* Rows with all scores far below zero under an l1: their weights are those of the tail, written
 * here as ratios that neither overflow nor vanish. Scores are base, base - 1/2, base - 1, ... */
TEST(tails_are_normalised)
{
    static const enum k_phi phis[] = {K_PHI_EXP, K_PHI_SOFTPLUS, K_PHI_SIGMOID, K_PHI_MISH,
                                      K_PHI_GELU};
    static const double bases[] = {-1.5, -2.5, -8, -20, -36, -61, -120, -600};
    enum { T = 19 };
    for (const struct k_ops *const *all = k_backends(); *all; all++)
        for (int i = 0; i < 5; i++)
            for (int b = 0; b < (phis[i] == K_PHI_GELU ? 4 : 8); b++) {
                const struct k_attention line = {"phi",   K_SCORE_DOT, K_BIAS_NONE,
                                                 phis[i], K_NORM_L1,   K_TRANSFORM_NONE,
                                                 false,   0,           "a test"};
                const struct k_attention_shape shape = {
                    .B = 1, .T = T, .H = 1, .D = 1, .variant = &line, .power = 1};
                real qkv[3 * T], out[T], row_stats[6 * T];
                double sum = 0, expected = 0;
                for (int t = 0; t < T; t++) {
                    const double s = bases[b] - 0.5 * t;
                    qkv[3 * t] = 1;
                    qkv[3 * t + 1] = (real)s;
                    qkv[3 * t + 2] = (real)(t % 3 - 1);
                    double x = phi_value(phis[i], s) / fabs(phi_value(phis[i], bases[b]));
                    if (bases[b] < -50) /* e^s, and s e^s of mish */
                        x = exp(-0.5 * t) * (phis[i] == K_PHI_MISH ? s / -bases[b] : 1);
                    sum += fabs(x);
                    expected += x * (t % 3 - 1);
                }
                assert_int_equal((*all)->open(1, false), 0);
                assert_int_equal((*all)->attention_generic_forward(out, row_stats, qkv, &shape), 0);
                (*all)->close();
                assert_near((double)out[T - 1], expected / sum, 2e-6);
                assert_near((double)out[0],
                            phis[i] < K_PHI_GELU || phis[i] == K_PHI_SIGMOID ? -1 : 1, 2e-7);
            }
}

static double gate_value(enum k_gate act, double x)
{
    return act == K_GATE_NONE      ? 1
           : act == K_GATE_SIGMOID ? phi_value(K_PHI_SIGMOID, x)
                                   : phi_value(K_PHI_SOFTPLUS, x);
}

static double gate_slope(enum k_gate act, double x)
{
    return act == K_GATE_NONE      ? 0
           : act == K_GATE_SIGMOID ? phi_slope(K_PHI_SIGMOID, x)
                                   : phi_slope(K_PHI_SOFTPLUS, x);
}

static void run_gate(const struct k_ops *ops, enum k_gate act, size_t n, struct outputs *o)
{
    struct stream s = {17, 0};
    const real *y = input(o, &s, n, 1), *pre = input(o, &s, n, 9), *dout = input(o, &s, n, 1);
    real *out = output(o, "out", n), *dy = output(o, "dy", n), *dpre = output(o, "dpre", n);
    real *over = output(o, "over", n), *dover = output(o, "dover", n);
    real *dpre2 = output(o, "dpre2", n);
    memcpy(over, y, n * sizeof *y);
    memcpy(dover, dout, n * sizeof *y);
    assert_int_equal(call_gate_forward(ops, out, y, pre, act, n), 0);
    assert_int_equal(call_gate_backward(ops, dy, dpre, dout, y, pre, act, n), 0);
    assert_int_equal(call_gate_forward(ops, over, over, pre, act, n), 0); /* as the header allows */
    assert_int_equal(call_gate_backward(ops, dover, dpre2, dover, y, pre, act, n), 0);
    assert_memory_equal(out, over, n * sizeof *out);
    assert_memory_equal(dy, dover, n * sizeof *out);
    assert_memory_equal(dpre, dpre2, n * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        const double x = (double)pre[i], g = (double)dout[i], v = (double)y[i];
        const double near = 1e-6;
        assert_near((double)out[i], v * gate_value(act, x), near * fabs(v * gate_value(act, x)));
        assert_near((double)dy[i], g * gate_value(act, x), near * fabs(g * gate_value(act, x)));
        /* the reference takes 1 - y: an ulp of 1 */
        assert_near((double)dpre[i], g * v * gate_slope(act, x),
                    fabs(g * v) * (near * gate_slope(act, x) + 2e-16));
    }
}

TEST(gates)
{
    static const size_t sizes[] = {1, 3, 16, 37, 8192, 40001};
    static const enum k_gate acts[] = {K_GATE_NONE, K_GATE_SIGMOID, K_GATE_SOFTPLUS};
    for (const struct k_ops *const *all = k_backends(); *all; all++)
        for (int a = 0; a < 3; a++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                struct outputs one = {0}, two = {0};
                assert_int_equal((*all)->open(1, false), 0);
                run_gate(*all, acts[a], sizes[i], &one);
                assert_int_equal((*all)->open(2, true), 0);
                run_gate(*all, acts[a], sizes[i], &two);
                (*all)->close();
                outputs_same("gate", &one, &two);
                outputs_free(&one);
                outputs_free(&two);
            }
}

TESTS(NULL, NULL)
