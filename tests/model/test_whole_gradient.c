/* test_whole_gradient.c - the cpu backend against ref in whole models: gradients, in fp32 and in
 * bf16, and loss curves of trainings.
 *
 * Tolerances are measured, not chosen. Arithmetic with unit roundoff u that adds up n numbers gives
 * the exact result of inputs changed by about sqrt(n) u relatively (n u at worst). So ref is asked
 * what changing every weight by that much, at random, does to its results: cpu may differ from ref
 * by a small multiple of it. Each bound is then shown to be sharp: with one linear map's gradients
 * a hundredth too large the comparison has to fail. (ref itself is held against differences in
 * double in test_gradient.c.) */
#include "on_ref.h"
#include "tiny.h"

#include <float.h>

enum {
    DRAWS = 2,   /* changes of the weights that are tried */
    FACTOR = 12, /* rounding happens in every operation, the changes only in the weights */
    STEPS = 50,
};
static const double BF16_ROUNDOFF = 0x1p-9;

static double signed_uniform(uint64_t stream, uint64_t n)
{
    return 2 * tiny_uniform(stream, n) - 1;
}

/* Every weight w becomes w (1 + relative r), r in [-1, 1): draw number `draw`. */
static void change_weights(struct gpt_model *model, double relative, uint64_t draw)
{
    for (int i = 0; i < model->parameters; i++)
        for (size_t j = 0; j < model->table[i].count; j++) {
            real *w = gpt_param(model, i) + j;
            *w = (real)((double)*w *
                        (1 + relative * signed_uniform(7000 + 100 * draw + (uint64_t)i, j)));
        }
}

/* The relative change of weights that stands for the rounding of a pass in fp32: the longest sum is
 * over ffn or 3 width numbers. */
static double fp32_error(const struct gpt_config *c)
{
    return FLT_EPSILON / 2 * sqrt((double)(c->ffn > 3 * c->width ? c->ffn : 3 * c->width));
}

/* ------------------------------------------------------------------------------ gradients */

static void gradient(struct gpt_model *model, const struct gpt_batch *batch)
{
    double loss;
    gpt_zero_grad(model);
    assert_int_equal(gpt_loss_backward(model, batch, &loss), 0);
    assert_true(isfinite(loss) && loss > 0);
}

static double distance(const real *a, const real *b, size_t n)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += ((double)a[j] - (double)b[j]) * ((double)a[j] - (double)b[j]);
    return sqrt(sum);
}

static void create(struct gpt_model *model, const struct gpt_config *c, const struct k_ops *ops)
{
    assert_int_equal(gpt_create(model, c, ops, 3), 0);
    tiny_enlarge(model);
}

/* bound[i]: by how much (2-norm) the gradient of parameter i may differ from ref's. A parameter
 * whose gradient is 0 up to rounding (the key's bias under softmax) is measured by the whole. */
static void measure_bounds(struct gpt_model *ref, const struct gpt_batch *batch, double relative,
                           double *bound)
{
    struct gpt_model changed;
    double whole = 0;
    memset(bound, 0, (size_t)ref->parameters * sizeof *bound);
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        create(&changed, &ref->config, &k_ref);
        change_weights(&changed, relative, draw);
        gradient(&changed, batch);
        for (int i = 0; i < ref->parameters; i++)
            bound[i] = fmax(bound[i],
                            distance(gpt_grad(ref, i), gpt_grad(&changed, i), ref->table[i].count));
        gpt_free(&changed);
    }
    for (int i = 0; i < ref->parameters; i++)
        whole = fmax(whole, bound[i]);
    for (int i = 0; i < ref->parameters; i++)
        bound[i] = FACTOR * fmax(bound[i], 1e-2 * whole);
}

/* The first parameter out of bounds, or -1. */
static int outside(struct gpt_model *ref, struct gpt_model *found, const double *bound)
{
    for (int i = 0; i < ref->parameters; i++)
        if (!(distance(gpt_grad(ref, i), gpt_grad(found, i), ref->table[i].count) <= bound[i]))
            return i;
    return -1;
}

