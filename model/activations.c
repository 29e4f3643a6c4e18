/* activations.c - memory of one forward and backward pass, laid out from one list of tensors,
 * and the batch. */
#include "activations.h"

#include <stdlib.h>

struct k_attention_shape gpt_attention_shape(const struct gpt_model *model, int B, int T)
{
    const struct gpt_config *c = &model->config;
    return (struct k_attention_shape){.B = B,
                                      .T = T,
                                      .H = c->heads,
                                      .D = c->width / c->heads,
                                      .variant = &model->variant,
                                      .power = c->power,
                                      .window = c->attention_window};
}

/* Whether the blocks of the model keep their tensors as bf16: where the backend supports bf16
 * tensors and rows are multiples of 16 bytes. Not with an output gate or rope, whose kernels
 * take reals. */
static bool keeps_bf16(const struct gpt_model *model)
{
    enum { PIECE = 8 }; /* bf16 in 16 bytes */
    const struct gpt_config *c = &model->config;
    return model->ops->has_bf16_tensors && model->ops->has_bf16_tensors() &&
           c->gate == K_GATE_NONE && c->positions != ORR_POSITIONS_ROPE && c->width % PIECE == 0 &&
           c->ffn % PIECE == 0;
}

/* Bytes per number of a tensor that may be bf16. */
static size_t bytes_of(bool bf16)
{
    return bf16 ? sizeof(uint16_t) : sizeof(real);
}

/* Bytes of a row of dwide: the larger of the gradients of qkv or of the feed-forward part, and
 * the gradients of two embeddings, which are reals. */
static size_t widest_scratch(const struct gpt_config *c, bool bf16)
{
    const size_t qkv = 3 * (size_t)c->width, ffn = (size_t)c->ffn;
    const size_t block = (qkv > ffn ? qkv : ffn) * bytes_of(bf16);
    const size_t pair = 2 * (size_t)c->width * sizeof(real);
    return block > pair ? block : pair;
}

/* Reserves one piece of the plan: *where points to it; without act->memory only counts its
 * bytes. */
static void place_bytes(struct gpt_activations *act, size_t *planned, void **where, size_t bytes)
{
    const size_t size = (bytes + 63) / 64 * 64;
    if (act->memory)
        *where = (unsigned char *)act->memory + *planned;
    *planned += size;
}

static void place_numbers(struct gpt_activations *act, size_t *planned, real **where, size_t bytes)
{
    void *at = *where;
    place_bytes(act, planned, &at, bytes);
    *where = at;
}

static void place_reals(struct gpt_activations *act, size_t *planned, real **where, size_t count)
{
    place_numbers(act, planned, where, count * sizeof(real));
}

/* Token and text heads without bias never hold all logits (head_cross_entropy). */
static bool fused_head(const struct gpt_config *c)
{
    return c->head != GPT_HEAD_REGRESSION && !c->head_bias;
}

/* Reserves the batch, where the backend has its own memory: the tensors that input and head
 * need. */
static void plan_input(const struct gpt_model *model, struct gpt_activations *act, size_t N,
                       size_t *planned)
{
    const struct gpt_config *c = &model->config;
    const size_t channels = (size_t)gpt_config_channels(c);
    const bool tokens = !gpt_is_continuous(c), classes = c->head != GPT_HEAD_REGRESSION;
    const size_t token = sizeof *act->input.tokens;
    void *in = NULL, *target = NULL;
    if (model->ops->host)
        return;
    place_bytes(act, planned, &in, tokens ? N * channels * token : 0);
    place_bytes(act, planned, &target, classes ? N * channels * token : 0);
    act->input.tokens = in;
    act->input.target_tokens = target;
    place_reals(act, planned, &act->input.features,
                tokens ? 0 : N * (size_t)gpt_config_features(c));
    place_reals(act, planned, &act->input.target, classes ? 0 : N * (size_t)c->outputs);
    place_reals(act, planned, &act->input.weight, N);
}

