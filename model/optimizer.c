/* optimizer.c - learning-rate schedule, clipping by the global norm, AdamW, weight average. */
#include "model.h"

#include <math.h>

double gpt_lr(const struct orr_train_preset *train, long step)
{
    if (step < train->warmup)
        return train->lr * (double)(step + 1) / (double)train->warmup;
    if (train->schedule == ORR_SCHEDULE_CONSTANT || train->steps <= train->warmup)
        return train->lr;
    const double done = (double)(step - train->warmup) / (double)(train->steps - train->warmup);
    const double low = train->lr_final * train->lr;
    return low + 0.5 * (train->lr - low) * (1 + cos(3.14159265358979323846 * fmin(done, 1)));
}

static int diverged(struct gpt_model *model, long step)
{
    for (int i = 0; i < model->parameters; i++) {
        const real *g = gpt_grad(model, i);
        for (size_t j = 0; j < model->table[i].count; j++)
            if (!isfinite(g[j]))
                return ORR_FAIL(ORR_EDIVERGED, "step %ld: the gradient of %s is not finite",
                                step + 1, model->table[i].name);
    }
    return ORR_FAIL(ORR_EDIVERGED, "step %ld: the gradient norm is not finite", step + 1);
}

static int moments(struct gpt_model *model)
{
    if (!model->m)
        model->m = orr_alloc(model->total, sizeof(real));
    if (!model->v)
        model->v = orr_alloc(model->total, sizeof(real));
    return model->m && model->v ? 0 : ORR_ENOMEM;
}

static int average(struct gpt_model *model, double decay, long step)
{
    if (decay <= 0)
        return 0;
    const bool first = !model->average;
    if (first) {
        model->average = orr_alloc(model->total, sizeof(real));
        if (!model->average)
            return ORR_ENOMEM;
    }
    /* early on the average follows closely: decay grows to its value over the first steps */
    const double d = first ? 0 : fmin(decay, (1.0 + (double)step) / (10.0 + (double)step));
    return model->ops->average(model->average, model->param, model->total, d);
}

int gpt_update(struct gpt_model *model, const struct orr_train_preset *train, long step,
               double *grad_norm)
{
    TRY(moments(model));
    const double passes = train->accumulation > 1 ? train->accumulation : 1;
    double sum;
    TRY(model->ops->sum_squares(&sum, model->grad, model->total));
    const double norm = sqrt(sum) / passes;
    *grad_norm = norm;
    if (!isfinite(norm))
        return diverged(model, step);
    struct k_adamw k = {
        .lr = gpt_lr(train, step),
        .beta1 = train->beta1,
        .beta2 = train->beta2,
        .eps = 1e-8,
        .grad_scale = 1 / passes,
        .step = step + 1,
    };
    if (train->clip > 0 && norm > train->clip)
        k.grad_scale *= train->clip / norm;
    for (int i = 0; i < model->parameters; i++) {
        const struct gpt_parameter *p = &model->table[i];
        k.weight_decay = p->decay ? train->weight_decay : 0;
        TRY(model->ops->adamw(model->param + p->offset, model->grad + p->offset,
                              model->m + p->offset, model->v + p->offset, p->count, &k));
    }
    return average(model, train->ema, step);
}

void gpt_swap_average(struct gpt_model *model)
{
    if (!model->average)
        return;
    real *param = model->param;
    model->param = model->average;
    model->average = param;
}
