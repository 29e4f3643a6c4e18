/* tiny.h - models small enough to be trained inside a test, and batches of fixed random data. */
#ifndef TESTS_MODEL_TINY_H
#define TESTS_MODEL_TINY_H

#include "base/scratch.h"
#include "model/gpt.h"

#include <math.h>
#include <signal.h>

/* Uniform in [0, 1): number n of stream `stream`. */
static inline double tiny_uniform(uint64_t stream, uint64_t n)
{
    return (double)(orr_rng_hash(41, ORR_STAGE_TEST_SUITE, stream, n) >> 11) * 0x1p-53;
}

/* Coordinates in, coordinates out; every size differs from every other. */
static inline struct gpt_config tiny_continuous(void)
{
    return (struct gpt_config){.layers = 2,
                               .heads = 3,
                               .width = 18,
                               .ffn = 26,
                               .context = 11,
                               .input = GPT_INPUT_CONTINUOUS,
                               .fourier = 2,
                               .fourier_min_au = 0.7,
                               .head = GPT_HEAD_REGRESSION,
                               .outputs = 2,
                               .positions = ORR_POSITIONS_LEARNED,
                               .rope_base = 10000,
                               .attention = "softmax",
                               .power = 3};
}

/* Coordinates of three dimensions. */
static inline struct gpt_config tiny_space(void)
{
    struct gpt_config c = tiny_continuous();
    c.input = GPT_INPUT_SPACE;
    c.outputs = 3;
    return c;
}

static inline struct gpt_config tiny_tokens(void)
{
    struct gpt_config c = tiny_continuous();
    c.input = GPT_INPUT_TOKENS;
    c.vocab = 23;
    c.fourier = 0;
    c.head = GPT_HEAD_TOKENS;
    c.outputs = 2 * c.vocab;
    return c;
}

/* Text: one embedding, tied to the head or not. */
static inline struct gpt_config tiny_text(int tied)
{
    struct gpt_config c = tiny_tokens();
    c.input = GPT_INPUT_TEXT;
    c.head = GPT_HEAD_TEXT;
    c.outputs = c.vocab;
    c.tied = tied;
    return c;
}

/* Row n of a batch: inputs and targets of stream `stream`, weight 1. */
static inline void tiny_fill_row(struct gpt_batch *batch, const struct gpt_config *c, size_t n,
                                 uint64_t stream)
{
    const uint64_t at = 64 * (n % (size_t)batch->T), channels = (uint64_t)gpt_config_channels(c);
    batch->weight[n] = 1;
    for (uint64_t k = 0; k < channels && batch->tokens; k++)
        batch->tokens[channels * n + k] = (uint16_t)(tiny_uniform(stream, at + k) * c->vocab);
    if (batch->features)
        gpt_place_features(c,
                           (const double[]){3 * tiny_uniform(stream, at) - 1.5,
                                            3 * tiny_uniform(stream, at + 1) - 1.5,
                                            3 * tiny_uniform(stream, at + 60) - 1.5},
                           n % (size_t)batch->T == 0,
                           batch->features + n * (size_t)gpt_config_features(c));
    for (uint64_t k = 0; k < channels && batch->target_tokens; k++)
        batch->target_tokens[channels * n + k] =
            (uint16_t)(tiny_uniform(stream, at + 2 + k) * c->vocab);
    for (uint64_t k = 0; k < (uint64_t)c->outputs && batch->target; k++)
        batch->target[n * (size_t)c->outputs + k] = (real)(tiny_uniform(stream, at + 2 + k) - 0.5);
}

/* Sequence b of the batch is stream first + b. */
static inline void tiny_fill(struct gpt_batch *batch, const struct gpt_config *c, uint64_t first)
{
    for (size_t b = 0; b < (size_t)batch->B; b++)
        for (size_t t = 0; t < (size_t)batch->T; t++)
            tiny_fill_row(batch, c, b * (size_t)batch->T + t, first + b);
}

