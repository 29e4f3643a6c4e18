/* nonfinite.c - finds where numbers that are not finite came from. */
#include "nonfinite.h"
#include "layers.h"

#include <math.h>

/* State of a search: tensors are copied to the host one after the other. */
struct look {
    const struct k_ops *ops;
    struct gpt_host_copy copy;
    int rc; /* first failure to copy a tensor */
};

static bool finite_either(struct look *look, const real *tensor, bool bf16, size_t n)
{
    const real *x = NULL;
    if (!look->rc)
        look->rc = gpt_copy_to_host_as(look->ops, &look->copy, tensor, bf16, n, &x);
    for (size_t i = 0; x && !look->rc && i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

static bool is_finite_tensor(struct look *look, const real *tensor, size_t n)
{
    return finite_either(look, tensor, false, n);
}

/* Name of the first activation of block l that is not finite, in the order of computation; NULL
 * when all are finite. */
static const char *bad_in_block(struct look *look, const struct gpt_model *model, int l, size_t N)
{
    const struct gpt_config *c = &model->config;
    const struct gpt_layer_activations *a = &model->act->layer[l];
    const size_t C = (size_t)c->width, F = (size_t)c->ffn;
    const size_t gate = c->gate == K_GATE_NONE ? 0 : N * C;
    const bool bf16 = model->act->bf16;
    const struct {
        const char *name;
        const real *x;
        size_t count;
        bool bf16;
    } list[] = {
        {"ln1", a->ln1, N * C, bf16},
        {"attention.qkv", a->qkv, N * 3 * C, bf16},
        {"attention", a->y, N * C, bf16},
        {"attention.gate", a->gate, gate, false},
        {"attention.gate", a->gated, gate, false},
        {"attention.proj", a->mid, N * C, false},
        {"ln2", a->ln2, N * C, bf16},
        {"ffn.up", a->pre, N * F, bf16},
        {"ffn.up", a->up, N * F, bf16},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        if (!finite_either(look, list[k].x, list[k].bf16, list[k].count))
            return list[k].name;
    return NULL;
}

struct look_at_head {
    struct look *look;
    size_t outputs;
    bool bad;
};

static int see_outputs(void *context, size_t first, size_t rows, const real *out)
{
    struct look_at_head *head = context;
    (void)first;
    head->bad |= !is_finite_tensor(head->look, out, rows * head->outputs);
    return head->look->rc;
}

/* Searches the layers of the last forward pass, in its order. */
static int bad_layer(struct look *look, struct gpt_model *model, const struct gpt_batch *batch,
                     long step)
{
    const struct gpt_activations *act = model->act;
    const struct gpt_config *c = &model->config;
    const size_t N = (size_t)batch->B * (size_t)batch->T, C = (size_t)c->width;
    const char *where = NULL;
    if (!is_finite_tensor(look, act->layer[0].x, N * C))
        return ORR_FAIL(ORR_EDIVERGED,
                        "step %ld: the loss is not finite, first in the embedding of the input",
                        step);
    for (int l = 0; l < c->layers && !look->rc; l++) {
        if (c->recompute)
            TRY(gpt_block_redo(model, l, batch->B, batch->T));
        const char *name = bad_in_block(look, model, l, N);
        const real *next = l + 1 < c->layers ? act->layer[l + 1].x : act->last;
        if (!name && !is_finite_tensor(look, next, N * C))
            name = "ffn.down";
        if (name)
            return ORR_FAIL(ORR_EDIVERGED, "step %ld: the loss is not finite, first in block.%d.%s",
                            step, l, name);
    }
    if (!is_finite_tensor(look, act->ln, N * C))
        where = "first in the final norm";
    struct look_at_head head = {.look = look, .outputs = (size_t)c->outputs};
    if (!where && !look->rc)
        look->rc = gpt_head_pieces(model, N, see_outputs, &head);
    if (look->rc)
        return look->rc;
    if (head.bad)
        where = "first in the head";
    return ORR_FAIL(ORR_EDIVERGED, "step %ld: the loss is not finite, %s", step,
                    where ? where : "though every layer is: the targets are not");
}

int gpt_diverged_loss(struct gpt_model *model, const struct gpt_batch *batch, long step)
{
    struct look look = {.ops = model->ops};
    double loss;
    TRY(gpt_loss(model, batch, &loss)); /* repeated, since training may not compute every tensor */
    const int rc = bad_layer(&look, model, batch, step);
    gpt_host_copy_free(&look.copy);
    return rc;
}

/* The first tensor of the table that is not finite, or the last when `backwards`; -1 = none. */
static int bad_tensor(struct look *look, const struct gpt_model *model, const real *arena,
                      bool backwards)
{
    int bad = -1;
    for (int k = 0; k < model->parameters && bad < 0; k++) {
        const int i = backwards ? model->parameters - 1 - k : k;
        if (!is_finite_tensor(look, arena + model->table[i].offset, model->table[i].count))
            bad = i;
    }
    gpt_host_copy_free(&look->copy);
    return bad;
}

int gpt_diverged_gradient(struct gpt_model *model, long step)
{
    struct look look = {.ops = model->ops};
    /* backwards: the table is in the order of the forward pass */
    const int bad = bad_tensor(&look, model, model->grad, true);
    if (look.rc)
        return look.rc;
    if (bad >= 0)
        return ORR_FAIL(ORR_EDIVERGED, "step %ld: the gradient of %s is not finite", step,
                        model->table[bad].name);
    return ORR_FAIL(ORR_EDIVERGED, "step %ld: the gradient norm is not finite", step);
}

int gpt_check_weights(struct gpt_model *model, long step)
{
    double sum;
    struct look look = {.ops = model->ops};
    TRY(gpt_settle(model->ops, model->ops->sum_squares(&sum, model->param, model->total)));
    const int bad = isfinite(sum) ? -1 : bad_tensor(&look, model, model->param, false);
    if (bad >= 0)
        return ORR_FAIL(ORR_EDIVERGED, "step %ld: %s is not finite: not saved", step,
                        model->table[bad].name);
    return look.rc;
}
