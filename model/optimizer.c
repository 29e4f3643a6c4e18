/* optimizer.c - the table of optimisers, clipping by the global norm, AdamW, moving average of the
 * weights. */
#include "optimizer.h"
#include "activations.h"
#include "nonfinite.h"

#include <math.h>
#include <stdlib.h>

struct gpt_passes gpt_passes_of(const struct orr_train_settings *train)
{
    const int passes = train->accumulation > 1 ? train->accumulation : 1;
    if (train->micro_batches < 1)
        return (struct gpt_passes){.count = passes, .batch = train->batch};
    return (struct gpt_passes){.count = train->micro_batches,
                               .batch = (int)((long)train->batch * passes / train->micro_batches)};
}

const struct gpt_optimizer gpt_optimizers[ORR_OPTIMIZERS] = {
    [ORR_OPTIMIZER_ADAMW] = {"adamw", "adam.m.", NULL, NULL},
    [ORR_OPTIMIZER_MUON] = {"muon", "muon.m.", gpt_muon_elements, gpt_muon_matrices},
};

bool gpt_takes_matrices(const struct gpt_model *model, int parameter)
{
    return gpt_optimizers[model->optimizer].matrices && model->table[parameter].matrices > 0;
}

static size_t end_of(const struct gpt_model *model, int parameter)
{
    return parameter + 1 < model->parameters ? model->table[parameter + 1].offset : model->total;
}

int gpt_choose_optimizer(struct gpt_model *model, enum orr_optimizer optimizer)
{
    if (model->optimizer == optimizer)
        return 0;
    if (model->m || model->v)
        return ORR_FAIL(ORR_EINVAL,
                        "the training's optimizer: expected %s, whose state the "
                        "checkpoint has, found %s",
                        gpt_optimizers[model->optimizer].name, gpt_optimizers[optimizer].name);
    model->optimizer = optimizer;
    model->seconds = 0;
    for (int i = 0; i < model->parameters; i++) {
        model->table[i].second = model->seconds;
        if (!gpt_takes_matrices(model, i))
            model->seconds += end_of(model, i) - model->table[i].offset;
    }
    return 0;
}

bool gpt_next_range(const struct gpt_model *model, struct gpt_range *range, size_t end)
{
    int i = range->parameter;
    range->begin = range->end;
    if (range->begin >= end)
        return false;
    while (end_of(model, i) <= range->begin)
        i++;
    range->matrices = gpt_takes_matrices(model, i);
    while (i < model->parameters && range->end < end &&
           gpt_takes_matrices(model, i) == range->matrices) {
        range->end = end_of(model, i) < end ? end_of(model, i) : end;
        range->parameter = i++;
    }
    return true;
}

static int create_moments(struct gpt_model *model)
{
    if (!model->m)
        TRY(gpt_tensor_alloc(model->ops, &model->m, model->total));
    return model->v ? 0 : gpt_tensor_alloc(model->ops, &model->v, model->seconds);
}

/* The first trained element of the arenas; all elements after it are trained. */
static size_t first_trained(const struct gpt_model *model)
{
    return model->table[model->frozen].offset;
}

/* The average follows closely at first: the decay rises to its value over the first steps. */
double gpt_average_decay(double decay, bool first, long step)
{
    return first ? 0 : fmin(decay, (1.0 + (double)step) / (10.0 + (double)step));
}

/* The average of frozen weights equals the weights; averaging would only round them. */
static int update_average(struct gpt_model *model, double decay, long step)
{
    if (decay <= 0)
        return 0;
    const bool first = !model->average;
    const size_t from = first_trained(model);
    if (first) {
        TRY(gpt_tensor_alloc(model->ops, &model->average, model->total));
        if (from > 0)
            TRY(model->ops->copy(model->average, model->param, from * sizeof(real)));
    }
    const double d = gpt_average_decay(decay, first, step);
    return model->ops->average(model->average + from, model->param + from, model->total - from, d);
}

double gpt_tree_of(const double *x, size_t n)
{
    if (n < 2)
        return n ? x[0] : 0;
    return gpt_tree_of(x, n / 2) + gpt_tree_of(x + n / 2, n - n / 2);
}

int gpt_block_squares(const struct k_ops *ops, const real *x, size_t count, size_t block,
                      double *squares)
{
    int rc = 0;
    for (size_t at = 0; at < count && !rc; at += block)
        rc = ops->sum_squares(squares++, x + at, count - at < block ? count - at : block);
    return gpt_settle(ops, rc);
}

int gpt_gradient_norm(struct gpt_model *model, long step, double divisor, size_t block,
                      double *norm)
{
    const size_t from = first_trained(model), count = model->total - from;
    const size_t blocks = (count + block - 1) / block;
    double *squares = orr_alloc(blocks, sizeof *squares);
    if (!squares)
        return ORR_ENOMEM;
    const int rc = gpt_block_squares(model->ops, model->grad + from, count, block, squares);
    *norm = rc ? NAN : sqrt(gpt_tree_of(squares, blocks)) / divisor;
    free(squares);
    if (rc)
        return rc;
    return isfinite(*norm) ? 0 : gpt_diverged_gradient(model, step + 1);
}

struct k_adamw gpt_adamw_of(const struct orr_train_settings *train, long step, double norm,
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

/* AdamW on elements begin .. end - 1, none of matrices of another optimiser. */
static int update_adamw(struct gpt_model *model, const struct orr_train_settings *train,
                        struct k_adamw k, size_t begin, size_t end, real *m, real *v)
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

int gpt_update_elements(struct gpt_model *model, const struct orr_train_settings *train,
                        struct k_adamw k, size_t begin, size_t end, real *m, real *v)
{
    const struct gpt_optimizer *optimizer = &gpt_optimizers[model->optimizer];
    struct gpt_range range = {.end = begin};
    while (gpt_next_range(model, &range, end)) {
        real *const at = m + (range.begin - begin);
        if (range.matrices) {
            TRY(optimizer->elements(model, train, k.grad_scale, range.begin, range.end, at));
            continue;
        }
        TRY(update_adamw(model, train, k, range.begin, range.end, at, v));
        v += range.end - range.begin;
    }
    return 0;
}

int gpt_update_matrices(struct gpt_model *model, const struct orr_train_settings *train, long step)
{
    const struct gpt_optimizer *optimizer = &gpt_optimizers[model->optimizer];
    return optimizer->matrices ? optimizer->matrices(model, train, step) : 0;
}

int gpt_apply(struct gpt_model *model, const struct orr_train_settings *train, long step,
              double norm, double divisor)
{
    const size_t from = first_trained(model);
    TRY(gpt_choose_optimizer(model, train->optimizer));
    TRY(create_moments(model));
    TRY(gpt_update_elements(model, train, gpt_adamw_of(train, step, norm, divisor), from,
                            model->total, model->m + from,
                            model->v + model->table[model->frozen].second));
    TRY(gpt_update_matrices(model, train, step));
    return update_average(model, train->ema, step);
}

int gpt_update(struct gpt_model *model, const struct orr_train_settings *train, long step,
               double *grad_norm)
{
    const double passes = gpt_passes_of(train).count;
    TRY(gpt_gradient_norm(model, step, passes, model->total, grad_norm));
    return gpt_apply(model, train, step, *grad_norm, passes);
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
