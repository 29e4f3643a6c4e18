/* magnitude.c - force magnitudes: truth, nearest-neighbour oracle, fine-tuned models. */
#include "task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct magnitude {
    const struct ft_run *run;
    const struct orr_train_preset *train;
    struct ft_inputs inputs;
    struct ft_transform transform;
    gsl_rng *rng;
    struct gpt_batch val;
    int val_sequences, val_most; /* all; of one batch */
};

/* Targets and weights of sequence -> batch row b. */
static void fill_targets(const struct magnitude *task, const struct sim_dataset *set,
                         size_t sequence, int b, struct gpt_batch *batch)
{
    const size_t T = (size_t)batch->T;
    const float *F = set->force_magnitude + sequence * (size_t)set->positions;
    for (size_t t = 0; t < T; t++) {
        const size_t at = (size_t)b * T + t;
        batch->weight[at] = isfinite(F[t]) ? 1 : 0;
        batch->target[at] =
            isfinite(F[t]) ? (real)ft_transform_apply(&task->transform, (double)F[t]) : 0;
    }
}

static int fill_train(void *context, long step, int pass, struct gpt_batch *batch)
{
    struct magnitude *task = context;
    const struct sim_dataset *set = &task->run->train;
    const int passes = task->train->accumulation > 1 ? task->train->accumulation : 1;
    const uint64_t seed = task->run->preset->seed;
    for (int b = 0; b < batch->B; b++) {
        const uint64_t draw =
            ((uint64_t)step * (uint64_t)passes + (uint64_t)pass) * (uint64_t)batch->B + (uint64_t)b;
        const size_t s = orr_rng_hash(seed, ORR_STAGE_SHUFFLE, 1, draw) % (size_t)set->n;
        orr_rng_seek(task->rng, seed, ORR_STAGE_NOISE, (1ull << 40) + draw);
        ft_fill_inputs(&task->inputs, set, s, task->train->noise_au, task->rng, b, batch);
        fill_targets(task, set, s, b, batch);
    }
    return 0;
}

/* Mean loss over the first sequences of the validation set; the last batch may be smaller. Logged,
 * and selected on where there is patience. */
static int evaluate(void *context, struct gpt_model *model, double *loss)
{
    struct magnitude *task = context;
    const int n = task->val_sequences;
    *loss = 0;
    for (int first = 0; first < n; first += task->val_most) {
        task->val.B = n - first < task->val_most ? n - first : task->val_most;
        for (int b = 0; b < task->val.B; b++) {
            const size_t s = (size_t)first + (size_t)b;
            ft_fill_inputs(&task->inputs, &task->run->val, s, 0, NULL, b, &task->val);
            fill_targets(task, &task->run->val, s, b, &task->val);
        }
        double part;
        int rc = gpt_loss(model, &task->val, &part);
        if (rc)
            return rc;
        *loss += part * task->val.B / n;
    }
    return 0;
}

/* Predictions of all rows of the held-out sequences that run->rows asks for. */
static int predict(struct magnitude *task, struct gpt_model *model, double *F)
{
    const struct ft_run *run = task->run;
    const struct sim_dataset *set = &run->test;
    const int B = 64, T = (int)set->positions - 1;
    struct gpt_batch batch;
    double *all = orr_alloc((size_t)set->n * (size_t)T, sizeof *all);
    int rc = all ? gpt_batch_create(&batch, &model->config, B, T) : ORR_ENOMEM;
    if (rc) {
        free(all);
        return rc;
    }
    for (size_t first = 0; first < (size_t)set->n && !rc; first += (size_t)B) {
        const size_t left = (size_t)set->n - first;
        batch.B = left < (size_t)B ? (int)left : B;
        for (int b = 0; b < batch.B; b++)
            ft_fill_inputs(&task->inputs, set, first + (size_t)b, 0, NULL, b, &batch);
        const real *out;
        rc = gpt_forward(model, &batch, &out);
        for (size_t i = 0; i < (size_t)batch.B * (size_t)T && !rc; i++)
            all[first * (size_t)T + i] = ft_transform_invert(&task->transform, (double)out[i]);
    }
    for (size_t i = 0; i < run->row_count && !rc; i++)
        F[i] = all[(size_t)run->rows[i].sequence * (size_t)T + (size_t)run->rows[i].row];
    gpt_batch_free(&batch);
    free(all);
    return rc;
}

/* Labels of the training set on the rows that models are fed, all but the last one of a sequence:
 * states (n, 6) and forces (n), either may be NULL; returns n. */