static void check_gradient(const struct gpt_config *c, bool bf16)
{
    struct gpt_model ref, found;
    struct gpt_batch batch;
    double *bound = test_calloc(64, sizeof *bound);
    assert_int_equal(gpt_batch_create(&batch, c, 2, 8), 0);
    tiny_fill(&batch, c, 60);
    create(&ref, c, &k_ref);
    assert_true(ref.parameters <= 64);
    gradient(&ref, &batch);
    measure_bounds(&ref, &batch, bf16 ? BF16_ROUNDOFF : fp32_error(c), bound);
    assert_int_equal(k_cpu()->open(2, bf16 ? K_PRECISION_BF16 : K_PRECISION_FP32), 0);
    create(&found, c, k_cpu());
    gradient(&found, &batch);
    const int bad = outside(&ref, &found, bound);
    if (bad >= 0)
        fail_msg(
            "%s, positions %d, gate %d, head %d, bf16 %d: the gradient of %s differs from "
            "ref's by %.3g, bound %.3g",
            c->attention, (int)c->positions, (int)c->gate, (int)c->head, bf16, ref.table[bad].name,
            distance(gpt_grad(&ref, bad), gpt_grad(&found, bad), ref.table[bad].count), bound[bad]);
    /* sharp */
    const int spoiled = ref.block[1].up_w;
    for (size_t j = 0; j < ref.table[spoiled].count; j++)
        gpt_grad(&found, spoiled)[j] *= (real)(bf16 ? 1.5 : 1.01);
    assert_int_equal(outside(&ref, &found, bound), spoiled);
    gpt_free(&found);
    gpt_free(&ref);
    gpt_batch_free(&batch);
    k_cpu()->close();
    test_free(bound);
}

/* Both heads and inputs, all position types and gates; four kinds of attention in turn. */
static void every_model(void (*check)(const struct gpt_config *c))
{
    static const char *const attention[] = {"softmax", "lssa", "lssar", "rw_softmax"};
    int turn = 0;
    for (int kind = 0; kind < 3; kind++)
        for (int positions = ORR_POSITIONS_LEARNED; positions <= ORR_POSITIONS_NONE; positions++)
            for (int gate = K_GATE_NONE; gate <= K_GATE_SOFTPLUS; gate++) {
                struct gpt_config c = kind ? tiny_tokens() : tiny_continuous();
                if (kind == 2) { /* tokens in, forces out */
                    c.head = GPT_HEAD_REGRESSION;
                    c.outputs = 1;
                }
                c.positions = (enum orr_positions)positions;
                c.gate = (enum k_gate)gate;
                snprintf(c.attention, sizeof c.attention, "%s", attention[turn++ % 4]);
                check(&c);
            }
}

static void check_fp32(const struct gpt_config *c)
{
    check_gradient(c, false);
}

TEST(test_gradient_fp32)
{
    every_model(check_fp32);
}

/* Wide enough for the linear maps to be computed in bf16 (kernels/cpu/linear.c). */
static void check_bf16(const struct gpt_config *c)
{
    assert_true(c->width >= 16 && c->ffn >= 16);
    check_gradient(c, true);
}

TEST(test_gradient_bf16)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_batch batch;
    struct gpt_model in[2];
    assert_int_equal(gpt_batch_create(&batch, &c, 2, 8), 0);
    tiny_fill(&batch, &c, 60);
    for (int bf16 = 0; bf16 < 2; bf16++) { /* does this machine use it? */
        assert_int_equal(k_cpu()->open(2, bf16 ? K_PRECISION_BF16 : K_PRECISION_FP32), 0);
        create(&in[bf16], &c, k_cpu());
        gradient(&in[bf16], &batch);
        k_cpu()->close();
    }
    const bool used = !tiny_same(in[0].grad, in[1].grad, in[0].total);
    gpt_free(&in[0]);
    gpt_free(&in[1]);
    gpt_batch_free(&batch);
    if (!used)
        skip(); /* no bf16 multiplication in this machine */
    every_model(check_bf16);
}

