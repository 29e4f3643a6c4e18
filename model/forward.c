/* forward.c - passes of a model from a batch to the final norm, and back. Every line states the
 * shape of its result. */
#include "forward.h"
#include "decode.h"
#include "layers.h"

/* Writes the embedded input (N, C) into x. */
static int embed_input(struct gpt_model *model, const struct gpt_batch *batch, real *x)
{
    const struct k_ops *k = model->ops;
    const int N = batch->B * batch->T, C = model->config.width;
    const int V = model->config.vocab;
    if (model->config.input == GPT_INPUT_TEXT) {
        TRY(k->embed_forward(&(struct k_embedding){.N = N,
                                                   .V = V,
                                                   .C = C,
                                                   .token = batch->tokens,
                                                   .token_stride = 1,
                                                   .stride = C,
                                                   .table = gpt_param(model, model->embed_w),
                                                   .out = x}));
    } else if (model->config.input == GPT_INPUT_TOKENS) {
        real *both = model->act->embed; /* (N, 2C) */
        struct k_embedding e = {
            .N = N, .V = V, .C = C, .token_stride = 2, .stride = 2 * C, .out = both};
        for (int i = 0; i < 2; i++) {
            e.token = batch->tokens + i;
            e.at = i * C;
            e.table = gpt_param(model, i ? model->embed_y : model->embed_x);
            TRY(k->embed_forward(&e));
        }
        TRY(gpt_linear_forward(model, model->combine_w, model->combine_b,
                               (struct k_linear){.N = N, .inp = both, .out = x}));
    } else {
        TRY(gpt_linear_forward(
            model, model->embed_w, model->embed_b,
            (struct k_linear){.N = N, .inp = batch->features, .fp32_only = true, .out = x}));
    }
    if (model->position >= 0)
        TRY(k->position_forward(x, gpt_param(model, model->position) + gpt_first_row(model) * C, N,
                                batch->T, C));
    return 0;
}

struct k_attention_shape gpt_pass_shape(const struct gpt_model *model, int B, int T)
{
    struct k_attention_shape shape = gpt_attention_shape(model, B, T);
    shape.bf16 = model->act->bf16;
    shape.forward_only = !model->act->trains;
    shape.may_overwrite_qk = model->act->trains;
    return shape;
}

/* Computes a block up to its feed-forward activations: from x (N, C) of layer l to up (N, F),
 * including all that the backward pass needs. */
static int block_inside(struct gpt_model *model, int l, int B, int T)
{
    const struct k_ops *k = model->ops;
    const struct gpt_config *c = &model->config;
    const struct gpt_block *w = &model->block[l];
    struct gpt_layer_activations *a = &model->act->layer[l];
    const int N = B * T, C = c->width;
    const size_t NC = (size_t)N * (size_t)C;
    const bool bf16 = model->act->bf16;
    const struct k_attention_shape shape = gpt_pass_shape(model, B, T);

    TRY(gpt_norm_forward(
        model, w->ln1_w, w->ln1_b,
        (struct k_layernorm){
            .N = N, .x = a->x, .mean = a->mean1, .rstd = a->rstd1, .out = a->ln1, .bf16 = bf16}));
    TRY(gpt_linear_forward(
        model, w->qkv_w, w->qkv_b,
        (struct k_linear){
            .N = N, .inp = a->ln1, .out = a->qkv, .inp_bf16 = bf16, .out_bf16 = bf16}));
    if (c->positions == ORR_POSITIONS_ROPE)
        TRY(k->rope(a->qkv, &(struct k_rope){.B = B,
                                             .T = T,
                                             .H = c->heads,
                                             .D = C / c->heads,
                                             .base = c->rope_base,
                                             .offset = gpt_first_row(model)}));
    TRY(model->cache ? gpt_cache_attend(model, l)
                     : k->attention_forward(a->y, a->row_stats, a->qkv, &shape));
    const real *y = a->y; /* (N, C) input of proj */
    if (c->gate != K_GATE_NONE) {
        TRY(gpt_linear_forward(model, w->gate_w, -1,
                               (struct k_linear){.N = N, .inp = a->ln1, .out = a->gate}));
        TRY(k->gate_forward(&(struct k_gating){
            .act = c->gate, .n = NC, .y = a->y, .pre = a->gate, .out = a->gated}));
        y = a->gated;
    }
    TRY(gpt_linear_forward(
        model, w->proj_w, w->proj_b,
        (struct k_linear){.N = N, .inp = y, .out = a->mid, .residual = a->x, .inp_bf16 = bf16}));
    TRY(gpt_norm_forward(
        model, w->ln2_w, w->ln2_b,
        (struct k_layernorm){
            .N = N, .x = a->mid, .mean = a->mean2, .rstd = a->rstd2, .out = a->ln2, .bf16 = bf16}));
    return gpt_linear_forward(model, w->up_w, w->up_b,
                              (struct k_linear){.N = N,
                                                .inp = a->ln2,
                                                .out = a->up,
                                                .pre = a->pre,
                                                .inp_bf16 = bf16,
                                                .out_bf16 = bf16});
}

