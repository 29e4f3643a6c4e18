/* optimizer.c - learning-rate schedule, clipping by the global norm, AdamW, weight average. */
#include "optimizer.h"
#include "activations.h"
#include "nonfinite.h"

#include <math.h>

struct gpt_passes gpt_passes_of(const struct orr_train_preset *train)
{
    const int passes = train->accumulation > 1 ? train->accumulation : 1;
    if (train->micro_batches < 1)
        return (struct gpt_passes){.count = passes, .batch = train->batch};
    return (struct gpt_passes){.count = train->micro_batches,
                               .batch = (int)((long)train->batch * passes / train->micro_batches)};
}

double gpt_lr(const struct orr_train_preset *train, long step)
{
    if (step < train->warmup)
        return train->lr * (double)(step + 1) / (double)train->warmup;
    if (train->schedule == ORR_SCHEDULE_INVERSE_SQRT) { /* 1 at the end of the warm-up */
        const double first = train->warmup > 1 ? (double)train->warmup : 1;
        return train->lr * sqrt(first / fmax(first, (double)(step + 1)));
    }
    if (train->schedule == ORR_SCHEDULE_CONSTANT || train->steps <= train->warmup)
        return train->lr;
    const double done = (double)(step - train->warmup) / (double)(train->steps - train->warmup);
    const double low = train->lr_final * train->lr;
    if (train->schedule == ORR_SCHEDULE_LINEAR)
        return train->lr - (train->lr - low) * fmin(done, 1);
    return low + 0.5 * (train->lr - low) * (1 + cos(3.14159265358979323846 * fmin(done, 1)));
}

static int moments(struct gpt_model *model)
{
    if (!model->m)
        TRY(gpt_tensor_alloc(model->ops, &model->m, model->total));
    return model->v ? 0 : gpt_tensor_alloc(model->ops, &model->v, model->total);
}

size_t gpt_first_trained(const struct gpt_model *model)
{
    return model->table[model->frozen].offset;
}

/* Early on the average follows closely: decay grows to its value over the first steps. */
double gpt_average_decay(double decay, bool first, long step)
{
    return first ? 0 : fmin(decay, (1.0 + (double)step) / (10.0 + (double)step));
}

/* The average of frozen weights is the weights: averaging would round them. */
static int average(struct gpt_model *model, double decay, long step)
{
    if (decay <= 0)
        return 0;
    const bool first = !model->average;
    const size_t from = gpt_first_trained(model);
    if (first) {
        TRY(gpt_tensor_alloc(model->ops, &model->average, model->total));
        if (from > 0)
            TRY(model->ops->copy(model->average, model->param, from * sizeof(real)));
    }
    const double d = gpt_average_decay(decay, first, step);
    return model->ops->average(model->average + from, model->param + from, model->total - from, d);
}

static double passes_of(const struct orr_train_preset *train)
{
    return train->accumulation > 1 ? train->accumulation : 1;
}

int gpt_gradient_norm(struct gpt_model *model, const struct orr_train_preset *train, long step,
                      double *norm)
{
    double sum;
    const size_t from = gpt_first_trained(model);
    TRY(gpt_settle(model->ops,
                   model->ops->sum_squares(&sum, model->grad + from, model->total - from)));
    *norm = sqrt(sum) / passes_of(train);
    return isfinite(*norm) ? 0 : gpt_diverged_gradient(model, step + 1);
}

struct k_adamw gpt_adamw_of(const struct orr_train_preset *train, long step, double norm,
                            double divisor)
{
    struct k_adamw k = {
        .lr = gpt_lr(train, step),
        .beta1 = train->beta1,
        .beta2 = train->beta2,
        .eps = 1e-8,
        .grad_scale = 1 / divisor,
        .step = step + 1,
    };
    if (train->clip > 0 && norm > train->clip)
        k.grad_scale *= train->clip / norm;
    return k;
}

static size_t end_of(const struct gpt_model *model, int parameter)
{
    return parameter + 1 < model->parameters ? model->table[parameter + 1].offset : model->total;
}

int gpt_adamw(struct gpt_model *model, const struct orr_train_preset *train, struct k_adamw k,
              size_t begin, size_t end, real *m, real *v)
{
    struct k_decay decays[K_DECAYS];
    int i = 0;
    k.decays = decays;
    for (size_t from = begin, to; from < end; from = to) {
        to = from;
        for (k.count = 0; to < end; i++) {
            if (end_of(model, i) <= to)
                continue;
            const double decay = model->table[i].decay ? train->weight_decay : 0;
            const bool same = k.count > 0 && decays[k.count - 1].weight_decay == decay;
            if (!same && k.count == K_DECAYS)
                break;
            if (!same)
                decays[k.count++].weight_decay = decay;
            to = end_of(model, i) < end ? end_of(model, i) : end;
            decays[k.count - 1].end = to - from;
        }
        TRY(model->ops->adamw(model->param + from, model->grad + from, m + (from - begin),
                              v + (from - begin), to - from, &k));
    }
    return 0;
}

int gpt_apply(struct gpt_model *model, const struct orr_train_preset *train, long step, double norm,
              double divisor)
{
    const size_t from = gpt_first_trained(model);
    TRY(moments(model));
    TRY(gpt_adamw(model, train, gpt_adamw_of(train, step, norm, divisor), from, model->total,
                  model->m + from, model->v + from));
    return average(model, train->ema, step);
}

int gpt_update(struct gpt_model *model, const struct orr_train_preset *train, long step,
               double *grad_norm)
{
    TRY(gpt_gradient_norm(model, train, step, grad_norm));
    return gpt_apply(model, train, step, *grad_norm, passes_of(train));
}

void gpt_swap_average(struct gpt_model *model)
{
    if (!model->average)
        return;
    real *param = model->param;
    model->param = model->average;
    model->average = param;
}

void gpt_drop_training(struct gpt_model *model)
{
    real **const tensors[] = {&model->m, &model->v, &model->average};
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        model->ops->release(*tensors[i]);
        *tensors[i] = NULL;
    }
}
