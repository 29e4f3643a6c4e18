/* test_linear.c - linear layers, their fused forms and the token head at sizes that take every
 * path of the cpu backend (narrow, plain, packed; full pieces and remainders), beside the reference
 * and beside themselves with other numbers of threads. The derivation of tolerances is at each. */
#include "op_calls.h"
#include "test_data.h"

struct sizes {
    int N, C, OC;
};

/* rows: pieces of 128 and what is left, chunks; columns: both sides of 192, no multiples of 64 */
static const struct sizes all_sizes[] = {
    {5, 7, 33}, {77, 40, 24}, {140, 191, 200}, {130, 200, 330}, {205, 256, 192}, {2, 192, 192},
};

/* ---- every form of a layer into outputs */

static void layer(const struct k_ops *ops, struct outputs *o, const struct sizes *s)
{
    struct stream r = {.seed = 23};
    const int N = s->N, C = s->C, OC = s->OC;
    const size_t NC = (size_t)N * (size_t)C, NO = (size_t)N * (size_t)OC;
    const size_t CO = (size_t)C * (size_t)OC;
    const real *inp = input(o, &r, NC, 1), *w = input(o, &r, CO, 1.0 / sqrt(C));
    const real *b = input(o, &r, (size_t)OC, 1), *residual = input(o, &r, NO, 1);
    const real *dout = input(o, &r, NO, 1), *slope = input(o, &r, NC, 1);
    real *out = output(o, "forward", NO), *added = output(o, "residual forward", NO);
    real *dinp = output(o, "dinp", NC), *dpre = output(o, "dpre", NC);
    real *dw = output_added(o, &r, "dw", CO), *db = output_added(o, &r, "db", (size_t)OC);
    real *dw2 = output_added(o, &r, "dw of gelu", CO);
    assert_int_equal(call_linear_forward(ops, out, inp, w, b, N, C, OC), 0);
    assert_int_equal(call_linear_residual_forward(ops, added, inp, w, b, residual, N, C, OC), 0);
    assert_int_equal(call_linear_backward(ops, dinp, dw, db, dout, inp, w, N, C, OC), 0);
    assert_int_equal(call_linear_gelu_backward(ops, dpre, dw2, NULL, dout, inp, w, slope, N, C, OC),
                     0);
}

/* A head of two channels over vocabularies of OC; every fifth row does not count, and has a target
 * that is none. */
static void head(const struct k_ops *ops, struct outputs *o, const struct sizes *s)
{
    struct stream r = {.seed = 29};
    const int N = s->N, C = s->C, V = s->OC;
    const size_t NC = (size_t)N * (size_t)C, W = 2 * (size_t)V * (size_t)C;
    const real *inp = input(o, &r, NC, 1), *w = input(o, &r, W, 1.0 / sqrt(C));
    uint16_t *target = input_tokens(o, &r, 2 * (size_t)N, V);
    real *weight = input(o, &r, (size_t)N, 1);
    for (int n = 0; n < N; n++) {
        weight[n] = n % 5 == 1 ? 0 : (real)(0.5 + uniform(&r));
        if (weight[n] == 0)
            target[2 * n] = 65535;
    }
    real *dinp = output(o, "dinp", NC), *dw = output_added(o, &r, "dw", W);
    double loss;
    assert_int_equal(
        call_head_cross_entropy(ops, &loss, dinp, dw, inp, w, target, weight, N, C, V, 2), 0);
    output_number(o, "loss", loss);
}

static void compare(const char *name,
                    void (*run)(const struct k_ops *, struct outputs *, const struct sizes *))
{
    for (size_t i = 0; i < sizeof all_sizes / sizeof *all_sizes; i++) {
        struct outputs expected = {0};
        run(&k_ref, &expected, &all_sizes[i]);
        for (int bf16 = 0; bf16 < 2; bf16++) {
            struct outputs found = {0};
            char what[128];
            snprintf(what, sizeof what, "%s of %d rows, %d -> %d%s", name, all_sizes[i].N,
                     all_sizes[i].C, all_sizes[i].OC, bf16 ? ", bf16" : "");
            assert_int_equal(k_cpu()->open(2, bf16 ? K_PRECISION_BF16 : K_PRECISION_FP32), 0);
            run(k_cpu(), &found, &all_sizes[i]);
            k_cpu()->close();
            outputs_near(what, &found, &expected, bf16 ? 1.6e-2 : 2e-5);
            outputs_free(&found);
        }
        outputs_free(&expected);
    }
}

/* Sums of up to 330 products round 330 times at worst, like the root of that in practice: 330
 * epsilon = 4e-5 of terms near 1, and the largest entry of a tensor is above 1. bf16 rounds each
 * factor by 2^-9 at most: twice that and the spread of a sum over its largest entry. */
TEST(layers_equal_the_reference)
{
    compare("layer", layer);
}

TEST(heads_equal_the_reference)
{
    compare("head", head);
}

