/* length_errors.c - see length.h. */
#include "length.h"

#include <math.h>
#include <stdlib.h>

int probe_errors_create(struct probe_arena *arena, struct probe_errors *errors, int n)
{
    errors->all = probe_take(arena, (size_t)n, sizeof *errors->all);
    errors->late = probe_take(arena, (size_t)n, sizeof *errors->late);
    return arena->failed;
}

static bool of_places(const struct gpt_config *config)
{
    return config->head == GPT_HEAD_REGRESSION;
}

bool probe_errors_of_places(const struct probe *probe)
{
    return of_places(&probe->model.config);
}

const char *probe_errors_unit(const struct probe *probe)
{
    return probe_errors_of_places(probe) ? "AU" : "nats";
}

/* Minus the log-probability that logits (V) assign to the token. */
static double cross_entropy(const real *logits, int V, int token)
{
    double largest = (double)logits[0], sum;
    for (int v = 1; v < V; v++)
        largest = fmax(largest, (double)logits[v]);
    sum = exp((double)logits[0] - largest);
    for (int v = 1; v < V; v++)
        sum += exp((double)logits[v] - largest);
    return largest + log(sum) - (double)logits[token];
}

/* Whether the prediction of row t is counted. With coordinates the first rows predict random draws
 * of the prior, and rows of body 2 are skipped, as body 2 mirrors body 1. Texts carry their own
 * weights. */
static bool row_counts(const struct gpt_config *config, const struct gpt_batch *batch, int b, int t)
{
    if (config->input == GPT_INPUT_TEXT)
        return batch->weight[(size_t)b * (size_t)batch->T + (size_t)t] > 0;
    return t >= 2 && (!of_places(config) || t % 2 == 0);
}

/* Error of a row of the batch; out (OC); NULL: persistence. */
static double error_of(const struct gpt_config *c, const struct gpt_batch *batch, size_t row,
                       const real *out)
{
    const int channels = gpt_config_channels(c);
    double error = 0;
    if (of_places(c)) {
        const size_t axes = (size_t)gpt_config_axes(c);
        const real *guess = out ? out : batch->target + (row - 2) * axes;
        const real *truth = batch->target + row * axes;
        double by[GPT_AXES] = {0};
        for (size_t k = 0; k < axes; k++)
            by[k] = (double)guess[k] - (double)truth[k];
        return sim_hypot(by, (int)axes);
    }
    for (int k = 0; k < channels; k++)
        error += cross_entropy(out + (size_t)k * (size_t)c->vocab, c->vocab,
                               batch->target_tokens[row * (size_t)channels + (size_t)k]) /
                 channels;
    return error;
}

struct rows {
    const struct gpt_config *config;
    const struct gpt_batch *batch;
    double *error; /* (B, T) of a batch */
};

/* Adds the errors of the counted rows; out NULL: persistence. */
static int see_rows(void *context, size_t first, size_t rows, const real *out)
{
    const struct rows *r = context;
    const size_t T = (size_t)r->batch->T, OC = (size_t)r->config->outputs;
    for (size_t row = first; row < first + rows; row++)
        if (row_counts(r->config, r->batch, (int)(row / T), (int)(row % T)))
            r->error[row] =
                error_of(r->config, r->batch, row, out ? out + (row - first) * OC : NULL);
    return 0;
}

static int add_batch(const struct probe *probe, const struct rows *r, int first,
                     struct probe_errors *errors)
{
    const struct gpt_batch *batch = r->batch;
    const struct gpt_config *c = &probe->model.config;
    for (int b = 0; b < batch->B; b++) {
        double all = 0, late = 0;
        long rows = 0, late_rows = 0;
        for (int t = 0; t < batch->T; t++) {
            if (!row_counts(c, batch, b, t))
                continue;
            const double error = r->error[(size_t)b * (size_t)batch->T + (size_t)t];
            all += error;
            rows++;
            late += t >= probe->trained.context ? error : 0;
            late_rows += t >= probe->trained.context;
        }
        if (!isfinite(all))
            return ORR_FAIL(ORR_EDIVERGED,
                            "sequence %d of %d positions: a prediction is no finite number",
                            first + b, batch->T);
        errors->all[first + b] = rows ? all / (double)rows : NAN;
        errors->late[first + b] = late_rows ? late / (double)late_rows : NAN;
    }
    return 0;
}

int probe_errors_of(struct probe *probe, struct gpt_model *model, struct probe_errors *errors)
{
    enum { BATCH = 8 };
    const int most = gpt_evaluation_batch(model ? model : &probe->model, probe->T, BATCH);
    struct gpt_batch batch;
    struct rows rows = {.config = &probe->model.config, .batch = &batch};
    int rc = gpt_batch_create(&batch, &probe->model.config, most, probe->T);
    rows.error = orr_alloc((size_t)most * (size_t)probe->T, sizeof *rows.error);
    if (!rows.error)
        rc = ORR_ENOMEM;
    for (int first = 0; first < probe->sequences && !rc; first += most) {
        batch.B = probe->sequences - first < most ? probe->sequences - first : most;
        rc = gpt_source_fill(probe->data, (uint64_t)first, true, 0, 0, &batch);
        if (!rc)
            rc = model ? gpt_forward_pieces(model, &batch, see_rows, &rows, NULL)
                       : see_rows(&rows, 0, (size_t)batch.B * (size_t)batch.T, NULL);
        rc = rc ? rc : add_batch(probe, &rows, first, errors);
        if (!rc && orr_signal_seen())
            rc = ORR_FAIL(ORR_EINTR, "stopped by a signal; nothing was written");
    }
    gpt_batch_free(&batch);
    free(rows.error);
    return rc;
}