/* Plain AdamW on everything: no warm-up, no decay, no clipping. */
static inline struct orr_train_settings tiny_training(long steps, int batch)
{
    return (struct orr_train_settings){.steps = steps,
                                       .batch = batch,
                                       .accumulation = 1,
                                       .lr = 3e-3,
                                       .schedule = ORR_SCHEDULE_CONSTANT,
                                       .beta1 = 0.9,
                                       .beta2 = 0.95,
                                       .eval_sequences = 8};
}

/* A model after a few updates: moments and average exist. */
static inline void tiny_trained(struct gpt_model *model, const struct gpt_config *c)
{
    struct orr_train_settings t = tiny_training(3, 2);
    struct gpt_batch batch;
    double loss, norm;
    t.ema = 0.7;
    assert_int_equal(gpt_create(model, c, &k_ref, 6), 0);
    assert_int_equal(gpt_batch_create(&batch, c, 2, c->context), 0);
    for (long step = 0; step < t.steps; step++) {
        tiny_fill(&batch, c, 30 + (uint64_t)step);
        gpt_zero_grad(model);
        assert_int_equal(gpt_loss_backward(model, &batch, &loss), 0);
        assert_int_equal(gpt_update(model, &t, step, &norm), 0);
    }
    gpt_batch_free(&batch);
}

/* Weights larger than at initialisation, so that every path carries signal. */
static inline void tiny_enlarge(struct gpt_model *model)
{
    for (int i = 0; i < model->parameters; i++)
        for (size_t j = 0; j < model->table[i].count; j++)
            gpt_param(model, i)[j] += (real)(0.5 * (tiny_uniform(900 + (uint64_t)i, j) - 0.5));
}

/* A training on `sequences` fixed sequences, taken in turn; the loss of two others is logged. */
struct tiny_data {
    const struct gpt_config *config;
    struct gpt_batch held_out;
    int sequences, passes, evaluations;
    long stop_at; /* asks this process to stop during this step; -1 = never */
    int stop_pass;
    long broken_at; /* this step's targets are not numbers; -1 = never */
};

static inline int tiny_task_fill(void *context, long step, int pass, struct gpt_batch *batch)
{
    const struct tiny_data *data = context;
    const size_t first = ((size_t)step * (size_t)data->passes + (size_t)pass) * (size_t)batch->B;
    for (size_t b = 0; b < (size_t)batch->B; b++)
        for (size_t t = 0; t < (size_t)batch->T; t++)
            tiny_fill_row(batch, data->config, b * (size_t)batch->T + t,
                          1000 + (first + b) % (size_t)data->sequences);
    if (step == data->broken_at)
        batch->target[3] = NAN;
    if (step == data->stop_at && pass == data->stop_pass)
        raise(SIGTERM);
    return 0;
}

static inline int tiny_task_evaluate(void *context, struct gpt_model *model, double *loss)
{
    struct tiny_data *data = context;
    data->evaluations++;
    return gpt_loss(model, &data->held_out, loss);
}

static inline void tiny_data_create(struct tiny_data *data, const struct gpt_config *config,
                                    int sequences)
{
    *data = (struct tiny_data){
        .config = config, .sequences = sequences, .passes = 1, .stop_at = -1, .broken_at = -1};
    assert_int_equal(gpt_batch_create(&data->held_out, config, 2, config->context), 0);
    tiny_fill(&data->held_out, config, 2000);
}

static inline struct gpt_task tiny_task(struct tiny_data *data, const char *folder)
{
    return (struct gpt_task){.context = data,
                             .fill = tiny_task_fill,
                             .evaluate = tiny_task_evaluate,
                             .label = "test",
                             .folder = folder,
                             .checkpoint = "last.safetensors",
                             .best = "best.safetensors",
                             .log = "log.jsonl",
                             .T = data->config->context,
                             .quiet = true};
}

/* Bit for bit. */
static inline bool tiny_same(const real *a, const real *b, size_t n)
{
    return memcmp(a, b, n * sizeof *a) == 0;
}

#endif
