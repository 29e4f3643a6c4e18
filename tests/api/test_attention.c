/* test_attention.c - attention on arrays: every variant against the reference backend and, in
 * double, against finite differences. */
#include "api/orrery.h"
#include "kernels/kernels.h"
#include "refused.h"

#include <math.h>

enum { B = 2, T = 9, H = 2, D = 8, N = B * T * H * D, SAVED = 6 * B * T * H + 64 };

static double qkv[3 * N], dout[N];

/* Number i of a stream, in [-1, 1): a float, so that both precisions have the same. */
static double number(uint64_t stream, uint64_t i)
{
    return (double)(orr_rng_hash(5, ORR_STAGE_TEST_SUITE, stream, i) >> 40) * 0x1p-23 - 1;
}

static void fill(void)
{
    for (uint64_t i = 0; i < 3 * N; i++)
        qkv[i] = number(1, i);
    for (uint64_t i = 0; i < N; i++)
        dout[i] = number(2, i);
}

static struct orrery_attention_shape shape_of(const char *variant, int window, int type)
{
    return (struct orrery_attention_shape){.bytes = sizeof(struct orrery_attention_shape),
                                           .variant = variant,
                                           .power = 3,
                                           .window = window,
                                           .type = type,
                                           .sequences = B,
                                           .rows = T,
                                           .heads = H,
                                           .size = D,
                                           .threads = 2};
}

/* Both passes in double. */
static void passes(struct orrery_attention *a, const struct orrery_attention_shape *shape,
                   double *out, double *dqkv)
{
    double saved[SAVED];
    size_t count = 0;
    assert_int_equal(orrery_attention_saved(a, shape, &count), 0);
    assert_true(count > 0 && count <= SAVED);
    assert_int_equal(orrery_attention_forward(a, shape, qkv, out, saved), 0);
    assert_int_equal(orrery_attention_backward(a, shape, qkv, out, saved, dout, dqkv), 0);
}

/* Both passes in floats. */
static void passes32(struct orrery_attention *a, const struct orrery_attention_shape *shape,
                     float *out, float *dqkv)
{
    float x[3 * N], g[N], saved[SAVED];
    size_t count = 0;
    for (size_t i = 0; i < 3 * N; i++)
        x[i] = (float)qkv[i];
    for (size_t i = 0; i < N; i++)
        g[i] = (float)dout[i];
    assert_int_equal(orrery_attention_saved(a, shape, &count), 0);
    assert_true(count <= SAVED);
    assert_int_equal(orrery_attention_forward(a, shape, x, out, saved), 0);
    assert_int_equal(orrery_attention_backward(a, shape, x, out, saved, g, dqkv), 0);
}

/* The sum of out dout. */
static double loss(struct orrery_attention *a, const struct orrery_attention_shape *shape)
{
    double out[N], sum = 0;
    assert_int_equal(orrery_attention_forward(a, shape, qkv, out, NULL), 0);
    for (size_t i = 0; i < N; i++)
        sum += out[i] * dout[i];
    return sum;
}

static void check_close(const char *what, const char *variant, size_t n, const float *found,
                        const double *expected, double within)
{
    double largest = 1;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)found[i] - expected[i]) <= within * largest))
            fail_msg("%s of %s, number %zu: expected %.9g, found %.9g", what, variant, i,
                     expected[i], (double)found[i]);
}

static void check_variant(struct orrery_attention *a, const char *variant, int window)
{
    const double h = 1e-5;
    struct orrery_attention_shape shape = shape_of(variant, window, ORRERY_FLOAT64);
    double out[N], dqkv[3 * N];
    float out32[N], dqkv32[3 * N];
    passes(a, &shape, out, dqkv);
    for (size_t i = 0; i < 3 * N; i += 5) {
        const double x = qkv[i];
        qkv[i] = x + h;
        const double above = loss(a, &shape);
        qkv[i] = x - h;
        const double slope = (above - loss(a, &shape)) / (2 * h);
        qkv[i] = x;
        if (!(fabs(slope - dqkv[i]) < 1e-6 * (1 + fabs(slope))))
            fail_msg("%s, window %d: gradient %zu: expected %.9g, found %.9g", variant, window, i,
                     slope, dqkv[i]);
    }
    shape.type = ORRERY_FLOAT32;
    for (shape.reference = 0; shape.reference < 2; shape.reference++) {
        passes32(a, &shape, out32, dqkv32);
        check_close("out", variant, N, out32, out, 1e-5);
        check_close("dqkv", variant, 3 * N, dqkv32, dqkv, 1e-4);
    }
}

TEST(every_variant_has_the_right_gradients)
{
    struct orrery_attention *a = NULL;
    int i = 0;
    fill();
    assert_int_equal(orrery_attention_create(ORRERY_INTERFACE, &a), 0);
    for (; orrery_attention_variant(i); i++) {
        check_variant(a, orrery_attention_variant(i), 0);
        check_variant(a, orrery_attention_variant(i), 4);
    }
    assert_true(i > 20);
    assert_null(orrery_attention_variant(-1));
    orrery_attention_free(a);
}

