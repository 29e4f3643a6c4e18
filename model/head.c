/* head.c - the head of a model: its outputs in pieces of rows, so that the logits of a large
 * vocabulary are never all in memory, their loss, and the gradients of a training pass. */
#include "layers.h"

enum { PIECE = 1 << 23 }; /* outputs of a piece at most, of one row at least: 32 MB of float */

/* Computes act->out (rows, OC) from the rows from `first` on of the last pass. */
static int head_forward(struct gpt_model *model, size_t first, size_t rows)
{
    const struct gpt_config *c = &model->config;
    struct gpt_activations *act = model->act;
    TRY(gpt_activations_reserve_out(act, rows * (size_t)c->outputs));
    return gpt_linear_forward(model, model->head_w, model->head_b,
                              (struct k_linear){.N = (int)rows,
                                                .inp = act->ln + first * (size_t)c->width,
                                                .fp32_only = c->head == GPT_HEAD_REGRESSION,
                                                .out = act->out});
}

int gpt_head_outputs(struct gpt_model *model, size_t rows, const real **out)
{
    TRY(head_forward(model, 0, rows));
    return gpt_copy_to_host(model->ops, &model->act->host_out, model->act->out,
                            rows * (size_t)model->config.outputs, out);
}

int gpt_forward(struct gpt_model *model, const struct gpt_batch *batch, const real **out)
{
    struct gpt_batch on;
    TRY(gpt_body(model, batch, &on));
    return gpt_head_outputs(model, (size_t)batch->B * (size_t)batch->T, out);
}

/* Starts the loss of act->out, which has the batch's rows from `first` on: one number for each
 * channel of a token head, otherwise one. */
static int ask_loss(struct gpt_model *model, const struct gpt_batch *batch, size_t first,
                    size_t rows)
{
    const struct k_ops *k = model->ops;
    const struct gpt_config *c = &model->config;
    const int N = (int)rows, OC = c->outputs, V = c->vocab;
    const real *out = model->act->out, *weight = batch->weight ? batch->weight + first : NULL;
    double *loss = model->act->loss;
    if (c->head == GPT_HEAD_REGRESSION)
        return k->regression(loss,
                             &(struct k_regression){.N = N,
                                                    .C = OC,
                                                    .delta = c->huber,
                                                    .pred = out,
                                                    .target = batch->target + first * (size_t)OC,
                                                    .weight = weight});
    const int channels = c->head == GPT_HEAD_TEXT ? 1 : 2;
    const uint16_t *target = batch->target_tokens + first * (size_t)channels;
    for (int i = 0; i < channels; i++)
        TRY(k->cross_entropy(&loss[i], &(struct k_cross_entropy){.N = N,
                                                                 .V = V,
                                                                 .logits = out,
                                                                 .stride = OC,
                                                                 .at = i * V,
                                                                 .target = target + i,
                                                                 .target_stride = channels,
                                                                 .weight = weight}));
    return 0;
}

/* *loss = the weighted mean over the rows of act->out. */
static int piece_loss(struct gpt_model *model, const struct gpt_batch *on, size_t first,
                      size_t rows, double *loss)
{
    TRY(gpt_settle(model->ops, ask_loss(model, on, first, rows)));
    const double *part = model->act->loss;
    *loss = model->config.head == GPT_HEAD_TOKENS ? 0.5 * (part[0] + part[1]) : part[0];
    return 0;
}

int gpt_head_pieces(struct gpt_model *model, size_t rows, gpt_visit_rows *visit, void *context)
{
    const size_t OC = (size_t)model->config.outputs, most = OC < PIECE ? PIECE / OC : 1;
    for (size_t first = 0; first < rows; first += most) {
        const size_t count = rows - first < most ? rows - first : most;
        TRY(head_forward(model, first, count));
        TRY(visit(context, first, count, model->act->out));
    }
    return 0;
}

/* What to compute from the outputs of a batch. */
struct forward {
    struct gpt_model *model;
    const struct gpt_batch *batch, *on; /* on the host, in memory of the backend */
    gpt_visit_rows *visit;              /* may be NULL */
    void *context;
    double *loss; /* NULL: not needed */
    double sum, weight;
};

