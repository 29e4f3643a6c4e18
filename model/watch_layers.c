/* watch_layers.c - where numbers that are not finite came from. */
#include "model.h"

#include <math.h>

static bool finite(const real *x, size_t n)
{
    for (size_t i = 0; x && i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

/* Name of the first bad activation of block l, in the order in which they are made; NULL when all
 * are finite. */
static const char *bad_in_block(const struct gpt_model *model, int l, size_t N)
{
    const struct gpt_config *c = &model->config;
    const struct gpt_layer_activations *a = &model->act->layer[l];
    const size_t C = (size_t)c->width, F = (size_t)c->ffn;
    const size_t gate = c->gate == K_GATE_NONE ? 0 : N * C;
    const struct {
        const char *name;
        const real *x;
        size_t count;
    } list[] = {
        {"ln1", a->ln1, N * C},
        {"attention.qkv", a->qkv, N * 3 * C},
        {"attention", a->y, N * C},
        {"attention.gate", a->gate, gate},
        {"attention.gate", a->gated, gate},
        {"attention.proj", a->mid, N * C},
        {"ln2", a->ln2, N * C},
        {"ffn.up", a->pre, N * F},
        {"ffn.up", a->up, N * F},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        if (!finite(list[k].x, list[k].count))
            return list[k].name;
    return NULL;
}

int gpt_diverged_loss(struct gpt_model *model, const struct gpt_batch *batch, long step)
{
    const struct gpt_activations *act;
    const struct gpt_config *c = &model->config;
    const size_t N = (size_t)batch->B * (size_t)batch->T, C = (size_t)c->width;
    const char *where = NULL;
    const real *out;
    TRY(gpt_forward(model, batch, &out)); /* once more: training may not make all of it */
    act = model->act;
    if (!finite(act->layer[0].x, N * C))
        return ORR_FAIL(ORR_EDIVERGED,
                        "step %ld: the loss is not finite, first in the embedding of the input",
                        step);
    for (int l = 0; l < c->layers; l++) {
        if (c->recompute)
            TRY(gpt_block_redo(model, l, batch->B, batch->T));
        const char *name = bad_in_block(model, l, N);
        const real *next = l + 1 < c->layers ? act->layer[l + 1].x : act->last;
        if (!name && !finite(next, N * C))
            name = "ffn.down";
        if (name)
            return ORR_FAIL(ORR_EDIVERGED, "step %ld: the loss is not finite, first in block.%d.%s",
                            step, l, name);
    }
    if (!finite(act->ln, N * C))
        where = "first in the final norm";
    else if (!finite(out, N * (size_t)c->outputs))
        where = "first in the head";
    return ORR_FAIL(ORR_EDIVERGED, "step %ld: the loss is not finite, %s", step,
                    where ? where : "though every layer is: the targets are not");
}

int gpt_diverged_gradient(struct gpt_model *model, long step)
{
    /* backwards: the table is in the order of the forward pass */
    for (int i = model->parameters - 1; i >= 0; i--)
        if (!finite(gpt_grad(model, i), model->table[i].count))
            return ORR_FAIL(ORR_EDIVERGED, "step %ld: the gradient of %s is not finite", step,
                            model->table[i].name);
    return ORR_FAIL(ORR_EDIVERGED, "step %ld: the gradient norm is not finite", step);
}

int gpt_check_weights(struct gpt_model *model, long step)
{
    double sum;
    TRY(model->ops->sum_squares(&sum, model->param, model->total));
    for (int i = 0; i < model->parameters && !isfinite(sum); i++)
        if (!finite(gpt_param(model, i), model->table[i].count))
            return ORR_FAIL(ORR_EDIVERGED, "step %ld: %s is not finite: not saved", step,
                            model->table[i].name);
    return 0;
}