/* Rows beyond a chunk of the packed path, and of the head. */
TEST(chunks_add_up)
{
    const struct sizes wide = {2048 + 3, 192, 193}, tall = {2 * 1024 + 5, 16, 9};
    struct outputs found = {0}, expected = {0};
    assert_int_equal(k_cpu()->open(2, false), 0);
    layer(k_cpu(), &found, &wide);
    layer(&k_ref, &expected, &wide);
    outputs_near("layer of chunks", &found, &expected, 5e-5);
    outputs_free(&found);
    outputs_free(&expected);
    head(k_cpu(), &found, &tall);
    head(&k_ref, &expected, &tall);
    outputs_near("head of chunks", &found, &expected, 5e-5);
    outputs_free(&found);
    outputs_free(&expected);
    k_cpu()->close();
}

TEST(threads_do_not_matter)
{
    static void (*const runs[])(const struct k_ops *, struct outputs *,
                                const struct sizes *) = {layer, head};
    for (size_t k = 0; k < 2; k++)
        for (int bf16 = 0; bf16 < 2; bf16++)
            for (size_t i = 3; i < sizeof all_sizes / sizeof *all_sizes; i++) {
                struct outputs one = {0}, many = {0};
                assert_int_equal(k_cpu()->open(1, bf16 ? K_PRECISION_BF16 : K_PRECISION_FP32), 0);
                runs[k](k_cpu(), &one, &all_sizes[i]);
                k_cpu()->close();
                assert_int_equal(k_cpu()->open(3, bf16 ? K_PRECISION_BF16 : K_PRECISION_FP32), 0);
                runs[k](k_cpu(), &many, &all_sizes[i]);
                k_cpu()->close();
                outputs_same(k ? "head" : "layer", &many, &one);
                outputs_free(&one);
                outputs_free(&many);
            }
}

/* Weights that change between calls are seen at once: nothing packed is kept. */
TEST(weights_are_never_stale)
{
    struct outputs o = {0};
    struct stream r = {.seed = 31};
    enum { N = 64, C = 256 };
    const real *inp = input(&o, &r, (size_t)N * C, 1);
    real *w = input(&o, &r, (size_t)C * C, 1), *out = output(&o, "out", (size_t)N * C);
    assert_int_equal(k_cpu()->open(2, true), 0);
    assert_int_equal(call_linear_forward(k_cpu(), out, inp, w, NULL, N, C, C), 0);
    const real before = out[5];
    for (size_t i = 0; i < (size_t)C * C; i++)
        w[i] *= 2;
    assert_int_equal(call_linear_forward(k_cpu(), out, inp, w, NULL, N, C, C), 0);
    assert_true(out[5] == 2 * before);
    k_cpu()->close();
    outputs_free(&o);
}

/* In every bit; where a GPU's library makes the product, it adds residual and bias in its own
 * order: a rounding or two of numbers up to 16. */
static void assert_parts(const real *fused, const real *parts, size_t n)
{
    const double tolerance = strcmp(k_cpu()->name, "cpu") ? 4e-6 : 0;
    for (size_t i = 0; i < n; i++)
        assert_near((double)fused[i], (double)parts[i], tolerance);
}

/* The residual form and the GELU form are their parts. */
TEST(fused_forms_are_their_parts)
{
    struct outputs o = {0};
    struct stream r = {.seed = 37};
    enum { N = 150, C = 96, OC = 384 };
    const size_t NC = (size_t)N * C, NO = (size_t)N * OC, CO = (size_t)C * OC;
    const real *inp = input(&o, &r, NC, 1), *w = input(&o, &r, CO, 0.1);
    const real *b = input(&o, &r, OC, 1), *residual = input(&o, &r, NO, 1);
    const real *pre = input(&o, &r, NC, 1);
    real *fused = input(&o, &r, NO, 0), *parts = input(&o, &r, NO, 0);
    real *dw = input(&o, &r, CO, 0);
    assert_int_equal(k_cpu()->open(2, true), 0);
    assert_int_equal(call_linear_residual_forward(k_cpu(), fused, inp, w, b, residual, N, C, OC),
                     0);
    assert_int_equal(call_linear_forward(k_cpu(), parts, inp, w, b, N, C, OC), 0);
    assert_int_equal(k_cpu()->add(parts, parts, residual, NO), 0);
    assert_parts(fused, parts, NO);
    assert_int_equal(
        call_linear_gelu_backward(k_cpu(), fused, dw, NULL, residual, inp, w, pre, N, C, OC), 0);
    assert_int_equal(call_linear_backward(k_cpu(), parts, dw, NULL, residual, inp, w, N, C, OC), 0);
    assert_int_equal(k_cpu()->gelu_backward(parts, parts, pre, NC), 0);
    assert_parts(fused, parts, NC);
    k_cpu()->close();
    outputs_free(&o);
}

TEST(a_peak_is_measured)
{
    double gflops;
    assert_int_equal(k_ref.peak(&gflops), 0);
    assert_true(gflops > 1e-3 && gflops < 1e6);
    assert_int_equal(k_cpu()->open(2, false), 0);
    assert_int_equal(k_cpu()->peak(&gflops), 0);
    assert_true(gflops > 1e-3 && gflops < 1e6);
    k_cpu()->close();
}

TESTS(NULL, NULL)
