/* layers.h - pieces of a pass: head, residual stream, layers; inside model/ only. */
#ifndef GPT_LAYERS_H
#define GPT_LAYERS_H

#include "activations.h"

/* ------------------------------------------------------------- head.c: outputs and their loss */

/* *out = outputs (rows, OC) of the first rows of the last pass, for the host. */
int gpt_head_outputs(struct gpt_model *model, size_t rows, const real **out);
/* The sum of the weights of these rows of a batch of the host; without weights each counts 1. */
double gpt_rows_weight(const struct gpt_batch *batch, size_t first, size_t rows);
/* Shows the outputs of the first rows of the last pass piece by piece, in memory of the backend. */
int gpt_head_pieces(struct gpt_model *model, size_t rows, gpt_visit_rows *visit, void *context);
/* Of a training pass: loss, and act->dy (N, C) = its gradient by act->ln; logits of token heads
 * without bias are never whole. */
int gpt_head_backward(struct gpt_model *model, const struct gpt_batch *batch);

/* ------------------------------------------------------- residual.c: the stream between blocks */

/* model->patch, where it is for this layer, whose stream was just made. */
int gpt_patch_residual(struct gpt_model *model, int layer, int B, int T);

/* ----------------- layers.c: w and b are indices of parameters, b < 0 where there is no bias */

/* Makes bf16 copies of all parameters for the products of a pass, where the model is bf16. */
int gpt_parameters_to_bf16(struct gpt_model *model);
/* The layer, whose shape, weights and their gradients are filled in. */
int gpt_linear_forward(struct gpt_model *model, int w, int b, struct k_linear layer);
int gpt_linear_backward(struct gpt_model *model, int w, int b, struct k_linear layer);
/* The norm of x (N, C), whose weights and their gradients are filled in. */
int gpt_norm_forward(struct gpt_model *model, int w, int b, struct k_layernorm norm);
/* act->dx adds the gradient by x; that of the output is in act->dy. With dx_sums also copies dx to
 * act->dx_bf16. */
int gpt_norm_backward(struct gpt_model *model, int w, int b, struct k_layernorm norm);

#endif
