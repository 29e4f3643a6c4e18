/* sample.h - continues a text by a model of text, token by token. */
#ifndef GPT_SAMPLE_H
#define GPT_SAMPLE_H

#include "model.h"

struct gpt_sampling {
    double temperature;   /* > 0: probabilities are softmax(logits / temperature); 0: the most
                           probable token */
    int top_k;            /* only the k most probable tokens are drawn; 0: all */
    uint64_t seed, index; /* the random stream: a sample of an index does not depend on others */
};
/* *token = a token drawn by a uniform number u in [0, 1) from the logits (n): the first token, in
 * the order of tokens, at which the cumulative probability exceeds u. Of equally probable tokens
 * the lower ones are in the top k. The result depends on the logits' bits and on nothing of the
 * machine. ORR_EINVAL where a logit is not a finite number, ORR_ENOMEM. */
int gpt_sample_draw(const real *logits, int n, const struct gpt_sampling *sampling, double u,
                    uint16_t *token);
/* Fills in tokens[given .. count - 1] (count): each drawn with the tokens before it as context. The
 * context is at most the model's; where it is full, its second half is kept and read again, so that
 * a token has between half a context and a whole one before it. ORR_EINVAL for a model of orbits
 * or without a given token, ORR_EINTR after a signal. */
int gpt_sample(struct gpt_model *model, const struct gpt_sampling *sampling, uint16_t *tokens,
               size_t given, size_t count);

#endif
