/* forward.h - batches, and passes of a model over them. */
#ifndef GPT_FORWARD_H
#define GPT_FORWARD_H

#include "model.h"

#include <gsl/gsl_rng.h>

/* The inputs and targets of a pass: buffers on the host, owned by the caller, who may change
 * them as soon as a pass returns. */
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
/* Fills the features of one row at a place (d), in the data set's units; is_dt for row 0. */
void gpt_place_features(const struct gpt_config *config, const double place[], bool is_dt,
                        real *row);
/* gpt_place_features() of a row (d) of a data set. */
void gpt_row_features(const struct gpt_config *config, const float place[], bool is_dt, real *row);
/* Fills the features of sequence b from coords (T, d) of a data set. Gaussian noise of noise_au
 * is added to all rows but the time step's; rng may be NULL when noise_au is 0. */
void gpt_fill_coords(const struct gpt_config *config, const float *coords, double noise_au,
                     gsl_rng *rng, int b, struct gpt_batch *batch);

/* Head outputs (B, T, OC) on the host, valid until the next forward pass; memory grows as
 * needed. */
int gpt_forward(struct gpt_model *model, const struct gpt_batch *batch, const real **out);
/* Receives the outputs (rows, OC) of the rows from `first` on, of B T rows; a non-zero result
 * ends the pass. */
typedef int gpt_visit_rows(void *context, size_t first, size_t rows, const real *out);
/* Computes the outputs of gpt_forward in pieces of rows, in order, for heads with many outputs:
 * a piece has at most 2^23 numbers. visit may be NULL; loss: as gpt_loss, or NULL. */
int gpt_forward_pieces(struct gpt_model *model, const struct gpt_batch *batch,
                       gpt_visit_rows *visit, void *context, double *loss);
/* A forward pass without outputs, for gpt_layer_qkv and gpt_residual. */
int gpt_forward_body(struct gpt_model *model, const struct gpt_batch *batch);
/* *qkv = (B, T, 3, H, D) of a layer in the last forward pass, on the host, valid until the next
 * call for the layer or the next forward pass. With rope, q and k are rotated. After a pass with
 * gradients and cosine scores, q and k may be scaled. With recomputation *qkv is NULL except for
 * the last layer, or the first layer after a pass with gradients. */
int gpt_layer_qkv(struct gpt_model *model, int layer, const real **qkv);
/* *stream = (B, T, C), the residual stream in the last forward pass, on the host, valid until
 * the next call or forward pass. Layer 0 is the embedding of the input; layer l = 1 .. L is the
 * output of block l - 1, before the final norm. Also with recomputation. ORR_EINVAL where there
 * is no such layer or was no forward pass. */
int gpt_residual(struct gpt_model *model, int layer, const real **stream);
/* The attention shape of a pass over B sequences of T rows. */
struct k_attention_shape gpt_attention_shape(const struct gpt_model *model, int B, int T);
/* *rows = number of degenerate rows (kernels/attention.h) in the last forward pass, of layers B
 * H T rows in all layers and heads. ORR_EINVAL before any forward pass. */
int gpt_degenerate_rows(const struct gpt_model *model, long *rows);
/* Loss of the batch under the model's head: mean over weighted rows; cross entropy averages the
 * two channels, regression is the mean squared error over rows and columns. */
int gpt_loss(struct gpt_model *model, const struct gpt_batch *batch, double *loss);
/* The sum of the weights of a batch's rows. */
double gpt_batch_weight(const struct gpt_batch *batch);
/* Adds the batch to a weighted mean over several batches: *sum adds its loss times the sum of
 * its row weights, *weight adds that sum. */
int gpt_loss_add(struct gpt_model *model, const struct gpt_batch *batch, double *sum,
                 double *weight);
/* Forward pass, loss and backward pass; gradients add to model->grad. Where the backend supports
 * recordings, the second pass of a shape is recorded, and replayed until the shape, the trained
 * weights or the attention change. */
int gpt_loss_backward(struct gpt_model *model, const struct gpt_batch *batch, double *loss);
int gpt_zero_grad(struct gpt_model *model);
/* Bytes of activations of a training pass over B x T. */
size_t gpt_activation_bytes(const struct gpt_model *model, int B, int T);
/* The number of sequences of T positions for a pass without gradients: at most `most`, and so
 * many that activations stay within 1 GiB, but at least one. */
int gpt_evaluation_batch(const struct gpt_model *model, int T, int most);

#endif