static int forward_piece(void *context, size_t first, size_t rows, const real *made)
{
    struct forward *f = context;
    const struct gpt_model *model = f->model;
    const real *out;
    double mean;
    if (f->loss) {
        const double weight = gpt_rows_weight(f->batch, first, rows);
        TRY(piece_loss(f->model, f->on, first, rows, &mean));
        const bool whole = rows == (size_t)f->batch->B * (size_t)f->batch->T;
        f->sum += whole ? mean : weight * mean;
        f->weight += whole ? 1 : weight;
    }
    if (!f->visit)
        return 0;
    TRY(gpt_copy_to_host(model->ops, &model->act->host_out, made,
                         rows * (size_t)model->config.outputs, &out));
    return f->visit(f->context, first, rows, out);
}

int gpt_forward_pieces(struct gpt_model *model, const struct gpt_batch *batch,
                       gpt_visit_rows *visit, void *context, double *loss)
{
    struct gpt_batch on;
    struct forward f = {.model = model,
                        .batch = batch,
                        .on = &on,
                        .visit = visit,
                        .context = context,
                        .loss = loss};
    TRY(gpt_body(model, batch, &on));
    TRY(gpt_head_pieces(model, (size_t)batch->B * (size_t)batch->T, forward_piece, &f));
    if (loss)
        *loss = f.weight > 0 ? f.sum / f.weight : 0;
    return 0;
}

int gpt_loss(struct gpt_model *model, const struct gpt_batch *batch, double *loss)
{
    return gpt_forward_pieces(model, batch, NULL, NULL, loss);
}

/* ---- training */

/* For a token head with bias, as in the study's own code: all logits are in memory. */
static int biased_backward(struct gpt_model *model, const struct gpt_batch *batch,
                           const struct k_linear *head)
{
    const struct k_ops *k = model->ops;
    struct gpt_activations *act = model->act;
    const int OC = model->config.outputs, V = model->config.vocab;
    for (int i = 0; i < 2; i++)
        TRY(k->cross_entropy(&act->pass_loss[i],
                             &(struct k_cross_entropy){.N = head->N,
                                                       .V = V,
                                                       .logits = act->out,
                                                       .stride = OC,
                                                       .at = i * V,
                                                       .target = batch->target_tokens + i,
                                                       .target_stride = 2,
                                                       .weight = batch->weight,
                                                       .dlogits = act->dout}));
    return k->scale(act->dout, 0.5, (size_t)head->N * (size_t)OC);
}

int gpt_head_backward(struct gpt_model *model, const struct gpt_batch *batch)
{
    const struct k_ops *k = model->ops;
    const struct gpt_config *c = &model->config;
    struct gpt_activations *act = model->act;
    const int N = batch->B * batch->T, OC = c->outputs;
    const bool regression = c->head == GPT_HEAD_REGRESSION;
    if (!regression && model->head_b < 0)
        return k->head_cross_entropy(
            act->pass_loss, &(struct k_token_head){.N = N,
                                                   .C = c->width,
                                                   .V = c->vocab,
                                                   .channels = c->head == GPT_HEAD_TEXT ? 1 : 2,
                                                   .inp = act->ln,
                                                   .w = gpt_param(model, model->head_w),
                                                   .target = batch->target_tokens,
                                                   .weight = batch->weight,
                                                   .dinp = act->dy,
                                                   .dw = gpt_grad(model, model->head_w)});
    TRY(gpt_activations_reserve_dout(model));
    const struct k_linear head = {.N = N,
                                  .inp = act->ln,
                                  .fp32_only = regression,
                                  .out = act->out,
                                  .dout = act->dout,
                                  .dinp = act->dy};
    TRY(gpt_linear_forward(model, model->head_w, model->head_b, head));
    TRY(regression ? k->regression(act->pass_loss, &(struct k_regression){.N = N,
                                                                          .C = OC,
                                                                          .delta = c->huber,
                                                                          .pred = act->out,
                                                                          .target = batch->target,
                                                                          .weight = batch->weight,
                                                                          .dpred = act->dout})
                   : biased_backward(model, batch, &head));
    return gpt_linear_backward(model, model->head_w, model->head_b, head);
}
