/* layers.h - parts of a pass: head, residual stream, layers; inside model/ only. */
#ifndef GPT_LAYERS_H
#define GPT_LAYERS_H

#include "activations.h"

/* ------------------------------------------------------------- head.c: outputs and their loss */

/* *out = outputs (rows, OC) of the first rows of the last pass, on the host. */
int gpt_head_outputs(struct gpt_model *model, size_t rows, const real **out);
/* The sum of the weights of these rows of a batch on the host; without weights, the number of
 * rows. */
double gpt_rows_weight(const struct gpt_batch *batch, size_t first, size_t rows);
/* Calls visit with the outputs of the first rows of the last pass, piece by piece, in memory of
 * the backend. */
int gpt_head_pieces(struct gpt_model *model, size_t rows, gpt_visit_rows *visit, void *context);
/* The head in a training pass: loss, and act->dy (N, C) = its gradient with respect to act->ln.
 * Logits of token heads without bias are never all in memory. */
int gpt_head_backward(struct gpt_model *model, const struct gpt_batch *batch);

/* ------------------------------------------------------- residual.c: the stream between blocks */

/* Applies model->patch if it is for this layer, whose stream was just computed. */
int gpt_patch_residual(struct gpt_model *model, int layer, int B, int T);

/* ----------------- layers.c: w and b are indices of parameters, b < 0 where there is no bias */

/* Makes bf16 copies of all parameters for the products of a pass, where the model uses bf16. */
int gpt_parameters_to_bf16(struct gpt_model *model);
/* Runs a linear layer; shape, weights and their gradients are filled in here. */
int gpt_linear_forward(struct gpt_model *model, int w, int b, struct k_linear layer);
int gpt_linear_backward(struct gpt_model *model, int w, int b, struct k_linear layer);
/* Runs the norm of x (N, C); weights and their gradients are filled in here. */
int gpt_norm_forward(struct gpt_model *model, int w, int b, struct k_layernorm norm);
/* Adds the gradient with respect to x to act->dx, from the gradient of the output in act->dy.
 * With dx_sums also copies dx to act->dx_bf16. */
int gpt_norm_backward(struct gpt_model *model, int w, int b, struct k_layernorm norm);

#endif
