/* layers.c - linear layers and norms of a model, given by indices of parameters. They use bf16
 * copies of the weights and bf16 tensors with gpt_activations.bf16. */
#include "layers.h"

int gpt_parameters_to_bf16(struct gpt_model *model)
{
    struct gpt_activations *act = model->act;
    return act->bf16 ? model->ops->to_bf16(act->param_bf16, model->param, model->total) : 0;
}

/* The bf16 copy of a parameter, or NULL. */
static const void *bf16_copy_of(const struct gpt_model *model, int index)
{
    const struct gpt_activations *act = model->act;
    return act->bf16 && index >= 0 ? act->param_bf16 + model->table[index].offset * sizeof(uint16_t)
                                   : NULL;
}

/* The shape and the weights of a layer: a weight is (OC, C). */
static void weights_of(struct gpt_model *model, int w, int b, struct k_linear *layer)
{
    layer->C = (int)model->table[w].shape[1];
    layer->OC = (int)model->table[w].shape[0];
    layer->w = gpt_param(model, w);
    layer->b = gpt_param(model, b);
    if (!layer->fp32_only) {
        layer->w_bf16 = bf16_copy_of(model, w);
        layer->b_bf16 = bf16_copy_of(model, b);
    }
}

int gpt_linear_forward(struct gpt_model *model, int w, int b, struct k_linear layer)
{
    weights_of(model, w, b, &layer);
    return model->ops->linear_forward(&layer);
}

int gpt_linear_backward(struct gpt_model *model, int w, int b, struct k_linear layer)
{
    weights_of(model, w, b, &layer);
    layer.dw = gpt_grad(model, w);
    layer.db = gpt_grad(model, b);
    return model->ops->linear_backward(&layer);
}

int gpt_norm_forward(struct gpt_model *model, int w, int b, struct k_layernorm norm)
{
    norm.C = model->config.width;
    norm.gamma = gpt_param(model, w);
    norm.beta = gpt_param(model, b);
    return model->ops->layernorm_forward(&norm);
}

int gpt_norm_backward(struct gpt_model *model, int w, int b, struct k_layernorm norm)
{
    const struct gpt_activations *act = model->act;
    norm.C = model->config.width;
    norm.gamma = gpt_param(model, w);
    norm.dgamma = gpt_grad(model, w);
    norm.dbeta = gpt_grad(model, b);
    norm.dout = act->dy;
    norm.dx = act->dx;
    norm.dx_bf16 = norm.dx_sums ? act->dx_bf16 : NULL;
    return model->ops->layernorm_backward(&norm);
}
