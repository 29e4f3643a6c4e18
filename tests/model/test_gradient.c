/* test_gradient.c - the gradient of whole models: every head, input, position type and attention
 * variant. Built in double: the reference against central differences. Built in float: every other
 * backend against the reference. */
#include "on_ref.h"
#include "tiny.h"

static uint64_t draw_count;

static double uniform(void)
{
    return (double)(orr_rng_hash(7, ORR_STAGE_TEST_SUITE, 1, draw_count++) >> 11) * 0x1p-53;
}

static void fill(struct gpt_batch *batch, const struct gpt_config *c)
{
    const size_t N = (size_t)batch->B * (size_t)batch->T;
    const size_t channels = (size_t)gpt_config_channels(c);
    for (size_t n = 0; n < N; n++) {
        batch->weight[n] = n % 5 == 2 ? 0 : (real)(0.5 + uniform());
        if (batch->tokens)
            for (size_t k = 0; k < channels; k++)
                batch->tokens[channels * n + k] = (uint16_t)(uniform() * c->vocab);
        else if (c->input == GPT_INPUT_SPACE) {
            const double place[3] = {3 * uniform() - 1.5, 3 * uniform() - 1.5, 3 * uniform() - 1.5};
            gpt_place_features(c, place, n % (size_t)batch->T == 0,
                               batch->features + n * (size_t)gpt_config_features(c));
        } else
            gpt_place_features(c, (const double[]){3 * uniform() - 1.5, 3 * uniform() - 1.5},
                               n % (size_t)batch->T == 0,
                               batch->features + n * (size_t)gpt_config_features(c));
        if (batch->target_tokens)
            for (size_t k = 0; k < channels; k++)
                batch->target_tokens[channels * n + k] = (uint16_t)(uniform() * c->vocab);
        else
            for (int k = 0; k < c->outputs; k++)
                batch->target[n * (size_t)c->outputs + (size_t)k] = (real)(uniform() - 0.5);
    }
}

/* A model with larger weights than at initialisation, so that every path carries signal. */
static void make_model(struct gpt_model *model, const struct gpt_config *config,
                       const struct k_ops *ops)
{
    assert_int_equal(gpt_create(model, config, ops, 3), 0);
    draw_count = 0;
    for (int i = 0; i < model->parameters; i++)
        for (size_t j = 0; j < model->table[i].count; j++)
            gpt_param(model, i)[j] += (real)(0.4 * (uniform() - 0.5));
}

#ifdef K_DOUBLE
/* A few entries of parameter i by central differences. */
static void check_parameter(struct gpt_model *model, const struct gpt_batch *batch, int i)
{
    real *w = gpt_param(model, i);
    const real *g = gpt_grad(model, i);
    const size_t count = model->table[i].count;
    for (int k = 0; k < 3; k++) {
        const size_t at = (size_t)(uniform() * (double)count);
        const real keep = w[at];
        const double h = 3e-6;
        double up, down;
        w[at] = keep + (real)h;
        assert_int_equal(gpt_loss(model, batch, &up), 0);
        w[at] = keep - (real)h;
        assert_int_equal(gpt_loss(model, batch, &down), 0);
        w[at] = keep;
        const double numeric = (up - down) / (2 * h), error = fabs(numeric - (double)g[at]);
        if (!(error <= 1e-6 * fmax(fabs(numeric), 1e-3)))
            fail_msg("%s[%zu]: gradient %.12g, differences %.12g (%s)", model->table[i].name, at,
                     (double)g[at], numeric, model->config.attention);
    }
}

static void check_gradient(struct gpt_model *model, const struct gpt_batch *batch)
{
    for (int i = 0; i < model->parameters; i++)
        check_parameter(model, batch, i);
}
#else
static void compare_parameter(struct gpt_model *model, struct gpt_model *other, int i)
{
    const real *expected = gpt_grad(model, i), *found = gpt_grad(other, i);
    double largest = 1e-4;
    for (size_t j = 0; j < model->table[i].count; j++)
        largest = fmax(largest, fabs((double)expected[j]));
    for (size_t j = 0; j < model->table[i].count; j++)
        if (!(fabs((double)found[j] - (double)expected[j]) <= 2e-4 * largest))
            fail_msg("%s[%zu]: the gradient of %s is %.9g, of ref %.9g (%s)", model->table[i].name,
                     j, other->ops->name, (double)found[j], (double)expected[j],
                     model->config.attention);
}

static void check_gradient(struct gpt_model *model, const struct gpt_batch *batch)
{
    for (const struct k_ops *const *all = k_backends(); *all; all++) {
        struct gpt_model other;
        double loss, expected;
        if (*all == &k_ref)
            continue;
        assert_int_equal((*all)->open(2, false), 0);
        make_model(&other, &model->config, *all);
        gpt_zero_grad(&other);
        assert_int_equal(gpt_loss(model, batch, &expected), 0);
        assert_int_equal(gpt_loss_backward(&other, batch, &loss), 0);
        assert_true(fabs(loss - expected) <= 1e-5 * expected);
        for (int i = 0; i < model->parameters; i++)
            compare_parameter(model, &other, i);
        gpt_free(&other);
        (*all)->close();
    }
}
#endif

