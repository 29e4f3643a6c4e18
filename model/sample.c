/* sample.c - continues a text: logits of the last row, a draw, the next row (sample.h). */
#include "sample.h"
#include "base/elementary.h"
#include "decode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ranked {
    double logit;
    int token;
};

/* Descending by logit, then ascending by token. */
static int by_rank(const void *a, const void *b)
{
    const struct ranked *p = a, *q = b;
    return p->logit != q->logit ? (p->logit < q->logit) - (p->logit > q->logit)
                                : (p->token > q->token) - (p->token < q->token);
}

static int by_token(const void *a, const void *b)
{
    const struct ranked *p = a, *q = b;
    return (p->token > q->token) - (p->token < q->token);
}

int gpt_sample_draw(const real *logits, int n, const struct gpt_sampling *sampling, double u,
                    uint16_t *token)
{
    const double temperature = sampling->temperature;
    struct ranked *rank = orr_alloc((size_t)n, sizeof *rank);
    if (!rank)
        return ORR_ENOMEM;
    for (int i = 0; i < n; i++) {
        rank[i] = (struct ranked){(double)logits[i], i};
        if (!isfinite(rank[i].logit)) {
            free(rank);
            return ORR_FAIL(ORR_EINVAL, "sample: the model's output for token %d is not finite", i);
        }
    }
    const int asked = temperature > 0 ? sampling->top_k : 1, kept = asked && asked < n ? asked : n;
    if (kept < n)
        qsort(rank, (size_t)n, sizeof *rank, by_rank);
    if (kept > 1 && kept < n)
        qsort(rank, (size_t)kept, sizeof *rank, by_token);
    double most = rank[0].logit, sum = 0, before = 0;
    for (int i = 1; i < kept; i++)
        most = rank[i].logit > most ? rank[i].logit : most;
    for (int i = 0; i < kept && kept > 1; i++)
        sum += rank[i].logit = orr_exp((rank[i].logit - most) / temperature);
    int at = 0;
    while (at + 1 < kept && (before += rank[at].logit) <= u * sum)
        at++;
    *token = (uint16_t)rank[at].token;
    free(rank);
    return 0;
}

/* The first token of the context in which token `at` is drawn: all T rows of the model where they
 * fill it anew, else the second half. */
static size_t context_start(size_t at, size_t T, bool anew)
{
    const size_t rows = anew ? T : T / 2 > 0 ? T / 2 : 1;
    return at > rows ? at - rows : 0;
}

/* Draws tokens from *at on, in one context, until that is full or all are there. */
static int fill_context(struct gpt_model *model, struct gpt_batch *batch,
                        const struct gpt_sampling *sampling, gsl_rng *rng, uint16_t *tokens,
                        size_t start, size_t *at, size_t count)
{
    const size_t T = (size_t)batch->T, first = *at;
    struct gpt_decoder decoder;
    memset(batch->tokens, 0, T * sizeof *batch->tokens);
    memcpy(batch->tokens, tokens + start, (first - start) * sizeof *tokens);
    int rc = gpt_decoder_open(&decoder, model, batch);
    while (!rc && *at < count && *at - start <= T) {
        const real *out = NULL;
        const int row = (int)(*at - start) - 1;
        if (orr_signal_seen())
            rc = ORR_FAIL(ORR_EINTR, "stopped by a signal");
        if (!rc)
            rc = *at == first ? gpt_decoder_first(&decoder, row, &out)
                              : gpt_decoder_next(&decoder, row, &out);
        if (!rc)
            rc = gpt_sample_draw(out, model->config.vocab, sampling, orr_rng_uniform(rng),
                                 &tokens[*at]);
        if (!rc && *at - start < T)
            batch->tokens[*at - start] = tokens[*at];
        *at += !rc;
    }
    gpt_decoder_close(&decoder);
    return rc;
}

int gpt_sample(struct gpt_model *model, const struct gpt_sampling *sampling, uint16_t *tokens,
               size_t given, size_t count)
{
    const struct gpt_config *config = &model->config;
    struct gpt_batch batch;
    if (config->input != GPT_INPUT_TEXT)
        return ORR_FAIL(ORR_EINVAL, "sample: expected a model of text, found orbits");
    if (!given)
        return ORR_FAIL(ORR_EINVAL, "sample: expected a token to begin with, found none");
    if (given >= count)
        return 0;
    const size_t context = (size_t)config->context, T = count - 1 < context ? count - 1 : context;
    TRY(gpt_batch_create(&batch, config, 1, (int)T));
    gsl_rng *rng = orr_rng_create(sampling->seed, ORR_STAGE_TEXT, sampling->index);
    int rc = rng ? 0 : ORR_ENOMEM;
    for (size_t at = given; at < count && !rc;)
        rc = fill_context(model, &batch, sampling, rng, tokens, context_start(at, T, at == given),
                          &at, count);
    gsl_rng_free(rng);
    gpt_batch_free(&batch);
    return rc;
}