static size_t training_points(const struct sim_dataset *set, float *states, float *forces)
{
    const size_t P = (size_t)set->positions;
    size_t count = 0;
    for (size_t s = 0; s < set->n; s++) {
        for (size_t i = s * P; i + 1 < (s + 1) * P; i++) {
            if (!isfinite(set->force_magnitude[i]))
                continue;
            if (states)
                memcpy(states + 6 * count, set->full_state + 6 * i, 6 * sizeof *states);
            if (forces)
                forces[count] = set->force_magnitude[i];
            count++;
        }
    }
    return count;
}

/* Fits the loss's transform to the labels that are trained on. */
static int fit_transform(const struct ft_run *run, struct ft_transform *transform)
{
    const size_t n = training_points(&run->train, NULL, NULL);
    float *forces = orr_alloc(n ? n : 1, sizeof *forces);
    if (!forces)
        return ORR_ENOMEM;
    training_points(&run->train, NULL, forces);
    const int rc = ft_transform_fit(transform, run->preset->finetune.magnitude_loss, forces, n);
    free(forces);
    return rc;
}

int ft_magnitude_model(struct ft_run *run, const char *source, const char *attention,
                       const char *from)
{
    const struct orr_train_preset *train = &run->preset->finetune.magnitude;
    const int T = (int)run->train.positions - 1;
    struct magnitude task = {.run = run, .train = train};
    struct gpt_model model;
    int rc = fit_transform(run, &task.transform);
    if (rc || (rc = ft_model_open(&model, run, attention, from, T + 1, 1)) != 0)
        return rc;
    double *F = orr_alloc(run->row_count, sizeof *F);
    task.rng = orr_rng_create(run->preset->seed, ORR_STAGE_NOISE, 0);
    const size_t most = train->eval_sequences > 0 ? (size_t)train->eval_sequences : 0;
    task.val_sequences = (int)(run->val.n < most ? run->val.n : most);
    task.val_most = task.val_sequences < 64 ? task.val_sequences : 64;
    rc = F && task.rng ? gpt_batch_create(&task.val, &model.config, task.val_most, T) : ORR_ENOMEM;
    struct gpt_task loop = {.context = &task,
                            .fill = fill_train,
                            .T = T,
                            .evaluate = task.val_sequences ? evaluate : NULL};
    task.inputs.config = &model.config;
    if (!rc)
        rc = ft_train(&model, run, source, false, train, &loop);
    if (!rc)
        rc = predict(&task, &model, F);
    if (!rc)
        rc = ft_write_magnitude(run, source, F);
    gpt_batch_free(&task.val);
    if (task.rng)
        gsl_rng_free(task.rng);
    free(F);
    gpt_free(&model);
    return rc;
}

int ft_magnitude_truth(struct ft_run *run)
{
    double *F = orr_alloc(run->row_count, sizeof *F);
    if (!F)
        return ORR_ENOMEM;
    for (size_t i = 0; i < run->row_count; i++)
        F[i] = (double)run->test
                   .force_magnitude[(size_t)run->rows[i].sequence * (size_t)run->test.positions +
                                    (size_t)run->rows[i].row];
    int rc = ft_write_magnitude(run, "truth", F);
    free(F);
    return rc;
}

int ft_magnitude_oracle(struct ft_run *run)
{
    const size_t n = training_points(&run->train, NULL, NULL), m = run->row_count;
    float *states = orr_alloc(n * 6, sizeof *states), *forces = orr_alloc(n, sizeof *forces);
    float *queries = orr_alloc(m * 6, sizeof *queries), *out = orr_alloc(m, sizeof *out);
    double *F = orr_alloc(m, sizeof *F);
    int rc = states && forces && queries && out && F ? 0 : ORR_ENOMEM;
    if (!rc) {
        training_points(&run->train, states, forces);
        for (size_t i = 0; i < m; i++) {
            const size_t at = (size_t)run->rows[i].sequence * (size_t)run->test.positions +
                              (size_t)run->rows[i].row;
            memcpy(queries + 6 * i, run->test.full_state + 6 * at, 6 * sizeof *queries);
        }
        ft_standardise(6, n, states, m, queries);
        rc = ft_knn(run->preset->finetune.knn_magnitude, 6, n, states, 1, forces, m, queries, out);
    }
    for (size_t i = 0; i < m && !rc; i++)
        F[i] = (double)out[i];
    if (!rc)
        rc = ft_write_magnitude(run, "oracle", F);
    free(states);
    free(forces);
    free(queries);
    free(out);
    free(F);
    return rc;
}