/* Computes a block: from x (N, C) of layer l to next (N, C). */
static int block_forward(struct gpt_model *model, int l, real *next, int B, int T)
{
    const struct k_ops *k = model->ops;
    const struct gpt_config *c = &model->config;
    const struct gpt_block *w = &model->block[l];
    struct gpt_activations *act = model->act;
    struct gpt_layer_activations *a = &act->layer[l];
    const int N = B * T;
    TRY(block_inside(model, l, B, T));
    act->made = l;
    /* With recomputation the next block overwrites the row statistics: count its zero rows now. */
    if (c->recompute) {
        const struct k_attention_shape shape = gpt_pass_shape(model, B, T);
        TRY(k->attention_degenerate(&act->degenerate[l], a->row_stats, &shape));
    }
    return gpt_linear_forward(
        model, w->down_w, w->down_b,
        (struct k_linear){
            .N = N, .inp = a->up, .out = next, .residual = a->mid, .inp_bf16 = act->bf16});
}

int gpt_block_redo(struct gpt_model *model, int l, int B, int T)
{
    if (!model->config.recompute || model->act->made == l)
        return 0;
    TRY(block_inside(model, l, B, T));
    model->act->made = l;
    return 0;
}

int gpt_layer_qkv(struct gpt_model *model, int layer, const real **qkv)
{
    struct gpt_activations *act = model->act;
    const bool there = !model->config.recompute || layer == act->made;
    const size_t N = (size_t)act->sequences * (size_t)act->T;
    return gpt_copy_to_host_as(model->ops, &act->layer[layer].host_qkv,
                               there ? act->layer[layer].qkv : NULL, act->bf16,
                               N * 3 * (size_t)model->config.width, qkv);
}

int gpt_degenerate_rows(const struct gpt_model *model, long *rows)
{
    const struct gpt_activations *act = model->act;
    *rows = 0;
    if (!act || act->sequences < 1)
        return ORR_FAIL(ORR_EINVAL, "degenerate rows: there was no forward pass");
    const struct k_attention_shape shape = gpt_pass_shape(model, act->sequences, act->T);
    int rc = 0;
    for (int l = 0; l < model->config.layers && !model->config.recompute && !rc; l++)
        rc = model->ops->attention_degenerate(&act->degenerate[l], act->layer[l].row_stats, &shape);
    TRY(gpt_settle(model->ops, rc));
    for (int l = 0; l < model->config.layers; l++)
        *rows += act->degenerate[l];
    return 0;
}

static int check_batch(const struct gpt_model *model, const struct gpt_batch *batch)
{
    if (batch->T > model->config.context)
        return ORR_FAIL(ORR_EINVAL,
                        "a sequence of %d positions does not fit the model's context "
                        "of %d",
                        batch->T, model->config.context);
    if (gpt_is_continuous(&model->config) ? !batch->features : !batch->tokens)
        return ORR_FAIL(ORR_EINVAL, "the batch lacks the model's kind of input");
    return 0;
}

/* Runs the pass from the batch (in memory of the backend) to the final norm, act->ln (N, C).
 * trains: a backward pass follows. */
static int body_forward(struct gpt_model *model, const struct gpt_batch *batch, bool trains)
{
    const struct gpt_config *c = &model->config;
    struct gpt_activations *act = model->act;
    const int N = batch->B * batch->T;
    act->trains = trains;
    TRY(gpt_parameters_to_bf16(model));
    TRY(embed_input(model, batch, act->layer[0].x));
    TRY(gpt_patch_residual(model, 0, batch->B, batch->T));
    for (int l = 0; l < c->layers; l++) {
        TRY(block_forward(model, l, l + 1 < c->layers ? act->layer[l + 1].x : act->last, batch->B,
                          batch->T));
        TRY(gpt_patch_residual(model, l + 1, batch->B, batch->T));
    }
    TRY(gpt_norm_forward(
        model, model->final_w, model->final_b,
        (struct k_layernorm){
            .N = N, .x = act->last, .mean = act->mean, .rstd = act->rstd, .out = act->ln}));
    act->sequences = batch->B;
    return 0;
}

