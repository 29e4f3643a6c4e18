/* shape.h - models that benchmarks of trainings have: their configuration, synthetic batches, and
 * the operations of a step. */
#ifndef BENCH_SHAPE_H
#define BENCH_SHAPE_H

#include "model/gpt.h"

enum { SHAPE_VOCABULARY = 7003 };

struct shape {
    const char *name;
    bool tokens;
    int layers, width, heads, T, B, runs; /* T inputs; B sequences of a pass;
                                              runs: of the fast ones, many */
};

static inline void shape_config(struct gpt_config *c, const struct shape *s, const char *attention)
{
    *c = (struct gpt_config){.layers = s->layers,
                             .heads = s->heads,
                             .width = s->width,
                             .ffn = 4 * s->width,
                             .context = s->T,
                             .input = s->tokens ? GPT_INPUT_TOKENS : GPT_INPUT_CONTINUOUS,
                             .vocab = s->tokens ? SHAPE_VOCABULARY : 0,
                             .head = s->tokens ? GPT_HEAD_TOKENS : GPT_HEAD_REGRESSION,
                             .outputs = s->tokens ? 2 * SHAPE_VOCABULARY : 2,
                             .positions = ORR_POSITIONS_LEARNED,
                             .rope_base = 10000,
                             .power = 15};
    snprintf(c->attention, sizeof c->attention, "%s", attention);
}

/* 1e9 operations of a pass over N = B T tokens, multiply and add count as two: 6 N P + 6 L N T C, P
 * the weights that multiply (bench_train.c). */
static inline double shape_gflop(const struct shape *s)
{
    const double C = s->width, N = (double)s->B * s->T, L = s->layers;
    const double ends = s->tokens ? 2 * C * C + 2 * SHAPE_VOCABULARY * C : 5 * C;
    return 1e-9 * N * (6 * (12 * L * C * C + ends) + 6 * L * s->T * C);
}

static inline double shape_uniform(uint64_t draw)
{
    return (double)(orr_rng_hash(1, ORR_STAGE_INIT, 0, draw) >> 11) * 0x1p-53;
}

static inline void shape_fill(struct gpt_batch *batch, const struct gpt_config *c)
{
    const size_t N = (size_t)batch->B * (size_t)batch->T;
    uint64_t draw = 0;
    for (size_t i = 0; i < 2 * N && batch->tokens; i++) {
        batch->tokens[i] = (uint16_t)(shape_uniform(draw++) * c->vocab);
        batch->target_tokens[i] = (uint16_t)(shape_uniform(draw++) * c->vocab);
    }
    for (size_t i = 0; i < N * (size_t)gpt_config_features(c) && batch->features; i++)
        batch->features[i] = (real)(2 * shape_uniform(draw++) - 1);
    for (size_t i = 0; i < N * (size_t)c->outputs && batch->target; i++)
        batch->target[i] = (real)(2 * shape_uniform(draw++) - 1);
    for (size_t i = 0; i < N; i++)
        batch->weight[i] = 1;
}

#endif