static void check_model(const struct gpt_config *config)
{
    struct gpt_model model;
    struct gpt_batch batch;
    double loss;
    make_model(&model, config, &k_ref);
    assert_int_equal(gpt_batch_create(&batch, config, 2, 7), 0);
    fill(&batch, config);
    gpt_zero_grad(&model);
    assert_int_equal(gpt_loss_backward(&model, &batch, &loss), 0);
    assert_true(isfinite(loss) && loss > 0);
    check_gradient(&model, &batch);
    gpt_batch_free(&batch);
    gpt_free(&model);
}

TEST(continuous_regression)
{
    static const enum orr_positions kinds[] = {ORR_POSITIONS_LEARNED, ORR_POSITIONS_ROPE,
                                               ORR_POSITIONS_NONE};
    for (int i = 0; i < 3; i++) {
        struct gpt_config c = tiny_continuous();
        c.positions = kinds[i];
        check_model(&c);
        c.huber = 0.3;
        check_model(&c);
    }
}

/* Three coordinates in and out; magnitudes out of them. */
TEST(space_regression)
{
    struct gpt_config c = tiny_space();
    assert_int_equal(gpt_config_features(&c), 3 + 1 + 2 * 3 * c.fourier);
    check_model(&c);
    c.huber = 0.3;
    check_model(&c);
    c.fourier = 0;
    c.outputs = 1;
    check_model(&c);
}

/* The loss of a regression head with huber is what the formula makes of its outputs. */
TEST(pseudo_huber_loss)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model;
    struct gpt_batch batch;
    const real *out;
    double loss, sum = 0, weights = 0;
    const double delta = 0.3;
    c.huber = delta;
    make_model(&model, &c, &k_ref);
    assert_int_equal(gpt_batch_create(&batch, &c, 2, 7), 0);
    fill(&batch, &c);
    assert_int_equal(gpt_forward(&model, &batch, &out), 0);
    for (size_t n = 0; n < 14; n++) {
        const double s = hypot((double)out[2 * n] - (double)batch.target[2 * n],
                               (double)out[2 * n + 1] - (double)batch.target[2 * n + 1]);
        const double row = delta * (sqrt(delta * delta + s * s) - delta);
        sum += (double)batch.weight[n] * row;
        weights += (double)batch.weight[n];
    }
    assert_int_equal(gpt_loss(&model, &batch, &loss), 0);
    assert_true(fabs(loss - sum / weights) <= 1e-6 * loss); /* 2 row / 2 columns */
    gpt_batch_free(&batch);
    gpt_free(&model);
}

TEST(every_attention_variant)
{
    for (const struct k_attention *a = k_attention_table; a->name; a++) {
        struct gpt_config c = tiny_continuous();
        snprintf(c.attention, sizeof c.attention, "%s", a->name);
        check_model(&c);
        c.attention_window = 5;
        check_model(&c);
    }
}

TEST(tokens_and_token_heads)
{
    for (int positions = ORR_POSITIONS_LEARNED; positions <= ORR_POSITIONS_NONE; positions++) {
        struct gpt_config c = tiny_tokens();
        c.positions = (enum orr_positions)positions;
        check_model(&c);
        c.head_bias = 1;
        check_model(&c);
        c.head_bias = 0;
        c.head = GPT_HEAD_REGRESSION; /* tokens in, forces out */
        c.outputs = 1;
        check_model(&c);
    }
}

/* A tied embedding has the sum of two gradients; its own head and its embedding have one each. */
TEST(text)
{
    static const enum orr_positions kinds[] = {ORR_POSITIONS_LEARNED, ORR_POSITIONS_ROPE,
                                               ORR_POSITIONS_NONE};
    for (int tied = 0; tied < 2; tied++)
        for (int i = 0; i < 3; i++) {
            struct gpt_config c = tiny_text(tied);
            c.positions = kinds[i];
            check_model(&c);
            c.gate = K_GATE_SOFTPLUS;
            strcpy(c.attention, "lssar");
            check_model(&c);
        }
}

TEST(output_gates)
{
    static const enum orr_positions kinds[] = {ORR_POSITIONS_LEARNED, ORR_POSITIONS_ROPE,
                                               ORR_POSITIONS_NONE};
    for (enum k_gate gate = K_GATE_SIGMOID; gate <= K_GATE_SOFTPLUS; gate++)
        for (int i = 0; i < 3; i++)
            for (int tokens = 0; tokens < 2; tokens++) {
                struct gpt_config c = tokens ? tiny_tokens() : tiny_continuous();
                c.positions = kinds[i];
                c.gate = gate;
                check_model(&c);
                strcpy(c.attention, "lssar");
                check_model(&c);
            }
}

TESTS_ON_REF(NULL, NULL)