/* Reserves the tensors that belong to layer l alone. */
static void plan_layer(const struct gpt_model *model, struct gpt_activations *act,
                       struct gpt_layer_activations *l, int B, int T, size_t *planned)
{
    const struct gpt_config *c = &model->config;
    const size_t N = (size_t)B * (size_t)T, C = (size_t)c->width, F = (size_t)c->ffn;
    const struct k_attention_shape shape = gpt_attention_shape(model, B, T);
    const size_t row_stats = k_attention_row_stats(model->ops, &shape),
                 gate = c->gate == K_GATE_NONE ? 0 : N * C;
    const size_t wide = sizeof(real), either = bytes_of(keeps_bf16(model));
    const struct {
        real **where;
        size_t count, bytes;
    } list[] = {
        {&l->x, N * C, wide},    {&l->ln1, N * C, either},     {&l->mean1, N, wide},
        {&l->rstd1, N, wide},    {&l->qkv, N * 3 * C, either}, {&l->row_stats, row_stats, wide},
        {&l->y, N * C, either},  {&l->mid, N * C, wide},       {&l->ln2, N * C, either},
        {&l->mean2, N, wide},    {&l->rstd2, N, wide},         {&l->pre, N * F, either},
        {&l->up, N * F, either}, {&l->gate, gate, wide},       {&l->gated, gate, wide},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        place_numbers(act, planned, list[k].where, list[k].count * list[k].bytes);
}

/* Places every tensor in act->memory, or only counts bytes when that is NULL; returns the bytes
 * of all tensors. */
static size_t plan_tensors(const struct gpt_model *model, struct gpt_activations *act, int B, int T)
{
    const struct gpt_config *c = &model->config;
    const size_t N = (size_t)B * (size_t)T, C = (size_t)c->width;
    const size_t gate = c->gate == K_GATE_NONE ? 0 : N * C;
    const bool bf16 = keeps_bf16(model);
    struct gpt_layer_activations none = {0};
    void *param = NULL, *dx = NULL;
    size_t planned = 0;
    for (int i = 0; i < c->layers; i++) {
        struct gpt_layer_activations *l = act->memory ? &act->layer[i] : &none;
        if (c->recompute && i > 0) { /* each layer keeps only its input; all share the rest */
            if (act->memory)
                *l = act->layer[0];
            place_reals(act, &planned, &l->x, N * C);
            continue;
        }
        plan_layer(model, act, l, B, T, &planned);
    }
    const struct {
        real **where;
        size_t count;
    } list[] = {
        {&act->embed, c->input == GPT_INPUT_TOKENS ? N * 2 * C : 0},
        {&act->last, N * C},
        {&act->ln, N * C},
        {&act->mean, N},
        {&act->rstd, N},
        {&act->dx, N * C},
        {&act->dy, N * C},
        {&act->dgate, gate},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        place_reals(act, &planned, list[k].where, list[k].count);
    place_numbers(act, &planned, &act->dwide, N * widest_scratch(c, bf16));
    place_bytes(act, &planned, &dx, bf16 ? N * C * bytes_of(true) : 0);
    place_bytes(act, &planned, &param, bf16 ? model->total * bytes_of(true) : 0);
    if (bf16) {
        act->dx_bf16 = dx;
        act->param_bf16 = param;
    }
    plan_input(model, act, N, &planned);
    return planned;
}

/* Bytes of all tensors except outputs and their gradients. */
static size_t plan_bytes(const struct gpt_model *model, int B, int T)
{
    struct gpt_activations none = {0};
    return plan_tensors(model, &none, B, T);
}

size_t gpt_activation_bytes(const struct gpt_model *model, int B, int T)
{
    const struct gpt_config *c = &model->config;
    const size_t outputs = (size_t)B * (size_t)T * (size_t)c->outputs * sizeof(real);
    return plan_bytes(model, B, T) + (fused_head(c) ? 0 : 2 * outputs);
}

int gpt_evaluation_batch(const struct gpt_model *model, int T, int most)
{
    int B = most;
    while (B > 1 && plan_bytes(model, B, T) > (size_t)1 << 30)
        B = (B + 1) / 2;
    return B;
}

void gpt_activations_free(struct gpt_activations *act)
{
    if (!act)
        return;
    gpt_replay_free(act->ops, &act->replay);
    act->ops->release(act->memory);
    act->ops->release(act->out);
    act->ops->release(act->dout);
    gpt_host_copy_free(&act->host_out);
    gpt_host_copy_free(&act->host_residual);
    for (int l = 0; act->layer && l < act->layers; l++)
        gpt_host_copy_free(&act->layer[l].host_qkv);
    free(act->layer);
    free(act->degenerate);
    free(act);
}

int gpt_activations_reserve_out(struct gpt_activations *act, size_t count)
{
    if (count <= act->out_capacity)
        return 0;
    act->ops->release(act->out);
    act->out = NULL;
    act->out_capacity = 0;
    TRY(gpt_tensor_alloc(act->ops, &act->out, count));
    act->out_capacity = count;
    return 0;
}

int gpt_activations_reserve_dout(struct gpt_model *model)
{
    struct gpt_activations *act = model->act;
    const size_t count = (size_t)act->B * (size_t)act->T * (size_t)model->config.outputs;
    TRY(gpt_activations_reserve_out(act, count));
    return act->dout ? 0 : gpt_tensor_alloc(act->ops, &act->dout, count);
}

/* Reserves memory for B x T; keeps the present memory where it suffices. */
static int reserve_memory(struct gpt_model *model, int B, int T)
{
    if (model->act && model->act->T == T && B <= model->act->B &&
        model->act->bf16 == keeps_bf16(model))
        return 0;
    gpt_activations_free(model->act);
    model->act = calloc(1, sizeof *model->act);
    if (!model->act)
        return ORR_FAIL(ORR_ENOMEM, "activations: out of memory");
    struct gpt_activations *act = model->act;
    act->layers = model->config.layers;
    const size_t layers = (size_t)act->layers, bytes = plan_bytes(model, B, T);
    act->ops = model->ops;
    act->layer = calloc(layers, sizeof *act->layer);
    act->degenerate = calloc(layers, sizeof *act->degenerate);
    if (!act->layer || !act->degenerate || act->ops->alloc(&act->memory, bytes)) {
        gpt_activations_free(act);
        model->act = NULL;
        return ORR_FAIL(ORR_ENOMEM, "activations of %d x %d positions: %.1f MB: out of memory", B,
                        T, (double)bytes / 1e6);
    }
    act->B = B;
    act->T = T;
    act->bf16 = keeps_bf16(model);
    plan_tensors(model, act, B, T);
    return 0;
}

/* Copies a tensor of the batch to `to`; NULL where the batch lacks it or the model does not use
 * it (0 bytes). Sets *rc on failure. */
static void *copy_input(const struct k_ops *ops, void *to, const void *from, size_t bytes, int *rc)
{
    if (!from || !bytes || *rc)
        return NULL;
    *rc = ops->upload(to, from, bytes);
    return to;
}

int gpt_activations_take(struct gpt_model *model, const struct gpt_batch *batch,
                         struct gpt_batch *on)
{
    TRY(reserve_memory(model, batch->B, batch->T));
    *on = *batch;
    if (model->ops->host)
        return 0;
    const struct k_ops *k = model->ops;
    const struct gpt_config *c = &model->config;
    const struct gpt_batch *in = &model->act->input;
    const size_t N = (size_t)batch->B * (size_t)batch->T;
    const size_t pairs = N * (size_t)gpt_config_channels(c) * sizeof *in->tokens;
    const bool tokens = !gpt_is_continuous(c), classes = c->head != GPT_HEAD_REGRESSION;
    const size_t features = N * (size_t)gpt_config_features(c) * sizeof(real);
    const size_t target = N * (size_t)c->outputs * sizeof(real);
    int rc = 0;
    on->tokens = copy_input(k, in->tokens, batch->tokens, tokens ? pairs : 0, &rc);
    on->features = copy_input(k, in->features, batch->features, tokens ? 0 : features, &rc);
    on->target_tokens =
        copy_input(k, in->target_tokens, batch->target_tokens, classes ? pairs : 0, &rc);
    on->target = copy_input(k, in->target, batch->target, classes ? 0 : target, &rc);
    on->weight = copy_input(k, in->weight, batch->weight, N * sizeof(real), &rc);
    return rc;
}
