/* layers.c - linear layers and norms of a model by indices of parameters: with bf16 copies of
 * the weights, and bf16 tensors, where the model is narrow (gpt_activations.narrow). */
#include "layers.h"

int gpt_narrow_parameters(struct gpt_model *model)
{
    struct gpt_activations *act = model->act;
    return act->narrow ? model->ops->narrow(act->param_narrow, model->param, model->total) : 0;
}

/* The bf16 copy of a parameter, or NULL. */
static const void *narrow_param(const struct gpt_model *model, int index)
{
    const struct gpt_activations *act = model->act;
    return act->narrow && index >= 0
               ? act->param_narrow + model->table[index].offset * sizeof(uint16_t)
               : NULL;
}

static void weights_of(struct gpt_model *model, int w, int b, struct k_linear *layer)
{
    layer->w = gpt_param(model, w);
    layer->b = gpt_param(model, b);
    if (!layer->exact) {
        layer->w_narrow = narrow_param(model, w);
        layer->b_narrow = narrow_param(model, b);
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

int gpt_norm_forward(struct gpt_model *model, int w, int b, real *out, real *mean, real *rstd,
                     const real *x, int N)
{
    const struct k_ops *k = model->ops;
    const real *gamma = gpt_param(model, w), *beta = gpt_param(model, b);
    const int C = model->config.width;
    return model->act->narrow ? k->layernorm_narrow_forward(out, mean, rstd, x, gamma, beta, N, C)
                              : k->layernorm_forward(out, mean, rstd, x, gamma, beta, N, C);
}

int gpt_norm_backward(struct gpt_model *model, int w, int b, const real *x, const real *mean,
                      const real *rstd, int db, int N)
{
    const struct k_ops *k = model->ops;
    const struct gpt_activations *act = model->act;
    const real *gamma = gpt_param(model, w);
    real *dgamma = gpt_grad(model, w), *dbeta = gpt_grad(model, b);
    const int C = model->config.width;
    if (!act->narrow)
        return k->layernorm_backward(act->dx, dgamma, dbeta, act->dy, x, mean, rstd, gamma, N, C);
    return k->layernorm_narrow_backward(act->dx, db < 0 ? NULL : act->dx_narrow,
                                        gpt_grad(model, db), dgamma, dbeta, act->dy, x, mean, rstd,
                                        gamma, N, C);
}
