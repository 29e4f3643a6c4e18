/* text_loss.c - held-out loss of text models. */
#include "evaluate.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SEQUENCES = 32 };

/* Adds the losses over all positions, and over late ones. */
static int add_losses(struct gpt_model *model, struct gpt_batch *batch, struct gpt_text_result *r,
                      double counted[2])
{
    const size_t T = (size_t)batch->T, N = (size_t)batch->B * T;
    TRY(gpt_loss_add(model, batch, &r->loss, &counted[0]));
    if (r->late_from >= batch->T)
        return 0;
    for (size_t n = 0; n < N; n++)
        batch->weight[n] *= n % T >= (size_t)r->late_from;
    return gpt_loss_add(model, batch, &r->late_loss, &counted[1]);
}

int gpt_evaluate_text(struct gpt_model *model, struct gpt_source *source, int sequences,
                      int late_from, struct gpt_text_result *result)
{
    const long most = gpt_source_count(source);
    const int T = model->config.context, B = gpt_evaluation_batch(model, T, MOST_SEQUENCES);
    struct gpt_batch batch;
    double counted[2] = {0, 0};
    *result = (struct gpt_text_result){.sequences = sequences < most ? sequences : (int)most,
                                       .positions = T,
                                       .late_from = late_from};
    if (model->config.input != GPT_INPUT_TEXT || result->sequences < 1)
        return ORR_FAIL(ORR_EINVAL, "held-out loss of text: expected a model and a source of text, "
                                    "with at least one sequence held out");
    TRY(gpt_batch_create(&batch, &model->config, B, T));
    int rc = 0;
    for (int i = 0; i < result->sequences && !rc; i += B) {
        batch.B = result->sequences - i < B ? result->sequences - i : B;
        rc = gpt_source_fill(source, (uint64_t)i, true, 0, 0, &batch);
        if (!rc)
            rc = add_losses(model, &batch, result, counted);
        if (!rc && orr_signal_seen())
            rc = ORR_FAIL(ORR_EINTR, "stopped by a signal");
    }
    gpt_batch_free(&batch);
    if (!rc && !(counted[0] > 0))
        rc = ORR_FAIL(ORR_EINVAL,
                      "held-out text: none of %d sequences of %d positions holds a key and its "
                      "question: expected records that fit (text.train=passkey:N, text.positions)",
                      result->sequences, T);
    result->loss /= counted[0];
    result->late_loss = late_from < T ? result->late_loss / counted[1] : NAN;
    result->perplexity = exp(result->loss);
    result->bits_per_token = result->loss / log(2);
    return rc;
}
