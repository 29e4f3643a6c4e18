/* muon.c - Muon (Jordan et al. 2024, kellerjordan.github.io/posts/muon): matrices of blocks move
 * along their momentum made nearly orthogonal (k_ops.muon), with Nesterov's look ahead:
 * m = mu m + (1 - mu) g, U = (1 - mu) g + mu m. The size of an update depends on the shape and the
 * learning rate alone: a matrix (rows, cols) moves by lr sqrt(max(1, rows / cols)) per singular
 * value. q, k and v are matrices of their own. */
#include "activations.h"
#include "optimizer.h"

#include <math.h>

int gpt_muon_elements(struct gpt_model *model, const struct orr_train_settings *train,
                      double grad_scale, size_t begin, size_t end, real *m)
{
    const struct k_ops *ops = model->ops;
    real *grad = model->grad + begin;
    const size_t n = end - begin;
    if (grad_scale < 1 || grad_scale > 1) /* matters in the mean with earlier gradients */
        TRY(ops->scale(grad, grad_scale, n));
    TRY(ops->average(m, grad, n, train->muon_momentum));
    return ops->average(grad, m, n, 1 - train->muon_momentum);
}

/* Matrices of one shape, which are updated at once. */
struct batch {
    struct k_muon k;
    size_t at[K_MATRICES];
};

static int run_batch(struct gpt_model *model, struct batch *b)
{
    const int rc = b->k.count > 0 ? model->ops->muon(model->param, model->grad, &b->k) : 0;
    b->k.count = 0;
    return rc;
}

/* Updates all trained matrices of the shape of parameter `first`, which is the first of them. */
static int update_shape(struct gpt_model *model, const struct orr_train_settings *train, double lr,
                        int first, struct batch *b)
{
    const struct gpt_parameter *table = model->table;
    const size_t rows = table[first].shape[0] / (size_t)table[first].matrices;
    const size_t cols = table[first].shape[1];
    b->k = (struct k_muon){.rows = (int)rows,
                           .cols = (int)cols,
                           .at = b->at,
                           .steps = train->muon_steps,
                           .rate = lr * sqrt(fmax(1, (double)rows / (double)cols)),
                           .keep = 1 - lr * train->weight_decay};
    for (int i = first; i < model->parameters; i++) {
        const struct gpt_parameter *p = &table[i];
        if (p->matrices < 1 || p->shape[0] / (size_t)p->matrices != rows || p->shape[1] != cols)
            continue;
        for (int part = 0; part < p->matrices; part++) {
            if (b->k.count == K_MATRICES)
                TRY(run_batch(model, b));
            b->at[b->k.count++] = p->offset + (size_t)part * rows * cols;
        }
    }
    return run_batch(model, b);
}

/* Whether an earlier trained parameter has matrices of the shape of parameter i. */
static bool shape_is_done(const struct gpt_model *model, int i)
{
    const struct gpt_parameter *p = &model->table[i], *q = &model->table[model->frozen];
    for (; q < p; q++)
        if (q->matrices > 0 && q->shape[1] == p->shape[1] &&
            q->shape[0] * (size_t)p->matrices == p->shape[0] * (size_t)q->matrices)
            return true;
    return false;
}

int gpt_muon_matrices(struct gpt_model *model, const struct orr_train_settings *train, long step)
{
    const double lr = gpt_lr(train, step) / train->lr * train->muon_lr;
    struct batch b;
    for (int i = model->frozen; i < model->parameters; i++)
        if (model->table[i].matrices > 0 && !shape_is_done(model, i))
            TRY(update_shape(model, train, lr, i, &b));
    return 0;
}
