/* fit.c - fine-tuning in memory, for probes that fine-tune many times: to any target, or to
 * force magnitudes with the training of magnitude.c but without files; and predictions of the
 * model. */
#include "train_head.h"

#include <stdlib.h>

enum { PREDICT_BATCH = 64 };

struct batches {
    int (*fill)(void *of, long step, int pass, struct gpt_batch *batch);
    void *of;
};

/* One step; `batch` has memory for it. */
static int step_once(struct gpt_model *model, const struct orr_train_settings *train, long step,
                     const struct batches *batches, struct gpt_batch *batch)
{
    const int passes = gpt_passes_of(train).count;
    double loss, norm;
    TRY(orr_signal_seen() ? ORR_FAIL(ORR_EINTR, "stopped by a signal") : gpt_zero_grad(model));
    for (int pass = 0; pass < passes; pass++) {
        TRY(batches->fill(batches->of, step, pass, batch));
        TRY(gpt_loss_backward(model, batch, &loss));
    }
    return gpt_update(model, train, step, &norm);
}

int ft_fit_batches(struct gpt_model *model, const struct orr_train_settings *train, int T,
                   uint64_t seed,
                   int (*fill)(void *of, long step, int pass, struct gpt_batch *batch), void *of)
{
    const struct batches batches = {fill, of};
    struct gpt_batch batch = {0};
    int rc = 0;
    TRY(gpt_replace_head(model, GPT_HEAD_REGRESSION, 1, seed));
    TRY(gpt_batch_create(&batch, &model->config, train->batch, T));
    model->config.huber = train->huber;
    gpt_freeze(model, train->train);
    for (long step = 0; step < train->steps && !rc; step++)
        rc = step_once(model, train, step, &batches, &batch);
    gpt_swap_average(model); /* predictions use the average, where one is kept */
    gpt_batch_free(&batch);
    return rc;
}

static int fill_magnitudes(void *of, long step, int pass, struct gpt_batch *batch)
{
    return ft_fill_magnitudes(of, step, pass, batch);
}

int ft_fit(struct gpt_model *model, const struct orr_train_settings *train,
           const struct ft_labels *labels, enum orr_force_loss loss, uint64_t seed,
           struct ft_transform *transform)
{
    struct ft_magnitudes task = {
        .seed = seed, .train = train, .labels = labels, .inputs = {.config = &model->config}};
    TRY(ft_labels_transform(labels, loss, &task.transform));
    task.rng = orr_rng_create(seed, ORR_STAGE_NOISE, 0);
    if (!task.rng)
        return ORR_FAIL(ORR_ENOMEM, "fine-tuning: out of memory");
    const int rc =
        ft_fit_batches(model, train, labels->set->positions - 1, seed, fill_magnitudes, &task);
    *transform = task.transform;
    gsl_rng_free(task.rng);
    return rc;
}

int ft_predict(struct gpt_model *model, const struct ft_transform *transform,
               const struct sim_dataset *set, const size_t *sequence, size_t count, double *F)
{
    const struct ft_inputs inputs = {.config = &model->config};
    const size_t T = (size_t)set->positions - 1;
    const size_t most = (size_t)gpt_evaluation_batch(model, (int)T, PREDICT_BATCH);
    struct gpt_batch batch;
    int rc = 0;
    TRY(gpt_batch_create(&batch, &model->config, (int)most, (int)T));
    for (size_t first = 0; first < count && !rc; first += most) {
        const size_t left = count - first;
        batch.B = (int)(left < most ? left : most);
        for (int b = 0; b < batch.B; b++) {
            const size_t i = first + (size_t)b;
            ft_fill_inputs(&inputs, set, sequence ? sequence[i] : i, 0, NULL, b, &batch);
        }
        const real *out;
        rc = orr_signal_seen() ? ORR_FAIL(ORR_EINTR, "stopped by a signal")
                               : gpt_forward(model, &batch, &out);
        for (size_t i = 0; i < (size_t)batch.B * T && !rc; i++)
            F[first * T + i] = ft_transform_invert(transform, (double)out[i]);
    }
    gpt_batch_free(&batch);
    return rc;
}
