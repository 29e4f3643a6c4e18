/* forward.h - batches, and passes of a model over them. */
#ifndef GPT_FORWARD_H
#define GPT_FORWARD_H

#include "model.h"

#include <gsl/gsl_rng.h>

/* What goes in and what is asked for; buffers of the host, owned by whoever made the batch, which
 * may change as soon as a pass over it returns. */
struct gpt_batch {
    int B, T;
    uint16_t *tokens;        /* (B, T, 2), text (B, T), or NULL */
    real *features;          /* (B, T, F) or NULL */
    uint16_t *target_tokens; /* (B, T, 2): token head; (B, T): text head */
    real *target;            /* (B, T, OC): regression head */
    real *weight;            /* (B, T): 0 = not in the loss */
};
int gpt_batch_create(struct gpt_batch *batch, const struct gpt_config *config, int B, int T);
void gpt_batch_free(struct gpt_batch *batch);
/* Fills the features of one row; x, y in the data set's units, is_dt for row 0. */
void gpt_features(const struct gpt_config *config, double x, double y, bool is_dt, real *row);
/* Fills the features of sequence b from coords (T, 2) of a data set; Gaussian noise of noise_au on
 * all rows but the time step's, from the rng, which may be NULL without any. */
void gpt_fill_coords(const struct gpt_config *config, const float *coords, double noise_au,
                     gsl_rng *rng, int b, struct gpt_batch *batch);

/* Head outputs (B, T, OC) for the host, valid until the next forward; memory grows by itself. */
int gpt_forward(struct gpt_model *model, const struct gpt_batch *batch, const real **out);
/* Looks at outputs (rows, OC) of the rows from `first` on, of B T; anything but 0 ends the pass. */
typedef int gpt_visit_rows(void *context, size_t first, size_t rows, const real *out);
/* The same outputs in pieces of rows, in their order, for heads whose outputs are many: a piece is
 * 2^23 numbers at most. visit: NULL for nobody; loss: as gpt_loss, or NULL. */
int gpt_forward_pieces(struct gpt_model *model, const struct gpt_batch *batch,
                       gpt_visit_rows *visit, void *context, double *loss);
/* A forward pass without outputs, for gpt_layer_qkv and gpt_residual. */
int gpt_forward_body(struct gpt_model *model, const struct gpt_batch *batch);
/* *qkv = (B, T, 3, H, D) of a layer in the last forward pass for the host, q and k rotated when
 * positions are rope (of a pass with gradients, and cosine scores, perhaps multiples of them),
 * valid until the next call for the layer or forward; with recomputation NULL but for the last
 * layer, after a pass with gradients for the first. */
int gpt_layer_qkv(struct gpt_model *model, int layer, const real **qkv);
/* *stream = (B, T, C) of the residual stream in the last forward pass for the host, valid until the
 * next call or forward: layer 0 is the embedding of the input, layer l = 1 .. L what block l - 1
 * put out, before the final norm. Also with recomputation. ORR_EINVAL where there is no such layer,
 * or was no forward pass. */
int gpt_residual(struct gpt_model *model, int layer, const real **stream);
/* The shape of the attention of a pass over B sequences of T rows. */
struct k_attention_shape gpt_attention_shape(const struct gpt_model *model, int B, int T);
/* *rows = degenerate rows (kernels/attention.h) of the last forward pass, summed over
 * layers and heads: of layers B H T. ORR_EINVAL before any forward pass. */
int gpt_degenerate_rows(const struct gpt_model *model, long *rows);
/* Loss of the batch under the model's head: mean over weighted rows; cross entropy averages the
 * two channels, regression is the mean squared error over rows and columns. */
int gpt_loss(struct gpt_model *model, const struct gpt_batch *batch, double *loss);
/* The sum of the weights of a batch's rows: how many count. */
double gpt_batch_weight(const struct gpt_batch *batch);
/* Adds what the batch contributes to a mean over the rows that count of several batches: its loss
 * times the sum of its rows' weights, and that sum. */
int gpt_loss_add(struct gpt_model *model, const struct gpt_batch *batch, double *sum,
                 double *weight);
/* forward + loss + backward: gradients add to model->grad. Where the backend can record, the second
 * pass of a shape is recorded, and replayed until shape, weights or how the model attends
 * change. */
int gpt_loss_backward(struct gpt_model *model, const struct gpt_batch *batch, double *loss);
int gpt_zero_grad(struct gpt_model *model);
/* Bytes of activations of a training pass over B x T. */
size_t gpt_activation_bytes(const struct gpt_model *model, int B, int T);
/* How many sequences of T positions a pass without gradients is best made of: at most `most`, and
 * no more than keep its activations within 1 GiB, but one. */
int gpt_evaluation_batch(const struct gpt_model *model, int T, int most);

#endif