/* out is the sum of the values by their weights. */
TEST(weights_give_the_output)
{
    struct orrery_attention *a = NULL;
    double out[N], w[B * H * T * T];
    float x[3 * N];
    fill();
    for (size_t i = 0; i < 3 * N; i++)
        x[i] = (float)qkv[i];
    assert_int_equal(orrery_attention_create(ORRERY_INTERFACE, &a), 0);
    for (int type = ORRERY_FLOAT64; type <= ORRERY_FLOAT32; type++) {
        struct orrery_attention_shape shape = shape_of("rw_softmax", 0, ORRERY_FLOAT64);
        assert_int_equal(orrery_attention_forward(a, &shape, qkv, out, NULL), 0);
        shape.type = type;
        assert_int_equal(
            orrery_attention_weights(a, &shape, type == ORRERY_FLOAT32 ? (void *)x : qkv, w), 0);
        for (int b = 0; b < B; b++)
            for (int i = 0; i < T; i++)
                for (int h = 0; h < H; h++)
                    for (int c = 0; c < D; c++) {
                        double sum = 0;
                        for (int j = 0; j < T; j++)
                            sum += w[((b * H + h) * T + i) * T + j] *
                                   qkv[(((b * T + j) * 3 + 2) * H + h) * D + c];
                        assert_true(fabs(sum - out[((b * T + i) * H + h) * D + c]) < 1e-12);
                    }
    }
    orrery_attention_free(a);
}

TEST(floats_are_those_of_the_backends)
{
    struct orrery_attention *a = NULL;
    struct orrery_attention_shape shape = shape_of("lssar", 4, ORRERY_FLOAT32);
    const struct k_attention_shape inside = {.B = B,
                                             .T = T,
                                             .H = H,
                                             .D = D,
                                             .power = 3,
                                             .window = 4,
                                             .variant = k_attention_find("lssar")};
    float x[3 * N], out[N], dqkv[3 * N], expected[N], saved[SAVED];
    fill();
    for (size_t i = 0; i < 3 * N; i++)
        x[i] = (float)qkv[i];
    assert_int_equal(orrery_attention_create(ORRERY_INTERFACE, &a), 0);
    for (shape.reference = 0; shape.reference < 2; shape.reference++) {
        const struct k_ops *ops = shape.reference ? &k_ref : k_cpu();
        passes32(a, &shape, out, dqkv);
        assert_int_equal(ops->attention_forward(expected, saved, x, &inside), 0);
        assert_memory_equal(out, expected, sizeof out);
    }
    orrery_attention_free(a);
}

TEST(lines_of_the_table_are_described)
{
    struct orrery_attention *a = NULL;
    struct orrery_attention_line line = {.bytes = sizeof line};
    assert_int_equal(orrery_attention_create(ORRERY_INTERFACE, &a), 0);
    for (const struct k_attention *v = k_attention_table; v->name; v++) {
        assert_int_equal(orrery_attention_describe(a, v->name, &line), 0);
        assert_string_equal(line.name, v->name);
        assert_non_null(line.score);
        assert_non_null(line.bias);
        assert_non_null(line.phi);
        assert_non_null(line.norm);
        assert_non_null(line.transform);
        assert_int_equal(line.reweight, v->reweight);
        assert_int_equal(line.unshifted_rows, v->unshifted_rows);
    }
    assert_int_equal(orrery_attention_describe(a, "rw_sigmoid", &line), 0);
    assert_string_equal(line.bias, "row");
    assert_string_equal(line.phi, "sigmoid");
    assert_string_equal(line.norm, "l1");
    REFUSED(a, ORRERY_EUSAGE, orrery_attention_describe(a, "lssarr", &line), "lssar");
    REFUSED(a, ORRERY_EINVAL, orrery_attention_describe(a, NULL, &line), "variant");
    line.bytes = 0;
    REFUSED(a, ORRERY_EINVAL, orrery_attention_describe(a, "lssar", &line), "bytes");
    orrery_attention_free(a);
}

TEST(arguments_are_checked)
{
    struct orrery_attention *a = NULL;
    struct orrery_attention_shape shape = shape_of("lssarr", 0, ORRERY_FLOAT64);
    double out[N];
    fill();
    assert_int_equal(orrery_attention_create(ORRERY_INTERFACE + 1, &a), ORRERY_EVERSION);
    assert_int_equal(orrery_attention_forward(NULL, &shape, qkv, out, NULL), ORRERY_EINVAL);
    assert_int_equal(orrery_attention_create(ORRERY_INTERFACE, &a), 0);
#define WRONG(status, part)                                                                        \
    REFUSED(a, status, orrery_attention_forward(a, &shape, qkv, out, NULL), part);                 \
    shape = shape_of("lssar", 0, ORRERY_FLOAT64)
    WRONG(ORRERY_EUSAGE, "lssar\"?");
    shape.variant = NULL;
    WRONG(ORRERY_EINVAL, "variant");
    shape.power = 0.5;
    WRONG(ORRERY_EINVAL, "power");
    shape.power = NAN;
    WRONG(ORRERY_EINVAL, "power");
    shape.window = -1;
    WRONG(ORRERY_EINVAL, "window");
    shape.type = 2;
    WRONG(ORRERY_EINVAL, "type");
    shape.rows = 0;
    WRONG(ORRERY_EINVAL, "rows");
    shape.size = shape.heads = shape.rows = 1 << 20;
    WRONG(ORRERY_EINVAL, "fewer than");
    shape.bytes = 4;
    WRONG(ORRERY_EINVAL, "bytes");
    shape.threads = -1;
    WRONG(ORRERY_EINVAL, "threads");
    REFUSED(a, ORRERY_EINVAL, orrery_attention_forward(a, &shape, NULL, out, NULL), "qkv");
    REFUSED(a, ORRERY_EINVAL, orrery_attention_forward(a, &shape, qkv, NULL, NULL), "out");
    REFUSED(a, ORRERY_EINVAL, orrery_attention_backward(a, &shape, qkv, out, NULL, dout, qkv),
            "saved");
    REFUSED(a, ORRERY_EINVAL, orrery_attention_saved(a, &shape, NULL), "count");
    qkv[17] = INFINITY;
    WRONG(ORRERY_EINVAL, "number 17");
    orrery_attention_free(a);
}

TESTS(NULL, NULL)