int gpt_body(struct gpt_model *model, const struct gpt_batch *batch, struct gpt_batch *on)
{
    TRY(check_batch(model, batch));
    TRY(gpt_activations_take(model, batch, on));
    return body_forward(model, on, false);
}

int gpt_forward_body(struct gpt_model *model, const struct gpt_batch *batch)
{
    struct gpt_batch on;
    return gpt_settle(model->ops, gpt_body(model, batch, &on));
}

/* The attention half of a block's backward pass: replaces the gradient of `mid` in dx (N, C) by
 * the gradient of the block's input. */
static int attention_backward(struct gpt_model *model, int l, int B, int T)
{
    const struct k_ops *k = model->ops;
    const struct gpt_config *c = &model->config;
    const struct gpt_block *w = &model->block[l];
    struct gpt_activations *act = model->act;
    const struct gpt_layer_activations *a = &act->layer[l];
    const int N = B * T, C = c->width;
    const size_t NC = (size_t)N * (size_t)C;
    const bool gate = c->gate != K_GATE_NONE, bf16 = act->bf16;
    const struct k_attention_shape shape = gpt_pass_shape(model, B, T);

    TRY(gpt_linear_backward(model, w->proj_w, bf16 ? -1 : w->proj_b,
                            (struct k_linear){.N = N,
                                              .inp = gate ? a->gated : a->y,
                                              .dout = bf16 ? act->dx_bf16 : act->dx,
                                              .dinp = act->dy,
                                              .inp_bf16 = bf16,
                                              .out_bf16 = bf16}));
    if (gate)
        TRY(k->gate_backward(&(struct k_gating){.act = c->gate,
                                                .n = NC,
                                                .y = a->y,
                                                .pre = a->gate,
                                                .dout = act->dy,
                                                .dy = act->dy,
                                                .dpre = act->dgate}));
    TRY(k->attention_backward(act->dwide, act->dy, a->y, a->row_stats, a->qkv, &shape));
    if (c->positions == ORR_POSITIONS_ROPE)
        TRY(k->rope(act->dwide, &(struct k_rope){.B = B,
                                                 .T = T,
                                                 .H = c->heads,
                                                 .D = C / c->heads,
                                                 .base = c->rope_base,
                                                 .inverse = true}));
    TRY(gpt_linear_backward(model, w->qkv_w, w->qkv_b,
                            (struct k_linear){.N = N,
                                              .inp = a->ln1,
                                              .dout = act->dwide,
                                              .dinp = act->dy,
                                              .inp_bf16 = bf16,
                                              .out_bf16 = bf16}));
    if (gate) { /* ln1 feeds qkv and the gate: both gradients are added */
        TRY(gpt_linear_backward(
            model, w->gate_w, -1,
            (struct k_linear){.N = N, .inp = a->ln1, .dout = act->dgate, .dinp = act->dwide}));
        TRY(k->add(act->dy, act->dy, act->dwide, NC));
    }
    return gpt_norm_backward(
        model, w->ln1_w, w->ln1_b,
        (struct k_layernorm){.N = N,
                             .x = a->x,
                             .mean = a->mean1,
                             .rstd = a->rstd1,
                             .bf16 = bf16,
                             .dx_sums = bf16 && l > 0 ? gpt_grad(model, w[-1].down_b) : NULL});
}

/* Backward pass of a block: replaces the gradient of its output in dx (N, C) by the gradient of
 * its input. */
