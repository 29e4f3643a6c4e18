/* gpt.h - the GPT of the study (nanoGPT layout), for binned or continuous orbits.
 *
 * Dimensions: B sequences, T positions, C width, H heads, F input features, V vocabulary of one
 * channel, OC head columns, N = B T. Blocks are pre-norm: x += proj(attention(ln1 x)); x +=
 * down(gelu(up(ln2 x))). Source: Vafa et al. 2025 (arXiv 2507.06952). With an output gate the
 * first step is x += proj(y * act(h W_g^T)), h = ln1 x, y = attention(h), W_g (C, C) initialised
 * with zeros (softplus-gated attention, 2025).
 *
 * Inputs. Tokens: x and y embeddings concatenated, then Linear(2C -> C). Continuous: features of
 * one row (x, y, is_dt, Fourier features) through Linear(F -> C). Text: one embedding (V, C).
 * Heads. Tokens: two V-way heads, with a bias only if configured. Regression: Linear(C -> OC),
 * bias. Text: one V-way head without bias; tied, its weights are those of the embedding (as in
 * GPT-2). */
#ifndef GPT_GPT_H
#define GPT_GPT_H

#include "model/config.h"
#include "model/model.h"
#include "model/forward.h"
#include "model/device.h"
#include "model/optimizer.h"
#include "model/checkpoint.h"
#include "model/override.h"
#include "model/source.h"
#include "model/train/train.h"
#include "model/evaluate/evaluate.h"

#endif