/* ---------------------------------------------------------------------------- loss curves */

/* Losses of STEPS steps. relative: weights are changed by so much before every step; rate: the
 * learning rate is so many times the right one. */
static void curve(const struct gpt_config *c, const struct k_ops *ops, double relative,
                  uint64_t draw, double rate, double loss[STEPS])
{
    struct orr_train_settings t = tiny_training(STEPS, 2);
    struct gpt_model model;
    struct gpt_batch batch;
    double norm;
    t.lr = 1e-3 * rate;
    t.warmup = 5;
    t.clip = 1;
    t.weight_decay = 0.1;
    create(&model, c, ops);
    assert_int_equal(gpt_batch_create(&batch, c, 2, c->context), 0);
    for (long step = 0; step < STEPS; step++) {
        tiny_fill(&batch, c, 300 + 2 * (uint64_t)(step % 5));
        gpt_zero_grad(&model);
        if (relative > 0)
            change_weights(&model, relative, 1000 * draw + (uint64_t)step);
        assert_int_equal(gpt_loss_backward(&model, &batch, &loss[step]), 0);
        assert_int_equal(gpt_update(&model, &t, step, &norm), 0);
    }
    gpt_batch_free(&batch);
    gpt_free(&model);
}

/* The first step at which a curve is out of bounds, or -1. */
static int leaves(const double *expected, const double *found, const double *bound)
{
    for (int step = 0; step < STEPS; step++)
        if (!(fabs(found[step] - expected[step]) <= bound[step]))
            return step;
    return -1;
}

static void check_curve(const struct gpt_config *c)
{
    double expected[STEPS], found[STEPS], bound[STEPS] = {0}, largest = 0;
    curve(c, &k_ref, 0, 0, 1, expected);
    for (uint64_t draw = 1; draw <= DRAWS; draw++) {
        curve(c, &k_ref, fp32_error(c), draw, 1, found);
        for (int step = 0; step < STEPS; step++)
            bound[step] = fmax(bound[step], fabs(found[step] - expected[step]));
    }
    for (int step = 0; step < STEPS; step++) { /* differences grow: the largest so far */
        largest = fmax(largest, bound[step]);
        bound[step] = FACTOR * fmax(largest, FLT_EPSILON * expected[0]);
    }
    assert_true(expected[STEPS - 1] < expected[0] - 0.1);
    assert_int_equal(k_cpu()->open(2, false), 0);
    curve(c, k_cpu(), 0, 0, 1, found);
    k_cpu()->close();
    const int bad = leaves(expected, found, bound);
    if (bad >= 0)
        fail_msg("%s: the losses at step %d are %.9g (cpu) and %.9g (ref), bound %.3g",
                 c->attention, bad + 1, found[bad], expected[bad], bound[bad]);
    curve(c, &k_ref, 0, 0, 1.001, found); /* sharp */
    assert_true(leaves(expected, found, bound) > 0);
    print_message("%s, %s: losses %.6g to %.6g, bounds %.2g to %.2g\n", c->attention,
                  c->input == GPT_INPUT_TOKENS ? "tokens" : "coordinates", expected[0],
                  expected[STEPS - 1], bound[0], bound[STEPS - 1]);
}

TEST(test_curves)
{
    static const char *const attention[] = {"softmax", "lssar"};
    for (int a = 0; a < 2; a++)
        for (int kind = 0; kind < 2; kind++) {
            struct gpt_config c = kind ? tiny_tokens() : tiny_continuous();
            snprintf(c.attention, sizeof c.attention, "%s", attention[a]);
            c.positions = a == kind ? ORR_POSITIONS_ROPE : ORR_POSITIONS_LEARNED;
            check_curve(&c);
        }
}

TESTS_ON_REF(NULL, NULL)