static int block_backward(struct gpt_model *model, int l, int B, int T)
{
    const struct gpt_block *w = &model->block[l];
    struct gpt_activations *act = model->act;
    const struct gpt_layer_activations *a = &act->layer[l];
    const int N = B * T;
    const bool bf16 = act->bf16;
    const bool copied =
        bf16 && l + 1 < model->config.layers; /* the final norm makes no copy of dx */

    TRY(gpt_block_redo(model, l, B, T));
    /* feed-forward half: dx is the gradient of mid through the residual. In a bf16 model the pass
     * that makes dwide the gradient of pre sums its columns for the bias of `up` as well. */
    TRY(gpt_linear_backward(model, w->down_w, copied ? -1 : w->down_b,
                            (struct k_linear){.N = N,
                                              .inp = a->up,
                                              .dout = copied ? act->dx_bf16 : act->dx,
                                              .dinp = act->dwide,
                                              .inp_pre = a->pre,
                                              .inp_bf16 = bf16,
                                              .out_bf16 = copied,
                                              .inp_db = bf16 ? gpt_grad(model, w->up_b) : NULL}));
    TRY(gpt_linear_backward(model, w->up_w, bf16 ? -1 : w->up_b,
                            (struct k_linear){.N = N,
                                              .inp = a->ln2,
                                              .dout = act->dwide,
                                              .dinp = act->dy,
                                              .inp_bf16 = bf16,
                                              .out_bf16 = bf16}));
    TRY(gpt_norm_backward(
        model, w->ln2_w, w->ln2_b,
        (struct k_layernorm){.N = N,
                             .x = a->mid,
                             .mean = a->mean2,
                             .rstd = a->rstd2,
                             .bf16 = bf16,
                             .dx_sums = bf16 ? gpt_grad(model, w->proj_b) : NULL}));
    return attention_backward(model, l, B, T);
}

static int embed_backward(struct gpt_model *model, const struct gpt_batch *batch)
{
    const struct k_ops *k = model->ops;
    const struct gpt_activations *act = model->act;
    const int N = batch->B * batch->T, C = model->config.width;
    if (model->position >= 0)
        TRY(k->position_backward(gpt_grad(model, model->position), act->dx, N, batch->T, C));
    if (gpt_is_continuous(&model->config))
        return gpt_linear_backward(
            model, model->embed_w, model->embed_b,
            (struct k_linear){.N = N, .inp = batch->features, .fp32_only = true, .dout = act->dx});
    const int V = model->config.vocab;
    if (model->config.input == GPT_INPUT_TEXT)
        return k->embed_backward(&(struct k_embedding){.N = N,
                                                       .V = V,
                                                       .C = C,
                                                       .token = batch->tokens,
                                                       .token_stride = 1,
                                                       .stride = C,
                                                       .dout = act->dx,
                                                       .dtable = gpt_grad(model, model->embed_w)});
    TRY(gpt_linear_backward(
        model, model->combine_w, model->combine_b,
        (struct k_linear){.N = N, .inp = act->embed, .dout = act->dx, .dinp = act->dwide}));
    struct k_embedding e = {
        .N = N, .V = V, .C = C, .token_stride = 2, .stride = 2 * C, .dout = act->dwide};
    for (int i = 0; i < 2; i++) {
        e.token = batch->tokens + i;
        e.at = i * C;
        e.dtable = gpt_grad(model, i ? model->embed_y : model->embed_x);
        TRY(k->embed_backward(&e));
    }
    return 0;
}

/* Reports that the gradients from this parameter on are final. */
static int tell_graded(struct gpt_model *model, int parameter)
{
    if (!model->on_gradient_ready || !model->ops->host)
        return 0;
    return model->on_gradient_ready(model->gradient_ready_context, model->table[parameter].offset);
}

int gpt_pass(struct gpt_model *model, const struct gpt_batch *on)
{
    TRY(body_forward(model, on, true));
    const struct k_ops *k = model->ops;
    const struct gpt_config *c = &model->config;
    struct gpt_activations *act = model->act;
    const int N = on->B * on->T, C = c->width;
    TRY(gpt_head_backward(model, on));
    if (model->frozen > model->final_w) /* nothing below the head is trained */
        return 0;
    TRY(k->zero(act->dx, (size_t)N * (size_t)C * sizeof(real)));
    TRY(gpt_norm_backward(
        model, model->final_w, model->final_b,
        (struct k_layernorm){.N = N, .x = act->last, .mean = act->mean, .rstd = act->rstd}));
    TRY(tell_graded(model, model->final_w));
    for (int l = c->layers - 1; l >= 0 && model->block[l].ln1_w >= model->frozen; l--) {
        TRY(block_backward(model, l, on->B, on->T));
        TRY(tell_graded(model, model->block[l].ln1_w));
    }
    return model->frozen > 0 ? 0 : embed_backward(model, on);
}

int gpt_loss_backward(struct gpt_model *model, const struct gpt_batch *batch, double *loss)
{
    struct gpt_batch on;
    TRY(check_batch(model, batch));
    TRY(gpt_activations_take(model, batch, &on));
    TRY(gpt_settle(model->ops, gpt_replay_pass(model, &on)));
    const double *part = model->act->pass_loss;
    const bool biased = model->config.head == GPT_HEAD_TOKENS && model->head_b >= 0;
    *loss = biased ? 0.5 * (part[0] + part[1]) : part[0];
    return 0;
}
