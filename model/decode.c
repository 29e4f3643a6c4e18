/* decode.c - adds one row to every sequence of a batch at the cost of that row alone: keys and
 * values of earlier rows are kept. */
#include "decode.h"
#include "layers.h"

#include <stdlib.h>
#include <string.h>

int gpt_first_row(const struct gpt_model *model)
{
    return model->cache ? model->cache->row : 0;
}

/* Bytes of C numbers in a row of the pass. */
static size_t row_bytes(const struct gpt_model *model)
{
    return (size_t)model->config.width * (model->act->bf16 ? sizeof(uint16_t) : sizeof(real));
}

int gpt_cache_attend(struct gpt_model *model, int layer)
{
    const struct k_ops *k = model->ops;
    const struct gpt_cache *cache = model->cache;
    const struct gpt_layer_activations *a = &model->act->layer[layer];
    const size_t T = (size_t)cache->T, row = row_bytes(model);
    struct k_attention_shape shape = gpt_pass_shape(model, cache->B, cache->T);
    unsigned char *qkv = (unsigned char *)cache->qkv[layer];
    if (!cache->y) { /* a pass over all rows, for layers that share their memory */
        TRY(k->copy(qkv, a->qkv, (size_t)cache->B * T * 3 * row));
        return k->attention_forward(a->y, a->row_stats, a->qkv, &shape);
    }
    for (size_t b = 0; b < (size_t)cache->B; b++)
        TRY(k->copy(qkv + (b * T + (size_t)cache->row) * 3 * row,
                    (const unsigned char *)a->qkv + b * 3 * row, 3 * row));
    shape.first = cache->row;
    shape.end = cache->row + 1;
    TRY(k->attention_forward(cache->y, cache->row_stats, cache->qkv[layer], &shape));
    for (size_t b = 0; b < (size_t)cache->B; b++)
        TRY(k->copy((unsigned char *)a->y + b * row,
                    (const unsigned char *)cache->y + (b * T + (size_t)cache->row) * row, row));
    return 0;
}

/* Copies row t of the batch into a batch of its own. */
static void take_row(struct gpt_decoder *d, int t)
{
    const struct gpt_batch *from = d->batch;
    const size_t T = (size_t)from->T, F = (size_t)gpt_config_features(&d->model->config);
    const size_t channels = (size_t)gpt_config_channels(&d->model->config);
    for (size_t b = 0; b < (size_t)from->B; b++) {
        const size_t n = b * T + (size_t)t;
        if (from->tokens)
            memcpy(d->row.tokens + b * channels, from->tokens + n * channels,
                   channels * sizeof *from->tokens);
        else
            memcpy(d->row.features + b * F, from->features + n * F, F * sizeof *from->features);
    }
}

/* Allocates caches for layers that share their memory, and so keep no keys and values. */
static int open_cache(struct gpt_decoder *d)
{
    struct gpt_model *model = d->model;
    const size_t layers = (size_t)model->config.layers;
    const size_t count =
        (size_t)d->batch->B * (size_t)d->batch->T * 3 * (size_t)model->config.width;
    d->cache = (struct gpt_cache){.B = d->batch->B, .T = d->batch->T};
    d->cache.qkv = orr_alloc(layers, sizeof *d->cache.qkv);
    if (!d->cache.qkv)
        return ORR_ENOMEM;
    d->owns = model->config.recompute;
    for (size_t l = 0; l < layers && d->owns; l++)
        TRY(model->ops->alloc((void **)&d->cache.qkv[l], count * sizeof(real)));
    return gpt_batch_create(&d->row, &model->config, d->batch->B, 1);
}

/* Runs the pass over all rows; rows after t do not affect rows up to t. */
static int pass_over_all(struct gpt_decoder *d)
{
    struct gpt_model *model = d->model;
    model->cache = d->owns ? &d->cache : NULL;
    TRY(gpt_forward_body(model, d->batch));
    d->whole = model->act;
    model->act = NULL;
    for (int l = 0; l < model->config.layers && !d->owns; l++)
        d->cache.qkv[l] = d->whole->layer[l].qkv;
    d->cache.y = d->whole->layer[0].y;
    d->cache.row_stats = d->whole->layer[0].row_stats;
    model->cache = &d->cache;
    return 0;
}

int gpt_decoder_open(struct gpt_decoder *d, struct gpt_model *model, const struct gpt_batch *batch)
{
    *d = (struct gpt_decoder){.model = model, .batch = batch};
    int rc = open_cache(d);
    if (!rc)
        rc = pass_over_all(d);
    if (rc)
        gpt_decoder_close(d);
    return rc;
}

int gpt_decoder_first(struct gpt_decoder *d, int t, const real **out)
{
    struct gpt_model *model = d->model;
    const size_t C = (size_t)model->config.width, T = (size_t)d->batch->T;
    struct gpt_batch on;
    TRY(gpt_activations_take(model, &d->row, &on));
    for (size_t b = 0; b < (size_t)d->batch->B; b++)
        TRY(model->ops->copy(model->act->ln + b * C, d->whole->ln + (b * T + (size_t)t) * C,
                             C * sizeof(real)));
    return gpt_head_outputs(model, (size_t)d->batch->B, out);
}

int gpt_decoder_next(struct gpt_decoder *d, int t, const real **out)
{
    take_row(d, t);
    d->cache.row = t;
    return gpt_forward(d->model, &d->row, out);
}

void gpt_decoder_close(struct gpt_decoder *d)
{
    struct gpt_model *model = d->model;
    if (!model)
        return;
    model->cache = NULL;
    if (d->whole) {
        gpt_activations_free(model->act);
        model->act = d->whole;
    }
    for (int l = 0; d->owns && d->cache.qkv && l < model->config.layers; l++)
        model->ops->release(d->cache.qkv[l]);
    free(d->cache.qkv);
    gpt_batch_free(&d->row);
    *d = (struct gpt_decoder){0};
}
