/* activations.c - memory of one forward and backward pass, planned from one list. */
#include "model.h"

#include <stdlib.h>

struct k_attention_shape gpt_attention_shape(const struct gpt_model *model, int B, int T)
{
    const struct gpt_config *c = &model->config;
    return (struct k_attention_shape){.B = B,
                                      .T = T,
                                      .H = c->heads,
                                      .D = c->width / c->heads,
                                      .variant = &model->variant,
                                      .p = c->attention_p,
                                      .window = c->attention_window};
}

static size_t widest(const struct gpt_config *c)
{
    const size_t qkv = 3 * (size_t)c->width, ffn = (size_t)c->ffn;
    return qkv > ffn ? qkv : ffn;
}

/* One piece of the plan: *where = count reals of the arena; without an arena only counts. */
static int piece(struct gpt_activations *act, size_t *bytes, real **where, size_t count)
{
    const size_t size = (count * sizeof(real) + 63) / 64 * 64;
    *bytes += size;
    if (!act->arena)
        return 0;
    *where = orr_arena_alloc(act->arena, size);
    return *where ? 0 : ORR_FAIL(ORR_ENOMEM, "activations: the plan does not fit its arena");
}

/* Token and text heads without bias make no array of all logits (head_cross_entropy). */
static bool fused_head(const struct gpt_config *c)
{
    return c->head != GPT_HEAD_REGRESSION && !c->head_bias;
}

static int plan(const struct gpt_model *model, struct gpt_activations *act, int B, int T,
                size_t *bytes)
{
    const struct gpt_config *c = &model->config;
    const size_t N = (size_t)B * (size_t)T, C = (size_t)c->width, F = (size_t)c->ffn;
    const struct k_attention_shape shape = gpt_attention_shape(model, B, T);
    const size_t saved = k_attention_saved(&shape), gate = c->gate == K_GATE_NONE ? 0 : N * C;
    struct gpt_layer_activations none = {0};
    int rc = 0;
    *bytes = 0;
    for (int i = 0; i < c->layers; i++) {
        struct gpt_layer_activations *l = act->arena ? &act->layer[i] : &none;
        if (c->recompute && i > 0) { /* of its own only the input */
            if (act->arena)
                *l = act->layer[0];
            rc |= piece(act, bytes, &l->x, N * C);
            continue;
        }
        const struct {
            real **where;
            size_t count;
        } list[] = {
            {&l->x, N * C},       {&l->ln1, N * C},   {&l->mean1, N},    {&l->rstd1, N},
            {&l->qkv, N * 3 * C}, {&l->saved, saved}, {&l->y, N * C},    {&l->mid, N * C},
            {&l->ln2, N * C},     {&l->mean2, N},     {&l->rstd2, N},    {&l->pre, N * F},
            {&l->up, N * F},      {&l->gate, gate},   {&l->gated, gate},
        };
        for (size_t k = 0; k < sizeof list / sizeof *list; k++)
            rc |= piece(act, bytes, list[k].where, list[k].count);
    }
    const size_t OC = (size_t)c->outputs;
    const struct {
        real **where;
        size_t count;
    } list[] = {
        {&act->embed, c->input == GPT_INPUT_TOKENS ? N * 2 * C : 0},
        {&act->last, N * C},
        {&act->ln, N * C},
        {&act->mean, N},
        {&act->rstd, N},
        {&act->dout, fused_head(c) ? 0 : N * OC},
        {&act->dx, N * C},
        {&act->dy, N * C},
        {&act->dwide, N * widest(c)},
        {&act->dgate, gate},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        rc |= piece(act, bytes, list[k].where, list[k].count);
    return rc;
}

size_t gpt_activation_bytes(const struct gpt_model *model, int B, int T)
{
    struct gpt_activations none = {0};
    size_t bytes;
    plan(model, &none, B, T, &bytes);
    return bytes;
}

void gpt_activations_free(struct gpt_activations *act)
{
    if (!act)
        return;
    orr_arena_free(act->arena);
    free(act->out);
    free(act->layer);
    free(act);
}

int gpt_activations_reserve_out(struct gpt_model *model)
{
    struct gpt_activations *act = model->act;
    const size_t N = (size_t)act->B * (size_t)act->T;
    if (!act->out)
        act->out = orr_alloc(N * (size_t)model->config.outputs, sizeof *act->out);
    return act->out ? 0 : ORR_ENOMEM;
}

int gpt_activations_reserve(struct gpt_model *model, int B, int T)
{
    if (model->act && model->act->T == T && B <= model->act->B)
        return 0;
    gpt_activations_free(model->act);
    model->act = calloc(1, sizeof *model->act);
    if (!model->act)
        return ORR_FAIL(ORR_ENOMEM, "activations: out of memory");
    struct gpt_activations *act = model->act;
    const size_t bytes = gpt_activation_bytes(model, B, T);
    act->layer = calloc((size_t)model->config.layers, sizeof *act->layer);
    act->arena = orr_arena_create(bytes);
    if (!act->layer || !act->arena) {
        gpt_activations_free(act);
        model->act = NULL;
        return ORR_FAIL(ORR_ENOMEM, "activations of %d x %d positions: %.1f MB: out of memory", B,
                        T, (double)bytes / 1e6);
    }
    act->B = B;
    act->T = T;
    size_t planned;
    return plan(model, act, B, T, &planned);
}
